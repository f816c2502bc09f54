#include "record/recorder_fields.h"

#include "base/assert.h"

#include <string.h>

struct field {
  const char *name;
  size_t offset, bytes;
};

#define FIELD(type, name)                                                                                              \
  { #name, offsetof(type, name), sizeof((type){0}.name) }

static const struct field world_fields[] = {
    FIELD(muster_world_def, agents_max),
    FIELD(muster_world_def, types_max),
    FIELD(muster_world_def, observers_max),
    FIELD(muster_world_def, commands_max),
    FIELD(muster_world_def, seed),
    FIELD(muster_world_def, clock),
    FIELD(muster_world_def, capacity_ns),
    FIELD(muster_world_def, order),
    FIELD(muster_world_def, elastic),
    FIELD(muster_world_def, weight_importance),
    FIELD(muster_world_def, weight_wait),
    FIELD(muster_world_def, weight_runs),
    FIELD(muster_world_def, weight_progress),
    FIELD(muster_world_def, guarantee_ns),
    FIELD(muster_world_def, updates_per_frame),
    FIELD(muster_world_def, cell_m),
    FIELD(muster_world_def, sends_per_frame),
    FIELD(muster_world_def, debt_budgets),
    FIELD(muster_world_def, activation_delay),
    FIELD(muster_world_def, weight_reduction),
    FIELD(muster_world_def, importance),
    FIELD(muster_world_def, focus),
    FIELD(muster_world_def, designer),
    FIELD(muster_world_def, role),
    FIELD(muster_world_def, company),
    FIELD(muster_world_def, level_pressure),
    FIELD(muster_world_def, cycles_max),
    FIELD(muster_world_def, cycles_importance),
    FIELD(muster_world_def, importance_octaves),
    FIELD(muster_world_def, wish_part),
};

static const struct field type_fields[] = {
    FIELD(muster_type_def, atom_count),
    FIELD(muster_type_def, state_bytes),
    FIELD(muster_type_def, published_bytes),
    FIELD(muster_type_def, period_ns),
    FIELD(muster_type_def, period_max_ns),
    FIELD(muster_type_def, limit_ns),
    FIELD(muster_type_def, elasticity),
    FIELD(muster_type_def, level_count),
    FIELD(muster_type_def, level_importance),
    FIELD(muster_type_def, spawns_max),
    FIELD(muster_type_def, messages_max),
    FIELD(muster_type_def, message_bytes),
    FIELD(muster_type_def, sends_max),
    FIELD(muster_type_def, wake_on_message),
    FIELD(muster_type_def, importance),
    FIELD(muster_type_def, elapsed),
    FIELD(muster_type_def, step_ns),
    FIELD(muster_type_def, steps_max),
    FIELD(muster_type_def, wake_gap_ns),
    FIELD(muster_type_def, strikes_demote),
    FIELD(muster_type_def, strikes_quarantine),
    FIELD(muster_type_def, set_count),
    FIELD(muster_type_def, set_order),
    FIELD(muster_type_def, act),
    FIELD(muster_type_def, priority),
    FIELD(muster_type_def, slice_ns),
    FIELD(muster_type_def, period_max_hard),
};

/* The fields of a set of a type, as the table has it. */
static const struct field set_fields[] = {
    FIELD(type_set, first_atom), FIELD(type_set, end_atom),      FIELD(type_set, role),
    FIELD(type_set, mode),       FIELD(type_set, priority),      FIELD(type_set, levels),
    FIELD(type_set, asks),       FIELD(type_set, period_ns),     FIELD(type_set, period_updates),
    FIELD(type_set, delay_ns),   FIELD(type_set, delay_updates),
};

enum {
  SET_FIELDS = sizeof set_fields / sizeof *set_fields,
  WORLD_FIELDS = sizeof world_fields / sizeof *world_fields,
  TYPE_FIELDS = sizeof type_fields / sizeof *type_fields,
  FIELD_BYTES_MAX = 16
};

static const void *place_of(const void *object, const struct field *field) {
  return (const unsigned char *)object + field->offset;
}

void fields_put_world(struct tape *tape, const muster_world_def *def) {
  for (size_t i = 0; i < WORLD_FIELDS; i++) tape_put(tape, place_of(def, &world_fields[i]), world_fields[i].bytes);
}

void fields_take_world(struct tape *tape, muster_world_def *def) {
  for (size_t i = 0; i < WORLD_FIELDS; i++)
    tape_take(tape, (unsigned char *)def + world_fields[i].offset, world_fields[i].bytes);
}

const char *fields_compare_worlds(const muster_world_def *recorded, const muster_world_def *given) {
  for (size_t i = 0; i < WORLD_FIELDS; i++) {
    const struct field *field = &world_fields[i];
    if (memcmp(place_of(recorded, field), place_of(given, field), field->bytes) != 0) return field->name;
  }
  return NULL;
}

/* Which callbacks the type has, one bit for each. */
static unsigned char callbacks_of(const muster_type_def *def) {
  return (unsigned char)((def->on_spawned ? 1 : 0) | (def->on_removed ? 2 : 0) | (def->model_cost_ns ? 4 : 0) |
                         (def->model_importance ? 8 : 0) | (def->catch_up ? 16 : 0));
}

void fields_put_type(struct tape *tape, const agent_type *type) {
  unsigned char callbacks = callbacks_of(&type->def);
  tape_put(tape, type->name, sizeof type->name);
  ASSERT(type->sets.count <= MUSTER_SETS_MAX);
  for (size_t i = 0; i < TYPE_FIELDS; i++) tape_put(tape, place_of(&type->def, &type_fields[i]), type_fields[i].bytes);
  tape_put(tape, &callbacks, sizeof callbacks);
  for (uint32_t i = 0; i < type->def.atom_count; i++) {
    tape_put_number(tape, (uint64_t)type->atoms[i].role);
    tape_put_number(tape, type->atoms[i].model_ns);
  }
  for (uint32_t i = 0; i < type->sets.count; i++)
    for (size_t k = 0; k < SET_FIELDS; k++)
      tape_put(tape, place_of(&type->sets.sets[i], &set_fields[k]), set_fields[k].bytes);
}

/* The same for the sets: the name of the first field that differs from the record. */
static const char *compare_sets(struct tape *tape, const set_table *sets) {
  unsigned char value[FIELD_BYTES_MAX];
  for (uint32_t i = 0; i < sets->count; i++)
    for (size_t k = 0; k < SET_FIELDS; k++) {
      ASSERT(set_fields[k].bytes <= sizeof value);
      tape_take(tape, value, set_fields[k].bytes);
      if (memcmp(value, place_of(&sets->sets[i], &set_fields[k]), set_fields[k].bytes) != 0) return set_fields[k].name;
    }
  return NULL;
}

const char *fields_compare_type(struct tape *tape, const agent_type *type) {
  char name[sizeof type->name];
  unsigned char value[FIELD_BYTES_MAX], callbacks;
  tape_take(tape, name, sizeof name);
  if (memcmp(name, type->name, sizeof name) != 0) return "name";
  for (size_t i = 0; i < TYPE_FIELDS; i++) {
    _Static_assert(sizeof((muster_type_def){0}.level_importance) <= FIELD_BYTES_MAX, "the longest field fits");
    tape_take(tape, value, type_fields[i].bytes);
    ASSERT(type_fields[i].bytes <= sizeof value);
    if (memcmp(value, place_of(&type->def, &type_fields[i]), type_fields[i].bytes) != 0) return type_fields[i].name;
  }
  tape_take(tape, &callbacks, sizeof callbacks);
  if (callbacks != callbacks_of(&type->def)) return "callbacks";
  for (uint32_t i = 0; i < type->def.atom_count; i++) {
    uint64_t role = tape_take_number(tape), model_ns = tape_take_number(tape);
    if (role != (uint64_t)type->atoms[i].role) return "role of an atom";
    if (model_ns != type->atoms[i].model_ns) return "model_ns of an atom";
  }
  return compare_sets(tape, &type->sets);
}
