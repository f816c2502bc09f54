/* recorder.h - what a world does differently while it records, and while it replays: it only writes down, or reads
 * instead, each thing that the frame cannot know by itself. Frames of other worlds only look at a null pointer.
 *
 * All calls come on the frame's thread, in the order of the program, which is the order of the record; there is no
 * other order. Each item begins with a tag, so that a replay which goes another way is found at once. From there on the
 * replay uses its own values instead of the record's, and the frame's end reports it. */
#ifndef RECORDER_H
#define RECORDER_H

#include "base/tape.h"
#include "run/spawn_log.h"

#include <muster/muster.h>
#include <muster/record.h>

struct batch_claim;

typedef enum recorder_mode { RECORDER_ENDED = 0, RECORDER_RECORDS, RECORDER_REPLAYS } recorder_mode;

typedef enum recorder_tag {
  TAG_NONE = 0,
  TAG_TYPES,
  TAG_FRAME,
  TAG_MOVES,
  TAG_OBSERVER_MOVES,
  TAG_FACTORS,
  TAG_SPAWN_LOG,
  TAG_LIST_END,
  TAG_COMMANDS,
  TAG_COMMAND,
  TAG_ACTIVATED,
  TAG_MESSAGE,
  TAG_ID,
  TAG_NO,
  TAG_YES,
  TAG_BUDGET,
  TAG_DESIRED,
  TAG_CAPACITY,
  TAG_OUTCOMES,
  TAG_ACTED,
  TAG_LOTS,
  TAG_COSTS,
  TAG_OVERRUNS,
  TAG_SUSPECT,
  TAG_INCIDENT,
  TAG_REPORT,
  TAG_HASH,
  TAG_TUNING,
  TAG_CYCLES,
  TAG_TIMES,
  TAG_URGENCY,
  TAG_SETTLED,
  TAG_WAITING,
  TAG_SUMS,
  TAG_NOTES,
  TAG_ZONE,
  TAG_APPENDING,
  TAG_FINISHED,
  TAG_WORKERS
} recorder_tag;

enum { FRAME_TIMES = 8 };

/* Asides of a record, which may stand before any tag: a type to compare, and an agent that the host spawned in the
 * recorded run and that is spawned at the same point of the replay. The replay hands over the functions that take
 * them. */
typedef struct recorder_asides {
  struct muster_world *world;
  void (*take_type)(struct muster_world *world);
  void (*take_logged_spawn)(struct muster_world *world);
} recorder_asides;

/* What hosts asked for and no intake had taken at the end of a frame, in a record or from one. */
typedef struct recorder_waiting {
  uint32_t wakes, commands, tunings, messages; /* how many */
  const unsigned char *bytes;                  /* where they stand in the record: indices, then structures */
} recorder_waiting;

/* What a journal asks of a recording beyond what muster_record_def says. Each of its frames ends with what still waits,
 * with sums of hashes, and with notes of the host:
 *
 *     items of the frame    waiting    sums    notes: (length, bytes) ...    bytes of all notes (8)
 *
 * The last eight bytes tell where the notes are, without a replay. */
typedef struct recorder_journal {
  bool on;
  void (*end_frame)(void *user); /* notes may be added; may be null */
  void *user;
  unsigned char *notes; /* of the frame to come */
  size_t notes_bytes, notes_max;
  bool full; /* a note did not fit */
} recorder_journal;

struct recorder {
  recorder_mode mode; /* only the frame's thread may look */
  bool replays;       /* any thread may look: it does not change while other threads know the world */
  struct tape tape;
  uint64_t frames, lost;
  uint32_t types_known;
  char trouble[128]; /* why the recording, or the replay, cannot go on */
  /* recording */
  muster_record_def def;
  uint64_t (*hash)(const struct muster_world *world); /* of the world that records, or replays */
  struct spawn_log spawn_log;
  bool refused;                /* a write was refused */
  uint64_t bytes;              /* that the host took */
  uint64_t times[FRAME_TIMES]; /* what the last recorded frame took as a whole. That is known only after its record is
                                  written out, so it stands first in the section behind it. */
  void *room;                  /* for the tape */
  size_t room_bytes;
  recorder_journal journal;
  uint64_t sum; /* of the running frame */
  /* replaying */
  muster_replay_def replay;
  recorder_asides asides;
  uint64_t frames_before; /* that the world had run when the recording began */
  uint64_t frames_max;
  const void *snapshot; /* of the world as the recording began, until it is loaded; null: the world was new */
  size_t snapshot_bytes;
  uint32_t agents_given, observers_given; /* numbers of ids made up for the host's own calls */
  struct batch_claim *claims;
  bool times_due;           /* the record ended behind the last frame: its times stand in what has come since */
  bool between;             /* the section that is read is of TAPE_BETWEEN: the next one goes on with the same frame */
  bool loads;               /* the snapshot is being loaded: no other one may be */
  recorder_waiting waiting; /* at the end of the last frame of a journal */
  struct recorder_before {
    void (*run_stage)(struct muster_world *world);
    bool timed;
    uint32_t workers;
  } before; /* of the world: as it will be when it goes on after the replay */
};

static inline bool recorder_records(const struct recorder *recorder) {
  return __builtin_expect(recorder != NULL, 0) && recorder->mode == RECORDER_RECORDS;
}

/* Whether the world is one that replays; also after it diverged. */
static inline bool recorder_replays(const struct recorder *recorder) {
  return __builtin_expect(recorder != NULL, 0) && recorder->replays;
}

/* The tape of a world that records or replays; else null. */
static inline struct tape *recorder_tape(struct recorder *recorder) {
  return recorder_records(recorder) || recorder_replays(recorder) ? &recorder->tape : NULL;
}

/* A record cannot repeat what has just happened: the recording ends, and this frame is left out. */
void recorder_cannot(struct recorder *recorder, const char *why);

/* The replay went another way than the record: printf-style. Always false. */
bool recorder_diverges(struct recorder *recorder, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Writes a tag, or reads it; false when the record has another tag there. */
bool recorder_mark(struct recorder *recorder, recorder_tag tag);

/* The same for an item of several values: the tape, or null when none of them is written or read. */
struct tape *recorder_item(struct recorder *recorder, recorder_tag tag);

/* Writes a value, or reads it instead. */
void recorder_exchange_value(struct recorder *recorder, recorder_tag tag, void *value, size_t bytes);
static inline void recorder_exchange(struct recorder *recorder, recorder_tag tag, void *value, size_t bytes) {
  if (__builtin_expect(recorder != NULL, 0)) recorder_exchange_value(recorder, tag, value, bytes);
}

/* Writes a choice, or reads it instead. */
bool recorder_exchange_choice(struct recorder *recorder, bool choice);

/* A choice that depends on the clock, or on what other threads did. */
static inline bool recorder_choose(struct recorder *recorder, bool choice) {
  return __builtin_expect(recorder != NULL, 0) ? recorder_exchange_choice(recorder, choice) : choice;
}

/* ------------------------------------------------------------------------------------------------ for its writers */

/* Writes a tag. */
void recorder_put_tag(struct recorder *recorder, recorder_tag tag);

/* The next tag behind the asides; TAG_NONE when there is none, or after trouble. */
recorder_tag recorder_next_tag(struct recorder *recorder);

/* One value of a list, or the end of the list: written, or read instead. Returns whether there is a value; none after
 * trouble. */
bool recorder_exchange_one(struct recorder *recorder, recorder_tag tag, bool any, void *value, size_t bytes);

/* Closes a section and hands it to the host. False when the host refused it, now or before. */
bool recorder_write_out(struct recorder *recorder, tape_kind kind, uint64_t number);

/* Closes what was recorded since the last frame, if anything was, and writes it out: what is recorded from here on
 * comes after this moment. False when the host refused it, or it did not fit. */
bool recorder_write_between(struct recorder *recorder);

/* A journal: adds a note of the host to the frame to come. False when there is no room. */
bool recorder_note(struct recorder *recorder, const void *bytes, size_t count);

/* Writes what the last recorded frame took. */
void recorder_put_times(struct recorder *recorder);

/* Ends the recording, for good. False when a write was refused. */
bool recorder_finish(struct recorder *recorder);

#endif
