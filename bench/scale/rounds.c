#include "rounds.h"

#include <math.h>
#include <stdlib.h>

static int by_value(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

double rounds_median(double *values, uint32_t count) {
  if (count == 0) return (double)NAN;
  qsort(values, count, sizeof *values, by_value);
  return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}
