/* tests/support/forged_record.h - records that were changed, with all checksums right. */
#ifndef FORGED_RECORD_H
#define FORGED_RECORD_H

#include "support/recording.h"

#include "base/tape.h"

/* Copies a record with some bits of one byte of its sections changed and all checksums right. */
static inline size_t forge(const struct recorded *run, size_t which, unsigned char bits, unsigned char *out) {
  static unsigned char section_bytes[1 << 20];
  uint32_t layout;
  struct tape from, to;
  struct chunk section;
  size_t count, length = 0, seen = 0;
  memcpy(&layout, run->bytes + 12, sizeof layout);
  cr_assert_eq(tape_read_from(&from, run->bytes, run->count, layout), MUSTER_OK);
  tape_write_to(&to, section_bytes, sizeof section_bytes, layout);
  while (length < run->count && tape_next(&from, &section) == MUSTER_OK) {
    for (size_t i = 0; i < section.bytes; i++, seen++) {
      unsigned char byte = run->bytes[section.at + i];
      if (seen == which) byte ^= bits;
      tape_put(&to, &byte, 1);
    }
    const void *bytes = tape_close(&to, section.kind, section.number, &count);
    memcpy(out + length, bytes, count);
    length += count;
  }
  return length;
}

#endif
