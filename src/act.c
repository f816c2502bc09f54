/* act.c - stage 8: action atoms. Joins agents, plan and exec. */
#include "act.h"

#include "exec/acts.h"
#include "exec/conduct.h"
#include "recorder.h"
#include "timing.h"

static uint64_t modelled_act_cost(const agent_type *type) {
  uint64_t cost_ns = 0;
  for (uint32_t atom = type->parallel_atoms; atom < type->def.atom_count; atom++)
    cost_ns += type->def.atoms[atom].model_ns;
  return cost_ns;
}

static uint64_t act_clock(const struct muster_world *world) {
  return world->runner.virtual ? world->frame.spent_ns : clock_now(&world->runner.clock);
}

/* Runs the action atoms of one agent and completes its update. */
static void act(struct muster_world *world, uint32_t index) {
  agent_row *row = &world->store.rows[index];
  uint64_t began_ns = world->store.begun[index].started_ns;
  world->acting_count--;
  if (!row->doomed) {
    batch_result result = {0};
    acts_run_one(runner_caller(&world->runner), index, &result);
    if (result.moved) world_move(world, index, result.moved_to);
    if (result.asks) timing_ask_own(world, index, &result);
    world->frame.spent_ns += modelled_act_cost(&world->types.types[row->type]);
  }
  commit_complete(world, index, began_ns);
}

/* Runs the agents of a bitmap in agent order while there is time; the very first of a frame runs whatever it costs.
 * False when time ran out: their bits stay. */
static bool act_all(struct muster_world *world, uint64_t *bits, uint64_t end_ns, bool *first) {
  uint32_t words = (world->store.high + 63) / 64;
  uint64_t each_ns = (uint64_t)world->experience.act_each.mean_ns;
  for (uint32_t word = 0; word < words; word++)
    while (bits[word]) {
      uint64_t begin_ns = act_clock(world);
      if (recorder_choose(world, !*first && begin_ns + each_ns > end_ns)) return false;
      *first = false;
      uint32_t index = word * 64 + (uint32_t)__builtin_ctzll(bits[word]);
      bits[word] &= bits[word] - 1;
      act(world, index);
      estimate_add_clipped(&world->experience.act_each, (double)(act_clock(world) - begin_ns), 5e3);
    }
  return true;
}

void act_run(struct muster_world *world) {
  uint64_t begin_ns = act_clock(world);
  if (world->acting_count) {
    bool first = true;
    if (!world->runner.virtual) conduct_begin(runner_caller(&world->runner), begin_ns);
    uint64_t end_ns = world->runner.virtual ? world->frame.capacity_ns : world->frame.deadline_ns;
    if (act_all(world, world->acting, end_ns, &first)) act_all(world, world->acting_fresh, end_ns, &first);
    for (uint32_t word = 0; word < (world->store.high + 63) / 64; word++) {
      world->acting[word] |= world->acting_fresh[word];
      world->acting_fresh[word] = 0;
    }
  }
  world->frame.act_ns = act_clock(world) - begin_ns;
  world->report.actions_waiting = world->acting_count;
  estimate_add_clipped(&world->experience.act, (double)world->frame.act_ns, 2e5);
}
