/* A world that plans activation: the same on any number of workers, in every contract, and while agents come and go. */
#include "world/fixture.h"

enum { KINDS = 4, AGENTS = 700, AGENTS_MAX = 2000, FRAMES = 400, DELAY = 3 };

/* Of types that have periods, and of one that has none. */
static const muster_elapsed contracts[KINDS] = {MUSTER_ELAPSED_DELTA, MUSTER_ELAPSED_STEPS, MUSTER_ELAPSED_DELTA,
                                                MUSTER_ELAPSED_EVENTS};

struct outcome {
  uint64_t hash, completed, carried;
  double peak;
};

static uint64_t mixed(uint64_t hash, uint64_t value) {
  return (hash ^ value) * 0x100000001b3u;
}

/* Spawns, removes, tunes and wakes while frames run, and reads in the end what each agent has lived through. */
static struct outcome run_world(uint32_t workers, uint32_t delay, uint64_t budget_ns) {
  SCOPED_WORLD little =
      little_world_of(workers, WITH(virtual_world_def, it.limits.agents_max = AGENTS_MAX, it.activation_delay = delay));
  muster_type types[KINDS];
  muster_agent agents[AGENTS];
  for (uint32_t i = 0; i < KINDS; i++) {
    muster_type_def type = CHANGED(type_running(nothing, 3000), it.elapsed.contract = contracts[i],
                                   it.period_ns = (i + 2) * FRAME_NS, it.period_max_ns = 20 * FRAME_NS);
    if (contracts[i] == MUSTER_ELAPSED_STEPS) type.elapsed.step_ns = FRAME_NS, type.elapsed.steps_max = 40;
    types[i] = add_type(&little, type);
  }
  for (uint32_t i = 0; i < AGENTS; i++) {
    little.type = types[i % KINDS];
    agents[i] = spawn_at(&little, i);
  }
  struct outcome outcome = {0};
  double sum = 0, most = 0;
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    uint32_t i = frame * 7919 % AGENTS;
    if (frame % 3 == 0) {
      cr_assert_eq(muster_agent_remove(little.world, agents[i]), MUSTER_OK);
      little.type = types[i % KINDS];
      agents[i] = spawn_at(&little, i);
    }
    muster_agent_wake(little.world, agents[(i + 5) % AGENTS]);
    tune_agent(&little, agents[(i + 9) % AGENTS], WITH(muster_agent_tuning, it.elasticity = (float)(frame % 8)));
    muster_frame_report report = run_frame_with(&little, budget_ns);
    outcome.completed += report.completed;
    outcome.carried += report.carried;
    outcome.hash = mixed(outcome.hash, (uint64_t)report.released << 32 | report.completed);
    if (frame < FRAMES / 4) continue;
    sum += report.released;
    most = fmax(most, report.released);
  }
  outcome.peak = most * (FRAMES - FRAMES / 4) / sum;
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_agent_info info = info_of(&little, agents[i]);
    outcome.hash = mixed(outcome.hash, info.last_update_ns);
  }
  return outcome;
}

Test(activation_world, is_the_same_on_any_number_of_workers) {
  static const uint64_t budgets_ns[] = {5000000, 300000};
  for (uint32_t i = 0; i < 2; i++) {
    struct outcome one = run_world(1, DELAY, budgets_ns[i]), three = run_world(3, DELAY, budgets_ns[i]);
    struct outcome again = run_world(1, DELAY, budgets_ns[i]), off = run_world(1, 0, budgets_ns[i]);
    cr_assert_eq(one.hash, three.hash);
    cr_assert_eq(one.hash, again.hash);
    cr_assert_neq(one.hash, off.hash, "planning must make a difference");
    cr_assert_lt(fabs((double)one.completed - (double)off.completed), 0.02 * (double)off.completed,
                 "%lu updates with planning, %lu without", one.completed, off.completed);
  }
}

Test(activation_world, frames_are_even_although_agents_come_go_and_are_woken) {
  struct outcome with = run_world(1, DELAY, 5000000), without = run_world(1, 0, 5000000);
  cr_assert_lt(with.peak - 1.0, 0.5 * (without.peak - 1.0), "%.4f and %.4f", with.peak, without.peak);
  cr_assert_eq(with.carried, 0);
}

Test(activation_world, the_delay_is_checked) {
  expect_world_refused(WITH(muster_world_def, it.activation_delay = 65), "activation_delay 65");
}

/* In every frame the same number of agents has the update in which their second set is active. */
Test(activation_world, agents_that_are_spawned_together_do_not_have_their_dear_updates_together) {
  enum { CROWD = 120, PERIOD = 4 };
  static const muster_atom atom = {.run = nothing, .model_ns = 1000}, dear = {.run = nothing, .model_ns = 9000};
  for (uint32_t delay = 0; delay <= PERIOD - 1; delay += PERIOD - 1) {
    SCOPED_WORLD little = little_world_of(1, WITH(virtual_world_def, it.activation_delay = delay));
    const muster_set_def sets[2] = {set_with(&atom, 1), CHANGED(set_with(&dear, 1), it.period_updates = PERIOD)};
    add_type(&little,
             WITH(muster_type_def, it.sets.list = sets, it.sets.count = 2, it.period_ns = it.period_max_ns = FRAME_NS));
    for (uint32_t i = 0; i < CROWD; i++) spawn_at(&little, i);
    run_frames(&little, 20);
    uint64_t most_ns = 0, sum_ns = 0;
    for (uint32_t i = 0; i < 4 * PERIOD; i++) {
      muster_frame_report report = run_frame(&little);
      cr_assert_eq(report.completed, CROWD);
      sum_ns += report.update_cpu_ns;
      if (report.update_cpu_ns > most_ns) most_ns = report.update_cpu_ns;
    }
    cr_assert_eq(sum_ns, 4 * CROWD * (PERIOD * 1000u + 9000u), "as much in all, whatever the delay");
    cr_assert_eq(most_ns, delay ? CROWD * (1000u + 9000u / PERIOD) : CROWD * (1000u + 9000u));
  }
}
