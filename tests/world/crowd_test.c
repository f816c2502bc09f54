/* Thousands of agents that come at once are spread over frames, those that go are gone at once, and each agent is told
 * of it once. */
#include "world/fixture.h"

/* The intake takes as many as fit an eighth of the budget at 250 ns each, at least 256, and checks that after every 16.
 */
enum { CROWD = 20000, PART_MIN = 256, PART_NS = 250, BUDGET_PART = 8, LOOKS = 16 };

/* What an agent was told; the user pointer of its definition points to it. */
struct fate {
  muster_agent agent;
  uint32_t spawned, removed, updates;
  bool wrong; /* told in the wrong order */
};

static struct fate fates[2 * CROWD];
static uint32_t fate_count;

static muster_atom_result live(muster_update *update) {
  struct fate *fate = update->user;
  fate->updates++;
  if (fate->spawned != 1 || fate->removed != 0) fate->wrong = true;
  ((uint64_t *)update->state)[0] += update->elapsed_ns;
  *(uint64_t *)update->published = muster_update_random(update);
  step_by(update, (double)(muster_update_random_share(update) * 20.0f));
  return MUSTER_ATOM_NEXT;
}

static void note_spawned(muster_update *update) {
  struct fate *fate = update->user;
  fate->wrong |= fate->spawned++ || fate->removed || !muster_agent_equal(fate->agent, update->agent);
}

static void note_removed(muster_update *update) {
  struct fate *fate = update->user;
  fate->wrong |= fate->removed++ || !fate->spawned || !muster_agent_equal(fate->agent, update->agent);
}

static little_world create(uint32_t workers) {
  memset(fates, 0, sizeof fates);
  fate_count = 0;
  return typed_world(workers, WITH(virtual_world_def, it.limits.commands_max = 2 * CROWD),
                     CHANGED(type_running(live, 200), it.state_bytes = it.published_bytes = 8,
                             it.on_spawned = note_spawned, it.on_removed = note_removed));
}

static void spawn(const little_world *little, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct fate *fate = &fates[fate_count++];
    muster_position position = {i % 150 * 3.0, i / 150.0 * 3.0, 0};
    fate->agent = spawn_as(little, WITH(muster_agent_def, it.position = position, it.user = fate));
    cr_assert(muster_agent_exists(little->world, fate->agent), "%s", muster_last_error());
  }
}

static void order_removal(const little_world *little, uint32_t first, uint32_t step) {
  for (uint32_t i = first; i < fate_count; i += step)
    cr_assert_eq(muster_agent_remove(little->world, fates[i].agent), MUSTER_OK);
}

struct heard {
  uint32_t spawned, removed;
};

/* Counts the agents that were told of their begin and of their end. No agent may be told twice or in the wrong order.
 */
static struct heard count_heard(void) {
  struct heard heard = {0};
  for (uint32_t i = 0; i < fate_count; i++) {
    const struct fate *fate = &fates[i];
    cr_assert(!fate->wrong && fate->spawned <= 1 && fate->removed <= 1, "agent %u was told wrongly", i);
    heard.spawned += fate->spawned;
    heard.removed += fate->removed;
  }
  return heard;
}

static void check_spawning(uint64_t budget_ns) {
  SCOPED_WORLD little = create(1);
  uint32_t before = 0, frames = 0, fit = (uint32_t)(budget_ns / BUDGET_PART / PART_NS);
  uint32_t most = (fit > PART_MIN ? fit : PART_MIN) + LOOKS - 1;
  spawn(&little, CROWD);
  cr_assert(!info_of(&little, fates[CROWD - 1].agent).active);
  for (; before < CROWD; frames++) {
    muster_frame_report report = run_frame_with(&little, budget_ns);
    struct heard heard = count_heard();
    cr_assert(heard.spawned > before && heard.spawned - before <= most, "%u in a frame", heard.spawned - before);
    cr_assert_eq(report.spawns_waiting, CROWD - heard.spawned);
    cr_assert_eq(report.agents, heard.spawned);
    cr_assert_eq(info_of(&little, fates[before].agent).active, true);
    before = heard.spawned;
  }
  cr_assert_leq(frames, CROWD / (most - LOOKS + 1) + 1);
  cr_assert_eq(run_frame_with(&little, budget_ns).spawns_waiting, 0);
}

Test(crowd, a_large_spawn_is_spread_over_frames_by_their_budget) {
  check_spawning(5000000);
  check_spawning(100000);
}

static void check_removal(uint64_t budget_ns) {
  SCOPED_WORLD little = create(1);
  spawn(&little, CROWD);
  run_frame_with(&little, 1000000000u);
  cr_assert_eq(count_heard().spawned, CROWD);
  order_removal(&little, 0, 1);
  for (uint32_t i = 0; i < CROWD; i++) cr_assert_not(muster_agent_exists(little.world, fates[i].agent));
  cr_assert(muster_agent_is_null(muster_agent_next(little.world, (muster_agent){0})));
  cr_assert_eq(count_heard().removed, 0);
  muster_frame_report report = run_frame_with(&little, budget_ns);
  cr_assert_eq(count_heard().removed, CROWD);
  cr_assert_eq(report.commands_waiting, 0);
  cr_assert_eq(report.agents, 0);
}

Test(crowd, a_large_removal_is_over_after_one_frame_whatever_its_budget) {
  check_removal(5000000);
  check_removal(100000);
}

Test(crowd, who_is_removed_while_the_spawn_still_waits_hears_of_both_or_of_neither) {
  SCOPED_WORLD little = create(1);
  muster_frame_report report;
  spawn(&little, CROWD);
  run_frame(&little);
  order_removal(&little, 0, 2);
  do report = run_frame(&little);
  while (report.spawns_waiting + report.commands_waiting > 0);
  struct heard heard = count_heard();
  cr_assert_eq(report.agents, CROWD / 2);
  cr_assert_eq(heard.spawned - heard.removed, CROWD / 2);
  cr_assert(heard.removed > 0 && heard.removed < CROWD / 2, "%u were removed while active", heard.removed);
  for (uint32_t i = 0; i < CROWD; i++) {
    cr_assert_eq(muster_agent_exists(little.world, fates[i].agent), i % 2 == 1);
    cr_assert(i % 2 == 1 ? fates[i].spawned == 1 : fates[i].spawned == fates[i].removed);
  }
}

enum { HASHES = 40 };

static void run_history(uint32_t workers, uint64_t hashes[HASHES]) {
  SCOPED_WORLD little = create(workers);
  spawn(&little, CROWD);
  for (uint32_t frame = 0; frame < HASHES; frame++) {
    if (frame == 5) order_removal(&little, 1, 3);
    if (frame == 7) spawn(&little, CROWD / 2);
    if (frame == 20) order_removal(&little, 0, 3);
    run_frame(&little);
    hashes[frame] = muster_world_hash(little.world);
  }
  uint32_t updates = 0;
  for (uint32_t i = 0; i < fate_count; i++) updates += fates[i].updates;
  cr_assert_gt(updates, CROWD);
  count_heard();
}

Test(crowd, comes_and_goes_in_the_same_way_on_any_number_of_workers) {
  uint64_t one[HASHES], four[HASHES];
  run_history(1, one);
  run_history(4, four);
  for (uint32_t i = 0; i < HASHES; i++) cr_assert_eq(one[i], four[i], "the worlds differ after frame %u", i + 1);
}
