/* More is ranked into a batch while several workers run it, wake each other's agents, spawn and send: nobody runs twice
 * in a frame, all sums agree, and a record is replayed to the same world. Runs under ThreadSanitizer, too. */
#include "support/recording.h"

#include <muster/record.h>

enum { AGENTS = 6000, FRAMES = 24, RECORDED = 16, GUESS_NS = 10000000 };

typedef struct creature {
  uint64_t frame, runs, twice, heard;
} creature;

static muster_atom_result live(muster_update *update) {
  creature *self = update->state;
  muster_message messages[4];
  uint64_t random = muster_update_random(update);
  muster_agent other = muster_agent_make((uint32_t)(random % AGENTS), 1);
  self->twice += self->frame == update->now_ns;
  self->frame = update->now_ns;
  self->runs++;
  self->heard += muster_update_messages(update, messages, 4);
  if (random >> 20 & 1) muster_update_wake(update, other);
  if ((random >> 21 & 7) == 0) muster_update_send(update, other, NULL, 0);
  if ((random >> 24 & 63) == 0) {
    muster_agent_def child = muster_agent_def_default();
    child.type = update->type;
    muster_update_spawn(update, &child);
  }
  return MUSTER_ATOM_NEXT;
}

static little_world create(uint32_t workers, bool spawns) {
  static const muster_atom atom = {live, MUSTER_ROLE_BEHAVIOUR, GUESS_NS};
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = 4 * AGENTS;
  def.elastic = MUSTER_ELASTIC_RATE;
  little_world little = little_world_create(workers, &def);
  muster_type_def type = type_with(&atom, 1);
  type.state_bytes = sizeof(creature);
  type.period_max_ns = type.period_ns; /* nothing stretches */
  type.spawns_max = spawns;
  type.messages.sends_max = 1;
  type.messages.waiting_max = 4;
  type.messages.bytes_max = 8;
  register_type(&little, &type);
  return little;
}

static void populate(little_world *little) {
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(little, i);
}

static void check(const little_world *little, uint64_t completed) {
  muster_agent_info info = muster_agent_info_default();
  uint64_t runs = 0, twice = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little->world, agent));) {
    cr_assert_eq(muster_agent_read(little->world, agent, &info), MUSTER_OK);
    runs += ((const creature *)info.state)->runs;
    twice += ((const creature *)info.state)->twice;
  }
  cr_assert_eq(twice, 0, "%lu times an agent ran twice in a frame", (unsigned long)twice);
  cr_assert_eq(runs, completed);
}

/* Types that do not spawn may be woken and run in the same frame. */
static uint64_t run(uint32_t workers, bool spawns) {
  little_world little = create(workers, spawns);
  populate(&little);
  uint64_t appended = 0;
  for (uint32_t i = 0; i < FRAMES; i++) appended += run_frame_with(&little, 4000000).appended;
  run_frame_with(&little, 1000000000u); /* what a late commit left is counted in the next frame */
  run_frame_with(&little, 1000000000u);
  muster_statistics sums = muster_statistics_default();
  muster_statistics_read(little.world, &sums);
  check(&little, sums.completed);
  little_world_destroy(&little);
  return appended;
}

Test(append_threads, nobody_runs_twice_in_a_frame) {
  uint64_t appended = 0;
  for (uint32_t i = 0; i < 3; i++) appended += run(2, false) + run(4, false) + run(4, true);
  cr_assert_gt(appended, 0, "updates were believed to take 10 ms");
}

/* Records a run from its beginning. How many updates were appended: while costs are a guess, unless the machine is too
 * busy in these few frames. */
static uint64_t record(struct recorded *recorded) {
  little_world little = create(4, false);
  uint64_t appended = 0;
  recorded_begin(recorded, little.world);
  populate(&little);
  for (uint32_t i = 0; i < RECORDED; i++) {
    muster_frame_report report = run_frame_with(&little, 4000000);
    appended += report.appended;
    recorded_note(recorded, &little, report);
  }
  recorded_end(recorded, little.world);
  little_world_destroy(&little);
  return appended;
}

Test(append_threads, a_record_is_replayed_with_any_number_of_workers) {
  enum { TRIES = 20 };
  static const uint32_t workers[] = {1, 2, 4};
  struct recorded recorded;
  uint64_t appended = record(&recorded);
  for (uint32_t i = 1; i < TRIES && !appended; i++) {
    recorded_forget(&recorded);
    appended = record(&recorded);
  }
  cr_assert_gt(appended, 0);
  for (uint32_t k = 0; k < sizeof workers / sizeof *workers; k++) {
    little_world little = create(workers[k], false);
    recorded_replay(&recorded, little.world);
    for (uint32_t i = 0; i < recorded.frames; i++) {
      cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
      cr_assert_eq(muster_world_hash(little.world), recorded.hashes[i], "%u workers, frame %u", workers[k], i + 1);
    }
    little_world_destroy(&little);
  }
  recorded_forget(&recorded);
}
