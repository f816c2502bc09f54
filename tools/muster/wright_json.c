/* Wright & Marshall's results for machines. */
#include "wright.h"

#include <math.h>

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

static void write_limits(json_writer *writer, const wright_row *row) {
  json_uint(writer, "agents_before_degradation", row->agents);
  json_number(writer, "overhead_share", row->overhead_share);
  json_number(writer, "overhead_ns_per_update", row->overhead_ns);
  json_uint(writer, "agents_before_first_miss", row->untroubled);
  write_outcome(writer, "at_the_limit", &row->limit);
}

static void write_versions(json_writer *writer, const wright_results *results) {
  json_begin_array(writer, "versions");
  for (uint32_t i = 0; i < WRIGHT_VERSIONS; i++) {
    const wright_version *version = &wright_versions[i];
    const wright_row *row = &results->rows[i];
    json_begin_object(writer, NULL);
    json_string(writer, "name", version->name);
    json_uint(writer, "workers", version->workers);
    json_bool(writer, "chosen", i == WRIGHT_UNSCHEDULED);
    json_number(writer, "published_agents", version->published ? version->published : (double)NAN);
    if (!results->quick) write_limits(writer, row);
    json_bool(writer, "same_world_on_one_thread", row->alike);
    write_outcome(writer, "with_169_agents", &row->served);
    write_outcome(writer, "with_507_agents", &row->crowd);
    json_end_object(writer);
  }
  json_end_array(writer);
}

static void write_parts(json_writer *writer, const char *name, const double parts[WRIGHT_PARTS]) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) json_number(writer, NULL, parts[i]);
  json_end_array(writer);
}

static void write_manager(json_writer *writer, const wright_manager *manager) {
  static const char *const modes[] = {"run", "suspendable", "sliceable"};
  json_begin_object(writer, "manager");
  write_counts(writer, "priorities", wright_priorities, WRIGHT_PARTS);
  write_parts(writer, "parts_of_agents", manager->agents);
  write_parts(writer, "parts_of_sets", manager->sets);
  json_number(writer, "used_by_agents", manager->agents_used);
  json_number(writer, "used_by_sets", manager->sets_used);
  for (int mode = 0; mode < 3; mode++) {
    json_begin_object(writer, modes[mode]);
    json_uint(writer, "began", manager->modes[mode].began);
    json_uint(writer, "atoms", manager->modes[mode].atoms);
    json_uint(writer, "completed", manager->modes[mode].completed);
    json_end_object(writer);
  }
  json_begin_array(writer, "turns");
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) json_uint(writer, NULL, manager->turns[i]);
  json_end_array(writer);
  json_end_object(writer);
}

void wright_write(json_writer *writer, const wright_results *results) {
  write_counts(writer, "table2", results->counts, WRIGHT_COUNTS);
  write_counts(writer, "published_table2", wright_published, WRIGHT_COUNTS);
  json_bool(writer, "quick", results->quick);
  write_manager(writer, &results->manager);
  json_uint(writer, "budget_ns", results->budget_ns);
  json_uint(writer, "budget_chosen_for_agents", WRIGHT_BASE);
  json_number(writer, "update_ns", wright_update_ns());
  json_number(writer, "published_overhead_share", 0.2);
  write_versions(writer, results);
  json_begin_object(writer, "processes");
  write_counts(writer, "before", results->peaks.before, WRIGHT_FRAMES);
  write_counts(writer, "after", results->peaks.after, WRIGHT_FRAMES);
  json_end_object(writer);
}
