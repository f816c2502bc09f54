#include "frame/sets_commit.h"

batch_outcome sets_settle(struct muster_world *world, const batch_entry *entry, const batch_result *result,
                          batch_outcome outcome) {
  const agent_row *row = &world->store.rows[entry->agent];
  const agent_type *type = &world->types.types[row->type];
  set_pass *kept = &type->sets.passes[row->state_slot];
  if (outcome != OUTCOME_PREEMPTED) {
    world->report.preempted += result->owes == OWES_BY_FRAME;
    return outcome;
  }
  uint32_t current = kept->current;
  if (pass_abandon(&type->sets, sets_states_of(&type->sets, row->state_slot), kept, row->level)) {
    worker_state *state = runner_caller(&world->runner);
    state->set_counts[row->type * MUSTER_SETS_MAX + current - 1].cuts++;
    state->sets_cut++;
  }
  world->report.preempted++;
  return kept->left ? OUTCOME_ACT : OUTCOME_FINISHED;
}

void sets_count(struct muster_world *world) {
  for (uint32_t i = 0; i < world->runner.state_count; i++) {
    worker_state *state = &world->runner.states[i];
    world->report.sets_cut += (uint32_t)state->sets_cut;
    world->statistics.sets_cut += state->sets_cut;
    world->statistics.results_refused += state->results_refused;
    state->sets_cut = state->results_refused = 0;
  }
}
