/* idle_watch.h - whether a world under the virtual clock uses its capacity: what the library counts by the wall clock
 * alone, seen from outside, in the reports of its frames. */
#ifndef BENCH_IDLE_WATCH_H
#define BENCH_IDLE_WATCH_H

#include "plan/usage.h"

#include <muster/muster.h>
#include <stdint.h>

enum { IDLE_FRAMES_MAX = 256 };

typedef struct idle_watch {
  uint64_t longest_ns, acts_ns;      /* the longest update, and the most that actions took in a frame, so far */
  uint64_t frames;                   /* that ended while agents waited with time for it, and twice for these */
  uint64_t left_ns[IDLE_FRAMES_MAX]; /* that time, beside actions, of the first so many of them */
  struct usage usage; /* of windows in which every agent had its turn: its `faults` are those in which a tenth or more
                         of the capacity was left, though periods were stretched and an update would have fitted */
} idle_watch;

/* Adds a frame that had this capacity. */
void idle_watch_add(idle_watch *watch, const muster_frame_report *report, uint64_t capacity_ns);

#endif
