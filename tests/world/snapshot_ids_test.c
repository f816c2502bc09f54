/* What hosts see of a world that was loaded: ids, states and user pointers; also on the wall clock. */
#include "world/fixture.h"

static little_world counting_world(muster_clock clock, uint32_t workers) {
  return typed_world(workers, WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 3000),
                     CHANGED(type_running(count_in_state, 5000), it.state_bytes = sizeof(uint64_t)));
}

static void expect_same_agent(muster_agent one, muster_agent other) {
  cr_assert(muster_agent_equal(one, other), "%u.%u is %u.%u", muster_agent_index(one), muster_agent_generation(one),
            muster_agent_index(other), muster_agent_generation(other));
}

Test(snapshot_ids, stay_and_go_on) {
  SCOPED_WORLD little = counting_world(MUSTER_CLOCK_VIRTUAL, 1);
  muster_agent agents[100];
  for (int i = 0; i < 100; i++) agents[i] = spawn_at(&little, i);
  run_frames(&little, 3);
  for (int i = 0; i < 100; i += 3) muster_agent_remove(little.world, agents[i]);
  run_frames(&little, 3);
  muster_agent pending = spawn_at(&little, 500);
  SCOPED(saved_world_forget) saved_world saved = save_world(little.world);
  SCOPED_WORLD loaded = counting_world(MUSTER_CLOCK_VIRTUAL, 1);
  loaded.now_ns = little.now_ns;
  assert_ok(load_world(loaded.world, saved.bytes, saved.count));
  cr_assert_eq(look_at(&saved).agents, 66);
  cr_assert_eq(look_at(&saved).spawns, 1);
  for (int i = 0; i < 100; i++) cr_assert_eq(muster_agent_exists(loaded.world, agents[i]), i % 3 != 0, "agent %d", i);
  cr_assert(muster_agent_exists(loaded.world, pending), "its id was valid at once");
  cr_assert_not(info_of(&loaded, pending).active);
  for (int i = 0; i < 200; i++) expect_same_agent(spawn_at(&little, i), spawn_at(&loaded, i));
  run_frame(&loaded);
  cr_assert(info_of(&loaded, pending).active);
  cr_assert_eq(muster_agent_remove(loaded.world, agents[0]), MUSTER_E_STALE);
}

/* Where a snapshot is written, and the things to which the agents' user pointers point. */
struct named {
  saved_world saved;
  int things[4];
};

static bool write_named(const void *bytes, size_t count, void *user) {
  return saved_world_write(bytes, count, &((struct named *)user)->saved);
}

static uint64_t name_it(muster_agent agent, void *agent_user, void *user) {
  (void)agent;
  return (uint64_t)((int *)agent_user - ((struct named *)user)->things) + 1;
}

static void *find_it(muster_agent agent, uint64_t name, void *user) {
  (void)agent;
  return (int *)user + name - 1;
}

Test(snapshot_ids, user_pointers_are_the_hosts_to_name_and_to_find) {
  struct named named = {0};
  int after[4];
  muster_agent agents[4];
  SCOPED_WORLD little = counting_world(MUSTER_CLOCK_VIRTUAL, 1);
  SCOPED_WORLD loaded = counting_world(MUSTER_CLOCK_VIRTUAL, 1), nameless = counting_world(MUSTER_CLOCK_VIRTUAL, 1);
  for (int i = 0; i < 4; i++)
    agents[i] = spawn_as(&little, WITH(muster_agent_def, it.user = i ? &named.things[i] : NULL));
  run_frame(&little);
  muster_save_def save = WITH(muster_save_def, it.write = write_named, it.user = &named, it.name_user = name_it);
  assert_ok(muster_world_save(little.world, &save));
  muster_load_def load = WITH(muster_load_def, it.bytes = named.saved.bytes, it.count = named.saved.count);
  assert_ok(muster_world_load(nameless.world, &load));
  load.user_of = find_it;
  load.user = after;
  assert_ok(muster_world_load(loaded.world, &load));
  for (int i = 0; i < 4; i++) {
    cr_assert_eq(info_of(&loaded, agents[i]).user, i ? &after[i] : NULL);
    cr_assert_null(info_of(&nameless, agents[i]).user);
  }
  free(named.saved.bytes);
}

/* On the wall clock a run does not repeat exactly, but no agent is lost. */
Test(snapshot_ids, a_world_on_the_wall_clock_goes_on) {
  SCOPED_WORLD little = counting_world(MUSTER_CLOCK_WALL, 2), loaded = counting_world(MUSTER_CLOCK_WALL, 3);
  for (int i = 0; i < 2000; i++) spawn_at(&little, i);
  for (int i = 0; i < 40; i++) run_frame_with(&little, 100000u); /* too little time for all agents */
  cr_assert_eq(muster_world_settle(little.world), MUSTER_OK);
  copy_world(&little, &loaded);
  cr_assert_eq(muster_world_hash(loaded.world), muster_world_hash(little.world));
  uint32_t agents = 0;
  for (int i = 0; i < 40; i++) agents = run_frame_with(&loaded, 8000000u).agents;
  cr_assert_eq(agents, 2000);
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(loaded.world, agent));)
    cr_assert_gt(info_of(&loaded, agent).last_update_ns, little.now_ns, "agent %u runs on", muster_agent_index(agent));
}
