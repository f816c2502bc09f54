/* scale.h - what scheduling costs beside the updates themselves, from a thousand agents to millions, with few observers
 * and with thousands: on a square of 10 km, with 30 frames per second of simulation, through the public headers.
 *
 * An update is a few floating-point operations on 8 bytes of state. A period is what makes SCALE_UPDATES_PER_FRAME
 * updates due in a frame, or all agents in each frame where there are fewer. */
#ifndef BENCH_SCALE_H
#define BENCH_SCALE_H

#include <stdbool.h>
#include <stdint.h>

enum {
  SCALE_UPDATES_PER_FRAME = 2000,
  SCALE_AGENTS_MIN = 1000, /* fewer would not make enough updates due to divide the cost of a frame by */
  SCALE_AGENTS_MAX = 15999999,
  SCALE_ROUNDS_MAX = 64,
  SCALE_SPAWNED = 100000,
  SCALE_SPAWNED_QUICK = 10000,
  SCALE_OBSERVERS_OF_SPAWNING = 100
};

typedef struct scale_setup {
  uint32_t agents, observers, workers;
  uint32_t rounds;                             /* that the medians are of; 1..SCALE_ROUNDS_MAX */
  bool quick;                                  /* a few frames, to see that it works */
  void (*show)(const char *doing, void *user); /* called before each step; null = not wanted */
  void *user;
} scale_setup;

typedef struct scale_row {
  uint32_t agents, observers, workers;
  double updates_per_frame;
  double loop_ns_per_update; /* of a plain loop over the same callbacks on as many states in random order */
  double ns_per_update;      /* overhead: CPU of all threads in frames less that of the plain loop, over the updates;
                                observers stand still. Median of the rounds, and their range: */
  double ns_per_update_lowest, ns_per_update_highest;
  double ns_per_frame;          /* overhead of all the updates of a frame */
  double walking_ns_per_update; /* overhead while every observer walks at 1.4 m/s */
  double walking_ns_per_frame;
  double score_ns;           /* the score stage, mean of the frames in which the observers walk */
  double idle_frame_ns;      /* wall time of a frame in which nothing is due and nothing has changed: median */
  double bytes_per_agent;    /* of scheduling, as the world counts them */
  double resident_per_agent; /* by how much creating, populating and 20 frames made the process grow, less the states */
} scale_row;

/* SCALE_SPAWNED agents that come at once into an empty square and are removed at once, in random order. */
typedef struct scale_spawning {
  uint32_t agents, observers, workers;
  double spawn_ns, remove_ns;                 /* per agent: CPU of the calls and of the frames that carried them out */
  double spawn_frames, remove_frames, frames; /* that it took; frames is their sum. Medians of the rounds, as above */
  uint32_t frames_over_budget; /* of all rounds: own time after the deadline of 10 ms above the longest atom + 20 us */
} scale_spawning;

/* Takes the measures of one row. Null, or what went wrong (valid until the next call). */
const char *scale_measure(const scale_setup *setup, scale_row *row);

/* The same for spawning; of the setup only workers, rounds, quick and show matter. */
const char *scale_measure_spawning(const scale_setup *setup, scale_spawning *row);

/* Memory that a measure of so many agents takes, and what the machine has left; UINT64_MAX where that is unknown. */
uint64_t scale_bytes_needed(uint32_t agents);
uint64_t scale_bytes_available(void);

/* Bytes of this process that are in memory now; 0 where the system does not tell. */
uint64_t scale_bytes_resident(void);

#endif
