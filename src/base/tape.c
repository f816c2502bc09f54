#include "base/tape.h"

#include "base/error.h"

#include <string.h>
#include <xxhash.h>

static const unsigned char magic[8] = {'M', 'U', 'S', 'T', 'A', 'P', 'E', '\n'};

enum { VERSION = 5, MARK = 0x4e544353 };

struct header {
  uint32_t mark, kind;
  uint64_t number, bytes, checksum;
};

_Static_assert(sizeof(struct header) == TAPE_SECTION_BYTES, "a section's header has no gaps");

void tape_write_to(struct tape *tape, void *bytes, size_t capacity, uint32_t layout) {
  const uint32_t version = VERSION;
  *tape = (struct tape){.bytes = bytes, .capacity = capacity, .count = TAPE_HEADER_BYTES + TAPE_SECTION_BYTES};
  memcpy(tape->bytes, magic, sizeof magic);
  memcpy(tape->bytes + 8, &version, sizeof version);
  memcpy(tape->bytes + 12, &layout, sizeof layout);
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

static uint64_t checksum_of(const struct header *header, const unsigned char *bytes, uint64_t before) {
  struct header own = *header;
  own.checksum = before;
  return XXH3_64bits_withSeed(bytes, (size_t)own.bytes, XXH3_64bits(&own, sizeof own));
}

const void *tape_close(struct tape *tape, tape_kind kind, uint64_t number, size_t *count) {
  size_t before = tape->written ? 0 : TAPE_HEADER_BYTES;
  unsigned char *content = tape->bytes + before + TAPE_SECTION_BYTES;
  if (tape->failed) return NULL;
  struct header header = {MARK, kind, number, (uint64_t)(tape->bytes + tape->count - content), 0};
  header.checksum = tape->checksum = checksum_of(&header, content, tape->checksum);
  memcpy(tape->bytes + before, &header, sizeof header);
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

void tape_drop(struct tape *tape) {
  tape->count = (tape->written ? 0 : TAPE_HEADER_BYTES) + TAPE_SECTION_BYTES;
  tape->failed = false;
}

muster_result tape_read_from(struct tape *tape, const void *file, size_t bytes, uint32_t layout) {
  uint32_t found[2];
  *tape = (struct tape){.file = file, .file_bytes = bytes, .end = TAPE_HEADER_BYTES};
  if (bytes < sizeof magic || memcmp(file, magic, sizeof magic) != 0)
    return error_set(MUSTER_E_INPUT, "record: offset 0: this is no record of Muster");
  if (bytes < TAPE_HEADER_BYTES) return error_set(MUSTER_E_INPUT, "record: offset %zu: the file ends here", bytes);
  memcpy(found, tape->file + sizeof magic, sizeof found);
  if (found[0] != VERSION)
    return error_set(MUSTER_E_INPUT, "record: offset 8: version %u; this program reads version %d", found[0], VERSION);
  if (found[1] != layout)
    return error_set(MUSTER_E_INPUT, "record: offset 12: written by another build, whose structures differ");
  return MUSTER_OK;
}

muster_result tape_next(struct tape *tape, tape_section *section, bool *cut) {
  struct header header;
  size_t at = tape->end, left = tape->file_bytes - at;
  *cut = left < sizeof header;
  if (*cut) return error_set(MUSTER_E_INPUT, "record: offset %zu: the file was cut here", tape->file_bytes);
  memcpy(&header, tape->file + at, sizeof header);
  left -= sizeof header;
  if (header.mark != MARK) return error_set(MUSTER_E_INPUT, "record: offset %zu: no section begins here", at);
  *cut = header.bytes > left;
  if (*cut)
    return error_set(MUSTER_E_INPUT, "record: offset %zu: a section of %llu bytes, but only %zu follow", at,
                     (unsigned long long)header.bytes, left);
  if (checksum_of(&header, tape->file + at + sizeof header, tape->checksum) != header.checksum)
    return error_set(MUSTER_E_INPUT, "record: offset %zu: section %llu is damaged: its checksum is wrong", at,
                     (unsigned long long)header.number);
  tape->checksum = header.checksum;
  tape->at = at + sizeof header;
  tape->end = tape->at + (size_t)header.bytes;
  *section = (tape_section){(tape_kind)header.kind, header.number, tape->at, (size_t)header.bytes};
  return MUSTER_OK;
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
