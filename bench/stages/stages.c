/* The rows: what each world is, how its frames follow each other, and what they took. */
#include "stages_plan.h"

#include "rounds.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  FRAMES = 30,
  FRAMES_QUICK = 3,
  IDLE_FRAMES = 100,
  WARMING_FRAMES = 10,
  FRAMES_MOST = 3,      /* times as many as are wanted: some are disturbed, */
  IDLE_FRAMES_MOST = 20 /* times as many as are wanted: some are not idle */
};

/* A measurement under way. */
typedef struct stages_run {
  const stages_setup *setup;
  stages_shared shared;
  struct stages_world worlds[STAGES_ROWS]; /* those of rows that share one are not open */
  stages_row *rows;
} stages_run;

static bool is_wanted(const stages_run *run, uint32_t row) {
  return run->setup->wanted >> row & 1;
}

/* Whether a row needs a world of its own, for itself or for the next row. */
static bool opens_world(const stages_run *run, uint32_t row) {
  if (stages_plans[row].shares_world) return false;
  return is_wanted(run, row) ||
         (row + 1 < STAGES_ROWS && stages_plans[row + 1].shares_world && is_wanted(run, row + 1));
}

static struct stages_world *world_of(stages_run *run, uint32_t row) {
  return &run->worlds[stages_plans[row].shares_world ? row - 1 : row];
}

/* Where the budget makes the pressure, it is found with warm caches first, and then in as many steps with cold ones. */
static bool prepare(stages_run *run, uint32_t row) {
  const stages_plan *plan = &stages_plans[row];
  struct stages_world *world = world_of(run, row);
  uint32_t agents = stages_plan_agents(plan, run->setup->agents);
  uint32_t steps = run->setup->quick ? STAGES_ROUND_STEPS : STAGES_SETTLING_STEPS;
  if (!stages_plan_open(plan, world, &run->shared, agents, steps)) return false;
  return !stages_plan_is_pressed(plan) || stages_plan_press(world, STAGES_COLD, steps);
}

/* -------------------------------------------------------------------------------------------------------- measuring */

/* Sums over the frames of a round. */
typedef struct stages_tally {
  const struct stages_world *world;
  uint64_t stage_ns[MUSTER_STAGES];
  uint64_t others_ns, claims_ns, updates, carried, frames;
  double pressure;
} stages_tally;

static void take_frame(void *user) {
  stages_tally *tally = user;
  const muster_frame_report *report = &tally->world->report;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) tally->stage_ns[i] += report->stage_ns[i];
  tally->others_ns += tally->world->others_ns;
  tally->claims_ns += report->update_cpu_ns;
  tally->updates += report->completed;
  tally->carried += report->carried;
  tally->pressure += (double)report->pressure;
  tally->frames++;
}

/* The report's times are those of the wall. So frames in which the kernel gave the caller's processor to another thread
 * do not count, unless there are no others. Even with a period of a day one of many agents is due now and then; frames
 * that are not idle do not count as idle. */
static bool measure_frames(struct stages_world *world, const stages_plan *plan, uint32_t frames, stages_tally *tally) {
  stages_tally disturbed = *tally;
  uint32_t most = frames * (plan->kind == STAGES_IDLE ? IDLE_FRAMES_MOST : FRAMES_MOST);
  for (uint32_t i = 0; i < most && tally->frames < frames; i++) {
    if (!stages_world_frame(world, plan->pace)) return false;
    bool busy = world->report.completed > 0 || world->report.released > 0;
    if (plan->kind != STAGES_IDLE || !busy) take_frame(world->disturbed ? &disturbed : tally);
  }
  if (tally->frames == 0) *tally = disturbed;
  return true;
}

/* Of the claims of all workers, those that do not fit the caller's run stage were the others'. */
static double helpers_ns(const stages_tally *tally) {
  uint64_t run_ns = tally->stage_ns[MUSTER_STAGE_RUN];
  double claims_ns = tally->claims_ns > run_ns ? (double)(tally->claims_ns - run_ns) : 0;
  return fmax((double)tally->others_ns - claims_ns, 0);
}

static bool conclude(const stages_tally *tally, stages_row *row, uint32_t round) {
  double divisor = row->per_frame ? (double)tally->frames : (double)tally->updates;
  double frames = (double)tally->frames, helped_ns = helpers_ns(tally) / divisor, sum_ns = helped_ns;
  if (divisor < 1) return false;
  for (uint32_t i = 0; i < MUSTER_STAGES; i++) {
    row->rounds[i][round] = (double)tally->stage_ns[i] / divisor;
    if (i != MUSTER_STAGE_RUN) sum_ns += row->rounds[i][round];
  }
  row->rounds[STAGES_HELPERS][round] = helped_ns;
  row->rounds[STAGES_SUM][round] = sum_ns;
  row->rounds[STAGES_UPDATES][round] = (double)tally->updates / frames;
  row->rounds[STAGES_CARRIED][round] = (double)tally->carried / frames;
  row->rounds[STAGES_PRESSURE][round] = tally->pressure / frames;
  row->rounds[STAGES_BUDGET][round] = (double)tally->world->budget_ns;
  row->rounds[STAGES_FRAMES][round] = frames;
  return true;
}

/* Before a round: the other rows have emptied the caches, and the pressure may have drifted. */
static bool settle_round(struct stages_world *world, const stages_plan *plan) {
  if (stages_plan_is_pressed(plan)) return stages_plan_press(world, STAGES_COLD, STAGES_ROUND_STEPS);
  return plan->pace != STAGES_AT_ONCE || stages_world_frames(world, STAGES_AT_ONCE, WARMING_FRAMES);
}

static const char *measure_round(stages_run *run, uint32_t row, uint32_t round) {
  const stages_plan *plan = &stages_plans[row];
  struct stages_world *world = world_of(run, row);
  stages_tally tally = {.world = world};
  uint32_t frames = run->setup->quick ? FRAMES_QUICK : plan->pace == STAGES_AT_ONCE ? IDLE_FRAMES : FRAMES;
  if (!settle_round(world, plan)) return "frames failed";
  uint64_t begin_ns = clock_system(), begin_frame = world->report.frame;
  bool done = plan->kind == STAGES_BURST ? stages_plan_burst(world, plan->pace, take_frame, &tally)
                                         : measure_frames(world, plan, frames, &tally);
  if (!done) return "frames failed";
  uint64_t passed_ns = clock_system() - begin_ns;
  if (!conclude(&tally, &run->rows[row], round))
    return plan->kind == STAGES_IDLE ? "no frame was idle" : "no update ran";
  run->rows[row].rounds[STAGES_APART][round] = (double)passed_ns / (double)(world->report.frame - begin_frame);
  return NULL;
}

static void sum_up(stages_run *run, uint32_t index) {
  stages_row *row = &run->rows[index];
  const struct stages_world *world = world_of(run, index);
  uint32_t rounds = run->setup->rounds;
  for (uint32_t i = 0; i < STAGES_FIGURES; i++) row->figures[i] = rounds_median(row->rounds[i], rounds);
  row->sum_lowest_ns = row->rounds[STAGES_SUM][0]; /* they are in order now */
  row->sum_highest_ns = row->rounds[STAGES_SUM][rounds - 1];
  row->bytes_per_agent = stages_world_bytes(world);
}

/* ------------------------------------------------------------------------------------------------------------- rows */

static void show(const stages_run *run, uint32_t row, const char *doing) {
  if (run->setup->show) run->setup->show(stages_plans[row].name, doing, run->setup->user);
}

/* What the library says of its failure, or what is wrong here. */
static const char *wrong_of(const char *reason) {
  const char *said = muster_last_error();
  return *said ? said : reason;
}

static const char *measure_rows(stages_run *run) {
  if (!stages_shared_open(&run->shared, run->setup)) return wrong_of("out of memory");
  for (uint32_t i = 0; i < STAGES_ROWS; i++) {
    const stages_plan *plan = &stages_plans[i];
    run->rows[i] = (stages_row){.name = plan->name,
                                .agents = stages_plan_agents(plan, run->setup->agents),
                                .measured = is_wanted(run, i),
                                .per_frame = plan->kind == STAGES_IDLE,
                                .paced = plan->pace == STAGES_PACED,
                                .cold = plan->pace != STAGES_AT_ONCE};
    if (!opens_world(run, i)) continue;
    show(run, i, "preparing");
    if (!prepare(run, i)) return wrong_of("out of memory: ask for fewer agents");
  }
  for (uint32_t round = 0; round < run->setup->rounds; round++)
    for (uint32_t i = 0; i < STAGES_ROWS; i++) {
      if (!is_wanted(run, i)) continue;
      show(run, i, "measuring");
      const char *wrong = measure_round(run, i, round);
      if (wrong) return wrong_of(wrong);
    }
  for (uint32_t i = 0; i < STAGES_ROWS; i++)
    if (is_wanted(run, i)) sum_up(run, i);
  return NULL;
}

const char *stages_measure(const stages_setup *setup, stages_row rows[STAGES_ROWS]) {
  stages_run *run = calloc(1, sizeof *run);
  if (!run) return "out of memory";
  run->setup = setup;
  run->rows = rows;
  const char *wrong = measure_rows(run);
  for (uint32_t i = 0; i < STAGES_ROWS; i++) stages_world_close(&run->worlds[i]);
  stages_shared_close(&run->shared);
  free(run);
  return wrong;
}
