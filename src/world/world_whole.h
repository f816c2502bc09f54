/* world_whole.h - a world and all its parts, as they lie in memory. Only for the calls that create a world. */
#ifndef WORLD_WHOLE_H
#define WORLD_WHOLE_H

#include "agents/batch.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/overruns_state.h"
#include "world/planner_state.h"
#include "world/trace.h"
#include "world/world.h"
#include "world/world_acts.h"
#include "world/world_commands.h"
#include "world/world_fold.h"
#include "world/world_herds.h"
#include "world/world_learnt.h"
#include "world/world_links.h"
#include "world/world_observers.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_score.h"
#include "world/world_sums.h"
#include "world/world_teams.h"
#include "world/world_zone.h"

struct world_whole {
  struct muster_world world; /* first: a world's memory is freed by its address */
  struct world_links links;
  struct world_herds herds;
  struct world_observers observers;
  struct world_score score;
  struct world_fold fold;
  struct world_queues queues;
  struct world_plan plan;
  struct world_learnt learnt;
  struct overruns_state overruns;
  struct frame_state frame;
  struct world_commands commands;
  struct batch batch;
  struct runner runner;
  struct world_teams teams;
  struct world_acts acts;
  struct commit_progress commit;
  struct world_sums sums;
  struct trace trace;
  struct planner_state planner;
  struct world_zone zone; /* used when the world is one: zone_create() */
};

/* Tells the world where its parts are. */
static inline void world_connect_parts(struct world_whole *whole) {
  struct muster_world *world = &whole->world;
  world->bytes = sizeof *whole;
  world->links = &whole->links;
  world->herds = &whole->herds;
  world->observers = &whole->observers;
  world->score = &whole->score;
  world->fold = &whole->fold;
  world->queues = &whole->queues;
  world->plan = &whole->plan;
  world->learnt = &whole->learnt;
  world->overruns = &whole->overruns;
  world->frame = &whole->frame;
  world->commands = &whole->commands;
  world->batch = &whole->batch;
  world->runner = &whole->runner;
  world->teams = &whole->teams;
  world->acts = &whole->acts;
  world->commit = &whole->commit;
  world->sums = &whole->sums;
  world->trace = &whole->trace;
  world->planner = &whole->planner;
}

#endif
