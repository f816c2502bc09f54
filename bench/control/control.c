#include "control.h"

#include "idle_watch.h"
#include "varied_costs.h"

#include "scenarios/scaffold.h"

#include <math.h>

enum { AGENTS = 3000, CHANGE = 240, FRAME_NS = 33333333, BUDGET_NS = 10000000, LAST = 60 };

const control_figures control_within = {.overshoot = 0.10, .settle_frames = 15, .frames_depressed = 5, .swing = 0.05};

/* What happens in a script. */
struct script {
  const char *name, *summary;
  double cost, budget; /* factors from the change on */
  uint32_t ramp;       /* frames in which the cost goes there */
  double noise;        /* sigma of the logarithm of each update's cost */
  bool spike;          /* one update takes 200 ms in the frame of the change */
  bool few;            /* thirty times fewer updates that take thirty times as long */
};

static const struct script scripts[CONTROL_RESPONSES] = {
    {"steady", "nothing changes", 1, 1, .ramp = 0},
    {"step_up", "every update costs twice as much from one frame to the next", 2, 1, .ramp = 0},
    {"step_down", "every update costs half as much", 0.5, 1, .ramp = 0},
    {"step_few", "twice as much, where a frame has time for 30 updates", 2, 1, .few = true},
    {"ramp", "costs grow to three times within 60 frames", 3, 1, .ramp = 60},
    {"budget", "the host gives half of the budget", 1, 0.5, .ramp = 0},
    {"spike", "one update takes 200 ms", 1, 1, .spike = true},
    {"noise", "costs vary by a factor of two and more, at random", 1, 1, .noise = 0.7},
};

static double cost_factor(const struct script *script, uint32_t frame) {
  double done = frame < CHANGE ? 0.0 : 1.0;
  if (frame >= CHANGE && script->ramp) done = fmin((double)(frame - CHANGE) / script->ramp, 1.0);
  return 1.0 + (script->cost - 1.0) * done;
}

/* A run of a script. */
struct run {
  const struct script *script;
  uint32_t frame;
  bool spiked;
};

struct kind {
  struct run *run;
  double cost_ns;
};

static muster_atom_result nothing(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static uint64_t cost_of(const muster_cost_query *query, void *user) {
  const struct kind *kind = user;
  struct run *run = kind->run;
  if (run->script->spike && run->frame == CHANGE && !run->spiked) {
    run->spiked = true;
    return 200000000u;
  }
  double factor = varied_factor(query->random, run->script->noise);
  return (uint64_t)(kind->cost_ns * cost_factor(run->script, run->frame) * factor);
}

static bool populate(muster_world *world, struct run *run, struct kind kinds[2]) {
  uint32_t agents = run->script->few ? AGENTS / 30 : AGENTS;
  muster_type types[2];
  for (uint32_t i = 0; i < 2; i++) {
    static const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 10000};
    muster_type_def def = scaffold_type(NULL, &atom, 1, 0, 50000000u, 2000000000u);
    def.elasticity = i ? 2.0f : 1.0f;
    def.models.cost_ns = cost_of;
    def.overruns.demote = def.overruns.quarantine = 0; /* the spikes are wanted */
    kinds[i] = (struct kind){run, (i ? 15000.0 : 10000.0) * (run->script->few ? 30.0 : 1.0)};
    def.user = &kinds[i];
    types[i] = muster_type_register(world, &def);
  }
  for (uint32_t i = 0; i < agents; i++) {
    muster_agent_def def = muster_agent_def_default();
    def.type = types[i % 2];
    def.importance_floor = (float)(i % 16) / 16.0f;
    if (muster_agent_is_null(muster_agent_spawn(world, &def))) return false;
  }
  return true;
}

static bool run_frames(muster_world *world, struct run *run, idle_watch *idle, control_trace *trace) {
  muster_frame_report report = muster_frame_report_default();
  for (run->frame = 0; run->frame < CONTROL_FRAMES; run->frame++) {
    uint32_t i = run->frame;
    double budget_ns = i < CHANGE ? BUDGET_NS : BUDGET_NS * run->script->budget;
    if (muster_frame_run(world, &(muster_frame){(uint64_t)(i + 1) * FRAME_NS, (uint64_t)budget_ns})) return false;
    muster_frame_report_read(world, &report);
    idle_watch_add(idle, &report, (uint64_t)budget_ns);
    trace->rate[i] = (float)report.completed;
    trace->period_ms[i] = (float)(50.0 + report.period_deviation_ns * 1e-6);
    trace->waiting[i] = (float)(report.carried + report.preempted);
    double mean_ns = report.completed ? (double)report.update_cpu_ns / report.completed : 0.0;
    trace->allowed[i] = mean_ns > 0 ? (float)(budget_ns / mean_ns) : 0.0f;
  }
  return true;
}

static double mean_of(const float *values, uint32_t from, uint32_t to) {
  double sum = 0;
  for (uint32_t i = from; i < to; i++) sum += (double)values[i];
  return sum / (double)(to - from);
}

static double swing_of(const float *values, uint32_t from, uint32_t to) {
  double mean = mean_of(values, from, to), squares = 0;
  for (uint32_t i = from; i < to; i++) squares += ((double)values[i] - mean) * ((double)values[i] - mean);
  return sqrt(squares / (double)(to - from)) / mean;
}

/* Rates are whole updates: each value becomes the mean over as many frames as have about a hundred, three at least. */
static void smooth(const float *values, float *smoothed) {
  double frames = 100.0 / fmax(mean_of(values, CONTROL_FRAMES - LAST, CONTROL_FRAMES), 10.0);
  uint32_t before = frames > 3.0 ? (uint32_t)frames : 2;
  for (uint32_t i = 0; i < CONTROL_FRAMES; i++)
    smoothed[i] = (float)mean_of(values, i < before ? 0 : i - before, i + 1);
}

static uint32_t settled_after(const float *values, uint32_t from) {
  double last = mean_of(values, CONTROL_FRAMES - LAST, CONTROL_FRAMES);
  uint32_t frame = CONTROL_FRAMES;
  while (frame > from && fabs((double)values[frame - 1] - last) <= 0.1 * last) frame--;
  return frame - from;
}

/* Zero when there was no step of a tenth or more to go beyond. */
static double overshoot_of(const float *values, uint32_t from) {
  double before = mean_of(values, CHANGE - LAST / 2, CHANGE);
  double after = mean_of(values, CONTROL_FRAMES - LAST, CONTROL_FRAMES), step = after - before, most = 0;
  if (fabs(step) < 0.1 * before) return 0.0;
  for (uint32_t i = from; i < CONTROL_FRAMES; i++) most = fmax(most, ((double)values[i] - after) / step);
  return most;
}

/* Counts until five frames in a row are not depressed. In the frame of a spike the rate that costs allow is that of the
 * frames before.
 */
static uint32_t depressed(const struct script *script, const control_trace *trace) {
  uint32_t frames = 0;
  double before = mean_of(trace->allowed, CHANGE - LAST / 2, CHANGE);
  for (uint32_t i = CHANGE, well = 0; i < CONTROL_FRAMES && well < 5; i++, well++) {
    double allowed = script->spike ? before : (double)trace->allowed[i];
    if ((double)trace->rate[i] >= 0.9 * allowed) continue;
    frames++;
    well = 0;
  }
  return frames;
}

/* A ramp has settled when it has ended; until then the period follows it. */
static void judge(const struct script *script, control_response *response) {
  const control_trace *trace = &response->trace;
  float rate[CONTROL_FRAMES];
  const float *period = trace->period_ms;
  uint32_t from = CHANGE + script->ramp, steady = CONTROL_FRAMES - LAST;
  smooth(trace->rate, rate);
  response->figures = (control_figures){
      .overshoot = fmax(overshoot_of(rate, from), overshoot_of(period, from)),
      .settle_frames = (uint32_t)fmax(settled_after(rate, from), settled_after(period, from)),
      .frames_depressed = depressed(script, trace),
      .swing = fmax(swing_of(rate, steady, CONTROL_FRAMES), swing_of(period, steady, CONTROL_FRAMES))};
  const control_figures *figures = &response->figures, *most = &control_within;
  response->within = figures->overshoot < most->overshoot && figures->settle_frames <= most->settle_frames &&
                     figures->frames_depressed <= most->frames_depressed && figures->swing <= most->swing &&
                     !response->idle_frames && !response->idle_windows;
}

static const char *respond(const struct script *script, uint64_t seed, control_response *response) {
  struct run run = {.script = script};
  struct kind kinds[2];
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = AGENTS;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.seed = seed;
  muster_world *world = muster_world_create(&def);
  idle_watch idle = {0};
  bool ran = world && populate(world, &run, kinds) && run_frames(world, &run, &idle, &response->trace);
  muster_world_destroy(world);
  if (!ran) return muster_last_error();
  response->name = script->name;
  response->summary = script->summary;
  response->idle_frames = idle.frames;
  response->idle_windows = idle.usage.faults;
  judge(script, response);
  return NULL;
}

const char *control_measure(uint64_t seed, control_response responses[CONTROL_RESPONSES]) {
  for (uint32_t i = 0; i < CONTROL_RESPONSES; i++) {
    const char *wrong = respond(&scripts[i], seed, &responses[i]);
    if (wrong) return wrong;
  }
  return NULL;
}
