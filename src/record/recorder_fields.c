#include "record/recorder_fields.h"

#include "base/assert.h"
#include "base/fields.h"

#include <string.h>

struct set_field {
  const char *name;
  size_t offset, bytes;
};

#define SET(name)                                                                                                      \
  { #name, offsetof(type_set, name), sizeof((type_set){0}.name) }

/* The fields of a set of a type, as the table has it. */
static const struct set_field set_fields[] = {
    SET(first_atom), SET(end_atom),  SET(role),           SET(mode),     SET(priority),      SET(levels),
    SET(asks),       SET(period_ns), SET(period_updates), SET(delay_ns), SET(delay_updates),
};

enum { SET_FIELDS = sizeof set_fields / sizeof *set_fields, FIELD_BYTES_MAX = 16 };

static const void *place_of(const void *object, size_t offset) {
  return (const unsigned char *)object + offset;
}

static void put_fields(struct tape *tape, const field_row *fields, const void *def) {
  for (const field_row *field = fields; field->name; field++)
    if (!(field->uses & FIELD_LOCAL)) tape_put(tape, place_of(def, field->offset), field_bytes(field));
}

void fields_put_world(struct tape *tape, const muster_world_def *def) {
  put_fields(tape, fields_world, def);
}

void fields_take_world(struct tape *tape, muster_world_def *def) {
  for (const field_row *field = fields_world; field->name; field++)
    if (!(field->uses & FIELD_LOCAL)) tape_take(tape, (unsigned char *)def + field->offset, field_bytes(field));
}

const char *fields_compare_worlds(const muster_world_def *recorded, const muster_world_def *given) {
  for (const field_row *field = fields_world; field->name; field++)
    if (!(field->uses & FIELD_LOCAL) &&
        memcmp(place_of(recorded, field->offset), place_of(given, field->offset), field_bytes(field)) != 0)
      return field->name;
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
  put_fields(tape, fields_type, &type->def);
  tape_put(tape, &callbacks, sizeof callbacks);
  for (uint32_t i = 0; i < type->def.atom_count; i++) {
    tape_put_number(tape, (uint64_t)type->atoms[i].role);
    tape_put_number(tape, type->atoms[i].model_ns);
  }
  for (uint32_t i = 0; i < type->sets.count; i++)
    for (size_t k = 0; k < SET_FIELDS; k++)
      tape_put(tape, place_of(&type->sets.sets[i], set_fields[k].offset), set_fields[k].bytes);
}

/* The same for the sets: the name of the first field that differs from the record. */
static const char *compare_sets(struct tape *tape, const set_table *sets) {
  unsigned char value[FIELD_BYTES_MAX];
  for (uint32_t i = 0; i < sets->count; i++)
    for (size_t k = 0; k < SET_FIELDS; k++) {
      ASSERT(set_fields[k].bytes <= sizeof value);
      tape_take(tape, value, set_fields[k].bytes);
      if (memcmp(value, place_of(&sets->sets[i], set_fields[k].offset), set_fields[k].bytes) != 0)
        return set_fields[k].name;
    }
  return NULL;
}

const char *fields_compare_type(struct tape *tape, const agent_type *type) {
  char name[sizeof type->name];
  unsigned char value[FIELD_BYTES_MAX], callbacks;
  tape_take(tape, name, sizeof name);
  if (memcmp(name, type->name, sizeof name) != 0) return "name";
  for (const field_row *field = fields_type; field->name; field++) {
    if (field->uses & FIELD_LOCAL) continue;
    ASSERT(field_bytes(field) <= sizeof value);
    tape_take(tape, value, field_bytes(field));
    if (memcmp(value, place_of(&type->def, field->offset), field_bytes(field)) != 0) return field->name;
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
