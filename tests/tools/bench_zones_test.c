/* `muster bench zones`, as the program tells it: a model, which comes to the same everywhere. */
#include "program.h"

#include <math.h>

enum { ROWS = 6, ENDS = 10, SCRIPT_BYTES = 1 << 16 };

static const double sizes[ROWS] = {3, 9, 16, 100, 1000, 10000};

static const char *const resources[ENDS] = {"settings",   "ids",           "list",         "table",
                                            "nodes",      "etcd_requests", "etcd_history", "nats_messages",
                                            "nats_bytes", "nats_kept"};

/* Of a larger land everything is more; and where a resource ends, there is none of it left. */
Test(bench_zones, has_a_row_for_each_size_and_tells_where_each_resource_ends) {
  static const char *const loads[] = {"nats_messages", "nats_bytes", "ghosts_bytes", "journal_bytes",
                                      "etcd_reads",    "etcd_bytes", "kept_bytes",   "keys_standing"};
  size_t i;
  json_t *row, *end, *json = program_json("bench zones --json -"), *rows = program_member(json, "rows"), *before = NULL;
  cr_assert_eq(json_array_size(rows), ROWS);
  json_array_foreach(rows, i, row) {
    cr_expect_eq(program_number(row, "zones"), sizes[i]);
    cr_expect_geq(program_number(row, "nodes"), ceil(sizes[i] / 4));
    for (size_t k = 0; k < sizeof loads / sizeof *loads; k++)
      cr_expect(program_number(row, loads[k]) > (before ? program_number(before, loads[k]) : 0), "%s", loads[k]);
    before = row;
  }
  cr_assert_eq(json_array_size(program_member(json, "ends")), ENDS);
  json_array_foreach(program_member(json, "ends"), i, end) {
    cr_expect_str_eq(json_string_value(program_member(end, "resource")), resources[i]);
    cr_expect(program_number(end, "most") > 0 && program_number(end, "zones") > 0, "%s", resources[i]);
  }
  cr_expect_eq(program_number(json, "agents"), 10000);
  cr_expect(program_number(json, "leaving") > 0 && program_number(json, "seen") > 0);
  json_decref(json);
}

Test(bench_zones, prints_what_each_broker_is_given_and_where_it_ends) {
  static const char *const tells[] = {"10,000 agents in each zone",
                                      "\neach of three servers of NATS is given, a second: messages, bytes\n",
                                      "\nthe three members of etcd are asked together, a second: requests, bytes\n",
                                      "\nwhere it ends:\n",
                                      "\n       3        1 ",
                                      "\n  10,000    2,500 "};
  program_run *run = program_start("bench zones");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  for (size_t i = 0; i < sizeof tells / sizeof *tells; i++)
    cr_expect(strstr(run->output, tells[i]), "'%s' is not in: %s", tells[i], run->output);
  int ends = 0;
  for (const char *next = run->output; (next = strstr(next, " zones  ")); next++) ends++;
  cr_expect_eq(ends, ENDS, "%s", run->output);
  free(run);
}

/* A curve of each resource, whose figures are in the script, and what the axes are. */
Test(bench_zones, draws_each_resource) {
  static const char *const sets[] = {"set output 'zones.png'\n",
                                     "\nset title 'Zones of a cluster: what part of each resource they take'\n",
                                     "\nset xlabel 'zones'\n", "\nset logscale xy\n", "\nplot 1 with lines"};
  static char script[SCRIPT_BYTES];
  char folder[] = "/tmp/muster-test-XXXXXX", path[64], line[128];
  cr_assert_not_null(mkdtemp(folder));
  snprintf(line, sizeof line, "bench zones --plots %s", folder);
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  free(run);
  snprintf(path, sizeof path, "%s/zones.gp", folder);
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "there is no script");
  script[fread(script, 1, sizeof script - 1, file)] = '\0';
  fclose(file);
  for (size_t i = 0; i < sizeof sets / sizeof *sets; i++)
    cr_expect(strstr(script, sets[i]), "'%s' is not in: %s", sets[i], script);
  for (size_t i = 0; i < ENDS; i++) {
    snprintf(line, sizeof line, "\n$%s << END\n", resources[i]);
    cr_expect(strstr(script, line), "%s", line);
    snprintf(line, sizeof line, ", $%s using 1:2 with lines", resources[i]);
    cr_expect(strstr(script, line), "%s", line);
  }
  unlink(path);
  snprintf(path, sizeof path, "%s/zones.png", folder);
  unlink(path); /* only where gnuplot is installed */
  cr_expect_eq(rmdir(folder), 0, "something was left behind");
}

Test(bench_zones, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"bench zones wide", 2, "'wide' is too many"}, {"bench zones --speeds 3", 2, "unknown option --speeds"},
      {"bench zones --side 9", 2, "--side is '9'"}, {"bench zones --agents 0", 2, "--agents is '0'"},
      {"bench zones --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
