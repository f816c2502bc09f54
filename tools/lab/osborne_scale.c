/* Doubles the number of herds again and again: on the same square, and on one that grows with them. */
#include "osborne.h"

#include "base/clock.h"
#include "rounds.h"
#include "scale.h"
#include "text.h"

#include <math.h>

enum { CYCLES_LEAST = 5 };

static const double slow_ms = 100; /* from here on it is not doubled again */

/* A folded herd's bytes, what one that is near takes in room and agents, and everything else; generously. */
static const uint64_t bytes_folded = 32, bytes_unfolded = 2048, bytes_agent = 512, bytes_beside = 256u << 20;

static bool has_memory(const osborne_def *def) {
  uint64_t needed = (uint64_t)def->herds * bytes_folded + osborne_unfolded_max(def) * bytes_unfolded +
                    osborne_agents_max(def) * bytes_agent + bytes_beside;
  return needed <= scale_bytes_available();
}

/* One worker by the CPU that its thread used, so that other work of the machine does not count; several can only be
 * timed by the wall clock. */
static uint64_t read_time(const osborne_world *world, const clock_source *clock) {
  return world->workers == 1 ? clock_thread_cpu() : clock_now(clock);
}

/* The median of as many cycles as the time holds. */
static bool time_cycles(const osborne_plan *plan, osborne_world *world, osborne_size *size, double *median_ms) {
  double took_ms[OSBORNE_CYCLES_MAX];
  clock_source clock = clock_calibrate();
  uint64_t started_ns = clock_now(&clock);
  uint32_t count = 0;
  while (count < plan->cycles && (count < CYCLES_LEAST || clock_now(&clock) - started_ns < plan->row_ns)) {
    uint64_t begin_ns = read_time(world, &clock);
    if (!osborne_cycle(world)) return false;
    took_ms[count++] = (double)(read_time(world, &clock) - begin_ns) * 1e-6;
    if (!osborne_look(world)) return false;
    size->complete &= world->report.represented == (uint64_t)world->def.herds * OSBORNE_MEMBERS;
  }
  size->cycles = count;
  size->counts = osborne_count(world);
  *median_ms = rounds_median(took_ms, count);
  return true;
}

static bool time_world(osborne_results *results, const osborne_def *def, uint32_t workers, osborne_size *size,
                       double *median_ms) {
  osborne_world world;
  progress_step(&results->base.line, "osborne: %s agents on %.1f km, %u worker%s",
                text_count((uint64_t)def->herds * OSBORNE_MEMBERS), def->side_m * 1e-3, workers,
                workers == 1 ? "" : "s");
  bool done = osborne_open(&world, def, workers) && time_cycles(&results->plan, &world, size, median_ms);
  if (!done) muster_module_fail(muster_last_result(), "%u herds: %s", def->herds, muster_last_error());
  osborne_close(&world);
  return done;
}

static bool time_size(osborne_results *results, const osborne_def *def, osborne_size *size) {
  *size = (osborne_size){.side_m = def->side_m, .complete = true, .workers = 1};
  if (!time_world(results, def, 1, size, &size->one_ms)) return false;
  size->all_ms = size->one_ms;
  if (results->workers > 1 && !time_world(results, def, results->workers, size, &size->all_ms)) return false;
  if (size->all_ms < size->one_ms) size->workers = results->workers;
  size->ms = fmin(size->one_ms, size->all_ms);
  return true;
}

static bool time_sizes(osborne_results *results, osborne_doubling *doubling) {
  const osborne_plan *plan = &results->plan;
  for (uint64_t herds = plan->herds; herds <= plan->most && doubling->sizes < OSBORNE_SIZES_MAX; herds *= 2) {
    osborne_size *size = &doubling->rows[doubling->sizes];
    double growth = doubling->grows ? sqrt((double)herds / plan->herds) : 1;
    osborne_def def = {.herds = (uint32_t)herds, .side_m = plan->side_m * growth, .seed = 1};
    doubling->end = OSBORNE_END_MEMORY;
    if (!has_memory(&def)) return true;
    if (!time_size(results, &def, size)) return false;
    doubling->sizes++;
    doubling->end = OSBORNE_END_SLOW;
    if (size->ms >= slow_ms) return true;
  }
  doubling->end = OSBORNE_END_PLAN;
  return true;
}

bool osborne_scale(osborne_results *results) {
  uint32_t processors = muster_available_processors();
  results->workers = processors < MUSTER_WORKERS_MAX ? processors : MUSTER_WORKERS_MAX;
  results->doublings[OSBORNE_SAME_DENSITY].grows = true;
  for (int i = 0; i < OSBORNE_DOUBLINGS; i++)
    if (!time_sizes(results, &results->doublings[i])) return false;
  return true;
}
