/* A service that is killed at any moment, while snapshots are written, goes on from the newest that was completed. As
 * many times as MUSTER_KILLS in the environment says, else a few. */
#include "saved.h"

#include <sys/file.h>

enum { KILLS_DEFAULT = 8 };

static const char flags[] = "--world main=wildlife --agents 3000 --world town=townsfolk --agents 300 "
                            "--journal=no --snapshot-file @/state --snapshot-interval 3600s";

TestSuite(snapshot_kills, .fini = stop);

/* What the newest complete file, which is replaced as a whole, says of each world. Returns its number. */
static uint64_t describe_newest(const char *lines[2]) {
  /* While it is held, no process writes snapshots: a writer that the kill left behind has ended. */
  int lock = open(path_of("state.lock"), O_RDWR | O_CLOEXEC);
  cr_assert(lock >= 0);
  while (flock(lock, LOCK_EX) != 0) continue;
  lines[0] = saved_line("state", "main");
  lines[1] = saved_line("state", "town");
  uint64_t number = saved_number("state");
  close(lock);
  return number;
}

static void expect_restored(const char *const lines[2]) {
  unlink(path_of("log"));
  launch_ready(flags);
  SCOPED(free_memory) char *log = daemon_log(&service);
  for (int i = 0; i < 2; i++) cr_assert(strstr(log, lines[i]), "\"%s\" is not in: %s", lines[i], log);
  cr_assert(!strstr(log, "refused"), "%s", log);
}

/* Asks for snapshots as fast as they are written, and kills the service at a random moment; `one`: after a snapshot. */
static void kill_at_some_moment(uint64_t *random, bool one) {
  if (one) {
    daemon_signal(&service, SIGUSR1);
    await_log("frames stood still");
  }
  uint64_t asks = 1 + next_random(random) % 4;
  for (uint64_t i = 0; i < asks; i++) {
    const struct timespec moment = {.tv_nsec = (long)(next_random(random) % 30000000)};
    daemon_signal(&service, SIGUSR1);
    nanosleep(&moment, NULL); /* chooses when; nothing is waited for */
  }
  daemon_kill(&service);
}

Test(snapshot_kills, every_restart_goes_on_from_the_newest_that_was_completed, .timeout = 3600) {
  int kills = (int)environment_number("MUSTER_KILLS", KILLS_DEFAULT), cut = 0;
  uint64_t random = 88172645463325252u, first, last = 0;
  const char *lines[2];
  daemon_start(&service, flags);
  daemon_signal(&service, SIGUSR1);
  await_log("snapshot 1: ");
  first = last = 1;
  for (int i = 0; i < kills; i++) {
    kill_at_some_moment(&random, i % 2 == 1);
    uint64_t number = describe_newest(lines);
    cut += unlink(path_of("state.new")) == 0; /* one was being written; the next one would overwrite its file */
    cr_assert_geq(number, last, "kill %d: snapshot %llu came back", i, (unsigned long long)number);
    last = number;
    expect_restored(lines);
    if ((i + 1) % 25 == 0) fprintf(stderr, "%d of %d kills\n", i + 1, kills);
  }
  if (kills >= 3) cr_assert_gt(last, first, "none was completed between the kills");
  cr_log_info("%d of %d kills cut a snapshot short; %llu were completed\n", cut, kills, (unsigned long long)last);
}
