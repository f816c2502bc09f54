/* Types with sets on the wall clock: where a worker yields to what is more urgent, and what it goes on with. */
#include "support/set_world.h"

#include <muster/sets.h>

#include <time.h>

static struct calls noted;
static muster_pool *pool;

static uint64_t real_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static uint32_t asked;
static uint64_t urgent_until_ns; /* an urgent job takes until then */

/* Notes a call that belongs to no set, between the atoms. */
static void be_urgent(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  noted.calls[noted.count++] = (struct call){.set = (uint32_t)'!' - 'a', .atom = (uint32_t)'!' - '0'};
  while (real_ns() < urgent_until_ns) continue;
}

/* Submits an urgent job in the first call; in the second call the atom is done. */
static void ask_in_atom_2_of_the_first_set(muster_update *update, uint32_t atom) {
  if (update->set != 0 || atom != 2) return;
  if (asked++ == 0)
    muster_job_submit(pool, MUSTER_URGENCY_URGENT, be_urgent, NULL, NULL);
  else
    noted.answers[0][2] = MUSTER_ATOM_NEXT;
}

/* Returns what the first update runs when an urgent job comes in the third atom of its first set. The slice is long, so
 * only urgency can stop anything. */
static const char *run_called_away(muster_mode mode, muster_atom_result answer, bool *owed) {
  muster_set_def sets[2] = {set_of(4, mode, 60), set_of(1, MUSTER_MODE_RUN, 50)};
  muster_world_def def = muster_world_def_default();
  muster_type_def type = type_of_sets(sets, 2, &noted);
  memset(&noted, 0, sizeof noted);
  asked = 0;
  noted.inside = ask_in_atom_2_of_the_first_set;
  noted.answers[0][2] = answer;
  type.period_ns = type.period_max_ns = 10 * FRAME_NS;
  type.limit_ns = 1000000000u;
  little_world little = little_world_create(1, &def);
  pool = little.pool;
  register_type(&little, &type);
  muster_agent agent = spawn_at(&little, 0);
  while (noted.count == 0) run_frame_with(&little, 1000000000u);
  *owed = set_info_of(&little, agent, 0).owed;
  cr_assert_eq(statistics_of(&little).interrupted, 1);
  little_world_destroy(&little);
  return text_of(&noted);
}

/* Each atom takes at least ten times the slice. */
static void take_long(muster_update *update, uint32_t atom) {
  uint64_t end_ns = real_ns() + 10000u;
  (void)update, (void)atom;
  while (real_ns() < end_ns) continue;
}

/* An agent has sets of three atoms, and each atom uses up the slice. Checks what each frame runs. */
Test(sets_urgency, a_slice_that_is_used_up_cuts_on_the_wall_clock) {
  static const char *const expected[] = {"a0", "b0b1b2", "c0", "a1", "c0", "a2", "c0", "c0"};
  muster_set_def sets[3] = {set_of(3, MUSTER_MODE_SLICEABLE, 60), set_of(3, MUSTER_MODE_RUN, 50),
                            set_of(3, MUSTER_MODE_SUSPENDABLE, 40)};
  muster_world_def def = muster_world_def_default();
  muster_type_def type = type_of_sets(sets, 3, &noted);
  memset(&noted, 0, sizeof noted);
  noted.inside = take_long;
  type.period_ns = type.period_max_ns = 100 * FRAME_NS;
  type.sets.slice_ns = 1000;
  type.limit_ns = 1000000000u;
  little_world little = little_world_create(1, &def);
  register_type(&little, &type);
  muster_agent agent = spawn_at(&little, 0);
  muster_agent_wake(little.world, agent);
  run_frame(&little); /* it begins */
  for (uint32_t frame = 0; frame < sizeof expected / sizeof *expected; frame++) {
    run_frame_with(&little, 1000000000u);
    const char *text = text_of(&noted);
    cr_assert_str_eq(text, expected[frame], "%s in frame %u", text, frame);
  }
  cr_assert_eq(statistics_of(&little).preempted, 0, "no frame ended before its time");
  little_world_destroy(&little);
}

Test(sets_urgency, who_can_be_cut_gives_way_between_atoms_and_goes_on) {
  bool owed;
  cr_assert_str_eq(run_called_away(MUSTER_MODE_SLICEABLE, MUSTER_ATOM_NEXT, &owed), "a0a1a2!!a3b0");
  cr_assert_not(owed);
  cr_assert_str_eq(run_called_away(MUSTER_MODE_SUSPENDABLE, MUSTER_ATOM_NEXT, &owed), "a0a1a2!!a3b0");
  cr_assert_not(owed, "to yield is not to be cut");
}

Test(sets_urgency, a_run_set_gives_way_when_it_is_done) {
  bool owed;
  cr_assert_str_eq(run_called_away(MUSTER_MODE_RUN, MUSTER_ATOM_NEXT, &owed), "a0a1a2a3!!b0");
  cr_assert_not(owed);
}

/* An atom that yields to an urgent job is called again in the same frame while there is time. */
Test(sets_urgency, who_yields_to_urgency_is_not_cut) {
  bool owed;
  cr_assert_str_eq(run_called_away(MUSTER_MODE_SLICEABLE, MUSTER_ATOM_MORE, &owed), "a0a1a2!!a2a3b0");
  cr_assert_not(owed);
}

/* Returns what the next frame runs after an urgent job outlasted its frame, so that no worker was left for the update.
 */
static const char *run_into_the_end(muster_mode mode) {
  enum { BUDGET_NS = 200000000 };
  muster_set_def sets[2] = {set_of(4, mode, 60), set_of(1, MUSTER_MODE_RUN, 50)};
  muster_world_def def = muster_world_def_default();
  muster_type_def type = type_of_sets(sets, 2, &noted);
  memset(&noted, 0, sizeof noted);
  asked = 0;
  noted.inside = ask_in_atom_2_of_the_first_set;
  type.period_ns = type.period_max_ns = 100 * FRAME_NS;
  type.limit_ns = 1000000000u;
  def.debt_budgets = 0.0f;
  little_world little = little_world_create(1, &def);
  pool = little.pool;
  register_type(&little, &type);
  muster_agent agent = spawn_at(&little, 0);
  muster_agent_wake(little.world, agent);
  run_frame(&little); /* it begins */
  urgent_until_ns = real_ns() + 2 * BUDGET_NS;
  run_frame_with(&little, BUDGET_NS);
  urgent_until_ns = 0;
  cr_assert_str_eq(text_of(&noted), "a0a1a2!!");
  cr_assert(set_info_of(&little, agent, 0).owed && set_info_of(&little, agent, 1).owed);
  cr_assert_eq(set_info_of(&little, agent, 0).cuts, 1);
  cr_assert_eq(statistics_of(&little).sets_cut, 1);
  cr_assert_eq(statistics_of(&little).preempted, 1);
  cr_assert_eq(info_of(&little, agent).last_update_ns, little.now_ns, "the update is complete");
  run_frame_with(&little, BUDGET_NS);
  cr_assert_not(set_info_of(&little, agent, 0).owed || set_info_of(&little, agent, 1).owed);
  little_world_destroy(&little);
  return text_of(&noted);
}

Test(sets_urgency, who_gave_way_and_found_no_time_is_cut) {
  cr_assert_str_eq(run_into_the_end(MUSTER_MODE_SLICEABLE), "b0a3");
  cr_assert_str_eq(run_into_the_end(MUSTER_MODE_SUSPENDABLE), "b0a0a1a2a3");
}
