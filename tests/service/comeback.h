/* comeback.h - services that die, and what the log says of the worlds that come back. */
#ifndef COMEBACK_H
#define COMEBACK_H

#include "control.h"
#include "service/snapshot_file.h"
#include "support/await.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/* All that decides how this world goes on is in it: under the virtual clock it is the same whenever it is run. */
#define VIRTUAL "--world main=wildlife --agents 600 --virtual=yes --capacity 1s --hz 200 --budget 2ms "
#define STRIKER "--world main=striker --agents 300 --hz 100 --budget 2ms --flight-file @/flight "
#define SAVED   "--snapshot-file @/state --snapshot-interval 3600s "

/* Begins the log anew, so that what it says is of the next run. */
static inline void forget_log(const musterd *service) {
  daemon_write(service, "log", "");
}

static inline void launch(musterd *service, const char *flags) {
  char all[1024];
  snprintf(all, sizeof all, "%s%s%s", flags, SAVED, strstr(flags, "=striker") ? " --modules " MUSTER_TEST_MODULES : "");
  daemon_drop_notices(service);
  forget_log(service);
  daemon_launch(service, all);
  if (daemon_await(service, "READY=1")) return;
  char *log = daemon_log(service);
  cr_assert(false, "it ended with %d: %s", service->status, log);
}

static inline void begin(musterd *service, const char *flags) {
  daemon_prepare(service);
  launch(service, flags);
}

static inline void expect_log(const musterd *service, const char *text, bool expected) {
  char *log = daemon_log(service);
  cr_expect_eq(strstr(log, text) != NULL, expected, "\"%s\" %s in: %s", text, expected ? "is not" : "should not be",
               log);
  free(log);
}

/* A frame and the hash of the world after it. */
typedef struct moment {
  unsigned long long frame, hash;
} moment;

/* As the log says it of a world that came back. */
static inline moment recovered(const musterd *service, unsigned long long *again) {
  moment found = {0};
  char *log = daemon_log(service), *line = strstr(log, "world main: recovered in ");
  cr_assert_not_null(line, "it has not come back: %s", log);
  line = strstr(line, "frame ");
  cr_assert_eq(sscanf(line, "frame %llu goes on, hash %llx; of its frames %llu", &found.frame, &found.hash, again), 3);
  free(log);
  return found;
}

static inline void path_of(const musterd *service, const char *name, char path[256]) {
  snprintf(path, 256, "%s/%s", service->folder, name);
}

static inline moment saved(const musterd *service, const char *name) {
  char path[256];
  struct snapshot_file file;
  path_of(service, name, path);
  cr_assert_eq(snapshot_file_open(&file, path), MUSTER_OK, "%s", muster_last_error());
  const snapshot_file_world *world = snapshot_file_find(&file, "main");
  cr_assert_not_null(world);
  moment found = {world->info.frames, world->info.hash};
  snapshot_file_close(&file);
  return found;
}

static inline void end(musterd *service) {
  daemon_signal(service, SIGTERM);
  cr_assert_eq(daemon_wait(service), 0);
}

static inline long long frames_of(const musterd *service) {
  json_t *world = control_ask(service, "GET", "/v1/worlds/main", NULL, 200);
  long long frames = control_count(world, "frame.number");
  json_decref(world);
  return frames;
}

static inline void run_to(const musterd *service, long long frame) {
  AWAIT_WITH(usleep(2000), frames_of(service) >= frame);
}

static inline json_t *journal_of(const musterd *service) {
  json_t *world = control_ask(service, "GET", "/v1/worlds/main", NULL, 200);
  json_t *journal = json_incref(control_member(world, "journal"));
  json_decref(world);
  return journal;
}

#endif
