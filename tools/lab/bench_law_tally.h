/* bench_law_tally.h - counts of values in fine steps, for quantiles that are near a bound. */
#ifndef TOOLS_BENCH_LAW_TALLY_H
#define TOOLS_BENCH_LAW_TALLY_H

#include <stdint.h>

enum { LAW_TALLY_STEPS = 1 << 15, LAW_PERIOD_STEPS = 1 << 11 };

/* Values from 0 in steps of one width; what is beyond the last counts as that. */
typedef struct law_tally {
  double width;
  uint64_t total;
  uint32_t counts[LAW_TALLY_STEPS];
} law_tally;

void law_tally_add(law_tally *tally, double value);

/* The value that `share` (0..1) of those that were added do not exceed, to within half a step; NaN when there are none.
 */
double law_tally_quantile(const law_tally *tally, double share);

/* Periods, to within a hundredth of themselves. */
typedef struct law_periods {
  uint64_t total;
  uint32_t counts[LAW_PERIOD_STEPS];
} law_periods;

void law_periods_add(law_periods *periods, double period_s);

/* The age that `share` of agents with these periods do not exceed, when each is of any age from 0 to its period alike;
 * NaN when there are none. */
double law_periods_age(const law_periods *periods, double share);

#endif
