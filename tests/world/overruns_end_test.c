/* Where atoms of a type were over its limit, claims of that type are not started so shortly before the end of a frame
 * that one more such overrun would cross it, as long as something else waits; and no time is left unused for that. The
 * clock is told the time, so that what a frame does follows from costs alone. */
#include "base/clock.h"
#include "run/runner.h"
#include "support/little_world.h"
#include "world/world.h"

enum { CROWD = 3000, FEW = 300, BUDGET_NS = 4000000, COST_NS = 20000, LIMIT_NS = 100000, OVER_NS = 700000 };
enum { OVER_ONE_IN = 97, FRAMES = 400 };

struct scene {
  uint64_t told_ns, own_ns;
  uint32_t wild, late; /* wild updates; those of them that began where most of an overrun crosses the end */
  uint32_t overruns;
  uint64_t frame_ns;
};

static struct scene scene;

static void spend(uint64_t ns) {
  scene.told_ns += ns;
  scene.own_ns += ns;
}

static muster_atom_result stay_tame(muster_update *update) {
  (void)update;
  spend(COST_NS);
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result run_wild(muster_update *update) {
  (void)update;
  bool over = ++scene.wild % OVER_ONE_IN == 0;
  scene.overruns += over;
  scene.late += scene.overruns > 0 && scene.told_ns + OVER_NS * 3 / 4 > scene.frame_ns + BUDGET_NS;
  spend(over ? OVER_NS : COST_NS);
  return MUSTER_ATOM_NEXT;
}

static void spawn_type(little_world *little, const muster_atom *atom, uint32_t agents) {
  muster_type_def type = type_with(atom, 1);
  type.limit_ns = LIMIT_NS;
  type.overruns.demote = type.overruns.quarantine = 0;
  register_type(little, &type);
  for (uint32_t i = 0; i < agents; i++) spawn_at(little, i);
}

static little_world scene_create(uint32_t tame, uint32_t wild) {
  static const muster_atom tames[] = {{stay_tame, MUSTER_ROLE_BEHAVIOUR, COST_NS}};
  static const muster_atom wilds[] = {{run_wild, MUSTER_ROLE_BEHAVIOUR, COST_NS}};
  muster_world_def def = muster_world_def_default();
  def.watch.stuck_ns = 0;
  scene = (struct scene){.told_ns = 1000000000u, .own_ns = 1};
  little_world little = little_world_create(1, &def);
  little.world->runner->clock = clock_told(&scene.told_ns);
  clock_tell_thread_cpu(&scene.own_ns);
  if (tame) spawn_type(&little, tames, tame);
  spawn_type(&little, wilds, wild);
  return little;
}

static muster_frame_report run_scene(little_world *little) {
  scene.frame_ns = scene.told_ns;
  return run_frame_with(little, BUDGET_NS);
}

static void scene_destroy(little_world *little) {
  little_world_destroy(little);
  clock_tell_thread_cpu(NULL);
}

Test(overruns_end, while_others_wait_no_frame_ends_late_by_an_overrun) {
  little_world little = scene_create(CROWD, FEW);
  uint32_t full = 0, wild = 0, overruns = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = run_scene(&little);
    if (i == FRAMES / 4) wild = scene.wild, overruns = scene.overruns, scene.late = 0;
    if (i <= FRAMES / 4 || !report.carried) continue;
    full++;
    cr_expect_leq(report.wall_ns, BUDGET_NS + COST_NS, "frame %u took %lu ns", i, (unsigned long)report.wall_ns);
  }
  cr_expect_gt(full, FRAMES / 2, "others waited in %u frames", full);
  cr_expect_eq(scene.late, 0, "%u of %u were begun at the end", scene.late, scene.wild - wild);
  cr_expect_gt(scene.overruns, overruns + 5, "wild agents run, and overrun: %u", scene.overruns);
  scene_destroy(&little);
}

/* Where all agents are of such a type, nothing else is left to run: they fill the frame. */
Test(overruns_end, where_nothing_else_waits_the_time_is_used_all_the_same) {
  little_world little = scene_create(0, CROWD);
  uint32_t full = 0;
  for (uint32_t i = 0; i < FRAMES; i++) {
    muster_frame_report report = run_scene(&little);
    if (!report.carried) continue;
    full++;
    cr_expect_geq(report.update_cpu_ns + report.repaid_ns, BUDGET_NS * 9 / 10, "frame %u: %lu of 4 ms", i,
                  (unsigned long)report.update_cpu_ns);
  }
  muster_statistics sums = muster_statistics_default();
  muster_statistics_read(little.world, &sums);
  cr_expect_gt(full, FRAMES / 2, "others waited in %u frames", full);
  cr_expect_gt(scene.late, 0, "at the end as well");
  cr_expect_eq(sums.idle_frames[MUSTER_IDLE_FAULT], 0);
  scene_destroy(&little);
}
