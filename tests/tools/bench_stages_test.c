/* `muster bench stages`, as the program tells it: structure and plausibility of the rows. How fast anything is, is not
 * tested: the machine that tests is busy with other tests. */
#include "program.h"

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

/* One round: the median of the sums is the sum of the medians. */
static void expect_sum(json_t *row) {
  double sum_ns = 0;
  for (size_t i = 0; i < COUNT_OF(parts); i++) sum_ns += program_amount(row, parts[i]);
  cr_expect_gt(sum_ns, 0);
  cr_expect_float_eq(program_amount(row, "sum_ns"), sum_ns, sum_ns * 1e-9);
  cr_expect_float_eq(program_amount(row, "sum_ns_lowest_round"), sum_ns, sum_ns * 1e-9);
  cr_expect_float_eq(program_amount(row, "sum_ns_highest_round"), sum_ns, sum_ns * 1e-9);
}

static void expect_updates(json_t *row, size_t number) {
  double updates = program_amount(row, "updates_per_frame"), frames = program_amount(row, "frames_per_round");
  cr_expect_geq(frames, 1);
  if (strcmp(expected[number].per, "frame") == 0)
    cr_expect_eq(updates, 0);
  else
    cr_expect(updates > 0 && updates <= expected[number].agents, "%g updates in a frame", updates);
  if (strcmp(expected[number].name, "burst") == 0)
    cr_expect_float_eq(updates * frames, expected[number].agents, 1e-6, "%g frames of %g updates", frames, updates);
}

Test(bench_stages, has_the_stages_of_every_row_and_their_sum) {
  json_auto_t *json = program_json("bench stages --quick --agents 5000 --evict 1 --json -");
  PROGRAM_EACH(i, row, program_list(json, "rows", ROWS)) {
    cr_expect_str_eq(program_text(row, "name"), expected[i].name);
    cr_expect_str_eq(program_text(row, "per"), expected[i].per);
    cr_expect_eq(program_number(row, "agents"), expected[i].agents);
    cr_expect_eq(program_true(row, "paced"), expected[i].paced);
    cr_expect_eq(program_true(row, "cold"), expected[i].cold);
    expect_sum(row);
    expect_updates(row, i);
    cr_expect_eq(program_number(row, "helpers_ns"), 0, "one worker has no helpers");
    PROGRAM_EXPECT_POSITIVE(row, "bytes_per_agent", "budget_ns", "frames_apart_ns");
    PROGRAM_EXPECT_AMOUNTS(row, "pressure", "carried_per_frame", "run_ns");
  }
  PROGRAM_EXPECT_VALUES(json, {"agents", 5000}, {"workers", 1}, {"rounds", 1}, {"evicted_bytes", 1 << 20});
  PROGRAM_EXPECT_AMOUNTS(json, "cache_bytes", "others_cpu_share", "stolen_cpu_share");
}

Test(bench_stages, takes_medians_of_as_many_runs_as_asked_for_and_any_number_of_workers) {
  json_auto_t *json = program_json("bench stages --quick --agents 1000 --evict 1 --runs 3 --workers 2 --json -");
  PROGRAM_EXPECT_VALUES(json, {"rounds", 3}, {"workers", 2});
  PROGRAM_EACH(i, row, program_member(json, "rows")) {
    PROGRAM_EXPECT_AMOUNTS(row, "sum_ns", "sum_ns_lowest_round", "sum_ns_highest_round", "helpers_ns");
    PROGRAM_EXPECT_RISING(row, "sum_ns_lowest_round", "sum_ns", "sum_ns_highest_round");
  }
}

Test(bench_stages, measures_the_wanted_rows_alone) {
  json_auto_t *json = program_json("bench stages --quick --agents 1000 --evict 1 --only idle-cold,burst --json -");
  json_t *rows = program_list(json, "rows", 2);
  for (size_t i = 0; i < 2; i++) {
    cr_expect_str_eq(program_text(json_array_get(rows, i), "name"), i ? "idle-cold" : "burst");
    program_positive(json_array_get(rows, i), "sum_ns");
  }
}

Test(bench_stages, prints_tables) {
  SCOPED_RUN *run = program_good("bench stages --quick --agents 1000 --evict 1");
  PROGRAM_EXPECT_SAYS(run->output, "quick: figures mean little", "1 MiB written before cold frames",
                      "meanwhile other processes took", "release     rank   commit  helpers",
                      "\nrow               updates    carried    frames     apart     budget pressure    bytes\n"
                      "                per frame  per frame per round");
  for (size_t i = 0; i < ROWS; i++) cr_expect(strstr(run->output, expected[i].name) != NULL, "%s", expected[i].name);
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
  PROGRAM_EXPECT_TELLINGS({"bench --help", "what each stage of a frame takes"}, {"bench stages --help", "--evict MIB"},
                          {"bench stages --help", "Cold: before each frame"});
}

Test(bench_stages, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("stages", "scale", {"--only burst,idler", 2, "unknown row 'idler'"},
                        {"--agents 999", 2, "--agents is '999'; give a whole number from 1000 to"},
                        {"--agents 16000000", 2, "--agents is '16000000'"}, {"--workers 0", 2, "--workers is '0'"},
                        {"--workers 257", 2, "from 1 to 256"}, {"--evict 0", 2, "--evict is '0'"},
                        {"--runs 0", 2, "--runs is '0'"}, {"--runs 65", 2, "from 1 to 64"},
                        {"--quick=yes", 2, "takes no value"});
  PROGRAM_EXPECT_REFUSALS({"bench stage", 2, "did you mean 'stages'"});
}
