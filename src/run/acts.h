/* run/acts.h - stage 8: action atoms; agents that may act beside each other.
 *
 * The frame's thread lists the agents that are to act, in agent order, and settles them afterwards in the same order.
 * In between the place, row and published state of no agent change, so that workers may read them. What an action does
 * to its own agent stands in its result; what it asks of others goes to the worker's log, tagged with the entry; ids
 * for its spawns and places for its messages are set aside before.
 *
 *   regions    one claim is a chain of agents, in agent order: all of some regions, several for each worker
 *   parallel   a claim is a few entries
 *
 * A worker reads the clock after each agent, and starts an agent only if it is expected to end before `stop_ns`. */
#ifndef RUN_ACTS_H
#define RUN_ACTS_H

#include "run/runner.h"

/* An agent that is to act. */
typedef struct act_entry {
  uint64_t late_atoms; /* virtual clock: bit k: action atom k is over its limit; the last stands for all after it */
  uint32_t agent;
  uint32_t next;       /* the next entry of the chain; 0 = it is the last */
  uint32_t spawn_base; /* as in batch_entry */
  uint32_t send_base;
  uint16_t spawn_limit, send_limit;
  uint16_t taken;    /* of a leaf of a herd: members that it took out of itself */
  bool sure : 1;     /* runs whatever it costs */
  bool left_out : 1; /* in a replay: it found no time in the recorded run */
  bool ran : 1;
  bool left : 1; /* it was not settled beside others */
} act_entry;

_Static_assert(sizeof(act_entry) == 32, "two entries share a cache line");

/* Counts of one worker. */
typedef struct act_part {
  _Alignas(64) uint64_t spent_ns;
  uint32_t acted;
  uint32_t spawned; /* by its agents */
  uint32_t left;    /* agents that are not settled beside others */
} act_part;

enum { ACT_CHAINS_MAX = 4096, ACT_CHAINS_EACH = 16 /* for each worker */ };

struct acts {
  struct runner *runner;
  muster_act kind; /* of the agents in the list */
  uint32_t count;
  act_entry *entries;    /* agents_max */
  batch_result *results; /* beside the entries */
  uint8_t *removed;      /* by agent: an agent of its region removed it; written by its region's worker only */
  bool timed;            /* else all run */
  bool sure;             /* the first entry that is taken runs whatever it costs */
  uint64_t stop_ns;      /* wall */
  uint64_t each_ns;      /* what one entry is expected to take */
  uint32_t claim_count, claim_entries;
  uint32_t *chains;               /* of regions: the first entry of each claim, ACT_CHAINS_MAX at most, */
  uint32_t *lengths;              /* how many it has, */
  uint32_t *last_of_chain;        /* and the last so far */
  act_part *parts;                /* by worker */
  _Alignas(64) shared_u64 ticket; /* claims that are not taken yet */
};

/* Reserves room for `agents_max` on a grid. When memory is refused, arena->failed is set and all is as before. */
void acts_create(struct acts *acts, struct runner *runner, uint32_t agents_max, struct arena *arena);

/* Cuts the list into claims. Frame's thread. O(count). */
void acts_open(struct acts *acts);

/* What a team's worker runs: takes claims until there are none or time is up. `argument` is the list. */
void acts_work(void *argument, uint32_t worker);

/* Runs all entries on the frame's thread, in agent order, until time is up. */
void acts_run_in_order(struct acts *acts);

/* Runs the action atoms of an agent, from its first action atom to its last. At the commit; `state` is of the worker
 * that runs it. */
void acts_run_one(worker_state *state, uint32_t index, batch_result *result);

/* Whether an update is an action that may run beside others. */
static inline bool acts_beside(const update_context *context) {
  return context->phase == PHASE_ACT && context->act != MUSTER_ACT_SERIAL;
}

#endif
