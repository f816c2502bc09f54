#include "service/map_gather.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum {
  VERSION = 2,
  KIND_AGENTS = 1,
  KIND_CELLS = 2,
  KIND_FIELD = 3,
  CELL_BYTES = 24,
  SQUARE_BYTES = 12,
  LOOKS_AT_ONCE = 4096
};
static const uint64_t slice_ns = 200000u;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sights are sent as they lie in memory");
_Static_assert(sizeof(muster_sight) == 32 && offsetof(muster_sight, x) == 8 && offsetof(muster_sight, period_s) == 16 &&
                   offsetof(muster_sight, importance) == 24 && offsetof(muster_sight, type) == 28 &&
                   offsetof(muster_sight, level) == 30 && offsetof(muster_sight, flags) == 31,
               "as service/live.h describes it");

bool map_queries_equal(const map_query *a, const map_query *b) {
  const struct rectangle *first = &a->rectangle, *second = &b->rectangle;
  if (a->world != b->world || a->subject != b->subject || a->partition != b->partition || a->max != b->max)
    return false;
  if (a->width != b->width || a->height != b->height || first->given != second->given) return false;
  return first->x0 == second->x0 && first->y0 == second->y0 && first->x1 == second->x1 && first->y1 == second->y1;
}

/* Called when the rectangle is known. */
static map_phase first_phase(const map_query *query) {
  return query->subject == MAP_OF_FIELD ? MAP_FIELD : MAP_AGENTS;
}

bool map_gather_begin(map_gather *gather, const map_query *query) {
  *gather = (map_gather){.query = *query, .phase = query->rectangle.given ? first_phase(query) : MAP_EXTENT};
  if (query->subject == MAP_OF_FIELD) return map_field_begin(&gather->field, query->max);
  gather->sights = malloc(((size_t)query->max + 1) * sizeof *gather->sights);
  gather->cells = calloc((size_t)query->width * query->height, sizeof *gather->cells);
  if (gather->sights && gather->cells) return true;
  map_gather_free(gather);
  return false;
}

void map_gather_free(map_gather *gather) {
  free(gather->sights);
  free(gather->cells);
  map_field_free(&gather->field);
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

/* A little wider than the agents' area, so that no agent is on the border. */
static void take_extent(map_gather *gather) {
  struct rectangle *rectangle = &gather->query.rectangle;
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
  enter(gather, first_phase(&gather->query));
}

/* More agents than may be shown one by one: the agents found so far go into the raster, and the others follow. */
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

static void look_for_field(map_gather *gather, const muster_world *world) {
  const map_query *query = &gather->query;
  map_field_look(&gather->field, world, &query->rectangle, query->partition, &gather->cursor);
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
    else if (gather->phase == MAP_CELLS)
      look_for_cells(gather, hosted->world);
    else
      look_for_field(gather, hosted->world);
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

/* The fields of the header that depend on the kind of records. */
typedef struct map_shape {
  uint16_t kind;
  uint32_t header_bytes, record_bytes, records, columns, rows;
  uint64_t found; /* agents, or cells of the field */
  const struct rectangle *rectangle;
} map_shape;

static char *put_header(char *at, const map_gather *gather, const map_shape *shape) {
  const struct rectangle *around = shape->rectangle;
  const double corners[4] = {around->x0, around->y0, around->x1, around->y1};
  at = put(at, "MMAP", 4);
  at = put_u16(at, VERSION);
  at = put_u16(at, shape->kind);
  at = put_u32(at, shape->header_bytes);
  at = put_u32(at, shape->record_bytes);
  at = put_u32(at, shape->records);
  at = put_u32(at, shape->columns);
  at = put_u32(at, shape->rows);
  at = put_u32(at, gather->query.partition);
  at = put_u64(at, gather->sim_now_ns);
  at = put(at, corners, sizeof corners);
  at = put_u64(at, gather->frame);
  return put_u64(at, shape->found);
}

static char *put_cell(char *at, uint32_t index, const muster_raster_cell *cell) {
  at = put_u32(at, index);
  at = put_u32(at, cell->count);
  at = put_f32(at, cell->level_least);
  at = put_f32(at, cell->period_s_least);
  at = put_f32(at, cell->staleness_s);
  return put_f32(at, cell->stretch_most);
}

static char *put_cells(char *at, const map_gather *gather) {
  for (uint32_t i = 0; i < gather->query.width * gather->query.height; i++)
    if (gather->cells[i].count > 0) at = put_cell(at, i, &gather->cells[i]);
  return at;
}

static char *put_squares(char *at, const map_field *field) {
  at = put(at, &field->edge_m, sizeof field->edge_m);
  for (uint32_t i = 0; i < field->columns * field->rows; i++) {
    const field_square *square = &field->squares[i];
    if (square->cells == 0) continue;
    at = put_u32(at, i);
    at = put_f32(at, map_field_importance(field, square));
    at = put_u32(at, square->flags);
  }
  return at;
}

static uint32_t count_cells(const map_gather *gather) {
  uint32_t count = 0, cells = gather->query.width * gather->query.height;
  for (uint32_t i = 0; i < cells; i++) count += gather->cells[i].count > 0;
  return count;
}

static uint32_t count_squares(const map_field *field) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < field->columns * field->rows; i++) count += field->squares[i].cells > 0;
  return count;
}

static map_shape map_gather_shape_of(const map_gather *gather) {
  const map_query *query = &gather->query;
  const map_field *field = &gather->field;
  if (query->subject == MAP_OF_FIELD)
    return (map_shape){.kind = KIND_FIELD,
                       .header_bytes = MAP_FIELD_HEADER_BYTES,
                       .record_bytes = SQUARE_BYTES,
                       .records = count_squares(field),
                       .columns = field->columns,
                       .rows = field->rows,
                       .found = field->cells,
                       .rectangle = &field->rectangle};
  map_shape shape = {.kind = KIND_AGENTS,
                     .header_bytes = MAP_HEADER_BYTES,
                     .record_bytes = (uint32_t)sizeof(muster_sight),
                     .records = gather->agents,
                     .found = gather->agents,
                     .rectangle = &query->rectangle};
  if (gather->agents <= query->max) return shape;
  shape.kind = KIND_CELLS;
  shape.record_bytes = CELL_BYTES;
  shape.records = count_cells(gather);
  shape.columns = query->width;
  shape.rows = query->height;
  return shape;
}

void *map_gather_encode(const map_gather *gather, size_t *bytes) {
  ASSERT(gather->phase == MAP_GATHERED);
  map_shape shape = map_gather_shape_of(gather);
  *bytes = shape.header_bytes + (size_t)shape.records * shape.record_bytes;
  char *map = malloc(*bytes), *at = map;
  if (!map) return NULL;
  at = put_header(at, gather, &shape);
  if (shape.kind == KIND_AGENTS)
    at = put(at, gather->sights, (size_t)shape.records * sizeof *gather->sights);
  else if (shape.kind == KIND_CELLS)
    at = put_cells(at, gather);
  else
    at = put_squares(at, &gather->field);
  ASSERT(at == map + *bytes);
  return map;
}
