/* append.c - stage 6 once more, while stage 7 runs: the batch grows while there is time and agents wait.
 *
 * What updates are believed to cost decides how many are ranked; the clock decides when a frame ends. Where updates
 * cost less than was believed, workers come to the end of the batch early. Then more is ranked into the same batch, by
 * what this frame's updates took beside what they were believed to take, until the time is over, x is reached or nobody
 * waits. The fit is not run again: periods, pressure and the quotas of woken agents are those of the frame. An agent
 * that is in the batch is not ready, so none is named twice. Agents that were woken and run meanwhile are made part of
 * the batch first.
 *
 * How much was appended when depends on the clock: a record says so, and a replay ranks the same. Under the virtual
 * clock costs are what was charged, and the first ranking is the only one. */
#include "agents/batch.h"
#include "base/assert.h"
#include "frame/audit.h"
#include "frame/forecast.h"
#include "frame/frame.h"
#include "frame/frame_record.h"
#include "frame/settle.h"
#include "frame/stages.h"
#include "pool/ticket.h"
#include "record/recorder.h"
#include "run/removals.h"
#include "run/runner.h"
#include "world/frame_state.h"
#include "world/messages.h"
#include "world/section.h"
#include "world/world_learnt.h"
#include "world/world_plan.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

#include <math.h>

/* An appending, as a record has it. */
typedef struct appending {
  uint64_t capacity_ns, longest_ns; /* what may be admitted, and what a worker can still run */
  double scale;                     /* what updates cost, as a part of what they are believed to cost */
  uint32_t woken;                   /* agents that were woken and ran since the last ranking */
  uint32_t places;                  /* for messages, that are taken */
} appending;

static uint64_t updates_of(const struct muster_world *world) {
  uint64_t updates = 0;
  for (uint32_t i = 0; i < world->runner->state_count; i++) updates += world->runner->states[i].updates;
  return updates;
}

/* What the frame's updates took so far, beside what they were believed to take: 1 at most, since a frame whose updates
 * take longer ends by the clock in any case. */
static double append_scale(const struct muster_world *world) {
  static const double least = 1.0 / 64.0;
  uint64_t took_ns = 0, believed_ns = runner_believed_ns(world->runner);
  for (uint32_t i = 0; i < world->runner->state_count; i++) took_ns += world->runner->states[i].claim_ns;
  return believed_ns ? fmin(fmax((double)took_ns / (double)believed_ns, least), 1.0) : 1.0;
}

/* Whether the last round had something to run, or has passed over agents that were removed meanwhile; else what waits
 * does not fit. */
static bool append_went_on(struct muster_world *world) {
  frame_state *frame = world->frame;
  const struct batch *batch = world->batch;
  uint64_t updates = updates_of(world);
  bool went_on = updates > frame->updates_before;
  for (uint32_t i = frame->entries_before; i < batch->count && !went_on; i++)
    went_on = batch->outcomes[i] == OUTCOME_NOT_RUN && removals_waits(&world->agents.removals, batch->entries[i].agent);
  frame->updates_before = updates;
  frame->entries_before = batch->count;
  return went_on;
}

bool frame_append_is_due(struct muster_world *world) {
  const frame_state *frame = world->frame;
  uint64_t now_ns = clock_now(world->clock);
  if (!world->timed || !append_went_on(world) || !world->queues->ready.count) return false;
  if (world->batch->count >= frame->updates_max || !ticket_is_spent(&world->runner->ticket)) return false;
  return now_ns + CLAIM_NS < frame->deadline_ns - frame->commit_ns; /* else less is left than a claim takes */
}

/* What this frame shows of itself now. The workers have left. */
static appending append_plan(struct muster_world *world) {
  uint64_t left_ns = forecast_left_ns(world, world->batch->count + world->batch->woken_count);
  messages_keep_late(world);
  double scale = append_scale(world);
  return (appending){.capacity_ns = (uint64_t)((double)left_ns * world->runner->workers / scale),
                     .longest_ns = left_ns,
                     .scale = scale,
                     .woken = world->batch->woken_count,
                     .places = world->batch->places};
}

/* Ranks into the batch what has room. */
static void append_rank(struct muster_world *world, const appending *more) {
  rank_result *ranked = &world->plan->ranked;
  uint32_t before = world->batch->count;
  rank_limits limits = forecast_limits(world);
  struct parts parts = section_parts(world);
  limits.parts = &parts;
  limits.capacity_ns = more->capacity_ns;
  limits.updates_max = world->frame->updates_max;
  limits.appends = true;
  limits.entries_ran = before;
  limits.longest_ns = more->longest_ns;
  limits.scale = (float)more->scale;
  ASSERT(before <= world->agents.store.active_count && !world->queues->ready.walks);
  ranked->predicted_ns = ranked->passed_over = 0;
  *ranked = rank_fill(&world->queues->ready, &world->agents.store, &world->agents.types, &world->learnt->costs, &limits,
                      *ranked, world->batch);
  world->sums->admitted_ns += ranked->predicted_ns;
  world->sums->admitted += world->batch->count - before;
  world->sums->report.appended += world->batch->count - before;
  world->sums->report.rankings++;
}

bool frame_append(struct muster_world *world, bool due) {
  appending more = {0};
  ASSERT(!world_is_virtual(world) && !world_is_planned(world));
  if (due) {
    audit_stage(world, MUSTER_STAGE_RUN);
    runner_take_woken(world->runner);
    more = append_plan(world);
  }
  if (!frame_record_appending(world, due, &more, sizeof more)) return false;
  if (!(more.scale > 0.0 && more.scale <= 1.0) || more.places > world->batch->places_max)
    return recorder_diverges(world->recorder, "its record appends what cannot be");
  frame_record_adopted(world, more.woken);
  settle_adopt_woken(world, UINT32_MAX);
  world->batch->places = more.places;
  append_rank(world, &more);
  world->frame->commit_ns = forecast_commit_ns(&world->frame->forecast, world->batch->count);
  if (due) audit_stage(world, MUSTER_STAGE_RANK);
  return true;
}
