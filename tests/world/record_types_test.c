/* A replay needs the world and the types that there were, in each of their fields alone: it names the one that differs.
 * Which fields there are, the tables of the library say. */
#include "support/recording.h"

#include "base/fields.h"

#include <muster/sets.h>

#include <stdio.h>

enum { FRAMES = 3, SETS = 2, CANDIDATES = 7 };

static muster_world_def world_def(void) {
  muster_world_def def = muster_world_def_default();
  def.clock.kind = MUSTER_CLOCK_VIRTUAL;
  def.limits.agents_max = 64;
  return def;
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
  given.def = type_with(given.atoms, 2);
  given.def.name = "beetle";
  given.def.period_ns = FRAME_NS;
  given.def.state_bytes = given.def.published_bytes = 8;
  given.def.levels.count = 2;
  given.def.messages.waiting_max = given.def.messages.sends_max = 2;
  given.def.messages.bytes_max = 8;
  return &given;
}

static given_type *type_of_sets(void) {
  given_type *given = type_of_atoms();
  given->def.atoms = NULL;
  given->def.atom_count = 0;
  for (uint32_t i = 0; i < SETS; i++) {
    given->sets[i] = muster_set_def_default();
    given->sets[i].atoms = given->atoms;
    given->sets[i].atom_count = 1;
    given->sets[i].period_updates = 3;
    given->sets[i].mode = MUSTER_MODE_SLICEABLE;
  }
  given->def.sets.list = given->sets;
  given->def.sets.count = SETS;
  return given;
}

static void record_type(struct recorded *run, const muster_type_def *type) {
  muster_world_def def = world_def();
  little_world little = little_world_create(1, &def);
  recorded_begin(run, little.world);
  register_type(&little, type);
  spawn_at(&little, 0);
  for (uint32_t i = 0; i < FRAMES; i++) recorded_note(run, &little, run_frame(&little));
  recorded_end(run, little.world);
  little.provokes_idle = true;
  little_world_destroy(&little);
}

static bool is_registered(const muster_type_def *type) {
  muster_world_def def = world_def();
  little_world little = little_world_create(1, &def);
  bool registered = muster_type_register(little.world, type).index != 0;
  little_world_destroy(&little);
  return registered;
}

/* A replay with this type ends at once, and names what is not as it was. */
static void expect_refused(const struct recorded *run, const muster_type_def *type, const char *name) {
  char says[96];
  muster_world_def def = world_def();
  little_world little = little_world_create(1, &def);
  recorded_replay(run, little.world);
  register_type(&little, type);
  cr_expect_eq(muster_replay_frame(little.world), MUSTER_E_INPUT, "%s is another, and nobody noticed", name);
  snprintf(says, sizeof says, "its %s is not what it was", name);
  cr_expect_not_null(strstr(muster_last_error(), says), "%s is another: %s", name, muster_last_error());
  little.provokes_idle = true;
  little_world_destroy(&little);
}

static void expect_replayed(const struct recorded *run, const muster_type_def *type) {
  muster_world_def def = world_def();
  little_world little = little_world_create(1, &def);
  recorded_replay(run, little.world);
  register_type(&little, type);
  for (uint32_t i = 0; i < FRAMES; i++)
    cr_assert_eq(muster_replay_frame(little.world), MUSTER_OK, "%s", muster_last_error());
  little.provokes_idle = true;
  little_world_destroy(&little);
}

/* ---------------------------------------------------------------------------------------------------------- fields */

/* Values that a field may have instead, some of which do not fit the others. */
static void candidates_of(const field_row *field, const void *place, double values[CANDIDATES]) {
  double value = field_value(field, place), least = field->least > -1e30 ? field->least : -1.0, most = field->most;
  values[0] = value + 1.0;
  values[1] = value / 2.0;
  values[2] = value * 2.0;
  values[3] = least;
  values[4] = most;
  values[5] = least + 1.0;
  values[6] = most / 2.0;
}

static void put_value(const field_row *field, void *place, double value) {
  uint32_t count = (uint32_t)value;
  uint64_t number = (uint64_t)value;
  float part = (float)value;
  bool on = value > 0.0;
  switch (field->kind) {
  case FIELD_COUNT:
  case FIELD_CHOICE:
    memcpy(place, &count, sizeof count);
    break;
  case FIELD_NUMBER:
  case FIELD_TIME:
  case FIELD_RATE:
    memcpy(place, &number, sizeof number);
    break;
  case FIELD_FLOAT:
    memcpy(place, &part, sizeof part);
    break;
  case FIELD_DOUBLE:
    memcpy(place, &value, sizeof value);
    break;
  case FIELD_SWITCH:
    memcpy(place, &on, sizeof on);
    break;
  default:
    break;
  }
}

/* Gives the field another value that the whole definition allows. */
static bool change_field(const field_row *field, void *def, bool (*is_allowed)(const void *def)) {
  double values[CANDIDATES];
  unsigned char *place = (unsigned char *)def + field->offset, was[64];
  size_t bytes = field_bytes(field);
  cr_assert_leq(bytes, sizeof was);
  memcpy(was, place, bytes);
  if (field->kind == FIELD_LEVELS) {
    const float other = 0.625f;
    memcpy(place, &other, sizeof other);
    if (is_allowed(def)) return true;
  }
  candidates_of(field, place, values);
  for (uint32_t i = 0; i < CANDIDATES && field->kind <= FIELD_CHOICE; i++) {
    if (!field_allows(field, values[i])) continue;
    put_value(field, place, values[i]);
    if (memcmp(place, was, bytes) != 0 && is_allowed(def)) return true;
    memcpy(place, was, bytes);
  }
  return false;
}

static bool type_is_allowed(const void *def) {
  return is_registered(def);
}

static uint32_t expect_fields(given_type *(*given_of)(void), uint32_t without) {
  static struct recorded run;
  uint32_t changed = 0;
  record_type(&run, &given_of()->def);
  expect_replayed(&run, &given_of()->def);
  for (const field_row *field = fields_type; field->name; field++) {
    given_type *given = given_of();
    if (strcmp(field->name, "set_count") == 0) continue; /* the atoms differ first: below */
    if (field->uses & (FIELD_LOCAL | without) || !change_field(field, &given->def, type_is_allowed)) continue;
    expect_refused(&run, &given->def, field->name);
    changed++;
  }
  recorded_forget(&run);
  return changed;
}

Test(record_types, each_field_of_a_type_is_as_it_was) {
  cr_expect_geq(expect_fields(type_of_atoms, FIELD_OF_SETS), 20, "too few fields have another value");
  cr_expect_geq(expect_fields(type_of_sets, 0), 10, "too few fields have another value");
}

static bool world_is_allowed(const void *given) {
  muster_world_def def = *(const muster_world_def *)given;
  muster_world *world = muster_world_create(&def);
  muster_world_destroy(world);
  return world != NULL;
}

Test(record_types, each_field_of_the_world_is_as_it_was) {
  static struct recorded run;
  uint32_t changed = 0;
  record_type(&run, &type_of_atoms()->def);
  for (const field_row *field = fields_world; field->name; field++) {
    muster_world_def def = world_def();
    char says[96];
    if (field->uses & (FIELD_LOCAL | FIELD_BROUGHT) || !change_field(field, &def, world_is_allowed)) continue;
    muster_world *world = muster_world_create(&def);
    muster_replay_def replay = muster_replay_def_default();
    replay.bytes = run.bytes;
    replay.count = run.count;
    snprintf(says, sizeof says, "the world's %s is not what it was", field->name);
    cr_expect_eq(muster_replay_begin(world, &replay), MUSTER_E_INPUT, "%s is another", field->name);
    cr_expect_not_null(strstr(muster_last_error(), says), "%s is another: %s", field->name, muster_last_error());
    muster_world_destroy(world);
    changed++;
  }
  cr_expect_geq(changed, 20, "%u fields had another value", changed);
  recorded_forget(&run);
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
  for (uint32_t i = 0; i < 2 * sizeof some / sizeof *some; i++) {
    static struct recorded run;
    uint32_t which = some[i / 2];
    record_type(&run, &type_with_callbacks(which, i % 2)->def);
    expect_replayed(&run, &type_with_callbacks(which, i % 2)->def);
    for (uint32_t k = 0; k < CALLBACKS; k++)
      expect_refused(&run, &type_with_callbacks(which ^ 1u << k, i % 2)->def, "callbacks");
    recorded_forget(&run);
  }
}

Test(record_types, each_atom_is_as_it_was) {
  static struct recorded run;
  record_type(&run, &type_of_atoms()->def);
  given_type *given = type_of_atoms();
  given->atoms[1].model_ns++;
  expect_refused(&run, &given->def, "model_ns of an atom");
  given = type_of_atoms();
  given->atoms[0].role = MUSTER_ROLE_PERCEPTION;
  expect_refused(&run, &given->def, "role of an atom");
  recorded_forget(&run);
}

/* The second one is empty, so that there are as many atoms without it. */
Test(record_types, there_are_as_many_sets_as_there_were) {
  static struct recorded run;
  given_type *given = type_of_sets();
  given->sets[1].atom_count = 0;
  record_type(&run, &given->def);
  given->def.sets.count = 1;
  expect_refused(&run, &given->def, "set_count");
  recorded_forget(&run);
}

/* One field of the second set is another. */
static void change_set(muster_set_def *set, uint32_t which) {
  if (which == 0) set->share++;
  if (which == 1) set->period_updates = 2;
  if (which == 2) set->delay_updates = 1;
  if (which == 3) set->levels = 1;
  if (which == 4) set->asks++;
  if (which == 5) set->mode = MUSTER_MODE_RUN;
  if (which == 6) set->role = MUSTER_ROLE_PERCEPTION;
}

Test(record_types, each_field_of_a_set_is_as_it_was) {
  static const char *const names[] = {"share", "period_updates", "delay_updates",  "levels",
                                      "asks",  "mode",           "role of an atom"};
  static struct recorded run;
  record_type(&run, &type_of_sets()->def);
  expect_replayed(&run, &type_of_sets()->def);
  for (uint32_t i = 0; i < sizeof names / sizeof *names; i++) {
    given_type *given = type_of_sets();
    change_set(&given->sets[1], i);
    cr_assert(is_registered(&given->def), "%s: %s", names[i], muster_last_error());
    expect_refused(&run, &given->def, names[i]);
  }
  recorded_forget(&run);
  given_type *given = type_of_sets();
  for (uint32_t i = 0; i < SETS; i++) given->sets[i].period_updates = 0, given->sets[i].period_ns = 4 * FRAME_NS;
  record_type(&run, &given->def);
  given->sets[1].delay_ns = FRAME_NS;
  expect_refused(&run, &given->def, "delay_ns");
  given->sets[1].delay_ns = 0;
  given->sets[1].period_ns = 5 * FRAME_NS;
  expect_refused(&run, &given->def, "period_ns");
  recorded_forget(&run);
}
