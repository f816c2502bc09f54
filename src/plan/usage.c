#include "plan/usage.h"

#include "base/assert.h"

#include <math.h>

/* By itself the plan follows a change within some thirty frames (controller.c), and periods are rounded to frames. */
enum { UPDATES_LEAST = 100, FRAMES_LEAST = 32 };

/* Used less than this of the time, though periods are stretched. */
static const double used_least = 0.9;
/* Costs that are believed within this of what they were are believed well. */
static const double well_believed = 0.95;
static const double factor_most = 2.0;

static usage_verdict usage_judge(const struct usage *usage, const usage_sample *sample) {
  usage_verdict verdict = {.costs = 1.0, .plan = 1.0};
  double used = 1.0 - fmin(usage->left_ns / usage->offered_ns, 1.0);
  verdict.contradicts = sample->stretched && !usage->excused && used < used_least;
  if (!verdict.contradicts) return verdict;
  double costs = usage->believed_ns > 0.0 ? usage->took_ns / usage->believed_ns : 1.0;
  if (costs < well_believed)
    verdict.costs = fmax(costs, 1.0 / factor_most);
  else
    verdict.plan = fmin(1.0 / fmax(used, 1.0 / factor_most), factor_most);
  return verdict;
}

usage_verdict usage_add(struct usage *usage, const usage_sample *sample) {
  usage_verdict verdict = {.costs = 1.0, .plan = 1.0};
  ASSERT(sample->took_ns >= 0.0 && sample->believed_ns >= 0.0 && sample->left_ns >= 0.0);
  if (!usage->begin_ns || usage->begin_ns > sample->now_ns) usage->begin_ns = sample->now_ns;
  if (!sample->stretched) return verdict;
  usage->frames++;
  usage->updates += sample->updates;
  usage->offered_ns += fmax(sample->offered_ns, 0.0);
  usage->left_ns += sample->left_ns;
  usage->took_ns += sample->took_ns;
  usage->believed_ns += sample->believed_ns;
  usage->excused += sample->excused;
  bool over = sample->now_ns - usage->begin_ns > sample->longest_ns && usage->updates >= UPDATES_LEAST &&
              usage->frames >= FRAMES_LEAST;
  if (!over) return verdict;
  if (usage->offered_ns > 0.0) verdict = usage_judge(usage, sample);
  *usage = (struct usage){.begin_ns = sample->now_ns, .faults = usage->faults + verdict.contradicts};
  return verdict;
}
