/* herd_links.h - agents that stand for a leaf of a herd, for a named member or for a block of herds: what must follow
 * when something happens to such an agent. Herds themselves are folded and unfolded in herds/. */
#ifndef HERD_LINKS_H
#define HERD_LINKS_H

#include "world/world.h"
#include "world/world_herds.h"

/* An agent of a member type is gone for good. Frame's thread. */
void herds_forget(struct muster_world *world, uint32_t index);

/* An agent's place or published state changed: its lane follows, if it is a leaf of a herd. On the worker that holds
 * the agent. */
static inline void herds_note(struct muster_world *world, uint32_t index) {
  if (!world_type_of(world, index)->herded) return;
  herds_note_leaf(&world->herds->table, &world->agents.space, &world->agents.store, &world->agents.types, index);
}

/* A leaf took members out of itself, beside other actions. Its removal is queued already when none is left; where that
 * was dropped, for want of room, it keeps them. Frame's thread. */
void herds_taken(struct muster_world *world, uint32_t index, uint32_t members);

/* Whether an agent stands for a block of herds. */
static inline bool herds_is_block(const struct muster_world *world, uint32_t index) {
  return world->herds->table.count && world->herds->table.links[index].tie == HERD_TIE_BLOCK;
}

/* Takes out a herd without leaves; the members of a folded one must not be counted any more. Frame's thread. */
void herds_close_home(struct muster_world *world, struct herd_type *type, uint32_t herd);

#endif
