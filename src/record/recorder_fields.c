#include "record/recorder_fields.h"

#include "base/assert.h"
#include "base/fields.h"

#include <muster/sets.h>

#include <string.h>

struct set_field {
  const char *name;
  size_t offset, bytes;
};

#define SET(name)                                                                                                      \
  { #name, offsetof(type_set, name), sizeof((type_set){0}.name) }

/* The fields of a set of a type, as the table has it. */
static const struct set_field set_fields[] = {
    SET(first_atom), SET(end_atom),  SET(role),           SET(mode),     SET(share),         SET(levels),
    SET(asks),       SET(period_ns), SET(period_updates), SET(delay_ns), SET(delay_updates),
};

enum { SET_FIELDS = sizeof set_fields / sizeof *set_fields, ITEM_BYTES_MAX = 32 };

static const void *place_of(const void *object, size_t offset) {
  return (const unsigned char *)object + offset;
}

void fields_exchange_world(struct tape *tape, muster_world_def *def) {
  for (const field_row *field = fields_world; field->name; field++)
    if (!(field->uses & FIELD_LOCAL)) tape_exchange(tape, (unsigned char *)def + field->offset, field_bytes(field));
}

const char *fields_compare_worlds(const muster_world_def *recorded, const muster_world_def *given, bool tuned) {
  for (const field_row *field = fields_world; field->name; field++)
    if (!(field->uses & (FIELD_LOCAL | FIELD_BROUGHT)) && !(tuned && field->tuned) &&
        memcmp(place_of(recorded, field->offset), place_of(given, field->offset), field_bytes(field)) != 0)
      return field->name;
  return NULL;
}

/* Which callbacks the type has, one bit for each. */
static unsigned char callbacks_of(const muster_type_def *def) {
  return (unsigned char)((def->on_spawned ? 1 : 0) | (def->on_removed ? 2 : 0) | (def->models.cost_ns ? 4 : 0) |
                         (def->models.importance ? 8 : 0) | (def->elapsed.catch_up ? 16 : 0));
}

/* What a record says of a type, and the name of the first item that differs. */
struct comparison {
  struct tape *tape;
  const char *differs;
};

static void exchange_item(struct comparison *with, const char *name, const void *own, size_t bytes) {
  unsigned char value[ITEM_BYTES_MAX];
  ASSERT(bytes <= sizeof value);
  memcpy(value, own, bytes);
  tape_exchange(with->tape, value, bytes);
  if (!with->differs && memcmp(value, own, bytes) != 0) with->differs = name;
}

static void exchange_number(struct comparison *with, const char *name, uint64_t own) {
  if (tape_exchange_number(with->tape, own) != own && !with->differs) with->differs = name;
}

const char *fields_exchange_type(struct tape *tape, const agent_type *type) {
  struct comparison with = {.tape = tape};
  unsigned char callbacks = callbacks_of(&type->def);
  ASSERT(type->sets.count <= MUSTER_SETS_MAX);
  exchange_item(&with, "name", type->name, sizeof type->name);
  for (const field_row *field = fields_type; field->name; field++)
    if (!(field->uses & FIELD_LOCAL))
      exchange_item(&with, field->name, place_of(&type->def, field->offset), field_bytes(field));
  exchange_item(&with, "callbacks", &callbacks, sizeof callbacks);
  for (uint32_t i = 0; i < type->def.atom_count; i++) {
    exchange_number(&with, "role of an atom", (uint64_t)type->atoms[i].role);
    exchange_number(&with, "model_ns of an atom", type->atoms[i].model_ns);
  }
  for (uint32_t i = 0; i < type->sets.count; i++)
    for (size_t k = 0; k < SET_FIELDS; k++)
      exchange_item(&with, set_fields[k].name, place_of(&type->sets.sets[i], set_fields[k].offset),
                    set_fields[k].bytes);
  return with.differs;
}
