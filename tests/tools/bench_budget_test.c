/* `muster bench budget`: by accounting, so the figures are the same everywhere and can be tested: that the accounts are
 * right, and what is promised of the planner with one plan a frame, and of the library. */
#include "program.h"

static const char *const contenders[] = {"plan", "replan", "library", "sorted", "robin"};

enum { CONTENDERS = COUNT_OF(contenders), SHAPES = 16 };

static json_t *row_of(json_t *json, const char *shape, const char *contender) {
  json_t *row = program_find(program_member(json, "rows"), "shape", shape, "contender", contender);
  cr_assert_not_null(row, "there is no row of %s under %s", shape, contender);
  return row;
}

/* Elapsed times are those since the last update, reports count the updates that ran, and nobody uses more than all. */
static void expect_sound(json_t *row) {
  const char *shape = program_text(row, "shape"), *contender = program_text(row, "contender");
  double used = program_number(row, "used_share");
  cr_expect_eq(program_number(row, "faults"), 0, "%s, %s", shape, contender);
  cr_expect(used >= 0 && used <= 1, "%s, %s: used %g", shape, contender, used);
  PROGRAM_EXPECT_RISING(row, "idle_frames", "frames_waiting", "frames");
  PROGRAM_EXPECT_POSITIVE(row, "updates", "staleness_ns");
  if (strcmp(contender, "replan")) cr_expect_eq(program_number(row, "repeats"), 0, "%s, %s", shape, contender);
}

/* The round robin ends by the clock alone: every frame that leaves an agent waiting is full. The sorted loop passes
 * over what it believes not to fit, which leaves room in a frame only where all that wait are believed to be dear. */
static void expect_full(json_t *row) {
  const char *shape = program_text(row, "shape"), *contender = program_text(row, "contender");
  cr_expect_eq(program_number(row, "late_share"), 0, "%s, %s: late by more than the update that crosses the deadline",
               shape, contender);
  if (program_number(row, "frames_waiting") == 0) return;
  cr_expect_geq(program_number(row, "used_share"), 0.97, "%s, %s", shape, contender);
  if (strcmp(contender, "robin") == 0) cr_expect_eq(program_number(row, "idle_frames"), 0, "%s", shape);
}

/* Frames in which agents wait are full, whatever updates cost, and not late; and updates go to those who need them as
 * well as the sorted loop's. That spends twice its budget where some are rare and long, and repays nothing. */
static void expect_promised(json_t *row) {
  const char *shape = program_text(row, "shape"), *contender = program_text(row, "contender");
  cr_expect_eq(program_number(row, "late_share"), 0, "%s, %s", shape, contender);
  cr_expect_leq(program_number(row, "idle_frames"), 10, "%s, %s", shape, contender);
  if (strcmp(shape, "rare") != 0) cr_expect_leq(program_number(row, "ratio"), 1.02, "%s, %s", shape, contender);
  if (program_number(row, "frames_waiting") == 0) return;
  cr_expect_geq(program_number(row, "used_share"), 0.95, "%s, %s", shape, contender);
}

static bool is_loop(json_t *row) {
  const char *contender = program_text(row, "contender");
  return strcmp(contender, "sorted") == 0 || strcmp(contender, "robin") == 0;
}

Test(bench_budget, every_account_adds_up_and_frames_are_full) {
  json_auto_t *json = program_json("bench budget --quick --no-wall --agents 2000 --json -");
  PROGRAM_EACH(i, row, program_list(json, "rows", SHAPES * CONTENDERS)) {
    expect_sound(row);
    if (is_loop(row))
      expect_full(row);
    else if (strcmp(program_text(row, "contender"), "replan"))
      expect_promised(row);
  }
  cr_expect_eq(program_number(row_of(json, "chance", "sorted"), "ratio"), 1);
}

/* All contenders meet the same costs: where every update costs 20 us, time is updates x 20 us; and the long first
 * update is there once. */
Test(bench_budget, charges_what_a_shape_says) {
  json_auto_t *json = program_json("bench budget --quick --no-wall --shape equal,first-200 --json -");
  for (int i = 0; i < CONTENDERS; i++) {
    json_t *equal = row_of(json, "equal", contenders[i]), *first = row_of(json, "first-200", contenders[i]);
    cr_expect_eq(program_number(equal, "inside_ns"), 20000 * program_number(equal, "updates"), "%s", contenders[i]);
    cr_expect_eq(program_number(first, "inside_ns"), 20000 * (program_number(first, "updates") - 1) + 200e6, "%s",
                 contenders[i]);
    cr_expect_eq(program_number(first, "longest_late_ns"), 190e6, "%s", contenders[i]);
  }
}

/* Of four kinds with costs and periods of their own, of which the file says how many there are. */
Test(bench_budget, measures_the_npcs_of_a_spawn_file) {
  json_auto_t *json = program_json("bench budget --quick --no-wall --shape spawns --spawns " MUSTER_SOURCE_DIR
                                   "/src/scenarios/village.csv --budget 200us --json -");
  PROGRAM_EACH(i, row, program_list(json, "rows", CONTENDERS)) {
    cr_expect_eq(program_number(row, "agents"), 600);
    cr_expect_gt(program_number(row, "frames_waiting"), 500);
    expect_sound(row);
    if (is_loop(row)) expect_full(row);
  }
}

Test(bench_budget, measures_each_number_of_agents_with_each_budget) {
  static const double agents[] = {3000, 3000, 5000, 5000}, budgets_ns[] = {2e6, 5e6, 2e6, 5e6};
  json_auto_t *json = program_json("bench budget --quick --no-wall --shape equal --contender sorted --agents 3000,5000 "
                                   "--budget 2ms,5ms --json -");
  PROGRAM_EACH(i, row, program_list(json, "rows", 4)) {
    PROGRAM_EXPECT_VALUES(row, {"agents", agents[i]}, {"budget_ns", budgets_ns[i]},
                          {"updates_per_frame", budgets_ns[i] / 20000});
  }
}

/* Time that the kernel takes is in nobody's accounts: a frame of 10 ms in which it takes two fifths has 6 ms. */
Test(bench_budget, gives_no_budget_for_what_the_kernel_takes) {
  json_auto_t *json = program_json("bench budget --quick --no-wall --shape taken,step --json -");
  json_t *taken = row_of(json, "taken", "sorted"), *step = row_of(json, "step", "sorted");
  cr_expect_float_eq(program_number(taken, "updates_per_frame"), 300, 5);
  cr_expect_geq(program_number(taken, "used_share"), 0.99);
  cr_expect_leq(program_number(taken, "longest_late_ns"), 20000);
  cr_expect_eq(program_number(step, "updates_per_frame"), 500, "each agent once a frame");
}

/* On the wall clock only what adds up is looked at: figures are the machine's. */
Test(bench_budget, runs_on_the_wall_clock_beside_a_load) {
  json_auto_t *json = program_json(
      "bench budget --shape noise --contender library,library-2,sorted,sorted-2 --wall-frames 30 --json -");
  cr_expect_gt(program_number(row_of(json, "noise", "sorted-2"), "updates_per_frame"), 0);
  cr_expect_float_eq(program_number(row_of(json, "noise", "sorted-2"), "updates_ratio"), 1, 1e-9, "beside itself");
  cr_expect_gt(program_number(row_of(json, "noise", "library-2"), "updates_ratio"), 0);
  PROGRAM_EACH(i, row, program_list(json, "rows", 4)) {
    cr_expect_str_eq(program_text(row, "clock"), "wall");
    cr_expect_eq(program_number(row, "frames"), 80, "four times as many, of which the first two seconds are left out");
    expect_sound(row);
  }
}

/* As many frames as were asked for, a few in a quick run, and none where the clock is left out. */
Test(bench_budget, runs_so_many_frames_on_the_wall_clock) {
  static const struct {
    const char *options;
    double frames;
  } runs[] = {{"--quick", 30}, {"--quick --wall-frames 31", 31}, {"--quick --no-wall", 0}, {"--seconds 31", 120}};
  for (size_t i = 0; i < sizeof runs / sizeof *runs; i++) {
    char line[128];
    snprintf(line, sizeof line, "bench budget --shape noise --contender library --json - %s", runs[i].options);
    json_t *json = program_json(line);
    cr_expect_eq(program_number(json, "wall_frames"), runs[i].frames, "%s", runs[i].options);
    json_decref(json);
  }
}

Test(bench_budget, prints_tables_and_is_the_same_every_time) {
  static const char command[] =
      "bench budget --quick --no-wall --shape members,player-20,one-type --contender plan,sorted";
  SCOPED_RUN *first = program_good(command), *second = program_good(command);
  PROGRAM_EXPECT_SAYS(first->output, "Share of the budget that is used", "player-20   sorted   near ",
                      "one-type    sorted ");
  cr_expect(strstr(first->output, "robin") == NULL, "it was not asked for");
  cr_expect_str_eq(first->output, second->output);
}

Test(bench_budget, refuses_what_it_does_not_know_in_one_line) {
  BENCH_EXPECT_REFUSALS("budget", "dispatch", {"--shape equal,square", 2, "unknown shape 'square'"},
                        {"--shape equal,spawns", 2, "say where the spawns are: --spawns FILE.csv"},
                        {"--contender flecs", 2, "unknown contender 'flecs'"}, {"--seconds 3", 2, "--seconds"},
                        {"--plans 0", 2, "--plans"}, {"--report cpu", 2, "--report is 'cpu'"},
                        {"--budget 10ms,1us", 2, "--budget is '1us'"}, {"--agents 10,1,100", 2, "--agents is '1'"},
                        {"--agents 10,10,10,10,10,10,10,10,10", 2, "--agents has more than 8 values"});
}
