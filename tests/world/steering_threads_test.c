/* What a host that steers a world needs to know and to set: workers, the tuning in force, its observers, and
 * explanations for machines. */
#include "support/little_world.h"

#include <muster/explain.h>
#include <muster/tune.h>

enum { CROWD = 400 };

static _Thread_local bool is_caller;

struct tally {
  uint32_t by_caller, by_others;
};

static muster_atom_result count(muster_update *update) {
  struct tally *tally = update->state;
  if (is_caller)
    tally->by_caller++;
  else
    tally->by_others++;
  return MUSTER_ATOM_NEXT;
}

static void populate(little_world *little) {
  static const muster_atom atoms[] = {{count, MUSTER_ROLE_BEHAVIOUR, 10000}};
  muster_type_def type = type_with(atoms, 1);
  type.state_bytes = sizeof(struct tally);
  type.period_ns = FRAME_NS;
  register_type(little, &type);
  for (uint32_t i = 0; i < CROWD; i++) spawn_at(little, i);
}

static struct tally sum_of(const little_world *little) {
  struct tally sum = {0, 0};
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little->world, agent));) {
    const struct tally *one = info_of(little, agent).state;
    sum.by_caller += one->by_caller;
    sum.by_others += one->by_others;
  }
  return sum;
}

static uint64_t hash_with_workers(uint32_t most) {
  little_world little = little_world_create(4, NULL);
  populate(&little);
  cr_assert_eq(muster_world_set_workers(little.world, most), MUSTER_OK);
  run_frames(&little, 20);
  uint64_t hash = muster_world_hash(little.world);
  little_world_destroy(&little);
  return hash;
}

Test(steering, a_world_of_one_worker_runs_on_the_calling_thread_alone) {
  little_world little = little_world_create(4, NULL);
  is_caller = true;
  populate(&little);
  cr_assert_eq(muster_world_workers(little.world), 4);
  cr_assert_eq(muster_world_set_workers(little.world, 1), MUSTER_OK);
  cr_assert_eq(muster_world_workers(little.world), 1);
  run_frames(&little, 30);
  struct tally sum = sum_of(&little);
  cr_assert_gt(sum.by_caller, 0);
  cr_assert_eq(sum.by_others, 0);
  cr_assert_eq(muster_world_set_workers(little.world, 0), MUSTER_OK);
  cr_assert_eq(muster_world_workers(little.world), 4);
  little_world_destroy(&little);
}

static uint64_t hash_of_counts(void) {
  little_world little = little_world_create(1, NULL);
  is_caller = false;
  populate(&little);
  run_frames(&little, 20);
  uint64_t hash = muster_world_hash(little.world);
  little_world_destroy(&little);
  return hash;
}

Test(steering, under_the_virtual_clock_the_number_of_workers_changes_nothing) {
  is_caller = false;
  uint64_t one = hash_of_counts();
  cr_assert_eq(hash_with_workers(0), one);
  cr_assert_eq(hash_with_workers(1), one);
  cr_assert_eq(hash_with_workers(3), one);
}

Test(steering, more_workers_than_the_pool_has_are_refused) {
  little_world little = little_world_create(2, NULL);
  cr_assert_eq(muster_world_set_workers(little.world, 3), MUSTER_E_ARGUMENT);
  cr_assert_not_null(strstr(muster_last_error(), "2"));
  cr_assert_eq(muster_world_workers(little.world), 2);
  little_world_destroy(&little);
}

Test(steering, the_tuning_in_force_is_read_back) {
  little_world little = little_world_create(1, NULL);
  muster_world_tuning tuning = muster_world_tuning_default(), read = muster_world_tuning_default();
  tuning.priority.wait = 0.25f;
  tuning.levels.cycles_max = 3;
  cr_assert_eq(muster_world_tune(little.world, &tuning), MUSTER_OK);
  run_frame(&little);
  cr_assert_eq(muster_world_tuning_read(little.world, &read), MUSTER_OK);
  cr_assert(read.priority.wait == 0.25f && read.priority.importance == 1.0f);
  cr_assert_eq(read.levels.cycles_max, 3);
  cr_assert(read.importance.focus < 0.0f, "this world has no factors of importance");
  cr_assert_eq(muster_world_tune(little.world, &read), MUSTER_OK, "what was read can be given back");
  little_world_destroy(&little);
}

Test(steering, observers_are_listed_in_the_order_of_their_indices) {
  little_world little = little_world_create(1, NULL);
  muster_observer added[3], none = {0};
  muster_observer_def def = muster_observer_def_default();
  for (uint32_t i = 0; i < 3; i++) {
    def.position.x = i;
    added[i] = muster_observer_add(little.world, &def);
  }
  cr_assert_eq(muster_observer_generation(muster_observer_next(little.world, none)), 0,
               "they are not there before a frame");
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
  little_world_destroy(&little);
}

Test(steering, an_explanation_for_machines_is_whole_or_none) {
  char text[16384];
  little_world little = little_world_create(1, NULL);
  populate(&little);
  run_frame(&little);
  muster_agent_explanation explanation = muster_agent_explanation_default();
  muster_agent first = muster_agent_next(little.world, (muster_agent){0});
  cr_assert_eq(muster_agent_explain(little.world, first, &explanation), MUSTER_OK);
  size_t length = muster_explanation_json(&explanation, text, sizeof text);
  cr_assert_eq(length, strlen(text));
  cr_assert_not_null(strstr(text, "\"type\": \"agent\""));
  cr_assert_eq(muster_explanation_json(&explanation, text, length), 0);
  little_world_destroy(&little);
}
