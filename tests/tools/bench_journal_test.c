/* `muster bench journal`, as the program tells it: structure and plausibility of the figures. How much it costs is not
 * tested: the machine that tests is busy with other tests. */
#include "program.h"

#include <math.h>

static double above_zero(json_t *row, const char *name) {
  double value = program_number(row, name);
  cr_expect(isfinite(value) && value > 0, "%s is %g", name, value);
  return value;
}

Test(bench_journal, tells_what_each_kind_of_journal_costs_and_what_a_recovery_takes) {
  static const char *const names[] = {"without", "none", "second", "frame"};
  json_t *json = program_json("bench journal --quick --agents 1500 --workers 2 --frames 15 --folder /tmp --json -");
  json_t *rows = program_member(json, "rows"), *recovery = program_member(json, "recovery");
  cr_expect_eq(program_number(json, "agents"), 1500);
  cr_expect_eq(program_number(json, "workers"), 2);
  cr_expect(isfinite(program_number(json, "lost_share")));
  cr_assert_eq(json_array_size(rows), 4);
  for (size_t i = 0; i < 4; i++) {
    json_t *row = json_array_get(rows, i);
    cr_expect_str_eq(json_string_value(program_member(row, "journal")), names[i]);
    above_zero(row, "updates_per_frame");
    cr_expect_leq(above_zero(row, "lowest_ratio"), above_zero(row, "ratio"));
    cr_expect_leq(above_zero(row, "ratio"), above_zero(row, "highest_ratio"));
    if (i == 0) continue;
    above_zero(row, "bytes_per_frame");
    above_zero(row, "snapshots");
    above_zero(row, "snapshot_bytes");
  }
  cr_expect_geq(program_number(recovery, "frames"), 0);
  above_zero(recovery, "predicted_ns");
  above_zero(recovery, "took_ns");
  json_decref(json);
}

Test(bench_journal, prints_a_table_and_says_what_was_not_kept) {
  json_t *json;
  program_run *run = program_kept("bench journal --quick --agents 1500 --workers 2 --frames 15 --folder /tmp", &json);
  static const char *const begins[] = {"\nwithout ", "\nnone ",           "\nsecond ",
                                       "\nframe ",   "\na snapshot has ", "\na recovery of "};
  for (size_t i = 0; i < sizeof begins / sizeof *begins; i++)
    cr_expect(strstr(run->output, begins[i]), "'%s' is not in: %s", begins[i], run->output);
  bool holds = json_is_true(program_member(json_array_get(program_member(json, "rows"), 1), "holds"));
  cr_expect_eq(strstr(run->output, "the journal said that it cannot keep its bound") == NULL, holds, "%s", run->output);
  json_decref(json);
  free(run);
}

Test(bench_journal, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS({"bench journal sets", 2, "'sets' is too many"},
                          {"bench journal --speed", 2, "unknown option --speed"},
                          {"bench journal --agents 10", 2, "--agents is '10'"},
                          {"bench journal --quick --folder /nowhere/at-all", 1, "/nowhere/at-all"},
                          {"bench journal --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
