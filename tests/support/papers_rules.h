/* papers_rules.h - a world by the papers' rules, for tests of these: rates give way, no agent's period is longer than
 * the longest of its type, and beyond that an agent that waited longer comes first. Levels follow importance alone. */
#ifndef MUSTER_TESTS_PAPERS_RULES_H
#define MUSTER_TESTS_PAPERS_RULES_H

#include <muster/muster.h>

static inline muster_world_def papers_world_def(void) {
  muster_world_def def = muster_world_def_default();
  def.elastic = MUSTER_ELASTIC_RATE;
  def.order = MUSTER_ORDER_PRIORITY;
  def.levels.pressure = 0.0f;
  return def;
}

/* For WITH(). */
typedef muster_world_def papers_world_rules;

static inline papers_world_rules papers_world_rules_default(void) {
  return papers_world_def();
}

#endif
