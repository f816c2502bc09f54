/* measures.h - how the measures are taken of which the suites consist; each is described at its definition. */
#ifndef BENCH_MEASURES_H
#define BENCH_MEASURES_H

#include "engine.h"

bench_take_function take_submit, take_parallel_for, take_small_jobs, take_skewed;            /* throughput.c */
bench_take_function take_claim, take_queue_claims;                                           /* claims.c */
bench_take_function take_start_warm, take_start_parked, take_idle;                           /* start.c */
bench_take_function take_frame;                                                              /* frame.c */
bench_take_function take_urgent_outside, take_urgent_inside, take_urgent_range, take_levels; /* urgent.c */

#endif
