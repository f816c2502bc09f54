/* What the page shows beside the frames: history, rankings and the verdict, asked of a daemon. */
#include "control.h"
#include "service/holds.h"
#include "support/little_world.h"

#define WORLD "/v1/worlds/main"

static musterd service;

static void start(void) {
  daemon_start(&service, "--world main=wildlife --agents 3000");
  control_await_count(&service, WORLD, "agents", 2500); /* spawns are spread over frames */
}

static void stop(void) {
  daemon_stop(&service);
}

TestSuite(looking, .init = start, .fini = stop);

static json_t *ask(const char *path) {
  return control_ask(&service, "GET", path, NULL, 200);
}

/* The history, once it has a second; it may take two. */
static json_t *await_history(const char *path) {
  json_t *history = ask(path);
  while (json_array_size(control_member(history, "second")) == 0) {
    json_decref(history);
    history = ask(path);
  }
  return history;
}

Test(looking, history_has_every_frame_once_in_columns_of_one_length) {
  json_t *history = await_history(WORLD "/history"), *column;
  const char *name;
  size_t seconds = json_array_size(control_member(history, "second")), columns = 0;
  json_object_foreach(history, name, column) {
    if (!json_is_array(column)) continue;
    cr_expect_eq(json_array_size(column), seconds, "%s", name);
    columns++;
  }
  cr_expect_eq(columns, 37);
  long long frames = 0;
  for (size_t i = 0; i < seconds; i++)
    frames += json_integer_value(json_array_get(json_object_get(history, "frames"), i));
  cr_expect_eq(frames, json_integer_value(json_array_get(json_object_get(history, "frame"), seconds - 1)),
               "it begins with the world's first frame");
  cr_expect_gt(control_count(history, "wall_max_ns.0"), 0);
  json_decref(history);
}

Test(looking, history_after_a_second_goes_on_with_the_next) {
  char path[128];
  json_t *first = await_history(WORLD "/history");
  size_t seconds = json_array_size(control_member(first, "second"));
  long long last = json_integer_value(json_array_get(control_member(first, "second"), seconds - 1));
  snprintf(path, sizeof path, WORLD "/history?after=%lld", last);
  json_t *more = await_history(path);
  cr_expect_gt(control_count(more, "second.0"), last);
  json_decref(more);
  json_decref(first);
  CONTROL_EXPECT_REFUSALS(&service, {"GET", WORLD "/history?after=-1", NULL, 400, "out_of_range", "after"},
                          {"GET", WORLD "/history?before=1", NULL, 400, "query", "before"},
                          {"GET", "/v1/worlds/none/history", NULL, 404, "unknown_world", "world"});
}

/* The member of an entry of a list. */
static double of(json_t *ranking, const char *list, size_t place, const char *member) {
  char path[64];
  snprintf(path, sizeof path, "%s.%zu.%s", list, place, member);
  return control_number(ranking, path);
}

static void expect_descending(json_t *ranking, const char *list, const char *member, size_t most) {
  size_t count = json_array_size(control_member(ranking, list));
  cr_expect_leq(count, most, "%s", list);
  for (size_t i = 1; i < count; i++)
    cr_expect_geq(of(ranking, list, i - 1, member), of(ranking, list, i, member), "%s %zu", list, i);
}

/* Frames that run too few updates make agents late. */
static void await_delayed(void) {
  for (size_t count = 0; count == 0;) {
    json_t *ranking = ask(WORLD "/ranking");
    count = json_array_size(control_member(ranking, "delayed"));
    json_decref(ranking);
  }
}

typedef struct greatest {
  double late_ns, load, importance, sum; /* sum: of all loads */
} greatest;

static double greater(double a, double b) {
  return a > b ? a : b;
}

static void look_at(json_t *agent, double now_ns, greatest *all) {
  double period_ns = control_number(agent, "period_ns"), importance = control_number(agent, "importance");
  double late_ns = now_ns - control_number(agent, "last_update_ns") - period_ns;
  if (period_ns > 0) all->late_ns = greater(all->late_ns, late_ns);
  if (period_ns > 0) all->sum += control_number(agent, "expected_cost_ns") / period_ns;
  if (period_ns > 0) all->load = greater(all->load, control_number(agent, "expected_cost_ns") / period_ns);
  all->importance = greater(all->importance, importance);
}

/* The same of the list of all agents. */
static greatest look_at_all(double now_ns) {
  greatest all = {0};
  for (char path[128] = WORLD "/agents?limit=1000"; *path;) {
    json_t *page = ask(path), *agent;
    size_t i;
    json_array_foreach(control_member(page, "agents"), i, agent) look_at(agent, now_ns, &all);
    const char *next = json_string_value(json_object_get(page, "next"));
    if (next)
      snprintf(path, sizeof path, WORLD "/agents?limit=1000&cursor=%s", next);
    else
      *path = '\0';
    json_decref(page);
  }
  return all;
}

/* What the ranking says that all types take. */
static double sum_of_types(json_t *ranking) {
  json_t *type, *level;
  size_t i, k;
  double sum = 0;
  json_array_foreach(control_member(ranking, "types"), i, type)
      json_array_foreach(control_member(type, "levels"), k, level) sum += control_number(level, "load");
  return sum;
}

Test(looking, rankings_look_at_all_agents_and_give_the_first_of_each_order) {
  json_decref(control_ask(&service, "PATCH", WORLD, "{\"updates_per_frame\": 20}", 200));
  await_delayed();
  json_decref(control_ask(&service, "PATCH", WORLD, "{\"paused\": true}", 200));
  json_t *ranking = ask(WORLD "/ranking?limit=7"), *world = ask(WORLD);
  cr_expect_eq(control_count(ranking, "looked"), control_count(world, "agents"));
  expect_descending(ranking, "delayed", "late_ns", 7);
  expect_descending(ranking, "expensive", "load", 7);
  expect_descending(ranking, "important", "importance", 7);
  cr_expect_eq(json_array_size(control_member(ranking, "expensive")), 7);
  cr_expect_eq(json_array_size(control_member(ranking, "important")), 7);
  greatest all = look_at_all(control_number(world, "sim_now_ns"));
  cr_expect_float_eq(of(ranking, "delayed", 0, "late_ns"), all.late_ns, 0.5);
  cr_expect_float_eq(of(ranking, "expensive", 0, "load"), all.load, 1e-12);
  cr_expect_float_eq(of(ranking, "important", 0, "importance"), all.importance, 1e-6);
  cr_expect_float_eq(sum_of_types(ranking), all.sum, 1e-9);
  json_decref(world);
  json_decref(ranking);
}

Test(looking, rankings_of_a_type_have_no_other) {
  json_t *ranking = ask(WORLD "/ranking?type=hare"), *entry;
  size_t i;
  cr_expect_eq(json_array_size(control_member(ranking, "important")), 10);
  json_array_foreach(control_member(ranking, "important"), i, entry)
      cr_expect_str_eq(control_text(entry, "type"), "hare");
  json_decref(ranking);
  CONTROL_EXPECT_REFUSALS(&service, {"GET", WORLD "/ranking?type=unicorn", NULL, 404, "unknown_type", "type"},
                          {"GET", WORLD "/ranking?limit=0", NULL, 400, "out_of_range", "limit"},
                          {"GET", WORLD "/ranking?limit=101", NULL, 400, "out_of_range", "limit"});
}

static void expect_verdict(const char *code) {
  json_t *world = ask(WORLD);
  while (strcmp(control_text(world, "verdict.code"), code) != 0) {
    json_decref(world);
    world = ask(WORLD);
  }
  cr_expect_str_not_empty(control_text(world, "verdict.words"));
  json_decref(world);
}

Test(looking, the_verdict_follows_a_pause) {
  json_decref(control_ask(&service, "PATCH", WORLD, "{\"paused\": true}", 200));
  expect_verdict("paused");
  json_t *world = ask(WORLD);
  cr_expect_str_eq(control_text(world, "verdict.severity"), "notice");
  cr_expect_str_not_empty(control_text(world, "verdict.next"));
  json_decref(world);
}

/* A ranking takes some frames where agents are many and frames short: it is in the order of what it shows. */
Test(rankings, are_in_the_order_of_the_figures_that_they_show, .timeout = 60) {
  daemon_start(&service, "--world main=wildlife --agents 15000 --hz 500 --budget 1ms");
  control_await_count(&service, WORLD, "agents", 14000);
  for (int i = 0; i < 40; i++) {
    json_t *ranking = ask(WORLD "/ranking?limit=100");
    expect_descending(ranking, "delayed", "late_ns", 100);
    expect_descending(ranking, "expensive", "load", 100);
    expect_descending(ranking, "important", "importance", 100);
    json_decref(ranking);
  }
  daemon_stop(&service);
}

/* ------------------------------------------------------------------------------------------------------------ holds */

static muster_position place_of(const little_world *little, muster_observer observer) {
  muster_observer_def found = muster_observer_def_default();
  cr_assert_eq(muster_observer_read(little->world, observer, &found), MUSTER_OK, "%s", muster_last_error());
  return found.position;
}

/* Whichever of the held observers have gone, one bit for each: the others stay where they were put, whatever their
 * module does, in the frame behind the removal and in that behind it, in which it is known; no hold is left of who has
 * gone. */
Test(holds, all_others_are_held_in_the_frame_in_which_some_have_gone) {
  enum { HELD = 4 };
  for (uint32_t gone = 0; gone < 1u << HELD; gone++) {
    struct holds holds = {0};
    muster_observer observers[HELD];
    muster_observer_def def = muster_observer_def_default();
    little_world little = little_world_create(1, NULL);
    for (uint32_t i = 0; i < HELD; i++) {
      observers[i] = muster_observer_add(little.world, &def);
      cr_assert_eq(holds_put(&holds, observers[i], (muster_position){i + 1, 0, 0}), MUSTER_OK);
    }
    run_frame(&little);
    for (uint32_t i = 0; i < HELD; i++)
      if (gone >> i & 1) cr_assert_eq(muster_observer_remove(little.world, observers[i]), MUSTER_OK);
    for (uint32_t frame = 0; frame < 2; frame++) {
      for (uint32_t i = 0; i < HELD; i++)
        muster_observer_move(little.world, observers[i], (muster_position){100, 0, 0});
      holds_apply(&holds, little.world);
      run_frame(&little);
      for (uint32_t i = 0; i < HELD; i++)
        if (!(gone >> i & 1)) cr_expect_eq(place_of(&little, observers[i]).x, i + 1, "%x have gone: %u", gone, i);
    }
    for (uint32_t i = 0; i < HELD; i++)
      cr_expect_eq(holds_has(&holds, observers[i]), !(gone >> i & 1), "%x have gone: %u", gone, i);
    little_world_destroy(&little);
  }
}
