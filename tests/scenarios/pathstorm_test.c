/* All walkers ask for a way at once: all of them are answered rightly, whatever the searches are cut to. */
#include "examples/worlds/pathstorm.h"
#include "scenarios/scene.h"

/* Few walkers have a small map, in which a search takes some ms; storms come after 0.5, 12 and 22 s. */
#define WALKERS     80
#define CAPACITY_NS 3000000u
#define SECOND      30 /* in frames */

static struct scene open_with(uint32_t walkers, uint64_t seed) {
  return scene_open(muster_module_pathstorm(), scene_options(walkers, seed), 2, CAPACITY_NS);
}

static void expect_all_is_right(const struct scene *scene) {
  scene_says(scene, "answered_twice = 0, answered_wrongly = 0, ways_invalid = 0, orders_lost = 0, misplaced = 0");
  scene_says(scene, "followers_miscounted = 0, violations = 0");
}

/* What an order demands: a way for how many walkers, to how many goals; counts either the goals that cannot be reached
 * or the others. */
typedef struct demand {
  uint32_t walkers, goals;
} demand;

static demand demand_of(const struct scene *scene, uint32_t order, bool forbidden) {
  const pathstorm *self = scene->instance;
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
  SCOPED(scene_close) struct scene scene = open_with(250, 1);
  scene_frames(&scene, 31 * SECOND);
  uint32_t nowhere = 0;
  for (uint32_t order = 1; order <= 3; order++) nowhere += demand_of(&scene, order, true).walkers;
  cr_assert_gt(nowhere, 100);
  scene_expect(&scene, "orders", 3 * 250);
  scene_expect(&scene, "orders_reachable", 3 * 250 - nowhere);
  scene_expect(&scene, "answered_with_a_way", 3 * 250 - nowhere);
  scene_expect(&scene, "answered_unreachable", nowhere);
  scene_says(&scene, "waiting = 0, unanswered = 0, longest_wait_s < 8, steps_walked > 5000");
  expect_all_is_right(&scene);
  cr_assert_gt(scene_reported(&scene, "cells_per_search"), 50000, "searches are long");
  cr_assert_leq(scene_reported(&scene, "cells_per_atom_max"), 1024, "and atoms are short");
  cr_assert_gt(scene_reported(&scene, "steps_surveyed"), 250 * 100, "ways are walked to their end");
  scene_check_waits(&scene);
}

Test(pathstorm, cuts_searches_to_their_share_of_the_frame) {
  SCOPED(scene_close) struct scene scene = scene_open(muster_module_pathstorm(), scene_options(WALKERS, 1), 2, 1000000);
  uint64_t cuts = 0;
  for (uint32_t i = 0; i < 3 * SECOND; i++) {
    muster_frame_report report = scene_frame(&scene, SCENE_FRAME_NS);
    cuts += report.sets_cut;
    cr_assert_eq(report.overruns, 0);
  }
  cr_assert_gt((double)cuts, 3 * scene_reported(&scene, "searches"), "a search takes several frames");
  cr_assert_leq(scene.longest_claim_ns, 1000000 + 100000, "an update ends with the frame, but for an atom");
  scene_expect(&scene, "waiting", 0);
  expect_all_is_right(&scene);
}

Test(pathstorm, searches_once_for_all_who_want_to_one_goal) {
  SCOPED(scene_close) struct scene scene = open_with(WALKERS, 2);
  scene_frames(&scene, 4 * SECOND);
  demand there = demand_of(&scene, 1, false), nowhere = demand_of(&scene, 1, true);
  uint32_t goals = there.goals + nowhere.goals;
  cr_assert_eq(there.goals, PATHSTORM_GOALS);
  cr_assert_geq(nowhere.goals, 2);
  scene_expect(&scene, "waiting", 0);
  scene_expect(&scene, "searches", goals);
  scene_expect(&scene, "searches_exhausted", nowhere.goals);
  scene_expect(&scene, "answers_searched", goals);
  scene_expect(&scene, "answers_shared", WALKERS - goals);
  scene_expect(&scene, "answers_remembered", 0);
}

/* The first storm finds out; the second comes while that is remembered, the third after it was forgotten. */
Test(pathstorm, remembers_for_a_while_what_cannot_be_reached) {
  SCOPED(scene_close) struct scene scene = open_with(WALKERS, 2);
  scene_frames(&scene, 18 * SECOND);
  demand first = demand_of(&scene, 1, true), second = demand_of(&scene, 2, true), third = demand_of(&scene, 3, true);
  cr_assert_eq(first.goals, PATHSTORM_FORBIDDEN, "or the second storm has to search for one of them");
  scene_expect(&scene, "searches_exhausted", first.goals);
  scene_expect(&scene, "answers_remembered", second.walkers);
  scene_frames(&scene, 9 * SECOND);
  scene_expect(&scene, "waiting", 0);
  scene_expect(&scene, "searches_exhausted", first.goals + third.goals);
  scene_expect(&scene, "answers_remembered", second.walkers);
  scene_expect(&scene, "answered_unreachable", first.walkers + second.walkers + third.walkers);
}

/* More walkers than a solver's box holds ask in the same frame. */
Test(pathstorm, asks_again_when_a_request_was_lost) {
  enum { CROWD = 6000 };
  SCOPED(scene_close) struct scene scene = scene_open(muster_module_pathstorm(), scene_options(CROWD, 1), 2, 100000000);
  scene_frames(&scene, 4 * SECOND);
  cr_assert_gt(scene_reported(&scene, "requests"), CROWD);
  scene_expect(&scene, "orders", CROWD);
  scene_expect(&scene, "waiting", 0);
  expect_all_is_right(&scene);
}

Test(pathstorm, ends_at_the_goals) {
  SCOPED(scene_close) struct scene scene = scene_open(muster_module_pathstorm(), scene_options(20, 5), 1, CAPACITY_NS);
  scene_frames(&scene, 31 * SECOND);
  scene_says(&scene, "arrivals > 5, without_a_free_field = 0");
  expect_all_is_right(&scene);
}

/* The same answers from atoms as long as a whole search: all of them are overruns, and the price is stalls. */
Test(pathstorm, shows_what_slices_are_good_for) {
  SCOPED(scene_close) struct scene sliced = open_with(WALKERS, 1);
  SCOPED(scene_close)
  struct scene whole = scene_open(muster_module_pathstorm_whole(), scene_options(WALKERS, 1), 2, CAPACITY_NS);
  uint64_t overruns = 0;
  for (uint32_t i = 0; i < 5 * SECOND; i++) {
    muster_frame_report at_once = scene_frame(&whole, SCENE_FRAME_NS);
    cr_assert_eq(scene_frame(&sliced, SCENE_FRAME_NS).overruns, 0);
    overruns += at_once.overruns;
    cr_assert_eq(at_once.agents_quarantined, 0);
  }
  static const char *const same[] = {"orders", "answered_with_a_way", "answered_unreachable", "searches"};
  for (size_t i = 0; i < COUNT_OF(same); i++) scene_expect(&whole, same[i], scene_reported(&sliced, same[i]));
  expect_all_is_right(&whole);
  scene_expect(&whole, "waiting", 0);
  cr_assert_geq((double)overruns, scene_reported(&whole, "searches"));
  cr_assert_gt(whole.longest_claim_ns, 4000000, "of a map of 65,536 cells");
  cr_assert_lt(sliced.longest_claim_ns, CAPACITY_NS + 100000);
  cr_assert_gt(scene_reported(&whole, "cells_per_atom_max"), 30000);
}

Test(pathstorm, refuses_options_that_it_cannot_meet) {
  scene_check_refusals(muster_module_pathstorm());
  scene_check_refusals(muster_module_pathstorm_whole());
}
