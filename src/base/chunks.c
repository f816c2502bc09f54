#include "base/chunks.h"

#include "base/assert.h"
#include "base/error.h"

#include <string.h>
#include <xxhash.h>

struct header {
  uint32_t mark, kind;
  uint64_t number, bytes, checksum;
};

_Static_assert(sizeof(struct header) == CHUNK_HEADER_BYTES, "a chunk's header has no gaps");

/* What differs between the two kinds of files: how a chunk is marked, and the words of messages. */
static const struct chunk_words {
  uint32_t mark;
  const char *chunk, *stranger, *cut;
} words[] = {{0x4b4e4843, "chunk", "this is not a Muster file", "it was"},
             {0x4e544353, "section", "this is no record of Muster", "the file was"}};

void chunks_put_head(unsigned char head[CHUNKS_HEADER_BYTES], const chunks_format *format) {
  memcpy(head, format->magic, sizeof format->magic);
  memcpy(head + 8, &format->version, sizeof format->version);
  memcpy(head + 12, &format->layout, sizeof format->layout);
}

uint32_t chunks_layout(const size_t *sizes, size_t count) {
  uint32_t layout = 0x01020304; /* also tells byte orders apart */
  for (size_t i = 0; i < count; i++) layout = layout * 31 + (uint32_t)sizes[i];
  return layout;
}

static uint64_t checksum_of(const struct header *header, const unsigned char *bytes, uint64_t before) {
  struct header own = *header;
  own.checksum = before;
  return XXH3_64bits_withSeed(bytes, (size_t)own.bytes, XXH3_64bits(&own, sizeof own));
}

uint64_t chunk_seal(void *memory, bool record, uint32_t kind, uint64_t number, size_t count, uint64_t before) {
  struct header header = {words[record].mark, kind, number, count, 0};
  header.checksum = checksum_of(&header, (const unsigned char *)memory + sizeof header, before);
  memcpy(memory, &header, sizeof header);
  return header.checksum;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static void hand_over(chunk_writer *writer, const void *bytes, size_t count) {
  if (!writer->failed && !writer->sink(bytes, count, writer->user)) writer->failed = true;
}

void chunks_write_to(chunk_writer *writer, const chunks_format *format, chunks_sink sink, void *user, void *buffer,
                     size_t capacity) {
  ASSERT(capacity > CHUNK_HEADER_BYTES && capacity <= CHUNK_BYTES_MAX);
  unsigned char head[CHUNKS_HEADER_BYTES];
  *writer =
      (chunk_writer){.sink = sink, .user = user, .buffer = buffer, .capacity = capacity, .count = CHUNK_HEADER_BYTES};
  chunks_put_head(head, format);
  hand_over(writer, head, sizeof head);
}

/* Makes a chunk of the bytes so far. */
static void close_chunk(chunk_writer *writer) {
  writer->checksum = chunk_seal(writer->buffer, false, writer->section, writer->number++,
                                writer->count - CHUNK_HEADER_BYTES, writer->checksum);
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
  unsigned char *chunk = (unsigned char *)memory + CHUNKS_HEADER_BYTES;
  chunks_put_head(memory, format);
  uint64_t checksum = chunk_seal(chunk, false, section, 0, count, 0);
  chunk_seal(chunk + CHUNK_HEADER_BYTES + count, false, CHUNKS_END, 1, 0, checksum);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Goes to the next chunk, which was checked. */
static void go_on(chunk_reader *reader) {
  struct header header;
  memcpy(&header, reader->bytes + reader->end, sizeof header);
  reader->section = header.kind;
  reader->at = reader->end + sizeof header;
  reader->end = reader->at + (size_t)header.bytes;
}

static bool is_next(const chunk_reader *reader, uint32_t section) {
  struct header header;
  if (reader->count - reader->end < sizeof header) return false;
  memcpy(&header, reader->bytes + reader->end, sizeof header);
  return header.kind == section;
}

muster_result chunks_check_head(const chunks_format *format, const unsigned char *bytes, size_t count) {
  uint32_t found[2];
  if (count < sizeof format->magic || memcmp(bytes, format->magic, sizeof format->magic) != 0)
    return error_set(MUSTER_E_INPUT, "%s: offset 0: %s", format->name, words[format->record].stranger);
  if (count < CHUNKS_HEADER_BYTES)
    return error_set(MUSTER_E_INPUT, "%s: offset %zu: the file ends here", format->name, count);
  memcpy(found, bytes + sizeof format->magic, sizeof found);
  if (found[0] != format->version)
    return error_set(MUSTER_E_INPUT, "%s: offset 8: version %u; this program reads version %u", format->name, found[0],
                     format->version);
  if (found[1] != format->layout)
    return error_set(MUSTER_E_INPUT, "%s: offset 12: written by another build, whose structures differ", format->name);
  return MUSTER_OK;
}

muster_result chunk_check(const chunks_format *format, const unsigned char *bytes, size_t count, size_t at,
                          uint64_t *checksum, struct chunk *found) {
  const struct chunk_words *says = &words[format->record];
  struct header header;
  size_t left = count - at;
  found->cut = left < sizeof header;
  if (found->cut) return error_set(MUSTER_E_INPUT, "%s: offset %zu: %s cut here", format->name, count, says->cut);
  memcpy(&header, bytes + at, sizeof header);
  left -= sizeof header;
  if (header.mark != says->mark)
    return error_set(MUSTER_E_INPUT, "%s: offset %zu: no %s begins here", format->name, at, says->chunk);
  found->cut = header.bytes > left;
  if (found->cut)
    return error_set(MUSTER_E_INPUT, "%s: offset %zu: a %s of %llu bytes, but only %zu follow", format->name, at,
                     says->chunk, (unsigned long long)header.bytes, left);
  uint64_t number = format->record ? header.number : found->number;
  if (header.number != number || (!format->record && header.bytes > CHUNK_BYTES_MAX) ||
      checksum_of(&header, bytes + at + sizeof header, *checksum) != header.checksum)
    return error_set(MUSTER_E_INPUT, "%s: offset %zu: %s %llu is damaged: its checksum is wrong", format->name, at,
                     says->chunk, (unsigned long long)number);
  *checksum = header.checksum;
  *found =
      (struct chunk){.kind = header.kind, .number = number, .at = at + sizeof header, .bytes = (size_t)header.bytes};
  return MUSTER_OK;
}

/* Whether a header with that mark stands at `at`, as far as there are bytes. */
static bool has_mark(const unsigned char *bytes, size_t count, size_t at, uint32_t mark) {
  size_t left = count - at < sizeof mark ? count - at : sizeof mark;
  return memcmp(bytes + at, &mark, left) == 0;
}

uint64_t chunks_last_behind(const chunks_format *format, const unsigned char *bytes, size_t count, size_t at,
                            uint32_t section, uint64_t number) {
  uint32_t mark = words[format->record].mark;
  uint64_t last = number, most = number + (count - at) / CHUNK_HEADER_BYTES;
  for (struct header header; count - at >= sizeof header;) {
    const unsigned char *found = memmem(bytes + at, count - at, &mark, sizeof mark);
    if (!found || (size_t)(bytes + count - found) < sizeof header) break;
    memcpy(&header, found, sizeof header);
    at = (size_t)(found - bytes);
    size_t room = count - at - sizeof header;
    bool whole = header.bytes <= room && has_mark(bytes, count, at + sizeof header + (size_t)header.bytes, mark);
    if (whole && header.kind == section && header.number > number && header.number <= most) last = header.number;
    at += whole ? sizeof header + (size_t)header.bytes : sizeof mark;
  }
  return last;
}

muster_result chunks_read_front(chunk_reader *reader, const chunks_format *format, const void *bytes, size_t count,
                                size_t *length) {
  *reader = (chunk_reader){.format = format, .bytes = bytes, .count = count, .end = CHUNKS_HEADER_BYTES};
  struct chunk chunk = {.kind = CHUNKS_END + 1};
  uint64_t checksum = 0;
  muster_result result = chunks_check_head(format, bytes, count);
  for (uint64_t number = 0; !result && chunk.kind != CHUNKS_END; number++) {
    chunk.number = number;
    result = chunk_check(format, bytes, count, reader->end, &checksum, &chunk);
    reader->end = chunk.at + chunk.bytes;
  }
  if (result) return result;
  *length = reader->end;
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
