/* `muster bench lines`, as the program tells it. Each run counts planted accesses first and fails when it does not find
 * exactly their lines. */
#include "program.h"

#include <math.h>

enum { ROWS = 4 };

/* With 5,000 agents asked for. */
static const struct {
  const char *name;
  double agents;
} expected[ROWS] = {{"tenth-fits", 500}, {"all-fit", 5000}, {"pressure-4", 5000}, {"backlog-4", 5000}};

static const char *const parts[] = {"intake", "score", "fold", "fit", "release", "rank", "run", "commit", "around"};

enum { PARTS = sizeof parts / sizeof *parts };

static double number_in(json_t *lines, const char *name) {
  double value = program_number(lines, name);
  cr_expect(isfinite(value) && value >= 0, "%s is %g", name, value);
  return value;
}

static json_t *structure_in(json_t *row, const char *name) {
  json_t *structures = program_member(row, "structures"), *found = NULL;
  for (size_t i = 0; i < json_array_size(structures); i++) {
    json_t *structure = json_array_get(structures, i);
    if (strcmp(json_string_value(program_member(structure, "name")), name) == 0) found = structure;
  }
  cr_assert_not_null(found, "%s is not listed", name);
  return found;
}

/* A line that several parts touch counts once in all of them: these have at least the lines of the largest part, and at
 * most the sum of all parts. */
static void expect_lines(json_t *lines) {
  double sum = 0, most = 0, all = number_in(lines, "all_but_run");
  for (size_t i = 0; i < PARTS; i++) {
    double value = number_in(lines, parts[i]);
    if (strcmp(parts[i], "run") == 0) continue;
    sum += value;
    if (value > most) most = value;
  }
  cr_expect(all >= most - 1e-9 && all <= sum + 1e-9, "%g lines of parts up to %g, %g in all", all, most, sum);
}

/* No line is of two structures. */
static void expect_structures(json_t *row) {
  double sums[PARTS + 1] = {0};
  size_t i;
  json_t *structure;
  json_array_foreach(program_member(row, "structures"), i, structure) {
    expect_lines(structure);
    for (size_t part = 0; part < PARTS; part++) sums[part] += number_in(structure, parts[part]);
    sums[PARTS] += number_in(structure, "all_but_run");
  }
  json_t *lines = program_member(row, "lines_per_update");
  expect_lines(lines);
  for (size_t part = 0; part < PARTS; part++) cr_expect_float_eq(sums[part], number_in(lines, parts[part]), 1e-6);
  cr_expect_float_eq(sums[PARTS], number_in(lines, "all_but_run"), 1e-6);
}

Test(bench_lines, lists_the_lines_of_every_structure_and_their_sum) {
  size_t i;
  json_t *row, *json = program_json("bench lines --quick --agents 5000 --json -");
  json_t *rows = program_member(json, "rows");
  cr_assert_eq(json_array_size(rows), ROWS);
  json_array_foreach(rows, i, row) {
    cr_expect_str_eq(json_string_value(program_member(row, "name")), expected[i].name);
    cr_expect_eq(program_number(row, "agents"), expected[i].agents);
    cr_expect_gt(program_number(row, "updates_per_frame"), 0);
    cr_expect_eq(program_number(row, "frames"), 3);
    cr_expect_gt(program_number(row, "budget_ns"), 0);
    expect_structures(row);
  }
  cr_expect_eq(program_number(json, "agents"), 5000);
  cr_expect_eq(program_number(json, "line_bytes"), 64);
  json_decref(json);
}

/* Of a world in which every agent runs in every frame it is known what is touched: an update has one row, which is a
 * line, in each of these stages, and half a line of places. */
Test(bench_lines, counts_a_row_for_each_update) {
  json_t *json = program_json("bench lines --quick --agents 20000 --only tenth-fits --json -");
  json_t *row = json_array_get(program_member(json, "rows"), 0);
  json_t *agents = structure_in(row, "agents/store.c rows");
  cr_assert_eq(program_number(row, "updates_per_frame"), 2000);
  static const char *const stages[] = {"release", "rank", "run", "commit", "all_but_run"};
  for (size_t i = 0; i < sizeof stages / sizeof *stages; i++)
    cr_expect_float_eq(number_in(agents, stages[i]), 1, 0.01, "%s: %g", stages[i], number_in(agents, stages[i]));
  cr_expect_eq(number_in(agents, "fold"), 0);
  cr_expect_eq(number_in(agents, "fit"), 0);
  cr_expect_float_eq(number_in(structure_in(row, "agents/store.c places"), "run"), 0.5, 0.01);
  json_decref(json);
}

Test(bench_lines, prints_a_table_of_each_wanted_row) {
  program_run *run = program_start("bench lines --quick --agents 1000 --only backlog-4,all-fit");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->output, "all-fit: 1,000 agents, ") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "backlog-4: 1,000 agents, ") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "tenth-fits") == NULL && strstr(run->output, "pressure-4") == NULL);
  cr_expect(strstr(run->output, "quick: figures mean little") != NULL);
  cr_expect(strstr(run->output, "commit   around  all but run") != NULL);
  cr_expect(strstr(run->output, "plan/looks.c all_slots") != NULL, "what agents are looked at by: %s",
            run->output);
  free(run);
}

Test(bench_lines, explains_itself) {
  static const char *const lines[] = {"bench --help", "bench lines --help", "bench lines --help"};
  static const char *const tells[] = {"how many cache lines", "--only ROW", "How it is counted"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    program_run *run = program_start(lines[i]);
    cr_assert_eq(run->status, 0);
    cr_expect(strstr(run->output, tells[i]) != NULL, "muster %s prints: %s", lines[i], run->output);
    free(run);
  }
}

Test(bench_lines, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS({"bench lines stages", 2, "'stages' is too many"},
                          {"bench lines --speed", 2, "unknown option --speed"},
                          {"bench lines --only all-fit,burst", 2, "unknown row 'burst'"},
                          {"bench lines --agents 999", 2, "--agents is '999'; give a whole number from 1000 to"},
                          {"bench lines --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"},
                          {"bench line", 2, "did you mean 'lines'"});
}
