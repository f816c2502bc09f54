/* A budget that planning alone uses up: work goes on, an atom at a time, and the host is told why so little runs. */
#include "world/fixture.h"

/* With so many types every frame plans for longer than the smaller budget: each type's periods are fitted apart. */
enum { TYPES = 1024, AGENTS = 20480, FRAMES = 150 };

/* Runs a world of 20,480 agents of 1,024 types on one thread. Returns how many log lines tell of planning. */
static uint32_t lines_under(uint64_t budget_ns, uint32_t *runs) {
  struct said said = {.about = "planning alone"};
  SCOPED_WORLD little = little_world_of(
      1, WITH(muster_world_def, it.log = log_to(&said), it.debt_budgets = 0.0f, it.limits.types_max = TYPES));
  muster_type_def def = CHANGED(type_running(count_in_user, 1000), it.user = runs);
  for (int i = 0; i < AGENTS; i++) {
    if (i % (AGENTS / TYPES) == 0) register_type(&little, &def);
    spawn_at(&little, i);
  }
  while (run_frame_with(&little, 1000000000u).spawns_waiting) continue;
  *runs = 0;
  for (int i = 0; i < FRAMES; i++) run_frame_with(&little, budget_ns);
  if (said.lines) cr_expect(strstr(said.last, " of 10 us)"), "it does not tell of the budget: %s", said.last);
  return said.lines;
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
