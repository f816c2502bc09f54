/* `muster repro rankin`: the basic findings, the stress figure, and dynamic levels in large worlds. */
#include "rankin.h"

#include "complaint.h"
#include "scenarios/scenarios.h"

#include <math.h>

enum { BASIC = 40, BASIC_TICKS = 2000, REPETITIONS = 5, LARGE_TICKS = 400 };

static const double evenly = 1.1;    /* at most so many times as many runs for one as for another */
static const double clearly = 1.02;  /* so many times as many runs for the next more important role */
static const double much_less = 0.7; /* at most this part of the cost of the level above */

static const rankin_plan basic = {
    .characters = BASIC, .level = 2, .ticks = BASIC_TICKS, .importance = 1.0f, .ageing = 1.0f, .runs = 1.0f};

/* ------------------------------------------------------------------------------------------------------- findings */

static double spread_of(const rankin_outcome *outcome) {
  return (double)outcome->most / (outcome->least ? outcome->least : 1);
}

/* The least ratio between a role and the one below it. */
static double advantage_of(const rankin_outcome *outcome) {
  double least = INFINITY;
  for (uint32_t i = 1; i < RANKIN_ROLES; i++) least = fmin(least, outcome->by_role[i] / outcome->by_role[i - 1]);
  return least;
}

static bool find_evenness(rankin_finding *finding) {
  rankin_plan alike = basic;
  rankin_outcome equal, unequal;
  alike.alike = true;
  if (!rankin_run(&alike, &equal) || !rankin_run(&basic, &unequal)) return false;
  *finding = (rankin_finding){.name = "equal importance: runs are spread evenly",
                              .counter_case = "importance differs by role",
                              .value = spread_of(&equal),
                              .counter_value = spread_of(&unequal)};
  finding->holds = finding->value <= evenly;
  finding->counter_holds = finding->counter_value <= evenly;
  return true;
}

static bool find_advantage(rankin_finding *finding) {
  rankin_plan blind = basic;
  rankin_outcome seen, unseen;
  blind.importance = 0.0f;
  if (!rankin_run(&basic, &seen) || !rankin_run(&blind, &unseen)) return false;
  *finding = (rankin_finding){.name = "higher importance: more runs, role by role",
                              .counter_case = "weight of importance 0",
                              .value = advantage_of(&seen),
                              .counter_value = advantage_of(&unseen)};
  finding->holds = finding->value >= clearly;
  finding->counter_holds = finding->counter_value >= clearly;
  return true;
}

/* The run counter would give the low ones a turn, too: it is off in both. */
static bool find_starvation(rankin_finding *starves, rankin_finding *lives) {
  rankin_plan aged = basic, unaged = basic;
  rankin_outcome with, without;
  aged.runs = unaged.runs = unaged.ageing = 0.0f;
  if (!rankin_run(&aged, &with) || !rankin_run(&unaged, &without)) return false;
  *starves = (rankin_finding){.name = "without ageing: the least important never run",
                              .holds = without.least == 0,
                              .value = without.by_role[0],
                              .counter_case = "ageing on",
                              .counter_holds = with.least == 0,
                              .counter_value = with.by_role[0]};
  *lives = (rankin_finding){.name = "with ageing: nobody starves",
                            .holds = with.least > 0,
                            .value = with.least,
                            .counter_case = "ageing off",
                            .counter_holds = without.least > 0,
                            .counter_value = without.least};
  return true;
}

/* CPU time of a plan: the least of some runs, since whatever disturbs one only adds to it. */
static bool measure(const rankin_plan *plan, double *cpu_s) {
  *cpu_s = INFINITY;
  for (uint32_t i = 0; i < REPETITIONS; i++) {
    rankin_outcome outcome;
    if (!rankin_run(plan, &outcome)) return false;
    *cpu_s = fmin(*cpu_s, outcome.cpu_s);
  }
  return true;
}

/* The greatest part of a level's cost that the next one still takes. The world without characters' work is the same at
 * each, and taken away. */
static bool find_order_of(bool vary, double *greatest) {
  double before_s = 0.0, empty_s = 0.0;
  *greatest = 0.0;
  rankin_plan plan = {
      .characters = 100, .ticks = RANKIN_TICKS, .importance = 1.0f, .ageing = 1.0f, .runs = 1.0f, .level = 0};
  rankin_plan none = plan;
  none.characters = 1; /* the frames alone */
  none.level = 3;
  if (!measure(&none, &empty_s)) return false;
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
    double cpu_s;
    plan.level = vary ? level : 2;
    if (!measure(&plan, &cpu_s)) return false;
    cpu_s = fmax(cpu_s - empty_s, 1e-9);
    if (level > 0) *greatest = fmax(*greatest, cpu_s / before_s);
    before_s = cpu_s;
  }
  return true;
}

static bool find_costs(rankin_finding *finding) {
  *finding = (rankin_finding){.name = "levels cost less, in order", .counter_case = "one level under four names"};
  if (!find_order_of(true, &finding->value) || !find_order_of(false, &finding->counter_value)) return false;
  finding->holds = finding->value <= much_less;
  finding->counter_holds = finding->counter_value <= much_less;
  return true;
}

static bool find_all(rankin_results *results) {
  rankin_finding *findings = results->findings;
  return find_evenness(&findings[0]) && find_advantage(&findings[1]) && find_starvation(&findings[2], &findings[3]) &&
         find_costs(&findings[4]);
}

/* --------------------------------------------------------------------------------------------- stress, large worlds */

static bool measure_stress(rankin_results *results) {
  static const uint32_t sizes[RANKIN_SIZES] = {100, 200, 800}, levels[RANKIN_LEVELS] = {0, 2, 3};
  for (uint32_t size = 0; size < RANKIN_SIZES; size++)
    for (uint32_t level = 0; level < RANKIN_LEVELS; level++) {
      rankin_plan plan = basic;
      plan.characters = results->sizes[size] = sizes[size];
      plan.level = results->levels[level] = levels[level];
      plan.ticks = RANKIN_TICKS;
      if (!measure(&plan, &results->stress_s[size][level])) return false;
    }
  return true;
}

static bool run_large(rankin_results *results) {
  static const uint32_t sizes[RANKIN_LARGE] = {10000, 100000};
  for (uint32_t i = 0; i < RANKIN_LARGE; i++) {
    rankin_plan plan = {.characters = sizes[i],
                        .level = RANKIN_DYNAMIC,
                        .ticks = LARGE_TICKS,
                        .importance = 1.0f,
                        .ageing = 1.0f,
                        .runs = 1.0f};
    results->large[i] = sizes[i];
    if (!rankin_run(&plan, &results->dynamic[i])) return false;
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- checks */

static void check_findings(const rankin_results *results, repro_checks *checks) {
  for (uint32_t i = 0; i < RANKIN_FINDINGS; i++) {
    const rankin_finding *finding = &results->findings[i];
    repro_check_that(checks, finding->holds, "%s (%.4g)", finding->name, finding->value);
    repro_check_that(checks, !finding->counter_holds, "counter-case, %s: that does not hold (%.4g)",
                     finding->counter_case, finding->counter_value);
  }
}

static void check_stress(const rankin_results *results, repro_checks *checks) {
  for (uint32_t size = 0; size < RANKIN_SIZES; size++) {
    const double *seconds = results->stress_s[size];
    repro_check_that(checks, seconds[0] > seconds[1] && seconds[1] > seconds[2],
                     "%u characters: 200 ticks finish at levels 0, 2 and 3, each sooner (%.4f, %.4f, %.4f s)",
                     results->sizes[size], seconds[0], seconds[1], seconds[2]);
  }
}

static void check_large(const rankin_results *results, repro_checks *checks) {
  for (uint32_t i = 0; i < RANKIN_LARGE; i++) {
    const rankin_outcome *outcome = &results->dynamic[i];
    bool all = true;
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) all &= outcome->levels[level] > 0;
    repro_check_that(checks, all, "%u characters: all levels are in use (%u, %u, %u, %u)", results->large[i],
                     outcome->levels[0], outcome->levels[1], outcome->levels[2], outcome->levels[3]);
    repro_check_that(checks, outcome->least > 0, "%u characters: everybody ran", results->large[i]);
    double stretch = (double)outcome->top_p50_ns / (double)outcome->period_ns;
    repro_check_that(checks, stretch <= 1.5,
                     "%u characters: half of the top tenth's updates within 1.5 wanted periods (%.2f)",
                     results->large[i], stretch);
  }
}

/* ------------------------------------------------------------------------------------------------------------ json */

static void write_findings(json_writer *writer, const rankin_results *results) {
  json_begin_array(writer, "findings");
  for (uint32_t i = 0; i < RANKIN_FINDINGS; i++) {
    const rankin_finding *finding = &results->findings[i];
    json_begin_object(writer, NULL);
    json_string(writer, "name", finding->name);
    json_bool(writer, "holds", finding->holds);
    json_number(writer, "value", finding->value);
    json_string(writer, "counter_case", finding->counter_case);
    json_bool(writer, "counter_holds", finding->counter_holds);
    json_number(writer, "counter_value", finding->counter_value);
    json_end_object(writer);
  }
  json_end_array(writer);
}

static void write_stress(json_writer *writer, const rankin_results *results) {
  json_begin_array(writer, "stress");
  for (uint32_t size = 0; size < RANKIN_SIZES; size++)
    for (uint32_t level = 0; level < RANKIN_LEVELS; level++) {
      json_begin_object(writer, NULL);
      json_uint(writer, "characters", results->sizes[size]);
      json_uint(writer, "level", results->levels[level]);
      json_number(writer, "seconds_per_200_ticks", results->stress_s[size][level]);
      json_end_object(writer);
    }
  json_end_array(writer);
}

static void write_large(json_writer *writer, const rankin_results *results) {
  json_begin_array(writer, "dynamic");
  for (uint32_t i = 0; i < RANKIN_LARGE; i++) {
    const rankin_outcome *outcome = &results->dynamic[i];
    json_begin_object(writer, NULL);
    json_uint(writer, "characters", results->large[i]);
    json_begin_array(writer, "levels");
    for (uint32_t level = 0; level < MUSTER_LEVELS; level++) json_uint(writer, NULL, outcome->levels[level]);
    json_end_array(writer);
    json_uint(writer, "eased", outcome->eased);
    json_number(writer, "pressure", outcome->pressure);
    json_uint(writer, "completed", outcome->completed);
    json_uint(writer, "top_tenth_p50_ns", outcome->top_p50_ns);
    json_uint(writer, "top_tenth_p99_ns", outcome->top_p99_ns);
    json_number(writer, "seconds_per_200_ticks", outcome->cpu_s * RANKIN_TICKS / LARGE_TICKS);
    json_end_object(writer);
  }
  json_end_array(writer);
}

static bool reproduce(json_writer *writer, const char *plots, bool quiet, repro_checks *checks) {
  rankin_results results;
  if (!find_all(&results) || !measure_stress(&results) || !run_large(&results)) return false;
  check_findings(&results, checks);
  check_stress(&results, checks);
  check_large(&results, checks);
  json_string(writer, "paper", repro_rankin.name);
  write_findings(writer, &results);
  write_stress(writer, &results);
  write_large(writer, &results);
  if (!quiet) rankin_print(&results);
  return !plots || rankin_plot(&results, plots);
}

const repro_paper repro_rankin = {
    "rankin", "Rankin, Acton & Katchabaw: importance, priority, levels (the stress figure)", reproduce, NULL, NULL};
