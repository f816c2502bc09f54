#include "base/histogram.h"

#include "base/assert.h"

/* Values below 32 have a bucket each; for larger ones the five bits after the leading one choose the step. */
static uint32_t histogram_bucket_of(uint64_t value) {
  if (value < HISTOGRAM_STEPS) return (uint32_t)value;
  uint32_t octave = 63u - (uint32_t)__builtin_clzll(value);
  uint32_t step = (uint32_t)(value >> (octave - 5)) & (HISTOGRAM_STEPS - 1);
  return (octave - 4) * HISTOGRAM_STEPS + step;
}

static uint64_t bucket_upper_end(uint32_t bucket) {
  if (bucket < HISTOGRAM_STEPS) return bucket;
  uint32_t octave = bucket / HISTOGRAM_STEPS + 4;
  uint64_t step = bucket % HISTOGRAM_STEPS;
  uint64_t width = 1ull << (octave - 5);
  return (HISTOGRAM_STEPS + step) * width + (width - 1);
}

void histogram_add(struct histogram *histogram, uint64_t value) {
  uint32_t bucket = histogram_bucket_of(value);
  ASSERT(bucket < HISTOGRAM_BUCKETS);
  histogram->counts[bucket]++;
  histogram->total++;
  if (value > histogram->maximum) histogram->maximum = value;
}

uint64_t histogram_quantile(const struct histogram *histogram, double share) {
  ASSERT(share >= 0.0 && share <= 1.0);
  uint64_t seen = 0;
  double wanted = share * (double)histogram->total;
  for (uint32_t bucket = 0; bucket < HISTOGRAM_BUCKETS; bucket++) {
    seen += histogram->counts[bucket];
    if (seen == 0 || (double)seen < wanted) continue;
    uint64_t value = bucket_upper_end(bucket);
    return value < histogram->maximum ? value : histogram->maximum;
  }
  return histogram->maximum;
}
