/* stress_world.h - the world that `muster stress` raises: a square of 4 km, on the public headers alone.
 *
 *     walker     looks for its 8 nearest neighbours, works, and walks around its home
 *     planner    one agent in 16; its update costs more, and it looks at no other agent
 *     courier    is exempt: it runs in each frame, and sends STRESS_LETTERS messages to other couriers
 *     visitor    is spawned by the host, and removed after a second
 *     sleeper    runs when the host wakes it, in each frame
 *
 * Walkers and planners are the agents of a load; the others come with messages, spawns and wakes. Observers walk to and
 * fro. In a crowd all of them stand in one cell of the ground. */
#ifndef BENCH_STRESS_WORLD_H
#define BENCH_STRESS_WORLD_H

#include "stress.h"

enum {
  STRESS_LETTERS = 16,
  STRESS_AGENTS_MOST = 8000000,
  STRESS_EVENTS_MOST = 1000000,  /* messages, spawns or wakes of a frame */
  STRESS_VISITORS_MOST = 3000000 /* that live at once */
};

typedef struct stress_world_def {
  stress_load load;
  uint64_t cost_ns;         /* of an update's work */
  uint64_t planner_cost_ns; /* of a planner's */
  uint64_t budget_ns, frame_ns, seed;
} stress_world_def;

typedef struct stress_world stress_world;

/* How many visitors live at once. */
uint64_t stress_visitors(const stress_load *load, uint64_t frame_ns);

/* Creates a pool and a world in which all agents have been asked for. Before it, work_calibrate() of work.h was called
 * once. Null with the reason in muster_last_error(). Thread of the frames, as all of these. */
stress_world *stress_world_create(const stress_world_def *def);

/* Null is a no-op. */
void stress_world_destroy(stress_world *world);

/* What a host does between two frames: observers walk, agents come and go, sleepers are woken. Then the frame, and its
 * report. False with the reason in muster_last_error(). */
bool stress_world_frame(stress_world *world, muster_frame_report *report);

/* Runs a frame in which agents come in, and nothing else is asked for. `in`: all are in. */
bool stress_world_let_in(stress_world *world, bool *in);

/* Clears the world's statistics, and what is counted beside them. */
void stress_world_clear(stress_world *world);

/* Reads the statistics and the figures that the world itself has: types, what the host brings and what it was
 * refused. */
bool stress_world_read(const stress_world *world, muster_statistics *statistics, stress_figures *figures);

#endif
