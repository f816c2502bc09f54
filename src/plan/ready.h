/* plan/ready.h - released agents that have not run yet, in the order in which they should.
 *
 * While agents wait they age alike, so their order is fixed at release (Rankin, Acton & Katchabaw's priority with
 * uncapped ageing is an earliest-virtual-deadline order):
 *
 *     pri = eps i + zeta (t - t_last)/S - eta rc + theta p    <=>    key = t_last - (S/zeta)(eps i + theta p - eta rc)
 *
 * and the smallest key comes first. (A fifth term, kappa l for the level, stands beside eps i.) An agent that must
 * react by a time is the exception: its lead grows, so it is filed anew in each frame. Tan & Wong's order (delays
 * descending, then elapsed descending) is the key "released in", then t_last.
 *
 * Most agents run in the frame of their release, so fresh ones are only noted, and sorted when their turn comes. Agents
 * that were not admitted go where waiting costs nothing: by key into a ring of buckets (plan/ready_ring.h). Agents of
 * equal keys are in order of their indices, so that the order is the same however the agents came. Beside the ring
 * stand two FIFO queues: the woken, which lead, and all that wait, by release: an agent that has waited longer than S
 * leads the ring, first in, first out, so that none starves whatever the weights.
 *
 * In the order of deadlines, one ring holds all waiting agents, the woken among them. No agent leads by its release, so
 * these are only counted by it, for reports (plan/waits.h):
 *
 *     key = release + T_i (1 - (eps i + theta p - eta rc) / 4 zeta), between T_i / 8 and 5/4 T_i;
 *           release + T_i / 8 for the woken, S / 64 at most;  at most the time by which an agent must react
 *
 * T_i is the period in force. An agent whose class changes is filed anew, and so are all agents when periods have
 * changed by more than a factor of two. */
#ifndef PLAN_READY_H
#define PLAN_READY_H

#include "agents/store.h"
#include "agents/types.h"
#include "base/assert.h"
#include "base/counting_sort.h"
#include "plan/classes.h"
#include "plan/fifo.h"
#include "plan/ready_ring.h"
#include "plan/waits.h"

#include <math.h>

enum {
  READY_PAST_BUCKETS = 3072, /* in the orders of the papers; the next is for deadlines, which lie ahead */
  READY_LATE_BUCKETS = 1024,
  READY_WIDTH_SHIFT_MAX = 36 /* of a bucket: keys reach no further than 4,096 of these */
};

struct cost_table;

typedef struct ready_weights {
  muster_order order;
  double guarantee_ns; /* S */
  double progress;     /* theta over zeta; epsilon, eta and kappa are in the units */
  double lift_ns;      /* what a reaction is worth when its time has come: more than all terms but ageing */
  /* Deadlines: what a 65535th of importance, a 32768th of runs and a whole of progress are worth, in periods. */
  float importance_share, runs_share, progress_share;
} ready_weights;

/* Entries in order (ready_ring.h), of which the walk has read some. */
typedef struct ready_run {
  uint64_t *keys;
  uint32_t next, end;
} ready_run;

typedef struct ready_set {
  ready_weights weights;
  int64_t importance_unit; /* what a 65535th of importance is worth; runs_unit: a 32768th of runs; in 256ths of ns, */
  int64_t runs_unit;       /* at most 2^46 */
  int64_t reduction_unit;  /* what a level is worth, in the same unit */
  bool reduces;            /* reduction_unit is not 0 */
  const type_table *types; /* for the progress of sliced updates */
  const agent_class *classes;            /* for the periods in force; null but in the order of deadlines */
  double filed_lambda;                   /* lambda when all agents were last filed */
  const agent_store *reacting;           /* for the times of reactions; null where there are none */
  uint64_t longest_ns;                   /* longest time between two runs of any agent */
  uint64_t now_ns;                       /* simulation time of the frame */
  uint32_t width_shift;                  /* a bucket is 2^width_shift ns wide */
  int64_t epoch_ns;                      /* keys are times from here on */
  uint32_t count;                        /* ready agents */
  uint32_t begun;                        /* of these, agents whose update was preempted, or whose sets are owed time */
  uint32_t *counts_of;                   /* of these, agents of each type */
  uint32_t *released_of;                 /* of each type, in this frame */
  struct fifo woken, waiting;            /* in the orders of the papers */
  wait_book waits;                       /* in the order of deadlines, what `waiting` is for in the others, */
  uint64_t (*factors_of)[MUSTER_LEVELS]; /* and sums of these agents' cost factors by type and level, in units */
  ready_ring ring;
  uint32_t in_ring;            /* ready agents that have an entry there */
  uint64_t *fresh, *fresh_too; /* keys of agents released in this frame */
  uint8_t *fresh_piles;        /* by entry of `fresh`, */
  counting_sort fresh_sort;    /* and these piles */
  uint32_t fresh_count, fresh_max;
  uint32_t fresh_left; /* of these, agents that were not admitted */
  ready_run fresh_run, ring_run;
  bool walks;     /* a walk is under way, */
  bool ring_done; /* and has seen all of the ring */
  uint64_t met;   /* the entry of the ring that the walk has met last; 0 = none */
} ready_set;

/* Reserves an empty set for the world's weights. */
void ready_create(ready_set *ready, const muster_world_def *def, const type_table *types, const agent_class *classes,
                  struct arena *arena);

/* Other weights: files all waiting agents in the new order. Between the stages of two frames. O(ready agents). */
void ready_reweigh(ready_set *ready, agent_store *store, const muster_world_def *def);

/* The entries of the agents in the ring, in order, each once; valid until the ring changes. Between frames. O(entries).
 */
const uint64_t *ready_entries(ready_set *ready, const agent_store *store, uint32_t *count);

/* Keeps the entries, in any order, that their agents' rows know; and of sorted entries, one of those that are equal: an
 * agent that was filed anew and back again has two. Return how many. */
uint32_t ready_keep_live(const agent_store *store, uint64_t *entries, uint32_t count);
uint32_t ready_drop_twins(uint64_t *entries, uint32_t count);

/* For a world that is loaded: whether its keys can begin where they do at its time; lays out the empty ring by what was
 * loaded; puts an agent into the ring. */
bool ready_epoch_is_possible(const ready_set *ready);
void ready_place_ring(ready_set *ready);
void ready_file(ready_set *ready, agent_store *store, uint64_t entry);

/* Files anew a ready agent of the ring whose key has changed: it must react, or has another period. O(1). */
void ready_refresh(ready_set *ready, agent_store *store, uint32_t index);

/* Makes the ring wide enough for agents that run at least every `longest_ns`. Between frames. */
void ready_widen(ready_set *ready, agent_store *store, uint64_t longest_ns);

/* Moves the ring's window along; buckets that leave it are emptied into the list of older keys. Once per frame, before
 * anything else. */
void ready_advance(ready_set *ready, agent_store *store, uint64_t now_ns);

/* Keys count microseconds (of 1,024 ns); in the order of delays, steps of 2^18 ns until the release, and then of 2^16
 * ns for the elapsed time. */
enum { READY_KEY_SHIFT = 10, READY_DELAYS_SHIFT = 18, READY_ELAPSED_SHIFT = 16, READY_ELAPSED_BITS = 20 };

/* What the part of its update that a preempted agent has behind it is worth; or the progress of a set that is owed
 * time. */
int64_t ready_progress_lead_ns(const ready_set *ready, const agent_row *row);

/* What the time by which an agent must react is worth: nothing when it was set, everything when it comes. */
int64_t ready_reaction_lead_ns(const ready_set *ready, const agent_row *row);

/* The sum of terms that most agents do not have: progress, a time to react by, a weight of their level. */
int64_t ready_rare_leads_ns(const ready_set *ready, const agent_row *row);

/* The terms of the priority move a deadline within these parts of the period, and no further. */
#define READY_TURN_LEAST 0.125f
#define READY_TURN_MOST  1.25f

/* In the order of deadlines: when an agent's turn comes. */
int64_t ready_deadline(const ready_set *ready, const agent_row *row);

/* Whether the order is that of deadlines, where one ring holds all waiting agents. */
static inline bool ready_by_deadline(const ready_set *ready) {
  return ready->weights.order == MUSTER_ORDER_DEADLINE;
}

/* Whether a ready agent stands in the queue of the woken: never in the order of deadlines. */
static inline bool ready_stands_apart(const ready_set *ready, const agent_row *row) {
  return row->woken && !ready_by_deadline(ready);
}

/* How long after its release an agent's turn comes at the latest, where the longest period is longest_ns. */
static inline uint64_t ready_turn_longest(const ready_set *ready, double longest_ns) {
  if (!ready_by_deadline(ready)) return (uint64_t)ready->weights.guarantee_ns;
  return (uint64_t)fmin(fmax(longest_ns, ready->weights.guarantee_ns) * (double)READY_TURN_MOST, 0x1p62);
}

/* When the turn comes of an agent whose update waits to be completed: by deadline, else first in, first out. */
static inline int64_t ready_turn(const ready_set *ready, const agent_row *row) {
  return ready_by_deadline(ready) ? ready_deadline(ready, row) : (int64_t)row->first_due_ns;
}

/* How many agents have waited beyond their deadlines, about; without those of this frame's release. Agents that have
 * left, or have another deadline now, may count until their old turn comes. O(buckets). */
uint32_t ready_count_late(const ready_set *ready);

/* Deadlines: files all waiting agents anew when the fit has changed periods by more than a factor of two since they
 * were last filed. Once per frame, after the fit. */
void ready_follow_periods(ready_set *ready, agent_store *store, double lambda);

/* The key of a time. */
static inline uint64_t ready_key_of_time(const ready_set *ready, int64_t time_ns) {
  bool delays = ready->weights.order == MUSTER_ORDER_DELAYS;
  uint64_t most = delays ? RING_KEY_MAX >> READY_ELAPSED_BITS : RING_KEY_MAX;
  int64_t steps = (time_ns - ready->epoch_ns) >> (delays ? READY_DELAYS_SHIFT : READY_KEY_SHIFT);
  uint64_t key = steps < 0 ? 0 : (uint64_t)steps < most ? (uint64_t)steps : most;
  return delays ? key << READY_ELAPSED_BITS : key;
}

/* The key in the paper's order: the release, then the time elapsed until then. */
uint64_t ready_delays_key(const ready_set *ready, const agent_row *row);

/* Rankin's virtual deadline. */
static inline int64_t ready_priority_key(const ready_set *ready, const agent_row *row) {
  int64_t lead_ns = (ready->importance_unit * row->importance - ready->runs_unit * row->runs) >> 8;
  if (row->atom_next | row->owes | row->reacts | ready->reduces) lead_ns += ready_rare_leads_ns(ready, row);
  return (int64_t)row->last_update_ns - lead_ns;
}

/* The terms of Rankin's priority, as time waited; the greatest sum goes first. Zeros in the other orders. */
typedef struct ready_terms {
  int64_t priority_ns; /* the sum of the others */
  int64_t wait_ns, importance_ns, progress_ns;
  int64_t runs_ns; /* below 0 */
  int64_t reduction_ns, reaction_ns;
} ready_terms;

/* The terms of an agent as of this frame. */
ready_terms ready_explain(const ready_set *ready, const agent_row *row);

/* An agent's place in the order, as long as nothing that its key is made of changes. */
static inline uint64_t ready_entry(const ready_set *ready, const agent_row *row, uint32_t agent) {
  if (ready->weights.order == MUSTER_ORDER_DELAYS) return ring_entry(ready_delays_key(ready, row), agent);
  int64_t key_ns = ready_by_deadline(ready) ? ready_deadline(ready, row) : ready_priority_key(ready, row);
  return ring_entry(ready_key_of_time(ready, key_ns), agent);
}

/* What agents that are released beside each other add up to. */
typedef struct ready_sums {
  uint32_t count, begun;
  uint32_t *of_type;
} ready_sums;

/* A due agent becomes ready, and is counted there. */
static inline void ready_release_row(agent_row *row, uint64_t now_ns, uint64_t frame, ready_sums *sums) {
  row->first_due_ns = now_ns;
  row->released_frame = (uint8_t)frame;
  row->filed = 0;
  row->status = AGENT_READY;
  sums->count++;
  sums->of_type[row->type]++;
  sums->begun += (row->atom_next | row->owes) > 0;
}

/* Adds up what was counted of agents that are among the fresh now, and clears it. */
void ready_release_sums(ready_set *ready, ready_sums *sums);

/* The slow part of ready_release: into the woken queue, or into the ring. */
void ready_release_aside(ready_set *ready, agent_store *store, uint32_t index);

/* A due agent becomes ready: fresh, or in the woken queue when row.woken is set. */
static inline void ready_release(ready_set *ready, agent_store *store, uint32_t index, uint64_t now_ns,
                                 uint64_t frame) {
  agent_row *row = &store->rows[index];
  ready_sums sums = {ready->count, ready->begun, ready->counts_of};
  ready_release_row(row, now_ns, frame, &sums);
  ready->count = sums.count;
  ready->begun = sums.begun;
  ready->released_of[row->type]++;
  if (ready_stands_apart(ready, row) || ready->fresh_count == ready->fresh_max) {
    ready_release_aside(ready, store, index);
    return;
  }
  ready->fresh[ready->fresh_count++] = ready_entry(ready, row, index);
  ready->fresh_left++;
}

/* Agents released in this frame that were not admitted begin to wait: puts them into the ring, if they are not in it
 * already. At the end of stage 6. */
void ready_keep_fresh(ready_set *ready, agent_store *store);

/* A ready agent begins to wait: it becomes the last in the queue by release, or is counted by its release in the order
 * of deadlines, until it is admitted. Does nothing when it waits already. */
void ready_queue(ready_set *ready, agent_store *store, uint32_t index);

/* The slow part of ready_admit: out of the ring, or the woken queue. */
void ready_leave(ready_set *ready, agent_store *store, uint32_t index);

/* In the order of deadlines: an agent that was counted among those that wait does so no longer. */
static inline void ready_wait_ends(ready_set *ready, agent_row *row) {
  row->queued = 0;
  ready->factors_of[row->type][row->level] -= factor_units_of(row->cost_factor);
  waits_leave(&ready->waits, row->first_due_ns);
}

/* The same while its level or cost factor changes; true when it is to be counted in again. */
static inline bool ready_count_out(ready_set *ready, const agent_row *row) {
  if (!ready || !row->queued || !ready_by_deadline(ready)) return false;
  ready->factors_of[row->type][row->level] -= factor_units_of(row->cost_factor);
  return true;
}

static inline void ready_count_in(ready_set *ready, const agent_row *row) {
  ready->factors_of[row->type][row->level] += factor_units_of(row->cost_factor);
}

/* In the order of deadlines: what the updates of those that wait for their start are believed to cost. O(types). */
double ready_waiting_ns(const ready_set *ready, const struct cost_table *costs);

/* Takes an agent out: it is admitted, or removed. It stays in the queue by release when it is there. */
static inline void ready_admit(ready_set *ready, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  ASSERT(row->status == AGENT_READY && ready->count > 0);
  if (row->queued && ready_by_deadline(ready)) ready_wait_ends(ready, row);
  if (row->filed || ready_stands_apart(ready, row))
    ready_leave(ready, store, index);
  else
    ready->fresh_left--;
  row->status = AGENT_ADMITTED;
  ready->count--;
  ready->counts_of[row->type]--;
  ready->begun -= (row->atom_next | row->owes) > 0;
}

/* Puts back an admitted agent that did not run, or did not finish; its age is kept. */
void ready_put_back(ready_set *ready, agent_store *store, uint32_t index);

/* Moves a ready agent to the woken queue; in the order of deadlines, files it as a woken one. */
void ready_wake(ready_set *ready, agent_store *store, uint32_t index);

/* Takes an agent out of the queue by release, if it is there: its update is complete or it is removed. */
static inline void ready_forget(ready_set *ready, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  if (!row->queued) return;
  row->queued = 0;
  fifo_leave(&ready->waiting, index);
}

/* The same for an agent that is in the line, while other threads may take out others; ready_forgot() is told afterwards
 * how many they were, before anything else is asked of the set. */
static inline void ready_forget_beside(ready_set *ready, agent_store *store, uint32_t index) {
  store->rows[index].queued = 0;
  fifo_leave_beside(&ready->waiting, index);
}

static inline void ready_forgot(ready_set *ready, uint32_t count) {
  fifo_left(&ready->waiting, count);
}

/* The first woken agent at or after *place, which is moved past it; UINT32_MAX when there are no more. Begin with
 * woken.head. */
uint32_t ready_next_woken(const ready_set *ready, uint32_t *place);

/* Passes over places at the head of the queue by release that agents have left, `most` places at a time. */
void ready_pass_over(ready_set *ready, uint32_t most);

/* When the agent was released that waits longest for its start; UINT64_MAX when none is known. In the orders of the
 * papers it is looked for among the first `most` places of the queue by release. */
uint64_t ready_oldest_ns(const ready_set *ready, const agent_store *store, uint32_t most);

/* The same as ready_next_woken() for all waiting agents, by release. Begin with waiting.head. */
uint32_t ready_next_waiting(const ready_set *ready, uint32_t *place);

#endif
