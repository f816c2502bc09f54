/* Thousands of agents that come at once are spread over frames, those that go are gone at once, and each agent is told
 * of it once. */
#include "support/little_world.h"

#include <stdlib.h>

/* The intake takes as many as fit an eighth of the budget at 250 ns each, at least 256, and checks that after every 16.
 */
enum { CROWD = 20000, PART_MIN = 256, PART_NS = 250, BUDGET_PART = 8, LOOKS = 16 };

/* What an agent was told; the user pointer of its definition points to it. */
struct fate {
  muster_agent agent;
  uint32_t spawned, removed, updates;
  bool wrong; /* told in the wrong order */
};

struct crowd {
  little_world little;
  struct fate fates[2 * CROWD];
  uint32_t count;
};

static muster_atom_result live(muster_update *update) {
  struct fate *fate = update->user;
  fate->updates++;
  if (fate->spawned != 1 || fate->removed != 0) fate->wrong = true;
  ((uint64_t *)update->state)[0] += update->elapsed_ns;
  *(uint64_t *)update->published = muster_update_random(update);
  muster_position position = update->position;
  position.x += muster_update_random_share(update) * 20.0f;
  muster_update_move(update, position);
  return MUSTER_ATOM_NEXT;
}

static void note_spawned(muster_update *update) {
  struct fate *fate = update->user;
  if (fate->spawned++ || fate->removed || !muster_agent_equal(fate->agent, update->agent)) fate->wrong = true;
}

static void note_removed(muster_update *update) {
  struct fate *fate = update->user;
  if (fate->removed++ || !fate->spawned || !muster_agent_equal(fate->agent, update->agent)) fate->wrong = true;
}

static struct crowd *create(uint32_t workers) {
  static const muster_atom atoms[] = {{live, MUSTER_ROLE_BEHAVIOUR, 200}};
  struct crowd *crowd = calloc(1, sizeof *crowd);
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.limits.commands_max = 2 * CROWD;
  crowd->little = little_world_create(workers, &world);
  muster_type_def def = type_with(atoms, 1);
  def.state_bytes = def.published_bytes = 8;
  def.on_spawned = note_spawned;
  def.on_removed = note_removed;
  register_type(&crowd->little, &def);
  return crowd;
}

static void destroy(struct crowd *crowd) {
  little_world_destroy(&crowd->little);
  free(crowd);
}

static void spawn(struct crowd *crowd, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    struct fate *fate = &crowd->fates[crowd->count++];
    muster_agent_def def = muster_agent_def_default();
    def.type = crowd->little.type;
    def.position = (muster_position){i % 150 * 3.0, i / 150.0 * 3.0, 0};
    def.user = fate;
    fate->agent = muster_agent_spawn(crowd->little.world, &def);
    cr_assert(muster_agent_exists(crowd->little.world, fate->agent), "%s", muster_last_error());
  }
}

static void order_removal(struct crowd *crowd, uint32_t first, uint32_t step) {
  for (uint32_t i = first; i < crowd->count; i += step)
    cr_assert_eq(muster_agent_remove(crowd->little.world, crowd->fates[i].agent), MUSTER_OK);
}

static uint32_t most_of(uint64_t budget_ns) {
  uint64_t most = budget_ns / BUDGET_PART / PART_NS;
  return (uint32_t)(most > PART_MIN ? most : PART_MIN) + LOOKS - 1;
}

struct heard {
  uint32_t spawned, removed;
};

/* Counts the agents that were told of their begin and of their end. No agent may be told twice or in the wrong order.
 */
static struct heard count_heard(const struct crowd *crowd) {
  struct heard heard = {0};
  for (uint32_t i = 0; i < crowd->count; i++) {
    const struct fate *fate = &crowd->fates[i];
    cr_assert(!fate->wrong && fate->spawned <= 1 && fate->removed <= 1, "agent %u was told wrongly", i);
    heard.spawned += fate->spawned;
    heard.removed += fate->removed;
  }
  return heard;
}

static void check_spawning(uint64_t budget_ns) {
  struct crowd *crowd = create(1);
  uint32_t before = 0, frames = 0, most = most_of(budget_ns);
  spawn(crowd, CROWD);
  cr_assert(!info_of(&crowd->little, crowd->fates[CROWD - 1].agent).active);
  for (; before < CROWD; frames++) {
    muster_frame_report report = run_frame_with(&crowd->little, budget_ns);
    struct heard heard = count_heard(crowd);
    cr_assert(heard.spawned > before && heard.spawned - before <= most, "%u in a frame", heard.spawned - before);
    cr_assert_eq(report.spawns_waiting, CROWD - heard.spawned);
    cr_assert_eq(report.agents, heard.spawned);
    cr_assert_eq(info_of(&crowd->little, crowd->fates[before].agent).active, true);
    before = heard.spawned;
  }
  cr_assert_leq(frames, CROWD / (most - LOOKS + 1) + 1);
  muster_frame_report report = run_frame_with(&crowd->little, budget_ns);
  cr_assert_eq(report.spawns_waiting, 0);
  destroy(crowd);
}

Test(crowd, a_large_spawn_is_spread_over_frames_by_their_budget) {
  check_spawning(5000000);
  check_spawning(100000);
}

static void check_removal(uint64_t budget_ns) {
  struct crowd *crowd = create(1);
  spawn(crowd, CROWD);
  run_frame_with(&crowd->little, 1000000000u);
  cr_assert_eq(count_heard(crowd).spawned, CROWD);
  order_removal(crowd, 0, 1);
  for (uint32_t i = 0; i < CROWD; i++) cr_assert_not(muster_agent_exists(crowd->little.world, crowd->fates[i].agent));
  cr_assert(muster_agent_is_null(muster_agent_next(crowd->little.world, (muster_agent){0})));
  cr_assert_eq(count_heard(crowd).removed, 0);
  muster_frame_report report = run_frame_with(&crowd->little, budget_ns);
  cr_assert_eq(count_heard(crowd).removed, CROWD);
  cr_assert_eq(report.commands_waiting, 0);
  cr_assert_eq(report.agents, 0);
  destroy(crowd);
}

Test(crowd, a_large_removal_is_over_after_one_frame_whatever_its_budget) {
  check_removal(5000000);
  check_removal(100000);
}

Test(crowd, who_is_removed_while_the_spawn_still_waits_hears_of_both_or_of_neither) {
  struct crowd *crowd = create(1);
  muster_frame_report report;
  spawn(crowd, CROWD);
  run_frame(&crowd->little);
  order_removal(crowd, 0, 2);
  do report = run_frame(&crowd->little);
  while (report.spawns_waiting + report.commands_waiting > 0);
  struct heard heard = count_heard(crowd);
  cr_assert_eq(report.agents, CROWD / 2);
  cr_assert_eq(heard.spawned - heard.removed, CROWD / 2);
  cr_assert(heard.removed > 0 && heard.removed < CROWD / 2, "%u were removed while active", heard.removed);
  for (uint32_t i = 0; i < CROWD; i++) {
    cr_assert_eq(muster_agent_exists(crowd->little.world, crowd->fates[i].agent), i % 2 == 1);
    cr_assert(i % 2 == 1 ? crowd->fates[i].spawned == 1 : crowd->fates[i].spawned == crowd->fates[i].removed);
  }
  destroy(crowd);
}

enum { HASHES = 40 };

/* Crowds come while others go. */
static void run_history(uint32_t workers, uint64_t hashes[HASHES]) {
  struct crowd *crowd = create(workers);
  spawn(crowd, CROWD);
  for (uint32_t frame = 0; frame < HASHES; frame++) {
    if (frame == 5) order_removal(crowd, 1, 3);
    if (frame == 7) spawn(crowd, CROWD / 2);
    if (frame == 20) order_removal(crowd, 0, 3);
    run_frame(&crowd->little);
    hashes[frame] = muster_world_hash(crowd->little.world);
  }
  uint32_t updates = 0;
  for (uint32_t i = 0; i < crowd->count; i++) updates += crowd->fates[i].updates;
  cr_assert_gt(updates, CROWD);
  count_heard(crowd);
  destroy(crowd);
}

Test(crowd, comes_and_goes_in_the_same_way_on_any_number_of_workers) {
  uint64_t one[HASHES], four[HASHES];
  run_history(1, one);
  run_history(4, four);
  for (uint32_t i = 0; i < HASHES; i++) cr_assert_eq(one[i], four[i], "the worlds differ after frame %u", i + 1);
}
