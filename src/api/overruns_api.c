/* overruns_api.c - muster/overruns.h: reinstating, quarantine when the host asks for it, and what is known of overruns.
 */
#include "api/calls.h"
#include "base/sized.h"
#include "plan/overrun_table.h"
#include "world/guard.h"
#include "world/overruns_state.h"
#include "world/world_commands.h"

#include <muster/overruns.h>

muster_result muster_agent_reinstate(muster_world *world, muster_agent agent) {
  return agents_send(world, agent, "muster_agent_reinstate", (struct command){.kind = COMMAND_REINSTATE});
}

muster_result muster_agent_quarantine(muster_world *world, muster_agent agent) {
  return agents_send(world, agent, "muster_agent_quarantine", (struct command){.kind = COMMAND_QUARANTINE});
}

static muster_result command_type(muster_world *world, muster_type type, const char *call, command_kind kind) {
  muster_result result = guard_host(world, call);
  if (!result) result = agents_check_type(world, type);
  if (result || !guard_asks(world, call, &result)) return result;
  struct command command = {.kind = kind, .index = type.index - 1};
  return guard_queue(world, &command);
}

muster_result muster_type_reinstate(muster_world *world, muster_type type) {
  return command_type(world, type, "muster_type_reinstate", COMMAND_REINSTATE_TYPE);
}

muster_result muster_type_quarantine(muster_world *world, muster_type type) {
  return command_type(world, type, "muster_type_quarantine", COMMAND_QUARANTINE_TYPE);
}

muster_result muster_overrun_counts_read(const muster_world *world, muster_type type, muster_overrun_counts *counts) {
  muster_result result = guard_read(world, "overrun counts");
  if (!result) result = agents_check_type(world, type);
  if (result) return result;
  const type_overruns *known = &world->overruns->table.types[type.index - 1];
  muster_overrun_counts whole = {.overruns = known->overruns,
                                 .worst_ns = known->worst.duration_ns,
                                 .worst_agent = muster_agent_make(known->worst.agent, known->worst.generation),
                                 .worst_atom = known->worst.atom,
                                 .agents_demoted = known->agents_demoted,
                                 .agents_quarantined = known->agents_quarantined,
                                 .level_floor = known->level_floor,
                                 .quarantined = world_type(world, type.index - 1)->quarantined,
                                 .stuck = known->stuck,
                                 .blocked = known->blocked,
                                 .worst_blocked_ns = known->worst_blocked.duration_ns,
                                 .worst_blocked_agent =
                                     muster_agent_make(known->worst_blocked.agent, known->worst_blocked.generation),
                                 .worst_blocked_atom = known->worst_blocked.atom};
  return sized_write(SIZED(overrun_counts), &whole, counts);
}

uint32_t muster_overruns_read(const muster_world *world, muster_overrun *out, uint32_t capacity) {
  if (guard_read(world, "overruns") || (capacity && !out && error_missing("overruns", "array"))) return 0;
  const overruns_state *state = world->overruns;
  uint64_t count = state->kept_count < MUSTER_OVERRUNS_KEPT ? state->kept_count : MUSTER_OVERRUNS_KEPT;
  if (count > capacity) count = capacity;
  for (uint64_t i = 0; i < count; i++) out[i] = state->kept[(state->kept_count - 1 - i) % MUSTER_OVERRUNS_KEPT];
  return (uint32_t)count;
}
