#include "batch.h"

#include "work.h"

struct batch {
  const bench_context *context;
  bench_job job;
  uint32_t jobs, turns;
};

static void empty_job(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
}

static void working_job(void *argument, uint32_t worker) {
  (void)worker;
  work_turn(*(const uint32_t *)argument);
}

static void submit_all(void *argument, uint32_t worker) {
  struct batch *batch = argument;
  const bench_system *system = batch->context->system;
  void *pool = batch->context->pool;
  (void)worker;
  for (uint32_t i = 0; i < batch->jobs; i++) system->submit(pool, batch->job, &batch->turns);
  system->wait(pool);
}

uint64_t batch_run(const bench_context *context, uint32_t jobs, uint32_t turns) {
  struct batch batch = {.context = context, .job = turns ? working_job : empty_job, .jobs = jobs, .turns = turns};
  uint64_t start = work_now();
  context->system->inside(context->pool, submit_all, &batch);
  return work_now() - start;
}

double batch_job_ns(uint32_t turns) {
  enum { SLICES = 100 };
  bench_job volatile job = working_job; /* called through a pointer, as the systems do */
  uint32_t turns_of_slice = work_turns(50000), jobs = turns < turns_of_slice ? turns_of_slice / turns : 1;
  uint64_t fastest = UINT64_MAX;
  for (int slice = 0; slice < SLICES; slice++) {
    uint64_t start = work_now();
    for (uint32_t i = 0; i < jobs; i++) job(&turns, 0);
    uint64_t spent = work_now() - start;
    if (spent < fastest) fastest = spent;
  }
  return (double)fastest / jobs;
}
