/* rounds.h - the samples of repeated measures. */
#ifndef BENCH_ROUNDS_H
#define BENCH_ROUNDS_H

#include <stdint.h>

/* The median; sorts the values. NaN of none. */
double rounds_median(double *values, uint32_t count);

#endif
