/* What a host that steers a world needs to know and to set: workers, the tuning in force, its observers, and
 * explanations for machines. */
#include "world/fixture.h"

enum { CROWD = 400 };

static _Thread_local bool is_caller;

struct tally {
  uint32_t by_caller, by_others;
};

static muster_atom_result count(muster_update *update) {
  struct tally *tally = update->state;
  *(is_caller ? &tally->by_caller : &tally->by_others) += 1;
  return MUSTER_ATOM_NEXT;
}

static void populate(little_world *little) {
  add_type(little, CHANGED(type_running(count, 10000), it.state_bytes = sizeof(struct tally), it.period_ns = FRAME_NS));
  for (uint32_t i = 0; i < CROWD; i++) spawn_at(little, i);
}

static uint64_t hash_with_workers(uint32_t most) {
  SCOPED_WORLD little = little_world_create(4, NULL);
  populate(&little);
  cr_assert_eq(muster_world_set_workers(little.world, most), MUSTER_OK);
  run_frames(&little, 20);
  return muster_world_hash(little.world);
}

Test(steering, a_world_of_one_worker_runs_on_the_calling_thread_alone) {
  SCOPED_WORLD little = little_world_create(4, NULL);
  is_caller = true;
  populate(&little);
  cr_assert_eq(muster_world_workers(little.world), 4);
  cr_assert_eq(muster_world_set_workers(little.world, 1), MUSTER_OK);
  cr_assert_eq(muster_world_workers(little.world), 1);
  run_frames(&little, 30);
  struct tally sum = {0, 0};
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
    const struct tally *one = info_of(&little, agent).state;
    sum.by_caller += one->by_caller;
    sum.by_others += one->by_others;
  }
  cr_assert_gt(sum.by_caller, 0);
  cr_assert_eq(sum.by_others, 0);
  cr_assert_eq(muster_world_set_workers(little.world, 0), MUSTER_OK);
  cr_assert_eq(muster_world_workers(little.world), 4);
}

Test(steering, under_the_virtual_clock_the_number_of_workers_changes_nothing) {
  is_caller = false;
  SCOPED_WORLD little = little_world_create(1, NULL);
  populate(&little);
  run_frames(&little, 20);
  uint64_t one = muster_world_hash(little.world);
  cr_assert_eq(hash_with_workers(0), one);
  cr_assert_eq(hash_with_workers(1), one);
  cr_assert_eq(hash_with_workers(3), one);
}

Test(steering, more_workers_than_the_pool_has_are_refused) {
  SCOPED_WORLD little = little_world_create(2, NULL);
  cr_assert_eq(muster_world_set_workers(little.world, 3), MUSTER_E_ARGUMENT);
  cr_assert_not_null(strstr(muster_last_error(), "2"));
  cr_assert_eq(muster_world_workers(little.world), 2);
}

Test(steering, the_tuning_in_force_is_read_back) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  muster_world_tuning read = muster_world_tuning_default();
  assert_ok(tune_world(&little, WITH(muster_world_tuning, it.priority.wait = 0.25f, it.levels.cycles_max = 3)));
  run_frame(&little);
  cr_assert_eq(muster_world_tuning_read(little.world, &read), MUSTER_OK);
  cr_assert(read.priority.wait == 0.25f && read.priority.importance == 1.0f);
  cr_assert_eq(read.levels.cycles_max, 3);
  cr_assert(read.importance.focus < 0.0f, "this world has no factors of importance");
  cr_assert_eq(muster_world_tune(little.world, &read), MUSTER_OK, "what was read can be given back");
}

Test(steering, observers_are_listed_in_the_order_of_their_indices) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  muster_observer added[3], none = {0};
  muster_observer_def def = muster_observer_def_default();
  for (uint32_t i = 0; i < 3; i++) added[i] = observe_at(&little, i);
  cr_assert_eq(muster_observer_generation(muster_observer_next(little.world, none)), 0, "none is there before a frame");
  cr_assert_eq(muster_observer_read(little.world, added[1], &def), MUSTER_E_STALE);
  run_frame(&little);
  muster_observer_remove(little.world, added[0]);
  run_frame(&little);
  muster_observer first = muster_observer_next(little.world, none);
  cr_assert_eq(muster_observer_index(first), muster_observer_index(added[1]));
  cr_assert_eq(muster_observer_read(little.world, first, &def), MUSTER_OK);
  cr_assert(def.position.x == 1.0 && def.far_m == 250.0f);
  muster_observer second = muster_observer_next(little.world, first);
  cr_assert_eq(muster_observer_index(second), muster_observer_index(added[2]));
  cr_assert_eq(muster_observer_generation(muster_observer_next(little.world, second)), 0);
  cr_assert_eq(muster_observer_read(little.world, added[0], &def), MUSTER_E_STALE);
}

Test(steering, an_explanation_for_machines_is_whole_or_none) {
  char text[16384];
  SCOPED_WORLD little = little_world_create(1, NULL);
  populate(&little);
  run_frame(&little);
  muster_agent_explanation explanation = explain(&little, muster_agent_next(little.world, (muster_agent){0}));
  size_t length = muster_explanation_json(&explanation, text, sizeof text);
  cr_assert_eq(length, strlen(text));
  cr_assert_not_null(strstr(text, "\"type\": \"agent\""));
  cr_assert_eq(muster_explanation_json(&explanation, text, length), 0);
}
