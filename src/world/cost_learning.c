#include "world/cost_learning.h"

#include "base/assert.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"
#include "world/world_score.h"

#include <math.h>
#include <muster/random.h>

/* Learns how an agent's cost compares with what was believed of it, as the mean over updates and its factor say. */
static void learn_factor(struct muster_world *world, const cost_sample *cost, const cost_estimate *estimate) {
  agent_row *row = world_row(world, cost->agent);
  known_factor known = {row->cost_factor, row->factor_part, row->factor_age};
  float believed_ns = (float)estimate->mean_ns * costs_part(estimate, known.factor);
  factor_evidence evidence = {.ratio = (float)cost->cost_ns / believed_ns,
                              .noise = costs_noise(estimate),
                              .mean = classes_factor_of_all(&world->queues->classes, cost->type, cost->level),
                              .random = muster_random_mix(row->last_update_ns * 0x9e3779b97f4a7c15u + cost->agent)};
  factor_learn(&known, &evidence);
  row->doubted = fabsf((float)cost->cost_ns - believed_ns) > (float)DOUBTED_NS && factor_is_doubtful(&evidence);
  row->factor_part = known.part & 15u;
  row->factor_age = known.age & 15u;
  if (known.factor != row->cost_factor) score_set_factor(&world->score->board, cost->agent, known.factor);
}

void cost_learning_take(struct muster_world *world, const cost_sample *cost, cost_source source) {
  cost_table *costs = &world->learnt->costs;
  const cost_estimate *estimate = costs_of(costs, cost->type, cost->level);
  int32_t factor = world_row(world, cost->agent)->cost_factor;
  ASSERT(cost->type == world_row(world, cost->agent)->type && world_is_active(world, cost->agent));
  if (costs_tell_factors(estimate)) learn_factor(world, cost, estimate);
  costs_add(costs, cost->type, cost->level, factor, cost->cost_ns, source);
}

void cost_learning_take_sample(struct muster_world *world, const cost_sample *sample) {
  if (sample->how == SAMPLE_DOUBTED)
    world_row(world, sample->agent)->doubted = 1;
  else
    cost_learning_take(world, sample, sample->how == SAMPLE_OVERRAN ? COST_OVERRAN : COST_MEASURED);
}
