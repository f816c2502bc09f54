/* Chooses the goal and its plan: one way for each level. */
#include "townsfolk.h"

#include <math.h>

enum { PARTIAL_NODES = 10 };

static const float minutes_per_worth = 240.0f; /* so many minutes of a plan outweigh a worth of 1 */
static const float margin = 0.3f;              /* what a new goal must be worth more than the one under way */
static const float margin_when_cheap = 0.8f;
static const uint64_t lock_ns = 12 * FOLK_HOUR_NS;

uint64_t folk_random(folk_mind *mind) {
  if (mind->random == 0 && mind->update) mind->random = muster_update_random(mind->update);
  return mind->random = scaffold_scatter(mind->random);
}

/* A character that changes its goal on the way starts from its place there. */
static void stop_walking(folk_self *self) {
  if (folk_under_way(self) >= FOLK_GO + FOLK_PLACES || self->lived_ns == self->step_begin_ns) return;
  folk_place_now(self, &self->x, &self->y);
  self->place = FOLK_ON_WAY;
}

static void townsfolk_decide_take_up(folk_mind *mind, uint32_t goal, float worth, const folk_plan *plan) {
  folk_self *self = mind->self;
  bool goes_on = goal == self->goal && plan->count == 1; /* one more hour of the same action */
  stop_walking(self);
  self->goal = (uint8_t)goal;
  self->plan = *plan;
  self->plan.at = 0;
  self->stirred = 0;
  self->achievement = (kit_achievement){0};
  self->partial.open = 0;
  kit_goal_lock_take(&self->lock, goal, worth, self->lived_ns + lock_ns);
  if (plan->count > self->longest_plan) self->longest_plan = plan->count;
  if (!goes_on) folk_note(mind, FOLK_ENTRY_DECIDED, self->lived_ns, goal, FOLK_NOBODY, worth);
  folk_begin_step(mind);
}

static void idle(folk_mind *mind) {
  folk_plan plan = {.count = 1, .steps = {FOLK_IDLE}};
  townsfolk_decide_take_up(mind, FOLK_NO_GOAL, 0.0f, &plan);
}

/* Takes up a prepared plan, or idles for want of one. */
static void take_prepared(folk_mind *mind, uint32_t number, float worth) {
  if (number == KIT_CHOICE_NONE) {
    idle(mind);
    return;
  }
  folk_plan plan = folk_prepared_plan(number, folk_workplace(mind->self->role));
  townsfolk_decide_take_up(mind, folk_prepared[number].purpose, worth, &plan);
}

static uint32_t townsfolk_decide_best_of(const float worth[FOLK_GOALS]) {
  uint32_t best = 0;
  for (uint32_t goal = 1; goal < FOLK_GOALS; goal++)
    if (worth[goal] > worth[best]) best = goal;
  return worth[best] > 0.0f ? best : FOLK_NO_GOAL;
}

/* ------------------------------------------------------------------------------------------------- 0: full planning */

/* A goal with the plan that reaches it. */
typedef struct option {
  uint32_t goal;
  float worth, net; /* net of what the plan costs */
  folk_plan plan;
} option;

/* Chooses the best of all goals, each with the cheapest plan that a search finds: a wish with a cheap plan may come
 * before one that is worth more. */
static option full_choice(folk_mind *mind) {
  folk_self *self = mind->self;
  float worth[FOLK_GOALS];
  folk_problem problem;
  option best = {.goal = FOLK_NO_GOAL};
  folk_weigh(mind, worth);
  folk_pose(mind, &problem);
  for (uint32_t i = 0; i < FOLK_GOALS; i++) {
    option next = {.goal = townsfolk_decide_best_of(worth)};
    uint32_t cost = 0, nodes = 0;
    if (next.goal == FOLK_NO_GOAL) break;
    next.worth = worth[next.goal];
    worth[next.goal] = -1.0f;
    problem.facts &= ~FOLK_REACHED(next.goal);
    bool found = folk_plan_search(&problem, next.goal, FOLK_NODES_MAX, &next.plan, &cost, &nodes);
    self->effort[0] += nodes;
    next.net = next.worth - (float)cost / minutes_per_worth;
    if (found && (best.goal == FOLK_NO_GOAL || next.net > best.net)) best = next;
  }
  return best;
}

/* -------------------------------------------------------------------------------------------- 1 to 3: less and less */

static uint32_t townsfolk_decide_choose_goal(folk_mind *mind, float *worth_of) {
  float worth[FOLK_GOALS];
  folk_weigh(mind, worth);
  uint32_t goal = townsfolk_decide_best_of(worth);
  *worth_of = goal == FOLK_NO_GOAL ? 0.0f : worth[goal];
  return goal;
}

static void decide_by_default(folk_mind *mind, uint32_t goal, float worth) {
  uint64_t facts = folk_facts(mind);
  mind->self->effort[mind->level]++;
  take_prepared(mind, kit_choose_default(folk_prepared, FOLK_PREPARED, goal, facts), worth);
}

/* Does a part of the search, and idles if the search has to go on; when it leads nowhere, takes a prepared plan. */
static void decide_in_parts(folk_mind *mind) {
  folk_self *self = mind->self;
  folk_problem problem;
  folk_plan plan;
  float worth = self->lock.worth;
  uint32_t nodes = 0, goal = self->partial.goal;
  if (self->partial.open == 0) {
    goal = townsfolk_decide_choose_goal(mind, &worth);
    if (goal == FOLK_NO_GOAL) {
      idle(mind);
      return;
    }
    folk_partial_begin(&self->partial, goal);
  }
  folk_pose(mind, &problem);
  problem.facts &= ~FOLK_REACHED(goal);
  folk_progress progress = folk_partial_continue(&self->partial, &problem, PARTIAL_NODES, &plan, &nodes);
  self->effort[1] += nodes;
  if (progress == FOLK_FOUND && folk_plan_holds(&problem, &plan, goal)) {
    townsfolk_decide_take_up(mind, goal, worth, &plan);
  } else if (progress == FOLK_THINKING) {
    folk_partial_plan partial = self->partial;
    folk_note(mind, FOLK_ENTRY_THINKS, self->lived_ns, goal, FOLK_NOBODY, (float)partial.count);
    idle(mind);
    self->partial = partial;
    self->lock.worth = worth;
  } else {
    decide_by_default(mind, goal, worth);
  }
}

/* Takes duties in their hours; else any wish with a prepared plan. */
static void decide_at_random(folk_mind *mind) {
  folk_self *self = mind->self;
  uint64_t facts = folk_facts(mind), random = folk_random(mind);
  float worth = 0.0f;
  uint32_t goal = townsfolk_decide_choose_goal(mind, &worth), minute = folk_own_minute(self, self->lived_ns);
  uint32_t number = KIT_CHOICE_NONE;
  self->effort[3]++;
  if (goal != FOLK_NO_GOAL)
    number = kit_choose_random(folk_prepared, FOLK_PREPARED, goal, facts, random);
  else if (minute >= 360 && minute < 1320)
    number = FOLK_WISHES + kit_choose_random(folk_prepared + FOLK_WISHES, FOLK_PREPARED - FOLK_WISHES, KIT_PURPOSE_ANY,
                                             facts, random);
  take_prepared(mind, number, worth);
}

void folk_decide(folk_mind *mind) {
  float worth = 0.0f;
  if (mind->level == 0) {
    option best = full_choice(mind);
    if (best.goal == FOLK_NO_GOAL) {
      best.goal = townsfolk_decide_choose_goal(mind, &worth);
      decide_by_default(mind, best.goal, 0.0f); /* as one that gives way to any other */
    } else {
      townsfolk_decide_take_up(mind, best.goal, best.worth, &best.plan);
    }
  } else if (mind->level == 1) {
    decide_in_parts(mind);
  } else if (mind->level == 2) {
    uint32_t goal = townsfolk_decide_choose_goal(mind, &worth);
    decide_by_default(mind, goal, worth);
  } else {
    decide_at_random(mind);
  }
}

/* -------------------------------------------------------------------------------------------------- second thoughts */

static bool gives_way(const folk_self *self, uint32_t goal, float worth, float by) {
  return goal != FOLK_NO_GOAL && goal != self->goal &&
         kit_goal_lock_choose(&self->lock, self->lived_ns, goal, worth, by) == goal;
}

/* Levels 1 and 2 only look again when something moved the character. */
void folk_reconsider(folk_mind *mind) {
  folk_self *self = mind->self;
  option best = {.goal = FOLK_NO_GOAL};
  bool full = mind->level == 0;
  if (folk_under_way(self) == FOLK_ACTIONS || self->goal == FOLK_SLEEP) return;
  if (!full && (mind->level == 3 || !self->stirred)) return;
  if (full) {
    best = full_choice(mind);
  } else {
    best.goal = townsfolk_decide_choose_goal(mind, &best.worth);
    self->stirred = 0;
  }
  if (!gives_way(self, best.goal, best.worth, mind->level == 2 ? margin_when_cheap : margin)) return;
  if (self->goal != FOLK_NO_GOAL)
    folk_note(mind, FOLK_ENTRY_DROPPED, self->lived_ns, self->goal, FOLK_NOBODY, (float)best.goal);
  if (full)
    townsfolk_decide_take_up(mind, best.goal, best.worth, &best.plan);
  else
    decide_by_default(mind, best.goal, best.worth);
}
