/* Stage 2's work on the items that score_prepare() listed; several threads do it at once, each on a range of them. */
#include "base/assert.h"
#include "base/prefetch.h"
#include "plan/importance.h"
#include "plan/score.h"

#include <string.h>

/* Agents of the items follow each other in one array: fetched so far ahead, they have arrived when it is their turn. */
PREFETCH_FUNCTION prefetch_coming(const score_board *board, uint32_t at) {
  enum { PLACE_AHEAD = 32, ROW_AHEAD = 16 };
  if (at + PLACE_AHEAD >= board->agent_count) return;
  __builtin_prefetch(&board->inputs.store->places[board->agents[at + PLACE_AHEAD]]);
  __builtin_prefetch(&board->inputs.store->rows[board->agents[at + ROW_AHEAD]], 1);
}

/* Takes the agents in a plot's cells into a batch. Some may be in other cells of the neighbour grid's, or only share
 * their bucket. */
static void load_plot(const score_board *board, const score_item *item, importance_batch *batch, uint8_t *cells) {
  const struct field *field = &board->field;
  const field_plot *plot = &item->plot;
  int32_t across = TILE_EDGE >> field->halved << field->doubled;
  int32_t corner_x = plot->x * across, corner_y = plot->y * across;
  float cell_m = (float)board->inputs.space->cell_m;
  uint32_t count = 0;
  for (uint32_t i = 0; i < item->count; i++) {
    uint32_t index = board->agents[item->begin + i];
    const agent_place *place = &board->inputs.store->places[index];
    int32_t x, y;
    prefetch_coming(board, item->begin + i);
    uint32_t cell = field_cell_in_tile(field, place, &x, &y);
    if (x != plot->x || y != plot->y || place->partition != plot->partition || !(plot->cells >> cell & 1)) continue;
    cells[count] = (uint8_t)field_cell_in_plot(field, cell);
    batch->agents[count] = index;
    batch->x[count] = (float)(place->cell_x - corner_x) * cell_m + place->x;
    batch->y[count] = (float)(place->cell_y - corner_y) * cell_m + place->y;
    batch->z[count++] = place->z;
  }
  batch->count = count;
}

static void score_plot(const score_board *board, importance_area *area, score_item *item, importance_batch *batch) {
  uint8_t cells[IMPORTANCE_BATCH_MAX];
  memset(item->low, FIELD_EMPTY, sizeof item->low);
  load_plot(board, item, batch, cells);
  if (!batch->count) return;
  importance_together(&board->inputs, area, batch);
  for (uint32_t i = 0; i < batch->count; i++) {
    uint8_t low = field_low_of(batch->by_distance[i]);
    if (low < item->low[cells[i]]) item->low[cells[i]] = low;
  }
  item->looks = batch->looks;
}

static void score_agents(const score_board *board, const score_item *item, importance_batch *batch) {
  batch->count = item->count;
  memcpy(batch->agents, &board->agents[item->begin], item->count * sizeof *batch->agents);
  importance_apart(&board->inputs, batch);
  for (uint32_t i = 0; i < item->count; i++) board->lows[item->begin + i] = field_low_of(batch->by_distance[i]);
}

static void do_item(const score_board *board, importance_area *area, score_item *item) {
  importance_batch batch;
  batch.count = 0;
  if (item->plot.tile != FIELD_NO_CELL)
    score_plot(board, area, item, &batch);
  else
    score_agents(board, item, &batch);
  item->judged = (uint16_t)batch.count;
  if (!batch.count) return;
  importance_finish(&board->inputs, &batch);
  item->refused = (uint16_t)batch.refused;
  item->refused_type = (uint16_t)batch.refused_type;
  grade_change *changes = &board->changes[item->begin];
  for (uint32_t i = 0; i < batch.count; i++) {
    const grade_type *type = &board->types[board->inputs.store->rows[batch.agents[i]].type];
    if (grade_decide(board->inputs.classes, type, board->inputs.store, batch.agents[i], batch.importance[i], false,
                     &changes[item->changes]))
      item->changes++;
  }
}

/* Items of one tile mostly follow each other as a run: the observers that matter in it are found once for the run.
 * Roundings depend on what was found, so a run is never cut: the range that has its first item does all of it. */
static bool begins_run(const score_board *board, uint32_t number) {
  enum { RUN_MAX = 64 };
  const score_item *item = &board->items[number];
  return number % RUN_MAX == 0 || item->plot.tile == FIELD_NO_CELL || item->plot.tile != item[-1].plot.tile;
}

/* Enters the part of its tile that a run has cells in. */
static void enter_run(const score_board *board, importance_area *area, uint32_t number) {
  const field_plot *plot = &board->items[number].plot;
  double edge_m = board->field.edge_m;
  uint64_t cells = 0;
  if (plot->tile == FIELD_NO_CELL) return;
  do cells |= board->items[number++].plot.cells;
  while (number < board->item_count && !begins_run(board, number));
  uint64_t columns = cells | cells >> 32;
  columns |= columns >> 16;
  columns = (columns | columns >> 8) & 0xff;
  area->known = false;
  area->box = (query_box){
      .corner_x = plot->x * TILE_EDGE * edge_m,
      .corner_y = plot->y * TILE_EDGE * edge_m,
      .low = {(float)(__builtin_ctzll(columns) * edge_m), (float)(__builtin_ctzll(cells) / TILE_EDGE * edge_m)},
      .high = {(float)((64 - __builtin_clzll(columns)) * edge_m),
               (float)((63 - __builtin_clzll(cells)) / TILE_EDGE * edge_m + edge_m)},
      .partition = plot->partition};
}

void score_range(const score_board *board, uint32_t begin, uint32_t end) {
  ASSERT(begin <= end && end <= board->item_count);
  importance_area area;
  while (begin < end && !begins_run(board, begin)) begin++;
  if (begin == end) return;
  for (uint32_t i = begin; i < board->item_count; i++) {
    bool begins = begins_run(board, i);
    if (begins && i >= end) break;
    if (begins) enter_run(board, &area, i);
    do_item(board, &area, &board->items[i]);
  }
}
