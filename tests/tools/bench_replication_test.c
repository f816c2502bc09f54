/* `muster bench replication`, as the program tells it: structure and plausibility of the figures. How fast anything is,
 * is not tested: the machine that tests is busy with other tests. */
#include "program.h"

#include <math.h>

static double positive(json_t *row, const char *name) {
  double value = program_number(row, name);
  cr_expect(isfinite(value) && value > 0, "%s is %g", name, value);
  return value;
}

Test(bench_replication, tells_what_changes_cost_beside_loops_and_which_players_see_them) {
  json_t *json = program_json("bench replication --quick --agents 8000 --observers 300 --workers 2 --json -");
  json_t *readers = program_member(json, "readers"), *senders = program_member(json, "senders");
  double updates = positive(json, "updates_per_frame"), changed = positive(json, "changed_per_frame");
  cr_expect(changed > updates * 0.5 && changed < updates * 1.5 + 20, "%g updates, %g changes", updates, changed);
  cr_expect_eq(program_number(json, "agents"), 8000);
  cr_expect_eq(program_number(json, "observers"), 300);
  cr_expect_eq(program_number(json, "workers"), 2);
  cr_assert_eq(json_array_size(readers), 3);
  for (size_t i = 0; i < 3; i++) {
    json_t *row = json_array_get(readers, i);
    cr_expect_leq(positive(row, "lowest_ns"), positive(row, "ns"));
    cr_expect_leq(positive(row, "ns"), positive(row, "highest_ns"));
    positive(row, "times_changes");
  }
  cr_assert_eq(json_array_size(senders), 2);
  double by_grid = positive(json_array_get(senders, 0), "sent_per_frame"),
         by_nearby = positive(json_array_get(senders, 1), "sent_per_frame");
  cr_expect(fabs(by_grid - by_nearby) <= by_grid * 0.01 + 1, "%g by the grid, %g by queries", by_grid, by_nearby);
  positive(json, "frame_cpu_ns");
  positive(json, "frame_with_changes_cpu_ns");
  cr_expect(isfinite(program_number(json, "added_share")));
  json_decref(json);
}

Test(bench_replication, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS({"bench replication sets", 2, "'sets' is too many"},
                          {"bench replication --speed", 2, "unknown option --speed"},
                          {"bench replication --agents 10", 2, "--agents is '10'"},
                          {"bench replication --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
