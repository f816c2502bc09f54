/* What a type definition may say, what is kept of it, and what is refused in which words. */
#include "agents/types.h"
#include "support/arenas.h"
#include "support/nothing.h"

enum { TYPES_MAX = 4, AGENTS_MAX = 10 };

static struct arena arena;
static type_table table;

static void end(void) {
  arena_destroy(&arena);
}

static void begin(void) {
  end();
  arena = begin_arena();
  table = (type_table){0};
  types_create(&table, TYPES_MAX, &arena);
  cr_assert_not(arena.failed);
}

TestSuite(types, .init = begin, .fini = end);

static uint32_t enter(const muster_type_def *def) {
  return types_register(&table, def, AGENTS_MAX, &arena);
}

static const muster_atom one_atom[] = {{nothing, MUSTER_ROLE_BEHAVIOUR, 0}};

static muster_type_def valid(void) {
  return WITH(muster_type_def, it.name = "wolf", it.atoms = one_atom, it.atom_count = 1);
}

/* The message names the type and the field. */
static void check_refused(muster_type_def def, const char *field) {
  begin();
  cr_assert_eq(enter(&def), UINT32_MAX, "%s was accepted", field);
  cr_assert_eq(table.count, 0);
  cr_assert_not_null(strstr(muster_last_error(), field), "'%s' does not name %s", muster_last_error(), field);
  cr_assert_not_null(strstr(muster_last_error(), def.name), "'%s' does not name the type", muster_last_error());
}

static void check_accepted(muster_type_def def, const char *what) {
  begin();
  cr_assert_eq(enter(&def), 0, "%s: %s", what, muster_last_error());
}

#define REFUSED(FIELD, ...)  check_refused(CHANGED(valid(), it.FIELD = __VA_ARGS__), #FIELD)
#define ACCEPTED(FIELD, ...) check_accepted(CHANGED(valid(), it.FIELD = __VA_ARGS__), #FIELD " = " #__VA_ARGS__)

static const uint64_t day_ns = 86400000000000u;

Test(types, refuse_a_period_outside_its_range) {
  REFUSED(period_ns, 0);
  REFUSED(period_ns, 99999);
  check_refused(CHANGED(valid(), it.period_ns = it.period_max_ns = day_ns + 1), "period_ns");
  REFUSED(period_max_ns, 99999999);
  REFUSED(period_max_ns, day_ns + 1);
  REFUSED(period_max_ns, UINT64_MAX);

  ACCEPTED(period_ns, 100000);
  ACCEPTED(period_max_ns, 100000000);
  ACCEPTED(period_max_ns, day_ns);
  check_accepted(CHANGED(valid(), it.period_ns = it.period_max_ns = day_ns), "a day");
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
  for (uint32_t i = 0; i < COUNT_OF(wrong); i++) {
    muster_type_def def = CHANGED(valid(), it.levels.count = MUSTER_LEVELS);
    memcpy(def.levels.importance, wrong[i], sizeof wrong[i]);
    check_refused(def, "levels.importance");
    check_accepted(CHANGED(def, it.levels.count = 1), "one level: the thresholds are not read");
  }
  for (uint32_t count = 1; count <= MUSTER_LEVELS; count++) ACCEPTED(levels.count, count);
}

Test(types, refuse_no_atoms_or_too_many) {
  REFUSED(atom_count, 0);
  REFUSED(atom_count, MUSTER_ATOMS_MAX + 1);
  check_refused(CHANGED(valid(), it.atoms = NULL), "atoms");

  static muster_atom atoms[MUSTER_ATOMS_MAX];
  for (uint32_t i = 0; i < MUSTER_ATOMS_MAX; i++) atoms[i].run = nothing;
  check_accepted(CHANGED(valid(), it.atoms = atoms, it.atom_count = MUSTER_ATOMS_MAX), "as many as there may be");
}

static void check_atoms_refused(const muster_atom *atoms, const char *words, const char *which) {
  check_refused(CHANGED(valid(), it.atoms = atoms, it.atom_count = 3), words);
  cr_assert_not_null(strstr(muster_last_error(), which), "'%s' does not say %s", muster_last_error(), which);
}

Test(types, refuse_an_atom_without_a_callback_a_known_role_or_its_place) {
  const muster_atom without[] = {
      {nothing, MUSTER_ROLE_PERCEPTION, 0}, {NULL, MUSTER_ROLE_BEHAVIOUR, 0}, {nothing, 0, 0}};
  check_atoms_refused(without, "run", "atom 1");
  const muster_atom unknown[] = {{nothing, 0, 0}, {nothing, 0, 0}, {nothing, (muster_role)3, 0}};
  check_atoms_refused(unknown, "role", "atom 2");
  const muster_atom early[] = {{nothing, 0, 0}, {nothing, MUSTER_ROLE_ACTION, 0}, {nothing, MUSTER_ROLE_PERCEPTION, 0}};
  check_atoms_refused(early, "action", "atom 2");
}

Test(types, refuse_a_definition_that_was_not_initialised) {
  muster_type_def zero = {0};
  cr_assert_eq(enter(&zero), UINT32_MAX);
  cr_assert_not_null(strstr(muster_last_error(), "muster_type_def_default"));
  cr_assert_eq(enter(NULL), UINT32_MAX);
  cr_assert_not_null(strstr(muster_last_error(), "muster_type_def_default"));
  cr_assert_eq(table.count, 0);
}

Test(types, refuse_one_more_than_there_is_room_for) {
  muster_type_def def = valid();
  for (uint32_t i = 0; i < TYPES_MAX; i++) cr_assert_eq(enter(&def), i);
  cr_assert_eq(enter(&def), UINT32_MAX);
  cr_assert_not_null(strstr(muster_last_error(), "types_max"), "%s", muster_last_error());
  cr_assert_eq(table.count, TYPES_MAX);
}

Test(types, keep_copies_of_the_name_and_the_atoms) {
  char name[] = "a name of more than thirty-one bytes, all told";
  muster_atom atoms[] = {{nothing, MUSTER_ROLE_PERCEPTION, 0},
                         {nothing, MUSTER_ROLE_BEHAVIOUR, 5000},
                         {nothing, MUSTER_ROLE_ACTION, 700},
                         {nothing, MUSTER_ROLE_ACTION, 80}};
  muster_type_def def = CHANGED(valid(), it.name = name, it.atoms = atoms, it.atom_count = 4);
  cr_assert_eq(enter(&def), 0);
  memset(name, 'x', sizeof name - 1);
  memset(atoms, 0, sizeof atoms);

  const agent_type *type = &table.types[0];
  cr_assert_str_eq(type->def.name, "a name of more than thirty-one ");
  cr_assert_eq(type->parallel_atoms, 2);
  cr_assert_eq(type->def.atoms[0].model_ns, 1000);
  cr_assert_eq(type->def.atoms[1].model_ns, 5000);
  cr_assert_eq(type->model_ns, 1000 + 5000 + 700 + 80);
  for (uint32_t i = 0; i < 4; i++) cr_assert_eq(type->def.atoms[i].run, nothing);
  cr_assert_eq(type->def.atoms[3].role, MUSTER_ROLE_ACTION);
}

Test(types, a_type_of_action_atoms_alone_has_nothing_to_run_in_parallel) {
  const muster_atom atoms[] = {{nothing, MUSTER_ROLE_ACTION, 0}};
  muster_type_def def = CHANGED(valid(), it.atoms = atoms);
  cr_assert_eq(enter(&def), 0);
  cr_assert_eq(table.types[0].parallel_atoms, 0);
}

Test(types, without_a_name_is_called_agent) {
  muster_type_def def = CHANGED(valid(), it.name = NULL);
  cr_assert_eq(enter(&def), 0);
  cr_assert_str_eq(table.types[0].def.name, "agent");
}

Test(types, a_longer_definition_of_a_newer_program_is_read_when_the_rest_is_zero) {
  struct {
    muster_type_def known;
    uint64_t unknown[4];
  } newer = {.known = valid(), .unknown = {0, 0, 0, 1}};
  newer.known.size = sizeof newer;
  newer.known.period_ns = 123000000;
  cr_assert_eq(enter(&newer.known), UINT32_MAX);
  newer.unknown[3] = 0;
  cr_assert_eq(enter(&newer.known), 0);
  cr_assert_eq(table.types[0].def.period_ns, 123000000);
}

Test(types, give_every_agent_state_of_its_own) {
  muster_type_def def = CHANGED(valid(), it.state_bytes = 13, it.published_bytes = 3);
  cr_assert_eq(enter(&def), 0);
  const agent_type *type = &table.types[0];
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
}

Test(types, without_state_have_none) {
  muster_type_def def = valid();
  cr_assert_eq(enter(&def), 0);
  cr_assert_null(type_state(&table.types[0], 3));
  cr_assert_null(type_published(&table.types[0], 3, 1));
}

Test(types, a_refused_allocation_registers_nothing_and_spoils_nothing) {
  for (uint32_t room = 0; room < 3; room++) {
    begin();
    muster_type_def def = CHANGED(valid(), it.state_bytes = it.published_bytes = 8);
    arena_block first = arena.blocks[0];
    uint32_t before = arena.block_count;
    arena.block_count = ARENA_BLOCKS_MAX - room;
    cr_assert_eq(enter(&def), UINT32_MAX);
    cr_assert_eq(table.count, 0);
    cr_assert_not(arena.failed);
    for (uint32_t i = ARENA_BLOCKS_MAX - room; i < ARENA_BLOCKS_MAX; i++) arena.blocks[before++] = arena.blocks[i];
    arena.blocks[0] = first;
    arena.block_count = before;
    cr_assert_eq(enter(&def), 0);
  }
}

Test(types, a_world_takes_as_many_as_its_definition_may_ask_for) {
  muster_world_def world_def = WITH(muster_world_def, it.limits.agents_max = 2, it.limits.types_max = 1024);
  muster_world *world = muster_world_create(&world_def);
  cr_assert_not_null(world, "%s", muster_last_error());
  muster_type_def def = CHANGED(valid(), it.state_bytes = it.published_bytes = 8);
  for (uint32_t i = 1; i <= 1024; i++)
    cr_assert_eq(muster_type_register(world, &def).index, i, "type %u of 1024: %s", i, muster_last_error());
  cr_assert_eq(muster_type_register(world, &def).index, 0);
  muster_world_destroy(world);
}
