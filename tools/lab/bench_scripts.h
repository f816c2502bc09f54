/* bench_scripts.h - `muster bench scripts`: what was asked for, what was found, and who measures it. */
#ifndef TOOLS_BENCH_SCRIPTS_H
#define TOOLS_BENCH_SCRIPTS_H

#include "benches.h"

enum { SCRIPTS_ROUNDS_MOST = 64, SCRIPTS_AGENTS = 20000, SCRIPTS_UPDATES = 2000000 };

/* The same animals, in turns. */
typedef enum scripts_way {
  SCRIPTS_MUSTER = 0, /* wildlife.lua in Muster, on all workers */
  SCRIPTS_C,          /* the scenario wildlife, on all workers */
  SCRIPTS_GUARDED,    /* wildlife.lua in one state on one thread, with the libraries and caps of Muster's scripts, */
  SCRIPTS_RAW,        /* and with Lua's own */
  SCRIPTS_WAYS
} scripts_way;

/* What rounds found. */
typedef struct scripts_time {
  double wall_ns, cpu_ns; /* of an update: wall time, and CPU of all threads. Medians */
  double wall_share;      /* of Muster's wall time in this one's; median of the rounds' */
  double cpu_share;       /* the same by CPU, all workers at it: without anybody else on the processors */
  uint64_t updates;
} scripts_time;

typedef struct scripts_work {
  bench_work common;
  const char *scripts; /* the file with the animals */
  uint32_t agents, workers;
  uint64_t updates;
  double idle_ns[2], idle_over_ns; /* CPU of an empty update: in C, scripted; and the difference. Medians */
  scripts_time ways[SCRIPTS_WAYS];
} scripts_work;

/* Null, or what went wrong. */
const char *scripts_measure_idle(scripts_work *work);
const char *scripts_measure_ways(scripts_work *work);

#endif
