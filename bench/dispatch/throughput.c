/* The throughput of jobs: empty, small and uneven ones. */
#include "batch.h"
#include "measures.h"
#include "work.h"

#include "base/random.h"

#include <stdlib.h>

enum { EMPTY_JOBS = 100000, EMPTY_INDICES = 10000000, SMALL_JOBS = 20000, SKEWED_INDICES = 20000, SKEWED_GRAIN = 16 };
static const uint64_t patience_ns = 250000000; /* slow systems get fewer samples */
static const double short_ns = 1000, long_ns = 100000;

void take_submit(bench_context *context) {
  uint32_t jobs = bench_amount(context, EMPTY_JOBS, EMPTY_JOBS / 20), runs = bench_amount(context, 9, 2);
  uint64_t begin = work_now();
  batch_run(context, jobs, 0);
  for (uint32_t run = 0; run < runs; run++) {
    bench_sample(context, 0, (double)batch_run(context, jobs, 0) / jobs);
    if (work_now() - begin > patience_ns) break;
  }
}

/* Every index costs one turn of a loop that the compiler may neither drop nor vectorise, about a cycle. */
static void empty_body(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  (void)argument, (void)worker;
  for (uint64_t i = begin; i < end; i++) __asm__ volatile("" : : "r"(i));
}

void take_parallel_for(bench_context *context) {
  uint32_t indices = bench_amount(context, EMPTY_INDICES, EMPTY_INDICES / 20), runs = bench_amount(context, 10, 2);
  for (uint32_t run = 0; run <= runs; run++) {
    uint64_t start = work_now();
    context->system->parallel_for(context->pool, indices, 1, empty_body, NULL);
    if (run > 0) bench_sample(context, 0, (double)(work_now() - start) / indices);
  }
}

void take_small_jobs(bench_context *context) {
  uint32_t jobs = bench_amount(context, SMALL_JOBS, SMALL_JOBS / 10), runs = bench_amount(context, 7, 2);
  uint32_t turns = work_turns(short_ns);
  double alone_ns = jobs * batch_job_ns(turns);
  for (uint32_t run = 0; run <= runs; run++) {
    uint64_t spent = batch_run(context, jobs, turns);
    if (run > 0) bench_sample(context, 0, alone_ns / ((double)spent * context->workers));
  }
}

static void skewed_body(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  const uint32_t *turns = argument;
  (void)worker;
  for (uint64_t i = begin; i < end; i++) work_turn(turns[i]);
}

/* Of every hundred indices one is a hundred times longer, at places that the seed decides. */
static void scatter_costs(uint32_t *turns, uint32_t indices) {
  for (uint32_t i = 0; i < indices; i++) turns[i] = work_turns(i % 100 ? short_ns : long_ns);
  for (uint32_t i = indices - 1; i > 0; i--) {
    uint32_t other = (uint32_t)(random_at(1, 2, 3, i) % (i + 1)), kept = turns[i];
    turns[i] = turns[other];
    turns[other] = kept;
  }
}

void take_skewed(bench_context *context) {
  uint32_t indices = bench_amount(context, SKEWED_INDICES, SKEWED_INDICES / 10), runs = bench_amount(context, 6, 2);
  uint32_t *turns = malloc(indices * sizeof *turns);
  if (!turns) abort();
  scatter_costs(turns, indices);
  double alone_ns = indices * (0.99 * batch_job_ns(work_turns(short_ns)) + 0.01 * batch_job_ns(work_turns(long_ns)));
  for (uint32_t run = 0; run <= runs; run++) {
    uint64_t start = work_now();
    context->system->parallel_for(context->pool, indices, SKEWED_GRAIN, skewed_body, turns);
    if (run > 0) bench_sample(context, 0, alone_ns / ((double)(work_now() - start) * context->workers));
  }
  free(turns);
}
