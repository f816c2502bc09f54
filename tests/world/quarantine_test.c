/* Quarantine of a type by a call of the host. */
#include "world/fixture.h"
#include "world/world_sound.h"

enum { FRAMES = 40, AGENTS = 20, QUARANTINED_AT = 10, REINSTATED_AT = 25 };

static little_world open_world(void) {
  little_world little = little_world_create(2, NULL);
  add_type(&little, CHANGED(type_running(count_in_state, 1000), it.state_bytes = sizeof(uint64_t),
                            it.period_ns = it.period_max_ns = FRAME_NS));
  return little;
}

static bool rests(uint32_t frame) {
  return frame >= QUARANTINED_AT && frame < REINSTATED_AT;
}

Test(quarantine, by_the_hosts_word_keeps_a_type_from_running_until_it_is_reinstated_and_is_replayed) {
  SCOPED(recorded_forget) struct recorded run = {0};
  SCOPED_WORLD little = open_world(), again = open_world();
  recorded_begin(&run, little.world);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    if (frame == QUARANTINED_AT) cr_assert_eq(muster_type_quarantine(little.world, little.type), MUSTER_OK);
    if (frame == REINSTATED_AT) cr_assert_eq(muster_type_reinstate(little.world, little.type), MUSTER_OK);
    muster_frame_report report = run_frame(&little);
    recorded_note(&run, &little, report);
    cr_assert_eq(report.types_quarantined, rests(frame), "frame %u", frame);
    if (frame > 2) cr_assert_eq(report.completed > 0, !rests(frame), "frame %u: %u updates", frame, report.completed);
  }
  recorded_end(&run, little.world);
  cr_assert_eq(run.sums.quarantines, 1);
  cr_assert_eq(run.sums.reinstated, 1);
  recorded_replay(&run, again.world);
  replay_alike(&run, &again);
}

/* ------------------------------------------------------------------------------------------- without a period */

static little_world open_called_world(void) {
  return world_of(CHANGED(type_running(count_in_state, 1000), it.state_bytes = sizeof(uint64_t),
                          it.elapsed.contract = MUSTER_ELAPSED_EVENTS));
}

static void expect_sound(const little_world *little) {
  soundness found = {0};
  cr_assert(world_is_sound(little->world, WORLD_RESTS, &found), "%s", found.trouble);
}

static uint64_t updates_of(const little_world *little, muster_agent agent) {
  const struct muster_world *world = little->world;
  return *(const uint64_t *)type_state(&world->agents.types.types[0],
                                       world->agents.store.rows[muster_agent_index(agent)].state_slot);
}

/* Spawns an agent and wakes it, but the same intake puts its type into quarantine. */
static muster_agent spawn_diverted(little_world *little) {
  muster_agent agent = spawn_at(little, 0);
  run_frames(little, 2);
  cr_assert_eq(updates_of(little, agent), 0);
  cr_assert_eq(muster_agent_wake_at(little->world, agent, 1), MUSTER_OK);
  cr_assert_eq(muster_type_quarantine(little->world, little->type), MUSTER_OK);
  run_frames(little, 2);
  expect_sound(little);
  cr_assert_eq(updates_of(little, agent), 0);
  return agent;
}

Test(quarantine, an_agent_without_a_period_that_is_woken_as_it_is_reinstated_runs_once) {
  SCOPED_WORLD little = open_called_world();
  muster_agent agent = spawn_diverted(&little);
  muster_type_reinstate(little.world, little.type);
  run_frame(&little);
  muster_agent_wake(little.world, agent);
  for (uint32_t i = 0; i < 30; i++) {
    run_frame(&little);
    expect_sound(&little);
  }
  cr_assert_eq(updates_of(&little, agent), 1);
}

Test(quarantine, an_agent_without_a_period_that_was_about_to_run_is_saved_and_loaded) {
  SCOPED_WORLD little = open_called_world(), other = open_called_world();
  muster_agent agent = spawn_diverted(&little);
  copy_world(&little, &other);
  expect_sound(&other);
  muster_type_reinstate(little.world, little.type);
  muster_type_reinstate(other.world, other.type);
  run_frames(&little, 30);
  run_frames(&other, 30);
  expect_sound(&other);
  cr_assert_eq(updates_of(&little, agent), 1);
  cr_assert_eq(muster_world_hash(little.world), muster_world_hash(other.world));
}

/* One that waits for its intake runs not even in the frame that activates it; it does when it is reinstated. */
Test(quarantine, of_an_agent_that_is_not_active_yet_begins_with_its_activity) {
  SCOPED_WORLD little = open_world();
  muster_agent other = spawn_at(&little, 1), agent = spawn_at(&little, 2), free = spawn_at(&little, 3);
  cr_assert_eq(muster_agent_quarantine(little.world, agent), MUSTER_OK);
  cr_assert_eq(muster_agent_quarantine(little.world, free), MUSTER_OK);
  cr_assert_eq(muster_agent_reinstate(little.world, free), MUSTER_OK);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    if (frame == REINSTATED_AT) cr_assert_eq(muster_agent_reinstate(little.world, agent), MUSTER_OK);
    cr_assert_eq(run_frame(&little).agents_quarantined, frame < REINSTATED_AT, "frame %u", frame);
    if (frame < REINSTATED_AT) cr_assert_eq(updates_of(&little, agent), 0);
    expect_sound(&little);
  }
  cr_expect_gt(updates_of(&little, agent), 0);
  cr_expect_geq(updates_of(&little, other), FRAMES - 2);
  cr_expect_geq(updates_of(&little, free), FRAMES - 2);
}
