/* base/tape.h - a file of sections, each closed by a checksum: bounded while it is written, distrusted when it is read.
 *
 *   file:     magic (8), version (4), layout (4), sections
 *   section:  mark (4), kind (4), number (8), bytes (8), checksum (8), the bytes
 *
 * A section's checksum covers its header, its bytes and the checksum of the section before it, so that none can be
 * changed, taken out or moved. The last section is of kind TAPE_END: a file without it was cut. `layout` is the
 * caller's: who wrote other structures must not be read. Numbers take 7 bits per byte, the lowest first; structures
 * stand as they are in memory. */
#ifndef BASE_TAPE_H
#define BASE_TAPE_H

#include <muster/common.h>

enum { TAPE_HEADER_BYTES = 16, TAPE_SECTION_BYTES = 32 };

typedef enum tape_kind { TAPE_HEAD = 1, TAPE_FRAME, TAPE_END } tape_kind;

struct tape {
  unsigned char *bytes; /* written: the section under way, behind room for its header */
  size_t capacity, count;
  const unsigned char *file; /* read: everything */
  size_t file_bytes;
  size_t at, end;    /* read: the section under way */
  uint64_t checksum; /* of the last whole section */
  uint64_t written;  /* bytes handed over so far */
  bool failed;       /* the section did not fit its buffer, or was read beyond its end; what is read then is zero */
};

/* Writes into `bytes`; the first section begins. The header of the file comes out with it. */
void tape_write_to(struct tape *tape, void *bytes, size_t capacity, uint32_t layout);

/* Appends to the section; once it is full it stays as it is and `failed` tells. */
void tape_put(struct tape *tape, const void *bytes, size_t count);
void tape_put_number(struct tape *tape, uint64_t number);

/* Closes the section and returns where it stands, to be written out, and in *count how long it is; the next one
 * begins with the next tape_put. Null when the section did not fit. */
const void *tape_close(struct tape *tape, tape_kind kind, uint64_t number, size_t *count);

/* Forgets what was put since the last section was closed; also that it did not fit. */
void tape_drop(struct tape *tape);

/* A section as it stands in a file. */
typedef struct tape_section {
  tape_kind kind;
  uint64_t number;
  size_t at, bytes; /* of its content */
} tape_section;

/* Looks at the header of a file. MUSTER_E_INPUT with the offset and what is wrong there. */
muster_result tape_read_from(struct tape *tape, const void *file, size_t bytes, uint32_t layout);

/* Goes to the next section and checks it: then it can be read. MUSTER_E_INPUT with the offset and what is wrong there;
 * *cut is set when the file just ends too early. */
muster_result tape_next(struct tape *tape, tape_section *section, bool *cut);

/* Reads on; beyond the end of the section `failed` is set and zeros are read. */
void tape_take(struct tape *tape, void *bytes, size_t count);
uint64_t tape_take_number(struct tape *tape);

/* The same without a copy; null beyond the end. */
const void *tape_take_place(struct tape *tape, size_t count);

#endif
