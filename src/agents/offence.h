/* agents/offence.h - atoms that took longer than their type's limit, by their own CPU time or because they waited for
 * something: noted by the worker that runs them, or by the ranking that charges them; dealt with at the end of the
 * commit.
 */
#ifndef AGENTS_OFFENCE_H
#define AGENTS_OFFENCE_H

#include "base/arena.h"

enum { OFFENCES_MAX = 256 };

/* The kinds that workers note; as in muster_offence_kind. */
enum { OFFENCE_OVER = 0, OFFENCE_BLOCKED, OFFENCE_KINDS };

struct offence {
  uint64_t duration_ns;
  uint32_t agent, generation;
  uint16_t type, atom;
  uint8_t level;
  uint8_t kind;
};

/* What one worker, or the ranking, saw since limits were enforced last. */
typedef struct offence_list {
  struct offence *offences; /* OFFENCES_MAX */
  uint32_t count;
  uint32_t left_out; /* further ones: counted by type alone */
  uint32_t *by_type; /* all of them, by type and kind */
} offence_list;

/* How many counts `by_type` has. */
static inline uint32_t offences_counts(uint32_t types) {
  return types * OFFENCE_KINDS;
}

/* The count of a type and a kind. */
static inline uint32_t *offences_of(const offence_list *list, uint32_t type, uint32_t kind) {
  return &list->by_type[type * OFFENCE_KINDS + kind];
}

/* Reserves one list. */
static inline void offences_create(offence_list *list, uint32_t types_max, struct arena *arena) {
  *list = (offence_list){.offences = arena_reserve(arena, OFFENCES_MAX, sizeof *list->offences)};
  ARENA_ARRAY(arena, list->by_type, offences_counts(types_max));
}

/* Forgets all offences. */
static inline void offences_clear(offence_list *list, uint32_t types) {
  list->count = list->left_out = 0;
  for (uint32_t i = 0; i < offences_counts(types); i++) list->by_type[i] = 0;
}

/* Notes an offence; a list that was never created takes none. */
static inline void offences_add(offence_list *list, const struct offence *offence) {
  if (!list->offences) return;
  ++*offences_of(list, offence->type, offence->kind);
  if (list->count == OFFENCES_MAX)
    list->left_out++;
  else
    list->offences[list->count++] = *offence;
}

#endif
