/* Types with sets: how an update's time is shared among its sets, and a frame's among its agents. */
#include "support/set_world.h"

/* What the first update of one agent of these sets runs in a slice of so many atoms. */
static const char *ran_in(const muster_set_def *sets, uint32_t count, uint32_t slice_atoms) {
  SCOPED_WORLD little = create_sets(sliced_type(sets, count, slice_atoms));
  return run_first(&little);
}

TestSuite(sets_shares, .init = forget_calls);

Test(sets_shares, a_greedy_set_takes_nothing_from_the_others) {
  muster_set_def sets[3] = {set_of(8, MUSTER_MODE_SLICEABLE, 50), set_of(4, MUSTER_MODE_SLICEABLE, 50),
                            set_of(4, MUSTER_MODE_SLICEABLE, 50)};
  cr_assert_str_eq(ran_in(sets, 3, 12), "a0a1a2a3b0b1b2b3c0c1c2c3");
}

Test(sets_shares, what_one_does_not_use_goes_on_to_the_next) {
  muster_set_def sets[3] = {set_of(1, MUSTER_MODE_SLICEABLE, 50), set_of(8, MUSTER_MODE_SLICEABLE, 50),
                            set_of(8, MUSTER_MODE_SLICEABLE, 50)};
  /* One atom for the first set; five of the ten that are left for each of the others. */
  cr_assert_str_eq(ran_in(sets, 3, 11), "a0b0b1b2b3b4c0c1c2c3c4");
}

Test(sets_shares, time_is_shared_by_priority) {
  muster_set_def sets[2] = {set_of(8, MUSTER_MODE_SLICEABLE, 75), set_of(8, MUSTER_MODE_SLICEABLE, 25)};
  cr_assert_str_eq(ran_in(sets, 2, 8), "a0a1a2a3a4a5b0b1");
}

Test(sets_shares, perceptions_come_before_the_sharing) {
  muster_set_def sets[3] = {set_of(2, MUSTER_MODE_RUN, 1), set_of(8, MUSTER_MODE_SLICEABLE, 50),
                            set_of(8, MUSTER_MODE_SLICEABLE, 50)};
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  cr_assert_str_eq(ran_in(sets, 3, 8), "a0a1b0b1b2c0c1c2");
}

Test(sets_shares, each_set_that_has_its_turn_runs_an_atom) {
  muster_set_def sets[3] = {set_of(8, MUSTER_MODE_SLICEABLE, 1), set_of(8, MUSTER_MODE_SLICEABLE, 100),
                            set_of(8, MUSTER_MODE_SLICEABLE, 1)};
  SCOPED_WORLD little = create_sets(CHANGED(sliced_type(sets, 3, 5), it.sets.order = MUSTER_SETS_AS_DEFINED));
  cr_assert_str_eq(run_first(&little), "a0b0b1b2b3");
}

struct tally {
  uint32_t calls[64];
};

static muster_atom_result count_call(muster_update *update) {
  struct tally *tally = update->type_user;
  tally->calls[muster_agent_index(update->agent)]++;
  return MUSTER_ATOM_NEXT;
}

enum { LONG_SET = 1000 };

/* Two types of one agent each, an update of which fills a frame several times over: how many calls of each it ran. */
static void run_two(uint32_t first, uint32_t second, uint64_t slice_ns, uint32_t ran[2]) {
  static muster_atom atoms[LONG_SET];
  static struct tally tally;
  for (uint32_t i = 0; i < LONG_SET; i++) atoms[i] = (muster_atom){count_call, MUSTER_ROLE_BEHAVIOUR, ATOM_NS};
  muster_set_def set = CHANGED(set_with(atoms, LONG_SET), it.mode = MUSTER_MODE_SLICEABLE);
  muster_type_def type =
      CHANGED(type_of_sets(&set, 1), it.user = &tally, it.sets.share = first, it.sets.slice_ns = slice_ns);
  SCOPED_WORLD little = create_sets(type);
  type.sets.share = second;
  type.sets.slice_ns = 0;
  register_type(&little, &type);
  spawn_and_run(&little, 1, 20);
  memset(&tally, 0, sizeof tally);
  run_frame_with(&little, 4000000u);
  memcpy(ran, tally.calls, 2 * sizeof *ran);
}

Test(sets_shares, agents_share_a_frame_by_the_priority_of_their_types) {
  uint32_t ran[2];
  run_two(30, 10, 0, ran);
  cr_assert_eq(ran[0] + ran[1], 400);
  cr_assert(ran[0] >= 299 && ran[0] <= 301, "%u and %u", ran[0], ran[1]);
}

Test(sets_shares, a_slice_bounds_a_share_and_the_rest_is_for_others) {
  uint32_t ran[2];
  run_two(30, 10, 1000000u, ran);
  cr_assert_eq(ran[0], 100, "%u and %u", ran[0], ran[1]);
  cr_assert_eq(ran[1], 300, "%u and %u", ran[0], ran[1]);
}

Test(sets_shares, without_a_priority_one_takes_what_is_left) {
  uint32_t ran[2];
  run_two(0, 0, 0, ran);
  cr_assert_eq(ran[0] + ran[1], 400);
  cr_assert(ran[0] == 0 || ran[1] == 0, "%u and %u", ran[0], ran[1]);
}

Test(sets_shares, the_end_of_the_frame_cuts_and_is_counted) {
  muster_set_def set = set_of(8, MUSTER_MODE_SLICEABLE, 50);
  SCOPED_WORLD little = create_sets(type_of_sets(&set, 1));
  for (int i = 0; i < 20 && noted.count == 0; i++) run_frame_with(&little, 30000);
  cr_assert_str_eq(calls_text(), "a0a1a2");
  cr_assert_eq(statistics_of(&little).preempted, 1);
  cr_assert_eq(info_of(&little, setter).last_update_ns, little.now_ns, "the update is complete all the same");
}
