#include "quality.h"

#include "rules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define PERIODS 100000000u, 2000000000u

/* The last is the spawn file's. */
static const crowd_def crowds[QUALITY_CROWDS - 1] = {
    {1000, 1, {{20000, 1, PERIODS}}},
    {1000, 3, {{10000, 1, PERIODS}, {40000, 1, PERIODS}, {160000, 1, PERIODS}}},
    {125, 1, {{20000, 1, PERIODS}}},
    {125, 1, {{20000, 1, PERIODS}}},
};

enum { PATIENT = QUALITY_CROWDS - 2, SPAWNS };

/* The part of the CPU that wishes may take: the default, or less where many agents matter. */
static const double wish_part = 0.5, wish_part_patient = 1.0 / 3.0;

const char *const quality_crowds[QUALITY_CROWDS][2] = {
    {"uniform", "1000 agents for each observer, updates of 20 us; periods from 100 ms to 2 s"},
    {"mixed", "the same in three types, updates of 10, 40 and 160 us"},
    {"dense", "as uniform, but 125 agents for each observer: more than half of all matter to an observer"},
    {"patient", "the same with a wish_part of a third: the longest periods stretch by three times the load, not two"},
    {"spawns", "the file of --spawns: costs and periods as the population module has them"},
};

/* Shares of the CPU that all agents at the shortest period would take. */
static const double shares[QUALITY_SHARES] = {0.6, 0.3, 0.1, 0.03, 0.01};

const uint32_t quality_octaves[QUALITY_JUDGES] = {12, 6};

const char *const quality_rules[QUALITY_RULES][2] = {
    {"importance", "Muster's default: the law of importance with k = 12, and deadlines"},
    {"importance-6", "the same with k = 6"},
    {"square-root", "Muster's square-root rule in the papers' order, elasticity from importance as for k = 6"},
    {"elastic", "Tan & Wong's elastic periods by rate, likewise"},
    {"round-robin", "one after the other; agents that are not due yet are passed over"},
    {"distance", "every k-th frame, k by the squared distance to the nearest observer, scaled to this CPU"},
};

static const rule_muster_def muster_rules[] = {
    [QUALITY_IMPORTANCE] = {MUSTER_ELASTIC_IMPORTANCE, MUSTER_ORDER_DEADLINE, 12.0f},
    [QUALITY_IMPORTANCE_6] = {MUSTER_ELASTIC_IMPORTANCE, MUSTER_ORDER_DEADLINE, 6.0f},
    [QUALITY_SQUARE_ROOT] = {MUSTER_ELASTIC_SQUARE_ROOT, MUSTER_ORDER_PRIORITY, 12.0f},
    [QUALITY_ELASTIC] = {MUSTER_ELASTIC_RATE, MUSTER_ORDER_PRIORITY, 12.0f},
};

/* The optima of all judges; returns the longest period that the rule of importance may give. */
static double solve(struct crowd *crowd, double cpu, double stretch, quality_case *result) {
  double longest_s = 0;
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++) {
    crowd_weigh(crowd, quality_octaves[judge]);
    result->optimum_ms[judge] = crowd_solve(crowd, cpu, INFINITY);
    result->wish[judge] = crowd_solve(crowd, cpu, stretch) / result->optimum_ms[judge];
    for (uint32_t i = 0; i < crowd->count; i++) longest_s = fmax(longest_s, crowd->members[i].period_s);
  }
  return longest_s;
}

/* The agent that waits longest runs three times in the window, and once before it, when the initial updates, which come
 * all at once, are over. */
static rule_span span_of(double longest_s, bool quick) {
  double warm_s = fmax(longest_s, 5.0), window_s = fmax(3.0 * longest_s, 15.0);
  if (quick) window_s = fmax(longest_s, 10.0);
  uint32_t from = (uint32_t)(warm_s * 1e9 / CROWD_FRAME_NS);
  return (rule_span){from, from + (uint32_t)(window_s * 1e9 / CROWD_FRAME_NS)};
}

static bool run_rule(struct crowd *crowd, quality_rule rule, double cpu_s, double part, double stretch,
                     rule_span span) {
  if (rule < sizeof muster_rules / sizeof *muster_rules)
    return rule_muster(crowd, &muster_rules[rule], part, cpu_s, span);
  if (rule == QUALITY_ROUND_ROBIN)
    rule_round_robin(crowd, cpu_s, span);
  else
    rule_distance(crowd, cpu_s, stretch, span);
  return true;
}

static void judge(struct crowd *crowd, const quality_case *of_case, quality_result *result) {
  for (uint32_t judge = 0; judge < QUALITY_JUDGES; judge++) {
    crowd_weigh(crowd, quality_octaves[judge]);
    result->staleness_ms[judge] = crowd_staleness(crowd);
    result->ratio[judge] = result->staleness_ms[judge] / of_case->optimum_ms[judge];
  }
}

static bool measure_case(struct crowd *crowd, double part, const quality_setup *setup, quality_case *result) {
  double cpu = crowd_demand(crowd, &result->load) * result->cpu, cpu_s = cpu * CROWD_FRAME_NS * 1e-9;
  result->load /= cpu;
  double stretch = fmax(1.0, result->load / part);
  rule_span span = span_of(solve(crowd, cpu, stretch, result), setup->quick);
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) {
    char doing[128];
    snprintf(doing, sizeof doing, "%s, %.0f %% of the CPU: %s", result->crowd, result->cpu * 100,
             quality_rules[rule][0]);
    if (setup->show) setup->show(doing, setup->user);
    crowd_restart(crowd);
    if (!run_rule(crowd, rule, cpu_s, part, stretch, span)) return false;
    judge(crowd, result, &result->rules[rule]);
    result->rules[rule].cpu_share = crowd->spent_s / (cpu_s * (span.to - span.from));
  }
  return true;
}

static bool is_wanted(const quality_setup *setup, uint32_t number) {
  if (number == SPAWNS && !setup->spawns) return false;
  return !setup->only || strcmp(setup->only, quality_crowds[number][0]) == 0;
}

static bool open_crowd(struct crowd *crowd, const quality_setup *setup, uint32_t number) {
  uint32_t agents = setup->quick ? 4000 : 20000;
  if (number == SPAWNS) return crowd_open_spawns(crowd, setup->spawns, agents, setup->seed);
  return crowd_open(crowd, &crowds[number], agents, setup->seed);
}

const char *quality_measure(const quality_setup *setup, quality_case cases[QUALITY_CASES], uint32_t *count) {
  const char *wrong = NULL;
  *count = 0;
  for (uint32_t i = 0; i < QUALITY_CROWDS && !wrong; i++) {
    struct crowd crowd;
    if (!is_wanted(setup, i)) continue;
    if (!open_crowd(&crowd, setup, i)) wrong = i == SPAWNS ? muster_last_error() : "out of memory";
    crowd.sigma = setup->sigma;
    for (uint32_t share = 0; share < QUALITY_SHARES && !wrong; share++) {
      quality_case *result = &cases[(*count)++];
      *result = (quality_case){.crowd = quality_crowds[i][0],
                               .cpu = shares[share],
                               .agents = crowd.count,
                               .observers = crowd.observer_count};
      if (!measure_case(&crowd, i == PATIENT ? wish_part_patient : wish_part, setup, result))
        wrong = muster_last_error();
    }
    crowd_close(&crowd);
  }
  return wrong;
}
