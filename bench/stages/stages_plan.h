/* stages_plan.h - what the world of each row is, and how it is brought to where it is measured. */
#ifndef BENCH_STAGES_PLAN_H
#define BENCH_STAGES_PLAN_H

#include "stages_world.h"

enum { STAGES_SETTLING_STEPS = 20, STAGES_ROUND_STEPS = 2 };

typedef enum stages_kind { STAGES_STEADY = 0, STAGES_PRESSED, STAGES_BACKLOG, STAGES_BURST, STAGES_IDLE } stages_kind;

/* A row of the table. Agents: of a million in all; a shared world is that of the row before. */
typedef struct stages_plan {
  const char *name;
  uint32_t agents;
  stages_kind kind;
  stages_pace pace;
  bool shares_world;
} stages_plan;

extern const stages_plan stages_plans[STAGES_ROWS];

/* How many agents the row has when the large worlds have so many. */
uint32_t stages_plan_agents(const stages_plan *plan, uint32_t large);

/* Whether the budget is changed until the pressure is the wanted one. */
static inline bool stages_plan_is_pressed(const stages_plan *plan) {
  return plan->kind == STAGES_PRESSED || plan->kind == STAGES_BACKLOG;
}

/* Opens the row's world, of so many agents. Each of them runs once before anything is measured, so that the world has
 * learnt all about it. Where the budget makes the pressure, it is found in `steps` with warm caches. False: as
 * stages_world_open(). */
bool stages_plan_open(const stages_plan *plan, struct stages_world *world, const stages_shared *shared, uint32_t agents,
                      uint32_t steps);

/* Steps towards the budget that makes the pressure wanted. False: a frame failed. */
bool stages_plan_press(struct stages_world *world, stages_pace pace, uint32_t steps);

/* Wakes all agents and runs frames until each has run; `take` is called after each, unless it is null. False: a frame
 * failed, or some agent did not run. */
bool stages_plan_burst(struct stages_world *world, stages_pace pace, void (*take)(void *user), void *user);

#endif
