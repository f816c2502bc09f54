/* pool/park.h of the explorer - a fibre that parks is out of the schedule until its count moves. */
#ifndef POOL_PARK_H
#define POOL_PARK_H

#include "pool/atomics.h"

struct parking {
  shared_u32 count;
};

static inline uint32_t park_ticket(const struct parking *parking) {
  return load_acquire_u32(&parking->count);
}

static inline bool park_is_stale(const struct parking *parking, uint32_t ticket) {
  return load_acquire_u32(&parking->count) != ticket;
}

/* A point of choice, then sleep while the count is the ticket. */
static inline void park_wait(struct parking *parking, uint32_t ticket) {
  if (load_ordered_u32(&parking->count) == ticket) explore_block(&parking->count.value, ticket);
}

/* The increment and what it wakes are one step, as the kernel's futex makes it. */
static inline void park_wake(struct parking *parking) {
  explore_before(EXPLORE_SITE("park_wake", "parking->count", 4), &parking->count);
  parking->count.value++;
  explore_unblock(&parking->count.value);
  explore_after();
}

#endif
