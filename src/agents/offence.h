/* agents/offence.h - atoms that took longer than their type's limit: noted by whoever runs or charges them, judged at
 * the end of the commit. */
#ifndef AGENTS_OFFENCE_H
#define AGENTS_OFFENCE_H

#include "base/arena.h"

enum { OFFENCES_MAX = 256, OFFENCE_ATOM_UNKNOWN = UINT16_MAX };

typedef struct offence {
  uint64_t duration_ns;
  uint32_t agent, generation;
  uint16_t type, atom;
  uint8_t level;
} offence;

/* What one worker, or the ranking, saw since the last judgement. */
typedef struct offence_list {
  offence *offences; /* OFFENCES_MAX */
  uint32_t count;
  uint32_t left_out; /* further ones: counted by type alone */
  uint32_t *by_type; /* all of them */
} offence_list;

/* Reserves one list. */
static inline void offences_create(offence_list *list, uint32_t types_max, arena *arena) {
  *list = (offence_list){.offences = arena_reserve(arena, OFFENCES_MAX, sizeof *list->offences)};
  list->by_type = arena_reserve(arena, types_max, sizeof *list->by_type);
}

/* Forgets all of it. */
static inline void offences_clear(offence_list *list, uint32_t types) {
  list->count = list->left_out = 0;
  for (uint32_t type = 0; type < types; type++) list->by_type[type] = 0;
}

/* Notes an offence; a list that was never created takes none. */
static inline void offences_add(offence_list *list, const offence *offence) {
  if (!list->offences) return;
  list->by_type[offence->type]++;
  if (list->count == OFFENCES_MAX)
    list->left_out++;
  else
    list->offences[list->count++] = *offence;
}

#endif
