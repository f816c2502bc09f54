/* world_score.h - stage 2: which agents are looked at, and what importance is made of beside distance. One per world:
 * observers walk through all shards. */
#ifndef WORLD_SCORE_H
#define WORLD_SCORE_H

#include "plan/factors.h"
#include "plan/score.h"
#include "plan/shedding.h"

struct world_score {
  score_board board;
  struct shedding shedding;
  shedding_looks shedding_looks;
  importance_weights factor_weights;
  const importance_weights *factors; /* null: importance is a product */
};

#endif
