/* A number that is refused is printed so that the reader sees what is wrong with it. */
#include "misuse/misuse.h"

#define BEYOND 1000000000.0000001 /* one bit more than is allowed */

static void expect_digits(const char *call) {
  cr_assert_eq(muster_last_result(), MUSTER_E_ARGUMENT, "%s", call);
  cr_assert_not_null(strstr(muster_last_error(), "1000000000.0000001"), "%s: %s", call, muster_last_error());
}

static char in_atom[512];

static muster_atom_result move_away(muster_update *update) {
  if (muster_update_move(update, (muster_position){0, BEYOND, 0}) == MUSTER_E_ARGUMENT)
    strncpy(in_atom, muster_last_error(), sizeof in_atom - 1);
  return MUSTER_ATOM_NEXT;
}

Test(values, positions_that_are_refused_are_told_with_all_digits) {
  const muster_position beyond = {BEYOND, 0, 0};
  muster_type_def type = type_running(move_away, 1000);
  muster_agent_def def = muster_agent_def_default();
  muster_observer_def observer = muster_observer_def_default();
  muster_nearby_query query = muster_nearby_query_default();
  muster_nearby_agent found[1];
  type.period_ns = FRAME_NS;
  SCOPED_WORLD little = world_of(1, type);
  muster_agent agent = spawn_at(&little, 0);
  muster_observer watches = muster_observer_add(little.world, &observer);
  run_frames(&little, 4);
  cr_assert_not_null(strstr(in_atom, "1000000000.0000001"), "%s", in_atom);
  def.type = little.type;
  def.position = observer.position = query.position = beyond;
  cr_assert(muster_agent_is_null(muster_agent_spawn(little.world, &def)));
  expect_digits("spawn");
  cr_assert_eq(muster_agent_move(little.world, agent, beyond), MUSTER_E_ARGUMENT);
  expect_digits("move");
  cr_assert(muster_observer_is_null(muster_observer_add(little.world, &observer)));
  expect_digits("observer");
  cr_assert_eq(muster_observer_move(little.world, watches, beyond), MUSTER_E_ARGUMENT);
  expect_digits("observer move");
  cr_assert_eq(muster_agents_nearby(little.world, &query, found, 1, NULL), 0);
  expect_digits("nearby");
}

Test(values, a_fraction_just_beyond_its_range_is_told_apart_from_its_end) {
  SCOPED_WORLD little = world_of(1, type_running(nothing, 1000));
  muster_agent_def def = WITH(muster_agent_def, it.type = little.type, it.importance_floor = nextafterf(1.0f, 2.0f));
  cr_assert(muster_agent_is_null(muster_agent_spawn(little.world, &def)));
  expect_error("importance_floor 1.00000012 must be 0..1");
  def.importance_floor = 1.5f;
  cr_assert(muster_agent_is_null(muster_agent_spawn(little.world, &def)));
  expect_error("importance_floor 1.5 must be 0..1");
}
