/* agents/elapsed.h - the elapsed-time contract of a type: what an update is told of the time that passed, and how far
 * it brings its agent.
 *
 * Both follow from the time that the agent was brought to and the time at which the update began, and neither changes
 * before the update is complete: so its later parts and its action atoms are told the same as its first. */
#ifndef AGENTS_ELAPSED_H
#define AGENTS_ELAPSED_H

#include "agents/types.h"

/* The time to which an update that began at `began_ns` brings an agent that is at `last_ns`. */
static inline uint64_t elapsed_reached(const agent_type *type, uint64_t last_ns, uint64_t began_ns) {
  if (type->elapsed != MUSTER_ELAPSED_STEPS) return began_ns;
  uint64_t due = (began_ns - last_ns) / type->step_ns;
  return last_ns + (due < type->steps_max ? due : type->steps_max) * type->step_ns;
}

/* How much of that time catch_up is told before the atoms run; 0 = it is not called. */
static inline uint64_t elapsed_caught_up(const agent_type *type, uint64_t last_ns, uint64_t began_ns) {
  if (type->elapsed != MUSTER_ELAPSED_ANALYTIC || began_ns - last_ns <= type->step_ns) return 0;
  return began_ns - last_ns - type->step_ns;
}

/* What the atoms of an update are told. */
typedef struct elapsed_told {
  uint64_t now_ns, elapsed_ns;
  uint32_t steps;
} elapsed_told;

static inline elapsed_told elapsed_tell(const agent_type *type, uint64_t last_ns, uint64_t began_ns) {
  uint64_t reached_ns = elapsed_reached(type, last_ns, began_ns);
  elapsed_told told = {reached_ns, reached_ns - last_ns - elapsed_caught_up(type, last_ns, began_ns), 0};
  if (type->elapsed == MUSTER_ELAPSED_STEPS) told.steps = (uint32_t)(told.elapsed_ns / type->step_ns);
  return told;
}

#endif
