/* snapshot_pool.c - what a snapshot says of unfolded herds: their leaves, what is retained of their members, the lists
 * that they are in, and how far stage 3 has come with looking at them. */
#include "base/assert.h"
#include "snapshot/snapshot.h"
#include "world/world_fold.h"
#include "world/world_herds.h"
#include "world/world_observers.h"

#include <muster/herd.h>

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------------- entries */

static const snapshot_column entry_columns[] = {
    GROUND_DOUBLE(herd_entry, origin_x), GROUND_DOUBLE(herd_entry, origin_y),       SPAN(herd_entry, ahead_ns, lanes),
    SPAN(herd_entry, herd, next),        COUNT(herd_entry, state, HERD_ENTRY_KEPT), GROUND_FLOAT(herd_entry, x),
    GROUND_FLOAT(herd_entry, y),         SPAN(herd_entry, velocity_x, velocity_y),  COLUMNS_END};

/* The parts of lanes that the check looks at. */
typedef struct checked_lanes {
  float x[MUSTER_HERD_MEMBERS_MAX], y[MUSTER_HERD_MEMBERS_MAX];
  uint32_t agents[MUSTER_HERD_MEMBERS_MAX];
  uint16_t members[MUSTER_HERD_MEMBERS_MAX], nodes[MUSTER_HERD_MEMBERS_MAX];
} checked_lanes;

static bool is_time(const struct snapshot *snapshot, const herd_entry *saved) {
  int64_t now_ns = (int64_t)snapshot->info.sim_now_ns;
  if (saved->state != HERD_ENTRY_SETTLING) return saved->ahead_ns == 0;
  return saved->block_ns <= snapshot->info.sim_now_ns && saved->ahead_ns >= -(int64_t)saved->block_ns &&
         saved->ahead_ns <= now_ns - (int64_t)saved->block_ns;
}

/* Whether a herd and its entry agree: an unfolded herd and its entry name each other; a folded herd has one entry at
 * most. */
static bool is_of_herd(const snapshot_herd_pool *pool, uint32_t number, const herd_entry *saved) {
  const struct herd_type *type = pool->type;
  uint32_t claim = pool->claims[number];
  if (saved->state == HERD_ENTRY_FREE) return !claim && saved->herd == HERD_NONE && saved->lanes == 0;
  uint64_t home = (uint64_t)saved->herd - type->first;
  if (saved->herd < type->first || home >= (uint64_t)pool->block_count * MUSTER_HERD_BLOCK) return false;
  if (saved->state == HERD_ENTRY_OPEN)
    return claim == home + 1 && saved->lanes > 0 && saved->lanes <= type->tree.below[0];
  uint8_t kind = pool->homes[home];
  if (claim || saved->lanes || (kind != HOME_IS_FOLDED && kind != HOME_IS_DYING)) return false;
  pool->homes[home] |= HOME_HAS_ENTRY;
  pool->claims[number] = (uint32_t)home + 1;
  return saved->state == HERD_ENTRY_SETTLING || type->kept;
}

static void check_entry(struct snapshot *snapshot, const snapshot_herd_pool *pool, uint32_t number,
                        const herd_entry *saved) {
  bool fits = is_of_herd(pool, number, saved) && is_time(snapshot, saved);
  pool->entries[number] = saved->state;
  pool->nexts[number] = saved->next;
  snapshot_expect(snapshot, fits, "herd type '%s': herd %u is unfolded, or settles, as none can", pool->type->name,
                  saved->herd);
}

/* The leaves stand for different parts of the tree, from left to right. */
static void check_lanes(struct snapshot *snapshot, const struct herd_type *type, const checked_lanes *lanes,
                        uint32_t count) {
  uint32_t place = 0;
  for (uint32_t i = 0; i < count; i++) {
    uint32_t node = lanes->nodes[i];
    snapshot_expect(snapshot, node > 0 && node < type->tree.first[type->tree.depth + 1], "no leaf is node %u", node);
    uint32_t below = type->tree.below[herd_tree_depth(&type->tree, node)], begin = herd_tree_place(&type->tree, node);
    snapshot_expect(snapshot, begin >= place && lanes->members[i] <= below, "node %u of a herd is where it cannot be",
                    node);
    snapshot_expect(snapshot, snapshot_is_ground((double)lanes->x[i], (double)lanes->y[i]),
                    "agent %u is a leaf where none can be", lanes->agents[i]);
    snapshot_tie(snapshot, lanes->agents[i], type->member_type, "a leaf");
    place = begin + below;
  }
}

/* What follows from the lanes that were read. */
static void take_lanes(struct muster_world *world, const snapshot_herd_pool *pool, uint32_t number,
                       const herd_lanes *lanes) {
  herd_table *table = &world->herds->table;
  for (uint32_t i = 0; i < lanes->entry->lanes; i++) {
    lanes->entry->pinned = (uint16_t)(lanes->entry->pinned + (lanes->pins[i] != 0));
    table->members += lanes->members[i];
    table->links[lanes->agents[i]] =
        (herd_link){.entry = number, .lane = (uint16_t)i, .type = pool->number, .tie = HERD_TIE_LEAF};
  }
  herds_pad(lanes);
  pool->type->leaves += lanes->entry->lanes;
}

static void exchange_lanes(struct snapshot *snapshot, const snapshot_herd_pool *pool, uint32_t number, uint32_t count) {
  const struct herd_type *type = pool->type;
  herd_lanes lanes = herds_lanes(type, number);
  checked_lanes checked;
  size_t bytes = count * sizeof(float);
  snapshot_exchange(snapshot, snapshot_object(snapshot, lanes.x, checked.x), bytes);
  snapshot_exchange(snapshot, snapshot_object(snapshot, lanes.y, checked.y), bytes);
  snapshot_exchange(snapshot, snapshot_object(snapshot, lanes.agents, checked.agents), bytes);
  snapshot_exchange(snapshot, snapshot_object(snapshot, lanes.members, checked.members), bytes / 2);
  snapshot_exchange(snapshot, snapshot_object(snapshot, lanes.nodes, checked.nodes), bytes / 2);
  snapshot_exchange_own(snapshot, lanes.pins, bytes);
  snapshot_exchange_own(snapshot, lanes.velocity_x, bytes);
  snapshot_exchange_own(snapshot, lanes.velocity_y, bytes);
  for (uint32_t t = 0; t < type->def.totals; t++) snapshot_exchange_own(snapshot, lanes.totals[t], bytes);
  if (snapshot_checks(snapshot)) check_lanes(snapshot, type, &checked, count);
  if (snapshot_loads(snapshot)) take_lanes(snapshot->world, pool, number, &lanes);
}

/* What is retained of the nodes of an entry. */
static void exchange_kept(struct snapshot *snapshot, const struct herd_type *type, uint32_t number) {
  static const snapshot_column columns[] = {GROUND_FLOAT(herd_kept, x), GROUND_FLOAT(herd_kept, y),
                                            SPAN(herd_kept, velocity_x, members), COLUMNS_END};
  uint32_t nodes = type->tree.first[type->tree.depth + 1];
  for (uint32_t node = 0; node < nodes; node++) {
    herd_kept *own = (herd_kept *)(void *)(type->kept + number * type->kept_stride + node * type->kept_each), checked;
    herd_kept *kept = snapshot_object(snapshot, own, &checked);
    uint32_t is_kept = snapshot_count(snapshot, own->is_kept, 1, "parts of a node");
    if (!is_kept) continue;
    snapshot_columns(snapshot, columns, kept);
    snapshot_exchange_own(snapshot, own + 1, type->kept_each - sizeof *own);
    snapshot_expect(snapshot, kept->members <= type->tree.below[herd_tree_depth(&type->tree, node)],
                    "node %u of a herd is retained where none can be, or of %u members", node, kept->members);
    if (snapshot_loads(snapshot)) own->is_kept = true;
  }
}

static void exchange_entry(struct snapshot *snapshot, const snapshot_herd_pool *pool, uint32_t number) {
  struct herd_type *type = pool->type;
  herd_entry checked, *entry = snapshot_object(snapshot, herds_entry(type, number), &checked);
  snapshot_columns(snapshot, entry_columns, entry);
  if (snapshot_checks(snapshot)) check_entry(snapshot, pool, number, entry);
  if (snapshot_loads(snapshot)) {
    type->entry_high = number + 1;
    ASSERT(type->entry_high <= type->def.unfolded_max && type->entry_used <= type->entry_high);
    type->entry_used += entry->state != HERD_ENTRY_FREE;
  }
  if (entry->lanes) exchange_lanes(snapshot, pool, number, entry->lanes);
  if (type->kept && entry->state != HERD_ENTRY_FREE) exchange_kept(snapshot, type, number);
}

/* ------------------------------------------------------------------------------------------------------------ lists */

/* Checks an entry of a list: entries of some states stand in it, each of them once. */
static void check_place(struct snapshot *snapshot, const snapshot_herd_pool *pool, uint32_t number, uint32_t states,
                        uint8_t mark) {
  bool fits = number < pool->entry_high && (states >> (pool->entries[number] & ENTRY_STATES) & 1u) &&
              !(pool->entries[number] & mark);
  snapshot_expect(snapshot, fits, "unfolded herd %u is in a list where it cannot be", number);
  pool->entries[number] |= mark;
}

/* Checks that each entry is in the list that its state asks for: the free ones in one, those that folded herds still
 * have in that of their block. */
static void check_entries(struct snapshot *snapshot, const snapshot_herd_pool *pool, uint32_t first_free) {
  const uint32_t folded = 1u << HERD_ENTRY_SETTLING | 1u << HERD_ENTRY_KEPT;
  for (uint32_t next = first_free; next; next = pool->nexts[next - 1])
    check_place(snapshot, pool, next - 1, 1u << HERD_ENTRY_FREE, ENTRY_IS_LISTED);
  for (uint32_t i = 0; i < pool->block_count; i++)
    for (uint32_t next = pool->firsts[i]; next; next = pool->nexts[next - 1]) {
      check_place(snapshot, pool, next - 1, folded, ENTRY_IS_LISTED);
      snapshot_expect(snapshot, (pool->claims[next - 1] - 1) / MUSTER_HERD_BLOCK == i,
                      "unfolded herd %u is in the list of another block", next - 1);
    }
  for (uint32_t i = 0; i < pool->entry_high; i++) {
    uint32_t state = pool->entries[i] & ENTRY_STATES;
    bool settles = pool->entries[i] & ENTRY_SETTLES, listed = pool->entries[i] & ENTRY_IS_LISTED;
    snapshot_expect(snapshot, listed != (state == HERD_ENTRY_OPEN) && settles == (state == HERD_ENTRY_SETTLING),
                    "unfolded herd %u is not in the list where it belongs", i);
  }
}

/* Entries of herds with a time other than their block's, in order. */
static void exchange_settling(struct snapshot *snapshot, const snapshot_herd_pool *pool) {
  struct herd_type *type = pool->type;
  uint32_t count = snapshot_count(snapshot, type->settling_count, pool->entry_high, "unfolded herds in a list");
  for (uint32_t i = 0; i < count; i++) {
    uint32_t number = snapshot_number(snapshot, type->settling[i]);
    if (snapshot_checks(snapshot)) check_place(snapshot, pool, number, 1u << HERD_ENTRY_SETTLING, ENTRY_SETTLES);
    ASSERT(!snapshot_loads(snapshot) || type->settling_count == i);
    if (snapshot_loads(snapshot)) type->settling[type->settling_count++] = number;
  }
}

void snapshot_pool(struct snapshot *snapshot, const snapshot_herd_pool *pool) {
  for (uint32_t i = 0; i < pool->entry_high; i++) exchange_entry(snapshot, pool, i);
  uint32_t entry_free =
      snapshot_count_own(snapshot, &pool->type->entry_free, pool->entry_high, "unfolded herds are free");
  exchange_settling(snapshot, pool);
  if (snapshot_checks(snapshot)) check_entries(snapshot, pool, entry_free);
}

/* ------------------------------------------------------------------------------------------------------------ folds */

static const snapshot_column watcher_columns[] = {GROUND_DOUBLE(fold_watcher, x), GROUND_DOUBLE(fold_watcher, y),
                                                  ANY(fold_watcher, partition), COUNT(fold_watcher, present, 1),
                                                  COLUMNS_END};

/* Where an observer was: nowhere, if it was not present. */
static fold_watcher exchange_watcher(struct snapshot *snapshot, const fold_watcher *watcher) {
  fold_watcher saved = {0};
  if (watcher->present) saved = *watcher;
  snapshot_columns(snapshot, watcher_columns, &saved);
  snapshot_expect_columns(snapshot, "an observer was where none can be");
  saved.next = 0;
  return saved;
}

static const snapshot_column round_columns[] = {PAST(fold_round, begin_ns),  SPAN(fold_round, blocks, entries),
                                                COUNT(fold_round, begun, 1), COUNT(fold_round, hurries, 1),
                                                COUNT(fold_round, again, 1), COLUMNS_END};

static void exchange_round(struct snapshot *snapshot, uint32_t number) {
  ASSERT(number < snapshot->world->herds->table.count);
  struct muster_world *world = snapshot->world;
  fold_round *own = &world->fold->board.rounds[number], checked, *round = snapshot_object(snapshot, own, &checked);
  const snapshot_herd_pool *pool = &snapshot->pools[number];
  snapshot_columns(snapshot, round_columns, round);
  snapshot_expect(snapshot, round->blocks <= pool->block_count && round->entries <= pool->entry_high,
                  "herd type %u was looked at as none can be", number + 1);
  uint32_t ids = identity_high(&world->observers->ids);
  uint32_t count = snapshot_count(snapshot, ids, world->def.limits.observers_max, "observers");
  for (uint32_t i = 0; i < count; i++) {
    fold_watcher from = exchange_watcher(snapshot, &own->from[i]);
    if (snapshot_loads(snapshot)) own->from[i] = from;
  }
}

/* Where the observers were in the last stage 3: the next intake looks from there. */
static void exchange_watchers(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  fold_board *board = &world->fold->board;
  uint32_t count = snapshot_count(snapshot, board->watcher_count, board->observers_max, "observers");
  if (snapshot_loads(snapshot)) fold_watch_none(board, &world->herds->table);
  for (uint32_t i = 0; i < count; i++) {
    fold_watcher saved = exchange_watcher(snapshot, &board->watchers[i]);
    if (snapshot_loads(snapshot)) fold_watch_from(board, saved.x, saved.y, saved.partition);
  }
}

static const snapshot_column item_columns[] = {ANY(fold_item, herd), COUNT(fold_item, folds, 1),
                                               FLOAT(fold_item, distance_m, -INFINITY, INFINITY), COLUMNS_END};

/* Checks an item: its herd was there, so that the herd's home says what it is now. That each is listed once, fold_note
 * sees to. */
static void check_item(struct snapshot *snapshot, const fold_item *saved) {
  const herd_table *table = &snapshot->world->herds->table;
  const struct herd_type *type = herds_type_of(table, saved->herd);
  const snapshot_herd_pool *pool = type ? &snapshot->pools[type - table->types] : NULL;
  uint64_t home = type ? herds_home(type, saved->herd) : 0;
  bool fits = pool && home < (uint64_t)pool->block_count * MUSTER_HERD_BLOCK && pool->homes[home];
  snapshot_expect(snapshot, fits, "herd %u is to change, and is none", saved->herd);
}

static void exchange_items(struct snapshot *snapshot) {
  fold_board *board = &snapshot->world->fold->board;
  uint32_t count = snapshot_count(snapshot, board->item_count, FOLD_LISTED_MAX, "herds are to change");
  for (uint32_t i = 0; i < count; i++) {
    fold_item saved = board->items[i];
    snapshot_columns(snapshot, item_columns, &saved);
    if (snapshot_checks(snapshot)) check_item(snapshot, &saved);
    if (snapshot_loads(snapshot)) fold_note(board, saved.herd, saved.distance_m, saved.folds);
  }
}

void snapshot_folds(struct snapshot *snapshot) {
  uint32_t types = snapshot->world->herds->table.count;
  if (!types) return;
  for (uint32_t i = 0; i < types; i++) exchange_round(snapshot, i);
  exchange_watchers(snapshot);
  exchange_items(snapshot);
}
