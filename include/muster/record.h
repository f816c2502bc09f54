/* muster/record.h - record a run and replay it bit for bit, so that an incident becomes a test. Not part of
 * muster/muster.h.
 *
 * A record is a snapshot, unless the world was new, and all inputs from there on: what the host asked for (spawns with
 * their state, commands, messages, arrays of positions and factors, each frame's time and budget), every decision that
 * looked at a clock or at what other threads did (how much an intake took, which updates ran and where they were cut,
 * which agents were woken in between, how far a commit came), and the costs that were measured. A replay runs the same
 * code with these values from the record: it takes no decision by the clock, and works on any number of workers.
 *
 * Not in a record, and to be the same in a replay: the atoms and all that they read outside Muster through the user
 * pointers of types and agents, files or globals. Inside atoms use muster_update_...(): the results of calls for any
 * thread (such as muster_agent_spawn) are not recorded there. State that the host writes between frames through
 * muster_agent_info.state is not recorded: the replay diverges, and reports that. In a replay actions by region and
 * parallel ones run one at a time, in agent order. For actions by region that makes no difference; effects of parallel
 * actions on each other through shared memory depend on their order, and are not repeated. */
#ifndef MUSTER_RECORD_H
#define MUSTER_RECORD_H

#include <muster/update.h>

#ifdef __cplusplus
extern "C" {
#endif

struct muster_world_def;

typedef struct muster_record_def {
  uint32_t size;
  bool (*write)(const void *bytes, size_t count, void *user); /* takes what was recorded, in order; false when it
                               cannot: the recording ends. Called on the thread of the frames, in muster_record_begin,
                               at the end of each frame and in muster_record_end; required */
  void *user;                                                 /* handed to the callbacks */
  size_t buffer_bytes; /* the most that one frame may record, with what came before it, or the note and the snapshot
                          together; address space, committed as it is used; default 256 MiB; 64 KiB .. 1 TiB */
  uint32_t hash_every; /* frames from one muster_world_hash() in the record to the next; default 60; 0 = none */
  const void *note;    /* the host's own bytes, such as the options it was started with; copied; default null */
  uint32_t note_bytes; /* at most half of the buffer */
  uint64_t (*name_user)(muster_agent agent, void *agent_user, void *user); /* a number to know an agent's user pointer
                               by in a replay; asked for each agent that has one when recording begins in a world that
                               is not new, where the name must not be 0, and for each that the host spawns with one and
                               whose spawn is recorded later; an agent that waits for its first frame when recording
                               begins is asked for twice. Default null = 1 */
} muster_record_def;

MUSTER_DEFAULTS(muster_record_def);

/* Begins to record: in a new world, or at any time. A world makes one record at a time; when that has ended, it may
 * make another. The record of a world that is not new begins with a snapshot of it (muster/snapshot.h), which is
 * written at once, and which the replay loads; no other thread calls into the world meanwhile. MUSTER_E_STATE inside a
 * frame; in a world that records or replays; in one with planner_workers; and on the wall clock when a type has sets;
 * such a type cannot be registered later either (muster/sets.h). MUSTER_E_ARGUMENT when a field is out of range, or
 * name_user gave a name 0; MUSTER_E_MEMORY without a buffer, or when the snapshot does not fit it; MUSTER_E_SYSTEM when
 * the first write was refused. After a failure the world does not record, and may try again. `write` was not called
 * then, but for MUSTER_E_SYSTEM: what it took is no record, and the next attempt begins with the first byte again. The
 * buffer is kept for that attempt. A frame that cannot be recorded (the buffer is full, a write was refused, or
 * something happened that no replay could repeat) ends the recording with a warning in the log; what was written until
 * then is whole. Thread of the frames, between frames. Recording costs time in proportion to what is recorded. */
MUSTER_API muster_result muster_record_begin(muster_world *world, const muster_record_def *def);

/* Ends the recording after the last frame. MUSTER_E_STATE when none is under way, MUSTER_E_SYSTEM when the last write
 * was refused. muster_world_destroy does the same. Thread of the frames, between frames. */
MUSTER_API muster_result muster_record_end(muster_world *world);

typedef struct muster_record_status {
  uint32_t size;
  bool records;       /* a recording is under way */
  uint64_t frames;    /* in the record, or replayed */
  uint64_t bytes;     /* written */
  uint64_t lost;      /* frames that ran after the recording had ended by itself */
  char ended_by[128]; /* why it ended by itself; "" when it did not */
} muster_record_status;

MUSTER_DEFAULTS(muster_record_status);

/* The state of the recording, or of the replay, of a world. Thread of the frames, between frames. */
MUSTER_API muster_result muster_record_status_read(const muster_world *world, muster_record_status *status);

/* What a record says about itself. */
typedef struct muster_record_info {
  uint32_t size;
  uint32_t workers; /* of the recorded run */
  uint64_t frames;  /* whole ones */
  bool cut;         /* its end is missing: the recording program died */
  const void *note; /* points into the record */
  uint32_t note_bytes;
  uint64_t frames_before; /* that the world had run when the recording began */
} muster_record_info;

MUSTER_DEFAULTS(muster_record_info);

/* Reads and checks a whole record of `count` bytes: every checksum. MUSTER_E_INPUT with the offset and the reason when
 * it is damaged or no record. When `world`, set by its default function, is not null, it becomes the definition of the
 * recorded world, with the default pool, allocator, log and audit. Any thread. O(count). */
MUSTER_API muster_result muster_record_look(const void *bytes, size_t count, muster_record_info *info,
                                            struct muster_world_def *world);

typedef struct muster_replay_def {
  uint32_t size;
  const void *bytes; /* the whole record; stays the caller's and must stay as it is until the world is destroyed */
  size_t count;
  bool accept_cut; /* replay the whole frames of a record whose end is missing; default false */
  void *(*user_of)(muster_agent agent, uint64_t name, void *user); /* returns the user pointer of an agent whose
                      recorded pointer had this name; needed when there are such agents; default null */
  void *user;                                                      /* handed to user_of */
} muster_replay_def;

MUSTER_DEFAULTS(muster_replay_def);

/* Turns a new world into a replay. It must be defined as the recorded world was (see muster_record_look). Register the
 * same types between the same frames, then call muster_replay_frame() for each frame: first those that were registered
 * when the recording began, since the first call also loads the snapshot of a record that begins with one. From here on
 * the calls by which a host spawns, removes, moves, tunes, wakes, sends, and adds or moves observers change nothing and
 * succeed, so that code which populates a world can be used as it is; the ids that they return count up from the first,
 * one thread at a time. muster_frame_run() is refused. MUSTER_E_STATE in a world that is not new; MUSTER_E_INPUT with
 * offset or field and the reason when the record is damaged, cut or of another world. Thread of the frames, between
 * frames. O(count). */
MUSTER_API muster_result muster_replay_begin(muster_world *world, const muster_replay_def *def);

/* Replays the next frame; its report is that of the recorded run, wall times included. MUSTER_E_STATE when no frame is
 * left, or without muster_replay_begin(). MUSTER_E_INPUT when the replay diverges from the record, with the frame and
 * the reason: a type that differs, an agent that acted differently, another hash; no frame can be replayed after that.
 * Frames are counted as in the recorded world, from muster_record_info.frames_before on. Thread of the frames; other
 * threads may call meanwhile what any thread may, also while the first call loads a snapshot: what they ask for changes
 * nothing, and muster_agent_exists() tells of an agent of the snapshot once its id is loaded. */
MUSTER_API muster_result muster_replay_frame(muster_world *world);

/* Whether the world runs recorded frames again: in muster_replay_frame(), and in muster_journal_recover()
 * (muster/journal.h). Callbacks then keep back what they do outside of Muster, such as writing to a file: it was done
 * before. Any thread; also in callbacks, with update->world. */
MUSTER_API bool muster_world_is_replaying(const muster_world *world);

#ifdef __cplusplus
}
#endif

#endif
