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
  SCOPED(place_remove) journal_place place = place_make();
  SCOPED(little_world_destroy) little_world little = town();
  memset(long_path, 'p', sizeof long_path - 1);
  const muster_journal_def good = WITH(muster_journal_def, it.path = place.path);
  struct {
    muster_journal_def def;
    const char *says;
  } refused[] = {{good, "path"}, {good, "path"}, {good, "path"}, {good, "recovery_max_ns"}, {good, "recovery_max_ns"},
                 {good, "sync"}, {good, "note"}, {good, "note"}, {good, "buffer_bytes"}};
  refused[0].def.path = NULL;
  refused[1].def.path = long_path;
  refused[2].def.path = "";
  refused[3].def.recovery_max_ns = 9999999;
  refused[4].def.recovery_max_ns = 3600000000001u;
  refused[5].def.sync = (muster_journal_sync)3;
  refused[6].def.note_bytes = 4;
  refused[7].def.note = place.path;
  refused[7].def.note_bytes = (1u << 20) + 1;
  refused[8].def.buffer_bytes = 1;
  for (size_t i = 0; i < COUNT_OF(refused); i++)
    expect_begin(&little, refused[i].def, MUSTER_E_ARGUMENT, refused[i].says);
  expect_begin(&little, (muster_journal_def){.path = place.path}, MUSTER_E_NOT_INITIALISED, "muster_journal_def");
  cr_expect_eq(place_count(&place, "", ""), 0, "it left files behind");
}

Test(journal_misuse, what_is_missing_is_refused) {
  SCOPED(place_remove) journal_place place = place_make();
  SCOPED(little_world_destroy) little_world little = town();
  muster_journal *journal = NULL;
  const muster_journal_def def = WITH(muster_journal_def, it.path = place.path);
  muster_journal_info info = muster_journal_info_default();
  muster_journal_status status = muster_journal_status_default();
  muster_journal_look_def look = muster_journal_look_def_default();
  muster_journal_recover_def recover = muster_journal_recover_def_default();
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
}

/* ------------------------------------------------------------------------------------------------ at a wrong moment */

static kept_world inside;
static uint32_t tried;

static void try_inside(muster_journal *journal, void *user) {
  muster_journal *second = NULL;
  muster_journal_info info = muster_journal_info_default();
  const muster_journal_def def = WITH(muster_journal_def, it.path = inside.place.path);
  const muster_journal_recover_def recover = WITH(muster_journal_recover_def, it.path = inside.place.path);
  (void)user;
  cr_expect_eq(muster_journal_begin(inside.little.world, &def, &second), MUSTER_E_STATE);
  cr_expect_eq(muster_journal_recover(inside.little.world, &recover, &info), MUSTER_E_STATE);
  cr_expect_eq(muster_journal_snapshot(journal), MUSTER_E_STATE);
  cr_expect_eq(muster_journal_end(journal, false), MUSTER_E_STATE);
  muster_journal_turn(journal, 0); /* does nothing */
  tried++;
}

Test(journal_misuse, calls_inside_a_frame_are_refused) {
  inside = kept_world_of(peopled_town(), WITH(muster_journal_def, it.end_frame = try_inside));
  town_frames(&inside.little, 5);
  cr_expect_eq(tried, 5);
  cr_expect(journal_status(inside.journal).runs);
  cr_expect_eq(journal_status(inside.journal).frames_written, 5);
  cr_expect_eq(kept_world_close(&inside), MUSTER_OK, "%s", muster_last_error());
  kept_world_end(&inside);
}

/* A try that ends in order is no death: frames that others can run again are not blamed for it. */
Test(journal_misuse, a_recovery_that_is_refused_leaves_no_mark_of_a_try) {
  SCOPED(town_life_end) town_life life = town_life_of(8, NULL);
  muster_journal_info info;
  live_until_death(town_live, &life);
  for (uint32_t i = 0; i < 3; i++) {
    SCOPED(little_world_destroy) little_world other = little_world_create(1, NULL); /* without the town's type */
    cr_expect_neq(journal_recover(&other, life.place.path, &info), MUSTER_OK);
    cr_expect_eq(place_count(&life.place, "", ".replaying"), 0);
  }
  cr_assert_eq(journal_look(life.place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_expect_not(info.tried);
}

/* What a world may have that is not new any more. */
static void grow_old(little_world *little, uint32_t how) {
  const muster_observer_def watcher = muster_observer_def_default();
  if (how == 0) run_frame(little);
  if (how == 1) spawn_at(little, 1.0);
  if (how == 2) cr_assert(!muster_observer_is_null(muster_observer_add(little->world, &watcher)));
  if (how == 3) peopled(*little);
  if (how == 3) run_frames(little, 2);
}

/* Each goes on as one that nobody asked. */
Test(journal_misuse, only_a_new_world_recovers) {
  muster_journal_info info;
  SCOPED(kept_world_end) kept_world kept = kept_town();
  run_frame(&kept.little);
  cr_expect_eq(journal_recover(&kept.little, kept.place.path, &info), MUSTER_E_STATE, "its own journal");
  cr_expect_eq(kept_world_close(&kept), MUSTER_OK);
  for (uint32_t how = 0; how < 4; how++) {
    SCOPED(little_world_destroy) little_world little = town(), other = town();
    grow_old(&little, how);
    grow_old(&other, how);
    uint64_t now_ns = little.now_ns;
    cr_expect_eq(journal_recover(&little, kept.place.path, &info), MUSTER_E_STATE, "%u", how);
    cr_expect_str_eq(muster_last_error(),
                     "recover: only in a new world, before anything is spawned and any frame is run");
    cr_expect_not(muster_world_is_replaying(little.world), "%u", how);
    cr_expect_eq(place_count(&kept.place, "", ".replaying"), 0);
    little.now_ns = now_ns;
    spawn_at(&little, 2.0);
    spawn_at(&other, 2.0);
    run_frames(&little, 3);
    run_frames(&other, 3);
    cr_expect_eq(muster_world_hash(little.world), muster_world_hash(other.world), "%u", how);
  }
}

/* A recovery is over when it returns: the world runs frames, and takes none of a record. */
Test(journal_misuse, a_world_that_came_back_does_not_replay) {
  SCOPED(town_life_end) town_life life = town_life_of(4, NULL);
  live_until_death(town_live, &life);
  SCOPED(little_world_destroy) little_world little = town_back(&life, 4);
  cr_expect_not(muster_world_is_replaying(little.world));
  cr_expect_eq(muster_replay_frame(little.world), MUSTER_E_STATE);
  cr_expect_str_eq(muster_last_error(), "replay: this world does not replay");
  expect_told(life.told, &little, 4);
  town_frame(&little, 4);
}

Test(journal_misuse, a_journal_and_a_record_or_a_saved_world_do_not_meet) {
  SCOPED(kept_world_end) kept_world kept = kept_town();
  run_frame(&kept.little);
  cr_expect_eq(kept_world_close(&kept), MUSTER_OK);
  kept.journal = journal_begin(&kept.little, kept.place.path);
  run_frame(&kept.little);
  cr_expect_eq(journal_status(kept.journal).frames_written, 2, "of the world, not of the journal");
  cr_expect_eq(kept_world_close(&kept), MUSTER_OK);
  SCOPED(little_world_destroy) little_world again = town();
  cr_expect_eq(journal_back(&again, kept.place.path).frames, 2);
}
