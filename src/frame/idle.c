/* idle.c - what a frame left of its budget though agents waited, and why: "no frame ends while NPCs wait", as a
 * counter.
 *
 * It looks at what is there when the workers have left, and knows nothing of how stage 7 came to its end: so a fault in
 * that shows here. Each reason that excuses is a line of muster_idle, and has its check below. */
#include "agents/batch.h"
#include "base/assert.h"
#include "frame/forecast.h"
#include "frame/frame.h"
#include "frame/stages.h"
#include "run/removals.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/planner_state.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

/* Whether everything of the batch that did not run is believed to take longer than a worker has left. */
static bool rest_is_long(const struct muster_world *world, uint64_t left_ns) {
  const struct batch *batch = world->batch;
  uint32_t rest = 0;
  for (uint32_t i = 0; i < batch->claim_count; i++) {
    const batch_claim *claim = &batch->claims[i];
    if (batch->outcomes[claim->first] != OUTCOME_NOT_RUN) continue;
    if (removals_waits(&world->agents.removals, batch->entries[claim->first].agent)) continue; /* it was passed over */
    if (claim->predicted_ns <= left_ns) return false;
    rest++;
  }
  return rest > 0 || world->plan->ranked.passed_over > 0;
}

static muster_idle idle_reason(const struct muster_world *world, uint64_t left_ns) {
  const struct batch *batch = world->batch;
  ASSERT(left_ns > 0 && world->queues->ready.count > 0);
  if (batch->count >= world->frame->updates_max) return MUSTER_IDLE_X;
  if (world_is_planned(world)) return MUSTER_IDLE_HOST;
  return rest_is_long(world, left_ns) ? MUSTER_IDLE_LONG : MUSTER_IDLE_FAULT;
}

void frame_note_idle(struct muster_world *world) {
  const struct batch *batch = world->batch;
  uint32_t ran = 0;
  for (uint32_t i = 0; i < batch->count; i++) ran += batch->outcomes[i] != OUTCOME_NOT_RUN;
  if (ran == batch->count) idle_note(world); /* else the host had its reasons to stop */
}

void idle_note(struct muster_world *world) {
  uint64_t left_ns = forecast_left_ns(world, world->batch->count);
  ASSERT(world->timed && !world_is_virtual(world));
  if (!world->queues->ready.count || left_ns <= CLAIM_NS) return;
  world->sums->report.idle_ns[idle_reason(world, left_ns)] += left_ns * world->runner->workers;
}
