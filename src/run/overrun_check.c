#include "run/overrun_check.h"

/* Why an atom or a claim was without its processor for some time. */
typedef enum absence { ABSENCE_PREEMPTED, ABSENCE_WAITED, ABSENCE_UNCLEAR } absence;

static void look(worker_state *state, uint64_t clock_ns) {
  state->own_ns = clock_ns;
  state->own_cpu_ns = clock_thread_cpu();
  state->own_switches = clock_thread_switches();
}

void overrun_check_begin(worker_state *state, uint64_t clock_ns) {
  state->exact_for = 0;
  look(state, clock_ns);
}

void overrun_check_begin_suspect(worker_state *state, const struct runner *runner, uint32_t index) {
  look(state, clock_now(&runner->clock));
  state->exact_for = index + 1;
}

/* How long at most the thread was away from its processor in a duration that ends at clock_ns, and why. */
static uint64_t look_again(worker_state *state, uint64_t duration_ns, uint64_t clock_ns, absence *why) {
  uint64_t began_ns = state->own_ns, began_cpu_ns = state->own_cpu_ns;
  thread_switches before = state->own_switches;
  bool exact = state->exact_for == state->context.index + 1u;
  look(state, clock_ns);
  uint64_t passed_ns = clock_ns > began_ns ? clock_ns - began_ns : 0, used_ns = state->own_cpu_ns - began_cpu_ns;
  uint64_t away_ns = passed_ns > used_ns ? passed_ns - used_ns : 0;
  uint64_t waited = state->own_switches.waited - before.waited;
  uint64_t preempted = state->own_switches.preempted - before.preempted;
  *why = ABSENCE_PREEMPTED;
  if (waited) *why = !preempted || (exact && waited > preempted) ? ABSENCE_WAITED : ABSENCE_UNCLEAR;
  return away_ns < duration_ns ? away_ns : duration_ns;
}

/* Suspects a type, and in it one agent (1 + index; 0 = not known yet); the agent suspected last is looked at next. */
static void suspect(worker_state *state, uint16_t type, uint32_t agent) {
  uint32_t i = 0;
  while (i < state->suspect_count && state->suspects[i].type != type) i++;
  if (i == SUSPECTS_MAX) return;
  if (i == state->suspect_count) state->suspects[state->suspect_count++] = (struct suspicion){.type = type};
  if (agent) state->suspects[i].agent = agent;
}

static void overrun_check_note(worker_state *state, uint32_t atom, uint8_t kind, uint64_t duration_ns) {
  const muster_update *update = &state->context.public;
  uint32_t index = state->context.index;
  overruns_add(&state->overruns, &(struct overrun){.duration_ns = duration_ns,
                                                   .agent = index,
                                                   .generation = state->context.runner->store->rows[index].generation,
                                                   .type = (uint16_t)(update->type.index - 1),
                                                   .atom = (uint16_t)atom,
                                                   .level = (uint8_t)update->level,
                                                   .kind = kind});
}

/* An atom's own time is over the limit. */
static void note_over(worker_state *state, uint32_t atom, uint64_t own_ns) {
  state->overran = true;
  if (state->context.late_atoms) { /* noted by the frame's thread, in the order of agents */
    uint32_t number = atom - state->context.type->parallel_atoms;
    *state->context.late_atoms |= 1ull << (number < 63 ? number : 63);
    return;
  }
  overrun_check_note(state, atom, OVERRUN_CPU, own_ns);
}

uint64_t overrun_check_long_atom(worker_state *state, const struct runner *runner, uint32_t atom, uint64_t *atom_ns,
                                 uint64_t clock_ns) {
  const muster_update *update = &state->context.public;
  uint64_t limit_ns = state->context.type->def.limit_ns, away_ns = 0, after_ns = clock_ns;
  absence why = ABSENCE_PREEMPTED;
  bool over = *atom_ns > limit_ns;
  if (!runner->virtual) {
    away_ns = look_again(state, *atom_ns, clock_ns, &why);
    after_ns = clock_now(&runner->clock);
    *atom_ns -= away_ns;
    state->away_ns += away_ns + (after_ns - clock_ns);
  }
  if (*atom_ns > state->audit.longest_atom_ns) state->audit.longest_atom_ns = *atom_ns;
  if (!over) return after_ns;
  if (*atom_ns > limit_ns) note_over(state, atom, *atom_ns);
  if (why == ABSENCE_WAITED) {
    state->blocked_ns += away_ns;
    if (away_ns > limit_ns) overrun_check_note(state, atom, OVERRUN_BLOCKED, away_ns);
  }
  if (why != ABSENCE_PREEMPTED && away_ns > limit_ns)
    suspect(state, (uint16_t)(update->type.index - 1), state->context.index + 1);
  return after_ns;
}

void overrun_check_long_claim(worker_state *state, const struct runner *runner, const batch_claim *claim,
                              uint64_t claim_ns, uint64_t clock_ns) {
  absence why;
  if (runner->virtual || claim->timed || claim_ns <= claim->predicted_ns) return;
  uint64_t away_ns = look_again(state, claim_ns, clock_ns, &why), longest_ns = claim_ns - away_ns;
  if (why == ABSENCE_WAITED) state->blocked_ns += away_ns;
  if (longest_ns <= claim->predicted_ns) longest_ns = 0;
  if (why != ABSENCE_PREEMPTED && away_ns > longest_ns) longest_ns = away_ns;
  for (uint32_t i = claim->first; i < claim->end; i++) {
    uint16_t number = runner->store->rows[runner->batch->entries[i].agent].type;
    if (longest_ns > runner->types->types[number].def.limit_ns) suspect(state, number, 0);
  }
}
