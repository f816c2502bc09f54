/* service/api_bodies.h - parses the bodies of control requests into structs. Each reader takes a body of JSON and fills
 * its struct completely, or tells the problem and leaves nothing behind. They know neither HTTP nor worlds. Any
 * thread. */
#ifndef SERVICE_API_BODIES_H
#define SERVICE_API_BODIES_H

#include "service/api_read.h"

#include <muster/tune.h>

enum { SPAWNS_MAX = 4096, SPAWN_TYPES_MAX = 64, TYPE_NAME_BYTES = 32 };

/* PATCH of a world; members that were not given stay unchanged. */
typedef struct world_change {
  uint64_t budget_ns; /* 0 = leave */
  float hz;           /* 0 = leave */
  uint64_t rate;      /* the same in frames per 1000 seconds */
  char policy[24];    /* its weights are in the tuning; "" = none */
  bool has_paused, paused, has_workers;
  uint32_t workers; /* 0 = all */
  bool tunes;       /* a member of the following was given */
  muster_world_tuning tuning;
} world_change;

/* Reads one. */
bool world_change_read(const void *body, size_t bytes, void *out, api_problem *problem);

/* POST of agents: all or none. */
typedef struct spawn_one {
  uint32_t name;        /* into names */
  muster_agent_def def; /* without its type */
} spawn_one;

typedef struct spawn_order {
  char names[SPAWN_TYPES_MAX][TYPE_NAME_BYTES]; /* of types */
  uint32_t name_count, count;
  spawn_one *agents; /* owned */
} spawn_order;

/* Reads one, to be released with spawn_order_release. */
bool spawn_order_read(const void *body, size_t bytes, void *out, api_problem *problem);

/* Frees what was read; a second call does nothing. */
void spawn_order_release(void *order);

/* PATCH of an agent. */
bool agent_tuning_read(const void *body, size_t bytes, void *out /* muster_agent_tuning */, api_problem *problem);

/* A place: {"x", "y", "z"}. */
bool position_read(const void *body, size_t bytes, void *out /* muster_position */, api_problem *problem);

/* POST of an observer. */
bool observer_read(const void *body, size_t bytes, void *out /* muster_observer_def */, api_problem *problem);

/* POST of a wake: without a body it wakes at once; {"at_ns"} asks for a time. */
typedef struct wake_order {
  bool has_time;
  uint64_t at_ns;
} wake_order;

/* Reads one. */
bool wake_order_read(const void *body, size_t bytes, void *out, api_problem *problem);

/* {"frames": 1 .. 1,000,000}. */
bool step_read(const void *body, size_t bytes, void *out /* uint32_t */, api_problem *problem);

/* {"priority": 0 .. 100}. */
bool priority_read(const void *body, size_t bytes, void *out /* uint32_t */, api_problem *problem);

/* Periods of a type, or of an agent. */
typedef struct periods_order {
  uint64_t period_ns, period_max_ns;
} periods_order;

/* {"period_ns": 100 us .. 24 h, "period_max_ns"}; 0 = back to what they were. */
bool periods_read(const void *body, size_t bytes, void *out /* periods_order */, api_problem *problem);

/* {"node": "name"}; and {"drain": true}. */
bool node_name_read(const void *body, size_t bytes, void *out /* char[32] */, api_problem *problem);
bool drain_read(const void *body, size_t bytes, void *out /* bool */, api_problem *problem);

/* {"module": "name"}. */
bool module_name_read(const void *body, size_t bytes, void *out /* char[32] */, api_problem *problem);

#endif
