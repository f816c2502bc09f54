/* plan/judge.h - how important are these agents? Up to JUDGE_MAX of them at a time, on any thread.
 *
 *     distance to observers  x  the host's factors  x  the type's importance  ->  the type's own model, if it has one
 *
 * and never below the designer's floor. Or, in a world that is set so, by the sum of the four factors of Rankin, Acton
 * & Katchabaw instead of that product: see muster/tune.h. */
#ifndef PLAN_JUDGE_H
#define PLAN_JUDGE_H

#include "agents/sights.h"
#include "agents/space.h"
#include "agents/types.h"
#include "plan/factors.h"

enum { JUDGE_MAX = 64 };

typedef struct judge_inputs {
  const agent_store *store;
  const type_table *types;
  const struct space *space;
  const observer_table *observers;
  const judge_factors *factors; /* null: importance is the product */
} judge_inputs;

typedef struct judge_batch {
  uint32_t count;
  uint32_t agents[JUDGE_MAX];
  float x[JUDGE_MAX], y[JUDGE_MAX], z[JUDGE_MAX]; /* from the area's corner; judge_together only */
  float by_distance[JUDGE_MAX];                   /* what observers give */
  uint32_t observers[JUDGE_MAX];                  /* which observer gives it, or OBSERVER_NONE */
  float importance[JUDGE_MAX];
  uint32_t looks;        /* observers and buckets looked at */
  uint32_t refused;      /* results of models that had to be clamped */
  uint32_t refused_type; /* the type of the last of them */
} judge_batch;

/* An area of which several batches are judged in turn: the observers that matter in it are found once. */
typedef struct judge_area {
  sight_box box; /* its heights are those of the batch for which `around` was found, and some more */
  bool known;
  sight_list around;
} judge_area;

/* A rectangle of the ground plane, from a corner. */
typedef struct judge_part {
  double corner_x, corner_y;
  float low_x, low_y, high_x, high_y;
} judge_part;

/* Enters a part of the ground plane. No observers are found yet. */
void judge_enter(judge_area *area, const judge_part *part, uint32_t partition);

/* Importance by distance of agents in the area whose x, y and z are set. */
void judge_together(const judge_inputs *inputs, judge_area *area, judge_batch *batch);

/* Importance by distance of agents anywhere. */
void judge_apart(const judge_inputs *inputs, judge_batch *batch);

/* Importance from by_distance and everything else. With factors it also writes the agents' own importance. */
void judge_finish(const judge_inputs *inputs, judge_batch *batch);

/* How an agent's importance comes about, step by step, before the floor. */
struct judgement {
  uint32_t observer; /* OBSERVER_NONE when no observer gives any */
  float by_distance;
  float product;  /* times the host's factors and the type's; or the sum of the factors of importance */
  float by_model; /* by the type's own model; without one, the product */
};

/* Judges one agent and changes nothing. */
struct judgement judge_explain(const judge_inputs *inputs, uint32_t index);

/* Whether an agent has only the importance that the designer gave it, and no observer is near: nothing to find out. */
bool judge_is_out_of_sight(const judge_inputs *inputs, uint32_t index);

#endif
