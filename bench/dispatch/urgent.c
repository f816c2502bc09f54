/* Urgent jobs behind a deep backlog: 100,000 jobs of 5 us wait at the least urgent level. The pool works off a batch of
 * them while samples are taken, four fifths of it at most, so that at least 20,000 always wait. With more than two
 * workers jobs are longer in proportion, so that the batch lasts as long. */
#include "measures.h"
#include "work.h"

#include "base/random.h"
#include "pool/atomics.h"

#include <pthread.h>
#include <stdlib.h>

enum { BACKLOG = 100000, SAMPLES = 250, INSIDE_EVERY = 320, URGENT = 0 };
static const double job_ns = 5000;
static const uint64_t gap_ns = 400000, gap_spread_ns = 500000, look_again_ns = 100000;

typedef struct urgent_run urgent_run;

/* One urgent job. */
typedef struct urgent_slot {
  urgent_run *run;
  uint64_t submitted_ns;
  shared_u64 started_ns;
  uint32_t turns_before, turns_after; /* of the job that submits it */
} urgent_slot;

struct urgent_run {
  bench_context *context;
  uint32_t backlog, samples, turns;
  bool as_range;
  urgent_slot *slots;
  _Alignas(128) shared_u64 begun; /* jobs of the backlog */
  _Alignas(128) shared_u32 ready; /* all of the backlog has been submitted */
};

static void stamp(void *argument, uint32_t worker) {
  urgent_slot *slot = argument;
  (void)worker;
  store_release_u64(&slot->started_ns, work_now());
}

static void submit_urgent(urgent_slot *slot) {
  const bench_context *context = slot->run->context;
  slot->submitted_ns = work_now();
  context->system->submit_at(context->pool, URGENT, stamp, slot);
}

static void backlog_job(void *argument, uint32_t worker) {
  urgent_run *run = argument;
  (void)worker;
  fetch_add_relaxed_u64(&run->begun, 1);
  work_turn(run->turns);
}

static void backlog_range(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  for (uint64_t i = begin; i < end; i++) backlog_job(argument, worker);
}

/* A job of the backlog that submits an urgent one somewhere in its middle. */
static void submitting_job(void *argument, uint32_t worker) {
  urgent_slot *slot = argument;
  (void)worker;
  work_turn(slot->turns_before);
  submit_urgent(slot);
  work_turn(slot->turns_after);
}

/* ----------------------------------------------------------------------------------------------------- from outside */

static void submit_backlog(void *argument, uint32_t worker) {
  urgent_run *run = argument;
  const bench_system *system = run->context->system;
  void *pool = run->context->pool;
  (void)worker;
  if (run->as_range)
    system->submit_range_at(pool, system->levels - 1, run->backlog, 1, backlog_range, run);
  else
    for (uint32_t i = 0; i < run->backlog; i++) system->submit_at(pool, system->levels - 1, backlog_job, run);
  store_release_u32(&run->ready, 1); /* pairs with the acquire of the thread outside */
  system->wait(pool);
}

/* Sleeps between its samples and while it waits for one: it must not take a processor from the workers. */
static void *submit_from_outside(void *argument) {
  urgent_run *run = argument;
  while (!load_acquire_u32(&run->ready)) work_sleep(look_again_ns);
  for (uint32_t i = 0; i < run->samples; i++) {
    urgent_slot *slot = &run->slots[i];
    work_sleep(gap_ns + random_at(1, 2, 3, i) % gap_spread_ns);
    if (load_relaxed_u64(&run->begun) > run->backlog / 5 * 4) break;
    submit_urgent(slot);
    while (load_acquire_u64(&slot->started_ns) == 0) work_sleep(look_again_ns); /* pairs with stamp */
  }
  return NULL;
}

static uint32_t collect(urgent_run *run, uint32_t slots) {
  uint32_t collected = 0;
  for (uint32_t i = 0; i < slots; i++) {
    const urgent_slot *slot = &run->slots[i];
    uint64_t started = load_acquire_u64(&slot->started_ns);
    if (started == 0 || slot->submitted_ns == 0) continue;
    bench_sample(run->context, 0, started > slot->submitted_ns ? (double)(started - slot->submitted_ns) / 1000 : 0);
    collected++;
  }
  return collected;
}

static urgent_run prepare(bench_context *context) {
  double workers = context->workers > 2 ? context->workers : 2;
  urgent_run run = {.context = context, .turns = work_turns(job_ns * workers / 2)};
  run.backlog = bench_amount(context, BACKLOG, 10000);
  run.samples = bench_amount(context, SAMPLES, 8);
  run.slots = calloc(run.samples, sizeof *run.slots);
  if (!run.slots) abort();
  return run;
}

/* Batch after batch until there are samples enough. */
static void take_outside(bench_context *context, bool as_range) {
  enum { BATCHES_MAX = 12 };
  urgent_run run = prepare(context);
  run.as_range = as_range;
  uint32_t wanted = run.samples;
  for (int batch = 0; batch < BATCHES_MAX && run.samples > 0; batch++) {
    pthread_t outside;
    store_relaxed_u64(&run.begun, 0);
    store_relaxed_u32(&run.ready, 0);
    for (uint32_t i = 0; i < wanted; i++) run.slots[i] = (urgent_slot){.run = &run};
    if (pthread_create(&outside, NULL, submit_from_outside, &run) != 0) abort();
    context->system->inside(context->pool, submit_backlog, &run);
    pthread_join(outside, NULL);
    run.samples -= collect(&run, run.samples);
  }
  free(run.slots);
}

void take_urgent_outside(bench_context *context) {
  take_outside(context, false);
}

void take_urgent_range(bench_context *context) {
  take_outside(context, true);
}

/* ------------------------------------------------------------------------------------------------------ from inside */

/* Every INSIDE_EVERY-th job submits an urgent one, as long as a fifth of the backlog waits behind it. */
static void submit_mixed_backlog(void *argument, uint32_t worker) {
  urgent_run *run = argument;
  const bench_system *system = run->context->system;
  void *pool = run->context->pool;
  uint32_t sample = 0;
  (void)worker;
  for (uint32_t i = 0; i < run->backlog; i++) {
    bool submits = i > 0 && i % INSIDE_EVERY == 0 && sample < run->samples && i < run->backlog / 5 * 4;
    if (submits)
      system->submit_at(pool, system->levels - 1, submitting_job, &run->slots[sample++]);
    else
      system->submit_at(pool, system->levels - 1, backlog_job, run);
  }
  system->wait(pool);
}

void take_urgent_inside(bench_context *context) {
  urgent_run run = prepare(context);
  for (uint32_t i = 0; i < run.samples; i++) {
    float share = muster_random_share(random_at(1, 2, 4, i));
    uint32_t before = (uint32_t)((float)run.turns * share);
    run.slots[i] = (urgent_slot){.run = &run, .turns_before = before, .turns_after = run.turns - before};
  }
  context->system->inside(context->pool, submit_mixed_backlog, &run);
  for (uint32_t i = 0; i < run.samples; i++) /* urgent jobs without a waiter */
    while (run.slots[i].submitted_ns && load_acquire_u64(&run.slots[i].started_ns) == 0) work_sleep(look_again_ns);
  collect(&run, run.samples);
  free(run.slots);
}

/* ------------------------------------------------------------------------------------------------------- all levels */

static void empty_job(void *argument, uint32_t worker) {
  (void)argument, (void)worker;
}

static void submit_at_all_levels(void *argument, uint32_t worker) {
  urgent_run *run = argument;
  const bench_system *system = run->context->system;
  (void)worker;
  for (uint32_t i = 0; i < run->backlog; i++)
    system->submit_at(run->context->pool, i % system->levels, empty_job, NULL);
  system->wait(run->context->pool);
}

void take_levels(bench_context *context) {
  uint32_t runs = bench_amount(context, 9, 2);
  urgent_run run = prepare(context);
  for (uint32_t i = 0; i <= runs; i++) {
    uint64_t start = work_now();
    context->system->inside(context->pool, submit_at_all_levels, &run);
    if (i > 0) bench_sample(context, 0, (double)(work_now() - start) / run.backlog);
  }
  free(run.slots);
}
