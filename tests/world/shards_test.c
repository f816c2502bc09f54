/* A world lives the same in any number of shards; and what was saved or recorded in some goes on in others. */
#include "agents/shards.h"
#include "world/fixture.h"

enum { AGENTS = 700, FRAMES = 60 };

typedef struct creature {
  uint64_t updates, sum;
} creature;

static muster_atom_result live(muster_update *update) {
  creature *self = update->state;
  muster_neighbour near[4];
  uint32_t count = muster_update_nearby(update, 20.0f, (muster_type){0}, near, 4);
  for (uint32_t i = 0; i < count; i++) self->sum = self->sum * 31 + muster_agent_index(near[i].agent);
  self->updates++;
  muster_position to = update->position;
  to.x += ((double)muster_update_random_share(update) - 0.5) * 4;
  muster_update_move(update, to);
  if (count > 0 && self->updates % 7 == 0) muster_update_wake(update, near[0].agent);
  return MUSTER_ATOM_NEXT;
}

static little_world world_in(uint32_t shards) {
  return typed_world(1, WITH(virtual_world_def, it.limits.agents_max = AGENTS, it.shards = shards),
                     CHANGED(type_running(live, 5000), it.state_bytes = sizeof(creature), it.period_ns = 30000000,
                             it.period_max_ns = 400000000, it.levels.count = 4));
}

static void populate(little_world *little) {
  muster_observer_def observer = WITH(muster_observer_def, it.near_m = 50.0f, it.far_m = 400.0f);
  cr_assert_neq(muster_observer_generation(muster_observer_add(little->world, &observer)), 0);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(little, (double)i);
}

static void live_on(little_world *little, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) run_frame_with(little, 400000);
}

Test(shards, there_are_as_many_as_agents_ask_for) {
  cr_assert_eq(shards_of(1000, 0).count, 1);
  cr_assert_eq(shards_of(100000, 0).count, 16);
  cr_assert_eq(shards_of(1000000, 0).count, 128);
  cr_assert_eq(shards_of(15999999, 0).count, 128);
  cr_assert_eq(shards_of(1000, 256).count, 256);
}

Test(shards, each_agent_belongs_to_one_and_neighbours_to_the_same) {
  const shard_map map = shards_of(10000, 8);
  for (uint32_t agent = 0; agent < 10000; agent++) {
    cr_assert_eq(shards_owner(&map, agent), agent / 64 % 8);
    cr_assert_lt(agent / 64 / 8, map.words);
  }
}

Test(shards, a_number_that_is_no_power_of_two_is_refused) {
  expect_world_refused(WITH(muster_world_def, it.shards = 12), "shards 12 must be a power of two");
  expect_world_refused(WITH(muster_world_def, it.shards = 512), "shards 512");
}

Test(shards, a_snapshot_goes_on_in_another_number_of_them) {
  static const uint32_t others[] = {0, 2, 64, 256};
  SCOPED_WORLD one = world_in(1);
  populate(&one);
  live_on(&one, FRAMES);
  SCOPED(saved_world_forget) saved_world saved = save_world(one.world);
  live_on(&one, FRAMES);
  for (uint32_t i = 0; i < COUNT_OF(others); i++) {
    SCOPED_WORLD other = world_in(others[i]);
    assert_ok(load_world(other.world, saved.bytes, saved.count));
    other.now_ns = FRAMES * (uint64_t)FRAME_NS;
    live_on(&other, FRAMES);
    cr_assert_eq(muster_world_hash(other.world), muster_world_hash(one.world), "%u shards", others[i]);
  }
}

Test(shards, a_record_is_replayed_in_another_number_of_them) {
  static const uint32_t others[] = {1, 4, 256};
  SCOPED(saved_world_forget) saved_world saved = {0};
  SCOPED_WORLD one = world_in(16);
  assert_ok(record_with(one.world, WITH(muster_record_def, it.write = saved_world_write, it.user = &saved)));
  populate(&one);
  live_on(&one, FRAMES);
  assert_ok(muster_record_end(one.world));
  for (uint32_t i = 0; i < COUNT_OF(others); i++) {
    SCOPED_WORLD other = world_in(others[i]);
    assert_ok(replay_with(other.world, WITH(muster_replay_def, it.bytes = saved.bytes, it.count = saved.count)));
    for (uint32_t frame = 0; frame < FRAMES; frame++)
      cr_assert_eq(muster_replay_frame(other.world), MUSTER_OK, "%u shards: %s", others[i], muster_last_error());
    cr_assert_eq(muster_world_hash(other.world), muster_world_hash(one.world), "%u shards", others[i]);
  }
}
