/* `muster bench sets`, as the program tells it: structure and plausibility of the rows. How fast anything is, is not
 * tested: the machine that tests is busy with other tests. */
#include "program.h"

#include <math.h>

static void expect_positive(json_t *row, const char *name) {
  double value = program_number(row, name);
  cr_expect(isfinite(value) && value > 0, "%s is %g", name, value);
}

Test(bench_sets, tells_what_sets_cost_over_lists_and_a_loop_over_the_same_atoms) {
  static const char *const over_list[] = {"loop_ns_per_atom", "list_ns_per_atom", "sets_ns_per_atom"};
  json_t *json = program_json("bench sets --quick --agents 40 --json -");
  json_t *lists = program_member(json, "over_list"), *loops = program_member(json, "scheduled");
  cr_assert_eq(json_array_size(lists), 3);
  for (size_t i = 0; i < 3; i++) {
    json_t *row = json_array_get(lists, i);
    for (size_t k = 0; k < 3; k++) expect_positive(row, over_list[k]);
    cr_expect_eq(program_number(row, "sets"), 1 << i);
    cr_expect_eq(program_number(row, "atoms"), 1 << i);
    cr_expect(isfinite(program_number(row, "over_list_ns_per_atom")));
  }
  cr_assert_eq(json_array_size(loops), 1);
  json_t *row = json_array_get(loops, 0);
  cr_expect_eq(program_number(row, "agents"), 40);
  cr_expect_eq(program_number(row, "atom_ns"), 2000);
  /* Perception and action have three atoms in every update; behaviours three in every 4th, 6th and 8th. */
  cr_expect_float_eq(program_number(row, "atoms_per_update"), 3 + 3.0 / 4 + 3.0 / 6 + 3.0 / 8, 1e-9);
  expect_positive(row, "loop_ns_per_update");
  expect_positive(row, "scheduled_ns_per_update");
  cr_expect_leq(program_number(row, "overhead_lowest_round"), program_number(row, "overhead_highest_round"));
  json_decref(json);
}

Test(bench_sets, takes_the_time_of_an_atom) {
  json_t *json = program_json("bench sets --quick --agents 20 --atom 5us --json -");
  json_t *row = json_array_get(program_member(json, "scheduled"), 0);
  cr_expect_eq(program_number(row, "atom_ns"), 5000);
  json_decref(json);
}

/* Where it is not quick: each number of sets with each of atoms, and atoms of 1 to 3 us. */
Test(bench_sets, has_every_row) {
  enum { ATOMS = 3 };
  json_t *json = program_json("bench sets --rounds 1 --agents 40 --json -");
  json_t *lists = program_member(json, "over_list"), *loops = program_member(json, "scheduled");
  cr_expect_eq(json_array_size(lists), 4 * ATOMS);
  for (size_t i = 0; i < json_array_size(lists); i++) {
    cr_expect_eq(program_number(json_array_get(lists, i), "sets"), 1 << i / ATOMS);
    cr_expect_eq(program_number(json_array_get(lists, i), "atoms"), 1 << i % ATOMS);
  }
  cr_assert_eq(json_array_size(loops), 3);
  for (size_t i = 0; i < 3; i++)
    cr_expect_eq(program_number(json_array_get(loops, i), "atom_ns"), 1000.0 * (double)(i + 1));
  json_decref(json);
}

/* Whatever was measured: what is more than wanted is called so, and nothing else is. */
Test(bench_sets, says_of_each_row_whether_it_is_more_than_wanted) {
  size_t i;
  json_t *row, *json;
  program_run *run = program_kept("bench sets --quick --rounds 1 --agents 40", &json);
  int wanted = 0, said = 0;
  json_array_foreach(program_member(json, "over_list"), i, row) wanted +=
      program_number(row, "over_list_ns_per_atom") > program_number(json, "over_list_wanted_ns");
  json_array_foreach(program_member(json, "scheduled"), i, row) wanted +=
      program_number(row, "overhead") > program_number(json, "overhead_wanted");
  for (const char *next = run->output; (next = strstr(next, "more than wanted\n")); next++) said++;
  cr_expect_eq(said, wanted, "%s", run->output);
  json_decref(json);
  free(run);
}

Test(bench_sets, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"bench sets scale", 2, "'scale' is too many"}, {"bench sets --speed", 2, "unknown option --speed"},
      {"bench sets --atom 1ns", 2, "--atom is '1ns'"}, {"bench sets --agents 0", 2, "--agents is '0'"},
      {"bench sets --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
