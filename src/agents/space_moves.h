/* agents/space_moves.h - agents that have moved to other cells go from list to list, many at a time.
 *
 * In passes, each of which may be done beside each other (base/parts.h):
 *
 *     note    chunks of agents   from which part of the grid does each agent come, and to which does it go?
 *     sort    chunks of agents   agents by the part that they come from; and by the one that they go to
 *     leave   parts              agents are taken out of the part's lists
 *     -       the caller         agents are taken out of crowds (agents/crowds.h), in the order in which they were
 * given enter   parts              agents are put into the part's lists, in that order
 *     -       the caller         agents enter crowds, and cells become crowds, in the order of the parts
 *
 * So the lists are the same, whatever the threads. */
#ifndef AGENTS_SPACE_MOVES_H
#define AGENTS_SPACE_MOVES_H

#include "agents/space.h"
#include "base/counting_sort.h"
#include "base/parts.h"

/* One side of the moves: from where, or to where. */
typedef struct space_side {
  uint8_t *parts;   /* by agent, as given; those that come from a crowd have a number behind all parts */
  uint32_t *agents; /* by part */
  counting_sort sort;
} space_side;

typedef struct space_moves {
  struct space *space;
  agent_store *store;
  const uint32_t *agents;
  uint32_t count;
  space_side from, to;
  bool later[SPACE_PARTS_MAX]; /* some agents that go there are left to the caller */
} space_moves;

/* Reserves moves for `agents_max` agents. */
void space_moves_create(space_moves *moves, struct space *space, agent_store *store, uint32_t agents_max,
                        struct arena *arena);

/* Relinks agents whose places space_set_place() has set. Frame's thread, while no other thread uses the grid. O(count).
 */
void space_moves_run(space_moves *moves, const uint32_t *agents, uint32_t count, const struct parts *parts);

#endif
