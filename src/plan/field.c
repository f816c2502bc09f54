#include "plan/field.h"

#include "agents/space.h"
#include "base/assert.h"

#include <math.h>
#include <string.h>

enum { TILES_PER_OBSERVER = 16, TILES_MIN = 4096, TILES_MOST = 65536, CELLS_PER_FAR = 16 };
enum { TILES_ACROSS_MAX = 2 * FIELD_REACH_CELLS / TILE_EDGE + 2 };

void field_create(struct field *field, uint32_t observers_max, double grid_cell_m, struct arena *arena) {
  ASSERT(grid_cell_m > 0);
  uint32_t tiles = observers_max < TILES_MOST / TILES_PER_OBSERVER ? observers_max * TILES_PER_OBSERVER : TILES_MOST;
  *field = (struct field){.grid_cell_m = grid_cell_m, .edge_m = grid_cell_m, .forget_below = UINT32_MAX};
  field->tiles_max = tiles > TILES_MIN ? tiles : TILES_MIN;
  field->parts_per_m = 1.0f / (float)grid_cell_m;
  uint32_t places = round_up_to_power_of_two(field->tiles_max) * 2;
  field->index_mask = places - 1;
  ARENA_ARRAY(arena, field->tiles, field->tiles_max);
  ARENA_ARRAY(arena, field->index, places);
  for (uint32_t i = 0; i < FIELD_LISTS; i++)
    field->lists[i].plots = arena_reserve(arena, (size_t)field->tiles_max * TILE_CELLS, sizeof(uint32_t));
}

static void set_edge(struct field *field, int32_t shift) {
  field->doubled = shift > 0 ? (uint32_t)shift : 0;
  field->halved = shift < 0 ? (uint32_t)-shift : 0;
  field->edge_m = ldexp(field->grid_cell_m, shift);
  field->parts_per_m = (float)(1u << field->halved) / (float)field->grid_cell_m;
}

bool field_shape(struct field *field, float usual_far_m) {
  double wanted = log2((double)usual_far_m / CELLS_PER_FAR / field->grid_cell_m);
  wanted = fmin(fmax(wanted, -(double)FIELD_HALVED_MAX), (double)FIELD_DOUBLED_MAX);
  int32_t is = (int32_t)field->doubled - (int32_t)field->halved, shift = (int32_t)lround(wanted);
  if (field->shaped && fabs(wanted - is) <= 1.0) return false;
  field->shaped = true;
  if (shift == is) return false;
  set_edge(field, shift);
  if (field->tile_count == 0) return false;
  field->tile_count = field->lists[FIELD_MUCH].count = field->lists[FIELD_LITTLE].count = 0;
  memset(field->index, 0, ((size_t)field->index_mask + 1) * sizeof *field->index);
  return true;
}

/* Where the tile is in the index, or the free place that it would take. */
static uint32_t *field_place_of(const struct field *field, int32_t x, int32_t y, uint32_t partition) {
  uint32_t at = (uint32_t)space_mix(x, y, partition) & field->index_mask;
  for (; field->index[at]; at = (at + 1) & field->index_mask) {
    const field_tile *tile = &field->tiles[field->index[at] - 1];
    if (tile->x == x && tile->y == y && tile->partition == partition) break;
  }
  return &field->index[at];
}

uint32_t field_find(const struct field *field, const agent_place *place) {
  int32_t x, y;
  uint32_t cell = field_cell_in_tile(field, place, &x, &y), number = *field_place_of(field, x, y, place->partition);
  return number ? (number - 1) * TILE_CELLS + cell : FIELD_NO_CELL;
}

/* Without a division, which takes as long as all else. `ahead` is at most a whole ring. */
static uint32_t *entry_at(const struct field *field, const field_list *list, uint32_t ahead) {
  uint32_t places = field->tiles_max * TILE_CELLS, to_end = places - list->head;
  return &list->plots[ahead < to_end ? list->head + ahead : ahead - to_end];
}

static bool is_kept(const field_tile *tile) {
  return tile->queued[FIELD_MUCH] | tile->queued[FIELD_LITTLE];
}

static void index_tiles(struct field *field) {
  memset(field->index, 0, ((size_t)field->index_mask + 1) * sizeof *field->index);
  for (uint32_t i = 0; i < field->tile_count; i++) {
    const field_tile *tile = &field->tiles[i];
    *field_place_of(field, tile->x, tile->y, tile->partition) = i + 1;
  }
}

/* Forgets the tiles without a listed plot. The other tiles get new numbers: the lists are made anew, in their order. */
static void field_forget(struct field *field) {
  uint32_t *numbers = field->index; /* reused for a moment: from old to new number of a tile */
  uint32_t kept = 0;
  field->forgets++;
  for (uint32_t i = 0; i < field->tile_count; i++) {
    numbers[i] = kept;
    if (is_kept(&field->tiles[i])) field->tiles[kept++] = field->tiles[i];
  }
  for (uint32_t which = 0; which < FIELD_LISTS; which++)
    for (uint32_t i = 0; i < field->lists[which].count; i++) {
      uint32_t *entry = entry_at(field, &field->lists[which], i);
      *entry = numbers[*entry / TILE_CELLS] * TILE_CELLS + *entry % TILE_CELLS;
    }
  field->tile_count = kept;
  /* When most tiles had to be kept, it does not try again before there are half as many listed plots. */
  field->forget_below = kept > field->tiles_max / 4 * 3 ? field_waiting(field) / 2 : UINT32_MAX;
  index_tiles(field);
}

void field_restore(struct field *field, bool shaped, int32_t shift) {
  field->shaped = shaped;
  set_edge(field, shift);
  index_tiles(field);
}

static field_tile *tile_at(struct field *field, int32_t x, int32_t y, uint32_t partition) {
  uint32_t *place = field_place_of(field, x, y, partition);
  if (*place) return &field->tiles[*place - 1];
  if (field->tile_count == field->tiles_max && field_waiting(field) <= field->forget_below) field_forget(field);
  if (field->tile_count == field->tiles_max) return NULL;
  place = field_place_of(field, x, y, partition);
  field_tile *tile = &field->tiles[field->tile_count++];
  *place = field->tile_count;
  *tile = (field_tile){.x = x, .y = y, .partition = partition};
  return tile;
}

/* The squares of the distances from a coordinate to the eight rows or columns of a tile; returns the least. */
static float squares_from(double tile_edge, double edge_m, double coordinate, float out[TILE_EDGE]) {
  float first_m = (float)(tile_edge - coordinate), each_m = (float)edge_m, least = INFINITY;
  for (uint32_t i = 0; i < TILE_EDGE; i++) {
    float low = first_m + (float)i * each_m, high = -low - each_m;
    float distance = low > high ? low : high;
    distance = distance > 0.0f ? distance : 0.0f;
    out[i] = distance * distance;
    least = out[i] < least ? out[i] : least;
  }
  return least;
}

/* The rows or columns of tiles that an observer reaches. */
struct strip {
  int32_t first;
  uint32_t count;
  float least[TILES_ACROSS_MAX];
  float squares[TILES_ACROSS_MAX][TILE_EDGE];
};

static void fill_strip(struct strip *strip, const struct field *field, double coordinate, double reach_m) {
  const double tile_m = field->edge_m * TILE_EDGE;
  strip->first = (int32_t)floor((coordinate - reach_m) / tile_m);
  strip->count = (uint32_t)((int32_t)floor((coordinate + reach_m) / tile_m) - strip->first + 1);
  ASSERT(strip->count <= TILES_ACROSS_MAX);
  for (uint32_t i = 0; i < strip->count; i++)
    strip->least[i] = squares_from((strip->first + (int32_t)i) * tile_m, field->edge_m, coordinate, strip->squares[i]);
}

static uint8_t least_of(const uint8_t low[TILE_CELLS]) {
  uint8_t least = UINT8_MAX;
  for (uint32_t i = 0; i < TILE_CELLS; i++) least = low[i] < least ? low[i] : least;
  return least;
}

/* The distance up to which an observer may be worth `low`. A little more, so that rounding does not miss a cell. */
static inline float reach_for(const field_view *view, float low) {
  return view->far_m * 1.00001f - low * (view->far_m - view->near_m) * (1.0f / (float)FIELD_ONE);
}

/* The cells of a tile in which the observer may be worth as much as the least important agent has: a bitmap. */
static uint64_t touched(const field_tile *tile, const float *columns, const float *rows, const field_view *view) {
  uint64_t cells = 0;
  for (uint32_t y = 0; y < TILE_EDGE; y++) {
    uint8_t hits[TILE_EDGE]; /* each 0 or 1: packed into a byte by one multiplication */
    for (uint32_t x = 0; x < TILE_EDGE; x++) {
      uint32_t low = tile->low[y * TILE_EDGE + x];
      float reach_here_m = reach_for(view, (float)low);
      hits[x] = (rows[y] + columns[x] <= reach_here_m * reach_here_m) & (low != FIELD_EMPTY);
    }
    uint64_t bytes;
    memcpy(&bytes, hits, sizeof bytes);
    cells |= (bytes * 0x0102040810204080u >> 56) << (y * TILE_EDGE);
  }
  return cells;
}

static uint64_t plot_mask(const struct field *field, uint32_t first) {
  static const uint64_t masks[FIELD_HALVED_MAX + 1] = {1, 0x303, 0x0f0f0f0f};
  return masks[field->halved] << first;
}

static uint32_t plot_of(const struct field *field, uint32_t cell) {
  uint32_t mask = (1u << field->halved) - 1;
  return cell & ~(mask * TILE_EDGE | mask);
}

static void list_cells(struct field *field, field_tile *tile, uint64_t cells, uint32_t which) {
  uint32_t number = (uint32_t)(tile - field->tiles) * TILE_CELLS;
  field_list *list = &field->lists[which];
  tile->listed |= cells;
  while (cells) {
    uint32_t first = plot_of(field, (uint32_t)__builtin_ctzll(cells));
    cells &= ~plot_mask(field, first);
    if (tile->queued[which] >> first & 1) continue;
    tile->queued[which] |= 1ull << first;
    *entry_at(field, list, list->count++) = number + first;
  }
}

bool field_touch(struct field *field, const field_view *view, uint32_t list, uint32_t *scanned) {
  double reach_m = (double)view->far_m * 1.00001;
  if (reach_m > field->edge_m * FIELD_REACH_CELLS) return false;
  struct strip rows, columns;
  fill_strip(&rows, field, view->position.y, reach_m);
  fill_strip(&columns, field, view->position.x, reach_m);
  for (uint32_t y = 0; y < rows.count; y++)
    for (uint32_t x = 0; x < columns.count; x++) {
      float nearest = rows.least[y] + columns.least[x], far_m = reach_for(view, 0.0f);
      if (nearest > far_m * far_m) continue;
      field_tile *tile = tile_at(field, columns.first + (int32_t)x, rows.first + (int32_t)y, view->partition);
      if (!tile) return false;
      float tile_reach_m = reach_for(view, (float)least_of(tile->low));
      *scanned += TILE_EDGE;
      if (nearest > tile_reach_m * tile_reach_m) continue;
      list_cells(field, tile, touched(tile, columns.squares[x], rows.squares[y], view), list);
      *scanned += TILE_CELLS;
    }
  return true;
}

field_plot field_peek(const struct field *field, uint32_t which, uint32_t ahead) {
  const field_list *list = &field->lists[which];
  if (ahead >= list->count) return (field_plot){.tile = FIELD_NO_CELL};
  uint32_t entry = *entry_at(field, list, ahead);
  const field_tile *tile = field_tile_of(field, entry);
  field_plot plot = {entry / TILE_CELLS, entry % TILE_CELLS, 0, tile->x, tile->y, 0, 0, tile->partition};
  plot.cells = tile->listed & plot_mask(field, plot.first);
  int32_t across = TILE_EDGE >> field->halved << field->doubled; /* a tile, in cells of the neighbour grid */
  plot.grid_x = tile->x * across + (int32_t)(plot.first % TILE_EDGE >> field->halved << field->doubled);
  plot.grid_y = tile->y * across + (int32_t)(plot.first / TILE_EDGE >> field->halved << field->doubled);
  return plot;
}

field_plot field_next(struct field *field, uint32_t which) {
  field_plot plot = field_peek(field, which, 0);
  if (plot.tile == FIELD_NO_CELL) return plot;
  field_list *list = &field->lists[which];
  field_tile *tile = &field->tiles[plot.tile];
  list->head = list->head + 1 < field->tiles_max * TILE_CELLS ? list->head + 1 : 0;
  list->count--;
  ASSERT(!(tile->working & plot.cells));
  tile->queued[which] &= ~(1ull << plot.first);
  tile->listed &= ~plot.cells;
  tile->working |= plot.cells;
  return plot;
}

void field_settle(struct field *field, const field_plot *plot, const uint8_t low[PLOT_CELLS_MAX]) {
  field_tile *tile = &field->tiles[plot->tile];
  for (uint64_t left = plot->cells; left; left &= left - 1) {
    uint32_t cell = (uint32_t)__builtin_ctzll(left);
    uint8_t is = low[field_cell_in_plot(field, cell)];
    bool first = tile->working >> cell & 1;
    if (first || is < tile->low[cell]) tile->low[cell] = is;
  }
  tile->working &= ~plot->cells;
}
