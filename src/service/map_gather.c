#include "service/map_gather.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"

#include <muster/view.h>

#include <stdlib.h>
#include <string.h>

enum { VERSION = 2, KIND_AGENTS = 1, KIND_CELLS, KIND_FIELD, LOOKS_AT_ONCE = 4096 };
static const uint64_t slice_ns = 200000u;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "agents are sent as they lie in memory");
_Static_assert(sizeof(muster_view_agent) == 32 && offsetof(muster_view_agent, x) == 8 &&
                   offsetof(muster_view_agent, period_s) == 16 && offsetof(muster_view_agent, importance) == 24 &&
                   offsetof(muster_view_agent, type) == 28 && offsetof(muster_view_agent, level) == 30 &&
                   offsetof(muster_view_agent, flags) == 31,
               "as service/live.h describes it");

bool map_queries_equal(const map_query *a, const map_query *b) {
  const struct rectangle *first = &a->rectangle, *second = &b->rectangle;
  if (a->world != b->world || a->subject != b->subject || a->partition != b->partition || a->max != b->max)
    return false;
  if (a->width != b->width || a->height != b->height || first->given != second->given) return false;
  return memcmp(&first->x0, &second->x0, 4 * sizeof first->x0) == 0;
}

/* Called when the rectangle is known. */
static map_phase first_phase(const map_query *query) {
  return query->subject == MAP_OF_FIELD ? MAP_FIELD : MAP_AGENTS;
}

bool map_gather_begin(map_gather *gather, const map_query *query) {
  *gather = (map_gather){.query = *query, .phase = query->rectangle.given ? first_phase(query) : MAP_EXTENT};
  if (query->subject == MAP_OF_FIELD) return map_field_begin(&gather->field, query->max);
  gather->shown = malloc(((size_t)query->max + 1) * sizeof *gather->shown);
  gather->cells = calloc((size_t)query->width * query->height, sizeof *gather->cells);
  if (gather->shown && gather->cells) return true;
  map_gather_free(gather);
  return false;
}

void map_gather_free(map_gather *gather) {
  free(gather->shown);
  free(gather->cells);
  map_field_free(&gather->field);
  gather->shown = NULL;
  gather->cells = NULL;
}

/* -------------------------------------------------------------------------------------------------------- gathering */

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
  muster_view view = map_view(&gather->query.rectangle, gather->query.partition, LOOKS_AT_ONCE);
  uint32_t room = gather->query.max + 1 - gather->agents;
  gather->agents += muster_agents_view(world, &view, gather->shown + gather->agents, room, &gather->cursor);
  if (gather->agents > gather->query.max) {
    muster_raster raster = raster_of(gather);
    muster_raster_add(&raster, gather->shown, gather->agents);
    gather->phase = MAP_CELLS;
  }
  if (gather->cursor == MUSTER_VIEW_END && gather->phase == MAP_AGENTS) gather->phase = MAP_GATHERED;
}

static void look_for_cells(map_gather *gather, const muster_world *world) {
  muster_view view = map_view(&gather->query.rectangle, gather->query.partition, LOOKS_AT_ONCE);
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
  static void (*const looks[MAP_GATHERED])(map_gather * gather, const muster_world *world) = {
      look_for_extent, look_for_agents, look_for_cells, look_for_field};
  const hosted_world *hosted = gather->query.world;
  uint64_t until_ns = clock_system() + slice_ns;
  if (!hosted->world) {
    error_set(MUSTER_E_STATE, "world %s is not open", hosted->name);
    return false;
  }
  gather->slices++;
  gather->frame = hosted->frames;
  gather->sim_now_ns = hosted->sim_now_ns;
  while (gather->phase != MAP_GATHERED && clock_system() < until_ns) looks[gather->phase](gather, hosted->world);
  return true;
}

/* --------------------------------------------------------------------------------------------------------- encoding */

/* As service/live.h describes them, and in its order. */
typedef struct map_header {
  char magic[4];
  uint16_t version, kind;
  uint32_t header_bytes, record_bytes, records, columns, rows, partition;
  uint64_t sim_now_ns;
  double x0, y0, x1, y1;
  uint64_t frame;
  uint64_t found; /* agents, or cells of the field */
} map_header;

typedef struct map_cell {
  uint32_t index, agents;
  float level_least, period_s_least, staleness_s, stretch_most;
} map_cell;

typedef struct map_square {
  uint32_t index;
  float importance;
  uint32_t flags;
} map_square;

_Static_assert(sizeof(map_header) == MAP_HEADER_BYTES && sizeof(map_cell) == 24 && sizeof(map_square) == 12,
               "they are sent as they lie in memory");

static uint32_t put_cells(map_cell *to, const map_gather *gather) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < gather->query.width * gather->query.height; i++) {
    const muster_raster_cell *cell = &gather->cells[i];
    if (cell->count > 0)
      to[count++] =
          (map_cell){i, cell->count, cell->level_least, cell->period_s_least, cell->staleness_s, cell->stretch_most};
  }
  return count;
}

static uint32_t put_squares(map_square *to, const map_field *field) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < field->columns * field->rows; i++) {
    const field_square *square = &field->squares[i];
    if (square->cells > 0) to[count++] = (map_square){i, map_field_importance(field, square), square->flags};
  }
  return count;
}

/* Records that `map` has room for, and in the header what they are. */
static void put_records(map_header *header, void *records, const map_gather *gather) {
  const map_query *query = &gather->query;
  header->found = header->records = gather->agents;
  if (query->subject == MAP_OF_FIELD) {
    header->kind = KIND_FIELD;
    header->record_bytes = sizeof(map_square);
    header->records = put_squares(records, &gather->field);
    header->columns = gather->field.columns;
    header->rows = gather->field.rows;
    header->found = gather->field.cells;
  } else if (gather->agents > query->max) {
    header->kind = KIND_CELLS;
    header->record_bytes = sizeof(map_cell);
    header->records = put_cells(records, gather);
    header->columns = query->width;
    header->rows = query->height;
  } else {
    header->kind = KIND_AGENTS;
    header->record_bytes = sizeof(muster_view_agent);
    memcpy(records, gather->shown, gather->agents * sizeof *gather->shown);
  }
}

/* No kind of record is larger than a shown agent, and no map has more of them than this. */
void *map_gather_encode(const map_gather *gather, size_t *bytes) {
  ASSERT(gather->phase == MAP_GATHERED);
  const map_query *query = &gather->query;
  const map_field *field = &gather->field;
  bool of_field = query->subject == MAP_OF_FIELD;
  const struct rectangle *around = of_field ? &field->rectangle : &query->rectangle;
  size_t most = (size_t)query->width * query->height;
  if (query->max > most) most = query->max;
  char *map = malloc(MAP_FIELD_HEADER_BYTES + most * sizeof(muster_view_agent));
  if (!map) return NULL;
  map_header header = {.magic = {'M', 'M', 'A', 'P'},
                       .version = VERSION,
                       .header_bytes = of_field ? MAP_FIELD_HEADER_BYTES : MAP_HEADER_BYTES,
                       .partition = query->partition,
                       .sim_now_ns = gather->sim_now_ns,
                       .x0 = around->x0,
                       .y0 = around->y0,
                       .x1 = around->x1,
                       .y1 = around->y1,
                       .frame = gather->frame};
  put_records(&header, map + header.header_bytes, gather);
  memcpy(map, &header, sizeof header);
  if (of_field) memcpy(map + sizeof header, &field->edge_m, sizeof field->edge_m);
  *bytes = header.header_bytes + (size_t)header.records * header.record_bytes;
  return map;
}
