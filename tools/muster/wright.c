/* `muster repro wright`: Table 2, the versions of the testbed, process peaking. */
#include "wright.h"

#include <math.h>

/* The unmanaged version is the one that the others are compared with. */
static bool measure_overhead(const wright_version *version, struct progress *line, wright_row *row) {
  row->overhead_ns = version->managed ? (double)NAN : 0.0;
  progress_step(line, "wright: %s, what its scheduling costs", version->name);
  if (version->managed && version->workers == 1 && !wright_measure_overhead(version, &row->overhead_ns)) return false;
  row->overhead_share = row->overhead_ns / wright_update_ns();
  return true;
}

bool wright_measure(void *all) {
  wright_results *results = all;
  struct progress *line = &results->base.line;
  bool measured = (!results->base.costs || wright_measure_costs(results->costs_ns)) && wright_run_sets(results);
  for (uint32_t i = 0; measured && i < WRIGHT_VERSIONS; i++) {
    const wright_version *version = &wright_versions[i];
    wright_row *row = &results->rows[i];
    measured =
        wright_run_crowds(version, row) &&
        (results->base.quick || (wright_find_limits(version, line, row) && measure_overhead(version, line, row)));
  }
  return measured;
}
