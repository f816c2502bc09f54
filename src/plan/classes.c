#include "plan/classes.h"

#include "base/assert.h"

#include <math.h>
#include <stdlib.h>

void classes_create(class_table *table, uint32_t types_max, uint32_t agents_max, struct arena *arena) {
  uint32_t keys = types_max * MUSTER_LEVELS * ELASTICITY_STEPS;
  uint32_t usual = types_max * 64 + 1024; /* derived elasticities of all levels, and some that designers set */
  *table = (class_table){.maximum = keys < usual ? keys : usual < UINT16_MAX ? usual : UINT16_MAX};
  ARENA_ARRAY(arena, table->classes, table->maximum);
  ARENA_ARRAY(arena, table->active, table->maximum);
  ARENA_ARRAY(arena, table->lookup, keys);
  ARENA_ARRAY(arena, table->frozen, types_max);
  lists_create(&table->lists, WHEEL_SHARDS, agents_max, arena);
}

/* For a full table, which takes more than a hundred types of all levels and elasticities: searches the type's classes.
 */
static agent_class *nearest_class(class_table *table, uint32_t type_index, uint32_t step) {
  const uint16_t *of_type = &table->lookup[type_index * MUSTER_LEVELS * ELASTICITY_STEPS];
  agent_class *nearest = NULL;
  for (uint32_t i = 0; i < MUSTER_LEVELS * ELASTICITY_STEPS; i++) {
    agent_class *class = of_type[i] ? &table->classes[of_type[i] - 1] : NULL;
    if (class && (!nearest || abs(class->step - (int)step) < abs(nearest->step - (int)step))) nearest = class;
  }
  ASSERT(nearest);
  return nearest;
}

void classes_reserve(class_table *table, const muster_type_def *type, uint32_t type_index) {
  classes_get(table, type, type_index, 0, ELASTICITY_STEP_OF_ONE);
}

agent_class *classes_get(class_table *table, const muster_type_def *type, uint32_t type_index, uint32_t level,
                         uint32_t step) {
  ASSERT(level < MUSTER_LEVELS && step < ELASTICITY_STEPS);
  uint16_t *entry = &table->lookup[(type_index * MUSTER_LEVELS + level) * ELASTICITY_STEPS + step];
  if (*entry) return &table->classes[*entry - 1];
  if (table->count == table->maximum) return nearest_class(table, type_index, step);
  agent_class *class = &table->classes[table->count++];
  *entry = (uint16_t)table->count;
  class->number = (uint16_t)(table->count - 1);
  class->type = (uint16_t)type_index;
  class->level = (uint8_t)level;
  class->step = (uint8_t)step;
  class->nominal_ns = type->period_ns;
  class->longest_ns = type->period_max_ns;
  class->hard = type->period_max_hard;
  class->elasticity = elasticity_of_step(step);
  class->rate = 1.0;
  class->period_ns = (float)class->nominal_ns;
  class->slot_shift = 64u - (uint32_t)__builtin_clzll(class->nominal_ns / WHEEL_SLOTS_PER_PERIOD);
  class->per_nominal = 1.0f / (float)class->nominal_ns;
  class->elapsed = (uint8_t)type->elapsed;
  class->step_ns = type->elapsed == MUSTER_ELAPSED_STEPS ? type->step_ns : 0;
  return class;
}

void classes_freeze(class_table *table, uint32_t type, bool frozen) {
  if (frozen == table->frozen[type]) return;
  table->frozen[type] = frozen;
  for (uint32_t i = 0; i < table->active_count; i++) {
    const agent_class *class = &table->classes[table->active[i]];
    if (class->type != type || class->elapsed == MUSTER_ELAPSED_EVENTS) continue;
    for (uint32_t band = 0; band < MUSTER_BANDS; band++)
      table->in_band[band] += frozen ? 0u - class->in_band[band] : class->in_band[band];
  }
}

void classes_join(class_table *table, agent_class *class, uint16_t importance) {
  classes_count_band(table, class, band_of(importance), 1);
  if (class->members++ > 0) return;
  class->active_position = table->active_count;
  table->active[table->active_count++] = class->number;
}

void classes_leave(class_table *table, agent_class *class, uint16_t importance) {
  ASSERT(class->members > 0 && class->in_band[band_of(importance)] > 0);
  classes_count_band(table, class, band_of(importance), -1);
  if (--class->members > 0) return;
  class->pace = (activation_pace){0};
  uint16_t last = table->active[--table->active_count];
  table->active[class->active_position] = last;
  table->classes[last].active_position = class->active_position;
}
