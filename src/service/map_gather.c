#include "service/map_gather.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 1, KIND_AGENTS = 1, KIND_CELLS = 2, CELL_BYTES = 24, LOOKS_AT_ONCE = 4096 };
static const uint64_t slice_ns = 200000u;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sights are sent as they lie in memory");
_Static_assert(sizeof(muster_sight) == 32 && offsetof(muster_sight, x) == 8 && offsetof(muster_sight, period_s) == 16 &&
                   offsetof(muster_sight, importance) == 24 && offsetof(muster_sight, type) == 28 &&
                   offsetof(muster_sight, level) == 30 && offsetof(muster_sight, flags) == 31,
               "as service/live.h describes it");

bool map_queries_equal(const map_query *a, const map_query *b) {
  const rectangle *first = &a->rectangle, *second = &b->rectangle;
  if (a->world != b->world || a->partition != b->partition || a->max != b->max) return false;
  if (a->width != b->width || a->height != b->height || first->given != second->given) return false;
  return first->x0 == second->x0 && first->y0 == second->y0 && first->x1 == second->x1 && first->y1 == second->y1;
}

bool map_gather_begin(map_gather *gather, const map_query *query) {
  *gather = (map_gather){.query = *query, .phase = query->rectangle.given ? MAP_AGENTS : MAP_EXTENT};
  gather->sights = malloc(((size_t)query->max + 1) * sizeof *gather->sights);
  gather->cells = calloc((size_t)query->width * query->height, sizeof *gather->cells);
  if (gather->sights && gather->cells) return true;
  map_gather_free(gather);
  return false;
}

void map_gather_free(map_gather *gather) {
  free(gather->sights);
  free(gather->cells);
  gather->sights = NULL;
  gather->cells = NULL;
}

/* --------------------------------------------------------------------------------------------------------- gathering
 */

static muster_view view_of(const map_query *query) {
  muster_view view = muster_default_view();
  view.partition = query->partition;
  view.x0 = query->rectangle.x0;
  view.y0 = query->rectangle.y0;
  view.x1 = query->rectangle.x1;
  view.y1 = query->rectangle.y1;
  view.looks_max = LOOKS_AT_ONCE;
  return view;
}

static muster_raster raster_of(const map_gather *gather) {
  const map_query *query = &gather->query;
  return (muster_raster){.width_m = query->rectangle.x1 - query->rectangle.x0,
                         .height_m = query->rectangle.y1 - query->rectangle.y0,
                         .columns = query->width,
                         .rows = query->height,
                         .cells = gather->cells};
}

static void enter(map_gather *gather, map_phase phase) {
  gather->phase = phase;
  gather->cursor = 0;
}

/* A little wider than the agents stand, so that nobody is on the border. */
static void take_extent(map_gather *gather) {
  rectangle *rectangle = &gather->query.rectangle;
  const muster_extent *extent = &gather->extent;
  double margin_x = 0.5 + 0.01 * (extent->x1 - extent->x0), margin_y = 0.5 + 0.01 * (extent->y1 - extent->y0);
  rectangle->x0 = extent->x0 - margin_x;
  rectangle->y0 = extent->y0 - margin_y;
  rectangle->x1 = extent->x1 + margin_x;
  rectangle->y1 = extent->y1 + margin_y;
}

static void look_for_extent(map_gather *gather, const muster_world *world) {
  muster_agents_extent(world, gather->query.partition, LOOKS_AT_ONCE, &gather->extent, &gather->cursor);
  if (gather->cursor != MUSTER_VIEW_END) return;
  take_extent(gather);
  enter(gather, MAP_AGENTS);
}

/* One more than may be shown one by one: those that were found become part of the raster, and the others follow. */
static void look_for_agents(map_gather *gather, const muster_world *world) {
  muster_view view = view_of(&gather->query);
  uint32_t room = gather->query.max + 1 - gather->agents;
  gather->agents += muster_agents_view(world, &view, gather->sights + gather->agents, room, &gather->cursor);
  if (gather->agents > gather->query.max) {
    muster_raster raster = raster_of(gather);
    muster_raster_add(&raster, gather->sights, gather->agents);
    gather->phase = MAP_CELLS;
  }
  if (gather->cursor == MUSTER_VIEW_END && gather->phase == MAP_AGENTS) gather->phase = MAP_GATHERED;
}

static void look_for_cells(map_gather *gather, const muster_world *world) {
  muster_view view = view_of(&gather->query);
  muster_raster raster = raster_of(gather);
  if (gather->cursor != MUSTER_VIEW_END) gather->agents += muster_agents_raster(world, &view, &raster, &gather->cursor);
  if (gather->cursor == MUSTER_VIEW_END) gather->phase = MAP_GATHERED;
}

bool map_gather_slice(map_gather *gather) {
  const hosted_world *hosted = gather->query.world;
  uint64_t until_ns = clock_system() + slice_ns;
  if (!hosted->world) {
    error_set(MUSTER_E_STATE, "world %s is not open", hosted->name);
    return false;
  }
  gather->slices++;
  gather->frame = hosted->frames;
  gather->sim_now_ns = hosted->sim_now_ns;
  while (gather->phase != MAP_GATHERED && clock_system() < until_ns) {
    if (gather->phase == MAP_EXTENT)
      look_for_extent(gather, hosted->world);
    else if (gather->phase == MAP_AGENTS)
      look_for_agents(gather, hosted->world);
    else
      look_for_cells(gather, hosted->world);
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- encoding
 */

static char *put(char *at, const void *value, size_t bytes) {
  memcpy(at, value, bytes);
  return at + bytes;
}

static char *put_u16(char *at, uint16_t value) {
  return put(at, &value, sizeof value);
}

static char *put_u32(char *at, uint32_t value) {
  return put(at, &value, sizeof value);
}

static char *put_u64(char *at, uint64_t value) {
  return put(at, &value, sizeof value);
}

static char *put_f32(char *at, float value) {
  return put(at, &value, sizeof value);
}

static char *put_header(char *at, const map_gather *gather, bool cells, uint32_t records) {
  const map_query *query = &gather->query;
  const double corners[4] = {query->rectangle.x0, query->rectangle.y0, query->rectangle.x1, query->rectangle.y1};
  at = put(at, "MMAP", 4);
  at = put_u16(at, VERSION);
  at = put_u16(at, cells ? KIND_CELLS : KIND_AGENTS);
  at = put_u32(at, MAP_HEADER_BYTES);
  at = put_u32(at, cells ? CELL_BYTES : (uint32_t)sizeof(muster_sight));
  at = put_u32(at, records);
  at = put_u32(at, cells ? query->width : 0);
  at = put_u32(at, cells ? query->height : 0);
  at = put_u32(at, query->partition);
  at = put_u64(at, gather->sim_now_ns);
  at = put(at, corners, sizeof corners);
  at = put_u64(at, gather->frame);
  return put_u64(at, gather->agents);
}

static char *put_cell(char *at, uint32_t index, const muster_raster_cell *cell) {
  float count = (float)cell->count, with_period = cell->with_period ? (float)cell->with_period : 1.0f;
  at = put_u32(at, index);
  at = put_u32(at, cell->count);
  at = put_f32(at, cell->level_sum / count);
  at = put_f32(at, cell->period_s_sum / with_period);
  at = put_f32(at, cell->staleness_s_sum / count);
  return put_f32(at, cell->stretch_sum / with_period);
}

static uint32_t count_cells(const map_gather *gather) {
  uint32_t count = 0, cells = gather->query.width * gather->query.height;
  for (uint32_t i = 0; i < cells; i++) count += gather->cells[i].count > 0;
  return count;
}

void *map_gather_encode(const map_gather *gather, size_t *bytes) {
  ASSERT(gather->phase == MAP_GATHERED);
  bool as_cells = gather->agents > gather->query.max;
  uint32_t records = as_cells ? count_cells(gather) : gather->agents;
  *bytes = MAP_HEADER_BYTES + (size_t)records * (as_cells ? CELL_BYTES : sizeof(muster_sight));
  char *map = malloc(*bytes), *at = map;
  if (!map) return NULL;
  at = put_header(at, gather, as_cells, records);
  ASSERT(at == map + MAP_HEADER_BYTES);
  for (uint32_t i = 0; as_cells && i < gather->query.width * gather->query.height; i++)
    if (gather->cells[i].count > 0) at = put_cell(at, i, &gather->cells[i]);
  if (!as_cells) at = put(at, gather->sights, (size_t)records * sizeof *gather->sights);
  ASSERT(at == map + *bytes);
  return map;
}
