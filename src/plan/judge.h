/* plan/judge.h - how important are these agents? Up to JUDGE_MAX of them at a time, on any thread.
 *
 *     distance to observers  x  the host's factors  x  the type's importance  ->  the type's own model, if it has one
 *
 * and never below the designer's floor. Or, in a world that wants it, by the four factors of Rankin, Acton & Katchabaw
 * instead of that product: see muster/tune.h. */
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
  uint32_t observers[JUDGE_MAX];                  /* whose importance that is, or OBSERVER_NONE */
  float importance[JUDGE_MAX];
  uint32_t looks;        /* observers and buckets looked at */
  uint32_t refused;      /* results of models that had to be clamped */
  uint32_t refused_type; /* of the last of them */
} judge_batch;

/* An area of which several batches are judged, one after the other: who matters in it is found once. */
typedef struct judge_area {
  sight_box box; /* its heights are those of the batch that it was found for, and some more */
  bool known;
  sight_list around;
} judge_area;

/* A rectangle of the ground plane, from a corner. */
typedef struct judge_part {
  double corner_x, corner_y;
  float low_x, low_y, high_x, high_y;
} judge_part;

/* Enters a part of the ground plane. Nothing is found yet. */
void judge_enter(judge_area *area, const judge_part *part, uint32_t partition);

/* Importance by distance of agents in the area whose x, y and z are set. */
void judge_together(const judge_inputs *inputs, judge_area *area, judge_batch *batch);

/* Importance by distance of agents anywhere. */
void judge_apart(const judge_inputs *inputs, judge_batch *batch);

/* Importance from what distance gives and everything else. By factors, also writes store.standing of the agents. */
void judge_finish(const judge_inputs *inputs, judge_batch *batch);

/* What an agent's importance is made of, in the order in which it comes about, up to the floor. */
struct judgement {
  uint32_t observer; /* OBSERVER_NONE when none gives any */
  float by_distance;
  float product;  /* lowered by the host's factors and the type; or made of the factors of importance */
  float by_model; /* the type's own model; without one, the product */
};

/* Judges one agent and changes nothing. */
struct judgement judge_explain(const judge_inputs *inputs, uint32_t index);

/* Whether an agent has no importance but what the designer gave it, and no observer is near: nothing to find out. */
bool judge_is_out_of_sight(const judge_inputs *inputs, uint32_t index);

#endif
