/* The reproduction of Wright & Marshall, as the program tells it. */
#include "repro.h"

static json_t *version_of(json_t *json, const char *name) {
  json_t *versions = program_member(json, "versions");
  for (size_t i = 0; i < json_array_size(versions); i++) {
    json_t *version = json_array_get(versions, i);
    if (strcmp(json_string_value(program_member(version, "name")), name) == 0) return version;
  }
  cr_assert_fail("there is no version %s", name);
  return NULL;
}

static double agents_of(json_t *json, const char *name) {
  return program_number(version_of(json, name), "agents_before_degradation");
}

static void expect_table2(json_t *json) {
  static const int published[] = {13, 4, 12, 1};
  json_t *table = program_member(json, "table2");
  cr_assert_eq(json_array_size(table), 4);
  for (size_t i = 0; i < 4; i++) cr_assert_eq(json_integer_value(json_array_get(table, i)), published[i]);
}

/* What t p / sum of p gives, by hand, and what three frames make of a set that needs three. */
static void expect_manager(json_t *json) {
  static const char *const modes[] = {"run", "suspendable", "sliceable"};
  static const int began[] = {3, 3, 1}, atoms[] = {90, 30, 30}, completed[] = {3, 0, 1};
  static const double parts[] = {0.1, 0.3, 0.6};
  json_t *manager = program_member(json, "manager");
  json_t *agents = program_member(manager, "parts_of_agents"), *sets = program_member(manager, "parts_of_sets");
  for (size_t i = 0; i < 3; i++) {
    json_t *mode = program_member(manager, modes[i]);
    cr_expect_eq(program_number(mode, "began"), began[i]);
    cr_expect_eq(program_number(mode, "atoms"), atoms[i]);
    cr_expect_eq(program_number(mode, "completed"), completed[i]);
    cr_expect_eq(json_integer_value(json_array_get(program_member(manager, "turns"), i)), 3);
    cr_expect_float_eq(json_real_value(json_array_get(agents, i)), parts[i], 0.02);
    cr_expect_float_eq(json_real_value(json_array_get(sets, i)), parts[i], 0.02);
  }
}

/* P(t) of 169 agents, by hand: all three in frame 48, two in 36; none in 47. */
static void expect_processes(json_t *json) {
  json_t *before = program_member(json, "processes.before"), *after = program_member(json, "processes.after");
  static const int frames[] = {48, 36, 47}, running[] = {3, 2, 0};
  long long sum_before = 0, sum_after = 0;
  for (size_t i = 0; i < 3; i++)
    cr_assert_eq(json_integer_value(json_array_get(before, (size_t)frames[i])), 169 * running[i]);
  for (size_t i = 48; i < 72; i++) {
    sum_before += json_integer_value(json_array_get(before, i));
    sum_after += json_integer_value(json_array_get(after, i));
    cr_assert_leq(json_integer_value(json_array_get(after, i)), 3 * 169 / 2);
  }
  cr_assert_eq(sum_before, 169 * (6 + 4 + 3));
  cr_assert_eq(sum_after, sum_before, "delays move processes, and lose none");
}

static void expect_versions(json_t *json) {
  double naive = agents_of(json, "naive"), unscheduled = agents_of(json, "unscheduled");
  double scheduled = agents_of(json, "scheduled"), delayed = agents_of(json, "scheduled, delay <= 2");
  cr_assert_eq(unscheduled, 67, "the budget is chosen so");
  cr_assert_lt(naive, unscheduled);
  cr_assert_lt(unscheduled, scheduled);
  cr_assert_lt(scheduled, delayed);
  cr_assert_geq(delayed, 2.5 * unscheduled);
  json_t *version = version_of(json, "scheduled, delay <= 2");
  cr_assert_geq(program_number(version, "agents_before_first_miss"), 2.5 * unscheduled);
  cr_assert_geq(program_number(version, "agents_before_first_miss"), 169);
  cr_assert_eq(program_number(version, "with_169_agents.missed_sets_share"), 0);
  cr_assert_gt(program_number(version_of(json, "unscheduled"), "with_169_agents.missed_updates_share"), 0.1);
  cr_assert_eq(program_number(version, "published_agents"), 169);
  cr_assert(json_is_number(program_member(version, "overhead_share")), "it is measured, whatever it is");
}

Test(repro_wright, holds) {
  static const repro_statements none[] = {{NULL, 0}};
  static const repro_statements checks[] = {{"Table 2: 4, 6, 8: two processes", 1},
                                            {"Table 2: 4, 6, 8: three processes", 1},
                                            {"Table 2: 3, 5, 7: two processes", 1},
                                            {"Table 2: 3, 5, 7: three processes", 1},
                                            {"delays of up to 2 frames halve the peak", 1},
                                            {"agents' share of the frame: priorities", 1},
                                            {"agents' share of the frame: all of it", 1},
                                            {"sets' share of the update: priorities", 1},
                                            {"sets' share of the update: all of it", 1},
                                            {"mode run", 1},
                                            {"mode suspendable", 1},
                                            {"mode sliceable", 1},
                                            {"out of time, it goes on behind the last set", 1},
                                            {"naive: with too many agents", 1},
                                            {"unscheduled: with too many agents", 1},
                                            {"scheduled: with too many agents", 1},
                                            {"scheduled, delay <= 2: with too many agents", 1},
                                            {"ours on 1 worker: with too many agents", 1},
                                            {"ours on 2 workers: with too many agents", 1},
                                            {"ours on 4 workers: with too many agents", 1},
                                            {"169 agents: with delay nothing is missed", 1},
                                            {"ours on 2 workers: run on 2 threads, the same world", 1},
                                            {"ours on 4 workers: run on 4 threads, the same world", 1},
                                            {"with too many agents, elastic periods", 1},
                                            {"unscheduled serves more agents than naive", 1},
                                            {"scheduled serves more than unscheduled", 1},
                                            {"scheduled with delay serves more than without", 1},
                                            {"before degradation, scheduled with delay", 1},
                                            {"before anything is missed, scheduled with delay", 1},
                                            {"ours on 2 workers: ", 1},
                                            {"ours on 4 workers: ", 1},
                                            {NULL, 0}};
  json_t *json = repro_json("wright", checks, none);
  expect_table2(json);
  expect_processes(json);
  expect_manager(json);
  expect_versions(json);
  cr_assert(json_is_true(program_member(version_of(json, "unscheduled"), "chosen")));
  cr_assert_eq(program_number(json, "budget_chosen_for_agents"), 67);
  cr_assert(json_is_true(program_member(version_of(json, "ours on 4 workers"), "same_world_on_one_thread")));
  json_decref(json);
}

/* In virtual time: what a quick run shows is the same everywhere, and has no figures of what it leaves out. */
Test(repro_wright, shows_its_versions_and_its_peaks_in_a_quick_run) {
  static const char *const lines[] = {
      "paper                13              4             12              1\n",
      "ours                 13              4             12              1\n",
      "agents, of the frame              9.1 %     30.3 %     60.6 %\n",
      "sets, of the update              10.0 %     30.0 %     60.0 %\n",
      "suspendable                           3         30          0\n",
      "sliceable                             1         30          1\n",
      "naive                                             66.7 %  0.33    83.3 %  0.17                \n",
      "unscheduled                   67                  25.0 %  0.75    45.5 %  0.55                \n",
      "scheduled, delay <= 2        169                   0.0 %  1.00    27.3 %  0.71                \n",
      "ours on 4 workers                                  0.0 %  0.99     0.0 %  0.99                \n",
      "\n  24   507 ##############################  168 ##########",
      "\n  28   169 ##########                       56 ###"};
  program_run *run = program_start("repro wright --quick");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
    cr_expect(strstr(run->output, lines[i]), "'%s' is not in: %s", lines[i], run->output);
  cr_expect(!strstr(run->output, "The overhead is what Muster takes"), "it was left out");
  free(run);
}

Test(repro_wright, measures_only_what_is_modelled) {
  PROGRAM_EXPECT_REFUSALS({"repro tan-wong --measure", 2, "tan-wong has no costs to measure"},
                          {"repro wrigth", 2, "did you mean 'wright'"});
}
