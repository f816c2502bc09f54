/* plan/importance.h - how important are these agents? Up to IMPORTANCE_BATCH_MAX of them at a time, on any thread.
 *
 *     distance to observers  x  the host's factors  x  the type's importance  ->  the type's own model, if it has one
 *
 * and never below the designer's floor. Or, in a world that is set so, by the sum of the four factors of Rankin, Acton
 * & Katchabaw instead of that product: see muster/tune.h. */
#ifndef PLAN_IMPORTANCE_H
#define PLAN_IMPORTANCE_H

#include "agents/observer_query.h"
#include "agents/space.h"
#include "agents/types.h"
#include "plan/factors.h"

struct ready_set;
struct class_table;

enum { IMPORTANCE_BATCH_MAX = 64 };

/* What the score works on. */
typedef struct score_inputs {
  agent_store *store;
  const type_table *types;
  const struct space *space;
  observer_table *observers;
  struct class_table *classes;
  struct ready_set *ready;
  const importance_weights *factors; /* null: importance is the product */
} score_inputs;

typedef struct importance_batch {
  uint32_t count;
  uint32_t agents[IMPORTANCE_BATCH_MAX];
  /* from the area's corner; importance_together only */
  float x[IMPORTANCE_BATCH_MAX], y[IMPORTANCE_BATCH_MAX], z[IMPORTANCE_BATCH_MAX];
  float by_distance[IMPORTANCE_BATCH_MAX];  /* what observers give */
  uint32_t observers[IMPORTANCE_BATCH_MAX]; /* which observer gives it, or OBSERVER_NONE */
  float importance[IMPORTANCE_BATCH_MAX];
  uint32_t looks;        /* observers and buckets looked at */
  uint32_t refused;      /* results of models that had to be clamped */
  uint32_t refused_type; /* the type of the last of them */
} importance_batch;

/* An area of which several batches are judged in turn: the observers that matter in it are found once. It begins as a
 * rectangle of the ground plane, with no observers known. */
typedef struct importance_area {
  query_box box; /* its heights are those of the batch for which `around` was found, and some more */
  bool known;
  observer_query around;
} importance_area;

/* Importance by distance of agents in the area whose x, y and z are set. */
void importance_together(const score_inputs *inputs, importance_area *area, importance_batch *batch);

/* Importance by distance of agents anywhere. */
void importance_apart(const score_inputs *inputs, importance_batch *batch);

/* Importance from by_distance and everything else. With factors it also writes the agents' own importance. */
void importance_finish(const score_inputs *inputs, importance_batch *batch);

/* How an agent's importance comes about, step by step, before the floor. */
struct importance_steps {
  uint32_t observer; /* OBSERVER_NONE when no observer gives any */
  float by_distance;
  float product;  /* times the host's factors and the type's; or the sum of the factors of importance */
  float by_model; /* by the type's own model; without one, the product */
};

/* Finds one agent's importance and changes nothing. */
struct importance_steps importance_explain(const score_inputs *inputs, uint32_t index);

/* Whether an agent has only the importance that the designer gave it, and no observer is near: nothing to find out. */
bool importance_is_out_of_sight(const score_inputs *inputs, uint32_t index);

#endif
