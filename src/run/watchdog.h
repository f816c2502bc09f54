/* run/watchdog.h - a thread of a world that notices workers that are stuck in an atom. Every world that runs updates
 * has one, however many workers it has: a host whose only thread is in an endless loop must hear of it, too.
 *
 * Each worker writes into its heartbeat where it is. The watchdog reads the heartbeats every quarter of stuck_ns, and
 * counts looks, not time: a process that was stopped as a whole is not stuck. A worker seen at the same place in five
 * looks in a row is stuck. Its thread's CPU clock tells whether its atom computes all the while, or waits for something
 * or for a processor: it computes when that clock has moved on by stuck_ns, less a quarter for how coarse looks are.
 * The watchdog reads nothing but heartbeats, CPU clocks and the names of types, which never move.
 *
 *   worker:   agent (release) [a]  ...  place = 0 or the next number (release) [p]
 *   watchdog: place (acquire, pairs with [p]), agent (acquire, pairs with [a]), then both again: when neither changed,
 *             they belong together
 *
 * When no frame has run for four times stuck_ns, the watchdog dozes, and costs nothing, until the next frame wakes it.
 *
 *   frame:    frames = odd (ordered) [f], then dozes (ordered): it is woken when that is set
 *   watchdog: dozes = 1 (ordered), then frames (ordered): when that is odd, or not what it was, it goes on. One of the
 *             two sees what the other wrote */
#ifndef RUN_WATCHDOG_H
#define RUN_WATCHDOG_H

#include "agents/types.h"
#include "pool/atomics.h"

/* Where a worker is. Written by the worker alone. */
typedef struct watch_heartbeat {
  _Alignas(64) shared_u64 place; /* 0 = in no claim; else a number of this claim alone, or this atom of a timed one */
  shared_u64 agent;              /* its id */
  shared_u32 type;
  shared_u32 clock; /* the number of its CPU clock; written before the place that it is read with */
  uint64_t number;  /* the last number used; only the worker's own */
} watch_heartbeat;

/* A worker that is stuck. */
typedef struct watch_incident {
  uint32_t agent, generation; /* of the id */
  uint32_t type;
  uint8_t noticed;      /* 1 = it is new; 0 = it was noticed before, */
  uint8_t computes;     /* and is now known to compute */
  uint64_t duration_ns; /* wall time until it was noticed; CPU time, when it computes */
} watch_incident;

struct watchdog;

/* Reserves a watchdog over `count` heartbeats; does not start it. Null when memory is refused. */
struct watchdog *watchdog_create(watch_heartbeat *heartbeats, uint32_t count, uint64_t stuck_ns,
                                 const type_table *types, const muster_log_sink *log, struct arena *arena);

/* Starts the watchdog's thread. False with an error when the operating system refuses. */
bool watchdog_start(struct watchdog *watchdog);

/* Ends and joins the thread, when it was started; null is a no-op. No worker may write to the heartbeats any more. */
void watchdog_stop(struct watchdog *watchdog);

/* Called when a frame begins, and when it ends; null is a no-op. Frame's thread. */
void watchdog_frame_begins(struct watchdog *watchdog);
void watchdog_frame_ends(struct watchdog *watchdog);

/* How often it has dozed off. Any thread. */
uint32_t watchdog_dozes(const struct watchdog *watchdog);

/* Takes an incident; false when there is none. Frame's thread. */
bool watchdog_take(struct watchdog *watchdog, watch_incident *incident);

/* A thread begins to work and to write a heartbeat, before the claims of its part. A few nanoseconds. */
void watch_begin(watch_heartbeat *heartbeat);

/* A worker enters a claim, or begins another atom of a timed one. */
static inline void watch_enter(watch_heartbeat *heartbeat) {
  store_release_u64(&heartbeat->place, ++heartbeat->number);
}

/* The worker leaves the claim. */
static inline void watch_leave(watch_heartbeat *heartbeat) {
  store_release_u64(&heartbeat->place, 0);
}

/* The worker begins with an agent; the type is written when it is another than before. */
static inline void watch_agent(watch_heartbeat *heartbeat, muster_agent agent) {
  store_release_u64(&heartbeat->agent, agent.value);
}

static inline void watch_type(watch_heartbeat *heartbeat, uint32_t type) {
  store_release_u32(&heartbeat->type, type);
}

#endif
