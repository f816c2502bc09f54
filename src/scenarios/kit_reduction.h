/* scenarios/kit_reduction.h - doing less for agents that matter less: functions from which an agent type builds its
 * cheaper capability levels. Rankin, Acton & Katchabaw name these reductions for believable characters; nothing here
 * depends on characters, nor on Muster: copy these two files into a game and change them.
 *
 *     fewer traits             kit_traits_strongest()
 *     fewer or rarer events    kit_event_passes()
 *     coping when critical     kit_coping_wanted()
 *     default, random choice   kit_choose_default(), kit_choose_random(), from a prepared set
 *     no change of goals       kit_goal_lock_...(), while a plan runs
 *     automatic achievement    kit_achievement_...(): a goal counts as reached when its time has passed
 *     no processing            kit_event_record() keeps what happens, kit_event_replay() tells it when the agent
 *                              is met
 *
 * All functions are pure: they read their arguments and write to what these point at, and to nothing else. Any thread,
 * any atom. The structs are flat and small, without padding or pointers: parts of an agent's state_bytes. Zeroed they
 * are ready for use. Times are simulation time; pass the same clock to all calls for one struct, and never a smaller
 * time than before: such a time counts as no time passed. No pointer may be null. */
#ifndef SCENARIOS_KIT_REDUCTION_H
#define SCENARIOS_KIT_REDUCTION_H

#include <stdbool.h>
#include <stdint.h>

/* ---------------------------------------------------------------------------------------------------- fewer traits */

#define KIT_TRAITS_MAX 64u

/* Which `keep` of `count` traits (at most KIT_TRAITS_MAX, further ones are not looked at) are strongest: bit i is
 * set for trait i. Strength is the distance from 0; of equal traits the lower number is kept; NaN counts as 0. All bits
 * when keep >= count. O(count x keep). */
uint64_t kit_traits_strongest(const float *traits, uint32_t count, uint32_t keep);

/* ----------------------------------------------------------------------------------------------------- event filter */

/* Which events pass. */
typedef struct kit_event_rule {
  float importance_least; /* events below are dropped; 0..1 */
  float importance_sure;  /* events from here on pass whatever the rate; above 1 = none */
  uint32_t events_most;   /* this many of the others pass per window; 0 = none */
  uint32_t reserved;      /* 0 */
  uint64_t window_ns;     /* 0 = no limit to the rate */
} kit_event_rule;

/* The state of one agent's filter. */
typedef struct kit_event_filter {
  uint64_t seen_ns;  /* when it was last asked */
  uint64_t spent_ns; /* part of the window used by events that passed; given back as time passes */
  uint32_t passed, dropped;
} kit_event_filter;

/* Whether an agent shall process an event of this importance at `now_ns`. An event that passes takes a share
 * 1 / events_most of the window, which is given back as time passes: so events_most events may pass at once, and in the
 * long run as many per window. Sure events take no share. O(1). */
bool kit_event_passes(kit_event_filter *filter, const kit_event_rule *rule, uint64_t now_ns, float importance);

/* ----------------------------------------------------------------------------------------------------------- coping */

/* The last time that an agent coped with something. */
typedef struct kit_coping {
  uint64_t at_ns;
  float severity; /* of what it coped with; 0 = it never did */
  uint32_t count;
} kit_coping;

/* Whether an event is worth coping with: its severity reaches `critical`, and the last coping is `rest_ns` ago or was
 * for something milder. True is remembered. O(1). */
bool kit_coping_wanted(kit_coping *coping, float critical, uint64_t rest_ns, uint64_t now_ns, float severity);

/* --------------------------------------------------------------------------------------------------------- choices */

/* One entry of a prepared set: something known to serve a purpose, such as a plan for a goal. */
typedef struct kit_prepared {
  uint64_t needs; /* facts, as bits, that must hold */
  uint32_t purpose;
  uint32_t option; /* the caller's name for it */
  uint32_t weight; /* for random choice; 0 = only by default */
  uint32_t reserved;
} kit_prepared;

#define KIT_PURPOSE_ANY UINT32_MAX
#define KIT_CHOICE_NONE UINT32_MAX

/* The first entry for the purpose whose needs are among the facts: its number in the set, or KIT_CHOICE_NONE.
 * O(count). */
uint32_t kit_choose_default(const kit_prepared *set, uint32_t count, uint32_t purpose, uint64_t facts);

/* One of the entries for the purpose whose needs are among the facts, each as likely as its weight says, by a random
 * number of the caller's (muster_update_random()). With KIT_PURPOSE_ANY the purpose is left to chance, too.
 * KIT_CHOICE_NONE when none has a weight. Weights may sum up to 2^32 - 1. O(count). */
uint32_t kit_choose_random(const kit_prepared *set, uint32_t count, uint32_t purpose, uint64_t facts, uint64_t random);

/* ------------------------------------------------------------------------------------------------------- goal lock */

/* The goal that an agent keeps while its plan runs. */
typedef struct kit_goal_lock {
  uint64_t until_ns; /* 0 = open */
  uint32_t goal;
  float worth; /* of the goal, when it was chosen */
} kit_goal_lock;

/* Locks a goal until its plan has run, at the latest until `until_ns`. O(1). */
void kit_goal_lock_take(kit_goal_lock *lock, uint32_t goal, float worth, uint64_t until_ns);

/* Whether the lock holds at a time: it was taken, not released, and its end has not come. O(1). */
bool kit_goal_lock_holds(const kit_goal_lock *lock, uint64_t now_ns);

/* Which goal to follow: the candidate when the lock does not hold, or the candidate is worth more than the locked goal
 * by `margin` at least (infinite = never gives way); else the locked one. Changes nothing. O(1). */
uint32_t kit_goal_lock_choose(const kit_goal_lock *lock, uint64_t now_ns, uint32_t candidate, float worth,
                              float margin);

/* Opens the lock: the plan has run, or failed. O(1). */
void kit_goal_lock_release(kit_goal_lock *lock);

/* -------------------------------------------------------------------------------------------- automatic achievement */

/* A goal that is taken as reached when the time for it has passed. */
typedef struct kit_achievement {
  uint64_t begin_ns, end_ns; /* both 0 = nothing is under way */
  uint32_t goal;
  uint32_t reserved;
} kit_achievement;

/* Begins: the goal takes `duration_ns` from `begin_ns` on, which may lie in the past. O(1). */
void kit_achievement_begin(kit_achievement *achievement, uint32_t goal, uint64_t begin_ns, uint64_t duration_ns);

/* Whether the goal is reached by `now_ns`. Then `end_ns` is the time at which it was reached, so that the next thing
 * can begin there and no time is lost however late the agent looks; and nothing is under way any more. O(1). */
bool kit_achievement_reached(kit_achievement *achievement, uint64_t now_ns, uint64_t *end_ns);

/* --------------------------------------------------------------------------------------------------- record, replay */

typedef struct kit_recorded_event {
  uint64_t at_ns;
  uint64_t who; /* who and what: of the caller's choice */
  uint32_t what;
  float importance;
} kit_recorded_event;

/* Heads an array of the caller's: events that happened to an agent while none was processed. */
typedef struct kit_event_log {
  uint32_t count;     /* kept */
  uint32_t forgotten; /* for want of room, since the last replay */
} kit_event_log;

/* Keeps an event, in order of time. When all `capacity` places are taken the least important event is forgotten, of
 * equal ones the earliest, even if that is the new one; then false is returned. O(capacity). */
bool kit_event_record(kit_event_log *log, kit_recorded_event *events, uint32_t capacity,
                      const kit_recorded_event *event);

/* Tells what was kept to `meet`, the earliest first, and forgets it. Returns how many were told. O(kept). */
uint32_t kit_event_replay(kit_event_log *log, const kit_recorded_event *events,
                          void (*meet)(const kit_recorded_event *event, void *user), void *user);

#endif
