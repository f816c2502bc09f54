/* The findings of Rankin, Acton & Katchabaw, and the effects of the parts of their priority: each in a run of its own,
 * and in another one without it, in which it must not hold. All but the cost of levels is virtual time. */
#include "rankin.h"

#include <math.h>

enum {
  PER_TICK = 4,
  BASIC = 40,
  BASIC_TICKS = 2000,
  REPETITIONS = 5,
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

static double spread_of(const rankin_outcome *outcome) {
  return (double)outcome->most / (outcome->least ? outcome->least : 1);
}

/* The least ratio between a role and the one below it. */
static double advantage_of(const rankin_outcome *outcome) {
  double least = INFINITY;
  for (uint32_t i = 1; i < RANKIN_ROLES; i++) least = fmin(least, outcome->by_role[i] / outcome->by_role[i - 1]);
  return least;
}

static double waited_ticks(const rankin_outcome *outcome) {
  return (double)outcome->longest_wait_ns / tick_ns;
}

/* A finding: what it is run with, and without, and what of both outcomes is looked at. */
typedef struct rankin_trial {
  const char *name, *unit, *counter_case;
  void (*plan)(rankin_plan plans[2]); /* both are the basic one before */
  bool (*holds)(const rankin_outcome outcomes[2], uint32_t which, double *value);
} rankin_trial;

static bool try_out(const rankin_trial *trial, rankin_finding *finding) {
  rankin_plan plans[2] = {rankin_basic, rankin_basic};
  rankin_outcome outcomes[2];
  *finding = (rankin_finding){.name = trial->name, .unit = trial->unit, .counter_case = trial->counter_case};
  trial->plan(plans);
  if (!rankin_run(&plans[0], &outcomes[0]) || !rankin_run(&plans[1], &outcomes[1])) return false;
  finding->holds = trial->holds(outcomes, 0, &finding->value);
  finding->counter_holds = trial->holds(outcomes, 1, &finding->counter_value);
  return true;
}

/* --------------------------------------------------------------------------------------------------------- findings */

static void plan_evenness(rankin_plan plans[2]) {
  plans[0].alike = true;
}

static bool is_even(const rankin_outcome outcomes[2], uint32_t which, double *value) {
  return (*value = spread_of(&outcomes[which])) <= evenly;
}

static void plan_advantage(rankin_plan plans[2]) {
  plans[1].importance = 0.0f;
}

static bool has_advantage(const rankin_outcome outcomes[2], uint32_t which, double *value) {
  return (*value = advantage_of(&outcomes[which])) >= clearly;
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

enum { OF_PARTS = RANKIN_FINDINGS, TRIALS = RANKIN_FINDINGS + 2 };

/* The paper's findings, and behind them the first of the parts. */
static const rankin_trial trials[TRIALS] = {
    {"equal importance: runs are spread evenly", "times as many for one as for another", "importance differs by role",
     plan_evenness, is_even},
    {"higher importance: more runs, role by role", "times as many for the next role", "weight of importance 0",
     plan_advantage, has_advantage},
    {"without ageing: the least important never run", "runs of one", "ageing on", plan_starvation, is_starving},
    {"with ageing: no character starves, though S is out of reach", "ticks waited at most", "ageing off, the same S",
     plan_ageing, is_ageing},
    {"mixed importance, dynamic levels: more run in the same time, the top in full", "updates in a tick",
     "all at level 0", plan_mixture, is_mixed},
    {"guarantee, ageing off: no character waits longer than S and one round", "ticks waited at most", "S out of reach",
     plan_guarantee, is_guaranteed},
    {"run counter, ageing off: one that runs often gives way to the next role, 22 times", "runs of one of that role",
     "weight of runs 0", plan_run_counter, gives_way},
};

bool rankin_find(rankin_finding findings[RANKIN_FINDINGS]) {
  for (uint32_t i = 0; i < RANKIN_FINDINGS; i++)
    if (!try_out(&trials[i], &findings[i])) return false;
  return true;
}

/* ------------------------------------------------------------------------------------------------------------ parts */

static bool find_progress(rankin_finding *part) {
  const double soon = 5; /* four slices, and a tick in which another one was first */
  rankin_slices with, without;
  if (!rankin_run_progress(1.0f, &with) || !rankin_run_progress(0.0f, &without)) return false;
  *part = (rankin_finding){.name = "progress: an update that was begun is finished before others begin",
                           .unit = "ticks for an update of four slices",
                           .holds = with.completed > 0 && with.ticks <= soon,
                           .value = with.ticks,
                           .counter_case = "weight of progress 0",
                           .counter_holds = without.ticks <= soon,
                           .counter_value = without.ticks};
  return true;
}

static bool find_preemption(rankin_finding *part) {
  const double tick_ms = 10;
  rankin_slices sliced, whole;
  if (!rankin_run_long(30, &sliced) || !rankin_run_long(1, &whole)) return false;
  *part = (rankin_finding){.name = "preemption: a long update is cut by the tick's end, and by more important ones",
                           .unit = "updates of three ticks' time completed",
                           .holds = sliced.completed > 0 && sliced.missed == 0 && sliced.longest_ms <= tick_ms,
                           .value = sliced.completed,
                           .counter_case = "the same in one atom",
                           .counter_holds = whole.completed > 0 && whole.missed == 0 && whole.longest_ms <= tick_ms,
                           .counter_value = whole.completed};
  return true;
}

bool rankin_measure(const rankin_plan *plan, double *cpu_s) {
  *cpu_s = INFINITY;
  for (uint32_t i = 0; i < REPETITIONS; i++) {
    rankin_outcome outcome;
    if (!rankin_run(plan, &outcome)) return false;
    *cpu_s = fmin(*cpu_s, outcome.cpu_s);
  }
  return true;
}

/* The greatest part of a level's cost that the next one still takes. The world without characters' work is the same at
 * each, and taken away. All take turns, so that other work of the machine affects each equally. */
static bool find_order_of(bool vary, double *greatest) {
  enum { EMPTY = MUSTER_LEVELS, PLANS };
  rankin_plan plans[PLANS];
  double least_s[PLANS];
  for (uint32_t i = 0; i < PLANS; i++) {
    plans[i] = rankin_basic;
    plans[i].ticks = RANKIN_TICKS;
    plans[i].characters = i < EMPTY ? 100 : 1; /* of one, the frames alone */
    plans[i].level = i == EMPTY ? 3 : vary ? i : 2;
    least_s[i] = INFINITY;
  }
  for (uint32_t turn = 0; turn < TURNS; turn++)
    for (uint32_t i = 0; i < PLANS; i++) {
      rankin_outcome outcome;
      if (!rankin_run(&plans[i], &outcome)) return false;
      least_s[i] = fmin(least_s[i], outcome.cpu_s);
    }
  *greatest = 0.0;
  for (uint32_t level = 1; level < MUSTER_LEVELS; level++) {
    double above_s = fmax(least_s[level - 1] - least_s[EMPTY], 1e-9), own_s = least_s[level] - least_s[EMPTY];
    *greatest = fmax(*greatest, fmax(own_s, 1e-9) / above_s);
  }
  return true;
}

static bool find_costs(rankin_finding *part) {
  *part = (rankin_finding){.name = "levels cost less, in order (CPU)",
                           .unit = "of the level above, at most",
                           .counter_case = "one level under four names"};
  if (!find_order_of(true, &part->value) || !find_order_of(false, &part->counter_value)) return false;
  part->holds = part->value <= much_less;
  part->counter_holds = part->counter_value <= much_less;
  return true;
}

bool rankin_find_parts(rankin_finding parts[RANKIN_PARTS]) {
  return try_out(&trials[OF_PARTS], &parts[0]) && try_out(&trials[OF_PARTS + 1], &parts[1]) &&
         find_progress(&parts[2]) && find_preemption(&parts[3]) && find_costs(&parts[4]);
}
