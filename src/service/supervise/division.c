#include "service/supervise/division.h"

#include "service/log.h"
#include "service/snapshots.h"
#include "service/supervise/orders.h"

#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ASIDE_MAX = 1000 };

/* A snapshot and the one before it, with these endings. */
static const char *const endings[] = {"", ".previous"};

enum { ENDINGS = sizeof endings / sizeof *endings };

static bool division_exists(const char *path, const char *ending) {
  char name[SNAPSHOT_PATH_BYTES];
  snprintf(name, sizeof name, "%s%s", path, ending);
  return access(name, F_OK) == 0;
}

static muster_result division_refused(const char *world, const char *path) {
  return error_set(MUSTER_E_SYSTEM,
                   "snapshot_file: world %s cannot have its part of %s: %s; copy that file into the folder of each "
                   "world and rename it, or rename it for worlds that begin anew",
                   world, path, strerror(errno));
}

static muster_result give_part(const char *common, const char *world) {
  char folder[PATH_BYTES], own[PATH_BYTES], from[SNAPSHOT_PATH_BYTES], to[SNAPSHOT_PATH_BYTES];
  if (!orders_path(common, world, folder, own))
    return error_set(MUSTER_E_ARGUMENT, "the path %s/%s is too long", world, common);
  if (division_exists(own, "") || division_exists(own, ".previous")) return MUSTER_OK;
  for (size_t i = ENDINGS; i-- > 0;) { /* the newest last: with it the part is complete */
    snprintf(from, sizeof from, "%s%s", common, endings[i]);
    snprintf(to, sizeof to, "%s%s", own, endings[i]);
    if (division_exists(from, "") && link(from, to) != 0) return division_refused(world, from);
  }
  log_line(MUSTER_LOG_INFO, "world %s goes on from %s, which one process wrote with all worlds", world, common);
  return MUSTER_OK;
}

/* FILE.divided-1, or the first number that is free. */
static muster_result put_aside(const char *path) {
  char aside[SNAPSHOT_PATH_BYTES + 32];
  int problem = EEXIST;
  for (int i = 1; i <= ASIDE_MAX && problem == EEXIST; i++) {
    snprintf(aside, sizeof aside, "%s.divided-%d", path, i);
    problem = renameat2(AT_FDCWD, path, AT_FDCWD, aside, RENAME_NOREPLACE) ? errno : 0;
  }
  if (problem == ENOENT) return MUSTER_OK;
  if (problem) return error_set(MUSTER_E_SYSTEM, "snapshot_file: %s cannot be renamed: %s", path, strerror(problem));
  log_line(MUSTER_LOG_INFO, "%s is kept as %s: each world has a snapshot of its own now", path, aside);
  return MUSTER_OK;
}

static muster_result divide(const struct settings *settings) {
  const char *common = settings->snapshot_file;
  char name[SNAPSHOT_PATH_BYTES];
  muster_result result = MUSTER_OK;
  for (uint32_t i = 0; i < settings->world_count && !result; i++) result = give_part(common, settings->worlds[i].name);
  for (size_t i = ENDINGS; i-- > 0 && !result;) {
    snprintf(name, sizeof name, "%s%s", common, endings[i]);
    result = put_aside(name);
  }
  return result;
}

muster_result division_make(const struct settings *settings) {
  const char *common = settings->snapshot_file;
  if (!*common || !(division_exists(common, "") || division_exists(common, ".previous"))) return MUSTER_OK;
  int lock;
  muster_result result = snapshots_lock_file(common, NULL, &lock);
  if (!result) result = divide(settings);
  if (lock >= 0) close(lock);
  return result;
}
