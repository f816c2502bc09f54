/* Tan & Wong's Table 2 and Figure 5 as text and as plots. */
#include "plots.h"
#include "tan_wong.h"

#include <math.h>
#include <stddef.h>

/* The columns of Table 2, and what each is: an input, what was found, what follows from both, or a measurement. */
static const struct {
  const char *name;
  const char *kind;
  const char *label; /* in the plot */
  size_t ours;       /* offset in a row */
  size_t published;
  int decimals;
} columns[] = {
    {"C_total ms", "found", "C_{total} [ms]", offsetof(tan_wong_row, c_total_ms), offsetof(tan_wong_row, c_total_ms),
     3},
    {"U_total", "follows", "U_{total}", offsetof(tan_wong_row, u_total), offsetof(tan_wong_row, u_total), 4},
    {"D assigned ms", "found", NULL, offsetof(tan_wong_row, d_assigned_ms), 0, 3},
    {"D interval ms", "found", "D_{period} [ms]", offsetof(tan_wong_row, d_interval_ms),
     offsetof(tan_wong_row, d_interval_ms), 3},
    {"FPS", "follows", "frames per second", offsetof(tan_wong_row, fps), offsetof(tan_wong_row, fps), 2},
    {"overhead ms", "wall clock", "overhead [ms]", offsetof(tan_wong_row, overhead_ms),
     offsetof(tan_wong_row, overhead_ms), 4},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static double field(const tan_wong_row *row, size_t offset) {
  return *(const double *)((const char *)row + offset);
}

/* Every row of the paper is a column here, so that the two numbers to compare stand side by side. */
static void print_table(const tan_wong_results *results) {
  const tan_wong_animat *animat = &results->animat;
  printf(
      "Tan & Wong, Table 2: %d animats, T_io %.2f ms, T_imax %g ms, E 1\n\n"
      "Inputs are T_d and these, from the paper; and from its answer: the cost of an animat, and the rest of a frame\n"
      "(its frame time less its C_total). U_total = C_total / T_f and FPS = 1 / T_f follow from C_total and the "
      "rest.\n\n"
      "%-15s %-10s",
      TAN_WONG_ANIMATS, animat->period_ms, animat->period_max_ms, "T_d", "input");
  for (int i = 0; i < TAN_WONG_ROWS; i++) printf("  %16g ms  ", results->rows[i].budget_ms);
  printf("\n%-15s %-10s", "C_i ms", "input");
  for (int i = 0; i < TAN_WONG_ROWS; i++) printf("  %10s %10.3f", "", animat->cost_ms);
  printf("\n%-15s %-10s", "rest ms", "input");
  for (int i = 0; i < TAN_WONG_ROWS; i++) printf("  %10s %10.1f", "", results->rest_ms[i]);
  printf("\n%-15s %-10s", "", "");
  for (int i = 0; i < TAN_WONG_ROWS; i++) printf("  %10s %10s", "paper", "ours");
  printf("\n");
  for (size_t column = 0; column < COLUMNS; column++) {
    printf("%-15s %-10s", columns[column].name, columns[column].kind);
    for (int i = 0; i < TAN_WONG_ROWS; i++) {
      if (columns[column].label)
        printf("  %10.*f", columns[column].decimals, field(&tan_wong_published[i], columns[column].published));
      else
        printf("  %10s", "");
      double ours = field(&results->rows[i], columns[column].ours);
      if (isnan(ours))
        printf(" %10s", "");
      else
        printf(" %10.*f", columns[column].decimals, ours);
    }
    printf("\n");
  }
}

static void print_phase(const char *name, const tan_wong_phase *phase) {
  printf("%-8s %12.3f %12.4f %12.2f\n", name, phase->c_total_ms, phase->u_total, phase->frame_ms);
}

void tan_wong_print(const tan_wong_results *results) {
  const tan_wong_plan *plan = &results->disturbance;
  print_table(results);
  printf("\nFigure 5: T_d %g ms, %g ms more to do in frames %u to %u\n\n%-8s %12s %12s %12s\n",
         (double)plan->budget_ns * 1e-6, (double)plan->extra_ns * 1e-6, plan->extra_from, plan->extra_to, "",
         "C_total ms", "U_total", "T_f ms");
  print_phase("before", &results->before);
  print_phase("during", &results->during);
  print_phase("after", &results->after);
}

/* What was measured, of what the paper has, too. */
static bool is_drawn(const tan_wong_results *results, size_t column) {
  return columns[column].label && !isnan(field(&results->rows[0], columns[column].ours));
}

static bool plot_table(const tan_wong_results *results, const char *folder) {
  FILE *script = plot_begin(folder, "tan-wong-table2", 1200, 760);
  if (!script) return false;
  for (size_t column = 0; column < COLUMNS; column++) {
    if (!is_drawn(results, column)) continue;
    fprintf(script, "$column%zu << END\n", column);
    for (int i = 0; i < TAN_WONG_ROWS; i++)
      fprintf(script, "\"%g ms\" %.6g %.6g %.6g\n", results->rows[i].budget_ms,
              field(&tan_wong_published[i], columns[column].published), field(&results->rows[i], columns[column].ours),
              field(&results->slip.printed[i], columns[column].ours));
    fprintf(script, "END\n");
  }
  fprintf(
      script,
      "set style data histograms\nset style histogram clustered gap 1\nset style fill solid 0.8\n"
      "set yrange [0:*]\nset grid ytics\nset xlabel 'T_d'\nset key outside bottom center horizontal\n"
      "set multiplot layout 2,3 title \"Tan and Wong, Table 2: paper, Muster, and figure 2 of the paper as printed\\n"
      "Inputs: T_d; and from the paper's answer, %.3f ms per animat and %g, %g, %g ms for the rest of a frame\"\n",
      results->animat.cost_ms, results->rest_ms[0], results->rest_ms[1], results->rest_ms[2]);
  for (size_t column = 0; column < COLUMNS; column++)
    if (is_drawn(results, column))
      fprintf(script,
              "set title '%s: %s'\nplot $column%zu using 2:xtic(1) title 'paper' lc rgb '#999999', "
              "'' using 3 title 'Muster' lc rgb '#1f77b4', "
              "'' using 4 title 'as printed, costs +-%.0f %%' lc rgb '#ff7f0e'\n",
              columns[column].label, columns[column].kind, column, results->slip.spread * 100);
  fprintf(script, "unset multiplot\n");
  return plot_end(script);
}

static bool plot_disturbance(const tan_wong_results *results, const char *folder) {
  const tan_wong_plan *plan = &results->disturbance;
  double budget_ms = (double)plan->budget_ns * 1e-6;
  FILE *script = plot_begin(folder, "tan-wong-figure5", 1200, 640);
  if (!script) return false;
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
      (double)plan->extra_ns * 1e-6, plan->extra_from, plan->extra_to, budget_ms);
  return plot_end(script);
}

bool tan_wong_plot(const tan_wong_results *results, const char *folder) {
  return plot_table(results, folder) && plot_disturbance(results, folder);
}
