/* Wright & Marshall's results for machines. */
#include "wright.h"

#include <math.h>

static void write_counts(json_writer *writer, const char *name, const uint32_t *counts, uint32_t count) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < count; i++) json_uint(writer, NULL, counts[i]);
  json_end_array(writer);
}

static void write_outcome(json_writer *writer, const char *name, const wright_outcome *outcome) {
  json_print(writer,
             "%s{ missed_updates_share=%g missed_updates_share_last=%g missed_sets_share=%g least_rate_share=%g "
             "mean_load=%g peak_load=%g }",
             name, outcome->missed_updates, outcome->missed_last, outcome->missed_sets, outcome->least_rate,
             outcome->mean_load, outcome->peak_load);
}

static void write_limits(json_writer *writer, const wright_row *row) {
  json_print(writer,
             "agents_before_degradation=%u overhead_share=%g overhead_ns_per_update=%g agents_before_first_miss=%u",
             row->agents, row->overhead_share, row->overhead_ns, row->untroubled);
  write_outcome(writer, "at_the_limit", &row->limit);
}

static void write_versions(json_writer *writer, const wright_results *results) {
  json_begin_array(writer, "versions");
  for (uint32_t i = 0; i < WRIGHT_VERSIONS; i++) {
    const wright_version *version = &wright_versions[i];
    const wright_row *row = &results->rows[i];
    json_print(writer, "{ name=%s workers=%u chosen=%d published_agents=%g", version->name, version->workers,
               i == WRIGHT_UNSCHEDULED, version->published ? version->published : (double)NAN);
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
  json_print(writer, "used_by_agents=%g used_by_sets=%g", manager->agents_used, manager->sets_used);
  for (int mode = 0; mode < 3; mode++) {
    json_print(writer, "%s{ began=%lu atoms=%lu completed=%lu }", modes[mode], manager->modes[mode].began,
               manager->modes[mode].atoms, manager->modes[mode].completed);
  }
  json_begin_array(writer, "turns");
  for (uint32_t i = 0; i < WRIGHT_PARTS; i++) json_uint(writer, NULL, manager->turns[i]);
  json_print(writer, "] }");
}

void wright_write(json_writer *writer, const wright_results *results) {
  write_counts(writer, "table2", results->counts, WRIGHT_COUNTS);
  write_counts(writer, "published_table2", wright_published, WRIGHT_COUNTS);
  json_bool(writer, "quick", results->quick);
  write_manager(writer, &results->manager);
  json_print(writer, "budget_ns=%lu budget_chosen_for_agents=%u update_ns=%g published_overhead_share=%g",
             results->budget_ns, WRIGHT_BASE, wright_update_ns(), 0.2);
  write_versions(writer, results);
  json_begin_object(writer, "processes");
  write_counts(writer, "before", results->peaks.before, WRIGHT_FRAMES);
  write_counts(writer, "after", results->peaks.after, WRIGHT_FRAMES);
  json_end_object(writer);
}
