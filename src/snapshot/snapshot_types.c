/* snapshot_types.c - what a snapshot says of types and of the classes of their agents. */
#include "base/assert.h"
#include "base/bits.h"
#include "plan/retime.h"
#include "snapshot/snapshot.h"
#include "world/overruns_state.h"
#include "world/world_learnt.h"
#include "world/world_queues.h"
#include "world/world_score.h"

#include <muster/sets.h>

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ types */

static void snapshot_types_exchange_shape(struct snapshot *snapshot, uint32_t number) {
  const agent_type *type = &snapshot->world->agents.types.types[number];
  snapshot_shape(snapshot, "type", number, type->name, sizeof type->name, fields_type, &type->def);
  uint32_t parallel_atoms = snapshot_number(snapshot, type->parallel_atoms);
  snapshot_expect(snapshot, parallel_atoms == type->parallel_atoms,
                  "type '%s': its number of atoms before its actions is %u, in the snapshot it was %u", type->name,
                  type->parallel_atoms, parallel_atoms);
}

/* Of a set: where its atoms are, and the values that may have been tuned. */
static void exchange_set(struct snapshot *snapshot, agent_type *type, uint32_t number) {
  static const snapshot_column columns[] = {SPAN(type_set, first_atom, share), ANY(type_set, period_updates),
                                            ANY(type_set, period_ns), ANY(type_set, unit), COLUMNS_END};
  type_set *set = &type->sets.sets[number], saved = *set;
  snapshot_columns(snapshot, columns, &saved);
  if (snapshot_saves(snapshot)) return;
  muster_set_tuning tuning = {
      .share = saved.share, .period_updates = saved.period_updates, .period_ns = saved.period_ns, .mode = saved.mode};
  snapshot_expect(snapshot,
                  saved.first_atom == set->first_atom && saved.end_atom == set->end_atom && saved.role == set->role,
                  "type '%s': set %u is not what it was", type->name, number);
  snapshot_expect(snapshot, sets_check_tuning(&type->sets, type->name, number, &tuning) == MUSTER_OK,
                  "type '%s': set %u is tuned as none can be", type->name, number);
  if (!snapshot_loads(snapshot)) return;
  sets_tune(&type->sets, number, &tuning);
  set->unit = saved.unit;
}

/* The ring of ready agents must reach as far as the longest period. */
static void snapshot_widen(struct snapshot *snapshot, uint64_t longest_ns) {
  struct muster_world *world = snapshot->world;
  ASSERT(snapshot_loads(snapshot) && longest_ns > 0);
  ready_widen(&world->queues->ready, &world->agents.store, longest_ns);
}

/* What changes of a type after it is registered. */
static const snapshot_column type_columns[] = {COUNT(agent_type, def.sets.share, MUSTER_SHARE_MAX),
                                               COUNT(agent_type, watched, 1), COUNT(agent_type, quarantined, 1),
                                               COLUMNS_END};

static const snapshot_column grade_columns[] = {COUNT(grade_type, level_floor, MUSTER_LEVELS - 1),
                                                COUNT(grade_type, checked, 1), COLUMNS_END};

/* What follows from a type that was read. */
static void take_type(struct muster_world *world, uint32_t number, const grade_type *saved) {
  const agent_type *type = &world->agents.types.types[number];
  score_board *board = &world->score->board;
  ASSERT(number < world->agents.types.count);
  classes_freeze(&world->queues->classes, number, type->quarantined);
  board->types[number] = grade_type_of(&type->def, &board->rule);
  board->types[number].level_floor = saved->level_floor;
  board->types[number].checked = saved->checked;
  board->types_known = number + 1;
  world->overruns->types_watched += type->watched;
  world->overruns->types_quarantined += type->quarantined;
}

static void exchange_fate(struct snapshot *snapshot, uint32_t number) {
  struct muster_world *world = snapshot->world;
  score_board *board = &world->score->board;
  agent_type checked, *type = snapshot_object(snapshot, &world->agents.types.types[number], &checked);
  grade_type grade = {0};
  if (number < board->types_known) grade = board->types[number];
  snapshot_columns(snapshot, type_columns, type);
  snapshot_columns(snapshot, grade_columns, &grade);
  uint32_t refused = snapshot_number(snapshot, board->type_refused[number]);
  snapshot_expect(snapshot, refused <= SCORE_REFUSED_KNOWN, "type '%s' is what no type can be",
                  world->agents.types.types[number].name);
  if (!snapshot_loads(snapshot)) return;
  board->type_refused[number] = (uint8_t)refused;
  take_type(world, number, &grade);
}

/* The periods that a type has in place of those of its definition. */
static void exchange_periods(struct snapshot *snapshot, uint32_t number) {
  class_periods checked,
      *periods = snapshot_object(snapshot, &snapshot->world->queues->classes.tuned[number], &checked);
  const agent_type *type = &snapshot->world->agents.types.types[number];
  snapshot_exchange(snapshot, periods, sizeof *periods);
  snapshot_expect(snapshot, snapshot_saves(snapshot) || retime_is_possible(&type->def, *periods),
                  "type '%s' has periods that "
                  "it cannot have",
                  type->name);
  if (snapshot_loads(snapshot) && periods->longest_ns) snapshot_widen(snapshot, periods->longest_ns);
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
  snapshot_columns(snapshot, columns, actions);
  snapshot_expect_columns(snapshot, "type %u cannot act so often", number + 1);
}

void snapshot_types(struct snapshot *snapshot) {
  type_table *table = &snapshot->world->agents.types;
  uint32_t count = snapshot_number(snapshot, table->count);
  snapshot_expect(snapshot, count == table->count, "%u types are registered, in the snapshot there were %u",
                  table->count, count);
  for (uint32_t i = 0; i < table->count; i++) {
    snapshot_types_exchange_shape(snapshot, i);
    for (uint32_t k = 0; k < table->types[i].sets.count; k++) exchange_set(snapshot, &table->types[i], k);
    exchange_fate(snapshot, i);
    exchange_periods(snapshot, i);
    exchange_costs(snapshot, i);
  }
}

/* ---------------------------------------------------------------------------------------------------------- classes */

static const snapshot_column class_columns[] = {COUNT(agent_class, clock_ns, (uint64_t)INT64_MAX / 2 - 1),
                                                FLOAT(agent_class, clock_part, 0.0, 1.0),
                                                DOUBLE(agent_class, rate, 1e-12, 1.0),
                                                DOUBLE(agent_class, events_per_ns, 0.0, 1e9),
                                                SPAN(agent_class, events, cost_ns),
                                                ANY(agent_class, pace),
                                                FLOAT(agent_class, usual_elapsed_ns, 0.0, 1e19),
                                                ANY(agent_class, usual_samples),
                                                COLUMNS_END};

/* What makes a class. */
typedef struct class_key {
  uint16_t type;
  uint8_t level, step;
  uint32_t zero;
  class_periods own; /* nominal 0 = the type's */
} class_key;

/* Forgets the classes of a new world, to make the saved ones in the order in which they appeared. */
static void forget_classes(struct muster_world *world) {
  ASSERT(world->queues->classes.active_count == 0 && world->agents.store.active_count == 0);
  class_table *table = &world->queues->classes;
  memset(table->lookup, 0,
         (size_t)world->def.limits.types_max * MUSTER_LEVELS * ELASTICITY_STEPS * sizeof *table->lookup);
  memset(table->classes, 0, table->count * sizeof *table->classes);
  table->count = 0;
}

static bool is_class(const struct snapshot *snapshot, const class_key *key) {
  return key->type < snapshot->world->agents.types.count && key->level < MUSTER_LEVELS &&
         key->step < ELASTICITY_STEPS && retime_is_possible(NULL, key->own);
}

/* Whether a class was not read before: none may appear twice, whatever is read. Of classes with agents' own periods the
 * first is found. */
static bool is_new_class(const class_key *key, uint64_t *seen) {
  if (key->own.nominal_ns) return true;
  uint32_t number = ((uint32_t)key->type * MUSTER_LEVELS + key->level) * ELASTICITY_STEPS + key->step;
  if (bits_has(seen, number)) return false;
  bits_set(seen, number);
  return true;
}

static agent_class *take_class(struct snapshot *snapshot, const class_key *key) {
  struct muster_world *world = snapshot->world;
  const class_periods *own = key->own.nominal_ns ? &key->own : NULL;
  ASSERT(snapshot_loads(snapshot) && key->type < world->agents.types.count);
  if (own) snapshot_widen(snapshot, own->longest_ns);
  return classes_make(&world->queues->classes, &world->agents.types.types[key->type].def, key->type, key->level,
                      key->step, own);
}

static void exchange_class(struct snapshot *snapshot, uint32_t number) {
  struct muster_world *world = snapshot->world;
  agent_class substitute, *class = snapshot_object(snapshot, &world->queues->classes.classes[number], &substitute);
  class_key key = {0};
  if (snapshot_saves(snapshot)) {
    key = (class_key){.type = class->type, .level = class->level, .step = class->step};
    if (class->own) key.own = (class_periods){class->nominal_ns, class->longest_ns};
  }
  snapshot_exchange(snapshot, &key, sizeof key);
  snapshot_expect(snapshot, is_class(snapshot, &key), "class %u is what none can be", number);
  if (snapshot_checks(snapshot)) {
    snapshot_expect(snapshot, is_new_class(&key, snapshot->seen), "class %u is there twice", number);
    snapshot->types[number] = key.type;
  }
  if (snapshot_loads(snapshot)) class = take_class(snapshot, &key);
  snapshot_columns(snapshot, class_columns, class);
  snapshot_expect(snapshot, activation_pace_is_possible(&class->pace), "class %u is what none can be", number);
  if (!snapshot_loads(snapshot)) return;
  ASSERT(class->members == 0 && class->number == number);
  classes_set_rate(class, class->rate);
}

void snapshot_classes(struct snapshot *snapshot) {
  struct muster_world *world = snapshot->world;
  class_table *table = &world->queues->classes;
  uint32_t count = snapshot_count(snapshot, table->count, table->maximum, "classes");
  if (snapshot_loads(snapshot)) forget_classes(world);
  for (uint32_t i = 0; i < count; i++) exchange_class(snapshot, i);
  snapshot->classes = count;
  /* Classes with members, in the order in which sums are taken. */
  uint32_t active = snapshot_count(snapshot, table->active_count, count, "classes with members");
  for (uint32_t i = 0; i < active; i++) {
    uint32_t number = snapshot_number(snapshot, table->active[i]);
    snapshot_expect(snapshot, number < count, "class %u is none of %u", number, count);
    if (snapshot_checks(snapshot))
      snapshot_expect(snapshot, !snapshot->members[number]++, "class %u has members twice", number);
    if (!snapshot_loads(snapshot)) continue;
    table->classes[number].active_position = i;
    ASSERT(table->active_count == i);
    table->active[table->active_count++] = (uint16_t)number;
    classes_follow_rate(table, &table->classes[number]);
  }
}
