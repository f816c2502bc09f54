/* `muster bench scale`, as the program tells it: structure and plausibility of the rows. How fast anything is, is not
 * tested: the machine that tests is busy with other tests. */
#include "program.h"
#include <sys/stat.h>

/* A machine that is busy makes a difference of two times come out as nothing or less. */
static void expect_plausible(json_t *row) {
  static const char *const finite[] = {"ns_per_update",     "ns_per_update_lowest_round", "ns_per_update_highest_round",
                                       "ns_per_frame",      "walking_ns_per_update",      "walking_ns_per_frame",
                                       "resident_per_agent"};
  PROGRAM_EXPECT_POSITIVE(row, "workers", "updates_per_frame", "loop_ns_per_update", "idle_frame_ns", "score_ns",
                          "bytes_per_agent");
  for (size_t i = 0; i < COUNT_OF(finite); i++)
    cr_expect(isfinite(program_number(row, finite[i])), "%s is not finite", finite[i]);
  double median_ns = program_number(row, "ns_per_update"), updates = program_number(row, "updates_per_frame");
  PROGRAM_EXPECT_RISING(row, "ns_per_update_lowest_round", "ns_per_update", "ns_per_update_highest_round");
  cr_expect_float_eq(program_number(row, "ns_per_frame"), median_ns * updates, fabs(median_ns * updates) * 1e-9 + 1e-9);
}

/* All agents in every frame, or about 2,000 of them: periods are drawn at random, and 30 frames are few. */
static void expect_as_many_updates_as_are_due(json_t *row) {
  double agents = program_number(row, "agents"), updates = program_number(row, "updates_per_frame");
  double due = agents < 2000 ? agents : 2000;
  cr_expect(updates > 0.8 * due && updates < 1.2 * due, "%g updates in a frame of %g agents", updates, agents);
}

static void expect_plausible_spawning(json_t *row, double workers) {
  PROGRAM_EXPECT_POSITIVE(row, "spawn_ns", "remove_ns", "spawn_frames", "remove_frames");
  PROGRAM_EXPECT_VALUES(row, {"workers", workers}, {"agents", 10000});
  cr_expect_geq(program_number(row, "observers"), 1);
  cr_expect_eq(program_number(row, "frames"),
               program_number(row, "spawn_frames") + program_number(row, "remove_frames"));
  cr_expect_geq(program_number(row, "frames_over_budget"), 0);
}

Test(bench_scale, has_a_row_for_every_combination_that_was_asked_for) {
  static const double agents[] = {1000, 3000}, observers[] = {0, 2}, workers[] = {1, 2};
  json_auto_t *json = program_json("bench scale --quick --agents 1000,3000 --observers 0,2 --workers 1,2 --json -");
  PROGRAM_EACH(i, row, program_list(json, "rows", 8)) {
    PROGRAM_EXPECT_VALUES(row, {"agents", agents[i / 4]}, {"observers", observers[i / 2 % 2]},
                          {"workers", workers[i % 2]});
    expect_plausible(row);
    expect_as_many_updates_as_are_due(row);
  }
  PROGRAM_EACH(i, row, program_list(json, "spawning", 2)) expect_plausible_spawning(row, workers[i]);
  program_list(json, "notes", 0);
  cr_expect_eq(program_number(json, "rounds"), 2);
  PROGRAM_EXPECT_AMOUNTS(json, "others_cpu_share", "stolen_cpu_share");
}

Test(bench_scale, counts_from_one_worker_to_all_processors) {
  json_auto_t *json = program_json("bench scale --quick --rounds 1 --agents 1000 --observers 1 --workers all --json -");
  json_t *rows = program_member(json, "rows");
  size_t count = json_array_size(rows);
  cr_assert_gt(count, 0);
  cr_expect_eq(program_number(json_array_get(rows, 0), "workers"), 1);
  cr_expect_eq(program_number(json_array_get(rows, count - 1), "workers"), program_number(json, "processors"));
  cr_expect_eq(program_number(json, "rounds"), 1);
}

Test(bench_scale, prints_a_table_and_draws_a_figure) {
  char folder[] = "/tmp/muster-test-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  const char *path = formed("%s/scale.gp", folder), *image = formed("%s/scale.png", folder);
  SCOPED_RUN *run =
      program_good("bench scale --quick --rounds 1 --agents 1000 --observers 1 --workers 1 --plots %s", folder);
  PROGRAM_EXPECT_SAYS(run->output, "quick: figures mean little", "meanwhile other processes took",
                      "agents observers workers per frame", "frames rounds over budget");
  PROGRAM_EXPECT_SAYS(run->errors, "1,000 agents, 1 observer, 1 worker");
  SCOPED(free_memory) char *script = program_read(path);
  const char *second = strchr(script, '\n');
  cr_expect(second && strncmp(second, "\nset output 'scale.png'\n", 24) == 0,
            "it can be drawn where it was made alone");
  cr_expect(access(image, R_OK) == 0 || strstr(run->errors, "gnuplot is not installed"), "there is no picture");
  unlink(path);
  unlink(image);
  cr_expect_eq(rmdir(folder), 0, "something was left behind");
}

/* Of each number of observers and of workers there is a curve, and each is drawn. */
Test(bench_scale, draws_every_curve_that_it_has) {
  char folder[] = "/tmp/muster-test-XXXXXX", path[64], line[256];
  static char script[1 << 16];
  cr_assert_not_null(mkdtemp(folder));
  snprintf(line, sizeof line, "bench scale --quick --rounds 1 --agents 1000 --observers 0,1 --workers 1,2 --plots %s",
           folder);
  program_run *run = program_start(line);
  cr_assert_eq(run->status, 0, "%s", run->errors);
  snprintf(path, sizeof path, "%s/scale.gp", folder);
  FILE *file = fopen(path, "r");
  cr_assert_not_null(file, "there is no script");
  script[fread(script, 1, sizeof script - 1, file)] = '\0';
  fclose(file);
  for (int observers = 0; observers < 2; observers++)
    for (int workers = 1; workers <= 2; workers++) {
      char curve[64], drawn[128];
      snprintf(curve, sizeof curve, "$observers%d_workers%d <<", observers, workers);
      snprintf(drawn, sizeof drawn, "$observers%d_workers%d using 1:2", observers, workers);
      cr_expect(strstr(script, curve), "%s is not in: %s", curve, script);
      cr_expect(strstr(script, drawn), "%s is not in: %s", drawn, script);
      snprintf(drawn, sizeof drawn, "title 'observers %d, workers %d'", observers, workers);
      cr_expect(strstr(script, drawn), "%s is not in: %s", drawn, script);
    }
  free(run);
  unlink(path);
  snprintf(path, sizeof path, "%s/scale.png", folder);
  unlink(path); /* only where gnuplot is installed */
  cr_expect_eq(rmdir(folder), 0, "something was left behind");
}

/* A folder stands where the figure's script belongs. */
Test(bench_scale, keeps_its_document_when_a_plot_fails) {
  char folder[] = "/tmp/muster-test-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  const char *path = formed("%s/scale.gp", folder), *result = formed("%s/scale.json", folder);
  cr_assert_eq(mkdir(path, 0700), 0);
  SCOPED_RUN *run = program_ends(
      1, "bench scale --quick --rounds 1 --agents 1000 --observers 1 --workers 1 --plots %s --json %s", folder, result);
  PROGRAM_EXPECT_SAYS(run->errors, "scale.gp': Is a directory");
  json_auto_t *json = program_load(result);
  program_list(json, "rows", 1);
  unlink(result);
  rmdir(path);
  cr_expect_eq(rmdir(folder), 0, "something was left behind");
}

Test(bench_scale, refuses_what_it_cannot_measure_in_one_line) {
  PROGRAM_EXPECT_REFUSALS_OF(
      "bench scale", {"--agents 999", 2, "--agents is '999'; give a whole number from 1000 to"},
      {"--agents 16000000", 2, "--agents is '16000000'"}, {"--agents 10k", 2, "--agents is '10k'"},
      {"--agents 1000,", 2, "--agents is ''"}, {"--agents ,1000", 2, "--agents is ''"},
      {"--agents=", 2, "--agents is ''"}, {"--agents 1000,,2000", 2, "--agents is ''"},
      {"--agents 1000 2000", 2, "one bench at a time: '2000'"},
      {"--agents 11111111111111111111111111111111111111111111", 2, "--agents is"},
      {"--observers 1,65537", 2, "--observers is '65537'; give a whole number from 0 to 65536"},
      {"--observers -1", 2, "--observers"}, {"--workers 0", 2, "--workers is '0'"},
      {"--workers 257", 2, "from 1 to 256"}, {"--workers 1..2", 2, "--workers is '1..2'"},
      {"--workers 1,all", 2, "--workers is 'all'"}, {"--rounds 0", 2, "--rounds is '0'"},
      {"--rounds 65", 2, "from 1 to 64"}, {"--quick=yes", 2, "takes no value; see `muster bench scale --help`"},
      {"--agents", 2, "--agents wants a value"},
      {"--speed", 2, "unknown option --speed; see `muster bench scale --help`"},
      {"dispatch", 2, "one bench at a time: 'dispatch'"},
      {"--json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"},
      {"--plots /nowhere/plots", 1, "cannot make the folder '/nowhere/plots'"});
  PROGRAM_EXPECT_REFUSALS({"bench --quick scale", 2, "give 'scale' before its options"},
                          {"bench scal", 2, "did you mean 'scale'"});
}

Test(bench_scale, refuses_lists_that_are_too_long) {
  char line[1024] = "bench scale --observers 1";
  for (int i = 0; i < 64; i++) strcat(line, ",1");
  PROGRAM_EXPECT_REFUSALS({line, 2, "--observers has more than 64 numbers"});
}

Test(bench_scale, is_in_the_help_and_explains_its_figures) {
  PROGRAM_EXPECT_TELLINGS({"bench --help", "muster bench scale --help"}, {"bench scale --help", "--agents N,..."},
                          {"bench scale --help", "idle_frame_ns: wall time"}, {"--help", "what scheduling costs"},
                          {"bench scale --help", " 100000 agents at once, removed in random"},
                          {"bench scale --help", " 100 observers, every round in a new world"});
}
