#include "service/map_field.h"

#include "base/assert.h"

#include <muster/view.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELLS_AT_ONCE = 1024, TILES_AT_ONCE = 2048 };

bool map_field_begin(map_field *map, uint32_t max) {
  ASSERT(max >= FIELD_SQUARES_MIN);
  *map = (map_field){.max = max};
  map->squares = calloc(max, sizeof *map->squares);
  return map->squares != NULL;
}

void map_field_free(map_field *map) {
  free(map->squares);
  map->squares = NULL;
}

/* Chooses the smallest squares that are few enough. */
static void map_field_cut(map_field *map, const struct rectangle *wanted) {
  double across = 1, columns, rows, first_x, first_y, square_m;
  for (;; across *= 2) {
    square_m = map->edge_m * across;
    first_x = floor(wanted->x0 / square_m);
    first_y = floor(wanted->y0 / square_m);
    columns = fmax(ceil(wanted->x1 / square_m) - first_x, 1); /* both ends may be rounded to the same number */
    rows = fmax(ceil(wanted->y1 / square_m) - first_y, 1);
    if (columns * rows <= map->max) break;
  }
  map->across = across;
  map->columns = (uint32_t)columns;
  map->rows = (uint32_t)rows;
  map->rectangle = (struct rectangle){true, first_x * square_m, first_y * square_m, (first_x + columns) * square_m,
                                      (first_y + rows) * square_m};
}

static void map_field_add(map_field *map, const muster_field_cell *cell) {
  double half_m = map->edge_m / 2, square_m = map->edge_m * map->across;
  double column = (cell->x + half_m - map->rectangle.x0) / square_m,
         row = (cell->y + half_m - map->rectangle.y0) / square_m;
  if (!(column >= 0 && row >= 0 && column < map->columns && row < map->rows)) return;
  field_square *square = &map->squares[(uint32_t)row * map->columns + (uint32_t)column];
  bool empty = cell->flags & MUSTER_FIELD_EMPTY, others = square->cells > 0 && !(square->flags & MUSTER_FIELD_EMPTY);
  if (!empty) square->least = others ? fminf(square->least, cell->importance) : cell->importance;
  square->flags = (square->flags & MUSTER_FIELD_WAITING) | (cell->flags & MUSTER_FIELD_WAITING);
  if (empty && !others) square->flags |= MUSTER_FIELD_EMPTY;
  square->cells++;
  map->cells++;
}

muster_view map_view(const struct rectangle *rectangle, uint32_t partition, uint32_t looks_max) {
  muster_view view = muster_view_default();
  view.partition = partition;
  view.looks_max = looks_max;
  view.x0 = rectangle->x0;
  view.y0 = rectangle->y0;
  view.x1 = rectangle->x1;
  view.y1 = rectangle->y1;
  return view;
}

void map_field_look(map_field *map, const muster_world *world, const struct rectangle *wanted, uint32_t partition,
                    uint32_t *cursor) {
  muster_field_cell cells[CELLS_AT_ONCE];
  double edge_m = muster_field_edge_m(world);
  if (!(edge_m >= map->edge_m && edge_m <= map->edge_m)) {
    *cursor = 0;
    if (map->cells > 0) memset(map->squares, 0, map->max * sizeof *map->squares);
    map->edge_m = edge_m;
    map->cells = 0;
    map_field_cut(map, wanted);
  }
  muster_view view = map_view(&map->rectangle, partition, TILES_AT_ONCE);
  uint32_t count = muster_field_view(world, &view, cells, CELLS_AT_ONCE, cursor);
  for (uint32_t i = 0; i < count; i++) map_field_add(map, &cells[i]);
}

float map_field_importance(const map_field *map, const field_square *square) {
  return square->cells >= map->across * map->across ? square->least : 0.0f;
}
