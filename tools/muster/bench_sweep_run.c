#include "bench_sweep_run.h"

#include "host.h"
#include "scenarios/scenarios.h"

#include <math.h>
#include <stdlib.h>

#define FRAME_NS 33333333u

enum { OBSERVERS = 17, WINDOW = 150, TRIALS = 3 };

#define BUDGET_LEAST_NS 10000u

static const double load_first = 0.3, load_step = 1.1, importance_most = 0.9;

const double sweep_frame_s = FRAME_NS * 1e-9;

/* A world under one rule with a capacity, and what is seen of it. */
typedef struct sweep {
  host host;
  muster_sight *sights;
  uint32_t room;
  uint64_t now_ns, capacity_ns;
} sweep;

static bool sweep_open(sweep *sweep, const sweep_setup *setup, sweep_rule rule, uint64_t capacity_ns) {
  host_setup def = {.module = muster_module_wildlife(),
                    .options = muster_default_module_options(),
                    .workers = 1,
                    .world = muster_default_world_def()};
  def.options.agents = setup->agents;
  def.options.observers = OBSERVERS;
  def.options.seed = def.world.seed = setup->seed;
  def.world.clock = MUSTER_CLOCK_VIRTUAL;
  def.world.capacity_ns = capacity_ns;
  def.world.elastic = rule == SWEEP_LAW ? MUSTER_ELASTIC_IMPORTANCE : MUSTER_ELASTIC_RATE;
  def.world.order = rule == SWEEP_LAW ? MUSTER_ORDER_DEADLINE : MUSTER_ORDER_PRIORITY;
  *sweep = (struct sweep){.capacity_ns = capacity_ns};
  if (!host_open(&sweep->host, &def)) return false;
  sweep->room = sweep->host.needs.agents_max;
  sweep->sights = calloc(sweep->room, sizeof *sweep->sights);
  if (!sweep->sights) muster_module_fail(MUSTER_E_MEMORY, "out of memory");
  return sweep->sights != NULL;
}

static void sweep_close(sweep *sweep) {
  free(sweep->sights);
  host_close(&sweep->host);
}

static bool run_frame(sweep *sweep, muster_frame_report *report) {
  uint64_t capacity_ns = sweep->capacity_ns;
  sweep->now_ns += FRAME_NS;
  return host_run_frame(&sweep->host, sweep->now_ns, capacity_ns > BUDGET_LEAST_NS ? capacity_ns : BUDGET_LEAST_NS,
                        report);
}

/* Sums over the frames of a window. */
typedef struct band_sums {
  double seen, runs, rate;
} band_sums;

/* Who ran in this frame has no staleness at its end. */
static void add(band_sums *sums, const muster_sight *sight) {
  sums->seen++;
  sums->runs += (double)sight->staleness_s < 0.5 * sweep_frame_s;
  sums->rate += 1.0 / (double)sight->period_s;
}

static void look(sweep *sweep, band_sums *important, band_sums *unimportant) {
  muster_view view = muster_default_view();
  view.x0 = view.y0 = -1e6;
  view.x1 = view.y1 = 1e6;
  view.looks_max = sweep->room;
  for (uint32_t cursor = 0; cursor != MUSTER_VIEW_END;) {
    uint32_t count = muster_agents_view(sweep->host.world, &view, sweep->sights, sweep->room, &cursor);
    for (uint32_t i = 0; i < count; i++) {
      if ((double)sweep->sights[i].importance >= importance_most) add(important, &sweep->sights[i]);
      if (sweep->sights[i].importance <= 0.0f) add(unimportant, &sweep->sights[i]);
    }
  }
}

static sweep_band band_of(const band_sums *sums) {
  return (sweep_band){sums->seen / WINDOW, sums->seen * sweep_frame_s / sums->runs, sums->seen / sums->rate};
}

/* At twice the load everybody's first run takes twice as long to come. */
static uint32_t warm_up_at(double load) {
  return 60 + (uint32_t)(45.0 * load);
}

static bool measure(sweep *sweep, uint32_t warm_up, sweep_point *point) {
  muster_frame_report report;
  band_sums important = {0}, unimportant = {0};
  double pressure = 0;
  for (uint32_t i = 0; i < warm_up + WINDOW; i++) {
    if (!run_frame(sweep, &report)) return false;
    if (i < warm_up) continue;
    pressure += (double)report.pressure;
    look(sweep, &important, &unimportant);
  }
  *point = (sweep_point){pressure / WINDOW, band_of(&important), band_of(&unimportant)};
  return true;
}

/* What everybody at the longest period takes of a frame: the pressure of a world that cannot have it says that; as
 * costs follow the load a little, of one whose load is about 1. Zero: failed. */
static double find_wish_ns(const sweep_setup *setup) {
  double wish_ns = setup->agents * 20.0;
  bool ran = true;
  for (uint32_t i = 0; i < TRIALS && ran; i++) {
    sweep sweep;
    sweep_point point;
    ran = sweep_open(&sweep, setup, SWEEP_LAW, (uint64_t)wish_ns) && measure(&sweep, warm_up_at(1), &point);
    sweep_close(&sweep);
    if (ran) wish_ns *= point.pressure;
  }
  return ran ? wish_ns : 0;
}

static bool measure_load(const sweep_setup *setup, double wish_ns, sweep_result *result) {
  uint64_t capacity_ns = (uint64_t)llround(wish_ns / result->load);
  bool ran = true;
  setup->show(result->load, setup->user);
  for (sweep_rule rule = 0; rule < SWEEP_RULES && ran; rule++) {
    sweep sweep;
    ran =
        sweep_open(&sweep, setup, rule, capacity_ns) && measure(&sweep, warm_up_at(result->load), &result->rules[rule]);
    sweep_close(&sweep);
  }
  return ran;
}

const char *sweep_measure(const sweep_setup *setup, sweep_result results[SWEEP_LOADS]) {
  double wish_ns = find_wish_ns(setup);
  bool ran = wish_ns > 0;
  for (uint32_t i = 0; i < SWEEP_LOADS && ran; i++) {
    results[i].load = round(load_first * pow(load_step, i) * 100.0) / 100.0;
    ran = measure_load(setup, wish_ns, &results[i]);
  }
  return ran ? NULL : muster_last_error();
}
