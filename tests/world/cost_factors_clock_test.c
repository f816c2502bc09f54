/* What an agent costs, learnt by the clock: most claims are not timed, and one whose time is another than was believed
 * makes its agents' next updates be timed. The clock is told the time. */
#include "world/told_clock.h"

enum { AGENTS = 1000, BUDGET_NS = 1000000, COST_NS = 2000, DEAR_NS = 200000, CHANGES = 77 };

static struct scene {
  uint64_t dear_updates, updates;
  bool dear; /* the one that changes */
} scene;

static muster_atom_result live(muster_update *update) {
  bool changes = muster_agent_index(update->agent) == CHANGES;
  spend(changes && scene.dear ? DEAR_NS : COST_NS);
  scene.updates++;
  scene.dear_updates += changes && scene.dear;
  return MUSTER_ATOM_NEXT;
}

static little_world clock_world(uint32_t agents) {
  little_world little = told_world(muster_world_def_default());
  scene = (struct scene){0};
  add_type(&little, spending_type(atom_of(live, COST_NS)));
  for (uint32_t i = 0; i < agents; i++) spawn_at(&little, i);
  return little;
}

static uint64_t believed_ns(const little_world *little, uint32_t index) {
  return info_of(little, muster_agent_make(index, 1)).expected_cost_ns;
}

Test(cost_factors_clock, one_that_turns_dear_in_claims_that_are_not_timed_is_found_within_32_of_its_updates) {
  SCOPED(told_world_destroy) little_world little = clock_world(AGENTS);
  for (uint32_t i = 0; i < 400; i++) run_frame_with(&little, BUDGET_NS);
  uint64_t updates = scene.updates, samples = type_cost_of(&little).samples;
  for (uint32_t i = 0; i < 100; i++) run_frame_with(&little, BUDGET_NS);
  cr_assert_lt(type_cost_of(&little).samples - samples, (scene.updates - updates) / 8, "claims are timed");
  scene.dear = true;
  while (scene.dear_updates < 32 && believed_ns(&little, CHANGES) < DEAR_NS / 2) run_frame_with(&little, BUDGET_NS);
  cr_expect_lt(scene.dear_updates, 32);
  cr_expect_geq(believed_ns(&little, CHANGES), DEAR_NS / 2, "after %lu updates", scene.dear_updates);
  for (uint32_t i = 0; i < 400; i++) run_frame_with(&little, BUDGET_NS);
  for (uint32_t i = 0; i < AGENTS; i++)
    cr_expect(i == CHANGES || believed_ns(&little, i) < COST_NS * 3 / 2, "agent %u", i);
}

static uint64_t sum_of(const little_world *little) {
  uint64_t sum = 1;
  for (uint32_t i = 0; i < AGENTS; i++) {
    const agent_row *row = &little->world->agents.store.rows[i];
    sum = sum * 1000003 +
          ((uint64_t)(uint8_t)row->cost_factor << 16 | row->factor_part << 8 | row->factor_age << 4 | row->doubted);
  }
  return sum;
}

Test(cost_factors_clock, a_replay_learns_the_same) {
  enum { FRAMES = 200, TURNS_DEAR = 150 };
  uint64_t sums[FRAMES], doubts = 0;
  SCOPED(recorded_forget) struct recorded run;
  little_world little = clock_world(0);
  recorded_begin(&run, little.world);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < FRAMES; i++) {
    scene.dear = i >= TURNS_DEAR;
    recorded_note(&run, &little, run_frame_with(&little, BUDGET_NS));
    sums[i] = sum_of(&little);
    for (uint32_t k = 0; k < AGENTS; k++) doubts += little.world->agents.store.rows[k].doubted;
  }
  cr_assert(doubts > 0 && sums[FRAMES - 1] != sums[TURNS_DEAR]);
  recorded_end(&run, little.world);
  told_world_destroy(&little);
  little = clock_world(0);
  recorded_replay(&run, little.world);
  for (uint32_t i = 0; i < run.frames; i++) {
    recorded_follow(&run, little.world, i);
    cr_assert_eq(sum_of(&little), sums[i], "frame %u", i + 1);
  }
  told_world_destroy(&little);
}
