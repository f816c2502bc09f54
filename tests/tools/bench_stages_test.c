/* `muster bench stages`, as the program tells it: structure and plausibility of the rows. How fast anything is, is not
 * tested: the machine that tests is busy with other tests. */
#include "program.h"

#include <math.h>

enum { ROWS = 9 };

/* With 5,000 agents asked for. */
static const struct {
  const char *name, *per;
  double agents;
  bool paced, cold;
} expected[ROWS] = {{"tenth-fits", "update", 500, true, true},  {"all-fit", "update", 5000, true, true},
                    {"pressure-4", "update", 5000, true, true}, {"backlog-4", "update", 5000, true, true},
                    {"burst", "update", 2500, false, true},     {"idle-few", "frame", 5, false, false},
                    {"idle-few-cold", "frame", 5, false, true}, {"idle", "frame", 5000, false, false},
                    {"idle-cold", "frame", 5000, false, true}};

static const char *const parts[] = {"intake_ns",  "score_ns", "fold_ns",   "fit_ns",
                                    "release_ns", "rank_ns",  "commit_ns", "helpers_ns"};

static double number_in(json_t *row, const char *name) {
  double value = program_number(row, name);
  cr_expect(isfinite(value) && value >= 0, "%s is %g", name, value);
  return value;
}

/* One round: the median of the sums is the sum of the medians. */
static void expect_sum(json_t *row) {
  double sum_ns = 0;
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) sum_ns += number_in(row, parts[i]);
  cr_expect_gt(sum_ns, 0);
  cr_expect_float_eq(number_in(row, "sum_ns"), sum_ns, sum_ns * 1e-9);
  cr_expect_float_eq(number_in(row, "sum_ns_lowest_round"), sum_ns, sum_ns * 1e-9);
  cr_expect_float_eq(number_in(row, "sum_ns_highest_round"), sum_ns, sum_ns * 1e-9);
}

static void expect_updates(json_t *row, size_t number) {
  double updates = number_in(row, "updates_per_frame"), frames = number_in(row, "frames_per_round");
  cr_expect_geq(frames, 1);
  if (strcmp(expected[number].per, "frame") == 0)
    cr_expect_eq(updates, 0);
  else
    cr_expect(updates > 0 && updates <= expected[number].agents, "%g updates in a frame", updates);
  if (strcmp(expected[number].name, "burst") == 0)
    cr_expect_float_eq(updates * frames, expected[number].agents, 1e-6, "%g frames of %g updates", frames, updates);
}

Test(bench_stages, has_the_stages_of_every_row_and_their_sum) {
  size_t i;
  json_t *row, *json = program_json("bench stages --quick --agents 5000 --evict 1 --json -");
  json_t *rows = program_member(json, "rows");
  cr_assert_eq(json_array_size(rows), ROWS);
  json_array_foreach(rows, i, row) {
    cr_expect_str_eq(json_string_value(program_member(row, "name")), expected[i].name);
    cr_expect_str_eq(json_string_value(program_member(row, "per")), expected[i].per);
    cr_expect_eq(program_number(row, "agents"), expected[i].agents);
    cr_expect_eq(json_is_true(program_member(row, "paced")), expected[i].paced);
    cr_expect_eq(json_is_true(program_member(row, "cold")), expected[i].cold);
    expect_sum(row);
    expect_updates(row, i);
    cr_expect_eq(program_number(row, "helpers_ns"), 0, "one worker has no helpers");
    cr_expect_gt(number_in(row, "bytes_per_agent"), 0);
    cr_expect_gt(number_in(row, "budget_ns"), 0);
    cr_expect_gt(number_in(row, "frames_apart_ns"), 0);
    number_in(row, "pressure");
    number_in(row, "carried_per_frame");
    number_in(row, "run_ns");
  }
  cr_expect_eq(program_number(json, "agents"), 5000);
  cr_expect_eq(program_number(json, "workers"), 1);
  cr_expect_eq(program_number(json, "rounds"), 1);
  cr_expect_eq(program_number(json, "evicted_bytes"), 1 << 20);
  cr_expect_geq(program_number(json, "cache_bytes"), 0);
  cr_expect(program_number(json, "others_cpu_share") >= 0 && program_number(json, "stolen_cpu_share") >= 0);
  json_decref(json);
}

Test(bench_stages, takes_medians_of_as_many_runs_as_asked_for_and_any_number_of_workers) {
  json_t *row, *json = program_json("bench stages --quick --agents 1000 --evict 1 --runs 3 --workers 2 --json -");
  size_t i;
  cr_expect_eq(program_number(json, "rounds"), 3);
  cr_expect_eq(program_number(json, "workers"), 2);
  json_array_foreach(program_member(json, "rows"), i, row) {
    double sum_ns = number_in(row, "sum_ns");
    cr_expect(number_in(row, "sum_ns_lowest_round") <= sum_ns && number_in(row, "sum_ns_highest_round") >= sum_ns);
    number_in(row, "helpers_ns");
  }
  json_decref(json);
}

Test(bench_stages, measures_the_wanted_rows_alone) {
  json_t *json = program_json("bench stages --quick --agents 1000 --evict 1 --only idle-cold,burst --json -");
  json_t *rows = program_member(json, "rows");
  cr_assert_eq(json_array_size(rows), 2);
  cr_expect_str_eq(json_string_value(program_member(json_array_get(rows, 0), "name")), "burst");
  cr_expect_str_eq(json_string_value(program_member(json_array_get(rows, 1), "name")), "idle-cold");
  for (size_t i = 0; i < 2; i++) cr_expect_gt(number_in(json_array_get(rows, i), "sum_ns"), 0);
  json_decref(json);
}

Test(bench_stages, prints_tables) {
  program_run *run = program_start("bench stages --quick --agents 1000 --evict 1");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->output, "quick: figures mean little") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "1 MiB written before cold frames") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "meanwhile other processes took") != NULL);
  cr_expect(strstr(run->output, "release     rank   commit  helpers") != NULL);
  cr_expect(strstr(run->output,
                   "\nrow               updates    carried    frames     apart     budget pressure    bytes\n"
                   "                per frame  per frame per round") != NULL,
            "%s", run->output);
  for (size_t i = 0; i < ROWS; i++) cr_expect(strstr(run->output, expected[i].name) != NULL, "%s", expected[i].name);
  free(run);
}

/* Each in both tables: what it takes, and its frames. */
Test(bench_stages, prints_the_wanted_rows_alone) {
  program_run *run = program_start("bench stages --quick --agents 1000 --evict 1 --only idle-cold,burst");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  for (size_t i = 0; i < ROWS; i++) {
    bool wanted = strcmp(expected[i].name, "idle-cold") == 0 || strcmp(expected[i].name, "burst") == 0;
    char begin[32];
    snprintf(begin, sizeof begin, "\n%s ", expected[i].name);
    const char *first = strstr(run->output, begin), *second = first ? strstr(first + 1, begin) : NULL;
    cr_expect_eq(first != NULL, wanted, "%s: %s", expected[i].name, run->output);
    cr_expect_eq(second != NULL, wanted, "%s: %s", expected[i].name, run->output);
    cr_expect(!second || !strstr(second + 1, begin), "%s: %s", expected[i].name, run->output);
  }
  free(run);
}

Test(bench_stages, explains_itself) {
  static const char *const lines[] = {"bench --help", "bench stages --help", "bench stages --help"};
  static const char *const tells[] = {"what each stage of a frame takes", "--evict MIB", "Cold: before each frame"};
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
    program_run *run = program_start(lines[i]);
    cr_assert_eq(run->status, 0);
    cr_expect(strstr(run->output, tells[i]) != NULL, "muster %s prints: %s", lines[i], run->output);
    free(run);
  }
}

Test(bench_stages, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"bench stages scale", 2, "'scale' is too many"}, {"bench stages --speed", 2, "unknown option --speed"},
      {"bench stages --only burst,idler", 2, "unknown row 'idler'"},
      {"bench stages --agents 999", 2, "--agents is '999'; give a whole number from 1000 to"},
      {"bench stages --agents 16000000", 2, "--agents is '16000000'"},
      {"bench stages --workers 0", 2, "--workers is '0'"}, {"bench stages --workers 257", 2, "from 1 to 256"},
      {"bench stages --evict 0", 2, "--evict is '0'"}, {"bench stages --runs 0", 2, "--runs is '0'"},
      {"bench stages --runs 65", 2, "from 1 to 64"}, {"bench stages --quick=yes", 2, "takes no value"},
      {"bench stages --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"},
      {"bench stage", 2, "did you mean 'stages'"});
}
