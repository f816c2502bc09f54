/* What each suite measures, in the order of its table. */
#include "measures.h"

#include <stddef.h>

static const bench_measure *const dispatch[] = {&measure_submit,
                                                &measure_parallel_for,
                                                &measure_claim,
                                                &measure_queue_claims,
                                                &measure_start_warm,
                                                &measure_start_parked,
                                                &measure_idle,
                                                &measure_frame,
                                                &measure_small_jobs,
                                                &measure_skewed,
                                                NULL};

const bench_suite bench_dispatch = {"dispatch", "jobs, ranges, starts and frames, beside the peers", dispatch};

static const bench_measure *const priority[] = {&measure_urgent_outside, &measure_urgent_inside, &measure_urgent_range,
                                                &measure_levels, NULL};

const bench_suite bench_priority = {"priority", "urgent jobs behind 100,000 that wait, beside the peers", priority};
