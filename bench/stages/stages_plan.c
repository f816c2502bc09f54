#include "stages_plan.h"

#include <math.h>

enum { SETTLING_FRAMES = 60, STEP_FRAMES = 10, BURST_FRAMES_MAX = 100000 };

static const uint64_t day_ns = 86400000000000u, wish_ns = 100000000u, wish_most_ns = 1000000000u;
static const double budget_least_ns = 20000, budget_most_ns = 1e9;

const stages_plan stages_plans[STAGES_ROWS] = {
    {"tenth-fits", 100000, STAGES_STEADY, STAGES_PACED, false},
    {"all-fit", 1000000, STAGES_STEADY, STAGES_PACED, false},
    {"pressure-4", 1000000, STAGES_PRESSED, STAGES_PACED, false},
    {"backlog-4", 1000000, STAGES_BACKLOG, STAGES_PACED, false},
    {"burst", 500000, STAGES_BURST, STAGES_COLD, false},
    {"idle-few", 1000, STAGES_IDLE, STAGES_AT_ONCE, false},
    {"idle-few-cold", 1000, STAGES_IDLE, STAGES_COLD, true},
    {"idle", 1000000, STAGES_IDLE, STAGES_AT_ONCE, false},
    {"idle-cold", 1000000, STAGES_IDLE, STAGES_COLD, true},
};

const char *stages_name(uint32_t row) {
  return row < STAGES_ROWS ? stages_plans[row].name : NULL;
}

uint32_t stages_plan_agents(const stages_plan *plan, uint32_t large) {
  uint64_t agents = (uint64_t)large * plan->agents / 1000000;
  return agents ? (uint32_t)agents : 1;
}

/* By the rule of importance, periods stretch until all fit. By that of rates they end at their longest: what does not
 * fit then waits, which makes the backlog. */
static stages_world_def def_of(const stages_plan *plan, uint32_t agents) {
  stages_world_def def = {.agents = agents, .elastic = MUSTER_ELASTIC_IMPORTANCE};
  if (plan->kind == STAGES_STEADY) {
    def.period_ns = (uint64_t)STAGES_FRAME_NS * def.agents / STAGES_UPDATES_PER_FRAME;
    if (def.period_ns < STAGES_FRAME_NS) def.period_ns = STAGES_FRAME_NS;
    def.period_max_ns = 10 * def.period_ns < day_ns ? 10 * def.period_ns : day_ns;
  }
  if (plan->kind == STAGES_BACKLOG) def.elastic = MUSTER_ELASTIC_RATE;
  if (stages_plan_is_pressed(plan)) {
    def.period_ns = wish_ns;
    def.period_max_ns = wish_most_ns;
  }
  if (plan->kind == STAGES_IDLE) def.period_ns = def.period_max_ns = day_ns;
  def.walking = plan->kind == STAGES_STEADY || stages_plan_is_pressed(plan);
  return def;
}

bool stages_plan_burst(struct stages_world *world, stages_pace pace, void (*take)(void *user), void *user) {
  uint64_t completed = 0;
  if (!stages_world_wake(world)) return false;
  for (uint32_t i = 0; i < BURST_FRAMES_MAX && completed < world->def.agents; i++) {
    if (!stages_world_frame(world, pace)) return false;
    completed += world->report.completed;
    if (take) take(user);
  }
  return completed >= world->def.agents;
}

/* The budget that is wanted is about in inverse proportion to the pressure. A step is a small one, because the library
 * learns meanwhile what updates cost and how long its own stages take. */
static bool press_step(struct stages_world *world, stages_pace pace) {
  double pressure = 0;
  for (uint32_t i = 0; i < STEP_FRAMES; i++) {
    if (!stages_world_frame(world, pace)) return false;
    pressure += (double)world->report.pressure / STEP_FRAMES;
  }
  double times = fmin(fmax(sqrt(pressure / stages_pressure), 0.5), 2.0);
  world->budget_ns = (uint64_t)fmin(fmax((double)world->budget_ns * times, budget_least_ns), budget_most_ns);
  return true;
}

bool stages_plan_press(struct stages_world *world, stages_pace pace, uint32_t steps) {
  for (uint32_t i = 0; i < steps; i++)
    if (!press_step(world, pace)) return false;
  return true;
}

bool stages_plan_open(const stages_plan *plan, struct stages_world *world, const stages_shared *shared, uint32_t agents,
                      uint32_t steps) {
  stages_world_def def = def_of(plan, agents);
  if (!stages_world_open(world, shared, &def)) return false;
  switch (plan->kind) {
  case STAGES_STEADY:
    return stages_world_frames(world, STAGES_AT_ONCE, def.agents / STAGES_UPDATES_PER_FRAME + SETTLING_FRAMES);
  case STAGES_PRESSED:
  case STAGES_BACKLOG:
    return stages_plan_press(world, STAGES_AT_ONCE, steps);
  case STAGES_BURST:
    return stages_plan_burst(world, STAGES_AT_ONCE, NULL, NULL);
  case STAGES_IDLE:
    return stages_world_frames(world, STAGES_AT_ONCE, SETTLING_FRAMES);
  }
  return false;
}
