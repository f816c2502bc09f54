/* `muster bench sets`, as the program tells it: structure and plausibility of the rows. How fast anything is, is not
 * tested: the machine that tests is busy with other tests. */
#include "program.h"

Test(bench_sets, tells_what_sets_cost_over_lists_and_a_loop_over_the_same_atoms) {
  json_auto_t *json = program_json("bench sets --quick --agents 40 --json -");
  PROGRAM_EACH(i, row, program_list(json, "over_list", 3)) {
    PROGRAM_EXPECT_POSITIVE(row, "loop_ns_per_atom", "list_ns_per_atom", "sets_ns_per_atom");
    PROGRAM_EXPECT_VALUES(row, {"sets", 1 << i}, {"atoms", 1 << i});
    cr_expect(isfinite(program_number(row, "over_list_ns_per_atom")));
  }
  json_t *row = json_array_get(program_list(json, "scheduled", 1), 0);
  PROGRAM_EXPECT_VALUES(row, {"agents", 40}, {"atom_ns", 2000});
  /* Perception and action have three atoms in every update; behaviours three in every 4th, 6th and 8th. */
  cr_expect_float_eq(program_number(row, "atoms_per_update"), 3 + 3.0 / 4 + 3.0 / 6 + 3.0 / 8, 1e-9);
  PROGRAM_EXPECT_POSITIVE(row, "loop_ns_per_update", "scheduled_ns_per_update");
  cr_expect_leq(program_number(row, "overhead_lowest_round"), program_number(row, "overhead_highest_round"));
}

Test(bench_sets, takes_the_time_of_an_atom) {
  json_auto_t *json = program_json("bench sets --quick --agents 20 --atom 5us --json -");
  json_t *row = program_at(json, "scheduled", 0);
  cr_expect_eq(program_number(row, "atom_ns"), 5000);
}

/* Where it is not quick: each number of sets with each of atoms, and atoms of 1 to 3 us. */
Test(bench_sets, has_every_row) {
  enum { ATOMS = 3 };
  json_auto_t *json = program_json("bench sets --rounds 1 --agents 40 --json -");
  PROGRAM_EACH(i, row, program_list(json, "over_list", 4 * ATOMS)) {
    PROGRAM_EXPECT_VALUES(row, {"sets", 1 << i / ATOMS}, {"atoms", 1 << i % ATOMS});
  }
  PROGRAM_EACH(i, row, program_list(json, "scheduled", 3)) {
    PROGRAM_EXPECT_VALUES(row, {"atom_ns", 1000.0 * (double)(i + 1)});
  }
}

/* Whatever was measured: what is more than wanted is called so, and nothing else is. */
Test(bench_sets, says_of_each_row_whether_it_is_more_than_wanted) {
  json_auto_t *json = NULL;
  SCOPED_RUN *run = program_both("bench sets --quick --rounds 1 --agents 40", &json);
  const double list_wanted_ns = program_number(json, "over_list_wanted_ns");
  const double overhead_wanted = program_number(json, "overhead_wanted");
  int wanted = 0;
  PROGRAM_EACH(i, row, program_member(json, "over_list")) {
    wanted += program_number(row, "over_list_ns_per_atom") > list_wanted_ns;
  }
  PROGRAM_EACH(i, row, program_member(json, "scheduled")) {
    wanted += program_number(row, "overhead") > overhead_wanted;
  }
  cr_expect_eq(program_count(run->output, "more than wanted\n"), wanted, "%s", run->output);
}

Test(bench_sets, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("sets", "scale", {"--atom 1ns", 2, "--atom is '1ns'"}, {"--agents 0", 2, "--agents is '0'"});
}
