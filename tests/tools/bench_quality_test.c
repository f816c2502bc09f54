/* `muster bench quality`: virtual time, so the figures are the same everywhere and can be tested. */
#include "program.h"

static const char *const crowds[] = {"uniform", "mixed", "dense", "patient", "spawns"};
static const double shares[] = {0.6, 0.3, 0.1, 0.03, 0.01};
static const char *const rules[] = {"importance", "importance-6", "square-root", "elastic", "round-robin", "distance"};

enum { CROWDS = COUNT_OF(crowds), SHARES = COUNT_OF(shares), RULES = COUNT_OF(rules), JUDGES = 2 };

static const int octaves[JUDGES] = {12, 6};

/* The row of a crowd, a share of the CPU and a rule, by one of the judges. */
static json_t *row_of(json_t *json, const char *crowd, double cpu, const char *rule, size_t judge) {
  PROGRAM_EACH(i, row, program_member(json, "rows")) {
    bool same_crowd = strcmp(program_text(row, "crowd"), crowd) == 0;
    bool same_rule = strcmp(program_text(row, "rule"), rule) == 0;
    bool same_judge = (int)program_number(row, "octaves") == octaves[judge];
    if (same_crowd && same_rule && same_judge && program_number(row, "cpu") == cpu) return row;
  }
  cr_assert_fail("there is no row of %s at %g under %s", crowd, cpu, rule);
  return NULL;
}

static double ratio_of(json_t *json, const char *crowd, double cpu, const char *rule, size_t judge) {
  return program_number(row_of(json, crowd, cpu, rule, judge), "ratio");
}

/* The papers' order starts the update that crosses the end of a frame, and frames are short here. */
static void expect_row(json_t *row) {
  const char *crowd = program_text(row, "crowd");
  const char *rule = program_text(row, "rule");
  double used = program_number(row, "cpu_used_share");
  cr_expect(used > 0.9 && used < 1.02, "%s, %s at %g used %g of its CPU", crowd, rule, program_number(row, "cpu"),
            used);
  cr_expect_geq(program_number(row, "ratio"), 0.98, "%s beats the optimum", rule);
  cr_expect_geq(program_number(row, "wish_ratio"), 0.999);
  cr_expect_gt(program_number(row, "staleness_ns"), 0);
}

/* Without the price of the longest periods, too, but where more than half of all matter and wishes may take a half: in
 * the dense crowd, and in the little village, whose spawns have one observer for a few agents. */
static void expect_near(json_t *json, const char *crowd, double cpu, size_t judge) {
  const char *own = rules[judge];
  json_t *row = row_of(json, crowd, cpu, own, judge);
  double ratio = program_number(row, "ratio"), wish = program_number(row, "wish_ratio");
  cr_expect_leq(ratio, 1.10 * wish, "%s at %g, %s: %g where the wish costs %g", crowd, cpu, own, ratio, wish);
  bool many_matter = strcmp(crowd, "dense") == 0 || strcmp(crowd, "spawns") == 0;
  if (!many_matter) cr_expect_leq(ratio, 1.10, "%s at %g, %s", crowd, cpu, own);
  for (size_t rule = 0; rule < RULES; rule++) {
    double other = ratio_of(json, crowd, cpu, rules[rule], judge);
    cr_expect_geq(other, 0.99 * ratio, "%s at %g: %s is fresher than %s", crowd, cpu, rules[rule], own);
  }
}

/* By their own weights the papers' rules are good while the longest periods fit, and a round robin beyond. */
static void expect_rules_apart(json_t *json) {
  cr_expect_leq(ratio_of(json, "uniform", 0.3, "square-root", 1), 1.05);
  double beyond = ratio_of(json, "uniform", 0.01, "square-root", 1);
  cr_expect_geq(beyond, 1.2, "beyond pressure 1 it is a round robin: %g", beyond);
  cr_expect_float_eq(beyond, ratio_of(json, "uniform", 0.01, "round-robin", 1), 0.1 * beyond);
  cr_expect_geq(ratio_of(json, "uniform", 0.01, "elastic", 0), 5.0);
  cr_expect_geq(ratio_of(json, "uniform", 0.01, "importance-6", 0), 1.5, "the judges are two");
  cr_expect_geq(program_number(row_of(json, "dense", 0.01, "importance", 0), "wish_ratio"), 1.1);
}

/* One run, which takes its time: every rule gets the same CPU, and none beats the optimum; the law of importance is
 * near it at every load, and no rule is fresher. */
Test(bench_quality, shows_the_law_of_importance_near_the_optimum_and_tells_the_rules_apart) {
  json_auto_t *json =
      program_json("bench quality --quick --spawns " MUSTER_SOURCE_DIR "/src/scenarios/village.csv --json -");
  PROGRAM_EACH(i, row, program_list(json, "rows", CROWDS * SHARES * RULES * JUDGES)) expect_row(row);
  cr_expect(program_true(json, "reaches_target"));
  for (size_t judge = 0; judge < JUDGES; judge++)
    for (size_t crowd = 0; crowd < CROWDS; crowd++)
      for (size_t share = 0; share < SHARES; share++) expect_near(json, crowds[crowd], shares[share], judge);
  expect_rules_apart(json);
}

Test(bench_quality, prints_a_table_and_is_the_same_every_time) {
  static const char command[] = "bench quality --quick --crowd uniform";
  SCOPED_RUN *first = program_good(command), *second = program_good(command);
  PROGRAM_EXPECT_SAYS(first->output, "as a multiple of the optimum for the same CPU",
                      "importance   judged by k = 12 in every case",
                      "No spawn file: --spawns FILE.csv measures one, too.");
  cr_expect_str_eq(first->output, second->output);
  cr_expect_eq(program_count(first->output, " judged by k = "), JUDGES, "%s", first->output);
}

/* The optimum goes by the means, which are the same; and the rule of distance goes by no costs at all. */
Test(bench_quality, shows_the_law_near_the_optimum_with_costs_that_vary_too) {
#define VARIED "bench quality --quick --crowd uniform --json - --costs "
  json_auto_t *constant = program_json(VARIED "constant"), *varied = program_json(VARIED "log-normal");
  cr_expect_str_eq(program_text(varied, "costs"), "log-normal");
  cr_expect(program_true(varied, "reaches_target"));
  PROGRAM_EACH(i, row, program_member(varied, "rows")) {
    json_t *same = program_at(constant, "rows", i);
    expect_row(row);
    bool by_costs = strcmp(program_text(row, "rule"), "distance") != 0;
    cr_expect_eq(program_number(row, "ratio") != program_number(same, "ratio"), by_costs);
    cr_expect_neq(program_number(row, "cpu_used_share"), program_number(same, "cpu_used_share"));
    cr_expect_float_eq(program_number(row, "optimum_ns"), program_number(same, "optimum_ns"), 1);
  }
}

Test(bench_quality, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("quality", "dispatch", {"--crowd town", 2, "unknown crowd 'town'"},
                        {"--crowd spawns", 2, "--spawns FILE.csv"},
                        {"--spawns /nowhere.csv", 1, "cannot read '/nowhere.csv'"}, {"--seed x", 2, "--seed is 'x'"});
}
