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
  float believed_ns = (float)estimate->mean_ns * costs_part(estimate, known.factor, cost->elapsed_ns);
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

/* An agent's first update, beside those of others, and its own since its factor is known, say whether costs grow with
 * elapsed time; what others cost more than is believed is about the agent. How much they grow all say. */
enum { AGE_KNOWN = 8 };

void cost_learning_take(struct muster_world *world, const cost_sample *cost, cost_source source) {
  cost_table *costs = &world->learnt->costs;
  const cost_estimate *estimate = costs_of(costs, cost->type, cost->level);
  int32_t factor = world_row(world, cost->agent)->cost_factor;
  ASSERT(cost->type == world_row(world, cost->agent)->type && world_is_active(world, cost->agent));
  agent_class *class = &world->queues->classes.classes[world_row(world, cost->agent)->class];
  float usual_elapsed_ns = classes_note_elapsed(class, cost->elapsed_ns);
  uint32_t age = world_row(world, cost->agent)->factor_age;
  if (age == 0) usual_elapsed_ns = estimate->elapsed_ns;
  bool tells = age == 0 || age >= AGE_KNOWN || estimate->slope > 0.0f;
  if (costs_tell_factors(estimate)) learn_factor(world, cost, estimate);
  cost_known known = {.cost_ns = (double)cost->cost_ns,
                      .elapsed_ns = cost->elapsed_ns,
                      .usual_elapsed_ns = tells ? usual_elapsed_ns : 0.0f,
                      .factor = factor,
                      .source = source};
  costs_add(costs, cost->type, cost->level, &known);
}

void cost_learning_take_sample(struct muster_world *world, const cost_sample *sample) {
  if (sample->how == SAMPLE_DOUBTED)
    world_row(world, sample->agent)->doubted = 1;
  else
    cost_learning_take(world, sample, sample->how == SAMPLE_OVERRAN ? COST_OVERRAN : COST_MEASURED);
}

/* What agents cost beside others was learnt while what longer periods cost was taken for theirs: it is learnt anew,
 * and what few updates said is forgotten. O(agents), when the costs of a type are found to grow. */
static void doubt_factors(struct muster_world *world) {
  enum { FEW = 4 };
  for (uint32_t i = 0; i < world->agents.store.high; i++) {
    agent_row *row = world_row(world, i);
    if (!world_is_active(world, i) || row->factor_age == 0 || row->status == AGENT_QUARANTINED) continue;
    if (!costs_grow_newly(costs_of(&world->learnt->costs, row->type, row->level))) continue;
    bool few = row->factor_age <= FEW;
    row->factor_age = few ? 0 : 1;
    if (few && row->cost_factor) score_set_factor(&world->score->board, i, 0);
  }
}

void cost_learning_end_frame(struct muster_world *world) {
  if (costs_turn(&world->learnt->costs, world->agents.types.count)) doubt_factors(world);
}
