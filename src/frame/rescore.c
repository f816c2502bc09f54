/* rescore.c - stage 2: joins what plan/score.c lists with the workers that do it. */
#include "base/assert.h"
#include "base/error.h"
#include "frame/stages.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/lifecycle.h"
#include "world/section.h"
#include "world/tune.h"
#include "world/world_score.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

enum {
  AGENT_NS = 60,
  APART_NS = 180 /* of an agent that is of no plot */,
  SCORE_UNIT_NS = 160,
  SCORE_BUDGET_PART = 20
};
enum { SHEDDING_AGENT_NS = 5, SHEDDING_LOOK_NS = 20, SHEDDING_LOOKS_MIN = 2048 };

static void rescore_items(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const struct muster_world *world = argument;
  (void)worker;
  score_range(&world->score->board, first, end);
}

static void shed_items(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const struct muster_world *world = argument;
  (void)worker;
  shedding_range(&world->score->board, &world->score->shedding_looks, first, end);
}

/* Warns of models with answers that had to be clamped, once for each type. */
static void report_refused(struct muster_world *world) {
  score_board *board = &world->score->board;
  world->sums->statistics.importances_refused += board->refused;
  board->refused = 0;
  for (uint32_t i = 0; i < world->agents.types.count; i++) {
    if (board->type_refused[i] != SCORE_REFUSED) continue;
    board->type_refused[i] = SCORE_REFUSED_KNOWN;
    log_write(&world->def.log, MUSTER_LOG_WARNING, "type '%s': its model_importance gave what is not 0..1",
              world_type(world, i)->name);
  }
}

/* How many of something the stage has time for. */
static uint32_t units_of(uint64_t budget_ns, uint64_t each_ns, uint64_t least) {
  uint64_t units = budget_ns / SCORE_BUDGET_PART / each_ns;
  units = units > least ? units : least;
  return units < SCORE_UNITS_MAX ? (uint32_t)units : SCORE_UNITS_MAX;
}

static void shed(struct muster_world *world) {
  struct world_score *score = world->score;
  uint32_t looks = units_of(world->frame->budget_ns, SHEDDING_LOOK_NS, SHEDDING_LOOKS_MIN);
  uint32_t items = shedding_prepare(&score->shedding, &score->board, looks, &score->shedding_looks);
  section_run(world, shed_items, items, (uint64_t)items * SHEDDING_ITEM_AGENTS * SHEDDING_AGENT_NS);
  shedding_apply(&score->shedding, &score->board, &score->shedding_looks);
}

void rescore_run(struct muster_world *world) {
  score_board *board = &world->score->board;
  uint32_t items = score_prepare(board, units_of(world->frame->budget_ns, SCORE_UNIT_NS, 0));
  uint64_t of_plots = board->agent_count - board->apart_count;
  section_run(world, rescore_items, items, of_plots * AGENT_NS + (uint64_t)board->apart_count * APART_NS);
  score_apply(board);
  tune_look_at_companions(world);
  shed(world);
  world->sums->report.scored = board->summary.agents;
  world->sums->report.score_cells = board->summary.plots;
  world->sums->report.score_waiting = board->summary.waiting;
  world->sums->statistics.score_rounds += board->rounds;
  board->rounds = 0;
  if (board->refused) report_refused(world);
}
