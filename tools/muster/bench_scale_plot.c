/* The figure of `muster bench scale`. */
#include "bench_scale_report.h"
#include "plots.h"

/* What is aimed at. */
static const struct {
  uint32_t ns;
  const char *title, *colour;
} targets[] = {{60, "target at 10,000: 60 ns", "#bbbbbb"},
               {120, "aim at 1,000,000: 120 ns", "#888888"},
               {250, "target at 1,000,000: 250 ns", "#444444"}};

enum { TARGETS = sizeof targets / sizeof *targets };

/* The data of one curve: all rows with that many observers and workers. */
static void print_curve(FILE *script, const bench_scale_results *results, uint32_t observers, uint32_t workers) {
  fprintf(script, "$observers%u_workers%u << END\n", observers, workers);
  for (uint32_t i = 0; i < results->row_count; i++) {
    const scale_row *row = &results->rows[i];
    if (row->observers == observers && row->workers == workers)
      fprintf(script, "%u %.6g\n", row->agents, row->ns_per_update);
  }
  fprintf(script, "END\n");
}

bool bench_scale_plot(const bench_scale_results *results, const char *folder) {
  const bench_scale_list *observers = &results->options->observers, *workers = &results->options->workers;
  struct plot plot;
  if (!plot_begin(&plot, folder, "scale", 1200, 760)) return false;
  for (uint32_t i = 0; i < observers->count; i++)
    for (uint32_t j = 0; j < workers->count; j++)
      print_curve(plot.script, results, observers->values[i], workers->values[j]);
  fprintf(plot.script, "set title 'Overhead of scheduling per update, all threads'\n"
                       "set xlabel 'agents'\nset ylabel 'ns per update'\nset logscale x\nset format x '%%.0f'\n"
                       "set xrange [500:*]\nset yrange [0:*]\nset grid\nset key outside bottom center horizontal\n"
                       "plot ");
  for (uint32_t i = 0; i < TARGETS; i++)
    fprintf(plot.script, "%u with lines lw 2 lc rgb '%s' title '%s', ", targets[i].ns, targets[i].colour,
            targets[i].title);
  for (uint32_t i = 0; i < observers->count; i++)
    for (uint32_t j = 0; j < workers->count; j++)
      fprintf(plot.script,
              "%s$observers%u_workers%u using 1:2 with linespoints lw 2 ps 2 title 'observers %u, workers %u'",
              i + j ? ", " : "", observers->values[i], workers->values[j], observers->values[i], workers->values[j]);
  fprintf(plot.script, "\n");
  return plot_end(&plot);
}
