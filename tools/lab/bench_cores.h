/* bench_cores.h - what `muster bench cores` is asked for, and what it finds. */
#ifndef TOOLS_BENCH_CORES_H
#define TOOLS_BENCH_CORES_H

#include "benches.h"
#include "cores.h"
#include "host.h"

enum {
  CORES_ROWS = 6,
  CORES_ROUNDS_MAX = 32,
  CORES_COUNTS = 9, /* of workers: 1, 2, 4 .. 256 */
  CORES_FRAMES_MAX = 32,
  CORES_TARGET_WORKERS = 64
};

/* How the stages of a frame are seen: measured with one worker, while that is recorded, predicted for two, and measured
 * with two. */
enum { CORES_ONE, CORES_RECORDED, CORES_MODEL, CORES_TWO, CORES_VIEWS };

/* A world whose frames are measured. */
typedef struct cores_plan {
  const char *name;
  const muster_module *(*module)(void);
  uint64_t cost_ns;         /* of an update; 0: as the module has it */
  uint32_t agents, updates; /* updates: of a frame */
  double target;            /* times as fast with CORES_TARGET_WORKERS; 0: none */
} cores_plan;

extern const cores_plan cores_plans[CORES_ROWS];

/* Times of a frame in ns, per update of its own; medians of frames and then of rounds. */
typedef struct cores_row {
  bool measured;
  uint32_t agents, frames;                        /* frames: of a round */
  double updates;                                 /* of a frame */
  double recorded;                                /* with one worker, while it is recorded; */
  double moved;                                   /* and goes to and fro between two processors; 0: not measured */
  double wall[CORES_COUNTS];                      /* measured by 1 << i workers; 0: they are more than processors */
  double model[CORES_COUNTS], slow[CORES_COUNTS]; /* predicted; slow: with pessimistic costs */
  double off[CORES_COUNTS];                       /* by how much model exceeds wall, as a part of it; rounds in pairs */
  double speedup[CORES_COUNTS], slow_speedup[CORES_COUNTS];
  double stages[CORES_VIEWS][MUSTER_STAGES]; /* of a frame */
  double alone_ns;                           /* serial rest of a frame with CORES_TARGET_WORKERS; */
  uint32_t stretch_count;
  cores_stretch stretches[CORES_STRETCHES_MAX]; /* and where it is: of the last round */
} cores_row;

typedef struct cores_work {
  bench_work common;
  uint32_t workers; /* that results are checked with, and nothing else; 0: times are measured */
  const char *only;
  uint32_t wanted; /* bits of rows */
  uint32_t processors;
  cores_costs costs;
  uint64_t hashes[CORES_ROWS][2]; /* of the same world, by one worker and by `workers` */
  cores_row rows[CORES_ROWS];
} cores_work;

static const double cores_tolerance = 0.15, cores_alone_most_ns = 60000;

/* Measure all rows that are wanted. Null, or what went wrong. */
const char *cores_measure(void *work);

/* The report. */
void cores_print(const void *work);
void cores_write(const void *work, json_writer *writer);
bool cores_plot(const void *work, const char *folder);

#endif
