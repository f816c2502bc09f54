/* What hosts see of a world that was loaded: ids, states and user pointers; also on the wall clock. */
#include "support/snapshots.h"

#include <muster/snapshot.h>

static muster_atom_result count_up(muster_update *update) {
  ++*(uint64_t *)update->state;
  return MUSTER_ATOM_NEXT;
}

static little_world counting_world(muster_clock clock, uint32_t workers) {
  static const muster_atom atoms[] = {{count_up, MUSTER_ROLE_BEHAVIOUR, 5000}};
  muster_world_def def = muster_world_def_default();
  def.clock.kind = clock;
  def.limits.agents_max = 3000;
  little_world little = little_world_create(workers, &def);
  muster_type_def type = type_with(atoms, 1);
  type.state_bytes = sizeof(uint64_t);
  register_type(&little, &type);
  return little;
}

static void expect_same_agent(muster_agent one, muster_agent other) {
  cr_assert(muster_agent_equal(one, other), "%u.%u is %u.%u", muster_agent_index(one), muster_agent_generation(one),
            muster_agent_index(other), muster_agent_generation(other));
}

Test(snapshot_ids, stay_and_go_on) {
  little_world little = counting_world(MUSTER_CLOCK_VIRTUAL, 1);
  muster_agent agents[100];
  for (int i = 0; i < 100; i++) agents[i] = spawn_at(&little, i);
  run_frames(&little, 3);
  for (int i = 0; i < 100; i += 3) muster_agent_remove(little.world, agents[i]);
  run_frames(&little, 3);
  muster_agent pending = spawn_at(&little, 500);
  saved_world saved = save_world(little.world);
  little_world loaded = counting_world(MUSTER_CLOCK_VIRTUAL, 1);
  loaded.now_ns = little.now_ns;
  cr_assert_eq(load_world(loaded.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(look_at(&saved).agents, 66);
  cr_assert_eq(look_at(&saved).spawns, 1);
  for (int i = 0; i < 100; i++) cr_assert_eq(muster_agent_exists(loaded.world, agents[i]), i % 3 != 0, "agent %d", i);
  cr_assert(muster_agent_exists(loaded.world, pending), "its id was valid at once");
  cr_assert_not(info_of(&loaded, pending).active);
  for (int i = 0; i < 200; i++) expect_same_agent(spawn_at(&little, i), spawn_at(&loaded, i));
  run_frame(&loaded);
  cr_assert(info_of(&loaded, pending).active);
  cr_assert_eq(muster_agent_remove(loaded.world, agents[0]), MUSTER_E_STALE);
  little_world_destroy(&little);
  little_world_destroy(&loaded);
  free(saved.bytes);
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

static void spawn_named(const little_world *little, struct named *named, muster_agent agents[4]) {
  for (int i = 0; i < 4; i++) {
    muster_agent_def def = muster_agent_def_default();
    def.type = little->type;
    def.user = i ? &named->things[i] : NULL;
    agents[i] = muster_agent_spawn(little->world, &def);
  }
}

Test(snapshot_ids, user_pointers_are_the_hosts_to_name_and_to_find) {
  struct named named = {0};
  int after[4];
  muster_agent agents[4];
  little_world little = counting_world(MUSTER_CLOCK_VIRTUAL, 1), loaded = counting_world(MUSTER_CLOCK_VIRTUAL, 1);
  little_world nameless = counting_world(MUSTER_CLOCK_VIRTUAL, 1);
  spawn_named(&little, &named, agents);
  run_frame(&little);
  muster_save_def save = muster_save_def_default();
  save.write = write_named;
  save.user = &named;
  save.name_user = name_it;
  cr_assert_eq(muster_world_save(little.world, &save), MUSTER_OK, "%s", muster_last_error());
  muster_load_def load = muster_load_def_default();
  load.bytes = named.saved.bytes;
  load.count = named.saved.count;
  cr_assert_eq(muster_world_load(nameless.world, &load), MUSTER_OK, "%s", muster_last_error());
  load.user_of = find_it;
  load.user = after;
  cr_assert_eq(muster_world_load(loaded.world, &load), MUSTER_OK, "%s", muster_last_error());
  for (int i = 0; i < 4; i++) {
    cr_assert_eq(info_of(&loaded, agents[i]).user, i ? &after[i] : NULL);
    cr_assert_null(info_of(&nameless, agents[i]).user);
  }
  little_world_destroy(&little);
  little_world_destroy(&loaded);
  little_world_destroy(&nameless);
  free(named.saved.bytes);
}

/* On the wall clock a run does not repeat exactly, but no agent is lost. */
Test(snapshot_ids, a_world_on_the_wall_clock_goes_on) {
  little_world little = counting_world(MUSTER_CLOCK_WALL, 2), loaded = counting_world(MUSTER_CLOCK_WALL, 3);
  for (int i = 0; i < 2000; i++) spawn_at(&little, i);
  for (int i = 0; i < 40; i++) run_frame_with(&little, 100000u); /* too little time for all agents */
  cr_assert_eq(muster_world_settle(little.world), MUSTER_OK);
  saved_world saved = save_world(little.world);
  cr_assert_eq(load_world(loaded.world, saved.bytes, saved.count), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_world_hash(loaded.world), muster_world_hash(little.world));
  loaded.now_ns = little.now_ns;
  uint32_t agents = 0;
  for (int i = 0; i < 40; i++) agents = run_frame_with(&loaded, 8000000u).agents;
  cr_assert_eq(agents, 2000);
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(loaded.world, agent));)
    cr_assert_gt(info_of(&loaded, agent).last_update_ns, little.now_ns, "agent %u ran again",
                 muster_agent_index(agent));
  little_world_destroy(&little);
  little_world_destroy(&loaded);
  free(saved.bytes);
}
