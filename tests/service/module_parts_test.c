/* Modules in a real musterd: their settings, commands, metrics and instances, and the save that they leave to the host.
 * The module is tests/examples/template_module.c. */
#include "printed.h"
#include "saved.h"

#define OTHER   "/v1/worlds/other"
#define ADD     WORLD "/module/add"
#define MODULES "--modules " MUSTER_TEST_MODULES " "

TestSuite(module_parts, .fini = stop, .timeout = 120);

static const char as_text[] = "text/plain", as_json[] = "application/json";

/* From a folder with the template and the module fixed, in the test's own. */
static void launch_joined(const char *text) {
  daemon_prepare(&service);
  configure(text);
  join_modules("walkers", "fixed");
  launch_ready("--modules @/modules --config @/musterd.conf");
}

/* Sends a body, and expects this status and an answer with these words. */
static void command(const char *path, const char *type, const char *body, int status, const char *words) {
  daemon_ask_bytes(&service, "POST", path, type, body, strlen(body), &reply);
  cr_expect_eq(reply.status, status, "%s %s: %d: %s", path, body, reply.status, reply.body);
  expect_in(reply.body, words);
}

/* That world is left out, and has no agents. */
static void expect_not_hosted(void) {
  expect_at(WORLD, "{'failed': true, 'agents': 0}");
}

static const char two_worlds[] = "[world main]\nmodule = walkers\nagents = 50\nmodule.speed = 2.5\n"
                                 "[world other]\nmodule = towns:walkers guards:walkers\nagents = 20\n"
                                 "towns.speed = 3\nguards.columns = 7 ; side by side\n";

/* --------------------------------------------------------------------------------------------------------- settings */

Test(module_parts, two_worlds_and_two_instances_have_settings_of_their_own) {
  launch_configured(two_worlds, MODULES);
  expect_at(WORLD "/module", "{'instances.0.instance': 'module', 'instances.0.settings.0.value': '2.5'}");
  expect_at(OTHER "/module", "{'instances.0.instance': 'towns', 'instances.0.settings.0.value': '3', "
                             "'instances.0.settings.1.value': '100', 'instances.1.settings.0.value': '1', "
                             "'instances.1.settings.1.value': '7'}");
  await_count(OTHER, "agents", 40);
  expect_at(OTHER "/types", "{'types.0.type': 'towns walker', 'types.1.type': 'guards walker'}");
}

#define LONG_NAME "abcdefghijklmnopqrstuvwxyz-1234"

/* What is cut is no name of another one. */
Test(module_parts, an_instance_is_known_by_its_whole_name) {
  launch_configured("[world main]\nmodule = " LONG_NAME ":walkers\nagents = 5\n", MODULES);
  command(WORLD "/module/" LONG_NAME ".add", as_text, "4", 200, "\"added\": 4");
  command(WORLD "/module/" LONG_NAME "5.add", as_text, "4", 404, "unknown_instance");
}

Test(module_parts, a_flag_sets_for_the_world_before_it_and_over_the_file) {
  launch_configured(two_worlds, MODULES "--world main --set speed=4 --world other --set towns.columns=9");
  expect_at(WORLD "/module", "{'instances.0.settings.0.value': '4'}");
  expect_at(OTHER "/module", "{'instances.0.settings.1.value': '9'}");
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
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    launch_configured(
        formed("[world good]\nmodule = walkers\n[world main]\nmodule = walkers\nagents = 9\n%s\n", wrong[i].line),
        MODULES);
    EACH(expect_logged, wrong[i].says, "world main is not hosted: ");
    expect_not_hosted();
    command(ADD, as_text, "5", 409, "is not hosted");
    daemon_stop(&service);
  }
}

Test(module_parts, a_module_without_a_table_refuses_every_setting) {
  launch_configured("[world good]\nmodule = walkers\n[world main]\nmodule = crasher\nmodule.speed = 1\n", MODULES);
  expect_logged("musterd.conf:5: module crasher has no settings, and was given 'speed'");
}

Test(module_parts, a_reload_tells_of_changed_settings_and_leaves_them) {
  launch_configured(two_worlds, MODULES);
  reload("[world main]\nmodule = walkers\nagents = 50\nmodule.speed = 9\nmodule.columns = 3\n"
         "[world other]\nmodule = towns:walkers guards:walkers\nagents = 20\ntowns.speed = 3\n");
  EACH(expect_logged, "reload: main module.speed: it cannot change while the service runs and is left; restart for it",
       "reload: main module.columns: it cannot change", "reload: other guards.columns: it cannot change");
  expect_not_logged("towns.speed");
  expect_at(WORLD "/module", "{'instances.0.settings.0.value': '2.5'}");
}

/* Wildlife reads what its neighbours publish, and takes them for animals. */
Test(module_parts, a_module_that_does_not_share_a_world_gets_one_of_its_own) {
  launch_configured("[world good]\nmodule = fixed\nagents = 10\n"
                    "[world main]\nmodule = square:fixed nature:wildlife\nagents = 20\n",
                    "");
  expect_logged("world main is not hosted: module wildlife does not share a world");
}

/* The first instance is closed again, and the module's own words are told. */
Test(module_parts, an_instance_that_refuses_to_open_takes_the_others_of_its_world_with_it) {
  launch_joined("[world good]\nmodule = fixed\nagents = 10\n"
                "[world main]\nmodule = a:walkers b:fixed\nagents = 20\npath = /etc/passwd\n");
  EACH(expect_logged, "world main is not hosted: ", "takes no file");
  expect_not_hosted();
}

/* The template makes no agents for others, fixed does. */
Test(module_parts, agents_from_outside_are_completed_by_the_instance_whose_type_they_are) {
  launch_joined("[world main]\nmodule = a:walkers b:fixed\nagents = 20\nagents_max = 100\n");
  static const char of_fixed[] = "[{\"type\": \"fixed\", \"position\": {\"x\": 1, \"y\": 2, \"z\": 0}}]";
  static const char of_walkers[] = "[{\"type\": \"a walker\", \"position\": {\"x\": 1, \"y\": 2, \"z\": 0}}]";
  tell("POST", WORLD "/agents", of_fixed, 201);
  tell("POST", WORLD "/agents", of_walkers, 409);
}

/* --------------------------------------------------------------------------------------------------------- commands */

Test(module_parts, commands_reach_their_instance_and_wrong_ones_are_refused) {
  launch_configured(two_worlds, MODULES);
  await_count(WORLD, "agents", 50);
  command(ADD, as_text, "10", 200, "{\"added\": 10}");
  await_count(WORLD, "agents", 60);
  command(OTHER "/module/guards.add", as_text, "4", 200, "\"added\": 4");
  command(ADD, as_text, "none", 400, "\"message\": \"add: say how many to add, from 1 to 1000\"");
  command(ADD, as_json, "{\"a\":", 400, "\"code\": \"json\"");
  command(ADD, "application/x-www-form-urlencoded", "5", 415, "content_type");
  command(WORLD "/module/remove", as_text, "5", 404, "no such command; it has: add");
  command(OTHER "/module/add", as_text, "5", 404, "of one of: towns, guards");
  command(OTHER "/module/wolves.add", as_text, "5", 404, "unknown_instance");
  command("/v1/worlds/nowhere/module/add", as_text, "5", 404, "unknown_world");
  SCOPED(free_memory) char *much = calloc(1, MUSTER_MODULE_BODY_MAX + 2);
  memset(much, '7', MUSTER_MODULE_BODY_MAX + 1);
  command(ADD, as_text, much, 413, "error");
  expect_at(OTHER "/module", "{'instances.0.metrics.0.value': 0, 'instances.1.metrics.0.value': 4}");
}

Test(module_parts, ctl_shows_a_module_and_gives_it_commands) {
  launch_configured(two_worlds, MODULES);
  setenv("MUSTER_SOCKET", service.socket, 1);
  EACH_TRIPLE(expect_printed, {"ctl module other", 0, "guards    columns  7"},
              {"ctl module main add 3", 0, "added                      3"},
              {"ctl --world main module add 4", 0, "added                      4"},
              {"ctl module main", 0, "walkers_added_total      7"}, {"ctl module main fly 3", 1, "it has: add"},
              {"ctl module other towns.add x", 1, "from 1 to 1000"});
}

/* ---------------------------------------------------------------------------------------------------------- metrics */

Test(module_parts, metrics_are_scraped_with_world_and_instance) {
  launch_configured(two_worlds, MODULES);
  command(OTHER "/module/guards.add", as_text, "6", 200, "added");
  static const char wanted[] =
      "\nmuster_module_walkers_added_total{world=\"other\",module=\"walkers\",instance=\"guards\"} 6\n";
  do fetch("GET", "/metrics", NULL);
  while (reply.status == 200 && !strstr(reply.body, wanted));
  cr_assert_eq(reply.status, 200);
  expect_in(reply.body, "\n# TYPE muster_module_walkers_added_total counter\n");
  expect_in(reply.body, "{world=\"main\",module=\"walkers\",instance=\"module\"} 0\n");
  expect_in(reply.body, "{world=\"other\",module=\"walkers\",instance=\"towns\"} 0\n");
}

/* -------------------------------------------------------------------------------------------------- save and resume */

enum { MIDDLE = 150, END = 300 };

static const char virtual_world[] =
    "[server]\nsnapshot_file = @/state\nsnapshot_interval = 3600s\n"
    "[world main]\nmodule = %s\nagents = 300\nvirtual = yes\nhz = 200\nbudget = 0.02ms\n%s\n";

/* Brings the world to the end of that frame. */
static void step_to(long long frame) {
  pause_world();
  json_auto_t *world = get(WORLD);
  long long now = control_count(world, "sim_now_ns") / control_count(world, "period_ns");
  cr_assert_leq(now, frame);
  if (now < frame) step(frame - now);
}

static uint64_t end_and_read_hash(void) {
  end_well();
  SCOPED(snapshot_file_close) struct snapshot_file file = saved_open("state");
  return saved_world(&file, "main")->info.hash;
}

/* A world to its end, with a restart in the middle or without one; `add` is the path of a command. */
static uint64_t live(const char *modules, const char *setting, const char *add, bool restarts) {
  launch_configured(formed(virtual_world, modules, setting), add ? MODULES : "");
  step_to(MIDDLE);
  if (add) command(add, as_text, "20", 200, "added");
  if (restarts) {
    end_and_read_hash();
    launch_ready(formed("--config @/musterd.conf %s", add ? MODULES : ""));
    expect_logged("spawns of frame 150 go on");
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
  static const char add[] = WORLD "/module/guards.add";
  uint64_t through = live("towns:walkers guards:walkers", "towns.speed = 3", add, false);
  cr_expect_eq(live("towns:walkers guards:walkers", "towns.speed = 3", add, true), through);
}

Test(module_parts, so_do_instances_that_save_something_themselves) {
  uint64_t through = live("large:fixed small:fixed", "small.side = 500", NULL, false);
  cr_expect_eq(live("large:fixed small:fixed", "small.side = 500", NULL, true), through);
}

Test(module_parts, a_snapshot_of_other_instances_is_refused) {
  launch_configured(formed(virtual_world, "towns:walkers guards:walkers", "towns.speed = 3"), MODULES);
  end_and_read_hash();
  configure(formed(virtual_world, "towns:walkers wolves:walkers", "towns.speed = 3"));
  launch_ready(MODULES "--config @/musterd.conf");
  expect_logged("its instance 2 is not wolves of module walkers");
}

/* Two instances of one module have their own chance: what they make is not the same twice. */
Test(module_parts, instances_of_one_module_have_seeds_of_their_own) {
  launch_configured("[world main]\nmodule = a:fixed b:fixed\nagents = 40\n", "");
  await_count(WORLD, "agents", 80);
  json_auto_t *list = get(WORLD "/agents?limit=1000");
  json_t *agents = control_member(list, "agents");
  uint32_t same = 0;
  size_t half = json_array_size(agents) / 2;
  for (size_t i = 0; i < half; i++) {
    json_t *one = control_member(list, formed("agents.%zu.position", i));
    for (size_t k = half; k < 2 * half; k++)
      same += json_equal(one, json_object_get(json_array_get(agents, k), "position"));
  }
  cr_expect(half == 40 && same < half / 2, "%u of %zu stand where another one does", same, half);
}
