#include "world/saved_agent.h"

#include "agents/spawn.h"
#include "base/assert.h"
#include "world/world_plan.h"
#include "world/world_queues.h"

#include <math.h>
#include <string.h>

#define COLUMN(member)                                                                                                 \
  { offsetof(saved_agent, member), sizeof((saved_agent *)0)->member }

const saved_column saved_columns[SAVED_COLUMNS] = {
    COLUMN(alarm),
    COLUMN(ratings),
    COLUMN(own_importance),
    COLUMN(inherited_importance),
    [SAVED_SHED] = COLUMN(shed),
    COLUMN(phase),
    [SAVED_BEGUN] = COLUMN(begun),
    COLUMN(reservation),
};

/* The values of all agents, by column; null where the world has no such column. */
typedef struct column_values {
  void *of[SAVED_COLUMNS];
} column_values;

static column_values values_of(const struct muster_world *world) {
  const agent_store *store = &world->agents.store;
  return (column_values){{store->alarms, store->ratings, store->own_importance, store->inherited_importance,
                          store->shed, world->plan->phases.places, store->begun,
                          world->queues->classes.activation.reservations}};
}

/* Whether what stands in a column belongs to the agent, and not to an update or to an agent before it. */
static bool has_column(const saved_agent *saved, uint32_t number) {
  const agent_row *row = &saved->row;
  if (number == SAVED_BEGUN) return row->atom_next || row->status == AGENT_ACTING || row->acts || row->owes;
  if (number == SAVED_RESERVATION) /* otherwise its beat is past */
    return row->status != AGENT_PENDING && (saved->reservation.cost_ns | saved->reservation.delay_ns);
  return number < SAVED_SHED || row->status != AGENT_PENDING;
}

void saved_agent_describe(const struct muster_world *world, uint32_t index, saved_agent *saved) {
  static const unsigned char zero[sizeof(saved_agent)];
  const agent_store *store = &world->agents.store;
  const column_values values = values_of(world);
  ASSERT(store->rows[index].status != AGENT_FREE);
  memset(saved, 0, sizeof *saved);
  saved->index = index;
  saved->row = store->rows[index];
  saved->place = store->places[index];
  saved->row.generation = saved->row.state_slot = saved->row.queued = 0;
  saved->row.scheduled = saved->row.status == AGENT_WAITING && saved->row.scheduled; /* its due time says where */
  saved->place.spot = saved->place.depth = saved->place.changed = 0;
  for (uint32_t i = 0; i < SAVED_COLUMNS; i++) {
    const saved_column *column = &saved_columns[i];
    if (!values.of[i]) continue;
    unsigned char *value = (unsigned char *)saved + column->offset;
    memcpy(value, (const unsigned char *)values.of[i] + (size_t)index * column->bytes, column->bytes);
    if (has_column(saved, i) && memcmp(value, zero, column->bytes) != 0) saved->parts |= (uint16_t)(1u << i);
  }
}

bool saved_agent_is_placed(const struct muster_world *world, const agent_place *place, uint32_t type) {
  float cell_m = (float)world->agents.space.cell_m;
  return place->type == type && place->x >= 0.0f && place->x <= cell_m && place->y >= 0.0f && place->y <= cell_m &&
         fabsf(place->z) <= 1e9f && place->depth == 0 && space_accepts(space_position(&world->agents.space, place));
}

bool saved_agent_take(struct muster_world *world, const saved_agent *saved, uint32_t columns, void *user) {
  const column_values values = values_of(world);
  agent_row row = saved->row;
  ASSERT(saved->index < world->agents.store.maximum && row.type < world->agents.types.count);
  row.user = user;
  row.state_slot = identity_take(&world->agents.slots[row.type]);
  if (row.state_slot == IDENTITY_NONE) return false;
  spawn_write_row(&world->agents.store.rows[saved->index], &row);
  world->agents.store.places[saved->index] = saved->place;
  world->agents.store.places[saved->index].changed = 1;
  for (uint32_t i = 0; i < SAVED_COLUMNS; i++) {
    const saved_column *column = &saved_columns[i];
    if (values.of[i] && columns >> i & 1)
      memcpy((unsigned char *)values.of[i] + (size_t)saved->index * column->bytes,
             (const unsigned char *)saved + column->offset, column->bytes);
  }
  return true;
}
