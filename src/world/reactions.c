#include "world/reactions.h"

#include "base/assert.h"
#include "plan/periods.h"
#include "world/frame_state.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

/* A waiting agent is due ahead of its period: `ahead` of the ranked, or among them. */
static void reactions_release(struct muster_world *world, uint32_t index, bool ahead) {
  ASSERT(world->agents.store.rows[index].status == AGENT_WAITING);
  world->agents.store.rows[index].woken = ahead;
  periods_release_early(&world->queues->classes, &world->agents.store, &world->queues->ready, index,
                        world->frame->now_ns, world->frame->number);
  ready_queue(&world->queues->ready, &world->agents.store, index);
}

/* One whose time to be due has come. It is looked at again in each frame until its update is complete. */
static void hurry(struct muster_world *world, uint32_t index) {
  agent_row *row = &world->agents.store.rows[index];
  const agent_alarm *alarm = &world->agents.store.alarms[index];
  uint64_t now_ns = world->frame->now_ns, left_ns = alarm->react_by_ns > now_ns ? alarm->react_by_ns - now_ns : 0;
  ASSERT(row->reacts && store_is_active(&world->agents.store, index));
  uint64_t last_ns = alarm->react_by_ns > alarm->react_from_ns ? (alarm->react_by_ns - alarm->react_from_ns) / 4 : 0;
  bool presses = left_ns < last_ns || left_ns < 2 * world->frame->elapsed_ns;
  if (row->status == AGENT_QUARANTINED || world->agents.types.types[row->type].quarantined) {
    reactions_forget(world, index);
    return;
  }
  timers_set(&world->queues->reactions, index, now_ns + 1);
  if (row->status == AGENT_WAITING)
    reactions_release(world, index, presses);
  else if (row->status == AGENT_READY && !row->woken && presses)
    ready_wake(&world->queues->ready, &world->agents.store, index);
  else if (row->status == AGENT_READY && !row->woken)
    ready_refresh(&world->queues->ready, &world->agents.store, index);
}

/* The earliest come first, so that of many who press in one frame the first time leads. */
void reactions_run(struct muster_world *world) {
  uint32_t left = periods_most(world->frame->budget_ns), index;
  for (; left > 0; left--) {
    if ((index = timers_take_due(&world->queues->reactions, world->frame->now_ns)) == UINT32_MAX) return;
    hurry(world, index);
  }
}

void reactions_ask_own(struct muster_world *world, uint32_t index, uint64_t by_ns) {
  agent_row *row = &world->agents.store.rows[index];
  agent_alarm *alarm = &world->agents.store.alarms[index];
  uint64_t now_ns = world->frame->now_ns;
  if (by_ns == MUSTER_WAKE_NEVER) {
    reactions_forget(world, index);
    return;
  }
  if (row->reacts && alarm->react_by_ns <= by_ns) return;
  row->reacts = 1;
  alarm->react_by_ns = by_ns;
  alarm->react_from_ns = now_ns;
  timers_set(&world->queues->reactions, index, by_ns > now_ns ? now_ns + (by_ns - now_ns) / 2 : now_ns);
}

void reactions_complete_update(struct muster_world *world, uint32_t index, uint64_t began_ns) {
  ASSERT(world->agents.store.rows[index].reacts);
  const agent_alarm *alarm = &world->agents.store.alarms[index];
  if (began_ns <= alarm->react_from_ns) return; /* the update that set the time */
  if (began_ns <= alarm->react_by_ns)
    world->sums->statistics.reactions_met++;
  else
    world->sums->statistics.reactions_late++;
  reactions_forget(world, index);
}

void reactions_forget(struct muster_world *world, uint32_t index) {
  if (!world->agents.store.rows[index].reacts) return;
  world->agents.store.rows[index].reacts = 0;
  world->agents.store.alarms[index].react_by_ns = 0;
  timers_cancel(&world->queues->reactions, index);
  ASSERT(!timers_has(&world->queues->reactions, index));
}
