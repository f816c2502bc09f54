/* service/timings.h - how long frames and their stages took since the start: histograms with fixed buckets, kept by the
 * frames' thread. */
#ifndef SERVICE_TIMINGS_H
#define SERVICE_TIMINGS_H

#include <muster/report.h>

enum { TIMING_BUCKETS = 17 }; /* the last has no bound */

struct timing {
  uint64_t counts[TIMING_BUCKETS]; /* each value in one bucket */
  uint64_t sum_ns;
};

/* The timings of one world. */
typedef struct world_timings {
  struct timing frame;
  struct timing overrun_wall;
  struct timing overrun_own; /* only of audited frames */
  struct timing stages[MUSTER_STAGES];
  uint64_t update_cpu_ns, overhead_ns; /* sums, all workers */
} world_timings;

/* The greatest value of the bucket; UINT64_MAX for the last. */
uint64_t timing_bound_ns(uint32_t bucket);

/* Adds the values of a frame's report. */
void timings_add(world_timings *timings, const muster_frame_report *report);

#endif
