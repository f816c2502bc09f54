/* stages.h - what the stages of a frame take beside its updates, stage by stage, in worlds of several kinds: with cold
 * caches, with a backlog, after a burst, and with nothing to do.
 *
 * It uses the public headers and what all benches share alone, so that the same files measure an older library, too. */
#ifndef BENCH_STAGES_H
#define BENCH_STAGES_H

#include <muster/muster.h>

#include <stdbool.h>
#include <stdint.h>

enum {
  STAGES_ROWS = 9,
  STAGES_ROUNDS_MAX = 64,
  STAGES_AGENTS = 1000000, /* of the large worlds by default; the others have a part of it */
  STAGES_AGENTS_QUICK = 10000,
  STAGES_AGENTS_MIN = 1000,
  STAGES_AGENTS_MAX = 15999999,
  STAGES_UPDATES_PER_FRAME = 5000, /* where all fit */
  STAGES_OBSERVERS = 100,
  STAGES_ATOM_NS = 1000
};

static const double stages_pressure = 4.0;

/* What is found of a row: first the caller's time in each stage by muster_stage, run included, then these. */
typedef enum stages_figure {
  STAGES_HELPERS = MUSTER_STAGES, /* CPU of the other workers in frames, less what they spent on updates */
  STAGES_SUM,                     /* of the stages but run, and of the helpers */
  STAGES_UPDATES,                 /* completed in a frame */
  STAGES_CARRIED,                 /* agents that a frame left waiting */
  STAGES_PRESSURE,                /* mean of the frames */
  STAGES_BUDGET,                  /* of a frame, in ns */
  STAGES_FRAMES,                  /* that the round measured */
  STAGES_APART,                   /* time from one frame's begin to the next on the wall, mean, in ns */
  STAGES_FIGURES
} stages_figure;

typedef struct stages_row {
  const char *name;
  uint32_t agents;
  bool measured;  /* it was wanted */
  bool per_frame; /* times are of a frame; else of a completed update */
  bool paced, cold;
  double bytes_per_agent;               /* of scheduling, as the world counts them */
  double figures[STAGES_FIGURES];       /* medians of the rounds; times in ns */
  double sum_lowest_ns, sum_highest_ns; /* of the rounds */
  double rounds[STAGES_FIGURES][STAGES_ROUNDS_MAX];
} stages_row;

typedef struct stages_setup {
  uint32_t agents, workers, rounds;
  uint64_t evicted_bytes; /* written between two frames where caches are to be cold */
  uint32_t wanted;        /* a bit for each row to be measured */
  bool quick;             /* a few frames, to see that it works */
  void (*show)(const char *row, const char *doing, void *user); /* called before each step */
  void *user;
} stages_setup;

/* The name of a row; null beyond the last. */
const char *stages_name(uint32_t row);

/* Measures the wanted rows; their rounds are interleaved. Null, or what went wrong (valid until the next call). */
const char *stages_measure(const stages_setup *setup, stages_row rows[STAGES_ROWS]);

/* Size of the machine's last-level cache, 0 where the system does not tell; and how much is to be written so that
 * nothing of a world stays in it: an eighth more, and 64 MiB at least. */
uint64_t stages_cache_bytes(void);
uint64_t stages_evicted_bytes(void);

#endif
