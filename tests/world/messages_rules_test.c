/* What a message may be and where it may go, in every build; wakes by messages; nothing is allocated in a frame. */
#include "support/counted_memory.h"
#include "support/diary.h"
#include "world/fixture.h"

#include <malloc.h>

struct attempt {
  muster_agent to;
  const void *bytes;
  uint32_t size;
  const char *complaint; /* part of the error text that is expected; NULL: no error */
  muster_result expected;
};

struct attempts {
  struct attempt list[16];
  uint32_t count, right;
};

static muster_atom_result try_all(muster_update *update) {
  struct attempts *attempts = update->user;
  if (!attempts) return MUSTER_ATOM_NEXT;
  attempts->right = 0;
  for (uint32_t i = 0; i < attempts->count; i++) {
    const struct attempt *attempt = &attempts->list[i];
    muster_result result = muster_update_send(update, attempt->to, attempt->bytes, attempt->size);
    bool said = !attempt->complaint || strstr(muster_last_error(), attempt->complaint);
    attempts->right += result == attempt->expected && said;
  }
  return MUSTER_ATOM_NEXT;
}

/* Makes one attempt after the other, in an atom of this role (parallel or action). */
static void check_attempts(muster_role role) {
  const muster_atom atom = {try_all, role, 1000};
  const unsigned char bytes[300] = {1};
  SCOPED_WORLD little = world_of(CHANGED(correspondent_of(&atom), it.messages.sends_max = 3,
                                         it.messages.waiting_max = 0, it.messages.bytes_max = 0));
  muster_agent boxless = spawn_with(&little, NULL, 0);
  struct attempts attempts = {0};
  muster_agent sender = spawn_as(&little, WITH(muster_agent_def, it.user = &attempts));
  add_type(&little, correspondent_type());
  muster_agent receiver = spawn_with(&little, NULL, 0), gone = spawn_with(&little, NULL, 0);
  muster_agent_remove(little.world, gone);
  run_frames(&little, 2);
  const struct attempt list[] = {{receiver, NULL, 8, "bytes", MUSTER_E_ARGUMENT},
                                 {receiver, bytes, 9, "messages.bytes_max = 8", MUSTER_E_ARGUMENT},
                                 {receiver, bytes, 300, "messages.bytes_max = 8", MUSTER_E_ARGUMENT},
                                 {receiver, bytes, UINT32_MAX, "messages.bytes_max = 8", MUSTER_E_ARGUMENT},
                                 {boxless, bytes, 8, "messages.waiting_max", MUSTER_E_ARGUMENT},
                                 {sender, NULL, 0, "messages.waiting_max", MUSTER_E_ARGUMENT},
                                 {gone, bytes, 8, "gone", MUSTER_E_STALE},
                                 {{0}, bytes, 8, "gone", MUSTER_E_STALE},
                                 {muster_agent_make(UINT32_MAX, 1), bytes, 8, "gone", MUSTER_E_STALE},
                                 {receiver, bytes, 8, NULL, MUSTER_OK},
                                 {receiver, NULL, 0, NULL, MUSTER_OK},
                                 {receiver, bytes, 1, NULL, MUSTER_OK},
                                 {receiver, bytes, 1, "messages.sends_max", MUSTER_E_FULL}};
  attempts.count = COUNT_OF(list);
  memcpy(attempts.list, list, sizeof list);
  run_frames(&little, 2);
  attempts.count = 0;
  cr_assert_eq(attempts.right, COUNT_OF(list), "%u of them were answered as they should", attempts.right);
  muster_statistics sums = sums_of(&little);
  cr_assert_eq(sums.messages_sent % 3, 0, "what was answered with an error was not sent");
  cr_assert_eq(sums.messages_refused, sums.messages_sent / 3);
}

Test(messages_rules, an_update_is_told_what_is_wrong_with_its_message) {
  check_attempts(MUSTER_ROLE_BEHAVIOUR);
  check_attempts(MUSTER_ROLE_ACTION);
}

Test(messages_rules, the_host_is_told_what_is_wrong_with_its_message) {
  SCOPED_WORLD little = little_world_of(1, WITH(virtual_world_def, it.limits.commands_max = 16));
  add_type(&little, CHANGED(correspondent_type(), it.messages.waiting_max = it.messages.bytes_max = 0));
  muster_agent boxless = spawn_with(&little, NULL, 0);
  const unsigned char bytes[300] = {1};
  assert_refused(muster_agent_send(little.world, boxless, bytes, 8), MUSTER_E_ARGUMENT, "messages.waiting_max");
  add_type(&little, correspondent_type());
  muster_agent receiver = spawn_with(&little, NULL, 0);
  cr_assert_eq(muster_agent_send(little.world, receiver, bytes, MUSTER_MESSAGE_BYTES_MAX + 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_send(little.world, receiver, NULL, 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_agent_send(little.world, (muster_agent){0}, bytes, 1), MUSTER_E_STALE);
  cr_assert_eq(muster_agent_send(little.world, receiver, NULL, 0), MUSTER_OK);
  /* Only the intake knows the receiver's box, so these messages are dropped there. */
  cr_assert_eq(muster_agent_send(little.world, receiver, bytes, 9), MUSTER_OK);
  cr_assert_eq(muster_agent_send(little.world, boxless, bytes, 8), MUSTER_OK);
  uint32_t accepted = 3;
  while (muster_agent_send(little.world, receiver, bytes, 8) == MUSTER_OK) accepted++;
  expect_error("commands_max");
  cr_assert_geq(accepted, 16);
  run_frame(&little);
  muster_statistics sums = sums_of(&little);
  cr_assert_eq(sums.messages_sent, accepted);
  cr_assert_eq(sums.messages_dropped, 2);
  cr_assert_eq(muster_agent_send(little.world, receiver, bytes, 8), MUSTER_OK, "there is room again");
}

Test(messages_rules, definitions_out_of_range_are_refused_with_the_name_of_the_field) {
  const uint32_t sends[] = {0, (1u << 24) + 1};
  for (uint32_t i = 0; i < COUNT_OF(sends); i++)
    expect_world_refused(WITH(muster_world_def, it.limits.sends_per_frame = sends[i]), "limits.sends_per_frame");
  SCOPED_WORLD little = little_world_create(1, NULL);
  static const struct {
    uint32_t waiting, bytes, sends;
    bool wake;
    const char *field;
  } refused[] = {{1025, 8, 4, false, "messages.waiting_max"},
                 {16, MUSTER_MESSAGE_BYTES_MAX + 1, 4, false, "messages.bytes_max"},
                 {16, 8, 1025, false, "messages.sends_max"},
                 {0, 8, 4, false, "messages.waiting_max"},
                 {0, 0, 4, true, "messages.wake"}};
  muster_type_def def = correspondent_type();
  for (uint32_t i = 0; i < COUNT_OF(refused); i++) {
    def.messages = CHANGED(def.messages, it.waiting_max = refused[i].waiting, it.bytes_max = refused[i].bytes,
                           it.sends_max = refused[i].sends, it.wake = refused[i].wake);
    expect_type_refused(&little, def, refused[i].field);
  }
  add_type(&little, CHANGED(correspondent_type(), it.messages.waiting_max = it.messages.sends_max = 1024,
                            it.messages.bytes_max = MUSTER_MESSAGE_BYTES_MAX));
}

static void check_refused_memory(bool refuses_once) {
  counted_memory memory = {.limited = true, .left = 1000, .for_good = !refuses_once};
  SCOPED_WORLD little =
      little_world_of(1, WITH(virtual_world_def, it.limits.agents_max = 10, it.limits.sends_per_frame = 16,
                              it.limits.commands_max = 16, it.allocator = counted_allocator(&memory)));
  muster_type_def def = correspondent_type();
  uint32_t refusals = 0;
  for (memory.left = 0; muster_type_register(little.world, &def).index == 0; memory.left = refusals)
    cr_assert_lt(++refusals, 100);
  cr_assert_gt(refusals, 8);
  little.type.index = 1;
  muster_agent receiver = spawn_with(&little, NULL, 0);
  struct plan plan = {.to = receiver, .each = 1};
  spawn_with(&little, &plan, 0);
  cr_assert_eq(muster_agent_send(little.world, receiver, "", 0), MUSTER_OK);
  run_frames(&little, 5);
  cr_assert_gt(diary_of(&little, receiver)->count, 3);
}

Test(messages_rules, a_type_refused_for_want_of_memory_can_be_registered_later) {
  check_refused_memory(false);
  check_refused_memory(true);
}

Test(messages_rules, an_agent_that_wants_it_is_woken_once_by_what_is_delivered) {
  for (uint32_t wants = 0; wants < 2; wants++) {
    SCOPED_WORLD little = typed_world(2, virtual_world_def_default(), correspondent_type());
    struct plan plan = {.each = 0};
    muster_agent sender = spawn_with(&little, &plan, 0);
    add_type(&little, CHANGED(due_every(10000000000u, correspondent_type()), it.messages.wake = wants));
    muster_agent receiver = plan.to = spawn_with(&little, NULL, 0);
    run_frames(&little, 3);
    uint32_t updates = diary_of(&little, receiver)->updates;
    plan.each = 4;
    run_frame(&little);
    plan.each = 0;
    cr_assert_eq(diary_of(&little, receiver)->updates, updates);
    cr_assert_eq(run_frame(&little).woken, wants, "the four of them wake it once, at the next intake");
    run_frames(&little, 5);
    cr_assert_eq(diary_of(&little, receiver)->updates, updates + wants);
    cr_assert_eq(diary_of(&little, receiver)->count, wants ? 4 : 0);
    for (uint32_t i = 0; i < 3; i++) cr_assert_eq(muster_agent_send(little.world, receiver, "", 0), MUSTER_OK);
    cr_assert_eq(run_frame(&little).woken, wants, "the host's wake it in the same frame");
    cr_assert_eq(diary_of(&little, receiver)->updates, updates + 2 * wants);
    cr_assert_eq(diary_of(&little, receiver)->count, wants ? 7 : 0);
    cr_assert_gt(diary_of(&little, sender)->updates, 5);
  }
}

static muster_atom_result count_step(muster_update *update) {
  uint32_t *state = update->state; /* updates' steps, and messages that first steps saw */
  if (state[0]++ % 3 == 0) state[1] += muster_update_messages(update, NULL, 0);
  return MUSTER_ATOM_NEXT;
}

Test(messages_rules, what_arrives_while_an_update_is_under_way_wakes_its_agent_when_that_is_complete) {
  const muster_atom step = {count_step, MUSTER_ROLE_BEHAVIOUR, 300000}, slow[] = {step, step, step};
  SCOPED_WORLD little = world_of(CHANGED(due_every(10000000000u, type_with(slow, 3)), it.state_bytes = 8,
                                         it.messages.waiting_max = 4, it.messages.wake = true));
  muster_agent agent = spawn_at(&little, 0);
  muster_agent_wake(little.world, agent);
  run_frame(&little);
  run_frame_with(&little, 400000);
  cr_assert_eq(info_of(&little, agent).atoms_done, 1);
  muster_agent_send(little.world, agent, "", 0);
  for (uint32_t frame = 0; frame < 5; frame++) run_frame_with(&little, 400000);
  const uint32_t *state = info_of(&little, agent).state;
  cr_assert_eq(state[0], 6, "the update under way, and one more for the message: %u steps", state[0]);
  cr_assert_eq(state[1], 1);
  run_frames(&little, 5);
  cr_assert_eq(state[0], 6, "and that is all");
  cr_assert_eq(sums_of(&little).woken, 2);
}

Test(messages_rules, what_is_sent_at_birth_is_there_at_once) {
  SCOPED_WORLD little = world_of(correspondent_type());
  muster_agent receiver = spawn_with(&little, NULL, 0);
  add_type(&little, CHANGED(due_every(10000000000u, correspondent_type()), it.on_spawned = send_messages));
  run_frames(&little, 3);
  struct plan plan = {.to = receiver, .each = 6};
  muster_agent newborn = spawn_with(&little, &plan, 0);
  run_frame(&little);
  const struct diary *diary = diary_of(&little, receiver);
  cr_assert_eq(diary->count, 4, "on_spawned may send messages.sends_max");
  cr_assert_eq(diary->messages[0].read_ns, little.now_ns);
  cr_assert(muster_agent_equal(diary->messages[0].sender, newborn));
}

Test(messages_rules, a_frame_full_of_messages_allocates_nothing) {
  enum { AGENTS = 300 };
  SCOPED_WORLD little = little_world_create(3, NULL);
  add_type(&little, CHANGED(correspondent_type(), it.messages.wake = true));
  static struct plan plans[AGENTS];
  muster_agent agents[AGENTS];
  for (uint32_t i = 0; i < AGENTS; i++) {
    plans[i] = (struct plan){.each = 4, .in_action = i % 2};
    agents[i] = spawn_with(&little, &plans[i], 0);
  }
  for (uint32_t i = 0; i < AGENTS; i++) plans[i].to = agents[i * 7 % AGENTS / 5];
  run_frames(&little, 2);
  struct mallinfo2 before = mallinfo2();
  run_frames(&little, 50);
  struct mallinfo2 after = mallinfo2();
  cr_assert_eq(after.uordblks, before.uordblks);
  cr_assert_eq(after.arena, before.arena);
  muster_statistics sums = sums_of(&little);
  cr_assert(sums.messages_delivered > 10000 && sums.messages_dropped > 10000, "%lu delivered, %lu dropped",
            sums.messages_delivered, sums.messages_dropped);
  check_balance(&little);
}
