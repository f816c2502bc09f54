#include "base/tape.h"

#include "base/assert.h"

#include <string.h>

static chunks_format tape_format_of(uint32_t layout) {
  return (chunks_format){.name = "record",
                         .magic = {'M', 'U', 'S', 'T', 'A', 'P', 'E', '\n'},
                         .version = 13,
                         .layout = layout,
                         .record = true};
}

void tape_write_to(struct tape *tape, void *bytes, size_t capacity, uint32_t layout) {
  const chunks_format format = tape_format_of(layout);
  *tape = (struct tape){.bytes = bytes, .capacity = capacity, .count = TAPE_HEADER_BYTES + TAPE_SECTION_BYTES};
  chunks_put_head(tape->bytes, &format);
}

void tape_put(struct tape *tape, const void *bytes, size_t count) {
  if (tape->failed || count > tape->capacity - tape->count) {
    tape->failed = true;
    return;
  }
  if (count) memcpy(tape->bytes + tape->count, bytes, count);
  tape->count += count;
}

void tape_put_number(struct tape *tape, uint64_t number) {
  unsigned char bytes[10];
  size_t count = 0;
  for (; number > 127; number >>= 7) bytes[count++] = (unsigned char)(number | 128);
  bytes[count++] = (unsigned char)number;
  tape_put(tape, bytes, count);
}

const void *tape_close(struct tape *tape, tape_kind kind, uint64_t number, size_t *count) {
  size_t before = tape->written ? 0 : TAPE_HEADER_BYTES;
  if (tape->failed) return NULL;
  tape->checksum =
      chunk_seal(tape->bytes + before, true, kind, number, tape->count - before - TAPE_SECTION_BYTES, tape->checksum);
  *count = tape->kept + tape->count;
  tape->written += tape->count;
  tape->count = TAPE_SECTION_BYTES;
  tape->bytes -= tape->kept;
  tape->capacity += tape->kept;
  tape->kept = 0;
  return tape->bytes;
}

bool tape_keep(struct tape *tape, tape_kind kind, uint64_t number) {
  size_t count;
  if (!tape_close(tape, kind, number, &count)) return false;
  tape->failed = tape->capacity - count < TAPE_SECTION_BYTES; /* no room for the header of the next one */
  if (tape->failed) return false;
  tape->bytes += count;
  tape->capacity -= count;
  tape->kept = count;
  return true;
}

void tape_head_begin(struct tape *tape, uint32_t layout) {
  const chunks_format format = tape_format_of(layout);
  ASSERT(tape->written && !tape->kept && tape->count == TAPE_SECTION_BYTES && !tape->failed);
  tape->followed = tape->checksum;
  chunks_put_head(tape->bytes, &format);
  tape->count = TAPE_HEADER_BYTES + TAPE_SECTION_BYTES;
}

const void *tape_head_end(struct tape *tape, size_t *count) {
  bool failed = tape->failed;
  size_t bytes = tape->count - TAPE_HEADER_BYTES - TAPE_SECTION_BYTES;
  if (!failed) chunk_seal(tape->bytes + TAPE_HEADER_BYTES, true, TAPE_HEAD, 0, bytes, 0);
  *count = tape->count;
  tape->count = TAPE_SECTION_BYTES;
  tape->failed = false;
  return failed ? NULL : tape->bytes;
}

void tape_drop(struct tape *tape) {
  tape->count = (tape->written ? 0 : TAPE_HEADER_BYTES) + TAPE_SECTION_BYTES;
  tape->failed = false;
}

muster_result tape_read_from(struct tape *tape, const void *file, size_t bytes, uint32_t layout) {
  const chunks_format format = tape_format_of(layout);
  *tape = (struct tape){.file = file, .file_bytes = bytes, .end = TAPE_HEADER_BYTES};
  return chunks_check_head(&format, file, bytes);
}

muster_result tape_next(struct tape *tape, struct chunk *section) {
  const chunks_format format = tape_format_of(0);
  muster_result result = chunk_check(&format, tape->file, tape->file_bytes, tape->end, &tape->checksum, section);
  if (result) return result;
  tape->at = section->at;
  tape->end = section->at + section->bytes;
  return MUSTER_OK;
}

uint64_t tape_last_behind(const void *file, size_t bytes, size_t at, tape_kind kind, uint64_t number) {
  const chunks_format format = tape_format_of(0);
  return chunks_last_behind(&format, file, bytes, at, kind, number);
}

const void *tape_take_place(struct tape *tape, size_t count) {
  if (tape->failed || count > tape->end - tape->at) {
    tape->failed = true;
    return NULL;
  }
  tape->at += count;
  return tape->file + tape->at - count;
}

void tape_take(struct tape *tape, void *bytes, size_t count) {
  const void *place = tape_take_place(tape, count);
  if (!count) return;
  if (place)
    memcpy(bytes, place, count);
  else
    memset(bytes, 0, count);
}

uint64_t tape_take_number(struct tape *tape) {
  uint64_t number = 0;
  for (uint32_t shift = 0; shift < 64; shift += 7) {
    const unsigned char *byte = tape_take_place(tape, 1);
    if (!byte) return 0;
    number |= (uint64_t)(*byte & 127) << shift;
    if (*byte < 128) return number;
  }
  tape->failed = true;
  return 0;
}

/* ------------------------------------------------------------------------------------------------------- either way */

void tape_exchange(struct tape *tape, void *value, size_t bytes) {
  if (tape->file)
    tape_take(tape, value, bytes);
  else
    tape_put(tape, value, bytes);
}

uint64_t tape_exchange_number(struct tape *tape, uint64_t number) {
  if (tape->file) return tape_take_number(tape);
  tape_put_number(tape, number);
  return number;
}
