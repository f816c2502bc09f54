/* `muster bench law`: virtual time, so the figures are the same everywhere and can be tested. */
#include "program.h"

enum { WORLDS = 2, LOADS = 2 };

static void expect_bands(json_t *row, double load) {
  size_t compared = 0;
  double agents = 0;
  PROGRAM_EACH(i, band, program_list(row, "bands", 5)) {
    agents += program_number(band, "agents");
    if (program_number(band, "stayed.runs") < 100) continue;
    compared++;
    cr_expect_leq(program_number(band, "stayed.agents"), program_number(band, "agents"));
    cr_expect_leq(program_number(band, "stayed.age_p99_ns"), program_number(band, "stayed.age_p99_most_ns"),
                  "load %g, band %zu", load, i);
    cr_expect_float_eq(program_number(band, "stayed.interval_ns"), program_number(band, "stayed.period_ns"),
                       0.25 * program_number(band, "stayed.period_ns"), "load %g, band %zu", load, i);
  }
  cr_expect_geq(compared, 2);
  cr_expect_float_eq(agents, program_number(row, "agents"), 0.01 * agents);
}

/* Each bound anew, from the figures that the row has. */
static void expect_lawful(json_t *row) {
  double load = program_number(row, "load");
  cr_expect_float_eq(program_number(row, "pressure"), load, 0.4 * load, "load %g", load);
  cr_expect_geq(program_number(row, "important.agents"), 50);
  cr_expect_leq(program_number(row, "own_p50"), 1.2, "load %g", load);
  cr_expect_geq(program_number(row, "own_p50"), 0.8, "load %g", load);
  cr_expect_leq(program_number(row, "own_p99"), program_number(row, "own_p99_most"), "load %g", load);
  cr_expect_geq(program_number(row, "own_p99"), program_number(row, "own_p50"));
  cr_expect_leq(program_number(row, "important.interval_ns"), 1.15 * program_number(row, "important.period_ns"),
                "load %g", load);
  cr_expect_leq(program_number(row, "wait_ns"), program_number(row, "wait_bound_ns"), "load %g", load);
  cr_expect_gt(program_number(row, "wait_ns"), 0);
  cr_expect_eq(program_number(row, "idle_frames"), 0, "load %g", load);
  cr_expect_eq(program_number(row, "idle_windows"), 0, "load %g", load);
  program_list(row, "misses", 0);
  expect_bands(row, load);
}

static json_t *measure(void) {
  json_t *json;
  SCOPED_RUN *run = program_both("bench law --quick", &json);
  PROGRAM_EXPECT_SAYS(run->output, "\nwildlife       6    1 ", "\n4 of 4 rows keep all of it\n");
  PROGRAM_EXPECT_NEVER(run->output, "MISSES");
  return json;
}

Test(bench_law, finds_that_small_worlds_keep_the_law_of_importance) {
  json_auto_t *json = measure();
  cr_expect_eq(program_number(json, "rows_missed"), 0);
  PROGRAM_EACH(i, row, program_list(json, "rows", WORLDS * LOADS)) {
    cr_expect_str_eq(program_text(row, "world"), i < LOADS ? "wildlife" : "flashcrowd");
    PROGRAM_EXPECT_VALUES(row, {"load", i % LOADS ? 6 : 1.5}, {"own_p99_most", i < LOADS ? 1.6 : 2.5});
    expect_lawful(row);
  }
}

Test(bench_law, measures_a_spawn_file_at_the_loads_and_seeds_that_were_asked_for) {
  const char *line = formed("bench law --quick --world spawns --spawns %s --load 0.7 --seeds 2-3 --json -",
                            MUSTER_SOURCE_DIR "/src/scenarios/village.csv");
  SCOPED_RUN *run = program_start(line);
  json_auto_t *json = json_loads(run->output, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(json, "%s", run->errors);
  json_t *rows = program_list(json, "rows", 2);
  PROGRAM_EACH(i, row, rows) {
    cr_expect_str_eq(program_text(row, "world"), "spawns");
    cr_expect_float_eq(program_number(row, "agents"), 600, 1e-6);
    PROGRAM_EXPECT_VALUES(row, {"load", 0.7}, {"seed", 2 + (double)i});
    /* The status and the complaint tell the same as the rows. */
    if (json_array_size(program_member(row, "misses"))) cr_expect_eq(run->status, 1);
  }
  cr_expect_eq(run->status, program_number(json, "rows_missed") > 0, "%s", run->errors);
}

static json_t *measure_with(const char *costs) {
  json_t *json =
      program_json(formed("bench law --quick --world wildlife --agents 3000 --load 3 --costs %s --json -", costs));
  cr_expect_str_eq(program_text(json, "costs"), costs);
  json_t *row = json_array_get(program_list(json, "rows", 1), 0);
  cr_expect_leq(program_number(row, "interval_over_period"), 1.15);
  cr_expect_leq(program_number(row, "own_p99"), 1.6);
  cr_expect_eq(program_number(row, "idle_frames") + program_number(row, "idle_windows"), 0);
  cr_expect_float_eq(program_number(row, "agents"), 3600, 600, "3,000 and their young");
  return json;
}

/* Of one capacity: costs that vary stretch periods by no more than a tenth beyond what those of the same mean do. */
Test(bench_law, finds_that_the_law_is_kept_with_costs_that_vary_too) {
  json_auto_t *constant = measure_with("constant"), *varied = measure_with("log-normal");
  double constant_ns = program_number(program_at(constant, "rows", 0), "period_deviation_ns");
  double varied_ns = program_number(program_at(varied, "rows", 0), "period_deviation_ns");
  cr_expect_gt(constant_ns, 100e6);
  cr_expect_leq(varied_ns, 1.1 * constant_ns, "%g and %g ms", varied_ns * 1e-6, constant_ns * 1e-6);
  cr_expect_geq(varied_ns, 0.8 * constant_ns, "%g and %g ms", varied_ns * 1e-6, constant_ns * 1e-6);
  cr_expect_neq(varied_ns, constant_ns);
}

Test(bench_law, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("law", "dispatch", {"--seed x", 2, "--seed is 'x'"}, {"--agents 10", 2, "--agents is '10'"},
                        {"--seeds 5-1", 2, "--seeds is '1'"}, {"--seeds 1-500", 2, "--seeds is '500'"},
                        {"--load 0", 2, "--load is '0'"}, {"--world wildlive", 2, "did you mean 'wildlife'"},
                        {"--costs dear", 2, "--costs is 'dear': constant or log-normal"},
                        {"--world spawns", 2, "--spawns FILE.csv"},
                        {"--spawns /nowhere/n.csv", 1, "cannot read '/nowhere/n.csv'"});
}
