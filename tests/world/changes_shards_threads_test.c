/* Changes that workers note beside each other, each in its own shards. Runs under ThreadSanitizer, too. */
#include "support/replica.h"
#include "world/fixture.h"

/* A frame ends when nobody waits, so a large budget takes no time; planning under a sanitizer, beside other programs,
 * takes more than 40 ms. */
enum { WALKERS = 9000, FRAMES = UNDER_THREAD_SANITIZER ? 8 : 20, BUDGET_NS = UNDER_SANITIZER ? 800000000 : 40000000 };

/* Some go to another cell. */
static muster_atom_result step(muster_update *update) {
  uint64_t random = muster_update_random(update);
  if (random >> 32 & 1) step_by(update, (double)(random % 9) - 4.0);
  memcpy(update->published, &update->now_ns, sizeof update->now_ns);
  return MUSTER_ATOM_NEXT;
}

static little_world create(muster_clock clock, uint32_t workers, uint32_t shards) {
  return little_world_of(workers, WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 2 * WALKERS,
                                       it.limits.changes_frames = 1, it.shards = shards));
}

static void populate(little_world *little, bool spawn) {
  add_type(little, CHANGED(type_running(step, 300), it.period_ns = 30000000, it.published_bytes = sizeof(uint64_t)));
  for (uint32_t i = 0; spawn && i < WALKERS; i++) spawn_at(little, i * 0.5);
}

static void follow(struct replica *replica) {
  cr_assert_eq(replica_read(replica), MUSTER_OK, "%s", muster_last_error());
  replica_check(replica);
}

static uint64_t conclude(const struct replica *replica) {
  cr_assert_gt(replica->changed[0], 1000);
  cr_assert_eq(replica->in_vain, 0);
  return replica->hash;
}

static uint64_t run_virtual(uint32_t workers, uint32_t shards) {
  SCOPED_WORLD little = create(MUSTER_CLOCK_VIRTUAL, workers, shards);
  populate(&little, true);
  SCOPED(replica_destroy) struct replica replica = replica_create(little.world, 2 * WALKERS);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    run_frame_with(&little, 9000000);
    follow(&replica);
  }
  return conclude(&replica);
}

Test(changes_shards_threads, are_told_whatever_shards_and_workers_there_are) {
  uint64_t alone = run_virtual(1, 0);
  cr_assert_eq(run_virtual(2, 0), alone);
  cr_assert_eq(run_virtual(8, 1), alone, "one shard");
  cr_assert_eq(run_virtual(64, 128), alone, "128 shards");
}

static uint64_t run_recorded(struct recorded *run, uint32_t workers) {
  SCOPED_WORLD little = create(MUSTER_CLOCK_WALL, workers, 0);
  recorded_begin(run, little.world);
  populate(&little, true);
  SCOPED(replica_destroy) struct replica replica = replica_create(little.world, 2 * WALKERS);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    recorded_note(run, &little, run_frame_with(&little, BUDGET_NS));
    follow(&replica);
  }
  recorded_end(run, little.world);
  return conclude(&replica);
}

static uint64_t run_replayed(const struct recorded *run, uint32_t workers, uint32_t shards) {
  SCOPED_WORLD little = create(MUSTER_CLOCK_WALL, workers, shards);
  recorded_replay(run, little.world);
  populate(&little, false);
  SCOPED(replica_destroy) struct replica replica = replica_create(little.world, 2 * WALKERS);
  for (uint32_t i = 0; i < run->frames; i++) {
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
    follow(&replica);
  }
  return conclude(&replica);
}

Test(changes_shards_threads, on_the_wall_clock_are_complete_and_those_of_a_replay) {
  static const uint32_t workers[] = {2, 8, 64};
  for (uint32_t i = 0; i < COUNT_OF(workers); i++) {
    SCOPED(recorded_forget) struct recorded run;
    uint64_t told = run_recorded(&run, workers[i]);
    cr_assert_eq(run_replayed(&run, 1, 0), told);
    cr_assert_eq(run_replayed(&run, 4, 32), told, "32 shards");
  }
}
