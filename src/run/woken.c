#include "run/woken.h"

/* Whether a woken agent can be run at once. */
static bool takes_wake(const runner *runner, uint32_t agent) {
  const agent_row *row = &runner->store->rows[agent];
  if (!identity_is_live(runner->agents, agent, identity_generation(runner->agents, agent)) ||
      !store_is_active(runner->store, agent) || (row->status != AGENT_WAITING && row->status != AGENT_READY) ||
      row->atom_next)
    return false;
  const agent_type *type = &runner->types->types[row->type];
  bool quiet = type->gapped && runner->now_ns < runner->store->alarms[agent].quiet_until_ns;
  return !type->spawns_max && !type->quarantined && !quiet;
}

/* What an update may take that nobody ranked: as much as the last of its type. */
static uint32_t slice_of(const runner *runner, uint32_t type) {
  uint64_t slice_ns = runner->types->types[type].def.slice_ns;
  uint32_t last_ns = runner->batch->shares[type];
  return last_ns ? last_ns : (uint32_t)slice_ns;
}

/* Puts a woken agent behind the batch, if it waits for its period and wins the swap; else it is the next intake's. */
static bool admit_woken(worker_state *state, runner *runner, uint32_t agent, batch_claim *claim) {
  const agent_row *row = &runner->store->rows[agent];
  const agent_type *type = &runner->types->types[row->type];
  if (!takes_wake(runner, agent)) {
    if (state->log_count == runner->log_max) return false;
    command wake = {COMMAND_WAKE, .index = agent, .generation = identity_generation(runner->agents, agent)};
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

bool woken_take(worker_state *state, runner *runner, batch_claim *claim) {
  uint32_t agent;
  claim->end = 0;
  while (state->takes_woken && wakes_pop(runner->wakes, &agent)) {
    if (!admit_woken(state, runner, agent, claim)) {
      wakes_return(runner->wakes, agent); /* no room to note it: the next intake finds it where it was */
      state->takes_woken = false;
    }
    if (claim->end) return true;
  }
  return false;
}
