/* Where a journal cannot be: it says why, and frames go on. */
#include "support/journal_town.h"
#include "support/planned_world.h"

#include <muster/sets.h>

/* ------------------------------------------------------------------------------------------------------ a full disk */

/* What the host does when its journal has ended. */
static enum { THEN_DIES, THEN_REMOVES, THEN_BEGINS_AGAIN } then;

static void full_live(void *user) {
  town_life *life = user;
  struct rlimit limit = {120000, RLIM_INFINITY};
  uint32_t ended = 0;
  signal(SIGXFSZ, SIG_IGN);
  little_world little = peopled_town();
  muster_journal *journal = journal_begin_as(&little, life->def, life->place.path);
  must(setrlimit(RLIMIT_FSIZE, &limit) == 0, "no limit");
  for (uint32_t frame = 0; frame < 4000 && !ended; frame++) {
    uint64_t safe = journal_status(journal).frames_safe;
    town_frame(&little, frame);
    if (!journal_status(journal).runs) ended = frame + 1;
    if (ended) life->told->safe = safe;
    told_frame(life->told, &little, frame + 1);
  }
  muster_journal_status status = journal_status(journal);
  must(ended && *status.ended_by, "it found room for all");
  must(status.frames_safe >= status.frames_written, "answers wait for ever");
  town_frames(&little, 5);
  must(journal_status(journal).frames_safe >= ended + 5, "answers wait for a journal that has ended");
  must(muster_journal_snapshot(journal) == MUSTER_E_STATE, "a snapshot of a journal that has ended");
  muster_journal_turn(journal, 0);
  told_frame(life->told, &little, ended + 5);
  if (then == THEN_DIES) return;
  must(muster_journal_end(journal, then == THEN_REMOVES) == MUSTER_OK, "it cannot be ended");
  if (then == THEN_REMOVES) return;
  must(setrlimit(RLIMIT_FSIZE, &(struct rlimit){RLIM_INFINITY, RLIM_INFINITY}) == 0, "the limit stays");
  life->def.begins_beside = true;
  life->def.incidents_max = 0;
  journal = journal_begin_as(&little, life->def, life->place.path);
  for (uint32_t frame = 0; !journal_status(journal).snapshots; frame++) { /* the disk has room again */
    town_frame(&little, frame);
    muster_journal_turn(journal, 0);
    told_frame(life->told, &little, ended + 6 + frame);
  }
}

static void expect_hash_of(const town_life *life, uint64_t frame) {
  SCOPED(little_world_destroy) little_world little = town();
  muster_journal_info info = journal_back(&little, life->place.path);
  cr_assert_eq(info.frames, frame);
  cr_assert_not(info.clean);
  expect_told(life->told, &little, frame);
}

Test(journal_limits, a_full_disk_ends_it_with_the_reason_and_costs_nothing_that_was_safe) {
  SCOPED(town_life_end) town_life life = town_life_of(0, NULL);
  live_until_death(full_live, &life);
  cr_assert_gt(life.told->safe, 0);
  expect_hash_of(&life, life.told->safe);
}

Test(journal_limits, of_one_that_a_full_disk_has_ended_nothing_is_left_where_that_is_wanted) {
  muster_journal_info info;
  SCOPED(town_life_end) town_life life = town_life_of(0, NULL);
  then = THEN_REMOVES;
  live_until_death(full_live, &life);
  cr_assert_eq(journal_look(life.place.path, &info), MUSTER_E_STALE, "a past can come back");
  cr_assert_eq(place_count(&life.place, "world-", ".journal"), 0);
}

Test(journal_limits, another_one_begins_when_the_disk_has_room_again) {
  SCOPED(town_life_end) town_life life = town_life_of(0, NULL);
  then = THEN_BEGINS_AGAIN;
  live_until_death(full_live, &life);
  expect_hash_of(&life, life.told->frames);
  cr_assert_eq(place_count(&life.place, "world-incident", ".journal"), 0);
}

/* -------------------------------------------------------------------------------------- files that cannot be opened */

/* For want of descriptors: nobody says that there is no journal, or a damaged one. */
Test(journal_limits, a_file_that_the_system_does_not_open_is_no_damage) {
  enum { FRAMES = 20 };
  muster_journal_info info;
  struct rlimit usual;
  SCOPED(kept_world_end) kept_world kept = kept_town();
  town_frames(&kept.little, FRAMES);
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, usual.rlim_max}), 0);
  muster_result result = journal_look(kept.place.path, &info);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
  cr_assert_eq(result, MUSTER_E_SYSTEM, "%s", muster_last_error());
  cr_assert(strstr(muster_last_error(), "Too many open files"), "%s", muster_last_error());
  cr_assert_eq(journal_seen(kept.place.path).frames, FRAMES);
}

static void expect_refused(const little_world *little, const char *path, muster_result expected, const char *says) {
  muster_journal *journal = (muster_journal *)(void *)&path;
  const muster_journal_def def = WITH(muster_journal_def, it.path = path);
  cr_assert_eq(muster_journal_begin(little->world, &def, &journal), expected, "%s", muster_last_error());
  cr_assert_null(journal);
  cr_assert_not_null(strstr(muster_last_error(), says), "\"%s\" is not in: %s", says, muster_last_error());
}

Test(journal_limits, a_folder_that_is_not_there_is_named) {
  SCOPED(little_world_destroy) little_world little = town();
  expect_refused(&little, "/nowhere/at-all/world", MUSTER_E_SYSTEM, "/nowhere/at-all/world");
  run_frame(&little);
}

/* ----------------------------------------------------------------------------------------------------- a wild store */

static void wild_live(void *user) {
  town_life *life = user;
  little_world little = peopled_town();
  journal_begin_as(&little, life->def, life->place.path);
  for (uint32_t frame = 0; frame < 10; frame++) {
    town_frame(&little, frame);
    told_frame(life->told, &little, frame + 1);
    if (frame == 5) *(uint64_t *)info_of(&little, muster_agent_next(little.world, (muster_agent){0})).state ^= 4711;
  }
}

Test(journal_limits, a_wild_store_is_noticed_and_the_snapshot_stands) {
  SCOPED(town_life_end) town_life life = town_life_of(0, NULL);
  live_until_death(wild_live, &life);
  SCOPED(little_world_destroy) little_world noticing = town(), little = town();
  muster_journal_info info;
  cr_assert_eq(journal_recover(&noticing, life.place.path, &info), MUSTER_E_INPUT, "nobody noticed");
  cr_assert_not_null(strstr(muster_last_error(), "frame "), "%s", muster_last_error());
  const muster_journal_recover_def recover =
      WITH(muster_journal_recover_def, it.path = life.place.path, it.snapshot_only = true);
  cr_assert_eq(muster_journal_recover(little.world, &recover, &info), MUSTER_OK, "%s", muster_last_error());
  little.now_ns = info.sim_now_ns;
  expect_told(life.told, &little, info.snapshot_frames);
  cr_assert_eq(info.snapshot_frames, 0);
  for (uint32_t frame = 0; frame < 5; frame++) {
    town_frame(&little, frame);
    expect_told(life.told, &little, frame + 1);
  }
}

/* ----------------------------------------------------------------------------------------------- worlds that cannot */

static void expect_no_journal(const little_world *little, const char *says) {
  SCOPED(place_remove) journal_place place = place_make();
  expect_refused(little, place.path, MUSTER_E_STATE, says);
  cr_assert_eq(place_count(&place, "", ""), 0, "it left files behind");
}

Test(journal_limits, parallel_actions_cannot_be_repeated) {
  static const muster_atom atoms[] = {{town_work, MUSTER_ROLE_BEHAVIOUR, 2000}, {nothing, MUSTER_ROLE_ACTION, 500}};
  muster_type_def type = CHANGED(town_type(), it.atoms = atoms, it.atom_count = 2, it.act = MUSTER_ACT_PARALLEL);
  SCOPED(little_world_destroy) little_world parallel = town_of(2, MUSTER_CLOCK_VIRTUAL, type);
  expect_no_journal(&parallel, "parallel");
  type.act = MUSTER_ACT_REGION;
  SCOPED(kept_world_end)
  kept_world kept = kept_world_of(town_of(2, MUSTER_CLOCK_VIRTUAL, type), muster_journal_def_default());
  run_frame(&kept.little);
  cr_expect(journal_status(kept.journal).runs);
}

Test(journal_limits, sets_on_the_wall_clock_cannot_be_repeated) {
  static const muster_atom work = {town_work, MUSTER_ROLE_BEHAVIOUR, 2000};
  const muster_set_def set = WITH(muster_set_def, it.atoms = &work, it.atom_count = 1);
  muster_type_def type =
      CHANGED(town_type(), it.atoms = NULL, it.atom_count = 0, it.sets.list = &set, it.sets.count = 1);
  SCOPED(little_world_destroy) little_world little = town_of(2, MUSTER_CLOCK_WALL, type);
  expect_no_journal(&little, "sets");
}

Test(journal_limits, a_world_whose_host_runs_its_plans_has_none) {
  planned_world *planned = planned_world_create(NULL);
  expect_no_journal(&planned->little, "planner");
  planned_world_destroy(planned);
}

Test(journal_limits, a_world_that_records_has_no_journal_beside) {
  SCOPED(kept_world_end) kept_world kept = kept_world_of(town(), muster_journal_def_default());
  expect_no_journal(&kept.little, "journal");
}
