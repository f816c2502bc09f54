/* Positions and factors in arrays. */
#include "support/walled.h"
#include "support/whole_frames.h"
#include "world/fixture.h"

enum { AGENTS = 5000 };

static muster_agent agents[AGENTS];
static muster_position places[AGENTS];

static little_world create_of(uint32_t workers, atom_function *run) {
  little_world little = typed_world(workers, virtual_world_def_default(), type_running(run, 0));
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  while (run_frame(&little).spawns_waiting) continue;
  return little;
}

static little_world create(uint32_t workers) {
  return create_of(workers, nothing);
}

static void check_places(const little_world *little) {
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_position is = info_of(little, agents[i]).position, wanted = places[i];
    cr_assert(fabs(is.x - wanted.x) < 1e-3 && fabs(is.y - wanted.y) < 1e-3 && fabs(is.z - wanted.z) < 1e-3);
  }
}

static uint32_t move(const little_world *little) {
  return muster_agents_move(little->world, agents, places, AGENTS);
}

static void settle(little_world *little) {
  while (run_frame(little).score_waiting) continue;
}

/* With an observer in the middle, the importance of each agent follows from the position that the array gave it. */
static void check_importance(const little_world *little) {
  for (uint32_t i = 0; i < AGENTS; i++) {
    muster_position at = places[i];
    double distance = sqrt(at.x * at.x + at.y * at.y + at.z * at.z);
    double expected = fmin(fmax((250 - distance) / 225, 0.0), 1.0);
    cr_assert_float_eq(info_of(little, agents[i]).importance, expected, 0.05, "agent %u", i);
  }
}

static void scatter(uint32_t frame, double span_m) {
  for (uint32_t i = 0; i < AGENTS; i++) {
    uint64_t random = (uint64_t)(i * 7919u + frame * 104729u + 1) * 0x9e3779b97f4a7c15u;
    random = (random ^ random >> 29) * 0xbf58476d1ce4e5b9u;
    places[i] = (muster_position){((double)(random >> 40) / 16777216.0 - 0.5) * span_m,
                                  ((double)(random >> 16 & 0xffffff) / 16777216.0 - 0.5) * span_m, 0};
  }
}

Test(bulk, agents_are_where_the_array_says_at_once_and_importance_follows) {
  for (uint32_t workers = 1; workers <= 4; workers += 3) {
    SCOPED_WORLD little = create(workers);
    observe_at(&little, 0);
    for (uint32_t frame = 0; frame < 5; frame++) {
      scatter(frame, 600); /* positions across the world in every frame */
      cr_assert_eq(move(&little), AGENTS);
      check_places(&little);
      settle(&little);
      check_importance(&little);
    }
  }
}

/* Who was moved is found where it is now, also when nobody sees it: by the cells of the place, which are sound. */
Test(bulk, agents_are_found_where_the_array_put_them) {
  static const double spans_m[] = {4000, 12, 12, 11, 600}; /* far apart, or a crowd in one place */
  for (uint32_t observed = 0; observed < 2; observed++) {
    SCOPED_WORLD little = create(2);
    if (observed) observe_at(&little, 0);
    for (uint32_t frame = 0; frame < COUNT_OF(spans_m); frame++) {
      scatter(frame, spans_m[frame]);
      cr_assert_eq(move(&little), AGENTS);
      must_be_sound(little.world);
      for (uint32_t i = 0; i < AGENTS; i += 61) {
        const muster_nearby_query query = WITH(muster_nearby_query, it.position = places[i], it.radius_m = 1);
        muster_nearby_agent near[1];
        cr_assert_geq(muster_agents_nearby(little.world, &query, near, 1, NULL), 1, "agent %u", i);
        cr_assert_lt(near[0].neighbour.distance_m, 0.01, "agent %u", i);
      }
      run_frame(&little);
    }
  }
}

Test(bulk, small_steps_add_up) {
  SCOPED_WORLD little = create(2);
  observe_at(&little, 0);
  scatter(1, 600);
  for (uint32_t frame = 0; frame < 200; frame++) {
    for (uint32_t i = 0; i < AGENTS; i++) places[i].x += i % 2 ? 0.2 : -0.2;
    cr_assert_eq(move(&little), AGENTS);
    run_frame(&little);
  }
  settle(&little);
  check_places(&little);
  check_importance(&little);
}

static uint32_t neighbours = UINT32_MAX; /* that each agent has; UINT32_MAX = any number */

static muster_atom_result look_around(muster_update *update) {
  muster_neighbour found[8];
  uint32_t count = muster_update_nearby(update, 5.0f, (muster_type){0}, found, 8);
  if (neighbours != UINT32_MAX) cr_assert_eq(count, neighbours);
  return MUSTER_ATOM_NEXT;
}

Test(bulk, all_agents_go_into_one_cell_and_out_again) {
  SCOPED_WORLD little = create_of(2, look_around);
  for (uint32_t frame = 0; frame < 20; frame++) {
    for (uint32_t i = 0; i < AGENTS; i++)
      places[i] = frame % 2 ? (muster_position){i * 100.0, 0, 0} : (muster_position){1, 1, 0};
    cr_assert_eq(move(&little), AGENTS);
    neighbours = frame % 2 ? 0 : 8;
    run_frame_with(&little, 500000);
  }
}

Test(bulk, stale_ids_and_bad_positions_are_passed_over_and_counted) {
  SCOPED_WORLD little = create(1);
  scatter(3, 100);
  muster_agent_remove(little.world, agents[7]);
  run_frame(&little);
  muster_position before = info_of(&little, agents[9]).position;
  places[9].x = NAN;
  places[10].z = INFINITY;
  places[11].y = 2e9;
  agents[12] = (muster_agent){0};
  agents[13] = muster_agent_make(UINT32_MAX, 1);
  cr_assert_eq(move(&little), AGENTS - 6);
  cr_assert_eq(statistics_of(&little).positions_refused, 3);
  cr_assert_eq(info_of(&little, agents[9]).position.x, before.x);
}

/* By its place in the caller's array, also where that is taken in pieces, or one by one since somebody is named twice.
 */
Test(bulk, what_is_refused_is_told_by_its_place) {
  enum { FEW = 8, MANY = 5 * FEW + 3 }; /* of the arrays */
  SCOPED_WORLD little = typed_world(1, WITH(muster_world_def, it.limits.agents_max = FEW), type_running(nothing, 0));
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
}

Test(bulk, of_two_positions_for_one_agent_the_later_one_holds) {
  for (uint32_t workers = 1; workers <= 4; workers += 3) {
    SCOPED_WORLD little = create(workers);
    for (uint32_t i = 0; i < AGENTS; i++) {
      agents[i] = agents[i % 10];
      places[i] = (muster_position){i % 3 ? i : 5.0 + i * 1e-4, 0, 0};
    }
    cr_assert_eq(move(&little), AGENTS);
    for (uint32_t i = AGENTS - 10; i < AGENTS; i++)
      cr_assert_float_eq(info_of(&little, agents[i]).position.x, places[i].x, 1e-3);
  }
}

Test(bulk, agents_come_in_any_order) {
  SCOPED_WORLD little = create(4);
  for (uint32_t i = 0; i < AGENTS / 2; i++) {
    muster_agent agent = agents[i];
    agents[i] = agents[AGENTS - 1 - i];
    agents[AGENTS - 1 - i] = agent;
  }
  scatter(9, 3000);
  cr_assert_eq(move(&little), AGENTS);
  check_places(&little);
}

Test(bulk, an_agent_that_waits_for_its_intake_is_moved_too) {
  SCOPED_WORLD little = create(1);
  muster_agent agent = spawn_at(&little, 0);
  cr_assert_eq(muster_agents_move(little.world, &agent, &(muster_position){50, 60, 70}, 1), 1);
  run_frame(&little);
  cr_assert_float_eq(info_of(&little, agent).position.y, 60, 1e-3);
}

Test(bulk, observers_are_moved_also_those_that_wait_to_be_added) {
  SCOPED_WORLD little = create(1);
  muster_observer observer = observe_at(&little, 0);
  muster_position there = {3000, 0, 0}, back = {0, 0, 0};
  cr_assert_eq(muster_observers_move(little.world, &observer, &there, 1), 1);
  run_frame(&little);
  cr_assert_eq(info_of(&little, agents[0]).importance, 0.0f);
  cr_assert_eq(info_of(&little, agents[3000]).importance, 1.0f);
  cr_assert_eq(muster_observers_move(little.world, &observer, &back, 1), 1);
  run_frame(&little);
  cr_assert_eq(info_of(&little, agents[0]).importance, 1.0f);
  cr_assert_eq(info_of(&little, agents[3000]).importance, 0.0f);
  muster_observer_remove(little.world, observer);
  run_frame(&little);
  cr_assert_eq(muster_observers_move(little.world, &observer, &back, 1), 0);
}

Test(bulk, factors_are_set_at_once_and_followed_by_importance) {
  SCOPED_WORLD little = create(1);
  static float values[AGENTS];
  muster_observer_def def = WITH(muster_observer_def, it.near_m = 10000, it.far_m = 20000);
  muster_observer_add(little.world, &def);
  settle(&little);
  for (uint32_t i = 0; i < AGENTS; i++) values[i] = (float)(i % 101) / 100.0f;
  values[3] = NAN;
  values[4] = -1.0f;
  values[5] = 1.01f;
  muster_world *world = little.world;
  cr_assert_eq(muster_agents_set_factor(world, MUSTER_FACTOR_BULK, agents, values, AGENTS), AGENTS - 3);
  cr_assert_eq(muster_agents_set_factor(world, MUSTER_FACTOR_BULK, agents, values, AGENTS), AGENTS - 3,
               "also when they have them already");
  settle(&little);
  for (uint32_t i = 0; i < AGENTS; i++)
    cr_assert_float_eq(info_of(&little, agents[i]).importance, i >= 3 && i <= 5 ? 1.0f : (float)(i % 101) / 100.0f,
                       0.013);
  cr_assert_eq(muster_agents_set_factor(world, MUSTER_FACTORS, agents, values, AGENTS), 0);
}

static bool ran;

static muster_atom_result move_from_inside(muster_update *update) {
  muster_position there = {1, 2, 3};
  muster_observer observer = {0};
  float value = 0;
  cr_assert_eq(muster_agents_move(update->world, &update->agent, &there, 1), 0);
  cr_assert_eq(muster_observers_move(update->world, &observer, &there, 1), 0);
  cr_assert_eq(muster_agents_set_factor(update->world, MUSTER_FACTOR_BULK, &update->agent, &value, 1), 0);
  expect_error("inside a frame");
  ran = true;
  return MUSTER_ATOM_NEXT;
}

Test(bulk, calls_inside_a_frame_and_without_arrays_do_nothing) {
  SCOPED_WORLD little = create_of(1, move_from_inside);
  muster_world *world = little.world;
  run_frames(&little, 20);
  cr_assert(ran);
  cr_assert_eq(muster_agents_move(world, agents, NULL, 3), 0);
  cr_assert_eq(muster_agents_move(world, NULL, places, 3), 0);
  cr_assert_eq(muster_agents_move(world, NULL, NULL, 0), 0);
  cr_assert_eq(muster_agents_move(NULL, agents, places, 3), 0);
  cr_assert_eq(muster_observers_move(world, NULL, places, 3), 0);
  cr_assert_eq(muster_agents_set_factor(world, MUSTER_FACTOR_BULK, agents, NULL, 3), 0);
}

/* What is fetched ahead is fetched of agents that were named, however many these are: a few, or so many that workers
 * share them. */
Test(bulk, looks_at_nothing_behind_the_arrays) {
  SCOPED_WORLD little = create(2);
  SCOPED(walled_destroy) walled ids = walled_create(sizeof agents), positions = walled_create(sizeof places);
  SCOPED(walled_destroy) walled shares = walled_create(sizeof(float[AGENTS]));
  for (uint32_t count = 1; count <= AGENTS; count += count < 40 ? 1 : 1240) {
    muster_agent *named = WALLED_ARRAY(ids, muster_agent, count);
    muster_position *there = WALLED_ARRAY(positions, muster_position, count);
    float *values = WALLED_ARRAY(shares, float, count);
    memcpy(named, agents, count * sizeof *named);
    for (uint32_t i = 0; i < count; i++) there[i] = (muster_position){i, 0.25, 0}, values[i] = 0.5f;
    cr_assert_eq(muster_agents_move(little.world, named, there, count), count);
    cr_assert_eq(muster_agents_set_factor(little.world, MUSTER_FACTOR_BULK, named, values, count), count);
  }
}
