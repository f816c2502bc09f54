/* plan/line.h - agents in order of arrival. Who leaves is only counted; the place is passed over later, when the
 * agent's row no longer bears out what stands there. When more than half of the places are such, the rest close up. */
#ifndef PLAN_LINE_H
#define PLAN_LINE_H

#include "agents/store.h"

typedef struct line {
  uint64_t *places; /* stamp << 32 | agent */
  uint32_t head, tail;
  uint32_t standing; /* agents who came and have not left */
} line;

/* Whether an agent still stands where its row had this stamp. */
typedef bool (*line_stands)(const agent_row *row, uint32_t stamp);

enum { LINE_SLACK = 1024 };

/* Reserves room for `agents_max` agents, each in line at most once. */
static inline void line_create(line *line, uint32_t agents_max, arena *arena) {
  *line = (struct line){.places = arena_reserve(arena, (size_t)agents_max * 2 + LINE_SLACK + 1, sizeof *line->places)};
}

/* Closes up when most places are passed over. */
static inline void line_close_up(line *line, const agent_store *store, line_stands stands) {
  if (line->tail <= 2 * line->standing + LINE_SLACK) return;
  uint32_t kept = 0;
  for (uint32_t i = line->head; i < line->tail; i++) {
    uint64_t place = line->places[i];
    if (stands(&store->rows[(uint32_t)place], (uint32_t)(place >> 32))) line->places[kept++] = place;
  }
  line->head = 0;
  line->tail = kept;
}

/* An agent comes to the end of the line. Amortised O(1). */
static inline void line_join(line *line, const agent_store *store, uint32_t agent, uint32_t stamp, line_stands stands) {
  line_close_up(line, store, stands);
  line->places[line->tail++] = (uint64_t)stamp << 32 | agent;
  line->standing++;
}

/* One who stood in line has left; the row says so already. */
static inline void line_leave(line *line) {
  line->standing--;
  if (line->standing == 0) line->head = line->tail = 0;
}

/* The first at or after *place, which is moved past it; UINT32_MAX at the end. */
static inline uint32_t line_next(const line *line, const agent_store *store, uint32_t *place, line_stands stands) {
  while (*place < line->tail) {
    uint64_t at = line->places[(*place)++];
    if (stands(&store->rows[(uint32_t)at], (uint32_t)(at >> 32))) return (uint32_t)at;
  }
  return UINT32_MAX;
}

/* Passes over those at the head who have left. */
static inline void line_settle(line *line, const agent_store *store, line_stands stands) {
  for (; line->head < line->tail; line->head++) {
    uint64_t at = line->places[line->head];
    if (stands(&store->rows[(uint32_t)at], (uint32_t)(at >> 32))) return;
  }
}

#endif
