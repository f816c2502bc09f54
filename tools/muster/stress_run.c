/* Climbs the axes of `muster stress`: a world for each step, paced on the wall clock. */
#include "stress_report.h"

#include "noise.h"
#include "pacing.h"
#include "stress_world.h"
#include "text.h"
#include "work.h"

#include <errno.h>
#include <muster/jobs.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

enum { LET_IN_FRAMES_MAX = 100000 };

/* A step that is measured. */
typedef struct step_run {
  stress_work *work;
  uint32_t axis;
  stress_world *world;
  stress_sums sums;
  struct pacing pacing;
  uint64_t frame; /* since the pacing began */
  sigset_t stop_signals;
} step_run;

/* ----------------------------------------------------------------------------------------------------------- a step */

/* Whether a signal asks for the end. Signals are held back, so that what was found until then is told. */
static bool is_stopped(step_run *run) {
  struct timespec at_once = {0};
  int signal = run->work->signal ? -1 : sigtimedwait(&run->stop_signals, NULL, &at_once);
  if (signal > 0) run->work->signal = signal;
  return run->work->signal != 0;
}

static void show(step_run *run, const stress_load *load, const char *doing, uint64_t frame, uint64_t frames) {
  struct progress *line = &run->work->common.line;
  if (!progress_is_due(line)) return;
  progress_put(line, "%s, %s: %s, frame %lu of %lu", stress_axis_name(run->axis),
               text_count(stress_value(run->axis, load)), doing, frame, frames);
}

static bool let_in(step_run *run, const stress_load *load) {
  bool in = false;
  for (uint64_t i = 0; !in && i < LET_IN_FRAMES_MAX && !is_stopped(run); i++) {
    if (!stress_world_let_in(run->world, &in)) return false;
    show(run, load, "letting agents in", i + 1, LET_IN_FRAMES_MAX);
  }
  return true;
}

/* Runs paced frames; counted ones are added to the sums. */
static bool run_frames(step_run *run, const stress_load *load, uint64_t frames, bool counted) {
  double stolen = noise_begin().stolen;
  for (uint64_t i = 0; i < frames && !is_stopped(run); i++) {
    muster_frame_report report;
    pacing_wait(&run->pacing, ++run->frame);
    if (!stress_world_frame(run->world, &report)) return false;
    double now = noise_begin().stolen;
    if (counted) stress_add(&run->sums, &report, now > stolen);
    stolen = now;
    show(run, load, counted ? "measuring" : "warming up", i + 1, frames);
  }
  return true;
}

static bool measure_frames(step_run *run, const stress_load *load, stress_figures *figures) {
  muster_statistics statistics;
  stress_sums empty = {.wall_ns = run->sums.wall_ns, .overrun_own_ns = run->sums.overrun_own_ns};
  run->sums = empty;
  stress_world_clear(run->world);
  struct noise before = noise_begin();
  if (!run_frames(run, load, run->work->frames, true)) return false;
  *figures = (stress_figures){.processors = muster_available_processors()};
  figures->noise_known = noise_end(&before, &figures->others_share, &figures->stolen_share);
  if (!stress_world_read(run->world, &statistics, figures)) return false;
  if (run->sums.frames) stress_sum_up(&run->sums, &statistics, figures);
  return true;
}

/* Whether a step that does not hold is to be measured again: once, so that no disturbance of a moment is what gives
 * way; and once more where the machine alone is to blame. */
static bool is_tried_again(const step_run *run, const stress_step *step) {
  if (step->verdict.holds || run->work->signal) return false;
  return step->figures.attempts == 1 || (step->figures.attempts == 2 && step->verdict.cause == STRESS_BY_MACHINE);
}

static bool measure_world(step_run *run, const stress_load *load, stress_step *step) {
  const stress_work *work = run->work;
  uint32_t attempts = 0;
  if (!let_in(run, load)) return false;
  run->pacing = pacing_begin(work->rate, true);
  run->frame = 0;
  if (!run_frames(run, load, work->warm_up, false)) return false;
  do {
    if (!measure_frames(run, load, &step->figures)) return false;
    step->figures.attempts = ++attempts;
    step->verdict = stress_judge(&step->figures, &work->limits);
  } while (is_tried_again(run, step));
  return true;
}

/* A step that is not begun. */
static void leave_out(step_run *run, const stress_load *load, uint64_t bytes, bool refused, stress_step *step) {
  step->figures = (stress_figures){.load = *load,
                                   .processors = muster_available_processors(),
                                   .budget_ns = run->work->budget_ns,
                                   .bytes = bytes,
                                   .memory_refused = refused};
  step->verdict = stress_judge(&step->figures, &run->work->limits);
}

/* `bytes`: what the step is expected to need at most. */
static bool measure_step(step_run *run, const stress_load *load, uint64_t bytes, stress_step *step) {
  const stress_work *work = run->work;
  stress_world_def def = {*load,           work->cost_ns,  work->planner_cost_ns,
                          work->budget_ns, work->frame_ns, work->common.seed};
  if (bytes > work->limits.memory_bytes) return leave_out(run, load, bytes, false, step), true;
  errno = 0;
  run->world = stress_world_create(&def);
  if (!run->world && (errno == ENOMEM || muster_last_result() == MUSTER_E_MEMORY))
    return leave_out(run, load, bytes, true, step), true;
  bool measured = run->world && measure_world(run, load, step);
  stress_world_destroy(run->world);
  return measured;
}

/* ---------------------------------------------------------------------------------------------------------- an axis */

/* Twice the load takes at most twice the memory. */
static uint64_t bytes_expected(const stress_climb *climb) {
  return climb->count ? 2 * climb->steps[climb->count - 1].figures.bytes : 0;
}

/* More workers may hold where one does not; with everything else, more never does. */
static bool ends_here(uint32_t axis, const stress_climb *climb, const stress_step *step) {
  return !step->verdict.holds && (axis != STRESS_WORKERS || climb->limit >= 0);
}

static bool climb_axis(step_run *run, const stress_step *base, stress_climb *climb) {
  const stress_work *work = run->work;
  bool begins_at_base = run->axis != STRESS_WORKERS && run->axis != STRESS_CROWD;
  stress_load load;
  climb->limit = climb->fell = -1;
  while (climb->count <= work->steps_most &&
         stress_load_of(run->axis, &work->baseline, &work->most, climb->count, &load)) {
    stress_step *step = &climb->steps[climb->count];
    if (climb->count == 0 && begins_at_base)
      *step = *base;
    else if (!measure_step(run, &load, bytes_expected(climb), step))
      return false;
    if (work->signal) return true; /* the step is not complete */
    climb->count++;
    climb->fell = step->verdict.holds ? -1 : (int32_t)climb->count - 1;
    if (ends_here(run->axis, climb, step)) return true;
    if (step->verdict.holds) climb->limit = (int32_t)climb->count - 1;
  }
  return true;
}

/* What went wrong, and in which axis; longer than what text_of() keeps. */
static const char *wrong_in(stress_work *work, uint32_t axis) {
  const char *said = muster_last_error();
  snprintf(work->wrong, sizeof work->wrong, "%s: %s", stress_axis_name(axis), *said ? said : "out of memory");
  return work->wrong;
}

static const char *climb_all(step_run *run) {
  stress_work *work = run->work;
  stress_step base = {0};
  run->axis = STRESS_AGENTS;
  if (!measure_step(run, &work->baseline, 0, &base)) return wrong_in(work, run->axis);
  for (uint32_t i = 0; i < STRESS_AXES && !work->signal; i++) {
    run->axis = stress_order[i];
    stress_climb *climb = &work->climbs[run->axis];
    if (climb->wanted && !climb_axis(run, &base, climb)) return wrong_in(work, run->axis);
  }
  return NULL;
}

/* Signals before the pool, whose threads inherit what is held back. */
const char *stress_measure(void *user) {
  step_run run = {.work = user};
  sigset_t before;
  if (run.work->again) return NULL;
  run.sums.wall_ns = calloc(2 * run.work->frames, sizeof *run.sums.wall_ns);
  if (!run.sums.wall_ns) return "out of memory; lower --seconds or --frames";
  run.sums.overrun_own_ns = run.sums.wall_ns + run.work->frames;
  uint64_t *times = run.sums.wall_ns;
  sigemptyset(&run.stop_signals);
  sigaddset(&run.stop_signals, SIGINT);
  sigaddset(&run.stop_signals, SIGTERM);
  sigprocmask(SIG_BLOCK, &run.stop_signals, &before);
  work_calibrate();
  const char *wrong = climb_all(&run);
  sigprocmask(SIG_SETMASK, &before, NULL);
  free(times);
  return wrong;
}
