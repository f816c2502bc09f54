/* bench_options.h - what was asked of `muster bench`. */
#ifndef TOOLS_BENCH_OPTIONS_H
#define TOOLS_BENCH_OPTIONS_H

#include "engine.h"

enum { BENCH_ROUNDS_MAX = 64, BENCH_WORKERS_MAX = 256 };

typedef struct bench_options {
  const bench_suite *suite;
  const char *json;
  const char *peers;    /* folder of the peers' libraries; null = beside the program */
  const char *systems;  /* keys with commas between; null = all */
  const char *measures; /* the same */
  uint32_t workers_first, workers_last;
  bool sweep; /* over all numbers of workers from first to last */
  uint32_t rounds;
  bool quick;
} bench_options;

/* Reads the command line. True: go on. False: `status` is the exit status; help or a complaint was written. */
bool bench_options_read(bench_options *options, int count, char **arguments, int *status);

/* Whether a system or a measure is to be measured. */
bool bench_options_want_system(const bench_options *options, const bench_system *system);
bool bench_options_want_measure(const bench_options *options, const bench_measure *measure);

/* The next number of workers of a sweep: each one up to 8, then in steps of about a quarter, the last one always. */
uint32_t bench_options_next_workers(const bench_options *options, uint32_t workers);

#endif
