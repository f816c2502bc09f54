/* Types with sets on the wall clock: where a worker yields to what is more urgent, and what it goes on with. */
#include "support/set_world.h"

static muster_pool *pool;
static uint32_t asked;
static uint64_t urgent_until_ns; /* an urgent job takes until then */

/* Notes a call that belongs to no set, between the atoms. */
static void be_urgent(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
  noted.calls[noted.count++] = (struct call){.set = (uint32_t)'!' - 'a', .atom = (uint32_t)'!' - '0'};
  while (clock_system() < urgent_until_ns) continue;
}

/* Submits an urgent job in the first call; in the second call the atom is done. */
static void ask_in_atom_2_of_the_first_set(muster_update *update, uint32_t atom) {
  if (update->set != 0 || atom != 2) return;
  if (asked++ == 0)
    muster_job_submit(pool, MUSTER_URGENCY_URGENT, be_urgent, NULL, NULL);
  else
    noted.answers[0][2] = MUSTER_ATOM_NEXT;
}

/* A world on the wall clock with an agent of these sets, of which nothing is noted yet. */
static little_world urgent_world(const muster_set_def *sets, uint32_t count, uint64_t period_ns, uint64_t slice_ns,
                                 muster_world_def def) {
  forget_calls();
  asked = 0;
  little_world little = little_world_of(1, def);
  pool = little.pool;
  add_type(&little, CHANGED(type_of_sets(sets, count), it.period_ns = it.period_max_ns = period_ns,
                            it.sets.slice_ns = slice_ns, it.limit_ns = 1000000000u));
  setter = spawn_at(&little, 0);
  return little;
}

/* What runs first when an urgent job comes in the third atom. The slice is long: only urgency can stop anything. */
static const char *run_called_away(muster_mode mode, muster_atom_result answer, bool *owed) {
  muster_set_def sets[2] = {set_of(4, mode, 60), set_of(1, MUSTER_MODE_RUN, 50)};
  SCOPED_WORLD little = urgent_world(sets, 2, 10 * FRAME_NS, 0, muster_world_def_default());
  noted.inside = ask_in_atom_2_of_the_first_set;
  noted.answers[0][2] = answer;
  while (noted.count == 0) run_frame_with(&little, 1000000000u);
  *owed = set_info_of(&little, setter, 0).owed;
  cr_assert_eq(statistics_of(&little).interrupted, 1);
  return calls_text();
}

/* Each atom takes at least ten times the slice. */
static void take_long(muster_update *update, uint32_t atom) {
  uint64_t end_ns = clock_system() + 10000u;
  (void)update, (void)atom;
  while (clock_system() < end_ns) continue;
}

/* An agent has sets of three atoms, and each atom uses up the slice. Checks what each frame runs. */
Test(sets_urgency, a_slice_that_is_used_up_cuts_on_the_wall_clock) {
  static const char *const expected[] = {"a0", "b0b1b2", "c0", "a1", "c0", "a2", "c0", "c0"};
  muster_set_def sets[3] = {set_of(3, MUSTER_MODE_SLICEABLE, 60), set_of(3, MUSTER_MODE_RUN, 50),
                            set_of(3, MUSTER_MODE_SUSPENDABLE, 40)};
  SCOPED_WORLD little = urgent_world(sets, 3, 100 * FRAME_NS, 1000, muster_world_def_default());
  noted.inside = take_long;
  muster_agent_wake(little.world, setter);
  run_frame(&little); /* it begins */
  for (uint32_t frame = 0; frame < COUNT_OF(expected); frame++) {
    run_frame_with(&little, 1000000000u);
    const char *text = calls_text();
    cr_assert_str_eq(text, expected[frame], "%s in frame %u", text, frame);
  }
  cr_assert_eq(statistics_of(&little).preempted, 0, "no frame ended before its time");
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

/* What the next frame runs after an urgent job outlasted its frame, so that no worker was left for the update. */
static const char *run_into_the_end(muster_mode mode) {
  enum { BUDGET_NS = 200000000 };
  muster_set_def sets[2] = {set_of(4, mode, 60), set_of(1, MUSTER_MODE_RUN, 50)};
  SCOPED_WORLD little = urgent_world(sets, 2, 100 * FRAME_NS, 0, WITH(muster_world_def, it.debt_budgets = 0.0f));
  noted.inside = ask_in_atom_2_of_the_first_set;
  muster_agent_wake(little.world, setter);
  run_frame(&little); /* it begins */
  urgent_until_ns = clock_system() + 2 * BUDGET_NS;
  run_frame_with(&little, BUDGET_NS);
  urgent_until_ns = 0;
  cr_assert_str_eq(calls_text(), "a0a1a2!!");
  cr_assert(set_info_of(&little, setter, 0).owed && set_info_of(&little, setter, 1).owed);
  cr_assert_eq(set_info_of(&little, setter, 0).cuts, 1);
  cr_assert_eq(statistics_of(&little).sets_cut, 1);
  cr_assert_eq(statistics_of(&little).preempted, 1);
  cr_assert_eq(info_of(&little, setter).last_update_ns, little.now_ns, "the update is complete");
  run_frame_with(&little, BUDGET_NS);
  cr_assert_not(set_info_of(&little, setter, 0).owed || set_info_of(&little, setter, 1).owed);
  return calls_text();
}

Test(sets_urgency, who_gave_way_and_found_no_time_is_cut) {
  cr_assert_str_eq(run_into_the_end(MUSTER_MODE_SLICEABLE), "b0a3");
  cr_assert_str_eq(run_into_the_end(MUSTER_MODE_SUSPENDABLE), "b0a0a1a2a3");
}
