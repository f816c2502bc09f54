#include "base/chunks.h"

#include "base/assert.h"
#include "base/error.h"

#include <string.h>
#include <xxhash.h>

enum { MARK = 0x4b4e4843 };

struct header {
  uint32_t mark, section;
  uint64_t number, bytes, checksum;
};

_Static_assert(sizeof(struct header) == CHUNK_HEADER_BYTES, "a chunk's header has no gaps");

static void fill_head(unsigned char head[CHUNKS_HEADER_BYTES], const chunks_format *format) {
  memcpy(head, format->magic, sizeof format->magic);
  memcpy(head + 8, &format->version, sizeof format->version);
  memcpy(head + 12, &format->layout, sizeof format->layout);
}

static uint64_t checksum_of(const struct header *header, const unsigned char *bytes, uint64_t before) {
  struct header own = *header;
  own.checksum = before;
  return XXH3_64bits_withSeed(bytes, (size_t)own.bytes, XXH3_64bits(&own, sizeof own));
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static void hand_over(chunk_writer *writer, const void *bytes, size_t count) {
  if (!writer->failed && !writer->sink(bytes, count, writer->user)) writer->failed = true;
  writer->written += count;
}

void chunks_write_to(chunk_writer *writer, const chunks_format *format, chunks_sink sink, void *user, void *buffer,
                     size_t capacity) {
  ASSERT(capacity > CHUNK_HEADER_BYTES && capacity <= CHUNK_BYTES_MAX);
  unsigned char head[CHUNKS_HEADER_BYTES];
  *writer =
      (chunk_writer){.sink = sink, .user = user, .buffer = buffer, .capacity = capacity, .count = CHUNK_HEADER_BYTES};
  fill_head(head, format);
  hand_over(writer, head, sizeof head);
}

/* Makes a chunk of the bytes so far. */
static void close_chunk(chunk_writer *writer) {
  unsigned char *content = writer->buffer + CHUNK_HEADER_BYTES;
  struct header header = {MARK, writer->section, writer->number++, writer->count - CHUNK_HEADER_BYTES, 0};
  header.checksum = writer->checksum = checksum_of(&header, content, writer->checksum);
  memcpy(writer->buffer, &header, sizeof header);
  hand_over(writer, writer->buffer, writer->count);
  writer->count = CHUNK_HEADER_BYTES;
}

void chunks_begin(chunk_writer *writer, uint32_t section) {
  ASSERT(section != CHUNKS_END);
  if (writer->section != CHUNKS_END) close_chunk(writer);
  writer->section = section;
}

void chunks_put(chunk_writer *writer, const void *bytes, size_t count) {
  ASSERT(writer->section != CHUNKS_END);
  const unsigned char *from = bytes;
  while (count) {
    if (writer->count == writer->capacity) close_chunk(writer); /* only if more follows: no later chunk is empty */
    size_t room = writer->capacity - writer->count, taken = count < room ? count : room;
    memcpy(writer->buffer + writer->count, from, taken);
    writer->count += taken;
    from += taken;
    count -= taken;
  }
}

bool chunks_finish(chunk_writer *writer) {
  if (writer->section != CHUNKS_END) close_chunk(writer);
  writer->section = CHUNKS_END;
  close_chunk(writer);
  return !writer->failed;
}

void chunks_seal(const chunks_format *format, uint32_t section, void *memory, size_t count) {
  unsigned char *at = memory, *content = at + CHUNKS_SEAL_BEFORE;
  struct header header = {MARK, section, 0, count, 0}, end = {MARK, CHUNKS_END, 1, 0, 0};
  header.checksum = checksum_of(&header, content, 0);
  end.checksum = checksum_of(&end, content, header.checksum);
  fill_head(at, format);
  memcpy(at + CHUNKS_HEADER_BYTES, &header, sizeof header);
  memcpy(content + count, &end, sizeof end);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Goes to the next chunk, which was checked. */
static void go_on(chunk_reader *reader) {
  struct header header;
  memcpy(&header, reader->bytes + reader->end, sizeof header);
  reader->section = header.section;
  reader->at = reader->end + sizeof header;
  reader->end = reader->at + (size_t)header.bytes;
}

static bool is_next(const chunk_reader *reader, uint32_t section) {
  struct header header;
  if (reader->count - reader->end < sizeof header) return false;
  memcpy(&header, reader->bytes + reader->end, sizeof header);
  return header.section == section;
}

static muster_result chunks_check_head(const chunk_reader *reader) {
  const chunks_format *format = reader->format;
  uint32_t found[2];
  if (reader->count < sizeof format->magic || memcmp(reader->bytes, format->magic, sizeof format->magic) != 0)
    return error_set(MUSTER_E_INPUT, "%s: offset 0: this is not a Muster file", format->name);
  if (reader->count < CHUNKS_HEADER_BYTES)
    return error_set(MUSTER_E_INPUT, "%s: offset %zu: the file ends here", format->name, reader->count);
  memcpy(found, reader->bytes + sizeof format->magic, sizeof found);
  if (found[0] != format->version)
    return error_set(MUSTER_E_INPUT, "%s: offset 8: version %u; this program reads version %u", format->name, found[0],
                     format->version);
  if (found[1] != format->layout)
    return error_set(MUSTER_E_INPUT, "%s: offset 12: written by another build, whose structures differ", format->name);
  return MUSTER_OK;
}

/* Checks the chunk at `reader->end` and goes behind it. */
static muster_result check_chunk(chunk_reader *reader, uint64_t number, uint64_t *checksum, uint32_t *section) {
  const char *name = reader->format->name;
  struct header header;
  size_t at = reader->end, left = reader->count - at;
  if (left < sizeof header) return error_set(MUSTER_E_INPUT, "%s: offset %zu: it was cut here", name, reader->count);
  memcpy(&header, reader->bytes + at, sizeof header);
  left -= sizeof header;
  if (header.mark != MARK) return error_set(MUSTER_E_INPUT, "%s: offset %zu: no chunk begins here", name, at);
  if (header.bytes > left)
    return error_set(MUSTER_E_INPUT, "%s: offset %zu: a chunk of %llu bytes, but only %zu follow", name, at,
                     (unsigned long long)header.bytes, left);
  if (header.number != number || header.bytes > CHUNK_BYTES_MAX ||
      checksum_of(&header, reader->bytes + at + sizeof header, *checksum) != header.checksum)
    return error_set(MUSTER_E_INPUT, "%s: offset %zu: chunk %llu is damaged: its checksum is wrong", name, at,
                     (unsigned long long)number);
  *checksum = header.checksum;
  *section = header.section;
  reader->end = at + sizeof header + (size_t)header.bytes;
  return MUSTER_OK;
}

muster_result chunks_read_front(chunk_reader *reader, const chunks_format *format, const void *bytes, size_t count,
                                size_t *length) {
  *reader = (chunk_reader){.format = format, .bytes = bytes, .count = count, .end = CHUNKS_HEADER_BYTES};
  uint32_t section = CHUNKS_END + 1;
  uint64_t checksum = 0;
  muster_result result = chunks_check_head(reader);
  for (uint64_t number = 0; !result && section != CHUNKS_END; number++)
    result = check_chunk(reader, number, &checksum, &section);
  if (result) return result;
  *length = reader->end;
  reader->checksum = checksum;
  chunks_rewind(reader);
  return MUSTER_OK;
}

muster_result chunks_read_from(chunk_reader *reader, const chunks_format *format, const void *bytes, size_t count) {
  size_t length;
  muster_result result = chunks_read_front(reader, format, bytes, count, &length);
  if (result || length == count) return result;
  return error_set(MUSTER_E_INPUT, "%s: offset %zu: %zu bytes behind the end", format->name, length, count - length);
}

void chunks_rewind(chunk_reader *reader) {
  reader->at = reader->end = CHUNKS_HEADER_BYTES;
  reader->section = CHUNKS_END;
  reader->failed = false;
}

bool chunks_enter(chunk_reader *reader, uint32_t section) {
  if (!chunks_is_read(reader) || !is_next(reader, section)) return false;
  go_on(reader);
  return true;
}

void chunks_take(chunk_reader *reader, void *bytes, size_t count) {
  unsigned char *to = bytes;
  while (count) {
    size_t left = reader->end - reader->at, taken = count < left ? count : left;
    if (left == 0 && !reader->failed && is_next(reader, reader->section)) {
      go_on(reader);
      continue;
    }
    if (left == 0 || reader->failed) {
      reader->failed = true;
      if (to) memset(to, 0, count);
      return;
    }
    if (to) {
      memcpy(to, reader->bytes + reader->at, taken);
      to += taken;
    }
    reader->at += taken;
    count -= taken;
  }
}

bool chunks_is_read(const chunk_reader *reader) {
  return !reader->failed && reader->at == reader->end &&
         (reader->section == CHUNKS_END || !is_next(reader, reader->section));
}
