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
  ASSERT(number < snapshot->world->agents.types.count);
  cost_estimate estimates[MUSTER_LEVELS];
  memcpy(estimates, snapshot->world->learnt->costs.estimates[number], sizeof estimates);
  snapshot_exchange(snapshot, estimates, sizeof estimates);
  for (uint32_t level = 0; level < MUSTER_LEVELS; level++) {
    const cost_estimate *estimate = &estimates[level];
    snapshot_expect(snapshot,
                    snapshot_is_duration(estimate->mean_ns) && snapshot_is_duration(estimate->high_ns) &&
                        snapshot_is_duration(estimate->usual_ns) && snapshot_is_duration(estimate->late_ns) &&
                        estimate->limit_ns >= 0.0 && estimate->samples_before <= estimate->samples,
                    "type %u cannot cost so much", number + 1);
  }
  if (snapshot_loads(snapshot)) memcpy(snapshot->world->learnt->costs.estimates[number], estimates, sizeof estimates);
  cost_actions actions = snapshot->world->learnt->costs.actions[number];
  snapshot_exchange(snapshot, &actions.per_update, sizeof actions.per_update);
  snapshot_exchange(snapshot, &actions.begun, sizeof actions.begun);
  snapshot_expect(snapshot, actions.per_update >= 0.0 && actions.per_update <= 1.0, "type %u cannot act so often",
                  number + 1);
  if (snapshot_loads(snapshot)) snapshot->world->learnt->costs.actions[number] = actions;
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

typedef struct saved_class {
  uint16_t type;
  uint8_t level, step;
  uint32_t events, cost_ns;
  float clock_part;
  uint64_t clock_ns, cursor, fine_cursor;
  double rate, events_per_ns;
  activation_pace pace;
} saved_class;

static saved_class describe_class(const agent_class *class) {
  return (saved_class){.type = class->type,
                       .level = class->level,
                       .step = class->step,
                       .events = class->events,
                       .cost_ns = class->cost_ns,
                       .clock_part = class->clock_part,
                       .clock_ns = class->clock_ns,
                       .cursor = class->cursor,
                       .fine_cursor = class->fine_cursor,
                       .rate = class->rate,
                       .events_per_ns = class->events_per_ns,
                       .pace = class->pace};
}

static bool is_pace(const activation_pace *pace) {
  return snapshot_is_duration(pace->beat_ns) && pace->beats_per_ns >= 0.0 && pace->beats_per_ns <= 1e9 &&
         pace->late >= -0.5 && pace->late <= 0.5;
}

static bool is_class(const struct snapshot *snapshot, const saved_class *saved) {
  return saved->type < snapshot->world->agents.types.count && saved->level < MUSTER_LEVELS &&
         saved->step < ELASTICITY_STEPS && saved->clock_ns < (uint64_t)INT64_MAX / 2 && saved->clock_part >= 0.0f &&
         saved->clock_part <= 1.0f && saved->cursor <= saved->clock_ns && saved->fine_cursor <= saved->clock_ns &&
         saved->rate > 1e-12 && saved->rate <= 1.0 && saved->events_per_ns >= 0.0 && saved->events_per_ns <= 1e9 &&
         is_pace(&saved->pace);
}

static void take_class(struct snapshot *snapshot, const saved_class *saved) {
  struct muster_world *world = snapshot->world;
  agent_class *class = classes_get(&world->queues->classes, &world->agents.types.types[saved->type].def, saved->type,
                                   saved->level, saved->step);
  class->events = saved->events;
  ASSERT(class->members == 0 && class->number + 1u == world->queues->classes.count);
  class->cost_ns = saved->cost_ns;
  class->clock_ns = saved->clock_ns;
  class->clock_part = saved->clock_part;
  class->cursor = saved->cursor;
  class->fine_cursor = saved->fine_cursor;
  class->rate = saved->rate;
  class->period_ns = (float)((double)class->nominal_ns / class->rate);
  class->events_per_ns = saved->events_per_ns;
  class->pace = saved->pace;
}

/* Forgets the classes of a new world, to make the saved ones in the order in which they appeared. */
static void forget_classes(struct muster_world *world) {
  ASSERT(world->queues->classes.active_count == 0 && world->agents.store.active_count == 0);
  class_table *table = &world->queues->classes;
  memset(table->lookup, 0, (size_t)world->def.types_max * MUSTER_LEVELS * ELASTICITY_STEPS * sizeof *table->lookup);
  memset(table->classes, 0, table->count * sizeof *table->classes);
  table->count = 0;
}

/* Whether a class was not read before: none may appear twice, whatever is read. */
static bool is_new_class(const saved_class *saved, uint64_t *seen) {
  uint32_t key = ((uint32_t)saved->type * MUSTER_LEVELS + saved->level) * ELASTICITY_STEPS + saved->step;
  if (seen[key / 64] >> (key % 64) & 1) return false;
  seen[key / 64] |= 1ull << (key % 64);
  return true;
}

void snapshot_classes(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  class_table *table = &world->queues->classes;
  uint32_t count = snapshot_count(snapshot, table->count, table->maximum, "classes");
  if (snapshot_loads(snapshot)) forget_classes(world);
  for (uint32_t i = 0; i < count && !snapshot->failed; i++) {
    saved_class saved = snapshot_saves(snapshot) ? describe_class(&table->classes[i]) : (saved_class){0};
    snapshot_exchange(snapshot, &saved, sizeof saved);
    if (!snapshot_expect(snapshot, is_class(snapshot, &saved), "class %u is what none can be", i)) return;
    if (snapshot_checks(snapshot))
      snapshot_expect(snapshot, is_new_class(&saved, snapshot->seen), "class %u is there twice", i);
    if (snapshot_checks(snapshot)) snapshot->types[i] = saved.type;
    if (snapshot_loads(snapshot)) take_class(snapshot, &saved);
  }
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
