/* `muster bench activation`: peaks are in virtual time, so the figures are the same everywhere and can be tested. How
 * long reserving takes is not tested: the machine that tests is busy with other tests. */
#include "program.h"
#include <stdio.h>

static const char *const worlds[] = {"composite",    "harmonic", "primes",      "primes-long",   "composite-10k",
                                     "composite-67", "sets",     "sets-primes", "under-pressure"};

static double figure(json_t *json, const char *group, const char *name, const char *member) {
  return program_number(json, formed("%s.%s.%s", group, name, member));
}

static void expect_rings_and_reservations(json_t *json) {
  for (size_t i = 0; i < 4; i++) {
    double together = figure(json, "rings", worlds[i], "together_peak");
    double some = figure(json, "rings", worlds[i], "short_peak"), any = figure(json, "rings", worlds[i], "whole_peak");
    cr_expect(together > 3 && some < together && any < some && any < 1.05, "%s: %g, %g, %g", worlds[i], together, some,
              any);
  }
  PROGRAM_EACH(i, row, program_list(json, "reservations", 2)) {
    cr_expect_eq(program_number(row, "agents"), i ? 10000 : 1000);
    cr_expect_gt(program_number(row, "plain_ns"), 0);
    cr_expect(isfinite(program_number(row, "reservation_ns")));
    cr_expect_geq(program_number(row, "insertions"), 200000);
  }
}

Test(bench_activation, planning_takes_the_peaks_off_whatever_the_seed) {
  static const char *const lines[] = {"bench activation --quick --json -",
                                      "bench activation --quick --seed 2 --json -"};
  for (size_t k = 0; k < COUNT_OF(lines); k++) {
    json_auto_t *json = program_json(lines[k]);
    for (size_t i = 0; i < COUNT_OF(worlds); i++) {
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
    cr_expect(program_true(json, "within"));
  }
}

Test(bench_activation, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("activation", "control", {"--rounds 0", 2, "--rounds is '0'"});
}
