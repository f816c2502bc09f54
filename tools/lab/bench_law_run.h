/* bench_law_run.h - a world at a load: what agents get there, beside what the law of importance promises them. */
#ifndef TOOLS_BENCH_LAW_RUN_H
#define TOOLS_BENCH_LAW_RUN_H

#include "bench_load.h"

/* Of agents that have been in the band since their last update: the time since then at the ends of frames, and when
 * they ran again. */
typedef struct law_stay {
  double agents;       /* mean; 0 = these two say nothing */
  double p99_s;        /* what they got, */
  double lawful_p99_s; /* and by the law: each age anything from 0 to its period */
  double runs;         /* of them; 0 = these two say nothing */
  double interval_s;   /* mean of the times between these updates and the ones before, */
  double period_s;     /* and of the periods meanwhile */
} law_stay;

typedef struct law_cell {
  double agents, pressure, important_load, deviation_s; /* means of the reports */
  uint32_t warm_up, window;                             /* frames */
  load_band important;                                  /* importance 0.9 and above */
  load_band bands[MUSTER_BANDS];                        /* as muster_band */
  law_stay stays[MUSTER_BANDS];
  double own_p50, own_p99;             /* of the important, what passes between two updates on the agent's own
                                          clock, which does a period, rounded up to frames, at a time */
  double own_exact_p50, own_exact_p99; /* the same, not rounded */
  double wait_s, wait_bound_s;         /* the longest wait of any frame, for updates and for actions, and the
                                          bound of reports; of the frame that came nearest to it, or passed it */
  uint32_t waits_beyond;               /* frames beyond the bound */
  uint64_t idle_frames, idle_windows;  /* that did not use their capacity: idle_watch.h. Of all, warm-up included */
} law_cell;

/* At so many times the wish of load_find_wish_ns(). Null, or what went wrong. */
const char *law_measure(const load_setup *setup, double wish_ns, double times, uint32_t window_least, law_cell *cell);

#endif
