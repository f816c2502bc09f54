/* plan/periods.h - stages 4 and 5 over the class table: fits the periods of all classes, and releases due agents. */
#ifndef PLAN_PERIODS_H
#define PLAN_PERIODS_H

#include "base/parts.h"
#include "plan/costs.h"
#include "plan/due.h"
#include "plan/fit.h"
#include "plan/ready.h"

/* How many agents a frame releases at most: RELEASES_MIN, or as many as take an eighth of the budget at RELEASE_NS
 * each. So a crowd that comes due at once, after a pause of the host, is spread over frames. */
enum { RELEASES_MIN = 8192, RELEASE_NS = 40, RELEASE_BUDGET_PART = 8 };

/* What a shard releases. */
typedef struct release_part {
  _Alignas(64) uint32_t due; /* agents, */
  uint32_t place;            /* and where the first of them goes among the fresh; */
  uint32_t vain;             /* and how many were looked at and not due */
  ready_sums sums;
} release_part;

struct periods {
  muster_elastic elastic;
  double wish_part;    /* the part of the desired utilisation that T_imax as a wish may take */
  double lambda;       /* of the last frame: where Newton starts */
  double frame_ns;     /* how long ago the frame before was */
  double desired_mean; /* over many frames */
  double price_most;   /* those whose time costs more beside what it is worth are put off */
  fit_kind *kinds;     /* room for every class */
  double *of_types;    /* room for every type, */
  uint32_t types;      /* and how many these are */
  uint32_t *agents; /* room for every agent, by shard: those that are due. Between frames snapshots list agents here */
  release_part *parts; /* by shard */
  uint32_t released;   /* agents, in the last frame */
  uint32_t next;       /* the line of agents at which a release goes on that was cut short */
};

/* Reserves the scratch arrays. */
void periods_create(struct periods *periods, const class_table *classes, const muster_world_def *def,
                    struct arena *arena);

/* What the fit says about the population. */
typedef struct periods_told {
  fit_result fit;
  fit_wishes wishes;     /* under the law of importance */
  double deviation_ns;   /* mean of T_i - T_io over all agents */
  double longest_ns;     /* the longest T_i of all */
  double everybody_ns;   /* what one update of each agent takes */
  uint32_t beyond_wish;  /* agents whose T_i is longer than their T_imax */
  double important_load; /* what agents of high importance would take at T_io, in parts of the desired utilisation */
  double elapsed_load;   /* sum of b: what agents take for the time that passes, which no period lowers */
  uint32_t elapsed_type; /* 1 + the type with the largest part of it; 0 = none has any */
  uint32_t put_off;      /* agents for which there is no time because of it */
} periods_told;

/* The same of one class. */
double periods_elapsed_load(const class_table *classes, const agent_class *class, const cost_table *costs);

/* The least rate of a class's clock, unless its longest period makes it slower: no agent stops. */
#define PERIODS_RATE_LEAST 0x1p-20

/* Stage 4: sets the rate of every class with members so that their demand fits `desired` utilisation, where frames are
 * `frame_ns` apart. O(classes). */
periods_told periods_fit(struct periods *periods, class_table *classes, const cost_table *costs, double desired,
                         uint64_t frame_ns);

/* What an update of a member of a class is believed to cost at its period, in the mean over the members. */
double periods_cost_ns(const agent_class *class, const cost_table *costs);

/* How many agents a frame of such a budget releases at most. */
static inline uint32_t periods_most(uint64_t budget_ns) {
  uint64_t most = budget_ns / RELEASE_BUDGET_PART / RELEASE_NS; /* at most 10 s: fits */
  return most > RELEASES_MIN ? (uint32_t)most : RELEASES_MIN;
}

typedef struct release_frame {
  uint64_t now_ns, elapsed_ns, number;
  uint32_t most; /* agents that are released at most, and a few */
} release_frame;

/* Stage 5: advances every class by the time that has passed, and hands due agents to the ready set, shard by shard in
 * `parts`. When they are too many, the others are released in the next frames, in the order of agents. Returns how
 * many. O(classes + lines + released). */
uint32_t periods_release(struct periods *periods, class_table *classes, agent_store *store, ready_set *ready,
                         const release_frame *frame, const struct parts *parts);

/* The first due time of a new agent, on the clock of its class from now: a random part of its period ahead, so that a
 * crowd spawned at once does not run at once. */
uint64_t periods_first_ns(const agent_class *class, uint64_t random);

/* A new agent is first due `ahead_ns` from now, and then by plan. It begins `behind_ns` after the time to which the
 * clocks of the classes were advanced: the next release advances them over it. Schedules the agent, if it has a period.
 */
void periods_begin(class_table *classes, agent_store *store, uint32_t index, uint64_t behind_ns, uint64_t ahead_ns);

/* How far ahead of its class's clock an agent is due by its period, which may be past; and an agent that has this from
 * elsewhere begins to wait, when so much simulation time has passed since it was there. */
int64_t periods_ahead_ns(const class_table *classes, const agent_store *store, uint32_t index);
void periods_resume(class_table *classes, agent_store *store, uint32_t index, int64_t ahead_ns, uint64_t passed_ns);

/* The agent is to run in one of the frames after the one in which its period has passed: moves its virtual_due_ns from
 * there into the chosen frame, and reserves it. The delay never reaches the next due time, so that no period is missed.
 * Several shards may do so at the same time. */
void periods_plan(activation_book *book, const agent_class *class, uint32_t share, agent_row *row, uint32_t index);

/* When a new agent's first update comes, counted in updates of its class at its nominal period. Ask after
 * periods_begin(). 0 where activation is not planned. */
uint32_t periods_first_update(const class_table *classes, uint32_t class, uint32_t index);

/* 2^-x for x >= 0: an exponent, and a polynomial for the rest that is right to 6e-4. */
static inline float periods_halved(float x) {
  if (x > 30.0f) return 0.0f;
  int32_t whole = (int32_t)x;
  float rest = x - (float)whole;
  union {
    uint32_t bits;
    float value;
  } power = {(uint32_t)(127 - whole) << 23};
  return (1.0f - rest * (0.69305f - rest * (0.23798f - rest * 0.04493f))) * power.value;
}

/* Rankin's run counter, in nominal periods: rc <- rc (1 - 1/16)^g + 1/16 for a run after a gap of g periods; it is
 * frozen while the agent waits to be run. An agent woken more often than its period would exceed what a row can hold.
 */
static inline uint16_t periods_run_counter(const agent_row *row, float per_nominal) {
  const float log2_of_16_15 = 0.09310940f;
  int64_t gap_ns = (int64_t)(row->first_due_ns - row->last_update_ns);
  float gap = gap_ns > 0 ? (float)gap_ns * per_nominal : 0.0f;
  float runs = (float)row->runs * periods_halved(gap * log2_of_16_15) + (float)RUNS_ONE / 16.0f;
  return (uint16_t)(int32_t)(runs < (float)UINT16_MAX ? runs : (float)UINT16_MAX);
}

/* Sets an agent back to the due time of its period, and takes it out of the book. */
static inline void periods_unplan(activation_book *book, uint32_t share, agent_row *row, uint32_t index) {
  uint64_t delay_ns = activation_take_back(book, share, index);
  row->virtual_due_ns -= delay_ns < row->virtual_due_ns ? delay_ns : row->virtual_due_ns;
}

/* Where an agent waits whose contract is not plain. Without a period it waits nowhere. With whole steps it waits
 * for the first due time at which one is due, so that it is not released for nothing. */
static inline void periods_wait(class_table *classes, agent_class *class, uint32_t share, agent_store *store,
                                const ready_set *ready, uint32_t index) {
  agent_row *row = &store->rows[index];
  if (class->elapsed == MUSTER_ELAPSED_EVENTS) {
    row->status = AGENT_WAITING;
    row->scheduled = 0;
    return;
  }
  bool planned = classes->activation.delay_max > 0;
  if (planned) periods_unplan(&classes->activation, share, row, index);
  due_set_next(class, row);
  /* Class time is never faster than simulation time: the release comes no sooner. */
  while (ready->now_ns + due_remaining_ns(class, row) - row->last_update_ns < class->step_ns)
    row->virtual_due_ns += class->nominal_ns;
  if (planned) periods_plan(&classes->activation, class, share, row, index);
  due_insert(classes, class, store, index);
}

/* When an agent with a plain contract is due after an update: by its period, and then by plan. */
static inline void periods_set_next(class_table *classes, const agent_class *class, uint32_t share, agent_row *row,
                                    uint32_t index) {
  bool planned = classes->activation.delay_max > 0;
  if (planned) periods_unplan(&classes->activation, share, row, index);
  due_set_next(class, row);
  if (planned) periods_plan(&classes->activation, class, share, row, index);
}

/* A pass over only those sets that were owed time is no update: the agent goes on waiting for the time at which it is
 * due, which may have come. */
static inline void periods_continued(class_table *classes, const agent_class *class, agent_store *store,
                                     ready_set *ready, uint32_t index) {
  agent_row *row = &store->rows[index];
  row->owes = 0;
  ready_forget(ready, store, index);
  if (class->elapsed != MUSTER_ELAPSED_EVENTS) {
    due_insert(classes, class, store, index);
    return;
  }
  row->status = AGENT_WAITING;
  row->scheduled = 0;
}

/* Sets of an agent are owed time after its update, or after a pass that continued one: the agent is ready again at
 * once, and begins to wait now. */
void periods_owing(class_table *classes, agent_store *store, ready_set *ready, uint32_t index, uint64_t reached_ns,
                   bool continued, uint64_t frame);

/* Whether a ready agent runs only the sets that are owed time: its own time has not come, or it is at this time
 * already, and it was not woken. */
static inline bool periods_continues(const class_table *classes, const agent_row *row, uint64_t now_ns) {
  if (!row->owes || row->woken) return false;
  const agent_class *class = &classes->classes[row->class];
  return class->elapsed == MUSTER_ELAPSED_EVENTS || row->virtual_due_ns > class->clock_ns ||
         row->last_update_ns >= now_ns;
}

/* A waiting agent is released ahead of its period: it was woken, or a time has come that was asked for. */
void periods_release_early(class_table *classes, agent_store *store, ready_set *ready, uint32_t index, uint64_t now_ns,
                           uint64_t frame);

/* What a completed update leaves behind, before the agent waits again. */
static inline void periods_close(agent_store *store, ready_set *ready, const agent_class *class, uint32_t index,
                                 uint64_t reached_ns) {
  agent_row *row = &store->rows[index];
  ASSERT(reached_ns >= row->last_update_ns);
  row->runs = periods_run_counter(row, class->per_nominal);
  row->last_update_ns = reached_ns;
  row->atom_next = 0;
  row->woken = 0;
  row->timed = 0;
  row->owes = 0;
  ready_forget(ready, store, index);
}

/* After a completed update: the run counter, the next due time by phase; it waits again. `reached_ns` is the
 * simulation time to which the update brought the agent. Agents may be completed into different shares at the same
 * time, when they are in no line, or were taken out of it before. */
static inline void periods_completed(class_table *classes, agent_class *class, uint32_t share, agent_store *store,
                                     ready_set *ready, uint32_t index, uint64_t reached_ns) {
  periods_close(store, ready, class, index, reached_ns);
  if (class->elapsed != MUSTER_ELAPSED_DELTA && class->elapsed != MUSTER_ELAPSED_ANALYTIC) {
    periods_wait(classes, class, share, store, ready, index);
    return;
  }
  periods_set_next(classes, class, share, &store->rows[index], index);
  due_insert(classes, class, store, index);
}

/* The same for an agent that is due `later_ns` after it was due, on the clock of its class, and not after its period
 * (plan/rates.h). */
static inline void periods_completed_until(class_table *classes, const agent_class *class, uint32_t share,
                                           agent_store *store, ready_set *ready, uint32_t index, uint64_t reached_ns,
                                           int64_t later_ns) {
  agent_row *row = &store->rows[index];
  bool planned = classes->activation.delay_max > 0;
  periods_close(store, ready, class, index, reached_ns);
  if (planned) periods_unplan(&classes->activation, share, row, index);
  row->virtual_due_ns += (uint64_t)later_ns;
  if (planned) periods_plan(&classes->activation, class, share, row, index);
  due_insert(classes, class, store, index);
}

#endif
