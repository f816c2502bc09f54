/* agents/companions.h - each agent's companions: up to MUSTER_COMPANIONS_MAX others. Ids of agents that are gone stay
 * until their place is needed; a reader checks that an id is live. Frame's thread. */
#ifndef AGENTS_COMPANIONS_H
#define AGENTS_COMPANIONS_H

#include "base/arena.h"

#include <muster/muster.h>
#include <muster/tune.h>

struct companion_list {
  muster_agent others[MUSTER_COMPANIONS_MAX]; /* the latest first; null ones last */
};

struct companions {
  struct companion_list *of; /* by agent; null in worlds without it */
  uint32_t *members;         /* agents that have companions, in no order */
  uint32_t *places;          /* by agent: its place among them + 1; 0 = it has no companions */
  uint32_t count;
  uint32_t next; /* the place in `members` that is looked at next */
};

/* Reserves room for every agent. */
void companions_create(struct companions *companions, uint32_t agents_max, struct arena *arena);

/* `other` becomes the latest of the agent's companions; when there are too many, the oldest leaves. */
void companions_link(struct companions *companions, uint32_t agent, muster_agent other);

/* `other` leaves the agent's companions; with a null `other` all leave. */
void companions_unlink(struct companions *companions, uint32_t agent, muster_agent other);

#endif
