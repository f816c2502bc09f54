/* pool/lane.h - a bounded queue of jobs, first in, first out, from which any job can also be taken out of turn.
 *
 * Jobs get positions 0, 1, 2, ...; position p stands in slot p mod capacity and belongs to lap p / capacity of that
 * slot. A slot's state is one number that only grows: 4 x lap + { FREE 0, FULL 1, TAKEN 2 }.
 *
 *                     push                     start: the claimer of the position
 *   lap, FREE -----------------------> FULL ------------------------------------> lap + 1, FREE
 *                                       |                                               ^
 *                                       +--- take out: any thread -> TAKEN --- start ----+
 *
 * Consumers claim positions in order, several at once, by moving head; a claimed job has not started yet: starting it
 * and taking it out of turn (by a waiter that may run nothing else, by an idle worker, by a stop) compete for the
 * slot's state with one compare-and-swap, so that exactly one of them gets the job. Words of a job are read before
 * that swap, which tells whether they were still its own.
 *
 *   push   state = FULL [p] (ordered)  pairs with the acquire of start, take_out and look
 *   start, take_out: state [c] (acquire, release)  pairs with the acquire of push for the next lap
 *
 * ck's rings cannot take values out of turn, and their multi-producer forms wait for every earlier producer. */
#ifndef POOL_LANE_H
#define POOL_LANE_H

#include "base/arena.h"
#include "pool/atomics.h"

#include <muster/jobs.h>

struct job {
  muster_job_function run;
  void *argument;
  struct group *group; /* null: no group counts it */
};

typedef struct lane_slot {
  shared_u64 state;
  shared_u64 run, argument, group;
} lane_slot;

struct lane {
  uint64_t mask; /* capacity - 1 */
  uint32_t log2_capacity;
  lane_slot *slots;
  _Alignas(64) shared_u64 tail; /* the next position to push to */
  _Alignas(64) shared_u64 head; /* the next position to claim */
};

/* Reserves a lane for `capacity` jobs, a power of two. Sets arena->failed when memory is refused. */
void lane_create(struct lane *lane, uint32_t capacity, struct arena *arena);

/* Appends a job; false when the slot is not free yet: the lane is full. Any thread. */
bool lane_push(struct lane *lane, const struct job *job);

/* How many positions from the head on, up to `most`, could be claimed now, and the first of them. With `only` not null,
 * only jobs of that group count. Any thread. */
uint32_t lane_look(const struct lane *lane, uint32_t most, const struct group *only, uint64_t *first);

/* Claims what lane_look found; false when another thread did. A thread that claims several positions announces them
 * before, so that threads that look first at lanes and then at announced claims never miss a job. Every claimed
 * position must be started. Any thread. */
bool lane_claim(struct lane *lane, uint64_t first, uint32_t count);

/* Frees the places at the head whose jobs were taken out of turn; false when there were none. Any thread. */
bool lane_sweep(struct lane *lane);

/* The group of the job that stood at a position when it was claimed; null when it had none. */
const struct group *lane_group(const struct lane *lane, uint64_t position);

/* Gets the job of a claimed position; false when it was taken out. Once for each position, by its claimer. */
bool lane_start(struct lane *lane, uint64_t position, struct job *job);

/* Whether the job at a claimed position has neither been started nor taken out. Any thread. */
bool lane_waits(const struct lane *lane, uint64_t position);

/* Takes the job at a position out of turn, if it has not started and (with `only`) belongs to that group. Any thread.
 */
bool lane_take_out(struct lane *lane, uint64_t position, const struct group *only, struct job *job);

/* Whether a claim would find something (ordered). Any thread. */
bool lane_has_work(const struct lane *lane);

/* Bounds of the positions that are not claimed yet; they may be outdated at once. */
static inline uint64_t lane_head(const struct lane *lane) {
  return load_ordered_u64(&lane->head);
}
static inline uint64_t lane_tail(const struct lane *lane) {
  return load_ordered_u64(&lane->tail);
}

#endif
