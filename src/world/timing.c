#include "world/timing.h"

#include "agents/batch.h"
#include "agents/elapsed.h"
#include "base/assert.h"
#include "world/reactions.h"
#include "world/world_queues.h"
#include "world/world_sums.h"

#include <xxhash.h>

void timing_set(struct world_agents *agents, struct world_queues *queues, uint32_t index) {
  const agent_alarm *alarm = &agents->store.alarms[index];
  uint64_t first_ns = alarm->wake_at_ns ? alarm->wake_at_ns : UINT64_MAX;
  if (agents->store.rows[index].delayed && alarm->quiet_until_ns < first_ns) first_ns = alarm->quiet_until_ns;
  if (first_ns == UINT64_MAX)
    timers_cancel(&queues->timers, index);
  else
    timers_set(&queues->timers, index, first_ns);
}

void timing_ask(struct world_agents *agents, struct world_queues *queues, uint32_t index, uint64_t at_ns) {
  agent_alarm *alarm = &agents->store.alarms[index];
  if (at_ns == MUSTER_WAKE_NEVER)
    alarm->wake_at_ns = 0;
  else if (!alarm->wake_at_ns || at_ns < alarm->wake_at_ns)
    alarm->wake_at_ns = at_ns ? at_ns : 1; /* 0 would mean no time; 1 is as long past */
  else
    return;
  timing_set(agents, queues, index);
}

void timing_ask_own(struct world_agents *agents, struct world_queues *queues, uint64_t now_ns, uint32_t index,
                    const batch_result *result) {
  if (result->asks & ASK_NEVER) timing_ask(agents, queues, index, MUSTER_WAKE_NEVER);
  if (result->asks & ASK_TIME) timing_ask(agents, queues, index, agents->store.alarms[index].asked_ns);
  if (result->asks & ASK_REACTION)
    reactions_ask_own(agents, queues, now_ns, index, agents->store.alarms[index].react_asked_ns);
}

bool timing_delays_wake(struct world_agents *agents, struct world_queues *queues, muster_statistics *statistics,
                        uint64_t now_ns, uint32_t index) {
  agent_row *row = &agents->store.rows[index];
  agent_alarm *alarm = &agents->store.alarms[index];
  bool gapped = agents->types.types[row->type].gapped, there = row->last_update_ns >= now_ns;
  ASSERT(row->status == AGENT_WAITING || row->status == AGENT_READY);
  if (row->delayed) return true;
  if (!gapped && !there) return false;
  bool within = gapped && now_ns < alarm->quiet_until_ns;
  if (!within && !there) {
    row->called = 1;
    return false;
  }
  row->delayed = 1;
  statistics->wakes_delayed += within;
  if (!within) alarm->quiet_until_ns = now_ns + 1;
  timing_set(agents, queues, index);
  return true;
}

uint64_t timing_complete_update(struct world_agents *agents, settle_part *part, const agent_type *type, uint32_t index,
                                uint64_t began_ns) {
  agent_row *row = &agents->store.rows[index];
  uint64_t reached_ns = elapsed_reached(type, row->last_update_ns, began_ns);
  ASSERT(row->status == AGENT_ADMITTED || row->status == AGENT_ACTING);
  if (type->elapsed == MUSTER_ELAPSED_STEPS) {
    uint64_t behind = (began_ns - reached_ns) / type->step_ns;
    if (behind > part->steps_behind_max) part->steps_behind_max = behind;
  }
  if (type->gapped) {
    if (row->called) agents->store.alarms[index].quiet_until_ns = began_ns + type->def.wake_gap_ns;
    row->called = 0;
    row->delayed = 0; /* a wake that waits came before this update began; its timer will find nothing to do */
  }
  return reached_ns;
}

void timing_forget(struct world_agents *agents, struct world_queues *queues, uint32_t index) {
  reactions_forget(agents, queues, index);
  if (!queues->timers.high && !agents->types.types[agents->store.rows[index].type].gapped) return;
  timers_cancel(&queues->timers, index);
  agents->store.alarms[index] = (agent_alarm){0};
  ASSERT(!timers_has(&queues->timers, index));
}

uint64_t timing_hash(const struct world_agents *agents, const struct world_queues *queues, uint32_t index,
                     uint64_t hash) {
  const agent_row *row = &agents->store.rows[index];
  if (row->reacts) hash = XXH3_64bits_withSeed(&agents->store.alarms[index].react_by_ns, sizeof(uint64_t), hash);
  if (!queues->timers.high && !agents->types.types[row->type].gapped) return hash;
  const agent_alarm *alarm = &agents->store.alarms[index];
  uint64_t waits[4] = {alarm->wake_at_ns, row->timed ? alarm->answered_ns : 0, alarm->quiet_until_ns,
                       (uint64_t)(row->called << 1 | row->delayed)};
  return XXH3_64bits_withSeed(waits, sizeof waits, hash);
}
