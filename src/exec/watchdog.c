#include "exec/watchdog.h"

#include "base/clock.h"
#include "base/error.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

enum { LOOKS = 4, INCIDENTS_MAX = 64 };

/* What was seen of a post at the last look. */
typedef struct sighting {
  uint64_t place, agent;
  uint32_t type;
  uint32_t looks;    /* at which nothing had changed */
  uint64_t since_ns; /* of the first */
} sighting;

struct watchdog {
  watch_post *posts;
  sighting *sightings;
  uint32_t count;
  uint64_t stuck_ns;
  const type_table *types;
  const muster_log_sink *log;
  ring incidents; /* watch_incident */
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool started, stopping; /* the latter under the mutex */
};

watchdog *watchdog_create(watch_post *posts, uint32_t count, uint64_t stuck_ns, const type_table *types,
                          const muster_log_sink *log, arena *arena) {
  watchdog *made = arena_reserve(arena, 1, sizeof *made);
  sighting *sightings = arena_reserve(arena, count, sizeof *sightings);
  if (!made || !sightings) return NULL;
  made->posts = posts;
  made->sightings = sightings;
  made->count = count;
  made->stuck_ns = stuck_ns;
  made->types = types;
  made->log = log;
  ring_create(&made->incidents, INCIDENTS_MAX, sizeof(watch_incident), arena);
  return arena->failed ? NULL : made;
}

static double milliseconds(uint64_t duration_ns) {
  return (double)duration_ns * 1e-6;
}

/* False when the worker is in no claim, or moved on while we looked. */
static bool look(const watch_post *post, sighting *seen) {
  seen->place = load_acquire_u64(&post->place);
  seen->agent = load_acquire_u64(&post->agent);
  seen->type = load_acquire_u32(&post->type);
  return seen->place && load_acquire_u64(&post->place) == seen->place &&
         load_acquire_u64(&post->agent) == seen->agent;
}

static void notice(watchdog *watchdog, uint32_t worker, const sighting *seen, uint64_t now_ns) {
  watch_incident incident = {(uint32_t)seen->agent, (uint32_t)(seen->agent >> 32), seen->type, now_ns - seen->since_ns};
  ring_push(&watchdog->incidents, &incident); /* when it is full, nobody has run a frame for 64 incidents */
  log_write(watchdog->log, MUSTER_LOG_WARNING,
            "worker %u has been stuck for %.0f ms in an atom of agent %u (generation %u) of type '%s'; the frame goes "
            "on without it and ends when it returns",
            worker, milliseconds(incident.duration_ns), incident.agent, incident.generation,
            watchdog->types->types[incident.type].name);
}

static void tell_of_return(const watchdog *watchdog, uint32_t worker, const sighting *seen, uint64_t now_ns) {
  log_write(watchdog->log, MUSTER_LOG_WARNING, "worker %u came back after %.0f ms in an atom of agent %u of type '%s'",
            worker, milliseconds(now_ns - seen->since_ns), (uint32_t)seen->agent,
            watchdog->types->types[seen->type].name);
}

static void look_at(watchdog *watchdog, uint32_t worker, uint64_t now_ns) {
  sighting *before = &watchdog->sightings[worker], seen;
  bool inside = look(&watchdog->posts[worker], &seen);
  if (inside && before->place == seen.place && before->agent == seen.agent) {
    before->type = seen.type; /* written after the agent, when it is another than before */
    if (++before->looks == LOOKS) notice(watchdog, worker, before, now_ns);
    return;
  }
  if (before->looks >= LOOKS) tell_of_return(watchdog, worker, before, now_ns);
  seen.looks = 0;
  seen.since_ns = now_ns;
  if (!inside) seen.place = 0;
  *before = seen;
}

/* Sleeps for one look; false when it is to stop. */
static bool sleep_on(watchdog *watchdog) {
  uint64_t end_ns = clock_system() + watchdog->stuck_ns / LOOKS;
  struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000u), .tv_nsec = (long)(end_ns % 1000000000u)};
  pthread_mutex_lock(&watchdog->mutex);
  while (!watchdog->stopping && clock_system() < end_ns)
    pthread_cond_timedwait(&watchdog->changed, &watchdog->mutex, &end);
  bool goes_on = !watchdog->stopping;
  pthread_mutex_unlock(&watchdog->mutex);
  return goes_on;
}

static void *watch(void *argument) {
  watchdog *watchdog = argument;
  while (sleep_on(watchdog)) {
    uint64_t now_ns = clock_system();
    for (uint32_t i = 0; i < watchdog->count; i++) look_at(watchdog, i, now_ns);
  }
  return NULL;
}

static bool make_condition(watchdog *watchdog) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes)) return false;
  bool made = !pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) &&
              !pthread_cond_init(&watchdog->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  return made;
}

/* The host's signals are for the host's threads. */
static bool create_thread(watchdog *watchdog) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool created = !pthread_create(&watchdog->thread, NULL, watch, watchdog);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return created;
}

bool watchdog_start(watchdog *watchdog) {
  bool prepared = !pthread_mutex_init(&watchdog->mutex, NULL) && make_condition(watchdog);
  watchdog->started = prepared && create_thread(watchdog);
  if (!watchdog->started) error_set(MUSTER_E_SYSTEM, "the operating system refused to start the world's watchdog");
  return watchdog->started;
}

void watchdog_stop(watchdog *watchdog) {
  if (!watchdog || !watchdog->started) return;
  pthread_mutex_lock(&watchdog->mutex);
  watchdog->stopping = true;
  pthread_cond_signal(&watchdog->changed);
  pthread_mutex_unlock(&watchdog->mutex);
  pthread_join(watchdog->thread, NULL);
  pthread_cond_destroy(&watchdog->changed);
  pthread_mutex_destroy(&watchdog->mutex);
  watchdog->started = false;
}

bool watchdog_take(watchdog *watchdog, watch_incident *incident) {
  return ring_pop(&watchdog->incidents, incident);
}
