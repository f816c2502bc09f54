#include "exec/acts.h"

#include "exec/conduct.h"

void acts_run_one(worker_state *state, uint32_t index, batch_result *result) {
  runner *runner = state->context.runner;
  muster_update *update = runner_begin_outside(state, index, PHASE_ACT, result);
  const agent_type *type = state->context.type;
  bool wall = !runner->virtual, finished = false;
  uint64_t begin_ns = wall ? clock_now(&runner->clock) : 0;
  watch_agent(state->post, index, update->agent.generation);
  for (uint32_t atom = type->parallel_atoms; atom < type->def.atom_count && !finished; atom++) {
    watch_enter(state->post);
    finished = type->def.atoms[atom].run(update) == MUSTER_ATOM_FINISH;
    uint64_t end_ns = wall ? clock_now(&runner->clock) : type->def.atoms[atom].model_ns;
    if (end_ns - begin_ns > type->def.limit_ns)
      end_ns = conduct_long_atom(state, runner, atom, end_ns - begin_ns, end_ns);
    if (wall) begin_ns = end_ns;
  }
  watch_leave(state->post);
  state->context.phase = PHASE_OUTSIDE;
}
