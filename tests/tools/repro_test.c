/* The reproductions of Tan & Wong and of Rankin, Acton & Katchabaw, as the program tells them. */
#include "repro.h"

#include <math.h>

/* Fails the test unless the numbers of all rows rise (or fall) from row to row. */
static void expect_monotone(json_t *rows, const char *name, double direction) {
  for (size_t i = 1; i < json_array_size(rows); i++) {
    double before = program_number(json_array_get(rows, i - 1), name);
    double here = program_number(json_array_get(rows, i), name);
    cr_assert((here - before) * direction > 0, "%s goes from %g to %g", name, before, here);
  }
}

static double number_at(json_t *array, size_t index) {
  return json_number_value(json_array_get(array, index));
}

/* Figure 2 by hand, for animats that differ: the second species is at its longest period; of what the others must save,
 * each saves by its elasticity. */
static void expect_elastic_periods(json_t *json) {
  static const double cost_ms[] = {0.2, 0.3, 0.5, 0.5}, nominal_ms[] = {25, 100.0 / 3, 50, 200.0 / 3};
  static const double elasticity[] = {1, 0, 0.5, 1};
  json_t *unequal = program_member(json, "unequal"), *came_out = program_member(unequal, "interval_ms");
  double wanted = program_number(unequal, "c_total_ms") / program_number(unequal, "frame_ms") / 25 - 0.3 / 100;
  double lambda = ((0.2 / 25 + 0.5 / 50 + 0.5 * 3 / 200) - wanted) / 2.5;
  cr_assert(fabs(number_at(came_out, 1) - 100) < 1, "%g ms", number_at(came_out, 1));
  for (size_t i = 0; i < 4; i++) {
    if (i == 1) continue;
    double period_ms = cost_ms[i] / (cost_ms[i] / nominal_ms[i] - lambda * elasticity[i]);
    cr_expect(fabs(number_at(came_out, i) - period_ms) < 0.03 * period_ms, "%g ms for %g", number_at(came_out, i),
              period_ms);
  }
}

/* With costs that differ, the slip of figure 2 shows in the row of 20 ms alone. */
static void expect_slip(json_t *json) {
  json_t *printed = program_member(json, "figure2.as_printed"),
         *corrected = program_member(json, "figure2.as_corrected");
  for (size_t i = 0; i < 3; i++) {
    double with = program_number(json_array_get(printed, i), "c_total_ms");
    double without = program_number(json_array_get(corrected, i), "c_total_ms");
    if (i == 1)
      cr_expect(with < 0.9 * without, "%g of %g ms", with, without);
    else
      cr_expect(fabs(with - without) < 1e-9, "%g and %g ms", with, without);
  }
}

/* What the program asserts of itself is looked at from outside as well, where the numbers allow it. */
Test(repro, of_tan_wong_holds) {
  static const char *const checks[] = {
      /* the rows */
      "T_d 10: C is at most T_d + one update", "T_d 10: mean C / T_d", "T_d 20: C is at most T_d + one update",
      "T_d 20: mean C / T_d", "T_d 30: C is at most T_d + one update", "T_d 30: mean C / T_d",
      "Figure 5: C is at most T_d + one update",
      /* from row to row */
      "C_total rises", "U_total rises", "assigned D falls", "interval D falls", "FPS fall",
      /* animats in each */
      "T_d 10: everything is at its longest period", "T_d 10: delays come on top", "T_d 10: every animat runs once",
      "T_d 20: every animat runs once", "T_d 30: every animat runs once", "T_d 10: in the order of delays",
      "T_d 20: in the order of delays", "T_d 30: in the order of delays",
      /* the paper's figures */
      "T_d 10: C is within 12 %", "T_d 10: FPS are within 12 %", "T_d 10: U is within 13 %",
      "T_d 20: FPS are within 12 %", "T_d 20: U is within 13 %", "T_d 30: C is within 12 %",
      "T_d 30: FPS are within 12 %", "T_d 30: U is within 13 %",
      /* the disturbance */
      "Figure 5: the load makes frames", "Figure 5: under load C stays", "Figure 5: after it C is", "Figure 5: U falls",
      "Figure 5: so does the sum", "Figure 5: C and U are back",
      /* animats that differ */
      "unequal C, E and T: periods are fitted", "unequal C, E and T: they come out", "unequal C, E and T: and not by",
      "unequal C, E and T: and not by", "unequal C, E and T: and not by", "unequal C, E and T: and not by",
      "unequal C, E and T: and not by", "unequal C, E and T: and not by", "unequal C: Muster's C",
      "unequal C: figure 2 as printed", "unequal C: as corrected", NULL};
  json_auto_t *json = repro_json("tan-wong", checks, repro_none);
  json_t *rows = program_list(json, "rows", 3);
  PROGRAM_EACH(i, row, rows) {
    double budget_ms = program_number(row, "budget_ms"), c_total_ms = program_number(row, "c_total_ms");
    cr_assert_eq(budget_ms, 10.0 * (double)(i + 1));
    cr_assert(c_total_ms >= 0.8 * budget_ms && c_total_ms <= 1.02 * budget_ms, "C is %g", c_total_ms);
    cr_assert_gt(program_number(row, "overhead_ms"), 0);
  }
  expect_monotone(rows, "u_total", 1);
  expect_monotone(rows, "d_assigned_ms", -1);
  expect_monotone(rows, "d_interval_ms", -1);
  expect_monotone(rows, "fps", -1);
  cr_assert(fabs(program_number(json_array_get(rows, 0), "d_assigned_ms") - 46.6667) < 0.05);
  double before = program_number(json, "disturbance.before.u_total");
  cr_assert_lt(program_number(json, "disturbance.during.u_total"), 0.8 * before);
  cr_assert(fabs(program_number(json, "disturbance.after.u_total") - before) < 0.05 * before);
  cr_assert(fabs(program_number(json, "disturbance.during.c_total_ms") - 30) < 1.5);
  expect_elastic_periods(json);
  expect_slip(json);
  cr_assert(fabs(program_number(json, "inputs.cost_ms") - 0.373) < 1e-9, "the cost is an input");
}

static json_t *finding_of(json_t *findings, const char *beginning) {
  PROGRAM_EACH(i, finding, findings) {
    if (strncmp(program_text(finding, "name"), beginning, strlen(beginning)) == 0) return finding;
  }
  cr_assert_fail("there is no finding %s", beginning);
  return NULL;
}

static void expect_findings(json_t *findings, size_t count) {
  for (size_t i = 0; i < count; i++) {
    json_t *finding = json_array_get(findings, i);
    const char *name = program_text(finding, "name");
    cr_assert(program_true(finding, "holds"), "%s", name);
    cr_assert(json_is_false(program_member(finding, "counter_holds")), "%s: its counter-case holds", name);
  }
}

/* Forty characters, four per tick: by ageing alone the least important wait for three quarters of S = 4,000 ticks, and
 * never so long as S; by the guarantee alone for S = 20 ticks and a round of ten. */
static void expect_waits(json_t *findings, json_t *parts) {
  double aged = program_number(finding_of(findings, "with ageing"), "value");
  double guaranteed = program_number(finding_of(parts, "guarantee"), "value");
  cr_expect(aged > 2900 && aged <= 3011, "%g ticks", aged);
  cr_expect(guaranteed > 15 && guaranteed <= 31, "%g ticks", guaranteed);
}

/* What is told of a size is what its seconds say, whatever they are: they are the machine's. */
static void expect_stress(json_t *json) {
  static const int characters[] = {100, 200, 800}, levels[] = {0, 2, 3};
  json_t *stress = program_list(json, "stress", 9), *compared = program_member(json, "compared");
  for (size_t size = 0; size < 3; size++) {
    double seconds[3];
    for (size_t i = 0; i < 3; i++) {
      json_t *run = json_array_get(stress, 3 * size + i);
      PROGRAM_EXPECT_VALUES(run, {"characters", characters[size]}, {"level", levels[i]});
      seconds[i] = program_number(run, "seconds_per_200_ticks");
      cr_expect_gt(seconds[i], 0);
    }
    bool fell = seconds[0] > seconds[1] && seconds[1] > seconds[2];
    json_t *told = program_member(json_array_get(compared, 2 + size), "holds");
    cr_expect_eq(json_is_true(told), fell, "%d characters: %g, %g, %g s", characters[size], seconds[0], seconds[1],
                 seconds[2]);
  }
}

/* Findings are made in virtual time; what is measured on the CPU is told. */
Test(repro, of_rankin_finds_what_the_paper_found) {
  static const char *const checks[] = {
      /* what the paper found */
      "equal importance: runs are spread", "counter-case, importance differs", "higher importance: more runs",
      "counter-case, weight of importance 0", "without ageing: the least important never run",
      "counter-case, ageing on", "with ageing: no character starves", "counter-case, ageing off, the same S",
      "mixed importance, dynamic levels", "counter-case, all at level 0",
      /* parts of the priority */
      "guarantee, ageing off", "counter-case, S out of reach", "run counter, ageing off",
      "counter-case, weight of runs 0", "progress: an update that was begun", "counter-case, weight of progress 0",
      "preemption: a long update is cut", "counter-case, the same in one atom",
      /* large worlds */
      "10000 characters: all levels are in use", "10000 characters: every one ran",
      "10000 characters: 99 of 100 updates", "100000 characters: all levels are in use",
      "100000 characters: every one ran", "100000 characters: 99 of 100 updates",
      "pressure lowers no level among 10000, and some among 100000", NULL};
  static const char *const compared[] = {/* on the CPU */
                                         "levels cost less, in order (CPU)", "counter-case, one level under four names",
                                         "100 characters: 200 ticks finish", "200 characters: 200 ticks finish",
                                         "800 characters: 200 ticks finish", NULL};
  json_auto_t *json = repro_json("rankin", checks, compared);
  json_t *findings = program_list(json, "findings", 5), *parts = program_list(json, "parts", 5);
  expect_findings(findings, 5);
  expect_findings(parts, 4); /* the fifth is measured on the CPU */
  expect_waits(findings, parts);
  /* Four slices take a tick each; in turns with the other 36, four in each tick, the next comes ten ticks later. */
  PROGRAM_EXPECT_VALUES(finding_of(parts, "progress"), {"value", 4}, {"counter_value", 31});
  expect_stress(json);
  PROGRAM_EACH(i, large, program_list(json, "dynamic", 2)) {
    json_t *levels = program_member(large, "levels");
    for (size_t level = 0; level < 4; level++) cr_assert_gt(json_integer_value(json_array_get(levels, level)), 0);
  }
}
