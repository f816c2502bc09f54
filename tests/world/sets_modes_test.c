/* Types with sets: in which order sets run, what becomes of a set that is cut, and which sets are owed time. */
#include "support/set_world.h"

TestSuite(sets_modes, .init = forget_calls);

Test(sets_modes, roles_come_in_order_and_priorities_within_them) {
  muster_set_def sets[5];
  for (uint32_t i = 0; i < 5; i++) sets[i] = set_of(1, MUSTER_MODE_RUN, 10 * (i + 1));
  sets[0].role = MUSTER_ROLE_ACTION;
  sets[4].role = sets[3].role = MUSTER_ROLE_PERCEPTION;
  SCOPED_WORLD little = create_sets(type_of_sets(sets, 5));
  cr_assert_str_eq(run_first(&little), "e0d0c0b0a0");
}

Test(sets_modes, sets_run_as_defined_when_that_is_asked_for) {
  muster_set_def sets[3];
  for (uint32_t i = 0; i < 3; i++) sets[i] = set_of(1, MUSTER_MODE_RUN, 10 * (i + 1));
  SCOPED_WORLD little = create_sets(CHANGED(type_of_sets(sets, 3), it.sets.order = MUSTER_SETS_AS_DEFINED));
  cr_assert_str_eq(run_first(&little), "a0b0c0");
}

Test(sets_modes, finish_ends_the_set_alone) {
  muster_set_def sets[2] = {set_of(3, MUSTER_MODE_RUN, 60), set_of(2, MUSTER_MODE_RUN, 50)};
  noted.answers[0][1] = MUSTER_ATOM_FINISH;
  SCOPED_WORLD little = create_sets(type_of_sets(sets, 2));
  cr_assert_str_eq(run_first(&little), "a0a1b0b1");
  cr_assert_eq(set_info_of(&little, setter, 0).runs, 1);
}

/* Checks what the first four updates run of one set of eight atoms in a slice of three. */
static void check_mode(muster_mode mode, const char *const expected[5], uint64_t runs, uint64_t cuts) {
  muster_set_def set = set_of(8, mode, 50);
  SCOPED_WORLD little = create_sets(sliced_type(&set, 1, 3));
  cr_assert_str_eq(run_first(&little), expected[0]);
  expect_runs(&little, expected + 1);
  muster_set_info info = set_info_of(&little, setter, 0);
  cr_assert_eq(info.runs, runs);
  cr_assert_eq(info.cuts, cuts);
  cr_assert_eq(statistics_of(&little).sets_cut, cuts);
}

Test(sets_modes, a_run_set_runs_whole) {
  static const char whole[] = "a0a1a2a3a4a5a6a7";
  check_mode(MUSTER_MODE_RUN, (const char *const[]){whole, whole, whole, whole, NULL}, 4, 0);
}

Test(sets_modes, a_suspendable_set_begins_anew) {
  static const char begin[] = "a0a1a2";
  check_mode(MUSTER_MODE_SUSPENDABLE, (const char *const[]){begin, begin, begin, begin, NULL}, 0, 4);
}

Test(sets_modes, a_sliceable_set_goes_on) {
  check_mode(MUSTER_MODE_SLICEABLE, (const char *const[]){"a0a1a2", "a3a4a5", "a6a7", "a0a1a2", NULL}, 1, 3);
}

/* Gives the agent a long period, so that what runs before its next update is owed time. */
static muster_type_def seldom(const muster_set_def *sets, uint32_t count, uint32_t slice_atoms) {
  return CHANGED(sliced_type(sets, count, slice_atoms), it.period_ns = it.period_max_ns = 10 * FRAME_NS);
}

Test(sets_modes, who_is_owed_time_runs_alone_in_the_next_frames) {
  muster_set_def sets[3] = {set_of(1, MUSTER_MODE_RUN, 50), set_of(8, MUSTER_MODE_SLICEABLE, 50),
                            set_of(1, MUSTER_MODE_RUN, 50)};
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  sets[2].role = MUSTER_ROLE_ACTION;
  SCOPED_WORLD little = create_sets(seldom(sets, 3, 4));
  cr_assert_str_eq(run_first(&little), "a0b0b1b2c0");
  uint64_t completed = statistics_of(&little).completed;
  cr_assert(set_info_of(&little, setter, 1).owed);
  cr_assert_eq(set_info_of(&little, setter, 1).atom_next, 3);
  EXPECT_RUNS(&little, "b3b4b5b6", "b7");
  cr_assert_not(set_info_of(&little, setter, 1).owed);
  cr_assert_eq(statistics_of(&little).completed, completed, "what continues an update is none");
  EXPECT_RUNS(&little, "", "", "", "", "", "", "", "a0b0b1b2c0" /* its phase stands */);
}

Test(sets_modes, who_is_owed_time_is_released_anew_in_each_frame) {
  muster_set_def set = set_of(8, MUSTER_MODE_SLICEABLE, 50);
  SCOPED_WORLD little = create_sets(seldom(&set, 1, 2));
  cr_assert_str_eq(run_first(&little), "a0a1");
  for (uint32_t frame = 0; frame < 3; frame++) {
    cr_assert(set_info_of(&little, setter, 0).owed);
    cr_assert_eq(info_of(&little, setter).delays, 1);
    run_frame(&little);
  }
}

Test(sets_modes, sets_without_time_go_on_behind_the_last_that_ran) {
  const muster_set_def set = set_of(2, MUSTER_MODE_RUN, 50), sets[] = {set, set, set, set};
  /* The slice has room for two sets, as each runs whole. */
  SCOPED_WORLD little = create_sets(seldom(sets, 4, 3));
  cr_assert_str_eq(run_first(&little), "a0a1b0b1");
  EXPECT_RUNS(&little, "c0c1d0d1", "");
}

Test(sets_modes, a_whole_pass_begins_with_who_is_owed_time) {
  const muster_set_def set = set_of(2, MUSTER_MODE_RUN, 50), sets[] = {set, set, set};
  SCOPED_WORLD little = create_sets(sliced_type(sets, 3, 3));
  cr_assert_str_eq(run_first(&little), "a0a1b0b1");
  EXPECT_RUNS(&little, "c0c1a0a1", "b0b1a0a1", "c0c1a0a1", "b0b1a0a1");
}

Test(sets_modes, a_wake_makes_a_whole_pass_of_what_would_continue_one) {
  muster_set_def sets[2] = {set_of(1, MUSTER_MODE_RUN, 50), set_of(8, MUSTER_MODE_SLICEABLE, 50)};
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  SCOPED_WORLD little = create_sets(seldom(sets, 2, 3));
  cr_assert_str_eq(run_first(&little), "a0b0b1");
  cr_assert_eq(muster_agent_wake(little.world, setter), MUSTER_OK);
  EXPECT_RUNS(&little, "a0b2b3", "b4b5b6");
}

Test(sets_modes, agents_without_a_period_are_owed_time_as_well) {
  muster_set_def set = set_of(8, MUSTER_MODE_SLICEABLE, 50);
  SCOPED_WORLD little = create_sets(CHANGED(sliced_type(&set, 1, 5), it.elapsed.contract = MUSTER_ELAPSED_EVENTS));
  EXPECT_RUNS(&little, "", "", "", "", "");
  cr_assert_eq(muster_agent_wake(little.world, setter), MUSTER_OK);
  EXPECT_RUNS(&little, "a0a1a2a3a4", "a5a6a7", "");
}

/* One set of four atoms; the third one is not done at the first call. Checks what that frame and the next one run. */
static void check_more(muster_mode mode, const char *first, const char *second) {
  muster_set_def set = set_of(4, mode, 50);
  noted.answers[0][2] = MUSTER_ATOM_MORE;
  SCOPED_WORLD little = create_sets(seldom(&set, 1, 0));
  cr_assert_str_eq(run_first(&little), first);
  cr_assert(set_info_of(&little, setter, 0).owed);
  noted.answers[0][2] = MUSTER_ATOM_NEXT;
  EXPECT_RUNS(&little, second);
  cr_assert_eq(statistics_of(&little).results_refused, 0);
}

Test(sets_modes, an_atom_of_a_sliceable_set_is_called_again) {
  check_more(MUSTER_MODE_SLICEABLE, "a0a1a2", "a2a3");
}

Test(sets_modes, more_makes_other_sets_begin_anew) {
  check_more(MUSTER_MODE_SUSPENDABLE, "a0a1a2", "a0a1a2a3");
  check_more(MUSTER_MODE_RUN, "a0a1a2", "a0a1a2a3");
}

Test(sets_modes, the_first_atom_of_all_can_want_more) {
  muster_set_def set = set_of(2, MUSTER_MODE_SLICEABLE, 50);
  noted.answers[0][0] = MUSTER_ATOM_MORE;
  SCOPED_WORLD little = create_sets(seldom(&set, 1, 0));
  run_first(&little);
  run_frame(&little);
  noted.answers[0][0] = MUSTER_ATOM_NEXT;
  run_frame(&little);
  cr_assert_eq(noted.count, 3);
  cr_assert_eq(noted.calls[0].now_ns, noted.calls[2].now_ns, "the run began with its first atom");
  cr_assert_str_eq(calls_text(), "a0a0a1");
}

Test(sets_modes, unknown_answers_count_as_next) {
  muster_set_def sets[2] = {set_of(2, MUSTER_MODE_SLICEABLE, 50), set_of(2, MUSTER_MODE_RUN, 50)};
  sets[1].role = MUSTER_ROLE_ACTION;
  noted.answers[0][0] = (muster_atom_result)7;
  noted.answers[1][0] = MUSTER_ATOM_MORE; /* refused, since actions run whole */
  SCOPED_WORLD little = create_sets(seldom(sets, 2, 0));
  cr_assert_str_eq(run_first(&little), "a0a1b0b1");
  cr_assert_eq(statistics_of(&little).results_refused, 2);
  cr_assert_str_eq(run_and_tell(&little), "");
}

Test(sets_modes, a_type_without_sets_has_nothing_to_cut) {
  noted.answers[0][0] = MUSTER_ATOM_MORE;
  noted.answers[0][1] = (muster_atom_result)-1;
  SCOPED_WORLD little = create_sets(type_with(noting_atoms, 3));
  cr_assert_str_eq(run_first(&little), "a0a1a2");
  cr_assert_eq(statistics_of(&little).results_refused, 2);
}
