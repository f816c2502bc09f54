/* top.h - what the files of `muster top` share: what was asked of the daemon, and the ways to show it. */
#ifndef TOOLS_TOP_H
#define TOOLS_TOP_H

#include "ctl.h"

#include <muster/report.h>

enum {
  TOP_TYPES_MAX = 256,
  TOP_WORLDS_MAX = 16,
  TOP_LEVELS = 4,
  TOP_HISTORY = 512,
  TOP_NAME_BYTES = 64,
  TOP_ID_BYTES = 24,
  TOP_LIST_MAX = 50
};

typedef enum top_order { TOP_BY_COST = 0, TOP_BY_MEAN, TOP_BY_HIGH, TOP_BY_AGENTS, TOP_BY_NAME, TOP_ORDERS } top_order;

typedef struct top_type {
  char name[TOP_NAME_BYTES];
  uint64_t agents;
  uint64_t levels[TOP_LEVELS];
  double mean_ns, high_ns; /* of an update: mean and 95th percentile, weighted by agents per level */
  double share;            /* of what one update of every agent costs, 0..1 */
  bool quarantined;
} top_type;

typedef struct top_world {
  char name[TOP_NAME_BYTES], module[TOP_NAME_BYTES];
  bool paused, failed;
  uint64_t frames, sim_now_ns, budget_ns, agents, levels[TOP_LEVELS];
  double hz, pressure, share;
  uint64_t wall_ns, overrun_ns, released, completed, carried, preempted, woken;
  double desired, fitted; /* utilisation, workers */
  uint64_t agents_quarantined, bytes;
  muster_band bands[MUSTER_BANDS]; /* by importance; intervals are since the look before, if there was one */
} top_world;

typedef struct top_agent {
  char id[TOP_ID_BYTES], type[TOP_NAME_BYTES];
  double importance, load; /* load: the part of a processor that it takes */
  uint64_t late_ns, period_ns, cost_ns, level;
} top_agent;

/* The agents that stand out, the first the most; and those that a search found. */
typedef enum top_list_kind { TOP_DELAYED = 0, TOP_EXPENSIVE, TOP_IMPORTANT, TOP_FOUND, TOP_LISTS } top_list_kind;

typedef struct top_list {
  uint32_t count;
  top_agent agents[TOP_LIST_MAX];
} top_list;

typedef struct top_observer {
  char id[TOP_ID_BYTES];
  double x, y, z, near_m, far_m;
  bool held;
} top_observer;

/* What was seen at each look, the latest last. */
typedef struct top_history {
  double values[TOP_HISTORY];
  uint32_t count;
} top_history;

typedef struct top_state {
  ctl_options ctl;
  char wanted[TOP_NAME_BYTES]; /* the world that is shown; empty until one was seen */
  top_world world;             /* as of the last look */
  struct json_t *bands;        /* as the daemon told of them */
  struct json_t *processes;    /* of all worlds, as the daemon told of them; empty: all run in one */
  bool absent;                 /* the world does not run: its figures are none, and the verdict says why */
  char others[512];            /* of the other worlds that do not run the first, and why; empty = none */
  uint32_t world_index, world_count;
  char names[TOP_WORLDS_MAX][TOP_NAME_BYTES];
  uint64_t workers;
  char verdict[512], next[256];     /* how it does, and what to do then, in words */
  char severity[16];                /* good, notice, warning or alarm */
  uint32_t type_count, types_shown; /* shown: those that the search leaves; they come first */
  top_type types[TOP_TYPES_MAX];
  char search[TOP_NAME_BYTES]; /* part of the name of a type, or the beginning of an id; empty = none */
  uint32_t list_rows;          /* how many agents and observers are asked for; 0 = none */
  top_list lists[TOP_LISTS];
  uint32_t observer_count;
  top_observer observers[TOP_LIST_MAX];
  top_order order;
  bool reversed;
  top_history wall, pressure, carried;
} top_state;

/* Asks for everything that is shown, and sorts it. False after a complaint; the state is then as it was. */
bool top_look(top_state *state);

/* Sorts the types anew, those that the search leaves first. */
void top_sort(top_state *state);

/* Whether the search is for the id of an agent. */
bool top_searches_id(const top_state *state);

/* Asks for the agents that stand out, for those that are searched and for observers, `list_rows` of each. False after a
 * complaint. */
bool top_look_at_lists(top_state *state);

/* The name of an order, as the table's head has it. */
const char *top_order_name(top_order order);

/* Sends {member: value} to the world: by PATCH, or by POST to what `end` names of it, such as "/step". The value is
 * released. False after a complaint. */
bool top_change(const top_state *state, const char *end, const char *member, struct json_t *value);

/* Prints the state as plain text. */
void top_print(const top_state *state);

/* Prints the state as one JSON object on a line of its own. */
void top_print_json(const top_state *state);

/* Shows it on a terminal until it is told to quit; looks every interval_ms. The exit status. */
int top_screen(top_state *state, int interval_ms);

/* ------------------------------------------------------------------------------------------------- small drawings */

enum { TOP_DRAWING_BYTES = 2048 };

/* A bar of `cells` cells for `value` on a scale from 0 to `full`, with a mark at `mark` (below 0 = none). */
const char *top_bar(char out[TOP_DRAWING_BYTES], int cells, double value, double mark, double full);

/* The last `cells` values as little columns, the highest of them or `least_full` full; Unicode blocks, or ASCII where
 * the terminal has no UTF-8. */
const char *top_sparkline(char out[TOP_DRAWING_BYTES], int cells, const top_history *history, double least_full,
                          bool unicode);

/* The head of the table of types, or a type's row: the name in so many cells, of at most `most` characters. */
const char *top_types_head(char out[TOP_DRAWING_BYTES], int cells);
const char *top_types_row(char out[TOP_DRAWING_BYTES], int cells, int most, const top_type *type);

/* The name of a list, as its head has it. */
const char *top_list_name(top_list_kind kind);

/* The head of a list of agents, and an agent's row; and those of observers. */
const char *top_agents_head(char out[TOP_DRAWING_BYTES], top_list_kind kind);
const char *top_agents_row(char out[TOP_DRAWING_BYTES], const top_agent *agent);
const char *top_observers_head(char out[TOP_DRAWING_BYTES]);
const char *top_observers_row(char out[TOP_DRAWING_BYTES], const top_observer *observer);

/* "1:02:03" of simulation time. */
const char *top_time(char out[TOP_DRAWING_BYTES], uint64_t ns);

#endif
