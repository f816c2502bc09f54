/* The control API of a real musterd: what each request does, and what it refuses. */
#include "control.h"

#include <criterion/criterion.h>

#define WORLD     "/v1/worlds/main"
#define AGENTS    WORLD "/agents"
#define OBSERVERS WORLD "/observers"

static musterd service;

/* Most tests want a world that moves only when it is told to. */
static void start_paused(void) {
  daemon_start(&service, "--world main=wildlife --agents 500");
  control_await_count(&service, WORLD, "agents", 400); /* spawns are spread over frames */
  json_decref(control_ask(&service, "PATCH", WORLD, "{\"paused\": true}", 200));
}

/* A world in which nobody is born and nobody dies: its agents can be counted before and after. */
static void start_childless(void) {
  daemon_start(&service, "--world main=fixed --agents 500");
  control_await_count(&service, WORLD, "agents", 500);
  json_decref(control_ask(&service, "PATCH", WORLD, "{\"paused\": true}", 200));
}

static void stop(void) {
  daemon_stop(&service);
}

static json_t *ask(const char *method, const char *path, const char *body, int status) {
  return control_ask(&service, method, path, body, status);
}

static void tell(const char *method, const char *path, const char *body, int status) {
  json_decref(ask(method, path, body, status));
}

TestSuite(api, .init = start_paused, .fini = stop);

/* ------------------------------------------------------------------------------------------------------- worlds */

Test(api, lists_what_there_is) {
  json_t *routes = ask("GET", "/v1", NULL, 200), *worlds = ask("GET", "/v1/worlds", NULL, 200);
  cr_expect(json_array_size(control_member(routes, "requests")) > 20);
  cr_expect(json_array_size(control_member(worlds, "worlds")) == 1);
  cr_expect_str_eq(control_text(worlds, "worlds.0.module"), "wildlife");
  json_decref(routes);
  json_decref(worlds);
}

Test(api, a_paused_world_runs_exactly_the_frames_that_it_is_told_to) {
  json_t *before = ask("GET", WORLD, NULL, 200);
  cr_expect(control_is_true(before, "paused"));
  control_step(&service, 5);
  json_t *after = ask("GET", WORLD, NULL, 200);
  cr_expect_eq(control_count(after, "frames"), control_count(before, "frames") + 5);
  cr_expect_eq(control_count(after, "sim_now_ns") - control_count(before, "sim_now_ns"),
               5 * control_count(after, "period_ns"));
  cr_expect(control_number(after, "serial_share") >= 0.0 && control_number(after, "serial_share") <= 1.0);
  cr_expect(control_count(after, "frame.serial_ns") <= control_count(after, "frame.work_ns"));
  json_decref(before);
  json_decref(after);
}

Test(api, a_world_goes_on_when_it_is_no_longer_paused) {
  tell("PATCH", WORLD, "{\"paused\": false}", 200);
  json_t *now = ask("GET", WORLD, NULL, 200);
  control_await_count(&service, WORLD, "frames", control_count(now, "frames") + 3);
  json_decref(now);
}

Test(api, pace_workers_and_weights_change_together) {
  tell("PATCH", WORLD, "{\"budget_ns\": 4000000, \"hz\": 20, \"workers\": 1, \"weight_wait\": 0.25}", 200);
  control_step(&service, 1);
  json_t *world = ask("GET", WORLD, NULL, 200), *weights = ask("GET", WORLD "/weights", NULL, 200);
  cr_expect_eq(control_count(world, "budget_ns"), 4000000);
  cr_expect_eq(control_count(world, "period_ns"), 50000000);
  cr_expect_eq(control_count(weights, "workers"), 1);
  cr_expect(control_number(weights, "weight_wait") == 0.25);
  cr_expect(control_number(weights, "weight_importance") == 1.0);
  json_decref(world);
  json_decref(weights);
}

/* Members of the world that no frame changes, in one document with its weights and workers. */
static json_t *read_settings(void) {
  static const char *const members[] = {"budget_ns", "period_ns", "hz", "paused", "steps_left"};
  json_t *world = ask("GET", WORLD, NULL, 200), *settings = ask("GET", WORLD "/weights", NULL, 200);
  for (size_t i = 0; i < sizeof members / sizeof *members; i++)
    json_object_set(settings, members[i], control_member(world, members[i]));
  json_decref(world);
  return settings;
}

/* Each of them is refused for its last part, which is known to be wrong at different moments: when it is read, when the
 * pace, the workers or the weights are set. */
Test(api, a_change_with_one_bad_part_changes_nothing) {
  static const struct {
    const char *body;
    int status;
  } changes[] = {
      {"{\"budget_ns\": 2000000, \"hz\": 10, \"workers\": 1000}", 400},
      {"{\"budget_ns\": 2000000, \"workers\": 1, \"focus\": 0.5}", 409},
      {"{\"hz\": 10, \"workers\": 1, \"weight_wait\": 0.25, \"focus\": 0.5}", 409},
      {"{\"workers\": 1, \"focus\": 0.5}", 409},
      {"{\"paused\": false, \"workers\": 1, \"focus\": 0.5}", 409},
      {"{\"weight_wait\": 0.5, \"budget_ns\": 9000000000}", 400},
      {"{\"paused\": false, \"workers\": 1, \"budget_ns\": 60000000}", 400},
      {"{\"paused\": false, \"weight_wait\": 0.5, \"hz\": 0}", 400},
      {"{\"weight_wait\": 0.5, \"policy\": \"best\"}", 400},
      {"{\"hz\": 10, \"policy\": \"fair\", \"weight_wait\": 0.5}", 400},
      {"{\"workers\": 1, \"hz\": 10, \"colour\": 1}", 400},
  };
  /* So that no change above is to what is there already. */
  tell("PATCH", WORLD, "{\"budget_ns\": 4000000, \"hz\": 20, \"workers\": 2, \"weight_wait\": 0.75}", 200);
  control_step(&service, 1);
  json_t *before = read_settings();
  cr_assert_eq(control_count(before, "workers"), 2);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
    tell("PATCH", WORLD, changes[i].body, changes[i].status);
    control_step(&service, 1);
    json_t *after = read_settings();
    cr_expect(json_equal(before, after), "%s has left %s", changes[i].body, json_dumps(after, 0));
    json_decref(after);
  }
  json_decref(before);
}

Test(api, a_policy_sets_all_weights) {
  tell("PATCH", WORLD, "{\"policy\": \"fair\"}", 200);
  control_step(&service, 1);
  json_t *weights = ask("GET", WORLD "/weights", NULL, 200);
  cr_expect(control_number(weights, "weight_importance") == 0.0);
  cr_expect(control_number(weights, "weight_runs") == 1.0);
  json_decref(weights);
}

Test(api, bad_changes_of_a_world_are_refused) {
  CONTROL_EXPECT_REFUSALS(
      &service, {"PATCH", WORLD, "{}", 400, "missing", ""}, {"PATCH", WORLD, "", 400, "json", ""},
      {"PATCH", WORLD, "[]", 400, "wrong_type", ""}, {"PATCH", WORLD, "{\"hz\": 0}", 400, "out_of_range", "hz"},
      {"PATCH", WORLD, "{\"hz\": \"30\"}", 400, "wrong_type", "hz"}, {"PATCH", WORLD, "{\"hz\": NaN}", 400, "json", ""},
      {"PATCH", WORLD, "{\"hz\": 1e999}", 400, "json", ""},
      {"PATCH", WORLD, "{\"hz\": 30, \"hz\": 20}", 400, "duplicate_field", "hz"},
      {"PATCH", WORLD, "{\"budget_ns\": 1.5}", 400, "wrong_type", "budget_ns"},
      {"PATCH", WORLD, "{\"budget_ns\": -1}", 400, "out_of_range", "budget_ns"},
      {"PATCH", WORLD, "{\"budget\": 1}", 400, "unknown_field", "budget"},
      {"PATCH", WORLD, "{\"paused\": 1}", 400, "wrong_type", "paused"},
      {"PATCH", WORLD, "{\"policy\": \"best\"}", 400, "out_of_range", "policy"},
      {"PATCH", WORLD, "{\"policy\": \"fair\", \"weight_wait\": 1}", 400, "conflict", "policy"},
      {"PATCH", WORLD, "{\"weight_wait\": 1.01}", 400, "out_of_range", "weight_wait"},
      {"PATCH", WORLD, "{\"focus\": 1}", 409, "state", ""},
      {"PATCH", WORLD, "{\"cycles_max\": 0}", 400, "out_of_range", "cycles_max"},
      {"POST", WORLD "/step", "{\"frames\": 0}", 400, "out_of_range", "frames"},
      {"POST", WORLD "/step", "{}", 400, "missing", "frames"},
      {"GET", "/v1/worlds/other", NULL, 404, "unknown_world", "world"},
      {"PATCH", "/v1/worlds/other", "{\"hz\": 30}", 404, "unknown_world", "world"},
      {"DELETE", WORLD, NULL, 405, "method", ""}, {"GET", "/v1/nothing", NULL, 404, "unknown_path", ""});
}

/* -------------------------------------------------------------------------------------------------------- types */

Test(api, types_tell_costs_by_level_and_overruns) {
  json_t *types = ask("GET", WORLD "/types", NULL, 200);
  cr_expect(json_array_size(control_member(types, "types")) == 4);
  cr_expect(control_count(types, "types.0.levels.0.agents") > 0);
  cr_expect(!control_is_true(types, "types.0.overrun_counts.quarantined"));
  cr_expect_eq(control_count(types, "types.0.overrun_counts.blocked"), 0);
  cr_expect_eq(control_count(types, "types.0.overrun_counts.worst_blocked_ns"), 0);
  json_decref(types);
}

Test(api, types_are_reinstated_by_name) {
  tell("POST", WORLD "/types/hare/reinstate", NULL, 200);
  CONTROL_EXPECT_REFUSALS(
      &service, {"POST", WORLD "/types/unicorn/reinstate", NULL, 404, "unknown_type", "type"},
      {"POST", WORLD "/types/a-name-that-is-longer-than-any-type-can-have/reinstate", NULL, 404, "unknown_type",
       "type"},
      {"PUT", WORLD "/types/hare/priority", "{\"priority\": 3}", 400, "out_of_range", "priority"},
      {"PUT", WORLD "/types/hare/priority", "{\"priority\": 101}", 400, "out_of_range", "priority"});
}

/* The period that the first type has after a frame. */
static long long period_after_a_frame(void) {
  control_step(&service, 1);
  json_t *types = ask("GET", WORLD "/types", NULL, 200);
  long long period_ns = control_count(types, "types.0.period_ns");
  json_decref(types);
  return period_ns;
}

Test(api, periods_of_types_and_agents_change) {
  json_t *types = ask("GET", WORLD "/types", NULL, 200);
  char path[128], body[128];
  long long before_ns = control_count(types, "types.0.period_ns");
  snprintf(path, sizeof path, WORLD "/types/%s/periods", control_text(types, "types.0.type"));
  json_decref(types);
  snprintf(body, sizeof body, "{\"period_ns\": %lld, \"period_max_ns\": 9000000000}", 2 * before_ns);
  tell("PUT", path, body, 200);
  cr_expect_eq(period_after_a_frame(), 2 * before_ns);
  tell("PUT", path, "{\"period_ns\": 0}", 200);
  cr_expect_eq(period_after_a_frame(), before_ns);
  CONTROL_EXPECT_REFUSALS(
      &service, {"PUT", WORLD "/types/unicorn/periods", "{\"period_ns\": 1000000}", 404, "unknown_type", "type"},
      {"PUT", WORLD "/types/hare/periods", "{}", 400, "missing", "period_ns"},
      {"PUT", WORLD "/types/hare/periods", "{\"period_ns\": 5}", 400, "out_of_range", "period_ns"},
      {"PUT", WORLD "/types/hare/periods", "{\"period_ns\": 1000000, \"period_max_ns\": 500000}", 400, "out_of_range",
       "period_ns"},
      {"PUT", AGENTS "/999999.1/periods", "{\"period_ns\": 1000000}", 404, "gone", "agent"});
}

/* ------------------------------------------------------------------------------------------------------- agents */

Test(api, pages_hold_every_agent_once) {
  char path[256] = AGENTS "?limit=64";
  long long count = 0, last = -1;
  json_t *world = ask("GET", WORLD, NULL, 200);
  for (bool more = true; more;) {
    json_t *page = ask("GET", path, NULL, 200), *agent;
    size_t i;
    json_array_foreach(control_member(page, "agents"), i, agent) {
      long long index = atoll(control_text(agent, "agent"));
      cr_assert(index > last);
      last = index;
      count++;
    }
    more = json_is_string(control_member(page, "next"));
    if (more) snprintf(path, sizeof path, AGENTS "?limit=64&cursor=%s", control_text(page, "next"));
    json_decref(page);
  }
  cr_expect_eq(count, control_count(world, "agents"));
  json_decref(world);
}

static void expect_all(const char *path, bool (*holds)(json_t *agent)) {
  size_t i;
  json_t *page = ask("GET", path, NULL, 200), *agent;
  cr_expect(json_array_size(control_member(page, "agents")) > 0, "%s finds nobody", path);
  json_array_foreach(control_member(page, "agents"), i, agent) cr_expect(holds(agent), "%s", path);
  json_decref(page);
}

static bool is_hare(json_t *agent) {
  return strcmp(control_text(agent, "type"), "hare") == 0;
}

static bool is_cheap(json_t *agent) {
  return control_count(agent, "level") == 2;
}

static bool matters(json_t *agent) {
  return control_number(agent, "importance") >= 0.25;
}

static bool is_near(json_t *agent) {
  double x = control_number(agent, "position.x"), y = control_number(agent, "position.y");
  return x * x + y * y <= 40.0 * 40.0;
}

Test(api, filters_let_only_those_through_that_are_meant) {
  expect_all(AGENTS "?type=hare", is_hare);
  expect_all(AGENTS "?level=2", is_cheap);
  expect_all(AGENTS "?min_importance=0.25", matters);
  expect_all(AGENTS "?near=0,0,40", is_near);
  json_t *nobody = ask("GET", AGENTS "?partition=7", NULL, 200);
  cr_expect(json_array_size(control_member(nobody, "agents")) == 0);
  cr_expect(json_is_null(control_member(nobody, "next")));
  json_decref(nobody);
}

Test(api, bad_filters_are_refused) {
  CONTROL_EXPECT_REFUSALS(&service, {"GET", AGENTS "?type=unicorn", NULL, 404, "unknown_type", "type"},
                          {"GET", AGENTS "?level=4", NULL, 400, "out_of_range", "level"},
                          {"GET", AGENTS "?limit=0", NULL, 400, "out_of_range", "limit"},
                          {"GET", AGENTS "?limit=1001", NULL, 400, "out_of_range", "limit"},
                          {"GET", AGENTS "?limit=1&limit=2", NULL, 400, "query", "limit"},
                          {"GET", AGENTS "?limit=1&LIMIT=2", NULL, 400, "query", "LIMIT"},
                          {"GET", AGENTS "?colour=red", NULL, 400, "query", "colour"},
                          {"GET", AGENTS "?cursor=-1", NULL, 400, "out_of_range", "cursor"},
                          {"GET", AGENTS "?near=1,2", NULL, 400, "out_of_range", "near"},
                          {"GET", AGENTS "?near=1,nan,3", NULL, 400, "out_of_range", "near"},
                          {"GET", AGENTS "?near=1,2,-3", NULL, 400, "out_of_range", "near"},
                          {"GET", AGENTS "?near=1;2,3", NULL, 400, "out_of_range", "near"},
                          {"GET", AGENTS "?near=1,2,0x3", NULL, 400, "out_of_range", "near"},
                          {"GET", AGENTS "?near=1,2,3x", NULL, 400, "out_of_range", "near"},
                          {"GET", AGENTS "?near=-,2,3", NULL, 400, "out_of_range", "near"},
                          {"GET", AGENTS "?min_importance=2", NULL, 400, "out_of_range", "min_importance"},
                          {"GET", AGENTS "?min_importance=inf", NULL, 400, "out_of_range", "min_importance"});
}

/* Spawns one hare and runs the frame that makes it active; writes its path. */
static void spawn_hare(char path[256]) {
  json_t *spawned = ask("POST", AGENTS, "[{\"type\": \"hare\", \"position\": {\"x\": 1, \"y\": 2}}]", 201);
  snprintf(path, 256, AGENTS "/%s", control_text(spawned, "agents.0"));
  control_step(&service, 1);
  json_decref(spawned);
}

Test(api, spawned_agents_are_there_after_a_frame) {
  char path[256];
  json_t *before = ask("GET", WORLD, NULL, 200);
  spawn_hare(path);
  json_t *agent = ask("GET", path, NULL, 200);
  cr_expect_str_eq(control_text(agent, "type"), "hare");
  cr_expect(control_is_true(agent, "active"));
  json_decref(before);
  json_decref(agent);
}

Test(api, a_spawn_with_one_bad_agent_spawns_none, .init = start_childless) {
  json_t *before = ask("GET", WORLD, NULL, 200);
  CONTROL_EXPECT_REFUSALS(
      &service,
      {"POST", AGENTS,
       "[{\"type\":\"fixed\",\"position\":{\"x\":1,\"y\":2}},{\"type\":\"fox\",\"position\":{\"x\":1,\"y\":2}}]", 404,
       "unknown_type", "type"},
      {"POST", AGENTS, "[{\"type\":\"fixed\",\"position\":{\"x\":1,\"y\":2}},{\"type\":\"fixed\"}]", 400, "missing",
       "[1].position"},
      {"POST", AGENTS, "[{\"type\":\"fixed\",\"position\":{\"x\":1,\"y\":2e9}}]", 400, "out_of_range",
       "[0].position.y"},
      {"POST", AGENTS, "[{\"type\":\"fixed\",\"position\":{\"x\":1}}]", 400, "unknown_field", "[0].position"},
      {"POST", AGENTS, "[{\"type\":\"fixed\",\"position\":{\"x\":1,\"y\":2},\"bulk\":2}]", 400, "out_of_range",
       "[0].bulk"},
      {"POST", AGENTS, "[{\"type\":\"fixed\",\"position\":{\"x\":1,\"y\":2},\"state\":0}]", 400, "unknown_field",
       "[0].state"},
      {"POST", AGENTS, "[]", 400, "out_of_range", ""}, {"POST", AGENTS, "{}", 400, "wrong_type", ""},
      {"POST", AGENTS, "[{]", 400, "json", ""});
  control_step(&service, 2); /* what was spawned all the same would be there */
  json_t *after = ask("GET", WORLD, NULL, 200);
  cr_expect_eq(control_count(after, "agents"), control_count(before, "agents"));
  cr_expect_eq(control_count(after, "spawns_waiting"), 0);
  json_decref(before);
  json_decref(after);
}

/* The body of a request for so many agents, in a partition in which nobody else is. */
static char *many_of(const char *type, size_t count) {
  size_t each = 80, length = 1;
  char *body = malloc(count * each + 8);
  for (size_t i = 0; i < count; i++)
    length += (size_t)sprintf(body + length, "{\"type\":\"%s\",\"position\":{\"x\":1,\"y\":2},\"partition\":7},", type);
  body[0] = '[';
  strcpy(body + length - 1, "]");
  return body;
}

Test(api, more_agents_than_the_world_has_room_for_are_refused_together, .init = start_childless) {
  char *body = many_of("fixed", 4000);
  json_t *refused = ask("POST", AGENTS, body, 409);
  cr_expect_str_eq(control_text(refused, "error.code"), "full");
  control_step(&service, 1);
  json_t *world = ask("GET", WORLD, NULL, 200);
  cr_expect_eq(control_count(world, "agents"), 500);
  cr_expect_eq(control_count(world, "spawns_waiting"), 0);
  json_decref(refused);
  json_decref(world);
  free(body);
}

/* Ids are set aside for what updates may spawn: so many agents have room, but the last of them find no id. */
Test(api, more_agents_than_there_are_ids_for_are_refused_together) {
  enum { AGENTS_MAX = 500 + 500 / 2 + 64 };
  json_t *world = ask("GET", WORLD, NULL, 200);
  long long there = control_count(world, "agents") + control_count(world, "spawns_waiting");
  char *body = many_of("hare", (size_t)(AGENTS_MAX - there));
  json_t *refused = ask("POST", AGENTS, body, 409);
  cr_expect_not_null(strstr(control_text(refused, "error.message"), "set aside for spawns from updates"));
  control_step(&service, 2);
  json_t *left = ask("GET", AGENTS "?partition=7", NULL, 200);
  cr_expect_eq(json_array_size(control_member(left, "agents")), 0);
  json_decref(world), json_decref(refused), json_decref(left);
  free(body);
}

Test(api, an_agent_is_moved_and_tuned) {
  char path[256], end[300];
  spawn_hare(path);
  snprintf(end, sizeof end, "%s/position", path);
  tell("PUT", end, "{\"position\": {\"x\": -60, \"y\": 70}}", 200);
  tell("PUT", end, "{\"position\": {\"x\": -60, \"y\": 70}}", 200);
  tell("PATCH", path, "{\"importance_floor\": 1, \"elasticity\": 0}", 200);
  CONTROL_EXPECT_REFUSALS(
      &service, {"PATCH", path, "{\"elasticity\": 2, \"derive_elasticity\": true}", 400, "conflict", "elasticity"});
  control_step(&service, 2);
  json_t *agent = ask("GET", path, NULL, 200);
  cr_expect(control_number(agent, "position.x") < -50 && control_number(agent, "position.y") > 60);
  cr_expect(control_number(agent, "importance") > 0.99);
  cr_expect(control_number(agent, "elasticity") == 0.0);
  json_decref(agent);
}

/* What was taken over of a change that was refused would be seen after the next frame. */
Test(api, a_change_of_an_agent_with_one_bad_part_changes_nothing) {
  static const char *const changes[] = {
      "{\"importance_floor\": 0.875, \"elasticity\": 1025}",
      "{\"importance_floor\": 0.875, \"elasticity\": 2, \"derive_elasticity\": true}",
      "{\"elasticity\": 3, \"importance_floor\": 0.875, \"bulk\": 2}",
      "{\"elasticity\": 3, \"importance_floor\": 0.875, \"colour\": 1}",
      "{\"elasticity\": 3, \"importance_floor\": 0.875, \"role\": true}",
  };
  char path[256], end[300];
  json_t *spawned = ask("POST", AGENTS,
                        "[{\"type\": \"hare\", \"position\": {\"x\": -50000, \"y\": 2}, \"importance_floor\": 0.5, "
                        "\"elasticity\": 0}]",
                        201);
  snprintf(path, sizeof path, AGENTS "/%s", control_text(spawned, "agents.0"));
  control_step(&service, 2);
  for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) tell("PATCH", path, changes[i], 400);
  snprintf(end, sizeof end, "%s/position", path);
  tell("PUT", end, "{\"position\": {\"x\": 500, \"y\": 2e9}}", 400);
  snprintf(end, sizeof end, "%s/periods", path);
  tell("PUT", end, "{\"period_ns\": 1000000000, \"period_max_ns\": 500000000}", 400);
  control_step(&service, 2);
  json_t *agent = ask("GET", path, NULL, 200);
  cr_expect_eq(control_number(agent, "elasticity"), 0);
  cr_expect_lt(control_number(agent, "importance"), 0.875);
  cr_expect_lt(control_number(agent, "position.x"), 0);
  json_decref(spawned), json_decref(agent);
}

Test(api, bad_changes_of_an_agent_are_refused) {
  json_t *page = ask("GET", AGENTS "?limit=1", NULL, 200);
  char path[128];
  snprintf(path, sizeof path, AGENTS "/%s", control_text(page, "agents.0.agent"));
  CONTROL_EXPECT_REFUSALS(&service, {"PATCH", path, "{\"elasticity\": 1025}", 400, "out_of_range", "elasticity"},
                          {"PATCH", path, "{\"role\": true}", 400, "wrong_type", "role"},
                          {"PATCH", path, "{\"speed\": 1}", 400, "unknown_field", "speed"},
                          {"PATCH", path, "{}", 400, "missing", ""});
  json_decref(page);
}

Test(api, an_agent_is_woken_now_or_asked_to_wake_at_a_time) {
  char path[256], end[300];
  spawn_hare(path);
  snprintf(end, sizeof end, "%s/wake", path);
  tell("POST", end, NULL, 200);
  tell("POST", end, "{\"at_ns\": 4000000000000}", 200);
  control_step(&service, 1);
  json_t *agent = ask("GET", path, NULL, 200);
  cr_expect_eq(control_count(agent, "wake_at_ns"), 4000000000000);
  CONTROL_EXPECT_REFUSALS(&service, {"POST", end, "{\"at_ns\": -1}", 400, "out_of_range", "at_ns"},
                          {"POST", end, "{\"at\": 1}", 400, "unknown_field", "at"},
                          {"POST", end, "{}", 400, "missing", "at_ns"});
  json_decref(agent);
}

Test(api, an_explanation_says_the_same_in_numbers_and_in_words) {
  char path[256], end[300];
  spawn_hare(path);
  snprintf(end, sizeof end, "%s/explain", path);
  json_t *explanation = ask("GET", end, NULL, 200);
  cr_expect_str_eq(control_text(explanation, "type"), "hare");
  cr_expect(strstr(control_text(explanation, "words"), "hare") != NULL);
  cr_expect(control_count(explanation, "period.in_force_ns") > 0);
  json_decref(explanation);
}

Test(api, a_removed_agent_is_gone_and_stays_gone) {
  char path[256];
  spawn_hare(path);
  tell("DELETE", path, NULL, 200);
  control_step(&service, 1);
  CONTROL_EXPECT_REFUSALS(&service, {"DELETE", path, NULL, 404, "gone", "agent"},
                          {"GET", path, NULL, 404, "gone", "agent"},
                          {"PATCH", path, "{\"bulk\": 1}", 404, "gone", "agent"});
}

Test(api, ids_that_are_none_are_refused) {
  CONTROL_EXPECT_REFUSALS(
      &service, {"GET", AGENTS "/5", NULL, 400, "bad_id", "agent"},
      {"GET", AGENTS "/-1.1", NULL, 400, "bad_id", "agent"}, {"GET", AGENTS "/1.2.3", NULL, 400, "bad_id", "agent"},
      {"GET", AGENTS "/99999999999.1", NULL, 400, "bad_id", "agent"},
      {"GET", AGENTS "/4294967295.4294967295", NULL, 404, "gone", "agent"},
      {"GET", AGENTS "/4294967295.1/explain", NULL, 404, "gone", "agent"},
      {"POST", AGENTS "/0.0/wake", NULL, 404, "gone", "agent"},
      {"DELETE", OBSERVERS "/9.9", NULL, 404, "gone", "observer"},
      {"PUT", OBSERVERS "/9.9/hold", "{\"position\": {\"x\": 1, \"y\": 1}}", 404, "gone", "observer"},
      {"DELETE", OBSERVERS "/9.9/hold", NULL, 404, "gone", "observer"},
      {"DELETE", OBSERVERS "/x", NULL, 400, "bad_id", "observer"});
}

/* ---------------------------------------------------------------------------------------------------- observers */

Test(api, observers_come_walk_and_go) {
  char path[256], end[300];
  json_t *added = ask("POST", OBSERVERS, "{\"position\": {\"x\": 5, \"y\": 6}, \"near_m\": 1, \"far_m\": 9}", 201);
  snprintf(path, sizeof path, OBSERVERS "/%s", control_text(added, "observer"));
  snprintf(end, sizeof end, "%s/position", path);
  control_step(&service, 1);
  json_t *two = ask("GET", OBSERVERS, NULL, 200);
  cr_expect(json_array_size(control_member(two, "observers")) == 2);
  cr_expect(control_number(two, "observers.1.far_m") == 9.0);
  tell("PUT", end, "{\"position\": {\"x\": 50, \"y\": 6}}", 200);
  control_step(&service, 1);
  json_t *walked = ask("GET", OBSERVERS "?cursor=1&limit=1", NULL, 200);
  cr_expect(control_number(walked, "observers.0.position.x") == 50.0);
  tell("DELETE", path, NULL, 200);
  control_step(&service, 1);
  tell("DELETE", path, NULL, 404);
  json_decref(added);
  json_decref(two);
  json_decref(walked);
}

/* Its camera walks in each frame. */
Test(api, an_observer_that_is_held_stays_until_it_is_let_go) {
  char path[256];
  json_t *first = ask("GET", OBSERVERS, NULL, 200);
  snprintf(path, sizeof path, OBSERVERS "/%s/hold", control_text(first, "observers.0.observer"));
  cr_expect(!control_is_true(first, "observers.0.held"));
  tell("PUT", path, "{\"position\": {\"x\": 7, \"y\": -8}}", 200);
  control_step(&service, 3);
  json_t *held = ask("GET", OBSERVERS, NULL, 200);
  cr_expect(control_is_true(held, "observers.0.held"));
  cr_expect(control_number(held, "observers.0.position.x") == 7 &&
            control_number(held, "observers.0.position.y") == -8);
  tell("DELETE", path, NULL, 200);
  control_step(&service, 1);
  json_t *free_again = ask("GET", OBSERVERS, NULL, 200);
  cr_expect(!control_is_true(free_again, "observers.0.held"));
  cr_expect(control_number(free_again, "observers.0.position.x") != 7);
  json_decref(first);
  json_decref(held);
  json_decref(free_again);
}

Test(api, no_more_observers_are_held_than_there_is_room_for_and_those_that_are_gone_leave_theirs) {
  enum { HOLDS_MAX = 64 };
  char path[256], hold[300], last[256] = "";
  for (int i = 0; i <= HOLDS_MAX; i++) {
    json_t *added = ask("POST", OBSERVERS, "{\"position\": {\"x\": 5, \"y\": 6}}", 201);
    control_step(&service, 1);
    snprintf(path, sizeof path, OBSERVERS "/%s", control_text(added, "observer"));
    snprintf(hold, sizeof hold, "%s/hold", path);
    tell("PUT", hold, "{\"position\": {\"x\": 1, \"y\": 1}}", i < HOLDS_MAX ? 200 : 429);
    if (i < HOLDS_MAX) strcpy(last, path);
    json_decref(added);
  }
  control_step(&service, 1);
  json_t *all = ask("GET", OBSERVERS "?limit=100", NULL, 200), *one;
  size_t there = 0, held = 0, n;
  json_array_foreach(control_member(all, "observers"), n, one) {
    there += control_number(one, "position.x") == 1;
    held += control_is_true(one, "held");
  }
  cr_expect(there == HOLDS_MAX && held == HOLDS_MAX, "%zu stand there, and %zu are held: one was refused", there, held);
  json_decref(all);
  tell("DELETE", last, NULL, 200);
  control_step(&service, 2);
  tell("PUT", hold, "{\"position\": {\"x\": 1, \"y\": 1}}", 200);
}

Test(api, bad_observers_are_refused) {
  CONTROL_EXPECT_REFUSALS(
      &service, {"POST", OBSERVERS, "{\"near_m\": 5}", 400, "missing", "position"},
      {"POST", OBSERVERS, "{\"position\": {\"x\": 1, \"y\": 1, \"z\": \"up\"}}", 400, "wrong_type", "position.z"},
      {"POST", OBSERVERS, "{\"position\": {\"x\": 1, \"y\": 1, \"z\": 2e9}}", 400, "out_of_range", "position.z"},
      {"POST", OBSERVERS, "{\"position\": {\"x\": 1, \"y\": 1}, \"near_m\": 5, \"far_m\": 5}", 400, "out_of_range",
       "far_m"},
      {"POST", OBSERVERS, "{\"position\": {\"x\": 1, \"y\": 1}, \"partition\": 65536}", 400, "out_of_range",
       "partition"});
}

/* ------------------------------------------------------------------------------------------------------ modules */

Test(api, modules_are_loaded_by_bare_name_alone) {
  tell("POST", "/v1/modules", "{\"module\": \"fixed\"}", 200);
  json_t *modules = ask("GET", "/v1/modules", NULL, 200);
  cr_expect(json_array_size(control_member(modules, "modules")) == 2);
  CONTROL_EXPECT_REFUSALS(&service, {"POST", "/v1/modules", "{\"module\": \"../fixed\"}", 409, "refused", "module"},
                          {"POST", "/v1/modules", "{\"module\": \"no-such-module\"}", 409, "refused", "module"},
                          {"POST", "/v1/modules", "{\"module\": \"\"}", 400, "out_of_range", "module"},
                          {"POST", "/v1/modules", "{\"module\": \"a\\u0000b\"}", 400, "json", ""});
  json_decref(modules);
}

/* ----------------------------------------------------------------------------------------------------- snapshots */

Test(api, without_a_file_there_are_no_snapshots) {
  json_t *status = ask("GET", "/v1/snapshot", NULL, 200);
  cr_expect(!control_is_true(status, "enabled"));
  CONTROL_EXPECT_REFUSALS(&service, {"POST", "/v1/snapshot", NULL, 409, "state", ""});
  json_decref(status);
}

Test(api_alone, a_snapshot_is_written_when_it_is_asked_for) {
  daemon_start(&service, "--world main=wildlife --agents 200 --snapshot-file @/worlds");
  tell("POST", "/v1/snapshot", NULL, 202);
  control_await_count(&service, "/v1/snapshot", "written", 1);
  daemon_stop(&service);
}
