/* worlds/pathstorm.h - all walkers are ordered across a large map at once, again and again, and each asks for a way.
 *
 *     pathstorm.c          the module: open, the first agents, the orders
 *     pathstorm_map.c      cells, exits and regions; pathstorm_build.c: what stands there
 *     pathstorm_search.c   A* over the whole map, which can be left and taken up again
 *     pathstorm_fields.c   search results: which walkers follow them, and what is remembered
 *     pathstorm_solver.c   agents that search
 *     pathstorm_walker.c   agents that ask, check their way and go it
 *     pathstorm_report.c   the numbers and the invariants
 *
 *     host --order--> walker --request--> solver: search, slice by slice --answer--> walker: survey, follow, move
 *
 * All of it passes as messages. A goal has one solver, which takes its requests up one goal after the other; a search
 * answers every walker that waits for its goal, as soon as the walker's start is closed. What it closed is never
 * written again while a walker follows it, so walkers read their ways there; only action atoms note which walker may
 * follow which field. */
#ifndef WORLDS_PATHSTORM_H
#define WORLDS_PATHSTORM_H

#include "pathstorm_search.h"
#include "scenarios/scaffold.h"

enum {
  PATHSTORM_SOLVERS = 4,
  PATHSTORM_PLACES = 64,     /* goals of one world that the walkers can reach */
  PATHSTORM_FORBIDDEN = 4,   /* goals that they cannot reach */
  PATHSTORM_GOALS = 8,       /* places that one order names */
  PATHSTORM_FIELDS = 48,     /* searches whose result is kept at a time */
  PATHSTORM_INBOX_MAX = 1024 /* requests that wait for a solver's next update */
};

#define PATHSTORM_NONE UINT32_MAX

typedef struct pathstorm pathstorm;

/* --------------------------------------------------------------------------------------------------------- messages */

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
  uint32_t field; /* its ways lead to the goal; PATHSTORM_NONE: there is no way */
} pathstorm_answer;

/* ----------------------------------------------------------------------------------------------------------- fields */

typedef enum pathstorm_knowledge {
  PATHSTORM_UNUSED = 0,
  PATHSTORM_SEARCHED, /* a solver searches now */
  PATHSTORM_PARTLY,   /* closed cells have their way; of the others nothing is known */
  PATHSTORM_ALL       /* cells that are not closed cannot reach the goal */
} pathstorm_knowledge;

/* What one search found. */
typedef struct pathstorm_field {
  uint8_t *ways;
  uint32_t goal;
  uint32_t followers; /* walkers that were answered with it */
  pathstorm_knowledge knowledge;
  uint64_t kept_until_ns; /* it is remembered until then, even without followers */
} pathstorm_field;

/* The field that a walker may read, granted by an answer to its order of this number. */
typedef struct pathstorm_grant {
  uint32_t field, order;
} pathstorm_grant;

/* The following functions are for action atoms and the thread of the frames: they run one at a time, in agent order. */

/* Takes a field for a search to this goal: a free one, or one without followers that is only remembered. PATHSTORM_NONE
 * when there is none. */
uint32_t pathstorm_field_take(pathstorm *self, uint32_t goal, uint64_t now_ns);

/* A search in a field ended. The flag says whether all cells that can reach the goal are known; such a result is
 * remembered for a while. */
void pathstorm_field_keep(pathstorm *self, uint32_t field, bool knows_all, uint64_t now_ns);

/* A field in which no search runs any more and which has a result for a goal; PATHSTORM_NONE when there is none. */
uint32_t pathstorm_field_about(const pathstorm *self, uint32_t goal, uint64_t now_ns);

/* Grants the walker this field in place of the one before. */
void pathstorm_field_grant(pathstorm *self, uint32_t walker, uint32_t order, uint32_t field);

/* Takes back the walker's grant, unless it was given for an order after this one. */
void pathstorm_field_return(pathstorm *self, uint32_t walker, uint32_t order);

/* ---------------------------------------------------------------------------------------------------------- solvers */

/* A request that waits. */
typedef struct pathstorm_waiting {
  muster_agent walker;
  pathstorm_request request;
  uint64_t sequence; /* the order of arrival */
  bool first;        /* the search was begun for this request */
} pathstorm_waiting;

/* A solver's memory. Only its own atoms write it. */
typedef struct pathstorm_solver {
  pathstorm *self;
  pathstorm_search search;
  uint32_t field;   /* in which it searches; PATHSTORM_NONE: no search */
  uint32_t cleared; /* parts of the field cleared before the search begins */
  bool begun;       /* the search has begun */
  bool begins;      /* as of the last commit: the next update begins the search */
  bool busy;        /* there is something to search */
  bool has_news;    /* some waiting walkers can be answered */
  uint32_t waits;   /* entries of waiting */
  uint64_t sequence;
  pathstorm_waiting *waiting;
  uint32_t *entry_of; /* by walker number: index in waiting, or PATHSTORM_NONE */
  uint32_t *answered; /* by walker number: the last order that was answered */
  muster_message inbox[PATHSTORM_INBOX_MAX];
} pathstorm_solver;

/* A solver's private state: what it did. */
typedef struct pathstorm_solver_state {
  uint32_t number;                        /* in pathstorm.solvers */
  uint64_t requests, repeated, overtaken; /* received; received before; replaced by a later one of the same walker */
  uint64_t searches, exhausted;           /* begun; ended with all reachable cells closed */
  /* Answers: to the walker for which a search was begun; to others; from memory; how many of all say that there is no
   * way. */
  uint64_t found, shared, remembered, unreachable;
  uint64_t expanded;       /* cells that were taken from open lists */
  uint64_t largest_search; /* cells expanded in one search */
  uint32_t largest_call;   /* cells expanded in one call of an atom */
  uint32_t slices;         /* calls that expanded something */
  uint32_t kept_waiting;   /* updates in which no field was free */
  uint32_t sends_refused;
  uint64_t searched; /* cells expanded by the running search */
} pathstorm_solver_state;

/* Registers the type; spawns the solvers. Thread of the frames, between frames. */
muster_result pathstorm_solvers_register(pathstorm *self, muster_world *world);
muster_result pathstorm_solvers_spawn(void *instance, muster_world *world);

/* Memory of all solvers. False when it is refused. */
bool pathstorm_solvers_create(pathstorm *self);
void pathstorm_solvers_destroy(pathstorm *self);

/* ---------------------------------------------------------------------------------------------------------- walkers */

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
  uint32_t order, goal;    /* the last one, and the cell that it names */
  uint32_t solver;         /* the number of the solver that it asks */
  uint32_t field;          /* that the walker follows */
  uint32_t surveyed, left; /* cell that the survey got to; steps that the survey may still take */
  pathstorm_stage stage;
  bool moved; /* and has not yet told Muster its place */
  float ahead_m;
  uint64_t ordered_ns; /* when the order was sent */
  uint64_t longest_ns; /* the longest time from an order to its answer */
  uint64_t orders, orders_reachable, requests;
  uint64_t answers_way, answers_none; /* to the orders */
  uint64_t unanswered;                /* orders that were overtaken by a later one */
  uint64_t twice, wrong, invalid;     /* answers: repeated; contrary to the map; ways that do not lead there */
  uint64_t arrivals, steps, surveyed_steps, seen;
} pathstorm_walker_state;

/* Registers both types; spawns a walker. Thread of the frames, between frames. */
muster_result pathstorm_register(void *instance, muster_world *world);
muster_result pathstorm_walker_spawn(void *instance, muster_world *world, uint32_t number);

/* --------------------------------------------------------------------------------------------------------- together */

struct pathstorm {
  scaffold base; /* its agents are the walkers */
  pathstorm_map map;
  uint32_t goals[PATHSTORM_PLACES + PATHSTORM_FORBIDDEN]; /* cells; goals that walkers can reach come first */
  pathstorm_field fields[PATHSTORM_FIELDS];
  pathstorm_grant *grants; /* of each walker */
  pathstorm_solver solvers[PATHSTORM_SOLVERS];
  muster_type solver_type, walker_type;
  muster_agent solver_ids[PATHSTORM_SOLVERS];
  muster_agent *walker_ids;
  /* only written between frames */
  uint32_t order;   /* that is being given; 0: none yet */
  uint32_t ordered; /* walkers that were sent it */
};

/* Whether a search is one atom. Pure. */
bool pathstorm_is_whole(const pathstorm *self);

/* A random number from the seed, for the number-th thing of this purpose. Pure. */
uint64_t pathstorm_random(const pathstorm *self, uint64_t number, uint64_t purpose);

/* The middle of a cell; cells are a metre wide. */
muster_position pathstorm_position(const pathstorm *self, uint32_t cell);

/* The goal that an order gives a walker: an index in pathstorm.goals. Pure. */
uint32_t pathstorm_place_of(const pathstorm *self, uint32_t order, uint32_t walker);

/* Whether the map has a way from one cell to the other. Pure. */
bool pathstorm_is_reachable(const pathstorm *self, uint32_t from, uint32_t to);

/* The report: the numbers of the world, `violations` of the invariants among them. */
extern const scaffold_line pathstorm_lines[];

/* Counts an agent in; thread of the frames. */
void pathstorm_count(const scaffold_look *look);

/* What the sums come to; thread of the frames. */
void pathstorm_conclude(const scaffold_look *look);

#endif
