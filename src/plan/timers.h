/* plan/timers.h - which agents wait for a point in simulation time?
 *
 * Periods stretch; a time that was asked for must not. So it is on no class clock but here: in a heap over simulation
 * time, at most one entry for each agent, the earliest first and of equal times the lowest agent first, whatever the
 * order in which they came. Each node has four children, which lie in one or two cache lines. Agents that wait for no
 * time touch nothing. */
#ifndef PLAN_TIMERS_H
#define PLAN_TIMERS_H

#include "base/arena.h"

struct timer {
  uint64_t at_ns;
  uint32_t agent;
};

struct timers {
  uint32_t count;
  uint32_t high; /* the most entries that there ever were */
  struct timer *heap;
  uint32_t *places; /* by agent: its place in the heap + 1; 0 = it waits for no time */
};

/* Reserves room for every agent. */
void timers_create(struct timers *timers, uint32_t agents_max, struct arena *arena);

/* An agent waits for a time, which replaces the one that it waited for. O(log count). */
void timers_set(struct timers *timers, uint32_t agent, uint64_t at_ns);

/* An agent no longer waits; does nothing when it did not wait. O(log count). */
void timers_cancel(struct timers *timers, uint32_t agent);

/* Takes out the next agent whose time is not after `now_ns`; UINT32_MAX when there is none. O(log count), and O(1) when
 * there is none. */
uint32_t timers_take_due(struct timers *timers, uint64_t now_ns);

static inline bool timers_has(const struct timers *timers, uint32_t agent) {
  return timers->count > 0 && timers->places[agent] > 0;
}

#endif
