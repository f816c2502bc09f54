/* Until when the answer to a change is held: a frame that is safe, or a snapshot where no frame comes. */
#include "service/held.h"
#include "service/hosting.h"
#include "service/journals.h"
#include "service/service.h"

#include "support/journals.h"

enum { WAITS_MAX = 20000 };

/* A world with a journal, and no frame that comes for one of these reasons. */
static void expect_held(bool paused, bool failed, uint32_t steps_left, bool by_snapshot) {
  static hosted_world world;
  little_world little = little_world_create(1, NULL);
  journal_place place = place_make();
  world = (hosted_world){.world = little.world, .paused = paused, .failed = failed, .steps_left = steps_left};
  run_frame(&little);
  world.journal = journal_begin(&little, place.path);
  cr_assert_not_null(world.journal, "%s", muster_last_error());
  held_until until = held_begin(&world);
  for (uint32_t waited = 0; !held_is_over(&world, &until) && by_snapshot; waited++) {
    cr_assert_lt(waited, WAITS_MAX, "paused %d, failed %d: it is never answered", paused, failed);
    journal_turn(world.journal);
  }
  muster_journal_status status = muster_journal_status_default();
  cr_assert_eq(muster_journal_status_read(world.journal, &status), MUSTER_OK);
  cr_expect_eq(until.snapshot != 0, by_snapshot);
  cr_expect_eq(held_is_over(&world, &until), by_snapshot);
  run_frame(&little);
  muster_journal_turn(world.journal, 0);
  cr_expect(held_is_over(&world, &until), "the next frame is safe");
  cr_assert_eq(muster_journal_end(world.journal, true), MUSTER_OK, "%s", muster_last_error());
  little_world_destroy(&little);
  place_remove(&place);
}

Test(held_changes, wait_for_the_next_frame_where_one_comes) {
  expect_held(false, false, 0, false);
  expect_held(true, false, 3, false);
}

Test(held_changes, wait_for_a_snapshot_where_no_frame_comes) {
  expect_held(true, false, 0, true);
  expect_held(false, true, 0, true);
  expect_held(true, true, 3, true);
}
