/* plan/offenders.h - which agents and types offend repeatedly? Strikes of agents, and bad windows of types;
 * world/conduct.c does what follows from them.
 *
 * An agent's strikes are kept in a table of OFFENDERS_MAX entries; when it is full, the mildest and oldest of a few is
 * forgotten. The penalty that an agent got is kept in its row, not here. */
#ifndef PLAN_OFFENDERS_H
#define PLAN_OFFENDERS_H

#include "agents/offence.h"

#include <muster/muster.h>

enum {
  OFFENDERS_MAX = 1024,
  OFFENDERS_WEIGHED = 16, /* entries that are compared to make room for another */
  OFFENDERS_UPDATES = 64, /* a window holds as many updates, or lasts OFFENDERS_WINDOW_NS, whichever is longer */
  OFFENDERS_TYPE_PART = 8,
  OFFENDERS_TYPE_AGENTS = 8,
  OFFENDERS_WATCH_FRAMES = 64
};

#define OFFENDERS_WINDOW_NS 1000000000u

typedef enum offender_verdict {
  OFFENDER_LET_OFF = 0,
  OFFENDER_TOLD, /* offends repeatedly, has no cheaper level, and quarantine was not asked for */
  OFFENDER_DEMOTED,
  OFFENDER_QUARANTINED
} offender_verdict;

/* What holds for an agent or a type when it is judged. */
typedef struct offender_terms {
  uint32_t strikes_demote, strikes_quarantine; /* of its type; 0 = never */
  bool cheapest;                               /* it has no cheaper level to go to */
  uint64_t window_ns;
} offender_terms;

struct offender {
  uint64_t last_ns; /* simulation time of its last offence */
  uint64_t frame;
  uint32_t agent;
  uint32_t strikes; /* for CPU time */
  uint32_t type;
  uint32_t blocked; /* strikes for atoms that were blocked: these never bring it into quarantine */
};

/* The longest offence of a kind. */
typedef struct worst_offence {
  uint64_t duration_ns;
  uint32_t agent, generation, atom;
} worst_offence;

/* How a type behaves. */
typedef struct type_conduct {
  uint64_t offences, stuck, blocked;
  worst_offence worst, worst_blocked;
  uint64_t told_until_ns; /* simulation time: until then offences without a penalty are only counted, */
  uint32_t untold;        /* and this many were */
  uint32_t agents_demoted, agents_quarantined;
  uint32_t level_floor;
  uint64_t watched_until; /* frame; 0 = its claims are not timed more than others */
  /* the window that is open */
  uint64_t window_begin_ns; /* 0 = no window is open */
  uint64_t window_samples;  /* measured updates of the type when it began */
  uint64_t window_offences;
  uint32_t window_agents; /* agents that offended in it */
  uint32_t bad_windows;   /* bad windows in a row, at the cheapest level */
  uint64_t bad_end_ns;    /* when the last of them ended */
} type_conduct;

struct offenders {
  uint32_t count, hand; /* the entry from which room is made next */
  struct offender entries[OFFENDERS_MAX];
  uint16_t *places; /* by agent: its entry + 1, or 0 */
  type_conduct *types;
};

/* Reserves the tables. */
void offenders_create(struct offenders *offenders, uint32_t agents_max, uint32_t types_max, struct arena *arena);

/* Counts `more` offences by CPU time of a type; `samples` is how many measured updates it had when they began. */
void offenders_count(struct offenders *offenders, uint32_t type, uint32_t more, uint64_t samples, uint64_t now_ns);

/* Counts a strike of an active agent that offended, once per frame; returns what follows from it. Blocked atoms are
 * strikes of the agent, but not of its type. O(1). */
offender_verdict offenders_strike(struct offenders *offenders, const struct offence *offence,
                                  const offender_terms *terms, uint64_t frame, uint64_t now_ns);

/* The verdict on a type at the end of its window; before, lets it off. `samples` is how many measured updates it has
 * had. */
offender_verdict offenders_type_verdict(struct offenders *offenders, uint32_t type, const offender_terms *terms,
                                        uint64_t samples, uint64_t now_ns);

/* Forgets the strikes of an agent: it is gone, or pardoned. */
void offenders_forget(struct offenders *offenders, uint32_t agent);

/* Forgets the strikes of all agents of a type, and the type's window. */
void offenders_forget_type(struct offenders *offenders, uint32_t type);

#endif
