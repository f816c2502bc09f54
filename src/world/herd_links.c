/* herd_links.c - what the life of one agent means to the herd that it belongs to. */
#include "world/herd_links.h"

#include "base/assert.h"
#include "world/world_herds.h"

#include <muster/herd.h>

void herds_close_home(struct muster_world *world, struct herd_type *type, uint32_t herd) {
  ASSERT(type->herds > 0 && (herd_ids_generation(&world->herds->ids, herd) & 1));
  herd_ids_turn(&world->herds->ids, herd);
  herds_give_slot(type, herds_home(type, herd));
  type->herds--;
}

static void forget_leaf(struct muster_world *world, const herd_link *link) {
  struct herd_type *type = &world->herds->table.types[link->type];
  herd_lanes lanes = herds_lanes(type, link->entry);
  uint32_t herd = lanes.entry->herd, number = link->entry;
  ASSERT(lanes.entry->state == HERD_ENTRY_OPEN && link->lane < lanes.entry->lanes);
  world->herds->table.members -= lanes.members[link->lane];
  herds_take_out(&world->herds->table, type, number, link->lane, 1);
  if (lanes.entry->lanes > 0) return;
  herds_free_entry(type, number);
  type->unfolded--;
  herds_close_home(world, type, herd);
}

void herds_taken(struct muster_world *world, uint32_t index, uint32_t members) {
  herd_table *table = &world->herds->table;
  const herd_link *link = &table->links[index];
  const struct herd_type *type = &table->types[link->type];
  const agent_row *row = world_row(world, index);
  herd_lanes lanes = herds_lanes(type, link->entry);
  uint32_t have = lanes.members[link->lane];
  ASSERT(link->tie == HERD_TIE_LEAF && members > 0 && members <= have);
  if (members == have && !row->removal_pending) return;
  muster_herd_body *front = type_published(world_type(world, row->type), row->state_slot, row->front);
  for (uint32_t t = 0; t < type->def.totals; t++) {
    float *total = &lanes.totals[t][link->lane];
    float gone = members == have ? *total : *total / (float)have * (float)members;
    *total -= gone;
    front->totals[t] -= gone;
  }
  lanes.members[link->lane] = (uint16_t)(have - members);
  table->members -= members;
}

void herds_forget(struct muster_world *world, uint32_t index) {
  herd_table *table = &world->herds->table;
  herd_link link = table->links[index];
  ASSERT(link.tie != HERD_TIE_NAMED || table->named[link.entry].agent == index);
  ASSERT(link.tie != HERD_TIE_LEAF || herds_lanes(&table->types[link.type], link.entry).agents[link.lane] == index);
  if (link.tie == HERD_TIE_LEAF) forget_leaf(world, &link);
  if (link.tie == HERD_TIE_NAMED) {
    table->named[link.entry].agent = HERD_NONE;
    table->named_count--;
  }
  table->links[index] = (herd_link){0};
}
