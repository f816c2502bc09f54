#include "agents/changes.h"

#include "agents/store.h"
#include "base/assert.h"
#include "base/prefetch.h"

#include <string.h>

enum { LINE_WORDS = 8 };

void changes_create(change_log *log, uint32_t frames, uint32_t agents_max, uint32_t shards, uint64_t origin,
                    struct arena *arena) {
  *log = (change_log){.shards = shards_of(agents_max, shards), .room = agents_max};
  log->origin = log->oldest = log->newest = origin;
  if (frames == 0) return;
  ASSERT(origin > 0);
  log->words = bits_words(log->shards.words);
  log->apart = (log->words + LINE_WORDS - 1) / LINE_WORDS * LINE_WORDS; /* shards share no cache line */
  log->list_count = frames + 1;
  ARENA_ARRAY(arena, log->kinds, ((size_t)agents_max + 63) / 64 * 64);
  ARENA_ARRAY(arena, log->touched, (size_t)log->shards.count * log->apart);
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

void changes_note_left(change_log *log, muster_agent agent, uint32_t type) {
  if (!log->kinds) return;
  uint32_t kinds = log->kinds[agent.index];
  log->kinds[agent.index] = 0;
  if (kinds & MUSTER_CHANGE_SPAWNED) return;
  muster_change *place = next_place(log);
  if (place) *place = (muster_change){.agent = agent, .type = {type + 1}, .kinds = MUSTER_CHANGE_LEFT};
}

/* ---------------------------------------------------------------------------------------------------- end of a frame
 */

/* Lists the agents of a word of 64 that have kinds, by index, and clears these. */
static void gather_word(change_log *log, uint32_t word) {
  uint8_t *kinds = log->kinds + (size_t)word * 64;
  for (uint32_t i = 0; i < 64; i += 8) {
    uint64_t eight;
    memcpy(&eight, kinds + i, sizeof eight);
    for (; eight; eight &= ~((uint64_t)0xff << (__builtin_ctzll(eight) & ~7))) {
      uint32_t at = i + (uint32_t)__builtin_ctzll(eight) / 8;
      muster_change *place = next_place(log);
      if (place) *place = (muster_change){.agent = {word * 64 + at, 0}, .kinds = kinds[at]};
    }
  }
  memset(kinds, 0, 64);
}

/* Lists all in agent order: neighbouring words of agents belong to neighbouring shards. */
static void changes_gather(change_log *log) {
  for (uint32_t word = 0; word < log->words; word++) {
    uint64_t touched = 0;
    for (uint32_t shard = 0; shard < log->shards.count; shard++) touched |= log->touched[shard * log->apart + word];
    for (; touched; touched &= touched - 1) {
      uint32_t bit = (uint32_t)__builtin_ctzll(touched), own = word * 64 + bit;
      for (uint32_t shard = 0; shard < log->shards.count; shard++)
        if (log->touched[shard * log->apart + word] >> bit & 1) gather_word(log, own << log->shards.shift | shard);
    }
    for (uint32_t shard = 0; shard < log->shards.count; shard++) log->touched[shard * log->apart + word] = 0;
  }
}

/* Completes the listed records from `first` on by what their agents' rows say. */
static void changes_complete(change_list *list, uint32_t first, const agent_row *rows) {
  enum { AHEAD = 12 };
  for (uint32_t i = first; i < list->count; i++) {
    muster_change *change = &list->records[i];
    if (i + AHEAD < list->count) __builtin_prefetch(&rows[list->records[i + AHEAD].agent.index]);
    const agent_row *row = &rows[change->agent.index];
    change->agent.generation = row->generation;
    change->type.index = row->type + 1u;
  }
}

void changes_end_frame(change_log *log, const struct agent_row *rows) {
  if (!log->kinds) return;
  change_list *list = &log->lists[log->open];
  uint32_t left = list->count;
  changes_gather(log);
  if (log->full) { /* a position that no cursor has is passed over */
    log->oldest = ++log->newest;
    log->kept = 0;
  } else {
    changes_complete(list, left, rows);
    list->begin = log->newest;
    log->newest += list->count;
    log->kept += log->kept + 1 < log->list_count;
    log->open = (log->open + 1) % log->list_count;
    log->oldest = log->lists[(log->open + log->list_count - log->kept) % log->list_count].begin;
  }
  log->lists[log->open].count = 0;
  log->full = false;
}

void changes_forget(change_log *log, uint32_t high) {
  if (!log->kinds) return;
  memset(log->kinds, 0, high);
  memset(log->touched, 0, (size_t)log->shards.count * log->apart * sizeof *log->touched);
  log->oldest = ++log->newest;
  log->kept = 0;
  log->lists[log->open].count = 0;
  log->full = false;
}

/* ---------------------------------------------------------------------------------------------------------- reading
 */

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
