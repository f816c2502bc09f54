/* Types with sets: in which order sets run, what becomes of a set that is cut, and which sets are owed time. */
#include "support/set_world.h"

#include <muster/sets.h>

static struct calls noted;

static void reset(void) {
  memset(&noted, 0, sizeof noted);
}

/* Runs frames until the agent has its first update. Returns what ran in it. */
static const char *run_first(little_world *little) {
  for (int i = 0; i < 20; i++) {
    const char *text = run_and_tell(little, &noted);
    if (*text) return text;
  }
  return "";
}

TestSuite(sets_modes, .init = reset);

Test(sets_modes, roles_come_in_order_and_priorities_within_them) {
  muster_set_def sets[5];
  muster_agent agent;
  for (uint32_t i = 0; i < 5; i++) sets[i] = set_of(1, MUSTER_MODE_RUN, 10 * (i + 1));
  sets[0].role = MUSTER_ROLE_ACTION;
  sets[4].role = sets[3].role = MUSTER_ROLE_PERCEPTION;
  muster_type_def type = type_of_sets(sets, 5, &noted);
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), "e0d0c0b0a0");
  little_world_destroy(&little);
}

Test(sets_modes, sets_run_as_defined_when_that_is_asked_for) {
  muster_set_def sets[3];
  muster_agent agent;
  for (uint32_t i = 0; i < 3; i++) sets[i] = set_of(1, MUSTER_MODE_RUN, 10 * (i + 1));
  muster_type_def type = type_of_sets(sets, 3, &noted);
  type.sets.order = MUSTER_SETS_AS_DEFINED;
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), "a0b0c0");
  little_world_destroy(&little);
}

Test(sets_modes, finish_ends_the_set_alone) {
  muster_set_def sets[2] = {set_of(3, MUSTER_MODE_RUN, 60), set_of(2, MUSTER_MODE_RUN, 50)};
  muster_agent agent;
  muster_type_def type = type_of_sets(sets, 2, &noted);
  noted.answers[0][1] = MUSTER_ATOM_FINISH;
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), "a0a1b0b1");
  cr_assert_eq(set_info_of(&little, agent, 0).runs, 1);
  little_world_destroy(&little);
}

/* Checks what the first four updates run of one set of eight atoms in a slice of three. */
static void check_mode(muster_mode mode, const char *const expected[4], uint64_t runs, uint64_t cuts) {
  muster_set_def set = set_of(8, mode, 50);
  muster_agent agent;
  muster_type_def type = type_of_sets(&set, 1, &noted);
  type.sets.slice_ns = 3 * ATOM_NS;
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), expected[0]);
  for (int i = 1; i < 4; i++) {
    const char *text = run_and_tell(&little, &noted);
    cr_assert_str_eq(text, expected[i], "%s in update %d", text, i);
  }
  muster_set_info info = set_info_of(&little, agent, 0);
  cr_assert_eq(info.runs, runs);
  cr_assert_eq(info.cuts, cuts);
  cr_assert_eq(statistics_of(&little).sets_cut, cuts);
  little_world_destroy(&little);
}

Test(sets_modes, a_run_set_runs_whole) {
  static const char whole[] = "a0a1a2a3a4a5a6a7";
  check_mode(MUSTER_MODE_RUN, (const char *const[]){whole, whole, whole, whole}, 4, 0);
}

Test(sets_modes, a_suspendable_set_begins_anew) {
  static const char begin[] = "a0a1a2";
  check_mode(MUSTER_MODE_SUSPENDABLE, (const char *const[]){begin, begin, begin, begin}, 0, 4);
}

Test(sets_modes, a_sliceable_set_goes_on) {
  check_mode(MUSTER_MODE_SLICEABLE, (const char *const[]){"a0a1a2", "a3a4a5", "a6a7", "a0a1a2"}, 1, 3);
}

/* Gives the agent a long period, so that what runs before its next update is owed time. */
static muster_type_def seldom(const muster_set_def *sets, uint32_t count, uint64_t slice_ns) {
  muster_type_def type = type_of_sets(sets, count, &noted);
  type.period_ns = type.period_max_ns = 10 * FRAME_NS;
  type.sets.slice_ns = slice_ns;
  return type;
}

Test(sets_modes, who_is_owed_time_runs_alone_in_the_next_frames) {
  muster_set_def sets[3] = {set_of(1, MUSTER_MODE_RUN, 50), set_of(8, MUSTER_MODE_SLICEABLE, 50),
                            set_of(1, MUSTER_MODE_RUN, 50)};
  muster_agent agent;
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  sets[2].role = MUSTER_ROLE_ACTION;
  muster_type_def type = seldom(sets, 3, 4 * ATOM_NS);
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), "a0b0b1b2c0");
  uint64_t completed = statistics_of(&little).completed;
  cr_assert(set_info_of(&little, agent, 1).owed);
  cr_assert_eq(set_info_of(&little, agent, 1).atom_next, 3);
  cr_assert_str_eq(run_and_tell(&little, &noted), "b3b4b5b6");
  cr_assert_str_eq(run_and_tell(&little, &noted), "b7");
  cr_assert_not(set_info_of(&little, agent, 1).owed);
  cr_assert_eq(statistics_of(&little).completed, completed, "what continues an update is none");
  for (int i = 0; i < 7; i++) cr_assert_str_eq(run_and_tell(&little, &noted), "");
  cr_assert_str_eq(run_and_tell(&little, &noted), "a0b0b1b2c0", "its phase stands");
  little_world_destroy(&little);
}

Test(sets_modes, who_is_owed_time_is_released_anew_in_each_frame) {
  muster_set_def set = set_of(8, MUSTER_MODE_SLICEABLE, 50);
  muster_agent agent;
  muster_type_def type = seldom(&set, 1, 2 * ATOM_NS);
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), "a0a1");
  for (uint32_t frame = 0; frame < 3; frame++) {
    cr_assert(set_info_of(&little, agent, 0).owed);
    cr_assert_eq(info_of(&little, agent).delays, 1);
    run_frame(&little);
  }
  little_world_destroy(&little);
}

Test(sets_modes, sets_without_time_go_on_behind_the_last_that_ran) {
  muster_set_def sets[4];
  muster_agent agent;
  for (uint32_t i = 0; i < 4; i++) sets[i] = set_of(2, MUSTER_MODE_RUN, 50);
  muster_type_def type = seldom(sets, 4, 3 * ATOM_NS); /* room for two sets, as each runs whole */
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), "a0a1b0b1");
  cr_assert_str_eq(run_and_tell(&little, &noted), "c0c1d0d1");
  cr_assert_str_eq(run_and_tell(&little, &noted), "");
  little_world_destroy(&little);
}

Test(sets_modes, a_whole_pass_begins_with_who_is_owed_time) {
  muster_set_def sets[3];
  muster_agent agent;
  for (uint32_t i = 0; i < 3; i++) sets[i] = set_of(2, MUSTER_MODE_RUN, 50);
  muster_type_def type = type_of_sets(sets, 3, &noted);
  type.sets.slice_ns = 3 * ATOM_NS;
  little_world little = create_sets(&type, &agent);
  static const char *const expected[] = {"a0a1b0b1", "c0c1a0a1", "b0b1a0a1", "c0c1a0a1", "b0b1a0a1"};
  cr_assert_str_eq(run_first(&little), expected[0]);
  for (int i = 1; i < 5; i++) {
    const char *text = run_and_tell(&little, &noted);
    cr_assert_str_eq(text, expected[i], "%s in update %d", text, i);
  }
  little_world_destroy(&little);
}

Test(sets_modes, a_wake_makes_a_whole_pass_of_what_would_continue_one) {
  muster_set_def sets[2] = {set_of(1, MUSTER_MODE_RUN, 50), set_of(8, MUSTER_MODE_SLICEABLE, 50)};
  muster_agent agent;
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  muster_type_def type = seldom(sets, 2, 3 * ATOM_NS);
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), "a0b0b1");
  cr_assert_eq(muster_agent_wake(little.world, agent), MUSTER_OK);
  cr_assert_str_eq(run_and_tell(&little, &noted), "a0b2b3");
  cr_assert_str_eq(run_and_tell(&little, &noted), "b4b5b6");
  little_world_destroy(&little);
}

Test(sets_modes, agents_without_a_period_are_owed_time_as_well) {
  muster_set_def set = set_of(8, MUSTER_MODE_SLICEABLE, 50);
  muster_agent agent;
  muster_type_def type = type_of_sets(&set, 1, &noted);
  type.elapsed.contract = MUSTER_ELAPSED_EVENTS;
  type.sets.slice_ns = 5 * ATOM_NS;
  little_world little = create_sets(&type, &agent);
  for (int i = 0; i < 5; i++) cr_assert_str_eq(run_and_tell(&little, &noted), "");
  cr_assert_eq(muster_agent_wake(little.world, agent), MUSTER_OK);
  cr_assert_str_eq(run_and_tell(&little, &noted), "a0a1a2a3a4");
  cr_assert_str_eq(run_and_tell(&little, &noted), "a5a6a7");
  cr_assert_str_eq(run_and_tell(&little, &noted), "");
  little_world_destroy(&little);
}

/* One set of four atoms; the third one is not done at the first call. Checks what that frame and the next one run. */
static void check_more(muster_mode mode, const char *first, const char *second) {
  muster_set_def set = set_of(4, mode, 50);
  muster_agent agent;
  muster_type_def type = seldom(&set, 1, 0);
  noted.answers[0][2] = MUSTER_ATOM_MORE;
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), first);
  cr_assert(set_info_of(&little, agent, 0).owed);
  noted.answers[0][2] = MUSTER_ATOM_NEXT;
  const char *text = run_and_tell(&little, &noted);
  cr_assert_str_eq(text, second, "%s", text);
  cr_assert_eq(statistics_of(&little).results_refused, 0);
  little_world_destroy(&little);
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
  muster_agent agent;
  muster_type_def type = seldom(&set, 1, 0);
  noted.answers[0][0] = MUSTER_ATOM_MORE;
  little_world little = create_sets(&type, &agent);
  run_first(&little);
  run_frame(&little);
  noted.answers[0][0] = MUSTER_ATOM_NEXT;
  run_frame(&little);
  cr_assert_eq(noted.count, 3);
  cr_assert_eq(noted.calls[0].now_ns, noted.calls[2].now_ns, "the run began with its first atom");
  cr_assert_str_eq(text_of(&noted), "a0a0a1");
  little_world_destroy(&little);
}

Test(sets_modes, unknown_answers_count_as_next) {
  muster_set_def sets[2] = {set_of(2, MUSTER_MODE_SLICEABLE, 50), set_of(2, MUSTER_MODE_RUN, 50)};
  muster_agent agent;
  sets[1].role = MUSTER_ROLE_ACTION;
  muster_type_def type = seldom(sets, 2, 0);
  noted.answers[0][0] = (muster_atom_result)7;
  noted.answers[1][0] = MUSTER_ATOM_MORE; /* refused, since actions run whole */
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), "a0a1b0b1");
  cr_assert_eq(statistics_of(&little).results_refused, 2);
  cr_assert_str_eq(run_and_tell(&little, &noted), "");
  little_world_destroy(&little);
}

Test(sets_modes, a_type_without_sets_has_nothing_to_cut) {
  muster_agent agent;
  muster_type_def type = type_with(noting_atoms, 3);
  type.user = &noted;
  noted.answers[0][0] = MUSTER_ATOM_MORE;
  noted.answers[0][1] = (muster_atom_result)-1;
  little_world little = create_sets(&type, &agent);
  cr_assert_str_eq(run_first(&little), "a0a1a2");
  cr_assert_eq(statistics_of(&little).results_refused, 2);
  little_world_destroy(&little);
}
