/* agents/overrun.h - atoms that took longer than their type's limit, by their own CPU time or because they waited for
 * something: noted by the worker that runs them, or by the ranking that charges them; dealt with at the end of the
 * commit.
 */
#ifndef AGENTS_OVERRUN_H
#define AGENTS_OVERRUN_H

#include "base/arena.h"

enum { OVERRUNS_MAX = 256 };

/* The kinds that workers note; as in muster_overrun_kind. */
enum { OVERRUN_CPU = 0, OVERRUN_BLOCKED, OVERRUN_KINDS };

struct overrun {
  uint64_t duration_ns;
  uint32_t agent, generation;
  uint16_t type, atom;
  uint8_t level;
  uint8_t kind;
};

/* What one worker, or the ranking, saw since limits were enforced last. */
typedef struct overrun_list {
  struct overrun *overruns; /* OVERRUNS_MAX */
  uint32_t count;
  uint32_t left_out; /* further ones: counted by type alone */
  uint32_t *by_type; /* all of them, by type and kind */
} overrun_list;

/* How many counts `by_type` has. */
static inline uint32_t overruns_counts(uint32_t types) {
  return types * OVERRUN_KINDS;
}

/* The count of a type and a kind. */
static inline uint32_t *overruns_of(const overrun_list *list, uint32_t type, uint32_t kind) {
  return &list->by_type[type * OVERRUN_KINDS + kind];
}

/* Reserves one list. */
static inline void overruns_create(overrun_list *list, uint32_t types_max, struct arena *arena) {
  *list = (overrun_list){.overruns = arena_reserve(arena, OVERRUNS_MAX, sizeof *list->overruns)};
  ARENA_ARRAY(arena, list->by_type, overruns_counts(types_max));
}

/* Forgets all overruns. */
static inline void overruns_clear(overrun_list *list, uint32_t types) {
  list->count = list->left_out = 0;
  for (uint32_t i = 0; i < overruns_counts(types); i++) list->by_type[i] = 0;
}

/* Notes an overrun; a list that was never created takes none. */
static inline void overruns_add(overrun_list *list, const struct overrun *overrun) {
  if (!list->overruns) return;
  ++*overruns_of(list, overrun->type, overrun->kind);
  if (list->count == OVERRUNS_MAX)
    list->left_out++;
  else
    list->overruns[list->count++] = *overrun;
}

#endif
