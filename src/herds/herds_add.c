/* herds_add.c - a new herd, folded, at a home of its own. */
#include "base/assert.h"
#include "base/error.h"
#include "herds/herds.h"
#include "world/lifecycle.h"

#include <muster/herd.h>

/* Where a block's agent stands: out of sight of every observer, and with few others in a cell. */
static muster_position place_of_block(const struct muster_world *world, uint32_t number) {
  enum { ROW = 4096 };
  double step_m = world->agents.space.cell_m;
  return (muster_position){-1e9 + step_m * (number % ROW), -1e9 + step_m * (double)(number / ROW), 0.0};
}

muster_result herds_check_room(struct herd_type *type, uint32_t partition, bool *opens) {
  if (type->herds == type->def.herds_max)
    return error_set(MUSTER_E_FULL, "herd type '%s': herds_max = %u herds exist", type->name, type->def.herds_max);
  uint32_t block = herds_find_block(type, partition);
  if (block == HERD_NONE)
    return error_set(MUSTER_E_FULL,
                     "herd type '%s': all blocks are taken: herds of so many partitions need a greater "
                     "herds_max than %u",
                     type->name, type->def.herds_max);
  *opens = block == type->block_count;
  return MUSTER_OK;
}

muster_result herds_refuse_block(const struct muster_world *world) {
  return error_set(MUSTER_E_FULL, "herds: agents_max = %u agents exist, and a block of %u herds needs one",
                   world->def.limits.agents_max, MUSTER_HERD_BLOCK);
}

static void open_block(struct muster_world *world, struct herd_type *type, uint32_t index, uint32_t partition,
                       const herd_body *first) {
  uint32_t number = type->block_count;
  muster_agent_def def = muster_agent_def_default();
  def.type = (muster_type){type->block_type + 1};
  def.position = place_of_block(world, number);
  muster_agent made = lifecycle_make(world, index, &def);
  ASSERT(!muster_agent_is_null(made)); /* there is a slot for each index */
  (void)made;
  herds_open_block(type, partition, first->x, first->y);
  type->blocks[number].agent = index;
  world->herds->table.links[index] =
      (herd_link){.entry = number, .type = (uint8_t)(type - world->herds->table.types), .tie = HERD_TIE_BLOCK};
  lifecycle_enter(world, index, world->last_now_ns);
}

uint32_t herds_add(struct muster_world *world, struct herd_type *type, uint32_t partition, const herd_body *body,
                   uint32_t index) {
  uint32_t block = herds_find_block(type, partition);
  ASSERT(block != HERD_NONE && type->herds < type->def.herds_max);
  if (block == type->block_count) open_block(world, type, index, partition, body);
  if (!type->blocks[block].live) herds_move_block(type, block, partition, body->x, body->y);
  if (block < type->fresh) herds_bring_forward(world, type, block, world->last_now_ns);
  uint32_t home = herds_take_slot(type, block);
  herds_write(type, home, body);
  type->herds++;
  world->herds->table.members += body->members;
  herd_ids_turn(&world->herds->ids, type->first + home);
  return type->first + home;
}

void herds_set_back(const struct muster_world *world, struct herd_type *type, uint32_t herd, uint64_t reached_ns) {
  uint32_t home = herds_home(type, herd);
  const herd_block *block = herds_block_of(type, home);
  uint64_t block_ns = world_row(world, block->agent)->last_update_ns;
  herd_body body = herds_body(type, home);
  ASSERT(type->members[home] > 0);
  if (reached_ns > block_ns) reached_ns = block_ns;
  if (reached_ns == block_ns && home / MUSTER_HERD_BLOCK < type->fresh) return; /* else the block begins later */
  uint32_t number = herds_take_entry(type, herd, body.x, body.y);
  if (number == HERD_NONE) return;
  herd_entry *entry = herds_entry(type, number);
  entry->ahead_ns = (int64_t)(reached_ns - block_ns);
  entry->block_ns = block_ns;
  entry->state = HERD_ENTRY_SETTLING;
  type->settling[type->settling_count++] = number;
  herds_chain(type, number);
}

/* ----------------------------------------------------------------------------------------------------------- naming */

uint32_t herds_find_name(herd_table *table) {
  for (uint32_t i = 0; table->named_count < table->named_high && i < table->named_high; i++)
    if (table->named[i].agent == HERD_NONE) return i;
  return table->named_high < table->named_max ? table->named_high++ : HERD_NONE;
}

void herds_give_name(struct muster_world *world, struct herd_type *type, uint32_t place, uint32_t agent,
                     const herd_named *named) {
  herd_table *table = &world->herds->table;
  ASSERT(place < table->named_high && world_row(world, agent)->type == type->member_type);
  table->named[place] = *named;
  table->named_count++;
  table->links[agent] = (herd_link){.entry = place, .type = (uint8_t)(type - table->types), .tie = HERD_TIE_NAMED};
}
