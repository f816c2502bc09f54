#include "agents/store.h"

#include "base/assert.h"

#include <math.h>

void store_create(agent_store *store, uint32_t maximum, struct arena *arena) {
  ASSERT(maximum > 0);
  *store = (agent_store){.maximum = maximum};
  ARENA_ARRAY(arena, store->rows, maximum);
  ARENA_ARRAY(arena, store->places, maximum);
  ARENA_ARRAY(arena, store->begun, maximum);
  ARENA_ARRAY(arena, store->alarms, maximum);
  ARENA_ARRAY(arena, store->shed, maximum);
  ARENA_ARRAY(arena, store->active, bits_words(maximum));
}

void store_reserve_factors(agent_store *store, struct arena *arena) {
  ARENA_ARRAY(arena, store->ratings, store->maximum);
  ARENA_ARRAY(arena, store->own_importance, store->maximum);
  ARENA_ARRAY(arena, store->inherited_importance, store->maximum);
}

void store_reserve_zone(agent_store *store, struct arena *arena) {
  ARENA_ARRAY(arena, store->ids, store->maximum);
  ARENA_ARRAY(arena, store->ghosts, bits_words(store->maximum));
}

void store_activate(agent_store *store, uint32_t index) {
  ASSERT(index < store->maximum && !store_is_active(store, index));
  bits_set(store->active, index);
  store->active_count++;
  store->level_counts[store->rows[index].level]++;
  if (index >= store->high) store->high = index + 1;
  changes_note(&store->changes, index, NOTED_SPAWNED);
}

void store_deactivate(agent_store *store, uint32_t index) {
  ASSERT(index < store->maximum && store_is_active(store, index));
  bits_clear(store->active, index);
  store->active_count--;
  store->level_counts[store->rows[index].level]--;
  changes_note_left(&store->changes, index, store_id(store, index), store->rows[index].type);
}

void store_set_level(agent_store *store, uint32_t index, uint32_t level) {
  ASSERT(level < MUSTER_LEVELS && store_is_active(store, index));
  store->level_counts[store->rows[index].level]--;
  store->level_counts[level]++;
  store->rows[index].level = level & 3u;
  changes_note(&store->changes, index, NOTED_LEVEL);
}

uint32_t store_next_active(const agent_store *store, uint32_t from) {
  return from < store->high ? bits_next(store->active, bits_words(store->high), from) : UINT32_MAX;
}

uint32_t store_next_seen(const agent_store *store, uint32_t from) {
  uint32_t active = store_next_active(store, from);
  if (!store->ghost_count || from >= store->maximum) return active;
  uint32_t ghost = bits_next(store->ghosts, bits_words(store->maximum), from);
  return ghost < active ? ghost : active;
}

uint32_t elasticity_step_of(float elasticity) {
  if (elasticity < 0.0f) return ELASTICITY_DERIVED;
  if (!(elasticity > 0.0f)) return 0;
  float step = roundf(log2f(elasticity) * 8.0f) + (float)ELASTICITY_STEP_OF_ONE;
  return (uint32_t)fminf(fmaxf(step, 1.0f), (float)(ELASTICITY_STEPS - 1));
}

double elasticity_of_step(uint32_t step) {
  return step == 0 ? 0.0 : exp2(((double)step - (double)ELASTICITY_STEP_OF_ONE) / 8.0);
}
