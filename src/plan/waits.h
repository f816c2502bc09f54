/* plan/waits.h - since when do agents wait? Counts of waiting agents by the time of their release: so the longest wait
 * is known, and no agent has a place in a line.
 *
 * Frames release, so times come in ascending order and are few. When they are too many, each two neighbours become one:
 * the wait of agents that have waited for tens of thousands of frames may be told by one part in 4,096 too long. */
#ifndef PLAN_WAITS_H
#define PLAN_WAITS_H

#include "base/arena.h"

#include <stdbool.h>

enum { WAITS_MAX = 65536 };

typedef struct waits_entry {
  uint64_t released_ns;
  uint32_t agents; /* that were released then */
} waits_entry;

typedef struct wait_book {
  waits_entry *entries; /* in ascending order; the first and the last are of agents that wait, unless none does */
  uint32_t first, end;
  uint32_t agents; /* of all entries */
} wait_book;

/* Reserves an empty book. */
void waits_create(wait_book *book, struct arena *arena);

/* An agent that was released at that time begins to wait, or waits no longer. O(1) for the latest time, else O(log
 * times), and for a new time among them O(times). */
void waits_enter(wait_book *book, uint64_t released_ns);
void waits_leave(wait_book *book, uint64_t released_ns);

/* When the agent was released that waits longest; UINT64_MAX when none waits. O(1). */
static inline uint64_t waits_oldest_ns(const wait_book *book) {
  return book->agents ? book->entries[book->first].released_ns : UINT64_MAX;
}

#endif
