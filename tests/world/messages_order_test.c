/* Messages where much happens at once: many workers, commits that come too late, threads of the host. */
#include "agents/batch.h"
#include "base/clock.h"
#include "run/runner.h"
#include "support/diary.h"
#include "world/fixture.h"
#include "world/messages.h"
#include "world/world_links.h"

#include <sched.h>

/* ----------------------------------------------------------------------------------------------------- late commits */

enum { SENDERS = 400 };

struct reader {
  uint64_t last_sent_ns, last_value, count, wrong;
};

/* The messages that are read, over all frames, come in order of frame, sender and number, and none comes twice. */
static muster_atom_result read_in_order(muster_update *update) {
  static muster_message messages[1024];
  struct reader *self = update->state;
  uint32_t count = muster_update_messages(update, messages, 1024);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t value;
    memcpy(&value, messages[i].bytes, sizeof value);
    bool later = messages[i].sent_ns > self->last_sent_ns;
    if (!later) self->wrong += messages[i].sent_ns < self->last_sent_ns || value <= self->last_value;
    self->wrong += value >> 32 != muster_agent_index(messages[i].sender);
    self->last_sent_ns = messages[i].sent_ns;
    self->last_value = value;
    self->count++;
  }
  return MUSTER_ATOM_NEXT;
}

/* Burns time until the moment that the host gave. */
static muster_atom_result burn(muster_update *update) {
  const uint64_t *until_ns = update->type_user;
  while (clock_system() < *until_ns) continue;
  return MUSTER_ATOM_NEXT;
}

static uint64_t total_sent(const little_world *little, const muster_agent *senders) {
  uint64_t sent = 0;
  for (uint32_t i = 0; i < SENDERS; i++) sent += diary_of(little, senders[i])->sent;
  return sent;
}

/* The burner runs last or, if other workers can run the rest, first. In the latter case it may end just before the
 * deadline, so that the commit begins in time and ends late. */
static void check_late_commits(uint32_t workers) {
  enum { BUDGET_NS = 2000000, STEP_NS = 5000 };
  const muster_atom reads = {read_in_order, MUSTER_ROLE_BEHAVIOUR, 1000}, burns = {burn, MUSTER_ROLE_BEHAVIOUR, 1000};
  SCOPED_WORLD little = little_world_of(workers, muster_world_def_default());
  little.provokes_idle = true; /* every other frame is late by more than it has */
  struct plan plan = {.each = 2};
  muster_agent senders[SENDERS];
  uint64_t burn_until_ns = 0;
  add_type(&little, correspondent_of(atom_of(correspond, 1000)));
  for (uint32_t i = 0; i < SENDERS; i++) senders[i] = spawn_with(&little, &plan, 0.5f);
  add_type(&little, CHANGED(correspondent_of(&burns), it.user = &burn_until_ns));
  spawn_with(&little, NULL, workers > 1 ? 1 : 0);
  add_type(&little,
           CHANGED(correspondent_of(&reads), it.state_bytes = sizeof(struct reader), it.messages.waiting_max = 1024));
  plan.to = spawn_with(&little, NULL, 0.9f);
  uint32_t late = 0;
  for (uint32_t frame = 0; frame < 100; frame++) {
    burn_until_ns = frame % 2     ? clock_system() + BUDGET_NS + 1000000
                    : workers > 1 ? clock_system() + BUDGET_NS - frame * STEP_NS
                                  : 0;
    run_frame_with(&little, BUDGET_NS);
    late += sums_of(&little).messages_sent < total_sent(&little, senders);
  }
  plan.each = 0;
  burn_until_ns = 0;
  for (uint32_t frame = 0; frame < 5; frame++) run_frame_with(&little, 1000000000);
  const struct reader *reader = info_of(&little, plan.to).state;
  cr_assert_gt(late, 0, "no commit was late: this test shows nothing");
  cr_assert_eq(reader->wrong, 0, "%lu of %lu out of order", reader->wrong, reader->count);
  cr_assert_eq(sums_of(&little).messages_sent, total_sent(&little, senders));
  cr_assert_eq(reader->count, sums_of(&little).messages_delivered, "every one that was delivered was read, once");
  check_balance(&little);
}

Test(messages_order, a_late_commit_delivers_each_message_once_and_in_order_in_the_next_frame) {
  check_late_commits(1);
  check_late_commits(4);
}

Test(messages_order, a_delivery_that_runs_out_of_time_goes_on_with_the_next_sender) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  struct plan plan = {.each = 1};
  muster_type_def def = CHANGED(correspondent_of(atom_of(correspond, 1000)), it.messages.waiting_max = 1024);
  register_type(&little, &def);
  for (uint32_t i = 0; i < SENDERS; i++) spawn_with(&little, &plan, (float)(i * 7 % 10) / 10);
  add_type(&little, CHANGED(def, it.period_ns = it.period_max_ns = 86400000000000u));
  muster_agent receiver = plan.to = spawn_with(&little, NULL, 0);
  while (info_of(&little, receiver).messages < SENDERS) run_frame(&little);
  const agent_row *row = &little.world->agents.store.rows[muster_agent_index(receiver)];
  const box_table *boxes = &little.world->agents.types.types[row->type].boxes;
  uint32_t before = boxes->boxes[row->state_slot].count, passes = 0;
  cr_assert_eq(little.world->batch->count, SENDERS);
  /* The same once more, in small steps. */
  for (uint32_t i = 0; i < SENDERS; i++) messages_note_sender(little.world, i);
  cr_assert(!messages_deliver(little.world, 1));
  cr_assert_eq(little.world->links->mailbox.sender_count, SENDERS);
  while (!messages_deliver(little.world, clock_now(&little.world->runner->clock) + 500))
    passes += little.world->links->mailbox.sender_count < SENDERS;
  cr_assert_gt(passes, 1);
  cr_assert_eq(boxes->boxes[row->state_slot].count, before + SENDERS);
  for (uint32_t i = 1; i < SENDERS; i++)
    cr_assert_lt(muster_agent_index(boxes_message(boxes, row->state_slot, before + i - 1)->peer),
                 muster_agent_index(boxes_message(boxes, row->state_slot, before + i)->peer));
}

static muster_atom_result write_and_burn(muster_update *update) {
  correspond(update);
  return burn(update);
}

Test(messages_order, a_commit_that_is_late_with_messages_alone_delivers_them_in_the_next_frame) {
  SCOPED_WORLD little = little_world_of(1, muster_world_def_default());
  uint64_t burn_until_ns = 0;
  add_type(&little, CHANGED(correspondent_of(atom_of(write_and_burn, 1000)), it.user = &burn_until_ns,
                            it.period_ns = it.period_max_ns = 86400000000000u));
  struct plan plan = {.each = 4};
  muster_agent receiver = plan.to = spawn_with(&little, NULL, 0), sender = spawn_with(&little, &plan, 0);
  run_frame(&little);
  muster_agent_wake(little.world, sender);
  burn_until_ns = clock_system() + 2000000;
  run_frame_with(&little, 1000000);
  cr_assert_eq(diary_of(&little, sender)->sent, 4);
  cr_assert_eq(info_of(&little, receiver).messages, 0, "the only entry is settled, its messages are not delivered");
  run_frame(&little);
  cr_assert_eq(info_of(&little, receiver).messages, 4);
  cr_assert_eq(sums_of(&little).messages_sent, 4);
}

Test(messages_order, what_is_lost_is_told_whole_when_workers_settle_side_by_side) {
  enum { AGENTS = 1200, HEARERS = 5 };
  static const muster_atom atom = {correspond, MUSTER_ROLE_BEHAVIOUR, 0};
  SCOPED_WORLD little = little_world_of(4, muster_world_def_default());
  muster_type_def def = CHANGED(correspondent_of(&atom), it.period_ns = it.period_max_ns = 3 * FRAME_NS);
  struct plan plans[HEARERS] = {0};
  muster_agent agents[AGENTS];
  for (uint32_t i = 0; i < AGENTS; i++) {
    if (i % (AGENTS / 4) == 0) register_type(&little, &def); /* workers settle class by class */
    agents[i] = spawn_with(&little, &plans[i % HEARERS], 0);
  }
  for (uint32_t i = 0; i < HEARERS; i++) plans[i] = (struct plan){.to = agents[i * 100], .each = 2};
  for (uint32_t i = 0; i < 60; i++) run_frame_with(&little, 50000000);
  for (uint32_t i = 0; i < HEARERS; i++) plans[i].each = 0;
  for (uint32_t i = 0; i < 10; i++) run_frame_with(&little, 1000000000);
  muster_statistics sums = sums_of(&little);
  uint64_t lost = 0, sent = 0;
  for (uint32_t i = 0; i < AGENTS; i++) {
    lost += diary_of(&little, agents[i])->lost;
    sent += diary_of(&little, agents[i])->sent;
  }
  cr_assert_eq(sent, sums.messages_sent);
  cr_assert_eq(lost, sums.messages_dropped);
  cr_assert(lost > 5000 && lost < sent, "%lu of %lu lost", lost, sent);
}

static muster_atom_result wake_friends(muster_update *update) {
  const muster_agent *friends = update->type_user;
  for (uint32_t i = 0; i < 2; i++) muster_update_wake(update, friends[i]);
  send_messages(update);
  return MUSTER_ATOM_NEXT;
}

/* Two agents run only because another agent wakes them while the frame runs, so the ranking does not know of them. */
Test(messages_order, of_agents_woken_while_the_frame_runs_are_sent_as_far_as_places_are_left) {
  const muster_atom wakes = {.run = wake_friends}, writes = {.run = correspond};
  SCOPED_WORLD little = little_world_of(1, WITH(muster_world_def, it.limits.sends_per_frame = 7));
  muster_agent friends[2];
  struct plan plan = {.each = 6};
  add_type(&little, CHANGED(correspondent_of(&writes), it.period_ns = it.period_max_ns = 86400000000000u));
  muster_agent receiver = plan.to = spawn_with(&little, NULL, 0);
  for (uint32_t i = 0; i < 2; i++) friends[i] = spawn_with(&little, &plan, 0);
  run_frame_with(&little, 1000000000);
  add_type(&little, CHANGED(correspondent_of(&wakes), it.user = friends, it.messages.sends_max = 2));
  muster_agent waker = spawn_with(&little, &plan, 1);
  uint32_t frames = 0;
  while (sums_of(&little).messages_sent < 7 * 3 && frames++ < 20) run_frame_with(&little, 1000000000);
  const struct diary *first = diary_of(&little, friends[0]), *second = diary_of(&little, friends[1]);
  cr_assert_eq(first->updates + second->updates, 2 * 3, "both run in the frame that wakes them");
  cr_assert_eq(first->sent + second->sent, 5 * 3, "two places are the waker's, 4 may go to the one and 1 to the other");
  cr_assert_eq(first->refused + second->refused, 7 * 3);
  cr_assert_eq(sums_of(&little).messages_refused, (7 + 4) * 3);
  plan.each = 0;
  muster_agent_wake(little.world, receiver);
  run_frame_with(&little, 1000000000);
  const struct diary *diary = diary_of(&little, receiver);
  uint32_t of_waker = 0;
  cr_assert_eq(diary->count, 16);
  for (uint32_t i = 0; i < diary->count; i++) {
    cr_assert_eq(diary->messages[i].value >> 32, muster_agent_index(diary->messages[i].sender));
    of_waker += muster_agent_equal(diary->messages[i].sender, waker);
  }
  cr_assert_geq(of_waker, 4);
  check_balance(&little);
}

/* ------------------------------------------------------------------------------------------------------ determinism */

typedef struct gossip {
  uint64_t memory, read, lost, sent, refused;
} gossip;

static muster_atom_result listen(muster_update *update) {
  gossip *self = update->state;
  muster_message messages[8];
  uint32_t count = muster_update_messages(update, messages, 8);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t value = 0;
    memcpy(&value, messages[i].bytes, messages[i].size);
    self->memory = self->memory * 31 + value + muster_agent_index(messages[i].sender) + messages[i].sent_ns;
  }
  self->read += count;
  self->lost += muster_update_messages_lost(update);
  self->memory = self->memory * 7 + self->lost;
  return MUSTER_ATOM_NEXT;
}

/* Tells neighbours; most agents tell the same few, so that boxes overflow. */
static muster_atom_result spread(muster_update *update) {
  gossip *self = update->state;
  muster_neighbour near[6];
  uint32_t count = muster_update_nearby(update, 10.0f, (muster_type){0}, near, 6);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t value = self->memory ^ muster_update_random(update);
    muster_result result = muster_update_send(update, near[i].agent, &value, (uint32_t)(value % 9));
    self->sent += result == MUSTER_OK;
    self->refused += result == MUSTER_E_FULL;
  }
  muster_update_move(update, CHANGED(update->position, it.x += (double)muster_update_random_share(update) - 0.5));
  return self->memory % 3 ? MUSTER_ATOM_FINISH : MUSTER_ATOM_NEXT;
}

static muster_atom_result quarrel(muster_update *update) {
  muster_neighbour near[1];
  muster_agent_def child = WITH(muster_agent_def, it.type = update->type, it.position = update->position);
  listen(update);
  muster_agent born = muster_update_spawn(update, &child);
  if (!muster_agent_is_null(born)) muster_update_send(update, born, &update->agent, sizeof update->agent);
  if (muster_update_nearby(update, 20.0f, (muster_type){0}, near, 1) == 1) {
    muster_update_send(update, near[0].agent, "farewell", 8);
    muster_update_remove(update, near[0].agent);
  }
  return MUSTER_ATOM_NEXT;
}

static void bequeath(muster_update *update) {
  const gossip *self = update->state;
  muster_neighbour near[1];
  if (muster_update_nearby(update, 30.0f, (muster_type){0}, near, 1) == 1)
    muster_update_send(update, near[0].agent, &self->memory, 8);
}

struct outcome {
  uint64_t hash, sent, delivered, dropped, refused, woken, preempted, removed;
};

static struct outcome run_gossip(uint32_t workers, uint64_t seed) {
  const muster_atom atoms[] = {{listen, MUSTER_ROLE_PERCEPTION, 2000},
                               {spread, MUSTER_ROLE_BEHAVIOUR, 3000},
                               {quarrel, MUSTER_ROLE_ACTION, 2000}};
  const uint32_t sends = 300; /* too few for all agents */
  SCOPED_WORLD little =
      little_world_of(workers, CHANGED(papers_world_def(), it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.seed = seed,
                                       it.limits.agents_max = 3000, it.limits.sends_per_frame = sends));
  add_type(&little,
           CHANGED(type_with(atoms, 3), it.state_bytes = sizeof(gossip), it.spawns_max = 1, it.messages.waiting_max = 3,
                   it.messages.bytes_max = 8, it.messages.sends_max = 5, it.messages.wake = seed % 2,
                   it.on_removed = bequeath, it.period_ns = 30000000, it.period_max_ns = 60000000));
  muster_agent agents[800];
  for (int i = 0; i < 800; i++) agents[i] = spawn_at(&little, i * 0.8);
  for (uint64_t i = 0; i < 150; i++) {
    for (uint64_t k = 0; k < 5; k++) muster_agent_send(little.world, agents[(i * 37 + k * 3) % 800], &i, sizeof i);
    run_frame_with(&little, 500000 + i % 7 * 1000);
  }
  muster_statistics sums = sums_of(&little);
  check_balance(&little);
  return (struct outcome){
      muster_world_hash(little.world), sums.messages_sent, sums.messages_delivered, sums.messages_dropped,
      sums.messages_refused,           sums.woken,         sums.preempted,          sums.removed};
}

Test(messages_order, a_world_full_of_messages_is_the_same_on_1_to_16_workers) {
  for (uint64_t seed = 7; seed < 9; seed++) {
    struct outcome one = run_gossip(1, seed);
    cr_assert_gt(one.delivered, 10000);
    cr_assert_gt(one.dropped, 1000);
    cr_assert_gt(one.refused, 1000);
    cr_assert_gt(one.removed, 100);
    cr_assert_gt(one.preempted, 10);
    if (seed % 2) cr_assert_gt(one.woken, 1000);
    for (uint32_t workers = 2; workers <= 16; workers *= 2) {
      struct outcome many = run_gossip(workers, seed);
      cr_assert(!memcmp(&one, &many, sizeof one), "seed %u, %u workers: hash %lx, one worker %lx", (unsigned)seed,
                workers, many.hash, one.hash);
    }
  }
}

Test(messages_order, what_waits_in_a_box_is_part_of_the_worlds_hash) {
  uint64_t hashes[3];
  for (uint64_t i = 0; i < 3; i++) {
    const uint64_t value = i % 2;
    SCOPED_WORLD little = world_of(CHANGED(correspondent_type(), it.period_ns = it.period_max_ns = 10000000000u));
    muster_agent agent = spawn_with(&little, NULL, 0);
    muster_agent_send(little.world, agent, &value, sizeof value);
    run_frame(&little);
    cr_assert_eq(info_of(&little, agent).messages, 1);
    hashes[i] = muster_world_hash(little.world);
  }
  cr_assert_neq(hashes[0], hashes[1]);
  cr_assert_eq(hashes[0], hashes[2]);
}

/* ----------------------------------------------------------------------------------------------- the host's threads */

enum { PRODUCERS = 4, EACH = 1000, RECEIVERS = 3 };

struct tally {
  uint32_t next[PRODUCERS], wrong;
};

static muster_atom_result tally_up(muster_update *update) {
  static muster_message messages[RECEIVERS][256];
  struct tally *self = update->state;
  muster_message *mine = messages[(uintptr_t)update->user];
  uint32_t count = muster_update_messages(update, mine, 256);
  for (uint32_t i = 0; i < count; i++) {
    uint64_t value;
    memcpy(&value, mine[i].bytes, sizeof value);
    uint32_t producer = (uint32_t)(value >> 32);
    self->wrong += !muster_agent_is_null(mine[i].sender) || producer >= PRODUCERS || mine[i].size != 8;
    self->wrong += producer < PRODUCERS && self->next[producer]++ != (uint32_t)value;
  }
  return MUSTER_ATOM_NEXT;
}

struct producer {
  muster_world *world;
  const muster_agent *receivers;
  pthread_t thread;
  uint64_t number;
  uint32_t failed;
};

static void *produce(void *argument) {
  struct producer *producer = argument;
  for (uint64_t i = 0; i < EACH; i++)
    for (uint32_t receiver = 0; receiver < RECEIVERS; receiver++) {
      uint64_t value = producer->number << 32 | i;
      muster_result result;
      do result = muster_agent_send(producer->world, producer->receivers[receiver], &value, sizeof value);
      while (result == MUSTER_E_FULL && sched_yield() == 0);
      producer->failed += result != MUSTER_OK;
    }
  return NULL;
}

Test(messages_order, threads_of_the_host_send_while_frames_run_and_each_ones_order_is_kept) {
  SCOPED_WORLD little = little_world_of(3, WITH(virtual_world_def, it.limits.commands_max = 64));
  muster_type_def def = CHANGED(correspondent_of(atom_of(tally_up, 0)), it.state_bytes = sizeof(struct tally));
  def.messages.waiting_max = 256; /* an update in every frame, and at most 64 in the queue: the box is never full */
  add_type(&little, def);
  muster_agent receivers[RECEIVERS];
  for (uintptr_t i = 0; i < RECEIVERS; i++) receivers[i] = spawn_with(&little, (void *)i, 1);
  struct producer producers[PRODUCERS] = {0};
  for (uint32_t i = 0; i < PRODUCERS; i++) {
    producers[i] = (struct producer){.world = little.world, .receivers = receivers, .number = i};
    pthread_create(&producers[i].thread, NULL, produce, &producers[i]);
  }
  while (sums_of(&little).messages_sent < (uint64_t)PRODUCERS * EACH * RECEIVERS) run_frame(&little);
  for (uint32_t i = 0; i < PRODUCERS; i++) {
    pthread_join(producers[i].thread, NULL);
    cr_assert_eq(producers[i].failed, 0);
  }
  run_frames(&little, 2);
  cr_assert_eq(sums_of(&little).messages_dropped, 0);
  for (uint32_t i = 0; i < RECEIVERS; i++) {
    const struct tally *tally = info_of(&little, receivers[i]).state;
    cr_assert_eq(tally->wrong, 0);
    for (uint32_t k = 0; k < PRODUCERS; k++) cr_assert_eq(tally->next[k], EACH);
  }
}
