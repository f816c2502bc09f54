/* Agents that acted beside each other are settled beside each other, too, but for those that did something that others
 * must know of. The world is the same for any number of workers and of shards, and in a replay. Runs under
 * ThreadSanitizer, too. */
#include "world/fixture.h"

enum { AGENTS = 3000, FRAMES = 40, RECORDED = 12 };

typedef struct creature {
  uint64_t acts, heard, told;
} creature;

static muster_atom_result live(muster_update *update) {
  creature *self = update->state;
  muster_message messages[4];
  uint32_t count = muster_update_messages(update, messages, 4);
  for (uint32_t i = 0; i < count; i++) self->heard = self->heard * 31 + muster_agent_index(messages[i].sender);
  *(uint64_t *)update->published = self->heard;
  return MUSTER_ATOM_NEXT;
}

/* Most agents do nothing here that another one must know of; some do each of the things that are not plain. */
static muster_atom_result act(muster_update *update) {
  creature *self = update->state;
  uint64_t random = muster_update_random(update);
  muster_neighbour near[1];
  self->acts++;
  *(uint64_t *)update->published += self->acts;
  if (random % 8) return MUSTER_ATOM_NEXT;
  muster_position to = update->position;
  to.x += 5.0;
  if (random >> 3 & 1) muster_update_move(update, to);
  if (random >> 4 & 1) muster_update_wake_at(update, update->agent, update->now_ns + FRAME_NS);
  if (random >> 5 & 1) muster_update_react_by(update, update->now_ns + 2 * FRAME_NS);
  muster_agent_def child = WITH(muster_agent_def, it.type = update->type, it.position = to);
  if (random >> 6 & 1) self->told = self->told * 31 + muster_agent_index(muster_update_spawn(update, &child));
  if ((random >> 7 & 7) == 0) muster_update_remove(update, update->agent);
  if (muster_update_nearby(update, 9.0f, (muster_type){0}, near, 1))
    self->told = self->told * 31 + muster_update_send(update, near[0].agent, NULL, 0);
  return MUSTER_ATOM_NEXT;
}

static little_world create(muster_clock clock, uint32_t workers, uint32_t shards, uint32_t delay) {
  return little_world_of(workers, WITH(muster_world_def, it.clock.kind = clock, it.limits.agents_max = 2 * AGENTS,
                                       it.cell_m = 12.0f, it.shards = shards, it.activation_delay = delay));
}

static void populate(little_world *little, bool spawn) {
  const muster_atom atoms[] = {{live, MUSTER_ROLE_BEHAVIOUR, 500}, {act, MUSTER_ROLE_ACTION, 500}};
  add_type(little,
           CHANGED(type_with(atoms, 2), it.state_bytes = sizeof(creature), it.published_bytes = sizeof(uint64_t),
                   it.spawns_max = it.messages.sends_max = 1, it.messages.waiting_max = 2, it.messages.bytes_max = 8,
                   it.messages.wake = true, it.period_ns = 40000000, it.act = MUSTER_ACT_REGION));
  for (uint32_t i = 0; spawn && i < AGENTS; i++) spawn_at(little, i * 1.5);
}

static uint64_t hash_of(uint32_t workers, uint32_t shards, uint32_t delay) {
  SCOPED_WORLD little = create(MUSTER_CLOCK_VIRTUAL, workers, shards, delay);
  populate(&little, true);
  uint64_t waited = 0, completed = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = run_frame_with(&little, i % 4 ? 9000000 : 600000);
    waited += report.actions_waiting;
    completed += report.completed;
  }
  muster_statistics sums = statistics_of(&little);
  cr_assert_gt(waited, 0, "all actions found time");
  cr_assert(sums.spawned > AGENTS && sums.removed > 50 && sums.messages_delivered > 500);
  cr_assert_eq(sums.completed, completed);
  uint64_t acts = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));)
    acts += ((const creature *)info_of(&little, agent).state)->acts;
  cr_assert_leq(acts, completed, "an action was run twice");
  cr_assert_gt(acts, completed / 2);
  return muster_world_hash(little.world);
}

Test(act_settle_threads, any_number_of_workers_and_of_shards_settles_to_the_same_world) {
  static const uint32_t workers[] = {2, 8, 64};
  uint64_t alone = hash_of(1, 0, 0);
  for (uint32_t i = 0; i < COUNT_OF(workers); i++)
    cr_assert_eq(hash_of(workers[i], 0, 0), alone, "%u workers", workers[i]);
  cr_assert_eq(hash_of(4, 1, 0), alone, "one shard");
  cr_assert_eq(hash_of(4, 32, 0), alone, "32 shards");
}

Test(act_settle_threads, so_does_a_world_whose_activation_is_planned) {
  uint64_t alone = hash_of(1, 0, 3);
  cr_assert_eq(hash_of(8, 0, 3), alone);
  cr_assert_eq(hash_of(4, 32, 3), alone, "32 shards");
}

static void replay_in(const struct recorded *run, uint32_t workers, uint32_t shards) {
  SCOPED_WORLD little = create(MUSTER_CLOCK_WALL, workers, shards, 0);
  recorded_replay(run, little.world);
  populate(&little, false);
  replay_alike(run, &little);
}

Test(act_settle_threads, a_record_is_replayed_with_other_workers_and_shards) {
  SCOPED(recorded_forget) struct recorded run;
  little_world little = create(MUSTER_CLOCK_WALL, 4, 0, 0);
  recorded_begin(&run, little.world);
  populate(&little, true);
  for (uint32_t i = 0; i < RECORDED; i++)
    recorded_note(&run, &little, run_frame_with(&little, i % 3 ? 20000000 : 900000));
  recorded_end(&run, little.world);
  little_world_destroy(&little);
  replay_in(&run, 1, 0);
  replay_in(&run, 4, 1);
  replay_in(&run, 2, 32);
}
