/* run/spawn_log.h - the agents that other threads spawned, in the order of their spawns, for a world that records. An
 * agent is logged here before its spawner knows its id, so before any command or message that names it. */
#ifndef RUN_SPAWN_LOG_H
#define RUN_SPAWN_LOG_H

#include "pool/ring.h"

struct spawn_log {
  shared_u32 open;
  struct ring agents; /* uint32_t */
};

/* Reserves room for as many agents as can wait, and opens the log. Before other threads know the world. */
static inline void spawn_log_create(struct spawn_log *spawn_log, uint32_t agents_max, struct arena *arena) {
  ring_create(&spawn_log->agents, agents_max, sizeof(uint32_t), arena);
  if (!arena->failed) store_relaxed_u32(&spawn_log->open, 1);
}

/* Opens it again, empty. Before other threads know the world. */
static inline void spawn_log_reopen(struct spawn_log *spawn_log) {
  uint32_t agent;
  while (ring_pop(&spawn_log->agents, &agent)) continue;
  store_relaxed_u32(&spawn_log->open, 1);
}

/* Closes the log: no more agents are logged. Frame's thread. */
static inline void spawn_log_close(struct spawn_log *spawn_log) {
  store_relaxed_u32(&spawn_log->open, 0);
}

/* An agent's row, place and state are written. Its spawner's thread. */
static inline void spawn_log_add(struct spawn_log *spawn_log, uint32_t agent) {
  if (load_relaxed_u32(&spawn_log->open)) ring_push_sure(&spawn_log->agents, &agent);
}

/* Takes the next agent; false when there is none. Frame's thread. */
static inline bool spawn_log_take(struct spawn_log *spawn_log, uint32_t *agent) {
  return ring_pop(&spawn_log->agents, agent);
}

#endif
