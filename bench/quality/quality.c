#include "quality.h"

#include "rules.h"

#include <stdio.h>

static const crowd_def crowds[QUALITY_CROWDS] = {
    {"uniform", "updates of 20 us; periods from 100 ms to 10 s", 1, {20000}, 100000000, 10000000000},
    {"mixed",
     "three types, updates of 10, 40 and 160 us; periods from 100 ms to 10 s",
     3,
     {10000, 40000, 160000},
     100000000,
     10000000000},
};

/* Of what everybody at the shortest period would take. */
static const double loads[QUALITY_LOADS] = {0.1, 0.3, 0.6};

enum { MIDDLE_LOAD = 1 };

static const char *const rules[QUALITY_RULES][2] = {
    {"elastic", "Muster's elastic rule, elasticity from importance (the default)"},
    {"chosen", "the elastic rule with the elasticities that are best at this very load"},
    {"chosen-once", "the elastic rule with those that are best at the middle load"},
    {"square-root", "Muster's square-root rule, elasticity from importance"},
    {"round-robin", "one after the other; who is not due yet is passed over"},
    {"distance", "every k-th frame, k by the squared distance to the nearest observer, scaled to this CPU"},
};

const char *quality_rule_name(quality_rule rule) {
  return rules[rule][0];
}

const char *quality_rule_summary(quality_rule rule) {
  return rules[rule][1];
}

const char *quality_crowd_name(uint32_t crowd) {
  return crowd < QUALITY_CROWDS ? crowds[crowd].name : NULL;
}

const char *quality_crowd_summary(uint32_t crowd) {
  return crowd < QUALITY_CROWDS ? crowds[crowd].summary : NULL;
}

/* Elasticities as the rule has them. */
static void prepare(crowd *crowd, quality_rule rule, double load) {
  double demand = crowd_demand(crowd);
  crowd_derive_elasticities(crowd);
  if (rule == QUALITY_CHOSEN || rule == QUALITY_CHOSEN_ONCE) {
    crowd_solve(crowd, demand * (rule == QUALITY_CHOSEN ? load : loads[MIDDLE_LOAD]));
    crowd_choose_elasticities(crowd);
  }
  crowd_restart(crowd);
}

static bool run_rule(crowd *crowd, quality_rule rule, double cpu_s, rule_span span) {
  switch (rule) {
  case QUALITY_ROUND_ROBIN:
    rule_round_robin(crowd, cpu_s, span);
    return true;
  case QUALITY_DISTANCE:
    rule_distance(crowd, cpu_s, span);
    return true;
  case QUALITY_SQUARE_ROOT:
    return rule_muster(crowd, MUSTER_ELASTIC_SQUARE_ROOT, cpu_s, span);
  default:
    return rule_muster(crowd, MUSTER_ELASTIC_RATE, cpu_s, span);
  }
}

static bool measure_case(crowd *crowd, const quality_setup *setup, double load, quality_case *result) {
  rule_span span = setup->quick ? (rule_span){500, 1250} : (rule_span){750, 2250};
  double cpu = crowd_demand(crowd) * load, cpu_s = cpu * CROWD_FRAME_NS * 1e-9;
  *result = (quality_case){
      .crowd = crowd->def->name, .cpu = load, .agents = crowd->count, .observers = crowd->observer_count};
  result->optimum_ms = crowd_solve(crowd, cpu);
  for (quality_rule rule = 0; rule < QUALITY_RULES; rule++) {
    char doing[128];
    snprintf(doing, sizeof doing, "%s, %.0f %% of the CPU: %s", crowd->def->name, load * 100, rules[rule][0]);
    if (setup->show) setup->show(doing, setup->user);
    prepare(crowd, rule, load);
    if (!run_rule(crowd, rule, cpu_s, span)) return false;
    quality_result *of_rule = &result->rules[rule];
    of_rule->staleness_ms = crowd_staleness(crowd);
    of_rule->ratio = of_rule->staleness_ms / result->optimum_ms;
    of_rule->cpu_share = crowd->spent_s / (cpu_s * (span.to - span.from));
  }
  return true;
}

const char *quality_measure(const quality_setup *setup, quality_case cases[QUALITY_CASES]) {
  const char *wrong = NULL;
  for (uint32_t i = 0; i < QUALITY_CROWDS && !wrong; i++) {
    crowd crowd;
    if (!crowd_open(&crowd, &crowds[i], setup->quick ? 1000 : 5000, setup->seed)) wrong = "out of memory";
    for (uint32_t load = 0; load < QUALITY_LOADS && !wrong; load++)
      if (!measure_case(&crowd, setup, loads[load], &cases[i * QUALITY_LOADS + load])) wrong = muster_last_error();
    crowd_close(&crowd);
  }
  return wrong;
}
