#include "plan/phases.h"

#include "plan/activation.h"

#include <muster/sets.h>

void phases_create(phase_table *table, uint32_t delay_max, uint32_t types_max, uint32_t agents_max,
                   struct arena *arena) {
  *table = (phase_table){.delay_max = delay_max};
  if (!delay_max) return;
  ARENA_ARRAY(arena, table->types, types_max);
  ARENA_ARRAY(arena, table->places, agents_max);
}

static uint32_t cycle_of(const set_table *sets) {
  uint32_t periods[MUSTER_SETS_MAX], count = 0;
  for (uint32_t i = 0; i < sets->count; i++)
    if (sets->sets[i].period_ns == 0 && sets->sets[i].end_atom > sets->sets[i].first_atom)
      periods[count++] = sets->sets[i].period_updates;
  return activation_cycle(periods, count, PHASE_CYCLE_MAX + 1);
}

static int64_t cost_of(const type_set *set, const muster_atom *atoms) {
  int64_t cost_ns = 0;
  for (uint32_t i = set->first_atom; i < set->end_atom; i++) cost_ns += atoms[i].model_ns;
  return cost_ns;
}

void phases_register(phase_table *table, uint32_t type, const set_table *sets, const muster_atom *atoms,
                     struct arena *arena) {
  if (!table->delay_max) return;
  uint32_t cycle = cycle_of(sets);
  struct type_phases *phases = &table->types[type];
  *phases = (struct type_phases){0};
  if (cycle < 2 || cycle > PHASE_CYCLE_MAX) return;
  ARENA_ARRAY(arena, phases->cost_ns, cycle);
  ARENA_ARRAY(arena, phases->load_ns, cycle);
  if (arena->failed) return;
  phases->cycle = cycle;
  for (uint32_t i = 0; i < sets->count; i++) {
    const type_set *set = &sets->sets[i];
    if (set->period_ns || set->end_atom == set->first_atom) continue;
    for (uint32_t update = set->delay_updates % set->period_updates; update < cycle; update += set->period_updates)
      phases->cost_ns[update] += cost_of(set, atoms);
  }
}

void phases_give_up(phase_table *table, uint32_t type) {
  if (table->delay_max) table->types[type].cycle = 0;
}

/* What an agent whose updates begin at `first` would find: the cost of the fullest update with it, and how full those
 * are in which its own costly updates fall. */
typedef struct finding {
  int64_t most_ns;
  double weighed;
} finding;

static finding phases_look(const struct type_phases *phases, uint32_t first) {
  finding found = {0};
  for (uint32_t i = 0, at = first; i < phases->cycle; i++, at = at + 1 < phases->cycle ? at + 1 : 0) {
    int64_t with_ns = phases->load_ns[at] + phases->cost_ns[i];
    if (with_ns > found.most_ns) found.most_ns = with_ns;
    found.weighed += (double)phases->load_ns[at] * (double)phases->cost_ns[i];
  }
  return found;
}

static void add(const struct type_phases *phases, uint32_t first, int64_t sign) {
  for (uint32_t i = 0, at = first; i < phases->cycle; i++, at = at + 1 < phases->cycle ? at + 1 : 0)
    phases->load_ns[at] += sign * phases->cost_ns[i];
}

uint32_t phases_join(phase_table *table, uint32_t type, uint32_t agent, uint32_t time) {
  if (!table->delay_max || !table->types[type].cycle) return 0;
  const struct type_phases *phases = &table->types[type];
  uint32_t cycle = phases->cycle, first = time % cycle, best = 0;
  finding least = phases_look(phases, first);
  for (uint32_t shift = 1; shift <= table->delay_max && shift < cycle; shift++) {
    finding found = phases_look(phases, (first + shift) % cycle);
    if (found.most_ns > least.most_ns || (found.most_ns == least.most_ns && found.weighed >= least.weighed)) continue;
    least = found;
    best = shift;
  }
  first = (first + best) % cycle;
  add(phases, first, 1);
  table->places[agent] = (uint16_t)(first + 1);
  return best ? cycle - best : 0;
}

void phases_leave(phase_table *table, uint32_t type, uint32_t agent) {
  if (!table->delay_max || !table->places[agent]) return;
  if (table->types[type].cycle) add(&table->types[type], table->places[agent] - 1u, -1);
  table->places[agent] = 0;
}
