/* What counts as growth, with sizes that are made up. */
#include "growth.h"

#include "base/random.h"

#include <math.h>

enum { HOURS = 2, SAMPLES = HOURS * 3600 / 10 };

static bool judge(growth *sizes) {
  FILE *nowhere = fopen("/dev/null", "we");
  bool holds = growth_judge(sizes, nowhere);
  fclose(nowhere);
  growth_close(sizes);
  return holds;
}

/* Two hours of sizes around 60 MB with noise of a third, and holes where something had died; one series besides grows
 * by so much in an hour, after so many seconds. */
static bool judge_made_up(uint32_t grows, double bytes_an_hour, double until_s) {
  growth *sizes = growth_open();
  for (uint32_t i = 0; i < SAMPLES; i++) {
    double at_s = 10.0 * i, values[GROWTH_SERIES];
    for (uint32_t k = 0; k < GROWTH_SERIES; k++) {
      uint64_t random = muster_random_mix(i * GROWTH_SERIES + k + 1);
      values[k] = 50e6 + (double)(random % 1000) * 20e3;
      if (random % 37 == 0) values[k] = 10e6;
    }
    values[grows] += bytes_an_hour * fmin(at_s, until_s) / 3600;
    growth_note(sizes, at_s, values);
  }
  return judge(sizes);
}

Test(growth, is_none_where_sizes_go_up_and_down) {
  cr_expect(judge_made_up(0, 0, INFINITY));
}

Test(growth, is_found_in_any_series) {
  for (uint32_t i = 0; i < GROWTH_SERIES; i++) cr_expect(!judge_made_up(i, 10e6, INFINITY), "%u", i);
}

Test(growth, of_a_warm_up_does_not_count) {
  cr_expect(judge_made_up(3, 200e6, 1500));
}

Test(growth, of_little_does_not_count) {
  cr_expect(judge_made_up(5, 2e6, INFINITY));
}

Test(growth, of_a_short_time_is_not_judged) {
  growth *sizes = growth_open();
  for (uint32_t i = 0; i < 60; i++) growth_note(sizes, 10.0 * i, (double[GROWTH_SERIES]){1e6 * i});
  cr_expect(judge(sizes));
}
