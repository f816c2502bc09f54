/* `muster bench cores`, as the program tells it: structure and plausibility of the rows. How fast anything is, is not
 * tested: the machine that tests is busy with other tests. */
#include "program.h"

static void expect_counts(json_t *row, double processors) {
  PROGRAM_EACH(i, count, program_list(row, "workers", 9)) {
    double workers = program_number(count, "workers");
    cr_expect_eq(workers, 1u << i);
    PROGRAM_EXPECT_POSITIVE(count, "model_ns_per_update", "speedup", "pessimistic_speedup");
    cr_expect_eq(json_object_get(count, "measured_ns_per_update") != NULL, workers <= processors || workers == 1);
    cr_expect_eq(json_object_get(count, "within") != NULL, workers > 1 && workers <= processors);
  }
}

static void expect_stretches(json_t *row) {
  double serial_ns = 0;
  bool claims = false;
  PROGRAM_EACH(i, stretch, program_member(row, "stretches")) {
    const char *what = program_text(stretch, "what");
    claims |= strcmp(what, "claims") == 0 && program_true(stretch, "shared");
    serial_ns += program_amount(stretch, "serial_ns");
    cr_expect_leq(program_amount(stretch, "serial_ns"), program_amount(stretch, "wall_ns") + 1e-6, "%s", what);
  }
  cr_expect(claims, "no claims were recorded");
  cr_expect_gt(serial_ns, 0);
}

Test(bench_cores, has_a_prediction_for_each_number_of_workers_and_says_where_time_goes) {
  static const char *const names[] = {"fixed-1us-7k", "wildlife-60k"};
  json_auto_t *json = program_json("bench cores --quick --only wildlife-60k,fixed-1us-7k --json -");
  json_t *costs = program_member(json, "costs");
  double processors = program_amount(json, "processors");
  PROGRAM_EACH(i, row, program_list(json, "rows", 2)) {
    cr_expect_str_eq(program_text(row, "name"), names[i]);
    program_positive(row, "updates_per_frame");
    cr_expect_eq(json_object_get(row, "moved_ns_per_update") != NULL, processors > 1);
    cr_expect_eq(program_number(row, "target_workers"), 64);
    program_list(row, "stages", 8);
    program_amount(row, "serial_ns");
    expect_counts(row, processors);
    expect_stretches(row);
  }
  PROGRAM_EXPECT_POSITIVE(costs, "wake_ns", "take_ns");
  program_amount(json, "others_cpu_share");
}

Test(bench_cores, prints_tables_and_verdicts) {
  PROGRAM_EXPECT_PRINTS("bench cores --quick --only fixed-1us-7k --runs 2", "quick: figures mean little",
                        "times as fast", "moved", "memory bandwidth", "2, model", "by 1, in", "serial rest",
                        "64 workers: ", "meanwhile other proc");
}

Test(bench_cores, checks_that_more_workers_than_processors_come_to_the_same_world) {
  json_auto_t *json = program_json("bench cores --quick --workers 64 --json -");
  PROGRAM_EACH(i, row, program_list(json, "rows", 6)) cr_expect(program_true(row, "same"));
  cr_expect_eq(program_number(json, "workers"), 64);
  PROGRAM_EXPECT_PRINTS("bench cores --quick --workers 3 --only wildlife-7k", "no speed is measured", "the same");
}

Test(bench_cores, explains_itself) {
  PROGRAM_EXPECT_TELLINGS({"bench --help", "what frames would take on more processors"},
                          {"bench cores --help", "--workers N"}, {"bench cores --help", "Not in the model"});
}

Test(bench_cores, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("cores", "scale", {"--only fixed-1us-7k,idle", 2, "unknown row 'idle'"},
                        {"--workers 1", 2, "--workers is '1'"}, {"--workers 257", 2, "from 2 to 256"},
                        {"--workers 4 --plots /tmp", 2, "--workers measures nothing"}, {"--runs 0", 2, "--runs is '0'"},
                        {"--runs 33", 2, "from 1 to 32"}, {"--quick=yes", 2, "takes no value"});
  PROGRAM_EXPECT_REFUSALS({"bench core", 2, "did you mean 'cores'"});
}
