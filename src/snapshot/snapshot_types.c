/* snapshot_types.c - what a snapshot says of types and of the classes of their agents. */
#include "base/assert.h"
#include "snapshot/snapshot.h"
#include "world/conduct_state.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"
#include "world/world_score.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ types
 */

static void snapshot_types_exchange_shape(struct snapshot *snapshot, uint32_t number) {
  const agent_type *type = &snapshot->world->agents.types.types[number];
  if (!snapshot_shape(snapshot, "type", number, type->name, sizeof type->name, fields_type, &type->def)) return;
  uint32_t parallel_atoms = snapshot_number(snapshot, type->parallel_atoms);
  snapshot_expect(snapshot, parallel_atoms == type->parallel_atoms,
                  "type '%s': its number of atoms before its actions is %u, in the snapshot it was %u", type->name,
                  type->parallel_atoms, parallel_atoms);
}

/* Of a set: where its atoms are, and the values that may have been tuned. */
typedef struct saved_set {
  uint64_t period_ns;
  uint32_t period_updates;
  uint16_t first_atom, end_atom, unit;
  uint8_t role, mode, priority, zero[5];
} saved_set;

static void exchange_set(struct snapshot *snapshot, agent_type *type, uint32_t number) {
  type_set *set = &type->sets.sets[number];
  saved_set own = {.period_ns = set->period_ns,
                   .period_updates = set->period_updates,
                   .first_atom = set->first_atom,
                   .end_atom = set->end_atom,
                   .unit = set->unit,
                   .role = set->role,
                   .mode = set->mode,
                   .priority = set->priority};
  saved_set saved = own;
  snapshot_exchange(snapshot, &saved, sizeof saved);
  if (snapshot_saves(snapshot)) return;
  muster_set_tuning tuning = {.priority = saved.priority,
                              .period_updates = saved.period_updates,
                              .period_ns = saved.period_ns,
                              .mode = saved.mode};
  snapshot_expect(snapshot,
                  saved.first_atom == own.first_atom && saved.end_atom == own.end_atom && saved.role == own.role,
                  "type '%s': set %u is not what it was", type->name, number);
  snapshot_expect(snapshot, sets_check_tuning(&type->sets, type->name, number, &tuning) == MUSTER_OK,
                  "type '%s': set %u is tuned as none can be", type->name, number);
  if (!snapshot_loads(snapshot)) return;
  sets_tune(&type->sets, number, &tuning);
  set->unit = saved.unit;
}

/* What changes of a type after it is registered. */
typedef struct saved_type {
  uint32_t priority, risk_ns;
  uint8_t watched, quarantined, level_floor, checked;
  uint8_t refused, zero[3];
} saved_type;

static void take_type(struct snapshot *snapshot, uint32_t number, const saved_type *saved) {
  struct muster_world *world = snapshot->world;
  agent_type *type = &world->agents.types.types[number];
  grade_type *grade = &world->score->board.types[number];
  ASSERT(snapshot_loads(snapshot) && number < world->agents.types.count && !type->quarantined);
  type->def.priority = saved->priority;
  type->risk_ns = saved->risk_ns;
  type->watched = saved->watched;
  type->quarantined = saved->quarantined;
  classes_freeze(&world->queues->classes, number, saved->quarantined);
  *grade = grade_type_of(&type->def, &world->score->board.rule);
  grade->level_floor = saved->level_floor;
  grade->checked = saved->checked;
  world->score->board.types_known = number + 1;
  world->score->board.type_refused[number] = saved->refused;
  world->conduct->types_watched += saved->watched;
  world->conduct->types_quarantined += saved->quarantined;
}

static void exchange_fate(struct snapshot *snapshot, uint32_t number) {
  struct muster_world *world = snapshot->world;
  agent_type *type = &world->agents.types.types[number];
  const grade_type *grade = &world->score->board.types[number];
  saved_type saved = {.priority = type->def.priority,
                      .risk_ns = type->risk_ns,
                      .watched = type->watched,
                      .quarantined = type->quarantined,
                      .level_floor = number < world->score->board.types_known ? grade->level_floor : 0,
                      .checked = number < world->score->board.types_known && grade->checked,
                      .refused = world->score->board.type_refused[number]};
  snapshot_exchange(snapshot, &saved, sizeof saved);
  snapshot_expect(snapshot,
                  saved.priority <= MUSTER_PRIORITY_MAX && saved.watched <= 1 && saved.quarantined <= 1 &&
                      saved.level_floor < MUSTER_LEVELS && saved.checked <= 1 && saved.refused <= SCORE_REFUSED_KNOWN,
                  "type '%s' is what no type can be", type->name);
  if (snapshot_loads(snapshot)) take_type(snapshot, number, &saved);
}

static void exchange_costs(struct snapshot *snapshot, uint32_t number) {
  static const snapshot_column columns[] = {DOUBLE(cost_actions, per_update, 0.0, 1.0), ANY(cost_actions, begun),
                                            COLUMNS_END};
  ASSERT(number < snapshot->world->agents.types.count);
  cost_table *costs = &snapshot->world->learnt->costs;
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
    cost_estimate checked, *estimate = snapshot_object(snapshot, &costs->estimates[number][level], &checked);
    snapshot_exchange(snapshot, estimate, sizeof *estimate);
    snapshot_expect(snapshot, estimate_is_possible(estimate) && estimate->samples_before <= estimate->samples,
                    "type %u cannot cost so much", number + 1);
  }
  cost_actions checked, *actions = snapshot_object(snapshot, &costs->actions[number], &checked);
  snapshot_expect(snapshot, snapshot_columns(snapshot, columns, actions), "type %u cannot act so often", number + 1);
}

void snapshot_types(struct snapshot *snapshot) {
  type_table *table = &snapshot->world->agents.types;
  uint32_t count = snapshot_number(snapshot, table->count);
  snapshot_expect(snapshot, count == table->count, "%u types are registered, in the snapshot there were %u",
                  table->count, count);
  for (uint32_t i = 0; i < table->count && !snapshot->failed; i++) {
    snapshot_types_exchange_shape(snapshot, i);
    for (uint32_t k = 0; k < table->types[i].sets.count && !snapshot->failed; k++)
      exchange_set(snapshot, &table->types[i], k);
    if (!snapshot->failed) exchange_fate(snapshot, i);
    if (!snapshot->failed) exchange_costs(snapshot, i);
  }
}

/* ---------------------------------------------------------------------------------------------------------- classes
 */

static const snapshot_column class_columns[] = {COUNT(agent_class, clock_ns, (uint64_t)INT64_MAX / 2 - 1),
                                                FLOAT(agent_class, clock_part, 0.0, 1.0),
                                                ANY(agent_class, cursor),
                                                ANY(agent_class, fine_cursor),
                                                DOUBLE(agent_class, rate, 1e-12, 1.0),
                                                DOUBLE(agent_class, events_per_ns, 0.0, 1e9),
                                                ANY(agent_class, events),
                                                ANY(agent_class, cost_ns),
                                                ANY(agent_class, pace),
                                                COLUMNS_END};

/* What makes a class. */
typedef struct class_key {
  uint16_t type;
  uint8_t level, step;
} class_key;

/* Forgets the classes of a new world, to make the saved ones in the order in which they appeared. */
static void forget_classes(struct muster_world *world) {
  ASSERT(world->queues->classes.active_count == 0 && world->agents.store.active_count == 0);
  class_table *table = &world->queues->classes;
  memset(table->lookup, 0, (size_t)world->def.types_max * MUSTER_LEVELS * ELASTICITY_STEPS * sizeof *table->lookup);
  memset(table->classes, 0, table->count * sizeof *table->classes);
  table->count = 0;
}

static bool is_class(const struct snapshot *snapshot, const class_key *key) {
  return key->type < snapshot->world->agents.types.count && key->level < MUSTER_LEVELS && key->step < ELASTICITY_STEPS;
}

/* Whether a class was not read before: none may appear twice, whatever is read. */
static bool is_new_class(const class_key *key, uint64_t *seen) {
  uint32_t number = ((uint32_t)key->type * MUSTER_LEVELS + key->level) * ELASTICITY_STEPS + key->step;
  if (seen[number / 64] >> (number % 64) & 1) return false;
  seen[number / 64] |= 1ull << (number % 64);
  return true;
}

static void exchange_class(struct snapshot *snapshot, uint32_t number) {
  struct muster_world *world = snapshot->world;
  agent_class substitute, *class = snapshot_object(snapshot, &world->queues->classes.classes[number], &substitute);
  class_key key = {0};
  if (snapshot_saves(snapshot)) key = (class_key){class->type, class->level, class->step};
  snapshot_exchange(snapshot, &key, sizeof key);
  if (!snapshot_expect(snapshot, is_class(snapshot, &key), "class %u is what none can be", number)) return;
  if (snapshot_checks(snapshot)) {
    snapshot_expect(snapshot, is_new_class(&key, snapshot->seen), "class %u is there twice", number);
    snapshot->types[number] = key.type;
  }
  if (snapshot_loads(snapshot))
    class =
        classes_get(&world->queues->classes, &world->agents.types.types[key.type].def, key.type, key.level, key.step);
  bool fits = snapshot_columns(snapshot, class_columns, class);
  if (snapshot_checks(snapshot))
    snapshot_expect(snapshot,
                    fits && class->cursor <= class->clock_ns && class->fine_cursor <= class->clock_ns &&
                        activation_pace_is_possible(&class->pace),
                    "class %u is what none can be", number);
  if (!snapshot_loads(snapshot)) return;
  ASSERT(class->members == 0 && class->number == number);
  class->period_ns = (float)((double)class->nominal_ns / class->rate);
}

void snapshot_classes(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  class_table *table = &world->queues->classes;
  uint32_t count = snapshot_count(snapshot, table->count, table->maximum, "classes");
  if (snapshot_loads(snapshot)) forget_classes(world);
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) exchange_class(snapshot, i);
  snapshot->classes = count;
  /* Classes with members, in the order in which sums are taken. */
  uint32_t active = snapshot_count(snapshot, table->active_count, count, "classes with members");
  for (uint32_t i = 0; i < active && !snapshot->failed; i++) {
    uint32_t number = snapshot_number(snapshot, snapshot_saves(snapshot) ? table->active[i] : 0);
    if (!snapshot_expect(snapshot, number < count, "class %u is none of %u", number, count)) return;
    if (snapshot_checks(snapshot))
      snapshot_expect(snapshot, !snapshot->members[number]++, "class %u has members twice", number);
    if (!snapshot_loads(snapshot)) continue;
    table->classes[number].active_position = i;
    ASSERT(table->active_count == i);
    table->active[table->active_count++] = (uint16_t)number;
  }
}
