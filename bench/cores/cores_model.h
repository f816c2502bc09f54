/* cores_model.h - list scheduling of what was recorded: the caller does steps in their order, and calls helpers to
 * those that can be shared. Pure: the same steps and costs come to the same times. */
#ifndef BENCH_CORES_MODEL_H
#define BENCH_CORES_MODEL_H

#include "cores.h"

#include "run/timeline.h"

/* What a step takes of its frame with several workers; its part in which the caller is the only one with work; and how
 * many workers did some of it. */
typedef struct cores_step {
  double wall, alone;
  uint32_t workers;
} cores_step;

/* Predicts the steps of a timeline; `steps` has room for all. */
void cores_model(const struct timeline *timeline, const cores_costs *costs, uint32_t workers, cores_step *steps);

#endif
