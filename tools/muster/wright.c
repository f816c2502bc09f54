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

static bool measure_versions(wright_results *results) {
  struct progress line = progress_begin();
  bool measured = true;
  for (uint32_t i = 0; measured && i < WRIGHT_VERSIONS; i++)
    measured = wright_run_crowds(&wright_versions[i], &results->rows[i]) &&
               (results->quick || (wright_find_limits(&wright_versions[i], &line, &results->rows[i]) &&
                                   measure_overhead(&wright_versions[i], &line, &results->rows[i])));
  progress_end(&line);
  return measured;
}

static bool measure_loads(wright_results *results) {
  wright_outcome outcome;
  return wright_run(&wright_versions[WRIGHT_UNSCHEDULED], WRIGHT_SERVED, &outcome, results->loads_before) &&
         wright_run(&wright_versions[WRIGHT_DELAYED], WRIGHT_SERVED, &outcome, results->loads_after);
}

static bool reproduce(json_writer *writer, const char *plots, bool quick, bool quiet) {
  wright_results results = {.quick = quick, .budget_ns = wright_budget_ns()};
  if (!wright_count(results.counts) || !wright_find_peaks(WRIGHT_SERVED, WRIGHT_DELAY, &results.peaks) ||
      !wright_run_manager(&results.manager) || !measure_versions(&results) || !measure_loads(&results))
    return false;
  wright_check(&results);
  json_string(writer, "paper", repro_wright.name);
  wright_write(writer, &results);
  if (!quiet) wright_print(&results);
  return !plots || wright_plot(&results, plots);
}

static bool measure(json_writer *writer, bool quiet) {
  double costs_ns[PURSUIT_ATOMS];
  if (!wright_measure_costs(costs_ns)) return false;
  json_begin_array(writer, "costs");
  for (uint32_t atom = 0; atom < PURSUIT_ATOMS; atom++) {
    json_print(writer, "{ set=%s modelled_ns=%u measured_ns=%g }", pursuit_set_name(pursuit_set_of(atom)),
               pursuit_model_ns(atom), costs_ns[atom]);
  }
  json_end_array(writer);
  if (!quiet) wright_print_costs(costs_ns);
  return true;
}

const repro_paper repro_wright = {"wright", "Wright & Marshall: the process manager (Table 2, versions, peaking)",
                                  reproduce, measure};
