/* plan/rank.h - stage 6: in which order do released agents run, and which are admitted?
 *
 * Order: the first agent that has waited longer than 2 S; woken agents; agents that have waited longer than S, first
 * in, first out; the rest by key (plan/ready.h). While an agent waits longer than S, such agents and the woken take
 * turns, half of the time each: agents that wake each other leave something to the others. Admission is by predicted
 * cost until the capacity is filled, or by x: on the wall clock by means, and beyond the capacity as far as costs vary,
 * since the clock ends a frame and not what was predicted. Under the virtual clock admission is the schedule: each atom
 * is charged what the type's cost model says, and an update that does not fit whole is cut between two atoms; in the
 * paper's order (Tan & Wong, fig. 3) an update that begins while time is left runs whole, beyond the end of it.
 *
 * In the order of deadlines there is one order for all, and late agents come first by their keys. Only agents that are
 * woken while the frame runs leave half of it to the others, while a ranked agent is late. */
#ifndef PLAN_RANK_H
#define PLAN_RANK_H

#include "agents/batch.h"
#include "agents/types.h"
#include "plan/costs.h"
#include "plan/due.h"
#include "plan/ready.h"

typedef struct rank_limits {
  uint64_t now_ns;      /* simulation time */
  uint64_t capacity_ns; /* predicted (virtual: modelled) cost that may be admitted */
  uint64_t entry_ns;    /* wall clock: what each entry takes of it besides, for ranking and settling */
  uint32_t updates_max; /* x; UINT32_MAX = no limit */
  uint32_t spawn_ids;   /* ids that can be set aside for spawns from inside updates */
  bool virtual;
  bool planned;           /* the host runs what is admitted, and is told slices */
  float deviations;       /* wall clock: more is admitted until the sum of means passes the capacity by so many standard
                             deviations of it; */
  uint32_t entries_least; /* and at least so many entries */
  bool appends;           /* wall clock: the batch has entries that ran already: none runs whatever it costs, */
  uint32_t entries_ran;   /* so many take nothing of the capacity, */
  uint64_t longest_ns;    /* what is believed to take longer is passed over, */
  float scale;            /* and claims are predicted to take this part of what their updates are believed to cost */
  uint64_t seed;
  uint32_t cycles_max;       /* above 1: the most important agents have several cycles, */
  float cycles_from;         /* namely those of this importance or above */
  class_table *classes;      /* where agents of types in quarantine go; null when there are none */
  const struct parts *parts; /* how released agents are sorted beside each other; null: they are not */
  /* Called now and then, while ranking goes on: the first `claims` of the batch are as they will be, and so are their
   * entries. All entries so far are predicted to take `predicted_ns`. Null where no worker runs claims before ranking
   * ends. */
  void (*publish)(void *owner, uint32_t claims, uint64_t predicted_ns);
  void *owner;
} rank_limits;

typedef struct rank_result {
  uint64_t predicted_ns; /* of what was admitted */
  uint64_t longest_ns;   /* virtual: the longest single update, */
  uint64_t atom_ns;      /* and atom */
  uint32_t fits;         /* so many entries of the batch are predicted to fit into the capacity */
  uint32_t passed_over;  /* agents that did not fit, though others after them did */
  uint32_t spawn_ids;    /* set aside */
  bool guarded;          /* an agent has waited longer than S: woken agents leave half of the capacity, */
  uint64_t woken_ns;     /* and take so much of it */
} rank_result;

/* Begins a batch with the held agents; cuts their claims. Returns how much of capacity and ids they take. */
rank_result rank_held(agent_store *store, const type_table *types, const cost_table *costs, const rank_limits *limits,
                      struct batch *batch);

/* Fills the batch from the ready set, after what rank_held put there (`held` is its result); or appends to it while it
 * runs (`held` is the result of the last ranking, with nothing predicted). The first agent is
 * admitted whatever it costs, so that none starves for being longer than the capacity; and the first in the queue by
 * release comes before even the woken when it has waited longer than 2 S. An agent that was released in this frame
 * and not admitted begins to wait. O(released + admitted + buckets touched). */
rank_result rank_fill(ready_set *ready, agent_store *store, const type_table *types, const cost_table *costs,
                      const rank_limits *limits, rank_result held, struct batch *batch);

#endif
