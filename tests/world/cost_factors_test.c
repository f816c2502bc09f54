/* Cheap and dear members of one type, by the law of importance: the world learns which is which, gives each its period,
 * is the same on any number of workers, and takes along what it knows. */
#include "support/whole_frames.h"
#include "world/fixture.h"
#include "world/world_queues.h"

enum { AGENTS = 400, EVERY = 10, BUDGET_NS = 400000 };

static bool is_dear(muster_agent agent) {
  return muster_agent_index(agent) % EVERY == 0;
}

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return is_dear(query->agent) ? 200000 : 2000;
}

static little_world open_world(uint32_t workers) {
  little_world little = little_world_of(workers, WITH(virtual_world_def, it.limits.agents_max = AGENTS));
  add_type(&little, CHANGED(type_running(nothing, 2000), it.models.cost_ns = cost_of, it.overruns.demote = 0,
                            it.period_ns = 20000000, it.period_max_ns = 2000000000));
  return little;
}

static little_world populated_world(uint32_t workers, uint32_t frames) {
  little_world little = open_world(workers);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < frames; i++) run_frame_with(&little, BUDGET_NS);
  return little;
}

Test(cost_factors, members_are_told_apart_and_have_periods_by_the_root_of_their_costs) {
  SCOPED_WORLD little = populated_world(1, 6000);
  double cost_ns[2] = {0}, period_ns[2] = {0}; /* in the mean, of cheap members and dear ones */
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
    muster_agent_info info = info_of(&little, agent);
    double count = is_dear(agent) ? AGENTS / EVERY : AGENTS - AGENTS / EVERY;
    cost_ns[is_dear(agent)] += (double)info.expected_cost_ns / count;
    period_ns[is_dear(agent)] += (double)info.period_ns / count;
  }
  cr_expect_float_eq(cost_ns[0], 2000.0, 300.0, "%g", cost_ns[0]);
  cr_expect_float_eq(cost_ns[1], 200000.0, 20000.0, "%g", cost_ns[1]);
  double apart = period_ns[1] / period_ns[0];
  cr_expect(apart > 8.0 && apart < 12.0, "dear ones run %g times as seldom", apart);
  must_be_sound(little.world);
}

Test(cost_factors, are_learnt_alike_on_1_to_4_workers) {
  SCOPED_WORLD one = populated_world(1, 500);
  for (uint32_t workers = 2; workers <= 4; workers *= 2) {
    SCOPED_WORLD many = populated_world(workers, 500);
    cr_assert_eq(muster_world_hash(one.world), muster_world_hash(many.world));
    for (uint32_t i = 0; i < AGENTS; i++)
      cr_assert_eq(one.world->agents.store.rows[i].cost_factor, many.world->agents.store.rows[i].cost_factor,
                   "agent %u on %u workers", i, workers);
  }
}

Test(cost_factors, are_in_snapshots) {
  SCOPED_WORLD whole = populated_world(1, 500), loaded = open_world(2);
  copy_world(&whole, &loaded);
  for (uint32_t i = 0; i < 100; i++) {
    for (uint32_t k = 0; k < AGENTS; k++) {
      const agent_row *row = &whole.world->agents.store.rows[k], *other = &loaded.world->agents.store.rows[k];
      cr_assert(row->cost_factor == other->cost_factor && row->factor_age == other->factor_age, "agent %u", k);
    }
    must_be_sound(loaded.world);
    run_frame_with(&whole, BUDGET_NS);
    run_frame_with(&loaded, BUDGET_NS);
    cr_assert_eq(muster_world_hash(whole.world), muster_world_hash(loaded.world), "frame %u", i);
  }
}

/* Broken by hand: a member's factor, of which its class knows nothing. */
Test(cost_factors, that_classes_do_not_sum_up_are_named) {
  SCOPED_WORLD little = populated_world(1, 10);
  soundness found = {0};
  little.world->agents.store.rows[5].cost_factor += 3;
  cr_assert(!world_is_sound(little.world, WORLD_RESTS, &found));
  cr_assert_not_null(strstr(found.trouble, "cost factors"), "%s", found.trouble);
}

/* -------------------------------------------------------------------------------------------------- what it is for */

enum { CROWD = 1600, IMPORTANCES = 16, CROWD_BUDGET_NS = 2000000 };

/* A crowd of sixteen importances, of one type or of one for the cheap and one for the dear. */
static little_world open_crowd(uint64_t (*model)(const muster_cost_query *query, void *user), bool split) {
  little_world little = little_world_of(1, WITH(virtual_world_def, it.limits.agents_max = CROWD));
  muster_type_def def = CHANGED(type_running(nothing, 20000), it.models.cost_ns = model, it.overruns.demote = 0,
                                it.period_ns = 100000000, it.period_max_ns = 1000000000);
  muster_type cheap = add_type(&little, def), dear = split ? add_type(&little, def) : cheap;
  for (uint32_t i = 0; i < CROWD; i++)
    spawn_as(&little, WITH(muster_agent_def, it.type = i % EVERY ? cheap : dear, it.position.x = 1000.0 * i,
                           it.importance_floor = (float)(i / EVERY % IMPORTANCES) / IMPORTANCES));
  return little;
}

Test(cost_factors, agents_of_one_type_are_as_fresh_as_those_of_two) {
  enum { LOOKS = 1000 };
  double staleness_ns[2]; /* the mean time since agents ran, over some seconds */
  for (int split = 0; split < 2; split++) {
    SCOPED_WORLD crowd = open_crowd(cost_of, split);
    for (uint32_t i = 0; i < 2000; i++) run_frame_with(&crowd, CROWD_BUDGET_NS);
    const agent_store *store = &crowd.world->agents.store;
    double sum_ns = 0.0;
    for (uint32_t i = 0; i < LOOKS; i++) {
      run_frame_with(&crowd, CROWD_BUDGET_NS);
      for (uint32_t k = 0; k < CROWD; k++) sum_ns += (double)(crowd.now_ns - store->rows[k].last_update_ns);
    }
    staleness_ns[split] = sum_ns / LOOKS / CROWD;
    must_be_sound(crowd.world);
  }
  cr_expect_leq(staleness_ns[0], 1.05 * staleness_ns[1], "%g, %g ns", staleness_ns[0], staleness_ns[1]);
}

static uint64_t cost_by_chance(const muster_cost_query *query, void *user) {
  (void)user;
  return query->random % EVERY == 0 ? 155000 : 5000;
}

/* Without factors there is a class for each importance. */
Test(cost_factors, costs_that_differ_by_chance_leave_agents_in_their_classes) {
  SCOPED_WORLD crowd = open_crowd(cost_by_chance, false);
  uint32_t most = 0;
  for (uint32_t i = 0; i < 4000; i++) {
    run_frame_with(&crowd, CROWD_BUDGET_NS);
    uint32_t count = crowd.world->queues->classes.active_count;
    if (count > most) most = count;
  }
  cr_expect_leq(most, IMPORTANCES * 3 / 2, "%u classes", most);
}
