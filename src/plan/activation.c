#include "plan/activation.h"

#include "base/assert.h"

#include <stdlib.h>

uint32_t activation_cycle(const uint32_t *periods, uint32_t count, uint32_t most) {
  uint64_t cycle = 1;
  for (uint32_t i = 0; i < count; i++) {
    uint64_t a = cycle, b = periods[i];
    while (b) {
      uint64_t rest = a % b;
      a = b;
      b = rest;
    }
    cycle = cycle / a * periods[i];
    if (cycle >= most) return most;
  }
  return (uint32_t)cycle;
}

/* What all frames are to run, and what somebody would find in those that it uses. */
typedef struct offline_plan {
  const uint32_t *periods;
  const float *costs;
  uint32_t horizon, delay_max;
  double *load; /* by frame */
} offline_plan;

typedef struct judgement {
  double peak, mean;
} judgement;

static judgement judge(const offline_plan *plan, uint32_t period, uint32_t delay) {
  double peak = 0, sum = 0, frames = 0;
  for (uint64_t t = delay; t < plan->horizon; t += period) {
    if (plan->load[t] > peak) peak = plan->load[t];
    sum += plan->load[t];
    frames++;
  }
  return (judgement){peak, frames > 0 ? sum / frames : 0};
}

static void book(const offline_plan *plan, uint32_t agent, uint32_t delay, double cost) {
  for (uint64_t t = delay; t < plan->horizon; t += plan->periods[agent]) plan->load[t] += cost;
}

/* The delay with the lowest peak; among equals the lowest load, then the shortest. */
static uint32_t best_delay(const offline_plan *plan, uint32_t agent) {
  uint32_t best = 0;
  judgement least = judge(plan, plan->periods[agent], 0);
  for (uint32_t delay = 1; delay <= plan->delay_max && delay < plan->periods[agent]; delay++) {
    judgement found = judge(plan, plan->periods[agent], delay);
    if (found.peak > least.peak || (found.peak == least.peak && found.mean >= least.mean)) continue;
    best = delay;
    least = found;
  }
  return best;
}

typedef struct dear_agent {
  float cost;
  uint32_t period, agent;
} dear_agent;

static int by_cost(const void *left, const void *right) {
  const dear_agent *a = left, *b = right;
  if (a->cost != b->cost) return a->cost > b->cost ? -1 : 1;
  if (a->period != b->period) return a->period > b->period ? -1 : 1;
  return a->agent < b->agent ? -1 : a->agent > b->agent;
}

/* Takes every agent out once and puts it where it is best; returns how many found another place. */
static uint32_t improve(const offline_plan *plan, const dear_agent *order, uint32_t count, uint32_t *delays) {
  uint32_t moved = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t agent = order[i].agent, before = delays[agent];
    book(plan, agent, before, -(double)order[i].cost);
    judgement here = judge(plan, order[i].period, before);
    uint32_t best = best_delay(plan, agent);
    judgement there = judge(plan, order[i].period, best);
    bool better = there.peak < here.peak || (there.peak == here.peak && there.mean < here.mean);
    if (better) delays[agent] = best;
    moved += better;
    book(plan, agent, delays[agent], (double)order[i].cost);
  }
  return moved;
}

bool activation_plan_offline(const uint32_t *periods, const float *costs, uint32_t count, uint32_t delay_max,
                             uint32_t horizon, uint32_t *delays) {
  enum { PASSES = 8 };
  ASSERT(horizon >= 1 && horizon <= ACTIVATION_HORIZON_MAX);
  offline_plan plan = {periods, costs, horizon, delay_max, calloc(horizon, sizeof *plan.load)};
  dear_agent *order = malloc((count ? count : 1) * sizeof *order);
  bool fits = plan.load && order;
  for (uint32_t i = 0; fits && i < count; i++) order[i] = (dear_agent){costs[i], periods[i], i};
  if (fits) qsort(order, count, sizeof *order, by_cost);
  for (uint32_t i = 0; fits && i < count; i++) {
    uint32_t agent = order[i].agent;
    delays[agent] = best_delay(&plan, agent);
    book(&plan, agent, delays[agent], (double)costs[agent]);
  }
  for (uint32_t pass = 0; fits && pass < PASSES; pass++)
    if (improve(&plan, order, count, delays) == 0) break;
  free(order);
  free(plan.load);
  return fits;
}
