/* What actions do, and what time does meanwhile. */
#include "townsfolk.h"

#include <math.h>

static const float pace_m_per_minute = 3.0f;
static const float day_h = 24.0f, sleep_per_day_h = 8.0f, meals_per_day = 3.0f;

enum { TAX_FREE = 60, TAX_SHARE = 4, GIFT_LOAVES = 1 };

/* Hours of work owed per day, and coins per hour worked. */
static const float work_per_day_h[FOLK_ROLES] = {8, 8, 8, 8, 8, 8, 4, 4};
static const int32_t coins_per_hour[FOLK_ROLES] = {3, 3, 3, 3, 3, 3, 5, 5};

/* -------------------------------------------------------------------------------------------------------- durations */

static uint64_t minutes_ns(float minutes) {
  return (uint64_t)(minutes * 1000.0f) * (FOLK_MINUTE_NS / 1000);
}

/* At least ten minutes. A debt goes on growing while it is paid off. */
static float minutes_to_pay(float owed_h, float per_day_h, float most) {
  return fminf(fmaxf(owed_h / (1.0f - per_day_h / day_h) * 60.0f, 10.0f), most);
}

static float walk_minutes(const folk_self *self, uint32_t place) {
  float x, y;
  if (self->place == place) return 0.0f;
  folk_spot(self, place, &x, &y);
  return hypotf(x - self->x, y - self->y) / pace_m_per_minute;
}

uint64_t folk_duration_ns(const folk_self *self, uint32_t action) {
  float minutes = (float)folk_deed_of(action)->minutes;
  if (action < FOLK_GO + FOLK_PLACES) minutes = walk_minutes(self, action - FOLK_GO);
  if (action == FOLK_DO_SLEEP) minutes = minutes_to_pay(self->sleep_owed, sleep_per_day_h, minutes);
  if (action == FOLK_DO_WORK) minutes = minutes_to_pay(self->work_owed, work_per_day_h[self->role], minutes);
  return minutes_ns(minutes);
}

/* ------------------------------------------------------------------------------------------------------ time passes */

static void pay(folk_self *self, int32_t coins) {
  self->coins -= coins;
  self->due_coins += coins;
}

static void pay_wages(folk_mind *mind) {
  folk_self *self = mind->self;
  int32_t wage = coins_per_hour[self->role];
  while (self->worked >= 1.0f) {
    self->worked -= 1.0f;
    pay(self, -wage);
    self->wages += (uint32_t)wage;
    self->hours++;
    self->due_hours++;
    folk_note(mind, FOLK_ENTRY_PAID, self->lived_ns, self->role, FOLK_NOBODY, (float)wage);
  }
}

/* At midnight the hall takes a part of the coins above what a character needs: so coins come back to it. */
static void pay_taxes(folk_self *self, uint64_t days) {
  for (; days > 0 && self->coins > TAX_FREE; days--) pay(self, (self->coins - TAX_FREE + TAX_SHARE - 1) / TAX_SHARE);
}

void folk_pass(folk_mind *mind, uint64_t to_ns) {
  folk_self *self = mind->self;
  if (to_ns <= self->lived_ns) return;
  float hours = (float)(to_ns - self->lived_ns) / (float)FOLK_HOUR_NS;
  uint64_t days = (to_ns + FOLK_DAWN_NS) / FOLK_DAY_NS - (self->lived_ns + FOLK_DAWN_NS) / FOLK_DAY_NS;
  self->hunger += hours * meals_per_day / day_h;
  self->sleep_owed += hours * sleep_per_day_h / day_h;
  self->work_owed += hours * work_per_day_h[self->role] / day_h;
  self->lived_ns = to_ns;
  pay_taxes(self, days);
  if (folk_under_way(self) == FOLK_DO_SLEEP) self->sleep_owed -= hours;
  if (folk_under_way(self) == FOLK_DO_WORK) {
    self->work_owed -= hours;
    self->worked += hours;
    pay_wages(mind);
  }
}

/* ----------------------------------------------------------------------------------------------------------- others */

void folk_tell(folk_mind *mind, uint32_t who, folk_event event, float severity) {
  if (!mind->update || who == FOLK_NOBODY || who >= mind->town->people) return;
  const folk_face *face = muster_update_published_of(mind->update, mind->town->members[who]);
  if (!face || face->action == FOLK_DO_SLEEP) return;
  folk_message message = {.event = (uint8_t)event, .from = mind->self->member, .severity = severity};
  muster_update_send(mind->update, mind->town->members[who], &message, sizeof message);
}

/* A character that it knows with one of these bonds, or any for `bonds` 0; FOLK_NOBODY when there is none. */
static uint32_t somebody(folk_mind *mind, uint32_t bonds) {
  const folk_self *self = mind->self;
  uint32_t first = (uint32_t)(folk_random(mind) % FOLK_RELATIONS);
  for (uint32_t i = 0; i < FOLK_RELATIONS; i++) {
    const folk_relation *relation = &self->relations[(first + i) % FOLK_RELATIONS];
    if (relation->who != FOLK_NOBODY && (bonds == 0 || relation->bonds & bonds)) return relation->who;
  }
  return FOLK_NOBODY;
}

static folk_relation *least_liked(folk_self *self) {
  folk_relation *least = &self->relations[0];
  for (uint32_t i = 1; i < FOLK_RELATIONS; i++)
    if (self->relations[i].who != FOLK_NOBODY && self->relations[i].liking < least->liking) least = &self->relations[i];
  return least;
}

/* A quarrel relieves; a character that wants to belong, or to be fair, regrets it. */
static void quarrel(folk_mind *mind) {
  folk_self *self = mind->self;
  folk_relation *rival = least_liked(self);
  folk_tell(mind, rival->who, FOLK_INSULTED, 0.8f);
  rival->liking = (int8_t)(rival->liking / 2);
  rival->bonds |= FOLK_WRONGED_BOND;
  self->emotions[FOLK_ANGER] *= 0.3f;
  self->quarrels++;
  if (self->desires[FOLK_ACCEPTANCE] + self->desires[FOLK_HONOUR] > 0.7f)
    folk_appraise(mind, FOLK_REGRET, 0.8f, FOLK_NOBODY, self->lived_ns);
}

static void apologise(folk_mind *mind) {
  folk_self *self = mind->self;
  for (uint32_t i = 0; i < FOLK_RELATIONS; i++) {
    folk_relation *relation = &self->relations[i];
    if (!(relation->bonds & FOLK_WRONGED_BOND)) continue;
    folk_tell(mind, relation->who, FOLK_APOLOGISED_TO, 0.9f);
    relation->bonds &= (uint8_t)~FOLK_WRONGED_BOND;
    if (relation->liking < 10) relation->liking = 10;
    self->amends++;
    return;
  }
}

static void give_bread(folk_mind *mind) {
  folk_self *self = mind->self;
  uint32_t who = somebody(mind, 0);
  if (who == FOLK_NOBODY) return;
  self->bread -= GIFT_LOAVES;
  self->gift_to = (uint16_t)who;
  self->gifts++;
  folk_tell(mind, who, FOLK_GIVEN, 0.9f);
}

/* --------------------------------------------------------------------------------------------------- what they do */

static void eat(folk_self *self) {
  self->hunger -= 1.0f;
  self->meals++;
}

static void trade(folk_self *self, uint32_t action) {
  switch (action) {
  case FOLK_EAT_OWN:
    self->bread--;
    eat(self);
    break;
  case FOLK_EAT_AT_INN:
  case FOLK_EAT_ALMS:
    self->due_bread++;
    eat(self);
    break;
  case FOLK_BUY_BREAD:
    self->bread += FOLK_BREAD_BOUGHT;
    self->due_bread += FOLK_BREAD_BOUGHT;
    break;
  case FOLK_CHAT_AT_INN:
  case FOLK_FEAST:
  case FOLK_SHOW_OFF:
    self->due_ale++;
    break;
  case FOLK_CUT_WOOD:
    self->wood++;
    break;
  case FOLK_SELL_WOOD: /* it goes into the ovens at once */
    self->wood--;
    pay(self, -12);
    break;
  case FOLK_SAVE:
    self->savings += folk_deed_of(action)->coins;
    self->due_coins -= folk_deed_of(action)->coins;
    break;
  default:
    break;
  }
}

static void meet(folk_mind *mind, uint32_t action) {
  switch (action) {
  case FOLK_CHAT_AT_INN:
  case FOLK_CHAT_AT_WELL:
    folk_tell(mind, somebody(mind, 0), FOLK_TALKED_TO, 0.6f);
    break;
  case FOLK_COURT:
    folk_tell(mind, somebody(mind, FOLK_LOVE_BOND), FOLK_COURTED, 0.9f);
    break;
  case FOLK_SPEAK_UP:
    folk_tell(mind, somebody(mind, 0), FOLK_ORDERED, 0.6f);
    break;
  case FOLK_SHOW_OFF:
    folk_tell(mind, somebody(mind, 0), FOLK_SHOWN_FINERY, 0.6f);
    break;
  case FOLK_PLAY:
    folk_tell(mind, somebody(mind, FOLK_FAMILY_BOND), FOLK_PLAYED_WITH, 0.7f);
    break;
  case FOLK_CONFRONT:
    quarrel(mind);
    break;
  case FOLK_APOLOGISE:
    apologise(mind);
    break;
  case FOLK_GIVE_BREAD:
    give_bread(mind);
    break;
  default:
    break;
  }
}

/* Which desires an action satisfies beside its goal's. */
static void satisfy(folk_self *self, uint32_t action) {
  uint32_t minute = (uint32_t)(self->lived_ns / FOLK_MINUTE_NS);
  uint64_t reached = folk_deed_of(action)->gives >> (40 + FOLK_WISHES);
  for (; reached; reached &= reached - 1) {
    uint32_t desire = (uint32_t)__builtin_ctzll(reached);
    self->satisfied[desire] = minute ? minute : 1;
    if (self->urge_goal == FOLK_WISH(desire)) self->urge_goal = FOLK_NO_GOAL;
  }
}

void folk_do(folk_mind *mind, uint32_t action) {
  folk_self *self = mind->self;
  const folk_deed *deed = folk_deed_of(action);
  if (action < FOLK_GO + FOLK_PLACES) {
    self->place = (uint8_t)(action - FOLK_GO);
    folk_spot(self, self->place, &self->x, &self->y);
    return;
  }
  self->items = (self->items & ~deed->takes) | (deed->gives & FOLK_ITEMS);
  if (action == FOLK_SELL_WOOD) self->items &= ~FOLK_HAS_AXE; /* and the axe goes back to the smithy */
  if (deed->coins) pay(self, deed->coins);
  trade(self, action);
  satisfy(self, action);
  meet(mind, action);
}
