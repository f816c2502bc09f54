/* The desert as a zone of a larger world, and without births and deaths. */
#include "scenarios/scenarios.h"
#include "support/full_frames.h"

#include <criterion/criterion.h>
#include <math.h>
#include <muster/zone.h>
#include <string.h>

enum { AGENTS = 300 };

#define FRAME_NS 33333333u

typedef struct zoned {
  void *instance;
  muster_world *world;
  uint64_t now_ns;
} zoned;

static muster_result open_zoned(zoned *it, const char *ground, bool eternal, muster_module_needs *needs) {
  const muster_module_value values[] = {{"ground", ground, 0}, {"eternal", eternal ? "yes" : "no", eternal}};
  muster_module_options options = muster_module_options_default();
  options.agents = AGENTS;
  options.seed = 7;
  options.values = values;
  options.value_count = sizeof values / sizeof *values;
  return muster_module_wildlife()->open(&options, &it->instance, needs);
}

/* `zone` 0: a world of its own. */
static zoned begin(uint32_t zone, double x0, double y0, double x1, double y1, const char *ground, bool eternal) {
  zoned it = {0};
  muster_module_needs needs;
  cr_assert_eq(open_zoned(&it, ground, eternal, &needs), MUSTER_OK, "%s", muster_last_error());
  muster_world_def def = muster_world_def_default();
  def.limits.agents_max = needs.agents_max;
  def.limits.observers_max = needs.observers;
  def.cell_m = needs.cell_m;
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.clock.capacity_ns = 10000000;
  def.zone = (muster_zone_def){.number = zone, .epoch = zone > 0, .x_min = x0, .y_min = y0, .x_max = x1, .y_max = y1};
  it.world = muster_world_create(&def);
  cr_assert_not_null(it.world, "%s", muster_last_error());
  cr_assert_eq(muster_module_wildlife()->populate(it.instance, it.world), MUSTER_OK, "%s", muster_last_error());
  return it;
}

static void run(zoned *it, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) {
    muster_module_wildlife()->before_frame(it->instance, it->world, it->now_ns);
    cr_assert_eq(muster_frame_run(it->world, &(muster_frame){it->now_ns, 10000000}), MUSTER_OK);
    it->now_ns += FRAME_NS;
  }
}

static void end(zoned *it) {
  destroy_full(it->world);
  muster_module_wildlife()->close(it->instance);
}

/* How many there are, and of these how many stand in a rectangle. */
static uint32_t count_in(const zoned *it, double x0, double y0, double x1, double y1, uint32_t *all) {
  uint32_t inside = 0;
  muster_agent_info info = muster_agent_info_default();
  *all = 0;
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(it->world, agent)); (*all)++) {
    cr_assert_eq(muster_agent_read(it->world, agent, &info), MUSTER_OK);
    const muster_position *at = &info.position;
    inside += at->x >= x0 && at->y >= y0 && at->x <= x1 && at->y <= y1;
  }
  return inside;
}

static muster_position camera_of(const zoned *it) {
  muster_observer_def info = muster_observer_def_default();
  muster_observer camera = muster_observer_next(it->world, (muster_observer){0});
  cr_assert_not(muster_observer_is_null(camera));
  cr_assert_eq(muster_observer_read(it->world, camera, &info), MUSTER_OK);
  return info.position;
}

Test(wildlife_zone, a_zone_is_populated_where_it_lies_and_the_fence_is_around_all_of_them) {
  zoned it = begin(5, 1000, 2000, 1200, 2100, "900 1950 1300 2150", false);
  uint32_t all;
  run(&it, 1);
  cr_expect_eq(count_in(&it, 1000, 2000, 1200, 2100, &all), AGENTS);
  cr_expect_eq(all, AGENTS);
  for (uint32_t i = 0; i < 10; i++) {
    run(&it, 100);
    muster_position camera = camera_of(&it);
    cr_expect(camera.x > 1000 && camera.x < 1200 && camera.y > 2000 && camera.y < 2100,
              "a camera leaves its zone: %g, %g", camera.x, camera.y);
  }
  cr_expect_lt(count_in(&it, 1000, 2000, 1200, 2100, &all), all, "nobody walks on beyond the border");
  cr_expect_eq(count_in(&it, 900, 1950, 1300, 2150, &all), all, "somebody jumped the fence");
  end(&it);
}

Test(wildlife_zone, a_zone_of_which_no_fence_is_told_is_fenced_itself) {
  zoned it = begin(2, -50, 300, 100, 450, "", false);
  uint32_t all;
  run(&it, 900);
  cr_expect_eq(count_in(&it, -50, 300, 100, 450, &all), all);
  cr_expect_gt(all, AGENTS / 2);
  end(&it);
}

Test(wildlife_zone, zones_of_one_seed_have_other_animals) {
  zoned one = begin(1, 0, 0, 160, 160, "0 0 320 160", false), other = begin(2, 160, 0, 320, 160, "0 0 320 160", false);
  muster_agent_info first = muster_agent_info_default(), second = muster_agent_info_default();
  run(&one, 1);
  run(&other, 1);
  muster_agent_read(one.world, muster_agent_next(one.world, (muster_agent){0}), &first);
  muster_agent_read(other.world, muster_agent_next(other.world, (muster_agent){0}), &second);
  cr_expect(fabs(first.position.x + 160 - second.position.x) > 1 || fabs(first.position.y - second.position.y) > 1);
  end(&one);
  end(&other);
}

Test(wildlife_zone, a_world_that_is_no_zone_takes_the_ground_that_it_is_given) {
  zoned it = begin(0, 0, 0, 0, 0, "100 -20 260 140", false);
  uint32_t all;
  run(&it, 600);
  cr_expect_eq(count_in(&it, 100, -20, 260, 140, &all), all);
  cr_expect_gt(count_in(&it, 100, -20, 140, 140, &all), 0, "they keep to a part of it");
  cr_expect_gt(count_in(&it, 220, -20, 260, 140, &all), 0);
  end(&it);
}

Test(wildlife_zone, a_ground_that_is_none_is_refused_with_what_to_give) {
  static const char *const bad[] = {"1 2 3", "0 0 1 1 2", "5 0 5 9", "0 9 5 1", "nan 0 1 1", "0 0 2e9 1", "here"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
    zoned it = {0};
    muster_module_needs needs;
    cr_expect_eq(open_zoned(&it, bad[i], false, &needs), MUSTER_E_ARGUMENT, "%s", bad[i]);
    cr_expect(strstr(muster_last_error(), bad[i]) && strstr(muster_last_error(), "X0 Y0 X1 Y1"), "%s",
              muster_last_error());
  }
}

/* ---------------------------------------------------------------------------------------------------------- eternal */

typedef struct events {
  double births, deaths, strikes;
} events;

static void take_event(const char *name, double value, void *user) {
  events *to = user;
  if (strcmp(name, "births") == 0) to->births = value;
  if (strcmp(name, "strikes") == 0) to->strikes = value;
  if (strcmp(name, "kills") == 0 || strcmp(name, "starved") == 0 || strcmp(name, "aged") == 0) to->deaths += value;
}

/* Five minutes, in which most would die. */
static events live_long(bool eternal, uint32_t *all) {
  zoned it = begin(0, 0, 0, 0, 0, "", eternal);
  events seen = {0};
  run(&it, 9000);
  muster_module_wildlife()->report(it.instance, it.world, take_event, &seen);
  count_in(&it, 0, 0, 0, 0, all);
  end(&it);
  return seen;
}

Test(wildlife_zone, of_eternal_animals_none_is_born_and_none_dies_though_they_hunt) {
  uint32_t all;
  events eternal = live_long(true, &all);
  cr_expect_eq(all, AGENTS);
  cr_expect_eq(eternal.births, 0);
  cr_expect_eq(eternal.deaths, 0);
  cr_expect_gt(eternal.strikes, 0, "nobody hunts");
  events usual = live_long(false, &all);
  cr_expect_gt(usual.deaths, AGENTS / 2, "others die in that time");
}
