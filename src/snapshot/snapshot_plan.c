/* snapshot_plan.c - what a snapshot says of observers and of what the plan knows: importance, penalties, what things
 * cost. */
#include "base/assert.h"
#include "snapshot/snapshot.h"
#include "world/world_observers.h"
#include "world/world_score.h"

#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- observers
 */

typedef struct saved_observer {
  muster_position position, source_position;
  float near_m, far_m, source_near_m, source_far_m;
  uint32_t generation;
  uint16_t partition, source_partition;
  uint8_t present, written, zero[6];
} saved_observer;

static saved_observer describe_observer(const struct muster_world *world, uint32_t index) {
  const observer_row *row = &world->observers->table.rows[index];
  const observer_source *source = &world->observers->table.sources[index];
  return (saved_observer){.position = row->position,
                          .source_position = source->position,
                          .near_m = row->near_m,
                          .far_m = row->far_m,
                          .source_near_m = source->near_m,
                          .source_far_m = source->far_m,
                          .generation = identity_generation(&world->observers->ids, index),
                          .partition = row->partition,
                          .source_partition = source->partition,
                          .present = row->present,
                          .written = source->written};
}

static bool is_sight(muster_position position, float near_m, float far_m) {
  return space_accepts(position) && near_m >= 0.0f && far_m > near_m && isfinite(far_m);
}

static bool is_observer(const saved_observer *saved) {
  if (saved->present > 1 || saved->written > 1) return false;
  if (saved->present && !(saved->generation & 1)) return false;
  return (!saved->present || is_sight(saved->position, saved->near_m, saved->far_m)) &&
         (!saved->written || is_sight(saved->source_position, saved->source_near_m, saved->source_far_m));
}

static void take_observer(struct muster_world *world, uint32_t index, const saved_observer *saved) {
  ASSERT(index < world->observers->table.maximum && !world->observers->table.rows[index].present);
  observer_row *row = &world->observers->table.rows[index];
  observer_source *source = &world->observers->table.sources[index];
  identity_assign(&world->observers->ids, index, saved->generation);
  *row = (observer_row){.position = saved->position,
                        .near_m = saved->near_m,
                        .far_m = saved->far_m,
                        .partition = saved->partition,
                        .present = saved->present};
  *source = (observer_source){.position = saved->source_position,
                              .near_m = saved->source_near_m,
                              .far_m = saved->source_far_m,
                              .partition = saved->source_partition,
                              .written = saved->written};
}

/* Observers; what is kept of them while it checks: 1 = present, 2 = its source is written. */
static void exchange_observers(struct snapshot *snapshot, uint32_t ids) {
  ASSERT(ids <= snapshot->world->def.observers_max);
  struct muster_world *world = snapshot->world;
  for (uint32_t i = 0; i < ids && !snapshot->failed; i++) {
    saved_observer saved = {0};
    if (snapshot_saves(snapshot)) saved = describe_observer(world, i);
    snapshot_exchange(snapshot, &saved, sizeof saved);
    if (!snapshot_expect(snapshot, is_observer(&saved), "observer %u is what none can be", i)) return;
    if (snapshot_checks(snapshot)) snapshot->observers[i] = (uint8_t)(saved.present | saved.written << 1);
    if (snapshot_checks(snapshot) && (saved.generation & 1)) snapshot->observers[i] |= OBSERVER_IS_LIVE;
    if (snapshot_loads(snapshot)) take_observer(world, i, &saved);
  }
}

/* Marks an observer once; it must have the marks `asked`. */
static bool mark_observer(struct snapshot *snapshot, uint32_t index, uint32_t high, uint8_t asked, uint8_t mark) {
  if (!snapshot_checks(snapshot)) return true;
  if (!snapshot_expect(snapshot, index < high, "observer %u is none of %u", index, high)) return false;
  uint8_t *is = &snapshot->observers[index];
  ASSERT(mark && !(mark & (mark - 1)) && high <= snapshot->world->def.observers_max);
  if (!snapshot_expect(snapshot, (*is & asked) == asked && !(*is & mark), "observer %u is where it cannot be", index))
    return false;
  *is |= mark;
  return true;
}

static void exchange_free_observers(struct snapshot *snapshot, uint32_t ids) {
  struct identity *identity = &snapshot->world->observers->ids;
  uint32_t index = 0, count = 0;
  if (snapshot_saves(snapshot))
    while (ring_peek(&identity->given_back, count, &index)) count++;
  count = snapshot_count(snapshot, count, ids, "free observers");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    if (snapshot_saves(snapshot)) ring_peek(&identity->given_back, i, &index);
    index = snapshot_number(snapshot, index);
    if (!mark_observer(snapshot, index, ids, 0, OBSERVER_IS_FREE)) return;
    if (snapshot_checks(snapshot))
      snapshot_expect(snapshot, !(snapshot->observers[index] & OBSERVER_IS_LIVE), "observer %u is free", index);
    if (snapshot_loads(snapshot)) identity_give_back(identity, index);
  }
}

static void exchange_observer_queue(struct snapshot *snapshot, uint32_t which, uint32_t ids) {
  ASSERT(which < OBSERVER_QUEUES);
  observer_table *table = &snapshot->world->observers->table;
  observer_queue *queue = &table->queues[which];
  uint32_t count = snapshot_count(snapshot, queue->count, ids, "observers in a queue");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    uint32_t index = 0;
    if (snapshot_saves(snapshot)) index = queue->waiting[(queue->head + i) % table->maximum];
    index = snapshot_number(snapshot, index);
    if (!mark_observer(snapshot, index, ids, 0, which ? OBSERVER_WALKED : OBSERVER_LEAPT)) return;
    if (!snapshot_loads(snapshot)) continue;
    table->rows[index].queued[which] = true;
    queue->waiting[queue->count++] = index;
  }
}

static void exchange_source(struct snapshot *snapshot, uint32_t index, uint32_t ids) {
  index = snapshot_number(snapshot, index);
  if (!mark_observer(snapshot, index, ids, OBSERVER_IS_WRITTEN, OBSERVER_ENTERED)) return;
  if (snapshot_loads(snapshot)) observers_restore(&snapshot->world->observers->table, index);
}

/* Sources in the order in which they were entered: a later source stands before the earlier ones in its bucket. */
static void exchange_sources(struct snapshot *snapshot, uint32_t ids) {
  const observer_table *table = &snapshot->world->observers->table;
  uint32_t written = 0;
  for (uint32_t i = 0; i < ids; i++)
    written += snapshot_saves(snapshot) ? table->sources[i].written
                                        : snapshot_checks(snapshot) && (snapshot->observers[i] & OBSERVER_IS_WRITTEN);
  uint32_t count = snapshot_count(snapshot, written, ids, "observers that were written");
  if (snapshot_checks(snapshot))
    snapshot_expect(snapshot, count == written, "%u observers of %u were written", count, written);
  if (!snapshot_saves(snapshot)) {
    for (uint32_t i = 0; i < count && !snapshot->failed; i++) exchange_source(snapshot, 0, ids);
    return;
  }
  for (uint32_t i = 0; i < table->far_sighted_count; i++) exchange_source(snapshot, table->far_sighted[i], ids);
  for (uint32_t i = 0; i <= table->buckets_mask; i++) {
    uint32_t last = table->buckets[i];
    while (last && table->sources[last - 1].next) last = table->sources[last - 1].next;
    for (; last; last = table->sources[last - 1].previous) exchange_source(snapshot, last - 1, ids);
  }
}

typedef struct saved_sight {
  float typical_far_m, linked_far_m, shortest_m, near_m, far_m;
  uint32_t counted;
  double bucket_m;
} saved_sight;

static bool is_reach(float value) {
  return value >= 0.0f && isfinite(value);
}

static bool is_saved_sight(const saved_sight *saved) {
  bool wide = saved->bucket_m == 0.0 ? saved->linked_far_m == 0.0f
                                     : saved->bucket_m == fmax((double)saved->linked_far_m / 2.0, 1.0);
  const float most = saved->linked_far_m * 4.0f; /* an observer that sees further is in no bucket */
  if (!(saved->near_m <= most && saved->far_m <= most)) return false;
  return wide && is_reach(saved->typical_far_m) && is_reach(saved->linked_far_m) && is_reach(saved->near_m) &&
         is_reach(saved->far_m) && saved->shortest_m > 0.0f && saved->counted <= 1;
}

static void take_sight(observer_table *table, const saved_sight *saved) {
  table->typical_far_m = saved->typical_far_m;
  table->linked_far_m = saved->linked_far_m;
  table->bucket_m = saved->bucket_m;
}

void snapshot_observers(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  observer_table *table = &world->observers->table;
  saved_sight sight = {table->typical_far_m, table->linked_far_m, table->shortest_m, table->near_m,
                       table->far_m,         table->counted,      table->bucket_m};
  snapshot_exchange(snapshot, &sight, sizeof sight);
  snapshot_expect(snapshot, is_saved_sight(&sight), "observers that see as none can");
  uint32_t ids = snapshot_count(snapshot, identity_high(&world->observers->ids), table->maximum, "observers");
  uint32_t high = snapshot_count(snapshot, table->high, ids, "observers");
  if (snapshot_loads(snapshot)) take_sight(table, &sight);
  exchange_observers(snapshot, ids);
  exchange_free_observers(snapshot, ids);
  for (uint32_t which = 0; which < OBSERVER_QUEUES; which++) exchange_observer_queue(snapshot, which, ids);
  exchange_sources(snapshot, ids);
  if (snapshot_checks(snapshot))
    for (uint32_t i = high; i < ids; i++)
      snapshot_expect(snapshot, !(snapshot->observers[i] & (OBSERVER_IS_PRESENT | OBSERVER_IS_WRITTEN)),
                      "observer %u is beyond those that are there", i);
  if (snapshot_checks(snapshot) && sight.bucket_m == 0.0)
    for (uint32_t i = 0; i < ids; i++)
      snapshot_expect(snapshot, !(snapshot->observers[i] & OBSERVER_IS_WRITTEN), "observer %u is in no bucket", i);
  if (!snapshot_loads(snapshot)) return;
  table->high = high;
  table->shortest_m = sight.shortest_m;
  table->near_m = sight.near_m;
  table->far_m = sight.far_m;
  table->counted = sight.counted;
}

/* ------------------------------------------------------------------------------------------------------------ score
 */

static bool is_tile(const struct field *field, const field_tile *tile) {
  int64_t most = INT32_MAX / (TILE_EDGE << field->doubled << FIELD_DOUBLED_MAX) - 1;
  return tile->partition < PARTITIONS && !tile->working && tile->x >= -most && tile->x <= most && tile->y >= -most &&
         tile->y <= most;
}

/* Plots that wait to be looked at: each is listed once, and is marked as listed. */
static void exchange_plots(struct snapshot *snapshot, uint32_t which, uint32_t tiles, const uint32_t *queued) {
  struct field *field = &snapshot->world->score->board.field;
  field_list *list = &field->lists[which];
  uint32_t places = field->tiles_max * TILE_CELLS;
  uint32_t count = snapshot_count(snapshot, list->count, places, "plots");
  if (snapshot_checks(snapshot))
    snapshot_expect(snapshot, count == queued[which], "%u plots of %u are listed", count, queued[which]);
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    uint32_t plot = snapshot_saves(snapshot) ? list->plots[((uint64_t)list->head + i) % places] : 0;
    plot = snapshot_number(snapshot, plot);
    if (!snapshot_expect(snapshot, plot / TILE_CELLS < tiles, "plot %u is none", plot)) return;
    if (snapshot_loads(snapshot)) list->plots[list->count++] = plot;
  }
}

typedef struct saved_field {
  int32_t shift;
  uint32_t shaped, tile_count, forget_below;
  uint64_t forgets;
} saved_field;

static void exchange_field(struct snapshot *snapshot) {
  struct field *field = &snapshot->world->score->board.field;
  uint32_t queued[FIELD_LISTS] = {0};
  ASSERT(field->tile_count <= field->tiles_max && !(field->doubled && field->halved));
  saved_field saved = {(int32_t)field->doubled - (int32_t)field->halved, field->shaped, field->tile_count,
                       field->forget_below, field->forgets};
  snapshot_exchange(snapshot, &saved, sizeof saved);
  if (!snapshot_expect(snapshot,
                       saved.shift >= -FIELD_HALVED_MAX && saved.shift <= FIELD_DOUBLED_MAX && saved.shaped <= 1 &&
                           saved.tile_count <= field->tiles_max,
                       "a field of %u tiles; there is room for %u", saved.tile_count, field->tiles_max))
    return;
  for (uint32_t i = 0; i < saved.tile_count && !snapshot->failed; i++) {
    field_tile tile;
    memset(&tile, 0, sizeof tile);
    if (snapshot_saves(snapshot)) tile = field->tiles[i];
    snapshot_exchange(snapshot, &tile, sizeof tile);
    snapshot_expect(snapshot, is_tile(field, &tile), "tile %u is where none can be", i);
    for (uint32_t which = 0; which < FIELD_LISTS; which++)
      queued[which] += (uint32_t)__builtin_popcountll(tile.queued[which]);
    if (snapshot_loads(snapshot)) field->tiles[i] = tile;
  }
  for (uint32_t which = 0; which < FIELD_LISTS; which++) exchange_plots(snapshot, which, saved.tile_count, queued);
  if (!snapshot_loads(snapshot)) return;
  field->tile_count = saved.tile_count;
  field->forget_below = saved.forget_below;
  field->forgets = saved.forgets;
  field_restore(field, saved.shaped, saved.shift);
}

/* Agents that wait to be looked at, in order. */
static void exchange_noted(struct snapshot *snapshot) {
  ASSERT(snapshot_saves(snapshot) || snapshot->world->score->board.noted_count == 0);
  score_board *board = &snapshot->world->score->board;
  uint32_t count = snapshot_count(snapshot, board->noted_count, snapshot->high, "agents are noted");
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    uint32_t index = 0;
    if (snapshot_saves(snapshot)) index = board->noted[((uint64_t)board->noted_head + i) % board->noted_max];
    index = snapshot_number(snapshot, index);
    if (!snapshot_expect_agent(snapshot, index)) return;
    if (snapshot_loads(snapshot)) score_note(board, index);
  }
}

typedef struct saved_board {
  float cubes_per_m;
  uint32_t cursor, cursor_left, looks_each;
  uint32_t importance[IMPORTANCE_BINS];
} saved_board;

/* Whether each bin counts the agents of its importance. */
static bool counts_importance(const struct snapshot *snapshot, const saved_board *saved) {
  uint32_t bins[IMPORTANCE_BINS] = {0};
  if (!snapshot_checks(snapshot)) return true;
  for (uint32_t i = 0; i < snapshot->high; i++)
    if (snapshot->rows[i].status > AGENT_PENDING) bins[snapshot->rows[i].importance >> 8]++;
  return memcmp(bins, saved->importance, sizeof bins) == 0;
}

static bool is_board(const struct snapshot *snapshot, const saved_board *saved) {
  return counts_importance(snapshot, saved) && saved->cubes_per_m >= 0.0f && saved->cubes_per_m <= 1e6f &&
         saved->cursor <= snapshot->high;
}

static void exchange_board(struct snapshot *snapshot) {
  score_board *board = &snapshot->world->score->board;
  saved_board saved = {.cubes_per_m = board->cubes_per_m,
                       .cursor = board->cursor,
                       .cursor_left = board->cursor_left,
                       .looks_each = board->looks_each};
  memcpy(saved.importance, board->importance, sizeof saved.importance);
  snapshot_exchange(snapshot, &saved, sizeof saved);
  if (!snapshot_expect(snapshot, is_board(snapshot, &saved), "importance as no population has it")) return;
  if (!snapshot_loads(snapshot)) return;
  board->cubes_per_m = saved.cubes_per_m;
  board->cursor = saved.cursor;
  board->cursor_left = saved.cursor_left;
  board->looks_each = saved.looks_each;
  memcpy(board->importance, saved.importance, sizeof saved.importance);
}

static void exchange_shedding(struct snapshot *snapshot) {
  struct shedding saved = snapshot->world->score->shedding;
  unsigned char relapsed = saved.relapsed, gives_way = saved.gives_way;
  snapshot_exchange(snapshot, &saved, offsetof(struct shedding, relapsed));
  snapshot_exchange(snapshot, &relapsed, sizeof relapsed);
  snapshot_exchange(snapshot, &gives_way, sizeof gives_way);
  snapshot_expect(snapshot,
                  saved.from >= 0.0 && saved.from <= 1.0 && saved.pressure >= 0.0 && saved.pressure <= 2.0 &&
                      saved.depth >= 0.0 && saved.depth <= SHEDDING_DEEPEST && saved.shed <= snapshot->high &&
                      saved.patience >= 1 && relapsed <= 1 && gives_way <= 1 && saved.cursor <= snapshot->high,
                  "levels that give way as none can");
  if (snapshot_checks(snapshot))
    snapshot_expect(snapshot, saved.shed == snapshot->shed, "%u agents are lowered, counted as %u", snapshot->shed,
                    saved.shed);
  saved.relapsed = relapsed == 1;
  saved.gives_way = gives_way == 1;
  if (snapshot_loads(snapshot)) snapshot->world->score->shedding = saved;
}

void snapshot_score(struct snapshot *snapshot) {
  exchange_field(snapshot);
  if (!snapshot->failed) exchange_noted(snapshot);
  if (!snapshot->failed) exchange_board(snapshot);
  if (!snapshot->failed) exchange_shedding(snapshot);
}
