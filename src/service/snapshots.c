#include "service/snapshots.h"

#include "service/log.h"
#include "service/service.h"

#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

/* Newest first. */
static const char *const endings[] = {"", ".previous"};

enum {
  CANDIDATES = sizeof endings / sizeof *endings,
  ASIDE_BYTES = SNAPSHOT_PATH_BYTES + 16,
  ASIDE_MAX = 1000,
  LOCK_TRIES = 300,
  LOCK_TRY_US = 10000
};

static void path_of(const struct snapshots *snapshots, const char *ending, char path[SNAPSHOT_PATH_BYTES]) {
  snprintf(path, SNAPSHOT_PATH_BYTES, "%s%s", snapshots->path, ending);
}

/* ------------------------------------------------------------------------------------------------------------- open */

muster_result snapshots_check_path(const char *path) {
  static const char *const taken[] = {"", ".previous", ".new", ".linked", ".lock"};
  char name[SNAPSHOT_PATH_BYTES];
  for (size_t i = 0; *path && i < sizeof taken / sizeof *taken; i++) {
    snprintf(name, sizeof name, "%s%s", path, taken[i]);
    if (files_check_replaceable(name)) return error_set(MUSTER_E_INPUT, "%s: %s", name, muster_last_error());
  }
  return MUSTER_OK;
}

muster_result snapshots_lock_file(const char *file, struct service *service, int *lock) {
  char path[SNAPSHOT_PATH_BYTES];
  snprintf(path, sizeof path, "%s.lock", file);
  *lock = files_open_regular(AT_FDCWD, path, O_RDWR | O_CREAT | O_NOFOLLOW, 0600);
  if (*lock < 0) return error_set(MUSTER_E_SYSTEM, "snapshot_file: %s: %s", path, muster_last_error());
  for (int tries = 0; flock(*lock, LOCK_EX | LOCK_NB) != 0; tries++) {
    if (errno != EWOULDBLOCK && errno != EINTR)
      return error_set(MUSTER_E_SYSTEM, "snapshot_file: %s: %s", path, strerror(errno));
    if (tries == LOCK_TRIES || (service && service_is_to_stop(service)))
      return error_set(MUSTER_E_SYSTEM, "snapshot_file: another service writes %s", file);
    usleep(LOCK_TRY_US);
  }
  return MUSTER_OK;
}

muster_result snapshots_lock(struct service *service) {
  struct snapshots *snapshots = &service->snapshots;
  return snapshots->path[0] ? snapshots_lock_file(snapshots->path, service, &snapshots->lock) : MUSTER_OK;
}

muster_result snapshots_open(struct snapshots *snapshots, uv_loop_t *loop, const struct settings *settings) {
  memcpy(snapshots->path, settings->snapshot_file, sizeof snapshots->path);
  snapshots->lock = -1;
  snapshots->pipe = -1;
  snapshots->interval_ns = settings->snapshot_interval_ns;
  snapshots->status.enabled = snapshots->path[0] != '\0';
  snapshots->loop = loop;
  int problem = uv_mutex_init(&snapshots->mutex);
  if (!problem) problem = uv_cond_init(&snapshots->idle);
  if (!problem) problem = uv_async_init(loop, &snapshots->news, snapshots_take_news);
  if (problem) return error_set(MUSTER_E_SYSTEM, "cannot prepare snapshots: %s", uv_strerror(problem));
  snapshots->news.data = snapshots;
  return MUSTER_OK;
}

void snapshots_close(struct snapshots *snapshots) {
  if (snapshots->lock >= 0) close(snapshots->lock);
  uv_cond_destroy(&snapshots->idle);
  uv_mutex_destroy(&snapshots->mutex);
}

void snapshots_set_interval(struct snapshots *snapshots, uint64_t interval_ns) {
  uv_mutex_lock(&snapshots->mutex);
  snapshots->interval_ns = interval_ns;
  uv_mutex_unlock(&snapshots->mutex);
}

void snapshots_read_status(struct snapshots *snapshots, snapshots_status *status) {
  uv_mutex_lock(&snapshots->mutex);
  *status = snapshots->status;
  uv_mutex_unlock(&snapshots->mutex);
}

muster_result snapshots_check_module(const struct snapshots *snapshots, const char *world,
                                     const muster_module *module) {
  if (!snapshots->path[0] || snapshot_file_takes(module)) return MUSTER_OK;
  return error_set(MUSTER_E_STATE,
                   "world %s: module %s has no save and resume, nor only register_types, so that it cannot be in a "
                   "snapshot: host it in a "
                   "service without snapshot_file",
                   world, module->name);
}

/* ---------------------------------------------------------------------------------------------------------- restore */

muster_result snapshots_next(struct snapshots *snapshots, uint32_t *which, struct snapshot_file *file, bool *found) {
  char path[SNAPSHOT_PATH_BYTES], why[256];
  *found = false;
  while (snapshots->path[0] && *which < CANDIDATES && !*found) {
    path_of(snapshots, endings[(*which)++], path);
    if (access(path, F_OK) != 0) continue;
    muster_result result = snapshot_file_open(file, path);
    *found = result == MUSTER_OK;
    if (error_may_pass(result)) {
      snprintf(why, sizeof why, "%s", muster_last_error());
      return error_set(result, "%s: %s", path, why);
    }
    if (result) snapshots_refuse(snapshots, *which);
  }
  return MUSTER_OK;
}

/* Gives a file another name, or one more: the first FILE.what-N that is free. Returns what was wrong; 0 = nothing. */
static int keep_as(const struct snapshots *snapshots, const char *path, bool rename, const char *what,
                   char aside[ASIDE_BYTES]) {
  int problem = EEXIST;
  for (int i = 1; i <= ASIDE_MAX && problem == EEXIST; i++) {
    snprintf(aside, ASIDE_BYTES, "%s.%s-%d", snapshots->path, what, i);
    int failed = rename ? renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) : link(path, aside);
    problem = failed ? errno : 0;
  }
  return problem;
}

void snapshots_refuse(struct snapshots *snapshots, uint32_t which) {
  char path[SNAPSHOT_PATH_BYTES], aside[ASIDE_BYTES];
  path_of(snapshots, endings[which - 1], path);
  log_line(MUSTER_LOG_ERROR, "%s is refused: %s", path, muster_last_error());
  int problem = files_check_replaceable(path) ? EPERM : keep_as(snapshots, path, true, "damaged", aside);
  if (problem)
    log_line(MUSTER_LOG_ERROR, "%s cannot be kept aside: %s", path, strerror(problem));
  else
    log_line(MUSTER_LOG_WARNING, "it is kept as %s", aside);
  uv_mutex_lock(&snapshots->mutex);
  snapshots->status.refused++;
  uv_mutex_unlock(&snapshots->mutex);
}

static void keep_copy(const struct snapshots *snapshots, const char *path) {
  char copy[ASIDE_BYTES];
  int problem = keep_as(snapshots, path, false, "left-out", copy);
  if (problem)
    log_line(MUSTER_LOG_ERROR, "no copy of %s can be kept: %s", path, strerror(problem));
  else
    log_line(MUSTER_LOG_WARNING, "a copy of the snapshot is kept as %s", copy);
}

void snapshots_accept(struct snapshots *snapshots, uint32_t which, const struct snapshot_file *file, bool keep) {
  char path[SNAPSHOT_PATH_BYTES];
  path_of(snapshots, endings[which - 1], path);
  if (keep) keep_copy(snapshots, path);
  uv_mutex_lock(&snapshots->mutex);
  path_of(snapshots, endings[which - 1], snapshots->status.restored);
  snapshots->status.number = file->number;
  uv_mutex_unlock(&snapshots->mutex);
}
