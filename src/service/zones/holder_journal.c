/* holder_journal.c - the stream of a zone's journal (journal_stream): the bytes of its file, as they are written. With
 * the stored snapshot of the same number they are the zone, up to the last frame that anything has gone out of. */
#include "service/log.h"
#include "service/zones/holder_parts.h"
#include "service/zones/parcel.h"

#include "base/error.h"
#include "base/files.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 19 };

/* Behind the head of a parcel. */
typedef struct stream_chunk {
  uint64_t file, at;
} stream_chunk;

static bool is_streamed(const struct holding *holding) {
  return holding->holder->settings.journal_stream;
}

static int open_journal_file(const struct holding *holding, uint64_t number, int flags) {
  char name[JOURNALS_PATH_BYTES + 64];
  snprintf(name, sizeof name, "%s-%" PRIu64 ".journal", holding->path, number);
  return files_open_regular(AT_FDCWD, name, flags | O_NOFOLLOW, 0);
}

/* ------------------------------------------------------------------------------------------------------------- mark */

static void take_journal_mark(muster_result result, uint64_t sequence, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call)) return;
  if (result) {
    holding_lose(holding, "its journal's stream does not answer");
    return;
  }
  holding->journal_mark = sequence;
  stored_bring(holding);
}

void journal_stream_mark(struct holding *holding) {
  struct parcel mark = {.count = 0};
  holding->journal_mark = 0;
  if (!is_streamed(holding)) {
    stored_bring(holding);
    return;
  }
  parcel_begin(&mark, holding->lease.epoch, 0, 0, 0);
  holding_call *call = holding_call_begin(holding, NULL);
  bool good = call && !mark.failed &&
              broker_publish(holding->holder->broker, holding->journal_subject, mark.bytes, mark.count,
                             take_journal_mark, call) == MUSTER_OK;
  parcel_free(&mark);
  if (good) return;
  free(call);
  holding_lose(holding, "its journal's stream cannot be asked for");
}

/* ------------------------------------------------------------------------------------------------------------- read */

static void take_chunk(uint64_t sequence, const void *bytes, size_t count, void *user) {
  const holding_call *call = user;
  struct holding *holding = call->holding;
  parcel_head head;
  stream_chunk chunk;
  const unsigned char *from = bytes;
  if (call->tenure != holding->tenure || parcel_read_head(bytes, count, &head)) return;
  if (!pair_takes(&holding->journal, sequence, head.epoch, head.number) || count < sizeof head + sizeof chunk) return;
  memcpy(&chunk, from + sizeof head, sizeof chunk);
  if (chunk.file != holding->journal_file || chunk.at > holding->journal_at) return;
  size_t before = sizeof head + sizeof chunk, size = count - before;
  if (pwrite(holding->journal_descriptor, from + before, size, (off_t)chunk.at) != (ssize_t)size) return;
  if (chunk.at + size > holding->journal_at) holding->journal_at = chunk.at + size;
}

static void close_stream(struct holding *holding) {
  if (holding->journal_descriptor >= 0) close(holding->journal_descriptor);
  holding->journal_descriptor = -1;
}

static void take_chunks(muster_result result, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call)) return;
  close_stream(holding);
  if (result) {
    holding_lose(holding, "its journal's stream cannot be read");
    return;
  }
  log_line(MUSTER_LOG_INFO, "world %s: its journal's stream goes to byte %lu of file %lu", holding->process->name,
           holding->journal_at, holding->journal_file);
  holding_start(holding, true);
}

void journal_stream_read(struct holding *holding, const stored_head *head) {
  if (!is_streamed(holding)) {
    holding_start(holding, true);
    return;
  }
  holding->journal_file = head->number;
  holding->journal_at = head->journal_bytes;
  holding->journal_descriptor = open_journal_file(holding, head->number, O_WRONLY);
  holding_call *call = holding->journal_descriptor >= 0 ? holding_call_begin(holding, NULL) : NULL;
  if (call && broker_read(holding->holder->broker, holding->journal_subject, head->journal.sequence + 1,
                          holding->journal_mark, take_chunk, take_chunks, call) == MUSTER_OK)
    return;
  free(call);
  close_stream(holding);
  holding_lose(holding, "its journal's stream cannot be read");
}

/* ------------------------------------------------------------------------------------------------------------ write */

void journal_stream_begin(struct holding *holding) {
  close_stream(holding);
  holding->journal = (zone_pair){.epoch = holding->lease.epoch, .sequence = holding->journal_mark};
  holding->journal_busy = false;
}

void journal_stream_end(struct holding *holding) {
  close_stream(holding);
}

static void tell_safe(struct holding *holding, uint64_t frames) {
  if (frames <= holding->safe_frames) return;
  holding->safe_frames = frames;
  holding_put(holding, (wire_head){.kind = WIRE_SAFE, .number = frames}, NULL);
}

static void take_chunk_stored(muster_result result, uint64_t sequence, void *user) {
  holding_call *call = user;
  struct holding *holding = call->holding;
  if (!holding_call_end(call)) return;
  holding->journal_busy = false;
  if (!result && holding->journal_file == holding->chunk_file) {
    holding->journal_at += holding->chunk_bytes;
    tell_safe(holding, holding->chunk_frames);
  }
  if (!result) {
    holding->journal.number++;
    holding->journal.sequence = sequence;
    journal_stream_go_on(holding);
  } /* else the next turn publishes it again, under the same number */
}

/* What the file has beyond what is stored. The frames are in the file that was the journal's when they were told. */
static void publish_chunk(struct holding *holding, const struct parcel *parcel, size_t bytes) {
  holding_call *call = holding_call_begin(holding, NULL);
  bool whole = bytes < CHUNK_BYTES;
  holding->chunk_file = holding->journal_file;
  holding->chunk_bytes = bytes;
  holding->chunk_frames = whole ? holding->file_frames : 0;
  holding->journal_busy = call && broker_publish(holding->holder->broker, holding->journal_subject, parcel->bytes,
                                                 parcel->count, take_chunk_stored, call) == MUSTER_OK;
  if (!holding->journal_busy) free(call);
}

void journal_stream_go_on(struct holding *holding) {
  static unsigned char bytes[CHUNK_BYTES];
  if (!is_streamed(holding) || holding->journal_busy || holding->journal_descriptor < 0) return;
  ssize_t count = pread(holding->journal_descriptor, bytes, sizeof bytes, (off_t)holding->journal_at);
  if (count < 0) log_line(MUSTER_LOG_ERROR, "world %s: its journal: %s", holding->process->name, strerror(errno));
  if (count <= 0) return;
  const stream_chunk chunk = {.file = holding->journal_file, .at = holding->journal_at};
  struct parcel parcel = {.count = 0};
  parcel_begin(&parcel, holding->lease.epoch, holding->journal.number + 1, holding->file_frames, 0);
  parcel_put(&chunk, sizeof chunk, &parcel);
  parcel_put(bytes, (size_t)count, &parcel);
  if (!parcel.failed) publish_chunk(holding, &parcel, (size_t)count);
  parcel_free(&parcel);
}

/* The stream goes on behind what is stored. */
void journal_stream_stored(struct holding *holding) {
  const stored_head *head = &holding->storing_head;
  if (!is_streamed(holding)) return;
  close_stream(holding);
  holding->journal_descriptor = open_journal_file(holding, head->number, O_RDONLY);
  holding->journal_file = head->number;
  holding->journal_at = head->journal_bytes;
  holding->file_snapshots = holding->storing_snapshots;
  holding->file_frames = holding->snapshots == holding->file_snapshots ? holding->frames : head->frames;
  tell_safe(holding, head->frames);
  if (head->journal.sequence)
    broker_purge(holding->holder->broker, holding->journal_subject, head->journal.sequence, NULL, NULL);
  journal_stream_go_on(holding);
}
