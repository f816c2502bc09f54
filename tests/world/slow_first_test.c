/* A first update that is slow, as where a JIT compiles or a table is loaded, says nothing of those after it: a second
 * later all run as often as before, and hardly a frame leaves its budget. The clock is told the time; one host lets the
 * library's worker run the updates, one plans. */
#include "support/planned_world.h"
#include "world/told_clock.h"

enum { SECOND = 20, COMES = 10 * SECOND, FRAMES = 30 * SECOND }; /* in frames; the player comes */
enum { STEP_NS = 50000000, BUDGET_NS = 10000000, PERIOD_NS = 100000000, AGENTS_MOST = 2000, NEAR_EVERY = 20, GROUPS };

static const uint64_t cheap_ns = 1000, dear_ns = 20000;

/* Where a player comes, each twentieth agent becomes important, and their first update is slow; else the first is. */
struct story {
  uint32_t agents;
  uint64_t first_ns, cheap_ns;
  bool player, planned;
};

static struct scene {
  const struct story *story;
  uint64_t now_ns, frame_ns; /* frame_ns: spent in updates of the frame */
  uint32_t full;             /* updates at level 0 */
  uint32_t runs[2];          /* in this second, of the far and the near */
  uint64_t last_ns[AGENTS_MOST];
} scene;

static uint64_t live(uint32_t agent, uint32_t level) {
  uint64_t cost_ns = level || !scene.story->player ? scene.story->cheap_ns : dear_ns;
  if (level == 0 && scene.full++ == 0) cost_ns = scene.story->first_ns;
  scene.runs[agent % NEAR_EVERY == 0]++;
  scene.last_ns[agent] = scene.now_ns;
  spend(cost_ns);
  scene.frame_ns += cost_ns;
  return cost_ns;
}

static muster_atom_result live_atom(muster_update *update) {
  live((uint32_t)(uintptr_t)update->user, update->level);
  return MUSTER_ATOM_NEXT;
}

static planned_world *open_world(const struct story *story) {
  static const muster_atom atom = {live_atom, MUSTER_ROLE_BEHAVIOUR, 20000};
  scene = (struct scene){.story = story};
  told_ns = 1000000000u;
  own_ns = 1;
  muster_world_def def = WITH(muster_world_def, it.watch.stuck_ns = 0, it.planner_workers = story->planned,
                              it.planner.by_clock = story->planned);
  planned_world *world = calloc(1, sizeof *world);
  world->little.world = muster_world_create(&def);
  cr_assert_not_null(world->little.world, "%s", muster_last_error());
  tell_clock(&world->little);
  clock_tell_thread_cpu(&own_ns);
  muster_type_def type = CHANGED(story->planned ? parts_type(1) : type_with(&atom, 1), it.parts.part_ns = atom.model_ns,
                                 it.overruns.demote = 0);
  if (story->player) type.levels.count = 2;
  register_type(&world->little, &type);
  for (uint32_t i = 0; i < story->agents; i++)
    spawn_as(&world->little, WITH(muster_agent_def, it.position.x = i % NEAR_EVERY ? 1000.0 + i : 0.01 * i,
                                  it.user = (void *)(uintptr_t)i));
  return world;
}

static void run_as_planned(planned_world *world) {
  uint32_t count = plan_with(world, BUDGET_NS, ENTRIES_MAX), done = 0;
  uint64_t end_ns = told_ns + world->plan.run_ns;
  for (; done < count && told_ns < end_ns; done++) {
    world->results[done] = result_as_planned(&world->entries[done], 1);
    world->results[done].cost_ns = live((uint32_t)world->entries[done].user, world->entries[done].level);
  }
  report(world, done);
}

static void run_one(planned_world *world) {
  scene.now_ns += STEP_NS;
  world->little.now_ns = scene.now_ns - FRAME_NS; /* a plan goes on by that */
  if (told_ns < 1000000000u + scene.now_ns) told_ns = 1000000000u + scene.now_ns;
  scene.frame_ns = 0;
  if (scene.story->planned)
    run_as_planned(world);
  else
    assert_ok(muster_frame_run(world->little.world, &(muster_frame){scene.now_ns, BUDGET_NS}));
}

static bool somebody_waits(void) {
  for (uint32_t i = 0; i < scene.story->agents; i++)
    if (scene.now_ns - scene.last_ns[i] >= PERIOD_NS) return true;
  return false;
}

/* From a second after the slow update on each agent runs ten times a second. */
static void expect_rates(uint32_t frame, const char *host) {
  uint32_t near = scene.story->agents / NEAR_EVERY;
  double far_rate = (double)scene.runs[0] / (scene.story->agents - near), near_rate = (double)scene.runs[1] / near;
  cr_expect_geq(far_rate, 9.5, "%s: in second %u", host, frame / SECOND);
  cr_expect_geq(near_rate, 9.5, "%s: near the player, in second %u", host, frame / SECOND);
}

static void expect_that_it_passes(const struct story *story) {
  static const char *const hosts[] = {"the library", "the planner"};
  SCOPED(planned_world_end) planned_world *world = open_world(story);
  uint32_t idle = 0, from = (story->player ? COMES : 0) + SECOND;
  for (uint32_t i = 0; i < FRAMES; i++) {
    if (i % SECOND == 0) scene.runs[0] = scene.runs[1] = 0;
    if (story->player && i == COMES) observe_at(&world->little, 0);
    run_one(world);
    idle += scene.frame_ns < BUDGET_NS / 5 && somebody_waits();
    if (i >= from && i % SECOND == SECOND - 1) expect_rates(i, hosts[story->planned]);
  }
  cr_expect_gt(scene.full, 0);
  cr_expect_leq(idle, 10, "%s: frames under a fifth of the budget while somebody waits", hosts[story->planned]);
  clock_tell_thread_cpu(NULL);
}

static void expect_of_both(struct story story) {
  for (int planned = 0; planned < 2; planned++) {
    story.planned = planned;
    expect_that_it_passes(&story);
  }
}

Test(slow_first, near_a_player_of_20_ms_is_over_within_a_second) {
  expect_of_both((struct story){.agents = AGENTS_MOST, .first_ns = 20000000, .cheap_ns = cheap_ns, .player = true});
}

Test(slow_first, near_a_player_of_200_ms_is_over_within_a_second) {
  expect_of_both((struct story){.agents = AGENTS_MOST, .first_ns = 200000000, .cheap_ns = cheap_ns, .player = true});
}

Test(slow_first, of_all_among_updates_of_less_than_a_microsecond_stalls_nobody) {
  expect_of_both((struct story){.agents = 200, .first_ns = 200000000, .cheap_ns = 300});
}
