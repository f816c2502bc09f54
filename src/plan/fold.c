#include "plan/fold.h"

#include "base/assert.h"
#include "base/clones.h"

#include <math.h>
#include <string.h>

/* What the mean of places may be off by, for its size. */
#define ROUNDING 1e-4f

void fold_create(fold_board *board, uint32_t observers_max, arena *arena) {
  *board = (fold_board){.observers_max = observers_max};
  board->watchers = arena_reserve(arena, observers_max, sizeof *board->watchers);
  board->near_x = arena_reserve(arena, observers_max, sizeof *board->near_x);
  board->near_y = arena_reserve(arena, observers_max, sizeof *board->near_y);
  board->distances = arena_reserve(arena, MUSTER_HERD_BLOCK, sizeof *board->distances);
  board->items = arena_reserve(arena, FOLD_LISTED_MAX, sizeof *board->items);
  board->listed = arena_reserve(arena, FOLD_TABLE, sizeof *board->listed);
}

void fold_reserve(fold_board *board, uint32_t type, arena *arena) {
  board->rounds[type] = (fold_round){.from = arena_reserve(arena, board->observers_max, sizeof(fold_watcher))};
}

/* ---------------------------------------------------------------------------------------------------------- the list
 */

static void enter(fold_board *board, uint32_t herd) {
  uint32_t at = herd * 0x9e3779b1u % FOLD_TABLE;
  while (board->listed[at]) at = (at + 1) % FOLD_TABLE;
  board->listed[at] = herd + 1;
}

static bool is_listed(const fold_board *board, uint32_t herd) {
  uint32_t at = herd * 0x9e3779b1u % FOLD_TABLE;
  while (board->listed[at] && board->listed[at] != herd + 1) at = (at + 1) % FOLD_TABLE;
  return board->listed[at] != 0;
}

/* Who finds no room is found again, when its turn comes. */
static void list(fold_board *board, uint32_t herd, float distance_m, bool folds) {
  if (board->item_count == FOLD_LISTED_MAX || is_listed(board, herd)) return;
  enter(board, herd);
  board->items[board->item_count++] = (fold_item){herd, distance_m, folds};
}

void fold_keep(fold_board *board, uint32_t count) {
  ASSERT(count <= board->item_count);
  memset(board->listed, 0, FOLD_TABLE * sizeof *board->listed);
  board->item_count = count;
  for (uint32_t i = 0; i < count; i++) enter(board, board->items[i].herd);
}

/* ---------------------------------------------------------------------------------------------------------- distances
 */

fold_near fold_near_of(const fold_board *board, uint32_t partition, double low_x, double low_y, double high_x,
                       double high_y, double reach_m, double origin_x, double origin_y) {
  fold_near near = {0, board->near_x, board->near_y};
  for (uint32_t i = 0; i < board->watcher_count; i++) {
    const fold_watcher *watcher = &board->watchers[i];
    if (watcher->partition != partition || watcher->x < low_x - reach_m || watcher->x > high_x + reach_m ||
        watcher->y < low_y - reach_m || watcher->y > high_y + reach_m)
      continue;
    near.x[near.count] = (float)(watcher->x - origin_x);
    near.y[near.count++] = (float)(watcher->y - origin_y);
  }
  return near;
}

static float nearest_square(const fold_near *near, float x, float y) {
  float least = FOLD_FAR;
  for (uint32_t i = 0; i < near->count; i++) {
    float dx = near->x[i] - x, dy = near->y[i] - y, square = dx * dx + dy * dy;
    least = square < least ? square : least;
  }
  return least;
}

float fold_distance(const fold_near *near, float x, float y) {
  return near->count ? sqrtf(nearest_square(near, x, y)) : FOLD_FAR;
}

/* Squares of the distances to the nearest of them, in arrays of a multiple of eight. */
VECTOR_CLONES static void measure(const fold_near *near, const float *restrict x, const float *restrict y,
                                  float *restrict squares, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) squares[i] = FOLD_FAR;
  for (uint32_t k = 0; k < near->count; k++) {
    float from_x = near->x[k], from_y = near->y[k];
    for (uint32_t i = 0; i < count; i++) {
      float dx = x[i] - from_x, dy = y[i] - from_y, square = dx * dx + dy * dy;
      squares[i] = square < squares[i] ? square : squares[i];
    }
  }
}

/* The outermost distance that anything depends on. */
static double reach_of(const herd_type *type) {
  return (double)type->def.zone_m[type->tree.depth - 1] * (1.0 + (double)type->def.hysteresis);
}

/* Instead of fminf() and fmaxf(), which are calls. */
static inline float lesser(float a, float b) {
  return a < b ? a : b;
}

static inline float greater(float a, float b) {
  return a > b ? a : b;
}

fold_near fold_measure(const fold_board *board, const herd_type *type, const herd_lanes *lanes) {
  const herd_entry *entry = lanes->entry;
  const herd_block *block = herds_block_of(type, herds_home(type, entry->herd));
  float low_x = FOLD_FAR, low_y = FOLD_FAR, high_x = -FOLD_FAR, high_y = -FOLD_FAR;
  for (uint32_t i = 0; i < entry->lanes; i++) {
    low_x = lesser(low_x, lanes->x[i]);
    low_y = lesser(low_y, lanes->y[i]);
    high_x = greater(high_x, lanes->x[i]);
    high_y = greater(high_y, lanes->y[i]);
  }
  double x = entry->origin_x, y = entry->origin_y;
  fold_near near = fold_near_of(board, block->partition, x + (double)low_x, y + (double)low_y, x + (double)high_x,
                                y + (double)high_y, reach_of(type), x, y);
  measure(&near, lanes->x, lanes->y, board->distances, entry->lanes);
  for (uint32_t i = 0; i < entry->lanes; i++) board->distances[i] = sqrtf(board->distances[i]);
  return near;
}

/* ------------------------------------------------------------------------------------------------------ what is wanted
 */

bool fold_unfolds(const herd_type *type, uint32_t depth, float distance_m) {
  return depth < type->tree.depth && distance_m < type->def.zone_m[type->tree.depth - depth - 1];
}

uint32_t fold_next_unfolding(const fold_board *board, const herd_type *type, const herd_lanes *lanes) {
  uint32_t found = HERD_NONE;
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    if (!fold_unfolds(type, herd_tree_depth(&type->tree, lanes->nodes[i]), board->distances[i])) continue;
    if (found == HERD_NONE || board->distances[i] < board->distances[found]) found = i;
  }
  return found;
}

/* Whether a leaf lies below a node. */
static bool is_below(const herd_tree *tree, uint32_t leaf, uint32_t node, uint32_t depth) {
  uint32_t place = herd_tree_place(tree, leaf), begin = herd_tree_place(tree, node);
  return place >= begin && place < begin + tree->below[depth];
}

/* Lanes from `first` on that are all children that their parent has; 0 when one of these is not a leaf. */
static uint32_t count_siblings(const herd_type *type, const herd_lanes *lanes, uint32_t first) {
  const herd_tree *tree = &type->tree;
  uint32_t depth = herd_tree_depth(tree, lanes->nodes[first]), end = first, leaves = lanes->entry->lanes;
  if (depth == 0) return 0;
  uint32_t parent = herd_tree_parent(tree, lanes->nodes[first]);
  while (end < leaves && lanes->nodes[end] > 0 && herd_tree_parent(tree, lanes->nodes[end]) == parent) end++;
  bool deeper = (first > 0 && is_below(tree, lanes->nodes[first - 1], parent, depth - 1)) ||
                (end < leaves && is_below(tree, lanes->nodes[end], parent, depth - 1));
  return deeper ? 0 : end - first;
}

/* Whether any of them must stay what it is: it is in its zone itself, so that nobody in sight is folded either, or it
 * is held. */
static bool is_kept_apart(const fold_board *board, const herd_lanes *lanes, uint32_t first, uint32_t count,
                          float zone_m, uint64_t now_ns) {
  for (uint32_t i = first; i < first + count; i++)
    if (board->distances[i] <= zone_m || (lanes->pins[i] && fold_holds(lanes->pins[i], now_ns))) return true;
  return false;
}

/* The distance of the mean of some lanes. */
static float distance_of_mean(const herd_lanes *lanes, const fold_near *near, uint32_t first, uint32_t count) {
  float x = 0, y = 0, members = 0;
  for (uint32_t i = first; i < first + count; i++) {
    x += lanes->members[i] * lanes->x[i];
    y += lanes->members[i] * lanes->y[i];
    members += lanes->members[i];
  }
  return members > 0 ? fold_distance(near, x / members, y / members) : 0.0f;
}

fold_siblings fold_next_folding(const fold_board *board, const herd_type *type, const herd_lanes *lanes,
                                const fold_near *near, uint32_t from, uint64_t now_ns) {
  const herd_tree *tree = &type->tree;
  for (uint32_t i = from; i < lanes->entry->lanes; i++) {
    uint32_t count = count_siblings(type, lanes, i);
    if (!count) continue;
    uint32_t depth = herd_tree_depth(tree, lanes->nodes[i]) - 1;
    float distance_m = distance_of_mean(lanes, near, i, count);
    float zone_m = type->def.zone_m[tree->depth - depth - 1];
    if (distance_m > zone_m * (1.0f + type->def.hysteresis) && !is_kept_apart(board, lanes, i, count, zone_m, now_ns))
      return (fold_siblings){i, count, distance_m};
    i += count - 1;
  }
  return (fold_siblings){0};
}

/* ------------------------------------------------------------------------------------------------------------- looking
 */

static void look_at_block(fold_board *board, const herd_type *type, uint32_t number) {
  const herd_block *block = &type->blocks[number];
  double x = block->origin_x, y = block->origin_y, reach_m = (double)type->def.zone_m[type->tree.depth - 1];
  if (block->live == 0) return;
  fold_near near = fold_near_of(board, block->partition, x + (double)block->low_x, y + (double)block->low_y,
                                x + (double)block->high_x, y + (double)block->high_y, reach_m, x, y);
  if (!near.count) return;
  uint32_t first = number * MUSTER_HERD_BLOCK, count = (block->high + 7u) & ~7u;
  float square = (float)(reach_m * reach_m);
  measure(&near, type->x + first, type->y + first, board->distances, count);
  for (uint32_t eight = 0; eight < count; eight += 8) {
    uint32_t any = 0;
    for (uint32_t i = eight; i < eight + 8; i++) any |= board->distances[i] < square;
    for (uint32_t i = eight; any && i < eight + 8; i++)
      if (board->distances[i] < square && type->members[first + i])
        list(board, type->first + first + i, sqrtf(board->distances[i]), false);
  }
}

static void clear_pins(const herd_lanes *lanes, uint64_t now_ns) {
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    if (!lanes->pins[i] || fold_holds(lanes->pins[i], now_ns)) continue;
    lanes->pins[i] = 0;
    lanes->entry->pinned--;
  }
}

static void note_centroid(const herd_lanes *lanes, uint32_t count) {
  herd_entry *entry = lanes->entry;
  float x = 0, y = 0, velocity_x = 0, velocity_y = 0, each = 1.0f / (float)count;
  for (uint32_t i = 0; i < entry->lanes; i++) {
    float members = (float)lanes->members[i];
    x += members * lanes->x[i];
    y += members * lanes->y[i];
    velocity_x += members * lanes->velocity_x[i];
    velocity_y += members * lanes->velocity_y[i];
  }
  entry->x = x * each;
  entry->y = y * each;
  entry->velocity_x = velocity_x * each;
  entry->velocity_y = velocity_y * each;
}

/* Whether all leaves are where they are wanted, as nearly always. A parent that is far from its one observer has a
 * child that is as far; of several observers, each child may be near to another one, so that says nothing. */
static bool stays(const fold_board *board, const herd_type *type, const herd_lanes *lanes, const fold_near *near) {
  const herd_tree *tree = &type->tree;
  const float *zone_m = type->def.zone_m;
  float beyond = 1.0f + type->def.hysteresis;
  if (near->count != 1) return false;
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    uint32_t depth = herd_tree_depth(tree, lanes->nodes[i]);
    if (fold_unfolds(type, depth, board->distances[i])) return false;
    if (depth > 0 && board->distances[i] > zone_m[tree->depth - depth] * beyond * (1.0f - ROUNDING)) return false;
  }
  return true;
}

static void look_at_entry(fold_board *board, const herd_type *type, uint32_t number, uint64_t now_ns) {
  herd_lanes lanes = herds_lanes(type, number);
  uint32_t count = lanes.entry->state == HERD_ENTRY_OPEN ? herds_count(&lanes) : 0;
  if (count == 0) return;
  if (lanes.entry->pinned) clear_pins(&lanes, now_ns);
  note_centroid(&lanes, count);
  fold_near near = fold_measure(board, type, &lanes);
  if (stays(board, type, &lanes, &near)) return;
  uint32_t lane = fold_next_unfolding(board, type, &lanes);
  if (lane != HERD_NONE) {
    list(board, lanes.entry->herd, board->distances[lane], false);
    return;
  }
  fold_siblings siblings = fold_next_folding(board, type, &lanes, &near, 0, now_ns);
  if (siblings.count) list(board, lanes.entry->herd, siblings.distance_m, true);
}

/* ------------------------------------------------------------------------------------------------------------- rounds
 */

static void watch(fold_board *board, const observer_table *observers) {
  board->watcher_count = 0;
  for (uint32_t i = 0; i < observers->high; i++) {
    const observer_row *row = &observers->rows[i];
    if (row->present)
      board->watchers[board->watcher_count++] = (fold_watcher){row->position.x, row->position.y, row->partition, true};
  }
}

/* Whether an observer came, went or moved so far since the round began that a whole look is due. */
static bool have_leapt(const fold_board *board, const herd_type *type, const fold_round *round,
                       const observer_table *observers) {
  double step_m = 0.5 * (double)type->def.hysteresis * (double)type->def.zone_m[0];
  uint32_t high = observers->high > board->watcher_high ? observers->high : board->watcher_high;
  for (uint32_t i = 0; i < high; i++) {
    const observer_row *row = &observers->rows[i];
    const fold_watcher *from = &round->from[i];
    if (row->present != from->present) return true;
    double dx = row->position.x - from->x, dy = row->position.y - from->y;
    if (row->present && (row->partition != from->partition || dx * dx + dy * dy > step_m * step_m)) return true;
  }
  return false;
}

static void begin_round(fold_board *board, fold_round *round, const observer_table *observers, uint64_t now_ns) {
  uint32_t high = observers->high > board->watcher_high ? observers->high : board->watcher_high;
  for (uint32_t i = 0; i < high; i++) {
    const observer_row *row = &observers->rows[i];
    round->from[i] = (fold_watcher){row->position.x, row->position.y, row->partition, row->present};
  }
  round->begin_ns = now_ns;
  round->blocks = round->entries = 0;
  round->begun = true;
}

/* How many of `count` are to have been looked at by now. */
static uint32_t due_by(const herd_type *type, uint64_t passed_ns, uint32_t count) {
  if (passed_ns >= type->def.look_ns) return count;
  return (uint32_t)((double)count * ((double)passed_ns / (double)type->def.look_ns));
}

static void run_type(fold_board *board, herd_table *table, uint32_t number, const observer_table *observers,
                     uint64_t now_ns) {
  herd_type *type = &table->types[number];
  fold_round *round = &board->rounds[number];
  bool leapt = !round->begun || have_leapt(board, type, round, observers);
  uint64_t passed_ns = leapt ? type->def.look_ns : now_ns - round->begin_ns;
  if (leapt) begin_round(board, round, observers, now_ns);
  uint32_t blocks = due_by(type, passed_ns, type->block_count), entries = due_by(type, passed_ns, type->entry_high);
  for (; round->blocks < blocks; round->blocks++) look_at_block(board, type, round->blocks);
  for (; round->entries < entries; round->entries++) look_at_entry(board, type, round->entries, now_ns);
  if (passed_ns >= type->def.look_ns) begin_round(board, round, observers, now_ns);
}

void fold_run(fold_board *board, herd_table *table, const observer_table *observers, uint64_t now_ns) {
  watch(board, observers);
  for (uint32_t i = 0; i < table->count; i++) run_type(board, table, i, observers, now_ns);
  if (observers->high > board->watcher_high) board->watcher_high = observers->high;
}
