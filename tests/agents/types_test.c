/* What a type definition may say, what is kept of it, and what is refused in which words. */
#include "agents/types.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { TYPES_MAX = 4, AGENTS_MAX = 10 };

struct fixture {
  struct arena arena;
  type_table table;
};

static struct fixture create(void) {
  struct fixture fixture;
  muster_allocator allocator = {0};
  arena_create(&fixture.arena, &allocator);
  types_create(&fixture.table, TYPES_MAX, &fixture.arena);
  cr_assert_not(fixture.arena.failed);
  return fixture;
}

static uint32_t enter(struct fixture *fixture, const muster_type_def *def) {
  return types_register(&fixture->table, def, AGENTS_MAX, &fixture->arena);
}

static muster_atom_result think(muster_update *update) {
  (void)update;
  return MUSTER_ATOM_NEXT;
}

static const muster_atom one_atom[] = {{think, MUSTER_ROLE_BEHAVIOUR, 0}};

static muster_type_def valid(void) {
  muster_type_def def = muster_type_def_default();
  def.name = "wolf";
  def.atoms = one_atom;
  def.atom_count = 1;
  return def;
}

/* The message names the type and the field. */
static void check_refused(const muster_type_def *def, const char *field) {
  struct fixture fixture = create();
  cr_assert_eq(enter(&fixture, def), UINT32_MAX, "%s was accepted", field);
  cr_assert_eq(fixture.table.count, 0);
  cr_assert_not_null(strstr(muster_last_error(), field), "'%s' does not name %s", muster_last_error(), field);
  cr_assert_not_null(strstr(muster_last_error(), def->name), "'%s' does not name the type", muster_last_error());
  arena_destroy(&fixture.arena);
}

static void check_accepted(const muster_type_def *def, const char *what) {
  struct fixture fixture = create();
  cr_assert_eq(enter(&fixture, def), 0, "%s: %s", what, muster_last_error());
  arena_destroy(&fixture.arena);
}

#define REFUSED(FIELD, ...)                                                                                            \
  do {                                                                                                                 \
    muster_type_def refused = valid();                                                                                 \
    refused.FIELD = __VA_ARGS__;                                                                                       \
    check_refused(&refused, #FIELD);                                                                                   \
  } while (0)

#define ACCEPTED(FIELD, ...)                                                                                           \
  do {                                                                                                                 \
    muster_type_def accepted = valid();                                                                                \
    accepted.FIELD = __VA_ARGS__;                                                                                      \
    check_accepted(&accepted, #FIELD " = " #__VA_ARGS__);                                                              \
  } while (0)

static const uint64_t day_ns = 86400000000000u;

Test(types, refuse_a_period_outside_its_range) {
  REFUSED(period_ns, 0);
  REFUSED(period_ns, 99999);
  muster_type_def def = valid();
  def.period_ns = def.period_max_ns = day_ns + 1;
  check_refused(&def, "period_ns");
  REFUSED(period_max_ns, 99999999);
  REFUSED(period_max_ns, day_ns + 1);
  REFUSED(period_max_ns, UINT64_MAX);

  ACCEPTED(period_ns, 100000);
  ACCEPTED(period_max_ns, 100000000);
  ACCEPTED(period_max_ns, day_ns);
  def.period_ns = def.period_max_ns = day_ns;
  check_accepted(&def, "a day");
}

Test(types, refuse_a_limit_outside_its_range) {
  REFUSED(limit_ns, 0);
  REFUSED(limit_ns, 999);
  REFUSED(limit_ns, 1000000001);
  ACCEPTED(limit_ns, 1000);
  ACCEPTED(limit_ns, 1000000000);
}

Test(types, refuse_an_elasticity_outside_its_range) {
  REFUSED(elasticity, -0.001f);
  REFUSED(elasticity, 1024.1f);
  REFUSED(elasticity, INFINITY);
  REFUSED(elasticity, NAN);
  ACCEPTED(elasticity, 0.0f);
  ACCEPTED(elasticity, 1024.0f);
}

Test(types, refuse_state_that_is_too_large) {
  REFUSED(state_bytes, 65537);
  REFUSED(state_bytes, UINT32_MAX);
  REFUSED(published_bytes, 4097);
  REFUSED(published_bytes, UINT32_MAX);
  ACCEPTED(state_bytes, 65536);
  ACCEPTED(published_bytes, 4096);
}

Test(types, refuse_too_many_spawns_per_update) {
  REFUSED(spawns_max, 1025);
  ACCEPTED(spawns_max, 1024);
}

Test(types, refuse_levels_that_do_not_exist_or_do_not_fall) {
  REFUSED(levels.count, 0);
  REFUSED(levels.count, MUSTER_LEVELS + 1);
  static const float wrong[][3] = {
      {1.1f, 0.5f, 0.1f}, {-0.1f, -0.2f, -0.3f}, {0.5f, 0.6f, 0.1f}, {0.5f, 0.4f, 0.41f}, {0.5f, NAN, 0.1f}};
  for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    muster_type_def def = valid();
    def.levels.count = MUSTER_LEVELS;
    memcpy(def.levels.importance, wrong[i], sizeof wrong[i]);
    check_refused(&def, "levels.importance");
    def.levels.count = 1; /* then the thresholds are not read */
    check_accepted(&def, "one level");
  }
  for (uint32_t count = 1; count <= MUSTER_LEVELS; count++) ACCEPTED(levels.count, count);
}

Test(types, refuse_no_atoms_or_too_many) {
  REFUSED(atom_count, 0);
  REFUSED(atom_count, MUSTER_ATOMS_MAX + 1);
  muster_type_def def = valid();
  def.atoms = NULL;
  check_refused(&def, "atoms");

  muster_atom *atoms = calloc(MUSTER_ATOMS_MAX, sizeof *atoms);
  for (uint32_t i = 0; i < MUSTER_ATOMS_MAX; i++) atoms[i].run = think;
  def.atoms = atoms;
  def.atom_count = MUSTER_ATOMS_MAX;
  check_accepted(&def, "as many atoms as there may be");
  free(atoms);
}

static void check_atoms_refused(const muster_atom *atoms, const char *words, const char *which) {
  muster_type_def def = valid();
  def.atoms = atoms;
  def.atom_count = 3;
  check_refused(&def, words);
  cr_assert_not_null(strstr(muster_last_error(), which), "'%s' does not say %s", muster_last_error(), which);
}

Test(types, refuse_an_atom_without_a_callback_a_known_role_or_its_place) {
  const muster_atom without[] = {{think, MUSTER_ROLE_PERCEPTION, 0}, {NULL, MUSTER_ROLE_BEHAVIOUR, 0}, {think, 0, 0}};
  check_atoms_refused(without, "run", "atom 1");
  const muster_atom unknown[] = {{think, 0, 0}, {think, 0, 0}, {think, (muster_role)3, 0}};
  check_atoms_refused(unknown, "role", "atom 2");
  const muster_atom early[] = {{think, 0, 0}, {think, MUSTER_ROLE_ACTION, 0}, {think, MUSTER_ROLE_PERCEPTION, 0}};
  check_atoms_refused(early, "action", "atom 2");
}

Test(types, refuse_a_definition_that_was_not_initialised) {
  struct fixture fixture = create();
  muster_type_def zero = {0};
  cr_assert_eq(enter(&fixture, &zero), UINT32_MAX);
  cr_assert_not_null(strstr(muster_last_error(), "muster_type_def_default"));
  cr_assert_eq(enter(&fixture, NULL), UINT32_MAX);
  cr_assert_not_null(strstr(muster_last_error(), "muster_type_def_default"));
  cr_assert_eq(fixture.table.count, 0);
  arena_destroy(&fixture.arena);
}

Test(types, refuse_one_more_than_there_is_room_for) {
  struct fixture fixture = create();
  muster_type_def def = valid();
  for (uint32_t i = 0; i < TYPES_MAX; i++) cr_assert_eq(enter(&fixture, &def), i);
  cr_assert_eq(enter(&fixture, &def), UINT32_MAX);
  cr_assert_not_null(strstr(muster_last_error(), "types_max"), "%s", muster_last_error());
  cr_assert_eq(fixture.table.count, TYPES_MAX);
  arena_destroy(&fixture.arena);
}

Test(types, keep_copies_of_the_name_and_the_atoms) {
  struct fixture fixture = create();
  char name[] = "a name of more than thirty-one bytes, all told";
  muster_atom atoms[] = {{think, MUSTER_ROLE_PERCEPTION, 0},
                         {think, MUSTER_ROLE_BEHAVIOUR, 5000},
                         {think, MUSTER_ROLE_ACTION, 700},
                         {think, MUSTER_ROLE_ACTION, 80}};
  muster_type_def def = valid();
  def.name = name;
  def.atoms = atoms;
  def.atom_count = 4;
  cr_assert_eq(enter(&fixture, &def), 0);
  memset(name, 'x', sizeof name - 1);
  memset(atoms, 0, sizeof atoms);

  const agent_type *type = &fixture.table.types[0];
  cr_assert_str_eq(type->def.name, "a name of more than thirty-one ");
  cr_assert_eq(type->parallel_atoms, 2);
  cr_assert_eq(type->def.atoms[0].model_ns, 1000);
  cr_assert_eq(type->def.atoms[1].model_ns, 5000);
  cr_assert_eq(type->model_ns, 1000 + 5000 + 700 + 80);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(type->def.atoms[i].run, think);
  cr_assert_eq(type->def.atoms[3].role, MUSTER_ROLE_ACTION);
  arena_destroy(&fixture.arena);
}

Test(types, a_type_of_action_atoms_alone_has_nothing_to_run_in_parallel) {
  struct fixture fixture = create();
  const muster_atom atoms[] = {{think, MUSTER_ROLE_ACTION, 0}};
  muster_type_def def = valid();
  def.atoms = atoms;
  cr_assert_eq(enter(&fixture, &def), 0);
  cr_assert_eq(fixture.table.types[0].parallel_atoms, 0);
  arena_destroy(&fixture.arena);
}

Test(types, without_a_name_is_called_agent) {
  struct fixture fixture = create();
  muster_type_def def = valid();
  def.name = NULL;
  cr_assert_eq(enter(&fixture, &def), 0);
  cr_assert_str_eq(fixture.table.types[0].def.name, "agent");
  arena_destroy(&fixture.arena);
}

Test(types, a_longer_definition_of_a_newer_program_is_read_when_the_rest_is_zero) {
  struct fixture fixture = create();
  struct {
    muster_type_def known;
    uint64_t unknown[4];
  } newer = {.known = valid(), .unknown = {0, 0, 0, 1}};
  newer.known.size = sizeof newer;
  newer.known.period_ns = 123000000;
  cr_assert_eq(enter(&fixture, &newer.known), UINT32_MAX);
  newer.unknown[3] = 0;
  cr_assert_eq(enter(&fixture, &newer.known), 0);
  cr_assert_eq(fixture.table.types[0].def.period_ns, 123000000);
  arena_destroy(&fixture.arena);
}

Test(types, give_every_agent_state_of_its_own) {
  struct fixture fixture = create();
  muster_type_def def = valid();
  def.state_bytes = 13;
  def.published_bytes = 3;
  cr_assert_eq(enter(&fixture, &def), 0);
  const agent_type *type = &fixture.table.types[0];
  for (uint32_t slot = 0; slot < AGENTS_MAX; slot++) {
    cr_assert_eq((uintptr_t)type_state(type, slot) % 8, 0);
    memset(type_state(type, slot), (int)slot * 3, 13);
    memset(type_published(type, slot, 0), (int)slot * 3 + 1, 3);
    memset(type_published(type, slot, 1), (int)slot * 3 + 2, 3);
  }
  for (uint32_t slot = 0; slot < AGENTS_MAX; slot++) {
    const unsigned char *state = type_state(type, slot);
    const unsigned char *front = type_published(type, slot, 0), *back = type_published(type, slot, 1);
    for (uint32_t i = 0; i < 13; i++) cr_assert_eq(state[i], slot * 3);
    for (uint32_t i = 0; i < 3; i++) cr_assert(front[i] == slot * 3 + 1 && back[i] == slot * 3 + 2);
  }
  arena_destroy(&fixture.arena);
}

Test(types, without_state_have_none) {
  struct fixture fixture = create();
  muster_type_def def = valid();
  cr_assert_eq(enter(&fixture, &def), 0);
  cr_assert_null(type_state(&fixture.table.types[0], 3));
  cr_assert_null(type_published(&fixture.table.types[0], 3, 1));
  arena_destroy(&fixture.arena);
}

Test(types, a_refused_allocation_registers_nothing_and_spoils_nothing) {
  for (uint32_t room = 0; room < 3; room++) {
    struct fixture fixture = create();
    muster_type_def def = valid();
    def.state_bytes = def.published_bytes = 8;
    arena_block first = fixture.arena.blocks[0];
    uint32_t before = fixture.arena.block_count;
    fixture.arena.block_count = ARENA_BLOCKS_MAX - room;
    cr_assert_eq(enter(&fixture, &def), UINT32_MAX);
    cr_assert_eq(fixture.table.count, 0);
    cr_assert_not(fixture.arena.failed);
    for (uint32_t i = ARENA_BLOCKS_MAX - room; i < ARENA_BLOCKS_MAX; i++)
      fixture.arena.blocks[before++] = fixture.arena.blocks[i];
    fixture.arena.blocks[0] = first;
    fixture.arena.block_count = before;
    cr_assert_eq(enter(&fixture, &def), 0);
    arena_destroy(&fixture.arena);
  }
}

Test(types, a_world_takes_as_many_as_its_definition_may_ask_for) {
  muster_world_def world_def = muster_world_def_default();
  world_def.limits.agents_max = 2;
  world_def.limits.types_max = 1024;
  muster_world *world = muster_world_create(&world_def);
  cr_assert_not_null(world, "%s", muster_last_error());
  muster_type_def def = valid();
  def.state_bytes = def.published_bytes = 8;
  for (uint32_t i = 1; i <= 1024; i++) {
    muster_type type = muster_type_register(world, &def);
    cr_assert_eq(type.index, i, "type %u of 1024: %s", i, muster_last_error());
  }
  cr_assert_eq(muster_type_register(world, &def).index, 0);
  muster_world_destroy(world);
}
