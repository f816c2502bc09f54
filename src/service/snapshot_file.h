/* service/snapshot_file.h - all worlds of the service in one file.
 *
 *     the worlds, one after the other, each as muster_world_save() writes it
 *     an index (base/chunks.h): of each world its name, module, place in the file, the module's state, and the keys of
 *         its requests (service/keys.h), where it has any
 *     where the index begins (8 bytes), and the same inverted (8 bytes)
 *
 * The index comes last, so that a file is written from the beginning to the end by a process that allocates nothing;
 * every byte is covered by a checksum, and a truncated file lacks the last 16 bytes. */
#ifndef SERVICE_SNAPSHOT_FILE_H
#define SERVICE_SNAPSHOT_FILE_H

#include "service/keys.h"
#include "service/settings.h"

#include <muster/module.h>
#include <muster/snapshot.h>

/* A world that is to be written. */
typedef struct snapshot_source {
  const char *name, *module_name;
  const muster_module *module;
  void *instance;
  muster_world *world;
  uint64_t sim_now_ns;
  const struct keys *keys; /* null = none */
} snapshot_source;

/* Whether a module has save and resume; the modules of a world do when each has, or leaves that to the host. */
bool snapshot_file_takes(const muster_module *module);

/* Writes a file to a descriptor; `number` counts snapshots. Allocates nothing, so that a forked process may call it. */
muster_result snapshot_file_write(int descriptor, uint64_t number, const snapshot_source *sources, uint32_t count,
                                  uint64_t *bytes);

/* A world as read from a file. */
typedef struct snapshot_file_world {
  char name[NAME_BYTES], module[NAME_BYTES];
  uint64_t sim_now_ns; /* the service's simulation time of the world */
  const unsigned char *bytes;
  size_t count;
  muster_snapshot_info info;
  unsigned char *state; /* the module's state; owned */
  size_t state_bytes;
  unsigned char *keys; /* for keys_take; owned; null = none */
  size_t keys_bytes;
} snapshot_file_world;

struct snapshot_file {
  unsigned char *bytes; /* mapped */
  size_t count;
  uint64_t number;
  uint32_t world_count;
  snapshot_file_world worlds[WORLDS_MAX];
};

/* Maps a file and checks all of it. MUSTER_E_INPUT with the reason when it is damaged or not a snapshot of this
 * program, MUSTER_E_SYSTEM when it cannot be read; nothing is open then. */
muster_result snapshot_file_open(struct snapshot_file *file, const char *path);

/* The same for bytes in memory, which must outlive `file`. */
muster_result snapshot_file_read(struct snapshot_file *file, const void *bytes, size_t count);

/* The world of that name, or null. */
const snapshot_file_world *snapshot_file_find(const struct snapshot_file *file, const char *name);

/* Unmaps it, and frees what it owns. */
void snapshot_file_close(struct snapshot_file *file);

#endif
