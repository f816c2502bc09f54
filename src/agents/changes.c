#include "agents/changes.h"

#include "agents/store.h"
#include "base/assert.h"

#include <string.h>

enum { LINE_WORDS = 8, LINE_NOTES = 64 / sizeof(change_notes), ITEM_NOTES = 8 };

/* Shards share no cache line. */
static uint32_t whole_lines(uint32_t count, uint32_t in_line) {
  return (count + in_line - 1) / in_line * in_line;
}

void changes_create(change_log *log, uint32_t frames, uint32_t agents_max, uint32_t shards, uint64_t origin,
                    struct arena *arena) {
  *log = (change_log){.shards = shards_of(agents_max, shards), .room = agents_max};
  log->origin = log->oldest = log->newest = origin;
  if (frames == 0) return;
  ASSERT(origin > 0);
  log->words = bits_words(log->shards.words);
  log->apart = whole_lines(log->words, LINE_WORDS);
  log->notes_apart = whole_lines(log->shards.words, LINE_NOTES);
  log->list_count = frames + 1;
  ARENA_ARRAY(arena, log->notes, (size_t)log->shards.count * log->notes_apart);
  ARENA_ARRAY(arena, log->touched, (size_t)log->shards.count * log->apart);
  ARENA_ARRAY(arena, log->touched_any, log->words);
  ARENA_ARRAY(arena, log->starts, (log->shards.words + ITEM_NOTES - 1) / ITEM_NOTES);
  ARENA_ARRAY(arena, log->lists, log->list_count);
  muster_change *records = arena_reserve_for_frames(arena, (size_t)log->list_count * log->room, sizeof(muster_change));
  for (uint32_t i = 0; log->lists && records && i < log->list_count; i++)
    log->lists[i].records = records + (size_t)i * log->room;
}

/* A place for a record in the open list; null when it is full. */
static inline muster_change *next_place(change_log *log) {
  change_list *list = &log->lists[log->open];
  if (list->count < log->room) return &list->records[list->count++];
  log->full = true;
  return NULL;
}

void changes_note_left(change_log *log, uint32_t index, muster_agent id, uint32_t type) {
  if (!log->notes) return;
  change_notes *notes = changes_notes_of(log, index);
  for (uint32_t kind = 0; kind < NOTED_KINDS; kind++) notes->of[kind] &= ~(1ull << index % 64);
  muster_change *place = next_place(log);
  if (place) *place = (muster_change){.agent = id, .type = {type + 1}, .kinds = MUSTER_CHANGE_LEFT};
}

/* --------------------------------------------------------------------------------------------------- end of a frame */

static uint32_t kinds_of(const change_notes *notes, uint32_t bit) {
  return (notes->of[NOTED_MOVED] >> bit & 1) * MUSTER_CHANGE_MOVED |
         (notes->of[NOTED_SPAWNED] >> bit & 1) * MUSTER_CHANGE_SPAWNED |
         (notes->of[NOTED_PUBLISHED] >> bit & 1) * MUSTER_CHANGE_PUBLISHED |
         (notes->of[NOTED_LEVEL] >> bit & 1) * MUSTER_CHANGE_LEVEL;
}

/* What a pass over notes does with each that is touched; `first` is the first of its 64 agents. */
typedef uint32_t notes_visit(const change_log *log, change_notes *notes, uint32_t first, uint32_t place);

/* Goes over the touched notes of an item in agent order: neighbouring notes of agents belong to neighbouring shards.
 * Returns where the last visit said that the next goes on. */
static inline uint32_t visit_item(const change_log *log, uint32_t item, uint32_t place, notes_visit *visit) {
  const uint32_t word = item * ITEM_NOTES / 64, shards = log->shards.count;
  uint64_t touched = log->touched_any[word] >> item * ITEM_NOTES % 64 & ((1u << ITEM_NOTES) - 1);
  for (; touched; touched &= touched - 1) {
    uint32_t own = item * ITEM_NOTES + (uint32_t)__builtin_ctzll(touched);
    for (uint32_t shard = 0; shard < shards; shard++)
      if (log->touched[shard * log->apart + word] >> own % 64 & 1)
        place = visit(log, &log->notes[(size_t)shard * log->notes_apart + own], (own << log->shards.shift | shard) * 64,
                      place);
  }
  return place;
}

static inline uint64_t any_kind(const change_notes *notes) {
  return notes->of[NOTED_MOVED] | notes->of[NOTED_SPAWNED] | notes->of[NOTED_PUBLISHED] | notes->of[NOTED_LEVEL];
}

static uint32_t count_notes(const change_log *log, change_notes *notes, uint32_t first, uint32_t place) {
  (void)log, (void)first;
  return place + (uint32_t)__builtin_popcountll(any_kind(notes));
}

/* Lists those of 64 agents that have notes, by index, and clears these. */
static uint32_t list_notes(const change_log *log, change_notes *notes, uint32_t first, uint32_t place) {
  muster_change *records = log->lists[log->open].records;
  for (uint64_t any = any_kind(notes); any; any &= any - 1) {
    uint32_t bit = (uint32_t)__builtin_ctzll(any);
    records[place++] = (muster_change){.agent = muster_agent_make(first + bit, 0), .kinds = kinds_of(notes, bit)};
  }
  *notes = (change_notes){{0}};
  return place;
}

/* Completes listed records by what their agents' rows say. */
static void changes_complete(muster_change *records, uint32_t count, const agent_store *store) {
  enum { AHEAD = 12 };
  for (uint32_t i = 0; i < count; i++) {
    if (i + AHEAD < count) __builtin_prefetch(&store->rows[muster_agent_index(records[i + AHEAD].agent)]);
    uint32_t index = muster_agent_index(records[i].agent);
    records[i].agent = store->ids ? store->ids[index] : muster_agent_make(index, store->rows[index].generation);
    records[i].type.index = store->rows[index].type + 1u;
  }
}

static void changes_count(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const change_log *log = argument;
  (void)worker;
  for (uint32_t item = first; item < end; item++) log->starts[item] = visit_item(log, item, 0, count_notes);
}

static void changes_list(void *argument, uint32_t first, uint32_t end, uint32_t worker) {
  const change_log *log = argument;
  muster_change *records = log->lists[log->open].records;
  (void)worker;
  for (uint32_t item = first; item < end; item++) {
    uint32_t place = visit_item(log, item, log->starts[item], list_notes);
    changes_complete(records + log->starts[item], place - log->starts[item], log->store);
  }
}

/* Finds out which notes of any shard are touched. Returns how many. */
static uint32_t find_touched(change_log *log) {
  uint32_t touched = 0;
  for (uint32_t word = 0; word < log->words; word++) {
    uint64_t any = 0;
    for (uint32_t shard = 0; shard < log->shards.count; shard++) any |= log->touched[shard * log->apart + word];
    log->touched_any[word] = any;
    touched += (uint32_t)__builtin_popcountll(any);
  }
  return touched * log->shards.count;
}

/* Lists what was noted behind those that left, if there is room for all. */
static void changes_gather(change_log *log, const struct parts *parts) {
  enum { COUNT_NS = 3, LIST_NS = 6 };
  change_list *list = &log->lists[log->open];
  uint32_t items = (log->shards.words + ITEM_NOTES - 1) / ITEM_NOTES, touched = find_touched(log);
  if (touched == 0) return;
  parts_run(parts, changes_count, log, items, (uint64_t)touched * COUNT_NS);
  uint64_t sum = list->count;
  for (uint32_t item = 0; item < items; item++) {
    uint32_t here = log->starts[item];
    log->starts[item] = (uint32_t)sum;
    sum += here;
  }
  if (sum > log->room) {
    log->full = true;
    return;
  }
  parts_run(parts, changes_list, log, items, (sum - list->count) * LIST_NS);
  list->count = (uint32_t)sum;
}

/* Nothing is noted any more. */
static void clear_notes(change_log *log) {
  memset(log->notes, 0, (size_t)log->shards.count * log->notes_apart * sizeof *log->notes);
}

static void clear_touched(change_log *log) {
  memset(log->touched, 0, (size_t)log->shards.count * log->apart * sizeof *log->touched);
}

/* Passes over a position that no cursor has. */
static void lose_cursors(change_log *log) {
  log->oldest = ++log->newest;
  log->kept = 0;
  clear_notes(log);
}

/* The open list is kept as the newest. */
static void keep_list(change_log *log) {
  change_list *list = &log->lists[log->open];
  list->begin = log->newest;
  log->newest += list->count;
  log->kept += log->kept + 1 < log->list_count;
  log->open = (log->open + 1) % log->list_count;
  log->oldest = log->lists[(log->open + log->list_count - log->kept) % log->list_count].begin;
}

void changes_end_frame(change_log *log, const struct agent_store *store, const struct parts *parts) {
  if (!log->notes) return;
  log->store = store;
  if (!log->full) changes_gather(log, parts);
  if (log->full)
    lose_cursors(log);
  else
    keep_list(log);
  clear_touched(log);
  log->lists[log->open].count = 0;
  log->full = false;
}

void changes_forget(change_log *log) {
  if (!log->notes) return;
  lose_cursors(log);
  clear_touched(log);
  log->lists[log->open].count = 0;
  log->full = false;
}

uint64_t changes_bytes(const change_log *log, uint32_t agents) {
  if (!log->notes) return 0;
  uint64_t records = 0;
  for (uint32_t i = 0; i < log->list_count; i++) records += log->lists[i].count;
  return ((uint64_t)agents + 63) / 64 * sizeof(change_notes) + records * sizeof(muster_change);
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* The position that a cursor stands for. */
static uint64_t position_of(const change_log *log, uint64_t cursor) {
  return cursor ? cursor : log->origin;
}

bool changes_reach(const change_log *log, uint64_t cursor) {
  uint64_t position = position_of(log, cursor);
  return position >= log->oldest && position <= log->newest;
}

uint32_t changes_read(const change_log *log, uint32_t kinds, uint64_t *cursor, muster_change *out, uint32_t capacity) {
  uint64_t position = position_of(log, *cursor);
  uint32_t written = 0;
  ASSERT(changes_reach(log, *cursor));
  for (uint32_t back = log->kept; back > 0; back--) {
    const change_list *list = &log->lists[(log->open + log->list_count - back) % log->list_count];
    uint64_t end = list->begin + list->count;
    for (; position < end; position++) {
      const muster_change *change = &list->records[position - list->begin];
      if (!(change->kinds & kinds)) continue;
      if (written == capacity) break;
      out[written++] = *change;
    }
    if (position < end) break;
  }
  *cursor = position;
  return written;
}
