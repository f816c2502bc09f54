/* A budget that planning alone uses up: work goes on, an atom at a time, and the host is told why so little runs. */
#include "support/little_world.h"

/* With so many types every frame plans for longer than the smaller budget: the periods of each type are fitted
 * separately. */
enum { TYPES = 1024, AGENTS = 20480, FRAMES = 150 };

static muster_atom_result count_run(muster_update *update) {
  uint32_t *runs = update->type_user;
  (*runs)++;
  return MUSTER_ATOM_NEXT;
}

static void count_lines(muster_log_level level, const char *message, void *user) {
  uint32_t *lines = user;
  if (level != MUSTER_LOG_WARNING || !strstr(message, "planning alone")) return;
  (*lines)++;
  cr_expect(strstr(message, " of 10 us)"), "it does not tell of the budget: %s", message);
}

/* Runs a world of 20,480 agents of 1,024 types on one thread. Returns how many log lines tell of planning. */
static uint32_t lines_under(uint64_t budget_ns, uint32_t *runs) {
  uint32_t lines = 0;
  muster_world_def world = muster_world_def_default();
  world.log = (muster_log_sink){count_lines, &lines};
  world.debt_budgets = 0.0f;
  world.limits.types_max = TYPES;
  little_world little = little_world_create(1, &world);
  muster_type_def def = muster_type_def_default();
  const muster_atom atom = {count_run, MUSTER_ROLE_BEHAVIOUR, 1000};
  def.atoms = &atom;
  def.atom_count = 1;
  def.user = runs;
  for (int i = 0; i < AGENTS; i++) {
    if (i % (AGENTS / TYPES) == 0) register_type(&little, &def);
    spawn_at(&little, i);
  }
  while (run_frame_with(&little, 1000000000u).spawns_waiting) {
  }
  *runs = 0;
  for (int i = 0; i < FRAMES; i++) run_frame_with(&little, budget_ns);
  little_world_destroy(&little);
  return lines;
}

Test(planning, a_budget_that_planning_uses_up_is_told_of_once_and_work_goes_on) {
  uint32_t runs = 0;
  cr_assert_eq(lines_under(10000u, &runs), 1);
  cr_assert_geq(runs, FRAMES / 2, "an atom in a frame");
}

Test(planning, a_budget_that_is_large_enough_is_not) {
  uint32_t runs = 0;
  cr_assert_eq(lines_under(1000000000u, &runs), 0);
  cr_assert_gt(runs, FRAMES);
}
