/* tests/support/snapshot_parts.h - snapshots taken apart, so that they can be changed and sealed again. */
#ifndef SNAPSHOT_PARTS_H
#define SNAPSHOT_PARTS_H

#include "base/chunks.h"
#include "support/snapshots.h"

enum { SECTIONS = 17 };

/* The bytes of its sections one after another. */
struct snapshot_parts {
  chunks_format format;
  unsigned char *bytes;
  size_t begin[SECTIONS + 2];
};

static inline void snapshot_parts_forget(struct snapshot_parts *parts) {
  free(parts->bytes);
}

static inline struct snapshot_parts take_apart(const saved_world *saved) {
  struct snapshot_parts parts = {.format.name = "snapshot", .bytes = malloc(saved->count)};
  chunk_reader reader;
  size_t at = 0;
  memcpy(parts.format.magic, saved->bytes, sizeof parts.format.magic);
  memcpy(&parts.format.version, saved->bytes + 8, 4);
  memcpy(&parts.format.layout, saved->bytes + 12, 4);
  cr_assert_eq(chunks_read_from(&reader, &parts.format, saved->bytes, saved->count), MUSTER_OK);
  for (uint32_t section = 1; section <= SECTIONS; section++) {
    parts.begin[section] = at;
    cr_assert(chunks_enter(&reader, section));
    while (!chunks_is_read(&reader)) chunks_take(&reader, &parts.bytes[at++], 1);
  }
  parts.begin[SECTIONS + 1] = at;
  return parts;
}

/* The same with its checksums made right. The caller frees its bytes. */
static inline saved_world put_together(const struct snapshot_parts *parts) {
  static unsigned char buffer[65536];
  saved_world saved = {0};
  chunk_writer writer;
  chunks_write_to(&writer, &parts->format, saved_world_write, &saved, buffer, sizeof buffer);
  for (uint32_t section = 1; section <= SECTIONS; section++) {
    chunks_begin(&writer, section);
    chunks_put(&writer, parts->bytes + parts->begin[section], parts->begin[section + 1] - parts->begin[section]);
  }
  cr_assert(chunks_finish(&writer));
  return saved;
}

#endif
