/* plan/field.h - where importance changes: a grid that knows for each cell how little its least important agent has.
 *
 * A cell of the field is about a sixteenth of the usual far_m wide: a square of cells of the neighbour grid, or a
 * quarter or a sixteenth of one. It holds one byte: what the least important agent in it gets from observers, as far as
 * is known (a lower bound). When an observer moves, only those cells can change in which it was or is now worth at
 * least that much to an agent: they are put on a list, each once, and their agents are looked at. Elsewhere it was no
 * agent's most important observer and is none now. So a cell that is not known counts as 0, which is always right, and
 * a cell without agents is never listed. What is listed and worked on are plots: a cell, or all those in one cell of
 * the neighbour grid together.
 *
 * Cells are kept in tiles of 8 x 8, found by hash and taken from a fixed supply. When it runs out, what is known of
 * cells that are not listed is forgotten; when that does not help, or an observer covers more than FIELD_REACH_CELLS
 * in each direction, the answer is that all agents must be looked at. */
#ifndef PLAN_FIELD_H
#define PLAN_FIELD_H

#include "agents/observers.h"
#include "agents/store.h"
#include "base/prefetch.h"

enum { TILE_EDGE = 8, TILE_CELLS = TILE_EDGE * TILE_EDGE, FIELD_REACH_CELLS = 128 };

/* How many times a cell of the neighbour grid is doubled, or halved, at most; and how many cells a plot has then. */
enum { FIELD_DOUBLED_MAX = 6, FIELD_HALVED_MAX = 2, PLOT_CELLS_MAX = 1 << (2 * FIELD_HALVED_MAX) };

/* What a cell's byte says: importance in FIELD_ONE-ths, rounded down, or that no agent is there. */
enum { FIELD_ONE = 254, FIELD_EMPTY = 255 };
#define FIELD_NO_CELL UINT32_MAX

/* Plots in which much changed at once come before those in which little did. */
enum { FIELD_MUCH = 0, FIELD_LITTLE, FIELD_LISTS };

typedef struct field_list {
  uint32_t *plots; /* a ring of tile * TILE_CELLS + the plot's first cell */
  uint32_t head, count;
} field_list;

typedef struct field_tile {
  int32_t x, y; /* in tiles */
  uint32_t partition;
  _Alignas(16) uint8_t low[TILE_CELLS];
  uint64_t listed;              /* bitmap: cells of plots on a list that are to be looked at */
  uint64_t queued[FIELD_LISTS]; /* bitmaps: first cells of plots that are on each list */
  uint64_t working;             /* bitmap: cells whose agents are looked at in this frame */
} field_tile;

struct field {
  double grid_cell_m; /* of the neighbour grid */
  double edge_m;      /* of a cell */
  float parts_per_m;  /* 1 / edge of the parts of a cell of the neighbour grid (of the cell itself, if not halved) */
  uint32_t doubled, halved; /* how often the edge of the neighbour grid's cells is; one of both is 0 */
  bool shaped;              /* the edge was chosen */
  uint32_t tiles_max, tile_count;
  field_tile *tiles;
  uint32_t *index; /* open addressing: tile + 1 */
  uint32_t index_mask;
  field_list lists[FIELD_LISTS];
  uint32_t forget_below; /* tiles are forgotten only while no more plots than this are listed */
  uint64_t forgets;      /* how often tiles were forgotten */
};

/* Cells of a plot, and where they are. */
typedef struct field_plot {
  uint32_t tile;          /* its number; FIELD_NO_CELL = there is no plot */
  uint32_t first;         /* the plot's first cell in the tile */
  uint64_t cells;         /* bitmap in the tile */
  int32_t x, y;           /* the tile */
  int32_t grid_x, grid_y; /* the first cell of the neighbour grid in the plot */
  uint32_t partition;
} field_plot;

/* Reserves tiles for `observers_max` observers over a neighbour grid of `grid_cell_m`. */
void field_create(struct field *field, uint32_t observers_max, double grid_cell_m, struct arena *arena);

/* Chooses the edge for observers whose usual far_m is this. When the edge changes, it forgets everything, the lists as
 * well, and returns true: then all agents must be looked at. */
bool field_shape(struct field *field, float usual_far_m);

/* Goes on with tiles that were written from outside. The edge of their cells is that of the neighbour grid's, doubled
 * `shift` times; halved when `shift` is below 0. */
void field_restore(struct field *field, bool shaped, int32_t shift);

/* What an observer saw or sees. */
typedef struct field_view {
  muster_position position;
  float near_m, far_m;
  uint32_t partition;
} field_view;

/* Lists the cells in which such an observer may be worth most to an agent. False when they are too many or there is no
 * room: then all agents must be looked at. `scanned` grows by the number of cells passed over. */
bool field_touch(struct field *field, const field_view *view, uint32_t list, uint32_t *scanned);

/* The cell of a place; FIELD_NO_CELL when nothing is known of it. Any thread while none writes the field. O(1). */
uint32_t field_find(const struct field *field, const agent_place *place);

/* Takes the plot that has been on a list the longest, to work on it; its tile is FIELD_NO_CELL when the list is empty.
 * The plot may have no cells left, when it was on the other list, too. */
field_plot field_next(struct field *field, uint32_t list);

/* The plot that field_next() will give after `ahead` others. */
field_plot field_peek(const struct field *field, uint32_t list, uint32_t ahead);

/* How many plots are listed. */
static inline uint32_t field_waiting(const struct field *field) {
  return field->lists[FIELD_MUCH].count + field->lists[FIELD_LITTLE].count;
}

/* The work on a plot is done: low[k] is what the least important agent has in the plot's k-th cell, row by row, or
 * FIELD_EMPTY. A second answer for the same plot only lowers the first. */
void field_settle(struct field *field, const field_plot *plot, const uint8_t low[PLOT_CELLS_MAX]);

/* The cell of a place in its tile; in *x and *y, the tile. */
static inline uint32_t field_cell_in_tile(const struct field *field, const agent_place *place, int32_t *x, int32_t *y) {
  uint32_t shift = 3 + field->doubled - field->halved, parts = 1u << field->halved;
  *x = place->cell_x >> shift;
  *y = place->cell_y >> shift;
  uint32_t column = (uint32_t)(place->cell_x >> field->doubled) << field->halved;
  uint32_t row = (uint32_t)(place->cell_y >> field->doubled) << field->halved;
  if (field->halved) {
    uint32_t east = (uint32_t)(place->x * field->parts_per_m), north = (uint32_t)(place->y * field->parts_per_m);
    column += east < parts ? east : parts - 1;
    row += north < parts ? north : parts - 1;
  }
  return (row & 7) * TILE_EDGE + (column & 7);
}

/* Whether two coordinates in a cell of the neighbour grid are in different parts of it. */
static inline bool field_parts_differ(const struct field *field, float from, float to) {
  return (uint32_t)(from * field->parts_per_m) != (uint32_t)(to * field->parts_per_m);
}

static inline field_tile *field_tile_of(const struct field *field, uint32_t cell) {
  return &field->tiles[cell / TILE_CELLS];
}

/* Which cell of its plot a cell of a tile is. */
static inline uint32_t field_cell_in_plot(const struct field *field, uint32_t cell) {
  uint32_t mask = (1u << field->halved) - 1;
  return (cell / TILE_EDGE & mask) << field->halved | (cell & mask);
}

/* Whether a cell has been in work since field_next(). */
static inline bool field_is_working(const struct field *field, uint32_t cell) {
  return field_tile_of(field, cell)->working >> (cell % TILE_CELLS) & 1;
}

/* Another agent is in the cell, and gets `low` from observers. */
static inline void field_lower(struct field *field, uint32_t cell, uint8_t low) {
  field_tile *tile = field_tile_of(field, cell);
  if (low < tile->low[cell % TILE_CELLS]) tile->low[cell % TILE_CELLS] = low;
}

/* Fetches what field_lower() touches. */
PREFETCH_FUNCTION field_prefetch(const struct field *field, uint32_t cell) {
  __builtin_prefetch(&field_tile_of(field, cell)->low[cell % TILE_CELLS], 1);
}

/* The importance that an agent gets from observers, as a cell's byte. */
static inline uint8_t field_low_of(float importance) {
  return (uint8_t)(importance * (float)FIELD_ONE);
}

#endif
