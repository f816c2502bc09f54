/* plan/wheel.h - stage 5: whose period has elapsed?
 *
 * Waiting agents hang in the timing wheel of their class, over the class's virtual clock. Time advances by
 * rate x frame time; the slots that were passed are due as a whole, the current one agent by agent. Release preserves
 * phase: the next due time is the last due time plus the period (PAPERS: T_last := T_next, T_next += T_i), and whole
 * periods that were missed are skipped, not caught up: the update is told the time that really passed. */
#ifndef PLAN_WHEEL_H
#define PLAN_WHEEL_H

#include "plan/classes.h"

/* Hangs an agent in with its row's virtual_due_ns, at most two nominal periods ahead. O(1). */
void wheel_insert(class_table *classes, agent_class *class, agent_store *store, uint32_t index);

/* Takes an agent out. O(1). */
void wheel_remove(class_table *classes, agent_class *class, agent_store *store, uint32_t index);

/* Hangs an agent in again after an update: one period after its last due time, whole missed periods skipped. */
void wheel_insert_next(class_table *classes, agent_class *class, agent_store *store, uint32_t index);

/* Moves a waiting agent to another class of the same type, with what remains of its period. */
void wheel_transfer(class_table *classes, agent_class *from, agent_class *to, agent_store *store, uint32_t index);

/* Advances the class by `elapsed_ns` of simulation time at its rate. */
void wheel_advance(agent_class *class, uint64_t elapsed_ns);

/* Empties the slots that the class's clock has reached: appends their agents to `out`, about `capacity` at most (a
 * block more), and returns how many. What is left is taken by the next call. */
uint32_t wheel_empty(class_table *classes, agent_class *class, uint32_t *out, uint32_t capacity);

/* Of agents that wheel_empty gave: keeps who is due at the front of `agents`, hangs the others in again. Returns how
 * many are due. */
uint32_t wheel_sift(class_table *classes, agent_store *store, uint32_t *agents, uint32_t count);

#endif
