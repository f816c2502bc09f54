/* Where atoms of a type were over its limit, claims of that type are not started so shortly before the end of a frame
 * that one more such overrun would cross it, as long as something else waits; and no time is left unused for that. The
 * clock is told the time, so that what a frame does follows from costs alone. */
#include "world/told_clock.h"

enum { CROWD = 3000, FEW = 300, BUDGET_NS = 4000000, COST_NS = 20000, LIMIT_NS = 100000, OVER_NS = 700000 };
enum { OVER_ONE_IN = 97, FRAMES = 400 };

struct scene {
  uint32_t wild, late; /* wild updates; those of them that began where most of an overrun crosses the end */
  uint32_t overruns;
  uint64_t frame_ns;
};

static struct scene scene;

static muster_atom_result run_wild(muster_update *update) {
  (void)update;
  bool over = ++scene.wild % OVER_ONE_IN == 0;
  scene.overruns += over;
  scene.late += scene.overruns > 0 && told_ns + OVER_NS * 3 / 4 > scene.frame_ns + BUDGET_NS;
  spend(over ? OVER_NS : COST_NS);
  return MUSTER_ATOM_NEXT;
}

static void spawn_type(little_world *little, muster_type_def type, uint32_t agents) {
  add_type(little, CHANGED(type, it.limit_ns = LIMIT_NS, it.overruns.demote = it.overruns.quarantine = 0));
  for (uint32_t i = 0; i < agents; i++) spawn_at(little, i);
}

static little_world scene_create(uint32_t tame, uint32_t wild) {
  static const uint64_t cost_ns = COST_NS;
  little_world little = told_world(muster_world_def_default());
  scene = (struct scene){0};
  if (tame) spawn_type(&little, spender_type(&cost_ns), tame);
  spawn_type(&little, type_running(run_wild, COST_NS), wild);
  return little;
}

static muster_frame_report run_scene(little_world *little) {
  scene.frame_ns = told_ns;
  return run_frame_with(little, BUDGET_NS);
}

Test(overruns_end, while_others_wait_no_frame_ends_late_by_an_overrun) {
  SCOPED(told_world_destroy) little_world little = scene_create(CROWD, FEW);
  uint32_t full = 0, wild = 0, overruns = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = run_scene(&little);
    if (i == FRAMES / 4) wild = scene.wild, overruns = scene.overruns, scene.late = 0;
    if (i <= FRAMES / 4 || !report.carried) continue;
    full++;
    cr_expect_leq(report.wall_ns, BUDGET_NS + COST_NS, "frame %u took %lu ns", i, report.wall_ns);
  }
  cr_expect_gt(full, FRAMES / 2, "others waited in %u frames", full);
  cr_expect_eq(scene.late, 0, "%u of %u were begun at the end", scene.late, scene.wild - wild);
  cr_expect_gt(scene.overruns, overruns + 5, "wild agents run, and overrun: %u", scene.overruns);
}

/* Where all agents are of such a type, nothing else is left to run: they fill the frame. */
Test(overruns_end, where_nothing_else_waits_the_time_is_used_all_the_same) {
  SCOPED(told_world_destroy) little_world little = scene_create(0, CROWD);
  uint32_t full = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = run_scene(&little);
    if (!report.carried) continue;
    full++;
    cr_expect_geq(report.update_cpu_ns + report.repaid_ns, BUDGET_NS * 9 / 10, "frame %u: %lu of 4 ms", i,
                  report.update_cpu_ns);
  }
  muster_statistics sums = statistics_of(&little);
  cr_expect_gt(full, FRAMES / 2, "others waited in %u frames", full);
  cr_expect_gt(scene.late, 0, "at the end as well");
  cr_expect_eq(sums.idle_frames[MUSTER_IDLE_FAULT], 0);
}
