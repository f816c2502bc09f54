/* world_learnt.h - what frames have taught about costs: of updates by type, and of a frame's own serial parts. One per
 * world. */
#ifndef WORLD_LEARNT_H
#define WORLD_LEARNT_H

#include "agents/types.h"
#include "plan/controller.h"
#include "plan/costs.h"

/* What the frames have taught about their own serial parts. */
typedef struct frame_experience {
  cost_estimate plan;                /* stages 1 to 6 of a frame */
  cost_estimate prepare;             /* of these, all but the ranking */
  cost_estimate rank;                /* the ranking, per entry of the batch */
  cost_estimate settle;              /* commit, per entry of the batch */
  cost_estimate act;                 /* action atoms of a frame */
  cost_estimate act_each[ACT_KINDS]; /* of one agent */
  cost_estimate act_settle;          /* of one that acted beside others: what the commit does for it afterwards */
  double acts_left_ns;               /* what actions will take that found no time in the last frame */
  double each_ns;                    /* predicted cost of an entry of the last batch that had any */
  uint32_t entries;                  /* of the last batch */
  double holding;                    /* of what a batch could not run, the share that could be held; 0..1 */
  double reserve_ns;                 /* kept free at the end of a budget, beyond the least: plan/controller.h */
  uint32_t planned_only;             /* frames in a row in which planning alone took longer than the budget */
  struct controller controller;
} frame_experience;

struct world_learnt {
  cost_table costs;
  frame_experience experience;
};

#endif
