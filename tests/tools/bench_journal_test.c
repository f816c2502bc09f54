/* `muster bench journal`, as the program tells it: structure and plausibility of the figures. How much it costs is not
 * tested: the machine that tests is busy with other tests. */
#include "program.h"

Test(bench_journal, tells_what_each_kind_of_journal_costs_and_what_a_recovery_takes) {
  static const char *const names[] = {"without", "none", "second", "frame"};
  json_auto_t *json =
      program_json("bench journal --quick --agents 1500 --workers 2 --frames 15 --folder /tmp --json -");
  json_t *recovery = program_member(json, "recovery");
  PROGRAM_EXPECT_VALUES(json, {"agents", 1500}, {"workers", 2});
  cr_expect(isfinite(program_number(json, "lost_share")));
  PROGRAM_EACH(i, row, program_list(json, "rows", 4)) {
    cr_expect_str_eq(program_text(row, "journal"), names[i]);
    PROGRAM_EXPECT_POSITIVE(row, "updates_per_frame", "lowest_ratio", "ratio", "highest_ratio");
    PROGRAM_EXPECT_RISING(row, "lowest_ratio", "ratio", "highest_ratio");
    if (i == 0) continue;
    PROGRAM_EXPECT_POSITIVE(row, "bytes_per_frame", "snapshots", "snapshot_bytes");
  }
  cr_expect_geq(program_number(recovery, "frames"), 0);
  PROGRAM_EXPECT_POSITIVE(recovery, "predicted_ns", "took_ns");
}

Test(bench_journal, prints_a_table_and_says_what_was_not_kept) {
  json_auto_t *json = NULL;
  SCOPED_RUN *run = program_both("bench journal --quick --agents 1500 --workers 2 --frames 15 --folder /tmp", &json);
  PROGRAM_EXPECT_SAYS(run->output, "\nwithout ", "\nnone ", "\nsecond ", "\nframe ", "\na snapshot has ",
                      "\na recovery of ");
  bool holds = program_true(program_at(json, "rows", 1), "holds");
  cr_expect_eq(strstr(run->output, "the journal said that it cannot keep its bound") == NULL, holds, "%s", run->output);
}

Test(bench_journal, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("journal", "sets", {"--agents 10", 2, "--agents is '10'"},
                        {"--quick --folder /nowhere/at-all", 1, "/nowhere/at-all"});
}
