#include "plan/waits.h"

#include "base/assert.h"

#include <string.h>

void waits_create(wait_book *book, struct arena *arena) {
  *book = (wait_book){0};
  ARENA_ARRAY(arena, book->entries, WAITS_MAX);
}

/* The last entry whose time is not after another one; UINT32_MAX when all are after it. */
static uint32_t find_entry(const wait_book *book, uint64_t released_ns) {
  uint32_t from = book->first, end = book->end;
  if (from < end && book->entries[end - 1].released_ns <= released_ns) return end - 1;
  while (from < end) {
    uint32_t middle = from + (end - from) / 2;
    if (book->entries[middle].released_ns <= released_ns)
      from = middle + 1;
    else
      end = middle;
  }
  return from > book->first ? from - 1 : UINT32_MAX;
}

/* Makes room behind the last entry: closes up, without the entries of which no agent waits any more; when that is not
 * enough, each two become one. */
static void waits_make_room(wait_book *book) {
  uint32_t kept = 0;
  for (uint32_t i = book->first; i < book->end; i++)
    if (book->entries[i].agents) book->entries[kept++] = book->entries[i];
  book->first = 0;
  book->end = kept;
  if (kept <= WAITS_MAX / 2) return;
  for (uint32_t i = 0; i < kept / 2; i++) {
    waits_entry both = book->entries[2 * i];
    both.agents += book->entries[2 * i + 1].agents;
    book->entries[i] = both;
  }
  if (kept % 2) book->entries[kept / 2] = book->entries[kept - 1];
  book->end = (kept + 1) / 2;
}

/* Puts an entry behind all whose times are before its own. Returns it. */
static waits_entry *insert(wait_book *book, uint64_t released_ns) {
  if (book->end == WAITS_MAX) waits_make_room(book);
  uint32_t before = find_entry(book, released_ns), at = before == UINT32_MAX ? book->first : before + 1;
  memmove(&book->entries[at + 1], &book->entries[at], (book->end - at) * sizeof *book->entries);
  book->end++;
  book->entries[at] = (waits_entry){released_ns, 0};
  return &book->entries[at];
}

void waits_enter(wait_book *book, uint64_t released_ns) {
  uint32_t at = find_entry(book, released_ns);
  bool is_new = at == UINT32_MAX || book->entries[at].released_ns != released_ns;
  waits_entry *entry = is_new ? insert(book, released_ns) : &book->entries[at];
  entry->agents++;
  book->agents++;
}

/* An agent whose entry became one with another counts there. */
void waits_leave(wait_book *book, uint64_t released_ns) {
  uint32_t at = find_entry(book, released_ns);
  ASSERT(at != UINT32_MAX && book->agents > 0);
  while (!book->entries[at].agents) {
    ASSERT(at > book->first);
    at--;
  }
  book->entries[at].agents--;
  book->agents--;
  while (book->first < book->end && !book->entries[book->first].agents) book->first++;
  while (book->first < book->end && !book->entries[book->end - 1].agents) book->end--;
  if (book->first == book->end) book->first = book->end = 0;
}
