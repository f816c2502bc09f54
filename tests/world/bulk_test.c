/* Positions and factors in arrays. */
#include "support/little_world.h"
#include "support/walled.h"
#include "world/world.h"
#include "world/world_sound.h"

#include <muster/bulk.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { AGENTS = 5000 };

struct fixture {
  little_world little;
  muster_agent agents[AGENTS];
  muster_position places[AGENTS];
};

static struct fixture *create(uint32_t workers, muster_atom_result (*run)(muster_update *), void *user) {
  struct fixture *fixture = calloc(1, sizeof *fixture);
  fixture->little = little_world_create(workers, NULL);
  muster_atom atom = {run, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = type_with(&atom, 1);
  type.user = user;
  register_type(&fixture->little, &type);
  for (uint32_t i = 0; i < AGENTS; i++) fixture->agents[i] = spawn_at(&fixture->little, i);
  while (run_frame(&fixture->little).spawns_waiting) continue;
  return fixture;
}

static void destroy(struct fixture *fixture) {
  little_world_destroy(&fixture->little);
  free(fixture);
}

static uint64_t positions_refused(const struct fixture *fixture) {
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(fixture->little.world, &statistics);
  return statistics.positions_refused;
}

static uint32_t move(struct fixture *fixture, uint32_t count) {
  return muster_agents_move(fixture->little.world, fixture->agents, fixture->places, count);
}

static void check_places(const struct fixture *fixture) {
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_position is = info_of(&fixture->little, fixture->agents[i]).position, wanted = fixture->places[i];
    cr_assert(fabs(is.x - wanted.x) < 1e-3 && fabs(is.y - wanted.y) < 1e-3 && fabs(is.z - wanted.z) < 1e-3);
  }
}

static void observe_the_middle(const struct fixture *fixture) {
  muster_observer_def def = muster_observer_def_default();
  muster_observer_add(fixture->little.world, &def);
}

static void settle(struct fixture *fixture) {
  while (run_frame(&fixture->little).score_waiting) continue;
}

/* With an observer in the middle, the importance of each agent follows from the position that the array gave it. */
static void check_importance(const struct fixture *fixture) {
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_position at = fixture->places[i];
    double distance = sqrt(at.x * at.x + at.y * at.y + at.z * at.z);
    double expected = fmin(fmax((250 - distance) / 225, 0.0), 1.0);
    cr_assert_float_eq(info_of(&fixture->little, fixture->agents[i]).importance, expected, 0.05, "agent %u", i);
  }
}

static void scatter(struct fixture *fixture, uint32_t frame, double span_m) {
  for (uint32_t i = 0; i < AGENTS; i++) {
    uint64_t random = (uint64_t)(i * 7919u + frame * 104729u + 1) * 0x9e3779b97f4a7c15u;
    random = (random ^ random >> 29) * 0xbf58476d1ce4e5b9u;
    fixture->places[i] = (muster_position){((double)(random >> 40) / 16777216.0 - 0.5) * span_m,
                                           ((double)(random >> 16 & 0xffffff) / 16777216.0 - 0.5) * span_m, 0};
  }
}

Test(bulk, agents_are_where_the_array_says_at_once_and_importance_follows) {
  for (uint32_t workers = 1; workers <= 4; workers += 3) {
    struct fixture *fixture = create(workers, nothing, NULL);
    observe_the_middle(fixture);
    for (uint32_t frame = 0; frame < 5; frame++) {
      scatter(fixture, frame, 600); /* positions across the world in every frame */
      cr_assert_eq(move(fixture, AGENTS), AGENTS);
      check_places(fixture);
      settle(fixture);
      check_importance(fixture);
    }
    destroy(fixture);
  }
}

/* Who was moved is found where it is now, also when nobody sees it: by the cells of the place, which are sound. */
Test(bulk, agents_are_found_where_the_array_put_them) {
  static const double spans_m[] = {4000, 12, 12, 11, 600}; /* far apart, or a crowd in one place */
  for (uint32_t observed = 0; observed < 2; observed++) {
    struct fixture *fixture = create(2, nothing, NULL);
    if (observed) observe_the_middle(fixture);
    for (uint32_t frame = 0; frame < sizeof spans_m / sizeof *spans_m; frame++) {
      soundness found = {0};
      scatter(fixture, frame, spans_m[frame]);
      cr_assert_eq(move(fixture, AGENTS), AGENTS);
      world_is_sound(fixture->little.world, WORLD_RESTS, &found);
      cr_assert(!found.broken, "%s", found.trouble);
      for (uint32_t i = 0; i < AGENTS; i += 61) {
        muster_nearby_query query = muster_nearby_query_default();
        muster_nearby_agent near[1];
        query.position = fixture->places[i];
        query.radius_m = 1;
        cr_assert_geq(muster_agents_nearby(fixture->little.world, &query, near, 1, NULL), 1, "agent %u", i);
        cr_assert_lt(near[0].neighbour.distance_m, 0.01, "agent %u", i);
      }
      run_frame(&fixture->little);
    }
    destroy(fixture);
  }
}

Test(bulk, small_steps_add_up) {
  struct fixture *fixture = create(2, nothing, NULL);
  observe_the_middle(fixture);
  scatter(fixture, 1, 600);
  for (uint32_t frame = 0; frame < 200; frame++) {
    for (uint32_t i = 0; i < AGENTS; i++) fixture->places[i].x += i % 2 ? 0.2 : -0.2;
    cr_assert_eq(move(fixture, AGENTS), AGENTS);
    run_frame(&fixture->little);
  }
  settle(fixture);
  check_places(fixture);
  check_importance(fixture);
  destroy(fixture);
}

static muster_atom_result look_around(muster_update *update) {
  muster_neighbour found[8];
  const uint32_t *expected = update->type_user;
  uint32_t count = muster_update_nearby(update, 5.0f, (muster_type){0}, found, 8);
  if (*expected != UINT32_MAX) cr_assert_eq(count, *expected);
  return MUSTER_ATOM_NEXT;
}

Test(bulk, all_agents_go_into_one_cell_and_out_again) {
  uint32_t neighbours = UINT32_MAX;
  struct fixture *fixture = create(2, look_around, &neighbours);
  for (uint32_t frame = 0; frame < 20; frame++) {
    for (uint32_t i = 0; i < AGENTS; i++)
      fixture->places[i] = frame % 2 ? (muster_position){i * 100.0, 0, 0} : (muster_position){1, 1, 0};
    cr_assert_eq(move(fixture, AGENTS), AGENTS);
    neighbours = frame % 2 ? 0 : 8;
    run_frame_with(&fixture->little, 500000);
  }
  destroy(fixture);
}

Test(bulk, stale_ids_and_bad_positions_are_passed_over_and_counted) {
  struct fixture *fixture = create(1, nothing, NULL);
  scatter(fixture, 3, 100);
  muster_agent_remove(fixture->little.world, fixture->agents[7]);
  run_frame(&fixture->little);
  muster_position before = info_of(&fixture->little, fixture->agents[9]).position;
  fixture->places[9].x = NAN;
  fixture->places[10].z = INFINITY;
  fixture->places[11].y = 2e9;
  fixture->agents[12] = (muster_agent){0};
  fixture->agents[13] = muster_agent_make(UINT32_MAX, 1);
  cr_assert_eq(move(fixture, AGENTS), AGENTS - 6);
  cr_assert_eq(positions_refused(fixture), 3);
  cr_assert_eq(info_of(&fixture->little, fixture->agents[9]).position.x, before.x);
  destroy(fixture);
}

/* By its place in the caller's array, also where that is taken in pieces, or one by one since somebody is named twice.
 */
Test(bulk, what_is_refused_is_told_by_its_place) {
  enum { FEW = 8, MANY = 5 * FEW + 3 };
  muster_world_def def = muster_world_def_default();
  muster_agent agents[MANY];
  muster_position places[MANY] = {0};
  def.limits.agents_max = FEW;
  little_world little = little_world_create(1, &def);
  muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def type = type_with(&atom, 1);
  register_type(&little, &type);
  for (uint32_t i = 0; i < FEW; i++) agents[i] = spawn_at(&little, i);
  run_frame(&little);
  for (uint32_t apart = FEW - 1; apart <= FEW; apart++) /* seven of eight come twice in a piece, or each comes once */
    for (uint32_t place = 0; place < MANY; place++) {
      char told[32];
      for (uint32_t i = FEW; i < MANY; i++) agents[i] = agents[i % apart];
      places[place].x = NAN;
      snprintf(told, sizeof told, "positions[%u] ", place);
      cr_expect_eq(muster_agents_move(little.world, agents, places, MANY), MANY - 1);
      cr_expect_not_null(strstr(muster_last_error(), told), "no %s in: %s", told, muster_last_error());
      places[place].x = 0;
    }
  little_world_destroy(&little);
}

Test(bulk, of_two_positions_for_one_agent_the_later_one_holds) {
  for (uint32_t workers = 1; workers <= 4; workers += 3) {
    struct fixture *fixture = create(workers, nothing, NULL);
    for (uint32_t i = 0; i < AGENTS; i++) {
      fixture->agents[i] = fixture->agents[i % 10];
      fixture->places[i] = (muster_position){i % 3 ? i : 5.0 + i * 1e-4, 0, 0};
    }
    cr_assert_eq(move(fixture, AGENTS), AGENTS);
    for (uint32_t i = AGENTS - 10; i < AGENTS; i++)
      cr_assert_float_eq(info_of(&fixture->little, fixture->agents[i]).position.x, fixture->places[i].x, 1e-3);
    destroy(fixture);
  }
}

Test(bulk, agents_come_in_any_order) {
  struct fixture *fixture = create(4, nothing, NULL);
  for (uint32_t i = 0; i < AGENTS / 2; i++) {
    muster_agent agent = fixture->agents[i];
    fixture->agents[i] = fixture->agents[AGENTS - 1 - i];
    fixture->agents[AGENTS - 1 - i] = agent;
  }
  scatter(fixture, 9, 3000);
  cr_assert_eq(move(fixture, AGENTS), AGENTS);
  check_places(fixture);
  destroy(fixture);
}

Test(bulk, an_agent_that_waits_for_its_intake_is_moved_too) {
  struct fixture *fixture = create(1, nothing, NULL);
  muster_agent agent = spawn_at(&fixture->little, 0);
  cr_assert_eq(muster_agents_move(fixture->little.world, &agent, &(muster_position){50, 60, 70}, 1), 1);
  run_frame(&fixture->little);
  cr_assert_float_eq(info_of(&fixture->little, agent).position.y, 60, 1e-3);
  destroy(fixture);
}

Test(bulk, observers_are_moved_also_those_that_wait_to_be_added) {
  struct fixture *fixture = create(1, nothing, NULL);
  muster_observer_def def = muster_observer_def_default();
  muster_observer observer = muster_observer_add(fixture->little.world, &def);
  muster_position there = {3000, 0, 0}, back = {0, 0, 0};
  cr_assert_eq(muster_observers_move(fixture->little.world, &observer, &there, 1), 1);
  run_frame(&fixture->little);
  cr_assert_eq(info_of(&fixture->little, fixture->agents[0]).importance, 0.0f);
  cr_assert_eq(info_of(&fixture->little, fixture->agents[3000]).importance, 1.0f);
  cr_assert_eq(muster_observers_move(fixture->little.world, &observer, &back, 1), 1);
  run_frame(&fixture->little);
  cr_assert_eq(info_of(&fixture->little, fixture->agents[0]).importance, 1.0f);
  cr_assert_eq(info_of(&fixture->little, fixture->agents[3000]).importance, 0.0f);
  muster_observer_remove(fixture->little.world, observer);
  run_frame(&fixture->little);
  cr_assert_eq(muster_observers_move(fixture->little.world, &observer, &back, 1), 0);
  destroy(fixture);
}

Test(bulk, factors_are_set_at_once_and_followed_by_importance) {
  struct fixture *fixture = create(1, nothing, NULL);
  float *values = calloc(AGENTS, sizeof *values);
  muster_observer_def def = muster_observer_def_default();
  def.near_m = 10000;
  def.far_m = 20000;
  muster_observer_add(fixture->little.world, &def);
  settle(fixture);
  for (uint32_t i = 0; i < AGENTS; i++) values[i] = (float)(i % 101) / 100.0f;
  values[3] = NAN;
  values[4] = -1.0f;
  values[5] = 1.01f;
  muster_world *world = fixture->little.world;
  cr_assert_eq(muster_agents_set_factor(world, MUSTER_FACTOR_BULK, fixture->agents, values, AGENTS), AGENTS - 3);
  cr_assert_eq(muster_agents_set_factor(world, MUSTER_FACTOR_BULK, fixture->agents, values, AGENTS), AGENTS - 3,
               "also when they have them already");
  settle(fixture);
  for (uint32_t i = 0; i < AGENTS; i++)
    cr_assert_float_eq(info_of(&fixture->little, fixture->agents[i]).importance,
                       i >= 3 && i <= 5 ? 1.0f : (float)(i % 101) / 100.0f, 0.013);
  cr_assert_eq(muster_agents_set_factor(world, MUSTER_FACTORS, fixture->agents, values, AGENTS), 0);
  free(values);
  destroy(fixture);
}

static muster_atom_result move_from_inside(muster_update *update) {
  muster_position there = {1, 2, 3};
  muster_observer observer = {0};
  float value = 0;
  cr_assert_eq(muster_agents_move(update->world, &update->agent, &there, 1), 0);
  cr_assert_eq(muster_observers_move(update->world, &observer, &there, 1), 0);
  cr_assert_eq(muster_agents_set_factor(update->world, MUSTER_FACTOR_BULK, &update->agent, &value, 1), 0);
  cr_assert_not_null(strstr(muster_last_error(), "inside a frame"));
  *(bool *)update->type_user = true;
  return MUSTER_ATOM_NEXT;
}

Test(bulk, calls_inside_a_frame_and_without_arrays_do_nothing) {
  bool ran = false;
  struct fixture *fixture = create(1, move_from_inside, &ran);
  muster_world *world = fixture->little.world;
  run_frames(&fixture->little, 20);
  cr_assert(ran);
  cr_assert_eq(muster_agents_move(world, fixture->agents, NULL, 3), 0);
  cr_assert_eq(muster_agents_move(world, NULL, fixture->places, 3), 0);
  cr_assert_eq(muster_agents_move(world, NULL, NULL, 0), 0);
  cr_assert_eq(muster_agents_move(NULL, fixture->agents, fixture->places, 3), 0);
  cr_assert_eq(muster_observers_move(world, NULL, fixture->places, 3), 0);
  cr_assert_eq(muster_agents_set_factor(world, MUSTER_FACTOR_BULK, fixture->agents, NULL, 3), 0);
  destroy(fixture);
}

/* What is fetched ahead is fetched of agents that were named, however many these are: a few, or so many that workers
 * share them. */
Test(bulk, looks_at_nothing_behind_the_arrays) {
  struct fixture *fixture = create(2, nothing, NULL);
  walled ids = walled_create(sizeof fixture->agents), positions = walled_create(sizeof fixture->places);
  walled shares = walled_create(sizeof(float[AGENTS]));
  for (uint32_t count = 1; count <= AGENTS; count += count < 40 ? 1 : 1240) {
    muster_agent *agents = WALLED_ARRAY(ids, muster_agent, count);
    muster_position *places = WALLED_ARRAY(positions, muster_position, count);
    float *values = WALLED_ARRAY(shares, float, count);
    memcpy(agents, fixture->agents, count * sizeof *agents);
    for (uint32_t i = 0; i < count; i++) places[i] = (muster_position){i, 0.25, 0}, values[i] = 0.5f;
    cr_assert_eq(muster_agents_move(fixture->little.world, agents, places, count), count);
    cr_assert_eq(muster_agents_set_factor(fixture->little.world, MUSTER_FACTOR_BULK, agents, values, count), count);
  }
  walled_destroy(&ids);
  walled_destroy(&positions);
  walled_destroy(&shares);
  destroy(fixture);
}
