/* base/chunks.h - a stream of sections in checked chunks: written in bounded memory, checked as a whole when read.
 *
 *   stream:  magic (8), version (4), layout (4), chunks
 *   chunk:   mark (4), section (4), number (8), bytes (8), checksum (8), the bytes
 *
 * A section is one or more chunks. A chunk's checksum covers its header, its bytes and the checksum of the chunk before
 * it, so that none can be changed, taken out or moved; the last one, of section CHUNKS_END, has no bytes and nothing
 * behind it. `layout` is the caller's: a stream of another layout has other structures and is refused. */
#ifndef BASE_CHUNKS_H
#define BASE_CHUNKS_H

#include <muster/common.h>

enum { CHUNKS_END = 0, CHUNKS_HEADER_BYTES = 16, CHUNK_HEADER_BYTES = 32, CHUNK_BYTES_MAX = 1 << 24 };

/* Which kind of stream it is. */
typedef struct chunks_format {
  const char *name; /* for messages */
  unsigned char magic[8];
  uint32_t version, layout;
  bool record; /* its chunks are those of base/tape.h: of any length, with numbers of their own */
} chunks_format;

/* A layout made of the sizes of all structures that stand in a stream as they are in memory. */
uint32_t chunks_layout(const size_t *sizes, size_t count);

/* ------------------------------------------------------------------------------- the parts of which streams consist */

/* Writes what stands before the chunks, and checks it. On failure MUSTER_E_INPUT, with the offset and what is wrong
 * there. */
void chunks_put_head(unsigned char head[CHUNKS_HEADER_BYTES], const chunks_format *format);
muster_result chunks_check_head(const chunks_format *format, const unsigned char *bytes, size_t count);

/* A chunk as it stands in a stream. */
struct chunk {
  uint32_t kind; /* its section */
  bool cut;      /* the stream ends before the chunk does */
  uint64_t number;
  size_t at, bytes; /* of its content */
};

/* Writes the header of a chunk at `memory`, in front of its `count` bytes. `before` is the checksum of the chunk before
 * it; returns its own. */
uint64_t chunk_seal(void *memory, bool record, uint32_t kind, uint64_t number, size_t count, uint64_t before);

/* Finds and checks the chunk at `at`; its number must be found->number, except in a record. The checksum is that of the
 * chunk before it, and then its own. On failure MUSTER_E_INPUT as above, or `cut`. */
muster_result chunk_check(const chunks_format *format, const unsigned char *bytes, size_t count, size_t at,
                          uint64_t *checksum, struct chunk *found);

/* What stands behind a place where a stream is damaged: the number of the last chunk of that section from there on,
 * when it is above `number`; else `number`. Looks for headers, and believes one at whose end another one begins, or the
 * stream ends. O(count). */
uint64_t chunks_last_behind(const chunks_format *format, const unsigned char *bytes, size_t count, size_t at,
                            uint32_t section, uint64_t number);

/* ---------------------------------------------------------------------------------------------- streams of sections */

/* Takes the next bytes of a stream; false when it cannot. */
typedef bool (*chunks_sink)(const void *bytes, size_t count, void *user);

typedef struct chunk_writer {
  chunks_sink sink;
  void *user;
  unsigned char *buffer; /* a chunk's header and bytes */
  size_t capacity, count;
  uint32_t section; /* the open section; CHUNKS_END = none */
  uint64_t number, checksum;
  bool failed; /* the sink refused something: the rest is dropped */
} chunk_writer;

/* Begins a stream through a buffer of more than CHUNK_HEADER_BYTES. */
void chunks_write_to(chunk_writer *writer, const chunks_format *format, chunks_sink sink, void *user, void *buffer,
                     size_t capacity);

/* What is put from here on belongs to this section. */
void chunks_begin(chunk_writer *writer, uint32_t section);
void chunks_put(chunk_writer *writer, const void *bytes, size_t count);

/* Ends the stream; false when anything was refused. */
bool chunks_finish(chunk_writer *writer);

/* A stream of one section that is one chunk, in place: its bytes stand between these two. */
enum { CHUNKS_SEAL_BEFORE = CHUNKS_HEADER_BYTES + CHUNK_HEADER_BYTES, CHUNKS_SEAL_AFTER = CHUNK_HEADER_BYTES };

/* Writes what stands before and after `count` bytes at `memory` + CHUNKS_SEAL_BEFORE, so that they are a stream. Call
 * it again after they were changed. */
void chunks_seal(const chunks_format *format, uint32_t section, void *memory, size_t count);

typedef struct chunk_reader {
  const chunks_format *format;
  const unsigned char *bytes;
  size_t count;
  size_t at, end;   /* the chunk's bytes that are not read yet */
  uint32_t section; /* the section of that chunk */
  bool failed;      /* more was read than the section has; what is read then is zero */
} chunk_reader;

/* Checks the whole stream and stands before its first section. On failure MUSTER_E_INPUT, with what is wrong and where.
 * The bytes must stay as long as the reader is used. */
muster_result chunks_read_from(chunk_reader *reader, const chunks_format *format, const void *bytes, size_t count);

/* The same for a stream behind which other bytes may follow; tells how many bytes it has. */
muster_result chunks_read_front(chunk_reader *reader, const chunks_format *format, const void *bytes, size_t count,
                                size_t *length);

/* Back to before the first section. */
void chunks_rewind(chunk_reader *reader);

/* Enters the next section; false when it is another, or the last one was not read to its end. */
bool chunks_enter(chunk_reader *reader, uint32_t section);

/* Reads on in the section; with null `bytes` it skips them. */
void chunks_take(chunk_reader *reader, void *bytes, size_t count);

/* Whether the section was read to its end. */
bool chunks_is_read(const chunk_reader *reader);

#endif
