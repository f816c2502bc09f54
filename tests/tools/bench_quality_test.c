/* `muster bench quality`: virtual time, so the figures are the same everywhere and can be tested. */
#include "program.h"

static const char *const crowds[] = {"uniform", "mixed"};
static const double loads[] = {0.1, 0.3, 0.6};
static const char *const rules[] = {"elastic", "chosen", "chosen-once", "square-root", "round-robin", "distance"};

enum {
  CROWDS = sizeof crowds / sizeof *crowds,
  LOADS = sizeof loads / sizeof *loads,
  RULES = sizeof rules / sizeof *rules
};

static json_t *quick_json(void) {
  return program_json("bench quality --quick --json -");
}

/* The row of a crowd, a share of the CPU and a rule. */
static json_t *row_of(json_t *json, const char *crowd, double cpu, const char *rule) {
  size_t i;
  json_t *row;
  json_array_foreach(program_member(json, "rows"), i, row) {
    bool same_crowd = strcmp(json_string_value(program_member(row, "crowd")), crowd) == 0;
    bool same_rule = strcmp(json_string_value(program_member(row, "rule")), rule) == 0;
    if (same_crowd && same_rule && program_number(row, "cpu") == cpu) return row;
  }
  cr_assert_fail("there is no row of %s at %g under %s", crowd, cpu, rule);
  return NULL;
}

static double ratio_of(json_t *json, const char *crowd, double cpu, const char *rule) {
  return program_number(row_of(json, crowd, cpu, rule), "ratio");
}

static void expect_row(json_t *json, const char *crowd, double load, const char *rule) {
  json_t *row = row_of(json, crowd, load, rule);
  double used = program_number(row, "cpu_used_share");
  cr_expect(used > 0.9 && used < 1.01, "%s used %g of its CPU", rule, used);
  cr_expect_geq(program_number(row, "ratio"), 0.98, "%s beats the optimum", rule);
  cr_expect_gt(program_number(row, "staleness_ns"), 0);
}

Test(bench_quality, gives_every_rule_the_same_cpu_and_none_beats_the_optimum) {
  json_t *json = quick_json();
  cr_assert_eq(json_array_size(program_member(json, "rows")), CROWDS * LOADS * RULES);
  for (size_t crowd = 0; crowd < CROWDS; crowd++)
    for (size_t load = 0; load < LOADS; load++)
      for (size_t rule = 0; rule < RULES; rule++) expect_row(json, crowds[crowd], loads[load], rules[rule]);
  json_decref(json);
}

Test(bench_quality, shows_the_square_root_rule_within_the_target_and_fresher_than_what_servers_do) {
  json_t *json = quick_json();
  cr_expect(json_is_true(program_member(json, "reaches_target.square-root")));
  for (size_t crowd = 0; crowd < CROWDS; crowd++)
    for (size_t load = 0; load < LOADS; load++) {
      double ours = ratio_of(json, crowds[crowd], loads[load], "square-root");
      cr_expect_leq(ours, 1.15, "%s at %g: %g", crowds[crowd], loads[load], ours);
      cr_expect_lt(ours, ratio_of(json, crowds[crowd], loads[load], "round-robin"));
      cr_expect_lt(ours, ratio_of(json, crowds[crowd], loads[load], "distance"));
    }
  json_decref(json);
}

Test(bench_quality, tells_the_rules_apart) {
  json_t *json = quick_json();
  cr_expect_leq(ratio_of(json, "uniform", 0.3, "chosen"), 1.15, "the right elasticities make the elastic rule good");
  cr_expect_geq(ratio_of(json, "uniform", 0.1, "elastic"), 2.0, "those of importance do not under pressure");
  cr_expect(json_is_false(program_member(json, "reaches_target.elastic")));
  json_decref(json);
}

Test(bench_quality, prints_a_table_and_is_the_same_every_time) {
  program_run *first = program_start("bench quality --quick"), *second = program_start("bench quality --quick");
  cr_assert_eq(first->status, 0, "%s", first->errors);
  cr_expect(strstr(first->output, "as a multiple of the optimum for the same CPU") != NULL, "%s", first->output);
  cr_expect(strstr(first->output, "square-root  in every case") != NULL, "%s", first->output);
  cr_expect_str_eq(first->output, second->output);
  free(first);
  free(second);
}

Test(bench_quality, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS({"bench quality dispatch", 2, "'dispatch' is too many"},
                          {"bench quality --speed", 2, "unknown option --speed"},
                          {"bench quality --seed x", 2, "--seed is 'x'"},
                          {"bench quality --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
