/* What `muster run` reports, for people and for machines. */
#include "program.h"

#define SMALL "run tan-wong --virtual --frames 40 --warm-up 10 --json -"

static void expect_quantiles(json_t *json, const char *name) {
  static const char *const ranks[] = {"p50", "p99", "p999", "max"};
  double before = 0;
  for (size_t i = 0; i < COUNT_OF(ranks); i++) {
    const char *path = formed("%s.%s", name, ranks[i]);
    double value = program_number(json, path);
    cr_assert(value >= before, "%s is below the quantile before it", path);
    before = value;
  }
}

/* Whether this is in what a run tells people, without regard to where lines are broken. */
static void expect_told(const char *line, const char *says, bool told) {
  SCOPED_RUN *run = program_good("%s", line);
  cr_assert_eq(strstr(program_words(run->output), says) != NULL, told, "muster %s: %s", line, run->output);
}

Test(run_report, has_every_member_of_its_schema) {
  static const char *const numbers[] = {
      /* what was asked for */
      "agents", "workers", "seed", "frames", "budget_ns", "frame_period_ns",
      /* times */
      "wall_ns.mean", "longest_atom_ns", "longest_claim_ns",
      /* the promise */
      "promise.frames", "promise.kept_share", "promise.cpu_share_of_capacity",
      /* updates */
      "updates.released", "updates.completed", "updates.carried", "updates.preempted",
      /* what they cost */
      "overhead.ns_per_update", "overhead.ns_per_frame", "overhead.budget_share", "serial.ns_per_frame", "serial.share",
      "serial.actions.ns_per_frame", "serial.actions.share",
      /* load and memory */
      "period.mean_deviation_ns", "utilisation.desired", "utilisation.achieved", "pressure.mean", "pressure.max",
      "important_load.mean", "important_load.max", "important_load.above_one_share", "memory.bytes_per_agent",
      "memory.total_bytes",
      /* waiting, and who takes long */
      "wait.longest_ns", "wait.bound_ns", "runaways.overruns", "runaways.blocked", "runaways.worst_blocked_ns",
      "runaways.quarantines", "runaways.stuck", "runaways.agents_demoted",
      /* stages */
      "stages_ns.intake", "stages_ns.run", "stages_ns.commit", "world.animats"};
  json_auto_t *json = program_json(SMALL);
  for (size_t i = 0; i < COUNT_OF(numbers); i++) program_number(json, numbers[i]);
  expect_quantiles(json, "wall_ns");
  expect_quantiles(json, "overrun_wall_ns");
  expect_quantiles(json, "overrun_own_ns");
  cr_assert_str_eq(program_text(json, "scenario"), "tan-wong");
  program_list(json, "levels", 4);
  cr_assert_eq(strlen(program_text(json, "world_hash")), 16);
  program_list(json, "staleness_by_importance", 5);
}

/* Of forty frames less than 99 % are no longer than the last but one. */
Test(run_report, percentiles_of_few_frames_are_not_too_small) {
  json_auto_t *json = program_json(SMALL);
  cr_expect_eq(program_number(json, "wall_ns.p99"), program_number(json, "wall_ns.max"));
  cr_expect_eq(program_number(json, "wall_ns.p999"), program_number(json, "wall_ns.max"));
}

Test(run_report, counts_what_was_asked_for) {
  json_auto_t *json = program_json(SMALL " --agents 60 --budget 5ms --hz 59.94 --seed 9 --workers 2");
  PROGRAM_EXPECT_VALUES(json, {"agents", 60}, {"workers", 2}, {"seed", 9}, {"frames", 40}, {"budget_ns", 5e6},
                        {"frame_period_ns", 16683350});
}

/* 100 animats of 0.373 ms in 30 frames per second want at least 14 ms; 10 ms of capacity are used up, 20 ms are not. */
Test(run_report, shows_pressure_and_waiting_where_the_capacity_is_short) {
  json_auto_t *tight = program_json(SMALL), *wide = program_json(SMALL " --budget 10ms --capacity 50ms");
  cr_assert_gt(program_number(tight, "pressure.mean"), 1.0);
  cr_assert_gt(program_number(tight, "updates.carried"), 0);
  cr_assert_gt(program_number(tight, "promise.budget_used_share"), 0.9);
  cr_assert(program_true(tight, "wait.within"));
  PROGRAM_EXPECT_VALUES(wide, {"pressure.mean", 0}, {"updates.carried", 0});
  cr_assert(json_is_null(program_member(wide, "promise.budget_used_share")), "no work ever waited");
  cr_assert_eq(program_number(wide, "updates.completed"), 40 * 100);
}

/* An observer sees all 100 animats, each of which wants 0.373 ms every 33.3 ms: 1.119 processors. 10 ms of 33.3 are
 * 0.3. */
Test(run_report, says_by_how_much_the_important_alone_do_not_fit) {
  static const char said[] = "important NPCs alone need";
  json_auto_t *tight = program_json(SMALL " --observers 1"), *unseen = program_json(SMALL);
  double mean = program_number(tight, "important_load.mean");
  cr_assert_float_eq(mean * program_number(tight, "utilisation.desired"), 1.119, 0.005);
  cr_assert_eq(program_number(tight, "important_load.above_one_share"), 1);
  cr_assert_eq(program_number(unseen, "important_load.max"), 0);
  SCOPED_RUN *run = program_start("run tan-wong --virtual --frames 40 --warm-up 10 --observers 1");
  const char *words = strstr(run->output, said);
  cr_assert_not_null(words, "%s", run->output);
  cr_assert_float_eq(strtod(words + strlen(said), NULL), mean, 0.2, "%s", words); /* of as many frames, and a digit */
  cr_assert_not_null(strstr(words, " times the budget, in 100.0 % of frames\n"), "%s", words);
  /* and where they fit, nothing */
  expect_told("run tan-wong --virtual --frames 40 --warm-up 10 --observers 1 --capacity 50ms", said, false);
}

Test(run_report, measures_the_promise_unless_told_not_to) {
  json_auto_t *plain = program_json("run tan-wong --no-pace --frames 5 --warm-up 0 --no-audit --json -");
  json_auto_t *audited = program_json("run tan-wong --no-pace --frames 5 --warm-up 0 --json -");
  static const char *const unknown[] = {"overrun_own_ns", "longest_atom_ns", "longest_claim_ns", "promise.kept_share",
                                        "promise.budget_used_share"};
  for (size_t i = 0; i < COUNT_OF(unknown); i++)
    cr_assert(json_is_null(program_member(plain, unknown[i])), "%s", unknown[i]);
  expect_quantiles(audited, "overrun_own_ns");
  cr_assert_leq(program_number(audited, "promise.kept_share"), 1.0);
  PROGRAM_EXPECT_POSITIVE(audited, "longest_atom_ns", "longest_claim_ns", "overhead.ns_per_frame");
}

/* Both clocks of a frame's thread give a part of the work; in virtual time there is none. */
Test(run_report, says_what_part_no_other_worker_can_take) {
  static const char said[] = " of the work is done while no other worker may work: any number of workers gives at most",
                    said_of_one[] = " of the work is stages of the frame; more workers would share some of it";
  json_auto_t *virtual = program_json(SMALL),
              *plain = program_json("run tan-wong --no-pace --frames 5 --no-audit --json -");
  PROGRAM_EXPECT_VALUES(virtual, {"serial.share", 0}, {"serial.ns_per_frame", 0});
  cr_assert_gt(program_number(plain, "serial.ns_per_frame"), 0);
  cr_assert(program_number(plain, "serial.share") > 0 && program_number(plain, "serial.share") < 1);
  expect_told("run tan-wong --no-pace --frames 5 --workers 2", said, true);
  SCOPED_RUN *one = program_good("run tan-wong --no-pace --frames 5 --workers 1");
  SCOPED_RUN *none = program_good("run tan-wong --virtual --frames 5");
  program_words(one->output);
  cr_assert(strstr(one->output, said_of_one) && !strstr(one->output, said), "%s", one->output);
  cr_assert_null(strstr(none->output, "\nSerial "), "%s", none->output);
}

/* Wolves act one after another, deer by region, and animats not at all. */
Test(run_report, says_what_limit_actions_have_that_run_one_after_another) {
  static const char said[] = " of the work is actions that run one after another: they alone limit any number of";
  json_auto_t *herd = program_json("run herd --virtual --agents 20000 --observers 9 --frames 60 --json -");
  json_auto_t *none = program_json(SMALL);
  double share = program_number(herd, "serial.actions.share");
  cr_assert(share > 0 && share < 1, "%g", share);
  cr_assert_float_eq(program_number(herd, "serial.actions.speedup_max") * share, 1.0, 1e-6);
  cr_assert_gt(program_number(herd, "serial.actions.ns_per_frame"), 0);
  cr_assert_eq(program_number(none, "serial.actions.share"), 0);
  cr_assert(json_is_null(program_member(none, "serial.actions.speedup_max")));
  expect_told("run herd --virtual --agents 20000 --observers 9 --frames 60", said, true);
  expect_told("run wildlife --virtual --agents 2000 --frames 60", said, false);
}

Test(run_report, tells_what_the_machine_alone_would_have_kept_where_it_was_watched) {
  json_auto_t *plain = program_json("run tan-wong --frames 5 --warm-up 0 --hz 200 --budget 1ms --json -");
  json_auto_t *watched = program_json("run tan-wong --frames 5 --warm-up 0 --hz 200 --budget 1ms --machine --json -");
  cr_assert(json_is_null(program_member(plain, "promise.machine_kept_share")));
  cr_assert_eq(program_number(plain, "promise.machine_frames"), 0);
  cr_assert_eq(program_number(watched, "promise.machine_frames"), 5);
  double kept = program_number(watched, "promise.machine_kept_share") * 5;
  cr_assert(kept >= 0.0 && kept <= 5.0 && fabs(kept - round(kept)) < 1e-6, "a share of five frames: %g", kept);
}

Test(run_report, knows_audit_as_what_it_does_anyway) {
  json_auto_t *json = program_json("run tan-wong --no-pace --frames 5 --warm-up 0 --no-audit --audit --json -");
  cr_assert(json_is_number(program_member(json, "promise.kept_share")));
}

/* The report says what the document for machines says, whatever that is just now. */
Test(run_report, says_what_others_took_of_the_machine_meanwhile) {
  json_auto_t *json = NULL;
  SCOPED_RUN *run = program_both("run tan-wong --frames 60 --warm-up 0", &json);
  double others = program_number(json, "others_cpu_share"), stolen = program_number(json, "stolen_cpu_share");
  cr_assert(others >= 0 && others <= 1.1 && stolen >= 0 && stolen <= 1.1, "%g %g", others, stolen);
  bool loud = others > 0.05 || stolen > 0.02;
  cr_assert_not_null(strstr(run->output, loud ? "\nMachine   NOT QUIET: " : "\nMachine   quiet: "), "%s", run->output);
}

/* In virtual time nothing that others do changes anything, and a tenth of a second shows nothing of it. */
Test(run_report, says_nothing_of_the_machine_where_that_does_not_matter_or_is_not_known) {
  json_auto_t *virtual = program_json(SMALL),
              *brief = program_json("run tan-wong --no-pace --frames 2 --warm-up 0 --json -");
  cr_assert(json_is_null(program_member(virtual, "others_cpu_share")));
  cr_assert(json_is_null(program_member(brief, "others_cpu_share")));
}

static void expect_narrow(const char *line, size_t columns) {
  SCOPED_RUN *run = program_good("%s", line);
  for (const char *next = run->output; *next;) {
    size_t length = strcspn(next, "\n");
    cr_expect(length <= columns, "muster %s: %zu columns: %.*s", line, length, (int)length, next);
    next += length + (next[length] == '\n');
  }
}

/* Reports with all their lines, and the help. */
Test(run_report, fits_the_terminal_and_eighty_columns_where_none_is_known) {
  static const char *const lines[] = {/* starved ones, long names, runaways, what the machine took */
                                      "run hostile --agents 1500 --frames 20 --budget 0.2ms --no-pace",
                                      "run tan-wong --frames 8 --warm-up 0 --hz 100 --budget 1ms --machine",
                                      "run fixed --agents 60000 --frames 5 --budget 0.05ms --no-pace",
                                      "run pathstorm --agents 100 --frames 5 --no-pace --no-audit",
                                      "explain wildlife --virtual --agents 1500 --capacity 0.02ms --frames 20",
                                      /* the help */
                                      "run --help", "explain --help", "bench --help", "--help"};
  for (size_t i = 0; i < COUNT_OF(lines); i++) {
    unsetenv("COLUMNS");
    expect_narrow(lines[i], 80);
    setenv("COLUMNS", "60", 1);
    expect_narrow(lines[i], 60);
  }
}

/* So little time that nothing fits: a guarantee of hours and endless pressure are said in words. */
Test(run_report, has_words_for_figures_that_would_say_nothing) {
  SCOPED_RUN *run = program_good("run fixed --virtual --agents 200000 --cost 500us --capacity 0.01ms --workers 1 "
                                 "--frames 8 --fit elastic");
  program_words(run->output);
  PROGRAM_EXPECT_SAYS(run->output, "max over 1,000", " min, longer than the run", "updates took 0.015 of a processor",
                      "frames whose budget left next to nothing");
  PROGRAM_EXPECT_NEVER(run->output, "1000000.00", "% wanted");
}

/* More than all is no share of it. Whether the budget of 10 us is less than the overhead is the machine's to decide. */
Test(run_report, tells_overhead_beyond_the_budget_as_so_many_budgets) {
  json_auto_t *json = NULL;
  SCOPED_RUN *run =
      program_both("run fixed --agents 60000 --frames 8 --budget 0.01ms --no-pace --workers 1 --fit elastic", &json);
  bool beyond = program_number(json, "overhead.budget_share") > 1;
  program_words(run->output);
  cr_expect_not_null(strstr(run->output, beyond ? " times the budget: raise --budget" : " % of the budget"), "%s",
                     run->output);
}

/* A time with its unit, in ns, or a count; a dash is none: -1. Moves on behind it. */
static double read_cell(const char **text) {
  static const struct {
    const char *unit;
    double ns;
  } units[] = {{" ns", 1}, {" us", 1e3}, {" ms", 1e6}, {" s", 1e9}, {" min", 60e9}, {" h", 3600e9}};
  char digits[32] = "";
  const char *at = *text + strspn(*text, " ");
  for (; *at && *at != ' ' && *at != '\n'; at++)
    if (*at != ',') strncat(digits, at, 1);
  double value = strcmp(digits, "-") == 0 ? -1 : strtod(digits, NULL);
  for (size_t i = 0; i < COUNT_OF(units); i++) {
    size_t length = strlen(units[i].unit);
    if (strncmp(at, units[i].unit, length) != 0 || !strchr(" \n", at[length])) continue;
    value *= units[i].ns;
    at += length;
    break;
  }
  *text = at;
  return value;
}

/* Three digits are shown. */
static void expect_row(const char *row, const json_t *band) {
  static const char *const members[] = {"agents",  "wanted",  "period", "interval",
                                        "age_p50", "age_p99", "max",    "beyond_wish"};
  for (size_t i = 0; i < COUNT_OF(members); i++) {
    double value = json_number_value(json_object_get(band, members[i])), shown = read_cell(&row);
    bool dash = value == 0.0 && shown == -1;
    cr_expect(dash || fabs(shown - value) <= 0.0051 * value, "%s: %g, and %g shown", members[i], value, shown);
  }
}

/* One row a band, the most important first, and the document for machines says the same. */
Test(run_report, shows_by_bands_of_importance_how_often_agents_run) {
  static const char *const names[] = {"\n 0 ", "\n up to 1/4 ", "\n up to 1/2 ", "\n up to 3/4 ", "\n up to 1 "};
  json_auto_t *json = NULL;
  SCOPED_RUN *run = program_both("run wildlife --virtual --agents 3000 --capacity 0.1ms --frames 90", &json);
  const char *below = NULL;
  double agents = 0, completed = 0;
  PROGRAM_EACH(i, band, program_list(json, "staleness_by_importance", 5)) {
    const char *row = strstr(run->output, names[i]);
    cr_assert_not_null(row, "no row '%s' in: %s", names[i], run->output);
    cr_expect(!below || row < below, "the most important comes first");
    below = row;
    expect_row(row + strlen(names[i]), band);
    cr_expect_eq(json_number_value(json_object_get(band, "from")), i ? 0.25 * (double)(i - 1) : 0.0);
    cr_expect_eq(json_number_value(json_object_get(band, "to")), 0.25 * (double)i);
    agents += program_number(band, "agents");
    completed += program_number(band, "completed");
  }
  cr_expect_leq(fabs(agents - 3000), 300, "%g agents are in bands", agents);
  cr_expect_eq(completed, program_number(json, "updates.completed"));
}

Test(run_report, can_be_read_by_people) {
  SCOPED_RUN *run = program_good("run tan-wong --virtual --frames 20");
  PROGRAM_EXPECT_SAYS(run->output, "100 agents", "| = budget", "p99.9", "Promise", "Updates", "Pressure", "Wait",
                      "Importance", "Levels", "Memory", "species 1", "World");
  cr_assert(run->errors[0] == '\0', "no terminal, no progress: %s", run->errors);
}

/* Two hours in steps of a minute, and then the frames of a visit. */
Test(run_report, counts_the_time_that_a_scenario_lets_pass) {
  json_auto_t *json = program_json("run empty --virtual --frames 140 --warm-up 0 --agents 600 --workers 1 --json -");
  double simulated_s = program_number(json, "world.simulated_s");
  cr_assert(simulated_s > 7200 && simulated_s < 7210, "%g s", simulated_s);
  PROGRAM_EXPECT_VALUES(json, {"world.visits", 1}, {"world.violations", 0});
  cr_assert_gt(program_number(json, "wait.bound_ns"), 60e9, "the longest frame counts");
}
