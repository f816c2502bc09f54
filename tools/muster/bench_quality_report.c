#include "bench_quality_report.h"

#include "plots.h"

#include <stdio.h>
#include <string.h>

const double quality_target_ratio = 1.10, quality_target_lead = 0.01;

bool quality_reaches(const quality_case *result, uint32_t judge) {
  double own = result->rules[quality_own_rule(judge)].ratio[judge];
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    if (result->rules[rule].ratio[judge] < own * (1.0 - quality_target_lead)) return false;
  return own <= quality_target_ratio * result->wish[judge];
}

static uint32_t missed(const quality_report *report, uint32_t judge) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < report->count; i++) count += !quality_reaches(&report->cases[i], judge);
  return count;
}

bool quality_reaches_always(const quality_report *report) {
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++)
    if (missed(report, judge)) return false;
  return true;
}

/* ------------------------------------------------------------------------------------------------------- for people */

static void print_rows(const quality_report *report, uint32_t judge) {
  printf("\nJudged by k = %u\n%-8s %4s %7s %9s %5s", quality_octaves(judge), "crowd", "CPU", "load", "optimum", "wish");
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) printf(" %12s", quality_rule_name(rule));
  puts("");
  for (uint32_t i = 0; i < report->count; i++) {
    const quality_case *result = &report->cases[i];
    printf("%-8s %2.0f %% %7.2f %6.0f ms %5.2f", result->crowd, result->cpu * 100, result->load,
           result->optimum_ms[judge], result->wish[judge]);
    for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) printf(" %10.2f x", result->rules[rule].ratio[judge]);
    puts(quality_reaches(result, judge) ? "" : "  MISSED");
  }
}

static void print_words(const quality_report *report) {
  puts("");
  for (uint32_t i = 0; quality_crowd_name(i); i++)
    printf("%-12s %s\n", quality_crowd_name(i), quality_crowd_summary(i));
  puts("CPU          the CPU given, as a share of what all agents at the shortest period would take\n"
       "load         what all agents at the longest period would take, as a part of this CPU\n"
       "optimum      periods proportional to the root of cost over weight, from the shortest up, without a longest\n"
       "wish         what is best where the longest period is a wish, which stretches with the load: the rule of "
       "importance lets no agent wait for longer, and this is its price");
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    printf("%-12s %s\n", quality_rule_name(rule), quality_rule_summary(rule));
  if (!report->setup.spawns) puts("\nNo spawn file: --spawns FILE.csv measures one, too.");
}

static void print_verdict(const quality_report *report, uint32_t judge) {
  uint32_t misses = missed(report, judge);
  printf("  %-12s judged by k = %-2u ", quality_rule_name(quality_own_rule(judge)), quality_octaves(judge));
  if (misses)
    printf("MISSED in %u of %u cases\n", misses, report->count);
  else
    puts("in every case");
}

void quality_print(const quality_report *report) {
  printf("muster bench quality: virtual time%s\n", report->setup.quick ? ", quick: small crowds" : "");
  puts("staleness weighted by importance, 2^(k i), as a multiple of the optimum for the same CPU; less is better");
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++) print_rows(report, judge);
  print_words(report);
  printf("\nTarget: at most %.2f x the optimum with the wish, and no rule fresher by more than %.0f %%\n",
         quality_target_ratio, quality_target_lead * 100);
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++) print_verdict(report, judge);
}

/* ----------------------------------------------------------------------------------------------------- for machines */

static void write_rule(const quality_case *result, uint32_t judge, quality_rule rule, json_writer *writer) {
  const quality_result *of_rule = &result->rules[rule];
  json_begin_object(writer, NULL);
  json_string(writer, "crowd", result->crowd);
  json_number(writer, "cpu", result->cpu);
  json_number(writer, "load", result->load);
  json_uint(writer, "agents", result->agents);
  json_uint(writer, "observers", result->observers);
  json_uint(writer, "octaves", quality_octaves(judge));
  json_string(writer, "rule", quality_rule_name(rule));
  json_number(writer, "staleness_ns", of_rule->staleness_ms[judge] * 1e6);
  json_number(writer, "optimum_ns", result->optimum_ms[judge] * 1e6);
  json_number(writer, "wish_ratio", result->wish[judge]);
  json_number(writer, "ratio", of_rule->ratio[judge]);
  json_number(writer, "cpu_used_share", of_rule->cpu_share);
  if (rule == quality_own_rule(judge)) json_bool(writer, "reaches_target", quality_reaches(result, judge));
  json_end_object(writer);
}

void quality_write_json(const quality_report *report, json_writer *writer) {
  json_begin_object(writer, NULL);
  json_string(writer, "bench", "quality");
  json_bool(writer, "quick", report->setup.quick);
  json_uint(writer, "seed", report->setup.seed);
  json_number(writer, "target_ratio", quality_target_ratio);
  json_number(writer, "target_lead", quality_target_lead);
  json_begin_array(writer, "rows");
  for (uint32_t i = 0; i < report->count; i++)
    for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++)
      for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) write_rule(&report->cases[i], judge, rule, writer);
  json_end_array(writer);
  json_bool(writer, "reaches_target", quality_reaches_always(report));
  json_end_object(writer);
}

/* ------------------------------------------------------------------------------------------------------ as a figure */

/* The ratios of a crowd by a judge, a line for each share of the CPU. */
static void plot_data(const quality_report *report, const char *crowd, uint32_t judge, FILE *script) {
  fprintf(script, "$%s_%u << END\n", crowd, quality_octaves(judge));
  for (uint32_t i = 0; i < report->count; i++) {
    const quality_case *result = &report->cases[i];
    if (strcmp(result->crowd, crowd) != 0) continue;
    fprintf(script, "%g", result->cpu * 100);
    for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
      fprintf(script, " %.6g", result->rules[rule].ratio[judge]);
    fprintf(script, "\n");
  }
  fprintf(script, "END\n");
}

/* The first panel has the key. */
static void plot_panel(const char *crowd, uint32_t judge, FILE *script) {
  fprintf(script, "set title '%s, judged by k = %u'\nplot ", crowd, quality_octaves(judge));
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++)
    fprintf(script, "%s$%s_%u using 1:%d with linespoints lw 2 pt 7 lt %d title '%s'", rule ? ", " : "", crowd,
            quality_octaves(judge), (int)rule + 2, (int)rule + 1, quality_rule_name(rule));
  fprintf(script, "\nunset key\n");
}

bool quality_plot(const quality_report *report, const char *folder) {
  struct plot plot;
  uint32_t columns = report->count / QUALITY_SHARES;
  if (!plot_begin(&plot, folder, "quality", 420 * (int)columns, 900)) return false;
  for (uint32_t i = 0; i < report->count; i += QUALITY_SHARES)
    for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++)
      plot_data(report, report->cases[i].crowd, judge, plot.script);
  fprintf(plot.script,
          "set multiplot layout %d,%u title 'Staleness weighted by importance, as a multiple of the optimum for the "
          "same CPU'\nset logscale xy\nset xrange [70:0.9]\nset yrange [0.9:40]\nset xtics (60,30,10,3,1)\n"
          "set ytics (1,1.1,1.5,2,3,5,10,20)\nset grid\nset key top left\n"
          "set xlabel 'CPU, %% of what all would take'\n",
          QUALITY_JUDGES, columns);
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++)
    for (uint32_t i = 0; i < report->count; i += QUALITY_SHARES) plot_panel(report->cases[i].crowd, judge, plot.script);
  fprintf(plot.script, "unset multiplot\n");
  return plot_end(&plot);
}
