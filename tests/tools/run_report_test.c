/* What `muster run` reports, for people and for machines. */
#include "program.h"

#include <math.h>
#include <pty.h>
#include <signal.h>

#define SMALL "run tan-wong --virtual --frames 40 --warm-up 10 --json -"

static void expect_quantiles(json_t *json, const char *name) {
  static const char *const ranks[] = {"p50", "p99", "p999", "max"};
  double before = 0;
  for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
    char path[64];
    snprintf(path, sizeof path, "%s.%s", name, ranks[i]);
    double value = program_number(json, path);
    cr_assert(value >= before, "%s is below the quantile before it", path);
    before = value;
  }
}

Test(run_report, has_every_member_of_its_schema) {
  static const char *const numbers[] = {"agents",
                                        "workers",
                                        "seed",
                                        "frames",
                                        "budget_ns",
                                        "frame_period_ns",
                                        "wall_ns.mean",
                                        "longest_claim_ns",
                                        "promise.frames",
                                        "promise.kept_share",
                                        "promise.cpu_share_of_capacity",
                                        "updates.released",
                                        "updates.completed",
                                        "updates.carried",
                                        "updates.preempted",
                                        "overhead.ns_per_update",
                                        "overhead.ns_per_frame",
                                        "overhead.budget_share",
                                        "period.mean_deviation_ns",
                                        "utilisation.desired",
                                        "utilisation.achieved",
                                        "pressure.mean",
                                        "pressure.max",
                                        "memory.bytes_per_agent",
                                        "memory.total_bytes",
                                        "wait.longest_ns",
                                        "wait.bound_ns",
                                        "runaways.offences",
                                        "runaways.quarantines",
                                        "runaways.stuck",
                                        "runaways.agents_demoted",
                                        "stages_ns.intake",
                                        "stages_ns.run",
                                        "stages_ns.commit",
                                        "world.animats"};
  json_t *json = program_json(SMALL);
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) program_number(json, numbers[i]);
  expect_quantiles(json, "wall_ns");
  expect_quantiles(json, "overrun_wall_ns");
  expect_quantiles(json, "overrun_own_ns");
  cr_assert_str_eq(json_string_value(program_member(json, "scenario")), "tan-wong");
  cr_assert_eq(json_array_size(program_member(json, "levels")), 4);
  cr_assert_eq(strlen(json_string_value(program_member(json, "world_hash"))), 16);
  json_t *deciles = program_member(json, "staleness_by_importance_decile");
  cr_assert_eq(json_array_size(deciles), 10);
  for (size_t i = 0; i < 10; i++)
    cr_assert(program_number(json_array_get(deciles, i), "p50") <= program_number(json_array_get(deciles, i), "max"));
  json_decref(json);
}

Test(run_report, counts_what_was_asked_for) {
  json_t *json = program_json(SMALL " --agents 60 --budget 5ms --hz 59.94 --seed 9 --workers 2");
  cr_assert_eq(program_number(json, "agents"), 60);
  cr_assert_eq(program_number(json, "workers"), 2);
  cr_assert_eq(program_number(json, "seed"), 9);
  cr_assert_eq(program_number(json, "frames"), 40);
  cr_assert_eq(program_number(json, "budget_ns"), 5e6);
  cr_assert_eq(program_number(json, "frame_period_ns"), 16683350);
  json_decref(json);
}

/* 100 animats of 0.373 ms in 30 frames per second want at least 14 ms; 10 ms of capacity are used up, 20 ms are not. */
Test(run_report, shows_pressure_and_waiting_where_the_capacity_is_short) {
  json_t *tight = program_json(SMALL), *wide = program_json(SMALL " --budget 10ms --capacity 50ms");
  cr_assert_gt(program_number(tight, "pressure.mean"), 1.0);
  cr_assert_gt(program_number(tight, "updates.carried"), 0);
  cr_assert_gt(program_number(tight, "promise.budget_used_share"), 0.9);
  cr_assert(json_is_true(program_member(tight, "wait.within")));
  cr_assert_eq(program_number(wide, "pressure.mean"), 0);
  cr_assert_eq(program_number(wide, "updates.carried"), 0);
  cr_assert(json_is_null(program_member(wide, "promise.budget_used_share")), "no work ever waited");
  cr_assert_eq(program_number(wide, "updates.completed"), 40 * 100);
  json_decref(tight);
  json_decref(wide);
}

Test(run_report, leaves_own_time_out_unless_it_was_audited) {
  json_t *plain = program_json("run tan-wong --no-pace --frames 5 --warm-up 0 --json -");
  json_t *audited = program_json("run tan-wong --no-pace --frames 5 --warm-up 0 --audit --json -");
  cr_assert(json_is_null(program_member(plain, "overrun_own_ns")));
  cr_assert(json_is_null(program_member(plain, "longest_claim_ns")));
  cr_assert(json_is_null(program_member(plain, "promise.kept_share")));
  cr_assert(json_is_null(program_member(plain, "promise.budget_used_share")));
  expect_quantiles(audited, "overrun_own_ns");
  cr_assert_leq(program_number(audited, "promise.kept_share"), 1.0);
  cr_assert_gt(program_number(audited, "longest_claim_ns"), 0);
  cr_assert_gt(program_number(audited, "overhead.ns_per_frame"), 0);
  json_decref(plain);
  json_decref(audited);
}

Test(run_report, tells_what_the_machine_alone_would_have_kept_where_it_was_watched) {
  json_t *plain = program_json("run tan-wong --frames 5 --warm-up 0 --hz 200 --budget 1ms --audit --json -");
  json_t *watched =
      program_json("run tan-wong --frames 5 --warm-up 0 --hz 200 --budget 1ms --audit --machine --json -");
  cr_assert(json_is_null(program_member(plain, "promise.machine_kept_share")));
  cr_assert_eq(program_number(plain, "promise.machine_frames"), 0);
  cr_assert_eq(program_number(watched, "promise.machine_frames"), 5);
  double kept = program_number(watched, "promise.machine_kept_share") * 5;
  cr_assert(kept >= 0.0 && kept <= 5.0 && fabs(kept - round(kept)) < 1e-6, "a share of five frames: %g", kept);
  json_decref(plain);
  json_decref(watched);
}

Test(run_report, can_be_read_by_people) {
  static const char *const parts[] = {"100 agents", "| = budget", "p99.9",  "Promise", "Updates",   "Pressure",
                                      "Wait",       "Staleness",  "Levels", "Memory",  "species 1", "World"};
  program_run *run = program_start("run tan-wong --virtual --frames 20");
  cr_assert_eq(run->status, 0, "%s", run->errors);
  for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
    cr_expect(strstr(run->output, parts[i]) != NULL, "there is no '%s'", parts[i]);
  cr_assert(run->errors[0] == '\0', "no terminal, no progress: %s", run->errors);
  free(run);
}

/* Starts the program with a terminal as its standard error and waits until the progress line shows counted frames. */
static pid_t start_on_terminal(const char *line, int *terminal) {
  char words[256], *arguments[PROGRAM_ARGUMENTS_MAX], seen[4096] = "";
  size_t length = 0;
  snprintf(words, sizeof words, "%s", line);
  program_split(words, arguments);
  int other;
  posix_spawn_file_actions_t actions;
  pid_t child;
  cr_assert_eq(openpty(terminal, &other, NULL, NULL, NULL), 0);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, other, STDERR_FILENO);
  cr_assert_eq(posix_spawn(&child, program_path(), &actions, NULL, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(other);
  while (!strstr(seen, " of 1000000") && length < sizeof seen - 1) {
    ssize_t got = read(*terminal, seen + length, sizeof seen - 1 - length);
    cr_assert_gt(got, 0, "the program ended without progress: %s", seen);
    length += (size_t)got;
    seen[length] = '\0';
  }
  return child;
}

Test(run_report, covers_what_was_run_when_it_is_interrupted, .timeout = 60) {
  char path[] = "/tmp/muster-test-XXXXXX", line[256];
  int terminal, ended;
  close(mkstemp(path));
  snprintf(line, sizeof line, "run tan-wong --virtual --frames 1000000 --json %s", path);
  pid_t child = start_on_terminal(line, &terminal);
  cr_assert_eq(kill(child, SIGINT), 0);
  cr_assert_eq(waitpid(child, &ended, 0), child);
  cr_assert(WIFEXITED(ended) && WEXITSTATUS(ended) == 0, "status %x", ended);
  json_t *json = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
  cr_assert_not_null(json, "there is no report");
  cr_assert_gt(program_number(json, "frames"), 0);
  cr_assert_lt(program_number(json, "frames"), 1000000);
  json_decref(json);
  close(terminal);
  unlink(path);
}

/* Two hours in steps of a minute, and then the frames of a visit. */
Test(run_report, counts_the_time_that_a_scenario_lets_pass) {
  json_t *json = program_json("run empty --virtual --frames 140 --warm-up 0 --agents 600 --workers 1 --json -");
  double simulated_s = program_number(json, "world.simulated_s");
  cr_assert(simulated_s > 7200 && simulated_s < 7210, "%g s", simulated_s);
  cr_assert_eq(program_number(json, "world.visits"), 1);
  cr_assert_eq(program_number(json, "world.violations"), 0);
  cr_assert_gt(program_number(json, "wait.bound_ns"), 60e9, "the longest frame counts");
  json_decref(json);
}
