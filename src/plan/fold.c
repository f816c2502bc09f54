#include "plan/fold.h"

#include "base/assert.h"
#include "base/clones.h"
#include "base/lesser.h"
#include "base/random.h"

#include <muster/herd.h>

#include <math.h>
#include <string.h>

void fold_create(fold_board *board, uint32_t observers_max, uint32_t workers, struct arena *arena) {
  uint32_t buckets = round_up_to_power_of_two(2 * observers_max);
  *board = (fold_board){.observers_max = observers_max, .buckets_mask = buckets - 1};
  ARENA_ARRAY(arena, board->watchers, observers_max);
  ARENA_ARRAY(arena, board->buckets, buckets);
  ARENA_ARRAY(arena, board->scratch, workers);
  ARENA_ARRAY(arena, board->hits, FOLD_BLOCKS);
  ARENA_ARRAY(arena, board->items, FOLD_LISTED_MAX);
  ARENA_ARRAY(arena, board->listed, FOLD_TABLE);
  size_t floats = MUSTER_HERD_BLOCK + 2 * (((size_t)observers_max + 15) & ~(size_t)15); /* of whole cache lines */
  float *all = arena_reserve(arena, workers * floats, sizeof *all);
  for (uint32_t i = 0; i < workers && !arena->failed; i++)
    board->scratch[i] = (fold_scratch){.distances = all + i * floats,
                                       .near_x = all + i * floats + MUSTER_HERD_BLOCK,
                                       .near_y = all + i * floats + (MUSTER_HERD_BLOCK + floats) / 2};
  if (!arena->failed) board->distances = board->scratch[0].distances;
}

void fold_reserve(fold_board *board, uint32_t type, struct arena *arena) {
  board->rounds[type] = (fold_round){.from = arena_reserve(arena, board->observers_max, sizeof(fold_watcher))};
}

/* -------------------------------------------------------------------------------------------------------- distances */

/* A part of the ground, for which the observers that matter are to be found. */
struct ground {
  uint32_t partition;
  double low_x, low_y, high_x, high_y;
  double origin_x, origin_y;
};

static void fold_offer(const fold_watcher *watcher, const struct ground *ground, fold_near *near) {
  if (watcher->partition != ground->partition || watcher->x < ground->low_x || watcher->x > ground->high_x ||
      watcher->y < ground->low_y || watcher->y > ground->high_y)
    return;
  near->x[near->count] = (float)(watcher->x - ground->origin_x);
  near->y[near->count++] = (float)(watcher->y - ground->origin_y);
}

static uint32_t bucket_of(const fold_board *board, double cell_x, double cell_y, uint32_t partition) {
  uint64_t x = (uint64_t)(int64_t)cell_x, y = (uint64_t)(int64_t)cell_y;
  uint64_t place = x * 0x9e3779b97f4a7c15u + y * 0xd1b54a32d192ed03u + partition;
  return (uint32_t)muster_random_mix(place) & board->buckets_mask;
}

/* Offers the observers in a cell; those of other cells in its bucket are left out. */
static void offer_cell(const fold_board *board, const struct ground *ground, double cell_x, double cell_y,
                       fold_near *near) {
  uint32_t next = board->buckets[bucket_of(board, cell_x, cell_y, ground->partition)];
  for (; next; next = board->watchers[next - 1].next) {
    const fold_watcher *watcher = &board->watchers[next - 1];
    double x = floor(watcher->x / board->bucket_m), y = floor(watcher->y / board->bucket_m);
    if (x >= cell_x && x <= cell_x && y >= cell_y && y <= cell_y) fold_offer(watcher, ground, near);
  }
}

/* Finds the observers by the cells of the ground, when these are fewer than the observers; else looks at all. */
static fold_near find_near(const fold_board *board, const fold_scratch *scratch, const struct ground *ground) {
  enum { FEW = 16 };
  fold_near near = {0, scratch->near_x, scratch->near_y};
  double low_x = floor(ground->low_x / board->bucket_m), high_x = floor(ground->high_x / board->bucket_m);
  double low_y = floor(ground->low_y / board->bucket_m), high_y = floor(ground->high_y / board->bucket_m);
  double cells = (high_x - low_x + 1.0) * (high_y - low_y + 1.0);
  if (board->watcher_count <= FEW || !(cells < (double)board->watcher_count)) {
    for (uint32_t i = 0; i < board->watcher_count; i++) fold_offer(&board->watchers[i], ground, &near);
    return near;
  }
  for (double y = low_y; y <= high_y; y += 1.0)
    for (double x = low_x; x <= high_x; x += 1.0) offer_cell(board, ground, x, y, &near);
  return near;
}

fold_near fold_near_of(const fold_board *board, uint32_t partition, double low_x, double low_y, double high_x,
                       double high_y, double reach_m, double origin_x, double origin_y) {
  struct ground ground = {partition,        low_x - reach_m, low_y - reach_m, high_x + reach_m,
                          high_y + reach_m, origin_x,        origin_y};
  return find_near(board, &board->scratch[0], &ground);
}

/* Squares of the distances to the nearest observer, in arrays of a multiple of eight. */
VECTOR_CLONES static void measure(const fold_near *near, const float *restrict x, const float *restrict y,
                                  float *restrict squares, uint32_t count) {
  for (uint32_t i = 0; i < count && near->count == 0; i++) squares[i] = FOLD_FAR;
  for (uint32_t i = 0; i < count && near->count > 0; i++) {
    float dx = x[i] - near->x[0], dy = y[i] - near->y[0], square = dx * dx + dy * dy;
    squares[i] = square < FOLD_FAR ? square : FOLD_FAR; /* also for NaN */
  }
  for (uint32_t k = 1; k < near->count; k++) {
    float from_x = near->x[k], from_y = near->y[k];
    for (uint32_t i = 0; i < count; i++) {
      float dx = x[i] - from_x, dy = y[i] - from_y, square = dx * dx + dy * dy;
      squares[i] = square < squares[i] ? square : squares[i];
    }
  }
}

/* The greatest distance from an observer at which anything still changes. */
static double reach_of(const struct herd_type *type) {
  return (double)type->def.zone_m[type->tree.depth - 1] * (1.0 + (double)type->def.hysteresis);
}

fold_near fold_measure(const fold_board *board, const struct herd_type *type, const herd_lanes *lanes) {
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

float fold_herd_distance(const fold_board *board, const struct herd_type *type, uint32_t home) {
  const herd_block *block = herds_block_of(type, home);
  double x = block->origin_x + (double)type->x[home], y = block->origin_y + (double)type->y[home];
  double reach_m = (double)type->def.zone_m[type->tree.depth - 1];
  fold_near near = fold_near_of(board, block->partition, x, y, x, y, reach_m, x, y);
  return fold_distance(&near, 0.0f, 0.0f);
}

/* ---------------------------------------------------------------------------------------------------------- looking */

typedef float eight_floats __attribute__((vector_size(32)));
typedef int32_t eight_bits __attribute__((vector_size(32)));

/* A bit for each 64 of up to 1024 squares: whether any of them is below a bound. */
VECTOR_CLONES static uint32_t find_below(const float *squares, float bound, uint32_t count) {
  uint32_t found = 0;
  for (uint32_t first = 0; first < count; first += 64) {
    eight_bits any = {0};
    uint32_t end = first + 64 < count ? first + 64 : count;
    for (uint32_t i = first; i < end; i += 8) any |= *(const eight_floats *)(const void *)(squares + i) < bound;
    int32_t one = 0;
    for (uint32_t k = 0; k < 8; k++) one |= any[k];
    found |= (uint32_t)(one != 0) << (first / 64);
  }
  return found;
}

/* Marks the block's herds that are in the outermost zone of an observer. */
static void look_at_block(const fold_board *board, const struct herd_type *type, uint32_t number,
                          const fold_scratch *scratch, uint64_t *hits) {
  const herd_block *block = &type->blocks[number];
  double x = block->origin_x, y = block->origin_y, reach_m = (double)type->def.zone_m[type->tree.depth - 1];
  memset(hits, 0, MUSTER_HERD_BLOCK / 8);
  if (block->live == 0) return;
  struct ground ground = {block->partition,
                          x + (double)block->low_x - reach_m,
                          y + (double)block->low_y - reach_m,
                          x + (double)block->high_x + reach_m,
                          y + (double)block->high_y + reach_m,
                          x,
                          y};
  fold_near near = find_near(board, scratch, &ground);
  if (!near.count) return;
  uint32_t first = number * MUSTER_HERD_BLOCK, count = (block->high + 7u) & ~7u;
  float square = (float)(reach_m * reach_m);
  measure(&near, type->x + first, type->y + first, scratch->distances, count);
  for (uint32_t found = find_below(scratch->distances, square, count); found; found &= found - 1) {
    uint32_t word = (uint32_t)__builtin_ctz(found), end = word * 64 + 64 < count ? word * 64 + 64 : count;
    for (uint32_t i = word * 64; i < end; i++)
      if (scratch->distances[i] < square && type->members[first + i]) hits[word] |= 1ull << (i % 64);
  }
}

struct fold_blocks fold_next_blocks(fold_board *board, const struct herd_type *type, uint32_t number, uint32_t left) {
  fold_round *round = &board->rounds[number];
  struct fold_blocks blocks = {type, round->blocks, left < FOLD_BLOCKS ? left : FOLD_BLOCKS};
  round->blocks += blocks.count;
  return blocks;
}

void fold_look(fold_board *board, const struct fold_blocks *blocks, uint32_t first, uint32_t end, uint32_t worker) {
  ASSERT(end <= blocks->count);
  for (uint32_t i = first; i < end; i++)
    look_at_block(board, blocks->type, blocks->first + i, &board->scratch[worker], board->hits[i]);
}

void fold_list(fold_board *board, const struct fold_blocks *blocks) {
  const struct herd_type *type = blocks->type;
  for (uint32_t i = 0; i < blocks->count; i++)
    for (uint32_t word = 0; word < MUSTER_HERD_BLOCK / 64; word++)
      for (uint64_t bits = board->hits[i][word]; bits && board->item_count < FOLD_FOLDED_MAX; bits &= bits - 1) {
        uint32_t home = (blocks->first + i) * MUSTER_HERD_BLOCK + word * 64 + (uint32_t)__builtin_ctzll(bits);
        fold_note(board, type->first + home, fold_herd_distance(board, type, home), false);
      }
}

static void clear_pins(const herd_lanes *lanes, uint64_t now_ns) {
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    if (!lanes->pins[i] || fold_holds(lanes->pins[i], now_ns)) continue;
    lanes->pins[i] = 0;
    lanes->entry->pinned--;
  }
}

/* Moves the origin of a herd that has come far, so that its lanes keep their last digits. */
static void move_origin(const herd_lanes *lanes, float x, float y) {
  lanes->entry->origin_x += (double)x;
  lanes->entry->origin_y += (double)y;
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    lanes->x[i] -= x;
    lanes->y[i] -= y;
  }
}

static void note_centroid(const herd_lanes *lanes, uint32_t count) {
  const float far_m = 1024.0f;
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
  if (fabsf(entry->x) > far_m || fabsf(entry->y) > far_m) {
    x = floorf(entry->x);
    y = floorf(entry->y);
    move_origin(lanes, x, y);
    entry->x -= x;
    entry->y -= y;
  }
  entry->velocity_x = velocity_x * each;
  entry->velocity_y = velocity_y * each;
}

static void look_at_entry(fold_board *board, const struct herd_type *type, uint32_t number, uint64_t now_ns) {
  herd_lanes lanes = herds_lanes(type, number);
  uint32_t count = lanes.entry->state == HERD_ENTRY_OPEN ? herds_count(&lanes) : 0;
  if (count == 0) return;
  if (lanes.entry->pinned) clear_pins(&lanes, now_ns);
  note_centroid(&lanes, count);
  fold_near near = fold_measure(board, type, &lanes);
  if (fold_stays(board, type, &lanes, &near)) return;
  uint32_t lane = fold_next_unfolding(board, type, &lanes);
  if (lane != HERD_NONE) {
    fold_note(board, lanes.entry->herd, board->distances[lane], false);
    return;
  }
  fold_siblings siblings = fold_next_folding(board, type, &lanes, &near, 0, now_ns);
  if (siblings.count) fold_note(board, lanes.entry->herd, siblings.distance_m, true);
}

void fold_look_at_entries(fold_board *board, const struct herd_type *type, uint32_t number, uint32_t count,
                          uint64_t now_ns) {
  fold_round *round = &board->rounds[number];
  for (; count > 0; count--) look_at_entry(board, type, round->entries++, now_ns);
}

/* ----------------------------------------------------------------------------------------------------------- rounds */

void fold_watch_none(fold_board *board, const herd_table *table) {
  memset(board->buckets, 0, ((size_t)board->buckets_mask + 1) * sizeof *board->buckets);
  board->watcher_count = 0;
  board->bucket_m = 1.0;
  for (uint32_t i = 0; i < table->count; i++) board->bucket_m = fmax(board->bucket_m, reach_of(&table->types[i]));
}

void fold_watch_from(fold_board *board, double x, double y, uint16_t partition) {
  ASSERT(board->watcher_count < board->observers_max);
  uint32_t *bucket =
      &board->buckets[bucket_of(board, floor(x / board->bucket_m), floor(y / board->bucket_m), partition)];
  board->watchers[board->watcher_count++] = (fold_watcher){x, y, *bucket, partition, true};
  *bucket = board->watcher_count;
}

void fold_watch(fold_board *board, const herd_table *table, const observer_table *observers) {
  fold_watch_none(board, table);
  for (uint32_t i = 0; i < observers->high; i++) {
    const observer_row *row = &observers->rows[i];
    if (row->present) fold_watch_from(board, row->position.x, row->position.y, row->partition);
  }
}

/* Whether an observer came, went or moved so far since the round began that a whole look is due. */
static bool have_leapt(const struct herd_type *type, const fold_round *round, const observer_table *observers) {
  double step_m = 0.5 * (double)type->def.hysteresis * (double)type->def.zone_m[0];
  for (uint32_t i = 0; i < observers->high; i++) {
    const observer_row *row = &observers->rows[i];
    const fold_watcher *from = &round->from[i];
    if (row->present != from->present) return true;
    double dx = row->position.x - from->x, dy = row->position.y - from->y;
    if (row->present && (row->partition != from->partition || dx * dx + dy * dy > step_m * step_m)) return true;
  }
  return false;
}

static void fold_begin_round(fold_round *round, const observer_table *observers, bool hurries, uint64_t now_ns) {
  for (uint32_t i = 0; i < observers->high; i++) {
    const observer_row *row = &observers->rows[i];
    round->from[i] = (fold_watcher){row->position.x, row->position.y, 0, row->partition, row->present};
  }
  round->begin_ns = now_ns;
  round->blocks = round->entries = 0;
  round->begun = true;
  round->hurries = hurries;
  round->again = false;
}

/* How many of `count` blocks or entries are to be looked at now. */
static uint32_t due_of(const fold_round *round, const struct herd_type *type, uint64_t now_ns, uint32_t looked_at,
                       uint32_t count, uint32_t most) {
  uint64_t passed_ns = now_ns - round->begin_ns;
  uint32_t due = count;
  if (!round->hurries && passed_ns < type->def.look_ns)
    due = (uint32_t)((double)count * ((double)passed_ns / (double)type->def.look_ns));
  due = due > looked_at ? due - looked_at : 0;
  return due < most ? due : most;
}

fold_limits fold_due(fold_board *board, const struct herd_type *type, uint32_t number, const observer_table *observers,
                     fold_limits most, uint64_t now_ns) {
  fold_round *round = &board->rounds[number];
  bool leapt = !round->begun || have_leapt(type, round, observers);
  /* A round that hurries is not begun anew: the blocks that it has not come to must have their turn. */
  if (leapt && round->hurries)
    round->again = true;
  else if (leapt)
    fold_begin_round(round, observers, true, now_ns);
  return (fold_limits){due_of(round, type, now_ns, round->blocks, type->block_count, most.blocks),
                       due_of(round, type, now_ns, round->entries, type->entry_high, most.entries)};
}

void fold_end(fold_board *board, const struct herd_type *type, uint32_t number, const observer_table *observers,
              uint64_t now_ns) {
  fold_round *round = &board->rounds[number];
  bool complete = round->blocks >= type->block_count && round->entries >= type->entry_high;
  if (complete && (round->hurries || now_ns - round->begin_ns >= type->def.look_ns))
    fold_begin_round(round, observers, round->again, now_ns);
}

/* ---------------------------------------------------------------------------------------- which herds are to change */

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

void fold_note(fold_board *board, uint32_t herd, float distance_m, bool folds) {
  if (board->item_count == FOLD_LISTED_MAX || is_listed(board, herd)) return;
  enter(board, herd);
  board->items[board->item_count++] = (fold_item){herd, distance_m, folds};
}

static bool comes_before(const fold_item *a, const fold_item *b) {
  if (a->folds != b->folds) return b->folds;
  if (a->distance_m < b->distance_m || a->distance_m > b->distance_m) return a->distance_m < b->distance_m;
  return a->herd < b->herd;
}

/* Sinks an item to its place in a heap with the last item on top. */
static void fold_sink(fold_item *items, uint32_t at, uint32_t count) {
  fold_item sinking = items[at];
  for (uint32_t child; (child = 2 * at + 1) < count; at = child) {
    if (child + 1 < count && comes_before(&items[child], &items[child + 1])) child++;
    if (!comes_before(&sinking, &items[child])) break;
    items[at] = items[child];
  }
  items[at] = sinking;
}

/* Sorts by a heap: in place, unlike the C library's qsort. */
void fold_sort(fold_board *board) {
  fold_item *items = board->items;
  for (uint32_t i = board->item_count / 2; i > 0; i--) fold_sink(items, i - 1, board->item_count);
  for (uint32_t left = board->item_count; left > 1; left--) {
    fold_item last = items[left - 1];
    items[left - 1] = items[0];
    items[0] = last;
    fold_sink(items, 0, left - 1);
  }
}

void fold_keep(fold_board *board, uint32_t count) {
  ASSERT(count <= board->item_count);
  memset(board->listed, 0, FOLD_TABLE * sizeof *board->listed);
  board->item_count = count;
  for (uint32_t i = 0; i < count; i++) enter(board, board->items[i].herd);
}
