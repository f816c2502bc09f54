/* scenarios/pathstorm.h - everybody is ordered across a large map at once, again and again, and asks for a way.
 *
 *     pathstorm.c          the module: open, the first agents, the orders
 *     pathstorm_map.c      cells, exits and regions; pathstorm_build.c: what stands there
 *     pathstorm_search.c   A* over the whole map, which can be left and taken up again
 *     pathstorm_fields.c   what was searched: who follows which ways, and what is remembered
 *     pathstorm_solver.c   agents that search
 *     pathstorm_walker.c   agents that ask, check their way and go it
 *     pathstorm_report.c   the numbers and the invariants
 *
 *     host --order--> walker --request--> solver: search, slice by slice --answer--> walker: survey, follow, move
 *
 * All of it passes as messages. A goal has one solver, which takes its requests up one goal after the other; a search
 * answers everybody who waits for its goal, as soon as their start is closed. What it closed is never written again
 * while anybody follows it, so walkers read their ways there; who may follow what is noted by action atoms alone. */
#ifndef SCENARIOS_PATHSTORM_H
#define SCENARIOS_PATHSTORM_H

#include "scenarios/pathstorm_search.h"

#include <muster/module.h>

enum {
  PATHSTORM_SOLVERS = 4,
  PATHSTORM_PLACES = 64,     /* goals of one world that the walkers can reach */
  PATHSTORM_FORBIDDEN = 4,   /* and those that they cannot */
  PATHSTORM_GOALS = 8,       /* of the places, that one order names */
  PATHSTORM_FIELDS = 48,     /* searches whose result is kept at a time */
  PATHSTORM_INBOX_MAX = 1024 /* requests that wait for a solver's next update */
};

#define PATHSTORM_NONE UINT32_MAX

typedef struct pathstorm pathstorm;

/* ------------------------------------------------------------------------------------------------------------ messages
 */

typedef struct pathstorm_order {
  uint32_t number; /* counted from 1 */
  uint32_t place;  /* in pathstorm.goals */
} pathstorm_order;

typedef struct pathstorm_request {
  uint32_t walker, order; /* their numbers */
  uint32_t start, goal;   /* cells */
} pathstorm_request;

typedef struct pathstorm_answer {
  uint32_t order;
  uint32_t field; /* whose ways lead there; PATHSTORM_NONE: nothing does */
} pathstorm_answer;

/* -------------------------------------------------------------------------------------------------------------- fields
 */

typedef enum pathstorm_knowledge {
  PATHSTORM_UNUSED = 0,
  PATHSTORM_SEARCHED, /* by a solver, now */
  PATHSTORM_PARTLY,   /* closed cells have their way; of the others nothing is known */
  PATHSTORM_ALL       /* those that are not closed cannot reach the goal */
} pathstorm_knowledge;

/* What one search found. */
typedef struct pathstorm_field {
  uint8_t *ways;
  uint32_t goal;
  uint32_t followers; /* walkers that were answered with it */
  pathstorm_knowledge knowledge;
  uint64_t kept_until_ns; /* it is remembered until then, whoever follows */
} pathstorm_field;

/* The field that a walker may read, by an answer to this order of his. */
typedef struct pathstorm_grant {
  uint32_t field, order;
} pathstorm_grant;

/* What follows is for action atoms and the thread of the frames: one at a time, in agent order. */

/* Takes a field for a search to this goal: one that is not used, or that of which nobody is left but the memory.
 * PATHSTORM_NONE when there is none. */
uint32_t pathstorm_field_take(pathstorm *self, uint32_t goal, uint64_t now_ns);

/* A search in a field ended: whether it knows all that can reach the goal, which is remembered for a while. */
void pathstorm_field_keep(pathstorm *self, uint32_t field, bool knows_all, uint64_t now_ns);

/* A field that is no search's any more and knows something of a goal; PATHSTORM_NONE when there is none. */
uint32_t pathstorm_field_about(const pathstorm *self, uint32_t goal, uint64_t now_ns);

/* The walker may follow this field instead of the one before. */
void pathstorm_field_grant(pathstorm *self, uint32_t walker, uint32_t order, uint32_t field);

/* The walker follows none any more, unless it was granted for an order after this one. */
void pathstorm_field_return(pathstorm *self, uint32_t walker, uint32_t order);

/* ------------------------------------------------------------------------------------------------------------- solvers
 */

/* A request that waits. */
typedef struct pathstorm_waiting {
  muster_agent walker;
  pathstorm_request request;
  uint64_t sequence; /* in which they came */
  bool first;        /* the search was begun for it */
} pathstorm_waiting;

/* A solver's memory. Its own atoms write it, alone. */
typedef struct pathstorm_solver {
  pathstorm *self;
  pathstorm_search search;
  uint32_t field;   /* of the search; PATHSTORM_NONE: there is none */
  uint32_t cleared; /* parts of it, before the search begins */
  bool begun;       /* it has */
  bool begins;      /* as of the last commit: the next update begins it, */
  bool busy;        /* there is something to search */
  bool has_news;    /* some who wait can be answered */
  uint32_t waits;   /* entries of waiting */
  uint64_t sequence;
  pathstorm_waiting *waiting;
  uint32_t *entry_of; /* by a walker's number: in waiting; PATHSTORM_NONE */
  uint32_t *answered; /* likewise: the last order that was answered */
  muster_message *inbox;
} pathstorm_solver;

/* A solver's private state: what it did. */
typedef struct pathstorm_solver_state {
  uint32_t number;                        /* in pathstorm.solvers */
  uint64_t requests, repeated, overtaken; /* heard; heard before; replaced by a later one of the same walker */
  uint64_t searches, exhausted;           /* begun; of those that ended: everything was closed */
  /* Answers: to whom a search was begun for; to others; from memory; and how many of all that there is no way. */
  uint64_t found, shared, remembered, unreachable;
  uint64_t expanded;       /* cells that were taken from open lists */
  uint64_t largest_search; /* of them, in one search */
  uint32_t largest_call;   /* of them, in one call of an atom */
  uint32_t slices;         /* calls that expanded something */
  uint32_t kept_waiting;   /* updates in which no field was free */
  uint32_t sends_refused;
  uint64_t searched; /* of the search that runs */
} pathstorm_solver_state;

/* Registers the type and spawns the solvers. Thread of the frames, between frames. */
muster_result pathstorm_solvers_spawn(pathstorm *self, muster_world *world);

/* Memory of all solvers. False when it is refused. */
bool pathstorm_solvers_create(pathstorm *self);
void pathstorm_solvers_destroy(pathstorm *self);

/* ------------------------------------------------------------------------------------------------------------- walkers
 */

typedef enum pathstorm_stage {
  PATHSTORM_IDLE = 0,
  PATHSTORM_ASKS,    /* has an order, and will send a request */
  PATHSTORM_WAITS,   /* for the answer */
  PATHSTORM_SURVEYS, /* looks whether the way leads there */
  PATHSTORM_WALKS,
  PATHSTORM_ARRIVED,
  PATHSTORM_REFUSED /* there is no way */
} pathstorm_stage;

/* A walker's private state. */
typedef struct pathstorm_walker_state {
  uint32_t number;
  uint32_t cell;           /* where it stands */
  uint32_t order, goal;    /* the last one, and the cell that it named */
  uint32_t solver;         /* whom it asks for it */
  uint32_t field;          /* that it follows */
  uint32_t surveyed, left; /* cell that the survey got to; steps that it may take yet */
  pathstorm_stage stage;
  bool moved; /* and did not tell yet */
  float ahead_m;
  uint64_t ordered_ns; /* when the order was sent */
  uint64_t longest_ns; /* from order to answer, of all */
  uint64_t orders, orders_reachable, requests;
  uint64_t answers_way, answers_none; /* to the orders */
  uint64_t unanswered;                /* orders that a later one overtook */
  uint64_t twice, wrong, invalid;     /* answered again; contrary to the map; ways that do not lead there */
  uint64_t arrivals, steps, surveyed_steps, seen;
} pathstorm_walker_state;

/* Registers the type and spawns the walkers. Thread of the frames, between frames. */
muster_result pathstorm_walkers_spawn(pathstorm *self, muster_world *world);

/* ------------------------------------------------------------------------------------------------------------ together
 */

struct pathstorm {
  uint64_t seed;
  bool whole; /* a search is one atom */
  uint32_t walkers, observer_count;
  pathstorm_map map;
  uint32_t goals[PATHSTORM_PLACES + PATHSTORM_FORBIDDEN]; /* cells: those that walkers can reach come first */
  pathstorm_field fields[PATHSTORM_FIELDS];
  pathstorm_grant *grants; /* of each walker */
  pathstorm_solver solvers[PATHSTORM_SOLVERS];
  muster_type solver_type, walker_type;
  muster_agent solver_ids[PATHSTORM_SOLVERS];
  muster_agent *walker_ids;
  muster_observer *observers;
  muster_position *places;
  /* between frames alone */
  uint64_t begin_ns, now_ns;
  bool begun;
  uint32_t order;   /* that is being given; 0: none yet */
  uint32_t ordered; /* walkers that were sent it */
};

/* A random number of the seed, for the number-th of what has this purpose. Pure. */
uint64_t pathstorm_random(const pathstorm *self, uint64_t number, uint64_t purpose);

/* The middle of a cell; cells are a metre wide. */
muster_position pathstorm_position(const pathstorm *self, uint32_t cell);

/* What an order demands of a walker: a place in pathstorm.goals. Pure. */
uint32_t pathstorm_place_of(const pathstorm *self, uint32_t order, uint32_t walker);

/* Who searches for a place. Pure. */
uint32_t pathstorm_solver_of(uint32_t place);

/* Whether the map lets anybody from one cell to the other. Pure. */
bool pathstorm_is_reachable(const pathstorm *self, uint32_t from, uint32_t to);

/* Names the numbers of the world, `violations` of the invariants among them. Thread of the frames, between frames. */
void pathstorm_report(void *instance, const muster_world *world, muster_module_emit emit, void *emit_user);

#endif
