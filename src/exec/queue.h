/* exec/queue.h - the dispatch queue for what arrives at any time: a lane for each priority, and a bitmap that tells
 * which may have something in them.
 *
 *   producer: push to the lane (ordered)  ->  read the bitmap (ordered), set the lane's bit if it is clear
 *   worker:   read the bitmap, claim from the lanes whose bits are set, most urgent first
 *   worker before it sleeps, for every lane: clear its bit (ordered)  ->  look at the lane (ordered)  ->  set the bit
 * if there is something, and see to it like its producer: somebody else may have looked meanwhile and gone to sleep
 *
 * So a clear bit means an empty lane, or a producer or worker that is about to set it. A set bit may stand over an
 * empty lane: looking there costs two reads, and only those who go to sleep clear. */
#ifndef EXEC_QUEUE_H
#define EXEC_QUEUE_H

#include "exec/lane.h"

enum { LANE_PINNED = MUSTER_PRIORITIES, LANE_BLOCKING, LANES };

/* Of the priorities; pinned and blocking jobs have no bits here. */
#define QUEUE_ALL ((1u << MUSTER_PRIORITIES) - 1u)

typedef struct queue {
  lane lanes[LANES];
  _Alignas(64) shared_u32 occupied;
} queue;

/* Reserves lanes for `capacity` jobs each, a power of two. */
void queue_create(queue *queue, uint32_t capacity, arena *arena);

/* Appends a job to a lane; false when that is full. Any thread. */
bool queue_push(queue *queue, uint32_t lane, const job *job);

/* The lanes (bits) that may have something. Any thread. */
static inline uint32_t queue_occupied(const queue *queue) {
  return load_ordered_u32(&queue->occupied);
}

/* Whether there may be something in `lanes` (bits). About a nanosecond. Any thread. */
static inline bool queue_may_have(const queue *queue, uint32_t lanes) {
  return load_relaxed_u32(&queue->occupied) & lanes;
}

/* How many jobs of a lane, up to `most`, one of `workers` (0: any number) should claim: no more than half of an even
 * part of what waits, so that a claim does not keep jobs from those who have none. */
uint32_t queue_fair_part(const lane *lane, uint32_t most, uint32_t workers);

/* Whether one of `lanes` (bits) whose bit is set has something. Any thread. */
bool queue_has_work(const queue *queue, uint32_t lanes);

/* Clears the bits that stand over empty lanes. True when some lane has something. For whoever is about to sleep. */
bool queue_settle(queue *queue);

#endif
