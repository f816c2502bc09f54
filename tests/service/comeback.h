/* comeback.h - services that die, and what the log says of the worlds that come back. */
#ifndef COMEBACK_H
#define COMEBACK_H

#include "saved.h"

/* All that decides how this world goes on is in it: under the virtual clock it is the same whenever it is run. */
#define VIRTUAL "--world main=wildlife --agents 600 --virtual=yes --capacity 1s --hz 200 --budget 2ms "
#define STRIKER "--world main=striker --agents 300 --hz 100 --budget 2ms --flight-file @/flight "
#define SAVED   "--snapshot-file @/state --snapshot-interval 3600s "

/* A frame and the hash of the world after it. */
typedef struct moment {
  long long frame;
  unsigned long long hash;
} moment;

static long long rerun; /* frames, as the last recovery was told */

static inline void launch(const char *flags) {
  const char *modules = strstr(flags, "=striker") ? " --modules " MUSTER_TEST_MODULES : "";
  daemon_drop_notices(&service);
  forget_log();
  launch_ready(formed("%s%s%s", flags, SAVED, modules));
}

static inline void begin(const char *flags) {
  daemon_prepare(&service);
  launch(flags);
}

static inline void die_and_launch(const char *flags) {
  daemon_kill(&service);
  launch(flags);
}

/* As the log says it of a world that came back. */
static inline moment recovered(void) {
  moment found = {0};
  SCOPED(free_memory) char *log = daemon_log(&service);
  const char *line = strstr(log, "world main: recovered in ");
  cr_assert_not_null(line, "it has not come back: %s", log);
  line = strstr(line, "frame ");
  cr_assert_eq(sscanf(line, "frame %lld goes on, hash %llx; of its frames %lld", &found.frame, &found.hash, &rerun), 3);
  return found;
}

static inline moment saved(const char *name) {
  SCOPED(snapshot_file_close) struct snapshot_file file = saved_open(name);
  const snapshot_file_world *world = saved_world(&file, "main");
  return (moment){(long long)world->info.frames, world->info.hash};
}

static inline long long frames_now(void) {
  return count_at(WORLD, "frame.number");
}

static inline void run_to(long long frame) {
  AWAIT_WITH(usleep(2000), frames_now() >= frame);
}

static inline void run_on(long long frames) {
  run_to(frames_now() + frames);
}

static inline void begin_and_run_to(long long frame, const char *flags) {
  begin(flags);
  run_to(frame);
}

static inline json_t *journal_now(void) {
  json_auto_t *world = get(WORLD);
  return json_incref(control_member(world, "journal"));
}

/* The same, which is there, or has been lost. */
static inline json_t *expect_journal(bool on, bool broken) {
  json_t *journal = journal_now();
  cr_expect(control_is_true(journal, "on") == on && control_is_true(journal, "broken") == broken);
  return journal;
}

#endif
