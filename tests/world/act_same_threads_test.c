/* With the virtual clock the same seed gives the same world on any number of workers, also when actions run beside each
 * other. The actions of this test do all that could make it depend on workers: within their region they read and write
 * other agents, and anywhere they move, spawn, kill, wake and send; there is not time for all of them in a frame. Runs
 * under ThreadSanitizer, too. */
#include "world/fixture.h"

typedef struct creature {
  uint64_t updates, acts, told, heard, killed;
  double energy;
} creature;

static muster_atom_result live(muster_update *update) {
  creature *self = update->state;
  muster_message messages[4];
  uint32_t count = muster_update_messages(update, messages, 4);
  for (uint32_t i = 0; i < count; i++)
    self->heard = self->heard * 31 + muster_agent_index(messages[i].sender) + *(const uint64_t *)messages[i].bytes;
  self->updates++;
  self->energy += (double)update->elapsed_ns * 1e-8;
  *(uint64_t *)update->published = self->heard + self->acts;
  return self->energy > 0.5 ? MUSTER_ATOM_NEXT : MUSTER_ATOM_FINISH;
}

/* Takes from neighbours of its own region, and now and then kills one there or elsewhere. */
static void feed(muster_update *update, creature *self) {
  muster_neighbour near[4];
  uint32_t count = muster_update_nearby(update, 9.0f, (muster_type){0}, near, 4);
  for (uint32_t i = 0; i < count; i++) {
    creature *other = muster_update_state_of(update, near[i].agent);
    self->told = self->told * 31 + muster_agent_index(near[i].agent) + *(const uint64_t *)near[i].published;
    if (other) {
      self->energy += other->energy * 0.125;
      other->energy *= 0.875;
      other->told += self->acts;
    }
    if (muster_update_random(update) % 16 == 0)
      self->killed = self->killed * 3 + muster_update_remove(update, near[i].agent);
    if (muster_update_random(update) % 8 == 0) muster_update_wake(update, near[i].agent);
    if (muster_update_random(update) % 8 == 0)
      muster_update_wake_at(update, near[i].agent, update->now_ns + 3 * FRAME_NS / 2);
    if (muster_update_random(update) % 2 == 0)
      muster_update_send(update, near[i].agent, &self->told, sizeof self->told);
  }
}

static muster_atom_result act(muster_update *update) {
  creature *self = update->state;
  self->acts++;
  self->energy -= 0.5;
  if (update->type.index < 3) feed(update, self);
  muster_agent_def child =
      WITH(muster_agent_def, it.type = (muster_type){1 + (uint32_t)(muster_update_random(update) % 3)},
           it.position = update->position, it.position.x += 1);
  if (muster_update_random(update) % 4 == 0) {
    muster_agent born = muster_update_spawn(update, &child);
    self->told = self->told * 31 + muster_agent_index(born) + muster_agent_generation(born);
    if (!muster_agent_is_null(born)) muster_update_wake(update, born);
  }
  muster_position to = update->position;
  to.x += ((double)muster_update_random_share(update) - 0.5) * 12;
  to.y += ((double)muster_update_random_share(update) - 0.5) * 12;
  muster_update_move(update, to);
  if (muster_update_random(update) % 8 == 0) muster_update_wake_at(update, update->agent, update->now_ns + FRAME_NS);
  return MUSTER_ATOM_NEXT;
}

struct outcome {
  uint64_t hash, waited, told, heard, killed;
  muster_statistics sums;
};

static struct outcome run_world(uint32_t workers, bool as_sets) {
  SCOPED_WORLD little = little_world_of(workers, WITH(virtual_world_def, it.limits.agents_max = 3000, it.cell_m = 12.0f,
                                                      it.limits.sends_per_frame = 256));
  static const muster_act kinds[] = {MUSTER_ACT_REGION, MUSTER_ACT_SERIAL, MUSTER_ACT_PARALLEL};
  const muster_atom atoms[] = {{live, MUSTER_ROLE_BEHAVIOUR, 1000}, {act, MUSTER_ROLE_ACTION, 3000}};
  /* Half of the actions are a set of their own, which is active in every other update. */
  const muster_set_def acts = CHANGED(set_with(&atoms[1], 1), it.role = MUSTER_ROLE_ACTION, it.period_updates = 1);
  const muster_set_def sets[] = {CHANGED(set_with(&atoms[0], 1), it.period_updates = 1), acts,
                                 CHANGED(acts, it.period_updates = 2)};
  muster_type_def def = CHANGED(
      type_with(atoms, 2), it.state_bytes = sizeof(creature), it.published_bytes = sizeof(uint64_t), it.spawns_max = 1,
      it.messages.waiting_max = 4, it.messages.bytes_max = sizeof(uint64_t), it.messages.sends_max = 4,
      it.overruns.demote = it.overruns.quarantine = 0, it.period_ns = 20000000, it.period_max_ns = 60000000);
  def.limit_ns = 2000; /* each action is an overrun; overruns are noted in the same order, too */
  if (as_sets) def = with_sets(def, sets, 3);
  for (uint32_t kind = 0; kind < 3; kind++) {
    add_type(&little, CHANGED(def, it.act = kinds[kind]));
    for (uint32_t i = 0; i < (kind == 0 ? 600u : 150u); i++) spawn_at(&little, i * (kind == 0 ? 0.5 : 2.0));
  }
  struct outcome outcome = {0};
  for (uint32_t i = 0; i < 80; i++) outcome.waited += run_frame_with(&little, i % 5 ? 900000 : 150000).actions_waiting;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(little.world, agent));) {
    const creature *self = info_of(&little, agent).state;
    outcome.told = outcome.told * 31 + self->told;
    outcome.heard = outcome.heard * 31 + self->heard;
    outcome.killed = outcome.killed * 31 + self->killed;
  }
  muster_overrun overruns[MUSTER_OVERRUNS_KEPT];
  uint32_t count = muster_overruns_read(little.world, overruns, MUSTER_OVERRUNS_KEPT);
  for (uint32_t i = 0; i < count; i++) outcome.told = outcome.told * 31 + muster_agent_index(overruns[i].agent);
  outcome.hash = muster_world_hash(little.world);
  outcome.sums = statistics_of(&little);
  return outcome;
}

static void compare_workers(bool as_sets) {
  struct outcome one = run_world(1, as_sets);
  cr_assert_gt(one.waited, 100, "actions waited: %lu", one.waited);
  cr_assert(one.sums.spawned > 1000 && one.sums.removed > 100 && one.sums.messages_delivered > 100);
  cr_assert(one.sums.messages_refused > 0 && one.sums.wakes_timed > 0 && one.sums.woken > 0);
  for (uint32_t workers = 2; workers <= 8; workers *= 2) {
    struct outcome many = run_world(workers, as_sets);
    cr_assert_eq(many.told, one.told, "%u workers: actions saw something else", workers);
    cr_assert_eq(many.heard, one.heard, "%u workers: messages came otherwise", workers);
    cr_assert_eq(many.killed, one.killed, "%u workers: others were first to remove", workers);
    cr_assert(many.hash == one.hash && many.waited == one.waited, "%u workers", workers);
    cr_assert(many.sums.spawned == one.sums.spawned && many.sums.removed == one.sums.removed);
    cr_assert(many.sums.messages_delivered == one.sums.messages_delivered && many.sums.woken == one.sums.woken);
  }
}

Test(act_same_threads, the_same_seed_gives_the_same_world_on_1_to_8_workers) {
  compare_workers(false);
}
Test(act_same_threads, also_when_actions_are_sets) {
  compare_workers(true);
}
