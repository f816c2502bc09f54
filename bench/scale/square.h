/* square.h - the world that is measured: agents all over a square of 10 km, and observers that stand or walk. */
#ifndef BENCH_SQUARE_H
#define BENCH_SQUARE_H

#include "scale.h"
#include "work.h"

#include <muster/muster.h>

#define SQUARE_FRAME_NS 33333333u

/* The state of an agent. */
typedef struct creature {
  float x, speed;
} creature;

typedef struct square_walker {
  muster_position begin;
  double east_m, north_m; /* a step of its walk */
  uint32_t steps_before;  /* so that they do not all turn in the same frame */
} square_walker;

typedef struct square_def {
  uint32_t agents_max, observers, workers;
  uint64_t period_ns;
  uint64_t budget_ns; /* of a frame */
  bool audit;
} square_def;

struct square {
  muster_pool *pool;
  muster_world *world;
  muster_type type;
  work_threads threads; /* of the process, all pools' */
  square_walker *walkers;
  muster_observer *observers; /* the walkers' ids and places, as one call takes them */
  muster_position *places;
  uint32_t walker_count;
  uint64_t walked_frames;
  uint64_t random;
  uint64_t budget_ns;
  uint64_t now_ns;            /* simulation time */
  muster_frame_report report; /* of the last frame */
};

/* The period that makes SCALE_UPDATES_PER_FRAME of so many agents due in a frame. */
uint64_t square_period(uint32_t agents);

/* The message of the last failure here. */
const char *square_wrong(void);

/* Creates pool and world with the observers in it. False: see square_wrong, here and below. What is opened, and what
 * failed to open, is closed by square_close. */
bool square_open(struct square *square, const square_def *def);
void square_close(struct square *square);

/* The next random number. */
uint64_t square_random(struct square *square);

/* The state that the next agent begins with. */
creature square_creature(struct square *square);

/* Queues a new agent anywhere in the square; null: see square_wrong. */
muster_agent square_spawn(struct square *square);

/* Queues so many agents and runs frames until all are in. */
bool square_populate(struct square *square, uint32_t agents);

/* Runs a frame and reads its report. */
bool square_frame(struct square *square);

/* Runs frames. */
bool square_frames(struct square *square, uint32_t frames);

/* Moves every observer by as much as it walks in a frame. */
void square_walk(struct square *square);

/* The atom of an agent, for the plain loop. */
muster_atom_result square_live(muster_update *update);

#endif
