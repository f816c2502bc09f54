#include "plan/costs.h"

#include "base/assert.h"

void costs_create(cost_table *costs, uint32_t types_max, arena *arena) {
  costs->estimates = arena_reserve(arena, types_max, sizeof *costs->estimates);
}

static uint32_t predicted(double mean_ns) {
  return mean_ns < 1.0 ? 1u : mean_ns > 1e9 ? 1000000000u : (uint32_t)mean_ns;
}

void costs_guess(cost_table *costs, uint32_t type, uint64_t guess_ns) {
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++)
    costs->estimates[type][level] = (cost_estimate){(double)guess_ns, (double)guess_ns, 0, predicted((double)guess_ns)};
}

/* The percentile moves up by 19 steps for a sample above it and down by one for a sample below: it rests where 5 % are
 * above. The step follows the estimate, so that it finds any scale, up and down. */
static void track_high(cost_estimate *estimate, double cost_ns) {
  double scale = estimate->mean_ns > estimate->high_ns ? estimate->mean_ns : estimate->high_ns;
  double step = scale * (1.0 / 128.0) + 1.0;
  if (cost_ns > estimate->high_ns)
    estimate->high_ns += step * 19.0 < cost_ns - estimate->high_ns ? step * 19.0 : cost_ns - estimate->high_ns;
  else
    estimate->high_ns -= step < estimate->high_ns - cost_ns ? step : estimate->high_ns - cost_ns;
}

void estimate_add(cost_estimate *estimate, double cost_ns) {
  estimate->samples++;
  uint64_t window = estimate->samples < 64 ? estimate->samples : 64;
  estimate->mean_ns += (cost_ns - estimate->mean_ns) / (double)window;
  estimate->predicted_ns = predicted(estimate->mean_ns);
  if (estimate->samples == 1) estimate->high_ns = cost_ns;
  track_high(estimate, cost_ns);
}

void estimate_add_clipped(cost_estimate *estimate, double cost_ns, double floor_ns) {
  double most_ns = 4.0 * estimate->mean_ns + floor_ns;
  estimate_add(estimate, estimate->samples < 8 || cost_ns < most_ns ? cost_ns : most_ns);
}

void costs_add(cost_table *costs, uint32_t type, uint32_t level, uint64_t cost_ns) {
  ASSERT(level < MUSTER_LEVELS);
  estimate_add(&costs->estimates[type][level], (double)cost_ns);
}
