/* What a host asks for, call by call: a full queue refuses each and keeps nothing of it, each field of a tuning changes
 * its own and no other, arrays do what their entries would do one after another, and limits are where they are said to
 * be, on both sides. */
#include "base/clock.h"
#include "run/runner.h"
#include "world/fixture.h"
#include "world/world_sums.h"

#include <muster/random.h>

static little_world asked_world(muster_world_def def) {
  return careless(typed_world(1, def,
                              CHANGED(type_running(nothing, 1000), it.messages.waiting_max = 2,
                                      it.messages.bytes_max = MUSTER_MESSAGE_BYTES_MAX)));
}

/* ---------------------------------------------------------------------------------------------------- full queues */

Test(requests, that_find_no_room_are_refused_and_keep_nothing) {
  enum { OBSERVERS = 5, COMMANDS = 16 };
  SCOPED_WORLD little = asked_world(WITH(virtual_world_def, it.importance_model = MUSTER_IMPORTANCE_FACTORS,
                                         it.limits.commands_max = COMMANDS, it.limits.observers_max = OBSERVERS));
  struct muster_world *world = little.world;
  const muster_position away = {70, 7, 0};
  const muster_agent_tuning tuning = WITH(muster_agent_tuning, it.importance_floor = 1);
  muster_agent agent = spawn_at(&little, 1), other = spawn_at(&little, 2);
  muster_observer observer = observe_at(&little, 0);
  run_frames(&little, 3);
  for (uint32_t round = 0; round < 2; round++) {
    uint64_t hash = muster_world_hash(world);
    for (uint32_t i = 0; i < 10 * COMMANDS && muster_agent_move(world, agent, (muster_position){1, 0, 0}) == MUSTER_OK;)
      i++;
    cr_assert_eq(muster_last_result(), MUSTER_E_FULL);
    for (uint32_t i = 0; i < 2 * OBSERVERS; i++) cr_assert(muster_observer_is_null(observe_at(&little, 0)));
    const muster_result results[] = {muster_agent_move(world, agent, away),
                                     muster_agent_wake_at(world, agent, 1),
                                     muster_agent_tune(world, agent, &tuning),
                                     muster_agent_link(world, agent, other),
                                     muster_agent_unlink(world, agent, other),
                                     muster_agent_set_periods(world, agent, 1000000000u, 0),
                                     muster_type_set_periods(world, little.type, 1000000000u, 0),
                                     muster_agent_quarantine(world, agent),
                                     muster_agent_reinstate(world, agent),
                                     muster_type_quarantine(world, little.type),
                                     muster_type_reinstate(world, little.type),
                                     muster_observer_move(world, observer, away),
                                     muster_observer_remove(world, observer)};
    for (uint32_t i = 0; i < COUNT_OF(results); i++)
      cr_assert_eq(results[i], MUSTER_E_FULL, "call %u: %s", i, muster_result_name(results[i]));
    uint32_t messages = 0;
    while (messages < 10 * COMMANDS && muster_agent_send(world, agent, "a", 1) == MUSTER_OK) messages++;
    cr_assert(messages >= COMMANDS && messages < 10 * COMMANDS && muster_last_result() == MUSTER_E_FULL);
    cr_assert_eq(muster_world_hash(world), hash);
    run_frames(&little, 3);
    uint64_t period_ns = 0, period_max_ns = 0;
    cr_assert_eq(muster_type_periods_read(world, little.type, &period_ns, &period_max_ns), MUSTER_OK);
    cr_assert_eq(period_ns, muster_type_def_default().period_ns);
    cr_assert_float_eq(info_of(&little, agent).position.x, 1, 1e-3);
    cr_assert(info_of(&little, agent).importance < 0.99f);
  }
  for (uint32_t i = 1; i < OBSERVERS; i++)
    cr_assert(!muster_observer_is_null(observe_at(&little, 0)), "%u: %s", i, muster_last_error());
  cr_assert(muster_observer_is_null(observe_at(&little, 0)));
}

/* By the wall clock a wake waits for a worker, in a queue of its own. */
Test(requests, to_wake_more_than_there_is_room_for_are_refused) {
  enum { AGENTS = 40 };
  SCOPED_WORLD little = asked_world(WITH(muster_world_def, it.limits.commands_max = 16));
  muster_agent agents[AGENTS];
  for (uint32_t i = 0; i < AGENTS; i++) agents[i] = spawn_at(&little, i);
  for (uint32_t i = 0; i < 4; i++) run_frame_with(&little, 1000000000u);
  for (uint32_t round = 0; round < 2; round++) {
    uint32_t woken = 0, refused = 0;
    for (uint32_t i = 0; i < AGENTS; i++) {
      muster_result result = muster_agent_wake(little.world, agents[i]);
      woken += result == MUSTER_OK;
      refused += result == MUSTER_E_FULL;
    }
    cr_assert(woken >= 16 && refused > 0 && woken + refused == AGENTS, "%u and %u", woken, refused);
    cr_assert_eq(run_frame_with(&little, 1000000000u).woken, woken);
  }
}

typedef struct tuned {
  double values[8];
} tuned;

static tuned tuned_of(const little_world *little, muster_agent agent) {
  const agent_row *row = world_row(little->world, muster_agent_index(agent));
  muster_agent_explanation why = explain(little, agent);
  return (tuned){{row->floor, row->elasticity_step, row->factors[MUSTER_FACTOR_VISIBILITY],
                  row->factors[MUSTER_FACTOR_BULK], row->factors[MUSTER_FACTOR_INTERACTIVITY], (double)why.designer,
                  (double)why.role}};
}

Test(requests, to_tune_one_field_change_that_one_alone_whatever_was_tuned_before) {
  SCOPED_WORLD little = asked_world(WITH(virtual_world_def, it.importance_model = MUSTER_IMPORTANCE_FACTORS));
  muster_agent agent = spawn_at(&little, 1), other = spawn_at(&little, 2);
  run_frames(&little, 2);
  const tuned untouched = tuned_of(&little, other);
  for (uint32_t round = 0; round < 3; round++)
    for (uint32_t field = 0; field < 8; field++) {
      muster_agent_tuning tuning = muster_agent_tuning_default();
      float *const fields[] = {&tuning.importance_floor, &tuning.elasticity, &tuning.visibility, &tuning.bulk,
                               &tuning.interactivity,    &tuning.designer,   &tuning.role};
      float value = round == 1 ? 0.0f : (float)(field + 1) / (float)(10 + round);
      tuned before = tuned_of(&little, agent);
      if (field < 7)
        *fields[field] = value;
      else
        tuning.derive_elasticity = 1;
      assert_ok(tune_agent(&little, agent, tuning));
      run_frame(&little);
      tuned after = tuned_of(&little, agent);
      uint32_t changed = field < 7 ? field : 1;
      for (uint32_t i = 0; i < 7; i++)
        cr_assert((before.values[i] == after.values[i]) == (i != changed), "field %u in round %u: %u is %g", field,
                  round, i, after.values[i]);
      if (field > 4 && field < 7) cr_assert_float_eq(after.values[field], (double)value, 0.01);
    }
  const tuned left = tuned_of(&little, other);
  cr_assert(!memcmp(&untouched, &left, sizeof left));
}

static bool adds(const little_world *little, float near_m, float far_m, uint32_t partition) {
  return !muster_observer_is_null(
      observe_as(little, WITH(muster_observer_def, it.near_m = near_m, it.far_m = far_m, it.partition = partition)));
}

Test(requests, are_taken_up_to_their_limits_and_not_beyond) {
  enum { FULL_BYTES = MUSTER_MESSAGE_BYTES_MAX };
  static const char bytes[FULL_BYTES + 1];
  SCOPED_WORLD little = asked_world(virtual_world_def_default());
  muster_agent agent = spawn_at(&little, 1);
  const float more = nextafterf(0, -1);
  cr_assert(adds(&little, 0, nextafterf(0, 1), 0) && adds(&little, 5, nextafterf(5, 6), 65535));
  cr_assert(!adds(&little, more, 5, 0) && !adds(&little, 5, 5, 0) && !adds(&little, NAN, 5, 0) &&
            !adds(&little, 5, INFINITY, 0) && !adds(&little, 5, NAN, 0) && !adds(&little, 1, 5, 65536));
  assert_ok(muster_agent_send(little.world, agent, bytes, FULL_BYTES));
  cr_assert_eq(muster_agent_send(little.world, agent, bytes, FULL_BYTES + 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_send(little.world, agent, NULL, 0), MUSTER_OK);
  cr_assert_eq(muster_agent_send(little.world, agent, NULL, 1), MUSTER_E_ARGUMENT);
  const uint64_t longest_ns = (uint64_t)INT64_MAX / 2;
  cr_assert_eq(muster_agent_wake_at(little.world, agent, longest_ns), MUSTER_OK);
  cr_assert_eq(muster_agent_wake_at(little.world, agent, longest_ns + 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_wake_at(little.world, agent, UINT64_MAX - 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_wake_at(little.world, agent, MUSTER_WAKE_NEVER), MUSTER_OK);
  const muster_type next = {little.type.index + 1}, none = {0};
  cr_assert_eq(muster_type_set_periods(little.world, next, 100000000u, 0), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_set_periods(little.world, none, 100000000u, 0), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_type_quarantine(little.world, next), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_remove(little.world, agent), MUSTER_OK);
  cr_assert_eq(muster_agent_remove(little.world, agent), MUSTER_E_STALE, "once");
  cr_assert_eq(muster_agent_move(little.world, agent, (muster_position){0}), MUSTER_E_STALE);
}

/* --------------------------------------------------------------------------------------------------------- arrays */

enum { CROWD = 48, NAMES = 150, OBSERVERS = 9, CALLS = 60 };

struct model {
  little_world little;
  muster_agent agents[CROWD];
  muster_observer observers[OBSERVERS];
  muster_position at[CROWD], eyes[OBSERVERS];
  float bulk[CROWD];
  bool gone[CROWD];
  uint64_t chance, refused;
};

static uint64_t draw(struct model *model, uint64_t below) {
  return muster_random_mix(++model->chance) % below;
}

static muster_position draw_place(struct model *model, bool far) {
  double reach = far ? 500.0 : 2.0;
  muster_position place = {reach * (double)draw(model, 1000) / 1000.0, (double)draw(model, 9), 0};
  if (draw(model, 8) == 0) place.y = draw(model, 2) ? NAN : 2e9;
  return place;
}

static bool is_good(muster_position place) {
  return place.y < 1e9;
}

/* Any agent, or one that never was; more of them than the world has room for. */
static uint32_t draw_agents(struct model *model, muster_agent *agents, uint32_t *numbers) {
  uint32_t count = (uint32_t)draw(model, NAMES), first = (uint32_t)draw(model, CROWD);
  uint32_t order = (uint32_t)draw(model, 3); /* any, ascending, or ascending with each twice */
  for (uint32_t i = 0; i < count; i++) {
    numbers[i] = order ? (first + i / order) % CROWD : (uint32_t)draw(model, CROWD);
    agents[i] = model->agents[numbers[i]];
    if (draw(model, 20)) continue;
    numbers[i] = UINT32_MAX;
    agents[i] = muster_agent_make((uint32_t)draw(model, 2 * CROWD), 99);
  }
  return count;
}

static void move_crowd(struct model *model) {
  muster_agent agents[NAMES];
  muster_position places[NAMES];
  uint32_t numbers[NAMES], count = draw_agents(model, agents, numbers), moved = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool there = numbers[i] != UINT32_MAX && !model->gone[numbers[i]];
    places[i] = draw_place(model, draw(model, 2)); /* near where it is, or not */
    model->refused += there && !is_good(places[i]);
    if (!there || !is_good(places[i])) continue;
    moved++;
    model->at[numbers[i]] = places[i];
  }
  cr_assert_eq(muster_agents_move(model->little.world, agents, places, count), moved);
}

static void set_bulk(struct model *model) {
  const float wrong[] = {-0.001f, 1.001f, NAN, INFINITY};
  muster_agent agents[NAMES];
  float values[NAMES];
  uint32_t numbers[NAMES], count = draw_agents(model, agents, numbers), set = 0;
  for (uint32_t i = 0; i < count; i++) {
    bool wrongs = draw(model, 8) == 0;
    values[i] = wrongs ? wrong[draw(model, 4)] : (float)draw(model, 6) / 5.0f;
    if (numbers[i] == UINT32_MAX || model->gone[numbers[i]] || wrongs) continue;
    set++;
    model->bulk[numbers[i]] = values[i];
  }
  cr_assert_eq(muster_agents_set_factor(model->little.world, MUSTER_FACTOR_BULK, agents, values, count), set);
}

static void move_eyes(struct model *model) {
  muster_observer observers[OBSERVERS];
  muster_position places[OBSERVERS];
  uint32_t moved = 0;
  for (uint32_t i = 0; i < OBSERVERS; i++) {
    bool there = draw(model, 5);
    observers[i] = there ? model->observers[i] : muster_observer_make(i, 99);
    places[i] = draw_place(model, true);
    model->refused += there && !is_good(places[i]);
    if (!there || !is_good(places[i])) continue;
    moved++;
    model->eyes[i] = places[i];
  }
  cr_assert_eq(muster_observers_move(model->little.world, observers, places, OBSERVERS), moved);
}

static void check_model(struct model *model) {
  cr_assert_eq(statistics_of(&model->little).positions_refused, model->refused);
  for (uint32_t i = 0; i < CROWD; i++) {
    if (model->gone[i]) continue;
    const agent_row *row = world_row(model->little.world, muster_agent_index(model->agents[i]));
    muster_position is = info_of(&model->little, model->agents[i]).position, should = model->at[i];
    cr_assert(fabs(is.x - should.x) < 1e-3 && fabs(is.y - should.y) < 1e-3, "agent %u", i);
    cr_assert_eq(row->factors[MUSTER_FACTOR_BULK], lroundf(model->bulk[i] * 255.0f), "agent %u: bulk %g", i,
                 (double)model->bulk[i]);
  }
}

/* The importance of all agents is that of a world into which they were put where they are now. */
static void compare_importance(struct model *model) {
  SCOPED_WORLD fresh = asked_world(CHANGED(model->little.world->def, it.pool = NULL));
  muster_agent agents[CROWD];
  for (uint32_t i = 0; i < CROWD; i++) agents[i] = spawn_in(&fresh, model->at[i], 0);
  for (uint32_t i = 0; i < OBSERVERS; i++) observe_as(&fresh, WITH(muster_observer_def, it.position = model->eyes[i]));
  run_frame(&fresh);
  for (uint32_t i = 0; i < CROWD; i++)
    muster_agents_set_factor(fresh.world, MUSTER_FACTOR_BULK, &agents[i], &model->bulk[i], 1);
  run_frames(&fresh, 3);
  for (uint32_t i = 0; i < CROWD; i++)
    if (!model->gone[i])
      cr_assert_float_eq(info_of(&model->little, model->agents[i]).importance, info_of(&fresh, agents[i]).importance,
                         0.07, "agent %u", i);
}

Test(requests, in_arrays_do_what_their_entries_would_do_one_after_another) {
  static struct model model;
  model.little = asked_world(WITH(virtual_world_def, it.limits.agents_max = CROWD));
  for (uint32_t i = 0; i < CROWD; i++) {
    model.at[i] = (muster_position){i, 0, 0};
    model.agents[i] = spawn_in(&model.little, model.at[i], 0);
  }
  for (uint32_t i = 0; i < OBSERVERS; i++) model.observers[i] = observe_at(&model.little, 0);
  move_eyes(&model); /* before they are added */
  run_frame(&model.little);
  uint8_t bulk = world_row(model.little.world, muster_agent_index(model.agents[0]))->factors[MUSTER_FACTOR_BULK];
  for (uint32_t i = 0; i < CROWD; i++) model.bulk[i] = (float)bulk / 255.0f;
  for (uint32_t call = 0; call < CALLS; call++) {
    move_crowd(&model);
    set_bulk(&model);
    move_eyes(&model);
    check_model(&model);
    if (call % 10 == 9) {
      uint32_t victim = (uint32_t)draw(&model, CROWD);
      muster_agent_remove(model.little.world, model.agents[victim]);
      model.gone[victim] = true;
    }
    if (call % 3 == 0) run_frame(&model.little);
  }
  run_frames(&model.little, 3);
  check_model(&model);
  compare_importance(&model);
  little_world_destroy(&model.little);
}

/* Time that calls between frames take is taken from the next frame, of all such calls together. */
Test(requests, in_arrays_add_to_what_was_used_before_the_frame) {
  uint64_t told_ns = 1000000000u, expected_ns = 700;
  SCOPED_WORLD little = asked_world(muster_world_def_default());
  muster_agent agent = spawn_at(&little, 0);
  muster_observer observer = observe_at(&little, 0);
  run_frame_with(&little, 1000000000u);
  little.world->runner->clock = clock_told(&told_ns);
  little.world->sums->prepaid_ns = expected_ns;
  muster_agents_move(little.world, &agent, &(muster_position){1, 0, 0}, 1);
  muster_observers_move(little.world, &observer, &(muster_position){1, 0, 0}, 1);
  muster_agents_set_factor(little.world, MUSTER_FACTOR_BULK, &agent, &(float){0.5f}, 1);
  cr_assert_eq(little.world->sums->prepaid_ns, expected_ns);
}
