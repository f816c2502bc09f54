/* muster/journal.h - no frame lost: a world that goes on from its last complete frame after its process died. Not part
 * of muster/muster.h.
 *
 * A journal is a snapshot (muster/snapshot.h) and a record of each frame since (muster/record.h), in files that outlive
 * the process:
 *
 *     PATH-7.snapshot   the world as it was after some frame, and what the host keeps
 *     PATH-7.journal    all inputs and all choices of each frame from there on
 *
 * Each frame is appended by one write() at its end, before muster_frame_run() returns, so that nothing leaves the
 * process of which the journal does not know. The files are never mapped for writing: a wild store cannot reach them.
 * PATH may be on a disk or in memory (/dev/shm, /run); a file in memory outlives the process, but not the machine.
 *
 *     muster_journal *journal = NULL;
 *     if (muster_journal_look(path, &info, &def) == MUSTER_OK) {     // there is one
 *       world = ...; register the types; muster_journal_recover(world, &recover_def, &info);
 *     }
 *     muster_journal_begin(world, &journal_def, &journal);
 *     for (;;) {
 *       muster_frame_run(world, &frame);        // the frame is in the journal
 *       send out what waits for muster_journal_status.frames_safe;
 *       muster_journal_turn(journal, spare_ns); // a new snapshot, when it is time for one
 *     }
 *     muster_journal_end(journal);              // with a last snapshot
 *
 * tests/examples/journal_host.c is a whole program.
 *
 * What is safe. An input that was given between two frames is in the journal when the next frame has ended: a host that
 * answers a client after that never promises what a crash could take back. The frame during which the process dies is
 * lost as a whole, with the inputs given since the frame before it. With MUSTER_JOURNAL_SYNC_NONE that holds when the
 * process dies, but not when the machine does; with _SECOND the machine may lose the last second; with _FRAME nothing
 * that was safe.
 *
 * Snapshots are taken between two frames, in the time that the host has to spare there, or else by a process that is
 * forked, as often as it takes to keep the predicted time
 * of a recovery under recovery_max_ns: loading the snapshot, and running the frames since again, which takes about the
 * time that they took. Muster waits for a frame with few suspended updates. Where the snapshot alone takes too long, or
 * snapshots would cost more than a fiftieth of the time, that is told in the log and in the status.
 *
 * When it cannot go on. A full disk, a refused write, or a frame that no replay could repeat ends the journal, with a
 * warning in the log, and frames go on. The files stay: after a crash the world goes back to the last frame that they
 * have, which is no earlier than any that was safe. A host whose own snapshot is of a later frame goes on from that one
 * (muster_journal_info.frames tells), and one that wants neither back ends the journal with `remove`. To have a journal
 * again, such as when the disk has room, it ends this one and begins another at the same path, with `begins_beside`:
 * the files of the old one are there until the first snapshot of the new one is complete.
 *
 * What can be replayed is what can be recorded: see muster/record.h. In a world whose types have parallel actions, or
 * sets on the wall clock, muster_journal_begin() is refused with the reason: only snapshots help there. While a world
 * has a journal, the calls by which a host adds herds and names their members between frames are refused, as in any
 * record (muster/herd.h); herds that come from another zone do come in (muster/zone.h). A recovery is
 * checked: each frame holds the sum of the hashes of the agents that it updated, and every 60th the hash of the whole
 * world. After a wild store into an agent's state the recovery differs from the run, and tells that. */
#ifndef MUSTER_JOURNAL_H
#define MUSTER_JOURNAL_H

#include <muster/update.h>

#ifdef __cplusplus
extern "C" {
#endif

struct muster_world_def;

typedef struct muster_journal muster_journal;

/* When the files are brought to the disk. Numbers are fixed. */
typedef enum muster_journal_sync {
  MUSTER_JOURNAL_SYNC_NONE = 0, /* whenever the system does */
  MUSTER_JOURNAL_SYNC_SECOND,   /* once a second */
  MUSTER_JOURNAL_SYNC_FRAME     /* each frame; several together when the disk is slower than the frames */
} muster_journal_sync;

/* Takes bytes of what the host keeps; false when it cannot. */
typedef bool (*muster_journal_put)(const void *bytes, size_t count, void *put_user);

typedef struct muster_journal_def {
  uint32_t size;
  muster_journal_sync sync; /* default MUSTER_JOURNAL_SYNC_NONE */
  const char *path;         /* what the files' names begin with; at most 3,799 bytes; copied; required */
  uint64_t recovery_max_ns; /* how long a recovery may take; default 700 ms; 10 ms .. 1 h */
  uint64_t start_ns;        /* of that, what the host needs before muster_journal_recover(): its process starts, files
                               are read; default 100 ms */
  const void *note;         /* the host's own bytes for those who look, such as its settings; copied; default null */
  uint32_t note_bytes;      /* at most 1 MiB */
  uint32_t incidents_max;   /* journals of crashes that are kept, as PATH-incident-N.snapshot and .journal: the oldest
                               is removed. Default 4 */
  size_t buffer_bytes;      /* the most that one frame may record, as in muster_record_def; default 256 MiB */
  /* Writes what the host must know to go on from a snapshot. Called in the process that was forked for it, where no
   * other thread runs, or on the thread of the frames: it changes nothing, neither allocates nor locks. False = the
   * snapshot fails. Default null. */
  bool (*save_host)(muster_journal_put put, void *put_user, void *user);
  /* Called at the end of each frame, before it is written: the host adds notes (muster_journal_note). Default null. */
  void (*end_frame)(muster_journal *journal, void *user);
  uint64_t (*name_user)(muster_agent agent, void *agent_user, void *user); /* as in muster_record_def. Default null */
  void *user;                                                              /* handed to the callbacks */
  bool begins_beside; /* the first snapshot is written by a process that is forked, beside the frames: begin returns at
                         once. Until it is complete no frame is safe, and what was at `path` stays: after a crash the
                         world goes on from that. It is no incident then. Default false */
} muster_journal_def;

MUSTER_DEFAULTS(muster_journal_def);

/* Begins a journal with a snapshot, which is written before the call returns, unless `begins_beside`. A journal that
 * was there is replaced when that is complete; if it ended with a crash, it is kept as an incident. Null is stored on
 * failure. MUSTER_E_STATE inside a frame, in a world that records or replays, in one with planner_workers, and in one
 * whose types cannot be repeated, with the reason; MUSTER_E_ARGUMENT when a field is out of range; MUSTER_E_SYSTEM when
 * a file cannot be written, with its name and why; MUSTER_E_MEMORY. Thread of the frames, between frames, and no other
 * thread calls into the world meanwhile. */
MUSTER_API muster_result muster_journal_begin(muster_world *world, const muster_journal_def *def,
                                              muster_journal **journal);

/* Adds a note of the host to the next frame that ends: it comes back when that frame does. Copied. MUSTER_E_FULL when
 * the notes of one frame have more than 16 MiB: then the journal ends at that frame. MUSTER_E_STATE when it has ended.
 * Thread of the frames, between frames or in end_frame. */
MUSTER_API muster_result muster_journal_note(muster_journal *journal, const void *bytes, size_t count);

/* Takes a snapshot when one is due, and looks whether the one before is complete. Call it after each frame. `spare_ns`
 * is how long the thread has nothing else to do, such as until the next frame is due; 0 = not at all. A snapshot that
 * fits there is put into memory, which costs the frames nothing, and another thread writes it. One that does not fit is
 * written by a process that is forked: the frames pause for the fork, which counts as used of the next budget, and have
 * page faults for a while, since each page that is written meanwhile is copied. Thread of the frames, between frames.
 */
MUSTER_API void muster_journal_turn(muster_journal *journal, uint64_t spare_ns);

/* While it is held, a journal begins no snapshot by itself, so that whoever follows its record finds one file that only
 * grows (muster_journal_recover_def.more): a recovery takes longer meanwhile. Those that muster_journal_snapshot() asks
 * for begin all the same. Thread of the frames, between frames. */
MUSTER_API void muster_journal_hold(muster_journal *journal, bool held);

/* Begins a snapshot now; when one is being written, the next one follows it. A host that changes a world in which no
 * frames run, since it is paused, makes its change safe with this: muster_journal_status.changes_safe says when that is
 * so. MUSTER_E_STATE inside a frame, on another thread than the one that runs the frames, and when the journal has
 * ended. Thread of the frames, between frames. */
MUSTER_API muster_result muster_journal_snapshot(muster_journal *journal);

/* Ends the journal with a last snapshot, written at once, so that the world can go on from there; frees it. With
 * `remove` true its files are removed instead. To be called before muster_world_destroy(). Null is a no-op.
 * MUSTER_E_SYSTEM when the snapshot could not be written: then the journal's files are as after a crash, and so are
 * those of one that had ended by itself before, which is no error. MUSTER_E_STATE in a process that was forked from the
 * one that began it. Thread of the frames, between frames. */
MUSTER_API muster_result muster_journal_end(muster_journal *journal, bool remove);

typedef struct muster_journal_status {
  uint32_t size;
  bool runs;                 /* false: it has ended by itself */
  bool holds;                /* the predicted recovery stays under recovery_max_ns. It is false once another snapshot
                                would have cost too much, until the next one can be had in time: one that came late
                                does not keep the next recovery short */
  uint64_t frames_written;   /* frames of the world that are in the journal, or in its snapshot */
  uint64_t frames_safe;      /* the same, and as safe as `sync` asks for: answers may go out that wait for a frame up
                                to this one. When the journal has ended, all */
  uint64_t changes_safe;     /* calls of muster_journal_snapshot() whose snapshot is complete */
  uint64_t bytes;            /* of the journal since its begin */
  uint64_t snapshots;        /* complete ones since its begin */
  uint64_t forked;           /* of these, how many had a process of their own */
  uint64_t snapshots_failed; /* the journal goes on from the one before */
  uint64_t snapshot_bytes;   /* of the newest */
  uint64_t snapshot_ns;      /* how long it took */
  uint64_t pause_ns;         /* how long the frames paused for the last fork; 0 = it had none */
  uint64_t sync_ns;          /* how long the last sync took */
  uint64_t recovery_ns;      /* predicted, if the process died now */
  char ended_by[160];        /* why it ended by itself; "" when it did not */
  bool writes;               /* a snapshot is being written: the journal goes on behind it in another file */
} muster_journal_status;

MUSTER_DEFAULTS(muster_journal_status);

/* The state of a journal. Thread of the frames, between frames. */
MUSTER_API muster_result muster_journal_status_read(muster_journal *journal, muster_journal_status *status);

/* ------------------------------------------------------------------------------------------------------- recovery */

/* What a journal says about itself. */
typedef struct muster_journal_info {
  uint32_t size;
  bool clean;               /* it was ended by muster_journal_end(): there was no crash */
  bool tried;               /* two processes died while they ran these frames again: recover with snapshot_only */
  uint64_t number;          /* of its files */
  uint64_t snapshot_frames; /* that the world had run when the snapshot was taken */
  uint64_t frames;          /* that it had run at the end of the last complete frame */
  uint64_t sim_now_ns;      /* of that frame; known after muster_journal_recover() */
  uint64_t lost_bytes;      /* behind the last complete frame: part of the frame in which the process died, or damage */
  char damage[160];         /* what is wrong there; "" when the end is only missing */
  uint64_t lost_frames; /* complete frames that stand behind a damage and are given up, as far as they can be counted:
                           0 when there is no damage, or nothing behind it can be told apart */
} muster_journal_info;

MUSTER_DEFAULTS(muster_journal_info);

typedef struct muster_journal_look_def {
  uint32_t size;
  const char *path;                                                 /* as in muster_journal_def; required */
  bool (*take_note)(const void *bytes, uint32_t count, void *user); /* the journal's own note */
  bool (*take_host)(const void *bytes, size_t count, void *user);   /* what save_host wrote into the snapshot */
  bool (*take_notes)(const void *bytes, size_t count, uint64_t frame, void *user); /* each note of a complete frame,
                                                                                in order */
  void *user; /* handed to the callbacks, each of which may be null, and returns false to refuse the journal */
} muster_journal_look_def;

MUSTER_DEFAULTS(muster_journal_look_def);

/* Finds the newest complete snapshot at `path` and its journal (or, where `path` names an incident, such as
 * PATH-incident-2, that one's), checks every byte up to the last complete frame, and
 * hands out what the host had kept. When `world`, set by its default function, is not null, it becomes the definition
 * of the world, with the default pool, allocator and log. MUSTER_E_STALE when there is no journal; MUSTER_E_INPUT, with
 * the file, the offset and the reason, when there is no complete snapshot, when the files are of another build, or do
 * not belong together, or a callback refused. Changes nothing. Any thread. O(bytes). */
MUSTER_API muster_result muster_journal_look(const muster_journal_look_def *def, muster_journal_info *info,
                                             struct muster_world_def *world);

typedef struct muster_journal_recover_def {
  uint32_t size;
  bool snapshot_only; /* load the snapshot, and leave out the frames since. Default false */
  const char *path;   /* required */
  void *(*user_of)(muster_agent agent, uint64_t name, void *user); /* as in muster_replay_def. Default null */
  void *user;                                                      /* handed to the callbacks */
  /* The host's own part of each frame that is run again, before and after it, with its number and its time: the host
   * brings what the atoms read outside of Muster to where it was. Calls that change the world succeed then and change
   * nothing. Default null. */
  void (*before_frame)(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user);
  void (*after_frame)(muster_world *world, uint64_t frame, uint64_t sim_now_ns, void *user);
  /* Follows a journal that another process still writes, of which somebody copies the record to `path` as it grows.
   * Called when all complete frames that are there were run, with the number of the last: it may wait, and returns how
   * many bytes the record has now (less than is known already is no news), or 0 when no more will come. Bytes that are
   * there must not change, and the snapshot must stay. Default null: what is there is all. */
  uint64_t (*more)(muster_world *world, uint64_t frame, void *user);
  /* As in muster_journal_look_def, of each frame before it is run: of a record that grows a look may have seen less.
   * Default null. */
  bool (*take_notes)(const void *bytes, size_t count, uint64_t frame, void *user);
} muster_journal_recover_def;

MUSTER_DEFAULTS(muster_journal_recover_def);

/* Brings a new world, in which the same types are registered, to the end of the last complete frame of a journal, by
 * running the frames since the snapshot again. Callbacks of the types see muster_world_is_replaying(): what they do
 * outside of Muster they keep back, since it was done before. Afterwards the world is as any other, and has the same
 * ids; a new journal may be begun. MUSTER_E_STATE in a world that is not new; MUSTER_E_INPUT when the files cannot be
 * read, as above, or when the world that came of it differs from the one that ran, with the frame and what differs: the
 * host then destroys this world, and recovers another one with snapshot_only. The files are left as they are. Thread of
 * the frames; no other thread calls into the world meanwhile. */
MUSTER_API muster_result muster_journal_recover(muster_world *world, const muster_journal_recover_def *def,
                                                muster_journal_info *info);

#ifdef __cplusplus
}
#endif

#endif
