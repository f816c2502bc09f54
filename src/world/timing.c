#include "world/timing.h"

#include "agents/elapsed.h"
#include "base/assert.h"
#include "world/lifecycle.h"
#include "world/reactions.h"

#include <xxhash.h>

/* Sets the agent's timer to the first of what it waits for. */
static void set_timer(struct muster_world *world, uint32_t index) {
  const agent_alarm *alarm = &world->store.alarms[index];
  uint64_t first_ns = alarm->wake_at_ns ? alarm->wake_at_ns : UINT64_MAX;
  if (world->store.rows[index].delayed && alarm->quiet_until_ns < first_ns) first_ns = alarm->quiet_until_ns;
  if (first_ns == UINT64_MAX)
    timers_cancel(&world->timers, index);
  else
    timers_set(&world->timers, index, first_ns);
}

/* The agent's next update answers its time. False when one is under way that began before, or it is not active yet. */
static bool release(struct muster_world *world, uint32_t index) {
  agent_row *row = &world->store.rows[index];
  agent_alarm *alarm = &world->store.alarms[index];
  bool waits = row->status == AGENT_WAITING;
  ASSERT(alarm->wake_at_ns > 0 && row->status != AGENT_FREE);
  if (!waits && row->status != AGENT_READY && row->status != AGENT_ADMITTED) return false;
  if (row->status == AGENT_READY && !row->woken) ready_wake(&world->ready, &world->store, index);
  row->woken = 1;
  if (!waits && row->atom_next) return false;
  if (!row->timed) alarm->answered_ns = alarm->wake_at_ns;
  row->timed = 1;
  alarm->wake_at_ns = 0;
  world->statistics.wakes_timed++;
  if (!waits) return true;
  periods_release_early(&world->classes, &world->store, &world->ready, index, world->frame.now_ns, world->frame.number);
  ready_enlist(&world->ready, &world->store, index);
  return true;
}

static void answer(struct muster_world *world, uint32_t index) {
  agent_row *row = &world->store.rows[index];
  const agent_alarm *alarm = &world->store.alarms[index];
  uint64_t now_ns = world->frame.now_ns;
  if (alarm->wake_at_ns && alarm->wake_at_ns <= now_ns && !release(world, index)) {
    timers_set(&world->timers, index, now_ns + 1); /* looked at again in each frame until then */
    return;
  }
  if (row->delayed && alarm->quiet_until_ns <= now_ns) {
    row->delayed = 0;
    lifecycle_wake(world, index);
  }
  set_timer(world, index);
}

void timing_run(struct muster_world *world) {
  uint32_t left = periods_most(world->frame.budget_ns), index;
  for (; left > 0; left--) {
    if ((index = timers_take_due(&world->timers, world->frame.now_ns)) == UINT32_MAX) return;
    answer(world, index);
  }
}

void timing_ask(struct muster_world *world, uint32_t index, uint64_t at_ns) {
  agent_alarm *alarm = &world->store.alarms[index];
  if (at_ns == MUSTER_WAKE_NEVER)
    alarm->wake_at_ns = 0;
  else if (!alarm->wake_at_ns || at_ns < alarm->wake_at_ns)
    alarm->wake_at_ns = at_ns ? at_ns : 1; /* long past: 0 says that there is none */
  else
    return;
  set_timer(world, index);
}

void timing_ask_own(struct muster_world *world, uint32_t index, const batch_result *result) {
  if (result->asks & ASK_NEVER) timing_ask(world, index, MUSTER_WAKE_NEVER);
  if (result->asks & ASK_TIME) timing_ask(world, index, world->store.alarms[index].asked_ns);
  if (result->asks & ASK_REACTION) reactions_ask_own(world, index, world->store.alarms[index].react_asked_ns);
}

bool timing_delays_wake(struct muster_world *world, uint32_t index) {
  agent_row *row = &world->store.rows[index];
  if (!world->types.types[row->type].gapped) return false;
  ASSERT(row->status == AGENT_WAITING || row->status == AGENT_READY);
  if (row->delayed) return true;
  if (world->frame.now_ns >= world->store.alarms[index].quiet_until_ns) {
    row->called = 1;
    return false;
  }
  row->delayed = 1;
  world->statistics.wakes_delayed++;
  set_timer(world, index);
  return true;
}

uint64_t timing_complete(struct muster_world *world, settle_part *part, const agent_type *type, uint32_t index,
                         uint64_t began_ns) {
  agent_row *row = &world->store.rows[index];
  uint64_t reached_ns = elapsed_reached(type, row->last_update_ns, began_ns);
  ASSERT(row->status == AGENT_ADMITTED || row->status == AGENT_ACTING);
  if (type->elapsed == MUSTER_ELAPSED_STEPS) {
    uint64_t behind = (began_ns - reached_ns) / type->step_ns;
    if (behind > part->steps_behind_max) part->steps_behind_max = behind;
  }
  if (type->gapped) {
    if (row->called) world->store.alarms[index].quiet_until_ns = began_ns + type->def.wake_gap_ns;
    row->called = 0;
    row->delayed = 0; /* a wake that waits came before this update began; its timer will find nothing to do */
  }
  return reached_ns;
}

void timing_forget(struct muster_world *world, uint32_t index) {
  reactions_forget(world, index);
  if (!world->timers.high && !world->types.types[world->store.rows[index].type].gapped) return;
  timers_cancel(&world->timers, index);
  world->store.alarms[index] = (agent_alarm){0};
  ASSERT(!timers_has(&world->timers, index));
}

uint64_t timing_hash(const struct muster_world *world, uint32_t index, uint64_t hash) {
  const agent_row *row = &world->store.rows[index];
  if (row->reacts) hash = XXH3_64bits_withSeed(&world->store.alarms[index].react_by_ns, sizeof(uint64_t), hash);
  if (!world->timers.high && !world->types.types[row->type].gapped) return hash;
  const agent_alarm *alarm = &world->store.alarms[index];
  uint64_t waits[4] = {alarm->wake_at_ns, row->timed ? alarm->answered_ns : 0, alarm->quiet_until_ns,
                       (uint64_t)(row->called << 1 | row->delayed)};
  return XXH3_64bits_withSeed(waits, sizeof waits, hash);
}
