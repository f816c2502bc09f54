/* rankin_mind.c - how a character decides: see rankin.h. */
#include "scenarios/rankin.h"

#include <muster/random.h>
#include <string.h>

enum { FACTS = 12, STATES = 1 << FACTS, STEPS_AHEAD = 6, CRITICAL_EVENTS = 8, EVENTS = 24 };

/* An action requires facts, and makes some true and others false. Bits: 0 rested, 1 fed, 2 has food, 3 has money, 4 has
 * goods, 5 at the market, 6 at home, 7 in company, 8 praised, 9 house in order, 10 knows news, 11 safe. */
struct action {
  uint16_t needs, makes, undoes;
  uint8_t effort;
};

enum { RESTED, FED, FOOD, MONEY, GOODS, MARKET, HOME, COMPANY, PRAISED, ORDER, NEWS, SAFE };
#define BIT(fact) ((uint16_t)(1u << (fact)))

static const struct action actions[RANKIN_ACTIONS] = {
    {0, BIT(MARKET), BIT(HOME) | BIT(SAFE), 2},                                        /* go to the market */
    {0, BIT(HOME) | BIT(SAFE), BIT(MARKET) | BIT(COMPANY), 2},                         /* go home */
    {BIT(MARKET) | BIT(GOODS), BIT(MONEY), BIT(GOODS), 1},                             /* sell */
    {BIT(MARKET) | BIT(MONEY), BIT(FOOD), BIT(MONEY), 1},                              /* buy food */
    {BIT(HOME) | BIT(FOOD), BIT(FED), BIT(FOOD), 1},                                   /* eat */
    {BIT(HOME) | BIT(FED), BIT(RESTED), BIT(FED) | BIT(NEWS) | BIT(COMPANY), 3},       /* sleep */
    {BIT(HOME) | BIT(RESTED), BIT(GOODS) | BIT(ORDER), BIT(RESTED) | BIT(PRAISED), 4}, /* work */
    {BIT(MARKET), BIT(COMPANY) | BIT(NEWS) | BIT(PRAISED), BIT(ORDER), 2}};            /* talk */

static const uint16_t goals[RANKIN_GOALS] = {BIT(FED), BIT(RESTED) | BIT(HOME), BIT(MONEY), BIT(NEWS) | BIT(PRAISED),
                                             BIT(ORDER) | BIT(GOODS)};

/* Default plans: they reach their goals from any state, need by need. */
static const struct {
  uint8_t length, actions[RANKIN_PLAN_MAX];
} default_plans[RANKIN_GOALS] = {
    {9, {1, 4, 5, 6, 0, 2, 3, 1, 4}}, {5, {0, 3, 1, 4, 5}}, {6, {1, 5, 6, 0, 2, 7}}, {2, {0, 7}}, {3, {1, 5, 6}}};

/* How much a desire or an emotion has to do with a goal or an event: fixed numbers -1..1. */
static float bearing(uint32_t of, uint32_t on) {
  return (float)((int32_t)(muster_random_mix(of * 131u + on) & 0xff) - 128) / 128.0f;
}

static uint16_t after(uint16_t facts, const struct action *action) {
  return (uint16_t)((facts & ~action->undoes) | action->makes);
}

static bool may(uint16_t facts, const struct action *action) {
  return (facts & action->needs) == action->needs;
}

/* --------------------------------------------------------------------------------------------- appraisal and coping */

/* An event has a meaning for each desire, and is remembered of an acquaintance. */
static float rankin_mind_appraise(rankin_mind *mind, uint32_t event, uint32_t who) {
  float meaning = 0.0f;
  for (uint32_t i = 0; i < RANKIN_DESIRES; i++) meaning += mind->desires[i] * bearing(i, 64 + event);
  for (uint32_t i = 0; i < RANKIN_ACQUAINTANCES; i++) {
    float near = bearing(who, 256 + i) * (float)mind->regard[i] / 127.0f;
    meaning += near / RANKIN_ACQUAINTANCES;
  }
  int32_t regard = mind->regard[who] + (meaning > 0.0f ? 1 : -1);
  mind->regard[who] = (int8_t)(regard > 127 ? 127 : regard < -127 ? -127 : regard);
  return meaning;
}

/* Emotions follow the meanings of events, and fade. */
static void rankin_mind_cope(rankin_mind *mind, uint32_t event, float meaning) {
  for (uint32_t i = 0; i < RANKIN_EMOTIONS; i++) {
    float felt = mind->emotions[i] * 0.9f + 0.1f * meaning * bearing(512 + i, event);
    mind->emotions[i] = felt > 1.0f ? 1.0f : felt < -1.0f ? -1.0f : felt;
  }
}

static float desire_for(const rankin_mind *mind, uint32_t goal) {
  float sum = (mind->facts & goals[goal]) == goals[goal] ? -4.0f : 0.0f;
  for (uint32_t i = 0; i < RANKIN_DESIRES; i++) sum += mind->desires[i] * bearing(1024 + i, goal);
  for (uint32_t i = 0; i < RANKIN_EMOTIONS; i++) sum += mind->emotions[i] * bearing(2048 + i, goal);
  return sum + bearing(4096 + mind->role, goal);
}

/* --------------------------------------------------------------------------------------------------------- planning */

/* The search's memory. States are found in order of effort: a ring of lists, one for each effort within reach. */
enum { EFFORT_MAX = 4, RING = EFFORT_MAX + 1, UNSEEN = 0xffff, NONE = 0xffff };

struct search {
  uint16_t effort[STATES], before[STATES], next[STATES];
  uint8_t by[STATES];
  uint16_t heads[RING];
};

static void reach(struct search *search, uint16_t state, uint16_t from, uint8_t by, uint32_t effort) {
  if (search->effort[state] <= effort) return;
  search->effort[state] = (uint16_t)effort;
  search->before[state] = from;
  search->by[state] = by;
  search->next[state] = search->heads[effort % RING];
  search->heads[effort % RING] = state;
}

/* Finds the least effort to reach a state in which all facts of `wanted` hold; UNSEEN when there is none. */
static uint16_t rankin_mind_find(struct search *search, uint16_t facts, uint16_t wanted) {
  memset(search->effort, 0xff, sizeof search->effort);
  memset(search->heads, 0xff, sizeof search->heads);
  reach(search, facts, NONE, 0, 0);
  for (uint32_t effort = 0, idle = 0; idle < RING; effort++, idle++) {
    uint16_t state = search->heads[effort % RING];
    search->heads[effort % RING] = NONE;
    for (; state != NONE; state = search->next[state]) {
      idle = 0;
      if (search->effort[state] != effort) continue;
      if ((state & wanted) == wanted) return state;
      for (uint8_t i = 0; i < RANKIN_ACTIONS; i++)
        if (may(state, &actions[i])) reach(search, after(state, &actions[i]), state, i, effort + actions[i].effort);
    }
  }
  return UNSEEN;
}

/* The steps that lead to a state that was found; false when they are too many. */
static bool take_plan(const struct search *search, uint16_t state, rankin_mind *mind) {
  uint8_t steps[RANKIN_PLAN_MAX];
  uint32_t count = 0;
  for (; search->before[state] != NONE; state = search->before[state]) {
    if (count == RANKIN_PLAN_MAX) return false;
    steps[count++] = search->by[state];
  }
  for (uint32_t i = 0; i < count; i++) mind->plan[i] = steps[count - 1 - i];
  mind->plan_length = (uint8_t)count;
  mind->plan_next = 0;
  return true;
}

/* The worth of the best second goal once the first one is reached: a character plans beyond its present goal. */
static float worth_of_next(const rankin_mind *mind, uint16_t facts, uint32_t first) {
  struct search search;
  float best = 0.0f;
  for (uint32_t goal = 0; goal < RANKIN_GOALS; goal++) {
    if (goal == first) continue;
    uint16_t state = rankin_mind_find(&search, facts, goals[goal]);
    if (state == UNSEEN) continue;
    float worth = desire_for(mind, goal) - 0.1f * (float)search.effort[state];
    if (worth > best) best = worth;
  }
  return best;
}

/* The goal that is worth most for the effort of its best plan, and for what can follow it. */
static void plan_best(rankin_mind *mind) {
  struct search search;
  float best = -1e9f;
  rankin_mind chosen = *mind;
  for (uint32_t goal = 0; goal < RANKIN_GOALS; goal++) {
    uint16_t state = rankin_mind_find(&search, mind->facts, goals[goal]);
    if (state == UNSEEN) continue;
    float worth = desire_for(mind, goal) - 0.1f * (float)search.effort[state];
    worth += 0.5f * worth_of_next(mind, state, goal);
    if (worth <= best || !take_plan(&search, state, &chosen)) continue;
    best = worth;
    chosen.goal = (uint8_t)goal;
  }
  *mind = chosen;
  mind->planned++;
}

/* How many facts of the goal are missing after the best few steps; the steps are written to `plan`. */
static uint32_t rankin_mind_look_ahead(uint16_t facts, uint16_t wanted, uint32_t steps, uint8_t *plan) {
  uint32_t least = (uint32_t)__builtin_popcount(wanted & ~facts) * 16 + STEPS_AHEAD - steps;
  uint8_t rest[STEPS_AHEAD] = {0};
  if (steps == 0 || (facts & wanted) == wanted) return least;
  least = UINT32_MAX;
  for (uint8_t i = 0; i < RANKIN_ACTIONS; i++) {
    if (!may(facts, &actions[i]) || after(facts, &actions[i]) == facts) continue;
    uint32_t missing = rankin_mind_look_ahead(after(facts, &actions[i]), wanted, steps - 1, rest);
    if (missing >= least) continue;
    least = missing;
    plan[0] = i;
    memcpy(plan + 1, rest, steps - 1);
  }
  return least;
}

/* Takes the first steps of a plan; each cycle plans some more. */
static void plan_a_part(rankin_mind *mind) {
  rankin_mind_look_ahead(mind->facts, goals[mind->goal], STEPS_AHEAD, mind->plan);
  mind->plan_length = STEPS_AHEAD;
  mind->plan_next = 0;
  mind->planned++;
}

static void take_default(rankin_mind *mind, uint32_t goal) {
  mind->goal = (uint8_t)goal;
  mind->plan_length = default_plans[goal].length;
  memcpy(mind->plan, default_plans[goal].actions, sizeof mind->plan);
  mind->plan_next = 0;
}

static uint32_t most_desired(const rankin_mind *mind) {
  uint32_t best = 0;
  float most = desire_for(mind, 0);
  for (uint32_t goal = 1; goal < RANKIN_GOALS; goal++) {
    float desire = desire_for(mind, goal);
    if (desire <= most) continue;
    most = desire;
    best = goal;
  }
  return best;
}

/* -------------------------------------------------------------------------------------------------------- an update */

/* The next action that is possible; output events are what others may see of it. */
static void rankin_mind_act(rankin_mind *mind) {
  while (mind->plan_next < mind->plan_length && !may(mind->facts, &actions[mind->plan[mind->plan_next]]))
    mind->plan_next++;
  if (mind->plan_next == mind->plan_length) return;
  mind->facts = after(mind->facts, &actions[mind->plan[mind->plan_next++]]);
  mind->acted++;
  if ((mind->facts & goals[mind->goal]) != goals[mind->goal]) return;
  mind->achieved++;
  mind->plan_length = mind->plan_next = 0;
}

/* The world changes by itself: a fact is lost now and then. */
static void happen(rankin_mind *mind, uint64_t random) {
  if ((random & 7) == 0) mind->facts &= (uint16_t) ~(1u << (random >> 3) % FACTS);
}

void rankin_think(rankin_mind *mind, uint32_t level, uint64_t random) {
  uint32_t event = (uint32_t)(random >> 8) % EVENTS, who = (uint32_t)(random >> 16) % RANKIN_ACQUAINTANCES;
  bool planless = mind->plan_next == mind->plan_length;
  happen(mind, random);
  mind->runs++;
  if (level < 3) {
    float meaning = rankin_mind_appraise(mind, event, who);
    if (level < 2 || event < CRITICAL_EVENTS) rankin_mind_cope(mind, event, meaning);
    uint32_t wanted = most_desired(mind);
    planless |= level < 2 && wanted != mind->goal;
    if (level > 0 && planless) take_default(mind, wanted);
    if (level == 1) plan_a_part(mind);
    if (level == 0) plan_best(mind);
  } else if (planless) {
    take_default(mind, (uint32_t)(random >> 32) % RANKIN_GOALS);
  }
  rankin_mind_act(mind);
}

void rankin_be_born(rankin_mind *mind, uint32_t role, uint64_t random) {
  *mind = (rankin_mind){.role = (uint8_t)role, .facts = BIT(HOME) | BIT(FOOD) | BIT(SAFE)};
  for (uint32_t i = 0; i < RANKIN_DESIRES; i++) mind->desires[i] = muster_random_share(muster_random_mix(random + i));
  for (uint32_t i = 0; i < RANKIN_ACQUAINTANCES; i++)
    mind->regard[i] = (int8_t)((muster_random_mix(random + 64 + i) & 0xff) - 128);
}
