/* On the wall clock: where runaways were seen, claims of their type are not started so shortly before the end of a
 * frame that one more runaway would cross it. Nothing is asserted of how fast this machine is: what must not happen is
 * checked in every frame; what must happen needs only one frame of many. */
#include "support/little_world.h"

#include "base/clock.h"

enum { ROUNDS = 10, HONEST_FRAMES = 200 }; /* rounds of 4 frames: shorter than the time for which a type is watched */

static const uint64_t budget_ns = 40000000u;
static const uint64_t paced_ns = 37000000u;   /* since the begin of the frame, when the turn of the others comes */
static const uint64_t runaway_ns = 12000000u; /* more than what is left then, even when the memory of it fades */

struct part {
  uint64_t begin_ns; /* of the frame */
  uint64_t turns;    /* taken in all */
  bool paces, overruns;
  uint64_t paced, runaway, steady; /* turn of each agent in this frame; 0 = it did not run */
  clock_source clock;
};

static void spin_until(const struct part *part, uint64_t end_ns) {
  while (clock_now(&part->clock) < end_ns) continue;
}

static muster_atom_result pace(muster_update *update) {
  struct part *part = update->type_user;
  if (part->paces) spin_until(part, part->begin_ns + paced_ns);
  part->paced = ++part->turns;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result run_away(muster_update *update) {
  struct part *part = update->type_user;
  /* CPU time of its own: what the kernel takes away is no overrun. */
  uint64_t end_ns = clock_thread_cpu() + runaway_ns;
  while (part->overruns && clock_thread_cpu() < end_ns) continue;
  part->runaway = ++part->turns;
  return MUSTER_ATOM_NEXT;
}

static muster_atom_result stay(muster_update *update) {
  struct part *part = update->type_user;
  spin_until(part, clock_now(&part->clock) + 25000u);
  part->steady = ++part->turns;
  return MUSTER_ATOM_NEXT;
}

/* Spawns one agent of a type of its own, so that the type's dearest claim is one update. */
static void cast(little_world *little, struct part *part, const muster_atom *atom, float floor, uint64_t limit_ns) {
  muster_type_def def = muster_type_def_default();
  muster_agent_def agent = muster_agent_def_default();
  def.atoms = atom;
  def.atom_count = 1;
  def.period_ns = def.period_max_ns = 1000000u;
  def.limit_ns = limit_ns;
  def.overruns.demote = def.overruns.quarantine = 0;
  def.user = part;
  register_type(little, &def);
  agent.type = little->type;
  agent.importance_floor = floor;
  cr_assert(!muster_agent_is_null(muster_agent_spawn(little->world, &agent)), "%s", muster_last_error());
}

static void run(little_world *little, struct part *part) {
  part->paced = part->runaway = part->steady = 0;
  part->begin_ns = clock_now(&part->clock);
  run_frame_with(little, budget_ns);
}

/* The number of rounds in which the runaway and the steady agent ran in the pacer's frame, after it. */
struct seen {
  uint32_t runaway, steady;
};

static struct seen run_rounds(little_world *little, struct part *part) {
  struct seen seen = {0};
  for (uint32_t i = 0; i < ROUNDS; i++) {
    part->paces = true;
    run(little, part);
    seen.runaway += part->paced && part->runaway > part->paced;
    seen.steady += part->paced && part->steady > part->paced;
    part->paces = false;
    for (uint32_t k = 0; k < 3; k++) run(little, part);
  }
  return seen;
}

Test(overruns, types_with_runaways_start_nothing_shortly_before_the_end_until_they_behave) {
  static const muster_atom paces[] = {{pace, MUSTER_ROLE_BEHAVIOUR, 30000}};
  static const muster_atom runs_away[] = {{run_away, MUSTER_ROLE_BEHAVIOUR, 1000}};
  static const muster_atom stays[] = {{stay, MUSTER_ROLE_BEHAVIOUR, 1000}};
  muster_world_def def = muster_world_def_default();
  muster_statistics statistics = muster_statistics_default();
  def.watch.stuck_ns = 0;
  def.debt_budgets = 0;
  little_world little = little_world_create(1, &def);
  struct part part = {.clock = clock_calibrate()};
  cast(&little, &part, paces, 1.0f, 1000000000u);
  cast(&little, &part, stays, 0.5f, 1000000000u);
  cast(&little, &part, runs_away, 0.0f, 1000000u);
  for (uint32_t i = 0; i < HONEST_FRAMES; i++) run(&little, &part);
  cr_assert_gt(run_rounds(&little, &part).runaway, 0, "no atom was over its limit, and yet it was held back");
  part.overruns = true;
  for (uint32_t i = 0; i < 3; i++) run(&little, &part);
  part.overruns = false;
  muster_statistics_read(little.world, &statistics);
  cr_assert_gt(statistics.atoms_over_limit, 0);
  for (uint32_t i = 0; i < 20; i++) run(&little, &part); /* until the mean forgets the runaways */
  struct seen seen = run_rounds(&little, &part);
  cr_assert_eq(seen.runaway, 0, "started %u times where another runaway would have crossed the end", seen.runaway);
  cr_assert_gt(seen.steady, 0, "the others waited with it");
  cr_assert_gt(part.runaway, 0, "it does not run at all any more");
  for (uint32_t i = 0; i < HONEST_FRAMES; i++) run(&little, &part);
  cr_assert_gt(run_rounds(&little, &part).runaway, 0, "held back for ever");
  little_world_destroy(&little);
}
