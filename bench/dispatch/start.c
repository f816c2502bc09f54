/* How soon another worker begins, and what waiting for work costs. */
#include "batch.h"
#include "measures.h"
#include "work.h"

#include "pool/atomics.h"

static const uint64_t gap_warm_ns = 10000, gap_parked_ns = 16000000;

typedef struct start_run {
  bench_context *context;
  uint32_t samples, warm_up;
  uint64_t gap_ns;
  shared_u64 started_ns;
} start_run;

static void stamp(void *argument, uint32_t worker) {
  start_run *run = argument;
  (void)worker;
  store_release_u64(&run->started_ns, work_now());
}

/* The caller does not work along: it looks at the stamp until another worker has set it. */
static double start_once(start_run *run) {
  uint64_t started;
  store_relaxed_u64(&run->started_ns, 0);
  uint64_t submitted = work_now();
  run->context->system->submit(run->context->pool, stamp, run);
  while ((started = load_acquire_u64(&run->started_ns)) == 0) pause_processor();
  run->context->system->wait(run->context->pool);
  return started > submitted ? (double)(started - submitted) : 0;
}

static void start_many(void *argument, uint32_t worker) {
  start_run *run = argument;
  (void)worker;
  for (uint32_t i = 0; i < run->warm_up + run->samples; i++) {
    if (run->gap_ns == gap_parked_ns)
      work_sleep(run->gap_ns);
    else
      work_spin(run->gap_ns);
    double ns = start_once(run);
    if (i >= run->warm_up) bench_sample(run->context, 0, ns);
  }
}

void take_start_warm(bench_context *context) {
  start_run run = {context, bench_amount(context, 2000, 20), 50, .gap_ns = gap_warm_ns};
  context->system->inside(context->pool, start_many, &run);
}

void take_start_parked(bench_context *context) {
  start_run run = {context, bench_amount(context, 20, 3), 1, .gap_ns = gap_parked_ns};
  context->system->inside(context->pool, start_many, &run);
}

/* Measures from the end of the work on, so that spinning for more work is seen. */
void take_idle(bench_context *context) {
  uint64_t pause_ns = context->quick ? 20000000 : 300000000;
  work_threads threads;
  batch_run(context, 400, work_turns(5000)); /* all threads have been started now */
  work_threads_find(&threads);
  batch_run(context, 400, work_turns(5000));
  uint64_t start = work_now(), start_cpu = work_threads_cpu(&threads);
  work_sleep(pause_ns);
  double spent_cpu = (double)(work_threads_cpu(&threads) - start_cpu);
  bench_sample(context, 0, 100.0 * spent_cpu / (double)(work_now() - start));
}
