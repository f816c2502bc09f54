/* `muster repro rankin`: the basic findings, the stress figure, and dynamic levels in large worlds. */
#include "rankin.h"

#include "text.h"

enum { STRESS_TURNS = 5, LARGE_TICKS = 400, QUICK_PART = 4 /* of the characters, and of the time */ };

static const uint64_t large_ns = 10000000; /* of work in each tick */

static const uint32_t sizes[RANKIN_SIZES] = {100, 200, 800}, levels[RANKIN_LEVELS] = {0, 2, 3};

static void print_findings(const char *title, const rankin_finding *findings, uint32_t count) {
  printf("%s\n\n                                                                               holds            "
         "counter-case    "
         "             holds          \n",
         title);
  for (const rankin_finding *it = findings; it < findings + count; it++)
    printf("%-78s %-5s %9.4g  %-28s %-5s %9.4g  %s\n", it->name, it->holds[0] ? "yes" : "NO", it->values[0],
           it->counter_case, it->holds[1] ? "YES" : "no", it->values[1], it->unit);
}

static void print_stress(const rankin_results *results) {
  printf("\nStress: CPU seconds for 200 ticks of 30 ms, 4 characters per tick\n(theirs finished with more than 100 "
         "characters at level 3 only)\n\n"
         "characters      level 0    level 2    level 3");
  for (uint32_t size = 0; size < RANKIN_SIZES; size++)
    repro_print_row(text_of("%u", sizes[size]), 12, " %10.4f", 1, results->stress_s[size], RANKIN_LEVELS);
}

static void print_large(const rankin_results *results) {
  printf("\n\nLevels by importance and pressure: 30 Hz, %g ms of one worker, wanted period 90 ms (sizes and time are "
         "ours)\n\n"
         "characters    level 0        1        2        3     shed  pressure    top p50    top p99\n",
         results->large_ms);
  for (uint32_t i = 0; i < RANKIN_LARGE; i++) {
    const rankin_outcome *outcome = &results->dynamic[i];
    printf("%-12u", results->large[i]);
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) printf(" %8u", outcome->levels[level]);
    printf(" %8u %9.3f %7.0f ms %7.0f ms\n", outcome->shed, outcome->pressure, (double)outcome->top_p50_ns * 1e-6,
           (double)outcome->top_p99_ns * 1e-6);
  }
}

static void print(const void *all) {
  const rankin_results *results = all;
  print_findings("Rankin, Acton & Katchabaw: what the paper found, 40 characters, 4 per tick", results->findings,
                 RANKIN_FINDINGS);
  print_findings("\nWhat its parts do, each alone (runs of ours)", results->findings + RANKIN_FINDINGS, RANKIN_PARTS);
  print_stress(results);
  print_large(results);
}

static void plot_stress(FILE *script, const void *all) {
  const rankin_results *results = all;
  fprintf(script, "$stress << END\n");
  for (uint32_t size = 0; size < RANKIN_SIZES; size++) {
    fprintf(script, "%u", sizes[size]);
    for (uint32_t level = 0; level < RANKIN_LEVELS; level++) fprintf(script, " %.6g", results->stress_s[size][level]);
    fprintf(script, "\n");
  }
  fprintf(script, "END\nset title 'Rankin, Acton and Katchabaw: 200 ticks, 4 characters per tick'\n"
                  "set style data histograms\nset style histogram clustered gap 1\nset style fill solid 0.8\n"
                  "set logscale y\nset grid ytics\nset xlabel 'characters'\nset ylabel 'CPU seconds'\n"
                  "set key top left\nplot ");
  for (uint32_t level = 0; level < RANKIN_LEVELS; level++)
    fprintf(script, "%s$stress using %u:xtic(1) title 'level %u'", level ? ", " : "", level + 2, levels[level]);
  fprintf(script, "\n");
}

/* --------------------------------------------------------------------------------------------- stress, large worlds */

static bool measure_stress(rankin_results *results) {
  rankin_plan plan = rankin_basic;
  plan.ticks = RANKIN_TICKS;
  for (uint32_t size = 0; size < RANKIN_SIZES; size++)
    for (uint32_t level = 0; level < RANKIN_LEVELS; level++) {
      plan.characters = sizes[size];
      plan.level = levels[level];
      if (!rankin_measure(&plan, 1, STRESS_TURNS, &results->stress_s[size][level])) return false;
    }
  return true;
}

static bool run_large(rankin_results *results) {
  static const uint32_t large[RANKIN_LARGE] = {10000, 100000};
  uint32_t part = results->base.quick ? QUICK_PART : 1;
  rankin_plan plan = rankin_basic;
  plan.level = RANKIN_DYNAMIC;
  plan.ticks = LARGE_TICKS;
  plan.capacity_ns = large_ns / part;
  results->large_ms = (double)plan.capacity_ns * 1e-6;
  for (uint32_t i = 0; i < RANKIN_LARGE; i++) {
    results->large[i] = plan.characters = large[i] / part;
    if (!rankin_run(&plan, &results->dynamic[i])) return false;
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- checks */

static void check_findings(const rankin_results *results) {
  for (uint32_t i = 0; i < RANKIN_FINDINGS + RANKIN_PARTS; i++) {
    const rankin_finding *it = &results->findings[i];
    void (*state)(bool, const char *, ...) = it->timed ? repro_compare_that : repro_check_that;
    state(it->holds[0], "%s (%.4g %s)", it->name, it->values[0], it->unit);
    state(!it->holds[1], "counter-case, %s: that does not hold (%.4g %s)", it->counter_case, it->values[1], it->unit);
  }
}

static void check_stress(const rankin_results *results) {
  for (uint32_t size = 0; size < RANKIN_SIZES; size++) {
    const double *seconds = results->stress_s[size];
    repro_compare_that(seconds[0] > seconds[1] && seconds[1] > seconds[2],
                       "%u characters: 200 ticks finish at levels 0, 2 and 3, each with less CPU (%.4f, %.4f, %.4f s)",
                       sizes[size], seconds[0], seconds[1], seconds[2]);
  }
}

static void check_large(const rankin_results *results) {
  for (uint32_t i = 0; i < RANKIN_LARGE; i++) {
    const rankin_outcome *outcome = &results->dynamic[i];
    bool all = true;
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) all &= outcome->levels[level] > 0;
    repro_check_that(all, "%u characters: all levels are in use (%u, %u, %u, %u)", results->large[i],
                     outcome->levels[0], outcome->levels[1], outcome->levels[2], outcome->levels[3]);
    repro_check_that(outcome->least > 0, "%u characters: every one ran", results->large[i]);
    double stretch = (double)outcome->top_p99_ns / (double)outcome->period_ns;
    repro_check_that(stretch <= 2,
                     "%u characters: 99 of 100 updates of the most important band within two wanted periods (%.2f)",
                     results->large[i], stretch);
  }
  repro_check_that(results->dynamic[0].shed == 0 && results->dynamic[1].shed > 0,
                   "pressure lowers no level among %u, and some among %u (%u; %u)", results->large[0],
                   results->large[1], results->dynamic[0].shed, results->dynamic[1].shed);
}

/* ------------------------------------------------------------------------------------------------------------ json */

static void write_findings(json_writer *writer, const char *name, const rankin_finding *findings, uint32_t count) {
  json_begin_array(writer, name);
  for (uint32_t i = 0; i < count; i++) {
    const rankin_finding *it = &findings[i];
    json_print(writer, "{ name=%s holds=%d value=%g unit=%s counter_case=%s counter_holds=%d counter_value=%g }",
               it->name, it->holds[0], it->values[0], it->unit, it->counter_case, it->holds[1], it->values[1]);
  }
  json_end_array(writer);
}

static void write_stress(json_writer *writer, const rankin_results *results) {
  json_begin_array(writer, "stress");
  for (uint32_t size = 0; size < RANKIN_SIZES; size++)
    for (uint32_t level = 0; level < RANKIN_LEVELS; level++) {
      json_print(writer, "{ characters=%u level=%u seconds_per_200_ticks=%g }", sizes[size], levels[level],
                 results->stress_s[size][level]);
    }
  json_end_array(writer);
}

static void write_large(json_writer *writer, const rankin_results *results) {
  json_begin_array(writer, "dynamic");
  for (uint32_t i = 0; i < RANKIN_LARGE; i++) {
    const rankin_outcome *outcome = &results->dynamic[i];
    json_print(writer, "{ characters=%u levels[", results->large[i]);
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) json_uint(writer, NULL, outcome->levels[level]);
    json_print(writer, "] shed=%u pressure=%g completed=%lu top_p50_ns=%lu top_p99_ns=%lu seconds_per_200_ticks=%g }",
               outcome->shed, outcome->pressure, outcome->completed, outcome->top_p50_ns, outcome->top_p99_ns,
               outcome->cpu_s * RANKIN_TICKS / LARGE_TICKS);
  }
  json_end_array(writer);
}

static bool measure(void *all) {
  rankin_results *results = all;
  return rankin_find(results->findings) && measure_stress(results) && run_large(results);
}

static void check(const void *all) {
  check_findings(all);
  check_stress(all);
  check_large(all);
}

static void write(const void *all, json_writer *writer) {
  const rankin_results *results = all;
  write_findings(writer, "findings", results->findings, RANKIN_FINDINGS);
  write_findings(writer, "parts", results->findings + RANKIN_FINDINGS, RANKIN_PARTS);
  write_stress(writer, results);
  write_large(writer, results);
}

const repro_paper repro_rankin = {.name = "rankin",
                                  .summary =
                                      "Rankin, Acton & Katchabaw: importance, priority, levels (the stress figure)",
                                  .bytes = sizeof(rankin_results),
                                  .measure = measure,
                                  .check = check,
                                  .write = write,
                                  .print = print,
                                  .figures = {{"rankin-stress", 1000, 640, plot_stress}}};
