/* A removed agent is gone from the call on: no call finds it, no worker starts it, and files know it. */
#include "world/fixture.h"

#include <muster/replicate.h>

/* ------------------------------------------------------------------------------------------------ what calls say */

static little_world counting_world(const muster_world_def *def, uint32_t *removed) {
  little_world little = little_world_create(1, def);
  add_type(&little, CHANGED(type_running(count_in_state, 1000), it.state_bytes = sizeof(uint64_t),
                            it.period_ns = it.period_max_ns = FRAME_NS, it.messages.waiting_max = 2,
                            it.messages.bytes_max = 8, it.on_removed = count_event, it.user = removed));
  return little;
}

static void check_gone(muster_world *world, muster_agent gone, muster_agent other) {
  muster_agent_tuning tuning = muster_agent_tuning_default();
  muster_agent_info info = muster_agent_info_default();
  muster_agent_columns columns = muster_agent_columns_default();
  muster_position there = {1, 2, 3};
  float factor = 0.5f;
  cr_expect_not(muster_agent_exists(world, gone));
  cr_expect_eq(muster_agent_remove(world, gone), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_wake(world, gone), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_wake_at(world, gone, 1), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_send(world, gone, "a", 1), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_move(world, gone, there), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_tune(world, gone, &tuning), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_link(world, gone, other), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_link(world, other, gone), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_reinstate(world, gone), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_quarantine(world, gone), MUSTER_E_STALE);
  cr_expect_eq(muster_agent_read(world, gone, &info), MUSTER_E_STALE);
  cr_expect_eq(muster_agents_read(world, &gone, 1, &columns), 0);
  cr_expect_eq(muster_agents_move(world, &gone, &there, 1), 0);
  cr_expect_eq(muster_agents_set_factor(world, MUSTER_FACTOR_BULK, &gone, &factor, 1), 0);
  for (muster_agent next = {0}; !muster_agent_is_null(next = muster_agent_next(world, next));)
    cr_expect_not(muster_agent_equal(next, gone));
}

Test(removal, is_seen_by_every_call_from_its_return_on) {
  uint32_t removed = 0;
  muster_world_def def = WITH(virtual_world_def, it.importance_model = MUSTER_IMPORTANCE_FACTORS);
  SCOPED_WORLD little = counting_world(&def, &removed);
  muster_agent active = spawn_at(&little, 0), other = spawn_at(&little, 1);
  run_frames(&little, 3);
  muster_agent pending = spawn_at(&little, 2);
  cr_assert_eq(muster_agent_remove(little.world, active), MUSTER_OK);
  cr_assert_eq(muster_agent_remove(little.world, pending), MUSTER_OK);
  check_gone(little.world, active, other);
  check_gone(little.world, pending, other);
  cr_expect_eq(removed, 0, "it is told at the intake");
  run_frame(&little);
  cr_expect_eq(removed, 1);
  check_gone(little.world, active, other);
  check_gone(little.world, pending, other);
  cr_expect(muster_agent_exists(little.world, other));
}

Test(removal, leaves_an_array_as_it_is_for_the_others) {
  enum { SOME = 100 };
  uint32_t removed = 0;
  SCOPED_WORLD little = counting_world(NULL, &removed);
  muster_agent agents[SOME];
  muster_position there[SOME];
  for (uint32_t i = 0; i < SOME; i++) agents[i] = spawn_at(&little, i);
  for (uint32_t i = 0; i < SOME; i++) there[i] = (muster_position){1000.0 + i, 0, 0};
  run_frame(&little);
  for (uint32_t i = 0; i < SOME; i += 2) cr_assert_eq(muster_agent_remove(little.world, agents[i]), MUSTER_OK);
  cr_assert_eq(muster_agents_move(little.world, agents, there, SOME), SOME / 2);
  for (uint32_t i = 1; i < SOME; i += 2) cr_assert_eq(info_of(&little, agents[i]).position.x, 1000.0 + i);
}

Test(removal, always_finds_room) {
  enum { MANY = 2000 };
  uint32_t removed = 0;
  muster_world_def def = WITH(virtual_world_def, it.limits.commands_max = 16);
  SCOPED_WORLD little = counting_world(&def, &removed);
  muster_agent agents[MANY];
  for (uint32_t i = 0; i < MANY; i++) agents[i] = spawn_at(&little, i);
  run_frame_with(&little, 100000000u);
  while (muster_agent_move(little.world, agents[0], (muster_position){7, 0, 0}) == MUSTER_OK) continue;
  for (uint32_t i = 0; i < MANY; i++) cr_assert_eq(muster_agent_remove(little.world, agents[i]), MUSTER_OK);
  for (uint32_t i = 0; i < MANY; i++) cr_assert_eq(muster_agent_remove(little.world, agents[i]), MUSTER_E_STALE);
  muster_frame_report report = run_frame_with(&little, 10000);
  cr_assert_eq(removed, MANY, "in the next frame, whatever its budget");
  cr_assert(report.agents == 0 && report.commands_waiting == 0);
}

static void note_place(muster_update *update) {
  *(muster_position *)update->type_user = update->position;
}

Test(removal, comes_after_what_its_host_asked_for_before_it) {
  muster_position last = {0};
  SCOPED_WORLD little = world_of(CHANGED(type_running(nothing, 1000), it.on_removed = note_place, it.user = &last));
  muster_agent agent = spawn_and_run(&little, 0, 2);
  cr_assert_eq(muster_agent_move(little.world, agent, (muster_position){50, 60, 0}), MUSTER_OK);
  cr_assert_eq(muster_agent_remove(little.world, agent), MUSTER_OK);
  run_frame(&little);
  cr_assert(last.x == 50.0 && last.y == 60.0, "at (%g, %g)", last.x, last.y);
}

/* ---------------------------------------------------------------------------------------------- inside of a frame */

enum { PEERS = 64 };

/* Agents of which all others are removed while the first one runs. */
struct peers {
  muster_agent agents[PEERS];
  uint32_t ran, removed;
};

static void *remove_as_host(void *given) {
  const muster_update *update = given;
  struct peers *peers = update->type_user;
  for (uint32_t i = 0; i < PEERS; i++)
    if (!muster_agent_equal(peers->agents[i], update->agent))
      peers->removed += muster_agent_remove(update->world, peers->agents[i]) == MUSTER_OK;
  return NULL;
}

/* Another thread does, since an atom must not. */
static muster_atom_result remove_the_others(muster_update *update) {
  struct peers *peers = update->type_user;
  pthread_t thread;
  if (peers->ran++ || update->now_ns < 3 * FRAME_NS) return MUSTER_ATOM_NEXT;
  if (!pthread_create(&thread, NULL, remove_as_host, update)) pthread_join(thread, NULL);
  return MUSTER_ATOM_NEXT;
}

/* How many of them ran in the frame of the removal. */
static uint32_t run_peers(muster_clock clock) {
  struct peers peers = {0};
  SCOPED_WORLD little = little_world_of(1, WITH(muster_world_def, it.clock.kind = clock));
  add_type(&little, CHANGED(due_every(FRAME_NS, type_running(remove_the_others, 1000)), it.user = &peers));
  for (uint32_t i = 0; i < PEERS; i++) peers.agents[i] = spawn_at(&little, i);
  uint32_t ran = 0;
  while (!peers.removed) {
    peers.ran = 0;
    run_frame_with(&little, 1000000000u);
    ran = peers.ran;
  }
  cr_assert_eq(peers.removed, PEERS - 1);
  for (uint32_t i = 0, left = 0; i < PEERS; i++) {
    left += muster_agent_exists(little.world, peers.agents[i]);
    cr_assert_leq(left, 1);
  }
  peers.ran = 0;
  cr_assert_eq(run_frame_with(&little, 1000000000u).agents, 1);
  cr_assert_eq(peers.ran, 1);
  return ran;
}

Test(removal, while_a_frame_runs_keeps_workers_from_starting_an_update) {
  cr_assert_eq(run_peers(MUSTER_CLOCK_WALL), 1);
}

Test(removal, under_the_virtual_clock_counts_from_the_end_of_the_frame) {
  cr_assert_eq(run_peers(MUSTER_CLOCK_VIRTUAL), PEERS);
}

Test(removal, that_no_intake_has_taken_is_in_a_snapshot) {
  enum { MANY = 300 };
  uint32_t removed = 0, removed_again = 0;
  muster_world_def def = WITH(virtual_world_def, it.limits.commands_max = 16);
  SCOPED_WORLD little = counting_world(&def, &removed), loaded = counting_world(&def, &removed_again);
  muster_agent agents[MANY];
  for (uint32_t i = 0; i < MANY; i++) agents[i] = spawn_at(&little, i);
  run_frames(&little, 3);
  muster_agent pending = spawn_at(&little, 7);
  cr_assert_eq(muster_agent_move(little.world, agents[1], (muster_position){777, 0, 0}), MUSTER_OK);
  for (uint32_t i = 0; i < MANY; i += 2) cr_assert_eq(muster_agent_remove(little.world, agents[i]), MUSTER_OK);
  cr_assert_eq(muster_agent_remove(little.world, pending), MUSTER_OK);
  copy_world(&little, &loaded);
  cr_assert_not(muster_agent_exists(loaded.world, pending));
  for (uint32_t i = 0; i < MANY; i++) {
    cr_assert_eq(muster_agent_exists(loaded.world, agents[i]), i % 2 == 1, "agent %u", i);
    cr_assert_eq(muster_agent_remove(loaded.world, agents[i - i % 2]), MUSTER_E_STALE);
  }
  removed = removed_again = 0;
  cr_assert_eq(run_frame(&little).agents, MANY / 2);
  cr_assert_eq(run_frame(&loaded).agents, MANY / 2);
  cr_assert(removed == MANY / 2 && removed_again == removed);
  cr_assert_eq(info_of(&loaded, agents[1]).position.x, 777.0);
  cr_assert_eq(muster_world_hash(loaded.world), muster_world_hash(little.world));
  for (uint32_t i = 0; i < 10; i++) cr_assert(muster_agent_equal(spawn_at(&little, i), spawn_at(&loaded, i)));
}

enum { MOURNED = 200, MOURNED_FRAMES = 40 };

/* Leaves another agent where it was, so that the place of its end counts. */
static void leave_another(muster_update *update) {
  muster_agent_def def = WITH(muster_agent_def, it.type = update->type, it.position = update->position);
  muster_update_spawn(update, &def);
}

static little_world mourning_world(muster_clock clock, uint32_t workers) {
  return typed_world(
      workers, WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 2000, it.limits.commands_max = 16),
      CHANGED(type_running(count_in_state, 1000), it.state_bytes = sizeof(uint64_t), it.period_ns = FRAME_NS,
              it.spawns_max = 1, it.on_removed = leave_another));
}

/* The host removes every seventh agent, and moves all that it knows by an array: those as well. */
static void mourn(const little_world *little, uint32_t frame) {
  muster_agent agents[MOURNED];
  muster_position there[MOURNED];
  uint32_t count = 0;
  for (muster_agent next = muster_agent_next(little->world, (muster_agent){0});
       !muster_agent_is_null(next) && count < MOURNED; next = muster_agent_next(little->world, next))
    agents[count++] = next;
  for (uint32_t i = 0; i < count; i++) there[i] = (muster_position){frame * 10.0 + i, frame, 0};
  for (uint32_t i = frame % 7; i < count; i += 7) assert_ok(muster_agent_remove(little->world, agents[i]));
  cr_assert_eq(muster_agents_move(little->world, agents, there, count), count - (count + 6 - frame % 7) / 7);
}

static void check_record(muster_clock clock) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED_WORLD little = mourning_world(clock, 2), again = mourning_world(clock, 3);
  recorded_begin(&run, little.world);
  for (uint32_t i = 0; i < MOURNED; i++) spawn_at(&little, i);
  for (uint32_t frame = 0; frame < MOURNED_FRAMES; frame++) {
    recorded_note(&run, &little, run_frame(&little));
    if (frame > 2) mourn(&little, frame);
  }
  recorded_end(&run, little.world);
  cr_assert_gt(run.sums.removed, MOURNED);
  recorded_replay(&run, again.world);
  replay_alike(&run, &again);
}

Test(removal, is_recorded_with_arrays_that_name_the_removed) {
  check_record(MUSTER_CLOCK_VIRTUAL);
  check_record(MUSTER_CLOCK_WALL);
}
