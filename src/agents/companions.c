#include "agents/companions.h"

#include <muster/tune.h>

#include <string.h>

void companions_create(struct companions *companions, uint32_t agents_max, struct arena *arena) {
  *companions = (struct companions){.of = arena_reserve(arena, agents_max, sizeof *companions->of)};
  ARENA_ARRAY(arena, companions->members, agents_max);
  ARENA_ARRAY(arena, companions->places, agents_max);
}

static void join(struct companions *companions, uint32_t agent) {
  if (companions->places[agent]) return;
  companions->members[companions->count++] = agent;
  companions->places[agent] = companions->count;
}

static void company_leave(struct companions *companions, uint32_t agent) {
  uint32_t place = companions->places[agent];
  if (!place) return;
  uint32_t last = companions->members[--companions->count];
  companions->members[place - 1] = last;
  companions->places[last] = place;
  companions->places[agent] = 0;
}

/* Takes `other` out of the list, if it is there; the list closes up. */
static void take_out(struct companion_list *list, muster_agent other) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < MUSTER_COMPANIONS_MAX; i++)
    if (!muster_agent_equal(list->others[i], other)) list->others[kept++] = list->others[i];
  while (kept < MUSTER_COMPANIONS_MAX) list->others[kept++] = (muster_agent){0};
}

void companions_link(struct companions *companions, uint32_t agent, muster_agent other) {
  struct companion_list *list = &companions->of[agent];
  take_out(list, other);
  memmove(list->others + 1, list->others, (MUSTER_COMPANIONS_MAX - 1) * sizeof *list->others);
  list->others[0] = other;
  join(companions, agent);
}

void companions_unlink(struct companions *companions, uint32_t agent, muster_agent other) {
  struct companion_list *list = &companions->of[agent];
  if (!companions->places[agent]) return;
  if (muster_agent_is_null(other))
    *list = (struct companion_list){0};
  else
    take_out(list, other);
  if (muster_agent_is_null(list->others[0])) company_leave(companions, agent);
}
