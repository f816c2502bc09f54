/* A replay needs the world and the types that there were, in each of their fields alone: it names the one that differs.
 * Which fields there are, the tables of the library say. */
#include "base/fields.h"
#include "record/recorder_fields.h"
#include "world/fixture.h"

enum { FRAMES = 3, SETS = 2 };

static muster_world_def world_def(void) {
  return WITH(virtual_world_def, it.limits.agents_max = 64);
}

static little_world new_world(void) {
  return careless(little_world_of(1, world_def()));
}

/* A type, and what its definition points at. */
typedef struct given_type {
  muster_type_def def;
  muster_atom atoms[2];
  muster_set_def sets[SETS];
} given_type;

static given_type *type_of_atoms(void) {
  static given_type given;
  given = (given_type){.atoms = {{nothing, MUSTER_ROLE_BEHAVIOUR, 1000}, {nothing, MUSTER_ROLE_BEHAVIOUR, 2000}}};
  given.def = WITH(muster_type_def, it.name = "beetle", it.atoms = given.atoms, it.atom_count = 2,
                   it.period_ns = FRAME_NS, it.state_bytes = it.published_bytes = 8, it.levels.count = 2,
                   it.messages.waiting_max = it.messages.sends_max = 2, it.messages.bytes_max = 8);
  return &given;
}

static given_type *type_of_sets(void) {
  given_type *given = type_of_atoms();
  given->def.atoms = NULL;
  given->def.atom_count = 0;
  for (uint32_t i = 0; i < SETS; i++)
    given->sets[i] = WITH(muster_set_def, it.atoms = given->atoms, it.atom_count = 1, it.period_updates = 3,
                          it.mode = MUSTER_MODE_SLICEABLE);
  given->def.sets.list = given->sets;
  given->def.sets.count = SETS;
  return given;
}

static struct recorded record_type(const muster_type_def *type) {
  struct recorded run;
  SCOPED_WORLD little = new_world();
  recorded_begin(&run, little.world);
  register_type(&little, type);
  spawn_at(&little, 0);
  for (uint32_t i = 0; i < FRAMES; i++) recorded_note(&run, &little, run_frame(&little));
  recorded_end(&run, little.world);
  return run;
}

static bool is_registered(const void *type) {
  SCOPED_WORLD little = little_world_of(1, world_def());
  return muster_type_register(little.world, type).index != 0;
}

/* A replay with this type ends at once, and names what is not as it was. */
static void expect_refused(const struct recorded *run, const muster_type_def *type, const char *name) {
  char says[96];
  SCOPED_WORLD little = new_world();
  recorded_replay(run, little.world);
  register_type(&little, type);
  cr_expect_eq(muster_replay_frame(little.world), MUSTER_E_INPUT, "%s is another, and nobody noticed", name);
  snprintf(says, sizeof says, "its %s is not what it was", name);
  cr_expect_not_null(strstr(muster_last_error(), says), "%s is another: %s", name, muster_last_error());
}

static void expect_replayed(const struct recorded *run, const muster_type_def *type) {
  SCOPED_WORLD little = new_world();
  recorded_replay(run, little.world);
  register_type(&little, type);
  for (uint32_t i = 0; i < FRAMES; i++) assert_ok(muster_replay_frame(little.world));
}

/* ---------------------------------------------------------------------------------------------------------- fields */

static void put_value(const field_row *field, void *place, double value) {
  const uint32_t count = (uint32_t)value;
  const uint64_t number = (uint64_t)value;
  const float part = (float)value;
  const bool on = value > 0.0;
  const void *const as[] = {
      [FIELD_COUNT] = &count, [FIELD_NUMBER] = &number, [FIELD_TIME] = &number, [FIELD_RATE] = &number,
      [FIELD_FLOAT] = &part,  [FIELD_DOUBLE] = &value,  [FIELD_SWITCH] = &on,   [FIELD_CHOICE] = &count};
  memcpy(place, as[field->kind], field_bytes(field));
}

/* Gives the field another value that the whole definition allows. */
static bool change_field(const field_row *field, void *def, bool (*is_allowed)(const void *def)) {
  unsigned char *place = (unsigned char *)def + field->offset, was[64];
  size_t bytes = field_bytes(field);
  cr_assert_leq(bytes, sizeof was);
  memcpy(was, place, bytes);
  if (field->kind == FIELD_LEVELS) {
    const float other = 0.625f;
    memcpy(place, &other, sizeof other);
    if (is_allowed(def)) return true;
  }
  if (field->kind > FIELD_CHOICE) return false;
  double value = field_value(field, place), least = field->least > -1e30 ? field->least : -1.0, most = field->most;
  /* Some of them do not fit the other fields. */
  const double values[] = {value + 1.0, value / 2.0, value * 2.0, least, most, least + 1.0, most / 2.0};
  for (uint32_t i = 0; i < COUNT_OF(values); i++) {
    if (!field_allows(field, values[i])) continue;
    put_value(field, place, values[i]);
    if (memcmp(place, was, bytes) != 0 && is_allowed(def)) return true;
    memcpy(place, was, bytes);
  }
  return false;
}

static uint32_t expect_fields(given_type *(*given_of)(void), uint32_t without) {
  SCOPED(recorded_forget) struct recorded run = record_type(&given_of()->def);
  uint32_t changed = 0;
  expect_replayed(&run, &given_of()->def);
  for (const field_row *field = fields_type; field->name; field++) {
    given_type *given = given_of();
    if (strcmp(field->name, "set_count") == 0) continue; /* the atoms differ first: below */
    if (field->uses & (FIELD_LOCAL | without) || !change_field(field, &given->def, is_registered)) continue;
    expect_refused(&run, &given->def, field->name);
    changed++;
  }
  return changed;
}

Test(record_types, each_field_of_a_type_is_as_it_was) {
  cr_expect_geq(expect_fields(type_of_atoms, FIELD_OF_SETS), 20, "too few fields have another value");
  cr_expect_geq(expect_fields(type_of_sets, 0), 10, "too few fields have another value");
}

static bool world_is_allowed(const void *given) {
  muster_world *world = muster_world_create(given);
  muster_world_destroy(world);
  return world != NULL;
}

Test(record_types, each_field_of_the_world_is_as_it_was) {
  SCOPED(recorded_forget) struct recorded run = record_type(&type_of_atoms()->def);
  uint32_t changed = 0;
  for (const field_row *field = fields_world; field->name; field++) {
    muster_world_def def = world_def();
    char says[96];
    if (field->uses & (FIELD_LOCAL | FIELD_BROUGHT) || !change_field(field, &def, world_is_allowed)) continue;
    muster_world *world = muster_world_create(&def);
    snprintf(says, sizeof says, "the world's %s is not what it was", field->name);
    cr_expect_eq(replay_with(world, replay_of(&run)), MUSTER_E_INPUT, "%s is another", field->name);
    cr_expect_not_null(strstr(muster_last_error(), says), "%s is another: %s", field->name, muster_last_error());
    muster_world_destroy(world);
    changed++;
  }
  cr_expect_geq(changed, 20, "%u fields had another value", changed);
}

/* -------------------------------------------------------------------------------------------------- what is behind */

static void callback(muster_update *update) {
  (void)update;
}

static uint64_t cost(const muster_cost_query *query, void *user) {
  (void)query, (void)user;
  return 1000;
}

static void importance(const muster_importance_query *queries, float *answers, uint32_t count, void *user) {
  (void)queries, (void)user;
  for (uint32_t i = 0; i < count; i++) answers[i] = 0.5f;
}

enum { CALLBACKS = 4 };

/* Those of the bits of `which`. */
static given_type *type_with_callbacks(uint32_t which, bool catches_up) {
  given_type *given = type_of_atoms();
  if (catches_up) given->def.elapsed.contract = MUSTER_ELAPSED_ANALYTIC;
  if (catches_up) given->def.elapsed.step_ns = 1000000;
  if (catches_up) given->def.elapsed.catch_up = callback;
  if (which & 1) given->def.on_spawned = callback;
  if (which & 2) given->def.on_removed = callback;
  if (which & 4) given->def.models.cost_ns = cost;
  if (which & 8) given->def.models.importance = importance;
  return given;
}

/* One alone, and one beside all others. */
Test(record_types, each_callback_is_there_or_not_as_it_was) {
  static const uint32_t some[] = {0, 1, 2, 4, 8, 15, 14, 13, 11, 7};
  for (uint32_t i = 0; i < 2 * COUNT_OF(some); i++) {
    uint32_t which = some[i / 2];
    SCOPED(recorded_forget) struct recorded run = record_type(&type_with_callbacks(which, i % 2)->def);
    expect_replayed(&run, &type_with_callbacks(which, i % 2)->def);
    for (uint32_t k = 0; k < CALLBACKS; k++)
      expect_refused(&run, &type_with_callbacks(which ^ 1u << k, i % 2)->def, "callbacks");
  }
}

Test(record_types, each_atom_is_as_it_was) {
  SCOPED(recorded_forget) struct recorded run = record_type(&type_of_atoms()->def);
  given_type *given = type_of_atoms();
  given->atoms[1].model_ns++;
  expect_refused(&run, &given->def, "model_ns of an atom");
  given = type_of_atoms();
  given->atoms[0].role = MUSTER_ROLE_PERCEPTION;
  expect_refused(&run, &given->def, "role of an atom");
}

/* The second one is empty, so that there are as many atoms without it. */
Test(record_types, there_are_as_many_sets_as_there_were) {
  given_type *given = type_of_sets();
  given->sets[1].atom_count = 0;
  SCOPED(recorded_forget) struct recorded run = record_type(&given->def);
  given->def.sets.count = 1;
  expect_refused(&run, &given->def, "set_count");
}

Test(record_types, each_field_of_a_set_is_as_it_was) {
  muster_set_def set = type_of_sets()->sets[1];
  const struct {
    const char *name;
    muster_set_def set;
  } others[] = {{"share", CHANGED(set, it.share++)},
                {"period_updates", CHANGED(set, it.period_updates = 2)},
                {"delay_updates", CHANGED(set, it.delay_updates = 1)},
                {"levels", CHANGED(set, it.levels = 1)},
                {"asks", CHANGED(set, it.asks++)},
                {"mode", CHANGED(set, it.mode = MUSTER_MODE_RUN)},
                {"role of an atom", CHANGED(set, it.role = MUSTER_ROLE_PERCEPTION)}};
  SCOPED(recorded_forget) struct recorded run = record_type(&type_of_sets()->def);
  expect_replayed(&run, &type_of_sets()->def);
  given_type *given = type_of_sets();
  for (uint32_t i = 0; i < COUNT_OF(others); i++) {
    given->sets[1] = others[i].set;
    cr_assert(is_registered(&given->def), "%s: %s", others[i].name, muster_last_error());
    expect_refused(&run, &given->def, others[i].name);
  }
  given = type_of_sets();
  for (uint32_t i = 0; i < SETS; i++) given->sets[i].period_updates = 0, given->sets[i].period_ns = 4 * FRAME_NS;
  SCOPED(recorded_forget) struct recorded other = record_type(&given->def);
  given->sets[1].delay_ns = FRAME_NS;
  expect_refused(&other, &given->def, "delay_ns");
  given->sets[1].delay_ns = 0;
  given->sets[1].period_ns = 5 * FRAME_NS;
  expect_refused(&other, &given->def, "period_ns");
}

#define SET_FIELD(field)                                                                                               \
  { #field, offsetof(type_set, field) }

/* Those of the table as well that no definition changes alone: each is written, and compared when it is read. */
Test(record_types, each_field_of_a_registered_set_is_as_it_was) {
  static const struct {
    const char *name;
    size_t offset;
  } fields[] = {SET_FIELD(first_atom), SET_FIELD(end_atom),      SET_FIELD(role),          SET_FIELD(mode),
                SET_FIELD(share),      SET_FIELD(levels),        SET_FIELD(asks),          SET_FIELD(period_ns),
                SET_FIELD(delay_ns),   SET_FIELD(delay_updates), SET_FIELD(period_updates)};
  static unsigned char room[65536];
  SCOPED_WORLD little = new_world();
  register_type(&little, &type_of_sets()->def);
  const agent_type *type = &little.world->agents.types.types[0];
  for (uint32_t i = 0; i < SETS * COUNT_OF(fields); i++) {
    struct tape tape;
    agent_type other = *type;
    ((unsigned char *)&other.sets.sets[i % SETS])[fields[i / SETS].offset] ^= 1;
    tape_write_to(&tape, room, sizeof room, 0);
    size_t begin = tape.count;
    cr_expect_null(fields_exchange_type(&tape, &other), "what is written does not differ");
    tape = (struct tape){.file = room, .file_bytes = tape.count, .at = begin, .end = tape.count};
    const char *differs = fields_exchange_type(&tape, type);
    cr_expect(differs && strcmp(differs, fields[i / SETS].name) == 0, "%s, and not %s", differs, fields[i / SETS].name);
    cr_expect(tape.at == tape.end && !tape.failed);
  }
}
