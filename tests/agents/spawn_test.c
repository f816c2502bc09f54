/* What an agent definition may say, and what a pending agent is made of. */
#include "agents/spawn.h"
#include "support/arenas.h"
#include "support/nothing.h"

enum { AGENTS_MAX = 8, STATE_BYTES = 20, PUBLISHED_BYTES = 12 };

static struct arena arena;
static agent_store store;
static type_table types;
static struct space space;

static void end(void) {
  arena_destroy(&arena);
}

/* Type 1 keeps state, type 2 has none. */
static void begin(void) {
  arena = begin_arena();
  store_create(&store, AGENTS_MAX, &arena);
  types_create(&types, 2, &arena);
  space_create(&space, AGENTS_MAX, 32.0, &arena);
  const muster_atom atom = {nothing, MUSTER_ROLE_BEHAVIOUR, 0};
  muster_type_def def = WITH(muster_type_def, it.atoms = &atom, it.atom_count = 1, it.state_bytes = STATE_BYTES,
                             it.published_bytes = PUBLISHED_BYTES);
  cr_assert_eq(types_register(&types, &def, AGENTS_MAX, &arena), 0);
  def.state_bytes = def.published_bytes = 0;
  cr_assert_eq(types_register(&types, &def, AGENTS_MAX, &arena), 1);
}

TestSuite(spawn, .init = begin, .fini = end);

static muster_agent_def valid(void) {
  return WITH(muster_agent_def, it.type.index = 1);
}

static muster_result check(const muster_agent_def *def, muster_agent_def *out) {
  return spawn_check(def, types.count, out);
}

static void check_refused(muster_agent_def def, const char *field) {
  muster_agent_def out;
  cr_assert_eq(check(&def, &out), MUSTER_E_ARGUMENT, "%s was accepted", field);
  cr_assert_not_null(strstr(muster_last_error(), field), "'%s' does not name %s", muster_last_error(), field);
}

static void check_accepted(muster_agent_def def, const char *what) {
  muster_agent_def out;
  cr_assert_eq(check(&def, &out), MUSTER_OK, "%s: %s", what, muster_last_error());
}

#define REFUSED(FIELD, NAMED, ...) check_refused(CHANGED(valid(), it.FIELD = __VA_ARGS__), NAMED)
#define ACCEPTED(FIELD, ...)       check_accepted(CHANGED(valid(), it.FIELD = __VA_ARGS__), #FIELD " = " #__VA_ARGS__)

Test(spawn, refuses_a_type_that_is_not_registered) {
  REFUSED(type.index, "type", 0);
  REFUSED(type.index, "type", 3);
  REFUSED(type.index, "type", UINT32_MAX);
  ACCEPTED(type.index, 1);
  ACCEPTED(type.index, 2);
}

Test(spawn, refuses_a_position_that_is_not_finite_or_out_of_range) {
  REFUSED(position.x, "position", NAN);
  REFUSED(position.y, "position", INFINITY);
  REFUSED(position.z, "position", -1.1e9);
  ACCEPTED(position.x, 1e9);
  ACCEPTED(position.z, -1e9);
}

Test(spawn, refuses_a_partition_that_does_not_exist) {
  REFUSED(partition, "partition", 65536);
  REFUSED(partition, "partition", UINT32_MAX);
  ACCEPTED(partition, 65535);
}

Test(spawn, refuses_an_importance_floor_that_is_no_share) {
  REFUSED(importance_floor, "importance_floor", -0.01f);
  REFUSED(importance_floor, "importance_floor", 1.01f);
  REFUSED(importance_floor, "importance_floor", NAN);
  ACCEPTED(importance_floor, 0.0f);
  ACCEPTED(importance_floor, 1.0f);
}

Test(spawn, refuses_an_elasticity_that_is_too_large_or_no_number) {
  REFUSED(elasticity, "elasticity", 1024.5f);
  REFUSED(elasticity, "elasticity", INFINITY);
  REFUSED(elasticity, "elasticity", NAN);
  ACCEPTED(elasticity, 1024.0f);
  ACCEPTED(elasticity, 0.0f);
  ACCEPTED(elasticity, -1.0f);
}

Test(spawn, refuses_a_definition_that_was_not_initialised) {
  muster_agent_def zero = {0}, out;
  cr_assert_eq(check(&zero, &out), MUSTER_E_NOT_INITIALISED);
  cr_assert_not_null(strstr(muster_last_error(), "muster_agent_def_default"));
  cr_assert_eq(check(NULL, &out), MUSTER_E_NOT_INITIALISED);
}

Test(spawn, completes_a_shorter_definition_of_an_older_program_by_defaults) {
  muster_agent_def def = valid(), out;
  def.position = (muster_position){1, 2, 3};
  memset((char *)&def + offsetof(muster_agent_def, visibility), 0xff,
         sizeof def - offsetof(muster_agent_def, visibility));
  def.size = offsetof(muster_agent_def, visibility);
  cr_assert_eq(check(&def, &out), MUSTER_OK, "%s", muster_last_error());
  cr_assert(out.position.x == 1 && out.position.y == 2 && out.position.z == 3);
  cr_assert(out.visibility == 1.0f && out.bulk == 1.0f && out.interactivity == 1.0f);
  cr_assert(out.designer == 0.0f && out.role == -1.0f);
}

Test(spawn, reads_a_longer_definition_of_a_newer_program_when_the_rest_is_zero) {
  struct {
    muster_agent_def known;
    uint64_t unknown[8];
  } newer = {.known = valid()};
  muster_agent_def out;
  newer.known.size = sizeof newer;
  newer.known.partition = 77;
  newer.unknown[7] = 1;
  cr_assert_eq(check(&newer.known, &out), MUSTER_E_ARGUMENT);
  newer.unknown[7] = 0;
  cr_assert_eq(check(&newer.known, &out), MUSTER_OK);
  cr_assert_eq(out.partition, 77);
}

Test(spawn, writes_a_pending_agent_over_whatever_was_there) {
  const uint32_t index = 5, slot = 2;
  memset(&store.rows[index], 0xff, sizeof *store.rows);
  memset(&store.places[index], 0xff, sizeof *store.places);
  int host = 0;
  muster_agent_def def = WITH(muster_agent_def, it.type.index = 1, it.position = (muster_position){-100.25, 64.5, 7.0},
                              it.partition = 65535, it.importance_floor = 0.75f, it.elasticity = 0.0f, it.user = &host);
  spawn_write(&store, &types, &space, index, slot, &def);

  const agent_row *row = &store.rows[index];
  cr_assert_eq(row->status, AGENT_PENDING);
  cr_assert(row->type == 0 && row->state_slot == slot && row->atom_next == 0);
  cr_assert(row->woken == 0 && row->removal_pending == 0 && row->front == 0);
  cr_assert(row->scheduled == 0 && row->queued == 0);
  cr_assert(row->runs == 0 && row->last_update_ns == 0);
  const agent_place *place = &store.places[index];
  muster_position position = space_position(&space, place);
  cr_assert(position.x == -100.25 && position.y == 64.5 && position.z == 7.0);
  cr_assert(place->partition == 65535 && place->type == 0 && place->spot == 0);
  cr_assert(row->floor == share_of(0.75f) && row->elasticity_step == 0 && row->user == &host);
}

static bool all_are(const unsigned char *bytes, uint32_t count, unsigned char value) {
  for (uint32_t i = 0; i < count; i++)
    if (bytes[i] != value) return false;
  return true;
}

Test(spawn, copies_state_and_published_state_into_its_own_slot_and_no_further) {
  const agent_type *type = &types.types[0];
  unsigned char state[STATE_BYTES], published[PUBLISHED_BYTES];
  memset(state, 1, sizeof state);
  memset(published, 2, sizeof published);
  for (uint32_t slot = 0; slot < AGENTS_MAX; slot++) {
    memset(type_state(type, slot), 0xee, STATE_BYTES);
    memset(type_published(type, slot, 0), 0xee, PUBLISHED_BYTES);
    memset(type_published(type, slot, 1), 0xee, PUBLISHED_BYTES);
  }
  muster_agent_def def = WITH(muster_agent_def, it.type.index = 1, it.state = state, it.published = published);
  spawn_write(&store, &types, &space, 0, 3, &def);
  for (uint32_t slot = 0; slot < AGENTS_MAX; slot++) {
    cr_assert(all_are(type_state(type, slot), STATE_BYTES, slot == 3 ? 1 : 0xee));
    cr_assert(all_are(type_published(type, slot, 0), PUBLISHED_BYTES, slot == 3 ? 2 : 0xee));
    cr_assert(all_are(type_published(type, slot, 1), PUBLISHED_BYTES, slot == 3 ? 2 : 0xee));
  }
}

Test(spawn, zeroes_the_state_that_an_earlier_agent_left) {
  const agent_type *type = &types.types[0];
  memset(type_state(type, 1), 0xee, STATE_BYTES);
  memset(type_published(type, 1, 0), 0xee, PUBLISHED_BYTES);
  memset(type_published(type, 1, 1), 0xee, PUBLISHED_BYTES);
  muster_agent_def def = valid();
  spawn_write(&store, &types, &space, 0, 1, &def);
  cr_assert(all_are(type_state(type, 1), STATE_BYTES, 0));
  cr_assert(all_are(type_published(type, 1, 0), PUBLISHED_BYTES, 0));
  cr_assert(all_are(type_published(type, 1, 1), PUBLISHED_BYTES, 0));
}

Test(spawn, of_a_type_without_state_needs_none) {
  unsigned char ignored[64] = {9};
  muster_agent_def def = WITH(muster_agent_def, it.type.index = 2, it.state = it.published = ignored);
  spawn_write(&store, &types, &space, 1, 0, &def);
  cr_assert_eq(store.rows[1].type, 1);
  cr_assert_null(type_state(&types.types[1], 0));
}
