/* The rows: the worlds of `bench stages`, back to back and with one worker, because what is touched depends neither on
 * caches nor on how frames follow each other. */
#include "check.h"
#include "lines.h"
#include "names.h"
#include "parts.h"

#include "stages_plan.h"

#include <stdlib.h>

enum { FRAMES = 30, FRAMES_QUICK = 3, EVICTED_BYTES = 64 /* as good as none */ };

static bool lines_count_frames(struct stages_world *world, uint32_t frames, parts_tally *tally) {
  for (uint32_t i = 0; i < frames; i++) {
    if (!stages_world_frame(world, STAGES_AT_ONCE)) return false;
    parts_take(tally);
    tally->updates += world->report.completed;
    tally->carried += world->report.carried;
    tally->pressure += (double)world->report.pressure;
  }
  return true;
}

static const char *lines_count_row(const lines_setup *setup, const stages_plan *plan, const stages_shared *shared,
                                   struct stages_world *world, lines_row *row) {
  uint32_t steps = setup->quick ? STAGES_ROUND_STEPS : STAGES_SETTLING_STEPS;
  if (setup->show) setup->show(plan->name, "preparing", setup->user);
  if (!stages_plan_open(plan, world, shared, row->agents, steps)) return "out of memory: ask for fewer agents";
  if (setup->show) setup->show(plan->name, "counting", setup->user);
  parts_tally *tally = calloc(1, sizeof *tally);
  if (!tally) return "out of memory";
  bool done = lines_count_frames(world, setup->quick ? FRAMES_QUICK : FRAMES, tally);
  bool updated = parts_conclude(tally, row);
  row->budget_ns = (double)world->budget_ns;
  free(tally);
  if (!parts_are_whole()) return "out of memory: ask for fewer agents";
  return !done ? "frames failed" : updated ? NULL : "no update ran";
}

/* With a pool and a world of its own: what another world's arrays are called must not be found at their addresses. */
static const char *lines_measure_row(const lines_setup *setup, uint32_t number, lines_row *row) {
  const stages_setup shared_setup = {.workers = 1, .evicted_bytes = EVICTED_BYTES};
  struct stages_world world = {0};
  stages_shared shared;
  names_forget();
  const char *wrong = "out of memory";
  if (stages_shared_open(&shared, &shared_setup))
    wrong = lines_count_row(setup, &stages_plans[number], &shared, &world, row);
  stages_world_close(&world);
  stages_shared_close(&shared);
  return wrong && *muster_last_error() ? muster_last_error() : wrong;
}

const char *lines_measure(const lines_setup *setup, lines_row rows[LINES_ROWS]) {
  if (setup->size != sizeof *rows) return "the module is of another build";
  const char *wrong = check_planted();
  work_calibrate();
  for (uint32_t i = 0; i < LINES_ROWS && !wrong; i++) {
    rows[i] = (lines_row){.name = stages_name(i),
                          .agents = stages_plan_agents(&stages_plans[i], setup->agents),
                          .measured = setup->wanted >> i & 1};
    if (rows[i].measured) wrong = lines_measure_row(setup, i, &rows[i]);
  }
  return wrong;
}
