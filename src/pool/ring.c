#include "pool/ring.h"

#include "base/assert.h"

#include <sched.h>
#include <string.h>

static shared_u64 *sequence_of(const struct ring *ring, uint64_t position) {
  return (shared_u64 *)(void *)(ring->slots + (size_t)(position & ring->mask) * ring->slot_bytes);
}

void ring_create(struct ring *ring, uint32_t capacity, uint32_t value_bytes, struct arena *arena) {
  ASSERT(capacity > 0 && value_bytes > 0);
  /* In a ring of one slot "full" and "free for the next round" would be the same number. */
  uint32_t slots = round_up_to_power_of_two(capacity < 2 ? 2 : capacity);
  ring->mask = slots - 1;
  ring->value_bytes = value_bytes;
  ring->slot_bytes = (uint32_t)sizeof(shared_u64) + ((value_bytes + 7u) & ~7u);
  /* Slots are first used one after another. Where that touches a new page in a frame, it should be a small one. */
  ring->slots = arena_reserve_for_frames(arena, slots, ring->slot_bytes);
}

void ring_make_ready(const struct ring *ring, const struct arena *arena) {
  arena_make_ready(arena, ring->slots, ((size_t)ring->mask + 1) * ring->slot_bytes);
}

/* Slots are numbered relative to their index, so that zeroed memory is an empty queue: the sequence holds
 * (real sequence - index). That leaves untouched pages of a large queue uncommitted. */
static uint64_t load_sequence(const struct ring *ring, uint64_t position) {
  return load_acquire_u64(sequence_of(ring, position)) + (position & ring->mask);
}

static void store_sequence(const struct ring *ring, uint64_t position, uint64_t sequence) {
  store_release_u64(sequence_of(ring, position), sequence - (position & ring->mask));
}

bool ring_push(struct ring *ring, const void *value) {
  uint64_t position = load_relaxed_u64(&ring->tail);
  for (;;) {
    int64_t turn = (int64_t)(load_sequence(ring, position) - position);
    if (turn < 0) return false;
    if (turn == 0) {
      if (compare_exchange_relaxed_u64(&ring->tail, &position, position + 1)) break;
    } else {
      position = load_relaxed_u64(&ring->tail);
    }
  }
  memcpy((unsigned char *)sequence_of(ring, position) + sizeof(shared_u64), value, ring->value_bytes);
  store_sequence(ring, position, position + 1);
  return true;
}

void ring_push_sure(struct ring *ring, const void *value) {
  enum { PATIENCE = 100 };
  for (uint32_t tries = 0; !ring_push(ring, value); tries++) {
    pause_processor();
    if (tries >= PATIENCE) sched_yield();
  }
}

bool ring_pop(struct ring *ring, void *value) {
  uint64_t position = load_relaxed_u64(&ring->head);
  for (;;) {
    int64_t turn = (int64_t)(load_sequence(ring, position) - (position + 1));
    if (turn < 0) return false;
    if (turn == 0) {
      if (compare_exchange_relaxed_u64(&ring->head, &position, position + 1)) break;
    } else {
      position = load_relaxed_u64(&ring->head);
    }
  }
  memcpy(value, (unsigned char *)sequence_of(ring, position) + sizeof(shared_u64), ring->value_bytes);
  store_sequence(ring, position, position + ring->mask + 1);
  return true;
}

bool ring_peek(const struct ring *ring, uint32_t ahead, void *value) {
  uint64_t position = load_relaxed_u64(&ring->head) + ahead;
  if (load_sequence(ring, position) != position + 1) return false;
  memcpy(value, (const unsigned char *)sequence_of(ring, position) + sizeof(shared_u64), ring->value_bytes);
  return true;
}

uint32_t ring_count(const struct ring *ring) {
  uint64_t head = load_relaxed_u64(&ring->head), tail = load_relaxed_u64(&ring->tail);
  return tail > head ? (uint32_t)(tail - head) : 0;
}
