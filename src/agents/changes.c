#include "agents/changes.h"

#include "agents/store.h"
#include "base/assert.h"

#include <string.h>

enum { LINE_WORDS = 8, LINE_NOTES = 64 / sizeof(change_notes) };

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
  if (!log->notes) return;
  change_notes *notes = changes_notes_of(log, agent.index);
  bool came = notes->of[NOTED_SPAWNED] >> agent.index % 64 & 1;
  for (uint32_t kind = 0; kind < NOTED_KINDS; kind++) notes->of[kind] &= ~(1ull << agent.index % 64);
  if (came) return;
  muster_change *place = next_place(log);
  if (place) *place = (muster_change){.agent = agent, .type = {type + 1}, .kinds = MUSTER_CHANGE_LEFT};
}

/* ---------------------------------------------------------------------------------------------------- end of a frame
 */

static uint32_t kinds_of(const change_notes *notes, uint32_t bit) {
  return (notes->of[NOTED_MOVED] >> bit & 1) * MUSTER_CHANGE_MOVED |
         (notes->of[NOTED_SPAWNED] >> bit & 1) * MUSTER_CHANGE_SPAWNED |
         (notes->of[NOTED_PUBLISHED] >> bit & 1) * MUSTER_CHANGE_PUBLISHED |
         (notes->of[NOTED_LEVEL] >> bit & 1) * MUSTER_CHANGE_LEVEL;
}

/* Lists those of 64 agents that have notes, by index, and clears these. */
static void gather_notes(change_log *log, change_notes *notes, uint32_t first) {
  uint64_t any = 0;
  for (uint32_t kind = 0; kind < NOTED_KINDS; kind++) any |= notes->of[kind];
  for (; any; any &= any - 1) {
    uint32_t bit = (uint32_t)__builtin_ctzll(any);
    muster_change *place = next_place(log);
    if (place) *place = (muster_change){.agent = {first + bit, 0}, .kinds = kinds_of(notes, bit)};
  }
  *notes = (change_notes){{0}};
}

/* Lists all in agent order: neighbouring notes of agents belong to neighbouring shards. */
static void changes_gather(change_log *log) {
  const uint32_t shards = log->shards.count;
  for (uint32_t word = 0; word < log->words; word++) {
    uint64_t touched = 0;
    for (uint32_t shard = 0; shard < shards; shard++) touched |= log->touched[shard * log->apart + word];
    for (; touched; touched &= touched - 1) {
      uint32_t bit = (uint32_t)__builtin_ctzll(touched), own = word * 64 + bit;
      for (uint32_t shard = 0; shard < shards; shard++)
        if (log->touched[shard * log->apart + word] >> bit & 1)
          gather_notes(log, &log->notes[(size_t)shard * log->notes_apart + own],
                       (own << log->shards.shift | shard) * 64);
    }
    for (uint32_t shard = 0; shard < shards; shard++) log->touched[shard * log->apart + word] = 0;
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
  if (!log->notes) return;
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

void changes_forget(change_log *log) {
  if (!log->notes) return;
  memset(log->notes, 0, (size_t)log->shards.count * log->notes_apart * sizeof *log->notes);
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
