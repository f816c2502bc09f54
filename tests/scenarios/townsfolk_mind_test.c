/* What desires, emotions and events make of decisions; what levels leave out. */
#include "examples/worlds/townsfolk.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <math.h>

/* Eight in the evening of the first day, when nothing must be done. */
#define EVENING_NS (14 * FOLK_HOUR_NS)
#define NOON_NS    (6 * FOLK_HOUR_NS + FOLK_HOUR_NS / 4)

static struct folk scenario = {.base.seed = 1};
static folk_town town = {.folk = &scenario, .people = FOLK_TOWN_PEOPLE};

/* A townsman at the market that owes nothing, has coins and bread, loves one other and dislikes another, and values all
 * desires alike. */
static folk_self somebody(void) {
  folk_self one;
  folk_face face;
  folk_make(&town, 1, &one, &face);
  for (uint32_t i = 0; i < FOLK_DESIRES; i++) one.desires[i] = 0.3f;
  for (uint32_t i = 0; i < FOLK_RELATIONS; i++) one.relations[i] = (folk_relation){.who = FOLK_NOBODY};
  one.relations[0] = (folk_relation){.who = 0, .liking = 70, .bonds = FOLK_FAMILY_BOND | FOLK_LOVE_BOND};
  one.relations[1] = (folk_relation){.who = 20, .liking = -40};
  one.coins = 40;
  one.bread = 2;
  one.place = FOLK_MARKET;
  one.shift_minutes = 0;
  one.hunger = one.sleep_owed = one.work_owed = 0.0f;
  one.lived_ns = one.felt_ns = EVENING_NS;
  folk_spot(&one, FOLK_MARKET, &one.x, &one.y);
  return one;
}

static folk_self self;
static folk_mind mind; /* of self */

static void begin_at(uint32_t level) {
  self = somebody();
  mind = (folk_mind){.self = &self, .town = &town, .level = level, .random = 77};
}

static void begin(void) {
  begin_at(0);
}

TestSuite(townsfolk_mind, .init = begin);

/* What it would decide, and is not left with. */
static uint32_t goal_at(uint32_t level) {
  folk_self other = self;
  folk_mind of_other = {.self = &other, .town = &town, .level = level, .random = 77};
  other.plan.at = other.plan.count = 0;
  folk_decide(&of_other);
  return other.goal;
}

static bool plans(uint32_t action) {
  return memchr(self.plan.steps, (int)action, self.plan.count) != NULL;
}

/* ---------------------------------------------------------------------------------------------------------- desires */

Test(townsfolk_mind, each_of_the_sixteen_desires_decides_when_it_is_strong_and_not_when_it_is_weak) {
  for (uint32_t desire = 0; desire < FOLK_DESIRES; desire++) {
    self = CHANGED(somebody(), it.desires[desire] = 1.0f);
    cr_assert_eq(goal_at(0), FOLK_WISH(desire), "strong, and wants to %s instead of to %s", folk_goal_words(goal_at(0)),
                 folk_goal_words(FOLK_WISH(desire)));
    self.desires[desire] = 0.0f;
    cr_assert_neq(goal_at(0), FOLK_WISH(desire), "wants to %s all the same", folk_goal_words(FOLK_WISH(desire)));
  }
}

Test(townsfolk_mind, a_desire_that_was_just_satisfied_is_none) {
  for (uint32_t desire = 0; desire < FOLK_DESIRES; desire++) {
    self = CHANGED(somebody(), it.desires[desire] = 1.0f,
                   it.satisfied[desire] = (uint32_t)(EVENING_NS / FOLK_MINUTE_NS) - 5);
    cr_assert_neq(goal_at(0), FOLK_WISH(desire), "wants to %s again", folk_goal_words(FOLK_WISH(desire)));
  }
}

Test(townsfolk_mind, desires_choose_among_ways_to_the_same_goal) {
  self.coins = self.bread = 0;
  self.hunger = 1.0f;
  self.lived_ns = self.felt_ns = NOON_NS;
  self.desires[FOLK_HONOUR] = self.desires[FOLK_STATUS] = 0.0f;
  folk_decide(&mind);
  cr_assert_eq(self.goal, FOLK_EAT);
  cr_assert(plans(FOLK_EAT_ALMS), "not too proud for the poor's table");
  self.desires[FOLK_HONOUR] = self.desires[FOLK_STATUS] = self.desires[FOLK_EXERCISE] = 1.0f;
  self.plan.count = self.plan.at = 0;
  folk_decide(&mind);
  cr_assert_eq(self.goal, FOLK_EAT);
  cr_assert(plans(FOLK_CUT_WOOD) && plans(FOLK_SELL_WOOD) && plans(FOLK_EAT_OWN), "would rather work for it");
  cr_assert_geq(self.plan.count, 8);
}

Test(townsfolk_mind, fewer_desires_take_part_at_cheaper_levels) {
  static const int kept[FOLK_LEVELS] = {FOLK_DESIRES, 6, 3, 0};
  self.desires[FOLK_ORDER] = 0.9f;
  for (uint32_t level = 0; level < FOLK_LEVELS; level++) {
    uint32_t traits = folk_traits(&self, level);
    cr_assert_eq(__builtin_popcount(traits), kept[level]);
    cr_assert_eq(traits >> FOLK_ORDER & 1, level < 3);
  }
}

/* --------------------------------------------------------------------------------------------------------- emotions */

Test(townsfolk_mind, each_of_the_six_emotions_changes_what_is_wanted) {
  static const uint32_t wanted[FOLK_EMOTIONS] = {
      [FOLK_ANGER] = FOLK_WISH(FOLK_VENGEANCE),   [FOLK_DISGUST] = FOLK_WISH(FOLK_ORDER),
      [FOLK_FEAR] = FOLK_WISH(FOLK_TRANQUILLITY), [FOLK_HAPPINESS] = FOLK_WISH(FOLK_IDEALISM),
      [FOLK_SADNESS] = FOLK_WISH(FOLK_FAMILY),    [FOLK_SURPRISE] = FOLK_WISH(FOLK_CURIOSITY)};
  for (uint32_t emotion = 0; emotion < FOLK_EMOTIONS; emotion++) {
    self = somebody();
    self.desires[wanted[emotion] - FOLK_WISHES] = 0.15f;
    cr_assert_neq(goal_at(0), wanted[emotion], "wants to %s when calm", folk_goal_words(wanted[emotion]));
    self.emotions[emotion] = 1.0f;
    cr_assert_eq(goal_at(0), wanted[emotion], "wants to %s instead of to %s", folk_goal_words(goal_at(0)),
                 folk_goal_words(wanted[emotion]));
  }
}

Test(townsfolk_mind, fear_comes_before_work_and_does_not_pay_it_off) {
  self.lived_ns = self.felt_ns = 4 * FOLK_HOUR_NS;
  self.work_owed = 4.0f;
  cr_assert_eq(goal_at(0), FOLK_WORK);
  self.emotions[FOLK_FEAR] = 1.0f;
  cr_assert_eq(goal_at(0), FOLK_WISH(FOLK_TRANQUILLITY));
}

Test(townsfolk_mind, emotions_fade_with_time_however_often_that_is_looked_at) {
  folk_self often = somebody(), once = somebody();
  often.emotions[FOLK_ANGER] = once.emotions[FOLK_ANGER] = 1.0f;
  for (uint32_t i = 1; i <= 400; i++) folk_feel_until(&often, EVENING_NS + i * FOLK_MINUTE_NS / 5);
  folk_feel_until(&once, EVENING_NS + 80 * FOLK_MINUTE_NS);
  cr_assert_float_eq(often.emotions[FOLK_ANGER], once.emotions[FOLK_ANGER], 1e-3f);
  cr_assert_float_eq(once.emotions[FOLK_ANGER], 0.25f, 1e-3f);
}

/* --------------------------------------------------------------------------------------------- appraisal and coping */

Test(townsfolk_mind, every_event_moves_an_emotion_and_matters_more_to_those_whose_desires_it_touches) {
  for (uint32_t event = 0; event < FOLK_EVENTS; event++) {
    float felt[2] = {0};
    for (uint32_t strong = 0; strong < 2; strong++) {
      begin_at(0);
      for (uint32_t i = 0; i < FOLK_DESIRES; i++) self.desires[i] = strong ? 0.9f : 0.1f;
      folk_appraise(&mind, (folk_event)event, 0.5f, 5, EVENING_NS);
      for (uint32_t i = 0; i < FOLK_EMOTIONS; i++) felt[strong] += self.emotions[i];
    }
    cr_assert_gt(felt[0], 0.0f, "event %u leaves one cold", event);
    cr_assert_gt(felt[1], felt[0] * 1.2f, "event %u", event);
  }
}

Test(townsfolk_mind, an_insult_costs_liking_and_who_is_vengeful_faces_it_while_who_wants_peace_withdraws) {
  for (uint32_t vengeful = 0; vengeful < 2; vengeful++) {
    begin_at(0);
    self.desires[vengeful ? FOLK_VENGEANCE : FOLK_TRANQUILLITY] = 0.9f;
    folk_appraise(&mind, FOLK_INSULTED, 0.9f, 7, EVENING_NS);
    cr_assert_not_null(folk_relation_to(&self, 7), "who insults is remembered");
    cr_assert_lt(folk_relation_to(&self, 7)->liking, -15);
    cr_assert_eq(self.urge_goal, FOLK_WISH(vengeful ? FOLK_VENGEANCE : FOLK_TRANQUILLITY));
    cr_assert_eq(folk_strongest(&self), FOLK_ANGER);
    self.desires[vengeful ? FOLK_VENGEANCE : FOLK_TRANQUILLITY] = 0.3f;
    self.emotions[FOLK_ANGER] = 0.2f;
    cr_assert_eq(goal_at(0), self.urge_goal, "coping leaves an urge");
  }
}

Test(townsfolk_mind, a_quarrel_is_regretted_and_made_up_for) {
  self.desires[FOLK_ACCEPTANCE] = 0.6f;
  self.emotions[FOLK_ANGER] = 0.9f;
  folk_do(&mind, FOLK_CONFRONT);
  cr_assert_eq(self.quarrels, 1);
  cr_assert_lt(self.emotions[FOLK_ANGER], 0.3f, "it relieves");
  cr_assert(self.relations[1].bonds & FOLK_WRONGED_BOND);
  cr_assert_eq(goal_at(0), FOLK_WISH(FOLK_ACCEPTANCE));
  self.items |= FOLK_HAS_FLOWERS;
  folk_do(&mind, FOLK_APOLOGISE);
  cr_assert_eq(self.amends, 1);
  cr_assert_not(self.relations[1].bonds & FOLK_WRONGED_BOND);
  cr_assert_geq(self.relations[1].liking, 10, "they are no rivals any more");
  cr_assert_not(self.items & FOLK_HAS_FLOWERS);
}

Test(townsfolk_mind, cheaper_levels_cope_with_critical_events_only) {
  static const float severities[] = {0.3f, 0.9f};
  static const bool copes[2][FOLK_LEVELS] = {{true, false, false, false}, {true, true, true, false}};
  for (uint32_t i = 0; i < 2; i++)
    for (uint32_t level = 0; level < FOLK_LEVELS; level++) {
      begin_at(level);
      self.desires[FOLK_TRANQUILLITY] = self.desires[FOLK_FAMILY] = 0.9f;
      folk_appraise(&mind, FOLK_WOLVES, severities[i], FOLK_NOBODY, EVENING_NS);
      cr_assert_eq(self.urge_goal != FOLK_NO_GOAL, copes[i][level], "severity %g at level %u", (double)severities[i],
                   level);
    }
}

/* --------------------------------------------------------------------------------------------------- level by level */

Test(townsfolk_mind, duties_come_first_at_every_level) {
  for (uint32_t level = 0; level < FOLK_LEVELS; level++) {
    self = CHANGED(somebody(), it.desires[FOLK_CURIOSITY] = 1.0f, it.sleep_owed = 6.0f);
    self.lived_ns = self.felt_ns = 17 * FOLK_HOUR_NS; /* eleven at night */
    cr_assert_eq(goal_at(level), FOLK_SLEEP, "level %u", level);
    self.lived_ns = self.felt_ns = NOON_NS;
    self.hunger = 0.8f;
    self.work_owed = 4.0f;
    cr_assert_eq(goal_at(level), FOLK_EAT, "level %u", level);
    self.hunger = 0.0f;
    cr_assert_eq(goal_at(level), FOLK_WORK, "level %u", level);
  }
}

/* What the poor do when all known plans cost coins. */
Test(townsfolk_mind, only_those_who_search_find_what_no_known_plan_reaches) {
  bool found[FOLK_LEVELS] = {false};
  for (uint32_t level = 0; level < FOLK_LEVELS; level++) {
    begin_at(level);
    self.coins = self.bread = 0;
    self.desires[FOLK_EATING] = 1.0f;
    for (uint32_t i = 0; i < FOLK_DESIRES; i++)
      if (i != FOLK_EATING) self.desires[i] = 0.0f;
    for (uint32_t i = 0; i < 8 && !found[level]; i++) {
      self.plan.at = self.plan.count = 0;
      self.lived_ns += 10 * FOLK_MINUTE_NS;
      folk_decide(&mind);
      found[level] = self.goal == FOLK_WISH(FOLK_EATING) && self.plan.count >= 4;
    }
  }
  cr_assert(found[0], "level 0 does not plan");
  cr_assert(found[1], "level 1 does not plan over updates");
  cr_assert_not(found[2]);
  cr_assert_not(found[3]);
}

static uint32_t effort_of(uint32_t level) {
  begin_at(level);
  folk_live_until(&mind, EVENING_NS + FOLK_DAY_NS / 2880);
  for (uint32_t i = 1; i < 2880; i++) {
    folk_live_until(&mind, EVENING_NS + i * FOLK_DAY_NS / 2880);
    self.gift_to = FOLK_NOBODY;
  }
  return self.effort[level];
}

Test(townsfolk_mind, levels_reason_less_and_less_in_a_day_of_equal_updates) {
  uint32_t effort[FOLK_LEVELS];
  for (uint32_t level = 0; level < FOLK_LEVELS; level++) effort[level] = effort_of(level);
  cr_log_info("%u %u %u %u", effort[0], effort[1], effort[2], effort[3]);
  cr_assert(effort[0] > effort[1] && effort[1] > effort[2] && effort[2] > effort[3], "%u %u %u %u", effort[0],
            effort[1], effort[2], effort[3]);
  cr_assert_geq(effort[0], 20 * effort[3]);
}

/* -------------------------------------------------------------------------------------------------- time and levels */

typedef struct two_days {
  uint32_t meals, hours;
  float owed;
} two_days;

static two_days live(uint32_t level, uint64_t step_ns) {
  begin_at(level);
  for (uint64_t now_ns = EVENING_NS; now_ns <= EVENING_NS + 4 * FOLK_DAY_NS; now_ns += step_ns) {
    folk_live_until(&mind, now_ns);
    self.gift_to = FOLK_NOBODY;
  }
  return (two_days){self.meals, self.hours, self.hunger};
}

Test(townsfolk_mind, four_days_hold_as_many_meals_and_hours_of_work_at_any_level_and_rate) {
  for (uint32_t level = 0; level < FOLK_LEVELS; level++)
    for (uint64_t step_ns = FOLK_MINUTE_NS / 2; step_ns <= 50 * FOLK_MINUTE_NS; step_ns *= 10) {
      two_days days = live(level, step_ns);
      cr_assert(days.meals >= 11 && days.meals <= 13, "%u meals at level %u", days.meals, level);
      cr_assert(days.hours >= 29 && days.hours <= 33, "%u hours at level %u", days.hours, level);
    }
}

Test(townsfolk_mind, who_goes_down_and_up_again_keeps_its_plan_and_lives_the_time_between) {
  self.desires[FOLK_POWER] = 1.0f;
  folk_live_until(&mind, EVENING_NS + FOLK_MINUTE_NS);
  cr_assert_eq(self.goal, FOLK_WISH(FOLK_POWER));
  folk_plan plan = self.plan;
  mind.level = 3;
  folk_live_until(&mind, EVENING_NS + 30 * FOLK_MINUTE_NS);
  cr_assert_eq(self.goal, FOLK_WISH(FOLK_POWER));
  cr_assert_eq(self.plan.at, plan.at, "nothing is done meanwhile");
  cr_assert_eq(self.lived_ns, EVENING_NS + FOLK_MINUTE_NS);
  mind.level = 0;
  folk_live_until(&mind, EVENING_NS + 31 * FOLK_MINUTE_NS);
  cr_assert_eq(self.lived_ns, EVENING_NS + 31 * FOLK_MINUTE_NS);
  cr_assert_eq(self.goal, FOLK_WISH(FOLK_POWER));
  cr_assert_eq(memcmp(self.plan.steps, plan.steps, plan.count), 0);
  cr_assert_gt(self.plan.at, plan.at, "the time between was lived");
  cr_assert_eq(self.desires[FOLK_POWER], 1.0f);
}

Test(townsfolk_mind, bread_that_is_believed_sold_out_is_not_planned_for) {
  folk_hall_face market = {.stock = {[FOLK_BREAD] = 0, [FOLK_ALE] = 10}};
  self.bread = 0;
  self.hunger = 1.0f;
  self.lived_ns = self.felt_ns = NOON_NS;
  folk_decide(&mind);
  cr_assert(self.goal == FOLK_EAT && (plans(FOLK_BUY_BREAD) || plans(FOLK_EAT_AT_INN)));
  mind.market = &market;
  self.plan.at = self.plan.count = 0;
  folk_decide(&mind);
  cr_assert(self.goal == FOLK_EAT && !plans(FOLK_BUY_BREAD) && !plans(FOLK_EAT_AT_INN));
}
