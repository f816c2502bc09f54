/* muster/snapshot.h - a world as bytes, and back: so that a server that was stopped, or killed, goes on where it was.
 * Not part of muster/muster.h.
 *
 * A snapshot holds what the frames work on: agents with their ids, positions, states and published states, and where
 * each stands in its period or its update; messages, commands, wakes and spawns that wait; observers; the field of
 * known importance; tunings, penalties; and learnt costs. Under the virtual clock a world that is loaded goes on bit
 * for bit like the one that was saved, on any number of workers (muster_world_hash). Herds are saved completely: folded
 * or unfolded, with retained and named members, and the changes that wait. Ids stay the same, and the next new ids are
 * those that would have come next.
 *
 * It does not hold code, nor data that the host keeps outside Muster: before a world is loaded, the host registers the
 * same types in the same order, and the host translates user pointers. muster_statistics, overruns and traces begin
 * anew. on_spawned is not called for agents that are loaded.
 *
 * Each section ends with an XXH3 checksum that covers the one before it. A file that was cut, changed, made by another
 * version or by a build with other structures, or of a world with other types or definitions, is refused with the
 * reason, and the world is not changed: the file is read twice, and the world is written only after the whole file was
 * checked. */
#ifndef MUSTER_SNAPSHOT_H
#define MUSTER_SNAPSHOT_H

#include <muster/update.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct muster_save_def {
  uint32_t size;
  bool (*write)(const void *bytes, size_t count, void *user); /* takes the snapshot, in order, at most 64 KiB at a time;
                                                                 false when it cannot: the snapshot fails. Required */
  void *user;                                                 /* handed to the callbacks */
  uint64_t (*name_user)(muster_agent agent, void *agent_user, void *user); /* a number to know an agent's user pointer
                            by when it is loaded; asked for agents that have one. Default null = 0 for all */
} muster_save_def;

MUSTER_DEFAULTS(muster_save_def);

/* Saves a world. MUSTER_E_STATE inside a frame, of a planner world, of one that replays, and on another thread than the
 * one that runs its frames; MUSTER_E_SYSTEM when a write was refused. Thread of the frames, between frames, and no
 * other thread calls into the world meanwhile. So a host that saves every few minutes does it in its frame loop, into
 * memory, and lets another thread write the bytes; or it has a journal (muster/journal.h). Allocates nothing. Takes
 * about 0.3 us for each agent, and the time of its state.
 *
 * A host that cannot stop for so long calls muster_world_settle() and forks: the child, in which no other thread runs,
 * saves the world as it was, and ends with _exit(). A spawn or command that another thread of the parent was queueing
 * at that moment is in the snapshot as a whole or not at all. */
MUSTER_API muster_result muster_world_save(muster_world *world, const muster_save_def *def);

/* Brings a world into the state in which it is saved: a process that is forked now can save. What the last commit had
 * no time for is finished, as the next frame would, and the agents that are ready to run are sorted. MUSTER_E_STATE
 * inside a frame, on another thread than the one that runs the frames, and in a world that replays. Thread of the
 * frames, between frames. O(ready agents). */
MUSTER_API muster_result muster_world_settle(muster_world *world);

/* How often the world was brought into that state, by muster_world_settle() and by all that saves it, since it was
 * created. What a host or a module keeps outside the world, and cannot save, begins anew in a world that is loaded:
 * where it does so in the running world, too, whenever this number has changed, both go on alike. Records and journals
 * repeat it. Any thread that may read the world, and inside atoms. */
MUSTER_API uint64_t muster_world_settles(const muster_world *world);

/* What a snapshot says about itself. */
typedef struct muster_snapshot_info {
  uint32_t size;
  uint32_t types;
  uint32_t agents; /* active ones */
  uint32_t spawns; /* agents that were spawned and wait for an intake */
  uint32_t observers;
  uint64_t frames; /* frames that the world had run */
  uint64_t sim_now_ns;
  uint64_t seed;
  uint64_t hash; /* muster_world_hash() of the world as it was saved, and as it will be once it is loaded */
} muster_snapshot_info;

MUSTER_DEFAULTS(muster_snapshot_info);

/* Checks that a snapshot is whole and describes it. MUSTER_E_INPUT with what is wrong and where. Any thread. */
MUSTER_API muster_result muster_snapshot_look(const void *bytes, size_t count, muster_snapshot_info *info);

typedef struct muster_load_def {
  uint32_t size;
  const void *bytes; /* the snapshot; read during the call only. Required */
  size_t count;
  void *(*user_of)(muster_agent agent, uint64_t name, void *user); /* returns the user pointer of an agent for which
                                                    name_user gave this name; asked for names that are not 0. Default
                                                    null = null for all */
  void *user;                                                      /* handed to the callback */
} muster_load_def;

MUSTER_DEFAULTS(muster_load_def);

/* Loads a snapshot into a new world in which the same types are registered. MUSTER_E_STATE when an agent or an observer
 * was spawned there, a frame run or a recording begun, and in a planner world; MUSTER_E_INPUT when the snapshot cannot
 * be loaded, with the reason, where it is damaged or what differs: seed, clock, order, elastic rule, importance, cell_m
 * and activation_delay must be as they were, name, sizes, periods, levels and atoms of each type too, name, tree,
 * member type, zones and retains of each herd type, and the world must have room; its weights become those that were
 * saved. MUSTER_E_MEMORY without memory for the check. After an error nothing has changed. Thread of the frames; no
 * other thread knows the world yet. */
MUSTER_API muster_result muster_world_load(muster_world *world, const muster_load_def *def);

#ifdef __cplusplus
}
#endif

#endif
