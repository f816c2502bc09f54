/* Calls that a host should not make: each is refused with what is wrong, and changes nothing. */
#include "support/journal_town.h"

#include <muster/record.h>

static void expect_begin(const little_world *little, muster_journal_def def, muster_result expected, const char *says) {
  muster_journal *journal = (muster_journal *)(void *)&def;
  cr_expect_eq(muster_journal_begin(little->world, &def, &journal), expected, "%s: %s", says, muster_last_error());
  cr_expect_null(journal);
  cr_expect_not_null(strstr(muster_last_error(), says), "\"%s\" is not in: %s", says, muster_last_error());
}

Test(journal_misuse, fields_out_of_range_are_named) {
  static char long_path[4000];
  journal_place place = place_make();
  little_world little = town();
  muster_journal_def good = muster_journal_def_default(), def = good;
  expect_begin(&little, def, MUSTER_E_ARGUMENT, "path");
  good.path = place.path;
  memset(long_path, 'p', sizeof long_path - 1);
  def.path = long_path;
  expect_begin(&little, def, MUSTER_E_ARGUMENT, "path");
  def.path = "";
  expect_begin(&little, def, MUSTER_E_ARGUMENT, "path");
  def = good;
  def.recovery_max_ns = 9999999;
  expect_begin(&little, def, MUSTER_E_ARGUMENT, "recovery_max_ns");
  def.recovery_max_ns = 3600000000001u;
  expect_begin(&little, def, MUSTER_E_ARGUMENT, "recovery_max_ns");
  def = good;
  def.sync = (muster_journal_sync)3;
  expect_begin(&little, def, MUSTER_E_ARGUMENT, "sync");
  def = good;
  def.note_bytes = 4;
  expect_begin(&little, def, MUSTER_E_ARGUMENT, "note");
  def.note = place.path;
  def.note_bytes = (1u << 20) + 1;
  expect_begin(&little, def, MUSTER_E_ARGUMENT, "note");
  def = good;
  def.buffer_bytes = 1;
  expect_begin(&little, def, MUSTER_E_ARGUMENT, "buffer_bytes");
  def = good;
  def.size = 0;
  expect_begin(&little, def, MUSTER_E_NOT_INITIALISED, "muster_journal_def");
  cr_expect_eq(place_count(&place, "", ""), 0, "it left files behind");
  little_world_destroy(&little);
  place_remove(&place);
}

Test(journal_misuse, what_is_missing_is_refused) {
  journal_place place = place_make();
  little_world little = town();
  muster_journal *journal = NULL;
  muster_journal_def def = muster_journal_def_default();
  muster_journal_info info = muster_journal_info_default();
  muster_journal_status status = muster_journal_status_default();
  muster_journal_look_def look = muster_journal_look_def_default();
  muster_journal_recover_def recover = muster_journal_recover_def_default();
  def.path = place.path;
  cr_expect_eq(muster_journal_begin(NULL, &def, &journal), MUSTER_E_ARGUMENT);
  cr_expect_eq(muster_journal_begin(little.world, NULL, &journal), MUSTER_E_NOT_INITIALISED);
  cr_expect_eq(muster_journal_begin(little.world, &def, NULL), MUSTER_E_ARGUMENT);
  cr_expect_eq(muster_journal_look(NULL, &info, NULL), MUSTER_E_NOT_INITIALISED);
  cr_expect_eq(muster_journal_look(&look, &info, NULL), MUSTER_E_ARGUMENT, "without a path");
  cr_expect_eq(muster_journal_recover(little.world, NULL, &info), MUSTER_E_NOT_INITIALISED);
  cr_expect_eq(muster_journal_recover(little.world, &recover, &info), MUSTER_E_ARGUMENT, "without a path");
  cr_expect_eq(muster_journal_recover(NULL, &recover, &info), MUSTER_E_ARGUMENT);
  cr_expect_eq(muster_journal_note(NULL, "a", 1), MUSTER_E_ARGUMENT);
  cr_expect_eq(muster_journal_snapshot(NULL), MUSTER_E_ARGUMENT);
  cr_expect_eq(muster_journal_status_read(NULL, &status), MUSTER_E_ARGUMENT);
  cr_expect_eq(muster_journal_end(NULL, true), MUSTER_OK);
  muster_journal_turn(NULL, 0);
  little_world_destroy(&little);
  place_remove(&place);
}

/* ------------------------------------------------------------------------------------------------ at a wrong moment */

typedef struct wrong_moment {
  journal_place place;
  little_world little;
  muster_journal *journal;
  uint32_t tried;
} wrong_moment;

static void try_inside(muster_journal *journal, void *user) {
  wrong_moment *wrong = user;
  muster_journal *second = NULL;
  muster_journal_def def = muster_journal_def_default();
  muster_journal_info info = muster_journal_info_default();
  muster_journal_recover_def recover = muster_journal_recover_def_default();
  def.path = recover.path = wrong->place.path;
  cr_expect_eq(muster_journal_begin(wrong->little.world, &def, &second), MUSTER_E_STATE);
  cr_expect_eq(muster_journal_recover(wrong->little.world, &recover, &info), MUSTER_E_STATE);
  cr_expect_eq(muster_journal_snapshot(journal), MUSTER_E_STATE);
  cr_expect_eq(muster_journal_end(journal, false), MUSTER_E_STATE);
  muster_journal_turn(journal, 0); /* does nothing */
  wrong->tried++;
}

Test(journal_misuse, calls_inside_a_frame_are_refused) {
  wrong_moment wrong = {.place = place_make(), .little = town()};
  muster_journal_def def = muster_journal_def_default();
  def.end_frame = try_inside;
  def.user = &wrong;
  town_populate(&wrong.little);
  wrong.journal = journal_begin_as(&wrong.little, def, wrong.place.path);
  for (uint32_t frame = 0; frame < 5; frame++) town_frame(&wrong.little, frame);
  cr_expect_eq(wrong.tried, 5);
  cr_expect(journal_status(wrong.journal).runs);
  cr_expect_eq(journal_status(wrong.journal).frames_written, 5);
  cr_expect_eq(muster_journal_end(wrong.journal, false), MUSTER_OK, "%s", muster_last_error());
  little_world_destroy(&wrong.little);
  place_remove(&wrong.place);
}

/* A try that ends in order is no death: frames that others can run again are not blamed for it. */
Test(journal_misuse, a_recovery_that_is_refused_leaves_no_mark_of_a_try) {
  journal_place place = place_make();
  muster_journal_info info;
  town_life life = {.path = place.path, .told = told_create(), .frames = 8, .def = muster_journal_def_default()};
  live_until_death(town_live, &life);
  for (uint32_t i = 0; i < 3; i++) {
    little_world other = little_world_create(1, NULL); /* without the town's type */
    cr_expect_neq(journal_recover(&other, place.path, &info), MUSTER_OK);
    cr_expect_eq(place_count(&place, "", ".replaying"), 0);
    muster_world_destroy(other.world);
    muster_pool_destroy(other.pool);
  }
  cr_assert_eq(journal_look(place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_expect_not(info.tried);
  told_destroy(life.told);
  place_remove(&place);
}

/* What a world may have that is not new any more. */
static void grow_old(little_world *little, uint32_t how) {
  muster_observer_def watcher = muster_observer_def_default();
  if (how == 0) run_frame(little);
  if (how == 1) spawn_at(little, 1.0);
  if (how == 2) cr_assert(!muster_observer_is_null(muster_observer_add(little->world, &watcher)));
  if (how == 3) town_populate(little);
  if (how == 3) run_frames(little, 2);
}

/* Each goes on as one that nobody asked. */
Test(journal_misuse, only_a_new_world_recovers) {
  wrong_moment wrong = {.place = place_make(), .little = town()};
  muster_journal_info info;
  town_populate(&wrong.little);
  wrong.journal = journal_begin(&wrong.little, wrong.place.path);
  run_frame(&wrong.little);
  cr_expect_eq(journal_recover(&wrong.little, wrong.place.path, &info), MUSTER_E_STATE, "its own journal");
  cr_expect_eq(muster_journal_end(wrong.journal, false), MUSTER_OK);
  for (uint32_t how = 0; how < 4; how++) {
    little_world little = town(), other = town();
    grow_old(&little, how);
    grow_old(&other, how);
    uint64_t now_ns = little.now_ns;
    cr_expect_eq(journal_recover(&little, wrong.place.path, &info), MUSTER_E_STATE, "%u", how);
    cr_expect_str_eq(muster_last_error(),
                     "recover: only in a new world, before anything is spawned and any frame is run");
    cr_expect_not(muster_world_is_replaying(little.world), "%u", how);
    cr_expect_eq(place_count(&wrong.place, "", ".replaying"), 0);
    little.now_ns = now_ns;
    spawn_at(&little, 2.0);
    spawn_at(&other, 2.0);
    run_frames(&little, 3);
    run_frames(&other, 3);
    cr_expect_eq(muster_world_hash(little.world), muster_world_hash(other.world), "%u", how);
    little_world_destroy(&little);
    little_world_destroy(&other);
  }
  little_world_destroy(&wrong.little);
  place_remove(&wrong.place);
}

/* A recovery is over when it returns: the world runs frames, and takes none of a record. */
Test(journal_misuse, a_world_that_came_back_does_not_replay) {
  journal_place place = place_make();
  muster_journal_info info;
  town_life life = {.path = place.path, .told = told_create(), .frames = 4, .def = muster_journal_def_default()};
  live_until_death(town_live, &life);
  little_world little = town();
  cr_assert_eq(journal_recover(&little, place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_expect_not(muster_world_is_replaying(little.world));
  cr_expect_eq(muster_replay_frame(little.world), MUSTER_E_STATE);
  cr_expect_str_eq(muster_last_error(), "replay: this world does not replay");
  cr_expect_eq(muster_world_hash(little.world), life.told->hashes[4]);
  town_frame(&little, 4);
  little_world_destroy(&little);
  told_destroy(life.told);
  place_remove(&place);
}

Test(journal_misuse, a_journal_and_a_record_or_a_saved_world_do_not_meet) {
  wrong_moment wrong = {.place = place_make(), .little = town()};
  muster_journal_info info;
  town_populate(&wrong.little);
  wrong.journal = journal_begin(&wrong.little, wrong.place.path);
  run_frame(&wrong.little);
  cr_expect_eq(muster_journal_end(wrong.journal, false), MUSTER_OK);
  wrong.journal = journal_begin(&wrong.little, wrong.place.path);
  run_frame(&wrong.little);
  cr_expect_eq(journal_status(wrong.journal).frames_written, 2, "of the world, not of the journal");
  cr_expect_eq(muster_journal_end(wrong.journal, false), MUSTER_OK);
  little_world_destroy(&wrong.little);
  wrong.little = town();
  cr_expect_eq(journal_recover(&wrong.little, wrong.place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(info.frames, 2);
  little_world_destroy(&wrong.little);
  place_remove(&wrong.place);
}
