#include "agents/company.h"

#include <string.h>

void company_create(struct company *company, uint32_t agents_max, struct arena *arena) {
  *company = (struct company){.of = arena_reserve(arena, agents_max, sizeof *company->of)};
  company->members = arena_reserve(arena, agents_max, sizeof *company->members);
  company->places = arena_reserve(arena, agents_max, sizeof *company->places);
}

static void join(struct company *company, uint32_t agent) {
  if (company->places[agent]) return;
  company->members[company->count++] = agent;
  company->places[agent] = company->count;
}

static void company_leave(struct company *company, uint32_t agent) {
  uint32_t place = company->places[agent];
  if (!place) return;
  uint32_t last = company->members[--company->count];
  company->members[place - 1] = last;
  company->places[last] = place;
  company->places[agent] = 0;
}

/* Whoever is listed leaves the list, which closes up. */
static void take_out(struct companions *companions, muster_agent other) {
  uint32_t kept = 0;
  for (uint32_t i = 0; i < MUSTER_COMPANY_MAX; i++)
    if (!muster_agent_equal(companions->others[i], other)) companions->others[kept++] = companions->others[i];
  while (kept < MUSTER_COMPANY_MAX) companions->others[kept++] = (muster_agent){0, 0};
}

void company_meet(struct company *company, uint32_t agent, muster_agent other) {
  struct companions *companions = &company->of[agent];
  take_out(companions, other);
  memmove(companions->others + 1, companions->others, (MUSTER_COMPANY_MAX - 1) * sizeof *companions->others);
  companions->others[0] = other;
  join(company, agent);
}

void company_part(struct company *company, uint32_t agent, muster_agent other) {
  struct companions *companions = &company->of[agent];
  if (!company->places[agent]) return;
  if (muster_agent_is_null(other))
    *companions = (struct companions){0};
  else
    take_out(companions, other);
  if (muster_agent_is_null(companions->others[0])) company_leave(company, agent);
}
