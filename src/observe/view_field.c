/* view_field.c - the cells of the observer grid for pictures: a pass over the tiles that the field keeps. */
#include "observe/view.h"
#include "world/world_score.h"

#include <muster/view.h>

#include <math.h>

/* A rectangle in cells of the field: first .. end - 1. */
typedef struct cell_range {
  int64_t first_x, first_y, end_x, end_y;
  uint32_t partition;
} cell_range;

/* Nothing is further away than 1e9 m; a larger value in a view is cut before it becomes an integer. */
static int64_t cells_to(const struct field *field, double at_m, double (*round_off)(double)) {
  return (int64_t)round_off(fmin(fmax(at_m, -1e12), 1e12) / field->edge_m);
}

static cell_range view_field_range_of(const struct field *field, const muster_view *view) {
  return (cell_range){.first_x = cells_to(field, view->x0, floor),
                      .first_y = cells_to(field, view->y0, floor),
                      .end_x = cells_to(field, view->x1, ceil),
                      .end_y = cells_to(field, view->y1, ceil),
                      .partition = view->partition};
}

/* Whether any cell of a tile is in the range. */
static bool meets(const cell_range *range, const field_tile *tile) {
  int64_t x = (int64_t)tile->x * TILE_EDGE, y = (int64_t)tile->y * TILE_EDGE;
  return tile->partition == range->partition && x < range->end_x && y < range->end_y &&
         x + TILE_EDGE > range->first_x && y + TILE_EDGE > range->first_y;
}

/* Whether a cell of a tile is in the range; if so, fills in what is known of it. */
static bool view_field_see(const struct field *field, const cell_range *range, const field_tile *tile, uint32_t cell,
                           muster_field_cell *seen) {
  int64_t x = (int64_t)tile->x * TILE_EDGE + cell % TILE_EDGE, y = (int64_t)tile->y * TILE_EDGE + cell / TILE_EDGE;
  if (x < range->first_x || y < range->first_y || x >= range->end_x || y >= range->end_y) return false;
  bool empty = tile->low[cell] == FIELD_EMPTY, waiting = tile->listed >> cell & 1;
  seen->x = (double)x * field->edge_m;
  seen->y = (double)y * field->edge_m;
  seen->importance = empty ? 0.0f : (float)tile->low[cell] / (float)FIELD_ONE;
  seen->flags = (empty ? (uint32_t)MUSTER_FIELD_EMPTY : 0) | (waiting ? (uint32_t)MUSTER_FIELD_WAITING : 0);
  return true;
}

/* Looks at the cells of a tile from one on, until the room is used up; returns where that was. */
static uint32_t view_field_look(const struct field *field, const cell_range *range, const field_tile *tile,
                                uint32_t first, muster_field_cell *cells, uint32_t capacity, uint32_t *count) {
  if (!meets(range, tile)) return TILE_CELLS;
  for (uint32_t cell = first; cell < TILE_CELLS; cell++) {
    if (*count == capacity) return cell;
    if (view_field_see(field, range, tile, cell, &cells[*count])) ++*count;
  }
  return TILE_CELLS;
}

uint32_t muster_field_view(const muster_world *world, const muster_view *given, muster_field_cell *cells,
                           uint32_t capacity, uint32_t *cursor) {
  muster_view view;
  if (view_check(world, given && cells && capacity > 0, cursor, "view of the field")) return 0;
  if (!view_take(given, &view, cursor)) return 0;
  const struct field *field = &world->score->board.field;
  cell_range range = view_field_range_of(field, &view);
  uint32_t tile = *cursor / TILE_CELLS, cell = *cursor % TILE_CELLS, count = 0;
  for (uint32_t looks = 0; looks < view.looks_max && tile < field->tile_count; looks++) {
    cell = view_field_look(field, &range, &field->tiles[tile], cell, cells, capacity, &count);
    if (cell < TILE_CELLS) break;
    cell = 0;
    tile++;
  }
  *cursor = tile < field->tile_count ? tile * TILE_CELLS + cell : MUSTER_VIEW_END;
  return count;
}

double muster_field_edge_m(const muster_world *world) {
  uint32_t cursor;
  return view_check(world, true, &cursor, "edge of the field") ? 0.0 : world->score->board.field.edge_m;
}
