/* Which birth spaces a zone names; and ids that rest, and come back. */
#include "support/zones.h"
#include "world/fixture.h"

enum { ROOM = 64 };

static uint32_t look(const little_world *little, uint32_t spaces[ROOM]) {
  uint32_t count = muster_zone_spaces(little->world, spaces, ROOM);
  cr_assert_leq(count, (uint32_t)ROOM);
  return count;
}

static bool names(const little_world *little, uint32_t zone, uint32_t epoch) {
  uint32_t spaces[ROOM], count = look(little, spaces);
  for (uint32_t i = 0; i < count; i++)
    if (spaces[i] == (zone << 14 | epoch)) return true;
  return false;
}

static void begin_epoch(const little_world *little, uint32_t epoch) {
  assert_ok(muster_zone_set_epoch(little->world, epoch));
}

static void remove_now(little_world *little, muster_agent agent) {
  cr_assert_eq(muster_agent_remove(little->world, agent), MUSTER_OK);
  run_frame(little);
}

Test(zone_spaces, of_those_who_live_and_the_one_in_force_are_named) {
  SCOPED_WORLD little = zone_world(1);
  uint32_t spaces[ROOM];
  cr_assert_eq(look(&little, spaces), 1);
  cr_expect_eq(spaces[0], 1u << 14 | 1u);
  muster_agent first = spawn_at(&little, 1), second;
  run_frame(&little);
  begin_epoch(&little, 9);
  second = spawn_at(&little, 2);
  run_frame(&little);
  begin_epoch(&little, 4); /* they need not rise */
  cr_expect_eq(muster_agent_epoch(spawn_at(&little, 3)), 4);
  run_frame(&little);
  cr_expect_eq(look(&little, spaces), 3);
  remove_now(&little, second);
  cr_expect(!names(&little, 1, 9));
  cr_expect(names(&little, 1, 1) && names(&little, 1, 4));
  remove_now(&little, first);
  cr_expect_eq(look(&little, spaces), 1);
}

Test(zone_spaces, of_those_who_came_and_went_are_named_once_more) {
  SCOPED_WORLD one = zone_world(1), two = zone_world(2);
  uint32_t spaces[ROOM];
  begin_epoch(&two, 5);
  muster_agent agent = spawn_at(&two, 1);
  run_both(&one, &two, 1);
  cr_assert_eq(look(&one, spaces), 1);
  cross(&two, &one, agent);
  remove_now(&one, agent);
  cr_expect(names(&one, 2, 5), "it was here since the last look");
  cr_expect(!names(&one, 2, 5), "and is not any more");
  cr_expect(names(&two, 2, 5), "the mark says where it went");
}

Test(zone_spaces, of_marks_and_ghosts_and_observers_are_named) {
  SCOPED_WORLD one = zone_world(1), two = zone_world(2);
  muster_agent leaves = spawn_at(&one, 1), seen;
  begin_epoch(&two, 6);
  seen = spawn_at(&two, 2);
  run_both(&one, &two, 1);
  cross(&one, &two, leaves);
  begin_epoch(&one, 2);
  cr_expect(names(&one, 1, 1), "the mark of one that left");
  mirror(&two, &one, &seen, 1);
  cr_expect(names(&one, 2, 6), "a ghost");
  cr_assert_eq(muster_ghosts_set(one.world, 2, NULL, 0, true), MUSTER_OK);
  cr_expect(!names(&one, 2, 6));
  begin_epoch(&one, 3);
  muster_observer observer = observe_at(&one, 0);
  run_frame(&one);
  begin_epoch(&one, 7);
  cr_expect(names(&one, 1, 3));
  cr_expect(names(&one, 1, 3), "as long as the observer is there");
  cr_assert_eq(muster_observer_remove(one.world, observer), MUSTER_OK);
  run_frame(&one);
  cr_expect(!names(&one, 1, 3));
}

Test(zone_spaces, of_senders_of_messages_are_named_while_these_are_known) {
  SCOPED_WORLD little = zone_world(1);
  muster_agent agent = spawn_at(&little, 1), sender = {(uint64_t)2 << 50 | (uint64_t)8 << 36 | 5};
  run_frame(&little);
  assert_ok(muster_zone_deliver(little.world, &(muster_zone_message){.from = sender, .to = agent, .sequence = 1}));
  cr_expect(names(&little, 2, 8));
  run_frame(&little);
  cr_expect(names(&little, 2, 8), "it is known, so that it does not come twice");
  for (uint32_t i = 0; i <= MUSTER_ZONE_KNOWN_FRAMES; i++) run_frame(&little);
  names(&little, 2, 8);
  cr_expect(!names(&little, 2, 8));
}

Test(zone_spaces, are_refused_where_there_is_no_zone_and_told_as_many_as_fit) {
  SCOPED_WORLD none = little_world_create(1, NULL), one = zone_world(1);
  uint32_t space = 77;
  cr_expect_eq(muster_zone_spaces(none.world, &space, 1), 0);
  cr_expect_eq(muster_last_result(), MUSTER_E_STATE);
  spawn_at(&one, 1);
  begin_epoch(&one, 2);
  cr_expect_eq(muster_zone_spaces(one.world, NULL, 0), 2);
  cr_expect_eq(space, 77);
}

/* Births fill a small zone's ids 524,288 times; each who is born is gone with the next frame. */
Test(zone_spaces, ids_that_rest_say_so_and_come_back) {
  enum { IDS = 8, BIRTHS = IDS * 65536 };
  SCOPED_WORLD little = zone_of(WITH(zone_def, it.limits.agents_max = IDS));
  muster_agent_def one = WITH(muster_agent_def, it.type = little.type);
  for (uint32_t born = 0; born < BIRTHS; born += IDS) {
    for (uint32_t i = 0; i < IDS; i++) {
      muster_agent agent = muster_agent_spawn(little.world, &one);
      cr_assert_not(muster_agent_is_null(agent), "birth %u: %s", born + i, muster_last_error());
      muster_agent_remove(little.world, agent);
    }
    run_frame(&little);
  }
  cr_assert(muster_agent_is_null(muster_agent_spawn(little.world, &one)));
  cr_expect_eq(muster_last_result(), MUSTER_E_FULL);
  cr_expect(strstr(muster_last_error(), "8 rest") && strstr(muster_last_error(), "epoch 1"), "%s", muster_last_error());
  cr_expect(strstr(muster_last_error(), "0 are agents'"), "%s", muster_last_error());
  muster_zone_status status = zone_status(&little);
  cr_expect(status.ids_resting == IDS && status.ids_free == 0);
  begin_epoch(&little, 2);
  status = zone_status(&little);
  cr_expect(status.ids_resting == 0 && status.ids_free == IDS);
  for (uint32_t i = 0; i < IDS; i++)
    cr_assert_not(muster_agent_is_null(muster_agent_spawn(little.world, &one)), "%s", muster_last_error());
  cr_assert(muster_agent_is_null(muster_agent_spawn(little.world, &one)));
  cr_expect(strstr(muster_last_error(), "each id of agents_max = 8 is an agent's"), "%s", muster_last_error());
}
