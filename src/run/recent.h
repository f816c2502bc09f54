/* run/recent.h - a map of the last entries that were added: where agents went that left, and which messages came.
 *
 * Entries stand in a ring in the order in which they were added, each in the place of the one that was added `maximum`
 * entries before, so that the map is bounded; chains by hash lead to them. The frame's thread writes; any thread reads:
 *
 *   writer: version odd -> entries, links (release) [p] -> version even (release)
 *   reader: version even? (acquire) -> entries, links (acquire, pairs with [p]) -> version as before? else once more */
#ifndef RUN_RECENT_H
#define RUN_RECENT_H

#include "base/arena.h"
#include "pool/atomics.h"

typedef struct recent_key {
  uint64_t first, second; /* not both 0 */
} recent_key;

struct recent {
  uint32_t maximum, mask;
  uint32_t count;   /* entries that are there */
  uint64_t added;   /* entries that ever were */
  uint64_t first;   /* none of those before this number is there */
  uint64_t dropped; /* for newer ones */
  shared_u32 version;
  shared_u64 *firsts, *seconds, *values; /* by place */
  shared_u32 *nexts;                     /* by place: the next place of its chain + 1 */
  shared_u32 *chains;                    /* by hash: the first place + 1 */
};

/* Reserves room for so many entries. Sets arena->failed when there is none. */
void recent_create(struct recent *recent, uint32_t maximum, struct arena *arena);

/* Whether there is an entry, and its value (may be null). Any thread. */
bool recent_find(const struct recent *recent, recent_key key, uint64_t *value);

/* Adds an entry; one with the same key is gone. Frame's thread. */
void recent_add(struct recent *recent, recent_key key, uint64_t value);

/* Takes an entry out, if it is there. Frame's thread. */
void recent_take_out(struct recent *recent, recent_key key);

/* The entry that was added as number `number`, counted from 0; false when it is gone. Frame's thread. */
bool recent_entry(const struct recent *recent, uint64_t number, recent_key *key, uint64_t *value);

/* The entry that was added before all others that are there; false when there is none. Frame's thread. O(1), but for
 * those that are gone since the last call. */
bool recent_oldest(struct recent *recent, recent_key *key, uint64_t *value);

/* The next entry to be added is this number: entries are restored in their order. Frame's thread, before others know
 * the world. */
static inline void recent_restore(struct recent *recent, uint64_t number) {
  recent->added = number;
}

#endif
