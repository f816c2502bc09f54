/* batch.h - many equal jobs, submitted one by one and waited for. */
#ifndef BENCH_BATCH_H
#define BENCH_BATCH_H

#include "engine.h"

/* Nanoseconds from the first submit until all are done. `turns` of work make a job; 0 = an empty one. */
uint64_t batch_run(const bench_context *context, uint32_t jobs, uint32_t turns);

/* What one such job costs one thread, called from a plain loop without any system, when nothing disturbs it: the
 * fastest of many short slices, so that a busy machine does not make the work look longer than it is. */
double batch_job_ns(uint32_t turns);

#endif
