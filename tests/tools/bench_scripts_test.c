/* `muster bench scripts`, as the program tells it: what is measured, and of how much. How long it takes, is the
 * machine's. */
#include "program.h"
#include "support/await.h"

#include <math.h>
#include <signal.h>
#include <time.h>

enum { WAYS = 4 };

static const char *const ways[WAYS] = {"muster", "c", "guarded", "raw"};

/* Something else that takes CPU meanwhile: 0.3 s of it. */
static pid_t other_begin(void) {
  pid_t other = fork();
  cr_assert_neq(other, -1);
  while (other == 0 && clock() < 3 * CLOCKS_PER_SEC / 10) continue;
  if (other == 0) _exit(0);
  return other;
}

Test(bench_scripts, runs_as_many_updates_in_each_way) {
  size_t i;
  pid_t other = other_begin();
  json_t *way,
      *json = program_json("bench scripts --quick --agents 200 --updates 1000 --workers 1 --rounds 2 --json -");
  json_t *list = program_member(json, "ways");
  cr_assert_eq(json_array_size(list), WAYS);
  json_array_foreach(list, i, way) {
    double updates = program_number(way, "updates");
    cr_expect_str_eq(json_string_value(program_member(way, "way")), ways[i]);
    cr_expect(updates >= 1000 && updates < 1500, "%s: %g updates", ways[i], updates);
    cr_expect(program_number(way, "wall_ns") > 0 && program_number(way, "cpu_ns") > 0, "%s", ways[i]);
    cr_expect_eq(program_number(way, "muster_wall_share") == 1, i == 0, "%s", ways[i]);
  }
  cr_expect_eq(program_number(json, "agents"), 200);
  cr_expect_eq(program_number(json, "workers"), 1);
  cr_expect_eq(program_number(json, "rounds"), 2);
  cr_expect_eq(program_number(json, "updates"), 1000);
  double in_c_ns = program_number(json, "idle_c_ns"), idle_ns = program_number(json, "idle_ns");
  cr_expect(in_c_ns > 0 && idle_ns > 0 && isfinite(in_c_ns) && isfinite(idle_ns), "%g and %g ns", in_c_ns, idle_ns);
  cr_assert_eq(waitpid(other, NULL, 0), other);
  cr_expect_gt(program_number(json, "others_cpu_share"), 0);
  json_decref(json);
}

/* Of one round. Muster's CPU counts by its workers, of which the ways in C have as many. */
static int expect_shares(json_t *json, double workers) {
  static const double wanted[WAYS] = {INFINITY, INFINITY, 0.62, 0.75};
  json_t *list = program_list(json, "ways", WAYS), *muster = json_array_get(list, 0);
  int missed = 0;
  PROGRAM_EACH(i, way, list) {
    double wall = program_number(muster, "wall_ns") / program_number(way, "wall_ns");
    double cpu = program_number(muster, "cpu_ns") / program_number(way, "cpu_ns") / (i < 2 ? 1 : workers);
    cr_expect_float_eq(program_number(way, "muster_wall_share"), wall, 1e-9 * wall, "%s", ways[i]);
    cr_expect_float_eq(program_number(way, "muster_cpu_share"), cpu, 1e-9 * cpu, "%s", ways[i]);
    missed += wall > wanted[i];
  }
  return missed;
}

Test(bench_scripts, prints_a_table_of_the_ways) {
  json_auto_t *json = NULL;
  SCOPED_RUN *run = program_both("bench scripts --quick", &json);
  PROGRAM_EXPECT_SAYS(run->output, "an empty update takes ",
                      "\n1000 animals, 2 workers; an update, and 2000 of them:\n");
  for (size_t i = 0; i < WAYS; i++) PROGRAM_EXPECT_SAYS(run->output, formed("\n  %-8s ", ways[i]));
  PROGRAM_EXPECT_VALUES(json, {"rounds", 1}, {"idle_over_wanted_ns", 400}, {"guarded_wanted", 0.62},
                        {"raw_wanted", 0.75});
  double over_ns = program_number(json, "idle_over_ns");
  cr_expect_float_eq(over_ns, program_number(json, "idle_ns") - program_number(json, "idle_c_ns"), 1e-6);
  cr_expect_eq(program_count(run->output, "more than wanted"), expect_shares(json, 2) + (over_ns > 400), "%s",
               run->output);
}

static int threads_of(pid_t child) {
  cr_assert_eq(waitpid(child, NULL, WNOHANG), 0, "it ended by itself");
  return program_entries(formed("/proc/%d/task", (int)child));
}

/* It is ended when they are there. */
Test(bench_scripts, has_as_many_workers_as_asked_for) {
  char line[] = "bench scripts --quick --agents 100 --updates 20000 --workers 40 --json /dev/null";
  char *arguments[PROGRAM_ARGUMENTS_MAX];
  posix_spawn_file_actions_t actions;
  pid_t child;
  program_split(line, arguments);
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, STDOUT_FILENO, STDERR_FILENO);
  cr_assert_eq(posix_spawn(&child, program_path(), &actions, NULL, arguments, environ), 0);
  posix_spawn_file_actions_destroy(&actions);
  AWAIT_WITH(usleep(1000), threads_of(child) >= 40);
  kill(child, SIGKILL);
  cr_assert_eq(waitpid(child, NULL, 0), child);
}

Test(bench_scripts, refuses_what_it_does_not_know_in_one_line) {
  PROGRAM_EXPECT_REFUSALS(
      {"bench scripts zones", 2, "'zones' is too many"}, {"bench scripts --speed", 2, "unknown option --speed"},
      {"bench scripts --agents 99", 2, "--agents is '99'"}, {"bench scripts --workers 257", 2, "from 1 to 256"},
      {"bench scripts --json /nowhere/r.json", 1, "cannot write '/nowhere/r.json'"});
}
