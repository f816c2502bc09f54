/* run/wakes.h - agents that something happened to: a word for each agent, and the queue of woken agents.
 *
 *              wake: push a hint                run begins                 commit
 *     IDLE -----------------------> QUEUED ------------------> RUNNING -------------> IDLE
 *       ^                             |                          |
 *       |      intake (makes it ready)|                     wake |
 *       +-----------------------------+                          v      commit (wake it for the next frame)
 *       ^                                                     NOTIFIED ------------------+
 *       +--------------------------------------------------------------------------------+
 *
 * A hint only says where to look: a thread that pops one must win the swap on the word, or drop the hint. So an agent
 * is run by one worker, several wakes before its run are one, and every wake is followed by a run that sees what came
 * before it: each wake is a read-modify-write of the word (ordered), and so is the beginning of the run.
 *
 * While a frame runs on the wall clock, its workers take hints of agents that wait for their period and run them at
 * once; other hints, and those that no worker takes, are taken by the next intake. Agents of the batch are not QUEUED
 * here: their claims are taken by ticket. When a wake of one comes too late for its run, the next frame runs it again.
 */
#ifndef RUN_WAKES_H
#define RUN_WAKES_H

#include "pool/ring.h"

typedef enum wake_word { WAKE_IDLE = 0, WAKE_QUEUED, WAKE_RUNNING, WAKE_NOTIFIED } wake_word;

struct wakes {
  shared_u8 *words;  /* wake_word, by agent */
  struct ring hints; /* uint32_t: agents */
  uint32_t hints_max;
  _Alignas(64) shared_u32 count; /* hints pushed or about to be pushed, and not popped */
};

/* Reserves words for all agents and room for `hints_max` hints. */
void wakes_create(struct wakes *wakes, uint32_t agents_max, uint32_t hints_max, struct arena *arena);

/* Something happened to an agent. False when too many hints wait: nothing was changed. Any thread. */
bool wakes_push(struct wakes *wakes, uint32_t agent);

/* Whether hints wait. About a nanosecond. Any thread. */
static inline bool wakes_wait(const struct wakes *wakes) {
  return load_relaxed_u32(&wakes->count) > 0;
}

/* About how many hints wait. */
static inline uint32_t wakes_count(const struct wakes *wakes) {
  return load_relaxed_u32(&wakes->count);
}

/* Whether an agent was woken and no thread took care of it yet. Frame's thread, between frames. */
static inline bool wakes_is_woken(const struct wakes *wakes, uint32_t agent) {
  uint8_t word = load_relaxed_u8(&wakes->words[agent]);
  return word == WAKE_QUEUED || word == WAKE_NOTIFIED;
}

/* Takes a hint; false when there is none. Any thread. */
bool wakes_pop(struct wakes *wakes, uint32_t *agent);

/* Puts back a hint that cannot be dealt with now. The thread that popped it. */
void wakes_return(struct wakes *wakes, uint32_t agent);

/* A run begins: QUEUED -> RUNNING. False when another thread took care of the hint. */
bool wakes_begin(struct wakes *wakes, uint32_t agent);

/* A run that wakes_begin began is over: true when the agent was woken meanwhile and must run again. Frame's thread. */
bool wakes_end(struct wakes *wakes, uint32_t agent);

/* A run that began in another process goes on here: IDLE -> RUNNING. Frame's thread, while no other knows the world. */
void wakes_resume(struct wakes *wakes, uint32_t agent);

/* The wakes so far are taken care of: back to IDLE. True when there were any. Frame's thread. */
bool wakes_settle(struct wakes *wakes, uint32_t agent);

#endif
