/* The reproduction of Wright & Marshall, as the program tells it. */
#include "repro.h"

static json_t *version_of(json_t *json, const char *name) {
  json_t *version = program_find(program_member(json, "versions"), "name", name, NULL, NULL);
  cr_assert_not_null(version, "there is no version %s", name);
  return version;
}

static double agents_of(json_t *json, const char *name) {
  return program_number(version_of(json, name), "agents_before_degradation");
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
    PROGRAM_EXPECT_VALUES(mode, {"began", began[i]}, {"atoms", atoms[i]}, {"completed", completed[i]});
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
  cr_assert(naive < unscheduled && unscheduled < scheduled && scheduled < delayed, "%g, %g, %g, %g", naive, unscheduled,
            scheduled, delayed);
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
  static const char *const checks[] = {
      /* delays */
      "Table 2: 4, 6, 8: two processes", "Table 2: 4, 6, 8: three processes", "Table 2: 3, 5, 7: two processes",
      "Table 2: 3, 5, 7: three processes", "delays of up to 2 frames halve the peak",
      /* the manager */
      "agents' share of the frame: priorities", "agents' share of the frame: all of it",
      "sets' share of the update: priorities", "sets' share of the update: all of it", "mode run", "mode suspendable",
      "mode sliceable", "out of time, it goes on behind the last set",
      /* versions */
      "naive: with too many agents", "unscheduled: with too many agents", "scheduled: with too many agents",
      "scheduled, delay <= 2: with too many agents", "ours on 1 worker: with too many agents",
      "ours on 2 workers: with too many agents", "ours on 4 workers: with too many agents",
      "169 agents: with delay nothing is missed", "ours on 2 workers: run on 2 threads, the same world",
      "ours on 4 workers: run on 4 threads, the same world", "with too many agents, elastic periods",
      /* one beside another */
      "unscheduled serves more agents than naive", "scheduled serves more than unscheduled",
      "scheduled with delay serves more than without", "before degradation, scheduled with delay",
      "before anything is missed, scheduled with delay", "ours on 2 workers: ", "ours on 4 workers: ", NULL};
  json_auto_t *json = repro_json("wright", checks, repro_none);
  static const int published[] = {13, 4, 12, 1};
  PROGRAM_EACH(i, cell, program_list(json, "table2", 4)) cr_assert_eq(json_integer_value(cell), published[i]);
  expect_processes(json);
  expect_manager(json);
  expect_versions(json);
  cr_assert(program_true(version_of(json, "unscheduled"), "chosen"));
  cr_assert_eq(program_number(json, "budget_chosen_for_agents"), 67);
  cr_assert(program_true(version_of(json, "ours on 4 workers"), "same_world_on_one_thread"));
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
