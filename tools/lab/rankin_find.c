/* The findings of Rankin, Acton & Katchabaw, and the effects of the parts of their priority: each in a run of its own,
 * and in another one without it, in which it must not hold. All but the cost of levels is virtual time. */
#include "rankin.h"

#include <math.h>

enum {
  PER_TICK = 4,
  BASIC = 40,
  BASIC_TICKS = 2000,
  TURNS = 15,
  STARVING_S = 2500,
  AGEING_S = 4000,
  AGEING_TICKS = 3600
};

static const double evenly = 1.1;    /* at most this many times as many runs for one as for another */
static const double clearly = 1.02;  /* so many times as many runs for the next more important role */
static const double much_less = 0.7; /* at most this part of the cost of the level above */
static const double twice = 2;       /* so many times as many updates in the same time */
static const double tick_ns = 30e6;

const rankin_plan rankin_basic = {.characters = BASIC,
                                  .level = 2,
                                  .ticks = BASIC_TICKS,
                                  .importance = 1.0f,
                                  .ageing = 1.0f,
                                  .runs = 1.0f,
                                  .guarantee_ticks = 20};

static double waited_ticks(const rankin_outcome *outcome) {
  return (double)outcome->longest_wait_ns / tick_ns;
}

/* A finding: what it is run with, and without, and what of both outcomes is looked at; or how it is found otherwise, in
 * its own case, 0, and in its counter-case, 1. */
typedef struct rankin_trial {
  const char *name, *unit, *counter_case;
  void (*plan)(rankin_plan plans[2]); /* both are the basic one before */
  bool (*holds)(const rankin_outcome outcomes[2], uint32_t which, double *value);
  bool (*find)(uint32_t which, double *value, bool *holds);
  bool timed;
} rankin_trial;

static bool try_out(const rankin_trial *trial, rankin_finding *finding) {
  rankin_plan plans[2] = {rankin_basic, rankin_basic};
  rankin_outcome outcomes[2];
  *finding = (rankin_finding){
      .name = trial->name, .unit = trial->unit, .counter_case = trial->counter_case, .timed = trial->timed};
  if (trial->plan) trial->plan(plans);
  for (uint32_t i = 0; i < 2; i++)
    if (trial->find ? !trial->find(i, &finding->values[i], &finding->holds[i]) : !rankin_run(&plans[i], &outcomes[i]))
      return false;
  for (uint32_t i = 0; trial->holds && i < 2; i++) finding->holds[i] = trial->holds(outcomes, i, &finding->values[i]);
  return true;
}

/* --------------------------------------------------------------------------------------------------------- findings */

static void plan_evenness(rankin_plan plans[2]) {
  plans[0].alike = true;
}

static bool is_even(const rankin_outcome outcomes[2], uint32_t which, double *value) {
  const rankin_outcome *it = &outcomes[which];
  return (*value = (double)it->most / (it->least ? it->least : 1)) <= evenly;
}

static void plan_advantage(rankin_plan plans[2]) {
  plans[1].importance = 0.0f;
}

/* The least ratio between a role and the one below it. */
static bool has_advantage(const rankin_outcome outcomes[2], uint32_t which, double *value) {
  const double *by_role = outcomes[which].by_role;
  *value = INFINITY;
  for (uint32_t i = 1; i < RANKIN_ROLES; i++) *value = fmin(*value, by_role[i] / by_role[i - 1]);
  return *value >= clearly;
}

/* The run counter would give the low characters a turn, too; and so would the class of those that have waited longer
 * than S. */
static rankin_plan unaged(void) {
  rankin_plan plan = rankin_basic;
  plan.runs = plan.ageing = 0.0f;
  plan.guarantee_ticks = RANKIN_OUT_OF_REACH;
  return plan;
}

/* Without ageing, but for the little that no weight takes away; nor does S come within 2,000 ticks, with it or without.
 */
static void plan_starvation(rankin_plan plans[2]) {
  plans[0] = unaged();
  plans[0].guarantee_ticks = STARVING_S;
  plans[1] = plans[0];
  plans[1].ageing = 1.0f;
}

static bool is_starving(const rankin_outcome outcomes[2], uint32_t which, double *value) {
  *value = outcomes[which].by_role[0];
  return *value <= 0 && (which || outcomes[0].most > 0);
}

/* No character waits longer than S, so that the class of those that have is empty: the result is of ageing alone. The
 * least important are three quarters of importance behind, and so wait for three quarters of S; and for the characters
 * before them. */
static void plan_ageing(rankin_plan plans[2]) {
  plans[0] = unaged();
  plans[0].guarantee_ticks = AGEING_S;
  plans[0].ticks = AGEING_TICKS;
  plans[1] = plans[0];
  plans[0].ageing = 1.0f;
}

static bool is_ageing(const rankin_outcome outcomes[2], uint32_t which, double *value) {
  *value = waited_ticks(&outcomes[which]);
  return outcomes[which].least > 0 && (which || *value <= ceil(0.75 * AGEING_S) + (double)BASIC / PER_TICK + 1);
}

/* Ten characters of each role, and in each tick time for four updates at level 0. */
static void plan_mixture(rankin_plan plans[2]) {
  plans[0].capacity_ns = PER_TICK * 6000;
  plans[1] = plans[0];
  plans[0].level = RANKIN_BY_ROLE;
  plans[1].level = 0;
}

/* Each role has a level of its own; the highest run at least as often as if all were at level 0; and in all more run.
 */
static bool is_mixed(const rankin_outcome outcomes[2], uint32_t which, double *value) {
  const rankin_outcome *outcome = &outcomes[which], *full = &outcomes[1];
  *value = (double)outcome->completed / BASIC_TICKS;
  bool graded = true;
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) graded &= outcome->levels[level] == BASIC / RANKIN_ROLES;
  return graded && outcome->by_role[RANKIN_ROLES - 1] >= full->by_role[RANKIN_ROLES - 1] &&
         (double)outcome->completed >= twice * (double)full->completed;
}

/* Ageing is off, so that only the class of those that have waited longer than S can help a low character. */
static void plan_guarantee(rankin_plan plans[2]) {
  plans[0] = plans[1] = unaged();
  plans[0].guarantee_ticks = 20;
}

static bool is_guaranteed(const rankin_outcome outcomes[2], uint32_t which, double *value) {
  *value = waited_ticks(&outcomes[which]);
  return *value <= 20 + (double)BASIC / PER_TICK + 1 && (which || outcomes[0].least > 0);
}

/* Neither ageing nor the guarantee. Every character is released again in the next tick, and the counter of one that
 * waits is frozen: so n runs make it 1 - (15/16)^n. Once that of the highest role is a quarter ahead, the next role, a
 * quarter of importance behind, has a turn; and so on until its counter is 3/4, that of the highest being 1. */
static void plan_run_counter(rankin_plan plans[2]) {
  plans[0] = plans[1] = unaged();
  plans[0].runs = 1.0f;
}

static bool gives_way(const rankin_outcome outcomes[2], uint32_t which, double *value) {
  const double wanted = ceil(log(0.25) / log(15.0 / 16.0));
  *value = outcomes[which].by_role[RANKIN_ROLES - 2];
  return fabs(*value - wanted) <= 1 && (which || outcomes[0].by_role[RANKIN_ROLES - 1] > *value);
}

/* ------------------------------------------------------------------------------------------------------------ parts */

static bool find_progress(uint32_t which, double *value, bool *holds) {
  const double soon = 5; /* four slices, and a tick in which another one was first */
  rankin_slices it;
  if (!rankin_run_progress(which ? 0.0f : 1.0f, &it)) return false;
  *value = it.ticks;
  *holds = (which || it.completed > 0) && it.ticks <= soon;
  return true;
}

static bool find_preemption(uint32_t which, double *value, bool *holds) {
  const double tick_ms = 10;
  rankin_slices it;
  if (!rankin_run_long(which ? 1 : 30, &it)) return false;
  *value = it.completed;
  *holds = it.completed > 0 && it.missed == 0 && it.longest_ms <= tick_ms;
  return true;
}

bool rankin_measure(const rankin_plan *plans, uint32_t count, uint32_t turns, double *least_s) {
  for (uint32_t i = 0; i < count; i++) least_s[i] = INFINITY;
  for (uint32_t run = 0; run < turns * count; run++) {
    rankin_outcome outcome;
    if (!rankin_run(&plans[run % count], &outcome)) return false;
    least_s[run % count] = fmin(least_s[run % count], outcome.cpu_s);
  }
  return true;
}

/* The greatest part of a level's cost that the next one still takes; in the counter-case, of the same level under four
 * names. The world without characters' work is the same at each, and taken away. */
static bool find_costs(uint32_t which, double *value, bool *holds) {
  enum { EMPTY = MUSTER_LEVELS, PLANS };
  rankin_plan plans[PLANS];
  double least_s[PLANS];
  for (uint32_t i = 0; i < PLANS; i++) {
    plans[i] = rankin_basic;
    plans[i].ticks = RANKIN_TICKS;
    plans[i].characters = i < EMPTY ? 100 : 1; /* of one, the frames alone */
    plans[i].level = i == EMPTY ? 3 : which ? 2 : i;
  }
  if (!rankin_measure(plans, PLANS, TURNS, least_s)) return false;
  for (uint32_t level = 1; level < MUSTER_LEVELS; level++) {
    double above_s = fmax(least_s[level - 1] - least_s[EMPTY], 1e-9), own_s = least_s[level] - least_s[EMPTY];
    *value = fmax(*value, fmax(own_s, 1e-9) / above_s);
  }
  *holds = *value <= much_less;
  return true;
}

/* The paper's findings, and behind them the parts. */
static const rankin_trial trials[RANKIN_FINDINGS + RANKIN_PARTS] = {
    {"equal importance: runs are spread evenly", "times as many for one as for another", "importance differs by role",
     plan_evenness, is_even, NULL, false},
    {"higher importance: more runs, role by role", "times as many for the next role", "weight of importance 0",
     plan_advantage, has_advantage, NULL, false},
    {"without ageing: the least important never run", "runs of one", "ageing on", plan_starvation, is_starving, NULL,
     false},
    {"with ageing: no character starves, though S is out of reach", "ticks waited at most", "ageing off, the same S",
     plan_ageing, is_ageing, NULL, false},
    {"mixed importance, dynamic levels: more run in the same time, the top in full", "updates in a tick",
     "all at level 0", plan_mixture, is_mixed, NULL, false},
    {"guarantee, ageing off: no character waits longer than S and one round", "ticks waited at most", "S out of reach",
     plan_guarantee, is_guaranteed, NULL, false},
    {"run counter, ageing off: one that runs often gives way to the next role, 22 times", "runs of one of that role",
     "weight of runs 0", plan_run_counter, gives_way, NULL, false},
    {"progress: an update that was begun is finished before others begin", "ticks for an update of four slices",
     "weight of progress 0", .find = find_progress},
    {"preemption: a long update is cut by the tick's end, and by more important ones",
     "updates of three ticks' time completed", "the same in one atom", .find = find_preemption},
    {"levels cost less, in order (CPU)", "of the level above, at most", "one level under four names",
     .find = find_costs, .timed = true},
};

bool rankin_find(rankin_finding findings[RANKIN_FINDINGS + RANKIN_PARTS]) {
  for (uint32_t i = 0; i < RANKIN_FINDINGS + RANKIN_PARTS; i++)
    if (!try_out(&trials[i], &findings[i])) return false;
  return true;
}
