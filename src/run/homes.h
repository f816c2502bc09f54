/* run/homes.h - whether a herd's id still means what it meant: a generation by index, odd while it is somebody.
 *
 * Herd types own ranges of indices, announced one after another. Any thread may ask; the frame's thread writes. */
#ifndef RUN_HOMES_H
#define RUN_HOMES_H

#include "base/arena.h"
#include "pool/atomics.h"

#include <muster/herd.h>

typedef struct home_range {
  uint32_t first, count;
  uint32_t members_max;
  shared_u16 *generations;
} home_range;

struct homes {
  shared_u32 count;
  home_range ranges[MUSTER_HERD_TYPES_MAX];
};

/* Reserves generations for the indices of another type. When there is no room, arena->failed tells. */
void homes_reserve(struct homes *homes, uint32_t first, uint32_t count, uint32_t members_max, struct arena *arena);

/* The range last reserved may be asked for. */
void homes_announce(struct homes *homes);

/* Makes an index somebody, or nobody; returns the generation. Frame's thread. */
uint32_t homes_turn(struct homes *homes, uint32_t index);

/* Makes an index what it was when it was saved. Frame's thread, before other threads know the world. */
void homes_assign(struct homes *homes, uint32_t index, uint16_t generation);

/* The generation of an index that exists. Any thread. */
uint32_t homes_generation(const struct homes *homes, uint32_t index);

/* The range of a live id; null when it is gone. Any thread. */
const home_range *homes_find(const struct homes *homes, muster_herd herd);

#endif
