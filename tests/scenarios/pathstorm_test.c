/* All walkers ask for a way at once: all of them are answered rightly, whatever the searches are cut to. */
#include "scenarios/pathstorm.h"
#include "scenarios/scenarios.h"
#include "scenarios/scene.h"

#include <stdlib.h>

/* Few walkers have a small map, in which a search takes some ms; storms come after 0.5, 12 and 22 s. */
#define WALKERS     80
#define CAPACITY_NS 3000000u
#define SECOND      30 /* in frames */

static void expect(const struct scene *it, const char *name, double value) {
  double reported = scene_reported(it, name);
  cr_assert_eq(reported, value, "%s is %g, should be %g", name, reported, value);
}

static void expect_all_is_right(const struct scene *it) {
  static const char *const none[] = {"answered_twice", "answered_wrongly",     "ways_invalid", "orders_lost",
                                     "misplaced",      "followers_miscounted", "violations"};
  for (size_t i = 0; i < sizeof none / sizeof *none; i++) expect(it, none[i], 0);
}

/* What an order demands: a way for how many walkers, to how many goals; counts either the goals that cannot be reached
 * or the others. */
typedef struct demand {
  uint32_t walkers, goals;
} demand;

static demand demand_of(const struct scene *it, uint32_t order, bool forbidden) {
  const pathstorm *self = it->instance;
  bool named[PATHSTORM_PLACES + PATHSTORM_FORBIDDEN] = {false};
  demand all = {0, 0};
  for (uint32_t i = 0; i < self->base.agents; i++) {
    uint32_t place = pathstorm_place_of(self, order, i);
    if ((place >= PATHSTORM_PLACES) != forbidden) continue;
    all.walkers++;
    all.goals += !named[place];
    named[place] = true;
  }
  return all;
}

Test(pathstorm, is_the_same_on_any_number_of_workers) {
  scene_check_determinism(muster_module_pathstorm(), scene_options(WALKERS, 3), CAPACITY_NS, 3 * SECOND);
}

Test(pathstorm, answers_every_order_with_a_way_or_that_there_is_none) {
  muster_module_options options = scene_options(250, 1);
  struct scene it = scene_open(muster_module_pathstorm(), &options, 2, CAPACITY_NS);
  scene_frames(&it, 31 * SECOND);
  uint32_t nowhere = 0;
  for (uint32_t order = 1; order <= 3; order++) nowhere += demand_of(&it, order, true).walkers;
  cr_assert_gt(nowhere, 100);
  expect(&it, "orders", 3 * 250);
  expect(&it, "orders_reachable", 3 * 250 - nowhere);
  expect(&it, "answered_with_a_way", 3 * 250 - nowhere);
  expect(&it, "answered_unreachable", nowhere);
  expect(&it, "waiting", 0);
  expect(&it, "unanswered", 0);
  expect_all_is_right(&it);
  cr_assert_lt(scene_reported(&it, "longest_wait_s"), 8.0);
  cr_assert_gt(scene_reported(&it, "cells_per_search"), 50000, "searches are long");
  cr_assert_leq(scene_reported(&it, "cells_per_atom_max"), 1024, "and atoms are short");
  cr_assert_gt(scene_reported(&it, "steps_surveyed"), 250 * 100, "ways are walked to their end");
  cr_assert_gt(scene_reported(&it, "steps_walked"), 250 * 20);
  scene_check_waits(&it);
  scene_close(&it);
}

Test(pathstorm, cuts_searches_to_their_share_of_the_frame) {
  muster_module_options options = scene_options(WALKERS, 1);
  struct scene it = scene_open(muster_module_pathstorm(), &options, 2, 1000000);
  uint64_t cuts = 0, longest_ns = 0;
  for (uint32_t i = 0; i < 3 * SECOND; i++) {
    muster_frame_report report = scene_frame(&it, SCENE_FRAME_NS);
    cuts += report.sets_cut;
    cr_assert_eq(report.overruns, 0);
    if (report.longest_claim_ns > longest_ns) longest_ns = report.longest_claim_ns;
  }
  cr_assert_gt((double)cuts, 3 * scene_reported(&it, "searches"), "a search takes several frames");
  cr_assert_leq(longest_ns, 1000000 + 100000, "an update ends with the frame, but for an atom");
  expect(&it, "waiting", 0);
  expect_all_is_right(&it);
  scene_close(&it);
}

Test(pathstorm, searches_once_for_all_who_want_to_one_goal) {
  muster_module_options options = scene_options(WALKERS, 2);
  struct scene it = scene_open(muster_module_pathstorm(), &options, 2, CAPACITY_NS);
  scene_frames(&it, 4 * SECOND);
  demand there = demand_of(&it, 1, false), nowhere = demand_of(&it, 1, true);
  uint32_t goals = there.goals + nowhere.goals;
  cr_assert_eq(there.goals, PATHSTORM_GOALS);
  cr_assert_geq(nowhere.goals, 2);
  expect(&it, "waiting", 0);
  expect(&it, "searches", goals);
  expect(&it, "searches_exhausted", nowhere.goals);
  expect(&it, "answers_searched", goals);
  expect(&it, "answers_shared", WALKERS - goals);
  expect(&it, "answers_remembered", 0);
  scene_close(&it);
}

/* The first storm finds out; the second comes while that is remembered, the third after it was forgotten. */
Test(pathstorm, remembers_for_a_while_what_cannot_be_reached) {
  muster_module_options options = scene_options(WALKERS, 2);
  struct scene it = scene_open(muster_module_pathstorm(), &options, 2, CAPACITY_NS);
  scene_frames(&it, 18 * SECOND);
  demand first = demand_of(&it, 1, true), second = demand_of(&it, 2, true), third = demand_of(&it, 3, true);
  cr_assert_eq(first.goals, PATHSTORM_FORBIDDEN, "or the second storm has to search for one of them");
  expect(&it, "searches_exhausted", first.goals);
  expect(&it, "answers_remembered", second.walkers);
  scene_frames(&it, 9 * SECOND);
  expect(&it, "waiting", 0);
  expect(&it, "searches_exhausted", first.goals + third.goals);
  expect(&it, "answers_remembered", second.walkers);
  expect(&it, "answered_unreachable", first.walkers + second.walkers + third.walkers);
  scene_close(&it);
}

/* More walkers than a solver's box holds ask in the same frame. */
Test(pathstorm, asks_again_when_a_request_was_lost) {
  enum { CROWD = 6000 };
  muster_module_options options = scene_options(CROWD, 1);
  struct scene it = scene_open(muster_module_pathstorm(), &options, 2, 100000000);
  scene_frames(&it, 4 * SECOND);
  cr_assert_gt(scene_reported(&it, "requests"), CROWD);
  expect(&it, "orders", CROWD);
  expect(&it, "waiting", 0);
  expect_all_is_right(&it);
  scene_close(&it);
}

Test(pathstorm, ends_at_the_goals) {
  muster_module_options options = scene_options(20, 5);
  struct scene it = scene_open(muster_module_pathstorm(), &options, 1, CAPACITY_NS);
  scene_frames(&it, 31 * SECOND);
  cr_assert_gt(scene_reported(&it, "arrivals"), 5);
  expect(&it, "without_a_free_field", 0);
  expect_all_is_right(&it);
  scene_close(&it);
}

/* The same answers from atoms as long as a whole search: all of them are overruns, and the price is stalls. */
Test(pathstorm, shows_what_slices_are_good_for) {
  muster_module_options options = scene_options(WALKERS, 1);
  struct scene sliced = scene_open(muster_module_pathstorm(), &options, 2, CAPACITY_NS);
  struct scene whole = scene_open(muster_module_pathstorm_whole(), &options, 2, CAPACITY_NS);
  uint64_t longest_sliced_ns = 0, longest_whole_ns = 0, overruns = 0;
  for (uint32_t i = 0; i < 5 * SECOND; i++) {
    muster_frame_report in_slices = scene_frame(&sliced, SCENE_FRAME_NS);
    muster_frame_report at_once = scene_frame(&whole, SCENE_FRAME_NS);
    if (in_slices.longest_claim_ns > longest_sliced_ns) longest_sliced_ns = in_slices.longest_claim_ns;
    if (at_once.longest_claim_ns > longest_whole_ns) longest_whole_ns = at_once.longest_claim_ns;
    cr_assert_eq(in_slices.overruns, 0);
    overruns += at_once.overruns;
    cr_assert_eq(at_once.agents_quarantined, 0);
  }
  static const char *const same[] = {"orders", "answered_with_a_way", "answered_unreachable", "searches"};
  for (size_t i = 0; i < sizeof same / sizeof *same; i++) expect(&whole, same[i], scene_reported(&sliced, same[i]));
  expect_all_is_right(&whole);
  expect(&whole, "waiting", 0);
  cr_assert_geq((double)overruns, scene_reported(&whole, "searches"));
  cr_assert_gt(longest_whole_ns, 4000000, "of a map of 65,536 cells");
  cr_assert_lt(longest_sliced_ns, CAPACITY_NS + 100000);
  cr_assert_gt(scene_reported(&whole, "cells_per_atom_max"), 30000);
  scene_close(&sliced);
  scene_close(&whole);
}

Test(pathstorm, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_pathstorm());
  scene_check_refusals(muster_module_pathstorm_whole());
}
