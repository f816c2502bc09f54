/* `muster bench sweep`: virtual time, so the figures are the same everywhere and can be tested. */
#include "program.h"

#include <math.h>
#include <signal.h>

enum { LOADS = 40, RULES = 2 };

static double of(json_t *row, const char *path) {
  return program_number(row, path);
}

/* The important run as often as the law says, and more often than the others. */
static void expect_lawful(json_t *row, double frame_ns) {
  double load = of(row, "load"), interval_ns = of(row, "important.interval_ns");
  cr_expect_geq(of(row, "important.agents"), 50);
  cr_expect_leq(interval_ns, 1.15 * of(row, "important.period_ns") + frame_ns, "at load %g: every %g ms", load,
                interval_ns * 1e-6);
  cr_expect_lt(interval_ns * 5, of(row, "unimportant.interval_ns"), "at load %g", load);
  cr_expect_float_eq(of(row, "pressure"), load, 0.4 * load, "load %g", load);
}

static void expect_table(const program_run *run) {
  cr_assert_eq(run->status, 0, "%s", run->errors);
  cr_expect(strstr(run->output, "the law of importance (default)") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "\n 12.34 ") != NULL, "%s", run->output);
  cr_expect(strstr(run->output, "CLIFF") == NULL, "%s", run->output);
}

/* Both from one run, which takes its time: the table, and what is kept for machines. */
static json_t *measure(void) {
  json_t *json;
  program_run *run = program_kept("bench sweep --quick", &json);
  expect_table(run);
  free(run);
  return json;
}

Test(bench_sweep, finds_no_cliff_by_the_law_of_importance_and_one_by_the_papers_rules) {
  json_t *json = measure(), *row;
  double frame_ns = program_number(json, "frame_ns"), last = 0;
  size_t i, lawful = 0;
  cr_assert_eq(json_array_size(program_member(json, "rows")), LOADS * RULES);
  json_array_foreach(program_member(json, "rows"), i, row) {
    if (strcmp(json_string_value(program_member(row, "rule")), "law") != 0) continue;
    cr_expect(lawful == 0 || of(row, "load") > 1.07 * last);
    last = of(row, "load");
    lawful++;
    expect_lawful(row, frame_ns);
  }
  cr_expect_eq(lawful, LOADS);
  cr_expect_geq(last, 12);
  cr_expect_eq(program_number(json, "law.cliffs"), 0);
  cr_expect_eq(program_number(json, "law.idle"), 0);
  cr_expect_leq(program_number(json, "law.growth_most"), 0.16, "beside the frame, that is");
  cr_expect_geq(program_number(json, "papers.cliffs"), 3);
  cr_expect_geq(program_number(json, "papers.growth_most"), 0.4);
  json_decref(json);
}

/* Each load is a tenth above the one before, from 0.3 on, whichever it is when it first says so. */
Test(bench_sweep, says_which_load_it_measures) {
  char text[4096] = "", words[] = "bench sweep --quick", *arguments[PROGRAM_ARGUMENTS_MAX];
  posix_spawn_file_actions_t actions;
  size_t length = 0;
  int ends[2], status;
  pid_t child;
  cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
  program_split(words, arguments);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDERR_FILENO);
  cr_assert_eq(posix_spawn(&child, program_path(), &actions, NULL, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  for (ssize_t more = 1; more > 0 && length < sizeof text - 1 && !strstr(text, " to 12"); text[length] = '\0')
    if ((more = read(ends[0], text + length, sizeof text - 1 - length)) > 0) length += (size_t)more;
  kill(child, SIGKILL);
  cr_assert_eq(waitpid(child, &status, 0), child);
  close(ends[0]);
  const char *said = strstr(text, "load ");
  cr_assert(said && strstr(said, " of 0.3 to 12"), "%s", text);
  double load = strtod(said + strlen("load "), NULL), next = 0.3;
  while (round(next * 100) < round(load * 100)) next *= 1.1;
  cr_expect_float_eq(round(next * 100), load * 100, 1e-6, "no load is %g", load);
}

Test(bench_sweep, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"bench sweep dispatch", 2, "'dispatch' is too many"}, {"bench sweep --speed", 2, "unknown option --speed"},
      {"bench sweep --seed x", 2, "--seed is 'x'"}, {"bench sweep --agents 999", 2, "--agents is '999'"},
      {"bench sweep --costs x", 2, "--costs is 'x': constant or log-normal"},
      {"bench sweep --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
