/* agents_read.c - many agents at once, by columns. */
#include "base/prefetch.h"
#include "base/sized.h"
#include "world/guard.h"
#include "world/world_queues.h"

#include <muster/replicate.h>

#include <string.h>

enum { ROWS_AHEAD = 24, BYTES_AHEAD = 12 };

static muster_result check_stride(const void *array, uint32_t stride, const char *name) {
  if (!array || stride) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "agents: %s_stride must be above 0", name);
}

static muster_result take_columns(const muster_agent_columns *given, muster_agent_columns *columns) {
  *columns = muster_agent_columns_default();
  muster_result result = sized_read(SIZED(agent_columns), given, columns);
  if (!result) result = check_stride(columns->state, columns->state_stride, "state");
  if (!result) result = check_stride(columns->published, columns->published_stride, "published");
  return result;
}

static void copy_bytes(void *array, uint32_t stride, uint32_t i, const void *bytes, uint32_t count) {
  if (bytes) memcpy((char *)array + (size_t)i * stride, bytes, count < stride ? count : stride);
}

/* Fetches the rows and places of agents to come, and of nearer ones what their rows point at. */
PREFETCH_FUNCTION prefetch_read(const struct muster_world *world, const muster_agent *agents, uint32_t i,
                                uint32_t count, const muster_agent_columns *columns) {
  uint32_t maximum = world->agents.store.maximum;
  if (i + ROWS_AHEAD < count && muster_agent_index(agents[i + ROWS_AHEAD]) < maximum) {
    __builtin_prefetch(world_row(world, muster_agent_index(agents[i + ROWS_AHEAD])));
    if (columns->positions || columns->partition)
      __builtin_prefetch(&world->agents.store.places[muster_agent_index(agents[i + ROWS_AHEAD])]);
  }
  if (!(columns->state || columns->published) || i + BYTES_AHEAD >= count) return;
  uint32_t index = muster_agent_index(agents[i + BYTES_AHEAD]);
  if (index >= maximum || !world_is_active(world, index)) return;
  const agent_row *row = world_row(world, index);
  const agent_type *type = world_type(world, row->type);
  if (columns->state && type->states) __builtin_prefetch(type_state(type, row->state_slot));
  if (columns->published && type->published) __builtin_prefetch(type_published(type, row->state_slot, row->front));
}

static void read_columns_of(const struct muster_world *world, const agent_row *row, uint32_t i,
                            const muster_agent_columns *columns) {
  const agent_type *type = world_type(world, row->type);
  bool ghost = row->status == AGENT_GHOST;
  if (columns->importance) columns->importance[i] = share_value(row->importance);
  if (columns->level) columns->level[i] = row->level;
  if (columns->last_update_ns) columns->last_update_ns[i] = row->last_update_ns;
  if (columns->types) columns->types[i] = (muster_type){row->type + 1u};
  if (columns->period_ns)
    columns->period_ns[i] = ghost ? 0 : classes_period_ns(&world->queues->classes.classes[row->class]);
  if (columns->state && !ghost)
    copy_bytes(columns->state, columns->state_stride, i, type_state(type, row->state_slot), type->def.state_bytes);
  if (columns->published)
    copy_bytes(columns->published, columns->published_stride, i, type_published(type, row->state_slot, row->front),
               type->def.published_bytes);
}

static bool is_ghost(const struct muster_world *world, uint32_t index) {
  return world->zone && world_row(world, index)->status == AGENT_GHOST;
}

uint32_t muster_agents_read(const muster_world *world, const muster_agent *agents, uint32_t count,
                            const muster_agent_columns *given) {
  muster_agent_columns columns;
  uint32_t found = 0;
  if (guard_read(world, "agents") || (count && !agents && error_missing("agents", "array"))) return 0;
  if (take_columns(given, &columns)) return 0;
  for (uint32_t i = 0; i < count; i++) {
    if (!world->zone) prefetch_read(world, agents, i, count, &columns);
    muster_agent agent = world_find_seen(world, agents[i]);
    uint32_t index = muster_agent_index(agent);
    bool there = world_exists(world, agent) && (world_is_active(world, index) || is_ghost(world, index));
    if (columns.found) columns.found[i] = there;
    if (!there) continue;
    found++;
    if (columns.positions) columns.positions[i] = world_position(world, index);
    if (columns.partition) columns.partition[i] = world->agents.store.places[index].partition;
    read_columns_of(world, world_row(world, index), i, &columns);
  }
  return found;
}
