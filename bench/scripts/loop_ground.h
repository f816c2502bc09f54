/* loop_ground.h - where the agents of the one-state loop are: columns, and a grid of cells with lists of agents, as
 * servers have one. */
#ifndef BENCH_LOOP_GROUND_H
#define BENCH_LOOP_GROUND_H

#include <stdbool.h>
#include <stdint.h>

enum { LOOP_FIELDS = 16, LOOP_NEAREST_MOST = 64 };
#define LOOP_NONE UINT32_MAX

/* What an agent published under a name of its type: nil, a boolean, a whole number or another one. */
typedef struct loop_field {
  int kind; /* of lua_type(); 256 = a whole number */
  union {
    int64_t integer;
    double number;
  };
} loop_field;

typedef struct loop_agent {
  double x, y;
  uint32_t type;       /* LOOP_NONE = nobody is here */
  uint32_t generation; /* how many were here before */
  uint32_t cell, next, last;
  loop_field fields[LOOP_FIELDS];
} loop_agent;

typedef struct loop_ground {
  loop_agent *agents;
  uint32_t count, room; /* indices that were used; and that there are */
  uint32_t *free, free_count;
  uint32_t *cells; /* the first agent of each */
  uint32_t side;   /* cells on an edge */
  double cell_m;
} loop_ground;

typedef struct loop_near {
  uint32_t agent;
  double distance_m;
} loop_near;

/* A square around 0, 0 of `side_m`, with room for so many agents. False without memory. */
bool loop_ground_open(loop_ground *ground, uint32_t room, double side_m, double cell_m);
void loop_ground_close(loop_ground *ground);

/* The index of a new agent; LOOP_NONE without room. */
uint32_t loop_ground_add(loop_ground *ground, uint32_t type, double x, double y);
void loop_ground_remove(loop_ground *ground, uint32_t agent);
void loop_ground_move(loop_ground *ground, uint32_t agent, double x, double y);

/* The nearest others within `radius_m`, at most `most`, the nearest first; of `type`, or with LOOP_NONE of any. */
uint32_t loop_ground_nearby(const loop_ground *ground, uint32_t agent, double radius_m, uint32_t type, uint32_t most,
                            loop_near near[LOOP_NEAREST_MOST]);

/* Ids as scripts know them. */
static inline int64_t loop_ground_id(const loop_ground *ground, uint32_t agent) {
  return (int64_t)((uint64_t)(ground->agents[agent].generation + 1) << 32 | agent);
}

/* The index of an agent that is there; else LOOP_NONE. */
static inline uint32_t loop_ground_find(const loop_ground *ground, int64_t id) {
  uint32_t agent = (uint32_t)id;
  if (agent >= ground->count || ground->agents[agent].type == LOOP_NONE) return LOOP_NONE;
  return loop_ground_id(ground, agent) == id ? agent : LOOP_NONE;
}

#endif
