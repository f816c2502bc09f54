/* The reproduction of Tan & Wong, as the program tells it. */
#include "program.h"

#include <math.h>

/* Fails the test unless the numbers of all rows rise (or fall) from row to row. */
static void expect_monotone(json_t *rows, const char *name, double direction) {
  for (size_t i = 1; i < json_array_size(rows); i++) {
    double before = program_number(json_array_get(rows, i - 1), name);
    double here = program_number(json_array_get(rows, i), name);
    cr_assert((here - before) * direction > 0, "%s goes from %g to %g", name, before, here);
  }
}

static void expect_checks_to_hold(json_t *json) {
  json_t *checks = program_member(json, "checks");
  cr_assert_gt(json_array_size(checks), 25);
  for (size_t i = 0; i < json_array_size(checks); i++) {
    json_t *check = json_array_get(checks, i);
    cr_expect(json_is_true(program_member(check, "holds")), "%s", json_string_value(program_member(check, "what")));
  }
  cr_assert(json_is_true(program_member(json, "holds")));
}

/* What the program asserts of itself is looked at from outside as well, where the numbers allow it. */
Test(repro, of_tan_wong_holds) {
  json_t *json = program_json("repro tan-wong --json -");
  json_t *rows = program_member(json, "rows");
  cr_assert_eq(json_array_size(rows), 3);
  for (size_t i = 0; i < 3; i++) {
    json_t *row = json_array_get(rows, i);
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
  expect_checks_to_hold(json);
  json_decref(json);
}

/* On a machine that is busy otherwise, a figure of the CPU may fail its check. */
static json_t *json_of_any_status(const char *line) {
  program_run *run = program_start(line);
  json_t *json = json_loads(run->output, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(json, "muster %s: %s", line, run->errors);
  free(run);
  return json;
}

/* Figures of the CPU are the machine's; their order is not, nor are findings, which are made in virtual time. */
Test(repro, of_rankin_finds_what_the_paper_found) {
  json_t *json = json_of_any_status("repro rankin --json -");
  json_t *findings = program_member(json, "findings"), *stress = program_member(json, "stress");
  cr_assert_eq(json_array_size(findings), 5);
  for (size_t i = 0; i < 4; i++) { /* the fifth is measured on the CPU */
    json_t *finding = json_array_get(findings, i);
    const char *name = json_string_value(program_member(finding, "name"));
    cr_assert(json_is_true(program_member(finding, "holds")), "%s", name);
    cr_assert(json_is_false(program_member(finding, "counter_holds")), "%s: its counter-case holds", name);
  }
  cr_assert_eq(json_array_size(stress), 9);
  for (size_t i = 0; i < 9; i += 3) {
    double full = program_number(json_array_get(stress, i), "seconds_per_200_ticks");
    double least = program_number(json_array_get(stress, i + 2), "seconds_per_200_ticks");
    cr_assert_eq(program_number(json_array_get(stress, i), "level"), 0);
    cr_assert_eq(program_number(json_array_get(stress, i + 2), "level"), 3);
    cr_assert_gt(full, least);
  }
  json_t *large = program_member(json, "dynamic");
  cr_assert_eq(json_array_size(large), 2);
  for (size_t i = 0; i < 2; i++) {
    json_t *levels = program_member(json_array_get(large, i), "levels");
    for (size_t level = 0; level < 4; level++) cr_assert_gt(json_integer_value(json_array_get(levels, level)), 0);
  }
  json_decref(json);
}
