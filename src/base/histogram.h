/* base/histogram.h - counts of 64-bit values in logarithmic buckets with 32 steps per octave: quantiles to within
 * 1/32, the maximum exact, adding in a few nanoseconds and no allocation. */
#ifndef BASE_HISTOGRAM_H
#define BASE_HISTOGRAM_H

#include <stdint.h>

enum { HISTOGRAM_STEPS = 32, HISTOGRAM_BUCKETS = 60 * HISTOGRAM_STEPS };

struct histogram {
  uint64_t total;
  uint64_t maximum;
  uint64_t counts[HISTOGRAM_BUCKETS];
};

/* Counts one value. */
void histogram_add(struct histogram *histogram, uint64_t value);

/* The value that `share` (0..1) of the counted values do not exceed, to within 1/32 and never above the maximum;
 * 0 when nothing was counted. */
uint64_t histogram_quantile(const struct histogram *histogram, double share);

#endif
