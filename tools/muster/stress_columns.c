/* Reports of `muster stress` side by side. */
#include "stress_columns.h"

#include "text.h"

#include <stdio.h>
#include <string.h>

enum { LABEL_COLUMNS = 22, COLUMN_COLUMNS = 24 };

/* A row: a label, and a text for each report. */
typedef const char *(*columns_text)(const stress_column *column, uint32_t axis);

static void print_row(const char *label, const stress_column *columns, uint32_t count, columns_text text,
                      uint32_t axis) {
  printf("%-*s", LABEL_COLUMNS, label);
  for (uint32_t i = 0; i < count; i++) printf(" %*.*s", COLUMN_COLUMNS, COLUMN_COLUMNS, text(&columns[i], axis));
  putchar('\n');
}

/* The end of the name of a file: what names of reports differ by. */
static const char *text_name(const stress_column *column, uint32_t axis) {
  const char *slash = strrchr(column->name, '/'), *name = slash ? slash + 1 : column->name;
  size_t length = strlen(name);
  (void)axis;
  return length > COLUMN_COLUMNS ? name + length - COLUMN_COLUMNS : name;
}

static const char *text_processor(const stress_column *column, uint32_t axis) {
  (void)axis;
  return column->processor;
}

static const char *text_processor_count(const stress_column *column, uint32_t axis) {
  (void)axis;
  return text_count(column->processors);
}

static const char *text_version(const stress_column *column, uint32_t axis) {
  (void)axis;
  return column->version;
}

static const char *text_frames(const stress_column *column, uint32_t axis) {
  (void)axis;
  return text_of("%.0f of %s", column->frames, text_duration(column->budget_ns));
}

static const char *text_rate(const stress_column *column, uint32_t axis) {
  (void)axis;
  return column->frame_ns > 0 ? text_of("%.3g", 1e9 / column->frame_ns) : "-";
}

static const char *text_costs(const stress_column *column, uint32_t axis) {
  (void)axis;
  return text_of("%s, %s", text_duration(column->cost_ns), text_duration(column->planner_cost_ns));
}

static const char *text_others(const stress_column *column, uint32_t axis) {
  (void)axis;
  return text_share(column->others_share);
}

static const char *text_baseline(const stress_column *column, uint32_t knob) {
  return text_count(column->baseline[knob]);
}

/* ------------------------------------------------------------------------------------------------------------- axes */

static const char *text_limit(const stress_column *column, uint32_t axis) {
  const stress_cell *cell = &column->axes[axis];
  if (!cell->measured) return "-";
  if (cell->limit == 0) return "none";
  return text_of("%s%s", text_count(cell->limit), cell->most ? " or more" : "");
}

static const char *text_cause(const stress_column *column, uint32_t axis) {
  return column->axes[axis].measured ? column->axes[axis].cause : "-";
}

static bool has_limit(const stress_cell *cell) {
  return cell->measured && cell->limit > 0;
}

static const char *text_updates(const stress_column *column, uint32_t axis) {
  const stress_cell *cell = &column->axes[axis];
  return has_limit(cell) ? text_count((uint64_t)cell->updates_per_frame) : "-";
}

static const char *text_overhead(const stress_column *column, uint32_t axis) {
  const stress_cell *cell = &column->axes[axis];
  return has_limit(cell) ? text_duration(cell->overhead_per_update_ns) : "-";
}

static const char *text_serial(const stress_column *column, uint32_t axis) {
  const stress_cell *cell = &column->axes[axis];
  return has_limit(cell) ? text_share(cell->serial_share) : "-";
}

static const char *text_used(const stress_column *column, uint32_t axis) {
  const stress_cell *cell = &column->axes[axis];
  return has_limit(cell) ? text_share(cell->budget_used_share) : "-";
}

static const char *text_memory(const stress_column *column, uint32_t axis) {
  const stress_cell *cell = &column->axes[axis];
  return has_limit(cell) ? text_bytes(cell->bytes) : "-";
}

static bool is_measured(const stress_column *columns, uint32_t count, uint32_t axis) {
  bool measured = false;
  for (uint32_t i = 0; i < count; i++) measured |= columns[i].axes[axis].measured;
  return measured;
}

static void print_axis(const stress_column *columns, uint32_t count, uint32_t axis) {
  if (!is_measured(columns, count, axis)) return;
  puts("");
  print_row(text_of("%s: holds at", stress_axis_name(axis)), columns, count, text_limit, axis);
  print_row("  gave way behind it", columns, count, text_cause, axis);
  print_row("  updates per frame", columns, count, text_updates, axis);
  print_row("  CPU used", columns, count, text_used, axis);
  print_row("  overhead per update", columns, count, text_overhead, axis);
  print_row("  serial share", columns, count, text_serial, axis);
  print_row("  memory", columns, count, text_memory, axis);
}

/* Whether two loads and budgets are so alike that limits can be compared. */
static bool is_alike(const stress_column *one, const stress_column *other) {
  return one->budget_ns == other->budget_ns && one->frame_ns == other->frame_ns && one->cost_ns == other->cost_ns &&
         one->planner_cost_ns == other->planner_cost_ns && one->crowd == other->crowd &&
         memcmp(one->baseline, other->baseline, STRESS_WORKERS * sizeof *one->baseline) == 0;
}

void stress_columns_print(const stress_column *columns, uint32_t count) {
  bool alike = true;
  for (uint32_t i = 1; i < count; i++) alike &= is_alike(&columns[0], &columns[i]);
  puts("\nside by side\n");
  print_row("", columns, count, text_name, 0);
  print_row("processor", columns, count, text_processor, 0);
  print_row("processors", columns, count, text_processor_count, 0);
  print_row("muster", columns, count, text_version, 0);
  print_row("frames of a step", columns, count, text_frames, 0);
  print_row("frames per second", columns, count, text_rate, 0);
  print_row("cost, a planner's", columns, count, text_costs, 0);
  for (uint32_t knob = 0; knob < STRESS_KNOBS; knob++)
    print_row(text_of("baseline, %s", stress_axis_name(knob)), columns, count, text_baseline, knob);
  print_row("others' CPU at most", columns, count, text_others, 0);
  if (!alike) puts("THE LOADS DIFFER: limits say nothing beside each other");
  for (uint32_t i = 0; i < STRESS_AXES; i++) print_axis(columns, count, stress_order[i]);
}
