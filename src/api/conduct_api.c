/* conduct_api.c - muster/conduct.h: pardons, quarantine when the host asks for it, and what is known of runaways. */
#include "api/calls.h"
#include "base/sized.h"
#include "plan/offenders.h"
#include "world/conduct_state.h"
#include "world/guard.h"
#include "world/world_commands.h"

#include <muster/conduct.h>

muster_result muster_agent_pardon(muster_world *world, muster_agent agent) {
  return agents_send(world, agent, "pardon", (struct command){.kind = COMMAND_PARDON});
}

static muster_result command_type(muster_world *world, muster_type type, command_kind kind) {
  muster_result result = guard_any(world, "type");
  if (!result) result = agents_check_type(world, type);
  if (result || !guard_asks(world, "type", &result)) return result;
  struct command command = {.kind = kind, .index = type.index - 1};
  return guard_queue(world, &command);
}

muster_result muster_type_pardon(muster_world *world, muster_type type) {
  return command_type(world, type, COMMAND_PARDON_TYPE);
}

muster_result muster_type_quarantine(muster_world *world, muster_type type) {
  return command_type(world, type, COMMAND_QUARANTINE_TYPE);
}

muster_result muster_conduct_read(const muster_world *world, muster_type type, muster_conduct *conduct) {
  muster_result result = guard_read(world, "conduct");
  if (!result) result = agents_check_type(world, type);
  if (result) return result;
  const type_conduct *known = &world->conduct->offenders.types[type.index - 1];
  muster_conduct whole = {.offences = known->offences,
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
  return sized_write(SIZED(conduct), &whole, conduct);
}

uint32_t muster_offences_read(const muster_world *world, muster_offence *out, uint32_t capacity) {
  if (guard_read(world, "offences") || (capacity && !out && error_missing("offences", "array"))) return 0;
  const conduct_state *conduct = world->conduct;
  uint64_t count = conduct->kept_count < MUSTER_OFFENCES_KEPT ? conduct->kept_count : MUSTER_OFFENCES_KEPT;
  if (count > capacity) count = capacity;
  for (uint64_t i = 0; i < count; i++) out[i] = conduct->kept[(conduct->kept_count - 1 - i) % MUSTER_OFFENCES_KEPT];
  return (uint32_t)count;
}
