/* The frame test: how a game server uses a pool. Every 16 ms, while the workers are parked, 400 jobs of 5 us. The
 * references need fewer samples. */
#include "batch.h"
#include "measures.h"
#include "work.h"

#include "base/clock.h"

enum { FRAME_JOBS = 400, FRAMES = 100, FRAMES_OF_WARM_UP = 3 };
static const uint64_t frame_period_ns = 16000000;
static const double job_ns = 5000;

/* CPU is read where a frame ends and where the next one begins. */
typedef struct frame_run {
  bench_context *context;
  uint32_t turns;
  double alone_ns; /* what the work of a frame costs one thread */
  work_threads threads;
  uint64_t next_ns; /* when a frame begins, on the system's clock */
  uint64_t cpu_ns;  /* when the last one ended */
  uint64_t cpu_of_frame_ns;
} frame_run;

static void wait_for_frame(frame_run *run) {
  run->next_ns += frame_period_ns;
  work_sleep_until(run->next_ns);
}

/* The threads of a pool may be started with the first jobs. */
static void warm_up(frame_run *run) {
  run->next_ns = clock_system();
  for (int frame = 0; frame < FRAMES_OF_WARM_UP; frame++) {
    wait_for_frame(run);
    batch_run(run->context, FRAME_JOBS, run->turns);
  }
  work_threads_find(&run->threads);
}

void take_frame(bench_context *context) {
  frame_run run = {.context = context, .turns = work_turns(job_ns)};
  uint32_t frames = bench_amount(context, context->system->only[0] ? FRAMES / 2 : FRAMES, 4);
  run.alone_ns = FRAME_JOBS * batch_job_ns(run.turns);
  warm_up(&run);
  for (uint32_t frame = 0; frame < frames; frame++) {
    wait_for_frame(&run);
    uint64_t cpu_begin = work_threads_cpu(&run.threads);
    if (frame > 0) { /* the frame before, and the time since then */
      bench_sample(context, 1, ((double)run.cpu_of_frame_ns - run.alone_ns) / 1000);
      bench_sample(context, 2, (double)(cpu_begin - run.cpu_ns) / 1000);
    }
    uint64_t spent = batch_run(context, FRAME_JOBS, run.turns);
    run.cpu_ns = work_threads_cpu(&run.threads);
    run.cpu_of_frame_ns = run.cpu_ns - cpu_begin;
    bench_sample(context, 0, run.alone_ns / ((double)spent * context->workers));
  }
}
