/* The control API of a real musterd: what each request does, and what it refuses. */
#include "served.h"

#define AGENTS    WORLD "/agents"
#define OBSERVERS WORLD "/observers"

/* Rows of EXPECT_REFUSALS(). */
#define PATCH(...)                                                                                                     \
  { "PATCH", WORLD, __VA_ARGS__ }
#define POST(...)                                                                                                      \
  { "POST", __VA_ARGS__ }

/* Most tests want a world that moves only when it is told to. */
static void start_paused(void) {
  serve_paused("--world main=wildlife --agents 500", 400); /* spawns are spread over frames */
}

/* A world in which nobody is born and nobody dies: its agents can be counted before and after. */
static void start_childless(void) {
  serve_paused("--world main=fixed --agents 500", 500);
}

TestSuite(api, .init = start_paused, .fini = stop);

/* ------------------------------------------------------------------------------------------------------- worlds */

Test(api, lists_what_there_is) {
  json_auto_t *worlds = get("/v1/worlds");
  cr_expect(size_at("/v1", "requests") > 20);
  cr_expect(control_size(worlds, "worlds") == 1);
  control_expect(worlds, "{'worlds.0.module': 'wildlife'}");
}

Test(api, a_paused_world_runs_exactly_the_frames_that_it_is_told_to) {
  json_auto_t *before = get(WORLD);
  cr_expect(control_is_true(before, "paused"));
  step(5);
  json_auto_t *after = get(WORLD);
  cr_expect_eq(control_count(after, "frames"), control_count(before, "frames") + 5);
  cr_expect_eq(control_count(after, "sim_now_ns") - control_count(before, "sim_now_ns"),
               5 * control_count(after, "period_ns"));
  cr_expect(control_number(after, "serial_share") >= 0.0 && control_number(after, "serial_share") <= 1.0);
  cr_expect(control_count(after, "frame.serial_ns") <= control_count(after, "frame.work_ns"));
}

Test(api, a_world_goes_on_when_it_is_no_longer_paused) {
  tell("PATCH", WORLD, "{'paused': false}", 200);
  pass_frames(3);
}

Test(api, pace_workers_and_weights_change_together) {
  tell("PATCH", WORLD, "{'budget_ns': 4000000, 'hz': 20, 'workers': 1, 'weight_wait': 0.25}", 200);
  step(1);
  expect_at(WORLD, "{'budget_ns': 4000000, 'period_ns': 50000000}");
  expect_at(WORLD "/weights", "{'workers': 1, 'weight_wait': 0.25, 'weight_importance': 1}");
}

/* Members of the world that no frame changes, in one document with its weights and workers. */
static json_t *read_settings(void) {
  static const char *const members[] = {"budget_ns", "period_ns", "hz", "paused", "steps_left"};
  json_auto_t *world = get(WORLD);
  json_t *settings = get(WORLD "/weights");
  for (size_t i = 0; i < COUNT_OF(members); i++)
    json_object_set(settings, members[i], control_member(world, members[i]));
  return settings;
}

/* Each of them is refused for its last part, which is known to be wrong at different moments: when it is read, when the
 * pace, the workers or the weights are set. */
Test(api, a_change_with_one_bad_part_changes_nothing) {
  static const struct {
    const char *body;
    int status;
  } changes[] = {
      {"{'budget_ns': 2000000, 'hz': 10, 'workers': 1000}", 400},
      {"{'budget_ns': 2000000, 'workers': 1, 'focus': 0.5}", 409},
      {"{'hz': 10, 'workers': 1, 'weight_wait': 0.25, 'focus': 0.5}", 409},
      {"{'workers': 1, 'focus': 0.5}", 409},
      {"{'paused': false, 'workers': 1, 'focus': 0.5}", 409},
      {"{'weight_wait': 0.5, 'budget_ns': 9000000000}", 400},
      {"{'paused': false, 'workers': 1, 'budget_ns': 60000000}", 400},
      {"{'paused': false, 'weight_wait': 0.5, 'hz': 0}", 400},
      {"{'weight_wait': 0.5, 'policy': 'best'}", 400},
      {"{'hz': 10, 'policy': 'fair', 'weight_wait': 0.5}", 400},
      {"{'workers': 1, 'hz': 10, 'colour': 1}", 400},
  };
  /* So that no change above is to what is there already. */
  tell("PATCH", WORLD, "{'budget_ns': 4000000, 'hz': 20, 'workers': 2, 'weight_wait': 0.75}", 200);
  step(1);
  json_auto_t *before = read_settings();
  cr_assert_eq(control_count(before, "workers"), 2);
  for (size_t i = 0; i < COUNT_OF(changes); i++) {
    tell("PATCH", WORLD, changes[i].body, changes[i].status);
    step(1);
    json_auto_t *after = read_settings();
    cr_expect(json_equal(before, after), "%s has left %s", changes[i].body, json_dumps(after, 0));
  }
}

Test(api, a_policy_sets_all_weights) {
  tell("PATCH", WORLD, "{'policy': 'fair'}", 200);
  step(1);
  expect_at(WORLD "/weights", "{'weight_importance': 0, 'weight_runs': 1}");
}

Test(api, bad_changes_of_a_world_are_refused) {
  EXPECT_REFUSALS(
      PATCH("{}", 400, "missing", ""), PATCH("", 400, "json", ""), PATCH("[]", 400, "wrong_type", ""),
      PATCH("{'hz': 0}", 400, "out_of_range", "hz"), PATCH("{'hz': '30'}", 400, "wrong_type", "hz"),
      PATCH("{'hz': NaN}", 400, "json", ""), PATCH("{'hz': 1e999}", 400, "json", ""),
      PATCH("{'hz': 30, 'hz': 20}", 400, "duplicate_field", "hz"),
      PATCH("{'budget_ns': 1.5}", 400, "wrong_type", "budget_ns"),
      PATCH("{'budget_ns': -1}", 400, "out_of_range", "budget_ns"),
      PATCH("{'budget': 1}", 400, "unknown_field", "budget"), PATCH("{'paused': 1}", 400, "wrong_type", "paused"),
      PATCH("{'policy': 'best'}", 400, "out_of_range", "policy"),
      PATCH("{'policy': 'fair', 'weight_wait': 1}", 400, "conflict", "policy"),
      PATCH("{'weight_wait': 1.01}", 400, "out_of_range", "weight_wait"), PATCH("{'focus': 1}", 409, "state", ""),
      PATCH("{'cycles_max': 0}", 400, "out_of_range", "cycles_max"),
      {"POST", WORLD "/step", "{'frames': 0}", 400, "out_of_range", "frames"},
      {"POST", WORLD "/step", "{}", 400, "missing", "frames"}, GET("/v1/worlds/other", 404, "unknown_world", "world"),
      {"PATCH", "/v1/worlds/other", "{'hz': 30}", 404, "unknown_world", "world"},
      {"DELETE", WORLD, NULL, 405, "method", ""}, GET("/v1/nothing", 404, "unknown_path", ""));
}

/* -------------------------------------------------------------------------------------------------------- types */

Test(api, types_tell_costs_by_level_and_overruns) {
  json_auto_t *types = get(WORLD "/types");
  cr_expect(control_size(types, "types") == 4);
  cr_expect(control_count(types, "types.0.levels.0.agents") > 0);
  control_expect(types, "{'types.0.overrun_counts.quarantined': false, 'types.0.overrun_counts.blocked': 0, "
                        "'types.0.overrun_counts.worst_blocked_ns': 0}");
}

Test(api, types_are_reinstated_by_name) {
  tell("POST", WORLD "/types/hare/reinstate", NULL, 200);
  EXPECT_REFUSALS({"POST", WORLD "/types/unicorn/reinstate", NULL, 404, "unknown_type", "type"},
                  {"POST", WORLD "/types/a-name-that-is-longer-than-any-type-can-have/reinstate", NULL, 404,
                   "unknown_type", "type"},
                  {"PUT", WORLD "/types/hare/priority", "{'priority': 3}", 400, "out_of_range", "priority"},
                  {"PUT", WORLD "/types/hare/priority", "{'priority': 101}", 400, "out_of_range", "priority"});
}

static long long period_after_a_frame(void) {
  step(1);
  return count_at(WORLD "/types", "types.0.period_ns");
}

Test(api, periods_of_types_and_agents_change) {
  json_auto_t *types = get(WORLD "/types");
  long long before_ns = control_count(types, "types.0.period_ns");
  const char *path = formed(WORLD "/types/%s/periods", control_text(types, "types.0.type"));
  tell("PUT", path, formed("{'period_ns': %lld, 'period_max_ns': 9000000000}", 2 * before_ns), 200);
  cr_expect_eq(period_after_a_frame(), 2 * before_ns);
  tell("PUT", path, "{'period_ns': 0}", 200);
  cr_expect_eq(period_after_a_frame(), before_ns);
  EXPECT_REFUSALS({"PUT", WORLD "/types/unicorn/periods", "{'period_ns': 1000000}", 404, "unknown_type", "type"},
                  {"PUT", WORLD "/types/hare/periods", "{}", 400, "missing", "period_ns"},
                  {"PUT", WORLD "/types/hare/periods", "{'period_ns': 5}", 400, "out_of_range", "period_ns"},
                  {"PUT", WORLD "/types/hare/periods", "{'period_ns': 1000000, 'period_max_ns': 500000}", 400,
                   "out_of_range", "period_ns"},
                  {"PUT", AGENTS "/999999.1/periods", "{'period_ns': 1000000}", 404, "gone", "agent"});
}

/* ------------------------------------------------------------------------------------------------------- agents */

Test(api, pages_hold_every_agent_once) {
  long long count = 0, last = -1;
  EACH_PAGE(page, AGENTS "?limit=64") {
    CONTROL_EACH(agent, page, "agents") {
      long long index = atoll(control_text(agent, "agent"));
      cr_assert(index > last);
      last = index;
      count++;
    }
  }
  cr_expect_eq(count, count_at(WORLD, "agents"));
}

static void expect_all(const char *path, bool (*holds)(json_t *agent)) {
  json_auto_t *page = get(path);
  cr_expect(control_size(page, "agents") > 0, "%s finds nobody", path);
  CONTROL_EACH(agent, page, "agents") cr_expect(holds(agent), "%s", path);
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
  expect_at(AGENTS "?partition=7", "{'agents': [], 'next': null}");
}

Test(api, bad_filters_are_refused) {
  EXPECT_REFUSALS(
      GET(AGENTS "?type=unicorn", 404, "unknown_type", "type"), GET(AGENTS "?level=4", 400, "out_of_range", "level"),
      GET(AGENTS "?limit=0", 400, "out_of_range", "limit"), GET(AGENTS "?limit=1001", 400, "out_of_range", "limit"),
      GET(AGENTS "?limit=1&limit=2", 400, "query", "limit"), GET(AGENTS "?limit=1&LIMIT=2", 400, "query", "LIMIT"),
      GET(AGENTS "?colour=red", 400, "query", "colour"), GET(AGENTS "?cursor=-1", 400, "out_of_range", "cursor"),
      GET(AGENTS "?near=1,2", 400, "out_of_range", "near"), GET(AGENTS "?near=1,nan,3", 400, "out_of_range", "near"),
      GET(AGENTS "?near=1,2,-3", 400, "out_of_range", "near"), GET(AGENTS "?near=1;2,3", 400, "out_of_range", "near"),
      GET(AGENTS "?near=1,2,0x3", 400, "out_of_range", "near"), GET(AGENTS "?near=1,2,3x", 400, "out_of_range", "near"),
      GET(AGENTS "?near=-,2,3", 400, "out_of_range", "near"),
      GET(AGENTS "?min_importance=2", 400, "out_of_range", "min_importance"),
      GET(AGENTS "?min_importance=inf", 400, "out_of_range", "min_importance"));
}

/* Spawns one hare and runs the frame that makes it active; its path. */
static const char *spawn_hare(void) {
  json_auto_t *spawned = ask("POST", AGENTS, "[{'type': 'hare', 'position': {'x': 1, 'y': 2}}]", 201);
  step(1);
  return formed(AGENTS "/%s", control_text(spawned, "agents.0"));
}

Test(api, spawned_agents_are_there_after_a_frame) {
  json_auto_t *before = get(WORLD);
  expect_at(spawn_hare(), "{'type': 'hare', 'active': true}");
}

Test(api, a_spawn_with_one_bad_agent_spawns_none, .init = start_childless) {
  long long before = count_at(WORLD, "agents");
  EXPECT_REFUSALS(
      POST(AGENTS, "[{'type':'fixed','position':{'x':1,'y':2}},{'type':'fox','position':{'x':1,'y':2}}]", 404,
           "unknown_type", "type"),
      POST(AGENTS, "[{'type':'fixed','position':{'x':1,'y':2}},{'type':'fixed'}]", 400, "missing", "[1].position"),
      POST(AGENTS, "[{'type':'fixed','position':{'x':1,'y':2e9}}]", 400, "out_of_range", "[0].position.y"),
      POST(AGENTS, "[{'type':'fixed','position':{'x':1}}]", 400, "unknown_field", "[0].position"),
      POST(AGENTS, "[{'type':'fixed','position':{'x':1,'y':2},'bulk':2}]", 400, "out_of_range", "[0].bulk"),
      POST(AGENTS, "[{'type':'fixed','position':{'x':1,'y':2},'state':0}]", 400, "unknown_field", "[0].state"),
      POST(AGENTS, "[]", 400, "out_of_range", ""), POST(AGENTS, "{}", 400, "wrong_type", ""),
      POST(AGENTS, "[{]", 400, "json", ""));
  step(2); /* what was spawned all the same would be there */
  expect_at(WORLD, formed("{'agents': %lld, 'spawns_waiting': 0}", before));
}

/* The body of a request for so many agents, in a partition in which nobody else is. */
static char *many_of(const char *type, size_t count) {
  size_t each = 80, length = 1;
  char *body = malloc(count * each + 8);
  for (size_t i = 0; i < count; i++)
    length += (size_t)sprintf(body + length, "{'type':'%s','position':{'x':1,'y':2},'partition':7},", type);
  body[0] = '[';
  strcpy(body + length - 1, "]");
  return body;
}

Test(api, more_agents_than_the_world_has_room_for_are_refused_together, .init = start_childless) {
  SCOPED(free_memory) char *body = many_of("fixed", 4000);
  expect_asked("POST", AGENTS, body, 409, "{'error.code': 'full'}");
  step(1);
  expect_at(WORLD, "{'agents': 500, 'spawns_waiting': 0}");
}

/* Ids are set aside for what updates may spawn: so many agents have room, but the last of them find no id. */
Test(api, more_agents_than_there_are_ids_for_are_refused_together) {
  enum { AGENTS_MAX = 500 + 500 / 2 + 64 };
  json_auto_t *world = get(WORLD);
  long long there = control_count(world, "agents") + control_count(world, "spawns_waiting");
  SCOPED(free_memory) char *body = many_of("hare", (size_t)(AGENTS_MAX - there));
  expect_asked("POST", AGENTS, body, 409, "{'error.message': '~set aside for spawns from updates'}");
  step(2);
  cr_expect_eq(size_at(AGENTS "?partition=7", "agents"), 0);
}

Test(api, an_agent_is_moved_and_tuned) {
  const char *path = spawn_hare(), *end = formed("%s/position", path);
  tell("PUT", end, "{'position': {'x': -60, 'y': 70}}", 200);
  tell("PUT", end, "{'position': {'x': -60, 'y': 70}}", 200);
  tell("PATCH", path, "{'importance_floor': 1, 'elasticity': 0}", 200);
  EXPECT_REFUSALS({"PATCH", path, "{'elasticity': 2, 'derive_elasticity': true}", 400, "conflict", "elasticity"});
  step(2);
  json_auto_t *agent = get(path);
  cr_expect(control_number(agent, "position.x") < -50 && control_number(agent, "position.y") > 60);
  cr_expect(control_number(agent, "importance") > 0.99);
  cr_expect(control_number(agent, "elasticity") == 0.0);
}

/* What was taken over of a change that was refused would be seen after the next frame. */
Test(api, a_change_of_an_agent_with_one_bad_part_changes_nothing) {
  static const char *const changes[] = {
      "{'importance_floor': 0.875, 'elasticity': 1025}",
      "{'importance_floor': 0.875, 'elasticity': 2, 'derive_elasticity': true}",
      "{'elasticity': 3, 'importance_floor': 0.875, 'bulk': 2}",
      "{'elasticity': 3, 'importance_floor': 0.875, 'colour': 1}",
      "{'elasticity': 3, 'importance_floor': 0.875, 'role': true}",
  };
  static const char far_off[] =
      "[{'type': 'hare', 'position': {'x': -50000, 'y': 2}, 'importance_floor': 0.5, 'elasticity': 0}]";
  json_auto_t *spawned = ask("POST", AGENTS, far_off, 201);
  const char *path = formed(AGENTS "/%s", control_text(spawned, "agents.0"));
  step(2);
  for (size_t i = 0; i < COUNT_OF(changes); i++) tell("PATCH", path, changes[i], 400);
  tell("PUT", formed("%s/position", path), "{'position': {'x': 500, 'y': 2e9}}", 400);
  tell("PUT", formed("%s/periods", path), "{'period_ns': 1000000000, 'period_max_ns': 500000000}", 400);
  step(2);
  json_auto_t *agent = get(path);
  cr_expect_eq(control_number(agent, "elasticity"), 0);
  cr_expect_lt(control_number(agent, "importance"), 0.875);
  cr_expect_lt(control_number(agent, "position.x"), 0);
}

Test(api, bad_changes_of_an_agent_are_refused) {
  json_auto_t *page = get(AGENTS "?limit=1");
  const char *path = formed(AGENTS "/%s", control_text(page, "agents.0.agent"));
  EXPECT_REFUSALS({"PATCH", path, "{'elasticity': 1025}", 400, "out_of_range", "elasticity"},
                  {"PATCH", path, "{'role': true}", 400, "wrong_type", "role"},
                  {"PATCH", path, "{'speed': 1}", 400, "unknown_field", "speed"},
                  {"PATCH", path, "{}", 400, "missing", ""});
}

Test(api, an_agent_is_woken_now_or_asked_to_wake_at_a_time) {
  const char *path = spawn_hare(), *end = formed("%s/wake", path);
  tell("POST", end, NULL, 200);
  tell("POST", end, "{'at_ns': 4000000000000}", 200);
  step(1);
  cr_expect_eq(count_at(path, "wake_at_ns"), 4000000000000);
  EXPECT_REFUSALS({"POST", end, "{'at_ns': -1}", 400, "out_of_range", "at_ns"},
                  {"POST", end, "{'at': 1}", 400, "unknown_field", "at"}, {"POST", end, "{}", 400, "missing", "at_ns"});
}

Test(api, an_explanation_says_the_same_in_numbers_and_in_words) {
  json_auto_t *explanation = get(formed("%s/explain", spawn_hare()));
  control_expect(explanation, "{'type': 'hare', 'words': '~hare'}");
  cr_expect(control_count(explanation, "period.in_force_ns") > 0);
}

Test(api, a_removed_agent_is_gone_and_stays_gone) {
  const char *path = spawn_hare();
  tell("DELETE", path, NULL, 200);
  step(1);
  EXPECT_REFUSALS({"DELETE", path, NULL, 404, "gone", "agent"}, GET(path, 404, "gone", "agent"),
                  {"PATCH", path, "{'bulk': 1}", 404, "gone", "agent"});
}

Test(api, ids_that_are_none_are_refused) {
  EXPECT_REFUSALS(GET(AGENTS "/5", 400, "bad_id", "agent"), GET(AGENTS "/-1.1", 400, "bad_id", "agent"),
                  GET(AGENTS "/1.2.3", 400, "bad_id", "agent"), GET(AGENTS "/99999999999.1", 400, "bad_id", "agent"),
                  GET(AGENTS "/4294967295.4294967295", 404, "gone", "agent"),
                  GET(AGENTS "/4294967295.1/explain", 404, "gone", "agent"),
                  {"POST", AGENTS "/0.0/wake", NULL, 404, "gone", "agent"},
                  {"DELETE", OBSERVERS "/9.9", NULL, 404, "gone", "observer"},
                  {"PUT", OBSERVERS "/9.9/hold", "{'position': {'x': 1, 'y': 1}}", 404, "gone", "observer"},
                  {"DELETE", OBSERVERS "/9.9/hold", NULL, 404, "gone", "observer"},
                  {"DELETE", OBSERVERS "/x", NULL, 400, "bad_id", "observer"});
}

/* ---------------------------------------------------------------------------------------------------- observers */

static const char *path_of_observer(json_t *added) {
  return formed(OBSERVERS "/%s", control_text(added, "observer"));
}

Test(api, observers_come_walk_and_go) {
  json_auto_t *added = ask("POST", OBSERVERS, "{'position': {'x': 5, 'y': 6}, 'near_m': 1, 'far_m': 9}", 201);
  const char *path = path_of_observer(added), *end = formed("%s/position", path);
  step(1);
  cr_expect(size_at(OBSERVERS, "observers") == 2);
  expect_at(OBSERVERS, "{'observers.1.far_m': 9}");
  tell("PUT", end, "{'position': {'x': 50, 'y': 6}}", 200);
  step(1);
  cr_expect(number_at(OBSERVERS "?cursor=1&limit=1", "observers.0.position.x") == 50.0);
  tell("DELETE", path, NULL, 200);
  step(1);
  tell("DELETE", path, NULL, 404);
}

/* Its camera walks in each frame. */
Test(api, an_observer_that_is_held_stays_until_it_is_let_go) {
  json_auto_t *first = get(OBSERVERS);
  const char *path = formed(OBSERVERS "/%s/hold", control_text(first, "observers.0.observer"));
  cr_expect(!control_is_true(first, "observers.0.held"));
  tell("PUT", path, "{'position': {'x': 7, 'y': -8}}", 200);
  step(3);
  expect_at(OBSERVERS, "{'observers.0.held': true, 'observers.0.position.x': 7, 'observers.0.position.y': -8}");
  tell("DELETE", path, NULL, 200);
  step(1);
  json_auto_t *free_again = get(OBSERVERS);
  cr_expect(!control_is_true(free_again, "observers.0.held"));
  cr_expect(control_number(free_again, "observers.0.position.x") != 7);
}

Test(api, no_more_observers_are_held_than_there_is_room_for_and_those_that_are_gone_leave_theirs) {
  enum { HOLDS_MAX = 64 };
  const char *path = NULL, *hold = NULL, *last = NULL;
  for (int i = 0; i <= HOLDS_MAX; i++) {
    json_auto_t *added = ask("POST", OBSERVERS, "{'position': {'x': 5, 'y': 6}}", 201);
    step(1);
    last = path;
    path = path_of_observer(added);
    hold = formed("%s/hold", path);
    tell("PUT", hold, "{'position': {'x': 1, 'y': 1}}", i < HOLDS_MAX ? 200 : 429);
  }
  step(1);
  json_auto_t *all = get(OBSERVERS "?limit=100");
  size_t there = 0, held = 0;
  CONTROL_EACH(one, all, "observers") {
    there += control_number(one, "position.x") == 1;
    held += control_is_true(one, "held");
  }
  cr_expect(there == HOLDS_MAX && held == HOLDS_MAX, "%zu stand there, and %zu are held: one was refused", there, held);
  tell("DELETE", last, NULL, 200);
  step(2);
  tell("PUT", hold, "{'position': {'x': 1, 'y': 1}}", 200);
}

Test(api, bad_observers_are_refused) {
  EXPECT_REFUSALS(
      POST(OBSERVERS, "{'near_m': 5}", 400, "missing", "position"),
      POST(OBSERVERS, "{'position': {'x': 1, 'y': 1, 'z': 'up'}}", 400, "wrong_type", "position.z"),
      POST(OBSERVERS, "{'position': {'x': 1, 'y': 1, 'z': 2e9}}", 400, "out_of_range", "position.z"),
      POST(OBSERVERS, "{'position': {'x': 1, 'y': 1}, 'near_m': 5, 'far_m': 5}", 400, "out_of_range", "far_m"),
      POST(OBSERVERS, "{'position': {'x': 1, 'y': 1}, 'partition': 65536}", 400, "out_of_range", "partition"));
}

/* ------------------------------------------------------------------------------------------------------ modules */

Test(api, modules_are_loaded_by_bare_name_alone) {
  tell("POST", "/v1/modules", "{'module': 'fixed'}", 200);
  cr_expect(size_at("/v1/modules", "modules") == 2);
  EXPECT_REFUSALS({"POST", "/v1/modules", "{'module': '../fixed'}", 409, "refused", "module"},
                  {"POST", "/v1/modules", "{'module': 'no-such-module'}", 409, "refused", "module"},
                  {"POST", "/v1/modules", "{'module': ''}", 400, "out_of_range", "module"},
                  {"POST", "/v1/modules", "{'module': 'a\\u0000b'}", 400, "json", ""});
}

/* ----------------------------------------------------------------------------------------------------- snapshots */

Test(api, without_a_file_there_are_no_snapshots) {
  cr_expect(!is_true_at("/v1/snapshot", "enabled"));
  EXPECT_REFUSALS({"POST", "/v1/snapshot", NULL, 409, "state", ""});
}

TestSuite(api_alone, .fini = stop);

Test(api_alone, a_snapshot_is_written_when_it_is_asked_for) {
  daemon_start(&service, "--world main=wildlife --agents 200 --snapshot-file @/worlds");
  tell("POST", "/v1/snapshot", NULL, 202);
  await_count("/v1/snapshot", "written", 1);
}
