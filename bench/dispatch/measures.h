/* measures.h - the measures of which the suites consist; each is described at its definition. */
#ifndef BENCH_MEASURES_H
#define BENCH_MEASURES_H

#include "engine.h"

extern const bench_measure measure_submit, measure_parallel_for, measure_small_jobs, measure_skewed; /* throughput.c */
extern const bench_measure measure_claim, measure_queue_claims;                                      /* claims.c */
extern const bench_measure measure_start_warm, measure_start_parked, measure_idle;                   /* start.c */
extern const bench_measure measure_frame;                                                            /* frame.c */
extern const bench_measure measure_urgent_outside, measure_urgent_inside, measure_urgent_range;      /* urgent.c */
extern const bench_measure measure_levels;                                                           /* urgent.c */

#endif
