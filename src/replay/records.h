/* records.h - recordings and replays as journals need them (see record/recorder.h): a record in files of its own, each
 * with a snapshot that stands elsewhere, and a world that goes on after its replay. Frame's thread, between frames,
 * unless said otherwise. */
#ifndef RECORDS_H
#define RECORDS_H

#include "record/recorder.h"

/* What a head says of the snapshot with which its record begins. */
enum { RECORD_OF_NEW = 0, RECORD_AFTER_SNAPSHOT, RECORD_OF_JOURNAL };

/* The head of a record. */
typedef struct record_head {
  uint64_t workers, states;
  muster_world_def world;
  const void *note;
  uint64_t note_bytes;
  uint64_t frames_before; /* that the world had run */
  uint64_t first_frame;   /* frames that stand in the record before this head's, in another file */
  bool journal;           /* it is one of a journal: the snapshot is no part of it */
  const void *snapshot;   /* null: the world was new, or it is one of a journal */
  size_t snapshot_bytes;
} record_head;

/* Of the structures that stand in a record as they are in memory. Any thread. */
uint32_t records_layout(void);

/* Whether a recording or a replay may begin; `what` is how the message begins. */
muster_result records_check_world(const muster_world *world, const char *what);

/* Whether nothing was spawned yet, and no frame run; herds are known by a snapshot alone. */
bool records_is_new(const muster_world *world);

/* Reads the head, and stops behind it and the snapshot. Any thread. */
muster_result records_read_head(struct tape *tape, const void *bytes, size_t count, record_head *head);

/* As muster_record_begin(), of a checked definition; with a `journal` no snapshot is written: the caller saves the
 * world at this moment. */
muster_result records_begin(muster_world *world, const muster_record_def *def, const recorder_journal *journal);

/* As muster_record_end(). */
muster_result records_end(muster_world *world);

/* The record goes on in another file, too, from here on, where it begins with what this returns; the caller saves the
 * world at this moment. Null when the recording failed. */
const void *records_head(muster_world *world, size_t *count);

/* What can be read of a journal's record. */
typedef struct record_extent {
  record_head head;
  uint64_t frames;   /* complete ones */
  size_t end;        /* behind the last of them, */
  uint64_t checksum; /* and that of its section */
  bool ended;        /* there the record ends as it was ended */
  char damage[160];  /* what is wrong behind it; "" when the file just ends */
  uint64_t lost;     /* frames that stand behind the damage, as far as can be told */
} record_extent;

/* Takes a note of a frame; false to refuse it. */
typedef bool (*record_take_note)(const void *bytes, size_t count, uint64_t frame, void *user);

/* Checks a record up to its last complete frame, and hands out the notes of each, unless `take` is null. MUSTER_E_INPUT
 * when not even the head can be read, or a note was refused. Any thread. */
muster_result records_look(const void *bytes, size_t count, record_extent *extent, record_take_note take, void *user);

/* The same of a record that has grown since: goes on where the last look ended. `bytes` is where the record begins. */
muster_result records_look_on(const void *bytes, size_t count, record_extent *extent, record_take_note take,
                              void *user);

/* As muster_replay_begin(), for the complete frames of a journal's record, from its snapshot. */
muster_result replays_begin(muster_world *world, const muster_replay_def *def, const void *snapshot,
                            size_t snapshot_bytes);

/* The record has grown to `count` bytes, at the same place, with so many more complete frames. */
void replays_extend(muster_world *world, size_t count, uint64_t frames);

/* Called before a frame with its number and its time. */
typedef void (*replay_before)(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user);

/* As muster_replay_frame(); `before` may be null. */
muster_result replays_frame(muster_world *world, replay_before before, void *user);

/* All frames were replayed: the world goes on like any other. MUSTER_E_INPUT when what waited cannot have. */
muster_result replays_finish(muster_world *world);

#endif
