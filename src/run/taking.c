#include "run/taking.h"

#include "pool/identity.h"
#include "pool/ticket.h"
#include "run/removals.h"
#include "run/strands.h"
#include "run/wakes.h"

/* ----------------------------------------------------------------------------------------------------- woken agents */

/* Whether a woken agent can be run at once. Agents are woken for workers on the wall clock alone. */
static bool takes_wake(const struct runner *runner, uint32_t agent) {
  const agent_row *row = &runner->store->rows[agent];
  if (!identity_is_live(runner->agents, agent, identity_generation(runner->agents, agent)) ||
      removals_waits(runner->removals, agent) || !store_is_active(runner->store, agent) ||
      (row->status != AGENT_WAITING && row->status != AGENT_READY) || row->atom_next ||
      row->last_update_ns >= runner->now_ns)
    return false;
  const agent_type *type = &runner->types->types[row->type];
  bool quiet = type->gapped && runner->now_ns < runner->store->alarms[agent].quiet_until_ns;
  return !type->spawns_max && !type->strands && !type->quarantined && !quiet;
}

/* What the update of an agent that was not ranked may take: as much as the last entry of its type. */
static uint32_t slice_of(const struct runner *runner, uint32_t type) {
  uint64_t slice_ns = runner->types->types[type].def.sets.slice_ns;
  uint32_t last_ns = runner->batch->shares[type];
  return last_ns ? last_ns : (uint32_t)slice_ns;
}

/* Puts a woken agent behind the batch, if it waits for its period and wins the swap; else leaves it to the next intake.
 */
static bool taking_admit_woken(worker_state *state, struct runner *runner, uint32_t agent, batch_claim *claim) {
  const agent_row *row = &runner->store->rows[agent];
  const agent_type *type = &runner->types->types[row->type];
  if (!takes_wake(runner, agent)) {
    if (state->log_count == runner->log_max) return false;
    struct command wake = {COMMAND_WAKE, .index = agent, .generation = identity_generation(runner->agents, agent)};
    state->log[state->log_count++] = (logged_command){UINT32_MAX, 0, wake};
    return true;
  }
  if (!wakes_begin(runner->wakes, agent)) return true;
  uint32_t entry = runner->batch->count + fetch_add_relaxed_u32(&runner->woken_count, 1);
  runner->batch->entries[entry] = (batch_entry){.agent = agent, .atom_end = type->parallel_atoms};
  if (type->has_sets) runner->batch->passes[entry] = (batch_pass){.slice_ns = slice_of(runner, row->type)};
  runner->batch->outcomes[entry] = OUTCOME_NOT_RUN;
  *claim = (batch_claim){.first = entry, .end = entry + 1, .timed = true};
  return true;
}

/* Makes a claim of the next agent that was woken; false when none can be run now. */
static bool taking_take_woken(worker_state *state, struct runner *runner, batch_claim *claim) {
  uint32_t agent;
  claim->end = 0;
  while (state->takes_woken && wakes_pop(runner->wakes, &agent)) {
    if (!taking_admit_woken(state, runner, agent, claim)) {
      wakes_return(runner->wakes, agent); /* no room in the log: the next intake finds the hint where it was */
      state->takes_woken = false;
    }
    if (claim->end) return true;
  }
  return false;
}

/* ----------------------------------------------------------------------------------------------------------- claims */

static uint32_t next_atom(const struct runner *runner, uint32_t entry_index) {
  if (runner->batch->outcomes[entry_index] == OUTCOME_PREEMPTED) return runner->batch->results[entry_index].atom_next;
  return runner->store->rows[runner->batch->entries[entry_index].agent].atom_next;
}

/* Whether a claim is worth starting now. A long update of several atoms is: it stops between two of them, or between
 * two sets when sets run whole. */
static bool fits(const worker_state *state, const struct runner *runner, const batch_claim *claim, uint64_t clock_ns) {
  uint64_t stop_ns = runner_stop_ns(runner, state);
  if (clock_ns + claim->predicted_ns <= stop_ns) return true;
  if (claim->end - claim->first > 1) return false;
  const batch_entry *entry = &runner->batch->entries[claim->first];
  const agent_type *type = &runner->types->types[runner->store->rows[entry->agent].type];
  uint32_t whole = 2u * type->sets.whole; /* since a pass may cost what was predicted and run only half of its atoms */
  if (type->has_sets)
    return entry->atom_end > whole && clock_ns + claim->predicted_ns * (uint64_t)whole / entry->atom_end <= stop_ns;
  uint32_t atoms = (uint32_t)(entry->atom_end - next_atom(runner, claim->first));
  return atoms > 1 && clock_ns + claim->predicted_ns / atoms <= stop_ns;
}

/* Whether a claim is left until nothing else is left to run, because an overrun as long as its types' latest would
 * cross the end. Not on strands, which have an order. */
static bool taking_leaves(const worker_state *state, struct runner *runner, const batch_claim *claim,
                          uint64_t clock_ns) {
  uint64_t risk_ns = claim->risk_ns < runner->risk_most_ns ? claim->risk_ns : runner->risk_most_ns;
  if (__builtin_expect(risk_ns == 0, true) || runner->takes_risks || claim->strand) return false;
  return clock_ns + claim->predicted_ns + risk_ns > runner_stop_ns(runner, state) && ring_push(&runner->risks, claim);
}

/* Takes the claim of that number if there is time for it. */
static bool taking_take_number(const worker_state *state, struct runner *runner, uint32_t number, uint64_t clock_ns,
                               batch_claim *claim) {
  enum { AHEAD = 8 };
  *claim = runner->batch->claims[number];
  claim->sure |= number == 0;
  __builtin_prefetch(&runner->batch->claims[number + AHEAD], 1);
  if (runner->virtual || claim->sure) return true;
  return fits(state, runner, claim, clock_ns) && !taking_leaves(state, runner, claim, clock_ns);
}

/* Goes on with the strand that the worker has entered, and leaves it when none of its claims is left. */
static bool taking_goes_on(worker_state *state, struct runner *runner, uint64_t clock_ns, batch_claim *claim) {
  while (state->strand) {
    if (!strands_goes_on(runner, state->strand))
      state->strand = 0;
    else if (taking_take_number(state, runner, strands_take(runner, state->strand), clock_ns, claim))
      return true;
  }
  return false;
}

/* Enters the strand of a claim that was drawn. True: *number is the claim on it that runs next. */
static bool taking_enters(worker_state *state, struct runner *runner, uint32_t *number) {
  uint32_t strand = runner->batch->claims[*number].strand;
  if (!strand) return true;
  if (!strands_enter(runner, strand)) return false;
  state->strand = strand;
  *number = strands_take(runner, strand);
  return true;
}

bool taking_next(worker_state *state, struct runner *runner, bool early_only, uint64_t clock_ns, batch_claim *claim) {
  bool wall = !runner->virtual, late = wall && clock_ns >= runner_stop_ns(runner, state);
  uint32_t number;
  /* The planning is over, and workers that come now also ask for woken agents. But no other worker runs what is left on
   * the strand that this one has entered. */
  if (early_only && !load_relaxed_u32(&runner->planning))
    return !late && taking_goes_on(state, runner, clock_ns, claim);
  if (!late && taking_take_woken(state, runner, claim)) return true;
  if (!late && taking_goes_on(state, runner, clock_ns, claim)) return true;
  while (!late && ring_pop(&runner->rests, claim))
    if (fits(state, runner, claim, clock_ns)) return true;
  while ((number = ticket_take(&runner->ticket)) != TICKET_NONE) {
    if (taking_enters(state, runner, &number) && taking_take_number(state, runner, number, clock_ns, claim))
      return true;
    if (late) break;
    if (taking_goes_on(state, runner, clock_ns, claim)) return true;
  }
  while (!late && runner->takes_risks && ring_pop(&runner->risks, claim))
    if (fits(state, runner, claim, clock_ns)) return true;
  return false;
}
