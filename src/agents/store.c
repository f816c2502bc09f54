#include "agents/store.h"

#include "base/assert.h"

#include <math.h>

void store_create(agent_store *store, uint32_t maximum, struct arena *arena) {
  ASSERT(maximum > 0);
  *store = (agent_store){.maximum = maximum};
  store->rows = arena_reserve(arena, maximum, sizeof *store->rows);
  store->places = arena_reserve(arena, maximum, sizeof *store->places);
  store->begun = arena_reserve(arena, maximum, sizeof *store->begun);
  store->alarms = arena_reserve(arena, maximum, sizeof *store->alarms);
  store->shed = arena_reserve(arena, maximum, sizeof *store->shed);
  store->active = arena_reserve(arena, (maximum + 63) / 64, sizeof *store->active);
}

void store_reserve_factors(agent_store *store, struct arena *arena) {
  store->ratings = arena_reserve(arena, store->maximum, sizeof *store->ratings);
  store->own_importance = arena_reserve(arena, store->maximum, sizeof *store->own_importance);
  store->inherited_importance = arena_reserve(arena, store->maximum, sizeof *store->inherited_importance);
}

void store_activate(agent_store *store, uint32_t index) {
  ASSERT(index < store->maximum && !store_is_active(store, index));
  store->active[index >> 6] |= 1ull << (index & 63);
  store->active_count++;
  store->level_counts[store->rows[index].level]++;
  if (index >= store->high) store->high = index + 1;
}

void store_deactivate(agent_store *store, uint32_t index) {
  ASSERT(index < store->maximum && store_is_active(store, index));
  store->active[index >> 6] &= ~(1ull << (index & 63));
  store->active_count--;
  store->level_counts[store->rows[index].level]--;
}

void store_set_level(agent_store *store, uint32_t index, uint32_t level) {
  ASSERT(level < MUSTER_LEVELS && store_is_active(store, index));
  store->level_counts[store->rows[index].level]--;
  store->level_counts[level]++;
  store->rows[index].level = level & 15u;
}

uint32_t store_next_active(const agent_store *store, uint32_t from) {
  if (from >= store->high) return UINT32_MAX;
  uint32_t word = from >> 6, words = (store->high + 63) / 64;
  uint64_t bits = store->active[word] & (UINT64_MAX << (from & 63));
  while (!bits) {
    if (++word >= words) return UINT32_MAX;
    bits = store->active[word];
  }
  return word * 64 + (uint32_t)__builtin_ctzll(bits);
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
