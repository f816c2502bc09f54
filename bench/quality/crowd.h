/* crowd.h - the agents that every rule keeps fresh, the age of each, and the optimal periods.
 */
#ifndef BENCH_CROWD_H
#define BENCH_CROWD_H

#include <muster/muster.h>
#include <stdbool.h>
#include <stdint.h>

#define CROWD_FRAME_NS 50000000u

enum { CROWD_TYPES_MAX = 4, CROWD_ATOMS_MAX = 16 };

typedef struct crowd_type {
  uint32_t cost_ns, atoms;           /* C, of this many equal atoms; at most CROWD_ATOMS_MAX */
  uint64_t period_ns, period_max_ns; /* T_io, T_imax */
} crowd_type;

/* A crowd on a square, with observers anywhere in it. */
typedef struct crowd_def {
  uint32_t agents_per_observer;
  uint32_t type_count;
  crowd_type types[CROWD_TYPES_MAX];
} crowd_def;

typedef struct crowd_place {
  muster_position position;
  uint32_t partition;
} crowd_place;

typedef struct crowd_member {
  crowd_place place;
  uint32_t type;
  double distance_m; /* to the nearest observer */
  double importance;
  double weight; /* w_i, of the current judge */
  double cost_s, shortest_s, longest_s;
  double period_s;  /* the optimal period */
  uint32_t every;   /* frames between two updates, by a rule that counts them */
  double last_s;    /* last update */
  uint32_t updates; /* that took their cost */
  double aged;      /* integral of its age since the window began, s^2 */
} crowd_member;

struct crowd {
  uint64_t seed;
  double sigma; /* of the logarithms of what updates cost; 0: each what its member costs */
  uint32_t type_count;
  crowd_type types[CROWD_TYPES_MAX];
  uint32_t count, observer_count;
  crowd_member *members;
  crowd_place *observers;
  double now_s, window_s; /* time, and when the window began */
  double spent_s;         /* CPU since then */
};

/* Draws a crowd on a square, as dense for any number of agents; at least one observer. */
bool crowd_open(struct crowd *crowd, const crowd_def *def, uint32_t agents, uint64_t seed);

/* The agents and observers of a spawn file at their places, with the costs and periods that the population module gives
 * to each kind. Repeats them, each copy in a world of its own, until there are `agents_least` or more agents: in a
 * small crowd a frame's CPU is hardly an update. The message of a failure is in muster_last_error(). */
bool crowd_open_spawns(struct crowd *crowd, const char *path, uint32_t agents_least, uint64_t seed);

/* The steps of the two functions above. Reserve takes memory for members and observers; put gives a member its place
 * and its type, when the types and all observers are in the crowd. False when out of memory; crowd_close is due after
 * any failure, too. */
bool crowd_reserve(struct crowd *crowd, uint32_t agents, uint32_t observers);
void crowd_put(struct crowd *crowd, uint32_t number, crowd_place place, uint32_t type);
void crowd_close(struct crowd *crowd);

/* CPU that all agents take at the shortest periods, and at the longest, their wish, in seconds per second. */
double crowd_demand(const struct crowd *crowd, double *wish);

/* Weights become 2^(octaves x importance). */
void crowd_weigh(struct crowd *crowd, double octaves);

/* Sets members for the factor in low .. high at which they take this much CPU. `cpu_of` sets them for a factor and
 * returns the CPU that they take then, which falls as the factor grows. */
typedef double crowd_cpu_function(struct crowd *crowd, double factor, double stretch);
void crowd_fit(struct crowd *crowd, double low, double high, double stretch, double cpu, crowd_cpu_function *cpu_of);

/* Sets every member's period_s to the optimum for this much CPU, where periods may be `stretch` times the longest;
 * returns the staleness in ms. */
double crowd_solve(struct crowd *crowd, double cpu, double stretch);

/* Back to time zero, every agent fresh. */
void crowd_restart(struct crowd *crowd);

/* The window in which ages and CPU count begins now. */
void crowd_begin_window(struct crowd *crowd);

/* A member is fresh now. May be called for several members at a time. */
void crowd_refresh(const struct crowd *crowd, crowd_member *member);

/* The same at a cost, which is returned, in seconds. */
double crowd_update(struct crowd *crowd, crowd_member *member);

/* The weighted staleness in ms from the window's beginning until now; agents that never ran count with their age. */
double crowd_staleness(const struct crowd *crowd);

/* A random number for a purpose. */
uint64_t crowd_random(uint64_t seed, uint64_t purpose, uint64_t index);

#endif
