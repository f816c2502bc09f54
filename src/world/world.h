/* world.h - a world: what exists once in it, and pointers to its parts, each in a header of its own.
 *
 * A file sees the parts whose headers it includes. Agents stand in the world itself, since every stage reads them for
 * every agent; the other parts lie behind it in the same block of memory (see muster_world_create()). The headers of
 * the parts say which of them will belong to shards once a world consists of shards. */
#ifndef WORLD_H
#define WORLD_H

#include "pool/pool.h"
#include "run/occupancy.h"
#include "world/world_agents.h"

#include <muster/muster.h>

struct batch;
struct commit_progress;
struct overruns_state;
struct frame_state;
struct planner_state;
struct recorder;
struct runner;
struct trace;
struct watchdog;
struct world_zone;

struct muster_world {
  struct arena arena;
  struct living living;
  struct occupancy occupancy;
  muster_world_def def;
  uint64_t bytes; /* of the world and its parts, without what they point at */
  uint64_t frames;
  uint64_t last_now_ns;
  uint64_t settles; /* muster_world_settles() */
  /* How updates are run is chosen when the world is created. */
  void (*run_stage)(
      struct muster_world *world); /* 7: by workers, or as in a record; null where the host runs updates */
  const clock_source *clock;       /* the pool's */
  bool timed;                      /* decisions look at the clock: false under the virtual clock and in a replay */
  bool costs_told; /* entries carry what they cost, by a model or as told by the host, instead of samples of workers */

  struct world_agents agents; /* what exists */
  struct world_links *links;  /* messages, companions */
  struct world_herds *herds;
  struct world_observers *observers;

  struct world_score *score;   /* stage 2: importance */
  struct world_fold *fold;     /* stage 3 */
  struct world_queues *queues; /* which agents wait for what */
  struct world_plan *plan;     /* periods, bands */
  struct world_learnt *learnt; /* costs */
  struct overruns_state *overruns;

  struct frame_state *frame;       /* the running frame */
  struct world_commands *commands; /* for the next intake */
  struct batch *batch;
  struct runner *runner;
  struct world_teams *teams;
  struct world_acts *acts;
  struct commit_progress *commit;
  struct world_sums *sums; /* report, statistics */

  muster_pool *pool, *own_pool;
  struct recorder *recorder; /* null unless the world records or replays */
  struct watchdog *watchdog; /* null: none */
  struct trace *trace;
  struct recorder *recorder_unused; /* what a failed muster_record_begin() reserved, for the next one */

  struct planner_state *planner; /* of a planner world: the plan that the host runs */
  struct world_zone *zone;       /* null: the world is no zone */
};

/* Whether a frame has begun and not ended. */
static inline bool world_is_in_frame(const struct muster_world *world) {
  enum occupation occupation = occupancy_get(&world->occupancy);
  return occupation == OCCUPIED_BY_FRAME || occupation == OCCUPIED_BY_PLAN;
}

/* Whether updates cost what their models say, and no clock is read. */
static inline bool world_is_virtual(const struct muster_world *world) {
  return world->def.clock.kind == MUSTER_CLOCK_VIRTUAL;
}

/* Whether the host runs the updates and says what they cost. */
static inline bool world_is_planned(const struct muster_world *world) {
  return world->def.planner_workers > 0;
}

/* The row of an agent, and a type by its number. */
static inline agent_row *world_row(const struct muster_world *world, uint32_t index) {
  return &world->agents.store.rows[index];
}

static inline agent_type *world_type(const struct muster_world *world, uint32_t number) {
  return &world->agents.types.types[number];
}

/* The type of an agent. */
static inline agent_type *world_type_of(const struct muster_world *world, uint32_t index) {
  return world_type(world, world_row(world, index)->type);
}

/* Where an agent is. */
static inline muster_position world_position(const struct muster_world *world, uint32_t index) {
  return space_position(&world->agents.space, &world->agents.store.places[index]);
}

/* Whether an index is an active agent's. Frame's thread. */
static inline bool world_is_active(const struct muster_world *world, uint32_t index) {
  return store_is_active(&world->agents.store, index);
}

/* An agent's handle is its index and the generation of that; in a world that is no zone its id is the same. Everything
 * inside the library works with handles, or indices; what comes from hosts and atoms, and goes to them, are ids.
 *
 * The handle of an id: of an agent, or also of a ghost; null when there is none. Any thread. */
static inline muster_agent world_find_seen(const struct muster_world *world, muster_agent id) {
  if (__builtin_expect(world->agents.zone != NULL, false)) return zone_ids_find(world->agents.zone, id);
  return id;
}
static inline muster_agent world_find(const struct muster_world *world, muster_agent id) {
  muster_agent agent = world_find_seen(world, id);
  bool ghost = __builtin_expect(world->agents.zone != NULL, false) && !muster_agent_is_null(agent) &&
               zone_ids_is_ghost(world->agents.zone, muster_agent_index(agent));
  return ghost ? (muster_agent){0} : agent;
}

/* The id of an index that an agent or a ghost has. */
static inline muster_agent world_id(const struct muster_world *world, uint32_t index) {
  return store_id(&world->agents.store, index);
}

/* Whether a handle is live now, and the handle of an index. Any thread. */
static inline bool world_is_live(const struct muster_world *world, muster_agent agent) {
  return identity_is_live(&world->agents.ids, muster_agent_index(agent), muster_agent_generation(agent));
}

static inline muster_agent world_agent(const struct muster_world *world, uint32_t index) {
  return muster_agent_make(index, identity_generation(&world->agents.ids, index));
}

/* Whether a handle is that of an agent that exists for hosts: it is live, and no host has removed it. What happens
 * inside a frame asks world_is_live() instead, since other threads remove agents at any time. Any thread. */
static inline bool world_exists(const struct muster_world *world, muster_agent agent) {
  return world_is_live(world, agent) &&
         !removals_has(&world->agents.removals, muster_agent_index(agent), muster_agent_generation(agent));
}

#endif
