/* bench_noise.h - how quiet the machine was during a bench: what others took of its processors. */
#ifndef TOOLS_BENCH_NOISE_H
#define TOOLS_BENCH_NOISE_H

#include <stdbool.h>
#include <stdint.h>

typedef struct bench_noise {
  bool known;
  double seconds;      /* of all processors together: */
  double busy, stolen; /* by whomever, and by the host of this virtual machine */
  double own;          /* of this process and its children that have ended */
} bench_noise;

/* Reads /proc/stat; `known` is false where there is none. */
bench_noise bench_noise_begin(void);

/* The shares of all processors that other processes, and the host, have taken since then. */
void bench_noise_end(const bench_noise *begin, double *others_share, double *stolen_share);

/* Prints a line that tells; a machine that is busy with something else measures that. */
void bench_noise_print(double others_share, double stolen_share);

#endif
