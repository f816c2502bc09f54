/* Changes that workers note beside each other, each in its own shards. Runs under ThreadSanitizer, too. */
#include "support/recording.h"
#include "support/replica.h"
#include "support/sanitized.h"

#include <muster/record.h>

/* A frame ends when nobody waits, so a large budget takes no time; planning under a sanitizer, beside other programs,
 * takes more than 40 ms. */
enum { WALKERS = 9000, FRAMES = UNDER_THREAD_SANITIZER ? 8 : 20, BUDGET_NS = UNDER_SANITIZER ? 800000000 : 40000000 };

/* Some go to another cell. */
static muster_atom_result step(muster_update *update) {
  uint64_t random = muster_update_random(update);
  muster_position to = update->position;
  to.x += (double)(random % 9) - 4.0;
  if (random >> 32 & 1) muster_update_move(update, to);
  memcpy(update->published, &update->now_ns, sizeof update->now_ns);
  return MUSTER_ATOM_NEXT;
}

static little_world create(muster_clock clock, uint32_t workers, uint32_t shards) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = clock;
  def.limits.agents_max = 2 * WALKERS;
  def.limits.changes_frames = 1;
  def.shards = shards;
  return little_world_create(workers, &def);
}

static void populate(little_world *little, bool spawn) {
  static const muster_atom atom = {step, MUSTER_ROLE_BEHAVIOUR, 300};
  muster_type_def type = type_with(&atom, 1);
  type.period_ns = 30000000;
  type.published_bytes = sizeof(uint64_t);
  register_type(little, &type);
  for (uint32_t i = 0; spawn && i < WALKERS; i++) spawn_at(little, i * 0.5);
}

static void follow(struct replica *replica) {
  cr_assert_eq(replica_read(replica), MUSTER_OK, "%s", muster_last_error());
  replica_check(replica);
}

/* What was told in all frames, as a number. */
static uint64_t conclude(struct replica *replica, little_world *little) {
  uint64_t hash = replica->hash;
  cr_assert_gt(replica->changed[0], 1000);
  cr_assert_eq(replica->in_vain, 0);
  replica_destroy(replica);
  little_world_destroy(little);
  return hash;
}

static uint64_t run_virtual(uint32_t workers, uint32_t shards) {
  little_world little = create(MUSTER_CLOCK_VIRTUAL, workers, shards);
  populate(&little, true);
  struct replica replica = replica_create(little.world, 2 * WALKERS);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    run_frame_with(&little, 9000000);
    follow(&replica);
  }
  return conclude(&replica, &little);
}

Test(changes_shards_threads, are_told_whatever_shards_and_workers_there_are) {
  uint64_t alone = run_virtual(1, 0);
  cr_assert_eq(run_virtual(2, 0), alone);
  cr_assert_eq(run_virtual(8, 1), alone, "one shard");
  cr_assert_eq(run_virtual(64, 128), alone, "128 shards");
}

static uint64_t run_recorded(struct recorded *run, uint32_t workers) {
  little_world little = create(MUSTER_CLOCK_WALL, workers, 0);
  recorded_begin(run, little.world);
  populate(&little, true);
  struct replica replica = replica_create(little.world, 2 * WALKERS);
  for (uint32_t frame = 0; frame < FRAMES; frame++) {
    recorded_note(run, &little, run_frame_with(&little, BUDGET_NS));
    follow(&replica);
  }
  recorded_end(run, little.world);
  return conclude(&replica, &little);
}

static uint64_t run_replayed(const struct recorded *run, uint32_t workers, uint32_t shards) {
  little_world little = create(MUSTER_CLOCK_WALL, workers, shards);
  recorded_replay(run, little.world);
  populate(&little, false);
  struct replica replica = replica_create(little.world, 2 * WALKERS);
  for (uint32_t i = 0; i < run->frames; i++) {
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
    follow(&replica);
  }
  return conclude(&replica, &little);
}

Test(changes_shards_threads, on_the_wall_clock_are_complete_and_those_of_a_replay) {
  static const uint32_t workers[] = {2, 8, 64};
  struct recorded run;
  for (uint32_t i = 0; i < sizeof workers / sizeof *workers; i++) {
    uint64_t told = run_recorded(&run, workers[i]);
    cr_assert_eq(run_replayed(&run, 1, 0), told);
    cr_assert_eq(run_replayed(&run, 4, 32), told, "32 shards");
    recorded_forget(&run);
  }
}
