/* Walks the tables of fields: each one at, below and above its range, through creation, tuning, JSON and the settings
 * of the service; the options of `muster run` that have a range of theirs. Each refusal names field, value, range. */
#include "agents/spawn.h"
#include "room.h"
#include "service/api_bodies.h"
#include "service/settings_keys.h"
#include "support/little_world.h"
#include "tools/program.h"
#include "world/tune.h"

#include <muster/herd.h>
#include <muster/sets.h>
#include <muster/tune.h>

static void *place_of(const field_row *field, void *def) {
  return (unsigned char *)def + field->offset;
}

static void put(const field_row *field, void *place, double value) {
  if (field->kind == FIELD_FLOAT) {
    float single = (float)value;
    memcpy(place, &single, sizeof single);
  } else if (field->kind == FIELD_SWITCH) {
    memcpy(place, &(bool){value > 0}, sizeof(bool));
  } else {
    uint64_t number = (uint64_t)value; /* the lowest bytes first */
    memcpy(place, &number, field_bytes(field));
  }
}

static bool has_range(const field_row *field) {
  return field->kind <= FIELD_FLOAT || field->kind == FIELD_CHOICE;
}

/* Values outside the range, as far as the kind has any; returns how many. */
static uint32_t values_outside(const field_row *field, double values[2]) {
  uint32_t count = 0;
  bool single = field->kind == FIELD_FLOAT;
  if (!has_range(field)) return 0;
  if (single)
    values[count++] = isfinite(field->least) ? (double)nextafterf((float)field->least, -INFINITY) : (double)NAN;
  else if (field->least > 1 || (field->least > 0 && !(field->uses & FIELD_OR_ZERO)))
    values[count++] = field->least - 1;
  double above = single ? (double)nextafterf((float)field->most, INFINITY) : field->most + 1;
  if (field->most < 0x1p63) values[count++] = above;
  return count;
}

/* Both ends of the range, as the kind holds them; and 0 where it stands beside the range. */
static uint32_t values_inside(const field_row *field, double values[3]) {
  if (!has_range(field) || field->most >= 0x1p63) return 0;
  values[0] = isfinite(field->least) ? field->least : -1;
  values[1] = field->most;
  if (field->kind == FIELD_FLOAT && (double)(float)field->most > field->most)
    values[1] = (double)nextafterf((float)field->most, -INFINITY);
  if (field->kind == FIELD_FLOAT && (double)(float)field->least < field->least)
    values[0] = (double)nextafterf((float)field->least, INFINITY);
  values[2] = 0;
  return field->uses & FIELD_OR_ZERO ? 3 : 2;
}

static void expect_named(const field_row *field, const void *place, const char *message) {
  char value[FIELD_WORDS], range[FIELD_WORDS];
  const char *named = formed("%s %s %s", field->member ? field->member : field->name, field_words(field, place, value),
                             field_range_words(field, range));
  cr_expect(strstr(message, named) != NULL, "'%s' does not say '%s'", message, named);
}

/* -------------------------------------------------------------------------------------------------------- creation */

static muster_world_def world_with(const field_row *field, double value) {
  muster_world_def def = muster_world_def_default();
  if (field->uses & FIELD_OF_FACTORS) def.importance_model = MUSTER_IMPORTANCE_FACTORS;
  put(field, place_of(field, &def), value);
  return def;
}

Test(fields, of_worlds_are_refused_outside_their_ranges_and_taken_at_the_ends) {
  double values[3];
  uint32_t refused = 0, taken = 0;
  for (const field_row *field = fields_world; field->name; field++) {
    uint32_t count = field->uses & FIELD_UNBOUNDED ? 0 : values_outside(field, values);
    for (uint32_t i = 0; i < count; i++, refused++) {
      muster_world_def def = world_with(field, values[i]);
      cr_expect_null(muster_world_create(&def), "%s = %g was accepted", field->name, values[i]);
      expect_named(field, place_of(field, &def), muster_last_error());
    }
    count = values_inside(field, values);
    for (uint32_t i = 0; i < count; i++, taken++) {
      muster_world_def def = world_with(field, values[i]);
      cr_expect_eq(tune_check_def(&def), MUSTER_OK, "%s", muster_last_error());
    }
  }
  cr_assert(refused > 50 && taken > 60, "%u values were refused, %u taken", refused, taken);
}

Test(fields, of_frames_are_refused_outside_their_ranges) {
  double values[2];
  SCOPED(little_world_destroy) little_world little = little_world_create(1, NULL);
  muster_frame frame = {.sim_now_ns = 1};
  cr_assert_eq(values_outside(fields_frame, values), 2);
  for (uint32_t i = 0; i < 2; i++) {
    put(fields_frame, place_of(fields_frame, &frame), values[i]);
    cr_expect_eq(muster_frame_run(little.world, &frame), MUSTER_E_ARGUMENT);
    expect_named(fields_frame, &frame.budget_ns, muster_last_error());
  }
}

static const muster_atom one_atom = {.run = nothing};

static void refuse_type(const little_world *little, const field_row *field, double value) {
  muster_set_def set = muster_set_def_default();
  muster_type_def def =
      WITH(muster_type_def, it.name = "wren", it.atoms = &one_atom, it.atom_count = 1, it.messages.waiting_max = 1);
  if (field->uses & FIELD_OF_SETS) def.sets.list = &set, def.sets.count = 1;
  put(field, place_of(field, &def), value);
  cr_expect_eq(muster_type_register(little->world, &def).index, 0, "%s = %g was accepted", field->name, value);
  cr_expect(strncmp(muster_last_error(), "type 'wren': ", 13) == 0, "%s", muster_last_error());
  expect_named(field, place_of(field, &def), muster_last_error());
}

Test(fields, of_types_are_refused_outside_their_ranges) {
  muster_world_def planned = WITH(muster_world_def, it.planner_workers = 2);
  SCOPED(little_world_destroy)
  little_world little = little_world_create(1, NULL), planner = little_world_create(1, &planned);
  double values[2];
  uint32_t refused = 0;
  for (const field_row *field = fields_type; field->name; field++)
    for (uint32_t i = values_outside(field, values); i > 0; i--, refused++)
      refuse_type(field->uses & FIELD_OF_PLANNER ? &planner : &little, field, values[i - 1]);
  cr_assert_gt(refused, 30);
  for (const field_row *field = fields_herd_type; field->name; field++)
    for (uint32_t i = values_outside(field, values); i > 0; i--) {
      muster_herd_type_def def = muster_herd_type_def_default();
      put(field, place_of(field, &def), values[i - 1]);
      cr_expect_eq(muster_herd_type_register(little.world, &def).index, 0);
      expect_named(field, place_of(field, &def), muster_last_error());
    }
}

/* ---------------------------------------------------------------------------------------------------------- tuning */

static muster_world_tuning tuning_with(const field_row *field, double value) {
  muster_world_tuning tuning = muster_world_tuning_default();
  if (field->uses & FIELD_OF_FACTORS)
    tuning.importance.focus = tuning.importance.designer = tuning.importance.role = tuning.importance.company = 1;
  put(field, (unsigned char *)&tuning + field->tuned, value);
  return tuning;
}

/* A negative weight leaves what there is, and so does 0 where it is no value. */
static bool leaves(const field_row *field, double value) {
  return field->kind == FIELD_FLOAT ? value < 0 : value <= 0 && field->least > 0;
}

Test(fields, that_are_live_are_tuned_within_their_ranges) {
  muster_world_def def = WITH(muster_world_def, it.importance_model = MUSTER_IMPORTANCE_FACTORS);
  SCOPED(little_world_destroy) little_world little = little_world_create(1, &def);
  double values[3];
  uint32_t live = 0;
  for (const field_row *field = fields_world; field->name; field++) {
    if (!field->tuned) continue;
    live++;
    uint32_t count = field->uses & FIELD_UNBOUNDED ? 0 : values_outside(field, values);
    for (uint32_t i = 0; i < count; i++) {
      muster_world_tuning tuning = tuning_with(field, values[i]);
      if (leaves(field, values[i])) continue;
      cr_expect_eq(muster_world_tune(little.world, &tuning), MUSTER_E_ARGUMENT, "%s = %g", field->name, values[i]);
      expect_named(field, (unsigned char *)&tuning + field->tuned, muster_last_error());
    }
    count = values_inside(field, values);
    for (uint32_t i = 0; i < count; i++) {
      muster_world_tuning tuning = tuning_with(field, values[i]), read = muster_world_tuning_default();
      cr_expect_eq(muster_world_tune(little.world, &tuning), MUSTER_OK, "%s", muster_last_error());
      run_frame(&little);
      cr_assert_eq(muster_world_tuning_read(little.world, &read), MUSTER_OK);
      const unsigned char *told = (const unsigned char *)&read + field->tuned;
      cr_expect_eq(memcmp(told, (unsigned char *)&tuning + field->tuned, field_bytes(field)), 0,
                   "%s = %g is told as %g", field->name, values[i], field_value(field, told));
    }
  }
  cr_assert_geq(live, 16);
}

/* --------------------------------------------------------------------------------------------------------- agents */

Test(fields, of_agents_are_refused_outside_their_ranges) {
  SCOPED(little_world_destroy) little_world little = little_world_create(1, NULL);
  muster_type_def type = type_with(&one_atom, 1);
  register_type(&little, &type);
  muster_agent agent = spawn_at(&little, 0);
  double values[3];
  for (const field_row *field = fields_agent; field->name; field++) {
    for (uint32_t i = values_outside(field, values); i > 0; i--) {
      muster_agent_def def = WITH(muster_agent_def, it.type = little.type);
      muster_agent_tuning tuning = muster_agent_tuning_default();
      put(field, place_of(field, &def), values[i - 1]);
      cr_expect(muster_agent_is_null(muster_agent_spawn(little.world, &def)), "%s = %g", field->name, values[i - 1]);
      expect_named(field, place_of(field, &def), muster_last_error());
      if (!field->tuned || values[i - 1] < 0) continue;
      put(field, (unsigned char *)&tuning + field->tuned, values[i - 1]);
      cr_expect_eq(muster_agent_tune(little.world, agent, &tuning), MUSTER_E_ARGUMENT, "%s", field->name);
      expect_named(field, (unsigned char *)&tuning + field->tuned, muster_last_error());
    }
    for (uint32_t i = values_inside(field, values); i > 0; i--) {
      muster_agent_def def = WITH(muster_agent_def, it.type = little.type);
      put(field, place_of(field, &def), values[i - 1]);
      cr_expect(!muster_agent_is_null(muster_agent_spawn(little.world, &def)), "%s", muster_last_error());
    }
  }
}

/* ------------------------------------------------------------------------------------------------------------ JSON */

typedef bool (*body_read)(const void *body, size_t bytes, void *out, api_problem *problem);

typedef struct body_form {
  const char *before, *behind; /* the member */
  const char *path;            /* as problems say it */
  body_read read;
} body_form;

static bool read_body(const body_form *form, const field_row *field, double value, api_problem *problem) {
  static union {
    world_change change;
    muster_agent_tuning tuning;
    spawn_order order;
  } out;
  memset(&out, 0, sizeof out);
  *problem = (api_problem){0};
  const char *body = formed("%s\"%s\": %.9g%s", form->before, field->name, value, form->behind);
  if (field->kind != FIELD_FLOAT) body = formed("%s\"%s\": %.0f%s", form->before, field->name, value, form->behind);
  bool read = form->read(body, strlen(body), &out, problem);
  if (read && form->read == spawn_order_read) spawn_order_release(&out.order);
  return read;
}

/* The upper end of a range is written as it can be given. */
static void expect_readable_bound(const field_row *field, const char *message) {
  const char *words = strstr(message, "at most "), *dots = strstr(message, "..");
  const char *most = words ? words + strlen("at most ") : dots ? dots + 2 : "";
  double bound = strtod(most, NULL);
  if (field->kind == FIELD_FLOAT)
    cr_expect_float_eq(bound, field->most, 1e-5 * field->most, "%s", message);
  else
    cr_expect_eq(bound, field->most, "%s: not %.17g", message, field->most);
}

static void walk_bodies(const body_form *form, const field_row *fields, bool live) {
  double values[3];
  api_problem problem;
  for (const field_row *row = fields; row->name; row++) {
    if (live && !row->tuned) continue;
    field_row field = *row;
    if (field.least < 0) field.least = 0; /* a default that stands for itself is left out */
    for (uint32_t i = values_outside(&field, values); i > 0; i--) {
      char range[FIELD_WORDS];
      const char *name = formed("%s%s", form->path, field.name);
      cr_expect(!read_body(form, &field, values[i - 1], &problem), "%s = %g was read", name, values[i - 1]);
      cr_expect(strcmp(problem.code, "out_of_range") == 0 && strcmp(problem.field, name) == 0, "%s: %s", name,
                problem.message);
      field_row exact = field;
      if (field.kind == FIELD_TIME) exact.kind = FIELD_NUMBER;
      cr_expect(strncmp(problem.message, name, strlen(name)) == 0 &&
                    strstr(problem.message, field_range_words(&exact, range)) != NULL,
                "%s", problem.message);
      cr_expect((field.kind == FIELD_TIME) == (strstr(problem.message, " ns") != NULL), "%s", problem.message);
      expect_readable_bound(&field, problem.message);
      cr_expect_float_eq(strtod(problem.message + strlen(name), NULL), values[i - 1], 1e-6 * (1 + fabs(values[i - 1])),
                         "%s", problem.message);
    }
    for (uint32_t i = values_inside(&field, values); i > 0; i--)
      cr_expect(read_body(form, &field, values[i - 1], &problem), "%g: %s", values[i - 1], problem.message);
  }
}

Test(fields, of_json_have_the_same_ranges) {
  static const body_form change = {"{", "}", "", world_change_read}, tuning = {"{", "}", "", agent_tuning_read},
                         spawn = {"[{\"type\": \"wren\", \"position\": {\"x\": 1, \"y\": 2}, ", "}]", "[0].",
                                  spawn_order_read};
  walk_bodies(&change, fields_world, true);
  walk_bodies(&tuning, fields_agent, true);
  walk_bodies(&spawn, fields_agent, false);
}

/* --------------------------------------------------------------------------------------------- settings and options */

/* A value as people write it. */
static const char *written(const field_row *field, double value) {
  if (field->kind == FIELD_TIME) return formed("%.3fus", value / 1e3);
  return field->kind == FIELD_RATE ? formed("%.3f", value / 1e3) : formed("%.0f", value);
}

Test(fields, of_settings_have_their_ranges) {
  static struct settings settings;
  static world_settings world;
  const settings_key *key;
  double values[3];
  uint32_t walked = 0;
  for (uint32_t k = 0; (key = settings_key_at(k)) != NULL; k++) {
    const field_row *field = &key->field;
    void *section = key->of_world ? (void *)&world : &settings;
    if (field->kind > FIELD_RATE) continue;
    walked++;
    for (uint32_t i = values_outside(field, values); i > 0; i--) {
      const char *text = written(field, values[i - 1]);
      cr_expect_eq(settings_key_set(key, section, text), MUSTER_E_ARGUMENT, "%s = %s", field->name, text);
      cr_expect(strncmp(muster_last_error(), "give a ", 7) == 0, "%s", muster_last_error());
    }
    for (uint32_t i = values_inside(field, values); i > 0; i--) {
      const char *text = written(field, values[i - 1]);
      cr_expect_eq(settings_key_set(key, section, text), MUSTER_OK, "%s: %s", text, muster_last_error());
      cr_expect_float_eq(field_value(field, place_of(field, section)), values[i - 1], 0.5, "%s %s", field->name, text);
    }
  }
  cr_assert_geq(walked, 15);
}

Test(fields, of_definitions_that_are_options_have_the_same_ranges) {
  PROGRAM_EXPECT_REFUSALS(
      {"run --agents 16000001", 2, "--agents is '16000001'; give a whole number from 1 to 16000000"},
      {"run --observers 65537", 2, "--observers is '65537'; give a whole number from 1 to 65536"},
      {"run --activation-delay 65", 2, "--activation-delay is '65'; give a whole number from 0 to 64"},
      {"run --trace-frames 4097", 2, "--trace-frames is '4097'; give a whole number from 1 to 4096"},
      {"run --capacity 11s", 2, "--capacity is '11s'; give a duration from 10 us to 10 s"},
      {"run --budget 9us", 2, "--budget is '9us'; give a duration from 10 us to 10 s"},
      {"run --hz 10001", 2, "--hz is '10001'; give a number from 0.1 to 10000"});
  SCOPED(free_memory)
  program_run *run = program_start("run fixed --virtual --agents 1 --observers 1 --frames 1 --warm-up 0 "
                                   "--activation-delay 64 --budget 10us --capacity 10s --hz 10000");
  cr_expect_eq(run->status, 0, "%s", run->errors);
}
