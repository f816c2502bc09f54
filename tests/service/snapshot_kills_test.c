/* A service that is killed at any moment, while snapshots are written, goes on from the newest that was completed. As
 * many times as MUSTER_KILLS in the environment says, else a few. */
#include "daemon.h"
#include "service/snapshot_file.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

enum { KILLS_DEFAULT = 8 };

static const char *const flags = "--world main=wildlife --agents 3000 --world town=townsfolk --agents 300 "
                                 "--journal=no --snapshot-file @/state --snapshot-interval 3600s";

static void path_of(const musterd *service, const char *name, char path[256]) {
  snprintf(path, 256, "%s/%s", service->folder, name);
}

/* While the lock is held, no process writes snapshots: a writer that the kill left behind has ended. */
static int take_lock(const musterd *service) {
  char path[256];
  path_of(service, "state.lock", path);
  int lock = open(path, O_RDWR | O_CLOEXEC);
  cr_assert(lock >= 0);
  while (flock(lock, LOCK_EX) != 0) continue;
  return lock;
}

/* What the newest complete file says of each world, as the log will say it. Returns its number. */
static uint64_t describe_newest(const musterd *service, char lines[2][256]) {
  static const char *const names[] = {"main", "town"};
  char path[256];
  struct snapshot_file file;
  int lock = take_lock(service);
  path_of(service, "state", path);
  muster_result result = snapshot_file_open(&file, path);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error()); /* the file is replaced as a whole */
  for (int i = 0; i < 2; i++) {
    const snapshot_file_world *saved = snapshot_file_find(&file, names[i]);
    cr_assert_not_null(saved);
    snprintf(lines[i], 256, "world %s: %u agents and %u spawns of frame %llu go on, hash %016llx", names[i],
             saved->info.agents, saved->info.spawns, (unsigned long long)saved->info.frames,
             (unsigned long long)saved->info.hash);
  }
  uint64_t number = file.number;
  snapshot_file_close(&file);
  close(lock);
  return number;
}

static void expect_restored(musterd *service, char lines[2][256]) {
  char path[256];
  path_of(service, "log", path);
  unlink(path);
  daemon_launch(service, flags);
  cr_assert(daemon_await(service, "READY=1"), "it ended with %d", service->status);
  char *log = daemon_log(service);
  for (int i = 0; i < 2; i++) cr_assert(strstr(log, lines[i]), "\"%s\" is not in: %s", lines[i], log);
  cr_assert(!strstr(log, "refused"), "%s", log);
  free(log);
}

/* Whether a snapshot was being written; removes its file, which the next one would overwrite. */
static bool was_cut(const musterd *service) {
  char path[256];
  path_of(service, "state.new", path);
  return unlink(path) == 0;
}

static uint64_t next_random(uint64_t *random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

/* Asks for snapshots as fast as they are written, and kills the service at a random moment; with `one` a snapshot was
 * completed before. */
static void kill_at_some_moment(musterd *service, uint64_t *random, bool one) {
  if (one) {
    daemon_signal(service, SIGUSR1);
    daemon_await_log(service, "frames stood still");
  }
  uint64_t asks = 1 + next_random(random) % 4;
  for (uint64_t i = 0; i < asks; i++) {
    const struct timespec moment = {.tv_nsec = (long)(next_random(random) % 30000000)};
    daemon_signal(service, SIGUSR1);
    nanosleep(&moment, NULL); /* chooses when; nothing is waited for */
  }
  daemon_kill(service);
}

Test(snapshot_kills, every_restart_goes_on_from_the_newest_that_was_completed, .timeout = 3600) {
  const char *wanted = getenv("MUSTER_KILLS");
  int kills = wanted ? atoi(wanted) : KILLS_DEFAULT, cut = 0;
  uint64_t random = 88172645463325252u, first, last = 0;
  musterd service;
  char lines[2][256];
  daemon_start(&service, flags);
  daemon_signal(&service, SIGUSR1);
  daemon_await_log(&service, "snapshot 1: ");
  first = last = 1;
  for (int i = 0; i < kills; i++) {
    kill_at_some_moment(&service, &random, i % 2 == 1);
    uint64_t number = describe_newest(&service, lines);
    cut += was_cut(&service);
    cr_assert_geq(number, last, "kill %d: snapshot %llu came back", i, (unsigned long long)number);
    last = number;
    expect_restored(&service, lines);
    if ((i + 1) % 25 == 0) fprintf(stderr, "%d of %d kills\n", i + 1, kills);
  }
  if (kills >= 3) cr_assert_gt(last, first, "none was completed between the kills");
  cr_log_info("%d of %d kills cut a snapshot short; %llu were completed\n", cut, kills, (unsigned long long)last);
  daemon_stop(&service);
}
