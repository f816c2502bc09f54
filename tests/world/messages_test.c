/* Messages between agents: which agent reads what and when, in which order, and what becomes of messages for which
 * there is no room. */
#include "support/diary.h"
#include "world/fixture.h"

static void check_told(const little_world *little, muster_agent agent, uint32_t lost) {
  cr_assert_eq(diary_of(little, agent)->lost, lost, "told of %u, not of %u", diary_of(little, agent)->lost, lost);
}

static uint32_t run_order[64], run_count;

static muster_atom_result note_run(muster_update *update) {
  if (update->user) run_order[run_count++] = muster_agent_index(update->agent);
  return correspond(update);
}

/* Senders run in an order far from that of their indices. Returns whether they ran in that order. */
static bool check_order(uint32_t workers) {
  enum { SENDERS = 20 };
  /* Long: each is a claim of its own. */
  const muster_atom atom = {workers == 1 ? note_run : correspond, MUSTER_ROLE_BEHAVIOUR, 30000};
  SCOPED_WORLD little = little_world_create(workers, NULL);
  add_type(&little, CHANGED(correspondent_of(&atom), it.messages.waiting_max = 64));
  struct plan plan = {.each = 3};
  muster_agent senders[SENDERS], receiver = plan.to = spawn_with(&little, NULL, 0.5f);
  for (uint32_t i = 0; i < SENDERS; i++) senders[i] = spawn_with(&little, &plan, (float)(i * 7 % SENDERS) / SENDERS);
  run_frames(&little, 2);
  cr_assert_eq(info_of(&little, receiver).messages, SENDERS * 3);
  plan.each = 0;
  run_frames(&little, 2);
  const struct diary *diary = diary_of(&little, receiver);
  cr_assert_eq(diary->count, SENDERS * 3);
  for (uint32_t i = 0; i < SENDERS * 3; i++) {
    cr_assert(muster_agent_equal(diary->messages[i].sender, senders[i / 3]), "message %u", i);
    cr_assert_eq(diary->messages[i].value, message_value(muster_agent_index(senders[i / 3]), i % 3), "message %u", i);
  }
  bool sorted = true;
  for (uint32_t i = 1; i < run_count; i++) sorted &= run_order[i] > run_order[i - 1];
  check_balance(&little);
  return !sorted;
}

Test(messages, arrive_in_order_of_sender_and_sending_whoever_ran_first) {
  cr_assert(check_order(1), "the senders' updates ran in agent order: this test shows nothing");
  for (uint32_t workers = 2; workers <= 16; workers *= 2) check_order(workers);
}

Test(messages, are_read_once_by_the_next_update_as_they_were_sent) {
  for (uint32_t in_action = 0; in_action < 2; in_action++) {
    SCOPED_WORLD little = typed_world(2, virtual_world_def_default(), correspondent_type());
    struct plan plan = {.each = 2, .in_action = in_action};
    muster_agent receiver = spawn_with(&little, NULL, 0), sender = spawn_with(&little, &plan, 0);
    plan.to = receiver;
    run_frame(&little);
    while (diary_of(&little, receiver)->updates == 0 || diary_of(&little, sender)->updates == 0) run_frame(&little);
    uint32_t before = diary_of(&little, receiver)->count;
    cr_assert_eq(info_of(&little, receiver).messages, 2);
    uint64_t sent_ns = little.now_ns;
    plan.each = 0;
    run_frames(&little, 3);
    const struct diary *diary = diary_of(&little, receiver);
    cr_assert_eq(diary->count, before + 2);
    cr_assert_eq(diary->misaligned, 0);
    for (uint32_t i = before; i < before + 2; i++) {
      cr_assert(muster_agent_equal(diary->messages[i].sender, sender));
      cr_assert_eq(diary->messages[i].sent_ns, sent_ns);
      cr_assert_eq(diary->messages[i].read_ns, sent_ns + FRAME_NS);
      cr_assert_eq(diary->messages[i].size, 8);
      cr_assert_eq(diary->messages[i].value, message_value(muster_agent_index(sender), i));
    }
    cr_assert_eq(info_of(&little, receiver).messages, 0);
  }
}

Test(messages, of_parallel_atoms_come_before_those_of_action_atoms_of_the_same_frame) {
  SCOPED_WORLD little = typed_world(2, virtual_world_def_default(), correspondent_type());
  struct plan thinker = {.each = 1}, actor = {.each = 1, .in_action = true};
  muster_agent acts = spawn_with(&little, &actor, 1), thinks = spawn_with(&little, &thinker, 0);
  muster_agent receiver = spawn_with(&little, NULL, 0);
  thinker.to = actor.to = receiver;
  run_frames(&little, 5);
  const struct diary *diary = diary_of(&little, receiver);
  cr_assert_geq(diary->count, 6);
  cr_assert_lt(muster_agent_index(acts), muster_agent_index(thinks));
  for (uint32_t i = diary->count - 4; i < diary->count; i++)
    cr_assert(muster_agent_equal(diary->messages[i].sender, i % 2 == diary->count % 2 ? thinks : acts));
}

Test(messages, beyond_the_box_are_dropped_counted_and_told_to_their_sender_once) {
  for (uint32_t in_action = 0; in_action < 2; in_action++) {
    SCOPED_WORLD little = little_world_create(2, NULL);
    add_type(&little, CHANGED(correspondent_type(), it.messages.waiting_max = 5));
    struct plan first_plan = {.each = 3, .in_action = in_action}, second_plan = {.each = 4, .in_action = in_action};
    muster_agent receiver = spawn_with(&little, NULL, 0), first = spawn_with(&little, &first_plan, 0);
    muster_agent second = spawn_with(&little, &second_plan, 1);
    first_plan.to = second_plan.to = receiver;
    run_frames(&little, 2);
    first_plan.each = second_plan.each = 0;
    run_frame(&little);
    diary_of(&little, receiver)->count = 0;
    diary_of(&little, first)->lost = diary_of(&little, second)->lost = 0;
    muster_statistics_clear(little.world);
    first_plan.each = 3, second_plan.each = 4;
    run_frame(&little);
    first_plan.each = second_plan.each = 0;
    cr_assert_eq(info_of(&little, receiver).messages, 5);
    check_told(&little, second, 0);
    run_frame(&little);
    check_told(&little, second, 2);
    run_frame(&little);
    check_told(&little, second, 2);
    check_told(&little, first, 0);
    const struct diary *diary = diary_of(&little, receiver);
    cr_assert_eq(diary->count, 5, "the oldest stay");
    for (uint32_t i = 0; i < 5; i++) cr_assert(muster_agent_equal(diary->messages[i].sender, i < 3 ? first : second));
    muster_statistics sums = sums_of(&little);
    cr_assert_eq(sums.messages_sent, 7);
    cr_assert_eq(sums.messages_delivered, 5);
    cr_assert_eq(sums.messages_dropped, 2);
    cr_assert_eq(sums.messages_refused, 0);
  }
}

Test(messages, beyond_what_an_update_may_send_are_refused_and_counted) {
  for (uint32_t in_action = 0; in_action < 2; in_action++) {
    SCOPED_WORLD little = world_of(correspondent_type());
    struct plan plan = {.each = 7, .in_action = in_action};
    muster_agent receiver = spawn_with(&little, NULL, 0), sender = spawn_with(&little, &plan, 0);
    plan.to = receiver;
    run_frames(&little, 10);
    const struct diary *diary = diary_of(&little, sender);
    cr_assert_eq(diary->sent, diary->updates * 4);
    cr_assert_eq(diary->refused, diary->updates * 3);
    cr_assert_eq(sums_of(&little).messages_refused, diary->refused);
    cr_assert_eq(sums_of(&little).messages_sent, diary->sent);
  }
}

Test(messages, of_all_updates_of_a_frame_take_the_places_that_the_world_has_in_order_of_rank) {
  for (uint32_t workers = 1; workers <= 8; workers *= 2) {
    SCOPED_WORLD little = little_world_of(workers, WITH(virtual_world_def, it.limits.sends_per_frame = 10));
    add_type(&little, correspondent_type());
    struct plan plan = {.each = 4};
    muster_agent unimportant = spawn_with(&little, &plan, 0.1f), middle = spawn_with(&little, &plan, 0.5f);
    muster_agent important = spawn_with(&little, &plan, 1), least = spawn_with(&little, &plan, 0);
    add_type(&little, CHANGED(correspondent_type(), it.messages.sends_max = 0));
    plan.to = spawn_with(&little, NULL, 0);
    run_frames(&little, 2);
    muster_statistics_clear(little.world);
    uint32_t before[3] = {diary_of(&little, important)->sent, diary_of(&little, middle)->sent,
                          diary_of(&little, unimportant)->sent};
    uint32_t least_before = diary_of(&little, least)->sent;
    run_frame(&little);
    cr_assert_eq(diary_of(&little, important)->sent - before[0], 4);
    cr_assert_eq(diary_of(&little, middle)->sent - before[1], 4);
    cr_assert_eq(diary_of(&little, unimportant)->sent - before[2], 2);
    cr_assert_eq(sums_of(&little).messages_sent, 10);
    cr_assert_eq(diary_of(&little, least)->sent, least_before);
    cr_assert_eq(sums_of(&little).messages_refused, 2 + 4);
  }
}

/* Three long atoms: the update spans frames, and each atom notes what it sees. */
typedef struct slow_reader {
  uint32_t step, wrong, updates, read, lost;
  uint64_t seen[16], next;
  uint32_t seen_count;
} slow_reader;

static muster_atom_result read_slowly(muster_update *update) {
  slow_reader *self = update->state;
  muster_message messages[16];
  uint32_t count = muster_update_messages(update, messages, 16);
  if (self->step == 0) self->seen_count = count;
  self->wrong += count != self->seen_count;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t value;
    memcpy(&value, messages[i].bytes, 8);
    if (self->step == 0) self->seen[i] = value;
    self->wrong += value != self->seen[i];
    if (self->step == 0) self->wrong += value != self->next++;
  }
  if (++self->step < 3) return MUSTER_ATOM_NEXT;
  self->step = 0;
  self->updates++;
  self->read += count;
  return MUSTER_ATOM_NEXT;
}

/* The host sends two messages in every frame; the receiver's update takes several frames. */
static void check_slow_reader(const muster_atom *atoms, uint64_t budget_ns, bool acts) {
  SCOPED_WORLD little = little_world_create(2, NULL);
  add_type(&little, CHANGED(type_with(atoms, 3), it.state_bytes = sizeof(slow_reader),
                            it.period_ns = it.period_max_ns = acts ? 4 * FRAME_NS : FRAME_NS,
                            it.messages.waiting_max = 16, it.messages.bytes_max = 8));
  muster_agent agents[3];
  for (int i = 0; i < 3; i++) agents[i] = spawn_at(&little, i);
  uint32_t spanning = 0;
  uint64_t value = 0;
  for (; value < 120; value++) {
    for (int i = 0; i < 3; i++) assert_ok(muster_agent_send(little.world, agents[i], &value, sizeof value));
    muster_frame_report report = run_frame_with(&little, budget_ns);
    spanning += acts ? report.actions_waiting > 0 : report.preempted > 0;
  }
  cr_assert_gt(spanning, 20, "updates went on in later frames: %u", spanning);
  cr_assert_eq(sums_of(&little).messages_dropped, 0);
  for (int i = 0; i < 3; i++) {
    const slow_reader *reader = info_of(&little, agents[i]).state;
    cr_assert_eq(reader->wrong, 0, "agent %d saw other messages than at the beginning, or not in order", i);
    cr_assert_gt(reader->updates, 10);
    uint32_t reading = reader->step ? reader->seen_count : 0;
    cr_assert_eq(reader->next + info_of(&little, agents[i]).messages - reading, value, "each was read once");
  }
}

Test(messages, stay_with_a_preempted_update_and_what_arrives_meanwhile_is_for_the_next) {
  const muster_atom part = {read_slowly, MUSTER_ROLE_BEHAVIOUR, 300000};
  check_slow_reader((muster_atom[]){part, part, part}, 700000, false);
}

Test(messages, stay_with_an_update_whose_action_atoms_wait) {
  const muster_atom reads = {.run = read_slowly, .model_ns = 1000}, acts = {read_slowly, MUSTER_ROLE_ACTION, 200000};
  check_slow_reader((muster_atom[]){reads, acts, acts}, 500000, true);
}

static void note_last_words(muster_update *update) {
  muster_message messages[16];
  *(uint32_t *)update->type_user += muster_update_messages(update, messages, 16);
}

Test(messages, go_with_a_removed_agent_and_the_next_holder_of_its_place_starts_empty) {
  SCOPED_WORLD little = little_world_of(1, WITH(virtual_world_def, it.limits.agents_max = 2));
  uint32_t last_words = 0;
  add_type(&little, CHANGED(correspondent_type(), it.messages.waiting_max = 3, it.user = &last_words,
                            it.on_removed = note_last_words));
  struct plan plan = {.each = 4};
  muster_agent receiver = spawn_with(&little, NULL, 0), sender = spawn_with(&little, &plan, 0);
  plan.to = receiver;
  run_frames(&little, 3);
  cr_assert_eq(muster_agent_remove(little.world, sender), MUSTER_OK);
  cr_assert_eq(muster_agent_remove(little.world, receiver), MUSTER_OK);
  run_frame(&little);
  cr_assert_eq(last_words, 3, "on_removed reads what waits, not %u", last_words);
  struct plan none = {0};
  muster_agent new_receiver = spawn_with(&little, &none, 0), new_sender = spawn_with(&little, &none, 0);
  cr_assert_eq(muster_agent_index(new_receiver) + muster_agent_index(new_sender),
               muster_agent_index(receiver) + muster_agent_index(sender), "both places are used again");
  run_frames(&little, 3);
  check_told(&little, new_receiver, 0);
  check_told(&little, new_sender, 0);
  cr_assert_eq(diary_of(&little, new_receiver)->count + diary_of(&little, new_sender)->count, 0);
  cr_assert_eq(muster_agent_send(little.world, receiver, "", 0), MUSTER_E_STALE);
  check_balance(&little);
}

Test(messages, of_the_host_come_after_its_commands) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  uint32_t last_words = 0;
  add_type(&little, CHANGED(correspondent_type(), it.user = &last_words, it.on_removed = note_last_words));
  muster_agent agent = spawn_with(&little, NULL, 0);
  run_frame(&little);
  cr_assert_eq(muster_agent_send(little.world, agent, "", 0), MUSTER_OK);
  cr_assert_eq(muster_agent_remove(little.world, agent), MUSTER_OK);
  run_frame(&little);
  cr_assert_eq(last_words, 0);
  cr_assert_eq(sums_of(&little).messages_dropped, 1);
}

Test(messages, of_a_sender_that_is_gone_are_still_read) {
  SCOPED_WORLD little = world_of(correspondent_type());
  struct plan plan = {.each = 1};
  muster_agent sender = spawn_with(&little, &plan, 0);
  plan.to = spawn_with(&little, NULL, 0);
  run_frames(&little, 2);
  uint32_t sent = diary_of(&little, sender)->sent;
  muster_agent_remove(little.world, sender);
  run_frames(&little, 2);
  const struct diary *diary = diary_of(&little, plan.to);
  cr_assert_eq(diary->count, sent);
  cr_assert(muster_agent_equal(diary->messages[sent - 1].sender, sender));
  cr_assert(!muster_agent_exists(little.world, sender));
}

Test(messages, reach_an_agent_before_its_first_update) {
  SCOPED_WORLD little = world_of(CHANGED(correspondent_type(), it.on_spawned = read_messages));
  muster_agent agent = spawn_with(&little, NULL, 0), removal_pending = spawn_with(&little, NULL, 0);
  uint64_t value = 40;
  for (uint32_t i = 0; i < 5; i++, value++) assert_ok(muster_agent_send(little.world, agent, &value, sizeof value));
  cr_assert_eq(muster_agent_send(little.world, removal_pending, &value, sizeof value), MUSTER_OK);
  muster_agent_remove(little.world, removal_pending);
  run_frames(&little, 3);
  const struct diary *diary = diary_of(&little, agent);
  cr_assert_eq(diary->count, 10, "on_spawned and the first update read them");
  for (uint32_t i = 0; i < 10; i++) cr_assert_eq(diary->messages[i].value, 40 + i % 5);
  cr_assert(muster_agent_is_null(diary->messages[0].sender));
  check_balance(&little);
}
