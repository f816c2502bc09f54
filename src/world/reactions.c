#include "world/reactions.h"

#include "base/assert.h"
#include "plan/periods.h"
#include "world/frame_state.h"
#include "world/world_queues.h"

/* Makes a waiting agent due before its period is over: `ahead` of the ranked agents, or among them. */
static void reactions_release(struct world_agents *agents, struct world_queues *queues, const frame_state *frame,
                              uint32_t index, bool ahead) {
  ASSERT(agents->store.rows[index].status == AGENT_WAITING);
  agents->store.rows[index].woken = ahead;
  periods_release_early(&queues->classes, &agents->store, &queues->ready, index, frame->now_ns, frame->number);
  ready_queue(&queues->ready, &agents->store, index);
}

/* The time has come at which an agent becomes due to react. It is looked at again in each frame until its update is
 * complete. */
static void hurry(struct world_agents *agents, struct world_queues *queues, const frame_state *frame, uint32_t index) {
  agent_row *row = &agents->store.rows[index];
  const agent_alarm *alarm = &agents->store.alarms[index];
  uint64_t now_ns = frame->now_ns, left_ns = alarm->react_by_ns > now_ns ? alarm->react_by_ns - now_ns : 0;
  ASSERT(row->reacts && store_is_active(&agents->store, index));
  uint64_t last_ns = alarm->react_by_ns > alarm->react_from_ns ? (alarm->react_by_ns - alarm->react_from_ns) / 4 : 0;
  bool presses = left_ns < last_ns || left_ns < 2 * frame->elapsed_ns;
  if (row->status == AGENT_QUARANTINED || agents->types.types[row->type].quarantined) {
    reactions_forget(agents, queues, index);
    return;
  }
  timers_set(&queues->reactions, index, now_ns + 1);
  if (row->status == AGENT_WAITING && row->last_update_ns >= now_ns) return; /* no time has passed for it */
  if (row->status == AGENT_WAITING)
    reactions_release(agents, queues, frame, index, presses);
  else if (row->status == AGENT_READY && !row->woken && presses)
    ready_wake(&queues->ready, &agents->store, index);
  else if (row->status == AGENT_READY && !row->woken)
    ready_refresh(&queues->ready, &agents->store, index);
}

/* The earliest times come first: when many agents press in one frame, the agent with the earliest time leads. */
void reactions_run(struct world_agents *agents, struct world_queues *queues, const frame_state *frame) {
  uint32_t left = periods_most(frame->budget_ns), index;
  for (; left > 0; left--) {
    if ((index = timers_take_due(&queues->reactions, frame->now_ns)) == UINT32_MAX) return;
    hurry(agents, queues, frame, index);
  }
}

void reactions_ask_own(struct world_agents *agents, struct world_queues *queues, uint64_t now_ns, uint32_t index,
                       uint64_t by_ns) {
  agent_row *row = &agents->store.rows[index];
  agent_alarm *alarm = &agents->store.alarms[index];
  if (by_ns == MUSTER_WAKE_NEVER) {
    reactions_forget(agents, queues, index);
    return;
  }
  if (row->reacts && alarm->react_by_ns <= by_ns) return;
  row->reacts = 1;
  alarm->react_by_ns = by_ns;
  alarm->react_from_ns = now_ns;
  timers_set(&queues->reactions, index, by_ns > now_ns ? now_ns + (by_ns - now_ns) / 2 : now_ns);
}

void reactions_complete_update(struct world_agents *agents, struct world_queues *queues, muster_statistics *statistics,
                               uint32_t index, uint64_t began_ns) {
  ASSERT(agents->store.rows[index].reacts);
  const agent_alarm *alarm = &agents->store.alarms[index];
  if (began_ns <= alarm->react_from_ns) return; /* the update that set the time */
  if (began_ns <= alarm->react_by_ns)
    statistics->reactions_met++;
  else
    statistics->reactions_late++;
  reactions_forget(agents, queues, index);
}

void reactions_forget(struct world_agents *agents, struct world_queues *queues, uint32_t index) {
  if (!agents->store.rows[index].reacts) return;
  agents->store.rows[index].reacts = 0;
  agents->store.alarms[index].react_by_ns = 0;
  timers_cancel(&queues->reactions, index);
  ASSERT(!timers_has(&queues->reactions, index));
}
