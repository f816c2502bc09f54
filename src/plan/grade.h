/* plan/grade.h - what importance means for an agent: its capability level, its elasticity, and so its class. */
#ifndef PLAN_GRADE_H
#define PLAN_GRADE_H

#include <muster/muster.h>

struct ready_set;
struct type_table;
struct agent_store;
struct agent_row;
struct class_table;
struct agent_class;

/* What is asked of a type for each agent. */
typedef struct grade_type {
  float step_of_none; /* the elasticity step at importance 0, not rounded, */
  float steps_of_one; /* and what importance 1 takes off it */
  float level_importance[MUSTER_LEVELS - 1];
  uint8_t level_count;
  bool rigid;          /* elasticity 0 */
  bool weighs_set;     /* as grade_rule */
  uint8_t level_floor; /* for the type's conduct: no level below */
  bool checked;        /* that floor was changed: levels are looked at even when importance stays */
} grade_type;

/* In place of a level. */
enum {
  GRADE_STAYS = 254, /* same class, another importance */
  GRADE_LATER = 255  /* it was left alone and must be looked at again */
};

/* What another importance does to an agent. */
typedef struct grade_change {
  uint32_t agent;
  uint16_t before, after; /* importance */
  uint8_t level, step;    /* of its class from now on; or one of the above */
} grade_change;

/* How a world weighs importance: what an agent's elasticity falls by from importance 0 to 1, and whether it also does
 * where a designer set one for the agent. */
typedef struct grade_rule {
  float octaves;
  bool weighs_set;
} grade_rule;

/* The rule of a world. */
grade_rule grade_rule_of(const muster_world_def *def);

/* What is asked of a type. */
grade_type grade_type_of(const muster_type_def *def, const grade_rule *rule);

/* Within which importance an agent stays at its level: cheaper below `low` (0 at the cheapest), better from `high` on
 * (infinite at the best). */
void grade_level_bounds(const grade_type *type, uint32_t level, float *low, float *high);

/* The class that a new agent belongs to, by its row's importance; sets the row's level. */
struct agent_class *grade_new(struct class_table *classes, const struct type_table *types, const grade_type *type,
                              struct agent_row *row);

/* Gives an active agent another importance, unless it is too close to the one it has; false when nothing follows from
 * it. An admitted agent may be running and is left alone, unless `tuned`. Writes row.importance, reads the classes:
 * several threads at once for different agents. */
bool grade_decide(const struct class_table *classes, const grade_type *type, struct agent_store *store, uint32_t index,
                  float importance, bool tuned, grade_change *change);

/* Lowers an active agent that is not admitted by `eased` levels from now on, for the pressure; false when nothing
 * follows from it: it is at the cheapest. Frame's thread. */
bool grade_shed(const struct class_table *classes, const grade_type *type, struct agent_store *store, uint32_t index,
                uint8_t shed, grade_change *change);

/* Fetches what grade_apply will touch for the changes that follow changes[0], `coming` of them: the way from a row to
 * the list that it is in has several steps, each of which must have arrived before the next. */
void grade_prefetch(struct class_table *classes, const struct agent_store *store, const grade_change *changes,
                    uint32_t coming);

/* Counts the agent in the band of its new importance, still in its old class. Frame's thread, before grade_apply. */
void grade_move_band(struct class_table *classes, const struct agent_store *store, const grade_change *change);

/* Does what was decided about level and class; who waits in the order of deadlines is filed anew, where there
 * is a ready set. Frame's thread. */
void grade_apply(struct class_table *classes, const struct type_table *types, struct agent_store *store,
                 struct ready_set *ready, const grade_change *change);

#endif
