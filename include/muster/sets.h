/* muster/sets.h - inside an agent: sets of atoms with shares, periods, delays and modes of their own. Not part of
 * muster/muster.h: a type whose atoms are a list needs nothing of it.
 *
 * A type's atoms are a list that each update runs from first to last; that is enough for most. A type that has several
 * things to do, some of them rarely, some of them long, declares sets instead: lists of atoms, each with a role, after
 * Wright & Marshall's process manager (Egocentric AI processing for computer entertainment).
 *
 * Each update makes a pass over the sets that are active in it, role by role: perceptions, then behaviours, then
 * actions, which run at the commit. Within a role they go by share, the largest first, or as defined
 * (muster_type_def.sets.order).
 *
 *   active    when the set's own period has passed: in every period_updates-th update from its activation delay on, or
 *             in the first update at or after each period of period_ns. A set that is owed time is active, too.
 *   share     before each behaviour set the time that the update has left, t, is divided by share among the
 *             behaviour sets that are still to run: t p / sum of p. So time that one set does not use goes to the next
 *             ones, and the last one has all that is left. t is the update's own share of the frame
 *             (muster_type_def.sets), and never more than what is left of the frame. Perceptions have no
 *             shares: they may use all of t.
 *   cut       a set that used up its share stops before its next atom, and a set stops after an atom that returns
 *             MUSTER_ATOM_MORE. Its mode says how it goes on. Each set that has its turn runs one atom at least.
 *   owed      a set that was cut, or found no time in the pass at all, is owed time. The pass still goes on to its
 *             actions and is complete; but an agent with sets that are owed time does not wait for its period: it is
 *             ready again in the next frame, with the progress that the sets reported counted in its priority, and runs
 *             these sets alone, beginning with the one after the last that ran. When its period passes first, or it is
 *             woken, a whole pass begins with them; the other sets of the role follow in their order. A pass over owed
 *             sets alone is no update: it is not counted in period_updates nor in the reports' completed, and the
 *             messages that it sees stay for the next update.
 *
 * The times in an atom's update are those of its set: elapsed_ns is the simulation time since the beginning of the
 * set's last completed run, now_ns the time at which this run began. So a set that runs in every fourth update, or was
 * cut and goes on for seconds, integrates over the right time.
 *
 * A worker reads the clock for a set only where that can matter: not in updates that take a few microseconds, far below
 * their limit. So the first such update that takes long is not cut; from then on the clock is read for it. Between two
 * atoms of a set that may be cut, and between two sets, an update gives way to more urgent work (muster/jobs.h, agents
 * that are woken): that is no cut, the update goes on where it was within the frame.
 *
 * Under the virtual clock it is planned before the frame runs how far each agent runs: each atom of a set is charged
 * once in a pass; atoms after one that returns MUSTER_ATOM_MORE are charged, but not run; a run set that has begun is
 * charged whole, beyond the capacity if need be. Worlds with such types are recorded (muster/record.h) under the
 * virtual clock only.
 *
 * In a planner world the host runs the sets, which have a name and a period and no atoms: muster/planner.h says how.
 */
#ifndef MUSTER_SETS_H
#define MUSTER_SETS_H

#include <muster/type.h>

#ifdef __cplusplus
extern "C" {
#endif

#define MUSTER_SETS_MAX  16u
#define MUSTER_SHARE_MAX 100u

/* What happens to a set that runs out of time. */
typedef enum muster_mode {
  MUSTER_MODE_RUN = 0,     /* never cut: once begun it runs from its first atom to its last, whatever its share */
  MUSTER_MODE_SUSPENDABLE, /* it is cut, and begins anew with its first atom */
  MUSTER_MODE_SLICEABLE    /* it is cut, and goes on after the last atom that completed */
} muster_mode;

/* The order in which the sets of one role run. */
typedef enum muster_set_order {
  MUSTER_SETS_BY_SHARE = 0, /* the highest first; equal ones as defined */
  MUSTER_SETS_AS_DEFINED
} muster_set_order;

struct muster_set_def {
  uint32_t size;
  const char *name;         /* for reports; copied; at most 31 bytes are kept; default "set" */
  uint32_t role;            /* a muster_role; default behaviour */
  uint32_t mode;            /* a muster_mode; default run. Actions run whole */
  const muster_atom *atoms; /* in order of execution; copied; their roles are ignored: the set's holds */
  uint32_t atom_count;      /* default 0: an empty set is legal, and costs nothing */
  uint32_t share;           /* 1..100; default 50 */
  uint32_t period_updates;  /* n: active in every n-th update of its agent; default 1; 1 .. 1,000,000; or 0, and */
  uint64_t period_ns;       /* active in the first update after this much simulation time; 100 us .. 24 h; default 0 */
  uint32_t delay_updates;   /* activation delay: the first update in which it is active, counted from 0; default 0; less
                               than period_updates */
  uint64_t delay_ns;        /* or, with period_ns: this long after the spawn; default 0; less than period_ns */
  uint32_t levels;          /* bit k: the set runs at capability level k; default all */
  uint32_t asks;    /* n: under the virtual clock muster_update_should_yield() returns true at its n-th call within one
                       call of an atom; default 16; 1 .. 1,000,000 */
  uint32_t part_ns; /* in planner worlds (muster/planner.h), where a set has no atoms: what it costs under the virtual
                       clock, and as the first guess; default 1000; 1 .. 1e9 */
};

MUSTER_DEFAULTS(muster_set_def);

/* The values of a set that can be changed while its agents run. */
typedef struct muster_set_tuning {
  uint32_t size;
  uint32_t share; /* all fields are as in muster_set_def */
  uint32_t period_updates;
  uint64_t period_ns;
  uint32_t mode;
} muster_set_tuning;

MUSTER_DEFAULTS(muster_set_tuning);

/* Queues a change of a set of a type, for all its agents, from the next intake on. `set` counts from 0 in the order of
 * the definition. Delays stay as they were and count modulo the new period; a set that counted updates and now has a
 * period in ns, or the other way round, is active in the next update. A set that was cut goes on by its new mode: a run
 * or suspendable set from its first atom, a sliceable one after the last atom that completed, or from the first if it
 * was not sliceable when it was cut. MUSTER_E_ARGUMENT for a type that is not registered, a set that it does not have
 * or a value out of range; MUSTER_E_FULL when commands_max commands wait. Any thread, but not inside atoms. */
MUSTER_API muster_result muster_set_tune(muster_world *world, muster_type type, uint32_t set,
                                         const muster_set_tuning *tuning);

/* Queues a change of the share of a type (muster_type_def.sets.share, 0..100) from the next intake on. Errors as
 * above. Any thread, but not inside atoms. */
MUSTER_API muster_result muster_type_set_share(muster_world *world, muster_type type, uint32_t share);

/* The state of one set of one agent. */
typedef struct muster_set_info {
  uint32_t size;
  const char *name;
  uint64_t last_ns;   /* simulation time that its last completed run brought it to; at first the spawn's */
  uint64_t runs;      /* completed, of all agents of the type together, since the world was created */
  uint64_t cuts;      /* likewise: how often it was cut */
  uint32_t atom_next; /* index in the set at which it goes on; 0 = at its beginning */
  float progress;     /* as reported by the run that is under way; 0 when there is none */
  bool owed;          /* cut, or without time in the agent's last pass */
} muster_set_info;

MUSTER_DEFAULTS(muster_set_info);

/* Reads it. MUSTER_E_STALE when the id is gone, MUSTER_E_ARGUMENT for a set that the agent's type does not have. Thread
 * of the frames, between frames. O(1). */
MUSTER_API muster_result muster_agent_set_read(const muster_world *world, muster_agent agent, uint32_t set,
                                               muster_set_info *info);

/* -------------------------------------------------------------------------------------------------- inside an atom */

/* Whether a long atom should note how far it got and return MUSTER_ATOM_MORE: its set's share or its update's slice
 * (muster_type_def.slices) is used up, the frame ends, or something more urgent waits. Never in a run set, an action,
 * or a type without sets and slices. About the time of a clock read: ask every few microseconds of work. Under the
 * virtual clock it returns true at the muster_set_def.asks-th question (muster_type_def.slices.asks) within one call of
 * the atom, and an atom's model_ns is the cost of one such call. True, with a message, for an update that is not under
 * way: the caller should stop. Inside an atom, on_spawned or on_removed. */
MUSTER_API bool muster_update_should_yield(muster_update *update);

/* Reports how far the set's run got, 0..1: NaN counts as 0, values outside 0..1 are clamped. It counts in the priority
 * of an agent whose set is owed time (muster_world_def.priority.progress), and is 0 again with the next run. Without
 * it, the share of the set's atoms that completed counts. Inside an atom, on_spawned or on_removed. */
MUSTER_API void muster_update_progress(muster_update *update, float progress);

/* The region of the ground in which the agent stands, for MUSTER_ACT_REGION: agents of one region act one at a time. It
 * is a cell, cell_m wide, of the grid of one partition, and where the agent stood when the actions began: moves by its
 * own earlier atoms count, moves by actions do not yet. In other atoms: as of the last commit. The number means nothing
 * but equality. Inside an atom, on_spawned or on_removed. */
MUSTER_API uint64_t muster_update_region(const muster_update *update);

#ifdef __cplusplus
}
#endif

#endif
