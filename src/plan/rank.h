/* plan/rank.h - stage 6: in which order do released agents run, and who is admitted?
 *
 * Order: the first who has waited longer than 2 S; woken agents; who has waited longer than S, first in, first out;
 * the rest by key (plan/ready.h). While somebody waits longer than S, such and the woken take turns, half of the time
 * each: agents that wake each other leave something to the others. Admission is by predicted cost until the capacity is
 * filled, or by x. Under the virtual clock admission is the schedule: each atom is charged what the type's cost model
 * says, and an update that does not fit whole is cut between two atoms; in the paper's order (Tan & Wong, fig. 3) one
 * that begins while time is left runs whole, over the end of it.
 *
 * In the order of deadlines there is one order for all, and who is late comes first by itself. Only those who are woken
 * while the frame runs leave half of it to the others, while somebody ranked is late. */
#ifndef PLAN_RANK_H
#define PLAN_RANK_H

#include "agents/batch.h"
#include "agents/types.h"
#include "plan/costs.h"
#include "plan/ready.h"
#include "plan/wheel.h"

typedef struct rank_limits {
  uint64_t now_ns;      /* simulation time */
  uint64_t capacity_ns; /* predicted (virtual: modelled) cost that may be admitted */
  uint64_t entry_ns;    /* wall clock: what each entry takes of it besides, to be ranked and settled */
  uint32_t updates_max; /* x; UINT32_MAX = no limit */
  uint32_t spawn_ids;   /* ids that can be set aside for spawns from inside updates */
  bool virtual;
  bool planned; /* the host runs what is admitted: wall clock costs are charged with room, and their sum fits */
  uint64_t seed;
  uint32_t cycles_max;  /* above 1: the most important have several cycles, */
  float cycles_from;    /* those of this importance or above */
  class_table *classes; /* where agents of types in quarantine go; null when there are none */
} rank_limits;

typedef struct rank_result {
  uint64_t predicted_ns; /* of what was admitted */
  uint64_t longest_ns;   /* virtual: the longest single update, */
  uint64_t atom_ns;      /* and atom */
  uint32_t spawn_ids;    /* set aside */
  bool guarded;          /* somebody has waited longer than S: woken agents leave half of the capacity, */
  uint64_t woken_ns;     /* and take so much of it */
} rank_result;

/* Begins a batch with the agents that were held; cuts their claims. Returns what they take of limits and ids. */
rank_result rank_held(agent_store *store, const type_table *types, const cost_table *costs, const rank_limits *limits,
                      struct batch *batch);

/* Fills the batch from the ready set, after what rank_held put there (`held` is its result). The first agent is
 * admitted whatever it costs, so that none starves for being longer than the capacity; and the first in the line by
 * release comes before even the woken when it has waited longer than 2 S. Who was released in this frame
 * and not admitted begins to wait. O(released + admitted + buckets touched). */
rank_result rank_fill(ready_set *ready, agent_store *store, const type_table *types, const cost_table *costs,
                      const rank_limits *limits, rank_result held, struct batch *batch);

#endif
