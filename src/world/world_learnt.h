/* world_learnt.h - what frames have taught about costs: of updates by type, and of a frame's own serial parts. One per
 * world. */
#ifndef WORLD_LEARNT_H
#define WORLD_LEARNT_H

#include "agents/types.h"
#include "plan/controller.h"
#include "plan/costs.h"
#include "plan/usage.h"

/* What the frames have taught about their own serial parts. */
typedef struct frame_experience {
  cost_estimate plan;                /* stages 1 to 6 of a frame */
  cost_estimate prepare;             /* of plan: all but the ranking */
  cost_estimate rank;                /* the ranking, per entry of the batch */
  cost_estimate settle;              /* commit, per entry of the batch */
  cost_estimate settle_rest;         /* of it: what entries that were settled beside others leave, per entry */
  cost_estimate act;                 /* action atoms of a frame */
  cost_estimate act_each[ACT_KINDS]; /* the actions of one agent */
  cost_estimate act_settle;          /* what the commit does afterwards for an agent that acted beside others */
  double acts_left_ns;               /* what the actions that found no time in the last frame will take */
  double each_ns;                    /* predicted cost of an entry, in the last batch that had entries */
  uint32_t entries;                  /* entries of the last batch */
  double holding;                    /* of what a batch could not run, the share that could be held; 0..1 */
  double reserve_ns;                 /* kept free at the end of a budget, beyond the least: plan/controller.h */
  uint32_t planned_only;             /* frames in a row in which planning alone took longer than the budget */
  struct controller controller;
  struct usage usage;
  double mend_costs; /* from the next frame on costs are believed to be this part of what they are; 0 = they stay */
} frame_experience;

/* Whether frames can have taught this: for what is read from a snapshot or a record. */
bool experience_is_possible(const frame_experience *experience);

struct world_learnt {
  cost_table costs;
  frame_experience experience;
};

#endif
