/* A refusal forms no text until it is read, and refusals can be told apart where nothing was returned. The program is
 * linked so that each snprintf() and vsnprintf() of the library passes through the wrappers here. */
#include "world/fixture.h"

#include <stdarg.h>

enum { TIMES = 1000, SENDS = 100000 };

static uint64_t words_made;

int __real_vsnprintf(char *text, size_t bytes, const char *format, va_list arguments);
int __wrap_vsnprintf(char *text, size_t bytes, const char *format, va_list arguments);
int __wrap_snprintf(char *text, size_t bytes, const char *format, ...) __attribute__((format(printf, 3, 4)));

int __wrap_vsnprintf(char *text, size_t bytes, const char *format, va_list arguments) {
  words_made++;
  return __real_vsnprintf(text, bytes, format, arguments);
}

int __wrap_snprintf(char *text, size_t bytes, const char *format, ...) {
  va_list arguments;
  words_made++;
  va_start(arguments, format);
  int written = __real_vsnprintf(text, bytes, format, arguments);
  va_end(arguments);
  return written;
}

struct plan {
  muster_agent to, gone;
  muster_type type;
  uint32_t sent;
  uint64_t refused[MUSTER_E_INPUT + 1];
};

static void note(struct plan *plan, muster_result result, muster_result expected) {
  cr_assert_eq(result, expected, "%s instead of %s", muster_result_name(result), muster_result_name(expected));
  cr_assert_eq(muster_last_result(), expected);
  plan->refused[result]++;
}

static muster_atom_result send_too_much(muster_update *update) {
  struct plan *plan = update->user;
  if (!plan) return MUSTER_ATOM_NEXT;
  for (uint32_t i = 0; i < SENDS; i++)
    if (muster_update_send(update, plan->to, "hen", 4) == MUSTER_OK)
      plan->sent++;
    else
      note(plan, muster_last_result(), MUSTER_E_FULL);
  return MUSTER_ATOM_NEXT;
}

static muster_type_def sender_type(const muster_atom *atom) {
  return WITH(muster_type_def, it.name = "sender", it.atoms = atom, it.atom_count = 1,
              it.messages.waiting_max = it.messages.sends_max = 2, it.messages.bytes_max = 4, it.spawns_max = 1);
}

static muster_agent spawn_with(const little_world *little, struct plan *plan) {
  muster_agent_def def = WITH(muster_agent_def, it.type = little->type, it.user = plan);
  return muster_agent_spawn(little->world, &def);
}

static void run_until_refused(little_world *little, const struct plan *plan) {
  for (uint32_t frames = 0; plan->refused[MUSTER_E_FULL] == 0; frames++) {
    cr_assert_lt(frames, 100);
    run_frame(little);
  }
}

Test(refusals, of_a_hundred_thousand_sends_in_one_update_make_no_words) {
  const muster_role roles[] = {MUSTER_ROLE_BEHAVIOUR, MUSTER_ROLE_ACTION};
  for (uint32_t i = 0; i < 2; i++) {
    const muster_atom atom = {send_too_much, roles[i], 0};
    SCOPED_WORLD little = world_of(sender_type(&atom));
    struct plan plan = {.to = spawn_with(&little, NULL)};
    spawn_with(&little, &plan);
    run_frame(&little);
    words_made = 0;
    run_until_refused(&little, &plan);
    cr_assert_eq(plan.sent + plan.refused[MUSTER_E_FULL], SENDS);
    cr_assert_eq(plan.sent, 2);
    cr_assert_eq(words_made, 0);
    cr_assert_str_eq(muster_last_error(),
                     "type 'sender' may send messages.sends_max = 2 per update, of limits.sends_per_frame = 65536 "
                     "of all updates");
    cr_assert_gt(words_made, 0, "words do not come by here");
  }
}

static muster_atom_result do_all_wrong(muster_update *update) {
  struct plan *plan = update->user;
  if (!plan) return MUSTER_ATOM_NEXT;
  muster_agent_def def = WITH(muster_agent_def, it.type = plan->type);
  muster_update_spawn(update, &def);
  for (uint32_t i = 0; i < TIMES; i++) {
    note(plan, muster_update_send(update, plan->gone, "hen", 4), MUSTER_E_STALE);
    note(plan, muster_update_send(update, plan->to, "a long message", 15), MUSTER_E_ARGUMENT);
    note(plan, muster_update_move(update, (muster_position){NAN, 0, 0}), MUSTER_E_ARGUMENT);
    note(plan, muster_update_remove(update, plan->gone), MUSTER_E_STALE);
    note(plan, muster_update_wake(update, plan->gone), MUSTER_E_STALE);
    note(plan, muster_update_wake_at(update, plan->gone, 1), MUSTER_E_STALE);
    def.type = plan->type;
    cr_assert(muster_agent_is_null(muster_update_spawn(update, &def)));
    note(plan, muster_last_result(), MUSTER_E_FULL);
    def.type = (muster_type){99};
    cr_assert(muster_agent_is_null(muster_update_spawn(update, &def)));
    note(plan, muster_last_result(), MUSTER_E_ARGUMENT);
    if (i == 0) words_made = 0; /* the log was told of each mistake, once */
  }
  return MUSTER_ATOM_NEXT;
}

Test(refusals, of_whatever_an_update_asks_for_make_no_words) {
  SCOPED_WORLD little = world_of(sender_type(atom_of(do_all_wrong, 0)));
  struct plan plan = {.to = spawn_with(&little, NULL), .gone = spawn_with(&little, NULL), .type = little.type};
  muster_agent_remove(little.world, plan.gone);
  spawn_with(&little, &plan);
  run_frame(&little);
  words_made = 0;
  run_until_refused(&little, &plan);
  cr_assert_eq(plan.refused[MUSTER_E_STALE], 4 * TIMES);
  cr_assert_eq(plan.refused[MUSTER_E_ARGUMENT], 3 * TIMES);
  cr_assert_eq(plan.refused[MUSTER_E_FULL], TIMES);
  cr_assert_eq(words_made, 0);
}

static void do_nothing(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
}

Test(refusals, of_what_a_host_asks_for_make_no_words) {
  muster_world_def def =
      WITH(muster_world_def, it.limits.agents_max = it.limits.observers_max = 1, it.limits.commands_max = 16);
  SCOPED_WORLD little = typed_world(1, def, sender_type(atom_of(nothing, 0)));
  struct plan plan = {.to = spawn_with(&little, NULL)};
  muster_observer_def observer = muster_observer_def_default();
  muster_observer_add(little.world, &observer);
  while (muster_agent_move(little.world, plan.to, (muster_position){0, 0, 0}) == MUSTER_OK) continue;
  while (muster_agent_send(little.world, plan.to, "hen", 4) == MUSTER_OK) continue;
  words_made = 0;
  for (uint32_t i = 0; i < TIMES; i++) {
    cr_assert(muster_agent_is_null(spawn_with(&little, NULL)));
    note(&plan, muster_last_result(), MUSTER_E_FULL);
    cr_assert_eq(muster_observer_generation(muster_observer_add(little.world, &observer)), 0);
    note(&plan, muster_last_result(), MUSTER_E_FULL);
    note(&plan, muster_agent_move(little.world, plan.to, (muster_position){0, 0, 0}), MUSTER_E_FULL);
    note(&plan, muster_agent_send(little.world, plan.to, "hen", 4), MUSTER_E_FULL);
    note(&plan, muster_agent_wake(little.world, muster_agent_make(0, 99)), MUSTER_E_STALE);
    note(&plan, muster_job_submit(little.pool, 8, do_nothing, NULL, NULL), MUSTER_E_ARGUMENT);
  }
  cr_assert_eq(words_made, 0);
}

Test(refusals, that_return_nothing_leave_their_result) {
  muster_world_def def = WITH(muster_world_def, it.limits.agents_max = it.limits.types_max = 1);
  SCOPED_WORLD little = little_world_create(1, &def);
  muster_type_def type = sender_type(atom_of(nothing, 0));
  register_type(&little, &type);
  cr_assert_eq(muster_last_result(), MUSTER_OK, "nothing has failed yet");
  cr_assert_eq(muster_type_register(little.world, &type).index, 0);
  cr_assert_eq(muster_last_result(), MUSTER_E_FULL);
  type.atom_count = 0;
  cr_assert_eq(muster_type_register(little.world, &type).index, 0);
  cr_assert_eq(muster_last_result(), MUSTER_E_ARGUMENT);
  cr_assert(!muster_agent_is_null(spawn_with(&little, NULL)));
  cr_assert_eq(muster_last_result(), MUSTER_E_ARGUMENT, "a call that succeeds leaves it");
  cr_assert(muster_agent_is_null(spawn_with(&little, NULL)));
  cr_assert_eq(muster_last_result(), MUSTER_E_FULL);
  def.limits.agents_max = 0;
  cr_assert_null(muster_world_create(&def));
  cr_assert_eq(muster_last_result(), MUSTER_E_ARGUMENT);
  muster_pool_def pool = WITH(muster_pool_def, it.workers = MUSTER_WORKERS_MAX + 1);
  cr_assert_null(muster_pool_create(&pool));
  cr_assert_eq(muster_last_result(), MUSTER_E_ARGUMENT);
}
