#include "bench_sweep_run.h"

#include "bench_load.h"
#include "scenarios/scenarios.h"

#include <math.h>

enum { OBSERVERS = 17, WINDOW = 150 };

static const double load_first = 0.3, load_step = 1.1, importance_most = 0.9;

/* The wildlife under one rule. */
static load_setup setup_of(const sweep_setup *setup, sweep_rule rule) {
  return (load_setup){.module = muster_module_wildlife(),
                      .agents = setup->agents,
                      .observers = OBSERVERS,
                      .seed = setup->seed,
                      .elastic = rule == SWEEP_LAW ? MUSTER_ELASTIC_IMPORTANCE : MUSTER_ELASTIC_RATE,
                      .order = rule == SWEEP_LAW ? MUSTER_ORDER_DEADLINE : MUSTER_ORDER_PRIORITY};
}

/* Sums over the frames of a window. */
typedef struct band_sums {
  double seen, runs, rate;
} band_sums;

typedef struct sweep_sums {
  band_sums important, unimportant;
} sweep_sums;

/* An agent that ran in this frame has no staleness at its end. */
static void add(band_sums *sums, const muster_sight *sight) {
  sums->seen++;
  sums->runs += (double)sight->staleness_s < 0.5 * LOAD_FRAME_S;
  sums->rate += 1.0 / (double)sight->period_s;
}

static void see(const muster_sight *sight, void *user) {
  sweep_sums *sums = user;
  if ((double)sight->importance >= importance_most) add(&sums->important, sight);
  if (sight->importance <= 0.0f) add(&sums->unimportant, sight);
}

static sweep_band band_of(const band_sums *sums) {
  return (sweep_band){sums->seen / WINDOW, sums->seen * LOAD_FRAME_S / sums->runs, sums->seen / sums->rate};
}

static bool measure(load_world *world, uint32_t warm_up, sweep_point *point) {
  muster_frame_report report;
  sweep_sums sums = {0};
  double pressure = 0;
  for (uint32_t i = 0; i < warm_up + WINDOW; i++) {
    if (!load_run_frame(world, &report)) return false;
    if (i < warm_up) continue;
    pressure += (double)report.pressure;
    load_look(world, see, &sums);
  }
  *point = (sweep_point){pressure / WINDOW, band_of(&sums.important), band_of(&sums.unimportant)};
  return true;
}

static bool measure_load(const sweep_setup *setup, double wish_ns, sweep_result *result) {
  uint64_t capacity_ns = (uint64_t)llround(wish_ns / result->load);
  bool ran = true;
  setup->show(result->load, setup->user);
  for (sweep_rule rule = 0; rule < SWEEP_RULES && ran; rule++) {
    load_world world;
    load_setup one = setup_of(setup, rule);
    ran = load_open(&world, &one, capacity_ns) && measure(&world, load_warm_up(result->load), &result->rules[rule]);
    load_close(&world);
  }
  return ran;
}

const char *sweep_measure(const sweep_setup *setup, sweep_result results[SWEEP_LOADS]) {
  load_setup law = setup_of(setup, SWEEP_LAW);
  double wish_ns = load_find_wish_ns(&law, WINDOW);
  bool ran = wish_ns > 0;
  for (uint32_t i = 0; i < SWEEP_LOADS && ran; i++) {
    results[i].load = round(load_first * pow(load_step, i) * 100.0) / 100.0;
    ran = measure_load(setup, wish_ns, &results[i]);
  }
  return ran ? NULL : muster_last_error();
}
