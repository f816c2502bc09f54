#include "run/watchdog.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/forked.h"
#include "pool/ring.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

enum { LOOKS = 4, DOZE_LOOKS = 16, INCIDENTS_MAX = 64 };

/* What was seen of a heartbeat at the last look. */
typedef struct sighting {
  uint64_t place, agent;
  uint32_t type;
  uint32_t looks; /* looks at which nothing had changed */
  uint32_t clock;
  uint64_t since_ns; /* time of the first look */
  uint64_t since_cpu_ns;
  bool told, computes;
} sighting;

struct watchdog {
  watch_heartbeat *heartbeats;
  sighting *sightings;
  uint32_t count;
  uint64_t stuck_ns;
  const type_table *types;
  const muster_log_sink *log;
  struct ring incidents; /* watch_incident */
  pthread_t thread;
  pid_t process; /* that started it */
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  bool started, stopping; /* `stopping` is guarded by the mutex */
  shared_u64 frames;      /* frames begun plus frames ended: odd while one runs */
  shared_u32 dozing;      /* set by the watchdog's thread, cleared by the thread that wakes it */
  shared_u32 dozes;
  uint64_t frames_seen; /* this and idle_looks belong to the watchdog's thread */
  uint32_t idle_looks;
};

struct watchdog *watchdog_create(watch_heartbeat *heartbeats, uint32_t count, uint64_t stuck_ns,
                                 const type_table *types, const muster_log_sink *log, struct arena *arena) {
  struct watchdog *made = arena_reserve(arena, 1, sizeof *made);
  sighting *sightings = arena_reserve(arena, count, sizeof *sightings);
  if (!made || !sightings) return NULL;
  made->heartbeats = heartbeats;
  made->sightings = sightings;
  made->count = count;
  made->stuck_ns = stuck_ns;
  made->types = types;
  made->log = log;
  ring_create(&made->incidents, INCIDENTS_MAX, sizeof(watch_incident), arena);
  return arena->failed ? NULL : made;
}

void watch_begin(watch_heartbeat *heartbeat) {
  clockid_t clock = CLOCK_MONOTONIC;
  pthread_getcpuclockid(pthread_self(), &clock);
  store_relaxed_u32(&heartbeat->clock, (uint32_t)clock); /* the release of `place` publishes it */
}

static double milliseconds(uint64_t duration_ns) {
  return (double)duration_ns * 1e-6;
}

/* Reads a heartbeat. False when the worker is in no claim, or moved on meanwhile. */
static bool run_watchdog_look(const watch_heartbeat *heartbeat, sighting *seen) {
  seen->place = load_acquire_u64(&heartbeat->place);
  seen->agent = load_acquire_u64(&heartbeat->agent);
  seen->type = load_acquire_u32(&heartbeat->type);
  seen->clock = load_relaxed_u32(&heartbeat->clock);
  return seen->place && load_acquire_u64(&heartbeat->place) == seen->place &&
         load_acquire_u64(&heartbeat->agent) == seen->agent;
}

/* CPU time of the worker since it was first seen there; 0 when that cannot be told. */
static uint64_t cpu_since(const sighting *seen) {
  uint64_t cpu_ns;
  if (!clock_other_cpu(seen->clock, &cpu_ns) || cpu_ns < seen->since_cpu_ns) return 0;
  return cpu_ns - seen->since_cpu_ns;
}

/* Tells of a stuck worker the first time, and again when its atom turns out to compute. */
static void run_watchdog_tell(struct watchdog *watchdog, uint32_t worker, sighting *seen, bool noticed,
                              uint64_t now_ns) {
  uint64_t wall_ns = now_ns - seen->since_ns, cpu_ns = cpu_since(seen);
  bool computes = cpu_ns >= watchdog->stuck_ns - watchdog->stuck_ns / LOOKS;
  if (!noticed && !computes) return;
  seen->computes = computes;
  watch_incident incident = {.agent = (uint32_t)seen->agent,
                             .generation = (uint32_t)(seen->agent >> 32),
                             .type = seen->type,
                             .noticed = noticed,
                             .computes = computes,
                             .duration_ns = computes ? cpu_ns : wall_ns};
  ring_push(&watchdog->incidents, &incident); /* when the ring is full, no frame has run for 64 incidents */
  log_write(watchdog->log, MUSTER_LOG_WARNING,
            "worker %u has been stuck for %.0f ms, %s (%.0f ms of CPU), in an atom of agent %u.%u of type '%s'; the "
            "frame ends when it returns",
            worker, milliseconds(wall_ns), computes ? "computing" : "waiting", milliseconds(cpu_ns), incident.agent,
            incident.generation, watchdog->types->types[incident.type].name);
}

static void tell_of_return(const struct watchdog *watchdog, uint32_t worker, const sighting *seen, uint64_t now_ns) {
  log_write(watchdog->log, MUSTER_LOG_WARNING,
            "worker %u came back after %.0f ms in an atom of agent %u.%u of type '%s'", worker,
            milliseconds(now_ns - seen->since_ns), (uint32_t)seen->agent, (uint32_t)(seen->agent >> 32),
            watchdog->types->types[seen->type].name);
}

static void run_watchdog_look_at(struct watchdog *watchdog, uint32_t worker, uint64_t now_ns) {
  sighting *before = &watchdog->sightings[worker], seen;
  bool inside = run_watchdog_look(&watchdog->heartbeats[worker], &seen);
  if (inside && before->place == seen.place && before->agent == seen.agent) {
    before->type = seen.type; /* the worker writes it after the agent, when it changes */
    if (before->looks < LOOKS) before->looks++;
    bool noticed = before->looks == LOOKS && !before->told;
    if (before->looks == LOOKS && !before->computes) run_watchdog_tell(watchdog, worker, before, noticed, now_ns);
    before->told |= noticed;
    return;
  }
  if (before->told) tell_of_return(watchdog, worker, before, now_ns);
  *before = (sighting){0};
  if (!inside || !clock_other_cpu(seen.clock, &seen.since_cpu_ns)) return;
  seen.looks = 0;
  seen.told = seen.computes = false;
  seen.since_ns = now_ns;
  *before = seen;
}

/* Sleeps until the next look, or until a frame begins; false when the thread is to stop. */
static bool sleep_on(struct watchdog *watchdog) {
  uint64_t end_ns = clock_system() + watchdog->stuck_ns / LOOKS;
  struct timespec end = {.tv_sec = (time_t)(end_ns / 1000000000u), .tv_nsec = (long)(end_ns % 1000000000u)};
  pthread_mutex_lock(&watchdog->mutex);
  while (!watchdog->stopping && load_relaxed_u32(&watchdog->dozing))
    pthread_cond_wait(&watchdog->changed, &watchdog->mutex);
  while (!watchdog->stopping && clock_system() < end_ns)
    pthread_cond_timedwait(&watchdog->changed, &watchdog->mutex, &end);
  bool goes_on = !watchdog->stopping;
  pthread_mutex_unlock(&watchdog->mutex);
  return goes_on;
}

/* After many looks at which no frame ran, the thread is to sleep until one does. */
static void doze_off(struct watchdog *watchdog) {
  uint64_t frames = load_ordered_u64(&watchdog->frames);
  bool idle = !(frames & 1) && frames == watchdog->frames_seen;
  watchdog->frames_seen = frames;
  watchdog->idle_looks = idle ? watchdog->idle_looks + 1 : 0;
  if (watchdog->idle_looks < DOZE_LOOKS) return;
  watchdog->idle_looks = 0;
  store_ordered_u32(&watchdog->dozing, 1);
  if (load_ordered_u64(&watchdog->frames) == frames)
    fetch_add_relaxed_u32(&watchdog->dozes, 1);
  else
    store_ordered_u32(&watchdog->dozing, 0);
}

static void *watch(void *argument) {
  struct watchdog *watchdog = argument;
  pthread_setname_np(pthread_self(), "muster-watch");
  while (sleep_on(watchdog)) {
    uint64_t now_ns = clock_system();
    for (uint32_t i = 0; i < watchdog->count; i++) run_watchdog_look_at(watchdog, i, now_ns);
    doze_off(watchdog);
  }
  return NULL;
}

void watchdog_frame_begins(struct watchdog *watchdog) {
  if (!watchdog) return;
  store_ordered_u64(&watchdog->frames, load_relaxed_u64(&watchdog->frames) + 1);
  if (__builtin_expect(load_ordered_u32(&watchdog->dozing) == 0, true)) return;
  pthread_mutex_lock(&watchdog->mutex);
  store_ordered_u32(&watchdog->dozing, 0);
  pthread_cond_signal(&watchdog->changed);
  pthread_mutex_unlock(&watchdog->mutex);
}

void watchdog_frame_ends(struct watchdog *watchdog) {
  if (watchdog) store_ordered_u64(&watchdog->frames, load_relaxed_u64(&watchdog->frames) + 1);
}

uint32_t watchdog_dozes(const struct watchdog *watchdog) {
  return load_relaxed_u32(&watchdog->dozes);
}

static bool make_condition(struct watchdog *watchdog) {
  pthread_condattr_t attributes;
  if (pthread_condattr_init(&attributes)) return false;
  bool made =
      !pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC) && !pthread_cond_init(&watchdog->changed, &attributes);
  pthread_condattr_destroy(&attributes);
  return made;
}

/* Blocks all signals in the new thread: the host's signals are for the host's threads. */
static bool run_watchdog_create_thread(struct watchdog *watchdog) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  bool created = !pthread_create(&watchdog->thread, NULL, watch, watchdog);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return created;
}

bool watchdog_start(struct watchdog *watchdog) {
  bool prepared = !pthread_mutex_init(&watchdog->mutex, NULL) && make_condition(watchdog);
  watchdog->process = getpid();
  watchdog->started = prepared && run_watchdog_create_thread(watchdog);
  if (!watchdog->started) error_set(MUSTER_E_SYSTEM, "the operating system refused to start the world's watchdog");
  return watchdog->started;
}

void watchdog_stop(struct watchdog *watchdog) {
  if (!watchdog || !watchdog->started) return;
  watchdog->started = false;
  if (forked_since(watchdog->process)) return; /* the thread is the parent's */
  pthread_mutex_lock(&watchdog->mutex);
  watchdog->stopping = true;
  pthread_cond_signal(&watchdog->changed);
  pthread_mutex_unlock(&watchdog->mutex);
  pthread_join(watchdog->thread, NULL);
  pthread_cond_destroy(&watchdog->changed);
  pthread_mutex_destroy(&watchdog->mutex);
}

bool watchdog_take(struct watchdog *watchdog, watch_incident *incident) {
  return ring_pop(&watchdog->incidents, incident);
}
