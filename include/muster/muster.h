/* muster/muster.h - the embedding API: run every NPC of a world as often as it matters, on all cores, inside a
 * CPU budget per frame.
 *
 * A host creates a pool (muster/jobs.h) and a world, registers agent types, spawns agents, places observers, and
 * calls muster_frame_run() once per frame of its own loop. Muster decides who runs in that frame and calls the
 * atoms of the agents' types on the pool's workers until the budget is spent.
 *
 *     world -> agent types -> agents           who exists
 *     observers -> importance -> elasticity    who matters
 *     budget -> pressure -> periods            how often each one runs
 *
 * Which thread may call what:
 *     any thread, any time      spawn, remove, move, wake, tune, send, observer calls; queued, applied at the next
 *                               frame
 *     inside an atom            muster_update_...() of muster/update.h, with the update that the atom was given
 *     the thread of the frames, everything else: register, frame_run, reports, reading agents
 *     between two frames
 */
#ifndef MUSTER_MUSTER_H
#define MUSTER_MUSTER_H

#include <muster/bulk.h>
#include <muster/common.h>
#include <muster/jobs.h>
#include <muster/update.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ----------------------------------------------------------------------------------------------------- agent types */

typedef enum muster_role {
  MUSTER_ROLE_BEHAVIOUR = 0, /* think: runs in parallel; writes only its own agent, reads published state */
  MUSTER_ROLE_PERCEPTION,    /* sense: as above */
  MUSTER_ROLE_ACTION         /* act: runs at the commit, one agent at a time, in agent order; may touch others */
} muster_role;

/* An indivisible step of an update. Preemption happens between atoms; keep each below the type's limit_ns. */
typedef struct muster_atom {
  muster_atom_result (*run)(muster_update *update);
  muster_role role;  /* default behaviour. Action atoms must come after all others */
  uint32_t model_ns; /* what the atom costs under the virtual clock, and the first guess under the wall clock;
                        0 (default) = 1000 */
} muster_atom;

/* What a cost model is asked: the virtual cost of one atom of one update. */
typedef struct muster_cost_query {
  muster_agent agent;
  uint32_t atom; /* index into the type's atoms */
  uint32_t level;
  uint64_t elapsed_ns;
  uint64_t random;        /* a random number of this atom of this update */
  uint64_t update_random; /* a random number that all atoms of this update share, even when it is preempted */
} muster_cost_query;

#define MUSTER_LEVELS    4u
#define MUSTER_ATOMS_MAX 4096u

typedef struct muster_type_def {
  uint32_t size;
  const char *name;         /* for reports; copied; at most 31 bytes are kept; default "agent" */
  const muster_atom *atoms; /* in order of execution; copied; at least one */
  uint32_t atom_count;      /* 1..MUSTER_ATOMS_MAX */
  uint32_t state_bytes; /* private flat state of each agent, owned and zeroed by Muster; default 0; at most 64 KiB */
  uint32_t published_bytes; /* public flat state that others may read as of the last commit; default 0; at most 4 KiB */
  uint64_t period_ns;       /* nominal = shortest period; default 100 ms; 100 us .. 24 h */
  uint64_t period_max_ns;   /* longest period under load; default 1 s; period_ns .. 24 h */
  uint64_t limit_ns;        /* what one atom may take; default 500 us; 1 us .. 1 s */
  float elasticity;         /* how readily the period gives way, against other types; default 1; 0 = never;
                               at most 1024 */
  uint32_t level_count;     /* capability levels that the atoms know; default 1; 1..MUSTER_LEVELS */
  float level_importance[MUSTER_LEVELS - 1]; /* below [k] importance an agent is at level k + 1 or cheaper;
                               decreasing; default 0.5, 0.25, 0.1 */
  uint32_t spawns_max; /* how many agents one update may spawn at most (see muster_update_spawn); default 0; at most
                          1024. Ids are set aside for that many before the frame runs, which keeps them reproducible */
  void *user;          /* handed to every callback of the type */
  void (*on_spawned)(muster_update *update); /* first touch, at intake, on the frame's thread: fill state and
                               published; elapsed_ns is 0; default null */
  void (*on_removed)(muster_update *update); /* last touch, at intake, on the frame's thread; default null */
  uint64_t (*model_cost_ns)(const muster_cost_query *query, void *user); /* virtual cost of an atom, at most 1 s;
                               must be pure; default null = the atom's model_ns */
  uint32_t messages_max;  /* how many messages wait for an agent's next update at most; default 0 = it has no box; at
                             most 1024. Room for twice as many is reserved for each of agents_max */
  uint32_t message_bytes; /* longest message that its box takes; default 0 = empty ones, as signals; at most
                             MUSTER_MESSAGE_BYTES_MAX */
  uint32_t sends_max;     /* how many messages one update may send (see muster_update_send); default 0; at most 1024 */
  bool wake_on_message;   /* a delivered message wakes its receiver, once per frame; one whose update is under way, when
                             that is complete; default false */
  float importance;       /* of the type: its agents' importance is multiplied by it; default 1; 0..1 */
  void (*model_importance)(const muster_importance_query *queries, float *importances, uint32_t count,
                           void *user); /* its own idea of importance: writes 0..1 for each of `count` (at most 64)
                             agents of the type, where Muster's stands already. Asked when an agent is new or tuned,
                             moved, or an observer near it did. On any worker, several at a time: must be pure. What is
                             not a number counts as 0, what leaves 0..1 is clamped, and both are counted in
                             importances_refused. Default null */
} muster_type_def;

static inline muster_type_def muster_default_type_def(void) {
  muster_type_def def = {0};
  def.size = (uint32_t)sizeof def;
  def.name = "agent";
  def.period_ns = 100000000u;
  def.period_max_ns = 1000000000u;
  def.limit_ns = 500000u;
  def.elasticity = 1.0f;
  def.level_count = 1;
  def.level_importance[0] = 0.5f;
  def.level_importance[1] = 0.25f;
  def.level_importance[2] = 0.1f;
  def.importance = 1.0f;
  return def;
}

/* --------------------------------------------------------------------------------------------------------- worlds */

/* Who runs first when not all released agents fit. */
typedef enum muster_order {
  MUSTER_ORDER_PRIORITY = 0, /* Rankin, Acton & Katchabaw: weighted importance, time waited, runs and progress, with
                                uncapped ageing */
  MUSTER_ORDER_DELAYS        /* Tan & Wong, fig. 3: number of delays descending, then elapsed time descending. Under the
                                virtual clock the update that crosses the deadline is started, as there */
} muster_order;

/* How periods give way under pressure. Each rule has one number, found so that what everyone costs fits the budget;
 * all keep T_io <= T_i <= T_imax, and with elasticity 0 a period never gives way. C_i is the cost of an update and e_i
 * the elasticity: the type's, times 2^(3 - 6 i) for importance i (8 at none, 1 at a half, 1/8 at full importance),
 * unless it was set for the agent. */
typedef enum muster_elastic {
  MUSTER_ELASTIC_RATE = 0,    /* E_i = C_i e_i in the elastic task model: updates per second fall by an amount
                                 proportional to e_i, whatever they cost */
  MUSTER_ELASTIC_UTILISATION, /* E_i = e_i in it: Tan & Wong as published; the CPU that an agent takes falls by an
                                 amount proportional to e_i */
  MUSTER_ELASTIC_SQUARE_ROOT  /* T_i proportional to sqrt(C_i e_i): the least staleness for the CPU, when each agent's
                                 staleness weighs 1/e_i. At full importance it weighs 64 times as much as at none, and
                                 the period is an eighth at the same cost where no bound holds. So everyone gives way
                                 a little, where the other rules spare the important until the rest has no more to
                                 give */
} muster_elastic;

typedef enum muster_clock {
  MUSTER_CLOCK_WALL = 0, /* budgets are wall time, costs are measured */
  MUSTER_CLOCK_VIRTUAL   /* costs come from the types' cost models and the coordinator decides who runs: the same
                            inputs give the same world, bit for bit, on any number of workers */
} muster_clock;

typedef struct muster_world_def {
  uint32_t size;
  muster_pool *pool;          /* shared, not owned; null (default) = the calling thread alone */
  uint32_t agents_max;        /* default 65536; 1 .. 16,000,000 */
  uint32_t types_max;         /* default 64; 1 .. 1024 */
  uint32_t observers_max;     /* default 1024; 1 .. 65,536 */
  uint32_t commands_max;      /* commands (other than spawns) that can wait for the next frame; default 16384;
                                 16 .. 2^24 */
  uint64_t seed;              /* of everything random; default 1 */
  muster_clock clock;         /* default wall */
  uint64_t capacity_ns;       /* virtual clock only: work per frame; 0 (default) = the frame's budget */
  muster_order order;         /* default priority */
  muster_elastic elastic;     /* default rate */
  float weight_importance;    /* epsilon in Rankin's priority; default 1; 0..1 */
  float weight_wait;          /* zeta; default 1; 0..1; 0 counts as 1e-6 */
  float weight_runs;          /* eta; default 1; 0..1 */
  float weight_progress;      /* theta; default 1; 0..1 */
  uint64_t guarantee_ns;      /* S: scale of ageing; who has waited longer leads, first in first out; default 500 ms;
                                 1 ms .. 1 h */
  uint32_t updates_per_frame; /* x: at most so many updates in a frame; 0 (default) = as many as the budget holds */
  float cell_m;               /* edge of a cell of the neighbour grid; default 32; 0.5 .. 10,000. About the usual
                                 radius of muster_update_nearby */
  bool audit;                 /* read thread CPU clocks to measure the promise; costs about 0.4 us per claim */
  muster_allocator allocator; /* default: the operating system */
  muster_log_sink log;        /* default: warnings and errors to standard error */
  uint32_t sends_per_frame;   /* places set aside for what the updates of a frame may send: sends_max for each of them;
                                 default 65536; 1 .. 2^24. Reserved with the first type that sends or has boxes */
} muster_world_def;

static inline muster_world_def muster_default_world_def(void) {
  muster_world_def def = {0};
  def.size = (uint32_t)sizeof def;
  def.agents_max = 65536;
  def.types_max = 64;
  def.observers_max = 1024;
  def.commands_max = 16384;
  def.seed = 1;
  def.weight_importance = 1.0f;
  def.weight_wait = 1.0f;
  def.weight_runs = 1.0f;
  def.weight_progress = 1.0f;
  def.guarantee_ns = 500000000u;
  def.cell_m = 32.0f;
  def.sends_per_frame = 65536;
  return def;
}

/* Creates a world. Returns null with a message when a field is out of range, the definition is not initialised or
 * memory is refused. The caller owns the world. Reserves address space for the maxima; memory is used as agents come
 * to be. Any thread. */
MUSTER_API muster_world *muster_world_create(const muster_world_def *def);

/* Removes every agent (on_removed is called for each) and frees the world; null is a no-op. Not inside a frame, and
 * no other thread may use the world any more. */
MUSTER_API void muster_world_destroy(muster_world *world);

/* Registers an agent type. Returns the null type with a message when a field is out of range or types_max is
 * reached. Thread of the frames, between frames. */
MUSTER_API muster_type muster_type_register(muster_world *world, const muster_type_def *def);

/* The name of a type, or null for a type that is not registered. Any thread after the registration. */
MUSTER_API const char *muster_type_name(const muster_world *world, muster_type type);

/* --------------------------------------------------------------------------------------------------------- agents */

struct muster_agent_def {
  uint32_t size;
  muster_type type;         /* required */
  muster_position position; /* default the origin */
  uint32_t partition;       /* agents and observers of different partitions never meet; default 0; 0 .. 65535 */
  float importance_floor;   /* the designer's word: importance never falls below; default 0; 0..1 */
  float elasticity;         /* default -1 = the type's, lowered by importance; 0 = the period never gives way (exempt);
                               otherwise taken as it is, up to 1024 */
  const void *state;        /* copied; the type's state_bytes; null (default) = zero */
  const void *published;    /* copied; the type's published_bytes; null (default) = zero */
  void *user;               /* handed to every atom; the host's own; default null */
  float visibility;         /* these three lower the importance that observers give, each by multiplying it: how well */
  float bulk;               /* the agent can be seen, how large it is, and how much it has to do with players; */
  float interactivity;      /* default 1; 0..1; kept in 255ths */
};

static inline muster_agent_def muster_default_agent_def(void) {
  muster_agent_def def = {0};
  def.size = (uint32_t)sizeof def;
  def.elasticity = -1.0f;
  def.visibility = 1.0f;
  def.bulk = 1.0f;
  def.interactivity = 1.0f;
  return def;
}

/* Queues a new agent. The id is valid at once; the agent becomes active at one of the next intakes (large spawns are
 * spread over frames; muster_frame_report.spawns_waiting tells). Null with a message when a field is out of range,
 * the type is unknown or agents_max is reached. Inside an atom use muster_update_spawn. Any thread. O(1). */
MUSTER_API muster_agent muster_agent_spawn(muster_world *world, const muster_agent_def *def);

/* Queues removal. on_removed is the last touch; an update that runs now finishes, none is started after the intake that
 * takes the command: the next, unless more commands wait than fit an eighth of the budget
 * (muster_frame_report.commands_waiting). MUSTER_E_STALE when the id is gone, MUSTER_E_FULL when commands_max commands
 * wait. Any thread. */
MUSTER_API muster_result muster_agent_remove(muster_world *world, muster_agent agent);

/* Queues a new position, over that which the agent itself may choose in the meantime. MUSTER_E_ARGUMENT when a
 * coordinate is not finite or out of range. Any thread. */
MUSTER_API muster_result muster_agent_move(muster_world *world, muster_agent agent, muster_position position);

/* Something happened to an agent: it runs whatever its period, ahead of the ranked. While a frame runs on the wall
 * clock, a worker takes it between two atoms (unless its type spawns); else it is released at the next intake. Wakes
 * before a run are one; a wake that may have come too late for the run of this frame is followed by one in the next.
 * MUSTER_E_STALE when the id is gone, MUSTER_E_FULL when commands_max wakes wait. Any thread. */
MUSTER_API muster_result muster_agent_wake(muster_world *world, muster_agent agent);

/* Queues a message of `size` bytes, copied, for an agent's box; its sender is null. Delivered at the next intake after
 * the commands, in the order queued and before anything that agents send in that frame. Dropped and counted when the
 * agent is gone by then, or its box is full, missing or of fewer message_bytes. A muster_agent_wake() may be answered
 * before that: what shall run because of a message has wake_on_message. MUSTER_E_STALE when the id is gone;
 * MUSTER_E_ARGUMENT above MUSTER_MESSAGE_BYTES_MAX, and in a world none of whose types has boxes; MUSTER_E_FULL when
 * commands_max messages wait. Inside an atom use muster_update_send. Any thread. */
MUSTER_API muster_result muster_agent_send(muster_world *world, muster_agent agent, const void *bytes, uint32_t size);

/* New values for the designer's fields of an agent; negative = leave as it is. */
typedef struct muster_agent_tuning {
  uint32_t size;
  float importance_floor; /* 0..1 */
  float elasticity;       /* 0 = exempt, up to 1024 */
  bool derive_elasticity; /* true: go back to the type's elasticity lowered by importance */
  float visibility;       /* 0..1, as in muster_agent_def; all at once: muster_agents_set_factor() */
  float bulk;             /* 0..1 */
  float interactivity;    /* 0..1 */
} muster_agent_tuning;

static inline muster_agent_tuning muster_default_agent_tuning(void) {
  muster_agent_tuning tuning = {0};
  tuning.size = (uint32_t)sizeof tuning;
  tuning.importance_floor = -1.0f;
  tuning.elasticity = -1.0f;
  tuning.visibility = -1.0f;
  tuning.bulk = -1.0f;
  tuning.interactivity = -1.0f;
  return tuning;
}

/* Queues new values. Any thread. */
MUSTER_API muster_result muster_agent_tune(muster_world *world, muster_agent agent, const muster_agent_tuning *tuning);

/* Whether the id names an agent that is spawned (active or still queued) and not removed. Any thread. */
MUSTER_API bool muster_agent_exists(const muster_world *world, muster_agent agent);

typedef struct muster_agent_info {
  uint32_t size;
  bool active; /* false: spawned, waiting for its intake */
  muster_type type;
  uint32_t partition;
  muster_position position;
  float importance; /* 0..1 */
  float elasticity; /* in force, derived or set; quantised to an eighth of an octave */
  uint32_t level;
  uint64_t period_ns;      /* under the pressure of the last frame */
  uint64_t last_update_ns; /* simulation time that its last completed update brought it to */
  uint32_t delays;         /* frames in which it was released but not run, modulo 256 */
  uint32_t atoms_done;     /* of an update that was preempted */
  uint64_t expected_cost_ns;
  void *user;
  const void *published; /* as of the last commit; valid until the next frame */
  void *state;           /* valid until the next frame; the host may write it */
  uint32_t messages;     /* in its box */
} muster_agent_info;

static inline muster_agent_info muster_default_agent_info(void) {
  muster_agent_info info = {0};
  info.size = (uint32_t)sizeof info;
  return info;
}

/* Reads an agent. MUSTER_E_STALE when the id is gone. Thread of the frames, between frames. */
MUSTER_API muster_result muster_agent_read(const muster_world *world, muster_agent agent, muster_agent_info *info);

/* The active agent after this one in agent order, the first after null; null at the end. Thread of the frames,
 * between frames. */
MUSTER_API muster_agent muster_agent_next(const muster_world *world, muster_agent agent);

/* ------------------------------------------------------------------------------------------------------ observers */

typedef struct muster_observer_def {
  uint32_t size;
  muster_position position; /* default the origin */
  uint32_t partition;       /* default 0; 0 .. 65535 */
  float near_m;             /* within this distance an agent has importance 1; default 25; >= 0 */
  float far_m;              /* from this distance on it has none of this observer; default 250; > near_m */
} muster_observer_def;

static inline muster_observer_def muster_default_observer_def(void) {
  muster_observer_def def = {0};
  def.size = (uint32_t)sizeof def;
  def.near_m = 25.0f;
  def.far_m = 250.0f;
  return def;
}

/* An observer is a player or a camera: what makes agents near it important. An agent's importance is the maximum
 * over the observers of its partition. Queued as the agent calls are. Any thread. */
MUSTER_API muster_observer muster_observer_add(muster_world *world, const muster_observer_def *def);
MUSTER_API muster_result muster_observer_move(muster_world *world, muster_observer observer, muster_position position);
MUSTER_API muster_result muster_observer_remove(muster_world *world, muster_observer observer);

/* --------------------------------------------------------------------------------------------------------- frames */

/* One frame. This struct is fixed for good: it has no size field. */
typedef struct muster_frame {
  uint64_t sim_now_ns; /* simulation time; never less than in the frame before */
  uint64_t budget_ns;  /* wall time for the whole call, commit included; 10 us .. 10 s */
} muster_frame;

/* Runs one frame: intake, score, fold, fit, release, rank, run, commit. The calling thread is one of the workers and
 * the call returns when the frame is committed. Errors change nothing: MUSTER_E_TIME when time goes backwards,
 * MUSTER_E_ARGUMENT for a budget out of range, MUSTER_E_STATE inside another frame of the same world. One thread at a
 * time per world; frames of different worlds may run at the same time on one pool. */
MUSTER_API muster_result muster_frame_run(muster_world *world, const muster_frame *frame);

typedef enum muster_stage {
  MUSTER_STAGE_INTAKE = 0,
  MUSTER_STAGE_SCORE,
  MUSTER_STAGE_FOLD,
  MUSTER_STAGE_FIT,
  MUSTER_STAGE_RELEASE,
  MUSTER_STAGE_RANK,
  MUSTER_STAGE_RUN,
  MUSTER_STAGE_COMMIT,
  MUSTER_STAGES
} muster_stage;

/* What happened in the last frame. Under the virtual clock wall times are virtual and overheads zero. */
typedef struct muster_frame_report {
  uint32_t size;
  uint64_t frame; /* counted from 1 */
  uint64_t sim_now_ns;
  uint64_t frame_period_ns; /* T_f: simulation time since the frame before */
  uint64_t budget_ns;
  uint64_t wall_ns; /* of the call */
  uint64_t stage_ns[MUSTER_STAGES];
  uint64_t overrun_wall_ns;  /* past the budget; the kernel's doing included */
  uint64_t overrun_own_ns;   /* the promise: thread CPU spent after the deadline; with audit, else 0 */
  uint64_t longest_claim_ns; /* with audit: own time of the longest claim (virtual: of the longest update); else 0 */
  uint64_t used_cpu_ns;      /* with audit: thread CPU of all workers spent on the frame */
  uint64_t given_cpu_ns;     /* with audit: workers x budget less what the kernel took from running workers */
  uint64_t update_cpu_ns;    /* time inside claims, all workers */
  uint64_t overhead_ns;      /* all workers' time in the frame that was not spent inside atoms and not idle */
  uint32_t agents;           /* active */
  uint32_t spawns_waiting;   /* queued, not yet active */
  uint32_t released;         /* due for the first time in this frame */
  uint32_t completed;
  uint32_t carried;         /* due but not started; they keep their age */
  uint32_t preempted;       /* stopped between two atoms; they continue */
  uint32_t actions_waiting; /* action atoms that found no time and lead the next commit */
  uint32_t woken;
  uint64_t longest_wait_ns;  /* the longest time from release to start among agents started or waiting now */
  float utilisation_desired; /* U_d = workers x budget / T_f */
  float utilisation_nominal; /* what everything at its shortest period would take */
  float utilisation_fitted;  /* what the fitted periods should take */
  float pressure;            /* 0 = all at wanted periods, 1 = all at their longest, above 1 = even that does not fit */
  double period_deviation_ns;     /* mean of T_i - T_io over active agents, as fitted */
  uint32_t levels[MUSTER_LEVELS]; /* active agents per capability level */
  uint32_t commands_waiting;      /* queued by other threads, left to the next intakes */
  uint32_t scored;                /* agents whose importance was looked at by the score stage */
  uint32_t score_cells;           /* cells of the ground in which observers changed something for them */
  uint32_t score_waiting;         /* observers, cells and agents that the stage left to the next frames: a limit on
                                     its work was reached */
} muster_frame_report;

static inline muster_frame_report muster_default_frame_report(void) {
  muster_frame_report report = {0};
  report.size = (uint32_t)sizeof report;
  return report;
}

/* Copies the report of the last frame; zeros before the first. Thread of the frames, between frames. */
MUSTER_API muster_result muster_frame_report_read(const muster_world *world, muster_frame_report *report);

#define MUSTER_DECILES 10u

typedef struct muster_quantiles {
  uint64_t p50_ns, p99_ns, max_ns; /* p50 and p99 to within 3 percent, max exact */
} muster_quantiles;

/* Sums since the world was created or the statistics were cleared. */
typedef struct muster_statistics {
  uint32_t size;
  uint64_t frames;
  uint64_t released, completed, carried, preempted, woken; /* sums of the frame reports */
  uint64_t spawned, removed;
  uint64_t positions_refused;   /* moves to places that are not finite or out of range, from updates and arrays */
  uint64_t spawns_refused;      /* from inside updates: beyond spawns_max or short of ids */
  uint64_t commands_dropped;    /* from inside updates: more than fit */
  uint64_t interrupted;         /* updates that gave way to something more urgent between two atoms */
  uint64_t atoms_over_limit;    /* atoms seen to take longer than limit_ns; long updates and samples only */
  uint64_t longest_wait_ns;     /* release to start, the worst of all frames */
  double interval_deviation_ns; /* mean over completed updates of (elapsed - T_io) */
  muster_quantiles staleness[MUSTER_DECILES]; /* elapsed_ns of completed updates; [0] = the least important tenth of
                                                 the population, [9] = the most important */
  uint64_t bytes_used;                        /* all stores of the world, as far as they are in use */
  uint64_t bytes_scheduling;                  /* of these, what is not the types' own state */
  uint64_t messages_sent;                     /* delivered and dropped ones together; counted at delivery */
  uint64_t messages_delivered;                /* put into a box */
  uint64_t messages_dropped;    /* the box was full; of the host's also: the receiver gone or without a box for it */
  uint64_t messages_refused;    /* muster_update_send() answered MUSTER_E_FULL */
  uint64_t importances_refused; /* answers of model_importance that had to be clamped */
  uint64_t score_rounds; /* times that everybody's importance had to be looked at, spread over frames, because of an
                            observer that sees more than about eight times as far as most, or of a crowd of more than
                            8,192 agents in one cell */
} muster_statistics;

static inline muster_statistics muster_default_statistics(void) {
  muster_statistics statistics = {0};
  statistics.size = (uint32_t)sizeof statistics;
  return statistics;
}

/* Copies, or clears, the sums. Thread of the frames, between frames. */
MUSTER_API muster_result muster_statistics_read(const muster_world *world, muster_statistics *statistics);
MUSTER_API void muster_statistics_clear(muster_world *world);

/* Cost of a type at a level as Muster believes it now. False for a type or level that does not exist. */
typedef struct muster_type_cost {
  uint32_t size;
  uint32_t agents;  /* active at this level */
  uint64_t mean_ns; /* moving mean of an update */
  uint64_t high_ns; /* moving 95th percentile */
  uint64_t samples; /* measured so far */
} muster_type_cost;

static inline muster_type_cost muster_default_type_cost(void) {
  muster_type_cost cost = {0};
  cost.size = (uint32_t)sizeof cost;
  return cost;
}

/* Thread of the frames, between frames. */
MUSTER_API bool muster_type_cost_read(const muster_world *world, muster_type type, uint32_t level,
                                      muster_type_cost *cost);

/* A hash over every active agent in agent order: position, schedule, state, published state. Equal worlds have equal
 * hashes. O(agents). Thread of the frames, between frames. */
MUSTER_API uint64_t muster_world_hash(const muster_world *world);

#ifdef __cplusplus
}
#endif

#endif
