#include "plan/grade.h"

#include "agents/store.h"
#include "agents/types.h"
#include "base/assert.h"
#include "plan/classes.h"
#include "plan/due.h"
#include "plan/ready.h"

#include <math.h>

static const float level_hysteresis = 0.1f; /* share of a threshold */
static const float step_hysteresis = 0.75f; /* elasticity steps */
static const float importance_hysteresis = 0.01f;
/* Derived elasticity: the type's times an eighth at importance 1, up to times eight at importance 0. */
static const float derived_octaves = 6.0f;
static const float steps_per_octave = 8.0f;
static const float steps_per_shift = 4.0f; /* of a cost factor */

grade_rule grade_rule_of(const muster_world_def *def) {
  if (def->elastic != MUSTER_ELASTIC_IMPORTANCE) return (grade_rule){derived_octaves, false, false};
  return (grade_rule){def->importance.octaves, true, true};
}

/* Half of the octaves lie above the elasticity of the type, and half below. */
grade_type grade_type_of(const muster_type_def *def, const grade_rule *rule) {
  grade_type type = {.level_count = (uint8_t)def->levels.count,
                     .rigid = def->elasticity <= 0.0f,
                     .weighs_set = rule->weighs_set,
                     .weighs_cost = rule->weighs_cost,
                     .steps_of_one = rule->octaves * steps_per_octave};
  for (uint32_t i = 0; i + 1 < MUSTER_LEVELS; i++) type.level_importance[i] = def->levels.importance[i];
  if (!type.rigid)
    type.step_of_none =
        log2f(def->elasticity) * steps_per_octave + type.steps_of_one * 0.5f + (float)ELASTICITY_STEP_OF_ONE;
  return type;
}

/* The importance below which an agent that is at `current` goes to level `above` + 1 or cheaper. */
static float threshold_of(const grade_type *type, uint32_t above, uint32_t current) {
  float threshold = type->level_importance[above];
  if (current == UINT32_MAX) return threshold;
  return threshold * (current > above ? 1.0f + level_hysteresis : 1.0f - level_hysteresis);
}

/* The level for an importance, before the pressure lowers it; `current` resists by the hysteresis. UINT32_MAX = no
 * current level. */
static uint32_t level_for(const grade_type *type, const agent_row *row, float importance, uint32_t current) {
  uint32_t floor = row->level_floor > type->level_floor ? row->level_floor : type->level_floor;
  uint32_t level = 0;
  for (uint32_t i = 0; i + 1 < type->level_count; i++)
    if (importance < threshold_of(type, i, current)) level = i + 1;
  return level > floor ? level : floor;
}

/* The level of an agent that pressure lowers by `shed` levels now, and lowered by `before` until now. */
static uint32_t shed_level_for(const grade_type *type, const agent_row *row, float importance, uint32_t before,
                               uint32_t shed) {
  uint32_t current = row->level > before ? row->level - before : 0;
  uint32_t level = level_for(type, row, importance, current) + shed, cheapest = type->level_count - 1u;
  if (shed == 0) return level;
  return level < cheapest ? level : cheapest;
}

void grade_level_bounds(const grade_type *type, uint32_t level, float *low, float *high) {
  *low = level + 1 < type->level_count ? threshold_of(type, level, level) : 0.0f;
  *high = level > 0 ? threshold_of(type, level - 1, level) : INFINITY;
}

/* The elasticity step for an importance. `current` resists a change by the hysteresis; 0 does not resist. */
static uint32_t grade_step_for(const grade_type *type, const agent_row *row, float importance, uint32_t current) {
  bool set = row->elasticity_step != ELASTICITY_DERIVED;
  if (set && (!type->weighs_set || row->elasticity_step == 0)) return row->elasticity_step;
  if (!set && type->rigid) return 0;
  float step_of_none = set ? (float)row->elasticity_step + type->steps_of_one * 0.5f : type->step_of_none;
  float step = step_of_none - importance * type->steps_of_one;
  if (type->weighs_cost) step += steps_per_shift * (float)factor_shift(row->cost_factor);
  if (current && fabsf(step - (float)current) < step_hysteresis) return current;
  float most = (float)(ELASTICITY_STEPS - 1);
  return step < 1.0f ? 1 : (uint32_t)((step < most ? step : most) + 0.5f);
}

/* The class of an active agent at another level or elasticity: periods of its own go along. */
static agent_class *class_for(class_table *classes, const type_table *types, const agent_row *row, uint32_t level,
                              uint32_t step) {
  class_periods room;
  const class_periods *own = classes_own(&classes->classes[row->class], &room);
  return classes_get_own(classes, &types->types[row->type].def, row->type, level, step, own);
}

agent_class *grade_new(class_table *classes, const type_table *types, const grade_type *type, agent_row *row) {
  float importance = share_value(row->importance);
  row->level = level_for(type, row, importance, UINT32_MAX) & 3u;
  return classes_get(classes, &types->types[row->type].def, row->type, row->level,
                     grade_step_for(type, row, importance, 0));
}

bool grade_decide(const class_table *classes, const grade_type *type, agent_store *store, uint32_t index,
                  float importance, bool tuned, grade_change *change) {
  agent_row *row = &store->rows[index];
  uint16_t share = share_of(importance);
  float before = share_value(row->importance);
  bool at_an_end = share != row->importance && (share == 0 || share == UINT16_MAX);
  bool changes = at_an_end || fabsf(importance - before) > importance_hysteresis;
  if (!changes && !tuned && !type->checked) return false;
  *change = (grade_change){index, row->importance, row->importance, GRADE_LATER, 0};
  if (row->status == AGENT_ADMITTED && !tuned) return true;
  if (changes) row->importance = share;
  change->after = row->importance;
  const agent_class *class = &classes->classes[row->class];
  float now = share_value(row->importance);
  /* Pressure cannot lower a type of one level: what is known of that is in a line of its own, and is left there. */
  uint32_t shed = type->level_count > 1 ? store->shed[index] : 0, level = shed_level_for(type, row, now, shed, shed);
  uint32_t step = grade_step_for(type, row, now, class->step);
  bool stays = level == row->level && step == class->step;
  change->level = (uint8_t)(stays ? GRADE_STAYS : level);
  change->step = (uint8_t)step;
  return !stays || change->before >> 8 != change->after >> 8 || band_of(change->before) != band_of(change->after);
}

bool grade_shed(const class_table *classes, const grade_type *type, agent_store *store, uint32_t index, uint8_t shed,
                grade_change *change) {
  const agent_row *row = &store->rows[index];
  uint32_t level = shed_level_for(type, row, share_value(row->importance), store->shed[index], shed);
  store->shed[index] = shed;
  *change = (grade_change){index, row->importance, row->importance, (uint8_t)level, classes->classes[row->class].step};
  return level != row->level;
}

/* For an agent that is not scheduled: it takes its lateness along instead of the rest of its period. */
static void rebase_due(agent_row *row, const agent_class *from, const agent_class *to) {
  int64_t ahead = (int64_t)(row->virtual_due_ns - from->clock_ns);
  int64_t due = (int64_t)to->clock_ns + ahead;
  row->virtual_due_ns = due > 0 ? (uint64_t)due : 0;
}

void grade_change_class(class_table *classes, agent_class *from, agent_class *to, agent_store *store, uint32_t index) {
  agent_row *row = &store->rows[index];
  if (row->status == AGENT_QUARANTINED) { /* it is a member of neither class */
    row->class = to->number;
    return;
  }
  classes_join(classes, to, row);
  if (row->status == AGENT_WAITING && row->scheduled)
    due_transfer(classes, from, to, store, index);
  else
    rebase_due(row, from, to);
  classes_leave(classes, from, row);
  row->class = to->number;
}

void grade_move_band(class_table *classes, const agent_store *store, const grade_change *change) {
  uint32_t before = band_of(change->before), after = band_of(change->after);
  const agent_row *row = &store->rows[change->agent];
  if (before == after || row->status == AGENT_QUARANTINED) return; /* it is a member of no class */
  agent_class *class = &classes->classes[row->class];
  ASSERT(class->in_band[before] > 0);
  classes_count_band(classes, class, before, -1);
  classes_count_band(classes, class, after, 1);
}

void grade_apply(class_table *classes, const type_table *types, agent_store *store, ready_set *ready,
                 const grade_change *change) {
  agent_row *row = &store->rows[change->agent];
  if (change->level >= GRADE_STAYS) return;
  agent_class *from = &classes->classes[row->class];
  agent_class *to = class_for(classes, types, row, change->level, change->step);
  if (to != from) grade_change_class(classes, from, to, store, change->agent);
  if (to != from && ready && ready_by_deadline(ready) && row->status == AGENT_READY)
    ready_refresh(ready, store, change->agent);
  if (change->level == row->level) return;
  bool waits = ready_count_out(ready, row);
  store_set_level(store, change->agent, change->level);
  if (waits) ready_count_in(ready, row);
}

/* By the law of importance T_i goes with the root of C_i e_i / w_i: a factor of the cost is one of the elasticity. */
void grade_set_factor(class_table *classes, const type_table *types, const grade_type *type, agent_store *store,
                      ready_set *ready, uint32_t index, int32_t factor) {
  agent_row *row = &store->rows[index];
  agent_class *class = &classes->classes[row->class];
  bool shifts = type->weighs_cost && factor_shift(factor) != factor_shift(row->cost_factor);
  ASSERT(store_is_active(store, index) && factor_is_possible(factor));
  if (row->status == AGENT_QUARANTINED) { /* it is a member of no class */
    row->cost_factor = (int8_t)factor;
    return;
  }
  if (factor != row->cost_factor) {
    bool waits = ready_count_out(ready, row);
    classes_set_factor(classes, class, row, factor);
    if (waits) ready_count_in(ready, row);
  }
  if (!shifts) return;
  uint32_t step = grade_step_for(type, row, share_value(row->importance), class->step);
  grade_change change = {index, row->importance, row->importance, row->level, (uint8_t)step};
  grade_apply(classes, types, store, ready, &change);
}
