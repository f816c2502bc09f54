/* ghosts.h - agents of other zones that this one perceives: they have an index, a place in the grid and a published
 * state, and nothing else. Frame's thread, between frames. */
#ifndef WORLD_GHOSTS_H
#define WORLD_GHOSTS_H

#include "world/world_zone.h"

/* What a neighbour tells of an agent. Its published state stands beside it. */
typedef struct ghost_def {
  muster_agent id;
  agent_place place; /* in no list */
} ghost_def;

/* What there is to tell of an agent. */
ghost_def ghosts_describe(const struct muster_world *world, uint32_t index);

/* Whether there can be a ghost like that. */
bool ghosts_is_possible(const struct muster_world *world, const ghost_def *def);

enum { GHOST_PASSED = -1, GHOST_NO_ROOM = -2, GHOSTS_AT_ONCE = 16 };

/* Fetches what ghosts_put() will look at, of GHOSTS_AT_ONCE at most. */
void ghosts_fetch(const struct muster_world *world, const ghost_def *defs, uint32_t count);

/* A ghost appears, or is moved and published anew; zone `zone` runs its agent. Returns its index; GHOST_PASSED when the
 * agent is here; GHOST_NO_ROOM when there is none. */
int64_t ghosts_put(struct muster_world *world, uint32_t zone, const ghost_def *def, const void *published);

/* A ghost is gone; the second leaves the index to the caller, which opens it anew. */
void ghosts_drop(struct muster_world *world, uint32_t index);
void ghosts_vacate(struct muster_world *world, uint32_t index);

/* All ghosts of a zone are gone but those that are marked in world->agents.seen. */
void ghosts_drop_unseen(struct muster_world *world, uint32_t zone);

#endif
