/* Osborne & Dickinson's figures: time per cycle with and without, and how it grows. */
#include "osborne.h"
#include "plots.h"
#include "text.h"

static const char colours[] = "set linetype 1 lc rgb '#1f77b4'\nset linetype 2 lc rgb '#ff7f0e'\n"
                              "set linetype 3 lc rgb '#777777'\n";

static bool plot_comparison(const osborne_results *results, const char *folder) {
  const osborne_comparison *compare = &results->compare;
  FILE *script = plot_begin(folder, "osborne-compare", 1200, 640);
  if (!script) return false;
  fprintf(script, "$cycles << END\n");
  for (uint32_t i = 0; i < compare->cycles; i++)
    fprintf(script, "%u %.6g %.6g %.6g\n", i + 1, compare->series_ms[OSBORNE_WITH][i],
            compare->series_ms[OSBORNE_WITHOUT_SIMD][i], compare->series_ms[OSBORNE_WITHOUT_SCALAR][i]);
  fprintf(script,
          "END\n%sset title 'Osborne and Dickinson, Figure 3: %lu agents with and without level of detail, one "
          "worker (ground and player are ours)'\n"
          "set xlabel 'cycle'\nset ylabel 'time per cycle [ms]'\nset logscale y\nset format y '%%g'\nset grid ytics\n"
          "set yrange [0.01:*]\nset xrange [0:%u]\nset key outside bottom center horizontal\n"
          "plot $cycles using 1:4 with lines lt 3 title 'without, one by one, as theirs (median %.3g ms)', "
          "'' using 1:3 with lines lt 2 title 'without, eight at a time, like with like (ours, %.3g ms)', "
          "'' using 1:2 with lines lt 1 lw 2 title 'with: %u leaves and %u folded herds simulated (%.3g ms)'\n",
          colours, compare->counts.agents, compare->cycles, compare->ms[OSBORNE_WITHOUT_SCALAR],
          compare->ms[OSBORNE_WITHOUT_SIMD], compare->counts.leaves, compare->counts.herds - compare->counts.unfolded,
          compare->ms[OSBORNE_WITH]);
  return plot_end(script);
}

/* Every other size has its number written out. */
static void print_tics(FILE *script, const osborne_results *results) {
  uint64_t most = 0;
  for (int k = 0; k < OSBORNE_DOUBLINGS; k++) {
    const osborne_doubling *doubling = &results->doublings[k];
    uint64_t last = doubling->rows[doubling->sizes - 1].counts.agents;
    if (last > most) most = last;
  }
  fprintf(script, "set xtics (");
  for (uint64_t count = (uint64_t)results->plan.herds * OSBORNE_MEMBERS; count <= most; count *= 4)
    fprintf(script, "'%s' %lu, ", text_count(count), count);
  fprintf(script, "'' 1)\nset xrange [%g:%g]\n", results->plan.herds * OSBORNE_MEMBERS / 1.5, (double)most * 1.5);
}

static void print_rows(FILE *script, const osborne_doubling *doubling, const char *name) {
  fprintf(script, "$%s << END\n", name);
  for (uint32_t i = 0; i < doubling->sizes; i++) {
    const osborne_size *size = &doubling->rows[i];
    fprintf(script, "%lu %.6g %.6g %u\n", size->counts.agents, size->one_ms, size->all_ms, size->counts.leaves);
  }
  fprintf(script, "END\n");
}

static void print_axes(FILE *script) {
  fprintf(script, "set xlabel 'agents represented'\nset ylabel 'time per cycle [ms]'\nset y2label 'leaves simulated'\n"
                  "set logscale x\nset logscale y\nset logscale y2\nset format y '%%g'\nset format y2 '%%.0f'\n"
                  "set ytics nomirror\nset y2tics\nset grid\nset key outside bottom center horizontal maxrows 4\n"
                  "set yrange [0.01:1000]\nset y2range [10:1000000]\n");
}

static bool plot_sizes(const osborne_results *results, const char *folder) {
  double side_km = results->plan.side_m * 1e-3;
  FILE *script = plot_begin(folder, "osborne-scale", 1200, 760);
  if (!script) return false;
  print_rows(script, &results->doublings[OSBORNE_SAME_SQUARE], "same");
  print_rows(script, &results->doublings[OSBORNE_SAME_DENSITY], "grows");
  fprintf(script, "$paper << END\n65536 100\n1048576 100\nEND\n%s", colours);
  print_tics(script, results);
  print_axes(script);
  fprintf(script,
          "set title 'Osborne and Dickinson, Figure 4: twice as many herds of %d, and again (sizes beyond 1,048,576 "
          "and growing "
          "squares are ours)'\n"
          "plot $same using 1:2 with linespoints lt 2 lw 2 pt 7 title '%g x %g km, one worker', "
          "'' using 1:3 with linespoints lt 1 lw 2 pt 7 title '%g x %g km, all workers (%u)', "
          "$grows using 1:2 with linespoints lt 2 lw 2 pt 9 ps 1.4 title 'growing square, one worker', "
          "'' using 1:3 with linespoints lt 1 lw 2 pt 9 ps 1.4 title 'growing square, all workers', "
          "$paper using 1:2 with lines lw 3 lc rgb '#d62728' title 'paper: up to here, below 100 ms', "
          "$same using 1:4 axes x1y2 with points lt 3 pt 6 ps 1.5 title '%g x %g km: leaves simulated (right)', "
          "$grows using 1:4 axes x1y2 with points lt 3 pt 8 ps 1.5 title 'growing square: leaves simulated (right)'\n",
          OSBORNE_MEMBERS, side_km, side_km, side_km, side_km, results->workers, side_km, side_km);
  return plot_end(script);
}

bool osborne_plot(const osborne_results *results, const char *folder) {
  return plot_comparison(results, folder) && plot_sizes(results, folder);
}
