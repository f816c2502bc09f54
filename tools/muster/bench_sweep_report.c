#include "bench_sweep_report.h"

#include "bench_load.h"
#include "plots.h"

#include <math.h>
#include <stdio.h>

const double sweep_growth_most = 0.15;

static const char *const names[SWEEP_RULES] = {"law", "papers"};

double sweep_growth(const sweep_report *report, sweep_rule rule, uint32_t load) {
  if (load == 0) return 0;
  const sweep_result *result = &report->results[load];
  return result->rules[rule].important.interval_s / result[-1].rules[rule].important.interval_s - 1.0;
}

bool sweep_holds(const sweep_report *report, sweep_rule rule, uint32_t load) {
  if (load == 0) return true;
  const sweep_result *result = &report->results[load];
  double before_s = result[-1].rules[rule].important.interval_s;
  return result->rules[rule].important.interval_s <=
         fmax(before_s * (1.0 + sweep_growth_most), before_s + LOAD_FRAME_S);
}

uint32_t sweep_cliffs(const sweep_report *report, sweep_rule rule) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < SWEEP_LOADS; i++) count += !sweep_holds(report, rule, i);
  return count;
}

static double growth_most(const sweep_report *report, sweep_rule rule) {
  double most = 0;
  for (uint32_t i = 0; i < SWEEP_LOADS; i++) most = fmax(most, sweep_growth(report, rule, i));
  return most;
}

/* ------------------------------------------------------------------------------------------------------- for people */

static void print_row(const sweep_report *report, uint32_t load) {
  const sweep_result *result = &report->results[load];
  printf("%6.2f", result->load);
  for (sweep_rule rule = 0; rule < SWEEP_RULES; rule++) {
    const sweep_point *point = &result->rules[rule];
    printf("   %8.2f %7.0f ms %7.0f ms %+6.0f %% %8.0f ms", point->pressure, point->important.interval_s * 1e3,
           point->important.period_s * 1e3, sweep_growth(report, rule, load) * 100,
           point->unimportant.interval_s * 1e3);
  }
  puts(sweep_holds(report, SWEEP_LAW, load) ? "" : "  CLIFF");
}

void sweep_print(const sweep_report *report) {
  printf("muster bench sweep: %u animals, %.0f of them important, 30 Hz, virtual time\n\n", report->setup.agents,
         report->results[0].rules[SWEEP_LAW].important.agents);
  printf("%6s   %-49s   %s\n", "", "the law of importance (default)", "the papers' rules");
  printf("%6s", "load");
  for (sweep_rule rule = 0; rule < SWEEP_RULES; rule++)
    printf("   %8s %10s %10s %8s %11s", "pressure", "interval", "period", "growth", "of others");
  puts("");
  for (uint32_t i = 0; i < SWEEP_LOADS; i++) print_row(report, i);
  printf("\nload       what all would take at their longest periods, in parts of the capacity\n"
         "interval   agents x window / completed updates at importance 0.9 and above; of others: at importance 0\n"
         "period     that the fit gives to the important\n"
         "pressure   the load as the world reports it: what animals cost differs with what they do\n"
         "growth     of the interval over the load before, which was a tenth less\n\n"
         "Target: it grows by %.0f %% at most, or by a frame; most: %.0f %% by the law, %.0f %% by the papers' rules\n",
         sweep_growth_most * 100, growth_most(report, SWEEP_LAW) * 100, growth_most(report, SWEEP_PAPERS) * 100);
}

/* ----------------------------------------------------------------------------------------------------- for machines */

static void write_band(const char *name, const sweep_band *band, json_writer *writer) {
  json_begin_object(writer, name);
  json_number(writer, "agents", band->agents);
  json_number(writer, "interval_ns", band->interval_s * 1e9);
  json_number(writer, "period_ns", band->period_s * 1e9);
  json_end_object(writer);
}

static void write_row(const sweep_report *report, uint32_t load, sweep_rule rule, json_writer *writer) {
  const sweep_point *point = &report->results[load].rules[rule];
  json_begin_object(writer, NULL);
  json_string(writer, "rule", names[rule]);
  json_number(writer, "load", report->results[load].load);
  json_number(writer, "pressure", point->pressure);
  write_band("important", &point->important, writer);
  write_band("unimportant", &point->unimportant, writer);
  json_number(writer, "growth", sweep_growth(report, rule, load));
  json_bool(writer, "holds", sweep_holds(report, rule, load));
  json_end_object(writer);
}

void sweep_write_json(const sweep_report *report, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_string(writer, "bench", "sweep");
  json_uint(writer, "seed", report->setup.seed);
  json_uint(writer, "agents", report->setup.agents);
  json_number(writer, "frame_ns", LOAD_FRAME_S * 1e9);
  json_number(writer, "growth_most", sweep_growth_most);
  json_begin_array(writer, "rows");
  for (uint32_t i = 0; i < SWEEP_LOADS; i++)
    for (sweep_rule rule = 0; rule < SWEEP_RULES; rule++) write_row(report, i, rule, writer);
  json_end_array(writer);
  for (sweep_rule rule = 0; rule < SWEEP_RULES; rule++) {
    json_begin_object(writer, names[rule]);
    json_number(writer, "growth_most", growth_most(report, rule));
    json_uint(writer, "cliffs", sweep_cliffs(report, rule));
    json_end_object(writer);
  }
  json_end_object(writer);
}

/* ------------------------------------------------------------------------------------------------------ as a figure */

bool sweep_plot(const sweep_report *report, const char *folder) {
  struct plot plot;
  if (!plot_begin(&plot, folder, "sweep", 1000, 640)) return false;
  fprintf(plot.script, "$loads << END\n");
  for (uint32_t i = 0; i < SWEEP_LOADS; i++) {
    const sweep_point *law = &report->results[i].rules[SWEEP_LAW], *papers = &report->results[i].rules[SWEEP_PAPERS];
    fprintf(plot.script, "%g %g %g %g %g %g\n", report->results[i].load, law->important.interval_s,
            law->important.period_s, law->unimportant.interval_s, papers->important.interval_s,
            papers->unimportant.interval_s);
  }
  fprintf(plot.script,
          "END\nset title '%u animals: how often the most important run, and the unimportant'\n"
          "set logscale xy\nset xrange [0.28:13]\nset yrange [0.03:*]\nset xtics (0.3,0.5,1,2,3,6,12)\n"
          "set ytics (0.05,0.1,0.2,0.5,1,2,5,10,20,50)\nset grid\nset key top left\n"
          "set xlabel 'load: what all would take at their longest periods, in parts of the capacity'\n"
          "set ylabel 'seconds between two updates'\n"
          "plot $loads using 1:6 with lines lw 1 lc rgb '#d55e00' title 'importance 0, papers',"
          " $loads using 1:5 with linespoints lw 2 pt 7 ps 0.6 lc rgb '#d55e00' title 'important, papers',"
          " $loads using 1:4 with lines lw 1 lc rgb '#0072b2' title 'importance 0, law',"
          " $loads using 1:3 with lines lw 5 lc rgb '#99c7e0' title 'important: period by the law',"
          " $loads using 1:2 with linespoints lw 2 pt 7 ps 0.6 lc rgb '#0072b2' title 'important, law'\n",
          report->setup.agents);
  return plot_end(&plot);
}
