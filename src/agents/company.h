/* agents/company.h - who is in whose company: up to MUSTER_COMPANY_MAX others of each agent. Ids whose agents are gone
 * stay until their place is needed; whoever reads them looks. Frame's thread. */
#ifndef AGENTS_COMPANY_H
#define AGENTS_COMPANY_H

#include "base/arena.h"

#include <muster/muster.h>

struct companions {
  muster_agent others[MUSTER_COMPANY_MAX]; /* the latest first; null ones last */
};

struct company {
  struct companions *of; /* by agent; null in worlds without it */
  uint32_t *members;     /* agents that are in anybody's company, in no order */
  uint32_t *places;      /* by agent: its place among them + 1; 0 = it is in nobody's */
  uint32_t count;
  uint32_t next; /* of the members, who is looked at next */
};

/* Reserves room for every agent. */
void company_create(struct company *company, uint32_t agents_max, struct arena *arena);

/* `other` becomes the latest of the agent's companions; of too many the first leaves. */
void company_meet(struct company *company, uint32_t agent, muster_agent other);

/* One of them leaves, or with null all do. */
void company_part(struct company *company, uint32_t agent, muster_agent other);

#endif
