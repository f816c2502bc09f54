/* service/zones/pair.h - which messages of one zone to another count. Pure.
 *
 * The messages from zone A to zone B stand on a subject of their own, in an order that all readers see. Each has the
 * epoch of A's owner and a number. A new owner begins with a mark: its epoch and the number 0.
 *
 *     (e, 0), e above the epoch so far   counts: a mark. Nothing of an earlier epoch counts behind it
 *     (e, n + 1), e the epoch so far     counts: the next message
 *     anything else                      does not: of an owner that has lost its zone, once more, or behind a gap
 *
 * B applies what counts. A's next owner reads the same subject up to its own mark, and comes to the same answer: so an
 * agent is where the last message that counts has brought it. The rule asks nothing of the broker but that a subject
 * has one order. A publish without an answer is published again: the second one does not count.
 * tests/model/zones.pml searches it. */
#ifndef SERVICE_ZONES_PAIR_H
#define SERVICE_ZONES_PAIR_H

#include <stdbool.h>
#include <stdint.h>

/* How far a pair's messages have counted; zero at first. */
typedef struct zone_pair {
  uint32_t epoch, number;
  uint64_t sequence; /* of the last message seen, whether it counted or not: the broker's */
} zone_pair;

static inline bool pair_is_mark(const zone_pair *pair, uint32_t epoch, uint32_t number) {
  return epoch > pair->epoch && number == 0;
}

/* Whether the next message of the subject, in its order, counts. */
static inline bool pair_counts(const zone_pair *pair, uint64_t sequence, uint32_t epoch, uint32_t number) {
  bool next = epoch == pair->epoch && number == pair->number + 1;
  return sequence > pair->sequence && (next || pair_is_mark(pair, epoch, number));
}

/* The same, and the pair is behind it. */
static inline bool pair_takes(zone_pair *pair, uint64_t sequence, uint32_t epoch, uint32_t number) {
  bool counts = pair_counts(pair, sequence, epoch, number);
  if (sequence > pair->sequence) pair->sequence = sequence;
  if (counts) pair->epoch = epoch;
  if (counts) pair->number = number;
  return counts;
}

#endif
