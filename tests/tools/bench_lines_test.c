/* `muster bench lines`, as the program tells it. Each run counts planted accesses first and fails when it does not find
 * exactly their lines. */
#include "program.h"

enum { ROWS = 4 };

/* With 5,000 agents asked for. */
static const struct {
  const char *name;
  double agents;
} expected[ROWS] = {{"tenth-fits", 500}, {"all-fit", 5000}, {"pressure-4", 5000}, {"backlog-4", 5000}};

static const char *const parts[] = {"intake", "score", "fold", "fit", "release", "rank", "run", "commit", "around"};

enum { PARTS = COUNT_OF(parts) };

static json_t *structure_in(json_t *row, const char *name) {
  json_t *found = program_find(program_member(row, "structures"), "name", name, NULL, NULL);
  cr_assert_not_null(found, "%s is not listed", name);
  return found;
}

/* A line that several parts touch counts once in all of them: these have at least the lines of the largest part, and at
 * most the sum of all parts. */
static void expect_lines(json_t *lines) {
  double sum = 0, most = 0, all = program_amount(lines, "all_but_run");
  for (size_t i = 0; i < PARTS; i++) {
    double value = program_amount(lines, parts[i]);
    if (strcmp(parts[i], "run") == 0) continue;
    sum += value;
    if (value > most) most = value;
  }
  cr_expect(all >= most - 1e-9 && all <= sum + 1e-9, "%g lines of parts up to %g, %g in all", all, most, sum);
}

/* No line is of two structures. */
static void expect_structures(json_t *row) {
  double sums[PARTS + 1] = {0};
  PROGRAM_EACH(i, structure, program_member(row, "structures")) {
    expect_lines(structure);
    for (size_t part = 0; part < PARTS; part++) sums[part] += program_amount(structure, parts[part]);
    sums[PARTS] += program_amount(structure, "all_but_run");
  }
  json_t *lines = program_member(row, "lines_per_update");
  expect_lines(lines);
  for (size_t part = 0; part < PARTS; part++) cr_expect_float_eq(sums[part], program_amount(lines, parts[part]), 1e-6);
  cr_expect_float_eq(sums[PARTS], program_amount(lines, "all_but_run"), 1e-6);
}

Test(bench_lines, lists_the_lines_of_every_structure_and_their_sum) {
  json_auto_t *json = program_json("bench lines --quick --agents 5000 --json -");
  PROGRAM_EACH(i, row, program_list(json, "rows", ROWS)) {
    cr_expect_str_eq(program_text(row, "name"), expected[i].name);
    PROGRAM_EXPECT_VALUES(row, {"agents", expected[i].agents}, {"frames", 3});
    PROGRAM_EXPECT_POSITIVE(row, "updates_per_frame", "budget_ns");
    expect_structures(row);
  }
  PROGRAM_EXPECT_VALUES(json, {"agents", 5000}, {"line_bytes", 64});
}

/* Of a world in which every agent runs in every frame it is known what is touched: an update has one row, which is a
 * line, in each of these stages, and half a line of places. */
Test(bench_lines, counts_a_row_for_each_update) {
  json_auto_t *json = program_json("bench lines --quick --agents 20000 --only tenth-fits --json -");
  json_t *row = program_at(json, "rows", 0);
  json_t *agents = structure_in(row, "agents/store.c rows");
  cr_assert_eq(program_number(row, "updates_per_frame"), 2000);
  static const char *const stages[] = {"release", "rank", "run", "commit", "all_but_run"};
  for (size_t i = 0; i < COUNT_OF(stages); i++)
    cr_expect_float_eq(program_amount(agents, stages[i]), 1, 0.01, "%s: %g", stages[i],
                       program_amount(agents, stages[i]));
  cr_expect_eq(program_amount(agents, "fold"), 0);
  cr_expect_eq(program_amount(agents, "fit"), 0);
  cr_expect_float_eq(program_amount(structure_in(row, "agents/store.c places"), "run"), 0.5, 0.01);
}

Test(bench_lines, prints_a_table_of_each_wanted_row) {
  SCOPED_RUN *run = program_good("bench lines --quick --agents 1000 --only backlog-4,all-fit");
  PROGRAM_EXPECT_SAYS(run->output, "all-fit: 1,000 agents, ", "backlog-4: 1,000 agents, ", "quick: figures mean little",
                      "commit   around  all but run", "plan/looks.c all_slots");
  PROGRAM_EXPECT_NEVER(run->output, "tenth-fits", "pressure-4", "meanwhile");
}

/* The others, of which there may be none, are one row. */
static void expect_table(json_t *row, const char *table) {
  int others = 0;
  PROGRAM_EACH(i, structure, program_member(row, "structures")) {
    const char *name = program_text(structure, "name");
    bool shown = program_amount(structure, "all_but_run") >= 0.005 || program_amount(structure, "run") >= 0.005;
    cr_expect_eq(strstr(table, formed("\n  %s ", name)) != NULL, shown, "%s: %s", name, table);
    others += !shown;
  }
  cr_expect_eq(strstr(table, formed("\n  %d more ", others)) != NULL, others > 0, "%d others: %s", others, table);
  cr_expect_eq(program_count(table, " more "), others > 0);
}

/* Among these numbers of agents are such that no structure is left for the row of the others, mostly. */
Test(bench_lines, prints_a_row_of_each_structure_with_enough_lines_and_one_of_all_others) {
  static const int agents[] = {1001, 1100, 1300};
  for (size_t i = 0; i < COUNT_OF(agents); i++) {
    json_auto_t *json = NULL;
    SCOPED_RUN *run = program_both(formed("bench lines --quick --only tenth-fits --agents %d", agents[i]), &json);
    expect_table(program_at(json, "rows", 0), run->output);
  }
}

Test(bench_lines, has_few_agents_where_it_is_to_be_quick_and_says_so) {
  json_auto_t *json = program_json("bench lines --quick --only tenth-fits --json -");
  PROGRAM_EXPECT_VALUES(json, {"agents", 10000});
  cr_expect(program_true(json, "quick"));
  cr_expect_null(json_object_get(json, "others_cpu_share"), "others change nothing that is counted");
}

Test(bench_lines, explains_itself) {
  PROGRAM_EXPECT_TELLINGS({"bench --help", "how many cache lines"}, {"bench lines --help", "--only ROW"},
                          {"bench lines --help", "How it is counted"});
}

Test(bench_lines, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("lines", "stages", {"--only all-fit,burst", 2, "unknown row 'burst'"},
                        {"--agents 999", 2, "--agents is '999'; give a whole number from 1000 to"});
  PROGRAM_EXPECT_REFUSALS({"bench line", 2, "did you mean 'lines'"});
}
