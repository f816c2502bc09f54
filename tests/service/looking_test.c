/* What the page shows beside the frames: history, rankings and the verdict, asked of a daemon. */
#include "served.h"
#include "service/holds.h"
#include "support/little_world.h"

static void start(void) {
  daemon_start(&service, "--world main=wildlife --agents 3000");
  await_count(WORLD, "agents", 2500); /* spawns are spread over frames */
}

TestSuite(looking, .init = start, .fini = stop);
TestSuite(rankings, .fini = stop);

/* The history, once it has a second; it may take two. */
static json_t *await_history(const char *path) {
  json_t *history = get(path);
  for (; control_size(history, "second") == 0; history = get(path)) json_decref(history);
  return history;
}

Test(looking, history_has_every_frame_once_in_columns_of_one_length) {
  json_auto_t *history = await_history(WORLD "/history");
  json_t *column;
  const char *name;
  size_t seconds = control_size(history, "second"), columns = 0;
  json_object_foreach(history, name, column) {
    if (!json_is_array(column)) continue;
    cr_expect_eq(json_array_size(column), seconds, "%s", name);
    columns++;
  }
  cr_expect_eq(columns, 37);
  long long frames = 0;
  for (size_t i = 0; i < seconds; i++) frames += control_count(history, formed("frames.%zu", i));
  cr_expect_eq(frames, control_count(history, formed("frame.%zu", seconds - 1)), "it begins with the first frame");
  cr_expect_gt(control_count(history, "wall_max_ns.0"), 0);
}

Test(looking, history_after_a_second_goes_on_with_the_next) {
  json_auto_t *first = await_history(WORLD "/history");
  long long last = control_count(first, formed("second.%zu", control_size(first, "second") - 1));
  json_auto_t *more = await_history(formed(WORLD "/history?after=%lld", last));
  cr_expect_gt(control_count(more, "second.0"), last);
  EXPECT_REFUSALS(GET(WORLD "/history?after=-1", 400, "out_of_range", "after"),
                  GET(WORLD "/history?before=1", 400, "query", "before"),
                  GET("/v1/worlds/none/history", 404, "unknown_world", "world"));
}

/* The member of an entry of a list. */
static double of(json_t *ranking, const char *list, size_t place, const char *member) {
  return control_number(ranking, formed("%s.%zu.%s", list, place, member));
}

static void expect_descending(json_t *ranking, const char *list, const char *member, size_t most) {
  size_t count = json_array_size(control_member(ranking, list));
  cr_expect_leq(count, most, "%s", list);
  for (size_t i = 1; i < count; i++)
    cr_expect_geq(of(ranking, list, i - 1, member), of(ranking, list, i, member), "%s %zu", list, i);
}

static void expect_orders(json_t *ranking, size_t most) {
  expect_descending(ranking, "delayed", "late_ns", most);
  expect_descending(ranking, "expensive", "load", most);
  expect_descending(ranking, "important", "importance", most);
}

typedef struct greatest {
  double late_ns, load, importance, sum; /* sum: of all loads */
} greatest;

static void look_at(json_t *agent, double now_ns, greatest *all) {
  double period_ns = control_number(agent, "period_ns"), importance = control_number(agent, "importance");
  double late_ns = now_ns - control_number(agent, "last_update_ns") - period_ns;
  if (period_ns > 0) all->late_ns = fmax(all->late_ns, late_ns);
  if (period_ns > 0) all->sum += control_number(agent, "expected_cost_ns") / period_ns;
  if (period_ns > 0) all->load = fmax(all->load, control_number(agent, "expected_cost_ns") / period_ns);
  all->importance = fmax(all->importance, importance);
}

/* The same of the list of all agents. */
static greatest look_at_all(double now_ns) {
  greatest all = {0};
  EACH_PAGE(page, WORLD "/agents?limit=1000") CONTROL_EACH(agent, page, "agents") look_at(agent, now_ns, &all);
  return all;
}

/* What the ranking says that all types take. */
static double sum_of_types(json_t *ranking) {
  double sum = 0;
  CONTROL_EACH(type, ranking, "types") CONTROL_EACH(level, type, "levels") sum += control_number(level, "load");
  return sum;
}

Test(looking, rankings_look_at_all_agents_and_give_the_first_of_each_order) {
  tell("PATCH", WORLD, "{'updates_per_frame': 20}", 200);
  while (size_at(WORLD "/ranking", "delayed") == 0) continue; /* too few updates make agents late */
  pause_world();
  json_auto_t *ranking = get(WORLD "/ranking?limit=7"), *world = get(WORLD);
  cr_expect_eq(control_count(ranking, "looked"), control_count(world, "agents"));
  expect_orders(ranking, 7);
  cr_expect_eq(control_size(ranking, "expensive"), 7);
  cr_expect_eq(control_size(ranking, "important"), 7);
  greatest all = look_at_all(control_number(world, "sim_now_ns"));
  cr_expect_float_eq(of(ranking, "delayed", 0, "late_ns"), all.late_ns, 0.5);
  cr_expect_float_eq(of(ranking, "expensive", 0, "load"), all.load, 1e-12);
  cr_expect_float_eq(of(ranking, "important", 0, "importance"), all.importance, 1e-6);
  cr_expect_float_eq(sum_of_types(ranking), all.sum, 1e-9);
}

Test(looking, rankings_of_a_type_have_no_other) {
  json_auto_t *ranking = get(WORLD "/ranking?type=hare");
  cr_expect_eq(control_size(ranking, "important"), 10);
  CONTROL_EACH(entry, ranking, "important") cr_expect_str_eq(control_text(entry, "type"), "hare");
  EXPECT_REFUSALS(GET(WORLD "/ranking?type=unicorn", 404, "unknown_type", "type"),
                  GET(WORLD "/ranking?limit=0", 400, "out_of_range", "limit"),
                  GET(WORLD "/ranking?limit=101", 400, "out_of_range", "limit"));
}

Test(looking, the_verdict_follows_a_pause) {
  pause_world();
  json_t *now = get(WORLD);
  for (; strcmp(control_text(now, "verdict.code"), "paused") != 0; now = get(WORLD)) json_decref(now);
  json_auto_t *world = now;
  control_expect(world, "{'verdict.severity': 'notice'}");
  cr_expect_str_not_empty(control_text(world, "verdict.words"));
  cr_expect_str_not_empty(control_text(world, "verdict.next"));
}

/* A ranking takes some frames where agents are many and frames short: it is in the order of what it shows. */
Test(rankings, are_in_the_order_of_the_figures_that_they_show, .timeout = 60) {
  daemon_start(&service, "--world main=wildlife --agents 15000 --hz 500 --budget 1ms");
  await_count(WORLD, "agents", 14000);
  for (int i = 0; i < 40; i++) {
    json_auto_t *ranking = get(WORLD "/ranking?limit=100");
    expect_orders(ranking, 100);
  }
}

/* ------------------------------------------------------------------------------------------------------------ holds */

static muster_position place_of(const little_world *little, muster_observer observer) {
  muster_observer_def found = muster_observer_def_default();
  cr_assert_eq(muster_observer_read(little->world, observer, &found), MUSTER_OK, "%s", muster_last_error());
  return found.position;
}

/* Whichever of the held observers have gone, one bit for each: the others stay where they were put, whatever their
 * module does, in the frame behind the removal and in that behind it, in which it is known; no hold is left of those.
 */
Test(holds, all_others_are_held_in_the_frame_in_which_some_have_gone) {
  enum { HELD = 4 };
  for (uint32_t gone = 0; gone < 1u << HELD; gone++) {
    struct holds holds = {0};
    muster_observer observers[HELD];
    muster_observer_def def = muster_observer_def_default();
    SCOPED(little_world_destroy) little_world little = little_world_create(1, NULL);
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
  }
}
