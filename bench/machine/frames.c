/* The frames in which threads watch. The threads are a pool's, so that they sleep, are woken and are kept apart as
 * those of `muster run` are. */
#include "machine.h"

#include "base/clock.h"

#include <muster/jobs.h>

#include <stdlib.h>
#include <string.h>

struct machine_crew {
  clock_source clock;
  muster_pool *pool;
  machine_watch *watches; /* one for each piece of a frame, which is as many as there are workers */
  uint32_t workers;
  uint64_t deadline_ns;
};

static void watch_frame(const clock_source *clock, machine_watch *watch, uint64_t deadline_ns) {
  uint64_t now_ns = clock_now(clock), cpu_ns = clock_thread_cpu();
  bool goes_on = machine_watch_begin(watch, deadline_ns, now_ns, cpu_ns);
  while (goes_on) {
    now_ns = clock_now(clock);
    cpu_ns = clock_thread_cpu();
    goes_on = machine_watch_step(watch, now_ns, cpu_ns);
  }
}

/* A piece lasts until the deadline, so each worker has one. A piece that no worker had taken by then is taken late, and
 * counts as missed. */
static void watch_pieces(void *argument, uint64_t begin, uint64_t end, uint32_t worker) {
  machine_crew *crew = argument;
  (void)worker;
  for (uint64_t i = begin; i < end; i++) watch_frame(&crew->clock, &crew->watches[i], crew->deadline_ns);
}

machine_crew *machine_crew_create(uint32_t workers, const char **wrong) {
  muster_pool_def pool = muster_pool_def_default();
  machine_crew *crew = calloc(1, sizeof *crew);
  *wrong = "out of memory";
  if (!crew) return NULL;
  pool.workers = workers;
  crew->workers = workers;
  crew->clock = clock_calibrate();
  crew->watches = aligned_alloc(_Alignof(machine_watch), workers * sizeof *crew->watches);
  crew->pool = muster_pool_create(&pool);
  if (!crew->pool) *wrong = muster_last_error();
  if (crew->pool && crew->watches) {
    memset(crew->watches, 0, workers * sizeof *crew->watches);
    return crew;
  }
  machine_crew_destroy(crew, NULL);
  return NULL;
}

bool machine_crew_watch(machine_crew *crew, uint64_t budget_ns, machine_report *report) {
  crew->deadline_ns = clock_now(&crew->clock) + budget_ns;
  if (muster_parallel_for(crew->pool, MUSTER_URGENCY_NORMAL, crew->workers, 1, watch_pieces, crew) != MUSTER_OK)
    return false;
  machine_add_frame(report, crew->watches, crew->workers);
  return true;
}

void machine_crew_destroy(machine_crew *crew, machine_report *report) {
  if (!crew) return;
  for (uint32_t i = 0; report && i < crew->workers; i++) machine_add_watch(report, &crew->watches[i]);
  muster_pool_destroy(crew->pool);
  free(crew->watches);
  free(crew);
}

const char *machine_measure(const machine_setup *setup, machine_report *report) {
  const char *wrong;
  machine_crew *crew = machine_crew_create(setup->workers, &wrong);
  *report = (machine_report){0};
  if (!crew) return wrong;
  wrong = NULL;
  for (uint64_t frame = 0; frame < setup->frames && !wrong; frame++) {
    setup->wait(setup->user, frame);
    if (!machine_crew_watch(crew, setup->budget_ns, report)) wrong = muster_last_error();
  }
  machine_crew_destroy(crew, report);
  return wrong;
}
