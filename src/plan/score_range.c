/* Stage 2's work on the items that score_prepare() listed; several threads do it at once, each on a range of them. */
#include "base/assert.h"
#include "base/prefetch.h"
#include "plan/importance.h"
#include "plan/score.h"

#include <string.h>

/* Items are done several at a time: first their agents are found by their places, then these agents are looked at.
 * Places, and then rows, are fetched for all of them in one go: that costs a part of what each costs alone, and no row
 * is fetched of an agent that only shares a list. More items at a time would not fit the first cache. */
enum { LOADED_MAX = 8 };

/* An item's agents; for those of a plot, which cell of it each is in. */
typedef struct loaded_item {
  importance_batch batch;
  uint8_t cells[IMPORTANCE_BATCH_MAX];
} loaded_item;

/* How many items are done together with the one at `begin`. */
static uint32_t loaded_count(uint32_t begin, uint32_t end) {
  return end - begin < LOADED_MAX ? end - begin : LOADED_MAX;
}

/* The agents of items follow each other. */
PREFETCH_FUNCTION prefetch_places(const score_board *board, uint32_t begin, uint32_t end) {
  if (begin >= end) return;
  const score_item *first = &board->items[begin], *last = first + loaded_count(begin, end) - 1;
  for (uint32_t i = first->begin; i < last->begin + last->count; i++)
    __builtin_prefetch(&board->inputs.store->places[board->agents[i]]);
}

PREFETCH_FUNCTION prefetch_rows(const score_board *board, const importance_batch *batch) {
  for (uint32_t i = 0; i < batch->count; i++) __builtin_prefetch(&board->inputs.store->rows[batch->agents[i]], 1);
}

/* Takes the agents in a plot's cells into a batch. Some may be in other cells of the neighbour grid's, or only share
 * their bucket. */
static void load_plot(const score_board *board, const score_item *item, loaded_item *loaded) {
  const struct field *field = &board->field;
  const field_plot *plot = &item->plot;
  importance_batch *batch = &loaded->batch;
  int32_t across = TILE_EDGE >> field->halved << field->doubled;
  int32_t corner_x = plot->x * across, corner_y = plot->y * across;
  float cell_m = (float)board->inputs.space->cell_m;
  uint32_t count = 0;
  for (uint32_t i = 0; i < item->count; i++) {
    uint32_t index = board->agents[item->begin + i];
    const agent_place *place = &board->inputs.store->places[index];
    int32_t x, y;
    uint32_t cell = field_cell_in_tile(field, place, &x, &y);
    if (x != plot->x || y != plot->y || place->partition != plot->partition || !(plot->cells >> cell & 1)) continue;
    loaded->cells[count] = (uint8_t)field_cell_in_plot(field, cell);
    batch->agents[count] = index;
    batch->x[count] = (float)(place->cell_x - corner_x) * cell_m + place->x;
    batch->y[count] = (float)(place->cell_y - corner_y) * cell_m + place->y;
    batch->z[count++] = place->z;
  }
  batch->count = count;
}

/* Whether an agent from anywhere is to be judged. It is not when its cell is worked on anyway, nor when there is
 * nothing to find out. Tells its cell in the latter case, too. */
static bool is_to_judge(const score_board *board, uint32_t index, uint32_t *cell) {
  *cell = FIELD_NO_CELL;
  if (!store_is_active(board->inputs.store, index)) return false;
  uint32_t found = field_find(&board->field, &board->inputs.store->places[index]);
  if (found != FIELD_NO_CELL && field_is_working(&board->field, found)) return false;
  *cell = found;
  return score_checks(board, index) || !importance_is_out_of_sight(&board->inputs, index);
}

static void load_apart(const score_board *board, const score_item *item, importance_batch *batch) {
  batch->count = 0;
  for (uint32_t i = item->begin; i < item->begin + item->count; i++)
    __builtin_prefetch(&board->inputs.store->rows[board->agents[i]], 1);
  for (uint32_t i = item->begin; i < item->begin + item->count; i++) {
    board->lows[i] = 0;
    if (is_to_judge(board, board->agents[i], &board->cells[i])) batch->agents[batch->count++] = board->agents[i];
  }
}

static void load_item(const score_board *board, const score_item *item, loaded_item *loaded) {
  if (item->plot.tile != FIELD_NO_CELL)
    load_plot(board, item, loaded);
  else
    load_apart(board, item, &loaded->batch);
}

static void score_plot(const score_board *board, importance_area *area, score_item *item, loaded_item *loaded) {
  importance_batch *batch = &loaded->batch;
  memset(item->low, FIELD_EMPTY, sizeof item->low);
  if (!batch->count) return;
  importance_together(&board->inputs, area, batch);
  for (uint32_t i = 0; i < batch->count; i++) {
    uint8_t low = field_low_of(batch->by_distance[i]);
    if (low < item->low[loaded->cells[i]]) item->low[loaded->cells[i]] = low;
  }
  item->looks = batch->looks;
}

static void score_agents(const score_board *board, const score_item *item, importance_batch *batch) {
  importance_apart(&board->inputs, batch);
  for (uint32_t i = item->begin, judged = 0; judged < batch->count; i++)
    if (board->agents[i] == batch->agents[judged]) board->lows[i] = field_low_of(batch->by_distance[judged++]);
}

/* Gives the agents of an item their importance. */
static void grade_item(const score_board *board, score_item *item, importance_batch *batch) {
  importance_finish(&board->inputs, batch);
  item->refused = (uint16_t)batch->refused;
  item->refused_type = (uint16_t)batch->refused_type;
  grade_change *changes = &board->changes[item->begin];
  for (uint32_t i = 0; i < batch->count; i++) {
    const grade_type *type = &board->types[board->inputs.store->rows[batch->agents[i]].type];
    if (grade_decide(board->inputs.classes, type, board->inputs.store, batch->agents[i], batch->importance[i], false,
                     &changes[item->changes]))
      item->changes++;
  }
}

static void do_item(const score_board *board, importance_area *area, score_item *item, loaded_item *loaded) {
  if (item->plot.tile != FIELD_NO_CELL)
    score_plot(board, area, item, loaded);
  else
    score_agents(board, item, &loaded->batch);
  item->judged = (uint16_t)loaded->batch.count;
  if (item->judged) grade_item(board, item, &loaded->batch);
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

/* Up to where a range goes that was to end before `end`: to the end of the last run that begins in it. */
static uint32_t end_of_runs(const score_board *board, uint32_t end) {
  while (end < board->item_count && !begins_run(board, end)) end++;
  return end;
}

static void do_items(const score_board *board, importance_area *area, loaded_item *loaded, uint32_t begin,
                     uint32_t count) {
  for (uint32_t i = 0; i < count; i++) {
    if (begins_run(board, begin + i)) enter_run(board, area, begin + i);
    do_item(board, area, &board->items[begin + i], &loaded[i]);
  }
}

void score_range(const score_board *board, uint32_t begin, uint32_t end) {
  ASSERT(begin <= end && end <= board->item_count);
  loaded_item loaded[LOADED_MAX];
  importance_area area;
  while (begin < end && !begins_run(board, begin)) begin++;
  if (begin == end) return;
  end = end_of_runs(board, end);
  prefetch_places(board, begin, end);
  for (uint32_t count; begin < end; begin += count) {
    count = loaded_count(begin, end);
    for (uint32_t i = 0; i < count; i++) load_item(board, &board->items[begin + i], &loaded[i]);
    for (uint32_t i = 0; i < count; i++) prefetch_rows(board, &loaded[i].batch);
    prefetch_places(board, begin + count, end); /* meanwhile the rows arrive */
    do_items(board, &area, loaded, begin, count);
  }
}
