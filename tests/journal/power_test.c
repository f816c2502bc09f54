/* What a machine may lose when its power fails, by cutting the files at what was synced: this program is linked so that
 * it sees each sync of a file and of a folder. */
#include "support/journal_town.h"
#include "support/synced.h"

enum { POWER_FRAMES = 40 };

static void expect_power_loss(muster_journal_sync sync, uint64_t *safe, uint64_t *back) {
  journal_place place = place_make();
  muster_journal_info info;
  town_life life = {
      .path = place.path, .told = told_create(), .frames = POWER_FRAMES, .def = muster_journal_def_default()};
  life.def.sync = sync;
  synced_begin();
  live_until_death(town_live, &life);
  *safe = life.told->safe;
  synced_cut(&place);
  little_world little = town();
  cr_assert_eq(journal_recover(&little, place.path, &info), MUSTER_OK, "%s", muster_last_error());
  *back = info.frames;
  cr_assert_eq(muster_world_hash(little.world), life.told->hashes[info.frames]);
  little_world_destroy(&little);
  told_destroy(life.told);
  place_remove(&place);
}

Test(journal_power, a_sync_each_frame_loses_nothing_that_was_safe) {
  uint64_t safe, back;
  expect_power_loss(MUSTER_JOURNAL_SYNC_FRAME, &safe, &back);
  cr_assert_gt(safe, 0, "nothing was ever safe");
  cr_assert_geq(back, safe);
}

Test(journal_power, a_sync_each_second_tells_what_it_may_lose) {
  uint64_t safe, back;
  expect_power_loss(MUSTER_JOURNAL_SYNC_SECOND, &safe, &back);
  cr_assert_geq(back, safe);
}

/* By virtual time: a frame of a second each, and what is told to be safe follows. */
static void slow_live(void *user) {
  town_life *life = user;
  little_world little = town();
  town_populate(&little);
  muster_journal *journal = journal_begin_as(&little, life->def, life->path);
  for (uint32_t frame = 0; frame < life->frames; frame++) {
    little.now_ns += 500000000u - FRAME_NS;
    town_frame(&little, frame);
    told_frame(life->told, &little, frame + 1);
    atomic_store(&life->told->safe, journal_status(journal).frames_safe);
  }
}

Test(journal_power, without_a_sync_what_was_written_counts_as_safe) {
  journal_place place = place_make();
  town_life life = {.path = place.path, .told = told_create(), .frames = 8, .def = muster_journal_def_default()};
  synced_begin();
  live_until_death(slow_live, &life);
  cr_assert_eq(life.told->safe, 8, "as safe as was asked for");
  told_destroy(life.told);
  place_remove(&place);
}
