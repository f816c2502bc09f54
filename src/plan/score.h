/* plan/score.h - stage 2: who matters, and at which level?
 *
 * Importance is the maximum over the observers of an agent's partition: 1 within near_m, falling to 0 at far_m, in
 * three dimensions, and never below the designer's floor. It sets the elasticity (unless the designer set that) and the
 * capability level. Every threshold has hysteresis, so that an agent on a border does not flap. */
#ifndef PLAN_SCORE_H
#define PLAN_SCORE_H

#include "agents/observers.h"
#include "agents/space.h"
#include "agents/types.h"
#include "plan/classes.h"
#include "plan/wheel.h"

enum { SCORE_SWEEP_FRAMES = 16, SCORE_SWEEP_MIN = 256, IMPORTANCE_BINS = 256 };

typedef struct score_board {
  uint32_t cursor;                      /* where the sweep over the population goes on */
  uint32_t importance[IMPORTANCE_BINS]; /* active agents per bin of importance: what deciles are cut from */
  uint8_t decile_low[IMPORTANCE_BINS];  /* deciles that a bin spans, as of the last score_deciles */
  uint8_t decile_high[IMPORTANCE_BINS];
} score_board;

typedef struct score_inputs {
  agent_store *store;
  const type_table *types;
  const space *space;
  const observer_table *observers;
  class_table *classes;
} score_inputs;

/* Importance, level and class of an agent that becomes active now; it belongs to no class before. */
void score_new_agent(score_board *board, const score_inputs *inputs, uint32_t index);

/* Forgets an agent that is removed: it leaves its class. */
void score_forget_agent(score_board *board, const score_inputs *inputs, uint32_t index);

/* Scores one agent again: its observers or its position changed, or (`tuned`) the designer's word. An admitted agent
 * may be running already and is left alone, unless tuned. */
void score_agent(score_board *board, const score_inputs *inputs, uint32_t index, bool tuned);

/* Scores the next sixteenth of the population (at least 256 agents), so that everyone is seen every 16 frames. */
void score_sweep(score_board *board, const score_inputs *inputs);

/* Cuts the population into deciles by importance. O(bins). */
void score_deciles(score_board *board, uint32_t population);

/* The decile of an agent, 0 = least important. A bin that spans several deciles spreads its agents over them by
 * index, so that ties are no decile's privilege. */
static inline uint32_t score_decile_of(const score_board *board, uint16_t importance, uint32_t index) {
  uint32_t bin = importance >> 8, low = board->decile_low[bin], high = board->decile_high[bin];
  if (low == high) return low;
  uint32_t spread = index * 2654435761u; /* Fibonacci hashing */
  return low + (uint32_t)((uint64_t)spread * (high - low + 1) >> 32);
}

#endif
