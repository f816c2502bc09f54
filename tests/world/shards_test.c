/* A world lives the same in any number of shards; and what was saved or recorded in some goes on in others. */
#include "agents/shards.h"
#include "support/snapshots.h"

#include <muster/record.h>

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
  static const muster_atom atom = {live, MUSTER_ROLE_BEHAVIOUR, 5000};
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.limits.agents_max = AGENTS;
  def.shards = shards;
  little_world little = little_world_create(1, &def);
  muster_type_def type = type_with(&atom, 1);
  type.state_bytes = sizeof(creature);
  type.period_ns = 30000000;
  type.period_max_ns = 400000000;
  type.levels.count = 4;
  register_type(&little, &type);
  return little;
}

static void populate(little_world *little) {
  muster_observer_def observer = muster_observer_def_default();
  observer.near_m = 50.0f;
  observer.far_m = 400.0f;
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
  muster_world_def def = muster_world_def_default();
  def.shards = 12;
  cr_assert_null(muster_world_create(&def));
  cr_assert_not_null(strstr(muster_last_error(), "shards 12 must be a power of two"), "%s", muster_last_error());
  def.shards = 512;
  cr_assert_null(muster_world_create(&def));
}

Test(shards, a_snapshot_goes_on_in_another_number_of_them) {
  static const uint32_t others[] = {0, 2, 64, 256};
  little_world one = world_in(1);
  populate(&one);
  live_on(&one, FRAMES);
  saved_world saved = save_world(one.world);
  live_on(&one, FRAMES);
  for (uint32_t i = 0; i < sizeof others / sizeof *others; i++) {
    little_world other = world_in(others[i]);
    cr_assert_eq(load_world(other.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
    other.now_ns = FRAMES * (uint64_t)FRAME_NS;
    live_on(&other, FRAMES);
    cr_assert_eq(muster_world_hash(other.world), muster_world_hash(one.world), "%u shards", others[i]);
    little_world_destroy(&other);
  }
  free(saved.bytes);
  little_world_destroy(&one);
}

/* ---------------------------------------------------------------------------------------------------------- records */

Test(shards, a_record_is_replayed_in_another_number_of_them) {
  static const uint32_t others[] = {1, 4, 256};
  saved_world saved = {0};
  muster_record_def record = muster_record_def_default();
  record.write = saved_world_write;
  record.user = &saved;
  little_world one = world_in(16);
  cr_assert_eq(muster_record_begin(one.world, &record), MUSTER_OK, "%s", muster_last_error());
  populate(&one);
  live_on(&one, FRAMES);
  cr_assert_eq(muster_record_end(one.world), MUSTER_OK, "%s", muster_last_error());
  for (uint32_t i = 0; i < sizeof others / sizeof *others; i++) {
    little_world other = world_in(others[i]);
    muster_replay_def replay = muster_replay_def_default();
    replay.bytes = saved.bytes;
    replay.count = saved.count;
    cr_assert_eq(muster_replay_begin(other.world, &replay), MUSTER_OK, "%s", muster_last_error());
    for (uint32_t frame = 0; frame < FRAMES; frame++)
      cr_assert_eq(muster_replay_frame(other.world), MUSTER_OK, "%u shards: %s", others[i], muster_last_error());
    cr_assert_eq(muster_world_hash(other.world), muster_world_hash(one.world), "%u shards", others[i]);
    little_world_destroy(&other);
  }
  free(saved.bytes);
  little_world_destroy(&one);
}
