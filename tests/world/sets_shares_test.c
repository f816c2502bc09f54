/* Types with sets: how an update's time is shared among its sets, and a frame's among its agents. */
#include "support/set_world.h"

#include <muster/sets.h>

static struct calls noted;

static void reset(void) {
  memset(&noted, 0, sizeof noted);
}

/* Returns what the first update of one agent runs. */
static const char *run_first(const muster_type_def *type) {
  muster_agent agent;
  little_world little = create_sets(type, &agent);
  for (int i = 0; i < 20 && noted.count == 0; i++) run_frame(&little);
  little_world_destroy(&little);
  return text_of(&noted);
}

TestSuite(sets_shares, .init = reset);

Test(sets_shares, a_greedy_set_takes_nothing_from_the_others) {
  muster_set_def sets[3] = {set_of(8, MUSTER_MODE_SLICEABLE, 50), set_of(4, MUSTER_MODE_SLICEABLE, 50),
                            set_of(4, MUSTER_MODE_SLICEABLE, 50)};
  muster_type_def type = type_of_sets(sets, 3, &noted);
  type.sets.slice_ns = 12 * ATOM_NS;
  cr_assert_str_eq(run_first(&type), "a0a1a2a3b0b1b2b3c0c1c2c3");
}

Test(sets_shares, what_one_does_not_use_goes_on_to_the_next) {
  muster_set_def sets[3] = {set_of(1, MUSTER_MODE_SLICEABLE, 50), set_of(8, MUSTER_MODE_SLICEABLE, 50),
                            set_of(8, MUSTER_MODE_SLICEABLE, 50)};
  muster_type_def type = type_of_sets(sets, 3, &noted);
  type.sets.slice_ns =
      11 * ATOM_NS; /* one atom for the first set; five of the ten that are left for each of the others */
  cr_assert_str_eq(run_first(&type), "a0b0b1b2b3b4c0c1c2c3c4");
}

Test(sets_shares, time_is_shared_by_priority) {
  muster_set_def sets[2] = {set_of(8, MUSTER_MODE_SLICEABLE, 75), set_of(8, MUSTER_MODE_SLICEABLE, 25)};
  muster_type_def type = type_of_sets(sets, 2, &noted);
  type.sets.slice_ns = 8 * ATOM_NS;
  cr_assert_str_eq(run_first(&type), "a0a1a2a3a4a5b0b1");
}

Test(sets_shares, perceptions_come_before_the_sharing) {
  muster_set_def sets[3] = {set_of(2, MUSTER_MODE_RUN, 1), set_of(8, MUSTER_MODE_SLICEABLE, 50),
                            set_of(8, MUSTER_MODE_SLICEABLE, 50)};
  sets[0].role = MUSTER_ROLE_PERCEPTION;
  muster_type_def type = type_of_sets(sets, 3, &noted);
  type.sets.slice_ns = 8 * ATOM_NS;
  cr_assert_str_eq(run_first(&type), "a0a1b0b1b2c0c1c2");
}

Test(sets_shares, each_set_that_has_its_turn_runs_an_atom) {
  muster_set_def sets[3] = {set_of(8, MUSTER_MODE_SLICEABLE, 1), set_of(8, MUSTER_MODE_SLICEABLE, 100),
                            set_of(8, MUSTER_MODE_SLICEABLE, 1)};
  muster_type_def type = type_of_sets(sets, 3, &noted);
  type.sets.order = MUSTER_SETS_AS_DEFINED;
  type.sets.slice_ns = 5 * ATOM_NS;
  cr_assert_str_eq(run_first(&type), "a0b0b1b2b3");
}

/* Counts calls of atoms by agent. */
struct tally {
  uint32_t calls[64];
};

static muster_atom_result count_call(muster_update *update) {
  struct tally *tally = update->type_user;
  tally->calls[muster_agent_index(update->agent)]++;
  return MUSTER_ATOM_NEXT;
}

enum { LONG_SET = 1000 };

/* Runs two types of one agent each; an update of either could fill a frame several times over. ran[] is the number of
 * calls of each type in one frame. */
static void run_two(uint32_t first, uint32_t second, uint64_t slice_ns, uint32_t ran[2]) {
  static muster_atom atoms[LONG_SET];
  static struct tally tally;
  for (uint32_t i = 0; i < LONG_SET; i++) atoms[i] = (muster_atom){count_call, MUSTER_ROLE_BEHAVIOUR, ATOM_NS};
  muster_set_def set = set_of(0, MUSTER_MODE_SLICEABLE, 50);
  set.atoms = atoms;
  set.atom_count = LONG_SET;
  muster_type_def type = type_of_sets(&set, 1, NULL);
  type.user = &tally;
  type.sets.share = first;
  type.sets.slice_ns = slice_ns;
  little_world little = little_world_create(1, NULL);
  register_type(&little, &type);
  spawn_at(&little, 0);
  type.sets.share = second;
  type.sets.slice_ns = 0;
  register_type(&little, &type);
  spawn_at(&little, 1);
  run_frames(&little, 20);
  memset(&tally, 0, sizeof tally);
  run_frame_with(&little, 4000000u);
  memcpy(ran, tally.calls, 2 * sizeof *ran);
  little_world_destroy(&little);
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
  muster_type_def type = type_of_sets(&set, 1, &noted);
  muster_agent agent;
  little_world little = create_sets(&type, &agent);
  for (int i = 0; i < 20 && noted.count == 0; i++) run_frame_with(&little, 30000);
  cr_assert_str_eq(text_of(&noted), "a0a1a2");
  cr_assert_eq(statistics_of(&little).preempted, 1);
  cr_assert_eq(info_of(&little, agent).last_update_ns, little.now_ns, "the update is complete all the same");
  little_world_destroy(&little);
}
