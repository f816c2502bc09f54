/* `muster bench scripts`, as the program tells it: what is measured, and of how much. How long it takes, is the
 * machine's. */
#include "program.h"

#include <math.h>

enum { WAYS = 4 };

static const char *const ways[WAYS] = {"muster", "c", "guarded", "raw"};

Test(bench_scripts, runs_as_many_updates_in_each_way) {
  size_t i;
  json_t *way,
      *json = program_json("bench scripts --quick --agents 200 --updates 1000 --workers 1 --rounds 2 --json -");
  json_t *list = program_member(json, "ways");
  cr_assert_eq(json_array_size(list), WAYS);
  json_array_foreach(list, i, way) {
    double updates = program_number(way, "updates");
    cr_expect_str_eq(json_string_value(program_member(way, "way")), ways[i]);
    cr_expect(updates >= 1000 && updates < 3000, "%s: %g updates", ways[i], updates);
    cr_expect(program_number(way, "wall_ns") > 0 && program_number(way, "cpu_ns") > 0, "%s", ways[i]);
    cr_expect_eq(program_number(way, "muster_wall_share") == 1, i == 0, "%s", ways[i]);
  }
  cr_expect_eq(program_number(json, "agents"), 200);
  cr_expect_eq(program_number(json, "workers"), 1);
  cr_expect_eq(program_number(json, "rounds"), 2);
  cr_expect_eq(program_number(json, "updates"), 1000);
  double in_c_ns = program_number(json, "idle_c_ns"), idle_ns = program_number(json, "idle_ns");
  cr_expect(in_c_ns > 0 && idle_ns > 0 && isfinite(in_c_ns) && isfinite(idle_ns), "%g and %g ns", in_c_ns, idle_ns);
  json_decref(json);
}

Test(bench_scripts, prints_a_table_of_the_ways) {
  program_run *run = program_start("bench scripts --quick --agents 100 --updates 500");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->output, "an empty update takes ") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "\n100 animals, 2 workers; an update, and 500 of them:\n") != NULL, "%s", run->output);
  for (size_t i = 0; i < WAYS; i++) {
    char begin[32];
    snprintf(begin, sizeof begin, "\n  %-8s ", ways[i]);
    cr_expect(strstr(run->output, begin) != NULL, "%s is not in: %s", ways[i], run->output);
  }
  free(run);
}

Test(bench_scripts, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"bench scripts zones", 2, "'zones' is too many"}, {"bench scripts --speed", 2, "unknown option --speed"},
      {"bench scripts --agents 99", 2, "--agents is '99'"}, {"bench scripts --workers 257", 2, "from 1 to 256"},
      {"bench scripts --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
