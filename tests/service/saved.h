/* saved.h - the snapshots that a served daemon (served.h) has left in its folder. */
#ifndef SAVED_H
#define SAVED_H

#include "served.h"
#include "service/snapshot_file.h"

static inline struct snapshot_file saved_open(const char *name) {
  struct snapshot_file file;
  cr_assert_eq(snapshot_file_open(&file, path_of(name)), MUSTER_OK, "%s", muster_last_error());
  return file;
}

static inline const snapshot_file_world *saved_world(const struct snapshot_file *file, const char *world) {
  const snapshot_file_world *found = snapshot_file_find(file, world);
  cr_assert_not_null(found);
  return found;
}

static inline unsigned long long saved_number(const char *name) {
  SCOPED(snapshot_file_close) struct snapshot_file file = saved_open(name);
  return file.number;
}

/* What a file says of a world, as the log will say it. */
static inline const char *saved_line(const char *name, const char *world) {
  SCOPED(snapshot_file_close) struct snapshot_file file = saved_open(name);
  const struct snapshot_file_world *found = saved_world(&file, world);
  return formed("world %s: %u agents and %u spawns of frame %llu go on, hash %016llx", world, found->info.agents,
                found->info.spawns, (unsigned long long)found->info.frames, (unsigned long long)found->info.hash);
}

#endif
