/* Towns under the virtual clock: what is conserved, what levels change and what they leave, and one day of one life. */
#include "examples/worlds/townsfolk.h"
#include "scenarios/scene.h"

#define AMPLE_NS   10000000u
#define QUARTER_NS 250000000u

static struct scene town_open(uint32_t agents, uint32_t workers, uint64_t capacity_ns) {
  return scene_open(muster_module_townsfolk(), scene_options(agents, 1), workers, capacity_ns);
}

/* --------------------------------------------------------------------------------------------------- conservation */

struct goods {
  double coins, bread, grain, tools;
};

static double figure(const struct scene *scene, const char *name) {
  return scene_reported(scene, name);
}

/* What there is of each good, less what was made and plus what is gone: always the same. */
static struct goods goods_of(const struct scene *scene) {
  return (struct goods){.coins = figure(scene, "coins_in_all"),
                        .bread = figure(scene, "bread_in_stock") + figure(scene, "bread_at_home") +
                                 figure(scene, "meals_eaten") - figure(scene, "bread_made") -
                                 figure(scene, "bread_brought"),
                        .grain = figure(scene, "grain_in_stock") + figure(scene, "grain_used") -
                                 figure(scene, "grain_made") - figure(scene, "grain_brought"),
                        .tools = figure(scene, "tools_in_stock") + figure(scene, "tools_used") -
                                 figure(scene, "tools_made") - figure(scene, "tools_brought")};
}

static void conserves(uint32_t agents, uint64_t capacity_ns) {
  SCOPED(scene_close) struct scene scene = town_open(agents, 1, capacity_ns);
  scene_frame(&scene, QUARTER_NS);
  struct goods begin = goods_of(&scene);
  for (uint32_t i = 0; i < 60; i++) {
    for (uint32_t k = 0; k < 50; k++) scene_frame(&scene, QUARTER_NS);
    struct goods now = goods_of(&scene);
    cr_assert_eq(now.coins, begin.coins, "coins: %g, then %g", begin.coins, now.coins);
    cr_assert_eq(now.bread, begin.bread, "bread: %g, then %g", begin.bread, now.bread);
    cr_assert_eq(now.grain, begin.grain, "grain: %g, then %g", begin.grain, now.grain);
    cr_assert_eq(now.tools, begin.tools, "tools: %g, then %g", begin.tools, now.tools);
  }
  cr_assert_gt(figure(&scene, "meals_eaten"), agents);
  cr_assert_gt(figure(&scene, "wages_paid"), agents);
  cr_assert_gt(figure(&scene, "bread_taken"), 0.0, "the people do not reach their hall");
}

Test(townsfolk, coins_and_goods_change_hands_and_none_is_lost) {
  conserves(98, AMPLE_NS);
}

Test(townsfolk, none_is_lost_either_where_time_is_so_short_that_actions_wait) {
  conserves(98, 20000);
}

/* A town of three has no innkeeper and no smith: carts come. */
Test(townsfolk, none_is_lost_in_a_town_too_small_to_feed_itself) {
  conserves(4, AMPLE_NS);
}

typedef struct days {
  double meals, wages, hours, goods, updates, cpu_ns;
} days;

static days live_four_days(uint64_t capacity_ns) {
  enum { FRAMES = 4 * 1440 * 4 };
  muster_module_options options = CHANGED(scene_options(6 * FOLK_TOWN_AGENTS, 1), it.observers = 1);
  SCOPED(scene_close) struct scene scene = scene_open(muster_module_townsfolk(), options, 1, capacity_ns);
  days sums = {0};
  for (uint32_t i = 0; i < FRAMES; i++) sums.cpu_ns += (double)scene_frame(&scene, QUARTER_NS).update_cpu_ns / FRAMES;
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(scene.world, &statistics);
  sums.meals = figure(&scene, "meals_eaten");
  sums.wages = figure(&scene, "wages_paid");
  sums.hours = figure(&scene, "hours_paid");
  sums.goods = figure(&scene, "goods_in_town");
  sums.updates = (double)statistics.completed;
  return sums;
}

static double apart(double a, double b) {
  return fabs(a - b) / fmax(a, b);
}

Test(townsfolk, a_tenth_of_the_cpu_holds_as_many_meals_wages_and_goods) {
  days full = live_four_days(AMPLE_NS);
  days tenth = live_four_days((uint64_t)(full.cpu_ns / 10.0));
  cr_log_info("full: %g meals %g wages %g goods %g updates; tenth: %g %g %g %g", full.meals, full.wages, full.goods,
              full.updates, tenth.meals, tenth.wages, tenth.goods, tenth.updates);
  cr_assert_gt(full.meals + full.hours, 10000.0);
  cr_assert_leq(tenth.cpu_ns, full.cpu_ns * 0.11);
  cr_assert_lt(apart(full.meals, tenth.meals), 0.02, "meals: %g, %g", full.meals, tenth.meals);
  cr_assert_lt(apart(full.wages, tenth.wages), 0.02, "wages: %g, %g", full.wages, tenth.wages);
  cr_assert_lt(apart(full.goods, tenth.goods), 0.02, "goods: %g, %g", full.goods, tenth.goods);
}

/* --------------------------------------------------------------------------------------------------------- levels */

static void set_floor(struct scene *scene, muster_agent agent, float floor) {
  muster_agent_tuning tuning = WITH(muster_agent_tuning, it.importance_floor = floor);
  cr_assert_eq(muster_agent_tune(scene->world, agent, &tuning), MUSTER_OK);
}

static void set_floors(struct scene *scene, float floor) {
  for (scene_agent one = {0}; scene_next_agent(scene, &one);) set_floor(scene, one.id, floor);
}

/* Meals and wages of the second and third day, and what an update cost, when all are kept at a level. */
static days live_at(float importance, const char *effort, double *mean_cost_ns, double *mean_effort) {
  enum { FRAMES = 1440 * 4 };
  SCOPED(scene_close) struct scene scene = town_open(FOLK_TOWN_AGENTS, 1, AMPLE_NS);
  const struct folk *folk = scene.instance;
  days sums = {0};
  for (uint32_t i = 0; i < folk->base.observer_count; i++) muster_observer_remove(scene.world, folk->base.observers[i]);
  scene_frame(&scene, QUARTER_NS);
  set_floors(&scene, importance);
  for (uint32_t day = 0; day < 3; day++) {
    for (uint32_t i = 0; i < FRAMES; i++) sums.cpu_ns += (double)scene_frame(&scene, QUARTER_NS).update_cpu_ns;
    if (day > 0) continue; /* the first one depends on how they were found */
    sums.meals = -figure(&scene, "meals_eaten");
    sums.wages = -figure(&scene, "wages_paid");
  }
  muster_statistics statistics = muster_statistics_default();
  muster_statistics_read(scene.world, &statistics);
  *mean_cost_ns = sums.cpu_ns / (double)statistics.completed;
  *mean_effort = figure(&scene, effort);
  sums.meals += figure(&scene, "meals_eaten");
  sums.wages += figure(&scene, "wages_paid");
  return sums;
}

/* What they owe their bodies at the ends of these days differs by a part of a meal. */
Test(townsfolk, levels_cost_less_in_order_and_the_cheapest_a_twentieth_and_all_eat_and_earn_the_same) {
  static const char *const efforts[FOLK_LEVELS] = {"effort_level_0", "effort_level_1", "effort_level_2",
                                                   "effort_level_3"};
  static const float importances[FOLK_LEVELS] = {1.0f, 0.4f, 0.18f, 0.0f};
  double cost_ns[FOLK_LEVELS], effort[FOLK_LEVELS];
  days lived[FOLK_LEVELS];
  for (uint32_t level = 0; level < FOLK_LEVELS; level++)
    lived[level] = live_at(importances[level], efforts[level], &cost_ns[level], &effort[level]);
  for (uint32_t level = 0; level < FOLK_LEVELS; level++)
    cr_log_info("level %u: %g ns, effort %g, %g meals, %g wages", level, cost_ns[level], effort[level],
                lived[level].meals, lived[level].wages);
  for (uint32_t level = 1; level < FOLK_LEVELS; level++) {
    cr_assert_lt(cost_ns[level], cost_ns[level - 1], "cost of level %u", level);
    cr_assert_lt(effort[level], effort[level - 1], "effort of level %u", level);
    cr_assert_lt(fabs(lived[0].meals - lived[level].meals), FOLK_TOWN_PEOPLE / 4, "%g, %g", lived[0].meals,
                 lived[level].meals);
    cr_assert_lt(apart(lived[0].wages, lived[level].wages), 0.03, "wages: %g, %g", lived[0].wages, lived[level].wages);
  }
  cr_assert_leq(cost_ns[3] * 20.0, cost_ns[0], "%g and %g ns", cost_ns[3], cost_ns[0]);
  cr_assert_leq(effort[3] * 20.0, effort[0], "%g and %g steps of reasoning", effort[3], effort[0]);
}

static const folk_self *self_of(const struct scene *scene, muster_agent agent, muster_agent_info *info) {
  *info = muster_agent_info_default();
  cr_assert_eq(muster_agent_read(scene->world, agent, info), MUSTER_OK);
  return info->state;
}

/* The last town is far from all observers. */
Test(townsfolk, who_is_promoted_runs_at_the_new_level_by_its_next_update_and_keeps_its_state) {
  SCOPED(scene_close) struct scene scene = town_open(16 * FOLK_TOWN_AGENTS, 1, AMPLE_NS);
  const struct folk *folk = scene.instance;
  muster_agent agent = folk->towns[15].members[6];
  muster_agent_info info;
  for (uint32_t i = 0; i < 800; i++) scene_frame(&scene, QUARTER_NS);
  folk_self before = *self_of(&scene, agent, &info);
  cr_assert_eq(before.level, 3);
  cr_assert_eq(before.updates[0], 0);
  set_floor(&scene, agent, 1.0f);
  uint64_t promoted_ns = scene.now_ns;
  for (uint32_t i = 0; i < 8; i++) scene_frame(&scene, QUARTER_NS);
  folk_self up = *self_of(&scene, agent, &info);
  cr_assert_eq(up.level, 0);
  cr_assert_leq(up.updates[3], before.updates[3] + 1, "an update at the old level after the promotion was known");
  cr_assert_geq(up.updates[0], 2);
  cr_assert_geq(up.lived_ns, promoted_ns, "it lives in the present");
  cr_assert_eq(memcmp(up.desires, before.desires, sizeof up.desires), 0);
  cr_assert(up.meals >= before.meals && up.wages >= before.wages);
  cr_assert_eq(up.log.count, 0, "what was kept was told");
  set_floor(&scene, agent, 0.0f);
  for (uint32_t i = 0; i < 200; i++) scene_frame(&scene, QUARTER_NS);
  folk_self down = *self_of(&scene, agent, &info);
  cr_assert_eq(down.level, 3);
  cr_assert_gt(down.updates[3], up.updates[3] + 50);
  cr_assert_eq(memcmp(up.desires, down.desires, sizeof up.desires), 0);
  cr_assert(down.meals >= up.meals && down.hours >= up.hours);
}

/* ----------------------------------------------------------------------------------------------------- determinism */

Test(townsfolk, the_same_seed_gives_the_same_towns_on_any_number_of_workers) {
  scene_check_determinism(muster_module_townsfolk(), scene_options(5 * FOLK_TOWN_AGENTS, 1), 150000, 900);
}

Test(townsfolk, four_workers_give_the_same_towns_too) {
  muster_module_options options = scene_options(3 * FOLK_TOWN_AGENTS, 1);
  cr_assert_eq(scene_hash_after(muster_module_townsfolk(), options, 4, 60000, 600),
               scene_hash_after(muster_module_townsfolk(), options, 1, 60000, 600));
}

/* --------------------------------------------------------------------------------------------------------- people */

Test(townsfolk, people_meet_talk_quarrel_give_and_plan) {
  SCOPED(scene_close) struct scene scene = town_open(98, 1, AMPLE_NS);
  muster_statistics statistics = muster_statistics_default();
  for (uint32_t i = 0; i < 2 * 1440 * 4; i++) scene_frame(&scene, QUARTER_NS);
  muster_statistics_read(scene.world, &statistics);
  cr_assert_gt(statistics.messages_delivered, 200);
  cr_assert_gt(statistics.woken, 100, "messages wake");
  scene_says(&scene, "quarrels > 5, apologies > 0, gifts > 5, longest_plan >= 6");
  cr_assert_eq(statistics.atoms_over_limit, 0);
}

Test(townsfolk, names_are_found_and_unique_in_a_town) {
  SCOPED(scene_close) struct scene scene = town_open(300 * FOLK_TOWN_AGENTS, 1, AMPLE_NS);
  const struct folk *folk = scene.instance;
  for (uint32_t town = 0; town < 300; town += 23)
    for (uint32_t member = 0; member < FOLK_TOWN_PEOPLE; member++) {
      char name[64];
      uint32_t found_town, found;
      folk_name(&folk->towns[town], member, name, sizeof name);
      cr_assert(folk_find(folk, name, &found_town, &found), "%s", name);
      cr_assert(found_town == town && found == member, "%s is %u of town %u", name, found, found_town);
      const char *first_name = folk_first_name(&folk->towns[town], member);
      for (uint32_t other = 0; other < member; other++)
        cr_assert_str_neq(first_name, folk_first_name(&folk->towns[town], other));
    }
  uint32_t town, member;
  cr_assert(folk_find(folk, "anna", &town, &member) && town == 0);
  cr_assert(folk_find(folk, "ANNA-of-ashford", &town, &member) && town == 0 && member == 0);
  cr_assert_not(folk_find(folk, "Anna of Nowhere", &town, &member));
  cr_assert_not(folk_find(folk, "", &town, &member));
}

/* ------------------------------------------------------------------------------------------------------------ watch */

typedef struct lines {
  uint32_t count;
  uint64_t latest; /* minutes since the first midnight */
  bool in_order;
  uint32_t first[8]; /* number of the first line that has it, and the last */
  uint32_t last[8];
  uint32_t counts[8];
} lines;

static const char *const looked_for[8] = {"done: sleep",    "done: eat",    "done: work",    "gets ",
                                          "wants to sleep", "wants to eat", "runs at level", "wants to do its work"};

static void take_line(const char *text, void *user) {
  lines *seen = user;
  unsigned day, hour, minute;
  cr_assert_null(strchr(text, '\n'));
  seen->count++;
  if (sscanf(text, "day %u %u:%u", &day, &hour, &minute) == 3) {
    uint64_t at = (day - 1) * 1440 + hour * 60 + minute;
    seen->in_order = seen->in_order && (at >= seen->latest || strstr(text, "(caught up)"));
    if (at > seen->latest) seen->latest = at;
  }
  for (uint32_t i = 0; i < 8; i++)
    if (strstr(text, looked_for[i])) {
      if (seen->counts[i]++ == 0) seen->first[i] = seen->count;
      seen->last[i] = seen->count;
    }
}

static lines watch_days(const char *name, uint32_t count, uint64_t capacity_ns) {
  SCOPED(scene_close) struct scene scene = town_open(98, 1, capacity_ns);
  lines seen = {.in_order = true};
  const muster_module *module = scene.module;
  cr_assert_eq(module->watch(scene.instance, scene.world, name, take_line, &seen), MUSTER_OK, "%s",
               muster_last_error());
  cr_assert_eq(seen.count, 1, "who that is");
  for (uint32_t i = 0; i < count * 1440 * 4; i++) {
    scene_frame(&scene, QUARTER_NS);
    module->watched(scene.instance, scene.world, take_line, &seen);
  }
  return seen;
}

/* A farmer, from six in the morning on: breakfast, work, meals between, bed, and the same again. */
Test(townsfolk, the_log_of_a_character_reads_as_a_day) {
  lines seen = watch_days("Bruno of Ashford", 2, AMPLE_NS);
  cr_assert(seen.in_order, "time goes back in the log");
  cr_assert_geq(seen.counts[0], 1);
  cr_assert(seen.counts[0] <= 4, "sleeps %u times in two days", seen.counts[0]);
  cr_assert(seen.counts[1] >= 5 && seen.counts[1] <= 7, "%u meals in two days", seen.counts[1]);
  cr_assert(seen.counts[3] >= 13 && seen.counts[3] <= 19, "paid %u times in two days", seen.counts[3]);
  cr_assert_geq(seen.counts[6], 1, "its level is told");
  cr_assert_lt(seen.first[1], seen.first[3], "it eats before it has worked an hour");
  cr_assert_lt(seen.first[7], seen.first[3], "it wants to work before it is paid");
  cr_assert_lt(seen.first[3], seen.first[4], "it works before it goes to bed");
  cr_assert_lt(seen.first[4], seen.first[0], "it goes to bed before it has slept");
  cr_assert_gt(seen.last[1], seen.first[0], "it eats again in the morning");
  cr_assert_gt(seen.last[3], seen.first[0], "and works again");
}

/* Updates that come late tell of several things, in the order in which these happened. */
Test(townsfolk, the_log_is_in_order_when_updates_are_rare) {
  lines seen = watch_days("Bruno of Ashford", 1, 25000);
  cr_assert(seen.in_order, "time goes back in the log");
  cr_assert_geq(seen.counts[1], 2);
  cr_assert_geq(seen.counts[3], 5);
}

static void keep_clock(const char *text, void *user) {
  if (strncmp(text, "day 1 0", 7) == 0) strncat(user, text + 6, 5);
}

Test(townsfolk, what_an_update_tells_of_is_put_in_order) {
  char clocks[64] = "";
  lines seen = {0};
  SCOPED(scene_close) struct scene scene = town_open(98, 1, AMPLE_NS);
  struct folk *folk = scene.instance;
  folk_self self;
  folk_face face;
  folk_mind mind = {.self = &self, .town = &folk->towns[0], .journal = &folk->journal};
  cr_assert_eq(scene.module->watch(scene.instance, scene.world, "Anna", take_line, &seen), MUSTER_OK);
  folk_make(&folk->towns[0], 0, &self, &face);
  folk_note(&mind, FOLK_ENTRY_EVENT, 50 * FOLK_MINUTE_NS, FOLK_GREETED, FOLK_NOBODY, 0.0f);
  folk_note(&mind, FOLK_ENTRY_DONE, 20 * FOLK_MINUTE_NS, FOLK_REST, FOLK_NOBODY, 0.0f);
  scene.module->watched(scene.instance, scene.world, keep_clock, clocks);
  cr_assert_str_eq(clocks, "06:2006:50");
}

Test(townsfolk, watching_changes_nothing) {
  uint64_t hashes[2];
  for (uint32_t i = 0; i < 2; i++) {
    lines seen = {0};
    SCOPED(scene_close) struct scene scene = town_open(98, 1, AMPLE_NS);
    if (i) cr_assert_eq(scene.module->watch(scene.instance, scene.world, "Clara", take_line, &seen), MUSTER_OK);
    scene_frames(&scene, 300);
    hashes[i] = muster_world_hash(scene.world);
  }
  cr_assert_eq(hashes[0], hashes[1]);
}

Test(townsfolk, who_is_nobody_cannot_be_watched_and_names_are_given_that_can) {
  lines seen = {0};
  SCOPED(scene_close) struct scene scene = town_open(98, 1, AMPLE_NS);
  cr_assert_eq(scene.module->watch(scene.instance, scene.world, "Gandalf", take_line, &seen), MUSTER_E_ARGUMENT);
  cr_assert_not_null(strstr(muster_last_error(), "nobody is called 'Gandalf'"), "%s", muster_last_error());
  cr_assert_not_null(strstr(muster_last_error(), "'Anna of Ashford'"), "%s", muster_last_error());
  cr_assert_eq(seen.count, 0);
}

/* ---------------------------------------------------------------------------------------------------------- options */

Test(townsfolk, refuses_options_that_make_no_sense_and_says_why) {
  scene_check_refusals(muster_module_townsfolk());
  scene_refuses(muster_module_townsfolk(), scene_options(1, 1), MUSTER_E_ARGUMENT, "1 agent is no town");
}

Test(townsfolk, any_number_of_agents_lives_in_towns_with_a_hall_each) {
  static const uint32_t agents[] = {2, 3, 48, 49, 50, 51, 98, 99, 100, 147, 148};
  for (uint32_t i = 0; i < COUNT_OF(agents); i++) {
    SCOPED(scene_close) struct scene scene = town_open(agents[i], 1, AMPLE_NS);
    scene_frames(&scene, 3);
    cr_assert_eq(scene.agents_max, agents[i]);
    cr_assert_eq(figure(&scene, "people") + figure(&scene, "towns"), agents[i]);
  }
}
