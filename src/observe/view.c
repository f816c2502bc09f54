/* view.c - agents for pictures: a pass over the columns that shows the agents in a rectangle. */
#include "observe/view.h"

#include "base/sized.h"
#include "world/guard.h"
#include "world/world_queues.h"

#include <muster/view.h>

#include <math.h>
#include <string.h>

static bool is_rectangle(const muster_view *view) {
  return isfinite(view->x0) && isfinite(view->y0) && isfinite(view->x1) && isfinite(view->y1) && view->x0 < view->x1 &&
         view->y0 < view->y1;
}

muster_result view_check(const muster_world *world, bool complete, uint32_t *cursor, const char *what) {
  muster_result result = MUSTER_OK;
  if (!world || !cursor || !complete)
    result = error_set(MUSTER_E_ARGUMENT, "%s: something that must be given is missing", what);
  else
    result = guard_between(world, what);
  if (result && cursor) *cursor = MUSTER_VIEW_END;
  return result;
}

bool view_take(const muster_view *given, muster_view *view, uint32_t *cursor) {
  *view = muster_view_default();
  muster_result result = sized_read(SIZED(view), given, view);
  if (!result && !(is_rectangle(view) && view->looks_max > 0))
    result = error_set(MUSTER_E_ARGUMENT, "view %g, %g .. %g, %g with %u looks: it must be finite and not empty",
                       view->x0, view->y0, view->x1, view->y1, view->looks_max);
  if (result) *cursor = MUSTER_VIEW_END;
  return !result;
}

/* ---------------------------------------------------------------------------------------------------------- agents */

static uint8_t flags_of(const struct muster_world *world, const agent_row *row) {
  bool due = row->status == AGENT_READY || row->status == AGENT_ADMITTED;
  bool quarantined = row->status == AGENT_QUARANTINED || world->agents.types.types[row->type].quarantined;
  return (uint8_t)((due ? MUSTER_VIEW_DUE : 0) | (row->woken ? MUSTER_VIEW_WOKEN : 0) |
                   (row->atom_next ? MUSTER_VIEW_PREEMPTED : 0) | (quarantined ? MUSTER_VIEW_QUARANTINED : 0) |
                   (row->status == AGENT_ACTING ? MUSTER_VIEW_ACTING : 0));
}

static bool view_is_ghost(const struct muster_world *world, uint32_t index) {
  return world->agents.store.ghost_count && bits_has(world->agents.store.ghosts, index);
}

static void view_see(const struct muster_world *world, uint32_t index, muster_view_agent *agent) {
  const agent_row *row = &world->agents.store.rows[index];
  const agent_class *class = &world->queues->classes.classes[row->class];
  uint64_t now_ns = world->last_now_ns;
  agent->agent = world_id(world, index);
  if (row->status == AGENT_GHOST) {
    *agent = (muster_view_agent){.agent = agent->agent,
                                 .x = agent->x,
                                 .y = agent->y,
                                 .type = (uint16_t)(row->type + 1u),
                                 .flags = MUSTER_VIEW_GHOST};
    return;
  }
  agent->period_s = (float)((double)classes_period_ns(class) * 1e-9);
  agent->staleness_s = now_ns > row->last_update_ns ? (float)((double)(now_ns - row->last_update_ns) * 1e-9) : 0.0f;
  agent->importance = share_value(row->importance);
  agent->type = (uint16_t)(row->type + 1u);
  agent->level = row->level;
  agent->flags = flags_of(world, row);
}

/* Looks at the agents with index first .. end - 1, of which most are active, until the room is used up; returns where
 * that was. Places stand together, so agents outside the rectangle cost half a cache line each. */
static uint32_t view_look(const struct muster_world *world, const muster_view *view, uint32_t first, uint32_t end,
                          muster_view_agent *agents, uint32_t capacity, uint32_t *count) {
  for (uint32_t index = first; index < end; index++) {
    if (!store_is_active(&world->agents.store, index) && !view_is_ghost(world, index)) continue;
    const agent_place *place = &world->agents.store.places[index];
    double x = place->cell_x * world->agents.space.cell_m + (double)place->x - view->x0;
    double y = place->cell_y * world->agents.space.cell_m + (double)place->y - view->y0;
    bool inside = x >= 0 && y >= 0 && x < view->x1 - view->x0 && y < view->y1 - view->y0;
    if (!inside || place->partition != view->partition || world->agents.types.types[place->type].blocks) continue;
    if (*count == capacity) return index;
    muster_view_agent *agent = &agents[(*count)++];
    agent->x = (float)x;
    agent->y = (float)y;
    view_see(world, index, agent);
  }
  return end;
}

/* Where a call that begins at the cursor ends at the latest. */
static uint32_t end_of(const struct muster_world *world, uint32_t cursor, uint32_t looks_max) {
  uint32_t high = world->agents.store.high;
  if (cursor >= high) return cursor;
  return high - cursor > looks_max ? cursor + looks_max : high;
}

static uint32_t next_cursor(const struct muster_world *world, uint32_t index) {
  return index < world->agents.store.high ? index : MUSTER_VIEW_END;
}

uint32_t muster_agents_view(const muster_world *world, const muster_view *given, muster_view_agent *agents,
                            uint32_t capacity, uint32_t *cursor) {
  muster_view view;
  uint32_t count = 0;
  if (view_check(world, given && agents && capacity > 0, cursor, "view of agents")) return 0;
  if (!view_take(given, &view, cursor)) return 0;
  uint32_t end = end_of(world, *cursor, view.looks_max);
  *cursor = next_cursor(world, view_look(world, &view, *cursor, end, agents, capacity, &count));
  return count;
}

/* Where agents outside of a view are written. */
typedef struct view_outside {
  muster_agent *agents;
  muster_position *positions;
  bool *changed;
  uint32_t capacity, count;
} view_outside;

/* As view_look(), of the others. */
static uint32_t view_look_outside(struct muster_world *world, const muster_view *view, uint32_t first, uint32_t end,
                                  view_outside *outside) {
  for (uint32_t index = first; index < end; index++) {
    if (!store_is_active(&world->agents.store, index)) continue;
    agent_place *place = &world->agents.store.places[index];
    muster_position position = world_position(world, index);
    bool inside = position.x >= view->x0 && position.y >= view->y0 && position.x < view->x1 && position.y < view->y1;
    if (inside || world->agents.types.types[place->type].blocks) continue;
    if (outside->count == outside->capacity) return index;
    outside->agents[outside->count] = world_id(world, index);
    if (outside->changed) {
      outside->changed[outside->count] = place->changed;
      place->changed = 0;
    }
    outside->positions[outside->count++] = position;
  }
  return end;
}

uint32_t muster_agents_outside(muster_world *world, const muster_view *given, muster_agent *agents,
                               muster_position *positions, bool *changed, uint32_t capacity, uint32_t *cursor) {
  muster_view view;
  view_outside outside = {.agents = agents, .positions = positions, .changed = changed, .capacity = capacity};
  bool complete = given && agents && positions && capacity > 0;
  if (view_check(world, complete, cursor, "agents outside") || !view_take(given, &view, cursor)) return 0;
  uint32_t end = end_of(world, *cursor, view.looks_max);
  *cursor = next_cursor(world, view_look_outside(world, &view, *cursor, end, &outside));
  return outside.count;
}

/* ---------------------------------------------------------------------------------------------------------- raster */

static uint32_t cell_along(double at_m, double cells_per_m, uint32_t cells) {
  double cell = at_m * cells_per_m;
  return cell < cells - 1.0 ? cell > 0 ? (uint32_t)cell : 0 : cells - 1;
}

static void add_to_cell(muster_raster_cell *cell, const muster_view_agent *agent) {
  float level = (float)agent->level, period_s = agent->period_s, staleness_s = agent->staleness_s;
  bool shorter = period_s > 0.0f && (cell->with_period == 0 || period_s < cell->period_s_least);
  bool alike = period_s >= cell->period_s_least && period_s <= cell->period_s_least;
  if (cell->count == 0 || level < cell->level_least) cell->level_least = level;
  if (shorter || (alike && staleness_s > cell->staleness_s)) cell->staleness_s = staleness_s;
  if (shorter) cell->period_s_least = period_s;
  cell->count++;
  if (!(period_s > 0.0f)) return;
  cell->with_period++;
  if (staleness_s > cell->stretch_most * period_s) cell->stretch_most = staleness_s / period_s;
}

void muster_raster_add(const muster_raster *raster, const muster_view_agent *agents, uint32_t count) {
  if (!raster || !raster->cells || !raster->columns || !raster->rows || (count && !agents)) {
    error_missing("raster", "raster with its cells, and the agents");
    return;
  }
  double columns_per_m = raster->columns / raster->width_m, rows_per_m = raster->rows / raster->height_m;
  for (uint32_t i = 0; i < count; i++) {
    const muster_view_agent *agent = &agents[i];
    uint32_t column = cell_along((double)agent->x, columns_per_m, raster->columns);
    uint32_t row = cell_along((double)agent->y, rows_per_m, raster->rows);
    add_to_cell(&raster->cells[(size_t)row * raster->columns + column], agent);
  }
}

uint32_t muster_agents_raster(const muster_world *world, const muster_view *given, const muster_raster *raster,
                              uint32_t *cursor) {
  enum { AT_ONCE = 128 };
  muster_view_agent agents[AT_ONCE];
  muster_view view;
  uint32_t added = 0;
  bool complete = given && raster && raster->cells && raster->columns && raster->rows;
  if (view_check(world, complete, cursor, "raster of agents") || !view_take(given, &view, cursor)) return 0;
  muster_raster whole = *raster;
  whole.width_m = view.x1 - view.x0;
  whole.height_m = view.y1 - view.y0;
  uint32_t end = end_of(world, *cursor, view.looks_max), index = *cursor;
  while (index < end) {
    uint32_t count = 0;
    index = view_look(world, &view, index, end, agents, AT_ONCE, &count);
    muster_raster_add(&whole, agents, count);
    added += count;
  }
  *cursor = next_cursor(world, index);
  return added;
}

/* ---------------------------------------------------------------------------------------------------------- extent */

static void view_widen(muster_extent *extent, muster_position at) {
  bool first = extent->agents == 0;
  extent->agents++;
  if (first || at.x < extent->x0) extent->x0 = at.x;
  if (first || at.y < extent->y0) extent->y0 = at.y;
  if (first || at.x > extent->x1) extent->x1 = at.x;
  if (first || at.y > extent->y1) extent->y1 = at.y;
}

muster_result muster_agents_extent(const muster_world *world, uint32_t partition, uint32_t looks_max,
                                   muster_extent *extent, uint32_t *cursor) {
  muster_result result = view_check(world, extent && looks_max > 0, cursor, "extent of agents");
  if (result) return result;
  uint32_t end = end_of(world, *cursor, looks_max);
  for (uint32_t index = *cursor; index < end; index++) {
    const agent_place *place = &world->agents.store.places[index];
    if (!store_is_active(&world->agents.store, index) || place->partition != partition) continue;
    if (!world->agents.types.types[place->type].blocks) view_widen(extent, space_position(&world->agents.space, place));
  }
  *cursor = next_cursor(world, end);
  return MUSTER_OK;
}
