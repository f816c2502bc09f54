/* pool/queue.h - the dispatch queue for jobs that arrive at any time: a lane for each priority, and a bitmap that tells
 * which lanes may have something in them.
 *
 *   producer: push to the lane (ordered)  ->  read the bitmap (ordered), set the lane's bit if it is clear
 *   worker:   read the bitmap, claim from the lanes whose bits are set, most urgent first
 *   worker before it sleeps (settles), for every lane: clear its bit (ordered)  ->  look at the lane (ordered)  ->  set
 * the bit if there is something, and look for it like its producer: another worker may have looked meanwhile and gone
 * to sleep. While a worker settles, it is counted in the same word, and others do not trust a clear bit: they would
 * turn to a less urgent lane
 *
 * A job that a worker claimed together with others is no longer in its lane, and not running either: until its claimer
 * comes to it, it is still the most urgent there is, and others take it out of the claim before they turn to a less
 * urgent lane. A second bitmap tells which lanes may have such jobs:
 *
 *   claimer: announce the claim (ordered)  ->  read the bitmap (ordered), set the lane's bit if it is clear  ->  claim
 *   another: find the lane empty  ->  read the bitmap  ->  look at the claims  ->  when there is none: clear the bit
 * (ordered)  ->  look again  ->  set the bit if there is one
 *
 * So a clear bit means an empty lane, or a producer or worker that is about to set it. A set bit may stand over an
 * empty lane: looking there costs two reads, and only threads that go to sleep clear it. */
#ifndef POOL_QUEUE_H
#define POOL_QUEUE_H

#include "pool/lane.h"

/* The bits of all lanes, one for each priority. */
#define QUEUE_ALL ((1u << MUSTER_URGENCIES) - 1u)

struct queue {
  struct lane lanes[MUSTER_URGENCIES];
  _Alignas(64) shared_u32 occupied; /* a bit for each lane, and above them how many threads settle now */
  shared_u32 claimed;
};

/* Reserves lanes for `capacity` jobs each, a power of two. */
void queue_create(struct queue *queue, uint32_t capacity, struct arena *arena);

/* Appends a job to a lane; false when the lane is full. Any thread. */
bool queue_push(struct queue *queue, uint32_t lane, const struct job *job);

#define QUEUE_SETTLING (1u << 16)

/* The lanes (bits) that may have something; all of them while a thread settles. Any thread. */
static inline uint32_t queue_occupied(const struct queue *queue) {
  uint32_t occupied = load_ordered_u32(&queue->occupied);
  return occupied < QUEUE_SETTLING ? occupied : QUEUE_ALL;
}

/* The lanes (bits) that may have jobs that are claimed and not started. Any thread. */
static inline uint32_t queue_claimed(const struct queue *queue) {
  return load_ordered_u32(&queue->claimed);
}

/* Whether there may be something in `lanes` (bits), or in claims on them. About a nanosecond. Any thread. */
static inline bool queue_may_have(const struct queue *queue, uint32_t lanes) {
  uint32_t occupied = load_relaxed_u32(&queue->occupied);
  return (occupied | load_relaxed_u32(&queue->claimed)) & lanes || occupied >= QUEUE_SETTLING;
}

/* Notes that jobs of a lane stand in an announced claim. By the claimer, before it claims. */
void queue_note_claimed(struct queue *queue, uint32_t lane);

/* Clears the bits of `lanes` in the bitmap of claims; the caller then looks at the claims once more. Any thread. */
static inline void queue_forget_claimed(struct queue *queue, uint32_t lanes) {
  fetch_and_ordered_u32(&queue->claimed, ~lanes);
}

/* How many jobs of a lane, up to `most`, one of `workers` (0: any number) should claim: no more than half of an even
 * part of what waits, so that a claim does not keep jobs from workers that have none. */
uint32_t queue_fair_part(const struct lane *lane, uint32_t most, uint32_t workers);

/* Whether one of `lanes` (bits) whose bit is set has something. Any thread. */
bool queue_has_work(const struct queue *queue, uint32_t lanes);

/* Clears the bits that stand over empty lanes. True when some lane has something. For a thread about to sleep. */
bool queue_settle(struct queue *queue);

#endif
