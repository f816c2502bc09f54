/* `muster bench replication`, as the program tells it: structure and plausibility of the figures. How fast anything is,
 * is not tested: the machine that tests is busy with other tests. */
#include "program.h"

Test(bench_replication, tells_what_changes_cost_beside_loops_and_which_players_see_them) {
  json_auto_t *json = program_json("bench replication --quick --agents 8000 --observers 300 --workers 2 --json -");
  json_t *senders = program_list(json, "senders", 2);
  double updates = program_positive(json, "updates_per_frame"), changed = program_positive(json, "changed_per_frame");
  cr_expect(changed > updates * 0.5 && changed < updates * 1.5 + 20, "%g updates, %g changes", updates, changed);
  PROGRAM_EXPECT_VALUES(json, {"agents", 8000}, {"observers", 300}, {"workers", 2});
  PROGRAM_EACH(i, row, program_list(json, "readers", 3)) {
    PROGRAM_EXPECT_RISING(row, "lowest_ns", "ns", "highest_ns");
    PROGRAM_EXPECT_POSITIVE(row, "lowest_ns", "ns", "highest_ns", "times_changes");
  }
  double by_grid = program_positive(json_array_get(senders, 0), "sent_per_frame"),
         by_nearby = program_positive(json_array_get(senders, 1), "sent_per_frame");
  cr_expect(fabs(by_grid - by_nearby) <= by_grid * 0.01 + 1, "%g by the grid, %g by queries", by_grid, by_nearby);
  PROGRAM_EXPECT_POSITIVE(json, "frame_cpu_ns", "frame_with_changes_cpu_ns");
  cr_expect(isfinite(program_number(json, "added_share")));
}

/* The times of each way, in us. */
static void expect_rows(const char *output, json_t *list) {
  PROGRAM_EACH(i, row, list) {
    PROGRAM_EXPECT_SAYS(output, formed("\n  %-12s %10.1f us %10.1f .. %.1f", program_text(row, "way"),
                                       program_number(row, "ns") / 1e3, program_number(row, "lowest_ns") / 1e3,
                                       program_number(row, "highest_ns") / 1e3));
  }
}

Test(bench_replication, prints_what_the_document_says_and_what_is_less_than_wanted) {
  json_auto_t *json = NULL;
  SCOPED_RUN *run = program_both("bench replication --quick --agents 1000", &json);
  int less = 0;
  expect_rows(run->output, program_list(json, "senders", 2));
  expect_rows(run->output, program_list(json, "readers", 3));
  for (size_t i = 1; i < 3; i++) less += program_number(program_at(json, "readers", i), "times_changes") < 5;
  cr_expect_eq(program_count(run->output, "less than wanted"), less, "%s", run->output);
  PROGRAM_EXPECT_VALUES(json, {"rounds", 1}, {"times_cheaper_wanted", 5});
}

Test(bench_replication, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("replication", "sets", {"--agents 10", 2, "--agents is '10'"});
}
