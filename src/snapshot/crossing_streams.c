/* crossing_streams.c - what crosses stands in a stream of one section, which is checked as a whole before it is taken.
 */
#include "base/assert.h"
#include "base/error.h"
#include "snapshot/crossing.h"
#include "world/guard.h"

enum { CROSSING_BUFFER_BYTES = 65536 };

bool crossing_write_out(struct snapshot *snapshot, uint32_t section, snapshot_part *part, muster_zone_put put,
                        void *user) {
  unsigned char buffer[CROSSING_BUFFER_BYTES];
  const chunks_format format = crossing_format();
  ASSERT(section >= SNAPSHOT_OF_AGENT);
  enum occupation before = guard_hold(snapshot->world);
  snapshot->mode = SNAPSHOT_SAVES;
  chunks_write_to(&snapshot->writer, &format, put, user, buffer, sizeof buffer);
  chunks_begin(&snapshot->writer, section);
  snapshot_go_through(snapshot, part);
  bool written = chunks_finish(&snapshot->writer);
  guard_release(snapshot->world, before);
  return written;
}

muster_result crossing_read(struct snapshot *snapshot, uint32_t section, snapshot_part *part, const char *what) {
  ASSERT(!snapshot_saves(snapshot));
  chunks_rewind(&snapshot->reader);
  if (!chunks_enter(&snapshot->reader, section))
    return error_set(MUSTER_E_INPUT, "%s: these bytes are of something else", what);
  bool whole = snapshot_go_through(snapshot, part);
  if (!whole) return error_set(MUSTER_E_INPUT, "%s: %s", what, snapshot->trouble);
  if (!chunks_is_read(&snapshot->reader))
    return error_set(MUSTER_E_INPUT, "%s: offset %zu: there is more than there should be", what, snapshot->reader.at);
  return MUSTER_OK;
}

muster_result crossing_peek(const void *bytes, size_t count, uint32_t section, void *head, size_t size,
                            const char *what) {
  const chunks_format format = crossing_format();
  chunk_reader reader;
  if (!bytes) return error_missing(what, "bytes");
  muster_result result = chunks_read_from(&reader, &format, bytes, count);
  if (result) return result;
  bool entered = chunks_enter(&reader, section);
  if (entered) chunks_take(&reader, head, size);
  if (entered && !reader.failed) return MUSTER_OK;
  return error_set(MUSTER_E_INPUT, "%s: these bytes are of something else", what);
}

muster_result crossing_open(struct snapshot *snapshot, struct muster_world *world, const chunks_format *format,
                            const void *bytes, size_t count) {
  snapshot->world = world;
  snapshot->mode = SNAPSHOT_CHECKS;
  snapshot->info.sim_now_ns = world->last_now_ns;
  snapshot->rows = world->agents.store.rows;
  if (!bytes) return error_missing("crossing", "bytes");
  return chunks_read_from(&snapshot->reader, format, bytes, count);
}
