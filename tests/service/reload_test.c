/* SIGHUP: what comes into force, what is left, and that no agent is lost by it. */
#include "served.h"

#define FIXED "[world main]\nmodule = fixed\nagents = 500\n"

static char *list_agents(void) {
  json_auto_t *page = get(WORLD "/agents?limit=1000");
  json_t *agents = control_member(page, "agents");
  cr_assert(json_is_array(agents));
  cr_expect(json_array_size(agents) == 500, "%zu agents", json_array_size(agents));
  char *list = calloc(json_array_size(agents) + 1, 32), *next = list;
  CONTROL_EACH(agent, page, "agents") next += sprintf(next, "%s ", control_text(agent, "agent"));
  return list;
}

/* Waits until the world has this budget, whatever reloads come before; ctest ends the test when it never has. Each
 * reload tells the service manager twice, and waits while the manager takes nothing. */
static void await_budget(long long budget_ns) {
  do daemon_drop_notices(&service);
  while (count_at(WORLD, "budget_ns") != budget_ns);
}

static void begin(void) {
  launch_configured("[server]\nworkers = 2\nlog_level = info\n" FIXED "budget = 2ms\nhz = 20\n", "");
  while (count_at(WORLD, "agents") != 500) continue;
}

TestSuite(reload, .init = begin, .fini = stop);

static void expect_pace(long long budget_ns, long long period_ns) {
  expect_at(WORLD, formed("{'budget_ns': %lld, 'period_ns': %lld}", budget_ns, period_ns));
}

Test(reload, a_new_budget_and_rate_come_into_force_and_no_agent_is_lost) {
  expect_pace(2000000, 50000000);
  SCOPED(free_memory) char *before = list_agents();
  reload("[server]\nworkers = 2\nlog_level = warning\n" FIXED "budget = 3ms\nhz = 50\n");
  expect_pace(3000000, 20000000);
  SCOPED(free_memory) char *after = list_agents();
  cr_expect(strcmp(before, after) == 0, "other agents: %s", after);
}

Test(reload, what_cannot_change_is_told_and_left_and_the_rest_comes_into_force) {
  reload("[server]\nworkers = 1\n[world main]\nmodule = wildlife\nagents = 7\nbudget = 3ms\nhz = 20\n"
         "[world other]\nmodule = wildlife\n");
  EACH(await_log, "workers: it cannot change while the service runs and is left", "main module: it cannot change",
       "main agents: it cannot change", "other: the world is new; it begins with a restart");
  expect_pace(3000000, 50000000);
  free(list_agents()); /* none is lost */
}

Test(reload, settings_with_any_mistake_change_nothing) {
  reload(FIXED "budget = 3ms\nhz = fast\n");
  EACH(await_log, "musterd.conf:5: hz is 'fast'; give a number", "reload: nothing has changed");
  expect_pace(2000000, 50000000);
  reload(FIXED "budget = 49ms\nhz = 20\n");
  await_log("lower a budget or a rate");
  expect_pace(2000000, 50000000);
  free(list_agents()); /* none is lost */
}

Test(reload, a_token_that_cannot_be_read_changes_nothing) {
  static const char text[] = "[server]\ntoken_file = @/token\n" FIXED "budget = 3ms\nhz = 20\n";
  reload(text);
  await_log("reload: token_file: ");
  expect_pace(2000000, 50000000);
  daemon_write(&service, "token", "0123456789abcdef\n");
  cr_assert(chmod(path_of("token"), 0604) == 0);
  reload(text);
  await_log("everybody may read or write it");
  expect_pace(2000000, 50000000);
  cr_assert(chmod(path_of("token"), 0600) == 0);
  reload(text);
  expect_pace(3000000, 50000000);
}

/* The time that was set for the next one is forgotten with the interval by which it was. */
Test(reload, a_shorter_interval_of_snapshots_holds_at_once) {
  static const char settings[] = "[server]\nworkers = 2\nsnapshot_file = @/worlds\nsnapshot_interval = %s\n"
                                 "[world main]\nmodule = wildlife\nagents = 200\nbudget = 2ms\nhz = 20\n";
  daemon_stop(&service);
  launch_configured(formed(settings, "3600s"), "");
  await_count(WORLD, "frames", 20);
  cr_expect_not(exists("worlds"), "an hour is not over");
  reload(formed(settings, "1s"));
  AWAIT_WITH(usleep(10000), exists("worlds"));
}

/* Signals that come while one is under way are one more, not none. */
Test(reload, many_signals_at_once_end_with_the_last_settings) {
  configure(FIXED "budget = 4ms\nhz = 20\n");
  for (int i = 0; i < 5000; i++) {
    daemon_signal(&service, SIGHUP);
    daemon_drop_notices(&service); /* it waits for who reads them */
  }
  configure(FIXED "budget = 5ms\nhz = 20\n");
  daemon_signal(&service, SIGHUP);
  await_budget(5000000);
}

/* A daemon that was stopped for a while is neither restless nor forgetful. */
Test(reload, a_service_that_was_stopped_and_goes_on_has_its_frames_and_its_signals) {
  for (int i = 0; i < 50; i++) {
    daemon_signal(&service, SIGSTOP);
    daemon_signal(&service, SIGCONT);
  }
  daemon_signal(&service, SIGSTOP);
  configure(FIXED "budget = 5ms\nhz = 20\n");
  daemon_signal(&service, SIGHUP);
  daemon_signal(&service, SIGCONT);
  await_budget(5000000);
  pass_frames(5);
}
