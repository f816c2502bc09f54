/* What an agent costs, learnt by the clock: most claims are not timed, and one whose time is another than was believed
 * makes its agents' next updates be timed. The clock is told the time. */
#include "base/clock.h"
#include "run/runner.h"
#include "support/recording.h"
#include "world/world.h"

enum { AGENTS = 1000, BUDGET_NS = 1000000, COST_NS = 2000, DEAR_NS = 200000, CHANGES = 77 };

struct scene {
  uint64_t told_ns, own_ns, dear_updates, updates;
  bool dear; /* the one that changes */
};

static struct scene scene;

static muster_atom_result live(muster_update *update) {
  bool changes = muster_agent_index(update->agent) == CHANGES;
  uint64_t cost_ns = changes && scene.dear ? DEAR_NS : COST_NS;
  scene.told_ns += cost_ns;
  scene.own_ns += cost_ns;
  scene.updates++;
  scene.dear_updates += changes && scene.dear;
  return MUSTER_ATOM_NEXT;
}

static little_world clock_world(uint32_t agents) {
  static const muster_atom atom = {live, MUSTER_ROLE_BEHAVIOUR, COST_NS};
  muster_world_def def = muster_world_def_default();
  def.watch.stuck_ns = 0;
  scene = (struct scene){.told_ns = 1000000000u, .own_ns = 1};
  little_world little = little_world_create(1, &def);
  little.world->runner->clock = clock_told(&scene.told_ns);
  clock_tell_thread_cpu(&scene.own_ns);
  muster_type_def type = type_with(&atom, 1);
  type.limit_ns = 1000000000u;
  register_type(&little, &type);
  for (uint32_t i = 0; i < agents; i++) spawn_at(&little, i);
  return little;
}

/* The agent with this index, and what it is believed to cost. */
static uint64_t believed_ns(const little_world *little, uint32_t index) {
  for (muster_agent agent = muster_agent_next(little->world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(little->world, agent))
    if (muster_agent_index(agent) == index) return info_of(little, agent).expected_cost_ns;
  cr_assert_fail("no agent has the index %u", index);
  return 0;
}

static uint64_t samples_of(const little_world *little) {
  muster_type_cost cost = muster_type_cost_default();
  cr_assert_eq(muster_type_cost_read(little->world, little->type, 0, &cost), MUSTER_OK, "%s", muster_last_error());
  return cost.samples;
}

Test(cost_factors_clock, one_that_turns_dear_in_claims_that_are_not_timed_is_found_within_32_of_its_updates) {
  little_world little = clock_world(AGENTS);
  for (uint32_t i = 0; i < 400; i++) run_frame_with(&little, BUDGET_NS);
  uint64_t updates = scene.updates, samples = samples_of(&little);
  for (uint32_t i = 0; i < 100; i++) run_frame_with(&little, BUDGET_NS);
  cr_assert_lt(samples_of(&little) - samples, (scene.updates - updates) / 8, "claims are timed");
  scene.dear = true;
  while (scene.dear_updates < 32 && believed_ns(&little, CHANGES) < DEAR_NS / 2) run_frame_with(&little, BUDGET_NS);
  cr_expect_lt(scene.dear_updates, 32);
  cr_expect_geq(believed_ns(&little, CHANGES), DEAR_NS / 2, "after %lu updates", (unsigned long)scene.dear_updates);
  for (uint32_t i = 0; i < 400; i++) run_frame_with(&little, BUDGET_NS);
  for (uint32_t i = 0; i < AGENTS; i++)
    cr_expect(i == CHANGES || believed_ns(&little, i) < COST_NS * 3 / 2, "agent %u", i);
  little_world_destroy(&little);
  clock_tell_thread_cpu(NULL);
}

/* What all rows know of their agents' costs. */
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
  struct recorded run;
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
  little_world_destroy(&little);
  little = clock_world(0);
  recorded_replay(&run, little.world);
  for (uint32_t i = 0; i < run.frames; i++) {
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(sum_of(&little), sums[i], "frame %u", i + 1);
    cr_assert_eq(muster_world_hash(little.world), run.hashes[i], "frame %u", i + 1);
  }
  little_world_destroy(&little);
  clock_tell_thread_cpu(NULL);
  recorded_forget(&run);
}
