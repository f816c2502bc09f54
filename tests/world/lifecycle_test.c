/* Agents come, are moved, woken and tuned, and go. */
#include "world/fixture.h"

struct ledger {
  uint32_t spawned, removed, updates;
};

static struct ledger ledger; /* each test runs in a process of its own */

static muster_atom_result count_update(muster_update *update) {
  (void)update;
  ledger.updates++;
  return MUSTER_ATOM_NEXT;
}

static void count_spawned(muster_update *update) {
  (void)update;
  ledger.spawned++;
}
static void count_removed(muster_update *update) {
  (void)update;
  ledger.removed++;
}

static muster_type_def counting_type(void) {
  return CHANGED(type_running(count_update, 0), it.on_spawned = count_spawned, it.on_removed = count_removed,
                 it.state_bytes = 16, it.published_bytes = 8);
}

Test(lifecycle, an_id_is_valid_at_once_and_the_agent_active_after_the_next_intake) {
  SCOPED_WORLD little = world_of(counting_type());
  muster_agent agent = spawn_at(&little, 3);
  cr_assert(muster_agent_exists(little.world, agent));
  cr_assert(!info_of(&little, agent).active);
  cr_assert_eq(ledger.spawned, 0);
  run_frame(&little);
  cr_assert(info_of(&little, agent).active);
  cr_assert_eq(ledger.spawned, 1);
  cr_assert_float_eq(info_of(&little, agent).position.x, 3.0, 1e-5);
}

Test(lifecycle, a_removed_agent_is_touched_once_more_and_its_id_never_means_another) {
  SCOPED_WORLD little = world_of(counting_type());
  muster_agent first = spawn_and_run(&little, 0, 20);
  cr_assert_eq(muster_agent_remove(little.world, first), MUSTER_OK);
  cr_assert_eq(muster_agent_remove(little.world, first), MUSTER_E_STALE);
  run_frame(&little);
  cr_assert_eq(ledger.removed, 1);
  cr_assert(!muster_agent_exists(little.world, first));
  cr_assert_eq(muster_agent_remove(little.world, first), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_wake(little.world, first), MUSTER_E_STALE);
  uint32_t updates = ledger.updates;
  run_frames(&little, 20);
  cr_assert_eq(ledger.updates, updates);
  for (int i = 0; i < 100; i++) cr_assert(!muster_agent_equal(spawn_at(&little, i), first));
}

Test(lifecycle, an_agent_removed_before_its_intake_was_never_there) {
  SCOPED_WORLD little = world_of(counting_type());
  muster_agent agent = spawn_at(&little, 0);
  muster_agent_remove(little.world, agent);
  run_frames(&little, 20);
  cr_assert_eq(ledger.spawned + ledger.removed + ledger.updates, 0);
  cr_assert(!muster_agent_exists(little.world, agent));
}

Test(lifecycle, destroying_the_world_removes_everybody_once) {
  little_world little = peopled(world_of(counting_type()), 50);
  run_frames(&little, 3);
  little_world_destroy(&little);
  cr_assert_eq(ledger.removed, 50);
}

Test(lifecycle, the_population_stops_at_its_maximum_and_goes_on_after_removals) {
  SCOPED_WORLD little = typed_world(1, WITH(virtual_world_def, it.limits.agents_max = 10), counting_type());
  muster_agent agents[10];
  for (int round = 0; round < 3; round++) {
    for (int i = 0; i < 10; i++) agents[i] = spawn_at(&little, i);
    expect_spawn_refused(&little, muster_agent_def_default(), "agents_max = 10");
    run_frame(&little);
    for (int i = 0; i < 10; i++) muster_agent_remove(little.world, agents[i]);
    run_frame(&little);
  }
  cr_assert_eq(ledger.spawned, 30);
  cr_assert_eq(ledger.removed, 30);
}

Test(lifecycle, a_mass_spawn_is_spread_over_frames_and_told) {
  SCOPED_WORLD little = peopled(world_of(counting_type()), 5000);
  uint32_t waiting = run_frame(&little).spawns_waiting, frames = 1;
  cr_assert(waiting > 0 && waiting < 5000);
  while (run_frame(&little).spawns_waiting > 0) frames++;
  cr_assert_lt(frames, 5000 / 256 + 2);
  cr_assert_eq(ledger.spawned, 5000);
}

Test(lifecycle, a_woken_agent_runs_in_the_next_frame_and_its_period_goes_on_as_before) {
  SCOPED_WORLD little = world_of(CHANGED(counting_type(), it.period_ns = it.period_max_ns = 1000000000u));
  muster_agent agent = spawn_and_run(&little, 0, 101);
  cr_assert_eq(ledger.updates, 1, "one second of a period of one second");
  uint64_t last = info_of(&little, agent).last_update_ns;
  muster_agent_wake(little.world, agent);
  muster_agent_wake(little.world, agent);
  cr_assert_eq(run_frame(&little).woken, 1, "two wakes before a run are one");
  cr_assert_eq(ledger.updates, 2);
  while (ledger.updates == 2) run_frame(&little);
  cr_assert_eq(info_of(&little, agent).last_update_ns, last + 1000000000u);
}

Test(lifecycle, a_pending_agent_can_be_moved_woken_and_tuned) {
  SCOPED_WORLD little = world_of(counting_type());
  muster_agent agent = spawn_at(&little, 0);
  cr_assert_eq(muster_agent_move(little.world, agent, (muster_position){-77.5, 1e6, 3}), MUSTER_OK);
  cr_assert_eq(muster_agent_wake(little.world, agent), MUSTER_OK);
  assert_ok(tune_agent(&little, agent, WITH(muster_agent_tuning, it.importance_floor = 0.75f, it.elasticity = 0.0f)));
  run_frame(&little);
  cr_assert_eq(ledger.updates, 0, "no time has passed for it");
  run_frame(&little);
  muster_agent_info info = info_of(&little, agent);
  cr_assert_eq(ledger.updates, 1);
  cr_assert_float_eq(info.position.x, -77.5, 1e-5);
  cr_assert_float_eq(info.position.y, 1e6, 1e-4);
  cr_assert_float_eq(info.importance, 0.75f, 1e-5);
  cr_assert_eq(info.elasticity, 0.0f);
  tune_agent(&little, agent,
             WITH(muster_agent_tuning, it.importance_floor = 0.0f, it.elasticity = -1.0f, it.derive_elasticity = true));
  run_frame(&little);
  cr_assert_float_eq(info_of(&little, agent).elasticity, 64.0f, 1e-5); /* half of twelve octaves */
}

Test(lifecycle, an_elasticity_that_is_set_does_not_follow_importance_by_the_papers_rules) {
  SCOPED_WORLD little = papers_world(1);
  add_type(&little, counting_type());
  muster_agent agent = spawn_as(&little, WITH(muster_agent_def, it.elasticity = 2.0f));
  run_frames(&little, 5);
  cr_assert_eq(info_of(&little, agent).elasticity, 2.0f);
}

Test(lifecycle, agents_are_listed_in_order_and_only_while_active) {
  SCOPED_WORLD little = world_of(counting_type());
  muster_agent agents[100];
  for (uint32_t i = 0; i < 100; i++) agents[i] = spawn_at(&little, i);
  run_frame(&little);
  for (uint32_t i = 0; i < 100; i += 3) muster_agent_remove(little.world, agents[i]);
  run_frame(&little);
  uint32_t count = 0;
  for (muster_agent a = {0}; !muster_agent_is_null(a = muster_agent_next(little.world, a));) {
    cr_assert_neq(muster_agent_index(a) % 3, 0);
    count++;
  }
  cr_assert_eq(count, 66);
}

Test(lifecycle, importance_follows_observers_that_come_move_and_go) {
  SCOPED_WORLD little = world_of(counting_type());
  muster_agent agent = spawn_at(&little, 0);
  muster_observer observer = observe_at(&little, 137.5);
  run_frame(&little);
  cr_assert_float_eq(info_of(&little, agent).importance, 0.5f, 1e-5);
  muster_observer_move(little.world, observer, (muster_position){0, 0, 0});
  run_frame(&little);
  cr_assert_eq(info_of(&little, agent).importance, 1.0f);
  cr_assert_eq(muster_observer_remove(little.world, observer), MUSTER_OK);
  run_frame(&little);
  cr_assert_eq(info_of(&little, agent).importance, 0.0f);
  cr_assert_eq(muster_observer_remove(little.world, observer), MUSTER_E_STALE);
}

Test(lifecycle, a_wake_of_who_is_due_already_is_counted_like_any_other) {
  SCOPED_WORLD little = little_world_of(1, WITH(virtual_world_def, it.updates_per_frame = 1));
  add_type(&little, CHANGED(counting_type(), it.period_ns = it.period_max_ns = FRAME_NS));
  muster_agent agents[2] = {spawn_at(&little, 0), spawn_at(&little, 1)};
  run_frames(&little, 10);
  cr_assert_eq(run_frame(&little).carried, 1, "one is ready, and one waits");
  for (uint32_t i = 0; i < 2; i++) muster_agent_wake(little.world, agents[i]);
  cr_assert_eq(run_frame(&little).woken, 2);
}
