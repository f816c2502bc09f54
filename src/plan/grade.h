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

/* What grading an agent needs of its type. */
typedef struct grade_type {
  float step_of_none; /* the elasticity step at importance 0, not rounded, */
  float steps_of_one; /* and what importance 1 takes off it */
  float level_importance[MUSTER_LEVELS - 1];
  uint8_t level_count;
  bool rigid;                   /* elasticity 0 */
  bool weighs_set, weighs_cost; /* as in grade_rule */
  uint8_t level_floor;          /* set for the type's overruns: no level below it */
  bool checked;                 /* level_floor was changed: levels are checked even when importance stays */
} grade_type;

/* Values in place of a level. */
enum {
  GRADE_STAYS = 254, /* same class, another importance */
  GRADE_LATER = 255  /* it was left alone and must be looked at again */
};

/* What another importance does to an agent. */
typedef struct grade_change {
  uint32_t agent;
  uint16_t before, after; /* importance */
  uint8_t level, step;    /* of its class from now on; or `level` is one of the above */
} grade_change;

/* How a world weighs importance: by how much an agent's elasticity falls from importance 0 to 1, whether it also
 * falls where a designer set an elasticity for the agent, and whether it rises with what the agent costs beside others
 * of its type. */
typedef struct grade_rule {
  float octaves;
  bool weighs_set, weighs_cost;
} grade_rule;

/* The rule of a world. */
grade_rule grade_rule_of(const muster_world_def *def);

/* What grading needs of a type. */
grade_type grade_type_of(const muster_type_def *def, const grade_rule *rule);

/* The importance within which an agent stays at its level: it goes to a cheaper one below `low` (0 at the cheapest), to
 * a better one from `high` on (infinite at the best). */
void grade_level_bounds(const grade_type *type, uint32_t level, float *low, float *high);

/* The class that a new agent belongs to, by its row's importance; sets the row's level. */
struct agent_class *grade_new(struct class_table *classes, const struct type_table *types, const grade_type *type,
                              struct agent_row *row);

/* Gives an active agent another importance, unless it is too close to the one it has; false when nothing else changes.
 * An admitted agent may be running and is left alone, unless `tuned`. Writes row.importance, reads the classes: several
 * threads at once for different agents. */
bool grade_decide(const struct class_table *classes, const grade_type *type, struct agent_store *store, uint32_t index,
                  float importance, bool tuned, grade_change *change);

/* From now on pressure lowers an active agent that is not admitted by `shed` levels; false when nothing else changes,
 * since it is at the cheapest. Frame's thread. */
bool grade_shed(const struct class_table *classes, const grade_type *type, struct agent_store *store, uint32_t index,
                uint8_t shed, grade_change *change);

/* Counts the agent in the band of its new importance, still in its old class. Frame's thread, before grade_apply. */
void grade_move_band(struct class_table *classes, const struct agent_store *store, const grade_change *change);

/* Moves an active agent to another class of its type, with what remains of its period. Frame's thread. */
void grade_change_class(struct class_table *classes, struct agent_class *from, struct agent_class *to,
                        struct agent_store *store, uint32_t index);

/* Applies a decided change of level and class. An agent that waits in the order of deadlines is filed anew, if there is
 * a ready set. Frame's thread. */
void grade_apply(struct class_table *classes, const struct type_table *types, struct agent_store *store,
                 struct ready_set *ready, const grade_change *change);

/* An active agent has another cost factor from now on: its class's sum follows, and where the rule weighs costs it
 * changes class with each half octave. Not of an agent that may be running. Frame's thread. */
void grade_set_factor(struct class_table *classes, const struct type_table *types, const grade_type *type,
                      struct agent_store *store, struct ready_set *ready, uint32_t index, int32_t factor);

#endif
