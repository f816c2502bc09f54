/* What a message may be and where it may go, in every build; wakes by messages; nothing is allocated in a frame. */
#include "support/diary.h"

#include <malloc.h>
#include <stdlib.h>

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
  little_world little = little_world_create(1, NULL);
  muster_type_def def = correspondent_type();
  def.atoms = &atom;
  def.atom_count = 1;
  def.messages.sends_max = 3;
  def.messages.waiting_max = 0;
  def.messages.bytes_max = 0;
  register_type(&little, &def);
  muster_agent boxless = spawn_with(&little, NULL, 0);
  struct attempts attempts = {0};
  muster_agent_def agent = muster_agent_def_default();
  agent.type = little.type;
  agent.user = &attempts;
  muster_agent sender = muster_agent_spawn(little.world, &agent);
  def = correspondent_type();
  register_type(&little, &def);
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
  attempts.count = sizeof list / sizeof *list;
  memcpy(attempts.list, list, sizeof list);
  run_frames(&little, 2);
  attempts.count = 0;
  cr_assert_eq(attempts.right, sizeof list / sizeof *list, "%u of them were answered as they should", attempts.right);
  muster_statistics sums = sums_of(&little);
  cr_assert_eq(sums.messages_sent % 3, 0, "what was answered with an error was not sent");
  cr_assert_eq(sums.messages_refused, sums.messages_sent / 3);
  little_world_destroy(&little);
}

Test(messages_rules, an_update_is_told_what_is_wrong_with_its_message) {
  check_attempts(MUSTER_ROLE_BEHAVIOUR);
  check_attempts(MUSTER_ROLE_ACTION);
}

Test(messages_rules, the_host_is_told_what_is_wrong_with_its_message) {
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.limits.commands_max = 16;
  little_world little = little_world_create(1, &world);
  muster_type_def def = correspondent_type();
  def.messages.waiting_max = def.messages.bytes_max = 0;
  register_type(&little, &def);
  muster_agent boxless = spawn_with(&little, NULL, 0);
  const unsigned char bytes[300] = {1};
  cr_assert_eq(muster_agent_send(little.world, boxless, bytes, 8), MUSTER_E_ARGUMENT);
  cr_assert_not_null(strstr(muster_last_error(), "messages.waiting_max"));
  def = correspondent_type();
  register_type(&little, &def);
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
  cr_assert_not_null(strstr(muster_last_error(), "commands_max"));
  cr_assert_geq(accepted, 16);
  run_frame(&little);
  muster_statistics sums = sums_of(&little);
  cr_assert_eq(sums.messages_sent, accepted);
  cr_assert_eq(sums.messages_dropped, 2);
  cr_assert_eq(muster_agent_send(little.world, receiver, bytes, 8), MUSTER_OK, "there is room again");
  little_world_destroy(&little);
}

static void refused(little_world *little, muster_type_def def, const char *field) {
  cr_assert_eq(muster_type_register(little->world, &def).index, 0);
  cr_assert_not_null(strstr(muster_last_error(), field), "'%s' should name %s", muster_last_error(), field);
}

Test(messages_rules, definitions_out_of_range_are_refused_with_the_name_of_the_field) {
  muster_world_def world = muster_world_def_default();
  world.limits.sends_per_frame = 0;
  cr_assert_null(muster_world_create(&world));
  cr_assert_not_null(strstr(muster_last_error(), "limits.sends_per_frame"));
  world.limits.sends_per_frame = (1u << 24) + 1;
  cr_assert_null(muster_world_create(&world));
  little_world little = little_world_create(1, NULL);
  const muster_type_def good = correspondent_type();
  muster_type_def def = good;
  def.messages.waiting_max = 1025, refused(&little, def, "messages.waiting_max");
  def = good, def.messages.bytes_max = MUSTER_MESSAGE_BYTES_MAX + 1, refused(&little, def, "messages.bytes_max");
  def = good, def.messages.sends_max = 1025, refused(&little, def, "messages.sends_max");
  def = good, def.messages.waiting_max = 0, refused(&little, def, "messages.waiting_max");
  def = good, def.messages.waiting_max = def.messages.bytes_max = 0, def.messages.wake = true;
  refused(&little, def, "messages.wake");
  def = good, def.messages.waiting_max = def.messages.sends_max = 1024,
  def.messages.bytes_max = MUSTER_MESSAGE_BYTES_MAX;
  register_type(&little, &def);
  little_world_destroy(&little);
}

struct allowance {
  int left;
  bool refuses_once;
};

static void *sparing_allocate(size_t bytes, size_t alignment, void *user) {
  void *memory = NULL;
  struct allowance *allowance = user;
  if (allowance->left == 0) {
    if (allowance->refuses_once) allowance->left = -1;
    return NULL;
  }
  allowance->left--;
  return posix_memalign(&memory, alignment, bytes) ? NULL : memset(memory, 0, bytes);
}

static void sparing_release(void *memory, size_t bytes, void *user) {
  (void)bytes, (void)user;
  free(memory);
}

static void check_refused_memory(bool refuses_once) {
  struct allowance allowance = {1000, refuses_once};
  muster_world_def world = muster_world_def_default();
  world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  world.limits.agents_max = 10;
  world.limits.sends_per_frame = 16;
  world.limits.commands_max = 16;
  world.allocator = (muster_allocator){sparing_allocate, sparing_release, &allowance};
  little_world little = little_world_create(1, &world);
  muster_type_def def = correspondent_type();
  uint32_t refusals = 0;
  for (allowance.left = 0; muster_type_register(little.world, &def).index == 0; allowance.left = (int)refusals)
    cr_assert_lt(++refusals, 100);
  cr_assert_gt(refusals, 8);
  little.type.index = 1;
  muster_agent receiver = spawn_with(&little, NULL, 0);
  struct plan plan = {.to = receiver, .each = 1};
  spawn_with(&little, &plan, 0);
  cr_assert_eq(muster_agent_send(little.world, receiver, "", 0), MUSTER_OK);
  run_frames(&little, 5);
  cr_assert_gt(diary_of(&little, receiver)->count, 3);
  little_world_destroy(&little);
}

Test(messages_rules, a_type_refused_for_want_of_memory_can_be_registered_later) {
  check_refused_memory(false);
  check_refused_memory(true);
}

Test(messages_rules, an_agent_that_wants_it_is_woken_once_by_what_is_delivered) {
  for (uint32_t wants = 0; wants < 2; wants++) {
    little_world little = little_world_create(2, NULL);
    muster_type_def def = correspondent_type();
    register_type(&little, &def);
    struct plan plan = {.each = 0};
    muster_agent sender = spawn_with(&little, &plan, 0);
    def.period_ns = def.period_max_ns = 10000000000u;
    def.messages.wake = wants;
    register_type(&little, &def);
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
    little_world_destroy(&little);
  }
}

static muster_atom_result count_step(muster_update *update) {
  uint32_t *state = update->state; /* updates' steps, and messages that first steps saw */
  if (state[0]++ % 3 == 0) state[1] += muster_update_messages(update, NULL, 0);
  return MUSTER_ATOM_NEXT;
}

Test(messages_rules, what_arrives_while_an_update_is_under_way_wakes_its_agent_when_that_is_complete) {
  const muster_atom slow[] = {{count_step, MUSTER_ROLE_BEHAVIOUR, 300000},
                              {count_step, MUSTER_ROLE_BEHAVIOUR, 300000},
                              {count_step, MUSTER_ROLE_BEHAVIOUR, 300000}};
  little_world little = little_world_create(1, NULL);
  muster_type_def def = type_with(slow, 3);
  def.state_bytes = 8;
  def.period_ns = def.period_max_ns = 10000000000u;
  def.messages.waiting_max = 4;
  def.messages.wake = true;
  register_type(&little, &def);
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
  little_world_destroy(&little);
}

static void greet_at_birth(muster_update *update) {
  send_messages(update);
}

Test(messages_rules, what_is_sent_at_birth_is_there_at_once) {
  little_world little = little_world_create(1, NULL);
  muster_type_def def = correspondent_type();
  register_type(&little, &def);
  muster_agent receiver = spawn_with(&little, NULL, 0);
  def.on_spawned = greet_at_birth;
  def.period_ns = def.period_max_ns = 10000000000u;
  register_type(&little, &def);
  run_frames(&little, 3);
  struct plan plan = {.to = receiver, .each = 6};
  muster_agent newborn = spawn_with(&little, &plan, 0);
  run_frame(&little);
  const struct diary *diary = diary_of(&little, receiver);
  cr_assert_eq(diary->count, 4, "on_spawned may send messages.sends_max");
  cr_assert_eq(diary->messages[0].read_ns, little.now_ns);
  cr_assert(muster_agent_equal(diary->messages[0].sender, newborn));
  little_world_destroy(&little);
}

Test(messages_rules, a_frame_full_of_messages_allocates_nothing) {
  enum { AGENTS = 300 };
  little_world little = little_world_create(3, NULL);
  muster_type_def def = correspondent_type();
  def.messages.wake = true;
  register_type(&little, &def);
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
            (unsigned long)sums.messages_delivered, (unsigned long)sums.messages_dropped);
  check_balance(&little);
  little_world_destroy(&little);
}
