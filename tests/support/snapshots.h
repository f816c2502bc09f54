/* tests/support/snapshots.h - snapshots in memory. */
#ifndef SNAPSHOTS_H
#define SNAPSHOTS_H

#include "support/little_world.h"

#include <muster/snapshot.h>

#include <stdlib.h>

typedef struct saved_world {
  unsigned char *bytes;
  size_t count, capacity;
} saved_world;

static inline bool saved_world_write(const void *bytes, size_t count, void *user) {
  saved_world *saved = user;
  if (saved->count + count > saved->capacity) {
    saved->capacity = (saved->count + count) * 2;
    saved->bytes = realloc(saved->bytes, saved->capacity);
  }
  memcpy(saved->bytes + saved->count, bytes, count);
  saved->count += count;
  return true;
}

static inline saved_world save_world(muster_world *world) {
  saved_world saved = {0};
  muster_save_def def = muster_save_def_default();
  def.write = saved_world_write;
  def.user = &saved;
  cr_assert_eq(muster_world_save(world, &def), MUSTER_OK, "%s", muster_last_error());
  return saved;
}

static inline void saved_world_forget(saved_world *saved) {
  free(saved->bytes);
}

static inline muster_result load_world(muster_world *world, const void *bytes, size_t count) {
  muster_load_def def = muster_load_def_default();
  def.bytes = bytes;
  def.count = count;
  return muster_world_load(world, &def);
}

/* Loads in a world what another one saves; what it saves itself is then the same. */
static inline void copy_exactly(const little_world *from, little_world *to) {
  SCOPED(saved_world_forget) saved_world saved = save_world(from->world);
  cr_assert_eq(load_world(to->world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_world_hash(to->world), muster_world_hash(from->world));
  SCOPED(saved_world_forget) saved_world again = save_world(to->world);
  cr_assert_eq(again.count, saved.count);
  cr_assert_eq(memcmp(again.bytes, saved.bytes, saved.count), 0, "a snapshot of what was loaded is another");
  to->now_ns = from->now_ns;
}

/* The same, and tells which byte is another. */
static inline void copy_each_byte(const little_world *from, little_world *to) {
  SCOPED(saved_world_forget) saved_world saved = save_world(from->world);
  cr_assert_eq(load_world(to->world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  SCOPED(saved_world_forget) saved_world again = save_world(to->world);
  cr_assert_eq(again.count, saved.count);
  for (size_t i = 0; i < saved.count; i++)
    cr_assert(again.bytes[i] == saved.bytes[i], "at %lu ns byte %zu of %zu is another", (unsigned long)from->now_ns, i,
              saved.count);
}

static inline muster_snapshot_info look_at(const saved_world *saved) {
  muster_snapshot_info info = muster_snapshot_info_default();
  cr_assert_eq(muster_snapshot_look(saved->bytes, saved->count, &info), MUSTER_OK, "%s", muster_last_error());
  return info;
}

#endif
