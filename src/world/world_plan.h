/* world_plan.h - how often agents run and what limits a frame: periods, phases of sets, bands, and what held agents
 * take. One per world: plans are made for all shards together. */
#ifndef WORLD_PLAN_H
#define WORLD_PLAN_H

#include "plan/bands.h"
#include "plan/periods.h"
#include "plan/phases.h"
#include "plan/rank.h"

struct world_plan {
  phase_table phases;
  struct periods periods;
  struct bands bands;
  rank_result held;   /* what the agents held from the last frame take of this frame's limits */
  rank_result ranked; /* what the last ranking came to */
};

#endif
