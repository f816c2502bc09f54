/* view_field.c - the cells of the observer grid for pictures: a pass over the tiles that the field keeps. */
#include "base/error.h"
#include "view.h"

#include <math.h>

#define SIDE_CELLS_MAX 2147483648.0

/* A rectangle in cells of the field: first .. end - 1. */
typedef struct cell_range {
  int64_t first_x, first_y, end_x, end_y;
  uint32_t partition;
} cell_range;

static bool take_range(const field *field, const muster_view *view, cell_range *range) {
  double x0 = floor(view->x0 / field->edge_m), y0 = floor(view->y0 / field->edge_m);
  double x1 = ceil(view->x1 / field->edge_m), y1 = ceil(view->y1 / field->edge_m);
  if (!(fmax(fabs(x0), fabs(x1)) <= 1e15 && fmax(fabs(y0), fabs(y1)) <= 1e15) || x1 - x0 > SIDE_CELLS_MAX ||
      y1 - y0 > SIDE_CELLS_MAX) {
    error_set(MUSTER_E_ARGUMENT, "view of the field: %g x %g m is too much, or too far away, for cells of %g m",
              view->x1 - view->x0, view->y1 - view->y0, field->edge_m);
    return false;
  }
  *range = (cell_range){(int64_t)x0, (int64_t)y0, (int64_t)x1, (int64_t)y1, view->partition};
  return true;
}

/* Whether any cell of a tile is in the range. */
static bool meets(const cell_range *range, const field_tile *tile) {
  int64_t x = (int64_t)tile->x * TILE_EDGE, y = (int64_t)tile->y * TILE_EDGE;
  return tile->partition == range->partition && x < range->end_x && y < range->end_y &&
         x + TILE_EDGE > range->first_x && y + TILE_EDGE > range->first_y;
}

/* Whether a cell of a tile is in the range; then what is known of it. */
static bool see(const cell_range *range, const field_tile *tile, uint32_t cell, muster_field_cell *seen) {
  int64_t x = (int64_t)tile->x * TILE_EDGE + cell % TILE_EDGE, y = (int64_t)tile->y * TILE_EDGE + cell / TILE_EDGE;
  if (x < range->first_x || y < range->first_y || x >= range->end_x || y >= range->end_y) return false;
  bool empty = tile->low[cell] == FIELD_EMPTY, waiting = tile->listed >> cell & 1;
  seen->column = (uint32_t)(x - range->first_x);
  seen->row = (uint32_t)(y - range->first_y);
  seen->importance = empty ? 0.0f : (float)tile->low[cell] / (float)FIELD_ONE;
  seen->flags = (empty ? (uint32_t)MUSTER_FIELD_EMPTY : 0) | (waiting ? (uint32_t)MUSTER_FIELD_WAITING : 0);
  return true;
}

/* The cells of a tile from one on, until the room is used up; returns where that was. */
static uint32_t look(const cell_range *range, const field_tile *tile, uint32_t first, muster_field_cell *cells,
                     uint32_t capacity, uint32_t *count) {
  if (!meets(range, tile)) return TILE_CELLS;
  for (uint32_t cell = first; cell < TILE_CELLS; cell++) {
    if (*count == capacity) return cell;
    if (see(range, tile, cell, &cells[*count])) ++*count;
  }
  return TILE_CELLS;
}

uint32_t muster_field_view(const muster_world *world, const muster_view *given, muster_field_cell *cells,
                           uint32_t capacity, uint32_t *cursor) {
  muster_view view;
  cell_range range;
  if (!view_may_look(world, given && cells && capacity > 0, cursor, "view of the field")) return 0;
  if (!view_take(given, &view, cursor)) return 0;
  const field *field = &world->board.field;
  if (!take_range(field, &view, &range)) {
    *cursor = MUSTER_VIEW_END;
    return 0;
  }
  uint32_t tile = *cursor / TILE_CELLS, cell = *cursor % TILE_CELLS, count = 0;
  for (uint32_t looks = 0; looks < view.looks_max && tile < field->tile_count; looks++) {
    cell = look(&range, &field->tiles[tile], cell, cells, capacity, &count);
    if (cell < TILE_CELLS) break;
    cell = 0;
    tile++;
  }
  *cursor = tile < field->tile_count ? tile * TILE_CELLS + cell : MUSTER_VIEW_END;
  return count;
}

double muster_field_edge_m(const muster_world *world) {
  uint32_t cursor;
  return view_may_look(world, true, &cursor, "edge of the field") ? world->board.field.edge_m : 0.0;
}
