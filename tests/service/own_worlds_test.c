/* The control API over worlds that this test has made up and looks into: agents, observers, pace and spawns. What lists
 * and answers say is compared with plain models of it. */
#include "own_worlds.h"

TestSuite(own_worlds, .init = start, .fini = stop, .timeout = 120);

/* ---------------------------------------------------------------------------------------------------------- agents */

typedef struct agent_filter {
  const char *type;
  int level, partition; /* -1 = any */
  double importance;    /* < 0 = any */
  bool near;
  double x, y, radius_m;
  uint32_t limit;
} agent_filter;

static bool passes(const agent_filter *filter, const muster_agent_info *info) {
  double dx = info->position.x - filter->x, dy = info->position.y - filter->y;
  return (!filter->type || info->type.index == (strcmp(filter->type, "hen") == 0 ? 1u : 2u)) &&
         (filter->level < 0 || info->level == (uint32_t)filter->level) &&
         (filter->partition < 0 || info->partition == (uint32_t)filter->partition) &&
         (filter->importance < 0 || (double)info->importance >= filter->importance) &&
         (!filter->near || dx * dx + dy * dy <= filter->radius_m * filter->radius_m);
}

static const char *query_of(const agent_filter *filter) {
  return formed("%s%s%s%s%s", filter->type ? formed("&type=%s", filter->type) : "",
                filter->level < 0 ? "" : formed("&level=%d", filter->level),
                filter->partition < 0 ? "" : formed("&partition=%d", filter->partition),
                filter->importance < 0 ? "" : formed("&min_importance=%.17g", filter->importance),
                filter->near ? formed("&near=%.17g,%.17g,%.17g", filter->x, filter->y, filter->radius_m) : "");
}

/* All pages of a list as one; no page has more than was asked for. */
static json_t *read_pages(uint32_t number, const char *list, uint32_t limit, const char *query) {
  json_t *all = json_array();
  char cursor[32] = "0";
  for (bool more = true; more;) {
    json_auto_t *page =
        get(formed("%s?limit=%u%s&cursor=%s", path_to(number, formed("/%s", list)), limit, query, cursor));
    cr_assert_leq(control_size(page, list), limit, "%s of %u: %s", list, limit, query);
    json_array_extend(all, control_member(page, list));
    const char *behind = json_string_value(json_object_get(page, "next"));
    more = behind != NULL;
    if (more) snprintf(cursor, sizeof cursor, "%s", behind);
  }
  return all;
}

/* A list holds those that pass, each once and in the order of their indices. */
static void expect_list(uint32_t number, const agent_filter *filter) {
  const char *query = query_of(filter);
  json_auto_t *list = read_pages(number, "agents", filter->limit, query);
  size_t shown = 0;
  for (uint32_t i = 0; i < agent_count[number]; i++) {
    const muster_agent agent = agents[number][i];
    muster_agent_info info = info_of(&little[number], agent);
    if (!passes(filter, &info)) continue;
    cr_assert_lt(shown, json_array_size(list), "%s: agent %u is missing", query, i);
    cr_assert_str_eq(control_text(json_array_get(list, shown++), "agent"),
                     api_id_of(muster_agent_index(agent), muster_agent_generation(agent)).text, "%s", query);
  }
  cr_assert_eq(shown, json_array_size(list), "%s: too many", query);
}

static void watch(uint32_t number, double x, uint32_t partition) {
  muster_observer_def def =
      WITH(muster_observer_def, it.position.x = x, it.partition = partition, it.near_m = 5, it.far_m = 80);
  cr_assert_not(muster_observer_is_null(muster_observer_add(little[number].world, &def)));
}

Test(own_worlds, list_the_agents_that_pass_each_once_on_whatever_pages) {
  for (uint32_t number = 0; number < WORLDS; number++) {
    watch(number, 10 * number, 0), watch(number, 30, 2);
    run_frames_of(number, 5);
  }
  for (uint32_t round = 0; round < 150; round++) {
    static const double radii[] = {0, 5, 10, 11.180339887498949, 20, 1000};
    uint32_t number = below(WORLDS);
    muster_agent_info one = info_of(&little[number], agents[number][below(agent_count[number])]);
    agent_filter all = {.type = (const char *const[]){NULL, NULL, "hen", "fox"}[below(4)],
                        .level = below(3) ? -1 : (int)below(MUSTER_LEVELS),
                        .partition = below(2) ? -1 : (int)below(4),
                        .importance = below(2)   ? -1
                                      : below(4) ? (double)one.importance
                                                 : below(2),
                        .near = below(2),
                        .x = one.position.x,
                        .y = one.position.y,
                        .radius_m = radii[below(6)],
                        .limit = below(3) ? 1 + below(25) : 1000};
    expect_list(number, &all);
  }
}

/* Behind the last index there is nothing, however far: an index does not come round again. */
Test(own_worlds, have_nothing_behind_the_last_index) {
  static const char *const cursors[] = {"60",         "61",         "4294967294",          "4294967295",
                                        "4294967296", "4294967300", "18446744073709551615"};
  run_frame_of(0);
  json_auto_t *last = get(WEST "/agents?cursor=59");
  cr_expect_eq(control_size(last, "agents"), 1);
  cr_expect(control_is_null(last, "next"));
  for (size_t i = 0; i < COUNT_OF(cursors); i++) {
    json_auto_t *none = get(formed(WEST "/agents?cursor=%s", cursors[i]));
    cr_expect_eq(control_size(none, "agents"), 0, "%s", cursors[i]);
    cr_expect(control_is_null(none, "next"), "%s", cursors[i]);
  }
}

/* ------------------------------------------------------------------------------------------------------- observers */

enum { WATCHERS = 80, WATCH_STEPS = 500 };

typedef struct watcher {
  bool there, held;
  char id[24];
  double x, y, z, near_m, far_m;
  uint32_t partition;
} watcher;

static watcher watchers[WORLDS][WATCHERS];
static uint32_t held_count[WORLDS];

static void expect_watchers(uint32_t number) {
  uint32_t there = 0, limit = 1 + below(90);
  json_auto_t *list = read_pages(number, "observers", limit, "");
  json_t *one;
  size_t i;
  json_array_foreach(list, i, one) {
    const watcher *known = watchers[number];
    while (known < watchers[number] + WATCHERS &&
           !(known->there && strcmp(known->id, control_text(one, "observer")) == 0))
      known++;
    cr_assert_lt(known, watchers[number] + WATCHERS, "nobody is %s", control_text(one, "observer"));
    cr_assert(control_number(one, "position.x") == known->x && control_number(one, "position.y") == known->y &&
                  control_number(one, "position.z") == known->z,
              "%s is at %g", known->id, control_number(one, "position.x"));
    cr_assert(control_number(one, "near_m") == known->near_m && control_number(one, "far_m") == known->far_m);
    cr_assert_eq(control_count(one, "partition"), known->partition);
    cr_assert_eq(control_is_true(one, "held"), known->held, "%s", known->id);
  }
  for (uint32_t k = 0; k < WATCHERS; k++) there += watchers[number][k].there;
  cr_assert_eq(json_array_size(list), there, "%zu instead of %u", json_array_size(list), there);
}

static void add_watcher(uint32_t number, watcher *one) {
  *one = (watcher){.there = true, .x = below(100), .y = below(100), .z = below(100), .near_m = below(10)};
  one->far_m = one->near_m + 1 + below(50), one->partition = below(3);
  const char *body =
      formed("{\"position\": {\"x\": %g, \"y\": %g, \"z\": %g}, \"near_m\": %g, \"far_m\": %g, \"partition\": %u}",
             one->x, one->y, one->z, one->near_m, one->far_m, one->partition);
  json_auto_t *added = ask("POST", path_to(number, "/observers"), body, 201);
  snprintf(one->id, sizeof one->id, "%s", control_text(added, "observer"));
}

static const char *watcher_path(uint32_t number, const watcher *one, const char *end) {
  return formed("%s/%s%s", path_to(number, "/observers"), one->id, end);
}

/* Moves one, or holds it, at another place: where no more may be held it stays where it is. */
static void place_watcher(uint32_t number, watcher *one, bool hold) {
  double x = below(100), y = below(100), z = below(100);
  bool room = !hold || one->held || held_count[number] < HOLDS_MAX;
  json_auto_t *answer = ask("PUT", watcher_path(number, one, hold ? "/hold" : "/position"),
                            formed("{\"position\": {\"x\": %g, \"y\": %g, \"z\": %g}}", x, y, z),
                            !one->there ? 404
                            : room      ? 200
                                        : 429);
  if (one->there && room) cr_assert_str_eq(control_text(answer, "observer"), one->id);
  if (!one->there || !room) return;
  if (one->held && !hold) return; /* the frame puts it back */
  one->x = x, one->y = y, one->z = z;
  held_count[number] += hold && !one->held;
  one->held = one->held || hold;
}

static void leave_watcher(uint32_t number, watcher *one, bool drop) {
  tell("DELETE", watcher_path(number, one, drop ? "/hold" : ""), NULL, one->there ? 200 : 404);
  if (!one->there) return;
  held_count[number] -= one->held;
  one->held = false;
  one->there = drop;
}

Test(own_worlds, have_observers_that_come_walk_are_held_and_go) {
  for (uint32_t step = 0; step < WATCH_STEPS; step++) {
    uint32_t number = below(WORLDS) || step < WATCH_STEPS / 2;
    watcher *one = &watchers[number][below(WATCHERS)];
    bool known = *one->id;
    uint32_t what = below(20);
    if (!known || (!one->there && what < 10)) {
      add_watcher(number, one);
      run_frame_of(number);
    } else if (what < 15)
      place_watcher(number, one, what < 12);
    else if (what < 16)
      leave_watcher(number, one, true);
    else if (what < 17 && step > WATCH_STEPS / 2)
      leave_watcher(number, one, false);
    if (what % 4) continue;
    run_frame_of(number);
    expect_watchers(number);
  }
}

Test(own_worlds, refuse_observers_that_see_nothing_and_places_beyond_all) {
  static const char wrong[] = "{\"position\": {\"x\": 1, \"y\": 2}, \"near_m\": 7, \"far_m\": 7}";
  CONTROL_EXPECT_REFUSALS(
      &server.asked, {"POST", EAST "/observers", wrong, 400, "out_of_range", "far_m"},
      {"POST", EAST "/observers", "{\"position\": {\"x\": 1, \"y\": 2, \"z\": 1.1e9}}", 400, "out_of_range",
       "position.z"},
      {"POST", EAST "/observers", "{\"position\": {\"x\": 1, \"z\": 2}}", 400, "unknown_field", "position"},
      {"PATCH", EAST "/agents/0.1", "{\"derive_elasticity\": true, \"elasticity\": 0}", 400, "conflict", "elasticity"},
      {"PATCH", EAST "/agents/0.1", "{\"elasticity\": -1}", 400, "out_of_range", "elasticity"});
  run_frame_of(1);
  expect_watchers(1);
}

/* ------------------------------------------------------------------------------------------------------------ pace */

typedef struct wanted_pace {
  uint64_t budget_ns, period_ns, steps_left;
  bool paused;
} wanted_pace;

static void expect_pace(uint32_t number, const wanted_pace *wanted, const char *after) {
  const hosted_world *world = &service.worlds[number];
  cr_expect(world->budget_ns == wanted->budget_ns && world->period_ns == wanted->period_ns, "%s: %lu per %lu", after,
            world->budget_ns, world->period_ns);
  cr_expect(world->paused == wanted->paused && world->steps_left == wanted->steps_left, "%s: %d, %u steps", after,
            world->paused, world->steps_left);
  json_auto_t *shown = get(path_to(number, ""));
  cr_expect_eq(control_count(shown, "budget_ns"), (long long)wanted->budget_ns, "%s", after);
  cr_expect_eq(control_count(shown, "period_ns"), (long long)wanted->period_ns, "%s", after);
  cr_expect_eq(control_count(shown, "steps_left"), (long long)wanted->steps_left, "%s", after);
  cr_expect_eq(control_is_true(shown, "paused"), wanted->paused, "%s", after);
}

/* What each change leaves of both worlds: together they may take nine tenths, of which a world's own part is none when
 * it is changed. */
Test(own_worlds, have_the_pace_that_they_were_told_last_and_the_other_has_its_own) {
  static const struct {
    uint32_t number;
    const char *end, *body;
    int status;
    wanted_pace wanted;
  } changes[] = {
      {1, "/step", "{\"frames\": 5}", 200, {5000000, 100000000, 5, true}},
      {1, "/step", "{\"frames\": 2}", 200, {5000000, 100000000, 2, true}},
      {1, "", "{\"budget_ns\": 80000000}", 200, {80000000, 100000000, 2, true}},
      {1, "", "{\"budget_ns\": 84000000}", 200, {84000000, 100000000, 2, true}},
      {1, "", "{\"budget_ns\": 86000000}", 400, {84000000, 100000000, 2, true}},
      {1, "", "{\"paused\": true}", 200, {84000000, 100000000, 0, true}},
      {0, "", "{\"budget_ns\": 7000000}", 400, {5000000, 100000000, 0, true}},
      {1, "", "{\"budget_ns\": 8000000, \"hz\": 20}", 200, {8000000, 50000000, 0, true}},
      {0, "/step", "{\"frames\": 3}", 200, {5000000, 100000000, 3, true}},
      {0, "", "{\"budget_ns\": 20000000, \"paused\": false, \"focus\": 0.5}", 409, {5000000, 100000000, 3, true}},
      {0, "", "{\"paused\": false, \"hz\": 40}", 200, {5000000, 25000000, 0, false}},
      {0, "", "{\"paused\": true}", 200, {5000000, 25000000, 0, true}},
  };
  wanted_pace wanted[WORLDS] = {{5000000, 100000000, 0, true}, {5000000, 100000000, 0, true}};
  for (size_t i = 0; i < COUNT_OF(changes); i++) {
    tell(*changes[i].end ? "POST" : "PATCH", path_to(changes[i].number, changes[i].end), changes[i].body,
         changes[i].status);
    wanted[changes[i].number] = changes[i].wanted;
    for (uint32_t k = 0; k < WORLDS; k++) expect_pace(k, &wanted[k], changes[i].body);
  }
}

/* When the next frame is due: at once behind a pause, and within a period of a new one. */
Test(own_worlds, are_due_at_once_behind_a_pause_and_soon_at_a_new_pace) {
  hosted_world *world = &service.worlds[1];
  const uint64_t far_ns = clock_system() + 3600000000000u;
  world->due_ns = far_ns;
  tell("PATCH", EAST, "{\"hz\": 20}", 200);
  cr_expect_leq(world->due_ns, clock_system() + 50000000);
  world->due_ns = 1;
  tell("PATCH", EAST, "{\"hz\": 10}", 200);
  cr_expect_eq(world->due_ns, 1, "a frame that is late is not put off");
  uint64_t before_ns = clock_system();
  tell("POST", EAST "/step", "{\"frames\": 1}", 200);
  cr_expect(world->due_ns >= before_ns && world->due_ns <= clock_system(), "steps begin now");
  world->due_ns = 1;
  before_ns = clock_system();
  tell("PATCH", EAST, "{\"paused\": false}", 200);
  cr_expect(world->due_ns >= before_ns && world->due_ns <= clock_system(), "what was missed in a pause is no delay");
  world->due_ns = far_ns;
  tell("PATCH", EAST, "{\"paused\": false}", 200);
  cr_expect_eq(world->due_ns, far_ns, "it was not paused");
}

/* ------------------------------------------------------------------------------------------------------- spawning */

static char spawn_body[1 << 16];

/* Hens, or agents of as many types as are said in turn; the last one at x. */
static const char *spawns_of(uint32_t count, uint32_t types, double x) {
  size_t length = 0;
  for (uint32_t i = 0; i < count; i++) {
    char type[16] = "hen";
    if (types) snprintf(type, sizeof type, "t%u", i % types);
    length += (size_t)snprintf(spawn_body + length, sizeof spawn_body - length,
                               "%s{\"type\": \"%s\", \"position\": {\"x\": %g, \"y\": 1}}", i ? ", " : "[", type,
                               i + 1 == count ? x : 1.0);
  }
  strcpy(spawn_body + length, "]");
  return spawn_body;
}

static muster_frame_report report_of(uint32_t number) {
  muster_frame_report report = muster_frame_report_default();
  muster_frame_report_read(little[number].world, &report);
  return report;
}

static void expect_agents(uint32_t number, uint32_t wanted) {
  run_frames_of(number, 40);
  cr_expect_eq(report_of(number).agents, wanted);
  cr_expect_eq(report_of(number).spawns_waiting, 0);
}

/* Those that wait to come in have their room, too. */
Test(own_worlds, take_new_agents_up_to_their_room_all_or_none) {
  static const char path[] = EAST "/agents";
  enum { FIRST = 300, REST = ROOM - HENS - FOXES - FIRST };
  expect_agents(1, HENS + FOXES);
  tell("POST", path, spawns_of(10, 0, -1), 400);
  tell("POST", path, spawns_of(ROOM - HENS - FOXES + 1, 0, 1), 409);
  expect_agents(1, HENS + FOXES);
  tell("POST", path, spawns_of(FIRST, 0, 1), 201);
  service.worlds[1].budget_ns = 10000; /* too short for all of them */
  run_frame_of(1);
  service.worlds[1].budget_ns = 5000000;
  cr_expect_gt(report_of(1).spawns_waiting, 0);
  tell("POST", path, spawns_of(REST + 1, 0, 1), 409);
  json_auto_t *spawned = ask("POST", path, spawns_of(REST, 0, 1), 201);
  cr_expect_eq(control_size(spawned, "agents"), REST);
  run_frame_of(1);
  tell("POST", path, spawns_of(1, 0, 1), 409);
  expect_agents(1, ROOM);
  expect_agents(0, HENS + FOXES);
}

/* The world has fewer ids than the settings promise. */
Test(own_worlds, that_run_out_of_ids_take_none_of_a_request) {
  expect_agents(0, HENS + FOXES);
  service.worlds[0].needs.agents_max = 10 * ROOM;
  tell("POST", WEST "/agents", spawns_of(2 * ROOM - HENS - FOXES + 1, 0, 1), 409);
  expect_agents(0, HENS + FOXES);
  tell("POST", WEST "/agents", spawns_of(20, 0, 1), 201);
  expect_agents(0, HENS + FOXES + 20);
}

Test(own_worlds, take_agents_of_sixty_four_types_at_once_and_no_more) {
  for (uint32_t i = 0; i < MANY_TYPES; i++) register_named(0, formed("t%u", i), 50000000);
  tell("POST", WEST "/agents", spawns_of(SPAWN_TYPES_MAX + 1, SPAWN_TYPES_MAX + 1, 1), 400);
  expect_agents(0, HENS + FOXES);
  service.worlds[0].needs.agents_max = 2 * ROOM;
  tell("POST", WEST "/agents", spawns_of(SPAWN_TYPES_MAX + 1, SPAWN_TYPES_MAX, 1), 201);
  expect_agents(0, HENS + FOXES + SPAWN_TYPES_MAX + 1);
}
