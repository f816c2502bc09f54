/* holder_journal.c - the stream of a zone's journal (journal_stream): the bytes of its file, as they are written, in
 * chunks 1, 2, ... behind the version that is stored. With that they are the zone, up to the last frame of which
 * anything has gone out.
 *
 * A chunk is safe when a majority of the servers has it: then the process is told, and lets the effects of its frames
 * go. A new owner reads the chunks of the version that etcd names, with the lease: so it finds every chunk that was
 * safe while the lease was another's. What an earlier owner adds later was not safe then, and nothing of it has gone
 * out. The new owner lets nothing go before it has stored a version of its own.
 *
 * No chunk makes safe what a version lacks that may have followed meanwhile: a new version has a new snapshot, whose
 * frames stand in another file, and these wait until its note is answered. tests/model/zones.pml searches all this. */
#include "service/log.h"
#include "service/zones/format.h"
#include "service/zones/holder_parts.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 19, READS_AT_ONCE = 16 };

/* In front of the bytes. */
typedef struct stream_chunk {
  uint64_t file, at;
} stream_chunk;

FORMAT_HAS(stream_chunk, 16);

/* A chunk that is asked for. */
typedef struct journal_read {
  struct journal_reading *reading;
  uint32_t number;
  bool there, none; /* it has come; nobody has it */
  size_t count;
  unsigned char *bytes;
} journal_read;

/* Chunk K is at place K % READS_AT_ONCE. */
typedef struct journal_reading {
  struct holding *holding; /* null: nobody waits for it any more */
  uint32_t next, width;    /* the next one that is written; so many are asked for at once */
  uint32_t asked;          /* calls under way */
  bool fails, over;        /* a call had no answer; the end was found */
  journal_read reads[READS_AT_ONCE];
} journal_reading;

static bool is_streamed(const struct holding *holding) {
  return holding->holder->settings.journal_stream;
}

static int open_journal_file(const struct holding *holding, uint64_t number, int flags) {
  char name[JOURNALS_PATH_BYTES + 64];
  snprintf(name, sizeof name, "%s-%" PRIu64 ".journal", holding->path, number);
  return files_open_regular(AT_FDCWD, name, flags | O_NOFOLLOW, 0);
}

static void close_stream(struct holding *holding) {
  if (holding->journal_descriptor >= 0) close(holding->journal_descriptor);
  holding->journal_descriptor = -1;
}

/* ------------------------------------------------------------------------------------------------------------- read */

static void free_reading(journal_reading *reading) {
  if (reading->asked) return;
  for (uint32_t i = 0; i < READS_AT_ONCE; i++) free(reading->reads[i].bytes);
  free(reading);
}

/* Nobody waits for it. */
void journal_stream_leave(struct holding *holding) {
  journal_reading *reading = holding->journal_reading;
  holding->journal_reading = NULL;
  if (!reading) return;
  reading->holding = NULL;
  free_reading(reading);
}

/* Behind the last chunk that is kept, or one that does not continue the file. */
static void end_reading(struct holding *holding) {
  holding->follow.next = holding->journal_reading->next;
  journal_stream_leave(holding);
  if (holding->follow.stage) {
    follow_read(holding);
    return;
  }
  close_stream(holding);
  log_line(MUSTER_LOG_INFO, "world %s: its journal's stream goes to byte %lu of file %lu", holding->process->name,
           holding->journal_at, holding->journal_file);
  holding_start(holding, true);
}

/* Whether it follows what the file has, and is written. */
static bool write_chunk(struct holding *holding, const journal_read *read) {
  stream_chunk chunk;
  if (read->count < sizeof chunk) return false;
  memcpy(&chunk, read->bytes, sizeof chunk);
  size_t size = read->count - sizeof chunk;
  if (chunk.file != holding->journal_file || chunk.at != holding->journal_at) return false;
  if (pwrite(holding->journal_descriptor, read->bytes + sizeof chunk, size, (off_t)chunk.at) != (ssize_t)size) {
    holding->journal_reading->fails = true;
    log_line(MUSTER_LOG_ERROR, "world %s: its journal: %s", holding->process->name, strerror(errno));
    return false;
  }
  holding->journal_at += size;
  follow_wrote(holding);
  return true;
}

static void reading_failed(struct holding *holding) {
  journal_stream_leave(holding);
  holding_bring_failed(holding, "its journal's stream cannot be read");
}

static void ask_for_chunk(journal_reading *reading, uint32_t number);

static void take_chunk(muster_result result, const void *bytes, size_t count, void *user) {
  journal_read *read = user;
  journal_reading *reading = read->reading;
  struct holding *holding = reading->holding;
  reading->asked--;
  if (!holding) {
    free_reading(reading);
    return;
  }
  read->bytes = result ? NULL : malloc(count + 1);
  read->there = read->bytes;
  read->none = result == MUSTER_E_STALE;
  read->count = count;
  if (read->there) memcpy(read->bytes, bytes, count);
  reading->fails = reading->fails || (!read->there && !read->none);
  for (journal_read *next; (next = &reading->reads[reading->next % READS_AT_ONCE])->there && !reading->over;) {
    reading->over = !write_chunk(holding, next);
    free(next->bytes);
    next->bytes = NULL;
    next->there = false;
    if (!reading->over && !reading->fails) ask_for_chunk(reading, reading->next + reading->width);
    reading->next++;
  }
  reading->over = reading->over || reading->reads[reading->next % READS_AT_ONCE].none;
  if (reading->fails)
    reading_failed(holding);
  else if (reading->over)
    end_reading(holding);
}

static void ask_for_chunk(journal_reading *reading, uint32_t number) {
  struct holding *holding = reading->holding;
  journal_read *read = &reading->reads[number % READS_AT_ONCE];
  *read = (journal_read){.reading = reading, .number = number};
  bool asked = broker_find(holding->holder->broker, BROKER_JOURNAL, holding->name, holding->stored_note.object.version,
                           number, take_chunk, read) == MUSTER_OK;
  reading->asked += asked;
  reading->fails = reading->fails || !asked;
}

void journal_stream_read_on(struct holding *holding, uint32_t next, uint32_t width) {
  journal_reading *reading = calloc(1, sizeof *reading);
  ASSERT(!holding->journal_reading && width <= READS_AT_ONCE);
  holding->journal_reading = reading;
  if (reading && holding->journal_descriptor >= 0) {
    *reading = (journal_reading){.holding = holding, .next = next, .width = width};
    for (uint32_t i = 0; i < width; i++) ask_for_chunk(reading, next + i);
    if (!reading->fails) return;
  }
  reading_failed(holding);
}

/* Behind what was fetched. */
void journal_stream_read(struct holding *holding) {
  if (!is_streamed(holding)) {
    holding_start(holding, true);
    return;
  }
  holding->journal_file = holding->stored_note.head.number;
  holding->journal_at = holding->stored_note.head.journal_bytes;
  holding->journal_descriptor = open_journal_file(holding, holding->journal_file, O_WRONLY);
  journal_stream_read_on(holding, 1, READS_AT_ONCE);
}

/* ------------------------------------------------------------------------------------------------------------ write */

/* Nothing is streamed before a version of this epoch is stored. */
void journal_stream_begin(struct holding *holding) {
  close_stream(holding);
  holding->journal_busy = false;
  holding->chunk_bytes = 0;
}

void journal_stream_end(struct holding *holding) {
  close_stream(holding);
  journal_stream_leave(holding);
}

static void put_safe(struct holding *holding) {
  const wire_head head = {.kind = WIRE_SAFE, .number = holding->safe_frames, .sequence = holding->file_snapshots};
  holding_put(holding, head, NULL);
}

static void tell_safe(struct holding *holding, uint64_t frames) {
  if (frames <= holding->safe_frames) return;
  holding->safe_frames = frames;
  put_safe(holding);
  moves_go_on(holding);
}

/* A chunk of a version that another has followed meanwhile is of no interest. */
typedef struct chunk_call {
  holding_call *call;
  zone_place version;
} chunk_call;

static void take_chunk_kept(muster_result result, void *user) {
  chunk_call *chunk = user;
  struct holding *holding = chunk->call->holding;
  bool good = holding_call_end(chunk->call);
  bool current = good && place_equal(chunk->version, holding->stored_note.object.version);
  free(chunk);
  if (!current) return;
  holding->journal_busy = false;
  if (result) return; /* the next turn puts it again */
  holding->journal_chunk++;
  holding->journal_at += holding->chunk_bytes;
  holding->chunk_bytes = 0;
  tell_safe(holding, holding->chunk_frames);
  journal_stream_go_on(holding);
}

static void keep_chunk(struct holding *holding, const void *bytes, size_t count) {
  chunk_call *chunk = calloc(1, sizeof *chunk);
  holding_call *call = holding_call_begin(holding, NULL);
  const zone_place version = holding->stored_note.object.version;
  if (chunk) *chunk = (chunk_call){.call = call, .version = version};
  holding->journal_busy = chunk && call &&
                          broker_keep(holding->holder->broker, BROKER_JOURNAL, holding->name, version,
                                      holding->journal_chunk + 1, bytes, count, take_chunk_kept, chunk) == MUSTER_OK;
  if (holding->journal_busy) return;
  free(chunk);
  free(call);
}

/* What the file has beyond what is kept. The frames are in the file that was the journal's when they were told. */
void journal_stream_go_on(struct holding *holding) {
  static unsigned char message[sizeof(stream_chunk) + CHUNK_BYTES];
  if (!is_streamed(holding) || holding->journal_busy || holding->journal_descriptor < 0) return;
  size_t wanted = holding->chunk_bytes ? holding->chunk_bytes : CHUNK_BYTES;
  ssize_t count =
      pread(holding->journal_descriptor, message + sizeof(stream_chunk), wanted, (off_t)holding->journal_at);
  if (count < 0) log_line(MUSTER_LOG_ERROR, "world %s: its journal: %s", holding->process->name, strerror(errno));
  if (count == 0) tell_safe(holding, holding->file_frames); /* the last chunk had a frame that was told only since */
  if (count <= 0) return;
  if (!holding->chunk_bytes) {
    holding->chunk_bytes = (size_t)count;
    holding->chunk_frames = holding->chunk_bytes < CHUNK_BYTES ? holding->file_frames : 0;
  }
  const stream_chunk chunk = {.file = holding->journal_file, .at = holding->journal_at};
  memcpy(message, &chunk, sizeof chunk);
  keep_chunk(holding, message, sizeof chunk + (size_t)count);
}

/* The stream goes on behind what is stored. */
void journal_stream_stored(struct holding *holding) {
  const stored_head *head = &holding->stored_note.head;
  if (!is_streamed(holding)) return;
  close_stream(holding);
  holding->journal_descriptor = open_journal_file(holding, head->number, O_RDONLY);
  holding->journal_file = head->number;
  holding->journal_at = head->journal_bytes;
  holding->journal_chunk = 0;
  holding->journal_busy = false;
  holding->chunk_bytes = 0;
  holding->file_snapshots = holding->storing_snapshots;
  holding->file_frames = holding->snapshots == holding->file_snapshots ? holding->frames : head->frames;
  put_safe(holding);
  tell_safe(holding, head->frames);
  journal_stream_go_on(holding);
}
