#include "scenarios/kit_reduction.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- fewer traits */

static float strength_of(float trait) {
  return isnan(trait) ? 0.0f : fabsf(trait);
}

uint64_t kit_traits_strongest(const float *traits, uint32_t count, uint32_t keep) {
  uint64_t chosen = 0;
  if (count > KIT_TRAITS_MAX) count = KIT_TRAITS_MAX;
  for (uint32_t kept = 0; kept < keep && kept < count; kept++) {
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++)
      if (!(chosen >> i & 1) && (best == UINT32_MAX || strength_of(traits[i]) > strength_of(traits[best]))) best = i;
    chosen |= 1ull << best;
  }
  return chosen;
}

/* ----------------------------------------------------------------------------------------------------- event filter */

static void reduction_give_back(kit_event_filter *filter, uint64_t now_ns) {
  if (now_ns <= filter->seen_ns) return;
  uint64_t passed_ns = now_ns - filter->seen_ns;
  filter->spent_ns -= passed_ns < filter->spent_ns ? passed_ns : filter->spent_ns;
  filter->seen_ns = now_ns;
}

static bool fits_rate(kit_event_filter *filter, const kit_event_rule *rule) {
  if (rule->window_ns == 0) return rule->events_most > 0;
  if (rule->events_most == 0) return false;
  uint64_t share_ns = rule->window_ns / rule->events_most;
  if (filter->spent_ns > rule->window_ns - share_ns) return false;
  filter->spent_ns += share_ns;
  return true;
}

bool kit_event_passes(kit_event_filter *filter, const kit_event_rule *rule, uint64_t now_ns, float importance) {
  reduction_give_back(filter, now_ns);
  bool passes =
      importance >= rule->importance_least && (importance >= rule->importance_sure || fits_rate(filter, rule));
  filter->passed += passes;
  filter->dropped += !passes;
  return passes;
}

/* ----------------------------------------------------------------------------------------------------------- coping */

bool kit_coping_wanted(kit_coping *coping, float critical, uint64_t rest_ns, uint64_t now_ns, float severity) {
  bool rested = coping->count == 0 || (now_ns > coping->at_ns && now_ns - coping->at_ns >= rest_ns);
  if (!(severity >= critical) || (!rested && severity <= coping->severity)) return false;
  coping->at_ns = now_ns;
  coping->severity = severity;
  coping->count++;
  return true;
}

/* --------------------------------------------------------------------------------------------------------- choices */

static bool serves(const kit_prepared *entry, uint32_t purpose, uint64_t facts) {
  return (purpose == KIT_PURPOSE_ANY || entry->purpose == purpose) && (entry->needs & ~facts) == 0;
}

uint32_t kit_choose_default(const kit_prepared *set, uint32_t count, uint32_t purpose, uint64_t facts) {
  for (uint32_t i = 0; i < count; i++)
    if (serves(&set[i], purpose, facts)) return i;
  return KIT_CHOICE_NONE;
}

uint32_t kit_choose_random(const kit_prepared *set, uint32_t count, uint32_t purpose, uint64_t facts, uint64_t random) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < count; i++)
    if (serves(&set[i], purpose, facts)) sum += set[i].weight;
  if (sum == 0) return KIT_CHOICE_NONE;
  uint64_t drawn = (random >> 32) * sum >> 32;
  for (uint32_t i = 0; i < count; i++) {
    if (!serves(&set[i], purpose, facts)) continue;
    if (drawn < set[i].weight) return i;
    drawn -= set[i].weight;
  }
  return KIT_CHOICE_NONE;
}

/* ------------------------------------------------------------------------------------------------------- goal lock */

void kit_goal_lock_take(kit_goal_lock *lock, uint32_t goal, float worth, uint64_t until_ns) {
  *lock = (kit_goal_lock){.until_ns = until_ns, .goal = goal, .worth = worth};
}

bool kit_goal_lock_holds(const kit_goal_lock *lock, uint64_t now_ns) {
  return now_ns < lock->until_ns;
}

uint32_t kit_goal_lock_choose(const kit_goal_lock *lock, uint64_t now_ns, uint32_t candidate, float worth,
                              float margin) {
  if (!kit_goal_lock_holds(lock, now_ns) || worth >= lock->worth + margin) return candidate;
  return lock->goal;
}

void kit_goal_lock_release(kit_goal_lock *lock) {
  lock->until_ns = 0;
}

/* -------------------------------------------------------------------------------------------- automatic achievement */

void kit_achievement_begin(kit_achievement *achievement, uint32_t goal, uint64_t begin_ns, uint64_t duration_ns) {
  uint64_t end_ns = duration_ns > UINT64_MAX - begin_ns ? UINT64_MAX : begin_ns + duration_ns;
  *achievement = (kit_achievement){.begin_ns = begin_ns, .end_ns = end_ns, .goal = goal};
}

bool kit_achievement_reached(kit_achievement *achievement, uint64_t now_ns, uint64_t *end_ns) {
  bool under_way = achievement->begin_ns || achievement->end_ns;
  if (!under_way || now_ns < achievement->end_ns) return false;
  *end_ns = achievement->end_ns;
  achievement->begin_ns = achievement->end_ns = 0;
  return true;
}

/* --------------------------------------------------------------------------------------------------- record, replay */

bool kit_event_record(kit_event_log *log, kit_recorded_event *events, uint32_t capacity,
                      const kit_recorded_event *event) {
  uint32_t place = log->count, least = capacity;
  bool full = place >= capacity;
  if (full) {
    for (uint32_t i = capacity; i-- > 0;) /* the earliest of the least important */
      if (events[i].importance <= (least < capacity ? &events[least] : event)->importance) least = i;
    log->forgotten++;
    if (least == capacity) return false;
    memmove(&events[least], &events[least + 1], (capacity - least - 1) * sizeof *events);
    place--;
  }
  log->count = place + 1;
  for (; place > 0 && events[place - 1].at_ns > event->at_ns; place--) events[place] = events[place - 1];
  events[place] = *event;
  return !full;
}

uint32_t kit_event_replay(kit_event_log *log, const kit_recorded_event *events,
                          void (*meet)(const kit_recorded_event *event, void *user), void *user) {
  uint32_t count = log->count;
  log->count = log->forgotten = 0;
  for (uint32_t i = 0; i < count; i++) meet(&events[i], user);
  return count;
}
