/* tests/plan/eager.h - elastic periods as the papers have them, the reference for the class clocks: in every frame the
 * periods of all agents are fitted one by one, with the elasticity that each one has, and every agent that waits is
 * timed anew, due at its last due time plus its period of now. O(agents) per frame. */
#ifndef EAGER_H
#define EAGER_H

#include "plan/fit.h"

#include <math.h>

typedef struct eager_agent {
  double cost_s, nominal_s, longest_s, elasticity; /* C_i, T_io, T_imax, e_i */
  double due_last_s;                               /* T_last */
  double wanted;                                   /* updates that the fitted rates add up to */
  uint32_t runs;
} eager_agent;

struct eager {
  muster_elastic elastic;
  eager_agent *agents;
  fit_kind *kinds; /* one each */
  uint32_t count;
  double now_s, lambda;
};

static inline fit_kind eager_kind(muster_elastic elastic, const eager_agent *agent) {
  bool root = elastic == MUSTER_ELASTIC_SQUARE_ROOT;
  return (fit_kind){.members = 1,
                    .nominal = agent->cost_s / agent->nominal_s,
                    .minimum = agent->cost_s / agent->longest_s,
                    .elasticity = root ? sqrt(agent->elasticity / agent->cost_s) : agent->elasticity * agent->cost_s};
}

/* One frame in which every agent that is due runs. Returns what they cost, in seconds. */
static inline double eager_frame(struct eager *eager, double elapsed_s, double desired) {
  fit_rule rule = eager->elastic == MUSTER_ELASTIC_SQUARE_ROOT ? FIT_SQUARE_ROOT : FIT_ELASTIC;
  double released_s = 0;
  for (uint32_t i = 0; i < eager->count; i++) eager->kinds[i] = eager_kind(eager->elastic, &eager->agents[i]);
  eager->lambda = fit_solve(rule, eager->kinds, eager->count, desired, eager->lambda).lambda;
  eager->now_s += elapsed_s;
  for (uint32_t i = 0; i < eager->count; i++) {
    eager_agent *agent = &eager->agents[i];
    double period_s = agent->nominal_s / fit_rate(rule, &eager->kinds[i], eager->lambda);
    agent->wanted += elapsed_s / period_s;
    if (agent->due_last_s + period_s > eager->now_s) continue;
    double late_s = eager->now_s - (agent->due_last_s + period_s);
    agent->due_last_s = eager->now_s - fmod(late_s, period_s); /* whole missed periods are skipped */
    agent->runs++;
    released_s += agent->cost_s;
  }
  return released_s;
}

#endif
