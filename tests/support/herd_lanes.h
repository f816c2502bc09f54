/* tests/support/herd_lanes.h - a type of herds on memory of its own, without a world. */
#ifndef SUPPORT_HERD_LANES_H
#define SUPPORT_HERD_LANES_H

#include "agents/herds.h"
#include "agents/observers.h"
#include "support/arenas.h"

#include <muster/herd.h>

/* Two children in each node, five levels; room for so many blocks, and as many unfolded herds. */
static inline void lay_out_herds(herd_table *table, struct herd_type *type, uint32_t blocks, uint32_t agents,
                                 struct arena *arena) {
  const size_t herds = (size_t)blocks * MUSTER_HERD_BLOCK;
  *type = (struct herd_type){.def = WITH(muster_herd_type_def, it.unfolded_max = blocks), .blocks_max = blocks};
  cr_assert(herd_tree_make(&type->tree, 2, 5));
  herds_lay_out(type);
  ARENA_ARRAY(arena, type->x, herds);
  ARENA_ARRAY(arena, type->y, herds);
  ARENA_ARRAY(arena, type->velocity_x, herds);
  ARENA_ARRAY(arena, type->velocity_y, herds);
  ARENA_ARRAY(arena, type->members, herds);
  ARENA_ARRAY(arena, type->blocks, blocks);
  ARENA_ARRAY(arena, type->open, PARTITIONS);
  type->pool = arena_reserve(arena, blocks, type->stride);
  *table = (herd_table){.count = 1, .types = type};
  ARENA_ARRAY(arena, table->links, agents);
  cr_assert_not(arena->failed);
}

#endif
