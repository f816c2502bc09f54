/* `muster repro osborne`: with and without level of detail, doubling, and the view from above. */
#include "osborne.h"

enum { HERDS = 2048, MOST_HERDS = 1 << 26, QUICK_HERDS = 128, QUICK_MOST = 512, QUICK_CYCLES = 20 };

enum { SIDE_M = 4000, QUICK_SIDE_M = 1000 /* as many herds per square metre */ };

bool osborne_measure(void *all) {
  static const osborne_plan whole = {
      .herds = HERDS, .most = MOST_HERDS, .side_m = SIDE_M, .cycles = OSBORNE_CYCLES_MAX, .row_ns = 1000000000};
  static const osborne_plan little = {
      .herds = QUICK_HERDS, .most = QUICK_MOST, .side_m = QUICK_SIDE_M, .cycles = QUICK_CYCLES, .row_ns = 100000000};
  osborne_results *results = all;
  results->plan = results->base.quick ? little : whole;
  if (!osborne_keep(&results->kept) || !osborne_compare(results) || !osborne_scale(results)) return false;
  if (results->doublings[OSBORNE_SAME_DENSITY].sizes > 0) return true;
  muster_module_fail(MUSTER_E_MEMORY, "there is no memory for %u herds of %d", results->plan.herds, OSBORNE_MEMBERS);
  return false;
}
