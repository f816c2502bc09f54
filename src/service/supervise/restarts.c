#include "service/supervise/restarts.h"

#include "base/assert.h"

#include <string.h>

static void restarts_forget_first(restart_record *restarts, uint32_t count) {
  restarts->count -= count;
  memmove(restarts->ended_ns, restarts->ended_ns + count, restarts->count * sizeof *restarts->ended_ns);
}

/* Forgets the ends that lie outside the window. */
static void forget_old(restart_record *restarts, uint64_t window_ns, uint64_t now_ns) {
  uint32_t old = 0;
  while (old < restarts->count && now_ns - restarts->ended_ns[old] >= window_ns) old++;
  restarts_forget_first(restarts, old);
}

/* None after the first end, then twice as long after each. */
static uint64_t pause_after(const restart_rules *rules, uint32_t ends) {
  uint64_t pause_ns = ends > 1 ? rules->pause_first_ns : 0;
  for (uint32_t i = 2; i < ends && pause_ns < rules->pause_most_ns; i++) pause_ns *= 2;
  return pause_ns < rules->pause_most_ns ? pause_ns : rules->pause_most_ns;
}

uint64_t restarts_ended(restart_record *restarts, const restart_rules *rules, uint64_t now_ns) {
  ASSERT(rules->most <= RESTARTS_KEPT);
  forget_old(restarts, rules->window_ns, now_ns);
  ASSERT(!restarts->count || now_ns >= restarts->ended_ns[restarts->count - 1]);
  if (restarts->failed || (rules->most && restarts->count >= rules->most)) {
    restarts->failed = true;
    return UINT64_MAX;
  }
  if (restarts->count == RESTARTS_KEPT) restarts_forget_first(restarts, 1);
  restarts->ended_ns[restarts->count++] = now_ns;
  return now_ns + pause_after(rules, restarts->count);
}

uint32_t restarts_count(const restart_record *restarts, uint64_t window_ns, uint64_t now_ns) {
  if (restarts->failed) return restarts->count + 1;
  uint32_t count = 0;
  for (uint32_t i = 0; i < restarts->count; i++) count += now_ns - restarts->ended_ns[i] < window_ns;
  return count;
}

void restarts_reset(restart_record *restarts) {
  memset(restarts, 0, sizeof *restarts);
}
