/* run/runner.h - stage 7: workers take claims from the batch and run updates atom by atom, until the deadline.
 *
 * A worker reads the clock between claims, and between the atoms of a long update. It starts nothing that it does not
 * expect to finish before `stop_ns`, but the very first claim, so that no update is too long ever to run.
 *
 * Between two atoms a worker looks whether something more urgent came: jobs of higher priority, and agents that were
 * woken while the frame runs. Then it leaves the rest of its claim, the interrupted update first, to a worker that has
 * time (often itself), which goes on after the last atom that ran. Workers look for work in this order:
 *
 *     urgent jobs  ->  woken agents  ->  rests of claims  ->  claims of the batch  ->  claims at risk
 *
 * A rest that no worker took before the deadline is what its results say: a preempted update, and updates that did not
 * run.
 *
 * Results stand beside the entries; what an update wants of others (remove, wake, spawn) goes to the worker's log,
 * tagged with the entry, so that the commit can put everything in one order whichever worker was faster. */
#ifndef RUN_RUNNER_H
#define RUN_RUNNER_H

#include "agents/batch.h"
#include "agents/overrun.h"
#include "agents/types.h"
#include "base/clock.h"
#include "pool/pool.h"
#include "run/intake_queues.h"

enum { SAMPLES_MAX = 1024, RUNNER_LOG_MAX = 8192, RESTS_MAX = 4 * POOL_SLOTS_MAX, RISKS_MAX = 64, SUSPECTS_MAX = 8 };

/* The lanes of jobs that go before the updates of a frame. */
#define URGENT_LANES ((1u << MUSTER_URGENCY_FRAME) - 1u)

typedef enum update_phase { PHASE_OUTSIDE = 0, PHASE_PARALLEL, PHASE_ACT, PHASE_INTAKE } update_phase;

/* Mistakes of a program that its updates repeat, and whose answers hurried programs do not look at: each worker says
 * each of them once in the log. */
typedef enum update_mistake {
  MISTAKE_POSITION = 1, /* moved to where nobody can be */
  MISTAKE_SPAWN = 2,    /* spawned though its type may spawn none */
  MISTAKE_MESSAGE = 4,  /* sent what no box of that type takes, or though its type may send none */
  MISTAKE_STRUCT = 8,   /* read a struct of another type */
  MISTAKE_PHASE = 16,   /* read private state outside of actions */
  MISTAKE_QUERY = 32    /* looked for what there cannot be */
} update_mistake;

typedef struct logged_command {
  uint32_t entry; /* of the batch */
  uint32_t part;  /* the atom with which this part of an interrupted update began */
  struct command command;
} logged_command;

typedef struct cost_sample {
  uint64_t cost_ns;
  uint64_t elapsed_ns; /* between the agent's last update and this one */
  uint32_t agent;
  uint16_t type;
  uint8_t level;
  uint8_t how; /* sample_how */
} cost_sample;

/* What is off by less is not worth timing a claim for: doubts would breed doubts among short updates. */
enum { DOUBTED_NS = CLAIM_NS / 2 };

/* How the cost of a sample is known. */
typedef enum sample_how {
  SAMPLE_TIMED = 0,
  SAMPLE_OVERRAN, /* likewise; an atom of the update was over its limit */
  SAMPLE_DOUBTED, /* not at all: it was in a claim that took another time than was believed */
  SAMPLE_HOWS
} sample_how;

/* A claim or an atom that took suspiciously long. */
struct suspicion {
  uint16_t type;
  uint32_t agent; /* 1 + index; 0 = some agent of the claim */
};

/* What audit measures of one worker in one frame, in thread CPU time. */
typedef struct worker_audit {
  uint64_t cpu_ns;    /* inside claims and between them */
  uint64_t stolen_ns; /* wall time in which the kernel ran another thread while this worker had work */
  uint64_t longest_claim_ns;
  uint64_t longest_atom_ns; /* of those after which the clock was read; under the virtual clock, of actions */
  /* Of the claim: both clocks at the begin of the last timed atom that began before the promised end, and the CPU clock
   * at the begin of the next; 0 = it was not read. */
  uint64_t atom_begin_ns, atom_begin_cpu_ns, next_begin_cpu_ns;
  uint64_t reads;              /* reads of the CPU clock between claims, which are no overhead of the frame */
  uint64_t overrun_ns;         /* of a claim that crossed the promised end, from that atom on; of any claim after it */
  uint64_t end_ns, end_cpu_ns; /* both clocks when the worker left the batch, or the caller went to sleep */
} worker_audit;

/* What one worker did with a set of a type. */
struct set_counts {
  uint64_t runs, cuts;
};

struct runner;
struct herd_table;
struct timeline;
struct watch_heartbeat;
struct flight_line;
struct strand;

/* The public update and what belongs to it. One per worker; also one for the frame's thread outside stage 7. */
typedef struct update_context {
  muster_update public; /* first: an atom's update is its context */
  struct runner *runner;
  shared_u64 inside;  /* the thread that is inside a callback with this update: thread_self(); 0 = none. Read by others
                         only when they misuse it */
  pool_place entered; /* where its thread was when it began to run callbacks */
  struct worker_state *worker;
  const agent_type *type;
  batch_result *result; /* of the entry; of the acting agent in PHASE_ACT */
  uint32_t index;       /* of the agent */
  uint32_t entry;       /* of the batch; in PHASE_ACT beside others, of the list of acts */
  uint32_t spawn_base, spawn_limit;
  uint64_t random_counter; /* begins anew for each phase and part of an update */
  uint64_t began_ns;       /* simulation time at which the update began */
  set_state *set;          /* of the set that runs; null outside of sets */
  uint64_t yield_ns;       /* wall: when its atoms are to yield; 0 = the clock was not read for it yet, */
  uint64_t share_ns;       /* and it has this much time from that reading on */
  uint32_t asks, asked;    /* virtual: the question that is answered yes, and how many this call of an atom has asked */
  bool yields;             /* its atoms may be told to yield */
  bool nearby_cut;         /* its last neighbour query was cut */
  update_phase phase;
  uint32_t place;       /* of the callback that runs, or ran last: see callback_place() */
  muster_act act;       /* in PHASE_ACT: beside which others it acts */
  uint64_t *late_atoms; /* virtual clock, beside others: bitmap of action atoms that are over their limit; else null */
} update_context;

/* What ends an update before its last atom. */
enum interruption { INTERRUPTED_NOT = 0, INTERRUPTED_BY_TIME, INTERRUPTED_BY_URGENCY };

typedef struct worker_state {
  _Alignas(64) update_context context;
  uint32_t log_count, sample_count;
  uint32_t doubted_count; /* of these, SAMPLE_DOUBTED */
  logged_command *log;    /* RUNNER_LOG_MAX */
  cost_sample *samples;   /* SAMPLES_MAX */
  uint64_t claim_ns;      /* wall time inside claims */
  uint64_t loop_ns;       /* wall time in stage 7 outside claims */
  uint64_t beyond_ns;     /* wall: by how much its last claim ended after the time to stop, */
  uint64_t taken_ns;      /* and how long it was away from its processor until then, but for what its atoms waited */
  uint64_t left_ns;       /* wall: how long before the time to stop it left the batch */
  uint64_t early_end_ns;  /* wall: when it left the early claims last; 0 = it never came */
  uint64_t sampled_overhead_ns, sampled_updates; /* time in sampled claims outside atoms */
  uint64_t jobs_ns;                              /* wall time of more urgent jobs that it ran in between */
  uint64_t woken_ns, others_ns; /* rationed: in claims of agents that were woken while the frame ran, and in others */
  uint64_t updates;
  uint64_t believed_ns; /* what the updates that it began were believed to take */
  uint64_t interrupted; /* updates that gave way between two atoms */
  uint64_t cycles;      /* cycles of updates after their first */
  bool inside;          /* it works now; an atom that helps must not begin anew */
  uint8_t told;         /* mistakes of updates that the log has been told of: bits of update_mistake */
  bool early;           /* in this call: only claims of held entries */
  bool takes_woken;     /* in this call: also agents that were woken */
  bool on_strand;       /* its claim is on a strand */
  uint32_t strand;      /* 1 + the strand that it has entered; 0 = none: run/strands.h */
  uint64_t positions_refused, spawns_refused, commands_dropped, results_refused;
  uint32_t nearby_cut; /* neighbour queries that were cut */
  uint64_t sets_cut;
  struct set_counts
      *set_counts;     /* MUSTER_SETS_MAX of each type, since the world was created; null while no type has sets */
  struct track *track; /* of a world that keeps a trace on the wall clock; else null */
  worker_audit audit;
  /* What run/overrun_check.h keeps: both clocks and the thread's switches at its last look; 1 + the agent before whose
   * update that look was; of the update, time away from the processor, and whether an atom was over its limit; of the
   * frame, time in which atoms waited, as far as runner_take_blocked() has not taken it. */
  uint64_t own_ns, own_cpu_ns;
  thread_switches own_switches;
  uint32_t exact_for;
  bool overran;
  uint64_t away_ns;
  uint64_t blocked_ns;
  uint32_t suspect_count;
  struct suspicion suspects[SUSPECTS_MAX]; /* each type once */
  overrun_list overruns;                   /* kept until limits are enforced */
  struct watch_heartbeat *heartbeat;
  struct flight_line *flight; /* of a world with a flight recorder; else null */
} worker_state;

struct runner {
  muster_world *world;
  agent_store *store;
  const type_table *types;
  struct space *space;
  const struct herd_table *herds; /* null while there is no herd type */
  struct identity *agents;
  const struct removals *removals;
  struct wakes *wakes;
  struct muster_pool *pool;
  struct team *early_team, *team; /* they run runner_work_early and runner_work */
  struct batch *batch;
  const uint32_t *spawn_ids; /* set aside for this frame */
  clock_source clock;
  uint64_t seed;
  bool virtual, audit;
  bool replays;           /* outcomes are as in a record */
  bool sums;              /* a hash of the state of each agent that runs is kept with its result */
  uint32_t workers;       /* that work on frames */
  uint32_t workers_asked; /* by the host, at most; 0 = all */
  uint32_t state_count;
  worker_state *states;               /* one per worker index */
  struct track *tracks;               /* likewise; null without a trace */
  struct timeline *timeline;          /* of frames on one worker; null = none is kept */
  struct watch_heartbeat *heartbeats; /* likewise */
  void *flight_memory;                /* the host's memory for the flight recorder; null without one */
  struct flight_line *flight_lines;   /* in it; one per worker index */
  uint64_t limit_ns;                  /* the least of all types */
  uint32_t caller;                    /* the index of the frame's thread */
  uint32_t log_max;                   /* commands that one worker's updates may send in a frame */
  logged_command *log_scratch;        /* log_max */
  /* set for each frame */
  uint64_t frame; /* its number */
  uint64_t now_ns;
  shared_u64 stop_ns;                  /* wall */
  uint64_t deadline_ns;                /* wall */
  uint64_t promised_ns;                /* wall: the deadline if the frame owed nothing; a later end is late */
  uint64_t risk_most_ns;               /* how long before the end at most claims are left for what they may overrun */
  bool takes_risks;                    /* these run now: nothing else does */
  bool rations_woken;                  /* agents that are woken while the frame runs have no more than */
  double woken_part;                   /* this part of the time that a worker spends on others */
  _Alignas(64) shared_u64 ticket;      /* claims */
  uint32_t published;                  /* how many there are, */
  shared_u32 planning;                 /* and whether there will be more: workers take no woken agents yet */
  _Alignas(64) shared_u32 woken_count; /* entries of woken agents, behind those of the batch */
  struct ring rests;                   /* batch_claim: what interrupted workers left */
  struct ring risks;                   /* batch_claim: what may overrun the end */
  struct strand *strands;              /* MUSTER_STRANDS_MAX; null when no type has strands */
};

/* Reserves the workers' states. The other pointers are set by the world. */
void runner_create(struct runner *runner, uint32_t workers, uint32_t indices, uint32_t types_max, struct arena *arena);

/* Gives each worker room for `log_max` commands. Without memory arena->failed is set and all is as before. */
void runner_widen_logs(struct runner *runner, uint32_t log_max, struct arena *arena);

/* The first type with sets is registered: reserves counts for sets. Sets arena->failed when there is no room. */
void runner_count_sets(struct runner *runner, uint32_t types_max, struct arena *arena);

/* The first type with strands is registered: reserves them (run/strands.h). Sets arena->failed when there is no room.
 */
void runner_reserve_strands(struct runner *runner, struct arena *arena);

/* Whether a command comes before another: by entry, and by part of its update. */
static inline bool runner_logged_before(const logged_command *one, const logged_command *other) {
  return one->entry != other->entry ? one->entry < other->entry : one->part < other->part;
}

/* Puts a worker's log into this order. It is so already, unless the worker went on with another worker's rest; then it
 * takes O(commands). */
void runner_sort_log(struct runner *runner, worker_state *state);

/* A worker's log, as far as it is not merged yet. */
typedef struct merged_log {
  const logged_command *next, *end;
} merged_log;

/* The workers' logs, merged in the order of entries. Few workers have logged anything. */
typedef struct log_merge {
  uint32_t count;
  merged_log logs[POOL_SLOTS_MAX];
} log_merge;

/* Begins to merge; the logs must stay as they are until the end. */
void runner_merge_logs(struct runner *runner, log_merge *merge);

/* The next command; null at the end. */
const logged_command *runner_merge_next(log_merge *merge);

/* Clears what the workers counted in the last frame, and opens a batch without claims, which the frame's thread plans
 * from now on. Frame's thread. */
void runner_open(struct runner *runner);

/* The first `claims` of the batch may be taken: nothing changes them any more. Frame's thread, while workers take. */
void runner_publish(struct runner *runner, uint32_t claims);

/* All claims of the batch are planned, and may be taken. Frame's thread. */
void runner_publish_all(struct runner *runner);

/* All workers have left: notes in the batch how many woken agents ran since the last time. Frame's thread. */
void runner_take_woken(struct runner *runner);

/* All workers have left: leaves nothing to be taken, notes in the batch how many woken agents ran. Frame's thread. */
void runner_close(struct runner *runner);

/* What a team's worker runs while the frame is planned: takes claims until there are none, time is up or the planning
 * is over. `argument` is the runner. */
void runner_work_early(void *argument, uint32_t worker);

/* What a team's worker runs: takes claims until there are none or time is up. `argument` is the runner. */
void runner_work(void *argument, uint32_t worker);

/* There is more to do, for one more worker if one has time. Inside runner_work. */
void runner_call(const worker_state *state);

/* Until when a worker begins something; extended by time in which its atoms waited, which costs the others nothing. */
static inline uint64_t runner_stop_ns(const struct runner *runner, const worker_state *state) {
  return load_relaxed_u64(&runner->stop_ns) + state->blocked_ns;
}

/* Sets it, while workers may be running. Frame's thread. */
static inline void runner_set_stop(struct runner *runner, uint64_t stop_ns) {
  store_relaxed_u64(&runner->stop_ns, stop_ns);
}

/* What the updates that ran in this frame were believed to take. Frame's thread, when no worker runs. */
uint64_t runner_believed_ns(const struct runner *runner);

/* The most time that the kernel took from a worker that worked beyond the time to stop. Frame's thread, when no worker
 * runs. */
uint64_t runner_taken_ns(const struct runner *runner);

/* The time of all workers that was left when they had nothing more to run. Of one that never came it is unknown: it
 * counts as none. */
uint64_t runner_left_ns(const struct runner *runner);

/* By how much the last claim of any worker ended after the time to stop. Frame's thread, when no worker runs. */
uint64_t runner_beyond_ns(const struct runner *runner);

/* The longest that a worker's atoms waited since the last call; the frame ends later by as much. Frame's thread, when
 * no worker runs. */
uint64_t runner_take_blocked(struct runner *runner);

/* With audit: a claim, or jobs, are over. They began when the worker's CPU clock read *cpu_ns. */
void runner_audit_claim(worker_state *state, const struct runner *runner, uint64_t *cpu_ns, uint64_t end_ns);

/* With audit: another worker spent `cpu_ns` on settling, or in actions, until now; what lies after the promised end is
 * overrun. */
void runner_audit_settling(struct runner *runner, uint32_t worker, uint64_t cpu_ns);

/* With audit: the caller is about to sleep until the last worker leaves; `argument` is the runner. */
void runner_before_sleep(void *argument);

/* The states one after another, in each frame from another one on: where time may end before the last had its turn. */
static inline worker_state *runner_state_in_turn(const struct runner *runner, uint32_t number) {
  return &runner->states[(runner->frame + number) % runner->state_count];
}

/* The wall clock; 0 under the virtual clock, where none is read. */
static inline uint64_t runner_clock(const struct runner *runner) {
  return runner->virtual ? 0 : clock_now(&runner->clock);
}

static inline worker_state *runner_caller(const struct runner *runner) {
  return &runner->states[runner->caller];
}

/* Prepares a worker's context for agent `index` outside the batch: for callbacks at the intake, or for its actions;
 * returns its update. */
muster_update *runner_begin_outside(worker_state *state, uint32_t index, update_phase phase, batch_result *result);

/* The agent's published buffer that no agent reads: its update writes there. Null when its type publishes nothing. */
static inline void *runner_back_buffer(const agent_type *type, const agent_row *row) {
  return type_published(type, row->state_slot, row->front ^ 1u);
}

#endif
