/* SIGHUP: what comes into force, what is left, and that no agent is lost by it. */
#include "control.h"
#include "daemon.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static const char first_settings[] = "[server]\nworkers = 2\nlog_level = info\n"
                                     "[world main]\nmodule = fixed\nagents = 500\nbudget = 2ms\nhz = 20\n";

static json_t *ask(const musterd *service, const char *path) {
  static daemon_reply reply;
  json_error_t error;
  daemon_ask(service, "GET", path, NULL, &reply);
  cr_assert(reply.status == 200, "%s: %d: %s", path, reply.status, reply.body);
  json_t *json = json_loads(reply.body, JSON_REJECT_DUPLICATES, &error);
  cr_assert(json != NULL, "%s: line %d: %s", path, error.line, error.text);
  return json;
}

static json_int_t number(json_t *json, const char *name) {
  json_t *member = json_object_get(json, name);
  cr_assert(json_is_integer(member), "there is no whole number '%s'", name);
  return json_integer_value(member);
}

/* The names of all agents, as the API lists them; the caller frees it. */
static char *list_agents(const musterd *service) {
  json_t *page = ask(service, "/v1/worlds/main/agents?limit=1000"), *agents = json_object_get(page, "agents"), *agent;
  size_t index;
  cr_assert(json_is_array(agents));
  cr_expect(json_array_size(agents) == 500, "%zu agents", json_array_size(agents));
  char *list = calloc(json_array_size(agents) + 1, 32), *next = list;
  json_array_foreach(agents, index, agent) {
    const char *name = json_string_value(json_object_get(agent, "agent"));
    cr_assert(name != NULL);
    next += sprintf(next, "%s ", name);
  }
  json_decref(page);
  return list;
}

static void await_all_in(const musterd *service) {
  for (bool in = false; !in;) {
    json_t *world = ask(service, "/v1/worlds/main");
    in = number(world, "agents") == 500;
    json_decref(world);
  }
}

/* Waits until the world has this budget, whatever reloads come before; ctest ends the test when it never has. Each
 * reload tells the service manager twice, and waits while the manager takes nothing. */
static void await_budget(const musterd *service, json_int_t budget_ns) {
  char notice[256];
  for (bool in = false; !in;) {
    while (recv(service->notices, notice, sizeof notice, MSG_DONTWAIT) > 0) continue;
    json_t *world = ask(service, "/v1/worlds/main");
    in = number(world, "budget_ns") == budget_ns;
    json_decref(world);
  }
}

static void begin(musterd *service) {
  daemon_prepare(service);
  daemon_write(service, "musterd.conf", first_settings);
  daemon_launch(service, "--config @/musterd.conf");
  cr_assert(daemon_await(service, "READY=1"));
  await_all_in(service);
}

static void reload(musterd *service, const char *text) {
  daemon_write(service, "musterd.conf", text);
  daemon_signal(service, SIGHUP);
  cr_assert(daemon_await(service, "RELOADING=1"));
  cr_assert(daemon_await(service, "READY=1"));
}

static void expect_pace(const musterd *service, json_int_t budget_ns, json_int_t period_ns) {
  json_t *world = ask(service, "/v1/worlds/main");
  cr_expect(number(world, "budget_ns") == budget_ns, "%lld", (long long)number(world, "budget_ns"));
  cr_expect(number(world, "period_ns") == period_ns, "%lld", (long long)number(world, "period_ns"));
  json_decref(world);
}

Test(reload, a_new_budget_and_rate_come_into_force_and_no_agent_is_lost) {
  musterd service;
  begin(&service);
  expect_pace(&service, 2000000, 50000000);
  char *before = list_agents(&service);
  reload(&service, "[server]\nworkers = 2\nlog_level = warning\n"
                   "[world main]\nmodule = fixed\nagents = 500\nbudget = 3ms\nhz = 50\n");
  expect_pace(&service, 3000000, 20000000);
  char *after = list_agents(&service);
  cr_expect(strcmp(before, after) == 0, "other agents: %s", after);
  free(before);
  free(after);
  daemon_stop(&service);
}

Test(reload, what_cannot_change_is_told_and_left_and_the_rest_comes_into_force) {
  musterd service;
  begin(&service);
  reload(&service, "[server]\nworkers = 1\n[world main]\nmodule = wildlife\nagents = 7\nbudget = 3ms\nhz = 20\n"
                   "[world other]\nmodule = wildlife\n");
  daemon_await_log(&service, "workers: it cannot change while the service runs and is left");
  daemon_await_log(&service, "main module: it cannot change");
  daemon_await_log(&service, "main agents: it cannot change");
  daemon_await_log(&service, "other: the world is new; it begins with a restart");
  expect_pace(&service, 3000000, 50000000);
  free(list_agents(&service));
  daemon_stop(&service);
}

Test(reload, settings_with_any_mistake_change_nothing) {
  musterd service;
  begin(&service);
  reload(&service, "[world main]\nmodule = fixed\nagents = 500\nbudget = 3ms\nhz = fast\n");
  daemon_await_log(&service, "musterd.conf:5: hz is 'fast'; give a number");
  daemon_await_log(&service, "reload: nothing has changed");
  expect_pace(&service, 2000000, 50000000);
  reload(&service, "[world main]\nmodule = fixed\nagents = 500\nbudget = 49ms\nhz = 20\n");
  daemon_await_log(&service, "lower a budget or a rate");
  expect_pace(&service, 2000000, 50000000);
  free(list_agents(&service));
  daemon_stop(&service);
}

Test(reload, a_token_that_cannot_be_read_changes_nothing) {
  musterd service;
  char text[512], token[256];
  begin(&service);
  snprintf(text, sizeof text, "[server]\ntoken_file = %s/token\n%s", service.folder,
           "[world main]\nmodule = fixed\nagents = 500\nbudget = 3ms\nhz = 20\n");
  reload(&service, text);
  daemon_await_log(&service, "reload: token_file: ");
  expect_pace(&service, 2000000, 50000000);
  snprintf(token, sizeof token, "%s/token", service.folder);
  daemon_write(&service, "token", "0123456789abcdef\n");
  cr_assert(chmod(token, 0604) == 0);
  reload(&service, text);
  daemon_await_log(&service, "everybody may read or write it");
  expect_pace(&service, 2000000, 50000000);
  cr_assert(chmod(token, 0600) == 0);
  reload(&service, text);
  expect_pace(&service, 3000000, 50000000);
  daemon_stop(&service);
}

/* Signals that come while one is under way are one more, not none. */
/* The time that was set for the next one is forgotten with the interval by which it was. */
Test(reload, a_shorter_interval_of_snapshots_holds_at_once) {
  static const char settings[] = "[server]\nworkers = 2\nsnapshot_file = %s/worlds\nsnapshot_interval = %s\n"
                                 "[world main]\nmodule = wildlife\nagents = 200\nbudget = 2ms\nhz = 20\n";
  musterd service;
  char text[512], file[192];
  daemon_prepare(&service);
  snprintf(file, sizeof file, "%s/worlds", service.folder);
  snprintf(text, sizeof text, settings, service.folder, "3600s");
  daemon_write(&service, "musterd.conf", text);
  daemon_launch(&service, "--config @/musterd.conf");
  cr_assert(daemon_await(&service, "READY=1"));
  control_await_count(&service, "/v1/worlds/main", "frames", 20);
  cr_expect_neq(access(file, F_OK), 0, "an hour is not over");
  snprintf(text, sizeof text, settings, service.folder, "1s");
  reload(&service, text);
  for (uint32_t waited = 0; access(file, F_OK) != 0; usleep(10000))
    cr_assert_lt(++waited, 3000, "there is no snapshot");
  daemon_stop(&service);
}

Test(reload, many_signals_at_once_end_with_the_last_settings) {
  musterd service;
  begin(&service);
  daemon_write(&service, "musterd.conf", "[world main]\nmodule = fixed\nagents = 500\nbudget = 4ms\nhz = 20\n");
  for (int i = 0; i < 5000; i++) {
    char notice[1024];
    daemon_signal(&service, SIGHUP);
    while (recv(service.notices, notice, sizeof notice, MSG_DONTWAIT) >= 0) continue; /* it waits for who reads them */
  }
  daemon_write(&service, "musterd.conf", "[world main]\nmodule = fixed\nagents = 500\nbudget = 5ms\nhz = 20\n");
  daemon_signal(&service, SIGHUP);
  await_budget(&service, 5000000);
  daemon_stop(&service);
}

/* A daemon that was stopped for a while is neither restless nor forgetful. */
Test(reload, a_service_that_was_stopped_and_goes_on_has_its_frames_and_its_signals) {
  musterd service;
  begin(&service);
  for (int i = 0; i < 50; i++) {
    daemon_signal(&service, SIGSTOP);
    daemon_signal(&service, SIGCONT);
  }
  daemon_signal(&service, SIGSTOP);
  daemon_write(&service, "musterd.conf", "[world main]\nmodule = fixed\nagents = 500\nbudget = 5ms\nhz = 20\n");
  daemon_signal(&service, SIGHUP);
  daemon_signal(&service, SIGCONT);
  await_budget(&service, 5000000);
  json_t *world = ask(&service, "/v1/worlds/main");
  json_int_t frames = number(world, "frames"), now = frames;
  for (json_decref(world); now < frames + 5; json_decref(world)) {
    world = ask(&service, "/v1/worlds/main");
    now = number(world, "frames");
  }
  daemon_stop(&service);
}
