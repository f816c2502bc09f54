/* pool/ticket.h - work that is handed out by number, to the thread that asks first: the claims of a batch, the
 * partitions of some work, a lot of numbers. */
#ifndef POOL_TICKET_H
#define POOL_TICKET_H

#include "base/assert.h"
#include "pool/atomics.h"

/* -------------------------------------------------------------------------------------------------------- tickets */

/* The claims of a batch, taken in order: {epoch:16, count:24, next:24} in one 64-bit word, so that a claim can never be
 * taken against the count of another batch. A batch may grow while claims are taken: so a claim is taken by a swap, and
 * not by an addition, which would take a number that comes into being later. */
enum { TICKET_BITS = 24, TICKET_CLAIMS_MAX = (1 << TICKET_BITS) - 1 };
#define TICKET_NONE UINT32_MAX

/* Opens a batch of `count` claims; forgets the batch before. Release: the team's gate publishes it. */
static inline void ticket_open(shared_u64 *ticket, uint32_t count) {
  ASSERT(count <= TICKET_CLAIMS_MAX);
  uint64_t epoch = (load_relaxed_u64(ticket) >> (2 * TICKET_BITS)) + 1;
  store_release_u64(ticket, epoch << (2 * TICKET_BITS) | (uint64_t)count << TICKET_BITS);
}

/* The batch has `more` claims. By the thread that opened it. Release: pairs with ticket_take(), which sees what the
 * claims are. */
static inline void ticket_grow(shared_u64 *ticket, uint32_t more) {
  fetch_add_release_u64(ticket, (uint64_t)more << TICKET_BITS);
}

/* Whether every claim was taken. */
static inline bool ticket_is_spent(const shared_u64 *ticket) {
  const uint64_t mask = (1u << TICKET_BITS) - 1;
  uint64_t seen = load_relaxed_u64(ticket);
  return (seen & mask) >= (seen >> TICKET_BITS & mask);
}

/* The number of the next claim, or TICKET_NONE. Acquire: pairs with ticket_grow(), whether the number that is seen is
 * its own or that of another taker after it. */
static inline uint32_t ticket_take(shared_u64 *ticket) {
  const uint64_t mask = (1u << TICKET_BITS) - 1;
  for (;;) {
    uint64_t seen = load_acquire_u64(ticket), next = seen & mask;
    if (next >= (seen >> TICKET_BITS & mask)) return TICKET_NONE;
    if (compare_exchange_relaxed_u64(ticket, &seen, seen + 1)) return (uint32_t)next;
  }
}

/* ----------------------------------------------------------------------------------------------------- partitions */

/* Partitions of some work, each taken once, and by preference by the worker that took it the last time. What a taker
 * does is seen by others after the team has left, so nothing else is ordered here. */
enum { PARTITIONS_MAX = 256, PARTITION_NONE = PARTITIONS_MAX, PARTITION_WORDS = PARTITIONS_MAX / 64 };

struct work_partitions {
  shared_u64 left[PARTITION_WORDS]; /* a bit for each partition that is not taken */
};

/* Opens `count` partitions, at most PARTITIONS_MAX. Before the team comes. */
static inline void work_partitions_open(struct work_partitions *partitions, uint32_t count) {
  ASSERT(count <= PARTITIONS_MAX);
  for (uint32_t word = 0; word < PARTITION_WORDS; word++) {
    uint32_t before = word * 64, some = count > before ? count - before : 0;
    store_relaxed_u64(&partitions->left[word], some >= 64 ? UINT64_MAX : (1ull << some) - 1);
  }
}

/* Takes the first partition of a word that is not taken, of those in `among`; PARTITION_NONE when there is none. */
static inline uint32_t work_partitions_take_of(struct work_partitions *partitions, uint32_t word, uint64_t among) {
  uint64_t left;
  while ((left = load_relaxed_u64(&partitions->left[word]) & among)) {
    uint64_t bit = left & -left;
    if (fetch_and_ordered_u64(&partitions->left[word], ~bit) & bit) return word * 64 + (uint32_t)__builtin_ctzll(bit);
  }
  return PARTITION_NONE;
}

/* Takes the first partition that is not taken at `own` or after it, or else before it; PARTITION_NONE when none is
 * left. */
static inline uint32_t work_partitions_take(struct work_partitions *partitions, uint32_t own) {
  ASSERT(own < PARTITIONS_MAX);
  uint64_t ahead = UINT64_MAX << own % 64;
  for (uint32_t i = 0; i <= PARTITION_WORDS; i++) {
    uint64_t among = i == 0 ? ahead : i == PARTITION_WORDS ? ~ahead : UINT64_MAX;
    uint32_t partition = work_partitions_take_of(partitions, (own / 64 + i) % PARTITION_WORDS, among);
    if (partition != PARTITION_NONE) return partition;
  }
  return PARTITION_NONE;
}

/* ------------------------------------------------------------------------------------------------- index counters */

/* A counter from which any worker takes indices while a frame runs. Only the numbers matter: what a number stands for
 * belongs to the worker that got it, and is read by others after the team has left. So everything is relaxed. */
struct index_counter {
  shared_u32 taken;
};

/* Begins anew. No other thread may be taking. */
static inline void index_counter_reset(struct index_counter *counter) {
  store_relaxed_u32(&counter->taken, 0);
}

/* How many were taken so far. */
static inline uint32_t index_counter_taken(const struct index_counter *counter) {
  return load_relaxed_u32(&counter->taken);
}

/* Takes up to `wanted` of the numbers below `lot`; returns the first, and in *given how many. Any thread. */
static inline uint32_t index_counter_take(struct index_counter *counter, uint32_t lot, uint32_t wanted,
                                          uint32_t *given) {
  uint32_t first = load_relaxed_u32(&counter->taken);
  do {
    *given = wanted < lot - first ? wanted : lot - first;
  } while (!compare_exchange_relaxed_u32(&counter->taken, &first, first + *given));
  return first;
}

#endif
