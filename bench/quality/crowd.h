/* crowd.h - who is kept fresh: the agents that all rules are given, how old each of them is, and what is best for them.
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <stdbool.h>
#include <stdint.h>

#define CROWD_FRAME_NS 20000000u

enum { CROWD_TYPES_MAX = 4 };

typedef struct crowd_def {
  const char *name, *summary;
  uint32_t type_count;
  uint32_t cost_ns[CROWD_TYPES_MAX];
  uint64_t period_ns, period_max_ns; /* T_io, T_imax */
} crowd_def;

typedef struct crowd_member {
  uint32_t type;
  float elasticity; /* set by hand; negative = left to Muster */
  double x, y;
  double distance_m; /* to the nearest observer */
  double weight;     /* w_i */
  double cost_s;
  double period_s; /* what is best */
  double last_s;   /* last update */
  double aged;     /* integral of its age since the window began, s^2 */
} crowd_member;

typedef struct crowd_place {
  double x, y;
} crowd_place;

typedef struct crowd {
  const crowd_def *def;
  uint32_t count, observer_count;
  crowd_member *members;
  crowd_place *observers;
  double now_s, window_s; /* time, and when the window began */
  double spent_s;         /* CPU since then */
} crowd;

/* Draws a crowd; both kinds of neighbours are as common for any number of agents. False when out of memory;
 * crowd_close is due either way. */
bool crowd_open(crowd *crowd, const crowd_def *def, uint32_t agents, uint64_t seed);
void crowd_close(crowd *crowd);

/* CPU that everybody at the shortest period takes, in seconds per second. */
double crowd_demand(const crowd *crowd);

/* Sets every member's period_s to what is best with so much CPU; returns the staleness in ms. */
double crowd_solve(crowd *crowd, double cpu);

/* Sets elasticities by which the elastic rule comes to the periods that were solved for: the updates per second that
 * each gives up. Or leaves them to Muster. */
void crowd_choose_elasticities(crowd *crowd);
void crowd_derive_elasticities(crowd *crowd);

/* Back to time zero, everybody fresh. */
void crowd_restart(crowd *crowd);

/* The window in which ages and CPU count begins now. */
void crowd_begin_window(crowd *crowd);

/* A member is updated now. */
void crowd_update(crowd *crowd, crowd_member *member);

/* The weighted staleness in ms from the window's beginning until now. */
double crowd_staleness(const crowd *crowd);

/* A random number for a purpose. */
uint64_t crowd_random(uint64_t seed, uint64_t purpose, uint64_t index);

#endif
