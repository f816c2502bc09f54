/* muster/muster.h - the embedding API: run every NPC of a world as often as it matters, on all cores, inside a
 * CPU budget per frame.
 *
 * A host creates a pool (muster/jobs.h) and a world, registers agent types, spawns agents, places observers, and
 * calls muster_frame_run() once per frame of its own loop. Muster decides which agents run in that frame and calls the
 * atoms of the agents' types on the pool's workers until the budget is spent.
 *
 *     world -> agent types -> agents           which agents exist
 *     observers -> importance -> elasticity    which agents matter
 *     budget -> pressure -> periods            how often each agent runs
 *
 * This header and the five that it includes are what a first server needs: world, type, agent, observer, frame and
 * atom. More is there for those that ask for it:
 *
 *     muster/tune.h       weights, policies, companions and reactions, while frames run
 *     muster/bulk.h       positions and factors of many agents at once
 *     muster/replicate.h  what to tell clients: who came, left, moved; who is near a place
 *     muster/sets.h       several things to do inside an agent, with periods, shares and slices of their own
 *     muster/herd.h       groups that are one agent far from observers
 *     muster/overruns.h   atoms that take too long
 *     muster/planner.h    frames for hosts that run their own code: muster_plan() and muster_plan_report()
 *     muster/explain.h, trace.h, view.h, flight.h          what happened, and why
 *     muster/record.h, snapshot.h                          a run, or a world, as bytes, and back
 *     muster/journal.h                                     a world that goes on after its process died
 *     muster/zone.h                                        a world that is part of a larger one, on several machines
 *     muster/module.h, random.h                            scenarios as modules; random numbers as pure functions
 *     muster/harness.h                                     unit tests of atoms
 *
 * Which thread may call what:
 *     any thread, any time,     spawn, remove, move, wake, tune, send, reinstate, observer calls; queued, applied at
 *     but not inside atoms      the next frame; a removed agent is gone for calls at once
 *     inside an atom            muster_update_...() of muster/update.h, with the update that the atom was given
 *     the thread of the frames, everything else: register, frame_run, reports, reading agents
 *     between two frames
 *
 * "Inside an atom" is also inside the other callbacks that are given an update: on_spawned, on_removed, catch_up. A job
 * that an atom waits for is not: it may run on any thread.
 *
 * What becomes of misuse:
 *   - A null argument is refused, except where the function says that it may be null: see muster/common.h.
 *   - A call that belongs between two frames is refused inside one, in callbacks and on other threads: MUSTER_E_STATE,
 *     or a null id or pointer, false or 0 with a message. A read on another thread at the very moment at which a frame
 *     begins is not detected, and is a data race. What saves a world (muster_world_save(), muster_world_settle(),
 *     records and journals) is refused on another thread than that of the last muster_frame_run() at any moment, until
 *     that thread has ended.
 *   - A call of a host inside an atom of the same world is refused in the same way, with the call of muster/update.h
 *     that is meant, or the advice to keep what is wanted until the frame has returned: its order would depend on
 *     threads, and the same seed would no longer give the same world.
 *   - An update is valid until its atom returns, and only on the thread that runs the atom. Otherwise it is refused in
 *     the same way. An update that is kept for a later atom on the same worker then stands for that atom's update.
 *   - A callback that is left by a C++ exception, by pthread_exit() or by a cancellation ends the process with a line
 *     that names agent, type and atom. Inside itself a callback may throw and catch.
 *   - A callback that is left by longjmp() ends the process with such a line when the next frame of its world begins,
 *     on the same thread. On a worker it is not detected: the frame never ends, and the log names the stuck agent
 *     (muster/overruns.h).
 *   - A world or a pool that is destroyed twice, inside a callback of its own or while a frame runs, and a pool that is
 *     destroyed before its worlds, end the process with a line that says so. Other calls with a destroyed world or pool
 *     are not detected, and may crash.
 */
#ifndef MUSTER_MUSTER_H
#define MUSTER_MUSTER_H

#include <muster/common.h>
#include <muster/jobs.h>
#include <muster/report.h>
#include <muster/type.h>
#include <muster/update.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --------------------------------------------------------------------------------------------------------- worlds */

/* Which agents run first when not all released agents fit. */
typedef enum muster_order {
  MUSTER_ORDER_PRIORITY = 0, /* Rankin, Acton & Katchabaw: weighted importance, time waited, runs and progress, with
                                uncapped ageing */
  MUSTER_ORDER_DELAYS,       /* Tan & Wong, fig. 3: number of delays descending, then elapsed time descending. Under the
                                virtual clock the update that crosses the deadline is started, as there */
  MUSTER_ORDER_DEADLINE      /* the earliest deadline first: a period T_i after the release, a T_i / 8 after a wake but
                                guarantee_ns / 64 at most; for a reaction its time itself. Rankin's terms move the
                                deadline by parts of the agent's own period: release + T_i (1 - (eps i + theta p - eta
                                rc) / 4 zeta). So no agent is overtaken for much longer than its own T_i, and
                                guarantee_ns only serves as the T_i of agents without a period */
} muster_order;

/* How periods give way under pressure. Each rule has one number, found so that the cost of all agents fits the budget;
 * all keep T_io <= T_i <= T_imax, and with elasticity 0 a period never gives way. C_i is the cost of an update and e_i
 * the elasticity: the type's, times 2^(3 - 6 i) for importance i (8 at none, 1 at a half, 1/8 at full importance),
 * unless it was set for the agent. */
typedef enum muster_elastic {
  MUSTER_ELASTIC_RATE = 0,    /* E_i = C_i e_i in the elastic task model: updates per second fall by an amount
                                 proportional to e_i, whatever each costs */
  MUSTER_ELASTIC_UTILISATION, /* E_i = e_i in the elastic task model: Tan & Wong as published; the CPU that an agent
                                 takes falls by an amount proportional to e_i */
  MUSTER_ELASTIC_SQUARE_ROOT, /* T_i proportional to sqrt(C_i e_i): the least staleness for the CPU, when each agent's
                                 staleness weighs 1/e_i. At full importance it weighs 64 times as much as at none, and
                                 the period is an eighth at the same cost where no bound holds. So every agent gives way
                                 a little, where the other rules spare the important agents until the rest has no more
                                 to give */
  MUSTER_ELASTIC_IMPORTANCE   /* T_i = mu sqrt(C_i e_i / w_i), w_i = 2^(importance.octaves x importance): the least
                                 staleness for the CPU, when each agent's staleness weighs w_i, at any load. T_imax is a
                                 wish: all agents at T_imax may take wish_part of the capacity. Beyond that the longest
                                 periods stretch with the load, all by the same factor; so twice the load never makes an
                                 important agent more than about twice as slow. With period_max_hard T_imax stays a
                                 bound. Hard types at T_imax and exempt agents get half of the capacity at most (or what
                                 wish_part leaves, if less); beyond that all their rates shrink by the same factor. e_i
                                 is the elasticity of the type, or that of the agent where one was set; best within 1/16
                                 .. 16 */
} muster_elastic;

/* How an agent's importance is computed, before its type's own model and its floor apply. */
typedef enum muster_importance_model {
  MUSTER_IMPORTANCE_PRODUCT = 0, /* the importance that observers give by distance, multiplied by visibility, bulk,
                                    interactivity and the type's importance */
  MUSTER_IMPORTANCE_FACTORS      /* Rankin, Acton & Katchabaw: (focus x f + designer x d + role x r + company x c) / 4,
                                    each of them 0..1. f = importance by distance times visibility, bulk and
                                    interactivity; d and r come from muster_agent_def; c: see muster_agent_link() */
} muster_importance_model;

#define MUSTER_UPDATES_DERIVED UINT32_MAX
#define MUSTER_CYCLES_MAX      16u

typedef enum muster_clock {
  MUSTER_CLOCK_WALL = 0, /* budgets are wall time, costs are measured */
  MUSTER_CLOCK_VIRTUAL   /* costs come from the types' cost models and the coordinator decides which agents run: the
                            same inputs give the same world, bit for bit, on any number of workers */
} muster_clock;

/* The groups of fields of muster_world_def. Those that muster_world_tuning has, too, can be changed while the world
 * runs (muster/tune.h). `reserved` is room for fields of later versions, and must be 0. */

/* Maxima. Address space is reserved for them when the world is created. */
typedef struct muster_limits {
  uint32_t agents_max;      /* default 65536; 1 .. 16,000,000 */
  uint32_t types_max;       /* default 64; 1 .. 1024 */
  uint32_t observers_max;   /* default 1024; 1 .. 65,536 */
  uint32_t commands_max;    /* commands (other than spawns and removals of agents) that can wait for the next frame;
                               default 16384; 16 .. 2^24 */
  uint32_t sends_per_frame; /* places set aside for the messages that the updates of a frame may send: sends_max for
                               each update; default 65536; 1 .. 2^24. The memory is reserved with the first type that
                               sends or has message boxes */
  uint32_t agents_ready;    /* memory for this many agents is committed when the world is created, and the same share of
                               the other stores' maxima; for a herd type and its member type when that is registered.
                               Without it, and for the state of all other types, memory is committed as agents are
                               spawned, and the frame that first touches a page waits for it: milliseconds for a huge
                               page where they are scarce. Default 0; 0 .. agents_max. Ignored with a host allocator */
  uint32_t changes_frames;  /* the changes of this many of the last frames are kept for muster_frame_changes() of
                               muster/replicate.h; default 0 = none; 0 .. 64. Reserves four bits for each agent of
                               agents_max, and 16 bytes for each of these frames and one more */
  uint32_t reserved[3];
} muster_limits;

/* What time is. */
typedef struct muster_clock_def {
  muster_clock kind; /* default wall */
  uint32_t reserved[3];
  uint64_t capacity_ns; /* virtual clock only: work per frame; 0 (default) = the frame's budget */
} muster_clock_def;

/* The order of agents that are due: weights of Rankin's priority (muster/tune.h). */
typedef struct muster_priority {
  float importance; /* epsilon; default 1; 0..1 */
  float wait;       /* zeta; default 1; 0..1; 0 counts as 1e-6 */
  float runs;       /* eta; default 1; 0..1 */
  float progress;   /* theta; default 1; 0..1 */
  float reduction;  /* kappa, times the agent's level in thirds: agents at a cheaper level run sooner; default 0;
                       0..1 */
  uint32_t reserved[5];
  uint64_t guarantee_ns; /* S: scale of ageing. MUSTER_ORDER_PRIORITY: an agent that has waited for longer leads, first
                            in first out. MUSTER_ORDER_DEADLINE: the T_i of agents without a period. Default 500 ms;
                            1 ms .. 1 h */
} muster_priority;

/* What importance is made of, and what it is worth. */
typedef struct muster_importance {
  float focus, designer, role, company; /* alpha, beta, gamma and delta of the factors of importance; default 1; 0..1,
                                           and not all zero. Ignored without MUSTER_IMPORTANCE_FACTORS */
  float octaves; /* k of MUSTER_ELASTIC_IMPORTANCE: how many times the weight of staleness doubles from importance 0 to
                    1. Default 12: 4096 times, periods 1 : 64 where no bound holds; 0..16 */
  float wish_part; /* under the same rule, the part of the capacity that all agents at their longest periods may take
                      before these stretch; default 0.5; 0.1 .. 0.9. A smaller value keeps important agents fresher
                      where they are many, and makes the others wait for longer: `muster bench quality` measures both */
  uint32_t reserved[4];
} muster_importance;

/* How much agents do in an update. */
typedef struct muster_levels {
  float pressure;          /* from this pressure on capability levels drop, too: those of the least important agents
                              first, those of the most important tenth last, those of exempt agents and of agents at
                              their wanted period never. Applies to types with several levels, and only while some
                              agent's period is longer than its wish. The pressure then settles between this value and
                              half of it, if levels can bring it there. Default 0.5; 0 = levels follow importance alone;
                              0.05 .. 1 */
  uint32_t cycles_max;     /* update cycles that the most important agents get in one frame; default 1;
                              1..MUSTER_CYCLES_MAX */
  float cycles_importance; /* from this importance, at which an agent gets one cycle, the number rises evenly to
                              cycles_max at importance 1. A further cycle runs all parallel atoms once more, right after
                              the first cycle, while there is time: muster_update.cycle counts the cycles, elapsed_ns is
                              0, since no time has passed, and there are no new messages. Action atoms run once. Not in
                              planner worlds. Default 0.9; 0..1 */
  uint32_t reserved[3];
} muster_levels;

/* What is kept for muster_trace_write() (muster/trace.h). */
typedef struct muster_trace_def {
  uint32_t frames; /* this many of the last frames; default 0 = none; at most 4096 */
  uint32_t spans;  /* how many claims of one worker are kept of a frame; further ones are only counted; default 2048;
                      16 .. 65,536. Room is reserved when `frames` is set */
  uint32_t reserved[2];
} muster_trace_def;

/* Which overruns of atoms are reported, and how (muster/overruns.h). */
typedef struct muster_watch {
  uint64_t stuck_ns;             /* a worker that is in one atom for this long is reported. Uses one thread, which
                                    sleeps while no frames are run; not used in planner worlds; default 500 ms; 0 =
                                    off; 10 ms .. 1 h */
  const char *reinstate_command; /* the command that the host's operators type to reinstate, as shown in the log: the
                                    agent's id (INDEX.GENERATION) or the name of the type follows. Not copied: must
                                    outlive the world. Default null: the log names muster_agent_reinstate() and
                                    muster_type_reinstate() */
  uint64_t reserved[2];
} muster_watch;

/* How the host of a planner world (planner_workers) keeps time: muster/planner.h. */
typedef struct muster_planner_def {
  bool by_clock; /* it stops by the clock, so its plans name more entries than are believed to fit
                    (muster_plan_summary.fits says how many are), and no time is left unused where updates cost less
                    than was believed. Default false */
  bool by_wall;  /* it has no clock of its threads' CPU time, so the costs that it reports have in them what the kernel
                    gave to others. What exceeds eight times the expected cost, and twice the slice, is taken to be
                    that: it is no debt of later frames, and is not believed to be a cost. Default false */
  uint8_t reserved[6];
} muster_planner_def;

/* Load that the host knows beforehand: a boss, an explosion, a save. In frames of this simulation time something else
 * takes `frame_ns` of each budget, so Muster returns so much earlier (of a budget an eighth is left at least). Periods
 * begin to stretch for it half a second before, and not when it is there. Under the virtual clock it is taken from the
 * capacity. One load is known at a time; it is changed by muster_world_tune(). */
typedef struct muster_load {
  uint64_t from_ns, until_ns; /* simulation time; default 0; at most 9e15, 104 days */
  uint64_t frame_ns;          /* default 0 = none; at most 10 s */
  uint64_t reserved[1];
} muster_load;

#define MUSTER_ZONES_MAX  16383u
#define MUSTER_EPOCHS_MAX 16383u

/* Which part of a larger world this one is: see muster/zone.h. */
typedef struct muster_zone_def {
  uint32_t number; /* default 0 = the world is no zone; 1 .. MUSTER_ZONES_MAX: no other zone of the larger world has the
                      same. A zone has at most 2^20 agents_max, and no planner_workers */
  uint32_t epoch;  /* of births (muster/zone.h): ids that are given from here on carry it. Default 0;
                      0 .. MUSTER_EPOCHS_MAX. A snapshot, or a journal, brings its own */
  double x_min, y_min, x_max, y_max; /* its rectangle of the ground, in metres, for modules (muster_zone_read): Muster
                                        itself does not look at it. Default 0; finite and within +-1e9 */
  uint32_t reserved[4];
} muster_zone_def;

typedef struct muster_world_def {
  uint32_t size;
  float cell_m;           /* edge of a cell of the neighbour grid; default 32; 0.5 .. 10,000. Best: about the usual
                             radius of muster_update_nearby */
  muster_pool *pool;      /* shared, not owned; null (default) = the calling thread alone */
  uint64_t seed;          /* of all random numbers; default 1 */
  muster_order order;     /* default deadline */
  muster_elastic elastic; /* default importance */
  muster_importance_model importance_model; /* how importance is computed; default product */
  uint32_t updates_per_frame; /* x: at most this many updates in a frame; 0 (default) = as many as the budget holds;
                                 more than there are agents = no limit. MUSTER_UPDATES_DERIVED: as many updates of mean
                                 cost as workers and budget hold, computed in each frame, at least 1
                                 (muster_frame_report.updates_max) */
  float debt_budgets;         /* an overrun is taken back from the next frames: at most a third of the budget from each
                                 frame, and this many budgets in all; default 1; 0 = never; 0..8 */
  bool audit;                 /* read thread CPU clocks to measure the promise (overrun_own_ns); costs about 0.4 us per
                                 claim, or per atom near the budget's end; default false */
  uint32_t activation_delay;  /* D: so that no frame has more to run than others, an update may be delayed by up to this
                                 many frames (Wright & Marshall's dynamic activation delay), but never to the time of
                                 the agent's next update. An update is never early: the agent's release times stay T_i
                                 apart, and each is delayed by itself. So the agent runs as often as without a delay;
                                 but two runs may be D frames closer together, or further apart, than T_i. Periods of up
                                 to 1,024 frames are planned. Where sets have periods in updates, a new agent counts
                                 their activation delays from one of its first D + 1 updates, modulo the period, so that
                                 agents that were spawned together do not all run all their sets in the same update (for
                                 types whose sets coincide again within 512 updates). Costs some 25 ns per update.
                                 Default 0 = no delay; 0 .. 64 */
  uint32_t planner_workers;   /* 0 (default) = muster_frame_run() runs the updates. 1 .. 1024: muster_plan() plans
                                 frames for a host that runs them on this many threads of its own; see muster/planner.h
                               */
  uint32_t shards;            /* parts into which the agents are cut for planning: a power of two, 1 .. 256. Default 0:
                                 near agents_max / 4096, at most 128, and at least 4 from 1,024 agents on. Under the
                                 virtual clock the result is the same whatever it is. Not saved: a snapshot can be
                                 loaded into other shards */
  muster_allocator allocator; /* default: the operating system */
  muster_log_sink log;        /* default: warnings and errors to standard error */
  muster_limits limits;
  muster_clock_def clock;
  muster_priority priority;
  muster_importance importance;
  muster_levels levels;
  muster_trace_def trace;
  muster_watch watch;
  muster_zone_def zone;
  muster_load load;
  muster_planner_def planner;
} muster_world_def;

MUSTER_DEFAULTS(muster_world_def);

/* Creates a world. Returns null with a message when a field is out of range, the definition is not initialised, the
 * pool was destroyed already or memory is refused. The caller owns the world. Reserves address space for the maxima;
 * memory is committed as agents are spawned. Any thread. */
MUSTER_API muster_world *muster_world_create(const muster_world_def *def);

/* Removes every agent (on_removed is called for each) and frees the world; null is a no-op. No other thread may use the
 * world any more. Ends the process with a line that says why when the world was destroyed already, inside one of its
 * frames (but for a plan that the host runs, which ends here), or inside a callback of a call that takes the world: the
 * caller of this function would go on as if the world were gone. Thread of the frames, between frames. */
MUSTER_API void muster_world_destroy(muster_world *world);

/* Registers an agent type. Returns the null type with a message when a field is out of range or types_max is
 * reached. Thread of the frames, between frames. */
MUSTER_API muster_type muster_type_register(muster_world *world, const muster_type_def *def);

/* The name of a type, or null for a type that is not registered. Any thread after the registration. */
MUSTER_API const char *muster_type_name(const muster_world *world, muster_type type);

/* The type of that name, the first where several types have it; the null type with a message when none has. Any thread
 * after the registration. O(types). */
MUSTER_API muster_type muster_type_find(const muster_world *world, const char *name);

/* --------------------------------------------------------------------------------------------------------- agents */

struct muster_agent_def {
  uint32_t size;
  muster_type type;         /* required */
  muster_position position; /* default the origin */
  uint32_t partition;       /* agents and observers of different partitions never meet; default 0; 0 .. 65535 */
  float importance_floor;   /* set by the designer: importance never falls below it; default 0; 0..1 */
  float elasticity;         /* default -1 = the type's, lowered by importance; 0 = the period never gives way (exempt);
                               other values are used as they are, up to 1024 */
  const void *state;        /* copied; the type's state_bytes; null (default) = zero */
  const void *published;    /* copied; the type's published_bytes; null (default) = zero */
  void *user;               /* handed to every atom; the host's own; default null */
  float visibility;         /* these three lower the importance that observers give, each by multiplying it: how well */
  float bulk;               /* the agent can be seen, how large it is, and how much it has to do with players; */
  float interactivity;      /* default 1; 0..1; kept in 255ths */
  float designer;           /* with MUSTER_IMPORTANCE_FACTORS: d, how much the agent matters to the designer; default 0;
                               0..1; kept in 254ths */
  float role;               /* and r, its role; default -1 = the type's importance; up to 1; kept in 254ths */
};

MUSTER_DEFAULTS(muster_agent_def);

/* Queues a new agent. The id is valid at once; the agent becomes active at one of the next intakes (large spawns are
 * spread over frames; muster_frame_report.spawns_waiting tells). Null with a message when a field is out of range,
 * the type is unknown or agents_max is reached. Inside an atom use muster_update_spawn. Any thread, but not inside
 * atoms. O(1). */
MUSTER_API muster_agent muster_agent_spawn(muster_world *world, const muster_agent_def *def);

/* Removes an agent, which is gone from the return of this call on: muster_agent_exists() is false, calls of the host
 * with its id are stale, and no update of it is started.
 *
 *   - Between two frames: no atom and no plan reads its user pointer again. What only they read may be freed now.
 *   - While a frame runs: an update that a worker has taken finishes, and what it asked for takes effect. Free what it
 *     may read in on_removed. A worker that starts an update looks at removals first; under the virtual clock they
 *     count from the end of the frame instead, so that runs are alike whatever threads do.
 *   - While a plan of a planner world is open: its entries are the host's, which may run one or leave it. A result for
 *     it is accepted. On the wall clock its cost counts and the rest is dropped.
 *
 * The next intake calls on_removed, the last callback for the agent, and closes the id; until then the agent takes its
 * place of agents_max, other agents see it, and reports count it. That intake takes all removals, in order of agents,
 * some tenths of a microsecond each: a frame after tens of thousands of them may be late. An agent that was still
 * queued is never active, and no callback hears of it. The name_user of a record or a snapshot may be asked about its
 * user pointer until then. A leaf of a herd takes the members with it that it stands for; agents of herds' blocks stay
 * (use muster_herd_remove()), and exist again after the next intake.
 *
 * There is always room for it. MUSTER_E_STALE when the agent is gone: of several threads that remove it one gets
 * MUSTER_OK. Inside an atom use muster_update_remove(), whose effects come in agent order. Any thread, but not inside
 * atoms. O(1). */
MUSTER_API muster_result muster_agent_remove(muster_world *world, muster_agent agent);

/* Queues a new position, which overrides one that the agent itself chooses in the meantime. MUSTER_E_ARGUMENT when a
 * coordinate is not finite or out of range. Any thread, but not inside atoms (muster_update_move). */
MUSTER_API muster_result muster_agent_move(muster_world *world, muster_agent agent, muster_position position);

/* Something happened to an agent: it runs whatever its period, ahead of the ranked. While a frame runs on the wall
 * clock, a worker takes it between two atoms (unless its type spawns); else it is released at the next intake. With
 * MUSTER_ORDER_DEADLINE its turn comes guarantee_ns / 64 after the wake at the latest, and agents later than that go
 * first. In other orders, while another agent waits for longer than guarantee_ns, woken agents get half of each frame
 * at most, and after that wait for their turn. Several wakes before a run count as one; when a wake may have come too
 * late for the agent's run in this frame, the agent runs again in the next. A wake that comes within the type's
 * wake_gap_ns waits until the gap has passed. An agent for which no time has passed, since it began or ran at the
 * sim_now_ns of the frame, keeps its wake for the first frame of a later time. MUSTER_E_STALE when the id is gone,
 * MUSTER_E_FULL when commands_max wakes wait. Any thread, but not inside atoms (muster_update_wake). */
MUSTER_API muster_result muster_agent_wake(muster_world *world, muster_agent agent);

/* In place of a time: cancels the time that was asked for. */
#define MUSTER_WAKE_NEVER UINT64_MAX

/* Asks for a time at which an agent runs, whatever its contract and its period: it is released, ahead of the ranked, in
 * the first frame whose sim_now_ns is not before at_ns, or in the next when that is past; pressure does not stretch it.
 * The update is told the time as wake_at_ns. (When more than 8,192 times come due in one frame, those beyond what an
 * eighth of its budget holds at 40 ns each are released in the next frames, the earliest first. An agent whose update
 * is under way, that is not active yet, or for which no time has passed, is released in the first frame after that.)
 *
 * An agent waits for one time: the earliest that was asked for since its last timed wake. So no caller can make the
 * agent miss a time that another caller asked for; a caller that wants a later time than the stored one asks again when
 * the agent runs. A run for any other reason leaves the time as it is. MUSTER_WAKE_NEVER cancels it, whichever caller
 * asked for it; MUSTER_WAKE_NEVER followed by a time replaces it. Removal of the agent cancels it.
 *
 * Queued as the other agent calls are. MUSTER_E_STALE when the agent is gone; MUSTER_E_ARGUMENT for a time beyond 146
 * years; MUSTER_E_FULL when commands_max commands wait. Any thread, but not inside atoms (muster_update_wake_at).
 * O(log n) for n agents that wait for a time. */
MUSTER_API muster_result muster_agent_wake_at(muster_world *world, muster_agent agent, uint64_t at_ns);

/* Queues a message of `size` bytes, copied, for an agent's box; its sender is null. Delivered at the next intake after
 * the commands, in the order queued and before anything that agents send in that frame. Dropped and counted when the
 * agent is gone by then, or its box is full, missing or of fewer messages.bytes_max. The agent may run for a
 * muster_agent_wake() before that: a type that shall run because of a message sets messages.wake. MUSTER_E_STALE when
 * the id is gone; MUSTER_E_ARGUMENT above MUSTER_MESSAGE_BYTES_MAX, and in a world in which no type has boxes;
 * MUSTER_E_FULL when commands_max messages wait. Any thread, but not inside atoms (muster_update_send). */
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
  float designer;         /* designer and role: with MUSTER_IMPORTANCE_FACTORS, 0..1, as in muster_agent_def */
  float role;             /* 0..1 */
} muster_agent_tuning;

MUSTER_DEFAULTS(muster_agent_tuning);

/* Queues new values. Any thread, but not inside atoms. */
MUSTER_API muster_result muster_agent_tune(muster_world *world, muster_agent agent, const muster_agent_tuning *tuning);

/* Whether the id names an agent that is spawned (active or still queued) and not removed: false from the return of
 * muster_agent_remove() on, and from the intake that carries out muster_update_remove(). False for ghosts. Any thread.
 */
MUSTER_API bool muster_agent_exists(const muster_world *world, muster_agent agent);

typedef struct muster_agent_info {
  uint32_t size;
  bool active; /* false: spawned, waiting for its intake */
  muster_type type;
  uint32_t partition;
  muster_position position;
  float importance; /* 0..1 */
  float elasticity; /* in force, derived or set; quantised to an eighth of an octave. Under MUSTER_ELASTIC_IMPORTANCE:
                       e_i / w_i, relative to its value at importance 1/2, times what it costs beside others, roughly */
  uint32_t level;
  uint64_t period_ns;        /* under the pressure of the last frame; 0 = no period (MUSTER_ELAPSED_EVENTS) */
  uint64_t last_update_ns;   /* simulation time that its last completed update brought it to */
  uint32_t delays;           /* frames in which it was released but not run, modulo 256 */
  uint32_t atoms_done;       /* of an update that was preempted */
  uint64_t expected_cost_ns; /* of an update of this agent: of its type and level, times what is known of itself */
  void *user;
  const void *published; /* as of the last commit; valid until the next frame */
  void *state;           /* valid until the next frame; the host may write it */
  uint32_t messages;     /* in its box */
  uint64_t wake_at_ns;   /* the time that was asked for, still to come; 0 = none */
  bool quarantined;      /* it is not run because of its own overruns or its type's: muster/overruns.h */
  uint32_t penalty;      /* because of these overruns it is at this level or a cheaper one */
} muster_agent_info;

MUSTER_DEFAULTS(muster_agent_info);

/* Reads an agent. MUSTER_E_STALE when the id is gone. Thread of the frames, between frames. */
MUSTER_API muster_result muster_agent_read(const muster_world *world, muster_agent agent, muster_agent_info *info);

/* The active agent after this one in agent order, the first after null; null at the end, and in a zone after an agent
 * that is gone. Thread of the frames, between frames. */
MUSTER_API muster_agent muster_agent_next(const muster_world *world, muster_agent agent);

/* ------------------------------------------------------------------------------------------------------ observers */

typedef struct muster_observer_def {
  uint32_t size;
  muster_position position; /* default the origin */
  uint32_t partition;       /* default 0; 0 .. 65535 */
  float near_m;             /* within this distance an agent has importance 1; default 25; >= 0 */
  float far_m;              /* from this distance on this observer gives it none; default 250; > near_m */
} muster_observer_def;

MUSTER_DEFAULTS(muster_observer_def);

/* An observer is a player or a camera: what makes agents near it important. An agent's importance is the maximum
 * over the observers of its partition. Queued as the agent calls are. In a zone an observer may leave for another one
 * (muster/zone.h): then its id is stale here. Any thread, but not inside atoms. */
MUSTER_API muster_observer muster_observer_add(muster_world *world, const muster_observer_def *def);
MUSTER_API muster_result muster_observer_move(muster_world *world, muster_observer observer, muster_position position);
MUSTER_API muster_result muster_observer_remove(muster_world *world, muster_observer observer);

/* The observer after this one in the order of their indices, the first after null; null at the end, and in a zone also
 * when this one is gone. Observers added since the last frame are not among them yet. Thread of the frames, between
 * frames. */
MUSTER_API muster_observer muster_observer_next(const muster_world *world, muster_observer observer);

/* Reads where an observer is and how far it sees. MUSTER_E_STALE when the id is gone, or was added since the last
 * frame; MUSTER_E_NOT_INITIALISED when the definition was not set by its default function. Thread of the frames,
 * between frames. */
MUSTER_API muster_result muster_observer_read(const muster_world *world, muster_observer observer,
                                              muster_observer_def *def);

/* --------------------------------------------------------------------------------------------------------- frames */

/* One frame. This struct is fixed for good: it has no size field. */
typedef struct muster_frame {
  uint64_t sim_now_ns; /* simulation time; never less than in the frame before */
  uint64_t budget_ns;  /* wall time for the whole call, commit included; 10 us .. 10 s. Where planning alone uses it up
                          (some 3 ns per carried agent), one atom runs in a frame, and a warning is logged */
} muster_frame;

/* Runs one frame: intake, score, fold, fit, release, rank, run, commit. The calling thread is one of the workers and
 * the call returns when the frame is committed, which may be before the budget is spent. It does not pace: the host
 * waits between frames as it likes, and sim_now_ns may follow a clock or advance by the same step each time. Errors
 * change nothing: MUSTER_E_TIME when time goes backwards, MUSTER_E_ARGUMENT for a budget out of range, MUSTER_E_STATE
 * inside another frame of the same world, and in a world with planner_workers. One thread at a time per world; frames
 * of different worlds may run at the same time on one pool. Thread of the frames, between frames. */
MUSTER_API muster_result muster_frame_run(muster_world *world, const muster_frame *frame);

#ifdef __cplusplus
}
#endif

#endif
