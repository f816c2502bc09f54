/* run/newborns.h - agents that other threads have spawned, in the order in which they did, for a world that records.
 * An agent is named here before its spawner knows its id: so before any command or message that names it. */
#ifndef RUN_NEWBORNS_H
#define RUN_NEWBORNS_H

#include "pool/ring.h"

struct newborns {
  shared_u32 open;
  struct ring agents; /* uint32_t */
};

/* Reserves room for as many as can wait, and opens. Before other threads know the world. */
static inline void newborns_create(struct newborns *newborns, uint32_t agents_max, struct arena *arena) {
  ring_create(&newborns->agents, agents_max, sizeof(uint32_t), arena);
  if (!arena->failed) store_relaxed_u32(&newborns->open, 1);
}

/* Nobody asks any more. Frame's thread. */
static inline void newborns_close(struct newborns *newborns) {
  store_relaxed_u32(&newborns->open, 0);
}

/* An agent's row, place and state are written. Its spawner's thread. */
static inline void newborns_add(struct newborns *newborns, uint32_t agent) {
  if (load_relaxed_u32(&newborns->open)) ring_push_sure(&newborns->agents, &agent);
}

/* The next one; false when there is none. Frame's thread. */
static inline bool newborns_take(struct newborns *newborns, uint32_t *agent) {
  return ring_pop(&newborns->agents, agent);
}

#endif
