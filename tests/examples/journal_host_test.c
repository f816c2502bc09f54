/* The example journal_host, killed at random moments: it goes on from its last complete frame, with each order that it
 * had answered. Its path is in the environment variable JOURNAL_HOST. */
#include "support/journal_files.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>

enum { HOST_KILLS = 10, HOST_HZ = 400 };

extern char **environ;

/* What a life of the host printed. */
typedef struct host_says {
  unsigned long long begin, last, hash, begin_hash, begin_orders, answered;
  bool goes_on, answers;
} host_says;

static pid_t host_start(const journal_place *place, const char *frames, const char *output) {
  static char name[] = "journal_host";
  char path[96], count[16], hz[16], *arguments[] = {name, path, count, hz, NULL};
  const char *program = getenv("JOURNAL_HOST");
  posix_spawn_file_actions_t actions;
  pid_t process;
  cr_assert_not_null(program, "set JOURNAL_HOST to the path of the program");
  snprintf(path, sizeof path, "%s", place->path);
  snprintf(count, sizeof count, "%s", frames);
  snprintf(hz, sizeof hz, "%d", HOST_HZ);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  cr_assert_eq(posix_spawn(&process, program, &actions, NULL, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  return process;
}

static void read_line(host_says *says, const char *line) {
  unsigned long long frame = 0, hash = 0, orders = 0;
  bool goes_on = sscanf(line, "goes on from frame %llu, hash %llx, %llu orders", &frame, &hash, &orders) == 3;
  bool begins = sscanf(line, "begins with frame %llu, hash %llx, %llu orders", &frame, &hash, &orders) == 3;
  bool ran = sscanf(line, "frame %llu, hash %llx, %llu orders", &frame, &hash, &orders) == 3;
  if (goes_on || begins) {
    says->goes_on = goes_on;
    says->begin = frame;
    says->begin_hash = hash;
    says->begin_orders = orders;
  }
  if (goes_on || begins || ran) {
    says->last = frame;
    says->hash = hash;
  } else if (sscanf(line, "order %llu is done", &orders) == 1) {
    says->answers = true;
    says->answered = orders;
  }
}

/* A line that a kill cut does not count. */
static host_says host_read(const char *output) {
  host_says says = {0};
  file_bytes file = file_read(output);
  file.bytes[file.count] = '\0';
  for (char *line = (char *)file.bytes, *end; (end = strchr(line, '\n')); line = end + 1) {
    *end = '\0';
    read_line(&says, line);
  }
  free(file.bytes);
  return says;
}

static uint64_t host_random(uint64_t *random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

/* The moment of the kill is chosen, and nothing is expected of it but that some of them are within frames: it is later
 * by as much again for each life that was too short for a line, as where the machine has others to run. */
static host_says host_live(const journal_place *place, uint64_t *random, uint64_t too_short) {
  char output[PLACE_BYTES];
  int status = 0;
  uint64_t moment_ns = (20000000 + host_random(random) % 120000000) * (1 + too_short);
  const struct timespec moment = {(time_t)(moment_ns / 1000000000), (long)(moment_ns % 1000000000)};
  snprintf(output, sizeof output, "%s/printed", place->folder);
  pid_t process = host_start(place, "1000000", output);
  nanosleep(&moment, NULL);
  kill(process, SIGKILL);
  cr_assert_eq(waitpid(process, &status, 0), process);
  cr_assert(WIFSIGNALED(status), "it ended by itself, with %d", WEXITSTATUS(status));
  return host_read(output);
}

/* What the next life says of the one before. */
static void expect_goes_on(const host_says *before, const host_says *next) {
  cr_assert(next->goes_on, "it began anew");
  cr_assert(next->begin == before->last || next->begin == before->last + 1, "frame %llu after %llu", next->begin,
            before->last);
  if (next->begin == before->last) cr_assert_eq(next->begin_hash, before->hash, "another world");
  if (before->answers)
    cr_assert_gt(next->begin_orders, before->answered, "order %llu was answered, %llu are there", before->answered,
                 next->begin_orders);
}

Test(journal_host, goes_on_after_each_kill) {
  journal_place place = place_make();
  uint64_t random = 88172645463325252u;
  host_says before = {0};
  uint64_t lived = 0;
  for (uint32_t i = 0; i < HOST_KILLS; i++) {
    host_says next = host_live(&place, &random, i - lived);
    /* Killed before it printed a line it had nothing to lose. */
    if (next.begin_hash == 0) continue;
    if (before.begin_hash) expect_goes_on(&before, &next);
    if (!next.answers) {
      next.answers = before.answers;
      next.answered = before.answered;
    }
    before = next;
    lived++;
  }
  cr_assert_gt(lived, 2);
  cr_assert_gt(before.last, 0, "no frame ran");
  char output[PLACE_BYTES], frames[32];
  int status = 0;
  snprintf(output, sizeof output, "%s/printed", place.folder);
  snprintf(frames, sizeof frames, "%llu", before.last + 50);
  pid_t process = host_start(&place, frames, output);
  cr_assert_eq(waitpid(process, &status, 0), process);
  cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  host_says last = host_read(output);
  expect_goes_on(&before, &last);
  cr_assert_eq(last.last, before.last + 50);
  place_remove(&place);
}
