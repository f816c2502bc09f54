/* Modules in a real musterd: their settings, commands, metrics and instances, and the save that they leave to the host.
 * The module is tests/examples/template_module.c. */
#include "control.h"
#include "service/snapshot_file.h"
#include "tools/program.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ADD "/v1/worlds/main/module/add"

static musterd service;

TestSuite(module_parts, .timeout = 120);

static const char as_text[] = "text/plain", as_json[] = "application/json";

static void configure(const char *text) {
  daemon_prepare(&service);
  daemon_write(&service, "musterd.conf", text);
}

static bool launch_with(const char *flags) {
  daemon_launch(&service, flags);
  return daemon_await(&service, "READY=1");
}

/* With the template; `more` are further flags. */
static bool launch(const char *more) {
  char flags[512];
  snprintf(flags, sizeof flags, "--modules %s --config @/musterd.conf %s", MUSTER_TEST_MODULES, more);
  return launch_with(flags);
}

/* A folder with the template and the module fixed, in the test's own. */
static const char *join_modules(void) {
  static char folder[160];
  char command[1024];
  snprintf(folder, sizeof folder, "%s/modules", service.folder);
  snprintf(command, sizeof command, "mkdir -m 700 %s && install -m 600 %s/walkers.so %s/fixed.so %s", folder,
           MUSTER_TEST_MODULES, getenv("MUSTER_MODULES"), folder);
  cr_assert_eq(system(command), 0);
  return folder;
}

static bool launch_from(const char *folder) {
  char flags[512];
  snprintf(flags, sizeof flags, "--modules %s --config @/musterd.conf", folder);
  return launch_with(flags);
}

static void expect_log(const char *text) {
  char *log = daemon_log(&service);
  cr_expect(strstr(log, text), "\"%s\" is not in: %s", text, log);
  free(log);
}

/* Sends a body, and expects this status and an answer with these words. */
static void tell(const char *path, const char *type, const char *body, int status, const char *words) {
  static daemon_reply reply;
  daemon_ask_bytes(&service, "POST", path, type, body, strlen(body), &reply);
  cr_expect_eq(reply.status, status, "%s %s: %d: %s", path, body, reply.status, reply.body);
  cr_expect(strstr(reply.body, words), "\"%s\" is not in: %s", words, reply.body);
}

static const char two_worlds[] = "[world main]\nmodule = walkers\nagents = 50\nmodule.speed = 2.5\n"
                                 "[world other]\nmodule = towns:walkers guards:walkers\nagents = 20\n"
                                 "towns.speed = 3\nguards.columns = 7 ; side by side\n";

/* --------------------------------------------------------------------------------------------------------- settings */

Test(module_parts, two_worlds_and_two_instances_have_settings_of_their_own) {
  configure(two_worlds);
  cr_assert(launch(""));
  json_t *main = control_ask(&service, "GET", "/v1/worlds/main/module", NULL, 200);
  json_t *other = control_ask(&service, "GET", "/v1/worlds/other/module", NULL, 200);
  cr_expect_str_eq(control_text(main, "instances.0.instance"), "module");
  cr_expect_str_eq(control_text(main, "instances.0.settings.0.value"), "2.5");
  cr_expect_str_eq(control_text(other, "instances.0.instance"), "towns");
  cr_expect_str_eq(control_text(other, "instances.0.settings.0.value"), "3");
  cr_expect_str_eq(control_text(other, "instances.0.settings.1.value"), "100");
  cr_expect_str_eq(control_text(other, "instances.1.settings.0.value"), "1");
  cr_expect_str_eq(control_text(other, "instances.1.settings.1.value"), "7");
  control_await_count(&service, "/v1/worlds/other", "agents", 40);
  json_t *types = control_ask(&service, "GET", "/v1/worlds/other/types", NULL, 200);
  cr_expect_str_eq(control_text(types, "types.0.type"), "towns walker");
  cr_expect_str_eq(control_text(types, "types.1.type"), "guards walker");
  json_decref(main);
  json_decref(other);
  json_decref(types);
  daemon_stop(&service);
}

#define LONG_NAME "abcdefghijklmnopqrstuvwxyz-1234"

/* What is cut is no name of another one. */
Test(module_parts, an_instance_is_known_by_its_whole_name) {
  configure("[world main]\nmodule = " LONG_NAME ":walkers\nagents = 5\n");
  cr_assert(launch(""));
  tell("/v1/worlds/main/module/" LONG_NAME ".add", as_text, "4", 200, "\"added\": 4");
  tell("/v1/worlds/main/module/" LONG_NAME "5.add", as_text, "4", 404, "unknown_instance");
  daemon_stop(&service);
}

Test(module_parts, a_flag_sets_for_the_world_before_it_and_over_the_file) {
  configure(two_worlds);
  cr_assert(launch("--world main --set speed=4 --world other --set towns.columns=9"));
  json_t *main = control_ask(&service, "GET", "/v1/worlds/main/module", NULL, 200);
  json_t *other = control_ask(&service, "GET", "/v1/worlds/other/module", NULL, 200);
  cr_expect_str_eq(control_text(main, "instances.0.settings.0.value"), "4");
  cr_expect_str_eq(control_text(other, "instances.0.settings.1.value"), "9");
  json_decref(main);
  json_decref(other);
  daemon_stop(&service);
}

/* The world that is wrong is left out, and no agent of it is there; the other one runs. */
Test(module_parts, a_wrong_setting_is_refused_with_its_line_and_what_is_allowed) {
  static const struct {
    const char *line, *says;
  } wrong[] = {
      {"module.speed = 21", "musterd.conf:6: module.speed is '21'; give a number from 0 to 20"},
      {"module.speed = fast", "musterd.conf:6: module.speed is 'fast'; give a number from 0 to 20"},
      {"module.columns = 1.5", "module.columns is '1.5'; give a whole number from 1 to 10000"},
      {"module.sped = 2", "musterd.conf:6: module walkers has no setting 'sped'; did you mean 'speed'"},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    char text[512], says[256];
    snprintf(text, sizeof text, "[world good]\nmodule = walkers\n[world main]\nmodule = walkers\nagents = 9\n%s\n",
             wrong[i].line);
    configure(text);
    cr_assert(launch(""), "%s", wrong[i].line);
    expect_log(wrong[i].says);
    expect_log("world main is not hosted: ");
    snprintf(says, sizeof says, "is not hosted");
    json_t *world = control_ask(&service, "GET", "/v1/worlds/main", NULL, 200);
    cr_expect(control_is_true(world, "failed") && control_count(world, "agents") == 0);
    json_decref(world);
    tell(ADD, as_text, "5", 409, says);
    daemon_stop(&service);
  }
}

Test(module_parts, a_module_without_a_table_refuses_every_setting) {
  configure("[world good]\nmodule = walkers\n[world main]\nmodule = crasher\nmodule.speed = 1\n");
  cr_assert(launch(""));
  expect_log("musterd.conf:5: module crasher has no settings, and was given 'speed'");
  daemon_stop(&service);
}

Test(module_parts, a_reload_tells_of_changed_settings_and_leaves_them) {
  configure(two_worlds);
  cr_assert(launch(""));
  daemon_write(&service, "musterd.conf",
               "[world main]\nmodule = walkers\nagents = 50\nmodule.speed = 9\nmodule.columns = 3\n"
               "[world other]\nmodule = towns:walkers guards:walkers\nagents = 20\ntowns.speed = 3\n");
  daemon_signal(&service, SIGHUP);
  cr_assert(daemon_await(&service, "READY=1"));
  expect_log("reload: main module.speed: it cannot change while the service runs and is left; restart for it");
  expect_log("reload: main module.columns: it cannot change");
  expect_log("reload: other guards.columns: it cannot change");
  char *log = daemon_log(&service);
  cr_expect_not(strstr(log, "towns.speed"), "%s", log);
  free(log);
  json_t *main = control_ask(&service, "GET", "/v1/worlds/main/module", NULL, 200);
  cr_expect_str_eq(control_text(main, "instances.0.settings.0.value"), "2.5");
  json_decref(main);
  daemon_stop(&service);
}

/* Wildlife reads what its neighbours publish, and takes them for animals. */
Test(module_parts, a_module_that_does_not_share_a_world_gets_one_of_its_own) {
  configure("[world good]\nmodule = fixed\nagents = 10\n"
            "[world main]\nmodule = square:fixed nature:wildlife\nagents = 20\n");
  cr_assert(launch_with("--config @/musterd.conf"));
  expect_log("world main is not hosted: module wildlife does not share a world");
  daemon_stop(&service);
}

/* The first instance is closed again, and the module's own words are told. */
Test(module_parts, an_instance_that_refuses_to_open_takes_the_others_of_its_world_with_it) {
  configure("[world good]\nmodule = fixed\nagents = 10\n"
            "[world main]\nmodule = a:walkers b:fixed\nagents = 20\npath = /etc/passwd\n");
  cr_assert(launch_from(join_modules()));
  expect_log("world main is not hosted: ");
  expect_log("takes no file");
  json_t *world = control_ask(&service, "GET", "/v1/worlds/main", NULL, 200);
  cr_expect(control_is_true(world, "failed") && control_count(world, "agents") == 0);
  json_decref(world);
  daemon_stop(&service);
}

/* The template makes no agents for others, fixed does. */
Test(module_parts, agents_from_outside_are_completed_by_the_instance_whose_type_they_are) {
  configure("[world main]\nmodule = a:walkers b:fixed\nagents = 20\nagents_max = 100\n");
  cr_assert(launch_from(join_modules()));
  static const char of_fixed[] = "[{\"type\": \"fixed\", \"position\": {\"x\": 1, \"y\": 2, \"z\": 0}}]";
  static const char of_walkers[] = "[{\"type\": \"a walker\", \"position\": {\"x\": 1, \"y\": 2, \"z\": 0}}]";
  json_decref(control_ask(&service, "POST", "/v1/worlds/main/agents", of_fixed, 201));
  json_decref(control_ask(&service, "POST", "/v1/worlds/main/agents", of_walkers, 409));
  daemon_stop(&service);
}

/* --------------------------------------------------------------------------------------------------------- commands */

Test(module_parts, commands_reach_their_instance_and_wrong_ones_are_refused) {
  configure(two_worlds);
  cr_assert(launch(""));
  control_await_count(&service, "/v1/worlds/main", "agents", 50);
  tell(ADD, as_text, "10", 200, "{\"added\": 10}");
  control_await_count(&service, "/v1/worlds/main", "agents", 60);
  tell("/v1/worlds/other/module/guards.add", as_text, "4", 200, "\"added\": 4");
  tell(ADD, as_text, "none", 400, "\"message\": \"add: say how many to add, from 1 to 1000\"");
  tell(ADD, as_json, "{\"a\":", 400, "\"code\": \"json\"");
  tell(ADD, "application/x-www-form-urlencoded", "5", 415, "content_type");
  tell("/v1/worlds/main/module/remove", as_text, "5", 404, "no such command; it has: add");
  tell("/v1/worlds/other/module/add", as_text, "5", 404, "of one of: towns, guards");
  tell("/v1/worlds/other/module/wolves.add", as_text, "5", 404, "unknown_instance");
  tell("/v1/worlds/nowhere/module/add", as_text, "5", 404, "unknown_world");
  char *much = calloc(1, MUSTER_MODULE_BODY_MAX + 2);
  memset(much, '7', MUSTER_MODULE_BODY_MAX + 1);
  tell(ADD, as_text, much, 413, "error");
  free(much);
  json_t *other = control_ask(&service, "GET", "/v1/worlds/other/module", NULL, 200);
  cr_expect_eq(control_number(other, "instances.0.metrics.0.value"), 0);
  cr_expect_eq(control_number(other, "instances.1.metrics.0.value"), 4);
  json_decref(other);
  daemon_stop(&service);
}

static void expect_program(const char *line, int status, const char *text) {
  program_run *run = program_start(line);
  const char *output = status ? run->errors : run->output;
  cr_expect_eq(run->status, status, "muster %s: status %d: %s", line, run->status, run->errors);
  cr_expect(strstr(output, text), "muster %s: \"%s\" is not in: %s", line, text, output);
  free(run);
}

Test(module_parts, ctl_shows_a_module_and_gives_it_commands) {
  configure(two_worlds);
  cr_assert(launch(""));
  setenv("MUSTER_SOCKET", service.socket, 1);
  expect_program("ctl module other", 0, "guards    columns  7");
  expect_program("ctl module main add 3", 0, "added                      3");
  expect_program("ctl --world main module add 4", 0, "added                      4");
  expect_program("ctl module main", 0, "walkers_added_total      7");
  expect_program("ctl module main fly 3", 1, "it has: add");
  expect_program("ctl module other towns.add x", 1, "from 1 to 1000");
  daemon_stop(&service);
}

/* ---------------------------------------------------------------------------------------------------------- metrics */

Test(module_parts, metrics_are_scraped_with_world_and_instance) {
  static daemon_reply reply;
  configure(two_worlds);
  cr_assert(launch(""));
  tell("/v1/worlds/other/module/guards.add", as_text, "6", 200, "added");
  static const char wanted[] =
      "\nmuster_module_walkers_added_total{world=\"other\",module=\"walkers\",instance=\"guards\"} 6\n";
  do daemon_ask(&service, "GET", "/metrics", NULL, &reply);
  while (reply.status == 200 && !strstr(reply.body, wanted));
  cr_assert_eq(reply.status, 200);
  cr_expect(strstr(reply.body, "\n# TYPE muster_module_walkers_added_total counter\n"), "%s", reply.body);
  cr_expect(strstr(reply.body, "{world=\"main\",module=\"walkers\",instance=\"module\"} 0\n"), "%s", reply.body);
  cr_expect(strstr(reply.body, "{world=\"other\",module=\"walkers\",instance=\"towns\"} 0\n"), "%s", reply.body);
  daemon_stop(&service);
}

/* -------------------------------------------------------------------------------------------------- save and resume */

enum { MIDDLE = 150, END = 300 };

static const char virtual_world[] =
    "[server]\nsnapshot_file = %s/state\nsnapshot_interval = 3600s\n"
    "[world main]\nmodule = %s\nagents = 300\nvirtual = yes\nhz = 200\nbudget = 0.02ms\n%s\n";

/* Brings the world to the end of that frame. */
static void step_to(long long frame) {
  json_decref(control_ask(&service, "PATCH", "/v1/worlds/main", "{\"paused\": true}", 200));
  json_t *world = control_ask(&service, "GET", "/v1/worlds/main", NULL, 200);
  long long now = control_count(world, "sim_now_ns") / control_count(world, "period_ns");
  json_decref(world);
  cr_assert_leq(now, frame);
  if (now < frame) control_step(&service, frame - now);
}

static uint64_t end_and_read_hash(void) {
  char path[256];
  struct snapshot_file file;
  daemon_signal(&service, SIGTERM);
  cr_assert_eq(daemon_wait(&service), 0);
  snprintf(path, sizeof path, "%s/state", service.folder);
  cr_assert_eq(snapshot_file_open(&file, path), MUSTER_OK, "%s", muster_last_error());
  const snapshot_file_world *saved = snapshot_file_find(&file, "main");
  cr_assert_not_null(saved);
  uint64_t hash = saved->info.hash;
  snapshot_file_close(&file);
  return hash;
}

/* A world to its end, with a restart in the middle or without one; `add` is the path of a command. */
static uint64_t live(const char *modules, const char *setting, const char *add, bool restarts) {
  char text[512];
  daemon_prepare(&service);
  snprintf(text, sizeof text, virtual_world, service.folder, modules, setting);
  daemon_write(&service, "musterd.conf", text);
  cr_assert(add ? launch("") : launch_with("--config @/musterd.conf"));
  step_to(MIDDLE);
  if (add) tell(add, as_text, "20", 200, "added");
  if (restarts) {
    end_and_read_hash();
    cr_assert(add ? launch("") : launch_with("--config @/musterd.conf"));
    expect_log("spawns of frame 150 go on");
  }
  step_to(END);
  uint64_t hash = end_and_read_hash();
  daemon_stop(&service);
  return hash;
}

Test(module_parts, a_module_that_only_registers_types_goes_on_as_if_it_had_run_through) {
  uint64_t through = live("walkers", "module.speed = 3", ADD, false);
  cr_expect_eq(live("walkers", "module.speed = 3", ADD, true), through);
  cr_expect_neq(live("walkers", "module.speed = 4", ADD, false), through);
}

Test(module_parts, several_instances_go_on_as_if_they_had_run_through) {
  static const char add[] = "/v1/worlds/main/module/guards.add";
  uint64_t through = live("towns:walkers guards:walkers", "towns.speed = 3", add, false);
  cr_expect_eq(live("towns:walkers guards:walkers", "towns.speed = 3", add, true), through);
}

Test(module_parts, so_do_instances_that_save_something_themselves) {
  uint64_t through = live("large:fixed small:fixed", "small.side = 500", NULL, false);
  cr_expect_eq(live("large:fixed small:fixed", "small.side = 500", NULL, true), through);
}

Test(module_parts, a_snapshot_of_other_instances_is_refused) {
  char text[512];
  daemon_prepare(&service);
  snprintf(text, sizeof text, virtual_world, service.folder, "towns:walkers guards:walkers", "towns.speed = 3");
  daemon_write(&service, "musterd.conf", text);
  cr_assert(launch(""));
  end_and_read_hash();
  snprintf(text, sizeof text, virtual_world, service.folder, "towns:walkers wolves:walkers", "towns.speed = 3");
  daemon_write(&service, "musterd.conf", text);
  cr_assert(launch(""));
  expect_log("its instance 2 is not wolves of module walkers");
  daemon_stop(&service);
}

/* Two instances of one module have their own chance: what they make is not the same twice. */
Test(module_parts, instances_of_one_module_have_seeds_of_their_own) {
  configure("[world main]\nmodule = a:fixed b:fixed\nagents = 40\n");
  cr_assert(launch_with("--config @/musterd.conf"));
  control_await_count(&service, "/v1/worlds/main", "agents", 80);
  json_t *list = control_ask(&service, "GET", "/v1/worlds/main/agents?limit=1000", NULL, 200),
         *agents = control_member(list, "agents");
  char first[64];
  uint32_t same = 0;
  size_t half = json_array_size(agents) / 2;
  for (size_t i = 0; i < half; i++) {
    snprintf(first, sizeof first, "agents.%zu.position", i);
    json_t *one = control_member(list, first);
    for (size_t k = half; k < 2 * half; k++)
      same += json_equal(one, json_object_get(json_array_get(agents, k), "position"));
  }
  cr_expect(half == 40 && same < half / 2, "%u of %zu stand where another one does", same, half);
  json_decref(list);
  daemon_stop(&service);
}
