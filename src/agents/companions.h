/* agents/companions.h - each agent's companions: up to MUSTER_COMPANY_MAX others. Ids whose agents are gone
 * stay until their place is needed; whoever reads them looks. Frame's thread. */
#ifndef AGENTS_COMPANIONS_H
#define AGENTS_COMPANIONS_H

#include "base/arena.h"

#include <muster/muster.h>

struct companion_list {
  muster_agent others[MUSTER_COMPANY_MAX]; /* the latest first; null ones last */
};

struct companions {
  struct companion_list *of; /* by agent; null in worlds without it */
  uint32_t *members;         /* agents that are a companion of another, in no order */
  uint32_t *places;          /* by agent: its place among them + 1; 0 = it is no agent's companion */
  uint32_t count;
  uint32_t next; /* of the members, who is looked at next */
};

/* Reserves room for every agent. */
void companions_create(struct companions *companions, uint32_t agents_max, struct arena *arena);

/* `other` becomes the latest of the agent's companions; of too many the first leaves. */
void companions_link(struct companions *companions, uint32_t agent, muster_agent other);

/* One of them leaves, or with null all do. */
void companions_unlink(struct companions *companions, uint32_t agent, muster_agent other);

#endif
