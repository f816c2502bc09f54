/* settle.h - stage 8, below the commit and the actions: what became of an entry. Everything here is called on the
 * frame's thread unless a comment says otherwise. */
#ifndef SETTLE_H
#define SETTLE_H

#include "agents/batch.h"
#include "world/frame_state.h"
#include "world/lifecycle.h"
#include "world/timing.h"
#include "world/world_queues.h"
#include "world/world_sums.h"
#include "world/world_teams.h"

enum { SETTLE_BETWEEN_LOOKS = 32 /* entries, at the clock */ };

/* What an update or an action did to its own agent. */
static inline void settle_effects(struct muster_world *world, uint32_t index, const batch_result *result) {
  if (result->moved) lifecycle_move(world, index, result->moved_to);
  if (result->asks) timing_ask_own(&world->agents, world->queues, world->frame->now_ns, index, result);
}

/* Cuts the batch into lots that may be settled beside each other: while other workers run it. */
void settle_cut_lots(struct muster_world *world);

/* Cuts agents into lots in the same way; each of their numbers is so many bytes behind the one before. */
void settle_cut(struct muster_world *world, const uint32_t *agents, size_t apart, uint32_t number);

static inline uint32_t settle_lot_begin(const struct settle_lots *lots, uint32_t lot) {
  return lot ? lots->ends[lot - 1] : 0;
}

/* An agent leaves the line, if it is there. On the worker that settles its lot; settle_close_queue() comes afterwards.
 */
static inline void settle_forget_queued(struct muster_world *world, settle_part *part, uint32_t index) {
  if (!world_row(world, index)->queued) return;
  part->forgotten++;
  ready_forget_beside(&world->queues->ready, &world->agents.store, index);
}

/* Adds up what the first workers noted of agents that left the line, and of how long these had waited. */
void settle_close_queue(struct muster_world *world, uint32_t workers);

/* On the wall clock most entries are settled by the workers that ran them. The rest, and everything under the virtual
 * clock, is settled in the order of the batch, by settle_entries(). */
void settle_beside(struct muster_world *world);

/* Agents that were woken and run while the frame ran become part of the batch, as if they had been woken before it:
 * takes the next of them, `most` at most. */
void settle_adopt_woken(struct muster_world *world, uint32_t most);

/* Settles entries until none is left or until the clock passes `end_ns`, which is checked every few entries. True when
 * none is left. Goes on where it stopped before. */
bool settle_entries(struct muster_world *world, uint64_t end_ns);

/* An update or an action has spawned `count` agents, with the ids from `first` on: makes these agents known to the next
 * intake. Called in the order in which the ids were set aside. */
void settle_spawned(struct muster_world *world, spawn_ids *ids, uint32_t first, uint32_t count);

/* All that spawned were told: the ids that are left close up. */
void settle_close_ids(struct muster_world *world, const spawn_ids *ids);

/* Actions that were run beside each other are over: makes them take effect, and completes the updates of these agents.
 * Returns how many there are. In act_settle.c. */
uint32_t settle_acted(struct muster_world *world);

/* Adds what workers counted of refused positions, spawns and commands since the last time to the statistics. */
void settle_count_refused(struct muster_world *world);

/* An update begins, or would have begun: notes how long its agent waited since its release. */
static inline void settle_note_wait(struct muster_world *world, uint64_t released_ns) {
  uint64_t waited_ns = world->batch->now_ns - released_ns;
  if (waited_ns > world->sums->report.longest_wait_ns) world->sums->report.longest_wait_ns = waited_ns;
}

#endif
