/* The rows of `muster bench cores`: worlds, and frames of them with one worker and with more, in turns. */
#include "bench_cores.h"

#include "rounds.h"
#include "scenarios/scenarios.h"

#include <muster/tune.h>

#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>

enum { OBSERVERS = 17, AGENTS_PART = 50, TUNING_STEPS = 4, TUNING_FRAMES = 10, FRAMES_SPARE = 2, CHECKED_FRAMES = 20 };

static const uint64_t intake_step_ns = 33333333, intake_budget_ns = 25000000, ample_ns = 10000000000;
static const double block_ns = 3e8;

const cores_plan cores_plans[CORES_ROWS] = {
    {"fixed-1us-7k", muster_module_fixed, 1000, 100000, 7000, 30},
    {"fixed-1us-60k", muster_module_fixed, 1000, 1000000, 60000, 45},
    {"fixed-5us-7k", muster_module_fixed, 5000, 100000, 7000, 30},
    {"fixed-5us-60k", muster_module_fixed, 5000, 1000000, 60000, 45},
    {"wildlife-7k", muster_module_wildlife, 0, 100000, 7000, 30},
    {"wildlife-60k", muster_module_wildlife, 0, 1000000, 60000, 45},
};

/* A world under way. */
typedef struct cores_world {
  struct host host;
  uint64_t now_ns, step_ns;
  uint32_t frames; /* of a round */
  muster_frame_report report;
} cores_world;

/* A row that is being measured. */
typedef struct cores_measuring {
  const cores_work *work;
  cores_recording *still, *moving; /* of one worker */
  cores_costs costs;               /* of the round */
  cores_world world;
} cores_measuring;

/* What the rounds of a row found: one figure each. */
typedef struct cores_rounds {
  double updates[CORES_ROUNDS_MAX], recorded[CORES_ROUNDS_MAX], moved[CORES_ROUNDS_MAX];
  double alone[CORES_ROUNDS_MAX];
  double wall[CORES_COUNTS][CORES_ROUNDS_MAX], model[CORES_COUNTS][CORES_ROUNDS_MAX];
  double slow[CORES_COUNTS][CORES_ROUNDS_MAX], off[CORES_COUNTS][CORES_ROUNDS_MAX];
  double speedup[CORES_COUNTS][CORES_ROUNDS_MAX], slow_speedup[CORES_COUNTS][CORES_ROUNDS_MAX];
  double stages[CORES_VIEWS][MUSTER_STAGES][CORES_ROUNDS_MAX];
} cores_rounds;

static uint32_t agents_of(const cores_work *work, const cores_plan *plan) {
  return work->common.quick ? plan->agents / AGENTS_PART : plan->agents;
}

static uint32_t updates_of(const cores_work *work, const cores_plan *plan) {
  return work->common.quick ? plan->updates / AGENTS_PART : plan->updates;
}

/* ----------------------------------------------------------------------------------------------------------- worlds */

static host_setup setup_of(const cores_work *work, const cores_plan *plan, uint32_t workers) {
  host_setup setup = host_default_setup(plan->module());
  setup.options.agents = agents_of(work, plan);
  setup.options.observers = OBSERVERS;
  setup.options.seed = setup.world.seed = work->common.seed;
  setup.options.cost_ns = plan->cost_ns;
  setup.world.watch.stuck_ns = 0; /* its watchdog is a thread of its own */
  setup.workers = workers;
  return setup;
}

static bool run_frame(cores_world *world, uint64_t budget_ns) {
  world->now_ns += world->step_ns;
  return host_run_frame(&world->host, world->now_ns, budget_ns, &world->report);
}

static bool run_frames(cores_world *world, uint32_t frames, double *updates) {
  double sum = 0;
  for (uint32_t i = 0; i < frames; i++) {
    if (!run_frame(world, ample_ns)) return false;
    sum += world->report.completed;
  }
  *updates = sum / frames;
  return true;
}

static bool let_in(cores_world *world) {
  uint32_t calm = 0;
  for (uint32_t i = 0; i < HOST_INTAKE_FRAMES_MAX; i++) {
    if (!run_frame(world, intake_budget_ns)) return false;
    if (host_is_in(&world->host, &world->report, &calm)) break;
  }
  return true;
}

/* Lets so much time pass in a frame that about as many agents are due as are wanted. */
static bool tune_step(cores_world *world, double wanted) {
  double updates;
  world->step_ns /= 4;
  for (uint32_t i = 0; i < TUNING_STEPS; i++) {
    if (!run_frames(world, TUNING_FRAMES, &updates)) return false;
    double times = fmin(fmax(wanted / fmax(updates, 1), 0.125), 8);
    world->step_ns = (uint64_t)fmax((double)world->step_ns * times, 1000);
  }
  return run_frames(world, TUNING_FRAMES, &updates);
}

/* Frames in a round: as many as take about that long, all together. */
static uint32_t frames_of(const cores_work *work, const cores_world *world) {
  double frames = fmin(fmax(block_ns / (double)(world->report.wall_ns + 1), 3), CORES_FRAMES_MAX);
  return work->common.quick ? 3 : (uint32_t)frames;
}

static bool open_world(const cores_work *work, const cores_plan *plan, cores_world *world) {
  uint32_t workers = work->processors < 2 ? 2 : work->processors;
  host_setup setup = setup_of(work, plan, workers > CORES_WORKERS_MAX ? CORES_WORKERS_MAX : workers);
  *world = (cores_world){.step_ns = intake_step_ns};
  if (!host_open(&world->host, &setup) || !let_in(world) || !tune_step(world, updates_of(work, plan))) return false;
  world->frames = frames_of(work, world);
  return true;
}

/* -------------------------------------------------------------------------------------------------------- measuring */

/* Frames of a block, in ns per update; the first frame is to forget the block before, and not among them. */
typedef struct cores_block {
  double each[CORES_FRAMES_MAX], updates[CORES_FRAMES_MAX];
  double stages[MUSTER_STAGES][CORES_FRAMES_MAX]; /* ns */
} cores_block;

/* How often the kernel gave a processor to another thread that one of this process had. */
static long preemptions(void) {
  struct rusage usage = {0};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_nivcsw;
}

/* How a block is recorded. */
typedef struct cores_recorder {
  cores_recording *recording; /* null: not at all */
  bool moving;
} cores_recorder;

static const cores_recorder not_recorded = {NULL, false};

/* Frames that lost a processor meanwhile do not count, as long as there may be others. */
static bool run_block(cores_world *world, uint32_t workers, cores_recorder recorder, cores_block *block) {
  cores_recording *recording = recorder.recording;
  bool ran = muster_world_set_workers(world->host.world, workers) == MUSTER_OK && run_frame(world, ample_ns);
  uint32_t spare = FRAMES_SPARE * world->frames;
  if (ran && recording) cores_record(recording, world->host.world, recorder.moving);
  for (uint32_t i = 0; i < world->frames && ran;) {
    long before = preemptions();
    ran = run_frame(world, ample_ns);
    block->updates[i] = fmax(world->report.completed, 1);
    block->each[i] = (double)world->report.wall_ns / block->updates[i];
    for (uint32_t stage = 0; stage < MUSTER_STAGES; stage++)
      block->stages[stage][i] = (double)world->report.stage_ns[stage];
    bool disturbed = spare > 0 && preemptions() != before;
    if (disturbed && recording) cores_drop_frame(recording);
    if (disturbed)
      spare--;
    else
      i++;
  }
  if (recording) cores_freeze(recording, world->host.world);
  return ran;
}

static double median_of(const double *values, uint32_t count) {
  double sorted[CORES_FRAMES_MAX];
  for (uint32_t i = 0; i < count; i++) sorted[i] = values[i];
  return rounds_median(sorted, count);
}

static void note_stages(cores_block *block, uint32_t frames, double stages[MUSTER_STAGES][CORES_ROUNDS_MAX],
                        uint32_t round) {
  for (uint32_t stage = 0; stage < MUSTER_STAGES; stage++)
    stages[stage][round] = median_of(block->stages[stage], frames);
}

/* Predicts the recorded frames with so many workers, in ns per update. */
static double predict(const cores_recording *recording, const cores_costs *costs, uint32_t workers,
                      const cores_block *block, uint32_t frames) {
  cores_frame predicted[CORES_FRAMES_MAX];
  double each[CORES_FRAMES_MAX];
  cores_predict(recording, costs, workers, predicted);
  for (uint32_t i = 0; i < frames; i++) each[i] = predicted[i].whole / block->updates[i];
  return rounds_median(each, frames);
}

/* How long the stages are predicted to take with two workers; and the serial rest with many. */
static void predict_parts(const cores_costs *costs, const cores_recording *recording, uint32_t frames,
                          cores_rounds *found, uint32_t round) {
  cores_frame predicted[CORES_FRAMES_MAX];
  cores_block block;
  double alone[CORES_FRAMES_MAX];
  cores_predict(recording, costs, 2, predicted);
  for (uint32_t i = 0; i < frames; i++)
    for (uint32_t stage = 0; stage < MUSTER_STAGES; stage++) block.stages[stage][i] = predicted[i].stages[stage];
  note_stages(&block, frames, found->stages[CORES_MODEL], round);
  cores_predict(recording, costs, CORES_TARGET_WORKERS, predicted);
  for (uint32_t i = 0; i < frames; i++) alone[i] = predicted[i].alone;
  found->alone[round] = rounds_median(alone, frames);
}

/* What is known of frames on one worker, and what follows from it: before any frame is run by more. */
static void predict_all(const cores_costs *costs, const cores_recording *recording, const cores_block *block,
                        uint32_t frames, cores_rounds *found, uint32_t round) {
  cores_costs slow = cores_pessimistic(costs);
  double base = found->wall[0][round], slow_base = predict(recording, &slow, 1, block, frames);
  found->recorded[round] = median_of(block->each, frames);
  found->updates[round] = median_of(block->updates, frames);
  for (uint32_t i = 0; i < CORES_COUNTS; i++) {
    found->model[i][round] = predict(recording, costs, 1u << i, block, frames);
    found->slow[i][round] = predict(recording, &slow, 1u << i, block, frames);
    found->speedup[i][round] = base / found->model[i][round];
    found->slow_speedup[i][round] = slow_base / found->slow[i][round];
  }
  predict_parts(costs, recording, frames, found, round);
}

/* Records one worker, twice on a machine with two processors, and finds what lines that move cost just now. */
static const char *record_round(cores_measuring *row, cores_rounds *found, uint32_t round) {
  cores_world *world = &row->world;
  cores_block block;
  bool moves = row->work->processors > 1;
  if (moves && !run_block(world, 1, (cores_recorder){row->moving, true}, &block)) return "frames failed";
  if (moves) found->moved[round] = predict(row->moving, &row->costs, 1, &block, world->frames);
  if (!run_block(world, 1, (cores_recorder){row->still, false}, &block)) return "frames failed";
  if (cores_recorded_frames(row->still) != world->frames ||
      (moves && cores_recorded_frames(row->moving) != world->frames))
    return "no room for all that was recorded";
  if (moves) cores_charge_moves(&row->costs, row->moving, row->still);
  note_stages(&block, world->frames, found->stages[CORES_RECORDED], round);
  predict_all(&row->costs, row->still, &block, world->frames, found, round);
  return NULL;
}

/* One worker, one that is recorded, and then as many as there are processors for, in turns. */
static const char *measure_round(cores_measuring *row, cores_rounds *found, uint32_t round) {
  const cores_work *work = row->work;
  cores_world *world = &row->world;
  cores_block block;
  if (!run_block(world, 1, not_recorded, &block)) return "frames failed";
  found->wall[0][round] = median_of(block.each, world->frames);
  note_stages(&block, world->frames, found->stages[CORES_ONE], round);
  const char *wrong = record_round(row, found, round);
  if (wrong) return wrong;
  for (uint32_t i = 1; i < CORES_COUNTS && 1u << i <= work->processors; i++) {
    if (!run_block(world, 1u << i, not_recorded, &block)) return "frames failed";
    found->wall[i][round] = median_of(block.each, world->frames);
    if (i == 1) note_stages(&block, world->frames, found->stages[CORES_TWO], round);
    found->off[i][round] = found->model[i][round] / found->wall[i][round] - 1;
  }
  return NULL;
}

static void sum_up(const cores_work *work, cores_rounds *found, cores_row *row) {
  uint32_t rounds = work->common.rounds;
  row->measured = true;
  row->updates = rounds_median(found->updates, rounds);
  row->recorded = rounds_median(found->recorded, rounds);
  row->moved = rounds_median(found->moved, rounds);
  row->alone_ns = rounds_median(found->alone, rounds);
  for (uint32_t view = 0; view < CORES_VIEWS; view++)
    for (uint32_t stage = 0; stage < MUSTER_STAGES; stage++)
      row->stages[view][stage] = rounds_median(found->stages[view][stage], rounds);
  for (uint32_t i = 0; i < CORES_COUNTS; i++) {
    row->wall[i] = rounds_median(found->wall[i], rounds);
    row->model[i] = rounds_median(found->model[i], rounds);
    row->slow[i] = rounds_median(found->slow[i], rounds);
    row->off[i] = rounds_median(found->off[i], rounds);
    row->speedup[i] = rounds_median(found->speedup[i], rounds);
    row->slow_speedup[i] = rounds_median(found->slow_speedup[i], rounds);
  }
}

static const char *measure_row(cores_work *work, uint32_t number, cores_recording *still, cores_recording *moving) {
  const cores_plan *plan = &cores_plans[number];
  cores_row *row = &work->rows[number];
  cores_rounds *found = calloc(1, sizeof *found);
  cores_measuring measuring = {.work = work, .still = still, .moving = moving, .costs = work->costs};
  cores_world *world = &measuring.world;
  const char *wrong = found ? NULL : "out of memory";
  progress_step(&work->common.line, "%s: letting %u agents in", plan->name, agents_of(work, plan));
  if (!wrong && !open_world(work, plan, world)) wrong = muster_last_error();
  for (uint32_t round = 0; round < work->common.rounds && !wrong; round++) {
    progress_step(&work->common.line, "%s: round %u of %u", plan->name, round + 1, work->common.rounds);
    wrong = measure_round(&measuring, found, round);
  }
  if (!wrong) {
    row->agents = world->report.agents;
    row->frames = world->frames;
    row->stretch_count = cores_stretches(still, &measuring.costs, CORES_TARGET_WORKERS, row->stretches);
    sum_up(work, found, row);
  }
  if (found) host_close(&world->host);
  free(found);
  return wrong;
}

/* --------------------------------------------------------------------------------------------------------- checking */

/* The hash of a world after some frames in virtual time; 0: it failed. */
static uint64_t hash_of(const cores_work *work, const cores_plan *plan, uint32_t workers) {
  host_setup setup = setup_of(work, plan, workers);
  cores_world world = {.step_ns = intake_step_ns};
  uint64_t hash = 0;
  setup.world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  bool ran = host_open(&world.host, &setup);
  for (uint32_t i = 0; i < CHECKED_FRAMES && ran; i++) ran = run_frame(&world, intake_budget_ns);
  if (ran) hash = muster_world_hash(world.host.world);
  host_close(&world.host);
  return hash;
}

static const char *check_row(cores_work *work, uint32_t number) {
  const cores_plan *plan = &cores_plans[number];
  for (uint32_t i = 0; i < 2; i++) {
    uint32_t workers = i ? work->workers : 1;
    progress_step(&work->common.line, "%s: %u frames in virtual time, %u workers", plan->name, CHECKED_FRAMES, workers);
    work->hashes[number][i] = hash_of(work, plan, workers);
    if (!work->hashes[number][i]) return muster_last_error();
  }
  return NULL;
}

const char *cores_measure(void *user) {
  cores_work *work = user;
  const char *wrong = NULL;
  if (work->workers) {
    for (uint32_t i = 0; i < CORES_ROWS && !wrong; i++)
      if (work->wanted >> i & 1) wrong = check_row(work, i);
    return wrong;
  }
  cores_recording *still = cores_recording_create(), *moving = cores_recording_create();
  if (!still || !moving) wrong = "out of memory";
  progress_step(&work->common.line, "calling helpers to nothing");
  if (!wrong && !cores_measure_costs(&work->costs)) wrong = muster_last_error();
  for (uint32_t i = 0; i < CORES_ROWS && !wrong; i++)
    if (work->wanted >> i & 1) wrong = measure_row(work, i, still, moving);
  cores_recording_destroy(still);
  cores_recording_destroy(moving);
  return wrong;
}
