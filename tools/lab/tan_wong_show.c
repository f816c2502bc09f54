/* Tan & Wong's Table 2 and Figure 5 as text and as plots. */
#include "tan_wong.h"
#include "text.h"

#include <math.h>

/* The columns of Table 2, and what each is: an input, what was found, what follows from both, or a measurement. */
typedef struct table_column {
  const char *name;
  const char *kind;
  const char *label; /* in the plot; null = the paper does not have it */
  size_t at;         /* offset in a row */
  int decimals;
} table_column;

static const char *const phase_names[TAN_WONG_PHASES] = {"before", "during", "after"};

enum { COLUMNS = 6, REST = COLUMNS };

static const table_column columns[COLUMNS + 1] = {
    {"C_total ms", "found", "C_{total} [ms]", offsetof(tan_wong_row, c_total_ms), 3},
    {"U_total", "follows", "U_{total}", offsetof(tan_wong_row, u_total), 4},
    {"D assigned ms", "found", NULL, offsetof(tan_wong_row, d_assigned_ms), 3},
    {"D interval ms", "found", "D_{period} [ms]", offsetof(tan_wong_row, d_interval_ms), 3},
    {"FPS", "follows", "frames per second", offsetof(tan_wong_row, fps), 2},
    {"overhead ms", "wall clock", "overhead [ms]", offsetof(tan_wong_row, overhead_ms), 4},
    [REST] = {"rest ms", "input", NULL, offsetof(tan_wong_row, rest_ms), 1},
};

static double field(const tan_wong_row *row, const table_column *column) {
  return *(const double *)((const char *)row + column->at);
}

static const char *text_figure(const tan_wong_row *row, const table_column *column) {
  double value = field(row, column);
  return isnan(value) ? "" : text_of("%.*f", column->decimals, value);
}

static void print_column(const tan_wong_row *rows, const table_column *column) {
  printf("\n%-15s %-10s", column->name, column->kind);
  for (int i = 0; i < TAN_WONG_ROWS; i++)
    printf("  %10s %10s", column->label ? text_figure(&tan_wong_published[i], column) : "",
           text_figure(&rows[i], column));
}

/* Every row of the paper is a column here, so that the two numbers to compare stand side by side. */
static void print_table(const tan_wong_row *rows) {
  printf(
      "Tan & Wong, Table 2: %d animats, T_io %.2f ms, T_imax %g ms, E 1\n\n"
      "Inputs are T_d and these, from the paper; and from its answer: the cost of an animat, and the rest of a frame\n"
      "(its frame time less its C_total). U_total = C_total / T_f and FPS = 1 / T_f follow from C_total and the "
      "rest.\n\n"
      "%-15s %-10s",
      TAN_WONG_ANIMATS, tan_wong_ms(tan_wong_ordinary.period_ns), tan_wong_ms(tan_wong_ordinary.period_max_ns), "T_d",
      "input");
  for (int i = 0; i < TAN_WONG_ROWS; i++) printf("  %16g ms  ", rows[i].budget_ms);
  printf("\n%-15s %-10s", "C_i ms", "input");
  for (int i = 0; i < TAN_WONG_ROWS; i++) printf("  %10s %10.3f", "", tan_wong_ms(tan_wong_ordinary.cost_ns));
  print_column(rows, &columns[REST]);
  printf("\n                                 paper       ours       paper       ours       paper       ours");
  for (size_t column = 0; column < COLUMNS; column++) print_column(rows, &columns[column]);
}

/* What was measured, of what the paper has, too. */
static bool is_drawn(const tan_wong_results *results, size_t column) {
  return columns[column].label && !isnan(field(&results->rows[0], &columns[column]));
}

static void plot_table(FILE *script, const void *all) {
  const tan_wong_results *results = all;
  const tan_wong_row *rows = results->rows;
  for (size_t column = 0; column < COLUMNS; column++) {
    if (!is_drawn(results, column)) continue;
    fprintf(script, "$column%zu << END\n", column);
    for (int i = 0; i < TAN_WONG_ROWS; i++)
      fprintf(script, "\"%g ms\" %.6g %.6g %.6g\n", rows[i].budget_ms, field(&tan_wong_published[i], &columns[column]),
              field(&rows[i], &columns[column]), field(&results->slip.printed[i], &columns[column]));
    fprintf(script, "END\n");
  }
  fprintf(
      script,
      "set style data histograms\nset style histogram clustered gap 1\nset style fill solid 0.8\n"
      "set yrange [0:*]\nset grid ytics\nset xlabel 'T_d'\nset key outside bottom center horizontal\n"
      "set multiplot layout 2,3 title \"Tan and Wong, Table 2: paper, Muster, and figure 2 of the paper as printed\\n"
      "Inputs: T_d; and from the paper's answer, %.3f ms per animat and %g, %g, %g ms for the rest of a frame\"\n",
      tan_wong_ms(tan_wong_ordinary.cost_ns), rows[0].rest_ms, rows[1].rest_ms, rows[2].rest_ms);
  for (size_t column = 0; column < COLUMNS; column++)
    if (is_drawn(results, column))
      fprintf(script,
              "set title '%s: %s'\nplot $column%zu using 2:xtic(1) title 'paper' lc rgb '#999999', "
              "'' using 3 title 'Muster' lc rgb '#1f77b4', "
              "'' using 4 title 'as printed, costs +-%.0f %%' lc rgb '#ff7f0e'\n",
              columns[column].label, columns[column].kind, column, results->slip.spread * 100);
  fprintf(script, "unset multiplot\n");
}

static void plot_disturbance(FILE *script, const void *all) {
  const tan_wong_results *results = all;
  const tan_wong_plan *plan = &results->disturbance;
  fprintf(script, "$frames << END\n");
  for (uint32_t i = 0; i < plan->frames; i++)
    fprintf(script, "%u %.6g %.6g\n", i, results->series[i].c_ms,
            results->series[i].c_ms / results->series[i].frame_ms);
  fprintf(
      script,
      "END\nset title 'Tan and Wong, Figure 5: %g ms more to do in frames %u to %u'\n"
      "set xlabel 'frame'\nset ylabel 'C_{total}, T_d [ms]'\nset y2label 'U_{total}'\n"
      "set yrange [0:45]\nset y2range [0:1.5]\nset ytics nomirror\nset y2tics 0,0.2,1\nset grid\nset key top right\n"
      "plot %g title 'T_d' lw 2 lc rgb '#d62728', $frames using 1:2 with lines title 'C_{total}' lc rgb '#1f77b4', "
      "'' using 1:3 axes x1y2 with lines title 'U_{total}' lc rgb '#2ca02c'\n",
      tan_wong_ms(plan->extra_ns), plan->extra_from, plan->extra_to, tan_wong_ms(plan->budget_ns));
}

static void print_slip_row(const char *name, int row, const tan_wong_row *ours) {
  const tan_wong_row *paper = &tan_wong_published[row];
  printf("  %-22s %8.3f %+6.0f %% %9.4f %+5.0f %% %9.3f %+5.0f %% %8.2f %+5.0f %%\n", name, ours->c_total_ms,
         100 * (ours->c_total_ms / paper->c_total_ms - 1), ours->u_total, 100 * (ours->u_total / paper->u_total - 1),
         ours->d_interval_ms, 100 * (ours->d_interval_ms / paper->d_interval_ms - 1), ours->fps,
         100 * (ours->fps / paper->fps - 1));
}

static void print_slip(const tan_wong_slip *slip) {
  printf(
      "\nFigure 2 as printed and as corrected. Printed is Uvo = Uo - Uf: what those at their longest period have saved "
      "is\nsaved again by the others. With equal costs all come there together, and it changes nothing. Costs of %.2g "
      "to %.2g\ntimes 0.373 ms, by species, are assumed: the paper does not say. The first two are its scheduler on "
      "arrays,\nwithout Muster.\n\n"
      "                           C_total ms, off      U_total, off   D interval, off         FPS, off\n",
      1 - slip->spread, 1 + slip->spread);
  for (int i = 0; i < TAN_WONG_ROWS; i++) {
    const tan_wong_row *paper = &tan_wong_published[i];
    printf("  T_d %g ms%*s %10.3f %17.4f %17.3f %16.2f\n", paper->budget_ms, 10, "paper", paper->c_total_ms,
           paper->u_total, paper->d_interval_ms, paper->fps);
    print_slip_row("as printed", i, &slip->printed[i]);
    print_slip_row("as corrected", i, &slip->corrected[i]);
    print_slip_row("Muster (corrected)", i, &slip->muster[i]);
  }
  printf("\n  T_d 20 ms, C_total (paper: %.3f) by how far costs differ", tan_wong_published[1].c_total_ms);
  repro_print_row("", 16, "  +-%3.0f %%", 100, slip->spreads, TAN_WONG_SPREADS);
  repro_print_row("  as printed", 16, " %8.3f", 1, slip->printed_ms, TAN_WONG_SPREADS);
  repro_print_row("  as corrected", 16, " %8.3f", 1, slip->corrected_ms, TAN_WONG_SPREADS);
}

static void print_unequal(const tan_wong_unequal *it) {
  printf(
      "\n\nSpecies that differ in C, E and T, ours: T_d %g ms, T_f %.2f ms. Periods in ms, fitted by Muster, as they "
      "came out,\nby figure 2 (corrected), and by what it is not\n\n"
      "  species      C   T_io T_imax     E    fitted  came out    figure 2  as printed  E left out     E_i C_i  one "
      "factor square root        none\n",
      it->row.budget_ms, it->row.frame_ms);
  for (int i = 0; i < TAN_WONG_SPECIES; i++) {
    const tan_wong_species *species = &it->species[i];
    printf("  %-7d %6.3g %6.1f %6.0f %5.2g %9.2f %9.2f", i + 1, tan_wong_ms(species->cost_ns),
           tan_wong_ms(species->period_ns), tan_wong_ms(species->period_max_ns), (double)species->elasticity,
           it->row.assigned_ms[i], it->row.interval_ms[i]);
    for (int rule = 0; rule < TAN_WONG_RULES; rule++) printf(" %11.2f", it->wanted_ms[rule][i]);
    printf("\n");
  }
}

static void print(const void *all) {
  const tan_wong_results *results = all;
  const tan_wong_plan *plan = &results->disturbance;
  print_table(results->rows);
  printf("\n\nFigure 5: T_d %g ms, %g ms more to do in frames %u to %u\n\n           C_total ms      U_total       T_f "
         "ms\n",
         tan_wong_ms(plan->budget_ns), tan_wong_ms(plan->extra_ns), plan->extra_from, plan->extra_to);
  for (int i = 0; i < TAN_WONG_PHASES; i++) {
    const tan_wong_row *phase = &results->phases[i];
    printf("%-8s %12.3f %12.4f %12.2f\n", phase_names[i], phase->c_total_ms, phase->u_total, phase->frame_ms);
  }
  print_slip(&results->slip);
  print_unequal(&results->unequal);
}

static void write_row(json_writer *writer, const tan_wong_row *row, bool published) {
  json_print(writer, "{ budget_ms=%g c_total_ms=%g u_total=%g", row->budget_ms, row->c_total_ms, row->u_total);
  if (!published) json_number(writer, "d_assigned_ms", row->d_assigned_ms);
  json_number(writer, published ? "d_period_ms" : "d_interval_ms", row->d_interval_ms);
  json_number(writer, "fps", row->fps);
  if (row->overhead_ms > 0) json_number(writer, "overhead_ms", row->overhead_ms);
  json_end_object(writer);
}

static void write_rows(json_writer *writer, const char *name, const tan_wong_row *rows, bool published) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < TAN_WONG_ROWS; i++) write_row(writer, &rows[i], published);
  json_end_array(writer);
}

/* Inputs: figures that the reproduction cannot find. */
static void write_inputs(json_writer *writer, const tan_wong_row *rows) {
  json_print(writer,
             "inputs{ from_the_paper=%s period_ms=%g period_max_ms=%g fitted_to_its_answer=%s cost_ms=%g "
             "rest_ms[ %g %g %g ] follow_from_c_total_and_rest=%s }",
             "budget_ms, period_ms, period_max_ms, elasticity", tan_wong_ms(tan_wong_ordinary.period_ns),
             tan_wong_ms(tan_wong_ordinary.period_max_ns), "cost_ms, rest_ms", tan_wong_ms(tan_wong_ordinary.cost_ns),
             rows[0].rest_ms, rows[1].rest_ms, rows[2].rest_ms, "u_total, fps");
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
  json_print(writer, "unequal{ inputs=%s budget_ms=%g c_total_ms=%g frame_ms=%g", "ours", it->row.budget_ms,
             it->row.c_total_ms, it->row.frame_ms);
  repro_write_numbers(writer, "assigned_ms", it->row.assigned_ms, TAN_WONG_SPECIES);
  repro_write_numbers(writer, "interval_ms", it->row.interval_ms, TAN_WONG_SPECIES);
  json_begin_object(writer, "periods_by_rule_ms");
  for (int rule = 0; rule < TAN_WONG_RULES; rule++)
    repro_write_numbers(writer, names[rule], it->wanted_ms[rule], TAN_WONG_SPECIES);
  json_print(writer, "} }");
}

static void write(const void *all, json_writer *writer) {
  const tan_wong_results *results = all;
  write_inputs(writer, results->rows);
  write_rows(writer, "rows", results->rows, false);
  write_rows(writer, "published", tan_wong_published, true);
  write_slip(writer, &results->slip);
  write_unequal(writer, &results->unequal);
  json_begin_object(writer, "disturbance");
  for (int i = 0; i < TAN_WONG_PHASES; i++) {
    const tan_wong_row *phase = &results->phases[i];
    json_print(writer, "%s{ c_total_ms=%g u_total=%g frame_ms=%g }", phase_names[i], phase->c_total_ms, phase->u_total,
               phase->frame_ms);
  }
  json_end_object(writer);
}

const repro_paper repro_tan_wong = {
    .name = "tan-wong",
    .summary = "Tan & Wong: elastic periods (Table 2, Figure 5)",
    .bytes = sizeof(tan_wong_results),
    .measure = tan_wong_measure,
    .check = tan_wong_check,
    .write = write,
    .print = print,
    .figures = {{"tan-wong-table2", 1200, 760, plot_table}, {"tan-wong-figure5", 1200, 640, plot_disturbance}}};
