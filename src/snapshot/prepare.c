#include "snapshot/prepare.h"

#include "base/assert.h"
#include "frame/frame.h"
#include "herds/herds.h"
#include "world/frame_state.h"
#include "world/world_herds.h"
#include "world/world_queues.h"

void snapshot_finish_commit(struct muster_world *world) {
  frame_settle_between(world);
  if (world->herds->table.count) herds_gather(world);
}

void snapshot_prepare(struct muster_world *world) {
  uint32_t count;
  ready_set *ready = &world->queues->ready;
  snapshot_finish_commit(world);
  ready_entries(ready, &world->agents.store, &count);
  fifo_compact(&ready->woken);
  fifo_compact(&ready->waiting);
  ASSERT(!world->commit->open);
  world->settles++;
}
