#include "service/snapshot_file.h"

#include "base/chunks.h"
#include "base/error.h"
#include "base/files.h"

#include <muster/snapshot.h>

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
  VERSION = 1,
  END_BYTES = 16,
  BUFFER_BYTES = 16384,
  SECTION_HEAD = 1,
  SECTION_WORLD,
  SECTION_STATE,
  SECTION_KEYS
};

typedef struct file_head {
  uint64_t number;
  uint32_t worlds, zero;
} file_head;

/* A world in the index. */
typedef struct file_world {
  char name[NAME_BYTES], module[NAME_BYTES];
  uint64_t sim_now_ns, offset, count, state_bytes;
} file_world;

static chunks_format snapshot_file_format_of(void) {
  return (chunks_format){.name = "snapshot file",
                         .magic = {'M', 'U', 'S', 'I', 'N', 'D', 'E', 'X'},
                         .version = VERSION,
                         .layout = (uint32_t)(sizeof(file_head) * 1000 + sizeof(file_world))};
}

bool snapshot_file_takes(const muster_module *module) {
  return module->save && module->resume;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

struct sink {
  int descriptor;
  int problem; /* errno of the first write that failed */
  uint64_t bytes;
};

static bool write_all(const void *bytes, size_t count, void *user) {
  struct sink *sink = user;
  const unsigned char *from = bytes;
  while (count && !sink->problem) {
    ssize_t written = write(sink->descriptor, from, count);
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) sink->problem = errno;
    if (written <= 0) break;
    from += written;
    count -= (size_t)written;
    sink->bytes += (uint64_t)written;
  }
  return count == 0;
}

static bool count_bytes(const void *bytes, size_t count, void *user) {
  (void)bytes;
  *(uint64_t *)user += count;
  return true;
}

static bool put_bytes(const void *bytes, size_t count, void *user) {
  chunk_writer *writer = user;
  chunks_put(writer, bytes, count);
  return !writer->failed;
}

static muster_result failed(const struct sink *sink, const snapshot_source *source) {
  if (sink->problem) return error_set(MUSTER_E_SYSTEM, "cannot write: %s", strerror(sink->problem));
  char reason[256];
  snprintf(reason, sizeof reason, "%s", muster_last_error());
  return error_set(MUSTER_E_SYSTEM, "world %s: %s", source ? source->name : "?", reason);
}

static muster_result write_worlds(struct sink *sink, const snapshot_source *sources, uint32_t count,
                                  file_world *worlds) {
  for (uint32_t i = 0; i < count; i++) {
    const snapshot_source *source = &sources[i];
    file_world *world = &worlds[i];
    *world = (file_world){.sim_now_ns = source->sim_now_ns, .offset = sink->bytes};
    snprintf(world->name, sizeof world->name, "%s", source->name);
    snprintf(world->module, sizeof world->module, "%s", source->module_name);
    muster_save_def def = muster_save_def_default();
    def.write = write_all;
    def.user = sink;
    if (muster_world_save(source->world, &def)) return failed(sink, source);
    world->count = sink->bytes - world->offset;
    if (source->module->save(source->instance, source->world, count_bytes, &world->state_bytes))
      return failed(sink, source);
  }
  return MUSTER_OK;
}

/* How many bytes they are, and they; nothing where there are none. */
static void put_keys(chunk_writer *writer, const struct keys *keys) {
  const uint64_t bytes = keys && keys->count ? keys_saved_bytes(keys) : 0;
  if (!bytes) return;
  chunks_begin(writer, SECTION_KEYS);
  chunks_put(writer, &bytes, sizeof bytes);
  keys_save(keys, put_bytes, writer);
}

static muster_result write_index(struct sink *sink, uint64_t number, const snapshot_source *sources, uint32_t count,
                                 const file_world *worlds) {
  unsigned char buffer[BUFFER_BYTES];
  const chunks_format format = snapshot_file_format_of();
  const file_head head = {.number = number, .worlds = count};
  const uint64_t begin = sink->bytes, end[2] = {begin, ~begin};
  chunk_writer writer;
  chunks_write_to(&writer, &format, write_all, sink, buffer, sizeof buffer);
  chunks_begin(&writer, SECTION_HEAD);
  chunks_put(&writer, &head, sizeof head);
  for (uint32_t i = 0; i < count; i++) {
    chunks_begin(&writer, SECTION_WORLD);
    chunks_put(&writer, &worlds[i], sizeof worlds[i]);
    chunks_begin(&writer, SECTION_STATE);
    if (sources[i].module->save(sources[i].instance, sources[i].world, put_bytes, &writer))
      return failed(sink, &sources[i]);
    put_keys(&writer, sources[i].keys);
  }
  bool written = chunks_finish(&writer) && write_all(end, sizeof end, sink);
  return written ? MUSTER_OK : failed(sink, NULL);
}

muster_result snapshot_file_write(int descriptor, uint64_t number, const snapshot_source *sources, uint32_t count,
                                  uint64_t *bytes) {
  struct sink sink = {.descriptor = descriptor};
  file_world worlds[WORLDS_MAX];
  muster_result result = write_worlds(&sink, sources, count, worlds);
  if (!result) result = write_index(&sink, number, sources, count, worlds);
  *bytes = sink.bytes;
  return result;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

static muster_result damaged(const char *what) {
  return error_set(MUSTER_E_INPUT, "snapshot file: %s", what);
}

/* Files of earlier versions, and worlds whose requests had no keys, have none. */
static muster_result read_keys(chunk_reader *reader, snapshot_file_world *world) {
  uint64_t bytes = 0;
  if (!chunks_enter(reader, SECTION_KEYS)) return MUSTER_OK;
  chunks_take(reader, &bytes, sizeof bytes);
  if (bytes > reader->count) return damaged("its keys are not whole");
  world->keys = malloc((size_t)bytes + 1);
  if (!world->keys) return error_set(MUSTER_E_MEMORY, "no memory for the keys of requests");
  world->keys_bytes = (size_t)bytes;
  chunks_take(reader, world->keys, world->keys_bytes);
  return chunks_is_read(reader) ? MUSTER_OK : damaged("its keys are not whole");
}

/* Reads the index's part on one world, whose bytes begin at `offset`. */
static muster_result snapshot_file_read_world(struct snapshot_file *file, chunk_reader *reader, size_t *offset,
                                              size_t end) {
  snapshot_file_world *world = &file->worlds[file->world_count];
  file_world read;
  bool entered = chunks_enter(reader, SECTION_WORLD);
  if (entered) chunks_take(reader, &read, sizeof read);
  if (!entered || !chunks_is_read(reader)) return damaged("its index is not whole");
  if (read.offset != *offset || read.count > end - *offset || read.state_bytes > reader->count)
    return damaged("a world is not where its index says");
  read.name[NAME_BYTES - 1] = read.module[NAME_BYTES - 1] = '\0';
  *world = (snapshot_file_world){.sim_now_ns = read.sim_now_ns,
                                 .bytes = file->bytes + read.offset,
                                 .count = (size_t)read.count,
                                 .info = muster_snapshot_info_default(),
                                 .state_bytes = (size_t)read.state_bytes};
  memcpy(world->name, read.name, sizeof world->name);
  memcpy(world->module, read.module, sizeof world->module);
  *offset += world->count;
  muster_result result = muster_snapshot_look(world->bytes, world->count, &world->info);
  if (result) return result;
  world->state = malloc(world->state_bytes + 1); /* a module's state may be empty */
  if (!world->state) return error_set(MUSTER_E_MEMORY, "no memory for what a module keeps");
  file->world_count++;
  if (chunks_enter(reader, SECTION_STATE)) chunks_take(reader, world->state, world->state_bytes);
  if (!chunks_is_read(reader)) return damaged("what a module keeps is not whole");
  return read_keys(reader, world);
}

static muster_result read_index(struct snapshot_file *file, size_t begin) {
  const chunks_format format = snapshot_file_format_of();
  chunk_reader reader;
  file_head head;
  size_t offset = 0;
  muster_result result = chunks_read_from(&reader, &format, file->bytes + begin, file->count - END_BYTES - begin);
  if (result) return result;
  bool entered = chunks_enter(&reader, SECTION_HEAD);
  if (entered) chunks_take(&reader, &head, sizeof head);
  if (!entered || !chunks_is_read(&reader) || head.worlds > WORLDS_MAX) return damaged("its head is not whole");
  file->number = head.number;
  for (uint32_t i = 0; i < head.worlds && !result; i++)
    result = snapshot_file_read_world(file, &reader, &offset, begin);
  if (!result && offset != begin) result = damaged("there is something between its worlds and its index");
  return result;
}

/* Checks the end of a file of `count` bytes; `end` holds its last bytes if the file is that long. */
static muster_result check_end(const uint64_t end[2], uint64_t count) {
  if (count < END_BYTES) return damaged("it is cut, or empty");
  bool whole = end[0] == ~end[1] && end[0] <= count - END_BYTES;
  return whole ? MUSTER_OK : damaged("it is cut, or none of musterd's");
}

static void free_worlds(struct snapshot_file *file) {
  for (uint32_t i = 0; i < file->world_count; i++) {
    free(file->worlds[i].state);
    free(file->worlds[i].keys);
  }
}

muster_result snapshot_file_read(struct snapshot_file *file, const void *bytes, size_t count) {
  uint64_t end[2];
  *file = (struct snapshot_file){.bytes = (unsigned char *)(uintptr_t)bytes, .count = count};
  if (count >= END_BYTES) memcpy(end, file->bytes + count - END_BYTES, END_BYTES);
  muster_result result = check_end(end, count);
  if (!result) result = read_index(file, (size_t)end[0]);
  if (result) free_worlds(file);
  return result;
}

/* The end is read before anything is mapped, and pages come into memory when they are read: a file may have any size.
 */
static muster_result snapshot_file_map(struct snapshot_file *file, int descriptor) {
  struct stat about;
  uint64_t end[2] = {0};
  if (fstat(descriptor, &about) != 0) return error_set(MUSTER_E_SYSTEM, "snapshot file: %s", strerror(errno));
  const uint64_t count = (uint64_t)about.st_size;
  if (count >= END_BYTES && pread(descriptor, end, END_BYTES, about.st_size - END_BYTES) != END_BYTES)
    return error_set(MUSTER_E_SYSTEM, "snapshot file: its end cannot be read");
  muster_result result = check_end(end, count);
  if (result) return result;
  void *bytes = mmap(NULL, (size_t)count, PROT_READ, MAP_PRIVATE, descriptor, 0);
  if (bytes == MAP_FAILED) return error_set(MUSTER_E_SYSTEM, "snapshot file: %s", strerror(errno));
  madvise(bytes, (size_t)count, MADV_SEQUENTIAL); /* a refusal does no harm */
  result = snapshot_file_read(file, bytes, (size_t)count);
  if (result) munmap(bytes, (size_t)count);
  return result;
}

muster_result snapshot_file_open(struct snapshot_file *file, const char *path) {
  int descriptor = files_open_regular(AT_FDCWD, path, O_RDONLY | O_NOFOLLOW, 0);
  if (descriptor < 0) return muster_last_result(); /* what is there may be no file */
  muster_result result = snapshot_file_map(file, descriptor);
  close(descriptor);
  return result;
}

const snapshot_file_world *snapshot_file_find(const struct snapshot_file *file, const char *name) {
  for (uint32_t i = 0; i < file->world_count; i++)
    if (strcmp(file->worlds[i].name, name) == 0) return &file->worlds[i];
  return NULL;
}

void snapshot_file_close(struct snapshot_file *file) {
  free_worlds(file);
  munmap(file->bytes, file->count);
  *file = (struct snapshot_file){0};
}
