/* plan/ready_ring.h - waiting agents in the order of their keys, however many wait.
 *
 * An entry is a key and the agent that it is for in one number: 40 bits for the key, 24 for the agent, so that entries
 * of equal keys are in the order of their agents. Entries lie in blocks of four cache lines, in lists that are not
 * sorted: a ring of buckets of equal width, and two more for all that is older than the ring or lies ahead of it. A
 * bucket is sorted when its turn comes. One that is too large to be sorted in a frame is split once into 256 lists, and
 * the first of these again if it is too large still: so what a frame takes out, it sorts, and nothing else.
 *
 * An agent that leaves is not looked for: its entry stays until its turn comes, and is dropped then, because the
 * agent's row knows its key (row.filed, ring_mark()). When most entries are of agents that have left, all lists are
 * swept (ready.c). */
#ifndef PLAN_READY_RING_H
#define PLAN_READY_RING_H

#include "agents/store.h"
#include "base/arena.h"

enum {
  RING_BUCKETS = 4096,
  RING_OLDER = RING_BUCKETS, /* the list of entries that are older than the ring, */
  RING_BEYOND,               /* and of those that lie ahead of it */
  RING_LISTS,
  RING_SORTED_MAX = 2048, /* entries that are sorted at once, unless one list of a split has more */
  RING_BLOCK_ENTRIES = 31,
  RING_SPLIT = 256,
  RING_LEVELS = 8, /* as often a bucket can be split: once for each byte of an entry */
  RING_AGENT_BITS = 24,
  RING_KEY_BITS = 40
};

#define RING_AGENT_MASK ((1ull << RING_AGENT_BITS) - 1)
#define RING_KEY_MAX    ((1ull << RING_KEY_BITS) - 1)

typedef struct ring_block {
  _Alignas(64) uint64_t entries[RING_BLOCK_ENTRIES];
  uint32_t previous; /* the block before it, or the next free one */
} ring_block;

_Static_assert(sizeof(ring_block) == 256, "a block is four cache lines");

typedef struct ring_list {
  uint32_t last, count; /* block; entries, which fill all blocks but the last */
} ring_list;

/* A list that was split. */
typedef struct ring_level {
  uint64_t base;
  uint32_t shift;
  uint32_t open; /* the one of its lists that was split, too, into the level below */
  uint64_t occupied[RING_SPLIT / 64];
  ring_list lists[RING_SPLIT];
} ring_level;

typedef struct ready_ring {
  uint32_t shift;   /* a bucket is 2^shift keys wide */
  uint64_t low;     /* number of the ring's first bucket */
  uint64_t beyond;  /* what lies ahead of the ring has no number below */
  uint32_t entries; /* also those of agents that have left */
  uint32_t free, fresh, maximum;
  ring_block *blocks;
  ring_list aside;      /* entries that were taken out and come back */
  uint32_t depth;       /* how many levels are in use, */
  uint32_t open_bucket; /* and of which bucket */
  uint64_t occupied[RING_BUCKETS / 64];
  ring_list lists[RING_LISTS];
  ring_level levels[RING_LEVELS];
  uint64_t *sorted, *other; /* what was taken last, to be sorted; room for every entry */
} ready_ring;

static inline uint64_t ring_entry(uint64_t key, uint32_t agent) {
  return key << RING_AGENT_BITS | agent;
}

static inline uint32_t ring_agent(uint64_t entry) {
  return (uint32_t)(entry & RING_AGENT_MASK);
}

/* What the row of an agent keeps of its entry: never 0. */
static inline uint32_t ring_mark(uint64_t entry) {
  return (uint32_t)(entry >> RING_AGENT_BITS) | 1u << 31;
}

/* Reserves a ring for `agents_max` agents. */
void ready_ring_create(ready_ring *ring, uint32_t agents_max, struct arena *arena);

/* Whether so many entries are of agents that have left that the ring is to be swept; `live` agents are in it. */
static inline bool ready_ring_is_full(const ready_ring *ring, uint32_t live) {
  return ring->entries > 2 * live + RING_SORTED_MAX;
}

/* Puts an entry in. O(1). */
void ready_ring_add(ready_ring *ring, uint64_t entry);

/* Sets where the ring begins, and how wide buckets are, while it is empty. */
void ready_ring_place(ready_ring *ring, uint32_t shift, uint64_t low);

/* Moves the first bucket on to `low`; what the buckets before it hold is older then. O(buckets passed + entries). */
void ready_ring_advance(ready_ring *ring, uint64_t low);

/* Takes out the first entries, in no order: fills ring->sorted and returns how many they are, 0 when there are none.
 * Every entry that stays is behind them. */
uint32_t ready_ring_take(ready_ring *ring);

/* An entry that was taken out waits beside the ring until ready_ring_restore(). */
void ready_ring_set_aside(ready_ring *ring, uint64_t entry);
void ready_ring_restore(ready_ring *ring);

/* Takes out all entries, in no order: into ring->sorted. Returns how many. */
uint32_t ready_ring_take_all(ready_ring *ring);

/* Shows every entry, in no order. */
void ready_ring_visit(const ready_ring *ring, void (*show)(uint64_t entry, void *user), void *user);

/* How many entries are in buckets that end before a key, about: those of its own bucket do not count. */
uint32_t ready_ring_count_before(const ready_ring *ring, uint64_t key);

/* Bytes of blocks that were ever in use. */
static inline uint64_t ready_ring_bytes(const ready_ring *ring) {
  return (uint64_t)ring->fresh * sizeof(ring_block);
}

/* Sorts entries. The result is in *entries, and *other is room for as many. */
void ready_ring_sort(uint64_t **entries, uint64_t **other, uint32_t count);

#endif
