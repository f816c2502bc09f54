/* plan/fold.h - stage 3: which herds are one agent, which are many?
 *
 * The membrane is the cut of every group's tree whose nodes run now. Agents that belong to no group are their own
 * membrane; there are no groups yet, so the membrane is the population. */
#ifndef PLAN_FOLD_H
#define PLAN_FOLD_H

#include "agents/store.h"

typedef struct fold_result {
  uint32_t represented; /* individuals of the world */
  uint32_t leaves;      /* agents that run for them */
} fold_result;

/* Decides the membrane for this frame. */
fold_result fold_membrane(const agent_store *store);

#endif
