/* What a machine may lose when its power fails, by cutting the files at what was synced: this program is linked so that
 * it sees each sync of a file and of a folder. */
#include "support/journal_town.h"
#include "support/synced.h"

#include <time.h>

enum { POWER_FRAMES = 40 };

/* When each frame was over, before its status was asked for. */
static uint64_t *over_ns;

static uint64_t power_now(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void power_live(void *user) {
  town_life *life = user;
  const struct timespec rest = {.tv_nsec = life->def.sync == MUSTER_JOURNAL_SYNC_SECOND ? 40000000 : 1000000};
  little_world little = town();
  town_populate(&little);
  muster_journal *journal = journal_begin_as(&little, life->def, life->path);
  for (uint32_t frame = 0; frame < life->frames; frame++) {
    town_frame(&little, frame);
    told_frame(life->told, &little, frame + 1);
    over_ns[frame + 1] = power_now();
    uint64_t safe = journal_status(journal).frames_safe;
    must(safe >= life->told->safe && safe <= frame + 1, "safe is frame %llu after frame %u", (unsigned long long)safe,
         frame + 1);
    atomic_store(&life->told->safe, safe);
    if (frame + 1 == life->frames) die(); /* at once: what was told must be true */
    if (frame % 15 == 9) must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
    muster_journal_turn(journal, 0);
    nanosleep(&rest, NULL);
  }
}

/* The power fails: what was safe, and how many frames are back. */
static void lose_power(muster_journal_sync sync, uint64_t *safe, uint64_t *back) {
  journal_place place = place_make();
  muster_journal_info info;
  town_life life = {
      .path = place.path, .told = told_create(), .frames = POWER_FRAMES, .def = muster_journal_def_default()};
  life.def.sync = sync;
  over_ns = shared_memory((POWER_FRAMES + 1) * sizeof *over_ns);
  synced_begin();
  live_until_death(power_live, &life);
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
  lose_power(MUSTER_JOURNAL_SYNC_FRAME, &safe, &back);
  cr_assert_gt(safe, 0, "nothing was ever safe");
  cr_assert_geq(back, safe);
}

/* A frame that is lost was over less than a second before it was last told to be safe. */
Test(journal_power, a_sync_each_second_loses_a_second_at_most) {
  uint64_t safe, back;
  lose_power(MUSTER_JOURNAL_SYNC_SECOND, &safe, &back);
  cr_assert_gt(safe, 0, "nothing was ever safe");
  for (uint64_t lost = back + 1; lost <= safe; lost++)
    cr_assert_gt(over_ns[lost] + 1000000000u, over_ns[POWER_FRAMES], "frame %llu of %llu is lost",
                 (unsigned long long)lost, (unsigned long long)safe);
}

/* With a sync that comes as often as it wants, nothing waits for it. */
Test(journal_power, without_a_sync_what_was_written_counts_as_safe) {
  journal_place place = place_make();
  town_life life = {.path = place.path, .told = told_create(), .frames = 8, .def = muster_journal_def_default()};
  live_until_death(town_live, &life);
  cr_assert_eq(life.told->safe, 8, "as safe as was asked for");
  told_destroy(life.told);
  place_remove(&place);
}
