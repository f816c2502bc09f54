/* Tan & Wong's results for machines: inputs, what follows from them, and what was found. */
#include "tan_wong.h"

static void write_row(json_writer *writer, const tan_wong_row *row, bool published) {
  json_print(writer, "{ budget_ms=%g c_total_ms=%g u_total=%g", row->budget_ms, row->c_total_ms, row->u_total);
  if (published)
    json_number(writer, "d_period_ms", row->d_interval_ms);
  else
    json_number(writer, "d_assigned_ms", row->d_assigned_ms);
  if (!published) json_number(writer, "d_interval_ms", row->d_interval_ms);
  json_number(writer, "fps", row->fps);
  if (row->overhead_ms > 0) json_number(writer, "overhead_ms", row->overhead_ms);
  json_end_object(writer);
}

static void write_rows(json_writer *writer, const char *name, const tan_wong_row *rows, bool published) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < TAN_WONG_ROWS; i++) write_row(writer, &rows[i], published);
  json_end_array(writer);
}

static void write_numbers(json_writer *writer, const char *name, const double *numbers, uint32_t count) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < count; i++) json_number(writer, NULL, numbers[i]);
  json_end_array(writer);
}

static void write_phase(json_writer *writer, const char *name, const tan_wong_phase *phase) {
  json_print(writer, "%s{ c_total_ms=%g u_total=%g frame_ms=%g }", name, phase->c_total_ms, phase->u_total,
             phase->frame_ms);
}

/* Inputs: figures that the reproduction cannot find. */
static void write_inputs(json_writer *writer, const tan_wong_results *results) {
  json_print(writer, "inputs{ from_the_paper=%s period_ms=%g period_max_ms=%g fitted_to_its_answer=%s cost_ms=%g",
             "budget_ms, period_ms, period_max_ms, elasticity", results->animat.period_ms,
             results->animat.period_max_ms, "cost_ms, rest_ms", results->animat.cost_ms);
  write_numbers(writer, "rest_ms", results->rest_ms, TAN_WONG_ROWS);
  json_print(writer, "follow_from_c_total_and_rest=%s }", "u_total, fps");
}

static void write_slip(json_writer *writer, const tan_wong_slip *slip) {
  json_print(writer, "figure2{ assumed_spread_of_costs=%g", slip->spread);
  write_rows(writer, "as_printed", slip->printed, false);
  write_rows(writer, "as_corrected", slip->corrected, false);
  write_rows(writer, "muster", slip->muster, false);
  json_begin_array(writer, "c_total_ms_at_20_ms");
  for (uint32_t i = 0; i < TAN_WONG_SPREADS; i++) {
    json_print(writer, "{ spread_of_costs=%g as_printed=%g as_corrected=%g }", slip->spreads[i], slip->printed_ms[i],
               slip->corrected_ms[i]);
  }
  json_print(writer, "] }");
}

static void write_unequal(json_writer *writer, const tan_wong_unequal *it) {
  static const char *const names[TAN_WONG_RULES] = {"as_corrected", "as_printed",  "elasticity_left_out", "rate",
                                                    "one_factor",   "square_root", "no_compression"};
  json_print(writer, "unequal{ inputs=%s budget_ms=%g c_total_ms=%g frame_ms=%g", "ours", it->budget_ms, it->c_total_ms,
             it->frame_ms);
  write_numbers(writer, "assigned_ms", it->outcome.assigned_ms, TAN_WONG_SPECIES);
  write_numbers(writer, "interval_ms", it->outcome.interval_ms, TAN_WONG_SPECIES);
  json_begin_object(writer, "periods_by_rule_ms");
  for (int rule = 0; rule < TAN_WONG_RULES; rule++)
    write_numbers(writer, names[rule], it->wanted_ms[rule], TAN_WONG_SPECIES);
  json_print(writer, "} }");
}

void tan_wong_write(json_writer *writer, const tan_wong_results *results) {
  write_inputs(writer, results);
  write_rows(writer, "rows", results->rows, false);
  write_rows(writer, "published", tan_wong_published, true);
  write_slip(writer, &results->slip);
  write_unequal(writer, &results->unequal);
  json_begin_object(writer, "disturbance");
  write_phase(writer, "before", &results->before);
  write_phase(writer, "during", &results->during);
  write_phase(writer, "after", &results->after);
  json_end_object(writer);
}
