/* The threads that watch. They meet under a mutex at the begin and at the end of a frame, never in between. */
#include "machine.h"

#include "base/clock.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct machine_crew {
  clock_source clock;
  pthread_mutex_t mutex;
  pthread_cond_t begun, ended;
  /* Under the mutex: */
  uint64_t frame, deadline_ns; /* frame: how many have begun */
  uint32_t watching;           /* threads but the caller that have not ended it */
  bool over;
} machine_crew;

/* The watches stand apart, so that no thread waits for a cache line of another. */
typedef struct machine_thread {
  _Alignas(128) machine_watch watch;
  machine_crew *crew;
  pthread_t thread;
} machine_thread;

static void watch_frame(const clock_source *clock, machine_watch *watch, uint64_t deadline_ns) {
  uint64_t now_ns = clock_now(clock), cpu_ns = clock_thread_cpu();
  bool goes_on = machine_watch_begin(watch, deadline_ns, now_ns, cpu_ns);
  while (goes_on) {
    now_ns = clock_now(clock);
    cpu_ns = clock_thread_cpu();
    goes_on = machine_watch_step(watch, now_ns, cpu_ns);
  }
}

/* Sleeps until a frame begins that the thread has not seen. False: there is none to come. */
static bool await_frame(machine_crew *crew, uint64_t *seen, uint64_t *deadline_ns) {
  pthread_mutex_lock(&crew->mutex);
  while (crew->frame == *seen && !crew->over) pthread_cond_wait(&crew->begun, &crew->mutex);
  bool goes_on = !crew->over;
  *seen = crew->frame;
  *deadline_ns = crew->deadline_ns;
  pthread_mutex_unlock(&crew->mutex);
  return goes_on;
}

static void end_frame(machine_crew *crew) {
  pthread_mutex_lock(&crew->mutex);
  if (--crew->watching == 0) pthread_cond_signal(&crew->ended);
  pthread_mutex_unlock(&crew->mutex);
}

static void *thread_main(void *argument) {
  machine_thread *thread = argument;
  uint64_t seen = 0, deadline_ns;
  while (await_frame(thread->crew, &seen, &deadline_ns)) {
    watch_frame(&thread->crew->clock, &thread->watch, deadline_ns);
    end_frame(thread->crew);
  }
  return NULL;
}

static void run_frame(machine_crew *crew, machine_thread *threads, uint32_t count, uint64_t budget_ns) {
  uint64_t deadline_ns = clock_now(&crew->clock) + budget_ns;
  pthread_mutex_lock(&crew->mutex);
  crew->frame++;
  crew->deadline_ns = deadline_ns;
  crew->watching = count - 1;
  pthread_cond_broadcast(&crew->begun);
  pthread_mutex_unlock(&crew->mutex);
  watch_frame(&crew->clock, &threads[0].watch, deadline_ns);
  pthread_mutex_lock(&crew->mutex);
  while (crew->watching > 0) pthread_cond_wait(&crew->ended, &crew->mutex);
  pthread_mutex_unlock(&crew->mutex);
}

static void run_frames(machine_crew *crew, machine_thread *threads, const machine_setup *setup, machine_report *report,
                       machine_watch *watches) {
  for (uint64_t frame = 0; frame < setup->frames; frame++) {
    setup->wait(setup->user, frame);
    run_frame(crew, threads, setup->workers, setup->budget_ns);
    for (uint32_t i = 0; i < setup->workers; i++) watches[i] = threads[i].watch;
    machine_add_frame(report, watches, setup->workers);
  }
  for (uint32_t i = 0; i < setup->workers; i++) machine_add_watch(report, &threads[i].watch);
}

static void send_home(machine_crew *crew, machine_thread *threads, uint32_t started) {
  pthread_mutex_lock(&crew->mutex);
  crew->over = true;
  pthread_cond_broadcast(&crew->begun);
  pthread_mutex_unlock(&crew->mutex);
  for (uint32_t i = 1; i < started; i++) pthread_join(threads[i].thread, NULL);
}

const char *machine_measure(const machine_setup *setup, machine_report *report) {
  machine_crew crew = {.clock = clock_calibrate(),
                       .mutex = PTHREAD_MUTEX_INITIALIZER,
                       .begun = PTHREAD_COND_INITIALIZER,
                       .ended = PTHREAD_COND_INITIALIZER};
  machine_thread *threads = aligned_alloc(_Alignof(machine_thread), setup->workers * sizeof *threads);
  machine_watch *watches = calloc(setup->workers, sizeof *watches);
  uint32_t started = 1;
  *report = (machine_report){0};
  if (threads && watches) {
    for (uint32_t i = 0; i < setup->workers; i++) threads[i] = (machine_thread){.crew = &crew};
    while (started < setup->workers &&
           pthread_create(&threads[started].thread, NULL, thread_main, &threads[started]) == 0)
      started++;
    if (started == setup->workers) run_frames(&crew, threads, setup, report, watches);
    send_home(&crew, threads, started);
  }
  const char *wrong = !threads || !watches ? "out of memory" : "a thread cannot be started; ask for fewer --workers";
  bool measured = report->frames > 0;
  free(watches);
  free(threads);
  return measured ? NULL : wrong;
}
