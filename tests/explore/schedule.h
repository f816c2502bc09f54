/* schedule.h - the scheduler of the explorer: which fibre goes on at a point of choice, how many points to the next.
 *
 * A schedule's seed chooses one of three strategies, because each finds what the others hardly do:
 *
 *   uniform     any fibre at every point: what needs many switches
 *   bursts      one fibre for about 2 to 60 points: what needs few switches anywhere
 *   priorities  the fibre with the highest priority, which falls to the lowest at up to five steps drawn beforehand
 * (the probabilistic concurrency testing of Burckhardt and others): what needs few switches at exact places
 *
 * Numbers are a hash of (seed, counter). */
#ifndef EXPLORE_SCHEDULE_H
#define EXPLORE_SCHEDULE_H

#include <stdbool.h>
#include <stdint.h>

typedef enum schedule_strategy { SCHEDULE_UNIFORM = 0, SCHEDULE_BURSTS, SCHEDULE_PRIORITIES } schedule_strategy;

enum { SCHEDULE_CHANGES_MAX = 5 };

struct schedule {
  uint64_t key, counter, bits; /* of the numbers; bits are what is left of the last one */
  uint32_t bits_left;
  schedule_strategy strategy;
  uint32_t burst;                           /* mean length */
  uint32_t pauses_most;                     /* that a fibre spins before another must run */
  int32_t lowest;                           /* priority given away so far */
  int32_t priorities[8];                    /* by fibre */
  uint32_t changes;                         /* left */
  uint64_t change_at[SCHEDULE_CHANGES_MAX]; /* steps, the latest first */
};

/* Begins the schedule of a seed, in a case that takes about `length` steps. */
void schedule_begin(struct schedule *schedule, uint64_t seed, uint32_t fibres, uint64_t length, bool uniform);

/* A number below `bound` (at most 65,536). */
uint32_t schedule_draw(struct schedule *schedule, uint32_t bound);

/* At `step`: the running fibre's burst is over. */
void schedule_change(struct schedule *schedule, uint64_t step, uint32_t fibre);

/* Puts a fibre behind all others: it spins. */
void schedule_yield(struct schedule *schedule, uint32_t fibre);

/* One of the fibres in a set that is not empty. */
uint32_t schedule_pick(struct schedule *schedule, uint32_t ready);

/* The number of points until the next choice. */
int64_t schedule_plan(struct schedule *schedule, uint64_t step);

#endif
