/* Cheap and dear members of one type, by the law of importance: the world learns which is which, gives each its period,
 * is the same on any number of workers, and takes along what it knows. */
#include "support/little_world.h"
#include "support/snapshots.h"
#include "world/world_queues.h"
#include "world/world_sound.h"

enum { AGENTS = 400, EVERY = 10, BUDGET_NS = 400000 };

static bool is_dear(muster_agent agent) {
  return muster_agent_index(agent) % EVERY == 0;
}

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  (void)user;
  return is_dear(query->agent) ? 200000 : 2000;
}

static little_world open_world(uint32_t workers) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 2000};
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.limits.agents_max = AGENTS;
  little_world little = little_world_create(workers, &world);
  muster_type_def def = type_with(&atom, 1);
  def.models.cost_ns = cost_of;
  def.overruns.demote = 0;
  def.period_ns = 20000000;
  def.period_max_ns = 2000000000;
  register_type(&little, &def);
  return little;
}

static little_world populated_world(uint32_t workers, uint32_t frames) {
  little_world little = open_world(workers);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < frames; i++) run_frame_with(&little, BUDGET_NS);
  return little;
}

/* Periods and expected costs in the mean, of cheap members [0] and dear ones [1]. */
struct learnt {
  double cost_ns[2], period_ns[2];
};

static struct learnt learnt_of(const muster_world *world) {
  struct learnt sum = {0};
  double counts[2] = {AGENTS - AGENTS / EVERY, AGENTS / EVERY};
  for (muster_agent agent = muster_agent_next(world, (muster_agent){0}); !muster_agent_is_null(agent);
       agent = muster_agent_next(world, agent)) {
    muster_agent_info info = muster_agent_info_default();
    cr_assert_eq(muster_agent_read(world, agent, &info), MUSTER_OK);
    sum.cost_ns[is_dear(agent)] += (double)info.expected_cost_ns / counts[is_dear(agent)];
    sum.period_ns[is_dear(agent)] += (double)info.period_ns / counts[is_dear(agent)];
  }
  return sum;
}

static void expect_sound(const muster_world *world) {
  soundness found = {0};
  world_is_sound(world, WORLD_RESTS, &found);
  cr_assert(!found.broken, "%s", found.trouble);
}

Test(cost_factors, members_are_told_apart_and_have_periods_by_the_root_of_their_costs) {
  little_world little = populated_world(1, 6000);
  struct learnt learnt = learnt_of(little.world);
  cr_expect_float_eq(learnt.cost_ns[0], 2000.0, 300.0, "%g", learnt.cost_ns[0]);
  cr_expect_float_eq(learnt.cost_ns[1], 200000.0, 20000.0, "%g", learnt.cost_ns[1]);
  double apart = learnt.period_ns[1] / learnt.period_ns[0];
  cr_expect(apart > 8.0 && apart < 12.0, "dear ones run %g times as seldom", apart);
  expect_sound(little.world);
  little_world_destroy(&little);
}

Test(cost_factors, are_learnt_alike_on_1_to_4_workers) {
  little_world one = populated_world(1, 500);
  for (uint32_t workers = 2; workers <= 4; workers *= 2) {
    little_world many = populated_world(workers, 500);
    cr_assert_eq(muster_world_hash(one.world), muster_world_hash(many.world));
    for (uint32_t i = 0; i < AGENTS; i++)
      cr_assert_eq(one.world->agents.store.rows[i].cost_factor, many.world->agents.store.rows[i].cost_factor,
                   "agent %u on %u workers", i, workers);
    little_world_destroy(&many);
  }
  little_world_destroy(&one);
}

Test(cost_factors, are_in_snapshots) {
  little_world whole = populated_world(1, 500), loaded = open_world(2);
  saved_world saved = save_world(whole.world);
  cr_assert_eq(load_world(loaded.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  loaded.now_ns = whole.now_ns;
  for (uint32_t i = 0; i < 100; i++) {
    for (uint32_t k = 0; k < AGENTS; k++) {
      const agent_row *row = &whole.world->agents.store.rows[k], *other = &loaded.world->agents.store.rows[k];
      cr_assert(row->cost_factor == other->cost_factor && row->factor_age == other->factor_age, "agent %u", k);
    }
    expect_sound(loaded.world);
    run_frame_with(&whole, BUDGET_NS);
    run_frame_with(&loaded, BUDGET_NS);
    cr_assert_eq(muster_world_hash(whole.world), muster_world_hash(loaded.world), "frame %u", i);
  }
  little_world_destroy(&whole);
  little_world_destroy(&loaded);
  free(saved.bytes);
}

/* Broken by hand: a member's factor, of which its class knows nothing. */
Test(cost_factors, that_classes_do_not_sum_up_are_named) {
  little_world little = populated_world(1, 10);
  soundness found = {0};
  little.world->agents.store.rows[5].cost_factor += 3;
  cr_assert(!world_is_sound(little.world, WORLD_RESTS, &found));
  cr_assert_not_null(strstr(found.trouble, "cost factors"), "%s", found.trouble);
  little_world_destroy(&little);
}

/* ------------------------------------------------------------------------------------------------------- what it is
 * for
 */

enum { CROWD = 1600, IMPORTANCES = 16, CROWD_BUDGET_NS = 2000000 };

/* A crowd of sixteen importances, of one type or of one for the cheap and one for the dear. */
struct crowd {
  little_world little;
  muster_type types[2];
};

static struct crowd open_crowd(uint64_t (*model)(const muster_cost_query *query, void *user), bool split) {
  static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 20000};
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.limits.agents_max = CROWD;
  struct crowd crowd = {.little = little_world_create(1, &world)};
  muster_type_def def = type_with(&atom, 1);
  def.models.cost_ns = model;
  def.overruns.demote = 0;
  def.period_ns = 100000000;
  def.period_max_ns = 1000000000;
  for (int i = 0; i < 2; i++) {
    if (i == 0 || split) register_type(&crowd.little, &def);
    crowd.types[i] = crowd.little.type;
  }
  for (uint32_t i = 0; i < CROWD; i++) {
    muster_agent_def agent = muster_agent_def_default();
    agent.type = crowd.types[i % EVERY == 0];
    agent.importance_floor = (float)(i / EVERY % IMPORTANCES) / IMPORTANCES;
    agent.position.x = 1000.0 * i;
    cr_assert(!muster_agent_is_null(muster_agent_spawn(crowd.little.world, &agent)), "%s", muster_last_error());
  }
  return crowd;
}

/* The mean time since agents ran, over some seconds. */
static double staleness_of(struct crowd *crowd, uint32_t frames) {
  const agent_store *store = &crowd->little.world->agents.store;
  double sum_ns = 0.0;
  for (uint32_t i = 0; i < frames; i++) {
    run_frame_with(&crowd->little, CROWD_BUDGET_NS);
    for (uint32_t k = 0; k < CROWD; k++) sum_ns += (double)(crowd->little.now_ns - store->rows[k].last_update_ns);
  }
  return sum_ns / frames / CROWD;
}

Test(cost_factors, agents_of_one_type_are_as_fresh_as_those_of_two) {
  double staleness_ns[2];
  for (int split = 0; split < 2; split++) {
    struct crowd crowd = open_crowd(cost_of, split);
    for (uint32_t i = 0; i < 2000; i++) run_frame_with(&crowd.little, CROWD_BUDGET_NS);
    staleness_ns[split] = staleness_of(&crowd, 1000);
    expect_sound(crowd.little.world);
    little_world_destroy(&crowd.little);
  }
  cr_expect_leq(staleness_ns[0], 1.05 * staleness_ns[1], "%g and %g ms", staleness_ns[0] * 1e-6,
                staleness_ns[1] * 1e-6);
}

static uint64_t cost_by_chance(const muster_cost_query *query, void *user) {
  (void)user;
  return query->random % EVERY == 0 ? 155000 : 5000;
}

/* Without factors there is a class for each importance. */
Test(cost_factors, costs_that_differ_by_chance_leave_agents_in_their_classes) {
  struct crowd crowd = open_crowd(cost_by_chance, false);
  uint32_t most = 0;
  for (uint32_t i = 0; i < 4000; i++) {
    run_frame_with(&crowd.little, CROWD_BUDGET_NS);
    uint32_t count = crowd.little.world->queues->classes.active_count;
    if (count > most) most = count;
  }
  cr_expect_leq(most, IMPORTANCES * 3 / 2, "%u classes", most);
  little_world_destroy(&crowd.little);
}
