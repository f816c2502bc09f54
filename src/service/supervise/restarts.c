#include "service/supervise/restarts.h"

#include "base/assert.h"

#include <string.h>

static void restarts_forget(restart_record *restarts, uint32_t index, uint32_t count) {
  restart_end *end = restarts->ends + index;
  restarts->count -= count;
  memmove(end, end + count, (restarts->count - index) * sizeof *end);
}

/* Forgets the ends that lie outside the window. */
static void forget_old(restart_record *restarts, uint64_t window_ns, uint64_t now_ns) {
  uint32_t old = 0;
  while (old < restarts->count && now_ns - restarts->ends[old].at_ns >= window_ns) old++;
  restarts_forget(restarts, 0, old);
}

/* Makes room: the oldest trouble goes, or the oldest end where none is one. */
static void forget_one(restart_record *restarts) {
  uint32_t index = 0;
  while (index < restarts->count && restarts->ends[index].by_code) index++;
  restarts_forget(restarts, index < restarts->count ? index : 0, 1);
}

static uint32_t count_by_code(const restart_record *restarts) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < restarts->count; i++) count += restarts->ends[i].by_code;
  return count;
}

/* None after the first end, then twice as long after each. */
static uint64_t pause_after(const restart_rules *rules, uint32_t ends) {
  uint64_t pause_ns = ends > 1 ? rules->pause_first_ns : 0;
  for (uint32_t i = 2; i < ends && pause_ns < rules->pause_most_ns; i++) pause_ns *= 2;
  return pause_ns < rules->pause_most_ns ? pause_ns : rules->pause_most_ns;
}

static uint64_t shorten(uint64_t pause_ns, uint64_t chance) {
  return pause_ns - (uint64_t)((double)pause_ns / 4 * ((double)chance / (double)UINT64_MAX));
}

uint64_t restarts_ended(restart_record *restarts, const restart_rules *rules, restart_end end, uint64_t chance) {
  ASSERT(rules->most <= RESTARTS_KEPT);
  forget_old(restarts, rules->window_ns, end.at_ns);
  ASSERT(!restarts->count || end.at_ns >= restarts->ends[restarts->count - 1].at_ns);
  uint32_t crashes = count_by_code(restarts);
  if (restarts->failed || (end.by_code && rules->most && crashes >= rules->most)) {
    restarts->failed = true;
    return UINT64_MAX;
  }
  if (restarts->count == RESTARTS_KEPT) forget_one(restarts);
  restarts->ends[restarts->count++] = end;
  if (end.ran_ns > rules->pause_most_ns) restarts->troubles = 0;
  restarts->troubles += !end.by_code;
  return end.at_ns + shorten(pause_after(rules, end.by_code ? crashes + 1 : restarts->troubles), chance);
}

uint32_t restarts_count(const restart_record *restarts, uint64_t window_ns, uint64_t now_ns) {
  if (restarts->failed) return restarts->count + 1;
  uint32_t count = 0;
  for (uint32_t i = 0; i < restarts->count; i++) count += now_ns - restarts->ends[i].at_ns < window_ns;
  return count;
}

void restarts_reset(restart_record *restarts) {
  memset(restarts, 0, sizeof *restarts);
}
