#include "plan/score.h"

#include "base/assert.h"
#include "base/prefetch.h"
#include "plan/classes.h"
#include "plan/importance.h"

#include <math.h>
#include <string.h>

/* What work costs, in units of one agent of a plot. An observer's cells are looked at many at a time. */
enum {
  PLOT_UNITS = 4,
  LOOKS_PER_UNIT = 8,
  APART_UNITS = 3,
  OBSERVER_UNITS = 4,
  CELLS_PER_UNIT = 32,
  APART_MAX = 32,
  LEAPS_PART = 2
};

/* How much is fetched from memory at once. */
enum { PLOTS_TOGETHER = 8 };

void score_create(score_board *board, const muster_world_def *def, struct arena *arena) {
  *board = (score_board){.rule = grade_rule_of(def), .noted_max = def->limits.agents_max};
  /* Each list of plots may pass its limit by a crowd. */
  uint32_t units = (1 + LEAPS_PART) * SCORE_UNITS_MAX, agents = units + 2 * (SCORE_CROWD + LIST_BLOCK_AGENTS);
  uint32_t items = units / PLOT_UNITS + agents / IMPORTANCE_BATCH_MAX + 4;
  field_create(&board->field, def->limits.observers_max, (double)def->cell_m, arena);
  ARENA_ARRAY(arena, board->types, def->limits.types_max);
  ARENA_ARRAY(arena, board->type_refused, def->limits.types_max);
  ARENA_ARRAY(arena, board->noted, def->limits.agents_max);
  ARENA_ARRAY(arena, board->noted_bits, bits_words(def->limits.agents_max));
  ARENA_ARRAY(arena, board->items, items);
  ARENA_ARRAY(arena, board->agents, agents);
  ARENA_ARRAY(arena, board->cells, agents);
  ARENA_ARRAY(arena, board->lows, agents);
  ARENA_ARRAY(arena, board->changes, agents);
}

static void learn_types(score_board *board, const type_table *types) {
  for (; board->types_known < types->count; board->types_known++)
    board->types[board->types_known] = grade_type_of(&types->types[board->types_known].def, &board->rule);
}

static void count_refused(score_board *board, uint32_t refused, uint32_t type) {
  if (!refused) return;
  board->refused += refused;
  if (!board->type_refused[type]) board->type_refused[type] = SCORE_REFUSED;
}

/* --------------------------------------------------------------------------------------------------- single agents */

/* Importance of one agent, now. */
static float score_one(score_board *board, uint32_t index) {
  importance_batch batch;
  batch.count = 1;
  batch.agents[0] = index;
  learn_types(board, board->inputs.types);
  importance_apart(&board->inputs, &batch);
  importance_finish(&board->inputs, &batch);
  count_refused(board, batch.refused, batch.refused_type);
  uint32_t cell = field_find(&board->field, &board->inputs.store->places[index]);
  if (cell != FIELD_NO_CELL) field_lower(&board->field, cell, field_low_of(batch.by_distance[0]));
  return batch.importance[0];
}

void score_new_agent(score_board *board, uint32_t index) {
  agent_row *row = &board->inputs.store->rows[index];
  row->importance = share_of(score_one(board, index));
  agent_class *class = grade_new(board->inputs.classes, board->inputs.types, &board->types[row->type], row);
  row->class = class->number;
  classes_join(board->inputs.classes, class, row);
  board->importance[row->importance >> 8]++;
}

void score_forget_agent(score_board *board, uint32_t index) {
  const agent_row *row = &board->inputs.store->rows[index];
  board->importance[row->importance >> 8]--;
  classes_leave(board->inputs.classes, &board->inputs.classes->classes[row->class], row);
}

static void score_apply_change(score_board *board, const grade_change *change) {
  board->importance[change->before >> 8]--;
  board->importance[change->after >> 8]++;
  grade_move_band(board->inputs.classes, board->inputs.store, change);
  if (change->level == GRADE_LATER)
    score_note(board, change->agent);
  else
    grade_apply(board->inputs.classes, board->inputs.types, board->inputs.store, board->inputs.ready, change);
}

void score_set_factor(score_board *board, uint32_t index, int32_t factor) {
  const score_inputs *inputs = &board->inputs;
  grade_set_factor(inputs->classes, inputs->types, &board->types[inputs->store->rows[index].type], inputs->store,
                   inputs->ready, index, factor);
}

void score_tuned_agent(score_board *board, uint32_t index) {
  grade_change change;
  float importance = score_one(board, index);
  const grade_type *type = &board->types[board->inputs.store->rows[index].type];
  if (grade_decide(board->inputs.classes, type, board->inputs.store, index, importance, true, &change))
    score_apply_change(board, &change);
}

static bool is_noted(const score_board *board, uint32_t index) {
  return bits_has(board->noted_bits, index);
}

static void forget_note(score_board *board, uint32_t index) {
  bits_clear(board->noted_bits, index);
}

bool score_mark(score_board *board, uint32_t index) {
  ASSERT(index < board->noted_max);
  if (is_noted(board, index)) return false;
  bits_set(board->noted_bits, index);
  return true;
}

/* Where the noted agent stands that comes after `ahead` others. Without a division, which takes as long as all else. */
static inline uint32_t *noted_at(const score_board *board, uint32_t ahead) {
  uint32_t to_end = board->noted_max - board->noted_head;
  return &board->noted[ahead < to_end ? board->noted_head + ahead : ahead - to_end];
}

void score_note(score_board *board, uint32_t index) {
  if (score_mark(board, index)) score_note_marked(board, index);
}

void score_note_marked(score_board *board, uint32_t index) {
  ASSERT(is_noted(board, index));
  *noted_at(board, board->noted_count++) = index;
}

/* ----------------------------------------------------------------------------------------------- what is to be done */

/* Begins one round over all agents from where the cursor is. */
void score_everybody(score_board *board) {
  board->cursor_left = board->inputs.store->high;
  board->rounds++;
}

/* Touches the cells that an observer sees, if it is anywhere. */
static bool touch(score_board *board, bool there, const field_view *view, uint32_t *scanned) {
  return !there || field_touch(&board->field, view, FIELD_MUCH, scanned);
}

/* Whether the source is an earlier place of this same observer, not of another one that had its index before. */
static bool is_same(const observer_source *source, const observer_row *row) {
  return source->written && row->present && source->partition == row->partition && source->near_m == row->near_m &&
         source->far_m == row->far_m;
}

/* Touches the cells of both places at once: what the observer saw before lies within what it sees now plus its way. */
static bool touch_way(score_board *board, const observer_source *source, const observer_row *row, uint32_t *scanned) {
  double x = row->position.x - source->position.x, y = row->position.y - source->position.y,
         z = row->position.z - source->position.z;
  float way_m = (float)sqrt(x * x + y * y + z * z) * 1.00001f;
  field_view view = {row->position, row->near_m + way_m, row->far_m + way_m, row->partition};
  ASSERT(is_same(source, row));
  return field_touch(&board->field, &view, FIELD_LITTLE, scanned);
}

static bool touch_both(score_board *board, const observer_source *source, const observer_row *row, uint32_t *scanned) {
  const field_view before = {source->position, source->near_m, source->far_m, source->partition};
  const field_view now = {row->position, row->near_m, row->far_m, row->partition};
  bool left = touch(board, source->written, &before, scanned);
  return touch(board, row->present, &now, scanned) && left;
}

static void shape_cubes(score_board *board) {
  float edge_m = board->inputs.observers->shortest_m * SCORE_STEP, least_m = (float)board->inputs.space->cell_m / 64.0f;
  board->cubes_per_m = 1.0f / (edge_m > least_m ? edge_m : least_m);
}

/* Counts observers anew: those that came or went may change the usual far_m, and the field with it. */
static void score_count_observers(score_board *board) {
  observer_table *observers = board->inputs.observers;
  if (observers->counted) return;
  observers_count(observers);
  shape_cubes(board);
  if (field_shape(&board->field, observers->typical_far_m)) score_everybody(board);
}

/* Writes observers of a queue; lists the plots where that may change something. */
static void write_observers(score_board *board, uint32_t which, uint32_t limit) {
  observer_table *observers = board->inputs.observers;
  while (board->units < limit) {
    uint32_t index = observers_next(observers, which), scanned = 0;
    if (index == OBSERVER_NONE) return;
    const observer_source *source = &observers->sources[index];
    const observer_row *row = &observers->rows[index];
    bool walks = which == OBSERVER_WALKS && is_same(source, row);
    bool touched = walks ? touch_way(board, source, row, &scanned) : touch_both(board, source, row, &scanned);
    if (!touched) score_everybody(board);
    observers_write(observers, index);
    board->units += OBSERVER_UNITS + scanned / CELLS_PER_UNIT;
  }
}

/* The last block of the list of the plot that comes after `ahead` others; null when there is none. */
static inline const list_block *coming_block(const score_board *board, uint32_t list, uint32_t ahead) {
  field_plot plot = field_peek(&board->field, list, ahead);
  if (plot.tile == FIELD_NO_CELL) return NULL;
  agent_list agents = space_cell(board->inputs.space, plot.grid_x, plot.grid_y, plot.partition)->list;
  return agents ? lists_last(board->inputs.space->stores, agents) : NULL;
}

/* A plot's agents are three steps away in memory: its bucket, the last block of its list, the block before. Each step
 * is taken for a group of plots at once, and for the group before while the next one is fetched. The group that needs
 * its last step begins `at` after the next plot, or would: the first groups have been on their way from before it. */
PREFETCH_FUNCTION prefetch_lists(const score_board *board, uint32_t list, int32_t at) {
  enum { EACH = PLOTS_TOGETHER };
  const struct space *space = board->inputs.space;
  const list_block *block;
  for (int32_t i = at + 2 * EACH; i < at + 3 * EACH; i++) {
    field_plot plot = field_peek(&board->field, list, (uint32_t)i);
    if (plot.tile == FIELD_NO_CELL) break;
    __builtin_prefetch(space_cell(space, plot.grid_x, plot.grid_y, plot.partition));
  }
  for (int32_t i = at + EACH; i >= 0 && i < at + 2 * EACH; i++)
    if ((block = coming_block(board, list, (uint32_t)i))) __builtin_prefetch(block);
  for (int32_t i = at; i >= 0 && i < at + EACH; i++)
    if ((block = coming_block(board, list, (uint32_t)i)) && block->previous)
      __builtin_prefetch(lists_last(space->stores, block->previous));
}

/* Fetches for the groups to come when the one before is done: `taken` plots were. */
static void fetch_lists(const score_board *board, uint32_t list, uint32_t taken) {
  enum { EACH = PLOTS_TOGETHER };
  if (board->field.doubled || taken % EACH) return;
  for (int32_t at = taken ? EACH : -2 * EACH; at <= EACH; at += EACH) prefetch_lists(board, list, at);
}

/* Appends the agents of one cell of the neighbour grid. When a plot has several such cells, they may share a bucket, so
 * agents of other cells are left out here; else load_plot() leaves them out. False when they are a crowd. */
static bool append_list(score_board *board, int32_t x, int32_t y, uint32_t partition, uint32_t begin) {
  bool exact = board->field.doubled > 0;
  space_walk walk = space_walk_of(board->inputs.space, x, y, partition);
  for (const list_block *block; (block = space_next_block(board->inputs.space, &walk));) {
    for (uint32_t i = 0; i < block->count; i++) {
      const agent_place *place = &board->inputs.store->places[block->agents[i]];
      if (board->inputs.store->ghost_count && !store_is_active(board->inputs.store, block->agents[i])) continue;
      if (exact && (place->cell_x != x || place->cell_y != y || place->partition != partition)) continue;
      board->agents[board->agent_count++] = block->agents[i];
    }
    if (board->agent_count - begin > SCORE_CROWD) return false;
  }
  return true;
}

static bool append_plot(score_board *board, const field_plot *plot) {
  int32_t across = 1 << board->field.doubled;
  uint32_t begin = board->agent_count;
  for (int32_t y = 0; y < across; y++)
    for (int32_t x = 0; x < across; x++)
      if (!append_list(board, plot->grid_x + x, plot->grid_y + y, plot->partition, begin)) return false;
  board->units += (uint32_t)(across * across) / PLOT_UNITS;
  return true;
}

static void add_items(score_board *board, const field_plot *plot, uint32_t begin, uint32_t each) {
  for (; begin < board->agent_count; begin += each) {
    uint32_t left = board->agent_count - begin;
    board->items[board->item_count++] =
        (score_item){.plot = *plot, .begin = begin, .count = (uint16_t)(left < each ? left : each)};
  }
}

static void settle_all(score_board *board, const field_plot *plot, uint8_t low) {
  uint8_t lows[PLOT_CELLS_MAX];
  memset(lows, low, sizeof lows);
  field_settle(&board->field, plot, lows);
}

static void take_plot(score_board *board, const field_plot *plot) {
  uint32_t begin = board->agent_count;
  if (!append_plot(board, plot)) { /* a crowd is not worked off as one: a round over all agents instead */
    board->agent_count = begin;
    board->units += SCORE_CROWD / LIST_BLOCK_AGENTS;
    settle_all(board, plot, 0);
    score_everybody(board);
  } else if (board->agent_count == begin) {
    board->units++;
    settle_all(board, plot, FIELD_EMPTY);
  } else {
    add_items(board, plot, begin, IMPORTANCE_BATCH_MAX);
    board->summary.plots++;
    board->units += PLOT_UNITS + board->looks_each / LOOKS_PER_UNIT + board->agent_count - begin;
  }
}

/* Takes plots in which something changed, with all their agents. */
static void take_plots(score_board *board, uint32_t list, uint32_t limit) {
  for (uint32_t taken = 0; board->units < limit; taken++) {
    fetch_lists(board, list, taken);
    field_plot plot = field_next(&board->field, list);
    if (plot.tile == FIELD_NO_CELL) return;
    if (plot.cells) take_plot(board, &plot); /* else it was looked at already, when it was on the other list */
  }
}

/* Takes an agent from anywhere. Whether there is anything to find out about it, the work on it says. */
static void take_agent(score_board *board, uint32_t index) {
  board->agents[board->agent_count++] = index;
  board->units += APART_UNITS;
}

/* The notes stay until the work is done, so that no agent is worked on twice. */
static void take_noted(score_board *board, uint32_t limit) {
  for (; board->units < limit && board->noted_count; board->noted_count--) {
    take_agent(board, board->noted[board->noted_head]);
    board->noted_head = board->noted_head + 1 < board->noted_max ? board->noted_head + 1 : 0;
  }
}

/* Takes the next agents of a round over all agents. */
static void take_round(score_board *board, uint32_t limit) {
  const agent_store *store = board->inputs.store;
  while (board->units < limit && board->cursor_left) {
    if (board->cursor >= store->high) board->cursor = 0;
    uint32_t index = store_next_active(store, board->cursor);
    uint32_t next = index == UINT32_MAX ? store->high : index + 1, passed = next - board->cursor;
    board->cursor = next;
    board->cursor_left = board->cursor_left > passed ? board->cursor_left - passed : 0;
    if (index != UINT32_MAX && !is_noted(board, index)) take_agent(board, index);
  }
}

uint32_t score_prepare(score_board *board, uint32_t units) {
  ASSERT(board->item_count == 0 && board->agent_count == 0);
  board->summary = (score_summary){0};
  board->units = 0;
  if (units > SCORE_UNITS_MAX) units = SCORE_UNITS_MAX;
  if (units < SCORE_UNITS_MIN) units = SCORE_UNITS_MIN;
  learn_types(board, board->inputs.types);
  score_count_observers(board);
  /* Everything is listed before anything is taken, so that no plot is taken twice. An observer that comes or leaps must
   * be felt soon, so such observers have a limit of their own. */
  write_observers(board, OBSERVER_LEAPS, units);
  uint32_t leapt = board->units;
  write_observers(board, OBSERVER_WALKS, leapt + units / 4);
  uint32_t walked = board->units - leapt;
  take_plots(board, FIELD_MUCH, units * LEAPS_PART + walked);
  uint32_t used = board->units - walked, limit = used + units, begin;
  bool others = board->noted_count || board->cursor_left;
  take_plots(board, FIELD_LITTLE, others ? used + units / 4 * 3 : limit);
  begin = board->agent_count;
  take_noted(board, board->cursor_left ? used + units / 8 * 7 : limit);
  take_round(board, limit);
  board->apart_count = board->agent_count - begin;
  add_items(board, &(field_plot){.tile = FIELD_NO_CELL}, begin, APART_MAX);
  return board->item_count;
}

/* ----------------------------------------------------------------------------------------------------- its results */

/* Enters what the work on an item found about its plot, or about the cells of its agents. */
static void settle_item(score_board *board, const score_item *item) {
  enum { AHEAD = 8 };
  if (item->plot.tile != FIELD_NO_CELL) {
    field_settle(&board->field, &item->plot, item->low);
    return;
  }
  for (uint32_t i = item->begin; i < item->begin + item->count; i++) {
    if (i + AHEAD < board->agent_count && board->cells[i + AHEAD] != FIELD_NO_CELL)
      field_prefetch(&board->field, board->cells[i + AHEAD]);
    forget_note(board, board->agents[i]);
    if (board->cells[i] != FIELD_NO_CELL) field_lower(&board->field, board->cells[i], board->lows[i]);
  }
}

/* Enters what the items found, apart from changes, which are moved together. Returns how many changes there are. */
static uint32_t settle_items(score_board *board) {
  uint32_t count = 0;
  uint64_t looks = 0;
  for (uint32_t i = 0; i < board->item_count; i++) {
    const score_item *item = &board->items[i];
    settle_item(board, item);
    count_refused(board, item->refused, item->refused_type);
    board->summary.agents += item->judged;
    looks += item->looks;
    for (uint32_t k = 0; k < item->changes; k++) board->changes[count++] = board->changes[item->begin + k];
  }
  if (board->summary.plots)
    board->looks_each = (uint32_t)((board->looks_each * 7ull + looks / board->summary.plots) / 8);
  return count;
}

void score_apply(score_board *board) {
  uint32_t count = settle_items(board);
  for (uint32_t i = 0; i < count; i++) score_apply_change(board, &board->changes[i]);
  board->summary.waiting = observers_waiting(board->inputs.observers) + field_waiting(&board->field) +
                           board->noted_count + board->cursor_left;
  board->item_count = board->agent_count = 0;
}
