/* muster/type.h - agent types: the atoms of an update, how often and at which level it runs, and what its agents store.
 * Part of muster/muster.h. */
#ifndef MUSTER_TYPE_H
#define MUSTER_TYPE_H

#include <muster/common.h>
#include <muster/update.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum muster_role {
  MUSTER_ROLE_BEHAVIOUR = 0, /* think: runs in parallel; writes only its own agent, reads published state */
  MUSTER_ROLE_PERCEPTION,    /* sense: as above */
  MUSTER_ROLE_ACTION         /* act: runs at the commit, by default one agent at a time, in agent order; may touch other
                                agents, as far as muster_type_def.act says */
} muster_role;

/* An indivisible step of an update. Preemption happens between atoms; keep each below the type's limit_ns. */
typedef struct muster_atom {
  muster_atom_result (*run)(muster_update *update);
  muster_role role;  /* default behaviour. Action atoms must come after all others */
  uint32_t model_ns; /* what the atom costs under the virtual clock, and the first guess under the wall clock;
                        0 (default) = 1000 */
} muster_atom;

/* The question to a type's importance model about one agent. Fixed for good: models get arrays of it. */
typedef struct muster_importance_query {
  muster_agent agent;
  muster_position position;
  bool observed;                     /* an observer gives it importance; else observer_position is unset */
  muster_position observer_position; /* of the observer that gives most, as of its last step worth noticing */
  float distance_m;                  /* to that observer; infinite when there is none */
  float importance;                  /* as computed by Muster, before importance_floor; 0..1 */
  void *agent_user;                  /* the agent's user */
} muster_importance_query;

/* The question to a cost model: the virtual cost of one atom of one update. */
typedef struct muster_cost_query {
  muster_agent agent;
  uint32_t atom; /* index into the type's atoms */
  uint32_t level;
  uint64_t elapsed_ns;
  uint64_t random;        /* a random number of this atom of this update */
  uint64_t update_random; /* a random number that all atoms of this update share, even when it is preempted */
  uint32_t steps;         /* with bounded steps: the update's number of steps */
  uint64_t catch_up_ns;   /* with analytic catch-up: the time that the callback brings the agent forward by before the
                             first atom. The model adds the callback's cost to that atom; 0 = it is not called, or this
                             is another atom */
} muster_cost_query;

/* How an update learns of the time that passed since its agent's last completed one, so that throttling does not change
 * what happens per hour. The result is right under each contract; they differ in which code does the work.
 *
 * An update that is told more time may cost more: there is more to integrate, a longer way to search. With the delta
 * contract that is a danger under overload: later updates cost more, so all updates come later still. Bounded steps
 * avoid it: an update never costs more than steps_max steps, and the steps owed beyond that are worked off when the
 * load falls. */
typedef enum muster_elapsed {
  MUSTER_ELAPSED_DELTA = 0, /* all of it, in one elapsed_ns */
  MUSTER_ELAPSED_STEPS,     /* whole steps of step_ns, steps_max of them at most: for rules that want a fixed step. The
                               agent is brought forward by steps x step_ns exactly. A remaining part of a step, and
                               steps beyond steps_max, are told to later updates and never lost. An agent's period does
                               not release it before a whole step is due; an agent that is woken earlier may be told 0
                               steps. Steps pile up only when not even the longest periods fit the budget, or frames are
                               further apart than period_max_ns: see muster_statistics.steps_behind_max */
  MUSTER_ELAPSED_ANALYTIC,  /* step_ns at most. All time before that is told to the callback catch_up first, which must
                               compute the agent's state in closed form, at a cost that does not grow with the time */
  MUSTER_ELAPSED_EVENTS     /* all of it, as with delta; but the agent has no period: it runs when it is woken, and at
                               times that were asked for (muster_agent_wake_at). The first time is asked for by
                               on_spawned, or by the code that spawns it */
} muster_elapsed;

#define MUSTER_LEVELS    4u
#define MUSTER_ATOMS_MAX 4096u

/* How the action sets (and action atoms) of a type run at the commit. */
typedef enum muster_act {
  MUSTER_ACT_SERIAL = 0, /* one agent at a time, in agent order: an action may touch any agent, and what the host
                            keeps for such actions */
  MUSTER_ACT_REGION,     /* regions of the ground in parallel, the agents of one region one at a time in agent order: an
                            action may touch agents in the same region (muster_update_region), and what the host keeps
                            for that region. The same seed gives the same world */
  MUSTER_ACT_PARALLEL    /* all in parallel, in any order: actions may touch only data that allows that. As far as they
                            touch each other, the same seed need not give the same world; calls into Muster keep that
                            promise */
} muster_act;

/* A set of atoms: muster/sets.h. */
typedef struct muster_set_def muster_set_def;

/* The groups of fields of muster_type_def. `reserved` is room for fields of later versions, and must be 0. */

/* Capability levels: 0 is full decision-making, and each further one is cheaper. */
typedef struct muster_type_levels {
  uint32_t count;                      /* levels that the atoms know; default 1; 1..MUSTER_LEVELS */
  float importance[MUSTER_LEVELS - 1]; /* an agent of less importance than [k] is at level k + 1 or cheaper;
                                          decreasing; default 0.5, 0.25, 0.1 */
  uint32_t reserved[2];
} muster_type_levels;

/* What its agents receive and send. */
typedef struct muster_type_messages {
  uint32_t waiting_max; /* at most this many messages wait for an agent's next update; default 0 = it has no box; at
                           most 1024. Room for twice as many is reserved for each of agents_max */
  uint32_t bytes_max;   /* longest message that its box takes; default 0 = only empty messages, as signals; at most
                           MUSTER_MESSAGE_BYTES_MAX */
  uint32_t sends_max;   /* how many messages one update may send (see muster_update_send); default 0; at most 1024 */
  bool wake;            /* a delivered message wakes its receiver, once per frame; a receiver whose update is under way
                           is woken when that is complete; default false */
  uint32_t reserved[2];
} muster_type_messages;

/* What updates are told of the time that passed. */
typedef struct muster_type_elapsed {
  muster_elapsed contract; /* default delta */
  uint32_t steps_max;      /* steps: the most that one update is told, 1 .. 65536. steps_max x step_ns must be at least
                              period_max_ns, or all agents would fall behind, and at least period_ns + step_ns, or no
                              agent could catch up. Default 0, which the other contracts require */
  uint32_t reserved[4];
  uint64_t step_ns; /* steps: the step, 1 .. period_ns. Analytic: the most that atoms are told, 1 ns .. 24 h.
                       Default 0, which the other contracts require */
  void (*catch_up)(muster_update *update); /* analytic: called right before the first atom, as a part of it, when more
                              than step_ns passed: elapsed_ns and now_ns are those of the time before the last step_ns.
                              May do what a behaviour atom may. Default null, which the other contracts require */
} muster_type_elapsed;

/* Models of its own. */
typedef struct muster_type_models {
  uint64_t (*cost_ns)(const muster_cost_query *query, void *user); /* virtual cost of an atom, at most 1 s; must be
                              pure; default null = the atom's model_ns */
  void (*importance)(const muster_importance_query *queries, float *importances, uint32_t count,
                     void *user); /* the type's own model of importance: overwrites Muster's value in `importances` with
                              0..1 for each of `count` (at most 64) agents of the type. Called when an agent is new, was
                              tuned or moved, or an observer near it moved. On any worker, several calls at a time: must
                              be pure. NaN counts as 0, values outside 0..1 are clamped, and both are counted in
                              importances_refused. Default null */
  uint64_t reserved[4];
} muster_type_models;

/* In a world with planner_workers, without atoms (muster/planner.h). */
typedef struct muster_type_parts {
  uint32_t count;   /* equal parts into which the host can cut an update; default 1; 1..MUSTER_ATOMS_MAX */
  uint32_t part_ns; /* what a part costs under the virtual clock, and as the first guess; default 1000; 1 .. 1e9 */
  uint32_t reserved[2];
} muster_type_parts;

/* What becomes of agents whose atoms take longer than limit_ns: muster/overruns.h says what is counted. */
typedef struct muster_type_overruns {
  uint32_t demote;     /* an overrun count of this brings an agent down one capability level; default 3; 0 = never; at
                          most 10,000 */
  uint32_t quarantine; /* at its cheapest level, an overrun count of this brings it into quarantine, where it is not run
                          any more; default 0 = never; at most 10,000 */
  uint32_t reserved[2];
} muster_type_overruns;

/* Sets of atoms, instead of atoms: see muster/sets.h. */
typedef struct muster_type_sets {
  const muster_set_def *list; /* copied. At least one atom in all; the elapsed contract is delta or events. In planner
                                 worlds sets have no atoms: see muster/planner.h. Default null */
  uint32_t count;             /* 0..MUSTER_SETS_MAX */
  uint32_t order;             /* of the sets of one role, a muster_set_order; default by share */
  uint64_t slice_ns;          /* the most time that one update uses of a frame; default 0 = no bound; 1 us .. 1 s */
  uint32_t share;             /* an update's share of the frame: of the time that is left on all workers, share / sum of
                                 the shares of all ready agents of types that have one; 1..100. Default 0 = none: an
                                 update may use what is left of the frame */
  uint32_t reserved[3];
} muster_type_sets;

/* Updates that can be cut inside an atom, in a type without sets. An atom that takes long asks
 * muster_update_should_yield() (muster/sets.h) now and then; when that is true it notes how far it got and returns
 * MUSTER_ATOM_MORE. The update is preempted there: it goes on with the same atom in a later frame, as an update that
 * was stopped between two atoms does, and keeps its messages. The first atom of the list cannot be cut: its
 * MUSTER_ATOM_MORE goes on with the next. */
typedef struct muster_type_slices {
  uint64_t slice_ns; /* the most time that one update uses of a frame, from its first question on; default 0 = no atom
                        is told to yield, and MUSTER_ATOM_MORE goes on with the next; 1 us .. 1 s */
  uint32_t asks; /* n: under the virtual clock, the n-th question of one call of an atom is answered yes; default 16;
                    1 .. 1,000,000 */
  uint32_t reserved[3];
} muster_type_slices;

#define MUSTER_STRANDS_MAX 256u

/* Updates that must not run at the same time, because they share something that has no lock: agents on one strand are
 * updated one at a time, in the order of the batch, and idle workers run other strands. Strands belong to the world:
 * the n-th strand of all types is the same. Agents that are woken while a frame runs wait for the next intake. The
 * callbacks on_spawned and on_removed, and action atoms, run on the frame's thread while no strand runs. The order of
 * updates on a strand is the same for any number of workers. */
typedef struct muster_type_strands {
  uint32_t count; /* default 0 = its updates run beside any others; 1 .. MUSTER_STRANDS_MAX. Actions are serial then */
  uint32_t reserved[3];
  uint32_t (*of)(muster_agent agent, const void *state, void *user); /* the strand of an agent, modulo count. Must be
                              pure: its state is as of the last commit, and the answer must never change. Default null =
                              its index / 64 */
} muster_type_strands;

typedef struct muster_type_def {
  uint32_t size;
  uint32_t atom_count;                       /* 1..MUSTER_ATOMS_MAX; with sets 0 */
  const char *name;                          /* for reports; copied; at most 31 bytes are kept; default "agent" */
  const muster_atom *atoms;                  /* in order of execution; copied; at least one, except in planner worlds */
  void *user;                                /* handed to every callback of the type; what it points at may be filled
                                                until the next frame begins, with the ids of later types for example */
  void (*on_spawned)(muster_update *update); /* the first callback for an agent, at intake, on the frame's thread: fills
                               state and published; elapsed_ns is 0; default null */
  void (*on_removed)(muster_update *update); /* the last callback, at intake, on the frame's thread; default null */
  uint32_t state_bytes;     /* private flat state of each agent, owned and zeroed by Muster, aligned to 8; default 0; at
                               most 64 KiB */
  uint32_t published_bytes; /* public flat state that other agents may read as of the last commit, aligned to 8; default
                               0; at most 4 KiB */
  uint64_t period_ns;     /* nominal = shortest period; default 100 ms; 100 us .. 24 h. An agent's first update comes a
                             random part of its period after its intake, or when it is woken */
  uint64_t period_max_ns; /* longest period under load; default 1 s; period_ns .. 24 h. Under
                             MUSTER_ELASTIC_IMPORTANCE a wish, which stretches under heavy load (period_max_hard) */
  bool period_max_hard;   /* period_max_ns is a bound also where MUSTER_ELASTIC_IMPORTANCE would stretch it, as far as
                             half of the capacity is enough for all such types and for exempt agents; default
                             false */
  muster_act act;         /* how actions run at the commit; default serial */
  uint64_t limit_ns;      /* the longest that one atom may take; for longer ones see muster/overruns.h; default 500 us;
                             1 us .. 1 s */
  uint64_t wake_gap_ns;   /* least simulation time between the beginnings of two runs that wakes cause (by calls or by
                             messages; times asked for are not concerned). A wake within the gap waits until it has
                             passed, unless the agent runs before then anyway; default 0 = no gap; at most 24 h */
  float elasticity;    /* how readily the period gives way, relative to other types; default 1; 0 = never; at most 1024
                        */
  float importance;    /* of the type: its agents' importance is multiplied by it; default 1; 0..1 */
  uint32_t spawns_max; /* how many agents one update may spawn at most (see muster_update_spawn); default 0; at most
                          1024. Ids are set aside for that many before the frame runs, which keeps them reproducible */
  muster_type_levels levels;
  muster_type_messages messages;
  muster_type_elapsed elapsed;
  muster_type_models models;
  muster_type_parts parts;
  muster_type_overruns overruns;
  muster_type_sets sets;
  muster_type_slices slices;
  muster_type_strands strands;
} muster_type_def;

MUSTER_DEFAULTS(muster_type_def);

#ifdef __cplusplus
}
#endif

#endif
