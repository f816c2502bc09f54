/* `muster bench sweep`: virtual time, so the figures are the same everywhere and can be tested. */
#include "program.h"

#include <signal.h>

enum { LOADS = 40, RULES = 2 };

/* The important run as often as the law says, and more often than the others. */
static void expect_lawful(json_t *row, double frame_ns) {
  double load = program_number(row, "load"), interval_ns = program_number(row, "important.interval_ns");
  cr_expect_geq(program_number(row, "important.agents"), 50);
  cr_expect_leq(interval_ns, 1.15 * program_number(row, "important.period_ns") + frame_ns, "at load %g: every %g ms",
                load, interval_ns * 1e-6);
  cr_expect_lt(interval_ns * 5, program_number(row, "unimportant.interval_ns"), "at load %g", load);
  cr_expect_float_eq(program_number(row, "pressure"), load, 0.4 * load, "load %g", load);
}

/* Both from one run, which takes its time: the table, and what is kept for machines. */
static json_t *measure(void) {
  json_t *json;
  SCOPED_RUN *run = program_both("bench sweep --quick", &json);
  PROGRAM_EXPECT_SAYS(run->output, "the law of importance (default)", "\n 12.34 ");
  PROGRAM_EXPECT_NEVER(run->output, "CLIFF");
  return json;
}

Test(bench_sweep, finds_no_cliff_by_the_law_of_importance_and_one_by_the_papers_rules) {
  json_auto_t *json = measure();
  double frame_ns = program_number(json, "frame_ns"), last = 0;
  size_t lawful = 0;
  PROGRAM_EACH(i, row, program_list(json, "rows", LOADS * RULES)) {
    if (strcmp(program_text(row, "rule"), "law") != 0) continue;
    cr_expect(lawful == 0 || program_number(row, "load") > 1.07 * last);
    last = program_number(row, "load");
    lawful++;
    expect_lawful(row, frame_ns);
  }
  cr_expect_eq(lawful, LOADS);
  cr_expect_geq(last, 12);
  PROGRAM_EXPECT_VALUES(json, {"law.cliffs", 0}, {"law.idle", 0});
  cr_expect_leq(program_number(json, "law.growth_most"), 0.16, "beside the frame, that is");
  cr_expect_geq(program_number(json, "papers.cliffs"), 3);
  cr_expect_geq(program_number(json, "papers.growth_most"), 0.4);
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
  BENCH_EXPECT_REFUSALS("sweep", "dispatch", {"--seed x", 2, "--seed is 'x'"}, {"--agents 999", 2, "--agents is '999'"},
                        {"--costs x", 2, "--costs is 'x': constant or log-normal"});
}
