/* `muster stress`, as the program tells it: structure and coherence of its report, and what it compares and refuses.
 * How far anything holds is not tested: the machine that tests is busy with other tests. */
#include "support/skip.h"
#include "terminal.h"

static const char *const axes[] = {"agents", "crowd", "observers", "messages", "spawns", "wakes", "workers", "all"};

enum { AXES = COUNT_OF(axes) };

/* ---------------------------------------------------------------------------------------------------------- reports */

static void expect_step(json_t *step) {
  static const char *const numbers[] = {
      /* of the step */
      "value", "times", "attempts", "frames", "kept", "excused", "kept_share", "budget_used_share",
      /* of a frame */
      "updates_per_frame", "carried_per_frame", "pressure.mean", "pressure.max", "important.load", "important.agents",
      /* what it takes */
      "overhead_ns_per_update", "serial_share", "serial_ns_per_frame", "serial_idle_share", "bytes", "wall_ns.p50",
      "wall_ns.p99", "wall_ns.max", "overrun_own_p99_ns", "longest_atom_ns", "longest_wait_ns",
      /* what is sent, spawned, asked for and refused */
      "messages.sent", "messages.refused", "messages.dropped", "spawns_refused", "commands_refused", "intake.waiting",
      "intake.waiting_frames", "waiting.frames_share", "events_share", "wakes_answered", "queries_cut",
      "queries_cut_share", "crowd_rounds", "fullest_cell_share"};
  program_expect_amounts(step, numbers, COUNT_OF(numbers));
  bool holds = program_true(step, "holds");
  cr_expect_eq(holds, json_array_size(program_member(step, "not_met")) == 0);
  cr_expect_eq(holds, strcmp(program_text(step, "gave_way"), "nothing") == 0);
  PROGRAM_EXPECT_POSITIVE(step, "frames", "updates_per_frame", "messages.sent", "bytes");
  double judged = program_number(step, "frames") - program_number(step, "excused");
  cr_expect_leq(program_number(step, "kept"), judged);
  cr_expect_float_eq(program_number(step, "kept_share"), judged > 0 ? program_number(step, "kept") / judged : 0, 1e-9);
  PROGRAM_EXPECT_RISING(step, "wall_ns.p50", "wall_ns.p99", "wall_ns.max");
  PROGRAM_EXPECT_RISING(step, "pressure.mean", "pressure.max");
  PROGRAM_EXPECT_RISING(step, "messages.dropped", "messages.sent");
  cr_expect(program_number(step, "attempts") >= (holds ? 1 : 2), "what does not hold is measured again");
}

static void expect_types(json_t *step) {
  static const char *const names[] = {"walker", "planner", "courier", "visitor", "sleeper"};
  double updates = 0, time = 0;
  PROGRAM_EACH(i, type, program_list(step, "types", 5)) {
    cr_expect_str_eq(program_text(type, "name"), names[i]);
    updates += program_number(type, "updates_share");
    time += program_number(type, "time_share");
  }
  cr_expect_float_eq(updates, 1, 1e-9);
  cr_expect_float_eq(time, 1, 1e-9);
}

/* The limit is the last step before the one that ended the axis, or one of those before. */
static void expect_axis(json_t *axis) {
  json_t *steps = program_member(axis, "steps"), *limit_step = program_member(axis, "limit_step");
  size_t count = json_array_size(steps);
  bool most = strcmp(program_text(axis, "gave_way"), "nothing") == 0;
  cr_assert(count >= 1 && count <= 3, "%zu steps", count);
  PROGRAM_EACH(i, step, steps) {
    expect_step(step);
    expect_types(step);
  }
  cr_expect_str_eq(program_text(axis, "gave_way"), program_text(json_array_get(steps, count - 1), "gave_way"));
  cr_expect_eq(json_is_null(program_member(axis, "because")), most);
  if (json_is_null(limit_step)) {
    cr_expect(json_is_null(program_member(axis, "limit")) && !most);
    return;
  }
  json_t *step = json_array_get(steps, (size_t)json_integer_value(limit_step));
  cr_assert_not_null(step);
  cr_expect(program_true(step, "holds"));
  cr_expect_eq(program_number(axis, "limit"), program_number(step, "value"));
}

/* One knob doubles from step to step, and the others stay. */
static void expect_doubling(json_t *json, json_t *axis, const char *knob) {
  PROGRAM_EACH(i, step, program_member(axis, "steps")) {
    double begin = strcmp(knob, "workers") == 0 ? 1 : program_number(program_member(json, "baseline"), knob);
    cr_expect_eq(program_number(step, "value"), begin * (1 << i));
    for (size_t other = 0; other < 7; other++) {
      if (strcmp(axes[other], "crowd") == 0) continue;
      double wanted = program_number(program_member(json, "baseline"), axes[other]);
      if (strcmp(axes[other], knob) == 0) wanted = begin * (1 << i);
      cr_expect_eq(program_number(program_member(step, "load"), axes[other]), wanted, "%s of %s", axes[other], knob);
    }
    cr_expect_eq(program_true(step, "load.crowd"), strcmp(program_text(axis, "axis"), "crowd") == 0);
  }
}

Test(stress, raises_every_axis_and_reports_each_step) {
  json_auto_t *json = program_json("stress --quick --workers 2 --max-workers 2 --json -");
  cr_expect_str_eq(program_text(json, "bench"), "stress");
  cr_expect(program_true(json, "quick") && json_is_false(program_member(json, "interrupted")));
  cr_expect_gt(strlen(program_text(json, "machine.processor")), 0);
  cr_expect_geq(program_number(json, "machine.processors"), 1);
  PROGRAM_EXPECT_VALUES(json, {"criteria.kept_share_least", 0.99}, {"budget_ns", 10000000});
  cr_expect_eq(program_number(json, "planner_cost_ns"), 8 * program_number(json, "cost_ns"));
  double most = 0;
  PROGRAM_EACH(i, axis, program_list(json, "axes", AXES)) {
    cr_expect_str_eq(program_text(axis, "axis"), axes[i]);
    expect_axis(axis);
    PROGRAM_EACH(j, step, program_member(axis, "steps")) {
      most = fmax(most, json_number_value(program_member(step, "others_cpu_share")));
    }
    if (strcmp(axes[i], "all") != 0) expect_doubling(json, axis, strcmp(axes[i], "crowd") == 0 ? "agents" : axes[i]);
  }
  cr_expect_eq(program_number(json, "others_cpu_share_most"), most);
}

Test(stress, raises_the_wanted_axes_alone_by_as_many_steps_as_asked_for) {
  json_auto_t *json =
      program_json("stress --quick --axes wakes,agents --steps 1 --agents 64 --workers 1 --seed 7 --json -");
  PROGRAM_EACH(i, axis, program_list(json, "axes", 2)) {
    cr_expect_str_eq(program_text(axis, "axis"), i ? "wakes" : "agents");
    cr_expect_leq(json_array_size(program_member(axis, "steps")), 2);
    expect_axis(axis);
  }
  PROGRAM_EXPECT_VALUES(json, {"baseline.agents", 64}, {"baseline.workers", 1}, {"seed", 7});
}

/* Where all stand in one cell, the fullest has them all; elsewhere it has few. */
Test(stress, counts_the_crowd_in_a_cell) {
  json_auto_t *json = program_json("stress --quick --axes agents,crowd --steps 1 --workers 1 --json -");
  for (size_t i = 0; i < 2; i++) {
    json_t *step = program_at(program_at(json, "axes", i), "steps", 0);
    double share = program_number(step, "fullest_cell_share");
    cr_expect(i ? share == 1 : share < 0.1, "%g of agents stand in one cell", share);
  }
}

/* A step whose world would not fit is not begun, and memory gave way. */
Test(stress, names_memory_when_twice_the_world_does_not_fit) {
  json_auto_t *json = program_json(
      "stress --quick --axes agents --agents 4000 --messages 1 --memory 2 --frames 3 --workers 1 --json -");
  json_t *axis = program_at(json, "axes", 0), *steps = program_member(axis, "steps");
  json_t *last = json_array_get(steps, json_array_size(steps) - 1);
  if (program_number(last, "frames") > 0) SKIP_TEST("a busy machine ended it before");
  cr_expect_str_eq(program_text(axis, "gave_way"), "memory");
  cr_expect_str_eq(program_text(last, "gave_way"), "memory");
  cr_expect(json_is_null(program_member(last, "kept_share")));
  cr_expect_gt(program_number(last, "bytes"), 2 << 20);
  cr_expect(strstr(program_text(axis, "because"), "more than 2 MiB") != NULL, "%s", program_text(axis, "because"));
}

Test(stress, prints_what_holds_and_by_which_criteria) {
  SCOPED_RUN *run = program_good("stress --quick --axes agents,workers --workers 1 --steps 1");
  PROGRAM_EXPECT_SAYS(program_words(run->output), "quick: figures mean little",
                      "a step holds: promise kept in 99.0 % of frames",
                      " agents: ", " workers: ", "holds kept CPU updates pressure stretch load events overhead",
                      "in the loudest step, meanwhile other processes took");
}

Test(stress, explains_its_criteria_and_every_cause) {
  static const char *const tells[] = {/* causes */
                                      "serial_ns of a frame x (workers - 1) / (workers x budget)", "a crowded cell",
                                      "intake", "one type", "capacity", "a bound of the world", "the machine",
                                      "unknown",
                                      /* criteria */
                                      "muster_frame_kept() in 99.0 % of the frames",
                                      "within 2 times their wanted period", "nearby_cut", "--compare FILE"};
  SCOPED_RUN *run = program_good("stress --help");
  program_expect_says(program_words(run->output), tells, COUNT_OF(tells));
  PROGRAM_EXPECT_TELLINGS({"--help", "  stress "});
}

/* Of so many frames in a second, so many seconds, after a second that does not count. */
Test(stress, measures_seconds_as_frames_of_the_wanted_rate) {
  json_t *json = program_json("stress --axes agents --steps 1 --agents 16 --max-agents 16 --observers 1 --messages 1 "
                              "--workers 1 --hz 10 --seconds 2 --json -");
  cr_expect_eq(program_number(json, "frame_period_ns"), 100000000);
  cr_expect_eq(program_number(json, "frames"), 20);
  cr_expect_eq(program_number(json, "warm_up"), 10);
  json_decref(json);
}

/* What is known before anything is measured. The costs of planners have a bound of their own. */
Test(stress, says_what_it_does_and_by_which_numbers_it_judges) {
  json_auto_t *json = NULL;
  SCOPED_RUN *run = program_both("stress --quick --axes workers --steps 1 --workers 1 --max-workers 1 --agents 16 "
                                 "--observers 1 --cost 60us --hz 40 --seconds 1",
                                 &json);
  cr_expect_not_null(strstr(run->output, "stress: 1 worker on "), "%s", run->output);
  PROGRAM_EXPECT_VALUES(json, {"frames", 40}, {"warm_up", 2}, {"planner_cost_ns", 400000}, {"most.agents", 4000000},
                        {"most.observers", 65536}, {"most.messages", 1000000}, {"most.spawns", 65536},
                        {"most.wakes", 1000000}, {"most.workers", 1});
  PROGRAM_EXPECT_VALUES(program_member(json, "criteria"), {"important_stretch_most", 2}, {"events_share_least", 0.9},
                        {"waiting_frames_most", 10}, {"queries_cut_share_most", 0.01});
  PROGRAM_EXPECT_VALUES(program_member(json, "shown_from"), {"pressure", 1}, {"important_load", 1},
                        {"waiting_used_share", 0.8}, {"waiting_frames_share", 0.5}, {"fullest_cell_share", 0.5},
                        {"serial_idle_share", 0.25}, {"type_time_share", 0.5}, {"type_updates_share_most", 0.25},
                        {"others_cpu_share", 0.05}, {"stolen_cpu_share", 0.02});
}

/* --------------------------------------------------------------------------------------------------------- compared */

/* Writes a report of one axis. */
static void write_report(const char *path, const char *options) {
  free(program_good("stress --quick --axes agents --steps 1 --workers 1 --frames 3 %s --json %s", options, path));
}

Test(stress, puts_reports_that_it_wrote_side_by_side) {
  SCOPED_FILE one = program_file_make(), other = program_file_make();
  write_report(one.path, "--agents 64");
  write_report(other.path, "--agents 64");
  SCOPED_RUN *run = program_good("stress --again --compare %s --compare %s", one.path, other.path);
  const char *text = program_words(run->output);
  PROGRAM_EXPECT_SAYS(text, strrchr(one.path, '-') + 1, strrchr(other.path, '-') + 1, " baseline, agents 64 64 ",
                      " baseline, workers 1 1 ", " agents: holds at ");
  cr_expect(strstr(text, "wakes: holds at") == NULL, "an axis that none has is left out: %s", text);
  cr_expect(strstr(text, "THE LOADS DIFFER") == NULL, "%s", text);
}

Test(stress, puts_this_run_beside_an_earlier_one_and_says_when_loads_differ) {
  SCOPED_FILE earlier = program_file_make();
  write_report(earlier.path, "--agents 64");
  json_auto_t *json = NULL;
  SCOPED_RUN *run = program_both(
      formed("stress --quick --axes agents --steps 1 --workers 1 --frames 3 --agents 80 --compare %s", earlier.path),
      &json);
  PROGRAM_EXPECT_SAYS(program_words(run->output), "this run", " baseline, agents 80 64 ", "THE LOADS DIFFER");
  json_t *axis = program_at(json, "axes", 0), *limit = program_member(axis, "limit_step");
  if (json_is_null(limit)) return;
  double share = program_number(program_at(axis, "steps", (size_t)json_integer_value(limit)), "serial_share");
  PROGRAM_EXPECT_SAYS(run->output, formed(" serial share %.1f %% ", share * 100));
}

static const char report[] =
    "{\"bench\":\"stress\",\"format\":1,\"machine\":{\"processor\":\"Big\",\"processors\":128,\"version\":\"9.8.7\"},"
    "\"budget_ns\":1e7,\"frame_period_ns\":33333333,\"frames\":150,\"cost_ns\":5000,\"planner_cost_ns\":40000,"
    "\"others_cpu_share_most\":0.125,\"baseline\":{\"agents\":2000,\"observers\":16,\"messages\":64,\"spawns\":4,"
    "\"wakes\":16,\"workers\":128,\"crowd\":false},\"axes\":[{\"axis\":\"agents\",\"limit\":4000,\"limit_step\":1,"
    "\"gave_way\":\"serial rest\",\"steps\":[{},{\"updates_per_frame\":4321,\"overhead_ns_per_update\":250,"
    "\"serial_share\":0.25,\"budget_used_share\":0.75,\"bytes\":3145728}]},{\"axis\":\"all\",\"limit\":null,"
    "\"limit_step\":null,\"gave_way\":\"capacity\",\"steps\":[{}]}]}";

/* The limit, the cause and the figures of the limit are those of the file. */
Test(stress, shows_the_figures_of_the_limit_that_a_report_has) {
  SCOPED_FILE file = program_file_make();
  program_write(file.path, report, strlen(report));
  SCOPED_RUN *run = program_good("stress --again --compare %s", file.path);
  PROGRAM_EXPECT_SAYS(program_words(run->output), "processor Big", "processors 128", "muster 9.8.7",
                      "others' CPU at most 12.5 %",
                      "agents: holds at 4,000 gave way behind it serial rest updates per frame 4,321 "
                      "CPU used 75.0 % overhead per update 250 ns serial share 25.0 % memory 3 MiB",
                      "all: holds at none gave way behind it capacity updates per frame -");
}

/* Two reports that are alike but for one number. */
Test(stress, says_of_each_part_of_a_load_when_it_differs) {
  static const struct {
    const char *from, *to;
    bool differs;
  } cases[] = {{"\"budget_ns\":1e7", "\"budget_ns\":2e7", true},
               {"_period_ns\":33333333", "_period_ns\":33333334", true},
               {"\"cost_ns\":5000", "\"cost_ns\":6000", true},
               {"planner_cost_ns\":40000", "planner_cost_ns\":40001", true},
               {"\"agents\":2000", "\"agents\":2001", true},
               {"\"observers\":16", "\"observers\":17", true},
               {"\"messages\":64", "\"messages\":65", true},
               {"\"spawns\":4", "\"spawns\":5", true},
               {"\"wakes\":16", "\"wakes\":17", true},
               {"\"crowd\":false", "\"crowd\":true ", true},
               {"\"workers\":128", "\"workers\":256", false},
               {"\"frames\":150", "\"frames\":300", false},
               {"\"processors\":128", "\"processors\":256", false}};
  SCOPED_FILE one = program_file_make(), other = program_file_make();
  program_write(one.path, report, strlen(report));
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    const char *at = strstr(report, cases[i].from);
    cr_assert_not_null(at, "%s", cases[i].from);
    const char *text = formed("%.*s%s%s", (int)(at - report), report, cases[i].to, at + strlen(cases[i].from));
    program_write(other.path, text, strlen(text));
    SCOPED_RUN *run = program_good("stress --again --compare %s --compare %s", one.path, other.path);
    cr_expect_eq(strstr(run->output, "THE LOADS DIFFER") != NULL, cases[i].differs, "%s: %s", cases[i].to, run->output);
  }
}

static void expect_unreadable(const char *text, const char *says) {
  SCOPED_FILE file = program_file_make();
  program_write(file.path, text, strlen(text));
  PROGRAM_EXPECT_REFUSALS_OF("stress --again --compare", {file.path, 1, says});
}

Test(stress, refuses_reports_that_are_none_before_anything_is_measured) {
  expect_unreadable("agents", "line 1:");
  expect_unreadable("[]", "member 'bench' is not \"stress\"");
  expect_unreadable("{\"bench\":\"scale\"}", "is no report of `muster stress`: member 'bench' is not \"stress\"");
  expect_unreadable("{\"bench\":\"stress\"}", "member 'format' is missing");
  expect_unreadable("{\"bench\":\"stress\",\"format\":2}", "member 'format' is of another version of muster");
  expect_unreadable("{\"bench\":\"stress\",\"format\":1}", "member 'machine' is missing; write one with --json FILE");
  PROGRAM_EXPECT_REFUSALS({"stress --quick --compare /nowhere/r.json", 1, "cannot read '/nowhere/r.json'"});
}

/* --------------------------------------------------------------------------------------------------------- refusals */

Test(stress, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"stres", 2, "did you mean 'stress'"}, {"stress agents", 2, "'agents' is no option"},
      {"stress --xyzzy", 2, "unknown option --xyzzy; see `muster stress --help`"},
      {"stress --axes agents,wake", 2, "unknown axis 'wake'; did you mean 'wakes'"},
      {"stress --axes zzzz", 2,
       "unknown axis 'zzzz'; known: agents, crowd, observers, messages, spawns, wakes, workers, all\n"},
      {"stress --agents 15", 2, "--agents is '15'; give a whole number from 16"},
      {"stress --max-agents 9000000", 2, "--max-agents is '9000000'"},
      {"stress --agents 4000 --max-agents 2000", 2, "--max-agents is 2000, less than the baseline of 4000"},
      {"stress --workers 0", 2, "--workers is '0'"}, {"stress --steps 0", 2, "--steps is '0'"},
      {"stress --observers 65537", 2, "from 1 to 65536"}, {"stress --cost 5", 2, "such as 10ms"},
      {"stress --cost 300us", 2, "from 100 ns to 200 us"},
      {"stress --budget 40ms", 2, "--budget is 40 ms, longer than a frame of 33.3 ms; lower it or --hz"},
      {"stress --hz 100 --budget 5ms --max-spawns 40000", 2, "--max-spawns would let 4,000,000 visitors live at once"},
      {"stress --seconds 5 --frames 9", 2, "leave out one of them"}, {"stress --memory 0", 2, "--memory is '0'"},
      {"stress --again", 2, "add --compare FILE"},
      {"stress --again --quick --compare x.json", 2, "leave out --json, --plots, --quick and --axes"},
      {"stress --again --json r.json --compare x.json", 2, "leave out --json, --plots, --quick and --axes"},
      {"stress --again --plots /tmp --compare x.json", 2, "leave out --json, --plots, --quick and --axes"},
      {"stress --again --axes agents --compare x.json", 2, "leave out --json, --plots, --quick and --axes"},
      {"stress --json - --compare x.json", 2, "--json - wants standard output"},
      {"stress --json /tmp/x.json --compare /tmp/x.json", 2, "--json would overwrite the report '/tmp/x.json'"},
      {"stress --quick --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}

/* ------------------------------------------------------------------------------------------------------ interrupted */

/* It is interrupted in the first step of the second axis, which is measured whatever came of the first one. On a
 * terminal it says where it is many times a second. */
Test(stress, tells_what_it_found_until_it_was_interrupted) {
  SCOPED_FILE file = program_file_make(), document = program_file_make();
  const char *line =
      formed("stress --frames 60 --agents 64 --max-agents 64 --axes agents,crowd --workers 1 --json %s", document.path);
  terminal_interrupt(terminal_start(line, 0, file.path, "crowd, 64: "), SIGINT);
  json_auto_t *json = program_load(document.path);
  cr_expect(program_true(json, "interrupted"));
  SCOPED(free_memory) char *text = program_read(file.path);
  PROGRAM_EXPECT_SAYS(text, "INTERRUPTED by SIGINT", "agents: ");
  PROGRAM_EXPECT_NEVER(text, "crowd: ");
}
