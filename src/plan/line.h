/* plan/line.h - agents in order of arrival. Who leaves is only forgotten; the place is passed over later, when its
 * stamp is no longer the agent's. When more than half of the places are such, the rest close up.
 *
 * The stamps are the line's own: the row of an agent that was removed may be in the hands of a thread that spawns. */
#ifndef PLAN_LINE_H
#define PLAN_LINE_H

#include "base/arena.h"

struct line {
  uint64_t *places; /* stamp << 32 | agent */
  uint32_t *stamps; /* by agent: of the place where it stands; 0 = nowhere */
  uint32_t head, tail;
  uint32_t standing; /* agents who came and have not left */
  uint32_t arrivals; /* the last stamp given */
};

enum { LINE_SLACK = 1024 };

/* Reserves room for `agents_max` agents, each in line at most once. */
static inline void line_create(struct line *line, uint32_t agents_max, struct arena *arena) {
  *line = (struct line){.places = arena_reserve(arena, (size_t)agents_max * 2 + LINE_SLACK + 1, sizeof *line->places),
                        .stamps = arena_reserve(arena, agents_max, sizeof *line->stamps)};
}

/* Whether somebody still stands in a place. */
static inline bool line_stands(const struct line *line, uint64_t place) {
  return line->stamps[(uint32_t)place] == (uint32_t)(place >> 32);
}

/* Closes up when most places are passed over. */
static inline void line_close_up(struct line *line) {
  if (line->tail <= 2 * line->standing + LINE_SLACK) return;
  uint32_t kept = 0;
  for (uint32_t i = line->head; i < line->tail; i++)
    if (line_stands(line, line->places[i])) line->places[kept++] = line->places[i];
  line->head = 0;
  line->tail = kept;
}

/* An agent comes to the end of the line, in which it does not stand. Amortised O(1). */
static inline void line_join(struct line *line, uint32_t agent) {
  line_close_up(line);
  if (++line->arrivals == 0) line->arrivals = 1;
  line->stamps[agent] = line->arrivals;
  line->places[line->tail++] = (uint64_t)line->arrivals << 32 | agent;
  line->standing++;
}

/* One who stands in line leaves, while others may beside him: how many they were, line_left() is told afterwards. */
static inline void line_leave_beside(struct line *line, uint32_t agent) {
  line->stamps[agent] = 0;
}

static inline void line_left(struct line *line, uint32_t count) {
  line->standing -= count;
  if (line->standing == 0) line->head = line->tail = 0;
}

/* One who stands in line leaves. */
static inline void line_leave(struct line *line, uint32_t agent) {
  line_leave_beside(line, agent);
  line_left(line, 1);
}

/* Where the first `most` places end, or the line. */
static inline uint32_t line_end_of_first(const struct line *line, uint32_t most) {
  return line->tail - line->head > most ? line->head + most : line->tail;
}

/* The first at or after *place, which is moved past it, and before `end`; UINT32_MAX when nobody stands there. */
static inline uint32_t line_next_before(const struct line *line, uint32_t *place, uint32_t end) {
  if (end > line->tail) end = line->tail;
  while (*place < end) {
    uint64_t at = line->places[(*place)++];
    if (line_stands(line, at)) return (uint32_t)at;
  }
  return UINT32_MAX;
}

/* The same up to the end of the line. */
static inline uint32_t line_next(const struct line *line, uint32_t *place) {
  return line_next_before(line, place, line->tail);
}

/* Passes over those at the head who have left, `most` places at a time. */
static inline void line_settle(struct line *line, uint32_t most) {
  uint32_t end = line_end_of_first(line, most);
  while (line->head < end && !line_stands(line, line->places[line->head])) line->head++;
}

#endif
