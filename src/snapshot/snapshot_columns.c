/* snapshot_columns.c - see snapshot.h: columns, and lists of agents. */
#include "base/assert.h"
#include "snapshot/snapshot.h"

#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- columns */

/* The most that a count may be. */
static uint64_t column_most(const struct snapshot *snapshot, const snapshot_column *column) {
  switch (column->limit) {
  case COLUMN_UP_TO_NOW:
    return snapshot->info.sim_now_ns;
  case COLUMN_UP_TO_HIGH:
    return snapshot->high;
  default:
    return column->most;
  }
}

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the first bytes of a number are its lowest");

static bool column_is_in_range(const struct snapshot *snapshot, const snapshot_column *column, const void *value) {
  uint64_t count = 0;
  float single;
  double number;
  switch (column->kind) {
  case COLUMN_COUNT:
    memcpy(&count, value, column->bytes);
    return count <= column_most(snapshot, column);
  case COLUMN_FLOAT:
    memcpy(&single, value, sizeof single);
    return (double)single >= column->low && (double)single <= column->high;
  case COLUMN_DOUBLE:
    memcpy(&number, value, sizeof number);
    return number >= column->low && number <= column->high;
  default:
    return true;
  }
}

void snapshot_columns(struct snapshot *snapshot, const snapshot_column *columns, void *object) {
  for (const snapshot_column *column = columns; column->name; column++) {
    unsigned char *value = (unsigned char *)object + column->offset;
    snapshot_exchange(snapshot, value, column->bytes);
    if (!snapshot->column && snapshot_checks(snapshot) && !column_is_in_range(snapshot, column, value))
      snapshot->column = column->name;
  }
}

/* -------------------------------------------------------------------------------------------------- lists of agents */

/* Blocks are linked from the last to the first. */
uint32_t snapshot_list(struct snapshot *snapshot, const list_store *lists, agent_list list, uint32_t before) {
  uint32_t count = before, *out = snapshot->indices;
  for (agent_list at = list; at; at = lists_last(lists, at)->previous) count += lists_last(lists, at)->count;
  ASSERT(count <= snapshot->world->agents.store.active_count + snapshot->world->agents.store.ghost_count);
  for (uint32_t end = count; list; list = lists_last(lists, list)->previous) {
    const list_block *block = lists_last(lists, list);
    ASSERT(block->count > 0 && block->count <= end);
    end -= block->count;
    memcpy(out + end, block->agents, block->count * sizeof *out);
  }
  return count;
}

void snapshot_ring(struct snapshot *snapshot, struct ring *ring, const char *what, void *value,
                   void (*exchange)(struct snapshot *snapshot, void *value)) {
  uint32_t count = 0;
  while (snapshot_saves(snapshot) && ring_peek(ring, count, value)) count++;
  count = snapshot_count(snapshot, count, ring->mask + 1, what);
  for (uint32_t i = 0; i < count; i++) {
    if (snapshot_saves(snapshot)) ring_peek(ring, i, value);
    exchange(snapshot, value);
    if (snapshot_loads(snapshot)) ring_push(ring, value);
  }
}

/* Whether an agent may be in a list. */
static void check_listed(struct snapshot *snapshot, uint32_t index, const snapshot_listing *listing) {
  snapshot_expect_agent(snapshot, index);
  const agent_row *row = &snapshot->rows[index];
  bool fits = (listing->statuses >> row->status & 1) && (row->status != AGENT_FREE || !(row->generation & 1));
  if (listing->mark) snapshot_mark(snapshot, index, listing->mark, listing->where);
  snapshot_expect(snapshot, fits, "agent %u is in %s", index, listing->where);
}

uint32_t snapshot_indices(struct snapshot *snapshot, uint32_t count, uint32_t most, const snapshot_listing *listing) {
  count = snapshot_count(snapshot, count, most, listing->what);
  ASSERT(count <= snapshot->world->def.limits.agents_max);
  snapshot_exchange(snapshot, snapshot->indices, count * sizeof *snapshot->indices);
  for (uint32_t i = 0; i < count && snapshot_checks(snapshot); i++)
    check_listed(snapshot, snapshot->indices[i], listing);
  return count;
}

uint32_t snapshot_array(struct snapshot *snapshot, uint32_t *own, uint32_t *own_count, uint32_t most,
                        const snapshot_listing *listing) {
  if (snapshot_saves(snapshot) && *own_count) memcpy(snapshot->indices, own, *own_count * sizeof *own);
  uint32_t count = snapshot_indices(snapshot, *own_count, most, listing);
  if (!snapshot_loads(snapshot)) return count;
  *own_count = count;
  if (count) memcpy(own, snapshot->indices, count * sizeof *own);
  return count;
}
