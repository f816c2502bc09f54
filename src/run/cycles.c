#include "run/cycles.h"

#include "run/callback.h"
#include "run/overrun_check.h"
#include "run/taking.h"
#include "run/watchdog.h"

#include <muster/flight.h>

/* Runs the parallel atoms once more. True when the update ended before its action atoms. */
static bool run_once(worker_state *state, const struct runner *runner, uint64_t *clock_ns) {
  const agent_type *type = state->context.type;
  bool finished = false;
  for (uint32_t atom = 0; atom < type->parallel_atoms && !finished; atom++) {
    watch_enter(state->heartbeat);
    finished = callback_atom(state, type->atoms, atom, MUSTER_FLIGHT_ATOM) == MUSTER_ATOM_FINISH;
    if (runner->virtual) continue;
    uint64_t after_ns = clock_now(&runner->clock), atom_ns = after_ns - *clock_ns;
    after_ns = overrun_check_atom(state, runner, atom, &atom_ns, after_ns);
    *clock_ns = after_ns;
  }
  return finished || type->parallel_atoms == type->atom_count;
}

/* Whether the next cycle may begin. */
static bool may_go_on(const worker_state *state, const struct runner *runner, uint64_t each_ns, uint64_t clock_ns) {
  return runner->virtual || (clock_ns + each_ns <= runner_stop_ns(runner, state) && !is_called_away(state));
}

void cycles_run(worker_state *state, const struct runner *runner, uint32_t entry_index, uint64_t *clock_ns) {
  batch_entry *entry = &runner->batch->entries[entry_index];
  update_context *context = &state->context;
  muster_update *update = &context->public;
  uint64_t each_ns = entry->predicted_ns / entry->cycles;
  uint32_t cycle = 1;
  bool ended = true;
  update->elapsed_ns = update->wake_at_ns = update->steps = 0;
  if (!runner->virtual) *clock_ns = clock_now(&runner->clock);
  for (; cycle < entry->cycles && may_go_on(state, runner, each_ns, *clock_ns); cycle++) {
    update->cycle = cycle;
    context->random_counter = (uint64_t)cycle << 57 | (uint64_t)context->phase << 40;
    ended = run_once(state, runner, clock_ns) && ended;
    state->cycles++;
  }
  if (!ended) runner->batch->outcomes[entry_index] = OUTCOME_ACT;
  entry->cycles = (uint8_t)cycle;
  update->cycle = 0;
}
