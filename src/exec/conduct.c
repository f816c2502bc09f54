#include "exec/conduct.h"

void conduct_begin(worker_state *state, uint64_t clock_ns) {
  state->own_ns = clock_ns;
  state->own_cpu_ns = clock_thread_cpu();
}

/* What is left of a duration that ends at clock_ns. */
static uint64_t own_part(worker_state *state, uint64_t duration_ns, uint64_t clock_ns) {
  uint64_t began_ns = state->own_ns, began_cpu_ns = state->own_cpu_ns;
  conduct_begin(state, clock_ns);
  uint64_t passed_ns = clock_ns > began_ns ? clock_ns - began_ns : 0, used_ns = state->own_cpu_ns - began_cpu_ns;
  uint64_t taken_ns = passed_ns > used_ns ? passed_ns - used_ns : 0;
  return duration_ns > taken_ns ? duration_ns - taken_ns : 0;
}

uint64_t conduct_long_atom(worker_state *state, const runner *runner, uint32_t atom, uint64_t atom_ns,
                           uint64_t clock_ns) {
  const muster_update *update = &state->context.public;
  if (!runner->virtual) {
    atom_ns = own_part(state, atom_ns, clock_ns);
    clock_ns = clock_now(&runner->clock);
  }
  if (atom_ns <= state->context.type->def.limit_ns) return clock_ns;
  if (state->context.late_atoms) { /* noted by the frame's thread, in the order of agents */
    uint32_t number = atom - state->context.type->parallel_atoms;
    *state->context.late_atoms |= 1ull << (number < 63 ? number : 63);
    return clock_ns;
  }
  offences_add(&state->offences, &(offence){.duration_ns = atom_ns,
                                            .agent = update->agent.index,
                                            .generation = update->agent.generation,
                                            .type = (uint16_t)(update->type.index - 1),
                                            .atom = (uint16_t)atom,
                                            .level = (uint8_t)update->level});
  return clock_ns;
}

static void suspect(worker_state *state, uint16_t type) {
  for (uint32_t i = 0; i < state->suspect_count; i++)
    if (state->suspects[i] == type) return;
  if (state->suspect_count < SUSPECTS_MAX) state->suspects[state->suspect_count++] = type;
}

void conduct_long_claim(worker_state *state, const runner *runner, const batch_claim *claim, uint64_t claim_ns,
                        uint64_t clock_ns) {
  if (runner->virtual || claim->timed || claim_ns <= claim->predicted_ns) return;
  claim_ns = own_part(state, claim_ns, clock_ns);
  if (claim_ns <= claim->predicted_ns) return;
  for (uint32_t i = claim->first; i < claim->end; i++) {
    uint16_t number = runner->store->rows[runner->batch->entries[i].agent].type;
    if (claim_ns > runner->types->types[number].def.limit_ns) suspect(state, number);
  }
}
