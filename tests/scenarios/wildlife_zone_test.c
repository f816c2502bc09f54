/* The desert as a zone of a larger world, and without births and deaths. */
#include "scenarios/scene.h"

#include <muster/zone.h>

enum { AGENTS = 300 };

/* A part of the ground. */
typedef struct part {
  double x0, y0, x1, y1;
} part;

static muster_module_options options_on(const char *ground, bool eternal) {
  static muster_module_value values[2];
  values[0] = (muster_module_value){"ground", ground, 0};
  values[1] = (muster_module_value){"eternal", eternal ? "yes" : "no", eternal};
  return WITH(muster_module_options, it.agents = AGENTS, it.seed = 7, it.values = values,
              it.value_count = COUNT_OF(values));
}

/* `number` 0: a world of its own. */
static struct scene begin(uint32_t number, part of, const char *ground, bool eternal) {
  struct scene zone = scene_begin(muster_module_wildlife(), options_on(ground, eternal), 10000000);
  muster_world_def rules = muster_world_def_default();
  rules.zone = (muster_zone_def){
      .number = number, .epoch = number > 0, .x_min = of.x0, .y_min = of.y0, .x_max = of.x1, .y_max = of.y1};
  zone.seed = rules.seed; /* it is the module's */
  scene_enter(&zone, 1, rules);
  return zone;
}

static void run(struct scene *zone, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++, zone->now_ns += SCENE_FRAME_NS) scene_frame_at(zone, zone->now_ns);
}

/* How many there are, and of these how many stand in a part. */
static uint32_t count_in(const struct scene *zone, part of, uint32_t *all) {
  uint32_t inside = 0;
  *all = 0;
  for (scene_agent one = {0}; scene_next_agent(zone, &one); (*all)++) {
    const muster_position *at = &one.info.position;
    inside += at->x >= of.x0 && at->y >= of.y0 && at->x <= of.x1 && at->y <= of.y1;
  }
  return inside;
}

static muster_position camera_of(const struct scene *zone) {
  muster_observer_def info = muster_observer_def_default();
  muster_observer camera = muster_observer_next(zone->world, (muster_observer){0});
  cr_assert_not(muster_observer_is_null(camera));
  cr_assert_eq(muster_observer_read(zone->world, camera, &info), MUSTER_OK);
  return info.position;
}

Test(wildlife_zone, a_zone_is_populated_where_it_lies_and_the_fence_is_around_all_of_them) {
  SCOPED(scene_close) struct scene zone = begin(5, (part){1000, 2000, 1200, 2100}, "900 1950 1300 2150", false);
  uint32_t all;
  run(&zone, 1);
  cr_expect_eq(count_in(&zone, (part){1000, 2000, 1200, 2100}, &all), AGENTS);
  cr_expect_eq(all, AGENTS);
  for (uint32_t i = 0; i < 10; i++) {
    run(&zone, 100);
    muster_position camera = camera_of(&zone);
    cr_expect(camera.x > 1000 && camera.x < 1200 && camera.y > 2000 && camera.y < 2100,
              "a camera leaves its zone: %g, %g", camera.x, camera.y);
  }
  cr_expect_lt(count_in(&zone, (part){1000, 2000, 1200, 2100}, &all), all, "nobody walks on beyond the border");
  cr_expect_eq(count_in(&zone, (part){900, 1950, 1300, 2150}, &all), all, "somebody jumped the fence");
}

Test(wildlife_zone, a_zone_of_which_no_fence_is_told_is_fenced_itself) {
  SCOPED(scene_close) struct scene zone = begin(2, (part){-50, 300, 100, 450}, "", false);
  uint32_t all;
  run(&zone, 900);
  cr_expect_eq(count_in(&zone, (part){-50, 300, 100, 450}, &all), all);
  cr_expect_gt(all, AGENTS / 2);
}

Test(wildlife_zone, zones_of_one_seed_have_other_animals) {
  SCOPED(scene_close)
  struct scene one = begin(1, (part){0, 0, 160, 160}, "0 0 320 160", false),
               other = begin(2, (part){160, 0, 320, 160}, "0 0 320 160", false);
  muster_agent_info first = muster_agent_info_default(), second = muster_agent_info_default();
  run(&one, 1);
  run(&other, 1);
  muster_agent_read(one.world, muster_agent_next(one.world, (muster_agent){0}), &first);
  muster_agent_read(other.world, muster_agent_next(other.world, (muster_agent){0}), &second);
  cr_expect(fabs(first.position.x + 160 - second.position.x) > 1 || fabs(first.position.y - second.position.y) > 1);
}

Test(wildlife_zone, a_world_that_is_no_zone_takes_the_ground_that_it_is_given) {
  SCOPED(scene_close) struct scene zone = begin(0, (part){0}, "100 -20 260 140", false);
  uint32_t all;
  run(&zone, 600);
  cr_expect_eq(count_in(&zone, (part){100, -20, 260, 140}, &all), all);
  cr_expect_gt(count_in(&zone, (part){100, -20, 140, 140}, &all), 0, "they keep to a part of it");
  cr_expect_gt(count_in(&zone, (part){220, -20, 260, 140}, &all), 0);
}

Test(wildlife_zone, a_ground_that_is_none_is_refused_with_what_to_give) {
  static const char *const bad[] = {"1 2 3", "0 0 1 1 2", "5 0 5 9", "0 9 5 1", "nan 0 1 1", "0 0 2e9 1", "here"};
  for (size_t i = 0; i < COUNT_OF(bad); i++) {
    scene_refuses(muster_module_wildlife(), options_on(bad[i], false), MUSTER_E_ARGUMENT, bad[i]);
    cr_expect(strstr(muster_last_error(), "X0 Y0 X1 Y1"), "%s", muster_last_error());
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
  SCOPED(scene_close) struct scene zone = begin(0, (part){0}, "", eternal);
  events seen = {0};
  run(&zone, 9000);
  muster_module_wildlife()->report(zone.instance, zone.world, take_event, &seen);
  count_in(&zone, (part){0}, all);
  return seen;
}

Test(wildlife_zone, of_eternal_animals_none_is_born_and_none_dies_though_they_hunt) {
  uint32_t all;
  events eternal = live_long(true, &all);
  cr_expect_eq(all, AGENTS);
  cr_expect_eq(eternal.births, 0);
  cr_expect_eq(eternal.deaths, 0);
  cr_expect_gt(eternal.strikes, 0, "nobody hunts");
  cr_expect_gt(live_long(false, &all).deaths, AGENTS / 2, "others die in that time");
}
