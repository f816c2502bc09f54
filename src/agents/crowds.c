#include "agents/crowds.h"

#include "base/assert.h"

/* Below the smallest squares, nodes part agents by their numbers. This many levels give each agent a bin of its own. */
enum { NUMBER_LEVELS = 16 };

/* Each level has at most one node for BIN_AGENTS + 1 agents. The top bits of numbers are spread so evenly that a part
 * on a level of numbers has no more than a quarter of the agents of the part above it, and a few. */
static uint32_t nodes_for(uint32_t agents_max) {
  uint32_t levels = 1 + CROWD_QUARTERS + 1;
  for (uint32_t part = agents_max; part > BIN_AGENTS && levels < CROWD_QUARTERS + NUMBER_LEVELS; part /= 4) levels++;
  uint64_t nodes = (uint64_t)(agents_max / (BIN_AGENTS + 1)) * levels + 1;
  return nodes < INT32_MAX / 4 ? (uint32_t)nodes : INT32_MAX / 4;
}

void crowds_create(struct crowds *crowds, uint32_t agents_max, double cell_m, list_store *lists, struct arena *arena) {
  *crowds =
      (struct crowds){.lists = lists, .steps_per_m = (float)(CROWD_STEPS / cell_m), .fresh_crowd = 1, .fresh_node = 1};
  ARENA_ARRAY(arena, crowds->cells, agents_max / (CROWD_AGENTS + 1) + 1);
  ARENA_ARRAY(arena, crowds->nodes, nodes_for(agents_max));
}

static uint32_t node_of(const crowd_slot *slot) {
  ASSERT(slot->to & CROWD_NODE);
  return slot->to & ~CROWD_NODE;
}

/* Which of a node's four parts holds a place. */
static uint32_t part_of(const struct crowds *crowds, const agent_place *place, uint32_t index, uint32_t depth) {
  if (depth >= CROWD_QUARTERS) return crowds_digit(crowds_number(index), depth);
  uint32_t shift = CROWD_QUARTERS - 1 - depth;
  return (crowds_step(crowds, place->x) >> shift & 1) | (crowds_step(crowds, place->y) >> shift & 1) << 1;
}

static uint32_t take_node(struct crowds *crowds, uint32_t parent, uint32_t depth) {
  uint32_t number = crowds->free_node;
  if (number)
    crowds->free_node = crowds->nodes[number].parent;
  else
    number = crowds->fresh_node++;
  crowds->nodes[number] = (crowd_node){.parent = parent, .depth = depth};
  return number;
}

static void give_node_back(struct crowds *crowds, uint32_t number) {
  crowds->nodes[number].parent = crowds->free_node;
  crowds->free_node = number;
}

static void put_into_bin(struct crowds *crowds, agent_store *store, uint32_t number, uint32_t depth, uint32_t index) {
  agent_place *place = &store->places[index];
  place->spot = lists_add(crowds->lists, &crowds_slot(crowds, number)->to, number, index);
  place->depth = (uint8_t)depth;
}

/* Appends the agents of a bin, oldest first, and gives its list back. */
static uint32_t empty_bin(struct crowds *crowds, crowd_slot *bin, uint32_t *agents, uint32_t count) {
  uint32_t end = count + bin->count;
  for (uint32_t at = end; bin->to; lists_drop_last(crowds->lists, &bin->to)) {
    const list_block *block = lists_last(crowds->lists, bin->to);
    at -= block->count;
    for (uint32_t i = 0; i < block->count; i++) agents[at + i] = block->agents[i];
  }
  return end;
}

/* Appends the agents of all bins below a node and gives the nodes back. */
static uint32_t empty_node(struct crowds *crowds, uint32_t number, uint32_t *agents, uint32_t count) {
  for (uint32_t i = 0; i < 4; i++) {
    crowd_slot *slot = &crowds->nodes[number].slots[i];
    if (slot->to & CROWD_NODE)
      count = empty_node(crowds, node_of(slot), agents, count);
    else
      count = empty_bin(crowds, slot, agents, count);
  }
  give_node_back(crowds, number);
  return count;
}

static void crowds_file(struct crowds *crowds, agent_store *store, uint32_t node, uint32_t index);

/* A bin has become too large: a node takes its place. */
static void part_bin(struct crowds *crowds, agent_store *store, uint32_t number, uint32_t depth) {
  uint32_t agents[BIN_AGENTS + 1];
  crowd_slot *slot = crowds_slot(crowds, number);
  uint32_t count = empty_bin(crowds, slot, agents, 0), node = take_node(crowds, number, depth);
  ASSERT(count == BIN_AGENTS + 1 && depth < CROWD_QUARTERS + NUMBER_LEVELS);
  slot->to = CROWD_NODE | node;
  for (uint32_t i = 0; i < count; i++) crowds_file(crowds, store, node, agents[i]);
}

/* Puts an agent into its bin below a node. */
static void crowds_file(struct crowds *crowds, agent_store *store, uint32_t node, uint32_t index) {
  for (;;) {
    uint32_t depth = crowds->nodes[node].depth;
    uint32_t number = node * 4 + part_of(crowds, &store->places[index], index, depth);
    crowd_slot *slot = crowds_slot(crowds, number);
    slot->count++;
    if (!(slot->to & CROWD_NODE)) {
      put_into_bin(crowds, store, number, depth + 1, index);
      if (slot->count > BIN_AGENTS) part_bin(crowds, store, number, depth + 1);
      return;
    }
    node = node_of(slot);
  }
}

void crowds_add(struct crowds *crowds, agent_store *store, uint32_t number, uint32_t index) {
  crowd_slot *slot = &crowds->cells[number].slot;
  slot->count++;
  crowds_file(crowds, store, node_of(slot), index);
}

uint32_t crowds_open(struct crowds *crowds, agent_store *store, const uint32_t *agents, uint32_t count) {
  const agent_place *place = &store->places[agents[0]];
  uint32_t number = crowds->free_crowd;
  if (number)
    crowds->free_crowd = crowds->cells[number].next;
  else
    number = crowds->fresh_crowd++;
  crowds->cells[number] = (crowd_cell){place->cell_x, place->cell_y, place->partition, 0, {0, 0}};
  crowds->cells[number].slot.to = CROWD_NODE | take_node(crowds, CROWD_ROOT | number, 0);
  for (uint32_t i = 0; i < count; i++) crowds_add(crowds, store, number, agents[i]);
  return number;
}

void crowds_close(struct crowds *crowds, uint32_t number, uint32_t *agents) {
  crowd_cell *crowd = &crowds->cells[number];
  uint32_t count = empty_node(crowds, node_of(&crowd->slot), agents, 0);
  ASSERT(count == CROWD_AGENTS && crowd->slot.count == count);
  (void)count;
  crowd->next = crowds->free_crowd;
  crowds->free_crowd = number;
}

/* A part has become small enough for a bin. */
static void join_part(struct crowds *crowds, agent_store *store, uint32_t number) {
  uint32_t agents[BIN_AGENTS];
  crowd_slot *slot = crowds_slot(crowds, number);
  uint32_t depth = crowds->nodes[node_of(slot)].depth, count = empty_node(crowds, node_of(slot), agents, 0);
  ASSERT(count == BIN_AGENTS && slot->count == count);
  slot->to = 0;
  for (uint32_t i = 0; i < count; i++) put_into_bin(crowds, store, number, depth, agents[i]);
}

/* Takes an agent out of a bin below a node, and leaves what is above that node as it is. */
static void take_out_below(struct crowds *crowds, agent_store *store, uint32_t node, list_spot spot) {
  uint32_t number = lists_block_of(crowds->lists, spot)->owner, small = CROWD_ROOT;
  uint32_t moved = lists_take_out(crowds->lists, &crowds_slot(crowds, number)->to, spot);
  if (moved != UINT32_MAX) store->places[moved].spot = spot;
  for (;; number = crowds->nodes[number >> 2].parent) {
    crowd_slot *slot = crowds_slot(crowds, number);
    slot->count--;
    if (slot->count == BIN_AGENTS && slot->to & CROWD_NODE) small = number;
    if (number >> 2 == node) break;
  }
  if (small != CROWD_ROOT) join_part(crowds, store, small);
}

uint32_t crowds_take_out(struct crowds *crowds, agent_store *store, list_spot spot) {
  uint32_t number = lists_block_of(crowds->lists, spot)->owner;
  while (!(number & CROWD_ROOT)) number = crowds->nodes[number >> 2].parent;
  crowd_slot *slot = crowds_slot(crowds, number);
  slot->count--;
  take_out_below(crowds, store, node_of(slot), spot);
  return number & ~CROWD_ROOT;
}

/* Files the agent in the new bin first, so that nodes above both bins do not change. */
void crowds_move(struct crowds *crowds, agent_store *store, uint32_t index, float from_x, float from_y) {
  const agent_place *place = &store->places[index];
  list_spot spot = place->spot;
  uint32_t differs = (crowds_step(crowds, from_x) ^ crowds_step(crowds, place->x)) |
                     (crowds_step(crowds, from_y) ^ crowds_step(crowds, place->y));
  ASSERT(differs);
  uint32_t depth = CROWD_QUARTERS - (32 - (uint32_t)__builtin_clz(differs)); /* of the smallest square with both */
  uint32_t node = lists_block_of(crowds->lists, spot)->owner >> 2;
  while (crowds->nodes[node].depth > depth) node = crowds->nodes[node].parent >> 2;
  crowds_file(crowds, store, node, index);
  take_out_below(crowds, store, node, spot);
}

/* The first bin at or below a slot. */
static uint32_t descend(const struct crowds *crowds, uint32_t number) {
  const crowd_slot *slot;
  while ((slot = crowds_slot(crowds, number))->to & CROWD_NODE) number = node_of(slot) * 4;
  return number;
}

agent_list crowds_next_list(const struct crowds *crowds, uint32_t number, uint32_t *slot) {
  uint32_t at = *slot;
  do {
    if (at == 0) {
      at = descend(crowds, CROWD_ROOT | number);
    } else {
      while (!(at & CROWD_ROOT) && (at & 3) == 3) at = crowds->nodes[at >> 2].parent;
      if (at & CROWD_ROOT) return 0;
      at = descend(crowds, at + 1);
    }
  } while (crowds_slot(crowds, at)->to == 0);
  *slot = at;
  return crowds_slot(crowds, at)->to;
}
