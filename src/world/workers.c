#include "world/workers.h"

#include "base/assert.h"
#include "pool/pool.h"
#include "record/recorder.h"
#include "run/runner.h"

uint32_t world_workers(const struct muster_world *world) {
  return world_is_planned(world) ? world->def.planner_workers : world_own_workers(world);
}

uint32_t world_own_workers(const struct muster_world *world) {
  return world->runner->workers;
}

/* So many of the pool's as the host wants. A record says so: its frames are planned for them. */
static void change_workers(struct muster_world *world, uint32_t most) {
  struct recorder *recorder = world->recorder;
  uint32_t asked = world->runner->workers_asked, workers = asked && asked < most ? asked : most;
  ASSERT(workers > 0 && !recorder_replays(recorder));
  if (workers == world->runner->workers) return;
  world->runner->workers = workers;
  if (!recorder_records(recorder)) return;
  recorder_put_tag(recorder, TAG_WORKERS);
  tape_put_number(&recorder->tape, workers);
}

void world_set_own_workers(struct muster_world *world, uint32_t workers) {
  world->runner->workers_asked = workers;
  change_workers(world, threads_useful(world->pool));
}

void world_take_workers(struct muster_world *world) {
  if (!recorder_replays(world->recorder)) change_workers(world, threads_for_frame(world->pool));
}
