/* pool/range.h - a function over 0..count-1, worked off in pieces by several threads: one number says what is next.
 *
 * Helpers are jobs that carry the range. A piece is as many indices as are expected to take RANGE_PIECE_NS, but no more
 * than half of an even part of what is left, and no fewer than the grain. */
#ifndef POOL_RANGE_H
#define POOL_RANGE_H

#include "pool/group.h"

enum { RANGE_PIECE_NS = 8000 };

struct range {
  shared_u64 next;    /* index */
  shared_u64 cost_ps; /* cost of an index, measured on the last piece; 0 = not known yet */
  uint32_t lane;
  bool attended; /* its caller works along and runs what no helper does */
  uint64_t count, grain;
  muster_range_function run;
  void *argument;
  const struct group *group;
};

/* The job of a helper; its argument is the range. */
void range_help(void *argument, uint32_t worker);

/* How many jobs are dropped with this entry: one; but the first helper of a range that is dropped ends the range and
 * counts for all helpers, and none counts when the range has started or is attended by its caller. */
static inline uint32_t range_counts_as_dropped(const struct job *job) {
  if (job->run != range_help) return 1;
  struct range *range = job->argument;
  uint64_t none = 0;
  return !range->attended && compare_exchange_ordered_u64(&range->next, &none, range->count);
}

#endif
