/* Load that the host announces: a boss takes 5 ms of each frame for a second. Frames of 10 ms follow each other every
 * 12 ms; a frame that is not over then makes the next one begin late. The clock is told the time. */
#include "world/told_clock.h"

enum { AGENTS = 4000, COST_NS = 20000, BUDGET_NS = 10000000, PERIOD_NS = 12000000, BOSS_NS = 5000000 };

/* Ten seconds of a host's loop, of which the sixth has the boss. */
struct told {
  uint32_t late;                /* frames that began after their time */
  double before, during, after; /* how far periods are stretched just before, in, and a second after it */
};

static double stretch_of(const muster_frame_report *report) {
  return (double)report->utilisation_nominal / (double)report->utilisation_fitted;
}

static muster_result announce(const little_world *little, muster_load load) {
  return tune_world(little, WITH(muster_world_tuning, it.load = load));
}

static struct told run_host(bool announced) {
  static const uint64_t from_ns = 5000000000u, until_ns = 6000000000u, cost_ns = COST_NS;
  struct told told = {0};
  SCOPED(told_world_destroy) little_world little = told_world(muster_world_def_default());
  add_type(&little, spender_type(&cost_ns));
  for (uint32_t i = 0; i < AGENTS; i++) spawn_at(&little, i);
  uint64_t due_ns = told_ns;
  for (uint64_t now_ns = 0; now_ns < 10000000000u; now_ns += PERIOD_NS) {
    if (announced && now_ns / PERIOD_NS == 4500000000u / PERIOD_NS)
      assert_ok(announce(&little, (muster_load){.from_ns = from_ns, .until_ns = until_ns, .frame_ns = BOSS_NS}));
    told.late += told_ns > due_ns + COST_NS;
    if (told_ns < due_ns) told_ns = due_ns;
    due_ns += PERIOD_NS;
    if (now_ns >= from_ns && now_ns < until_ns) told_ns += BOSS_NS;
    muster_frame_report report = muster_frame_report_default();
    muster_frame_run(little.world, &(muster_frame){now_ns, BUDGET_NS});
    muster_frame_report_read(little.world, &report);
    if (now_ns < from_ns) told.before = stretch_of(&report);
    if (now_ns >= from_ns && now_ns < until_ns) told.during = stretch_of(&report);
    if (announced && now_ns >= from_ns && now_ns < until_ns) cr_assert_eq(report.announced_ns, BOSS_NS);
    if (now_ns < 7000000000u) told.after = stretch_of(&report);
  }
  return told;
}

Test(load, that_is_announced_makes_no_frame_late_and_periods_stretch_before_it) {
  struct told not = run_host(false), told = run_host(true);
  cr_assert_gt(not .late, 10, "the same host without a word");
  cr_assert_eq(told.late, 0);
  cr_assert_gt(told.before, 1.2 * told.after, "%g before, %g after", told.before, told.after);
  cr_assert_gt(told.during, 1.6 * told.after);
  cr_assert_float_eq(told.after, not .after, 0.1 * not .after, "within a second all is as it was: %g and %g",
                     told.after, not .after);
}

/* Under the virtual clock the capacity is less, whatever the number of workers; a record has the announcement. */
static uint64_t hash_with(uint32_t workers, bool announced) {
  SCOPED_WORLD little =
      peopled(typed_world(workers, virtual_world_def_default(), type_running(nothing, COST_NS)), 1000);
  muster_load load = {.from_ns = 60 * FRAME_NS, .until_ns = 80 * FRAME_NS, .frame_ns = 300000};
  if (announced) cr_assert_eq(announce(&little, load), MUSTER_OK);
  for (uint32_t i = 0; i < 100; i++) {
    muster_frame_report report = run_frame_with(&little, 500000);
    bool now = announced && little.now_ns >= 60 * FRAME_NS && little.now_ns < 80 * FRAME_NS;
    cr_assert_eq(report.announced_ns, now ? 300000 : 0, "frame %u", i);
  }
  return muster_world_hash(little.world);
}

Test(load, is_the_same_on_any_number_of_workers) {
  uint64_t alone = hash_with(1, true);
  cr_assert_eq(hash_with(2, true), alone);
  cr_assert_eq(hash_with(4, true), alone);
  cr_assert_neq(hash_with(1, false), alone);
}

Test(load, is_checked_and_taken_back) {
  SCOPED_WORLD little = little_world_create(1, NULL);
  muster_load load = {.from_ns = 1, .until_ns = 1000000000u, .frame_ns = 10000000001u};
  assert_refused(announce(&little, load), MUSTER_E_ARGUMENT, "load.frame_ns");
  load.frame_ns = UINT64_MAX / 2;
  cr_assert_eq(announce(&little, load), MUSTER_E_ARGUMENT);
  load.frame_ns = 1000000000u;
  cr_assert_eq(announce(&little, load), MUSTER_OK);
  run_frame_with(&little, 800000); /* takes it in */
  cr_assert_eq(run_frame_with(&little, 800000).announced_ns, 700000, "an eighth of a budget is left");
  cr_assert_eq(announce(&little, CHANGED(muster_world_tuning_default().load, it.until_ns = 1)), MUSTER_OK);
  run_frame_with(&little, 800000);
  cr_assert_eq(run_frame_with(&little, 800000).announced_ns, 0);
}
