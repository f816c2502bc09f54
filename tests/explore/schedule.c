#include "schedule.h"

static uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ull;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebull;
  return value ^ (value >> 31);
}

uint32_t schedule_draw(struct schedule *schedule, uint32_t bound) {
  if (!schedule->bits_left) {
    schedule->bits = mix(schedule->key + ++schedule->counter * 0x9e3779b97f4a7c15ull);
    schedule->bits_left = 4;
  }
  uint32_t piece = (uint32_t)schedule->bits & 0xffff;
  schedule->bits >>= 16;
  schedule->bits_left--;
  return piece * bound >> 16;
}

static void draw_changes(struct schedule *schedule, uint64_t length) {
  schedule->changes = 1 + schedule_draw(schedule, SCHEDULE_CHANGES_MAX);
  if (length > 65536) length = 65536;
  for (uint32_t i = 0; i < schedule->changes; i++) {
    uint64_t at = 1 + schedule_draw(schedule, (uint32_t)length);
    uint32_t place = i;
    for (; place > 0 && schedule->change_at[place - 1] < at; place--)
      schedule->change_at[place] = schedule->change_at[place - 1];
    schedule->change_at[place] = at;
  }
}

void schedule_begin(struct schedule *schedule, uint64_t seed, uint32_t fibres, uint64_t length, bool uniform) {
  static const uint32_t bursts[] = {2, 5, 15, 60}, patience[] = {2, 20, 100, 100};
  schedule->key = mix(seed ^ 0x6d757374657221ull);
  schedule->counter = 0;
  schedule->bits_left = 0;
  schedule->strategy = uniform ? SCHEDULE_UNIFORM : (schedule_strategy)schedule_draw(schedule, 3);
  schedule->burst = bursts[schedule_draw(schedule, 4)];
  schedule->pauses_most = patience[schedule_draw(schedule, 4)];
  schedule->lowest = 0;
  if (schedule->strategy != SCHEDULE_PRIORITIES) return;
  for (uint32_t i = 0; i < fibres; i++) {
    uint32_t place = schedule_draw(schedule, i + 1);
    schedule->priorities[i] = schedule->priorities[place];
    schedule->priorities[place] = (int32_t)i;
  }
  draw_changes(schedule, length);
}

void schedule_yield(struct schedule *schedule, uint32_t fibre) {
  schedule->priorities[fibre] = --schedule->lowest;
}

void schedule_change(struct schedule *schedule, uint64_t step, uint32_t fibre) {
  if (schedule->strategy != SCHEDULE_PRIORITIES) return;
  while (schedule->changes && schedule->change_at[schedule->changes - 1] <= step) schedule->changes--;
  schedule_yield(schedule, fibre);
}

uint32_t schedule_pick(struct schedule *schedule, uint32_t ready) {
  uint32_t best = (uint32_t)__builtin_ctz(ready);
  if (!(ready & (ready - 1))) return best;
  if (schedule->strategy == SCHEDULE_PRIORITIES) {
    for (uint32_t rest = ready & (ready - 1); rest; rest &= rest - 1) {
      uint32_t fibre = (uint32_t)__builtin_ctz(rest);
      if (schedule->priorities[fibre] > schedule->priorities[best]) best = fibre;
    }
    return best;
  }
  for (uint32_t skip = schedule_draw(schedule, (uint32_t)__builtin_popcount(ready)); skip; skip--) ready &= ready - 1;
  return (uint32_t)__builtin_ctz(ready);
}

int64_t schedule_plan(struct schedule *schedule, uint64_t step) {
  switch (schedule->strategy) {
  case SCHEDULE_BURSTS:
    return 1 + schedule_draw(schedule, 2 * schedule->burst);
  case SCHEDULE_PRIORITIES:
    while (schedule->changes && schedule->change_at[schedule->changes - 1] <= step) schedule->changes--;
    /* Without changes left the steps are still to be counted now and then. */
    return schedule->changes ? (int64_t)(schedule->change_at[schedule->changes - 1] - step) : 1000;
  default:
    return 1;
  }
}
