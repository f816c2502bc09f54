/* plan/overrun_table.h - which agents and types have repeated overruns? The overrun counts of agents, and bad windows
 * of types; world/penalties.c does what follows from them.
 *
 * An agent's counts are an entry of OVERRUN_ENTRIES_MAX; when all are taken, the lowest and oldest of a few is
 * forgotten. The penalty that an agent got is kept in its row, not here. */
#ifndef PLAN_OVERRUN_TABLE_H
#define PLAN_OVERRUN_TABLE_H

#include "agents/overrun.h"

#include <muster/muster.h>

enum {
  OVERRUN_ENTRIES_MAX = 1024,
  OVERRUN_ENTRIES_COMPARED = 16, /* entries that are compared to make room for another */
  OVERRUN_WINDOW_UPDATES = 64,   /* a window holds as many updates, or lasts OVERRUN_WINDOW_NS, whichever is longer */
  OVERRUN_TYPE_PART = 8,
  OVERRUN_TYPE_AGENTS = 8,
  OVERRUN_WATCH_FRAMES = 64
};

#define OVERRUN_WINDOW_NS 1000000000u

typedef enum overrun_penalty {
  OVERRUN_NO_PENALTY = 0,
  OVERRUN_WARNED, /* the overruns are repeated, there is no cheaper level, and quarantine was not asked for */
  OVERRUN_DEMOTED,
  OVERRUN_QUARANTINED
} overrun_penalty;

/* What holds for an agent or a type when its penalty is decided. */
typedef struct overrun_terms {
  uint32_t demote, quarantine; /* of its type; 0 = never */
  bool cheapest;               /* it has no cheaper level to go to */
  uint64_t window_ns;
} overrun_terms;

struct overrun_entry {
  uint64_t last_ns; /* simulation time of its last overrun */
  uint64_t frame;
  uint32_t agent;
  uint32_t overrun_count; /* updates with an overrun by CPU time */
  uint32_t type;
  uint32_t blocked_count; /* updates that were only blocked: these never bring it into quarantine */
};

/* The longest overrun of a kind. */
typedef struct worst_overrun {
  uint64_t duration_ns;
  uint32_t agent, generation, atom;
} worst_overrun;

/* What is known of the overruns of a type. */
typedef struct type_overruns {
  uint64_t overruns, stuck, blocked;
  worst_overrun worst, worst_blocked;
  uint64_t told_until_ns; /* simulation time: until then overruns without a penalty are only counted, */
  uint32_t untold;        /* and this many were */
  uint32_t agents_demoted, agents_quarantined;
  uint32_t level_floor;
  uint64_t watched_until; /* frame; 0 = its claims are not timed more than others */
  /* the window that is open */
  uint64_t window_begin_ns; /* 0 = no window is open */
  uint64_t window_samples;  /* measured updates of the type when it began */
  uint64_t window_overruns;
  uint32_t window_agents; /* agents with overruns in it */
  uint32_t bad_windows;   /* bad windows in a row, at the cheapest level */
  uint64_t bad_end_ns;    /* when the last of them ended */
} type_overruns;

struct overrun_table {
  uint32_t count, hand; /* the entry from which room is made next */
  struct overrun_entry entries[OVERRUN_ENTRIES_MAX];
  uint16_t *places; /* by agent: its entry + 1, or 0 */
  type_overruns *types;
};

/* Reserves the tables. */
void overrun_table_create(struct overrun_table *table, uint32_t agents_max, uint32_t types_max, struct arena *arena);

/* Counts `more` overruns by CPU time of a type; `samples` is how many measured updates it had when they began. */
void overrun_table_count_type(struct overrun_table *table, uint32_t type, uint32_t more, uint64_t samples,
                              uint64_t now_ns);

/* Counts an overrun of an active agent, once per frame; returns the penalty that follows. Blocked atoms count for the
 * agent, but not for its type. O(1). */
overrun_penalty overrun_table_count_agent(struct overrun_table *table, const struct overrun *overrun,
                                          const overrun_terms *terms, uint64_t frame, uint64_t now_ns);

/* The penalty of a type at the end of its window; none before. `samples` is how many measured updates it has
 * had. */
overrun_penalty overrun_table_type_penalty(struct overrun_table *table, uint32_t type, const overrun_terms *terms,
                                           uint64_t samples, uint64_t now_ns);

/* Forgets the counts of an agent: it is gone, or reinstated. */
void overrun_table_forget(struct overrun_table *table, uint32_t agent);

/* Forgets the counts of all agents of a type, and the type's window. */
void overrun_table_forget_type(struct overrun_table *table, uint32_t type);

#endif
