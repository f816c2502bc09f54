/* `muster bench cores`, as the program tells it: structure and plausibility of the rows. How fast anything is, is not
 * tested: the machine that tests is busy with other tests. */
#include "program.h"

#include <math.h>

static double number_in(json_t *row, const char *name) {
  double value = program_number(row, name);
  cr_expect(isfinite(value) && value >= 0, "%s is %g", name, value);
  return value;
}

static void expect_counts(json_t *row, double processors) {
  size_t i;
  json_t *count, *counts = program_member(row, "workers");
  cr_assert_eq(json_array_size(counts), 9);
  json_array_foreach(counts, i, count) {
    double workers = program_number(count, "workers");
    cr_expect_eq(workers, 1u << i);
    cr_expect_gt(number_in(count, "model_ns_per_update"), 0);
    cr_expect_gt(number_in(count, "speedup"), 0);
    cr_expect_gt(number_in(count, "pessimistic_speedup"), 0);
    cr_expect_eq(json_object_get(count, "measured_ns_per_update") != NULL, workers <= processors || workers == 1);
    cr_expect_eq(json_object_get(count, "within") != NULL, workers > 1 && workers <= processors);
  }
}

static void expect_stretches(json_t *row) {
  size_t i;
  json_t *stretch;
  double serial_ns = 0;
  bool claims = false;
  json_array_foreach(program_member(row, "stretches"), i, stretch) {
    const char *what = json_string_value(program_member(stretch, "what"));
    claims |= strcmp(what, "claims") == 0 && json_is_true(program_member(stretch, "shared"));
    serial_ns += number_in(stretch, "serial_ns");
    cr_expect_leq(number_in(stretch, "serial_ns"), number_in(stretch, "wall_ns") + 1e-6, "%s", what);
  }
  cr_expect(claims, "no claims were recorded");
  cr_expect_gt(serial_ns, 0);
}

Test(bench_cores, has_a_prediction_for_each_number_of_workers_and_says_where_time_goes) {
  static const char *const names[] = {"fixed-1us-7k", "wildlife-60k"};
  size_t i;
  json_t *row, *json = program_json("bench cores --quick --only wildlife-60k,fixed-1us-7k --json -");
  json_t *rows = program_member(json, "rows"), *costs = program_member(json, "costs");
  double processors = number_in(json, "processors");
  cr_assert_eq(json_array_size(rows), 2);
  json_array_foreach(rows, i, row) {
    cr_expect_str_eq(json_string_value(program_member(row, "name")), names[i]);
    cr_expect_gt(number_in(row, "updates_per_frame"), 0);
    cr_expect_eq(json_object_get(row, "moved_ns_per_update") != NULL, processors > 1);
    cr_expect_eq(program_number(row, "target_workers"), 64);
    cr_expect_eq(json_array_size(program_member(row, "stages")), 8);
    number_in(row, "serial_ns");
    expect_counts(row, processors);
    expect_stretches(row);
  }
  cr_expect_gt(number_in(costs, "wake_ns"), 0);
  cr_expect_gt(number_in(costs, "take_ns"), 0);
  cr_expect(program_number(json, "others_cpu_share") >= 0);
  json_decref(json);
}

Test(bench_cores, prints_tables_and_verdicts) {
  static const char *const words[] = {"quick: figures mean little",
                                      "times as fast",
                                      "moved",
                                      "memory bandwidth",
                                      "2, model",
                                      "by 1, in",
                                      "serial rest",
                                      "64 workers: ",
                                      "meanwhile other proc"};
  program_run *run = program_start("bench cores --quick --only fixed-1us-7k --runs 2");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    cr_expect(strstr(run->output, words[i]) != NULL, "'%s' is missing: %s", words[i], run->output);
  free(run);
}

Test(bench_cores, checks_that_more_workers_than_processors_come_to_the_same_world) {
  json_t *row, *json = program_json("bench cores --quick --workers 64 --json -");
  size_t i;
  cr_assert_eq(json_array_size(program_member(json, "rows")), 6);
  json_array_foreach(program_member(json, "rows"), i, row) cr_expect(json_is_true(program_member(row, "same")));
  cr_expect_eq(program_number(json, "workers"), 64);
  json_decref(json);
  program_run *run = program_start("bench cores --quick --workers 3 --only wildlife-7k");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->output, "no speed is measured") && strstr(run->output, "the same"), "%s", run->output);
  free(run);
}

Test(bench_cores, explains_itself) {
  static const char *const lines[] = {"bench --help", "bench cores --help", "bench cores --help"};
  static const char *const tells[] = {"what frames would take on more processors", "--workers N", "Not in the model"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    program_run *run = program_start(lines[i]);
    cr_assert_eq(run->status, 0);
    cr_expect(strstr(run->output, tells[i]) != NULL, "muster %s prints: %s", lines[i], run->output);
    free(run);
  }
}

Test(bench_cores, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"bench cores scale", 2, "'scale' is too many"}, {"bench cores --speed", 2, "unknown option --speed"},
      {"bench cores --only fixed-1us-7k,idle", 2, "unknown row 'idle'"},
      {"bench cores --workers 1", 2, "--workers is '1'"}, {"bench cores --workers 257", 2, "from 2 to 256"},
      {"bench cores --workers 4 --plots /tmp", 2, "--workers measures nothing"},
      {"bench cores --runs 0", 2, "--runs is '0'"}, {"bench cores --runs 33", 2, "from 1 to 32"},
      {"bench cores --quick=yes", 2, "takes no value"},
      {"bench cores --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"},
      {"bench core", 2, "did you mean 'cores'"});
}
