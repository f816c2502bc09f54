/* Tan & Wong's Table 2 and Figure 5 as text and as plots. */
#include "plots.h"
#include "tan_wong.h"

#include <stddef.h>

/* The columns of Table 2. */
static const struct {
  const char *name;
  const char *label; /* in the plot */
  size_t ours;       /* offset in a row */
  size_t published;
  int decimals;
} columns[] = {
    {"C_total ms", "C_{total} [ms]", offsetof(tan_wong_row, c_total_ms), offsetof(tan_wong_row, c_total_ms), 3},
    {"U_total", "U_{total}", offsetof(tan_wong_row, u_total), offsetof(tan_wong_row, u_total), 4},
    {"D assigned ms", NULL, offsetof(tan_wong_row, d_assigned_ms), 0, 3},
    {"D interval ms", "D_{period} [ms]", offsetof(tan_wong_row, d_interval_ms), offsetof(tan_wong_row, d_interval_ms),
     3},
    {"FPS", "frames per second", offsetof(tan_wong_row, fps), offsetof(tan_wong_row, fps), 2},
    {"overhead ms", "overhead [ms]", offsetof(tan_wong_row, overhead_ms), offsetof(tan_wong_row, overhead_ms), 4},
};

enum { COLUMNS = sizeof columns / sizeof *columns };

static double field(const tan_wong_row *row, size_t offset) {
  return *(const double *)((const char *)row + offset);
}

/* Every row of the paper is a column here, so that the two numbers to compare stand side by side. */
static void print_table(const tan_wong_results *results) {
  printf("Tan & Wong, Table 2: 100 animats, T_io 33.33 ms, T_imax 80 ms, 0.373 ms each\n\n%-15s", "T_d");
  for (int i = 0; i < TAN_WONG_ROWS; i++) printf("    %15g ms   ", results->rows[i].budget_ms);
  printf("\n%-15s", "");
  for (int i = 0; i < TAN_WONG_ROWS; i++) printf("  %10s %10s", "paper", "ours");
  printf("\n");
  for (size_t column = 0; column < COLUMNS; column++) {
    printf("%-15s", columns[column].name);
    for (int i = 0; i < TAN_WONG_ROWS; i++) {
      if (columns[column].label)
        printf("  %10.*f", columns[column].decimals, field(&tan_wong_published[i], columns[column].published));
      else
        printf("  %10s", "");
      printf(" %10.*f", columns[column].decimals, field(&results->rows[i], columns[column].ours));
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

static bool plot_table(const tan_wong_results *results, const char *folder) {
  plot plot;
  if (!plot_begin(&plot, folder, "tan-wong-table2", 1200, 760)) return false;
  for (size_t column = 0; column < COLUMNS; column++) {
    if (!columns[column].label) continue;
    fprintf(plot.script, "$column%zu << END\n", column);
    for (int i = 0; i < TAN_WONG_ROWS; i++)
      fprintf(plot.script, "\"%g ms\" %.6g %.6g\n", results->rows[i].budget_ms,
              field(&tan_wong_published[i], columns[column].published), field(&results->rows[i], columns[column].ours));
    fprintf(plot.script, "END\n");
  }
  fprintf(plot.script, "set style data histograms\nset style histogram clustered gap 1\nset style fill solid 0.8\n"
                       "set yrange [0:*]\nset grid ytics\nset xlabel 'T_d'\nset key outside bottom center horizontal\n"
                       "set multiplot layout 2,3 title 'Tan and Wong, Table 2: paper and Muster'\n");
  for (size_t column = 0; column < COLUMNS; column++)
    if (columns[column].label)
      fprintf(plot.script,
              "set title '%s'\nplot $column%zu using 2:xtic(1) title 'paper' lc rgb '#999999', "
              "'' using 3 title 'Muster' lc rgb '#1f77b4'\n",
              columns[column].label, column);
  fprintf(plot.script, "unset multiplot\n");
  return plot_end(&plot);
}

static bool plot_disturbance(const tan_wong_results *results, const char *folder) {
  plot plot;
  const tan_wong_plan *plan = &results->disturbance;
  double budget_ms = (double)plan->budget_ns * 1e-6;
  if (!plot_begin(&plot, folder, "tan-wong-figure5", 1200, 640)) return false;
  fprintf(plot.script, "$frames << END\n");
  for (uint32_t i = 0; i < plan->frames; i++)
    fprintf(plot.script, "%u %.6g %.6g\n", i, results->series[i].c_ms,
            results->series[i].c_ms / results->series[i].frame_ms);
  fprintf(
      plot.script,
      "END\nset title 'Tan and Wong, Figure 5: %g ms more to do in frames %u to %u'\n"
      "set xlabel 'frame'\nset ylabel 'C_{total}, T_d [ms]'\nset y2label 'U_{total}'\n"
      "set yrange [0:45]\nset y2range [0:1.5]\nset ytics nomirror\nset y2tics 0,0.2,1\nset grid\nset key top right\n"
      "plot %g title 'T_d' lw 2 lc rgb '#d62728', $frames using 1:2 with lines title 'C_{total}' lc rgb '#1f77b4', "
      "'' using 1:3 axes x1y2 with lines title 'U_{total}' lc rgb '#2ca02c'\n",
      (double)plan->extra_ns * 1e-6, plan->extra_from, plan->extra_to, budget_ms);
  return plot_end(&plot);
}

bool tan_wong_plot(const tan_wong_results *results, const char *folder) {
  return plot_table(results, folder) && plot_disturbance(results, folder);
}
