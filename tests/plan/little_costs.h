/* tests/plan/little_costs.h - what updates of one type at one level cost. */
#ifndef LITTLE_COSTS_H
#define LITTLE_COSTS_H

#include "plan/costs.h"
#include "plan/planning.h"

typedef struct little_costs {
  cost_estimate estimates[1][MUSTER_LEVELS];
  cost_actions actions[1];
  cost_table table;
} little_costs;

/* A new table, of which there is one at a time. */
static inline little_costs *little_costs_begin(uint64_t guess_ns) {
  static little_costs costs;
  costs = (little_costs){.table = {.estimates = costs.estimates, .actions = costs.actions}};
  costs_guess(&costs.table, 0, guess_ns);
  return &costs;
}

static inline void learn(little_costs *costs, cost_known update) {
  costs_add(&costs->table, 0, 0, &update);
}

static inline const cost_estimate *estimate_of(const little_costs *costs) {
  return costs_of(&costs->table, 0, 0);
}

#endif
