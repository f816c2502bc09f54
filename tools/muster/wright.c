/* `muster repro wright`: Table 2, the versions of the testbed, process peaking. */
#include "wright.h"

#include <math.h>

/* What is not managed is what the others are compared with. */
static bool measure_overhead(const wright_version *version, wright_row *row) {
  row->overhead_ns = version->managed ? (double)NAN : 0.0;
  if (version->managed && version->workers == 1 && !wright_measure_overhead(version, &row->overhead_ns)) return false;
  row->overhead_share = row->overhead_ns / wright_update_ns();
  return true;
}

static bool measure_versions(wright_results *results) {
  for (uint32_t i = 0; i < WRIGHT_VERSIONS; i++)
    if (!wright_find_limits(&wright_versions[i], &results->rows[i]) ||
        !measure_overhead(&wright_versions[i], &results->rows[i]))
      return false;
  return true;
}

static bool measure_loads(wright_results *results) {
  wright_outcome outcome;
  return wright_run(&wright_versions[WRIGHT_UNSCHEDULED], WRIGHT_SERVED, &outcome, results->loads_before) &&
         wright_run(&wright_versions[WRIGHT_DELAYED], WRIGHT_SERVED, &outcome, results->loads_after);
}

static void write_counts(json_writer *writer, const char *name, const uint32_t *counts, uint32_t count) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < count; i++) json_uint(writer, NULL, counts[i]);
  json_end_array(writer);
}

static void write_outcome(json_writer *writer, const char *name, const wright_outcome *outcome) {
  json_begin_object(writer, name);
  json_number(writer, "missed_updates_share", outcome->missed_updates);
  json_number(writer, "missed_updates_share_last", outcome->missed_last);
  json_number(writer, "missed_sets_share", outcome->missed_sets);
  json_number(writer, "least_rate_share", outcome->least_rate);
  json_number(writer, "mean_load", outcome->mean_load);
  json_number(writer, "peak_load", outcome->peak_load);
  json_end_object(writer);
}

static void write_versions(json_writer *writer, const wright_results *results) {
  json_begin_array(writer, "versions");
  for (uint32_t i = 0; i < WRIGHT_VERSIONS; i++) {
    const wright_version *version = &wright_versions[i];
    const wright_row *row = &results->rows[i];
    json_begin_object(writer, NULL);
    json_string(writer, "name", version->name);
    json_uint(writer, "workers", version->workers);
    json_uint(writer, "agents_before_degradation", row->agents);
    json_number(writer, "published_agents", version->published ? version->published : (double)NAN);
    json_number(writer, "overhead_share", row->overhead_share);
    json_number(writer, "overhead_ns_per_update", row->overhead_ns);
    json_uint(writer, "agents_before_first_miss", row->untroubled);
    write_outcome(writer, "at_the_limit", &row->limit);
    write_outcome(writer, "with_169_agents", &row->served);
    write_outcome(writer, "with_507_agents", &row->crowd);
    json_end_object(writer);
  }
  json_end_array(writer);
}

static void write_results(json_writer *writer, const wright_results *results) {
  json_string(writer, "paper", repro_wright.name);
  write_counts(writer, "table2", results->counts, WRIGHT_COUNTS);
  write_counts(writer, "published_table2", wright_published, WRIGHT_COUNTS);
  json_uint(writer, "budget_ns", results->budget_ns);
  json_number(writer, "update_ns", wright_update_ns());
  json_number(writer, "published_overhead_share", 0.2);
  write_versions(writer, results);
  json_begin_object(writer, "processes");
  write_counts(writer, "before", results->peaks.before, WRIGHT_FRAMES);
  write_counts(writer, "after", results->peaks.after, WRIGHT_FRAMES);
  json_end_object(writer);
}

static bool reproduce(json_writer *writer, const char *plots, bool quiet, repro_checks *checks) {
  wright_results results = {.budget_ns = wright_budget_ns()};
  wright_count(results.counts);
  wright_find_peaks(WRIGHT_SERVED, WRIGHT_DELAY, &results.peaks);
  if (!measure_versions(&results) || !measure_loads(&results)) return false;
  wright_check(&results, checks);
  write_results(writer, &results);
  if (!quiet) wright_print(&results);
  return !plots || wright_plot(&results, plots);
}

static bool measure(json_writer *writer, bool quiet) {
  double costs_ns[PURSUIT_ATOMS];
  if (!wright_measure_costs(costs_ns)) return false;
  json_begin_array(writer, "costs");
  for (uint32_t atom = 0; atom < PURSUIT_ATOMS; atom++) {
    json_begin_object(writer, NULL);
    json_string(writer, "set", pursuit_set_name(pursuit_set_of(atom)));
    json_uint(writer, "modelled_ns", pursuit_model_ns(atom));
    json_number(writer, "measured_ns", costs_ns[atom]);
    json_end_object(writer);
  }
  json_end_array(writer);
  if (!quiet) wright_print_costs(costs_ns);
  return true;
}

const repro_paper repro_wright = {"wright", "Wright & Marshall: the process manager (Table 2, versions, peaking)",
                                  reproduce, measure, NULL};
