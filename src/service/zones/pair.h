/* service/zones/pair.h - which messages of one zone to another count. Pure.
 *
 * The messages from zone A to zone B have the epoch of A's owner and a number, and stand in one order for all readers.
 *
 *     (e, n + 1), e the epoch so far            counts: the next message
 *     (f, 1), f above that epoch                counts: the first message of a new owner
 *     anything else                             does not: of an owner that has lost its zone, once more, behind a gap
 *
 * B applies what counts. A's next owner reads the same, once it has made sure that nothing of an earlier epoch can come
 * behind it, and comes to the same answer: so an agent is where the last message that counts has brought it. What
 * crosses stands in etcd, which takes no message of an owner without the lease. A message without an
 * answer is put again: the second one does not count. tests/model/zones.pml searches it. */
#ifndef SERVICE_ZONES_PAIR_H
#define SERVICE_ZONES_PAIR_H

#include "service/zones/place.h"

/* How far a pair's messages have counted; zero at first. */
typedef struct zone_pair {
  uint64_t epoch, number;
  zone_place seen; /* the last message, whether it counted or not */
} zone_pair;

/* Whether the next message of the subject, in its order, counts. */
static inline bool pair_counts(const zone_pair *pair, zone_place place, uint64_t epoch, uint64_t number) {
  bool next = epoch == pair->epoch && number == pair->number + 1, first = epoch > pair->epoch && number == 1;
  return place_is_before(pair->seen, place) && (next || first);
}

/* The same, and the pair is behind it. */
static inline bool pair_takes(zone_pair *pair, zone_place place, uint64_t epoch, uint64_t number) {
  bool counts = pair_counts(pair, place, epoch, number);
  if (place_is_before(pair->seen, place)) pair->seen = place;
  if (counts) pair->epoch = epoch;
  if (counts) pair->number = number;
  return counts;
}

#endif
