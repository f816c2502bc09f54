/* settle.h - stage 8, below the commit and the actions: what became of an entry. Everything here is called on the
 * frame's thread unless a comment says otherwise. */
#ifndef SETTLE_H
#define SETTLE_H

#include "agents/batch.h"
#include "world/frame_state.h"
#include "world/lifecycle.h"
#include "world/timing.h"
#include "world/world_sums.h"

enum { SETTLE_BETWEEN_LOOKS = 32 /* entries, at the clock */ };

/* What an update or an action did to its own agent. */
static inline void settle_effects(struct muster_world *world, uint32_t index, const batch_result *result) {
  if (result->moved) lifecycle_move(world, index, result->moved_to);
  if (result->asks) timing_ask_own(&world->agents, world->queues, world->frame->now_ns, index, result);
}

/* Cuts the batch into lots that may be settled beside each other: while other workers run it. */
void settle_cut_lots(struct muster_world *world);

/* On the wall clock most entries are settled by the workers that ran them. The rest, and everything under the virtual
 * clock, is settled in the order of the batch, by settle_entries(). */
void settle_beside(struct muster_world *world);

/* Settles entries until none is left or until the clock passes `end_ns`, which is checked every few entries. True when
 * none is left. Goes on where it stopped before. */
bool settle_entries(struct muster_world *world, uint64_t end_ns);

/* An update or an action has spawned `count` agents, with the ids from `first` on: makes these agents known to the next
 * intake. Called in the order in which the ids were set aside. */
void settle_spawned(struct muster_world *world, spawn_ids *ids, uint32_t first, uint32_t count);

/* All that spawned were told: the ids that are left close up. */
void settle_close_ids(struct muster_world *world, const spawn_ids *ids);

/* Adds what workers counted of refused positions, spawns and commands since the last time to the statistics. */
void settle_count_refused(struct muster_world *world);

/* An update begins, or would have begun: notes how long its agent waited since its release. */
static inline void settle_note_wait(struct muster_world *world, uint64_t released_ns) {
  uint64_t waited_ns = world->batch->now_ns - released_ns;
  if (waited_ns > world->sums->report.longest_wait_ns) world->sums->report.longest_wait_ns = waited_ns;
}

#endif
