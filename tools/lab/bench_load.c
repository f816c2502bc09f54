#include "bench_load.h"

#include "varied_costs.h"

#include <muster/view.h>

#include <math.h>
#include <stdlib.h>

enum { TRIALS = 3 };

#define BUDGET_LEAST_NS 10000u

/* A module that spreads its agents over several partitions reports how many. */
static uint32_t count_partitions(const struct host *host) {
  host_figures figures;
  host_read_figures(host, &figures);
  double count = host_figure(&figures, "partitions");
  return isnan(count) ? 1 : (uint32_t)count;
}

load_setup load_setup_of(const muster_module *module, uint32_t agents, uint32_t observers, uint64_t seed) {
  load_setup setup = {.host = host_default_setup(module)};
  setup.host.options.agents = agents;
  setup.host.options.observers = observers;
  setup.host.options.seed = setup.host.world.seed = seed;
  setup.host.world.clock.kind = MUSTER_CLOCK_VIRTUAL;
  return setup;
}

bool load_open(load_world *world, const load_setup *setup, uint64_t capacity_ns) {
  host_setup def = setup->host;
  def.world.clock.capacity_ns = capacity_ns;
  *world = (load_world){.capacity_ns = capacity_ns};
  if (!host_open(&world->host, &def)) return false;
  if (setup->sigma > 0 && !(world->varied = varied_costs_begin(world->host.world, setup->sigma))) return false;
  world->partitions = count_partitions(&world->host);
  world->room = world->host.needs.agents_max;
  world->shown = calloc(world->room, sizeof *world->shown);
  if (!world->shown) muster_module_fail(MUSTER_E_MEMORY, "out of memory");
  return world->shown != NULL;
}

void load_close(load_world *world) {
  free(world->shown);
  host_close(&world->host);
  varied_costs_free(world->varied);
}

bool load_run_frame(load_world *world, muster_frame_report *report) {
  uint64_t budget_ns = world->capacity_ns > BUDGET_LEAST_NS ? world->capacity_ns : BUDGET_LEAST_NS;
  world->now_ns += LOAD_FRAME_NS;
  if (!host_run_frame(&world->host, world->now_ns, budget_ns, report)) return false;
  idle_watch_add(&world->idle, report, world->capacity_ns);
  world->in = world->in || host_is_in(&world->host, report, &world->calm) ||
              world->now_ns >= (uint64_t)HOST_INTAKE_FRAMES_MAX * LOAD_FRAME_NS;
  return true;
}

void load_look(load_world *world, void (*see)(const muster_view_agent *agent, void *user), void *user) {
  muster_view view = muster_view_default();
  view.x0 = view.y0 = -1e6;
  view.x1 = view.y1 = 1e6;
  view.looks_max = world->room;
  for (view.partition = 0; view.partition < world->partitions; view.partition++)
    for (uint32_t cursor = 0; cursor != MUSTER_VIEW_END;) {
      uint32_t count = muster_agents_view(world->host.world, &view, world->shown, world->room, &cursor);
      for (uint32_t i = 0; i < count; i++) see(&world->shown[i], user);
    }
}

void load_add(load_sums *sums, const muster_view_agent *agent, bool ran) {
  sums->seen++;
  sums->runs += ran;
  sums->rate += 1.0 / (double)agent->period_s;
}

load_band load_sum_up(const load_sums *sums, uint32_t window) {
  return (load_band){sums->seen / window, sums->runs, sums->seen * LOAD_FRAME_S / sums->runs, sums->seen / sums->rate};
}

uint32_t load_warm_up(double load) {
  return 60 + (uint32_t)(45.0 * load);
}

/* The mean of the frames after a warm-up, in which all come in, however long that takes, and what each of them costs
 * beside the others is learnt. */
static bool measure_pressure(load_world *world, uint32_t frames, double *pressure) {
  muster_frame_report report;
  uint32_t warm_up = 4 * load_warm_up(1), seen = 0;
  *pressure = 0;
  for (uint32_t i = 0; seen < frames; i++) {
    if (!load_run_frame(world, &report)) return false;
    if (i < warm_up || !world->in) continue;
    *pressure += (double)report.pressure / frames;
    seen++;
  }
  return true;
}

double load_find_wish_ns(const load_setup *setup, uint32_t frames) {
  static const double pressure_least = 1.0 / 16; /* a world without any does not tell its spare capacity */
  double wish_ns = setup->host.options.agents ? setup->host.options.agents * 20.0 : 1e6;
  bool ran = true;
  for (uint32_t trials = 0; trials < TRIALS && ran;) {
    load_world world;
    double pressure = 0;
    ran = load_open(&world, setup, (uint64_t)wish_ns) && measure_pressure(&world, frames, &pressure);
    load_close(&world);
    wish_ns *= fmax(pressure, pressure_least);
    trials += pressure > pressure_least;
    if (ran && wish_ns < 1) {
      muster_module_fail(MUSTER_E_INPUT, "no agent wants anything in '%s': it cannot be loaded",
                         setup->host.module->name);
      ran = false;
    }
  }
  return ran ? wish_ns : 0;
}
