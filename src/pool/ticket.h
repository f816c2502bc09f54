/* pool/ticket.h - the claims of a batch, taken by number: {epoch:16, count:24, next:24} in one 64-bit word.
 *
 * Opening a batch is one store and taking a claim one fetch-add, so that a claim can never be taken against the count
 * of another batch. `next` may pass `count` by one per worker and batch. */
#ifndef POOL_TICKET_H
#define POOL_TICKET_H

#include "base/assert.h"
#include "pool/atomics.h"

enum { TICKET_BITS = 24, TICKET_CLAIMS_MAX = (1 << TICKET_BITS) - 1 - 256 };
#define TICKET_NONE UINT32_MAX

/* Opens a batch of `count` claims (at most TICKET_CLAIMS_MAX, which leaves room for every worker to come too late);
 * forgets the one before. Release: the crew's gate publishes it. */
static inline void ticket_open(shared_u64 *ticket, uint32_t count) {
  ASSERT(count <= TICKET_CLAIMS_MAX);
  uint64_t epoch = (load_relaxed_u64(ticket) >> (2 * TICKET_BITS)) + 1;
  store_release_u64(ticket, epoch << (2 * TICKET_BITS) | (uint64_t)count << TICKET_BITS);
}

/* The number of the next claim, or TICKET_NONE. Relaxed: whoever takes has entered through the gate (acquire). */
static inline uint32_t ticket_take(shared_u64 *ticket) {
  const uint64_t mask = (1u << TICKET_BITS) - 1;
  uint64_t seen = load_relaxed_u64(ticket);
  if ((seen & mask) >= (seen >> TICKET_BITS & mask)) return TICKET_NONE;
  seen = fetch_add_relaxed_u64(ticket, 1);
  uint64_t next = seen & mask;
  return next < (seen >> TICKET_BITS & mask) ? (uint32_t)next : TICKET_NONE;
}

#endif
