/* More is ranked into a batch while several workers run it, wake each other's agents, spawn and send: nobody runs twice
 * in a frame, all sums agree, and a record is replayed to the same world. Runs under ThreadSanitizer, too. */
#include "world/fixture.h"

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
  muster_agent_def child = WITH(muster_agent_def, it.type = update->type);
  if ((random >> 24 & 63) == 0) muster_update_spawn(update, &child);
  return MUSTER_ATOM_NEXT;
}

static little_world create(uint32_t workers, bool spawns) {
  little_world little = little_world_of(
      workers, WITH(muster_world_def, it.limits.agents_max = 4 * AGENTS, it.elastic = MUSTER_ELASTIC_RATE));
  add_type(&little, CHANGED(type_running(live, GUESS_NS), it.state_bytes = sizeof(creature), it.spawns_max = spawns,
                            it.messages.sends_max = 1, it.messages.waiting_max = 4, it.messages.bytes_max = 8,
                            it.period_max_ns = it.period_ns)); /* nothing stretches */
  return little;
}

/* Types that do not spawn may be woken and run in the same frame. */
static uint64_t run(uint32_t workers, bool spawns) {
  SCOPED_WORLD little = create(workers, spawns);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  uint64_t appended = 0;
  for (uint32_t i = 0; i < FRAMES; i++) appended += run_frame_with(&little, 4000000).appended;
  run_frame_with(&little, 1000000000u); /* what a late commit left is counted in the next frame */
  run_frame_with(&little, 1000000000u);
  uint64_t runs = 0, twice = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
    const creature *self = info_of(&little, agent).state;
    runs += self->runs;
    twice += self->twice;
  }
  cr_assert_eq(twice, 0, "%lu times an agent ran twice in a frame", twice);
  cr_assert_eq(runs, statistics_of(&little).completed);
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
  SCOPED_WORLD little = create(4, false);
  uint64_t appended = 0;
  recorded_begin(recorded, little.world);
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  for (uint32_t i = 0; i < RECORDED; i++) {
    recorded_note(recorded, &little, run_frame_with(&little, 4000000));
    appended += recorded->reports[i].appended;
  }
  recorded_end(recorded, little.world);
  return appended;
}

Test(append_threads, a_record_is_replayed_with_any_number_of_workers) {
  enum { TRIES = 20 };
  static const uint32_t workers[] = {1, 2, 4};
  SCOPED(recorded_forget) struct recorded recorded;
  uint64_t appended = record(&recorded);
  for (uint32_t i = 1; i < TRIES && !appended; i++) {
    recorded_forget(&recorded);
    appended = record(&recorded);
  }
  cr_assert_gt(appended, 0);
  for (uint32_t k = 0; k < COUNT_OF(workers); k++) {
    SCOPED_WORLD little = create(workers[k], false);
    recorded_replay(&recorded, little.world);
    replay_alike(&recorded, &little);
  }
}
