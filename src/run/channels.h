/* run/channels.h - one end of each channel from a sender to a receiver in another zone: which message was the last.
 *
 * An end belongs to an agent, by its index: to the sender that keeps what it sent last, or to the receiver that keeps
 * what reached it last. The other end is a peer, by a number. Ends are found by both, and by their agent alone; they
 * stand in the order in which they were used last, so that the table is bounded: one that is added when it is full
 * takes the place of the oldest that holds nothing back. Frame's thread. */
#ifndef RUN_CHANNELS_H
#define RUN_CHANNELS_H

#include "base/arena.h"

#include <stdbool.h>

typedef struct channel {
  uint64_t peer;   /* not 0 */
  uint64_t number; /* of the last message; 0 = none yet */
  uint64_t frame;  /* in which that was */
  uint32_t owner;
  uint32_t held;         /* place + 1 of the first message that is held back; the caller's */
  uint32_t next, before; /* place + 1: of the owner's */
  uint32_t older, newer; /* place + 1: by use; or of a free place: the next free one */
  uint32_t chain;        /* place + 1: of its hash */
  uint32_t held_last;    /* as held, of the last one; nothing where none is */
  uint32_t held_count;   /* the caller's */
} channel;

struct channels {
  uint32_t maximum, mask;
  uint32_t count, high;    /* that there are; places that were ever in use */
  uint32_t free;           /* place + 1 */
  uint32_t oldest, newest; /* place + 1 */
  channel *all;
  uint32_t *firsts; /* by owner: place + 1 */
  uint32_t *chains; /* by hash: place + 1 */
};

/* Reserves room for `maximum` ends of owners below `owners`. Sets arena->failed when there is none. */
void channels_create(struct channels *channels, uint32_t maximum, uint32_t owners, struct arena *arena);

/* The end of an owner towards a peer, or null. O(1). */
channel *channels_find(const struct channels *channels, uint32_t owner, uint64_t peer);

/* The same; one that is not there is added, with all else 0. It is the one that was used last. Null when all hold
 * something back. O(1), but for those that do. */
channel *channels_use(struct channels *channels, uint32_t owner, uint64_t peer);

/* Takes an end out; it holds nothing back. */
void channels_drop(struct channels *channels, channel *end);

/* An owner's ends one after another, that which was used last first; and all of them by use, the oldest first. Null
 * behind the last. */
static inline channel *channels_at(const struct channels *channels, uint32_t place_and_one) {
  return place_and_one ? &channels->all[place_and_one - 1] : NULL;
}
static inline channel *channels_first(const struct channels *channels, uint32_t owner) {
  return channels_at(channels, channels->firsts[owner]);
}
static inline channel *channels_next(const struct channels *channels, const channel *end) {
  return channels_at(channels, end->next);
}
static inline channel *channels_oldest(const struct channels *channels) {
  return channels_at(channels, channels->oldest);
}
static inline channel *channels_newer(const struct channels *channels, const channel *end) {
  return channels_at(channels, end->newer);
}

#endif
