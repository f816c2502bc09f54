/* `muster bench law`: virtual time, so the figures are the same everywhere and can be tested. */
#include "program.h"

enum { WORLDS = 2, LOADS = 2 };

static double of(json_t *row, const char *path) {
  return program_number(row, path);
}

static void expect_bands(json_t *row, double load) {
  json_t *band;
  size_t i;
  size_t compared = 0;
  double agents = 0;
  cr_assert_eq(json_array_size(program_member(row, "bands")), 5);
  json_array_foreach(program_member(row, "bands"), i, band) {
    agents += of(band, "agents");
    if (of(band, "stayed.runs") < 100) continue;
    compared++;
    cr_expect_leq(of(band, "stayed.agents"), of(band, "agents"));
    cr_expect_leq(of(band, "stayed.age_p99_ns"), of(band, "stayed.age_p99_most_ns"), "load %g, band %zu", load, i);
    cr_expect_float_eq(of(band, "stayed.interval_ns"), of(band, "stayed.period_ns"),
                       0.25 * of(band, "stayed.period_ns"), "load %g, band %zu", load, i);
  }
  cr_expect_geq(compared, 2);
  cr_expect_float_eq(agents, of(row, "agents"), 0.01 * agents);
}

/* Each bound anew, from the figures that the row has. */
static void expect_lawful(json_t *row) {
  double load = of(row, "load");
  cr_expect_float_eq(of(row, "pressure"), load, 0.4 * load, "load %g", load);
  cr_expect_geq(of(row, "important.agents"), 50);
  cr_expect_leq(of(row, "own_p50"), 1.2, "load %g", load);
  cr_expect_geq(of(row, "own_p50"), 0.8, "load %g", load);
  cr_expect_leq(of(row, "own_p99"), of(row, "own_p99_most"), "load %g", load);
  cr_expect_geq(of(row, "own_p99"), of(row, "own_p50"));
  cr_expect_leq(of(row, "important.interval_ns"), 1.15 * of(row, "important.period_ns"), "load %g", load);
  cr_expect_leq(of(row, "wait_ns"), of(row, "wait_bound_ns"), "load %g", load);
  cr_expect_gt(of(row, "wait_ns"), 0);
  cr_expect_eq(of(row, "idle_frames"), 0, "load %g", load);
  cr_expect_eq(of(row, "idle_windows"), 0, "load %g", load);
  cr_expect_eq(json_array_size(program_member(row, "misses")), 0);
  expect_bands(row, load);
}

static json_t *measure(void) {
  char path[] = "/tmp/muster-law-XXXXXX", line[128];
  json_error_t error;
  cr_assert_geq(mkstemp(path), 0);
  snprintf(line, sizeof line, "bench law --quick --json %s", path);
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->output, "\nwildlife       6    1 ") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "\n4 of 4 rows keep all of it\n") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "MISSES") == NULL, "%s", run->output);
  free(run);
  json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(json, "line %d: %s", error.line, error.text);
  remove(path);
  return json;
}

Test(bench_law, finds_that_small_worlds_keep_the_law_of_importance) {
  json_t *json = measure(), *row;
  size_t i;
  cr_expect_eq(program_number(json, "rows_missed"), 0);
  cr_assert_eq(json_array_size(program_member(json, "rows")), WORLDS * LOADS);
  json_array_foreach(program_member(json, "rows"), i, row) {
    cr_expect_str_eq(json_string_value(program_member(row, "world")), i < LOADS ? "wildlife" : "flashcrowd");
    cr_expect_eq(of(row, "load"), i % LOADS ? 6 : 1.5);
    cr_expect_eq(of(row, "own_p99_most"), i < LOADS ? 1.6 : 2.5);
    expect_lawful(row);
  }
  json_decref(json);
}

Test(bench_law, measures_a_spawn_file_at_the_loads_and_seeds_that_were_asked_for) {
  char line[512];
  snprintf(line, sizeof line, "bench law --quick --world spawns --spawns %s --load 0.7 --seeds 2-3 --json -",
           MUSTER_SOURCE_DIR "/src/scenarios/village.csv");
  program_run *run = program_start(line);
  json_t *json = json_loads(run->output, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(json, "%s", run->errors);
  json_t *rows = program_member(json, "rows");
  cr_assert_eq(json_array_size(rows), 2);
  for (size_t i = 0; i < 2; i++) {
    json_t *row = json_array_get(rows, i);
    cr_expect_str_eq(json_string_value(program_member(row, "world")), "spawns");
    cr_expect_float_eq(of(row, "agents"), 600, 1e-6);
    cr_expect_eq(of(row, "load"), 0.7);
    cr_expect_eq(of(row, "seed"), 2 + (double)i);
    /* The status and the complaint tell the same as the rows. */
    if (json_array_size(program_member(row, "misses"))) cr_expect_eq(run->status, 1);
  }
  cr_expect_eq(run->status, program_number(json, "rows_missed") > 0, "%s", run->errors);
  json_decref(json);
  free(run);
}

static json_t *measure_with(const char *costs) {
  char line[160];
  snprintf(line, sizeof line, "bench law --quick --world wildlife --agents 3000 --load 3 --costs %s --json -", costs);
  json_t *json = program_json(line);
  cr_expect_str_eq(json_string_value(program_member(json, "costs")), costs);
  cr_assert_eq(json_array_size(program_member(json, "rows")), 1);
  json_t *row = json_array_get(program_member(json, "rows"), 0);
  cr_expect_leq(of(row, "interval_over_period"), 1.15);
  cr_expect_leq(of(row, "own_p99"), 1.6);
  cr_expect_eq(of(row, "idle_frames") + of(row, "idle_windows"), 0);
  cr_expect_float_eq(of(row, "agents"), 3600, 600, "3,000 and their young");
  return json;
}

/* Of one capacity: costs that vary stretch periods by no more than a tenth beyond what those of the same mean do. */
Test(bench_law, finds_that_the_law_is_kept_with_costs_that_vary_too) {
  json_t *constant = measure_with("constant"), *varied = measure_with("log-normal");
  double constant_ns = of(json_array_get(program_member(constant, "rows"), 0), "period_deviation_ns");
  double varied_ns = of(json_array_get(program_member(varied, "rows"), 0), "period_deviation_ns");
  cr_expect_gt(constant_ns, 100e6);
  cr_expect_leq(varied_ns, 1.1 * constant_ns, "%g and %g ms", varied_ns * 1e-6, constant_ns * 1e-6);
  cr_expect_geq(varied_ns, 0.8 * constant_ns, "%g and %g ms", varied_ns * 1e-6, constant_ns * 1e-6);
  cr_expect_neq(varied_ns, constant_ns);
  json_decref(constant);
  json_decref(varied);
}

Test(bench_law, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"bench law dispatch", 2, "'dispatch' is too many"}, {"bench law --speed", 2, "unknown option --speed"},
      {"bench law --seed x", 2, "--seed is 'x'"}, {"bench law --agents 10", 2, "--agents is '10'"},
      {"bench law --seeds 5-1", 2, "--seeds is '1'"}, {"bench law --seeds 1-500", 2, "--seeds is '500'"},
      {"bench law --load 0", 2, "--load is '0'"}, {"bench law --world wildlive", 2, "did you mean 'wildlife'"},
      {"bench law --costs dear", 2, "--costs is 'dear': constant or log-normal"},
      {"bench law --world spawns", 2, "--spawns FILE.csv"},
      {"bench law --spawns /nowhere/n.csv", 1, "cannot read '/nowhere/n.csv'"},
      {"bench law --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
