/* scenarios/rankin.h - the characters of Rankin, Acton & Katchabaw's experiments: 4 roles, 5 goals, 8 actions.
 *
 * An update is their decision process: event -> appraisal -> coping -> goal selection -> planning -> one action, which
 * takes one frame. What it does depends on its capability level:
 *
 *   0  weighs all desires and acquaintances, and searches the best plan for each goal before it chooses one
 *   1  as 0, but the goal is chosen by desire, and each cycle plans only the next few steps
 *   2  as 1, but by the default plan of the goal
 *   3  nothing is appraised: any goal, with any plan that is known to reach it */
#ifndef SCENARIOS_RANKIN_H
#define SCENARIOS_RANKIN_H

#include "scenarios/scenarios.h"

enum {
  RANKIN_GOALS = 5,
  RANKIN_ACTIONS = 8,
  RANKIN_DESIRES = 16,
  RANKIN_EMOTIONS = 6,
  RANKIN_ACQUAINTANCES = 48,
  RANKIN_PLAN_MAX = 12
};

/* The state of a character. */
typedef struct rankin_mind {
  float desires[RANKIN_DESIRES];
  float emotions[RANKIN_EMOTIONS];
  int8_t regard[RANKIN_ACQUAINTANCES];
  uint16_t facts; /* facts that hold in its world, a bit each */
  uint8_t role, goal, plan_length, plan_next;
  uint8_t plan[RANKIN_PLAN_MAX];
  uint32_t runs, achieved, acted, planned;
} rankin_mind;

/* One update of a character at a level; `random` decides what happens to it. In rankin_mind.c. */
void rankin_think(rankin_mind *mind, uint32_t level, uint64_t random);

/* A new character. */
void rankin_be_born(rankin_mind *mind, uint32_t role, uint64_t random);

/* What an update costs at a level in the cost model, in nanoseconds. */
uint64_t rankin_model_ns(uint32_t level);

#endif
