/* agents/passes.h - one update of a type with sets: which of them run, in which order, and how long each may.
 *
 * The ranking (virtual clock) and the workers (wall clock) walk a pass by the same steps, each with a clock of its own:
 *
 *     pass_open -> { pass_next -> atoms of the set, while pass_goes_on } -> a set that was cut or not run is owed time
 *
 * Only a worker keeps the outcome: pass_begin, pass_complete, pass_cut and pass_end write to the agent's own state. */
#ifndef AGENTS_PASSES_H
#define AGENTS_PASSES_H

#include "agents/sets.h"

#include <muster/sets.h>

/* A pass that is under way. Bits stand for sets as in set_pass. */
struct pass {
  const set_table *table;
  uint64_t end_ns;      /* of the update's time, */
  uint64_t stop_ns;     /* of the frame, */
  uint64_t set_end_ns;  /* and of the set's share */
  uint32_t weight;      /* sum of the shares of behaviours that had no turn yet */
  uint16_t left;        /* sets that had no turn yet, actions as well */
  bool begun;           /* some set had its turn */
  bool stopped;         /* by the end of the frame, not by the update's own share */
  const uint8_t *order; /* sets without the actions; those not in `left` are skipped */
  uint8_t count, at;
  uint8_t own_order[MUSTER_SETS_MAX]; /* used when it differs from the table's */
};

/* The sets that are active now; with `continues`, only those that are owed time. */
uint16_t pass_active(const set_table *table, const set_state *states, const set_pass *kept, uint32_t level,
                     uint64_t now_ns, bool continues);

/* Opens a pass over these sets: role by role, those that are owed time first, beginning behind the last that ran.
 * `end_ns` and `stop_ns` are on the clock of the caller; UINT64_MAX = never. */
void pass_open(struct pass *pass, const set_table *table, const set_pass *kept, uint16_t active, uint64_t end_ns,
               uint64_t stop_ns);

/* The set that would be next; MUSTER_SETS_MAX when there is none. */
static inline uint32_t pass_peek(struct pass *pass) {
  for (; pass->at < pass->count; pass->at++)
    if (pass->left >> pass->order[pass->at] & 1) return pass->order[pass->at];
  return MUSTER_SETS_MAX;
}

/* A set has its turn now, with its share of what is left. */
static inline void pass_take(struct pass *pass, uint32_t number, uint64_t clock_ns) {
  const set_table *table = pass->table;
  uint32_t share = table->shares[number], weight = pass->weight;
  pass->begun = true;
  pass->left &= (uint16_t) ~(1u << number);
  pass->set_end_ns = pass->end_ns;
  if (!(table->behaviours >> number & 1)) return;
  pass->weight = weight - share;
  if (pass->end_ns == UINT64_MAX || weight == share) return;
  uint64_t left_ns = pass->end_ns > clock_ns ? pass->end_ns - clock_ns : 0;
  pass->set_end_ns = clock_ns + left_ns * share / weight;
}

/* Takes the next set; MUSTER_SETS_MAX when there is none, or time is up at clock_ns. The first has its turn whatever
 * the time. `next_ns` is what its first atom is expected to take. */
static inline uint32_t pass_next(struct pass *pass, uint64_t clock_ns, uint64_t next_ns) {
  uint32_t number = pass_peek(pass);
  if (number == MUSTER_SETS_MAX) return number;
  if (pass->begun && (clock_ns >= pass->end_ns || clock_ns + next_ns > pass->stop_ns)) {
    pass->stopped |= clock_ns + next_ns > pass->stop_ns;
    return MUSTER_SETS_MAX;
  }
  pass_take(pass, number, clock_ns);
  return number;
}

/* Whether the set goes on with an atom that is expected to take so long. */
static inline bool pass_goes_on(struct pass *pass, const type_set *set, uint64_t clock_ns, uint64_t next_ns) {
  if (set->mode == MUSTER_MODE_RUN) return true;
  if (clock_ns + next_ns <= pass->stop_ns) return clock_ns < pass->set_end_ns;
  pass->stopped = true;
  return false;
}

/* The atom of the type with which a set begins, or goes on. */
static inline uint32_t pass_first_atom(const type_set *set, const set_state *state) {
  return set->mode == MUSTER_MODE_SLICEABLE && state->goes_on ? state->goes_on - 1u : set->first_atom;
}

/* A worker begins a pass: periods in ns count from here. */
void pass_begin(const set_table *table, set_state *states, set_pass *kept, uint16_t active, uint64_t now_ns,
                bool continues);

/* A run of a set begins at now_ns, or goes on. */
static inline void pass_begin_set(const type_set *set, set_state *state, uint64_t now_ns) {
  if (set->mode == MUSTER_MODE_SLICEABLE && state->goes_on) return;
  state->began_ns = now_ns;
  state->goes_on = 0;
  state->progress = 0;
  state->reported = false;
}

/* The set had its turn: in the next pass, sets that are owed time begin behind it. */
static inline void pass_leave(const type_set *set, set_pass *kept, uint32_t number) {
  kept->last[set->role == MUSTER_ROLE_BEHAVIOUR] = (uint8_t)(number + 1);
}

/* A run of a set is complete. It may have taken frames: its period goes on from here (is_due). */
static inline void pass_complete(set_state *state, uint64_t now_ns) {
  state->last_ns = state->began_ns;
  state->began_ns = now_ns;
  state->goes_on = 0;
  state->progress = 0;
  state->reported = false;
}

/* A run of a set is interrupted before `atom`, for now. */
static inline void pass_pause(set_state *state, uint32_t atom) {
  state->goes_on = (uint16_t)(atom + 1);
}

/* A run of a set is cut before `atom`. */
void pass_cut(const type_set *set, set_state *state, uint32_t atom);

/* The parallel part of a pass is over: sets in `left` had no turn, and its actions wait for theirs. Returns whether any
 * set is owed time. */
bool pass_end(const set_table *table, const set_state *states, set_pass *kept, uint16_t left, uint32_t level);

/* A pass gave way, and no worker went on with it: its current set is cut. Returns whether a set was cut. */
bool pass_abandon(const set_table *table, set_state *states, set_pass *kept, uint32_t level);

#endif
