/* snapshot_plan.c - what a snapshot says of observers and of what the plan knows: importance, penalties, what things
 * cost. */
#include "base/assert.h"
#include "snapshot/snapshot.h"
#include "world/observer_ids.h"
#include "world/world_score.h"

#include <float.h>
#include <math.h>
#include <string.h>

/* -------------------------------------------------------------------------------------------------------- observers */

static const snapshot_column row_columns[] = {SPAN(observer_row, position, partition), COUNT(observer_row, present, 1),
                                              COLUMNS_END};

static const snapshot_column source_columns[] = {SPAN(observer_source, position, far_m),
                                                 ANY(observer_source, partition), COUNT(observer_source, written, 1),
                                                 COLUMNS_END};

static bool is_sight(muster_position position, float near_m, float far_m) {
  return space_accepts(position) && near_m >= 0.0f && far_m > near_m && isfinite(far_m);
}

/* The id of an index, and how often its observer crossed. */
static void exchange_observer_id(struct snapshot *snapshot, uint32_t index, uint32_t generation) {
  struct muster_world *world = snapshot->world;
  muster_agent id = {0};
  if (world->zone) {
    if (snapshot_saves(snapshot)) id.value = observer_ids_at(world, index).value;
    snapshot_exchange(snapshot, &id, sizeof id);
    snapshot_exchange_own(snapshot, &world->zone->observer_hops[index], sizeof *world->zone->observer_hops);
    snapshot_expect(snapshot, !(generation & 1) || zone_ids_is_id(id), "observer %u has an id of no zone", index);
  }
  if (snapshot_loads(snapshot)) observer_ids_assign(world, index, generation, id);
}

static void exchange_observers(struct snapshot *snapshot) {
  struct world_observers *observers = snapshot->world->observers;
  for (uint32_t i = 0; i < snapshot->observer_ids; i++) {
    observer_row checked_row, *row = snapshot_object(snapshot, &observers->table.rows[i], &checked_row);
    observer_source checked, *source = snapshot_object(snapshot, &observers->table.sources[i], &checked);
    uint32_t generation = snapshot_number(snapshot, identity_generation(&observers->ids, i));
    snapshot_columns(snapshot, row_columns, row);
    snapshot_columns(snapshot, source_columns, source);
    exchange_observer_id(snapshot, i, generation);
    if (!snapshot_checks(snapshot)) continue;
    snapshot_expect_columns(snapshot, "observer %u is what none can be", i); /* before answers are read as such */
    bool fits = (!row->present || ((generation & 1) && is_sight(row->position, row->near_m, row->far_m))) &&
                (!source->written || is_sight(source->position, source->near_m, source->far_m));
    snapshot_expect(snapshot, fits, "observer %u is what none can be", i);
    snapshot->observers[i] = (uint8_t)(row->present | source->written << 1 | (generation & 1) * OBSERVER_IS_LIVE);
  }
}

/* An observer in a list: it is there once, and has the marks `asked`. Returns its index. */
static uint32_t exchange_listed(struct snapshot *snapshot, uint32_t index, uint8_t asked, uint8_t mark) {
  index = snapshot_number(snapshot, index);
  if (!snapshot_checks(snapshot)) return index;
  snapshot_expect(snapshot, index < snapshot->observer_ids, "observer %u is none of %u", index, snapshot->observer_ids);
  uint8_t *is = &snapshot->observers[index];
  ASSERT(mark && !(mark & (mark - 1)) && index < snapshot->world->def.limits.observers_max);
  snapshot_expect(snapshot, (*is & asked) == asked && !(*is & mark), "observer %u is where it cannot be", index);
  *is |= mark;
  return index;
}

static void exchange_free_observer(struct snapshot *snapshot, void *value) {
  uint32_t *index = value;
  *index = exchange_listed(snapshot, *index, 0, OBSERVER_IS_FREE);
  if (snapshot_checks(snapshot))
    snapshot_expect(snapshot, !(snapshot->observers[*index] & OBSERVER_IS_LIVE), "observer %u is free", *index);
}

/* In a zone an index that is no observer's and not among the free ones is one that rests. */
static void rest_observers(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  ASSERT(world->zone);
  for (uint32_t i = 0; i < snapshot->observer_ids; i++)
    if (!(snapshot->observers[i] & (OBSERVER_IS_LIVE | OBSERVER_IS_FREE)) &&
        zone_ids_rests(identity_generation(&world->observers->ids, i)))
      zone_ids_rest(&world->zone->observer_ids, i);
}

static void exchange_observer_queue(struct snapshot *snapshot, uint32_t which) {
  ASSERT(which < OBSERVER_QUEUES);
  observer_table *table = &snapshot->world->observers->table;
  observer_queue *queue = &table->queues[which];
  uint32_t count = snapshot_count(snapshot, queue->count, snapshot->observer_ids, "observers in a queue");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t index = queue->waiting[(queue->head + i) % table->maximum];
    index = exchange_listed(snapshot, index, 0, which ? OBSERVER_WALKED : OBSERVER_LEAPT);
    if (!snapshot_loads(snapshot)) continue;
    table->rows[index].queued[which] = true;
    queue->waiting[queue->count++] = index;
  }
}

static void exchange_source(struct snapshot *snapshot, uint32_t index) {
  index = exchange_listed(snapshot, index, OBSERVER_IS_WRITTEN, OBSERVER_ENTERED);
  if (snapshot_loads(snapshot)) observers_restore(&snapshot->world->observers->table, index);
}

/* Sources in the order in which they were entered: a later source stands before the earlier ones in its bucket. */
static void exchange_sources(struct snapshot *snapshot) {
  const observer_table *table = &snapshot->world->observers->table;
  uint32_t written = 0;
  for (uint32_t i = 0; i < snapshot->observer_ids; i++)
    written +=
        snapshot_saves(snapshot) ? table->sources[i].written : (snapshot->observers[i] & OBSERVER_IS_WRITTEN) > 0;
  uint32_t count = snapshot_count(snapshot, written, snapshot->observer_ids, "observers that were written");
  snapshot_expect(snapshot, count == written, "%u observers of %u were written", count, written);
  if (!snapshot_saves(snapshot)) {
    for (uint32_t i = 0; i < count; i++) exchange_source(snapshot, 0);
    return;
  }
  for (uint32_t i = 0; i < table->far_sighted_count; i++) exchange_source(snapshot, table->far_sighted[i]);
  for (uint32_t i = 0; i <= table->buckets_mask; i++) {
    uint32_t last = table->buckets[i];
    while (last && table->sources[last - 1].next) last = table->sources[last - 1].next;
    for (; last; last = table->sources[last - 1].previous) exchange_source(snapshot, last - 1);
  }
}

static const snapshot_column sight_columns[] = {FLOAT(observer_table, typical_far_m, 0.0, FLT_MAX),
                                                FLOAT(observer_table, linked_far_m, 0.0, FLT_MAX),
                                                FLOAT(observer_table, shortest_m, FLT_TRUE_MIN, INFINITY),
                                                FLOAT(observer_table, near_m, 0.0, FLT_MAX),
                                                FLOAT(observer_table, far_m, 0.0, FLT_MAX),
                                                COUNT(observer_table, counted, 1),
                                                ANY(observer_table, bucket_m),
                                                COLUMNS_END};

static bool is_reach(const observer_table *table) {
  bool wide = table->bucket_m == 0.0 ? table->linked_far_m == 0.0f
                                     : table->bucket_m == fmax((double)table->linked_far_m / 2.0, 1.0);
  const float most = table->linked_far_m * 4.0f; /* an observer that sees further is in no bucket */
  return wide && table->near_m <= most && table->far_m <= most;
}

void snapshot_observers(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  observer_table *table = &world->observers->table;
  struct identity *identity = &world->observers->ids;
  uint32_t free_observer;
  observer_table checked = *table, *sight = snapshot_object(snapshot, table, &checked);
  snapshot_columns(snapshot, sight_columns, sight);
  snapshot_expect(snapshot, is_reach(sight), "observers that see as none can");
  const observer_table saved = *sight;
  snapshot->observer_ids = snapshot_count(snapshot, identity_high(identity), table->maximum, "observers");
  uint32_t high = snapshot_count_own(snapshot, &table->high, snapshot->observer_ids, "observers");
  exchange_observers(snapshot);
  snapshot_ring(snapshot, &identity->given_back, "free observers", &free_observer, exchange_free_observer);
  if (snapshot_loads(snapshot) && world->zone) rest_observers(snapshot);
  for (uint32_t which = 0; which < OBSERVER_QUEUES; which++) exchange_observer_queue(snapshot, which);
  exchange_sources(snapshot);
  for (uint32_t i = 0; i < snapshot->observer_ids && snapshot_checks(snapshot); i++) {
    snapshot_expect(snapshot, i < high || !(snapshot->observers[i] & (OBSERVER_IS_PRESENT | OBSERVER_IS_WRITTEN)),
                    "observer %u is beyond those that are there", i);
    snapshot_expect(snapshot, saved.bucket_m > 0.0 || !(snapshot->observers[i] & OBSERVER_IS_WRITTEN),
                    "observer %u is in no bucket", i);
  }
  if (!snapshot_loads(snapshot)) return;
  table->near_m = saved.near_m; /* the sources that were entered may have widened these */
  table->far_m = saved.far_m;
}

/* ------------------------------------------------------------------------------------------------------------ score */

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
  snapshot_expect(snapshot, count == queued[which], "%u plots of %u are listed", count, queued[which]);
  for (uint32_t i = 0; i < count; i++) {
    uint32_t plot = snapshot_number(snapshot, list->plots[((uint64_t)list->head + i) % places]);
    snapshot_expect(snapshot, plot / TILE_CELLS < tiles, "plot %u is none", plot);
    if (snapshot_loads(snapshot)) list->plots[list->count++] = plot;
  }
}

static void exchange_tile(struct snapshot *snapshot, uint32_t number, uint32_t *queued) {
  struct field *field = &snapshot->world->score->board.field;
  field_tile checked, *tile = snapshot_object(snapshot, &field->tiles[number], &checked);
  snapshot_exchange(snapshot, tile, sizeof *tile);
  snapshot_expect(snapshot, is_tile(field, tile), "tile %u is where none can be", number);
  for (uint32_t which = 0; which < FIELD_LISTS; which++)
    queued[which] += (uint32_t)__builtin_popcountll(tile->queued[which]);
}

static void exchange_field(struct snapshot *snapshot) {
  static const snapshot_column columns[] = {COUNT(struct field, shaped, 1), ANY(struct field, tile_count),
                                            ANY(struct field, forget_below), ANY(struct field, forgets), COLUMNS_END};
  struct field *own = &snapshot->world->score->board.field, checked = *own;
  struct field *field = snapshot_object(snapshot, own, &checked);
  uint32_t queued[FIELD_LISTS] = {0};
  ASSERT(own->tile_count <= own->tiles_max && !(own->doubled && own->halved));
  int32_t shift = (int32_t)snapshot_number(snapshot, own->doubled - own->halved);
  snapshot_columns(snapshot, columns, field);
  snapshot_expect(snapshot,
                  shift >= -FIELD_HALVED_MAX && shift <= FIELD_DOUBLED_MAX && field->tile_count <= field->tiles_max,
                  "a field of %u tiles; there is room for %u", field->tile_count, field->tiles_max);
  for (uint32_t i = 0; i < field->tile_count; i++) exchange_tile(snapshot, i, queued);
  for (uint32_t which = 0; which < FIELD_LISTS; which++) exchange_plots(snapshot, which, field->tile_count, queued);
  if (snapshot_loads(snapshot)) field_restore(field, field->shaped, shift);
}

/* Agents that wait to be looked at, in order. Who has left since stays noted, and somebody else may have the index. */
static void exchange_noted(struct snapshot *snapshot) {
  static const snapshot_listing noted = {"agents are noted", "those that are noted", 0, LISTS_ANY};
  score_board *board = &snapshot->world->score->board;
  ASSERT(snapshot_saves(snapshot) || board->noted_count == 0);
  for (uint32_t i = 0; i < board->noted_count; i++)
    snapshot->indices[i] = board->noted[((uint64_t)board->noted_head + i) % board->noted_max];
  uint32_t count = snapshot_indices(snapshot, board->noted_count, snapshot->high, &noted);
  for (uint32_t i = 0; i < count && snapshot_loads(snapshot); i++) score_note(board, snapshot->indices[i]);
}

/* Whether each bin counts the agents of its importance. */
static bool counts_importance(const struct snapshot *snapshot, const uint32_t *importance) {
  uint32_t bins[IMPORTANCE_BINS] = {0};
  for (uint32_t i = 0; i < snapshot->high; i++)
    if (snapshot_is_active(&snapshot->rows[i])) bins[snapshot->rows[i].importance >> 8]++;
  return memcmp(bins, importance, sizeof bins) == 0;
}

static void exchange_board(struct snapshot *snapshot) {
  static const snapshot_column columns[] = {FLOAT(score_board, cubes_per_m, 0.0, 1e6),
                                            INDEX(score_board, cursor),
                                            ANY(score_board, cursor_left),
                                            ANY(score_board, looks_each),
                                            ANY(score_board, importance),
                                            COLUMNS_END};
  score_board checked, *board = snapshot_object(snapshot, &snapshot->world->score->board, &checked);
  snapshot_columns(snapshot, columns, board);
  if (snapshot_checks(snapshot))
    snapshot_expect(snapshot, counts_importance(snapshot, board->importance), "importance as no population has it");
}

static void exchange_shedding(struct snapshot *snapshot) {
  static const snapshot_column columns[] = {DOUBLE(struct shedding, from, 0.0, 1.0),
                                            DOUBLE(struct shedding, pressure, 0.0, 2.0),
                                            DOUBLE(struct shedding, depth, 0.0, SHEDDING_DEEPEST),
                                            INDEX(struct shedding, shed),
                                            INDEX(struct shedding, cursor),
                                            SPAN(struct shedding, left, since_up),
                                            COUNT(struct shedding, relapsed, 1),
                                            COUNT(struct shedding, gives_way, 1),
                                            COLUMNS_END};
  struct shedding checked, *shedding = snapshot_object(snapshot, &snapshot->world->score->shedding, &checked);
  snapshot_columns(snapshot, columns, shedding);
  snapshot_expect(snapshot, shedding->patience >= 1, "levels that give way as none can");
  snapshot_expect(snapshot, shedding->shed == snapshot->shed, "%u agents are lowered, counted as %u", snapshot->shed,
                  shedding->shed);
}

void snapshot_score(struct snapshot *snapshot) {
  exchange_field(snapshot);
  exchange_noted(snapshot);
  exchange_board(snapshot);
  exchange_shedding(snapshot);
}
