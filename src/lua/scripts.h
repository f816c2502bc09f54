/* lua/scripts.h - an instance of the module: the texts, the types that they define, the states of the strands. */
#ifndef LUA_SCRIPTS_H
#define LUA_SCRIPTS_H

#include "lua/state.h"

typedef struct script_world {
  char name[64];       /* of the instance */
  char world_name[64]; /* "" = the host has not said it */
  char path[1024];
  script_files files;
  uint64_t version; /* of the texts: 1, and one more with each reload */
  uint64_t seed;
  uint64_t state_bytes; /* cap of each state */
  uint32_t wanted_agents, wanted_observers;
  muster_module_needs needs;
  muster_world *world;
  uint64_t now_ns; /* simulation time of the latest frame */
  uint64_t lines_second;
  script_type types[SCRIPT_TYPES_MAX];
  uint32_t type_count;
  bool typed; /* the types are known: texts that run now must define the same */
  uint32_t strands;
  script_state *states[SCRIPT_STRANDS_MAX];
  script_state *host; /* where the world's own functions run: start and frame. Its strand is SCRIPT_STRANDS_MAX */
  uint32_t *owners;   /* of each agent by index, in the state of its strand; 0 = none */
  uint32_t agents_max;
  muster_type collector;
  uint64_t started_agents; /* that muster.world's functions have spawned */
  uint64_t quarantines, reloads, reloads_refused;
  struct script_problems *problems; /* of all states; null = there was none */
} script_world;

/* The strand of an agent. */
static inline uint32_t scripts_strand(const script_world *scripts, muster_agent agent) {
  return muster_agent_index(agent) / 64 % scripts->strands;
}

/* A type of the scripts by its id in the world. Null: it is none of theirs. */
static inline const script_type *scripts_type(const script_world *scripts, muster_type id) {
  for (uint32_t i = 0; i < scripts->type_count; i++)
    if (scripts->types[i].id.index == id.index) return &scripts->types[i];
  return NULL;
}

#endif
