/* plan/due.h - stage 5: which agents' periods have elapsed?
 *
 * An agent is due when the virtual clock of its class has come to the agent's due time. Such clocks are many, and speed
 * up and slow down; so agents are looked at (plan/looks.h) by a few clocks, those of bands, of which each runs fast
 * enough for every class that has members there:
 *
 *     put in at      clock of the band + what is left of the period / r,   r = rate of the class / pace of the band
 *     speed          pace x the greatest of (r now / lowest r at which members of a class there were put in)
 *
 * The pace goes up and down with the rates of the classes there, which follow from one scalar and so change together,
 * most of them: their r stay as they are, and each agent is looked at when its time comes. Where r has risen the clock
 * goes faster, so that no look is late; where r has fallen agents are looked at too early, and put in again. No agent
 * is moved when rates change. Classes with about the same rate share a band, so that the members of others need not be
 * looked at when rates rise in one.
 *
 * One small class whose r has risen makes a clock hurry, and the members of all others be looked at early again and
 * again, until the last member that was put in at the lower r has been looked at: that may be a long period. So when
 * looks in vain have become as many as there are agents, members are put in by a clock that is free, and a sweep puts
 * those of the old one in anew, some in each frame.
 *
 * So exactly the agents whose time has come are released, whenever they are looked at. Release preserves phase: the
 * next due time is the last due time plus the period (PAPERS: T_last := T_next, T_next += T_i), and whole periods that
 * were missed are skipped, not caught up: the update is told the time that really passed. */
#ifndef PLAN_DUE_H
#define PLAN_DUE_H

#include "base/assert.h"
#include "base/prefetch.h"
#include "plan/classes.h"

/* What is left of a waiting agent's period, on the clock of its class. */
static inline uint64_t due_remaining_ns(const agent_class *class, const agent_row *row) {
  return row->virtual_due_ns > class->clock_ns ? row->virtual_due_ns - class->clock_ns : 0;
}

/* When an agent with this rest of its period is to be looked at, on the clock of its class's band. Clocks are whole
 * nanoseconds, so that one may be up to a nanosecond ahead of what it tells; and rates are rounded. */
static inline uint64_t due_look_ns(const class_table *classes, const agent_class *class, uint64_t left_ns) {
  enum { ROUNDED_NS = 2 };
  double ahead_ns = left_ns > ROUNDED_NS ? (double)(left_ns - ROUNDED_NS) * class->look_ahead : 0.0;
  uint64_t now_ns = classes->looks.clock_ns[class->look_band], most_ns = class->furthest_ns - now_ns;
  return now_ns + (ahead_ns < (double)most_ns ? (uint64_t)ahead_ns : most_ns);
}

/* An agent waits until its row's virtual_due_ns. Agents of different shards may begin to wait at the same time. O(1).
 */
static inline void due_insert(class_table *classes, const agent_class *class, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  ASSERT(class->look_bands >> class->look_band & 1);
  row->status = AGENT_WAITING;
  row->scheduled = 1;
  looks_put(&classes->looks, class->look_band, due_look_ns(classes, class, due_remaining_ns(class, row)), index);
}

/* Fetches what putting an agent in touches: its slot; then, once its row is there, what is known of its line. */
PREFETCH_FUNCTION due_prefetch(const class_table *classes, uint32_t index) {
  __builtin_prefetch(looks_slot_of(&classes->looks, index), 1);
}

PREFETCH_FUNCTION due_prefetch_line(const class_table *classes, const agent_row *row, uint32_t index) {
  uint32_t clock = 2u * classes->classes[row->class].look_band;
  __builtin_prefetch(looks_first_of(&classes->looks, clock, index / LOOK_AGENTS), 1);
}

/* Fetches the rows of a group of agents. Fetches that miss the cache overlap when they follow one another without other
 * work between them. */
PREFETCH_FUNCTION due_prefetch_rows(const agent_store *store, const uint32_t *agents, uint32_t i, uint32_t count) {
  enum { TOGETHER = 16 };
  if (i % TOGETHER) return;
  for (uint32_t k = i ? i + TOGETHER : 0; k < i + 2 * TOGETHER && k < count; k++)
    __builtin_prefetch(&store->rows[agents[k]], 1);
}

/* Takes an agent out. O(1). */
static inline void due_remove(agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  ASSERT(row->status == AGENT_WAITING && row->scheduled);
  row->scheduled = 0;
}

/* An agent is about to be gone, scheduled or not: it is not looked at any more, since its row may be in the hands of a
 * thread that spawns. O(1). */
static inline void due_forget(class_table *classes, uint32_t index) {
  *looks_slot_of(&classes->looks, index) = 0;
}

/* Moves on the due time of an agent that has missed more than one: to the next one in its phase. */
void due_skip_missed(const agent_class *class, agent_row *row);

/* When an agent is due after an update: one period after its last due time, which may have passed already. One that was
 * missed by less than a period still counts: in a standing queue an agent's turn comes about a period after its
 * release, and half of those that come a little later would run at half of the rate of the others. */
static inline void due_set_next(const agent_class *class, agent_row *row) {
  /* A woken agent ran ahead of its time: that time still stands. */
  if (row->virtual_due_ns <= class->clock_ns) row->virtual_due_ns += class->nominal_ns;
  if (row->virtual_due_ns < class->clock_ns) due_skip_missed(class, row);
}

/* Moves a waiting agent to another class of the same type, which it has joined, with what remains of its period. */
void due_transfer(class_table *classes, const agent_class *from, const agent_class *to, agent_store *store,
                  uint32_t index);

/* Advances the clocks of the bands by `elapsed_ns` of simulation time, by the rates of all classes; then those of each
 * class at its own. */
void due_advance_bands(class_table *classes, uint64_t elapsed_ns);
void due_advance(class_table *classes, agent_class *class, uint64_t elapsed_ns);

/* A type that was frozen is so no longer: its waiting agents are looked at in time again. O(agents). */
void due_thaw(class_table *classes, agent_store *store, uint32_t type);

/* Looks at an agent whose turn has come: true when its time has. Else it is put in again, unless it has left. An agent
 * that is at `now_ns` already, since it ran or began then, has no time to be told of: it waits until some has passed.
 * Agents of different shards may be looked at at the same time. */
static inline bool due_has_come(class_table *classes, agent_store *store, uint32_t index, uint64_t now_ns) {
  agent_row *row = &store->rows[index];
  ASSERT(store_is_active(store, index));
  if (row->status != AGENT_WAITING || !row->scheduled) return false;
  const agent_class *class = &classes->classes[row->class];
  bool frozen = classes->frozen[class->type];
  if (row->virtual_due_ns <= class->clock_ns && !frozen && row->last_update_ns < now_ns) return true;
  uint64_t left_ns = frozen ? class->nominal_ns : due_remaining_ns(class, row);
  looks_put(&classes->looks, class->look_band, due_look_ns(classes, class, left_ns), index);
  return false;
}

/* An agent that is due is to be looked at again, at once. */
static inline void due_put_back(class_table *classes, const agent_store *store, uint32_t index) {
  uint32_t band = classes->classes[store->rows[index].class].look_band;
  looks_put(&classes->looks, band, classes->looks.clock_ns[band], index);
}

/* Goes on with the sweep: puts agents in anew that a band holds which is to be emptied. After the clocks have gone on,
 * and before agents are looked at; there is room for all in `agents`. */
void due_sweep(class_table *classes, agent_store *store, uint64_t now_ns, uint32_t *agents);

#endif
