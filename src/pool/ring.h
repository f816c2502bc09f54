/* pool/ring.h - a bounded queue of small values for any number of producers and consumers.
 *
 * Each slot carries a sequence number that says whose turn it is (Vyukov's bounded queue): `position` = free for the
 * producer of that position, `position + 1` = full for its consumer, `position + capacity` = free for the next round.
 * A producer or consumer owns a slot from winning the compare-and-swap on tail or head until it stores the sequence.
 *
 *   producer: load sequence (acquire, pairs with [c])  ->  write value  ->  store sequence (release) [p]
 *   consumer: load sequence (acquire, pairs with [p])  ->  read value   ->  store sequence (release) [c]
 *
 * Order: first in, first out by the positions won; a consumer that meets a producer still writing sees an empty queue
 * and comes back. ck's rings are not used here: their multi-producer forms wait for every earlier producer. */
#ifndef POOL_RING_H
#define POOL_RING_H

#include "base/arena.h"
#include "pool/atomics.h"

struct ring {
  uint32_t mask; /* capacity - 1 */
  uint32_t value_bytes;
  uint32_t slot_bytes;
  unsigned char *slots;         /* each a shared_u64 sequence and a value */
  _Alignas(64) shared_u64 tail; /* producers */
  _Alignas(64) shared_u64 head; /* consumers */
};

/* Reserves a queue of at least `capacity` values of `value_bytes` each. Sets arena->failed when memory is refused. */
void ring_create(struct ring *ring, uint32_t capacity, uint32_t value_bytes, struct arena *arena);

/* Commits as much of its memory as the arena's `ready` says. Only the creator. */
void ring_make_ready(const struct ring *ring, const struct arena *arena);

/* Copies a value in; false when the queue is full. Any thread. */
bool ring_push(struct ring *ring, const void *value);

/* The same for a queue that has room for every value that can exist: it is full only where a consumer is still reading
 * the slot, and the producer waits for that. Any thread. */
void ring_push_sure(struct ring *ring, const void *value);

/* Copies the oldest value out; false when the queue is empty. Any thread. */
bool ring_pop(struct ring *ring, void *value);

/* Copies out the value that is popped after `ahead` others; false when there is none. While no thread pops. */
bool ring_peek(const struct ring *ring, uint32_t ahead, void *value);

/* About how many values are inside. Any thread. */
uint32_t ring_count(const struct ring *ring);

#endif
