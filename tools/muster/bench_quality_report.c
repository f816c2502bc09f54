#include "bench_quality_report.h"

#include "plots.h"

#include <stdio.h>

const double quality_target_ratio = 1.15;

static const quality_rule peers[] = {QUALITY_ROUND_ROBIN, QUALITY_DISTANCE};

enum { PEERS = sizeof peers / sizeof *peers };

bool quality_reaches(const quality_case *result, quality_rule rule) {
  double ratio = result->rules[rule].ratio;
  for (size_t i = 0; i < PEERS; i++)
    if (ratio >= result->rules[peers[i]].ratio) return false;
  return ratio <= quality_target_ratio;
}

bool quality_reaches_always(const quality_report *report, quality_rule rule) {
  for (uint32_t i = 0; i < QUALITY_CASES; i++)
    if (!quality_reaches(&report->cases[i], rule)) return false;
  return true;
}

static bool is_ours(quality_rule rule) {
  return rule != QUALITY_ROUND_ROBIN && rule != QUALITY_DISTANCE;
}

/* ------------------------------------------------------------------------------------------------------- for people */

static void print_rows(const quality_report *report) {
  printf("\n%-9s %5s %10s", "crowd", "CPU", "optimum");
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) printf(" %12s", quality_rule_name(rule));
  puts("");
  for (uint32_t i = 0; i < QUALITY_CASES; i++) {
    const quality_case *result = &report->cases[i];
    printf("%-9s %3.0f %% %7.0f ms", result->crowd, result->cpu * 100, result->optimum_ms);
    for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) printf(" %10.2f x", result->rules[rule].ratio);
    puts("");
  }
}

static void print_verdict(const quality_report *report, quality_rule rule) {
  uint32_t reached = 0;
  for (uint32_t i = 0; i < QUALITY_CASES; i++) reached += quality_reaches(&report->cases[i], rule);
  printf("  %-12s %s", quality_rule_name(rule), reached == QUALITY_CASES ? "in every case" : "");
  if (reached < QUALITY_CASES) printf("MISSED in %u of %d cases", QUALITY_CASES - reached, QUALITY_CASES);
  puts("");
}

void quality_print(const quality_report *report) {
  const quality_case *first = &report->cases[0];
  printf("muster bench quality: %u agents, %u observers, virtual time%s\n", first->agents, first->observers,
         report->setup.quick ? ", quick: a small crowd" : "");
  puts("staleness weighted by importance, as a multiple of the optimum for the same CPU; less is better");
  print_rows(report);
  puts("");
  for (uint32_t i = 0; quality_crowd_name(i); i++)
    printf("%-12s %s\n", quality_crowd_name(i), quality_crowd_summary(i));
  puts("CPU          the share that is there of what everybody at the shortest period would take\n"
       "optimum      periods proportional to the root of cost over weight, within the same bounds");
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    printf("%-12s %s\n", quality_rule_name(rule), quality_rule_summary(rule));
  printf("\nTarget: at most %.2f x the optimum, and fresher than round robin and distance\n", quality_target_ratio);
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    if (is_ours(rule)) print_verdict(report, rule);
}

/* ----------------------------------------------------------------------------------------------------- for machines */

static void write_rule(const quality_case *result, quality_rule rule, json_writer *writer) {
  const quality_result *of_rule = &result->rules[rule];
  json_begin_object(writer, NULL);
  json_string(writer, "crowd", result->crowd);
  json_number(writer, "cpu", result->cpu);
  json_uint(writer, "agents", result->agents);
  json_uint(writer, "observers", result->observers);
  json_string(writer, "rule", quality_rule_name(rule));
  json_number(writer, "staleness_ns", of_rule->staleness_ms * 1e6);
  json_number(writer, "optimum_ns", result->optimum_ms * 1e6);
  json_number(writer, "ratio", of_rule->ratio);
  json_number(writer, "cpu_used_share", of_rule->cpu_share);
  if (is_ours(rule)) json_bool(writer, "reaches_target", quality_reaches(result, rule));
  json_end_object(writer);
}

void quality_write_json(const quality_report *report, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_string(writer, "bench", "quality");
  json_bool(writer, "quick", report->setup.quick);
  json_uint(writer, "seed", report->setup.seed);
  json_number(writer, "target_ratio", quality_target_ratio);
  json_begin_array(writer, "rows");
  for (uint32_t i = 0; i < QUALITY_CASES; i++)
    for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) write_rule(&report->cases[i], rule, writer);
  json_end_array(writer);
  json_begin_object(writer, "reaches_target");
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    if (is_ours(rule)) json_bool(writer, quality_rule_name(rule), quality_reaches_always(report, rule));
  json_end_object(writer);
  json_end_object(writer);
}

/* ------------------------------------------------------------------------------------------------------ as a figure */

bool quality_plot(const quality_report *report, const char *folder) {
  plot plot;
  if (!plot_begin(&plot, folder, "quality", 1200, 640)) return false;
  fprintf(plot.script, "$ratios << END\n");
  for (uint32_t i = 0; i < QUALITY_CASES; i++) {
    const quality_case *result = &report->cases[i];
    fprintf(plot.script, "\"%s, %.0f %%\"", result->crowd, result->cpu * 100);
    for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) fprintf(plot.script, " %.6g", result->rules[rule].ratio);
    fprintf(plot.script, "\n");
  }
  fprintf(plot.script,
          "END\nset title 'Staleness weighted by importance, for the same CPU'\nset logscale y 2\n"
          "set ylabel 'multiple of the optimum'\nset xlabel 'crowd, share of the CPU that all would take'\n"
          "set yrange [0.9:*]\nset grid ytics\nset key top right\nset style data histograms\n"
          "set style histogram clustered gap 2\nset style fill solid 0.8\n"
          "set arrow from graph 0,first %g to graph 1,first %g nohead dt 2 lc rgb '#444444'\nplot ",
          quality_target_ratio, quality_target_ratio);
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    fprintf(plot.script, "%s$ratios using %d%s title '%s'", rule ? ", " : "", (int)rule + 2, rule ? "" : ":xtic(1)",
            quality_rule_name(rule));
  fprintf(plot.script, "\n");
  return plot_end(&plot);
}
