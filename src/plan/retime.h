/* plan/retime.h - periods that change while agents wait: of a type, or of one agent.
 *
 * What counts is the part of the period that has passed: an agent that has waited for half of its period waits for half
 * of the new one. A type's periods change in its classes; an agent with periods of its own moves to a class that has
 * them (plan/classes.h), and no longer follows its type. */
#ifndef PLAN_RETIME_H
#define PLAN_RETIME_H

#include "agents/types.h"
#include "plan/ready.h"

/* What is retimed. */
typedef struct retime_input {
  class_table *classes;
  const type_table *types;
  agent_store *store;
  ready_set *ready;
} retime_input;

/* Gives a type other periods; nominal 0 = those of its definition again. Intake. O(agents of the type and classes). */
void retime_type(const retime_input *retiming, uint32_t type, class_periods periods);

/* Gives an active agent periods of its own, as far as the steps of its type allow them; nominal 0 = those of its type
 * again. `counted`: what is left of its period is that of its new one already. Intake, or between frames. O(1). */
void retime_agent(const retime_input *retiming, uint32_t index, class_periods own, bool counted);

/* The periods of its own that an agent has; nominal 0 = none. */
class_periods retime_own(const class_table *classes, const agent_row *row);

/* Whether a type, or with null an agent, can have such periods; nominal 0 = none in place of what it has. Any thread.
 */
static inline bool retime_is_possible(const muster_type_def *type, class_periods periods) {
  if (!periods.nominal_ns) return !periods.longest_ns;
  return types_check_periods(type, periods.nominal_ns, periods.longest_ns) == MUSTER_OK;
}

#endif
