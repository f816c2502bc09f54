/* The changes of frames against a loop over everybody, in worlds in which everything happens; the same for any number
 * of workers and of shards. Runs under ThreadSanitizer, too. */
#include "support/busy_worlds.h"
#include "support/replica.h"

enum { FRAMES = 60, ARRAY = 300 };

/* Some agents are moved by arrays between frames: across the world, a little, or not at all. */
static void move_some(const little_world *little, uint32_t frame) {
  muster_agent agents[ARRAY];
  muster_position places[ARRAY];
  uint32_t count = 0;
  for (muster_agent agent = {0};
       count < ARRAY && !muster_agent_is_null(agent = muster_agent_next(little->world, agent)); count++) {
    agents[count] = agent;
    places[count] = info_of(little, agent).position;
    if (count % 3 == 0) places[count] = busy_place(count, frame);
    if (count % 3 == 1) places[count].y += 0.25;
  }
  if (frame % 4 == 1) cr_assert_eq(muster_agents_move(little->world, agents, places, count), count);
}

static uint64_t run_busy(const busy_kind *kind, uint32_t workers) {
  little_world little = busy_world(kind, workers);
  struct replica replica = replica_create(little.world, 4000);
  busy_populate(&little);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    busy_frame(&little, kind, frame);
    cr_assert_eq(replica_read(&replica), MUSTER_OK, "%s", muster_last_error());
    replica_check(&replica);
    move_some(&little, frame);
  }
  for (uint32_t k = 0; k < 5; k++)
    cr_assert(k == 4 ? kind->level_pressure == 0.0f || replica.changed[k] : replica.changed[k], "kind %u", k);
  cr_assert_lt(replica.in_vain, replica.changed[0] / 50 + 20);
  uint64_t hash = replica.hash;
  replica_destroy(&replica);
  little_world_destroy(&little);
  return hash;
}

Test(changes_threads, are_what_a_loop_over_everybody_finds_for_any_number_of_workers) {
  static const uint32_t workers[] = {2, 8, 64};
  for (uint32_t kind = 0; kind < BUSY_KINDS; kind++) {
    uint64_t alone = run_busy(&busy_kinds[kind], 1);
    for (uint32_t i = 0; i < sizeof workers / sizeof *workers; i++)
      cr_assert_eq(run_busy(&busy_kinds[kind], workers[i]), alone, "%s, %u workers", busy_kinds[kind].name, workers[i]);
  }
}

/* Many agents that move and publish in parallel atoms, with little else to do. */
static muster_atom_result step(muster_update *update) {
  uint64_t random = muster_update_random(update);
  muster_position to = update->position;
  to.x += (double)(random % 9) - 4.0;
  if (random >> 32 & 1) muster_update_move(update, to);
  memcpy(update->published, &update->now_ns, sizeof update->now_ns);
  return MUSTER_ATOM_NEXT;
}

static uint64_t run_walkers(muster_clock clock, uint32_t workers, uint32_t shards) {
  enum { WALKERS = 9000 };
  muster_world_def def = muster_default_world_def();
  def.clock = clock;
  def.agents_max = 2 * WALKERS;
  def.changes_frames = 1;
  def.shards = shards;
  little_world little = little_world_create(workers, &def);
  muster_atom atom = {step, MUSTER_ROLE_BEHAVIOUR, 300};
  muster_type_def type = type_with(&atom, 1);
  type.period_ns = 30000000;
  type.published_bytes = sizeof(uint64_t);
  register_type(&little, &type);
  for (uint32_t i = 0; i < WALKERS; i++) spawn_at(&little, i * 0.5);
  struct replica replica = replica_create(little.world, def.agents_max);
  for (uint32_t frame = 0; frame < 20; frame++) {
    run_frame_with(&little, 9000000);
    cr_assert_eq(replica_read(&replica), MUSTER_OK, "%s", muster_last_error());
    replica_check(&replica);
  }
  cr_assert_gt(replica.changed[0], clock == MUSTER_CLOCK_VIRTUAL ? WALKERS : 0u);
  cr_assert_eq(replica.in_vain, 0);
  uint64_t hash = replica.hash;
  replica_destroy(&replica);
  little_world_destroy(&little);
  return hash;
}

Test(changes_threads, of_shards_are_noted_beside_each_other) {
  uint64_t alone = run_walkers(MUSTER_CLOCK_VIRTUAL, 1, 0);
  cr_assert_eq(run_walkers(MUSTER_CLOCK_VIRTUAL, 2, 0), alone);
  cr_assert_eq(run_walkers(MUSTER_CLOCK_VIRTUAL, 8, 1), alone, "one shard");
  cr_assert_eq(run_walkers(MUSTER_CLOCK_VIRTUAL, 64, 128), alone, "128 shards");
}

Test(changes_threads, on_the_wall_clock_are_complete_too) {
  run_walkers(MUSTER_CLOCK_WALL, 8, 0);
}
