/* The harness for unit tests of atoms (muster/harness.h): exact times, what it says of mistakes, and that it finds
 * worlds that do not repeat. */
#include "world/fixture.h"

#include <muster/harness.h>

struct seen {
  uint64_t elapsed_ns, runs;
};

static muster_atom_result note(muster_update *update) {
  struct seen *own = update->state;
  own->elapsed_ns = update->elapsed_ns;
  own->runs++;
  step_by(update, 1);
  if (update->published) *(uint64_t *)update->published = own->runs;
  return MUSTER_ATOM_NEXT;
}

static void expect_words(const char *text, const char *words) {
  cr_assert(text, "nothing was said of '%s'", words);
  cr_assert(strstr(text, words), "no '%s' in: %s", words, text);
}

static muster_type_def seen_type(void) {
  return WITH(muster_type_def, it.state_bytes = sizeof(struct seen));
}

/* An agent of a type that has this atom. */
static muster_agent spawn_of(muster_harness *test, muster_type_def type, atom_function *run) {
  const muster_atom atom = {.run = run};
  type.atoms = &atom, type.atom_count = 1;
  muster_agent_def def = WITH(muster_agent_def, it.type = muster_type_register(test->world, &type));
  cr_assert(def.type.index, "%s", muster_last_error());
  muster_agent agent = muster_agent_spawn(test->world, &def);
  cr_assert(!muster_agent_is_null(agent), "%s", muster_last_error());
  return agent;
}

static muster_agent begin_as(muster_harness *test, muster_type_def type, atom_function *run) {
  cr_assert(muster_harness_begin(test, NULL), "%s", muster_last_error());
  return spawn_of(test, type, run);
}

static muster_agent begin_with(muster_harness *test, atom_function *run) {
  return begin_as(test, seen_type(), run);
}

Test(harness, an_update_is_told_the_time_that_was_asked_for) {
  static const uint64_t times_ns[] = {1, 250000000, 33333333, 3600000000000, 7};
  SCOPED(muster_harness_end) muster_harness test;
  muster_agent agent = begin_with(&test, note);
  uint64_t now_ns = 0;
  for (uint32_t i = 0; i < COUNT_OF(times_ns); i++) {
    cr_assert_eq(muster_harness_update(&test, agent, times_ns[i]), MUSTER_OK, "%s", muster_last_error());
    const struct seen *own = muster_harness_state(&test, agent);
    cr_assert_eq(own->runs, i + 1);
    cr_assert_eq(own->elapsed_ns, times_ns[i]);
    now_ns += times_ns[i];
    cr_assert_eq(test.now_ns, now_ns);
    cr_assert_lt(fabs(muster_harness_position(&test, agent).x - (i + 1)), 1e-3);
  }
  cr_assert_null(muster_harness_problem(&test), "%s", muster_harness_problem(&test));
  cr_assert_null(muster_harness_refusal(&test), "%s", muster_harness_refusal(&test));
  muster_harness_end(&test);
}

Test(harness, a_run_has_agents_run_by_their_periods) {
  SCOPED(muster_harness_end) muster_harness test;
  muster_agent agent = begin_as(&test, CHANGED(seen_type(), it.published_bytes = 8), note);
  test.frame_ns = 10000000;
  cr_assert_eq(muster_harness_run(&test, 1005000000), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(test.now_ns, 1005000000);
  cr_assert_eq(test.frames, 102, "a frame at 0, 100 of 10 ms, and one at the end: %lu", (unsigned long)test.frames);
  const struct seen *own = muster_harness_state(&test, agent);
  cr_assert(own->runs >= 9 && own->runs <= 11, "%lu runs", (unsigned long)own->runs);
  cr_assert_eq(*(const uint64_t *)muster_harness_published(&test, agent), own->runs);
}

Test(harness, what_no_update_can_do_is_refused_with_a_reason) {
  SCOPED(muster_harness_end) muster_harness test;
  muster_agent agent = begin_as(&test, CHANGED(seen_type(), it.wake_gap_ns = 1000000000), note);
  cr_assert_eq(muster_harness_update(&test, agent, 0), MUSTER_E_ARGUMENT);
  expect_error("elapsed_ns");
  cr_assert_eq(muster_harness_update(&test, agent, 10), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(muster_harness_update(&test, agent, 10), MUSTER_E_STATE);
  expect_error("wake_gap_ns");
  cr_assert_eq(muster_agent_remove(test.world, agent), MUSTER_OK);
  cr_assert_eq(muster_harness_update(&test, agent, 10), MUSTER_E_STALE);
  cr_assert_null(muster_harness_state(&test, agent));
  cr_assert_null(muster_harness_published(&test, agent));
  test.frame_ns = 0;
  cr_assert_eq(muster_harness_run(&test, 10), MUSTER_E_ARGUMENT);
  test.budget_ns = 0;
  cr_assert_eq(muster_harness_frame(&test, test.now_ns), MUSTER_E_ARGUMENT);
  muster_harness_end(&test);
  muster_harness_end(NULL);
  cr_assert(!muster_harness_begin(NULL, NULL));
  cr_assert_eq(muster_harness_run(NULL, 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_harness_update(NULL, agent, 1), MUSTER_E_ARGUMENT);
  cr_assert_null(muster_harness_state(NULL, agent));
  cr_assert_null(muster_harness_refusal(NULL));
  const muster_world_def bad = WITH(muster_world_def, it.cell_m = -1);
  cr_assert(!muster_harness_begin(&test, &bad));
  expect_error("cell_m");
  cr_assert(muster_harness_problem(&test), "a world that is not there is a problem");
}

/* -------------------------------------------------------------------------------------------------------- mistakes */

static muster_atom_result send_without_a_box(muster_update *update) {
  muster_update_send(update, update->agent, "x", 1);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result leave_the_world(muster_update *update) {
  muster_update_move(update, (muster_position){NAN, 0, 0});
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result breed(muster_update *update) {
  muster_agent_def def = WITH(muster_agent_def, it.type = update->type);
  muster_update_spawn(update, &def);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result answer_nonsense(muster_update *update) {
  (void)update;
  return (muster_atom_result)7;
}

static muster_atom_result go_on_for_ever(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_MORE;
}

Test(harness, what_an_atom_was_refused_is_told_until_the_next_run) {
  SCOPED(muster_harness_end) muster_harness test;
  muster_agent agent = begin_with(&test, send_without_a_box);
  cr_assert_eq(muster_harness_update(&test, agent, 1000), MUSTER_OK);
  expect_words(muster_harness_refusal(&test), "box");
  cr_assert_eq(muster_harness_run(&test, 0), MUSTER_OK);
  cr_assert_null(muster_harness_refusal(&test));
}

Test(harness, mistakes_of_atoms_are_problems_with_a_name) {
  static const struct {
    atom_function *run;
    const char *word;
  } cases[] = {{leave_the_world, "finite"},
               {breed, "spawns_max"},
               {answer_nonsense, "muster_atom_result"},
               {go_on_for_ever, "muster_atom_result"}};
  for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
    SCOPED(muster_harness_end) muster_harness test;
    muster_agent agent = begin_with(&test, cases[i].run);
    cr_assert_null(muster_harness_problem(&test));
    cr_assert_eq(muster_harness_update(&test, agent, 1000), MUSTER_OK, "%s", muster_last_error());
    expect_words(muster_harness_problem(&test), cases[i].word);
  }
}

static void give_nan(const muster_importance_query *queries, float *importances, uint32_t count, void *user) {
  (void)queries, (void)user;
  for (uint32_t i = 0; i < count; i++) importances[i] = NAN;
}

static muster_atom_result send_twice(muster_update *update) {
  muster_update_send(update, update->agent, "", 0);
  muster_update_send(update, update->agent, "", 0);
  return MUSTER_ATOM_NEXT;
}

Test(harness, so_are_those_of_models_and_messages_and_what_muster_warns_of) {
  static const char *const words[] = {"importance", "sends_max", "box"};
  for (uint32_t i = 0; i < 3; i++) {
    SCOPED(muster_harness_end) muster_harness test;
    muster_type_def type = CHANGED(seen_type(), it.messages.waiting_max = 1, it.messages.sends_max = i,
                                   it.models.importance = i ? NULL : give_nan);
    muster_agent agent = begin_as(&test, type, i ? send_twice : note);
    cr_assert_eq(muster_harness_update(&test, agent, 1000), MUSTER_OK, "%s", muster_last_error());
    expect_words(muster_harness_problem(&test), words[i]);
    if (!i) cr_assert(test.warnings > 0 && strstr(test.warning, "importance"), "%s", test.warning);
  }
}

static void count_lines(muster_log_level level, const char *message, void *user) {
  uint32_t *count = user;
  if (level != MUSTER_LOG_INFO && *message) ++*count;
}

Test(harness, a_definition_keeps_what_it_says_but_for_the_clock) {
  uint32_t lines = 0;
  muster_world_def def = WITH(muster_world_def, it.seed = 42, it.log = (muster_log_sink){count_lines, &lines},
                              it.clock.kind = MUSTER_CLOCK_WALL);
  SCOPED(muster_harness_end) muster_harness test;
  cr_assert(muster_harness_begin(&test, &def), "%s", muster_last_error());
  muster_agent agent = spawn_of(&test, CHANGED(seen_type(), it.models.importance = give_nan), note);
  cr_assert_eq(muster_harness_update(&test, agent, 1000), MUSTER_OK);
  cr_assert_gt(lines, 0);
  cr_assert_eq(test.warnings, 0);
  cr_assert_eq(def.clock.kind, MUSTER_CLOCK_WALL, "the caller's definition is not written");
}

/* --------------------------------------------------------------------------------------------------------- repeats */

enum { CROWD = 400 };

static uint64_t shared; /* what no atom may have */

static muster_atom_result use_a_global(muster_update *update) {
  struct seen *own = update->state;
  own->runs += __atomic_fetch_add(&shared, 1, __ATOMIC_RELAXED);
  return MUSTER_ATOM_NEXT;
}

static bool make_crowd(muster_world *world, void *user) {
  atom_function *const *run = user;
  const muster_atom atom = {.run = *run};
  muster_type_def type = CHANGED(seen_type(), it.atoms = &atom, it.atom_count = 1);
  muster_agent_def def = WITH(muster_agent_def, it.type = muster_type_register(world, &type));
  for (uint32_t i = 0; i < CROWD; i++)
    if (muster_agent_is_null(muster_agent_spawn(world, &def))) return false;
  return def.type.index != 0;
}

static bool make_nothing(muster_world *world, void *user) {
  (void)world, (void)user;
  return false;
}

Test(harness, worlds_that_repeat_are_told_from_those_that_do_not) {
  atom_function *run = note;
  cr_assert_eq(muster_harness_repeats(make_crowd, &run, 3, 2000000000), MUSTER_OK, "%s", muster_last_error());
  run = use_a_global;
  cr_assert_eq(muster_harness_repeats(make_crowd, &run, 3, 2000000000), MUSTER_E_STATE);
  expect_error("differ at ");
  cr_assert_eq(muster_harness_repeats(make_crowd, &run, 1, 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_harness_repeats(NULL, NULL, 2, 1), MUSTER_E_ARGUMENT);
  cr_assert_eq(muster_harness_repeats(make_nothing, NULL, 2, 1), MUSTER_E_INPUT);
  cr_assert_eq(muster_harness_repeats(make_nothing, NULL, MUSTER_WORKERS_MAX + 1, 1), MUSTER_E_ARGUMENT);
}
