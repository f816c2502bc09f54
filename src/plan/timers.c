#include "plan/timers.h"

#include "base/assert.h"

enum { CHILDREN = 4 };

void timers_create(struct timers *timers, uint32_t agents_max, struct arena *arena) {
  *timers = (struct timers){.heap = arena_reserve(arena, agents_max, sizeof *timers->heap),
                            .places = arena_reserve(arena, agents_max, sizeof *timers->places)};
}

static bool is_before(const struct timer *one, const struct timer *other) {
  return one->at_ns != other->at_ns ? one->at_ns < other->at_ns : one->agent < other->agent;
}

static void put(struct timers *timers, uint32_t place, struct timer timer) {
  timers->heap[place] = timer;
  timers->places[timer.agent] = place + 1;
}

/* Moves a timer from a free place towards the root, to where it belongs. */
static void timers_rise(struct timers *timers, uint32_t place, struct timer timer) {
  while (place > 0) {
    uint32_t parent = (place - 1) / CHILDREN;
    if (!is_before(&timer, &timers->heap[parent])) break;
    put(timers, place, timers->heap[parent]);
    place = parent;
  }
  put(timers, place, timer);
}

/* Moves a timer from a free place away from the root, to where it belongs. */
static void timers_sink(struct timers *timers, uint32_t place, struct timer timer) {
  for (;;) {
    uint32_t first = place * CHILDREN + 1, least = first;
    if (first >= timers->count) break;
    for (uint32_t child = first + 1; child < first + CHILDREN && child < timers->count; child++)
      if (is_before(&timers->heap[child], &timers->heap[least])) least = child;
    if (!is_before(&timers->heap[least], &timer)) break;
    put(timers, place, timers->heap[least]);
    place = least;
  }
  put(timers, place, timer);
}

/* Puts a timer into a free place, or to where it belongs from there. */
static void timers_fill(struct timers *timers, uint32_t place, struct timer timer) {
  if (place > 0 && is_before(&timer, &timers->heap[(place - 1) / CHILDREN]))
    timers_rise(timers, place, timer);
  else
    timers_sink(timers, place, timer);
}

void timers_set(struct timers *timers, uint32_t agent, uint64_t at_ns) {
  uint32_t place = timers->places[agent];
  if (place == 0) place = ++timers->count;
  if (timers->count > timers->high) timers->high = timers->count;
  timers_fill(timers, place - 1, (struct timer){at_ns, agent});
}

void timers_cancel(struct timers *timers, uint32_t agent) {
  if (!timers_has(timers, agent)) return;
  uint32_t place = timers->places[agent] - 1;
  ASSERT(timers->heap[place].agent == agent);
  timers->places[agent] = 0;
  struct timer last = timers->heap[--timers->count];
  if (place < timers->count) timers_fill(timers, place, last);
}

uint32_t timers_take_due(struct timers *timers, uint64_t now_ns) {
  if (timers->count == 0 || timers->heap[0].at_ns > now_ns) return UINT32_MAX;
  uint32_t agent = timers->heap[0].agent;
  timers_cancel(timers, agent);
  return agent;
}
