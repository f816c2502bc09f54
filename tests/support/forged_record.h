/* tests/support/forged_record.h - records that were changed, with all checksums right. */
#ifndef FORGED_RECORD_H
#define FORGED_RECORD_H

#include "base/tape.h"

#include <criterion/criterion.h>
#include <string.h>

/* What is changed: some bits of one byte of the sections, or a frame that is left out, with what stands before it. */
typedef struct forgery {
  size_t byte;
  unsigned char bits;
  uint64_t without; /* 0 = none */
} forgery;

static inline bool forged_leaves_out(const forgery *of, const struct chunk *section) {
  if (!of->without) return false;
  return section->kind == TAPE_FRAME ? section->number == of->without
                                     : section->kind == TAPE_BETWEEN && section->number + 1 == of->without;
}

/* Copies a record of `bytes` with a change, and all checksums right. Returns how many bytes it has then. */
static inline size_t forge(const unsigned char *bytes, size_t bytes_count, forgery of, unsigned char *out) {
  static unsigned char section_bytes[1 << 20];
  uint32_t layout;
  struct tape from, to;
  struct chunk section;
  size_t count, length = 0, seen = 0;
  memcpy(&layout, bytes + 12, sizeof layout);
  cr_assert_eq(tape_read_from(&from, bytes, bytes_count, layout), MUSTER_OK);
  tape_write_to(&to, section_bytes, sizeof section_bytes, layout);
  while (length < bytes_count && tape_next(&from, &section) == MUSTER_OK) {
    if (forged_leaves_out(&of, &section)) continue;
    for (size_t i = 0; i < section.bytes; i++, seen++) {
      unsigned char byte = bytes[section.at + i];
      if (seen == of.byte) byte ^= of.bits;
      tape_put(&to, &byte, 1);
    }
    const void *closed = tape_close(&to, section.kind, section.number, &count);
    memcpy(out + length, closed, count);
    length += count;
  }
  return length;
}

#endif
