/* What a world learnt of what each agent costs, and of how costs grow with the time that has passed, comes back after
 * its death: from the snapshot, and from the frames behind it. */
#include "support/journal_lives.h"
#include "world/world_learnt.h"

enum { AGENTS = 200, EVERY = 10, LIFE_FRAMES = 40, LATER_FRAMES = 12, BUDGET_NS = 200000 };

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return muster_agent_index(query->agent) % EVERY == 0 ? 200000 : 2000;
}

/* Two microseconds, and four for each frame that has passed since the agent's last update. */
static uint64_t growing_cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return 2000 + 4000 * query->elapsed_ns / FRAME_NS;
}

typedef uint64_t (*cost_model)(const muster_cost_query *query, void *user);

static little_world factors_world(const void *of, uint32_t workers) {
  const muster_world_def world =
      WITH(muster_world_def, it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.limits.agents_max = AGENTS);
  muster_type_def type =
      CHANGED(type_running(nothing, 2000), it.models.cost_ns = *(const cost_model *)of, it.period_ns = 20000000);
  return typed_world(workers, world, type);
}

static void factors_populate(little_world *little, const void *of) {
  (void)of;
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(little, i);
}

/* By frame, what all rows know of their agents' costs, and their type of how these grow: the same in each life. */
static uint64_t *told_sums;

static float slope_of(const little_world *little) {
  return costs_of(&little->world->learnt->costs, little->type.index - 1, 0)->slope;
}

static uint64_t sum_of(const little_world *little) {
  uint64_t sum = 1 + (uint64_t)(1e9 * (double)slope_of(little));
  for (uint32_t i = 0; i < AGENTS; i++) {
    const agent_row *row = &little->world->agents.store.rows[i];
    sum = sum * 1000003 +
          ((uint64_t)(uint8_t)row->cost_factor << 16 | row->factor_part << 8 | row->factor_age << 4 | row->doubted);
  }
  return sum;
}

static void factors_frame(little_world *little, const void *of, uint32_t frame) {
  (void)of;
  run_frame_with(little, BUDGET_NS);
  uint64_t sum = sum_of(little);
  if (!told_sums[frame]) told_sums[frame] = sum;
  must(told_sums[frame] == sum, "frame %u: other factors than before", frame + 1);
}

static void expect_learnt_again(const journal_scene *scene) {
  uint32_t learnt = 0;
  SCOPED(life_end) journal_life life = life_of(scene);
  life.workers = 2;
  told_sums = shared_memory((3 * LIFE_FRAMES + LATER_FRAMES) * sizeof *told_sums);
  for (; life.number < 3; life.number++) {
    life.frames += LIFE_FRAMES;
    life_run(&life);
    learnt += told_sums[life.frames - 1] != told_sums[life.frames - LIFE_FRAMES];
  }
  cr_assert_eq(learnt, 3, "in each life");
  expect_same_later(&life, LATER_FRAMES, true);
  munmap(told_sums, (3 * LIFE_FRAMES + LATER_FRAMES) * sizeof *told_sums);
}

Test(journal_cost_factors, are_learnt_again_from_the_snapshot_and_the_frames_behind_it) {
  static const cost_model by_agent = cost_of;
  expect_learnt_again(&(journal_scene){"factors", &by_agent, factors_world, factors_populate, factors_frame});
}

Test(journal_cost_factors, with_how_costs_grow_with_elapsed_time) {
  static const cost_model growing = growing_cost_of;
  SCOPED(little_world_destroy) little_world little = factors_world(&growing, 1);
  factors_populate(&little, NULL);
  for (uint32_t i = 0; i < LIFE_FRAMES; i++) run_frame_with(&little, BUDGET_NS);
  cr_assert_gt(slope_of(&little), 0.0f, "it is not known in the first life");
  expect_learnt_again(&(journal_scene){"lines", &growing, factors_world, factors_populate, factors_frame});
}
