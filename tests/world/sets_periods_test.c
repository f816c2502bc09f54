/* Types with sets: when a set is active, and what its atoms are told of the time. */
#include "support/set_world.h"

TestSuite(sets_periods, .init = forget_calls);

/* Returns, for each of the first `updates` updates, '1' if the second set was active in it, else '0'. */
static const char *activity_of(const muster_set_def *set, uint32_t updates, char *text) {
  muster_set_def sets[2] = {set_of(1, MUSTER_MODE_RUN, 100), *set};
  SCOPED_WORLD little = create_sets(type_of_sets(sets, 2));
  for (uint32_t update = 0; update < updates;) {
    const char *ran = run_and_tell(&little);
    if (*ran) text[update++] = strchr(ran, 'b') ? '1' : '0';
  }
  text[updates] = 0;
  return text;
}

Test(sets_periods, in_updates_from_the_delay_on) {
  char text[16];
  muster_set_def set = CHANGED(set_of(1, MUSTER_MODE_RUN, 50), it.period_updates = 4);
  cr_assert_str_eq(activity_of(&set, 9, text), "100010001");
  set.delay_updates = 3;
  cr_assert_str_eq(activity_of(&set, 9, text), "000100010");
}

Test(sets_periods, what_continues_an_update_is_not_counted) {
  muster_set_def sets[2] = {set_of(1, MUSTER_MODE_RUN, 100), set_of(8, MUSTER_MODE_SLICEABLE, 50)};
  sets[0].period_updates = 2;
  SCOPED_WORLD little = create_sets(CHANGED(sliced_type(sets, 2, 5), it.period_ns = it.period_max_ns = 10 * FRAME_NS));
  while (noted.count == 0) run_frame(&little);
  run_frames(&little, 29); /* two further updates, and the frames that continue them */
  cr_assert_str_eq(calls_text(), "a0b0b1b2b3b4b5b6b7b0b1b2b3b4b5b6b7a0b0b1b2b3b4b5b6b7");
}

Test(sets_periods, in_simulation_time_from_the_spawn_on) {
  /* The period is of three and a half frames. */
  muster_set_def set =
      CHANGED(set_of(1, MUSTER_MODE_RUN, 50), it.period_updates = 0, it.period_ns = 35000000u, it.delay_ns = 20000000u);
  SCOPED_WORLD little = create_sets(type_of_sets(&set, 1));
  run_frame(&little);
  uint64_t spawned_ns = little.now_ns;
  run_frames(&little, 40);
  uint32_t expected = 0;
  for (uint64_t due_ns = spawned_ns + set.delay_ns; due_ns <= little.now_ns; due_ns += set.period_ns) {
    uint64_t frame_ns = (due_ns + FRAME_NS - 1) / FRAME_NS * FRAME_NS; /* the first update at or after due_ns */
    cr_assert_lt(expected, noted.count);
    cr_assert_eq(noted.calls[expected].now_ns, frame_ns, "run %u at %lu", expected, noted.calls[expected].now_ns);
    expected++;
  }
  cr_assert_eq(noted.count, expected);
}

Test(sets_periods, an_empty_set_is_never_active) {
  muster_set_def sets[2] = {set_of(0, MUSTER_MODE_SLICEABLE, 100), set_of(1, MUSTER_MODE_RUN, 50)};
  SCOPED_WORLD little = create_sets(type_of_sets(sets, 2));
  run_frames(&little, 10);
  cr_assert_eq(set_info_of(&little, setter, 0).runs, 0);
  cr_assert_not(set_info_of(&little, setter, 0).owed);
  cr_assert_gt(set_info_of(&little, setter, 1).runs, 0);
}

Test(sets_periods, a_set_is_there_at_its_levels) {
  muster_set_def sets[2] = {set_of(2, MUSTER_MODE_SLICEABLE, 100), set_of(1, MUSTER_MODE_RUN, 50)};
  sets[0].levels = 1; /* the best level only; without an observer the agent is at the cheapest */
  sets[1].levels = 1 << 1;
  SCOPED_WORLD little = create_sets(CHANGED(type_of_sets(sets, 2), it.levels.count = 2));
  run_frames(&little, 10);
  cr_assert_eq(info_of(&little, setter).level, 1);
  cr_assert_eq(set_info_of(&little, setter, 0).runs, 0);
  cr_assert_gt(set_info_of(&little, setter, 1).runs, 0);
}

/* What the runs of each set are told adds up to the time that the agent lived, even if a set is cut, begins anew or has
 * no time. A run that goes on is told the same as when it began. */
Test(sets_periods, no_time_is_lost_or_told_twice) {
  enum { SETS = 6, FRAMES = 3000 };
  muster_set_def sets[SETS] = {set_of(2, MUSTER_MODE_RUN, 20),         set_of(7, MUSTER_MODE_SLICEABLE, 50),
                               set_of(3, MUSTER_MODE_SUSPENDABLE, 30), set_of(8, MUSTER_MODE_SLICEABLE, 10),
                               set_of(1, MUSTER_MODE_RUN, 40),         set_of(1, MUSTER_MODE_RUN, 50)};
  uint64_t told_ns[SETS] = {0}, began_ns[SETS] = {0}, spawned_ns = 0;
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  sets[5].role = MUSTER_ROLE_ACTION;
  sets[1].period_updates = 3;
  sets[4].period_updates = 0;
  sets[4].period_ns = 70000000u;
  SCOPED_WORLD little = create_sets(CHANGED(sliced_type(sets, SETS, 8), it.period_ns = 3 * FRAME_NS));
  run_frame(&little);
  spawned_ns = little.now_ns;
  for (int frame = 0; frame < FRAMES; frame++) {
    if (frame % 7 == 0) muster_agent_wake(little.world, setter);
    run_frame_with(&little, frame % 5 == 0 ? 40000u : 5000000u);
    for (uint32_t i = 0; i < noted.count; i++) {
      const struct call *call = &noted.calls[i];
      if (call->atom == 0) began_ns[call->set] = call->now_ns;
      cr_assert_eq(call->now_ns, began_ns[call->set], "set %u, atom %u", call->set, call->atom);
      cr_assert_eq(call->now_ns - call->elapsed_ns, spawned_ns + told_ns[call->set], "set %u, atom %u", call->set,
                   call->atom);
      if (call->atom + 1 == sets[call->set].atom_count) told_ns[call->set] += call->elapsed_ns;
    }
    noted.count = 0;
    for (uint32_t set = 0; set < SETS; set++)
      cr_assert_eq(spawned_ns + told_ns[set], set_info_of(&little, setter, set).last_ns, "set %u in frame %d", set,
                   frame);
  }
  for (uint32_t set = 0; set < SETS; set++) {
    muster_set_info info = set_info_of(&little, setter, set);
    cr_assert_gt(info.runs, 100, "set %u ran %lu times, was cut %lu times", set, info.runs, info.cuts);
  }
  cr_assert_gt(set_info_of(&little, setter, 1).cuts, 100);
  cr_assert_gt(set_info_of(&little, setter, 2).cuts, 10);
}

/* -------------------------------------------------------------------------------------------------------- progress */

static float progress_told;

static void tell_progress(muster_update *update, uint32_t atom) {
  (void)atom;
  if (progress_told != 0.0f) muster_update_progress(update, progress_told);
}

static void check_progress(float told, float expected) {
  muster_set_def set = set_of(8, MUSTER_MODE_SLICEABLE, 50);
  noted.inside = tell_progress;
  progress_told = told;
  SCOPED_WORLD little = create_sets(sliced_type(&set, 1, 2));
  while (noted.count == 0) run_frame(&little);
  cr_assert_float_eq(set_info_of(&little, setter, 0).progress, expected, 1e-4f, "%g: %g", (double)told,
                     (double)set_info_of(&little, setter, 0).progress);
  progress_told = 0;
  run_frames(&little, 3);
  cr_assert_eq(set_info_of(&little, setter, 0).progress, 0.0f, "the run is complete");
  noted.count = 0;
}

Test(sets_periods, progress_is_what_was_told_or_the_share_of_atoms) {
  check_progress(0.0f, 0.25f);
  check_progress(0.75f, 0.75f);
  check_progress(7.0f, 1.0f);
  check_progress(-3.0f, 0.0f);
  check_progress(__builtin_nanf(""), 0.0f);
}

Test(sets_periods, progress_counts_in_the_priority_of_who_is_owed_time) {
  muster_set_def set = set_of(8, MUSTER_MODE_SLICEABLE, 50);
  muster_world_def def = CHANGED(papers_world_def(), it.clock.kind = MUSTER_CLOCK_VIRTUAL, it.priority.progress = 1.0f);
  noted.inside = tell_progress;
  progress_told = 0.5f;
  SCOPED_WORLD little = typed_world(1, def, sliced_type(&set, 1, 2));
  muster_agent agent = spawn_at(&little, 0);
  while (noted.count == 0) run_frame(&little);
  muster_agent_explanation why = explain(&little, agent);
  double scale_ns = (double)def.priority.guarantee_ns / (double)def.priority.wait;
  cr_assert_float_eq((double)why.priority_progress_ns, 0.5 * scale_ns, 1e-3 * scale_ns);
  cr_assert(why.reasons & MUSTER_REASON_OWED);
  cr_assert_str_eq(why.set_owed, "set");
  expect_explained(&why, "its set 'set' is owed time");
}

/* Eight atoms, one per frame, and a period of five frames: the next period begins while a run is under way. */
Test(sets_periods, a_run_that_takes_longer_than_its_period_keeps_its_phase) {
  muster_set_def set =
      CHANGED(set_of(8, MUSTER_MODE_SLICEABLE, 50), it.period_updates = 0, it.period_ns = 5 * FRAME_NS);
  uint32_t begun[3], count = 0;
  SCOPED_WORLD little = create_sets(sliced_type(&set, 1, 1));
  for (uint32_t frame = 0; count < 3; frame++) {
    cr_assert_lt(frame, 100);
    if (strcmp(run_and_tell(&little), "a0") == 0) begun[count++] = frame;
  }
  cr_assert_eq(begun[2] - begun[1], 10, "%u", begun[2] - begun[1]);
}

/* An agent without a period is cut, and its last atom brings it into quarantine. */
Test(sets_periods, who_is_owed_time_goes_on_when_it_is_reinstated) {
  muster_set_def set = set_of(8, MUSTER_MODE_SLICEABLE, 50);
  bool reinstated = false;
  muster_type_def type = CHANGED(sliced_type(&set, 1, 1), it.elapsed.contract = MUSTER_ELAPSED_EVENTS,
                                 it.limit_ns = ATOM_NS / 2, it.overruns.quarantine = 3);
  SCOPED_WORLD little = create_sets(type);
  run_frame(&little);
  cr_assert_eq(muster_agent_wake(little.world, setter), MUSTER_OK);
  for (uint32_t frame = 0; frame < 40 && !reinstated; frame++) {
    run_frame(&little);
    reinstated = info_of(&little, setter).quarantined;
  }
  cr_assert(reinstated && set_info_of(&little, setter, 0).owed);
  uint32_t next = set_info_of(&little, setter, 0).atom_next;
  cr_assert_eq(muster_agent_reinstate(little.world, setter), MUSTER_OK);
  run_frame(&little);
  cr_assert_eq(set_info_of(&little, setter, 0).atom_next, next + 1);
}

static uint32_t asked_until_yes;

static void ask_until_yes(muster_update *update, uint32_t atom) {
  (void)atom;
  asked_until_yes = 0;
  while (asked_until_yes < 100 && !muster_update_should_yield(update)) asked_until_yes++;
}

static uint32_t ask_in(uint32_t role, muster_mode mode) {
  muster_set_def set = CHANGED(set_of(1, mode, 50), it.role = role, it.asks = 5);
  forget_calls();
  noted.inside = ask_until_yes;
  asked_until_yes = 0;
  SCOPED_WORLD little = create_sets(type_of_sets(&set, 1));
  while (noted.count == 0) run_frame(&little);
  return asked_until_yes;
}

Test(sets_periods, who_may_be_cut_is_told_to_yield_at_the_question_that_was_set) {
  cr_assert_eq(ask_in(MUSTER_ROLE_BEHAVIOUR, MUSTER_MODE_SLICEABLE), 4);
  cr_assert_eq(ask_in(MUSTER_ROLE_BEHAVIOUR, MUSTER_MODE_SUSPENDABLE), 4);
  cr_assert_eq(ask_in(MUSTER_ROLE_PERCEPTION, MUSTER_MODE_SLICEABLE), 4);
  cr_assert_eq(ask_in(MUSTER_ROLE_BEHAVIOUR, MUSTER_MODE_RUN), 100);
  cr_assert_eq(ask_in(MUSTER_ROLE_ACTION, MUSTER_MODE_RUN), 100);
}
