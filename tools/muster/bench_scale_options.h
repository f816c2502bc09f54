/* bench_scale_options.h - what was asked of `muster bench scale`. */
#ifndef TOOLS_BENCH_SCALE_OPTIONS_H
#define TOOLS_BENCH_SCALE_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

enum { BENCH_SCALE_LIST_MAX = 64 };

typedef struct bench_scale_list {
  uint32_t values[BENCH_SCALE_LIST_MAX];
  uint32_t count;
} bench_scale_list;

typedef struct bench_scale_options {
  const char *json;  /* null = nowhere, "-" = standard output */
  const char *plots; /* folder; null = none */
  bench_scale_list agents, observers, workers;
  uint32_t rounds;
  bool quick;
} bench_scale_options;

/* Reads the command line. True: go on. False: `status` is the exit status; help or a complaint was written. */
bool bench_scale_options_read(bench_scale_options *options, int count, char **arguments, int *status);

#endif
