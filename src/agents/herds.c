#include "agents/herds.h"

#include "base/assert.h"

#include <muster/herd.h>

#include <math.h>
#include <string.h>

struct herd_type *herds_type_of(const herd_table *table, uint32_t herd) {
  for (uint32_t i = 0; i < table->count; i++) {
    struct herd_type *type = &table->types[i];
    if (herd >= type->first && herd - type->first < type->blocks_max * MUSTER_HERD_BLOCK) return type;
  }
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------------ homes */

static bool has_room(const struct herd_type *type, uint32_t block, uint32_t partition) {
  return type->blocks[block].live < MUSTER_HERD_BLOCK && type->blocks[block].partition == partition;
}

uint32_t herds_find_block(struct herd_type *type, uint32_t partition) {
  uint32_t open = type->open[partition];
  if (open && has_room(type, open - 1, partition)) return open - 1;
  uint32_t empty = HERD_NONE;
  for (uint32_t i = 0; type->gaps > 0 && i < type->block_count; i++) {
    if (!type->blocks[i].live && empty == HERD_NONE) empty = i;
    if (!has_room(type, i, partition)) continue;
    type->open[partition] = i + 1;
    return i;
  }
  if (empty != HERD_NONE) return empty;
  return type->block_count < type->blocks_max ? type->block_count : HERD_NONE;
}

void herds_open_block(struct herd_type *type, uint32_t partition, double origin_x, double origin_y) {
  ASSERT(type->block_count < type->blocks_max);
  type->blocks[type->block_count++] = (herd_block){.origin_x = origin_x,
                                                   .origin_y = origin_y,
                                                   .low_x = HERD_NOWHERE,
                                                   .low_y = HERD_NOWHERE,
                                                   .high_x = -HERD_NOWHERE,
                                                   .high_y = -HERD_NOWHERE,
                                                   .agent = HERD_NONE,
                                                   .partition = (uint16_t)partition};
  type->open[partition] = type->block_count;
}

void herds_move_block(struct herd_type *type, uint32_t number, uint32_t partition, double origin_x, double origin_y) {
  herd_block *block = &type->blocks[number];
  ASSERT(!block->live && !block->entry && !block->dying);
  block->origin_x = origin_x;
  block->origin_y = origin_y;
  block->low_x = block->low_y = HERD_NOWHERE;
  block->high_x = block->high_y = -HERD_NOWHERE;
  block->partition = (uint16_t)partition;
  type->open[partition] = number + 1;
}

uint32_t herds_take_slot(struct herd_type *type, uint32_t number) {
  herd_block *block = &type->blocks[number];
  uint32_t first = number * MUSTER_HERD_BLOCK, slot = block->high;
  ASSERT(block->live < MUSTER_HERD_BLOCK);
  if (block->high < MUSTER_HERD_BLOCK) {
    block->high++;
  } else {
    for (slot = block->gap; type->members[first + slot] || herds_number_in(type, first + slot) != HERD_EMPTY; slot++)
      ASSERT(slot < MUSTER_HERD_BLOCK);
    block->gap = slot + 1;
    type->gaps--;
  }
  block->live++;
  return first + slot;
}

void herds_give_slot(struct herd_type *type, uint32_t home) {
  herd_block *block = herds_block_of(type, home);
  uint32_t slot = home % MUSTER_HERD_BLOCK;
  ASSERT(block->live > 0);
  block->live--;
  if (slot < block->gap) block->gap = slot;
  type->gaps++;
  herds_put_number(type, home, HERD_EMPTY);
}

static void agents_herds_widen(herd_block *block, float x, float y) {
  block->low_x = fminf(block->low_x, x);
  block->low_y = fminf(block->low_y, y);
  block->high_x = fmaxf(block->high_x, x);
  block->high_y = fmaxf(block->high_y, y);
}

void herds_write(struct herd_type *type, uint32_t home, const herd_body *body) {
  herd_block *block = herds_block_of(type, home);
  ASSERT(body->members > 0);
  type->x[home] = (float)(body->x - block->origin_x);
  type->y[home] = (float)(body->y - block->origin_y);
  type->velocity_x[home] = (float)body->velocity_x;
  type->velocity_y[home] = (float)body->velocity_y;
  type->members[home] = (uint16_t)body->members;
  for (uint32_t t = 0; t < type->def.totals; t++) type->totals[t][home] = (float)body->totals[t];
  agents_herds_widen(block, type->x[home], type->y[home]);
}

herd_body herds_body(const struct herd_type *type, uint32_t home) {
  const herd_block *block = herds_block_of(type, home);
  herd_body body = {.x = block->origin_x + (double)type->x[home],
                    .y = block->origin_y + (double)type->y[home],
                    .velocity_x = (double)type->velocity_x[home],
                    .velocity_y = (double)type->velocity_y[home],
                    .members = type->members[home]};
  for (uint32_t t = 0; t < type->def.totals; t++) body.totals[t] = (double)type->totals[t][home];
  return body;
}

/* ------------------------------------------------------------------------------------------------------------- pool */

void herds_lay_out(struct herd_type *type) {
  type->lane_bytes = herds_align(type->tree.below[0] * sizeof(float));
  size_t bytes = sizeof(herd_entry) + (6 + type->def.totals) * type->lane_bytes + 2 * herds_align(type->lane_bytes / 2);
  type->stride = (bytes + 63) & ~(size_t)63;
}

void herds_pad(const herd_lanes *lanes) {
  for (uint32_t i = lanes->entry->lanes; i % 8 != 0; i++) {
    lanes->x[i] = lanes->y[i] = HERD_NOWHERE;
    lanes->velocity_x[i] = lanes->velocity_y[i] = 0.0f;
    lanes->members[i] = 0;
  }
}

uint32_t herds_take_entry(struct herd_type *type, uint32_t herd, double origin_x, double origin_y) {
  uint32_t number = type->entry_free;
  if (number)
    type->entry_free = herds_entry(type, --number)->next;
  else if (type->entry_high < type->def.unfolded_max)
    number = type->entry_high++;
  else
    return HERD_NONE;
  type->entry_used++;
  *herds_entry(type, number) =
      (herd_entry){.herd = herd, .origin_x = origin_x, .origin_y = origin_y, .state = HERD_ENTRY_OPEN};
  if (type->kept) memset(type->kept + number * type->kept_stride, 0, type->kept_stride);
  return number;
}

void herds_free_entry(struct herd_type *type, uint32_t number) {
  herd_entry *entry = herds_entry(type, number);
  ASSERT(entry->state != HERD_ENTRY_FREE && entry->lanes == 0);
  *entry = (herd_entry){.herd = HERD_NONE, .next = type->entry_free};
  type->entry_free = number + 1;
  type->entry_used--;
}

uint32_t herds_entry_of_folded(const struct herd_type *type, uint32_t herd) {
  uint32_t next = herds_block_of(type, herds_home(type, herd))->entry;
  while (next && herds_entry(type, next - 1)->herd != herd) next = herds_entry(type, next - 1)->next;
  return next ? next - 1 : HERD_NONE;
}

void herds_chain(struct herd_type *type, uint32_t number) {
  herd_entry *entry = herds_entry(type, number);
  herd_block *block = herds_block_of(type, herds_home(type, entry->herd));
  entry->next = block->entry;
  block->entry = number + 1;
}

void herds_unchain(struct herd_type *type, uint32_t number) {
  herd_entry *entry = herds_entry(type, number);
  uint32_t *next = &herds_block_of(type, herds_home(type, entry->herd))->entry;
  while (*next != number + 1) {
    ASSERT(*next);
    next = &herds_entry(type, *next - 1)->next;
  }
  *next = entry->next;
  entry->next = 0;
}

static void shift(const struct herd_type *type, const herd_lanes *lanes, uint32_t to, uint32_t from, uint32_t count) {
  float *fours[4] = {lanes->x, lanes->y, lanes->velocity_x, lanes->velocity_y};
  for (uint32_t i = 0; i < 4; i++) memmove(fours[i] + to, fours[i] + from, count * sizeof(float));
  for (uint32_t t = 0; t < type->def.totals; t++)
    memmove(lanes->totals[t] + to, lanes->totals[t] + from, count * sizeof(float));
  memmove(lanes->agents + to, lanes->agents + from, count * sizeof *lanes->agents);
  memmove(lanes->pins + to, lanes->pins + from, count * sizeof *lanes->pins);
  memmove(lanes->members + to, lanes->members + from, count * sizeof *lanes->members);
  memmove(lanes->nodes + to, lanes->nodes + from, count * sizeof *lanes->nodes);
}

static void relink(const herd_table *table, const herd_lanes *lanes, uint32_t from) {
  for (uint32_t i = from; i < lanes->entry->lanes; i++) table->links[lanes->agents[i]].lane = (uint16_t)i;
}

static void write_lane(const struct herd_type *type, const herd_lanes *lanes, uint32_t lane, const herd_body *body) {
  lanes->x[lane] = (float)(body->x - lanes->entry->origin_x);
  lanes->y[lane] = (float)(body->y - lanes->entry->origin_y);
  lanes->velocity_x[lane] = (float)body->velocity_x;
  lanes->velocity_y[lane] = (float)body->velocity_y;
  for (uint32_t t = 0; t < type->def.totals; t++) lanes->totals[t][lane] = (float)body->totals[t];
}

void herds_insert(herd_table *table, struct herd_type *type, uint32_t number, uint32_t at, const herd_body *bodies,
                  const uint32_t *agents, uint32_t count) {
  herd_lanes lanes = herds_lanes(type, number);
  ASSERT(lanes.entry->lanes + count <= type->tree.below[0]);
  shift(type, &lanes, at + count, at, lanes.entry->lanes - at);
  lanes.entry->lanes = (uint16_t)(lanes.entry->lanes + count);
  for (uint32_t i = 0; i < count; i++) {
    write_lane(type, &lanes, at + i, &bodies[i]);
    lanes.agents[at + i] = agents[i];
    lanes.pins[at + i] = 0;
    lanes.members[at + i] = (uint16_t)bodies[i].members;
    lanes.nodes[at + i] = (uint16_t)bodies[i].node;
    table->links[agents[i]] =
        (herd_link){.entry = number, .type = (uint8_t)(type - table->types), .tie = HERD_TIE_LEAF};
  }
  relink(table, &lanes, at);
  herds_pad(&lanes);
  type->leaves += count;
}

void herds_take_out(herd_table *table, struct herd_type *type, uint32_t number, uint32_t at, uint32_t count) {
  herd_lanes lanes = herds_lanes(type, number);
  ASSERT(at + count <= lanes.entry->lanes);
  for (uint32_t i = at; i < at + count; i++) {
    table->links[lanes.agents[i]] = (herd_link){0};
    lanes.entry->pinned = (uint16_t)(lanes.entry->pinned - (lanes.pins[i] != 0));
  }
  shift(type, &lanes, at, at + count, lanes.entry->lanes - at - count);
  lanes.entry->lanes = (uint16_t)(lanes.entry->lanes - count);
  relink(table, &lanes, at);
  herds_pad(&lanes);
  type->leaves -= count;
}

/* Drops NaN and infinity: they would spoil the agent that stands for the leaf next. */
static inline void note_finite(float *column, uint32_t lane, float value) {
  if (isfinite(value)) column[lane] = value;
}

void herds_note_leaf(const herd_table *table, const struct space *space, const agent_store *store,
                     const type_table *types, uint32_t agent) {
  const herd_link *link = &table->links[agent];
  if (link->tie != HERD_TIE_LEAF) return;
  const struct herd_type *type = &table->types[link->type];
  const agent_row *row = &store->rows[agent];
  const muster_herd_body *published = type_published(&types->types[row->type], row->state_slot, row->front);
  muster_position position = space_position(space, &store->places[agent]);
  const herd_entry *entry = herds_entry(type, link->entry);
  uint32_t lane = link->lane;
  herds_column(type, link->entry, 0)[lane] = (float)(position.x - entry->origin_x);
  herds_column(type, link->entry, 1)[lane] = (float)(position.y - entry->origin_y);
  note_finite(herds_column(type, link->entry, 2), lane, published->velocity_x);
  note_finite(herds_column(type, link->entry, 3), lane, published->velocity_y);
  for (uint32_t t = 0; t < type->def.totals; t++)
    note_finite(herds_column(type, link->entry, 4 + t), lane, published->totals[t]);
}

herd_body herds_leaf(const struct herd_type *type, const herd_lanes *lanes, uint32_t lane) {
  herd_body body = {.x = lanes->entry->origin_x + (double)lanes->x[lane],
                    .y = lanes->entry->origin_y + (double)lanes->y[lane],
                    .velocity_x = (double)lanes->velocity_x[lane],
                    .velocity_y = (double)lanes->velocity_y[lane],
                    .node = lanes->nodes[lane],
                    .members = lanes->members[lane]};
  for (uint32_t t = 0; t < type->def.totals; t++) body.totals[t] = (double)lanes->totals[t][lane];
  return body;
}

uint32_t herds_count(const herd_lanes *lanes) {
  uint32_t members = 0;
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) members += lanes->members[i];
  return members;
}

herd_body herds_whole(const struct herd_type *type, const herd_lanes *lanes) {
  herd_body whole = {.members = herds_count(lanes)};
  /* All members may be gone until the next intake removes the herd. */
  double one = whole.members ? 1.0 / (double)whole.members : 0.0;
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    double part = (double)lanes->members[i] * one;
    whole.x += part * (double)lanes->x[i];
    whole.y += part * (double)lanes->y[i];
    whole.velocity_x += part * (double)lanes->velocity_x[i];
    whole.velocity_y += part * (double)lanes->velocity_y[i];
    for (uint32_t t = 0; t < type->def.totals; t++) whole.totals[t] += (double)lanes->totals[t][i];
  }
  whole.x += lanes->entry->origin_x;
  whole.y += lanes->entry->origin_y;
  return whole;
}
