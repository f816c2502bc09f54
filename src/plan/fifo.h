/* plan/fifo.h - a FIFO queue of agents. An agent that leaves is only marked; its place is passed over later, when its
 * stamp is no longer the agent's. When more than half of the places are of such agents, the rest close up.
 *
 * The stamps are the queue's own: the row of an agent that was removed may be in the hands of a thread that spawns. */
#ifndef PLAN_FIFO_H
#define PLAN_FIFO_H

#include "base/arena.h"

struct fifo {
  uint64_t *places; /* stamp << 32 | agent */
  uint32_t *stamps; /* by agent: the stamp of the place where it stands; 0 = nowhere */
  uint32_t head, tail;
  uint32_t standing; /* agents that came and have not left */
  uint32_t arrivals; /* the last stamp given */
};

enum { FIFO_SLACK = 1024 };

/* Reserves room for `agents_max` agents, each queued at most once. */
static inline void fifo_create(struct fifo *fifo, uint32_t agents_max, struct arena *arena) {
  *fifo = (struct fifo){.places = arena_reserve(arena, (size_t)agents_max * 2 + FIFO_SLACK + 1, sizeof *fifo->places),
                        .stamps = arena_reserve(arena, agents_max, sizeof *fifo->stamps)};
}

/* Whether the agent still stands in a place. */
static inline bool fifo_stands(const struct fifo *fifo, uint64_t place) {
  return fifo->stamps[(uint32_t)place] == (uint32_t)(place >> 32);
}

/* Closes up: forgets the places that agents have left. O(places). */
static inline void fifo_compact(struct fifo *fifo) {
  uint32_t kept = 0;
  for (uint32_t i = fifo->head; i < fifo->tail; i++)
    if (fifo_stands(fifo, fifo->places[i])) fifo->places[kept++] = fifo->places[i];
  fifo->head = 0;
  fifo->tail = kept;
}

/* The same when most places are passed over. */
static inline void fifo_close_up(struct fifo *fifo) {
  if (fifo->tail > 2 * fifo->standing + FIFO_SLACK) fifo_compact(fifo);
}

/* An agent comes to the end of the queue, in which it does not stand. Amortised O(1). */
static inline void fifo_join(struct fifo *fifo, uint32_t agent) {
  fifo_close_up(fifo);
  if (++fifo->arrivals == 0) fifo->arrivals = 1;
  fifo->stamps[agent] = fifo->arrivals;
  fifo->places[fifo->tail++] = (uint64_t)fifo->arrivals << 32 | agent;
  fifo->standing++;
}

/* An agent leaves the line, while others may on other threads; fifo_left() is told afterwards how many left. */
static inline void fifo_leave_beside(struct fifo *fifo, uint32_t agent) {
  fifo->stamps[agent] = 0;
}

static inline void fifo_left(struct fifo *fifo, uint32_t count) {
  fifo->standing -= count;
  if (fifo->standing == 0) fifo->head = fifo->tail = 0;
}

/* An agent that stands in the line leaves it. */
static inline void fifo_leave(struct fifo *fifo, uint32_t agent) {
  fifo_leave_beside(fifo, agent);
  fifo_left(fifo, 1);
}

/* Where the first `most` places end, or the queue, if it is shorter. */
static inline uint32_t fifo_end_of_first(const struct fifo *fifo, uint32_t most) {
  return fifo->tail - fifo->head > most ? fifo->head + most : fifo->tail;
}

/* The first agent at or after *place and before `end`; moves *place past it. UINT32_MAX when no agent stands there. */
static inline uint32_t fifo_next_before(const struct fifo *fifo, uint32_t *place, uint32_t end) {
  if (end > fifo->tail) end = fifo->tail;
  while (*place < end) {
    uint64_t at = fifo->places[(*place)++];
    if (fifo_stands(fifo, at)) return (uint32_t)at;
  }
  return UINT32_MAX;
}

/* The same up to the end of the queue. */
static inline uint32_t fifo_next(const struct fifo *fifo, uint32_t *place) {
  return fifo_next_before(fifo, place, fifo->tail);
}

/* Passes over places at the head of agents that have left, `most` places at a time. */
static inline void fifo_settle(struct fifo *fifo, uint32_t most) {
  uint32_t end = fifo_end_of_first(fifo, most);
  while (fifo->head < end && !fifo_stands(fifo, fifo->places[fifo->head])) fifo->head++;
}

#endif
