#include "run/wakes.h"

#include "base/assert.h"
#include "pool/pool.h"

void wakes_create(struct wakes *wakes, uint32_t agents_max, uint32_t hints_max, struct arena *arena) {
  ARENA_ARRAY(arena, wakes->words, agents_max);
  wakes->hints_max = hints_max;
  /* More room than wakes_push() allows to use: workers put hints back. */
  ring_create(&wakes->hints, hints_max + POOL_SLOTS_MAX, sizeof(uint32_t), arena);
}

bool wakes_push(struct wakes *wakes, uint32_t agent) {
  /* Room is counted first: once the word says QUEUED, other threads rely on the hint. */
  if (fetch_add_relaxed_u32(&wakes->count, 1) >= wakes->hints_max) {
    fetch_sub_relaxed_u32(&wakes->count, 1);
    return false;
  }
  uint8_t word = load_relaxed_u8(&wakes->words[agent]), next;
  do {
    next = word == WAKE_IDLE ? WAKE_QUEUED : word == WAKE_RUNNING ? WAKE_NOTIFIED : word;
  } while (!compare_exchange_ordered_u8(&wakes->words[agent], &word, next));
  if (word == WAKE_IDLE)
    ring_push_sure(&wakes->hints, &agent);
  else
    fetch_sub_relaxed_u32(&wakes->count, 1);
  return true;
}

bool wakes_pop(struct wakes *wakes, uint32_t *agent) {
  if (!wakes_wait(wakes) || !ring_pop(&wakes->hints, agent)) return false;
  fetch_sub_relaxed_u32(&wakes->count, 1);
  return true;
}

void wakes_return(struct wakes *wakes, uint32_t agent) {
  fetch_add_relaxed_u32(&wakes->count, 1);
  ring_push_sure(&wakes->hints, &agent);
}

bool wakes_begin(struct wakes *wakes, uint32_t agent) {
  uint8_t queued = WAKE_QUEUED;
  return compare_exchange_ordered_u8(&wakes->words[agent], &queued, WAKE_RUNNING);
}

bool wakes_end(struct wakes *wakes, uint32_t agent) {
  uint8_t word = exchange_ordered_u8(&wakes->words[agent], WAKE_IDLE);
  ASSERT(word == WAKE_RUNNING || word == WAKE_NOTIFIED);
  return word == WAKE_NOTIFIED;
}

void wakes_resume(struct wakes *wakes, uint32_t agent) {
  uint8_t before = exchange_ordered_u8(&wakes->words[agent], WAKE_RUNNING);
  ASSERT(before == WAKE_IDLE);
  (void)before;
}

bool wakes_settle(struct wakes *wakes, uint32_t agent) {
  return exchange_ordered_u8(&wakes->words[agent], WAKE_IDLE) != WAKE_IDLE;
}
