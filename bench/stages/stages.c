/* The rows: what each world is, how its frames follow each other, and what they took. */
#include "stages_world.h"

#include "rounds.h"

#include "base/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
  FRAMES = 30,
  FRAMES_QUICK = 3,
  IDLE_FRAMES = 100,
  SETTLING_FRAMES = 60,
  SETTLING_STEPS = 20, /* with warm caches, and then as many with cold ones */
  ROUND_STEPS = 2,
  WARMING_FRAMES = 10,
  STEP_FRAMES = 10,
  BURST_FRAMES_MAX = 100000,
  FRAMES_MOST = 3,      /* times as many as are wanted: some are disturbed, */
  IDLE_FRAMES_MOST = 20 /* times as many as are wanted: some are not idle */
};

static const uint64_t day_ns = 86400000000000u, wish_ns = 100000000u, wish_most_ns = 1000000000u;
static const double budget_least_ns = 20000, budget_most_ns = 1e9;

typedef enum stages_kind { STEADY = 0, PRESSED, BACKLOG, BURST, IDLE } stages_kind;

/* A row of the table. Agents: of a million in all; a shared world is that of the row before. */
typedef struct stages_plan {
  const char *name;
  uint32_t agents;
  stages_kind kind;
  stages_pace pace;
  bool shares_world;
} stages_plan;

static const stages_plan plans[STAGES_ROWS] = {
    {"tenth-fits", 100000, STEADY, STAGES_PACED, false},   {"all-fit", 1000000, STEADY, STAGES_PACED, false},
    {"pressure-4", 1000000, PRESSED, STAGES_PACED, false}, {"backlog-4", 1000000, BACKLOG, STAGES_PACED, false},
    {"burst", 500000, BURST, STAGES_COLD, false},          {"idle-few", 1000, IDLE, STAGES_AT_ONCE, false},
    {"idle-few-cold", 1000, IDLE, STAGES_COLD, true},      {"idle", 1000000, IDLE, STAGES_AT_ONCE, false},
    {"idle-cold", 1000000, IDLE, STAGES_COLD, true},
};

/* A measurement under way. */
typedef struct stages_run {
  const stages_setup *setup;
  stages_shared shared;
  struct stages_world worlds[STAGES_ROWS]; /* those of rows that share one are not open */
  stages_row *rows;
} stages_run;

static uint32_t agents_of(const stages_run *run, uint32_t row) {
  uint64_t agents = (uint64_t)run->setup->agents * plans[row].agents / 1000000;
  return agents ? (uint32_t)agents : 1;
}

const char *stages_name(uint32_t row) {
  return row < STAGES_ROWS ? plans[row].name : NULL;
}

static bool is_wanted(const stages_run *run, uint32_t row) {
  return run->setup->wanted >> row & 1;
}

/* Whether a row needs a world of its own, for itself or for the next row. */
static bool opens_world(const stages_run *run, uint32_t row) {
  if (plans[row].shares_world) return false;
  return is_wanted(run, row) || (row + 1 < STAGES_ROWS && plans[row + 1].shares_world && is_wanted(run, row + 1));
}

static struct stages_world *world_of(stages_run *run, uint32_t row) {
  return &run->worlds[plans[row].shares_world ? row - 1 : row];
}

/* --------------------------------------------------------------------------------------------------------- preparing
 */

static bool is_pressed(const stages_plan *plan) {
  return plan->kind == PRESSED || plan->kind == BACKLOG;
}

/* By the rule of importance, periods stretch until all fit. By that of rates they end at their longest: what does not
 * fit then waits, which makes the backlog. */
static stages_world_def def_of(const stages_run *run, uint32_t row) {
  stages_world_def def = {.agents = agents_of(run, row), .elastic = MUSTER_ELASTIC_IMPORTANCE};
  if (plans[row].kind == STEADY) {
    def.period_ns = (uint64_t)STAGES_FRAME_NS * def.agents / STAGES_UPDATES_PER_FRAME;
    if (def.period_ns < STAGES_FRAME_NS) def.period_ns = STAGES_FRAME_NS;
    def.period_max_ns = 10 * def.period_ns < day_ns ? 10 * def.period_ns : day_ns;
  }
  if (plans[row].kind == BACKLOG) def.elastic = MUSTER_ELASTIC_RATE;
  if (is_pressed(&plans[row])) {
    def.period_ns = wish_ns;
    def.period_max_ns = wish_most_ns;
  }
  if (plans[row].kind == IDLE) def.period_ns = def.period_max_ns = day_ns;
  def.walking = plans[row].kind == STEADY || is_pressed(&plans[row]);
  return def;
}

/* Until all woken agents have run. */
static bool run_burst(struct stages_world *world, stages_pace pace, void (*take)(void *user), void *user) {
  uint64_t completed = 0;
  if (!stages_world_wake(world)) return false;
  for (uint32_t i = 0; i < BURST_FRAMES_MAX && completed < world->def.agents; i++) {
    if (!stages_world_frame(world, pace)) return false;
    completed += world->report.completed;
    if (take) take(user);
  }
  return completed >= world->def.agents;
}

/* A step towards the budget that makes the pressure wanted, which is about in inverse proportion to it. It is a small
 * one, because the library learns meanwhile what updates cost and how long its own stages take. */
static bool settle_step(struct stages_world *world, stages_pace pace) {
  double pressure = 0;
  for (uint32_t i = 0; i < STEP_FRAMES; i++) {
    if (!stages_world_frame(world, pace)) return false;
    pressure += (double)world->report.pressure / STEP_FRAMES;
  }
  double times = fmin(fmax(sqrt(pressure / stages_pressure), 0.5), 2.0);
  world->budget_ns = (uint64_t)fmin(fmax((double)world->budget_ns * times, budget_least_ns), budget_most_ns);
  return true;
}

static bool settle_pressure(struct stages_world *world, stages_pace pace, uint32_t steps) {
  for (uint32_t i = 0; i < steps; i++)
    if (!settle_step(world, pace)) return false;
  return true;
}

/* Every agent runs once before anything is measured, so that the world has learnt all about it. */
static bool prepare(stages_run *run, uint32_t row) {
  struct stages_world *world = world_of(run, row);
  stages_world_def def = def_of(run, row);
  uint32_t steps = run->setup->quick ? ROUND_STEPS : SETTLING_STEPS;
  if (!stages_world_open(world, &run->shared, &def)) return false;
  switch (plans[row].kind) {
  case STEADY:
    return stages_world_frames(world, STAGES_AT_ONCE, def.agents / STAGES_UPDATES_PER_FRAME + SETTLING_FRAMES);
  case PRESSED:
  case BACKLOG:
    return settle_pressure(world, STAGES_AT_ONCE, steps) && settle_pressure(world, STAGES_COLD, steps);
  case BURST:
    return run_burst(world, STAGES_AT_ONCE, NULL, NULL);
  case IDLE:
    return stages_world_frames(world, STAGES_AT_ONCE, SETTLING_FRAMES);
  }
  return false;
}

/* --------------------------------------------------------------------------------------------------------- measuring
 */

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
  uint32_t most = frames * (plan->kind == IDLE ? IDLE_FRAMES_MOST : FRAMES_MOST);
  for (uint32_t i = 0; i < most && tally->frames < frames; i++) {
    if (!stages_world_frame(world, plan->pace)) return false;
    bool busy = world->report.completed > 0 || world->report.released > 0;
    if (plan->kind != IDLE || !busy) take_frame(world->disturbed ? &disturbed : tally);
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
  if (is_pressed(plan)) return settle_pressure(world, STAGES_COLD, ROUND_STEPS);
  return plan->pace != STAGES_AT_ONCE || stages_world_frames(world, STAGES_AT_ONCE, WARMING_FRAMES);
}

static const char *measure_round(stages_run *run, uint32_t row, uint32_t round) {
  const stages_plan *plan = &plans[row];
  struct stages_world *world = world_of(run, row);
  stages_tally tally = {.world = world};
  uint32_t frames = run->setup->quick ? FRAMES_QUICK : plan->pace == STAGES_AT_ONCE ? IDLE_FRAMES : FRAMES;
  if (!settle_round(world, plan)) return "frames failed";
  uint64_t begin_ns = clock_system(), begin_frame = world->report.frame;
  bool done = plan->kind == BURST ? run_burst(world, plan->pace, take_frame, &tally)
                                  : measure_frames(world, plan, frames, &tally);
  if (!done) return "frames failed";
  uint64_t passed_ns = clock_system() - begin_ns;
  if (!conclude(&tally, &run->rows[row], round)) return plan->kind == IDLE ? "no frame was idle" : "no update ran";
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

/* -------------------------------------------------------------------------------------------------------------- rows
 */

static void show(const stages_run *run, uint32_t row, const char *doing) {
  if (run->setup->show) run->setup->show(plans[row].name, doing, run->setup->user);
}

/* What the library says of its failure, or what is wrong here. */
static const char *wrong_of(const char *reason) {
  const char *said = muster_last_error();
  return *said ? said : reason;
}

static const char *measure_rows(stages_run *run) {
  if (!stages_shared_open(&run->shared, run->setup)) return wrong_of("out of memory");
  for (uint32_t i = 0; i < STAGES_ROWS; i++) {
    const stages_plan *plan = &plans[i];
    run->rows[i] = (stages_row){.name = plan->name,
                                .agents = agents_of(run, i),
                                .measured = is_wanted(run, i),
                                .per_frame = plan->kind == IDLE,
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
