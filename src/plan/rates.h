/* plan/rates.h - types with several rates in planner worlds: sets that the host runs, each with a period of its own.
 *
 * Sets that workers run (agents/passes.h) look at their own periods once the agent's has passed. Here there is no
 * period but those of the sets, and the agent is due when the first of them is. So they count on the clock of the
 * agent's class, as the agent does: they stretch with it and stop with it. What is kept of a set is how long after its
 * agent it is due (set_state.due_ns), so that they go along wherever the agent's due time is put: into another class, a
 * chosen frame or another world.
 *
 * All periods follow the class's: when a type or an agent is given a period of half of the type's definition, all its
 * sets have half of theirs. */
#ifndef PLAN_RATES_H
#define PLAN_RATES_H

#include "agents/types.h"
#include "plan/classes.h"

/* The first due times of a new agent's sets, each a random part of its period from now. Returns how long it is to the
 * first of them, on the clock of the class. */
uint64_t rates_begin(const agent_type *type, const agent_class *class, const agent_row *row, uint64_t seed,
                     uint64_t name);

/* The sets that the next update of a ready agent is to run: those that are due, and those that will be within a quarter
 * of their period; all, when the agent was woken. `ahead_ns` is how far ahead of its class's clock the agent is due by
 * its period (periods_ahead_ns). */
uint16_t rates_due(const agent_type *type, const agent_class *class, const agent_row *row, int64_t ahead_ns);

/* These sets ran in an update that began at `began_ns`: each that was due is due again a period after that due time,
 * and one that was woken early keeps its own. Returns how much later than it was the agent is due, on the clock of its
 * class. */
int64_t rates_complete(const agent_type *type, const agent_class *class, const agent_row *row, int64_t ahead_ns,
                       uint64_t began_ns);

/* The period of an agent was made so many times longer, and those of its sets with it: what is left of each is counted
 * in the new one. */
void rates_scale(const agent_type *type, const agent_row *row, double times);

/* The sets whose period is the type's: as often as these are due an agent is expected to run. */
static inline uint16_t rates_fastest(const set_table *table) {
  uint16_t fastest = 0;
  for (uint32_t i = 0; i < table->count; i++)
    if (table->sets[i].period_ns == table->least_ns) fastest |= (uint16_t)(1u << i);
  return fastest;
}

#endif
