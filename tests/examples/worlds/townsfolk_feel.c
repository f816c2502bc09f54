/* The effects of an event on a character: emotions, relations, and coping. */
#include "townsfolk.h"

#include <math.h>
#include <stdlib.h>

static const float half_life_s = 40.0f; /* of an emotion: 40 minutes of the town */
static const float whisper = 0.12f;
static const float worth_coping = 0.2f; /* impact */

/* The meaning of an event: the emotions that it stirs when it is severe, how liking for its cause changes, and which
 * desires it touches. It matters more to characters that have these desires. */
typedef struct event_meaning {
  const char *words;          /* as in "it ..." */
  float stirs[FOLK_EMOTIONS]; /* anger, disgust, fear, happiness, sadness, surprise */
  int8_t liking;
  uint32_t desires;
} event_meaning;

#define TOUCHES(desire) (1u << (desire))

static const event_meaning meanings[FOLK_EVENTS] = {
    [FOLK_GREETED] = {"is greeted", {0, 0, 0, 0.3f, 0, 0}, 2, TOUCHES(FOLK_SOCIAL_CONTACT) | TOUCHES(FOLK_ACCEPTANCE)},
    [FOLK_TALKED_TO] = {"has a chat", {0, 0, 0, 0.5f, 0, 0}, 5, TOUCHES(FOLK_SOCIAL_CONTACT) | TOUCHES(FOLK_CURIOSITY)},
    [FOLK_INSULTED] = {"is insulted",
                       {0.9f, 0, 0.1f, 0, 0.3f, 0.2f},
                       -25,
                       TOUCHES(FOLK_HONOUR) | TOUCHES(FOLK_STATUS) | TOUCHES(FOLK_VENGEANCE)},
    [FOLK_GIVEN] = {"is given bread", {0, 0, 0, 0.8f, 0, 0.2f}, 20, TOUCHES(FOLK_ACCEPTANCE) | TOUCHES(FOLK_EATING)},
    [FOLK_COURTED] = {"is given flowers", {0, 0, 0, 0.9f, 0, 0.1f}, 8, TOUCHES(FOLK_ROMANCE)},
    [FOLK_APOLOGISED_TO] = {"is asked for forgiveness",
                            {-0.8f, 0, 0, 0.5f, 0, 0.2f},
                            35,
                            TOUCHES(FOLK_ACCEPTANCE) | TOUCHES(FOLK_HONOUR)},
    [FOLK_PLAYED_WITH] = {"plays", {0, 0, 0, 0.7f, -0.4f, 0}, 6, TOUCHES(FOLK_FAMILY)},
    [FOLK_ORDERED] = {"is told what to do",
                      {0.5f, 0, 0.1f, 0, 0, 0},
                      -6,
                      TOUCHES(FOLK_INDEPENDENCE) | TOUCHES(FOLK_POWER)},
    [FOLK_SHOWN_FINERY] = {"is shown finery",
                           {0.1f, 0.4f, 0, 0, 0.4f, 0.2f},
                           -3,
                           TOUCHES(FOLK_STATUS) | TOUCHES(FOLK_IDEALISM)},
    [FOLK_MET_FRIEND] = {"meets a friend",
                         {0, 0, 0, 0.4f, -0.1f, 0},
                         1,
                         TOUCHES(FOLK_SOCIAL_CONTACT) | TOUCHES(FOLK_FAMILY)},
    [FOLK_MET_RIVAL] = {"sees somebody it dislikes", {0.6f, 0.1f, 0.1f, 0, 0, 0}, 0, TOUCHES(FOLK_VENGEANCE)},
    [FOLK_WOLVES] = {"hears that wolves are at the gate",
                     {0, 0, 1.0f, 0, 0, 0.3f},
                     0,
                     TOUCHES(FOLK_TRANQUILLITY) | TOUCHES(FOLK_FAMILY)},
    [FOLK_STRANGERS] = {"sees strangers arrive", {0, 0, 0.1f, 0, 0, 0.9f}, 0, TOUCHES(FOLK_CURIOSITY)},
    [FOLK_MINSTRELS] = {"hears minstrels play",
                        {0, 0, 0, 0.9f, -0.2f, 0.2f},
                        0,
                        TOUCHES(FOLK_SOCIAL_CONTACT) | TOUCHES(FOLK_ROMANCE)},
    [FOLK_STENCH] = {"smells the tannery", {0, 1.0f, 0, -0.2f, 0, 0}, 0, TOUCHES(FOLK_ORDER) | TOUCHES(FOLK_EATING)},
    [FOLK_FUNERAL] = {"hears the bell toll for somebody",
                      {0, 0, 0, -0.4f, 0.9f, 0},
                      0,
                      TOUCHES(FOLK_FAMILY) | TOUCHES(FOLK_HONOUR)},
    [FOLK_NO_BREAD] = {"finds that the bread is sold out",
                       {0.5f, 0, 0.2f, 0, 0.2f, 0.3f},
                       0,
                       TOUCHES(FOLK_EATING) | TOUCHES(FOLK_ORDER)},
    [FOLK_PLAN_FAILED] = {"sees that it cannot be done",
                          {0.3f, 0, 0, 0, 0.3f, 0.2f},
                          0,
                          TOUCHES(FOLK_ORDER) | TOUCHES(FOLK_SAVING)},
    [FOLK_REGRET] = {"regrets the quarrel",
                     {-0.4f, 0, 0, 0, 0.6f, 0},
                     0,
                     TOUCHES(FOLK_ACCEPTANCE) | TOUCHES(FOLK_HONOUR)},
};

const char *folk_event_words(uint32_t event) {
  return meanings[event].words;
}

void folk_feel_until(folk_self *self, uint64_t now_ns) {
  if (now_ns <= self->felt_ns) return;
  float fade = exp2f(-(float)(now_ns - self->felt_ns) * 1e-9f / half_life_s);
  for (uint32_t i = 0; i < FOLK_EMOTIONS; i++) self->emotions[i] *= fade;
  self->felt_ns = now_ns;
}

folk_emotion folk_strongest(const folk_self *self) {
  uint32_t best = 0;
  for (uint32_t i = 1; i < FOLK_EMOTIONS; i++)
    if (self->emotions[i] > self->emotions[best]) best = i;
  return self->emotions[best] > whisper ? (folk_emotion)best : FOLK_CALM;
}

uint32_t folk_traits(const folk_self *self, uint32_t level) {
  static const uint32_t kept[FOLK_LEVELS] = {FOLK_DESIRES, 6, 3, 0};
  return (uint32_t)kit_traits_strongest(self->desires, FOLK_DESIRES, kept[level]);
}

folk_relation *folk_relation_to(folk_self *self, uint32_t who) {
  for (uint32_t i = 0; i < FOLK_RELATIONS; i++)
    if (self->relations[i].who == who) return who == FOLK_NOBODY ? NULL : &self->relations[i];
  return NULL;
}

/* A new acquaintance takes the place of the one that mattered least and is no family. */
static folk_relation *get_to_know(folk_self *self, uint32_t who) {
  folk_relation *least = NULL;
  for (uint32_t i = 0; i < FOLK_RELATIONS; i++) {
    folk_relation *relation = &self->relations[i];
    if (relation->who == FOLK_NOBODY) {
      least = relation;
      break;
    }
    if (relation->bonds & FOLK_FAMILY_BOND) continue;
    if (!least || abs(relation->liking) < abs(least->liking)) least = relation;
  }
  if (least) *least = (folk_relation){.who = (uint16_t)who};
  return least;
}

static void change_liking(folk_self *self, uint32_t from, int32_t change, uint64_t at_ns) {
  if (from == FOLK_NOBODY || change == 0) return;
  folk_relation *relation = folk_relation_to(self, from);
  if (!relation) relation = get_to_know(self, from);
  if (!relation) return;
  int32_t liking = relation->liking + change;
  relation->liking = (int8_t)(liking < -100 ? -100 : liking > 100 ? 100 : liking);
  relation->met_minute = (uint32_t)(at_ns / FOLK_MINUTE_NS);
}

/* ----------------------------------------------------------------------------------------------------------- coping */

static folk_coping choose_coping(const folk_self *self, folk_event event) {
  static const uint8_t of_emotions[FOLK_EMOTIONS + 1] = {
      [FOLK_ANGER] = FOLK_FACE_IT,      [FOLK_DISGUST] = FOLK_CLEAN_UP,     [FOLK_FEAR] = FOLK_WITHDRAW,
      [FOLK_HAPPINESS] = FOLK_SHARE_IT, [FOLK_SADNESS] = FOLK_SEEK_SUPPORT, [FOLK_SURPRISE] = FOLK_EXPLORE_IT,
      [FOLK_CALM] = FOLK_BEAR_IT};
  const float *desires = self->desires;
  folk_emotion emotion = folk_strongest(self);
  if (event == FOLK_REGRET) return FOLK_MAKE_AMENDS;
  if (emotion == FOLK_ANGER &&
      desires[FOLK_VENGEANCE] + desires[FOLK_POWER] <= desires[FOLK_TRANQUILLITY] + desires[FOLK_ACCEPTANCE])
    return FOLK_WITHDRAW;
  return of_emotions[emotion];
}

/* Coping leaves an urge: a goal that is worth more for a while. */
static void townsfolk_feel_cope(folk_mind *mind, folk_event event, float impact, uint32_t from, uint64_t at_ns) {
  static const uint8_t goals[FOLK_COPINGS] = {[FOLK_BEAR_IT] = FOLK_NO_GOAL,
                                              [FOLK_FACE_IT] = FOLK_WISH(FOLK_VENGEANCE),
                                              [FOLK_WITHDRAW] = FOLK_WISH(FOLK_TRANQUILLITY),
                                              [FOLK_SEEK_SUPPORT] = FOLK_WISH(FOLK_FAMILY),
                                              [FOLK_MAKE_AMENDS] = FOLK_WISH(FOLK_ACCEPTANCE),
                                              [FOLK_SHARE_IT] = FOLK_WISH(FOLK_SOCIAL_CONTACT),
                                              [FOLK_EXPLORE_IT] = FOLK_WISH(FOLK_CURIOSITY),
                                              [FOLK_CLEAN_UP] = FOLK_WISH(FOLK_ORDER)};
  folk_self *self = mind->self;
  folk_coping coping = choose_coping(self, event);
  if (coping == FOLK_BEAR_IT || (self->urge > impact && at_ns < self->urge_until_ns)) return;
  self->urge = impact;
  self->urge_goal = goals[coping];
  self->urge_whom = (uint16_t)from;
  self->urge_until_ns = at_ns + 2 * FOLK_HOUR_NS;
  self->stirred = 1;
  folk_note(mind, FOLK_ENTRY_COPES, at_ns, coping, from, impact);
}

static bool wants_to_cope(folk_mind *mind, float impact, uint64_t at_ns) {
  static const float critical[FOLK_LEVELS] = {0.2f, 0.45f, 0.6f, 2.0f};
  if (impact < worth_coping) return false;
  uint64_t rest_ns = mind->level * FOLK_HOUR_NS;
  return kit_coping_wanted(&mind->self->coping, critical[mind->level], rest_ns, at_ns, impact);
}

void folk_appraise(folk_mind *mind, folk_event event, float severity, uint32_t from, uint64_t at_ns) {
  folk_self *self = mind->self;
  const event_meaning *meaning = &meanings[event];
  uint32_t traits = folk_traits(self, mind->level) & meaning->desires;
  float concern = 0.45f;
  for (uint32_t left = traits; left; left &= left - 1) {
    concern += 0.45f * self->desires[__builtin_ctz(left)];
    self->effort[mind->level]++;
  }
  float impact = fminf(severity * concern, 1.0f), stirred = 0.0f;
  folk_feel_until(self, at_ns);
  for (uint32_t i = 0; i < FOLK_EMOTIONS; i++) {
    float change = meaning->stirs[i] * impact;
    self->emotions[i] = fminf(fmaxf(self->emotions[i] + change, 0.0f), 1.0f);
    if (change > stirred) stirred = change;
  }
  self->effort[mind->level] += FOLK_EMOTIONS;
  change_liking(self, from, (int32_t)lrintf((float)meaning->liking * (0.5f + impact)), at_ns);
  folk_note(mind, FOLK_ENTRY_EVENT, at_ns, event, from, impact);
  if (stirred > 0.5f) self->stirred = 1;
  if (wants_to_cope(mind, stirred, at_ns)) townsfolk_feel_cope(mind, event, stirred, from, at_ns);
}
