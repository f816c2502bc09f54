/* Reads what `muster stress --json` wrote. */
#include "stress_columns.h"

#include "complaint.h"
#include "whole.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* A report that is read; the first mistake is what is complained of. */
typedef struct report_reader {
  const char *path;
  bool good;
} report_reader;

static void refuse(report_reader *reader, const char *member, const char *wanted) {
  if (reader->good)
    complain_failure("'%s' is no report of `muster stress`: member '%s' is %s; write one with --json FILE",
                     reader->path, member, wanted);
  reader->good = false;
}

static json_t *member_of(report_reader *reader, json_t *object, const char *name) {
  json_t *member = json_object_get(object, name);
  if (!member) refuse(reader, name, "missing");
  return member;
}

static double number_of(report_reader *reader, json_t *object, const char *name) {
  json_t *member = member_of(reader, object, name);
  double value = json_number_value(member);
  if (member && !json_is_number(member)) refuse(reader, name, "no number");
  if (value < 0) refuse(reader, name, "negative");
  return value;
}

static uint32_t count_of(report_reader *reader, json_t *object, const char *name) {
  double value = number_of(reader, object, name);
  if (value > UINT32_MAX) refuse(reader, name, "too large");
  return value <= UINT32_MAX ? (uint32_t)value : 0;
}

static void take_text(report_reader *reader, json_t *object, const char *name, char out[STRESS_COLUMN_TEXT]) {
  json_t *member = member_of(reader, object, name);
  if (member && !json_is_string(member)) refuse(reader, name, "no text");
  snprintf(out, STRESS_COLUMN_TEXT, "%s", json_is_string(member) ? json_string_value(member) : "");
}

static bool flag_of(report_reader *reader, json_t *object, const char *name) {
  json_t *member = member_of(reader, object, name);
  if (member && !json_is_boolean(member)) refuse(reader, name, "neither true nor false");
  return json_is_true(member);
}

/* --------------------------------------------------------------------------------------------------------- contents */

static uint32_t axis_named(const char *name) {
  uint32_t axis = 0;
  while (axis < STRESS_AXES && strcmp(stress_axis_name(axis), name) != 0) axis++;
  return axis;
}

/* The figures of the step whose number `limit_step` is. */
static void take_limit(report_reader *reader, json_t *axis, stress_cell *cell) {
  json_t *steps = member_of(reader, axis, "steps");
  json_t *number = member_of(reader, axis, "limit_step");
  if (!reader->good || json_is_null(number)) return;
  json_t *step = json_is_integer(number) ? json_array_get(steps, (size_t)json_integer_value(number)) : NULL;
  if (!step) {
    refuse(reader, "limit_step", "no number of a step");
    return;
  }
  cell->limit = count_of(reader, axis, "limit");
  cell->updates_per_frame = number_of(reader, step, "updates_per_frame");
  cell->overhead_per_update_ns = number_of(reader, step, "overhead_ns_per_update");
  cell->serial_share = number_of(reader, step, "serial_share");
  cell->budget_used_share = number_of(reader, step, "budget_used_share");
  cell->bytes = number_of(reader, step, "bytes");
}

static void take_axis(report_reader *reader, json_t *axis, stress_column *column) {
  char name[STRESS_COLUMN_TEXT];
  take_text(reader, axis, "axis", name);
  uint32_t number = axis_named(name);
  if (number == STRESS_AXES) refuse(reader, "axis", "the name of none");
  if (!reader->good) return;
  stress_cell *cell = &column->axes[number];
  cell->measured = true;
  take_text(reader, axis, "gave_way", cell->cause);
  cell->most = strcmp(cell->cause, stress_cause_name(STRESS_BY_NOTHING)) == 0;
  take_limit(reader, axis, cell);
}

static void take_axes(report_reader *reader, json_t *axes, stress_column *column) {
  size_t i;
  json_t *axis;
  if (axes && !json_is_array(axes)) refuse(reader, "axes", "no array");
  json_array_foreach(axes, i, axis) take_axis(reader, axis, column);
}

static void take_settings(report_reader *reader, json_t *document, stress_column *column) {
  json_t *machine = member_of(reader, document, "machine"), *baseline = member_of(reader, document, "baseline");
  take_text(reader, machine, "processor", column->processor);
  take_text(reader, machine, "version", column->version);
  column->processors = count_of(reader, machine, "processors");
  column->others_share = number_of(reader, document, "others_cpu_share_most");
  column->budget_ns = number_of(reader, document, "budget_ns");
  column->frame_ns = number_of(reader, document, "frame_period_ns");
  column->cost_ns = number_of(reader, document, "cost_ns");
  column->planner_cost_ns = number_of(reader, document, "planner_cost_ns");
  column->frames = number_of(reader, document, "frames");
  column->crowd = flag_of(reader, baseline, "crowd");
  for (uint32_t knob = 0; knob < STRESS_KNOBS; knob++)
    column->baseline[knob] = count_of(reader, baseline, stress_axis_name(knob));
}

static void take_document(report_reader *reader, json_t *document, stress_column *column) {
  const char *bench = json_string_value(json_object_get(document, "bench"));
  if (!bench || strcmp(bench, "stress") != 0) {
    refuse(reader, "bench", "not \"stress\"");
    return;
  }
  if (number_of(reader, document, "format") != STRESS_VERSION) refuse(reader, "format", "of another version of muster");
  if (reader->good) take_settings(reader, document, column);
  if (reader->good) take_axes(reader, member_of(reader, document, "axes"), column);
}

bool stress_column_read(const char *path, stress_column *column) {
  report_reader reader = {path, true};
  json_error_t error;
  char *text = whole_read(path);
  json_t *document = text ? json_loads(text, JSON_REJECT_DUPLICATES, &error) : NULL;
  if (text && !document) complain_failure("'%s', line %d: %s", path, error.line, error.text);
  *column = (stress_column){0};
  snprintf(column->name, sizeof column->name, "%s", path);
  if (document) take_document(&reader, document, column);
  free(text);
  json_decref(document);
  return document && reader.good;
}
