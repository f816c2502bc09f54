/* What a character wants: facts, the worth of goals, and what actions cost it. */
#include "townsfolk.h"

#include <math.h>

static const float urge_worth = 0.9f;
static const float whim = 0.08f;
static const float half_need_minutes = 7.0f * 60.0f; /* until a satisfied desire is back at half its strength */

enum { COINS_FOR_ANY = 10, NEWS_LAST_MINUTES = 180, RIVAL_LIKING = -15 };

/* How an emotion changes a goal's worth. */
typedef struct emotional_bend {
  uint8_t emotion, goal;
  float by;
} emotional_bend;

static const emotional_bend bends[] = {
    {FOLK_ANGER, FOLK_WISH(FOLK_VENGEANCE), 1.0f},      {FOLK_ANGER, FOLK_WISH(FOLK_EXERCISE), 0.5f},
    {FOLK_ANGER, FOLK_WISH(FOLK_ACCEPTANCE), -0.5f},    {FOLK_DISGUST, FOLK_WISH(FOLK_ORDER), 1.0f},
    {FOLK_DISGUST, FOLK_WISH(FOLK_EATING), -1.0f},      {FOLK_DISGUST, FOLK_WISH(FOLK_SOCIAL_CONTACT), -0.3f},
    {FOLK_FEAR, FOLK_WISH(FOLK_TRANQUILLITY), 1.2f},    {FOLK_FEAR, FOLK_WORK, -0.8f},
    {FOLK_FEAR, FOLK_WISH(FOLK_INDEPENDENCE), -0.8f},   {FOLK_FEAR, FOLK_WISH(FOLK_CURIOSITY), -0.5f},
    {FOLK_HAPPINESS, FOLK_WISH(FOLK_IDEALISM), 0.6f},   {FOLK_HAPPINESS, FOLK_WISH(FOLK_ROMANCE), 0.5f},
    {FOLK_HAPPINESS, FOLK_WISH(FOLK_VENGEANCE), -0.7f}, {FOLK_SADNESS, FOLK_WISH(FOLK_FAMILY), 0.9f},
    {FOLK_SADNESS, FOLK_WISH(FOLK_STATUS), -0.7f},      {FOLK_SADNESS, FOLK_WISH(FOLK_EATING), -0.3f},
    {FOLK_SURPRISE, FOLK_WISH(FOLK_CURIOSITY), 1.0f},   {FOLK_SURPRISE, FOLK_WISH(FOLK_TRANQUILLITY), -0.3f},
};

enum { BENDS = sizeof bends / sizeof *bends };

/* ------------------------------------------------------------------------------------------------------------ facts */

static uint64_t facts_of_relations(const folk_self *self) {
  uint64_t facts = 0;
  for (uint32_t i = 0; i < FOLK_RELATIONS; i++) {
    const folk_relation *relation = &self->relations[i];
    if (relation->who == FOLK_NOBODY) continue;
    if (relation->liking <= RIVAL_LIKING) facts |= FOLK_HAS_RIVAL;
    if (relation->bonds & FOLK_LOVE_BOND) facts |= FOLK_HAS_BELOVED;
    if (relation->bonds & FOLK_WRONGED_BOND) facts |= FOLK_HAS_WRONGED;
  }
  return facts;
}

uint64_t folk_facts(const folk_mind *mind) {
  const folk_self *self = mind->self;
  uint64_t facts = self->items | facts_of_relations(self);
  uint32_t minute = (uint32_t)(self->lived_ns / FOLK_MINUTE_NS), heard = self->satisfied[FOLK_CURIOSITY];
  if (self->place < FOLK_PLACES) facts |= FOLK_AT(self->place);
  if (self->bread) facts |= FOLK_HAS_BREAD;
  if (self->wood) facts |= FOLK_HAS_WOOD;
  if (self->coins >= COINS_FOR_ANY) facts |= FOLK_HAS_COINS;
  if (self->coins >= 2 * COINS_FOR_ANY) facts |= FOLK_HAS_PLENTY;
  if (heard && minute - heard < NEWS_LAST_MINUTES) facts |= FOLK_SATISFIED(FOLK_CURIOSITY);
  return facts;
}

/* --------------------------------------------------------------------------------------------------- worth of goals */

static bool between(uint32_t minute, uint32_t from_hour, uint32_t to_hour) {
  return minute >= from_hour * 60 && minute < to_hour * 60;
}

static bool is_meal_time(uint32_t minute) {
  return (minute >= 390 && minute < 540) || (minute >= 720 && minute < 810) || between(minute, 18, 20);
}

/* Duties come before wishes, in their hours: sleep, then meals, then work. */
static void weigh_duties(const folk_self *self, uint32_t minute, float worth[FOLK_GOALS]) {
  bool night = !between(minute, 6, 22);
  worth[FOLK_SLEEP] = worth[FOLK_EAT] = worth[FOLK_WORK] = -1.0f;
  if (night && self->sleep_owed > 0.3f) worth[FOLK_SLEEP] = 4.0f;
  if (!night && self->sleep_owed > 9.0f) worth[FOLK_SLEEP] = 2.2f;
  if (!night && is_meal_time(minute) && self->hunger > 0.3f) worth[FOLK_EAT] = 2.6f + 0.5f * fminf(self->hunger, 2.0f);
  if (self->hunger > 1.5f) worth[FOLK_EAT] = 2.8f + 0.5f * fminf(self->hunger, 2.0f);
  bool late = self->work_owed > 8.0f && between(minute, 8, 21);
  if (self->work_owed > 0.4f && (late || (minute >= 480 && minute < 1110)))
    worth[FOLK_WORK] = 1.5f + 0.04f * fminf(self->work_owed, 10.0f);
}

static float need_of(const folk_self *self, uint32_t desire) {
  uint32_t minute = (uint32_t)(self->lived_ns / FOLK_MINUTE_NS), last = self->satisfied[desire];
  if (last == 0) return 1.0f;
  float minutes = (float)(minute - last);
  return minutes / (minutes + half_need_minutes);
}

/* Wishes that need a fact that no plan can bring. */
static bool is_possible(uint32_t desire, uint64_t facts) {
  if (desire == FOLK_VENGEANCE) return facts & FOLK_HAS_RIVAL;
  if (desire == FOLK_ROMANCE) return facts & FOLK_HAS_BELOVED;
  return true;
}

static void weigh_wishes(folk_mind *mind, uint32_t traits, float worth[FOLK_GOALS]) {
  folk_self *self = mind->self;
  uint64_t facts = facts_of_relations(self), random = folk_random(mind);
  for (uint32_t left = traits; left; left &= left - 1) {
    uint32_t desire = (uint32_t)__builtin_ctz(left);
    float mood = whim * (float)(random >> desire * 3 & 7) / 7.0f;
    self->effort[mind->level]++;
    if (is_possible(desire, facts)) worth[FOLK_WISH(desire)] = self->desires[desire] * need_of(self, desire) + mood;
  }
}

static void bend(folk_mind *mind, float worth[FOLK_GOALS]) {
  folk_self *self = mind->self;
  for (uint32_t i = 0; i < BENDS; i++) {
    float *bent = &worth[bends[i].goal];
    if (*bent >= 0.0f) *bent = fmaxf(*bent + bends[i].by * self->emotions[bends[i].emotion], 0.0f);
  }
  self->effort[mind->level] += BENDS;
}

void folk_weigh(folk_mind *mind, float worth[FOLK_GOALS]) {
  folk_self *self = mind->self;
  uint32_t minute = folk_own_minute(self, self->lived_ns), traits = folk_traits(self, mind->level);
  weigh_duties(self, minute, worth);
  for (uint32_t goal = FOLK_WISHES; goal < FOLK_GOALS; goal++) worth[goal] = -1.0f;
  if (traits == 0 || !between(minute, 6, 22)) return;
  weigh_wishes(mind, traits, worth);
  if (self->urge_goal < FOLK_GOALS && self->lived_ns < self->urge_until_ns &&
      is_possible(self->urge_goal - FOLK_WISHES, facts_of_relations(self)))
    worth[self->urge_goal] = fmaxf(worth[self->urge_goal], 0.0f) + urge_worth * self->urge;
  folk_feel_until(self, self->lived_ns);
  bend(mind, worth);
}

/* --------------------------------------------------------------------------------------------------------- problems */

static uint32_t townsfolk_wish_cost_of(const folk_self *self, uint32_t action) {
  const folk_deed *deed = folk_deed_of(action);
  const float *desires = self->desires;
  float bother = (float)deed->bother;
  switch (action) {
  case FOLK_EAT_ALMS:
    bother *= 0.4f + desires[FOLK_HONOUR] + desires[FOLK_STATUS];
    break;
  case FOLK_EAT_AT_INN:
    bother *= 2.0f * (1.0f - desires[FOLK_EATING]) + 6.0f * self->emotions[FOLK_DISGUST];
    break;
  case FOLK_JOIN_IN:
    bother *= 1.5f - desires[FOLK_SOCIAL_CONTACT];
    break;
  case FOLK_CUT_WOOD:
    bother *= 2.0f * (1.0f - desires[FOLK_EXERCISE]);
    break;
  default:
    break;
  }
  float minutes = (float)deed->minutes + bother + (float)deed->coins * (0.5f + 2.0f * desires[FOLK_SAVING]);
  return (uint32_t)fminf(fmaxf(minutes, 1.0f), 250.0f);
}

void folk_pose(const folk_mind *mind, folk_problem *problem) {
  const folk_self *self = mind->self;
  problem->facts = folk_facts(mind);
  problem->workplace = folk_workplace(self->role);
  problem->rich = problem->facts & FOLK_HAS_PLENTY;
  problem->blocked = 0;
  if (mind->market && mind->market->stock[FOLK_BREAD] <= 0)
    problem->blocked |= 1ull << FOLK_BUY_BREAD | 1ull << FOLK_EAT_AT_INN;
  if (mind->market && mind->market->stock[FOLK_ALE] <= 0)
    problem->blocked |= 1ull << FOLK_FEAST | 1ull << FOLK_CHAT_AT_INN;
  for (uint32_t action = 0; action < FOLK_ACTIONS; action++)
    problem->costs[action] = (uint8_t)townsfolk_wish_cost_of(self, action);
}
