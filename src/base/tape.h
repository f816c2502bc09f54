/* base/tape.h - a file of sections, each closed by a checksum: bounded while it is written, checked when it is read.
 *
 *   file:     magic (8), version (4), layout (4), sections
 *   section:  mark (4), kind (4), number (8), bytes (8), checksum (8), the bytes
 *
 * A section's checksum covers its header, its bytes and the checksum of the section before it, so that none can be
 * changed, taken out or moved. The last section is of kind TAPE_END: a file without it was cut. `layout` is the
 * caller's: a file of another layout has other structures and is refused. Numbers take 7 bits per byte, the lowest
 * first; structures stand as they are in memory. */
#ifndef BASE_TAPE_H
#define BASE_TAPE_H

#include "base/chunks.h"

enum { TAPE_HEADER_BYTES = CHUNKS_HEADER_BYTES, TAPE_SECTION_BYTES = CHUNK_HEADER_BYTES };

/* TAPE_BETWEEN: what came before the next frame, closed early; that frame's own section goes on where it ends. */
typedef enum tape_kind { TAPE_HEAD = 1, TAPE_FRAME, TAPE_END, TAPE_WORLD, TAPE_BETWEEN } tape_kind;

struct tape {
  unsigned char *bytes;         /* when writing: the section under way, behind room for its header */
  size_t capacity, count, kept; /* kept: bytes of closed sections before it that were not handed over yet */
  const unsigned char *file;    /* when reading: the whole file */
  size_t file_bytes;
  size_t at, end;    /* when reading: the section under way */
  uint64_t checksum; /* of the last whole section */
  uint64_t followed; /* while the head of another file is written: what `checksum` was */
  uint64_t written;  /* bytes handed over so far */
  bool failed;       /* the section did not fit its buffer, or was read beyond its end; what is read then is zero */
};

/* Begins to write into `bytes`, with the first section. The first tape_close() also returns the header of the file. */
void tape_write_to(struct tape *tape, void *bytes, size_t capacity, uint32_t layout);

/* Appends to the section. What does not fit is not written, and sets `failed`. */
void tape_put(struct tape *tape, const void *bytes, size_t count);
void tape_put_number(struct tape *tape, uint64_t number);

/* Closes the section. Returns where it stands, to be written out, and in *count how long it is. The next section begins
 * with the next tape_put. Null when the section did not fit. */
const void *tape_close(struct tape *tape, tape_kind kind, uint64_t number, size_t *count);

/* Closes the section and leaves it in the buffer, where the next one is put behind it: the next tape_close() returns
 * both. False when the section did not fit. */
bool tape_keep(struct tape *tape, tape_kind kind, uint64_t number);

/* Begins another file that is to have the same sections from here on: what is put until tape_head_end() is its head. To
 * be called when a section was closed, and nothing put since. */
void tape_head_begin(struct tape *tape, uint32_t layout);

/* Closes that head, as tape_close() does a section: what it returns is for the other file alone. A reader of that file
 * goes on with tape_follow(). */
const void *tape_head_end(struct tape *tape, size_t *count);

/* Reading: the next section follows one of another file that had this checksum. */
static inline void tape_follow(struct tape *tape, uint64_t checksum) {
  tape->checksum = checksum;
}

/* Forgets what was put since the last section was closed; also clears `failed`. */
void tape_drop(struct tape *tape);

/* Checks the header of a file. On failure MUSTER_E_INPUT, with the offset and what is wrong there. */
muster_result tape_read_from(struct tape *tape, const void *file, size_t bytes, uint32_t layout);

/* Goes to the next section and checks it; then it can be read. On failure MUSTER_E_INPUT, with the offset and what is
 * wrong there; section->cut is set when the file just ends too early. */
muster_result tape_next(struct tape *tape, struct chunk *section);

/* Of a file that is damaged at `at`: how far the numbers of sections of this kind go on behind that, from `number` on,
 * as far as can be told. */
uint64_t tape_last_behind(const void *file, size_t bytes, size_t at, tape_kind kind, uint64_t number);

/* Reads on. Beyond the end of the section it reads zeros and sets `failed`. */
void tape_take(struct tape *tape, void *bytes, size_t count);
uint64_t tape_take_number(struct tape *tape);

/* Reads on without a copy; null beyond the end. */
const void *tape_take_place(struct tape *tape, size_t count);

/* Appends a value to a tape that is written, or reads it from one that is read. A number is returned. */
void tape_exchange(struct tape *tape, void *value, size_t bytes);
uint64_t tape_exchange_number(struct tape *tape, uint64_t number);

#endif
