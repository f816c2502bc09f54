#include "bench_law_tally.h"

#include "base/assert.h"

#include <math.h>

void law_tally_add(law_tally *tally, double value) {
  ASSERT(value >= 0 && tally->width > 0);
  double step = round(value / tally->width);
  tally->counts[(uint32_t)fmin(step, LAW_TALLY_STEPS - 1)]++;
  tally->total++;
}

double law_tally_quantile(const law_tally *tally, double share) {
  uint64_t seen = 0;
  if (!tally->total) return (double)NAN;
  for (uint32_t i = 0; i < LAW_TALLY_STEPS; i++) {
    seen += tally->counts[i];
    if (seen && (double)seen >= share * (double)tally->total) return i * tally->width;
  }
  return (LAW_TALLY_STEPS - 1) * tally->width;
}

/* From a 2^14th of a second on. */
static const double steps_per_octave = 64, first_octave = -14;

void law_periods_add(law_periods *periods, double period_s) {
  ASSERT(period_s > 0);
  double step = round((log2(period_s) - first_octave) * steps_per_octave);
  periods->counts[(uint32_t)fmin(fmax(step, 0), LAW_PERIOD_STEPS - 1)]++;
  periods->total++;
}

static double period_of(uint32_t step) {
  return exp2(step / steps_per_octave + first_octave);
}

/* How many agents are of that age at most. */
static double count_younger(const law_periods *periods, double age_s) {
  double count = 0;
  for (uint32_t i = 0; i < LAW_PERIOD_STEPS; i++)
    if (periods->counts[i]) count += periods->counts[i] * fmin(1.0, age_s / period_of(i));
  return count;
}

double law_periods_age(const law_periods *periods, double share) {
  double low_s = 0, high_s = period_of(LAW_PERIOD_STEPS - 1);
  if (!periods->total) return (double)NAN;
  for (uint32_t i = 0; i < 60; i++) {
    double middle_s = 0.5 * (low_s + high_s);
    if (count_younger(periods, middle_s) < share * (double)periods->total)
      low_s = middle_s;
    else
      high_s = middle_s;
  }
  return high_s;
}
