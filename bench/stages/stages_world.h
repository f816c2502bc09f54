/* stages_world.h - a world that is measured, and what its frames took. */
#ifndef BENCH_STAGES_WORLD_H
#define BENCH_STAGES_WORLD_H

#include "stages.h"
#include "work.h"

#define STAGES_FRAME_NS 33333333u

/* What the worlds share: the pool, so that its threads are all that there are beside the caller, and the memory that is
 * written between frames. */
typedef struct stages_shared {
  muster_pool *pool;
  work_threads threads;
  uint32_t workers, turns; /* of work, in an update */
  uint8_t *evicted;
  uint64_t evicted_bytes;
} stages_shared;

typedef struct stages_world_def {
  uint32_t agents;
  uint64_t period_ns, period_max_ns; /* 0: agents run when they are woken */
  muster_elastic elastic;
  bool walking; /* observers walk in each frame */
} stages_world_def;

struct stages_world {
  const stages_shared *shared;
  muster_world *world;
  muster_type type;
  stages_world_def def;
  muster_agent *agents;
  muster_observer observers[STAGES_OBSERVERS];
  muster_position places[STAGES_OBSERVERS];
  uint64_t random, budget_ns;
  uint64_t now_ns;    /* simulation time */
  uint64_t next_ns;   /* when the next frame is due on the wall */
  uint64_t others_ns; /* CPU of the other workers in the last frame */
  bool disturbed;     /* another thread had the caller's processor during the last frame */
  muster_frame_report report;
};

/* How frames follow each other. */
typedef enum stages_pace {
  STAGES_AT_ONCE = 0,
  STAGES_COLD, /* behind a walk through more memory than the caches hold */
  STAGES_PACED /* the same, and then a sleep until the frame is due: 30 in a second */
} stages_pace;

/* Opens the pool and the memory; false: muster_last_error() or out of memory. */
bool stages_shared_open(stages_shared *shared, const stages_setup *setup);
void stages_shared_close(stages_shared *shared);

/* Creates a world with all its agents in it. False: muster_last_error(). What is open is closed by
 * stages_world_close(), also what failed to open. */
bool stages_world_open(struct stages_world *world, const stages_shared *shared, const stages_world_def *def);
void stages_world_close(struct stages_world *world);

/* Runs a frame and reads its report. */
bool stages_world_frame(struct stages_world *world, stages_pace pace);
bool stages_world_frames(struct stages_world *world, stages_pace pace, uint32_t frames);

/* Wakes all agents. */
bool stages_world_wake(struct stages_world *world);

/* Bytes of scheduling per agent; 0 when they cannot be read. */
double stages_world_bytes(const struct stages_world *world);

#endif
