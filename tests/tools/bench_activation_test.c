/* `muster bench activation`: peaks are in virtual time, so the figures are the same everywhere and can be tested. How
 * long reserving takes is not tested: the machine that tests is busy with other tests. */
#include "program.h"

#include <math.h>
#include <stdio.h>

static const char *const worlds[] = {"composite",    "harmonic", "primes",      "primes-long",   "composite-10k",
                                     "composite-67", "sets",     "sets-primes", "under-pressure"};

static double figure(json_t *json, const char *group, const char *name, const char *member) {
  char path[96];
  snprintf(path, sizeof path, "%s.%s.%s", group, name, member);
  return program_number(json, path);
}

static void expect_rings_and_reservations(json_t *json) {
  json_t *reservations = program_member(json, "reservations");
  for (size_t i = 0; i < 4; i++) {
    double together = figure(json, "rings", worlds[i], "together_peak");
    double some = figure(json, "rings", worlds[i], "short_peak"), any = figure(json, "rings", worlds[i], "whole_peak");
    cr_expect(together > 3 && some < together && any < some && any < 1.05, "%s: %g, %g, %g", worlds[i], together, some,
              any);
  }
  cr_assert_eq(json_array_size(reservations), 2);
  for (size_t i = 0; i < 2; i++) {
    json_t *row = json_array_get(reservations, i);
    cr_expect_eq(program_number(row, "agents"), i ? 10000 : 1000);
    cr_expect_gt(program_number(row, "plain_ns"), 0);
    cr_expect(isfinite(program_number(row, "reservation_ns")));
    cr_expect_geq(program_number(row, "insertions"), 200000);
  }
}

Test(bench_activation, planning_takes_the_peaks_off_whatever_the_seed) {
  static const char *const lines[] = {"bench activation --quick --json -",
                                      "bench activation --quick --seed 2 --json -"};
  for (size_t k = 0; k < sizeof lines / sizeof *lines; k++) {
    json_t *json = program_json(lines[k]);
    for (size_t i = 0; i < sizeof worlds / sizeof *worlds; i++) {
      double plain = figure(json, "worlds", worlds[i], "plain.variation");
      double planned = figure(json, "worlds", worlds[i], "planned.variation");
      cr_expect_lt(planned, plain / 3, "%s: %g with planning, %g without", worlds[i], planned, plain);
      cr_expect_geq(figure(json, "worlds", worlds[i], "planned.peak"), 1.0);
    }
    cr_expect_leq(figure(json, "worlds", "composite", "planned.peak"), 1.05);
    cr_expect_leq(figure(json, "worlds", "harmonic", "planned.peak"), 1.05);
    cr_expect_leq(figure(json, "worlds", "primes", "planned.peak"), 1.15);
    cr_expect_leq(figure(json, "worlds", "primes-long", "planned.peak"), 1.15);
    cr_expect_gt(figure(json, "worlds", "composite-67", "plain.peak"), 1.15);
    cr_expect_lt(figure(json, "worlds", "under-pressure", "planned.carried"),
                 figure(json, "worlds", "under-pressure", "plain.carried") / 2);
    expect_rings_and_reservations(json);
    cr_expect(json_is_true(program_member(json, "within")));
    json_decref(json);
  }
}

Test(bench_activation, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS({"bench activation control", 2, "'control' is too many"},
                          {"bench activation --speed", 2, "unknown option --speed"},
                          {"bench activation --rounds 0", 2, "--rounds is '0'"},
                          {"bench activation --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
