/* complete.h - stage 8: an update is complete. Everything that follows from it stands in update_complete(), a line
 * each, in its order. Types that use none of it pass by, since completing a plain update is a part of what each update
 * costs. */
#ifndef COMPLETE_H
#define COMPLETE_H

#include "base/assert.h"
#include "plan/periods.h"
#include "plan/rates.h"
#include "world/frame_state.h"
#include "world/herd_links.h"
#include "world/messages.h"
#include "world/reactions.h"
#include "world/timing.h"
#include "world/world.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

/* Counts an update, and how stale its agent had become. */
static inline void note_completion(const struct muster_world *world, settle_part *part, const agent_row *row,
                                   const agent_class *class, uint32_t index, uint64_t began_ns) {
  part->completed++;
  if (class->elapsed == MUSTER_ELAPSED_EVENTS) return; /* it is not late: it has no period */
  uint64_t elapsed_ns = began_ns - row->last_update_ns;
  settled_band *band = &part->bands[band_of(row->importance)];
  band->completed++;
  /* Buckets are far apart in memory: quantiles use one completion in four, the maximum sees all. */
  if (((index ^ world->frames) & 3) == 0) histogram_add(&band->staleness, elapsed_ns);
  if (elapsed_ns > band->staleness.maximum) band->staleness.maximum = elapsed_ns;
  part->interval_deviation_sum_ns += elapsed_ns - class->nominal_ns;
}

/* How an update left the sets of its agent. */
typedef struct sets_left {
  bool rated;     /* the host runs them, and ran those that it was told to */
  bool owed;      /* some sets are still owed time */
  bool continued; /* it ran only sets that an earlier update owed time: it is no update of its own */
} sets_left;

static inline sets_left sets_left_by(const agent_type *type, const agent_row *row) {
  if (!type->has_sets) return (sets_left){0};
  if (type->rated) return (sets_left){.rated = true};
  const set_pass *pass = &type->sets.passes[row->state_slot];
  return (sets_left){.owed = pass->owed, .continued = pass->continues};
}

/* The agent runs again when the first of its sets is due. */
static inline void schedule_sets(struct muster_world *world, const agent_class *class, uint32_t share, uint32_t index,
                                 uint64_t reached_ns) {
  class_table *classes = &world->queues->classes;
  const agent_row *row = world_row(world, index);
  int64_t ahead_ns = periods_ahead_ns(classes, &world->agents.store, index);
  int64_t later_ns = rates_complete(world_type(world, row->type), class, row, ahead_ns, reached_ns);
  periods_completed_until(classes, class, share, &world->agents.store, &world->queues->ready, index, reached_ns,
                          later_ns);
}

/* When the agent runs again: at once where sets are owed time, else after its next period. */
static inline void schedule_next(struct muster_world *world, agent_class *class, uint32_t share, uint32_t index,
                                 uint64_t reached_ns, sets_left sets) {
  if (sets.owed)
    periods_owing(&world->queues->classes, &world->agents.store, &world->queues->ready, index, reached_ns,
                  sets.continued, world->frame->number);
  else if (sets.rated)
    schedule_sets(world, class, share, index, reached_ns);
  else if (sets.continued)
    periods_continued(&world->queues->classes, class, &world->agents.store, &world->queues->ready, index);
  else
    periods_completed(&world->queues->classes, class, share, &world->agents.store, &world->queues->ready, index,
                      reached_ns);
}

/* Completes an update that began at `began_ns`, into the sums of a worker and a share of the book: the first of both on
 * the frame's thread. Different workers may complete different shares at a time, for agents that is_plain() in settle.c
 * accepts. */
static inline void update_complete(struct muster_world *world, settle_part *part, uint32_t share, uint32_t index,
                                   uint64_t began_ns) {
  agent_row *row = world_row(world, index);
  agent_class *class = &world->queues->classes.classes[row->class];
  const agent_type *type = world_type(world, row->type);
  sets_left sets = sets_left_by(type, row);
  ASSERT(row->status == AGENT_ADMITTED || row->status == AGENT_ACTING);
  uint64_t reached_ns = began_ns;
  /* Other agents read from now on what the update published. */
  if (type->publishes) {
    row->front ^= 1u;
    if (world->zone) world->agents.store.places[index].changed = 1;
    changes_note(&world->agents.store.changes, index, NOTED_PUBLISHED);
  }
  /* The agent's herd keeps its new place and state. */
  herds_note(world, index);
  if (!sets.continued) {
    /* The statistics count the update. */
    note_completion(world, part, row, class, index, began_ns);
    /* Its contract says to which time it brought the agent; the gap until the next wake begins. */
    reached_ns = timing_complete(&world->agents, part, type, index, began_ns);
    /* The agent has reacted, in time or late. */
    reactions_complete(&world->agents, world->queues, &world->sums->statistics, index, began_ns);
    /* The messages that the update was given leave the box; messages that came since may wake the agent. */
    messages_complete(world, type, index);
  }
  /* The agent waits for its next update. */
  schedule_next(world, class, share, index, reached_ns, sets);
}

#endif
