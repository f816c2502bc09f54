/* activation.h - what planned activation does to the load of frames, and what it costs.
 *
 * Peaks are measured in virtual time, the same on any machine: the fullest frame over the mean, and the coefficient of
 * variation of all, with and without planning; for whole worlds by what their frames released, and for plans of a whole
 * population ahead by the ring that they fill. Reserving is measured in CPU time: letting an agent that ran wait again,
 * with and without planning, in turn. */
#ifndef BENCH_ACTIVATION_H
#define BENCH_ACTIVATION_H

#include <stdbool.h>
#include <stdint.h>

enum {
  ACTIVATION_DELAY = 3,
  ACTIVATION_CASES = 9,
  ACTIVATION_RINGS = 4,
  ACTIVATION_RESERVATIONS = 4,
  ACTIVATION_ROUNDS_MOST = 64
};

typedef struct activation_load {
  double peak;      /* the fullest frame over the mean */
  double variation; /* standard deviation over the mean */
  double carried;   /* updates that waited at the end of a frame, on average */
} activation_load;

/* A world in which each agent has one of three periods, in frames; or in which all agents run in every frame, with
 * three sets that have these periods in updates and are three times as long as the rest. */
typedef struct activation_case {
  const char *name;
  uint32_t periods[3];
  uint32_t agents;
  double share; /* budget / what all agents want; above 1 = all have the nominal period */
  double most;  /* the largest peak allowed with planning; 0 = not checked */
  bool sets;
  activation_load plain, planned;
  bool within;
} activation_case;

/* The same periods, all agents beginning in one frame, or planned ahead. */
typedef struct activation_ring {
  const char *name;
  uint32_t periods[3];
  uint32_t cycle;              /* frames after which the load repeats */
  double most;                 /* as above */
  double together_peak;        /* without delays */
  double short_peak;           /* by ACTIVATION_DELAY at most */
  double whole_peak, whole_ns; /* by any part of the period, and the time that the plan took for each agent */
  bool within;                 /* the last peak */
} activation_ring;

/* One insertion, in ns of CPU. */
typedef struct activation_reservation_cost {
  uint32_t agents;
  uint64_t insertions;
  double plain_ns, planned_ns; /* putting an agent back, everything included */
  double reservation_ns;       /* the difference */
} activation_reservation_cost;

/* What rows are before they are measured: periods, populations and bounds are fixed. An empty row
 * ends them. */
extern const activation_case activation_cases[ACTIVATION_CASES + 1];
extern const activation_ring activation_rings[ACTIVATION_RINGS + 1];

/* Each measures one row. Null, or what went wrong. */
const char *activation_bench_case(uint64_t seed, activation_case *row);
const char *activation_bench_ring(activation_ring *row);

/* Rounds, at most ACTIVATION_ROUNDS_MOST, take turns with and without planning; medians. */
const char *activation_bench_reservations(uint32_t agents, uint32_t rounds, activation_reservation_cost *row);

#endif
