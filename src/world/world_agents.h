/* world_agents.h - what exists in a world: agents, their types and places. With shards, rows and cells belong to
 * shards; types and ids stay one per world. */
#ifndef WORLD_AGENTS_H
#define WORLD_AGENTS_H

#include "agents/space_moves.h"
#include "agents/store.h"
#include "agents/types.h"
#include "pool/identity.h"
#include "run/removals.h"
#include "run/zone_ids.h"

struct world_agents {
  agent_store store;
  type_table types;
  struct space space;
  space_moves moves; /* that a commit makes at once */
  struct identity ids;
  struct removals removals; /* by hosts, until the next intake */
  struct zone_ids *zone;  /* null: the world is no zone */
  muster_agent *handles;  /* likewise; else agents_max: of the ids of an array */
  struct identity *slots; /* by type */
  uint8_t *marks;         /* agents_max: what became of the positions of an array */
  uint64_t *seen;         /* bitmap: agents that an array named; all clear outside its call */
};

#endif
