/* Where a journal cannot be: it says why, and frames go on. */
#include "support/journal_town.h"
#include "support/planned_world.h"

#include <muster/sets.h>

#include <sys/resource.h>

/* ------------------------------------------------------------------------------------------------------ a full disk */

/* What the host does when its journal has ended. */
static enum { THEN_DIES, THEN_REMOVES, THEN_BEGINS_AGAIN } then;

static void full_live(void *user) {
  town_life *life = user;
  struct rlimit limit = {120000, RLIM_INFINITY};
  uint32_t ended = 0;
  signal(SIGXFSZ, SIG_IGN);
  little_world little = town();
  town_populate(&little);
  muster_journal *journal = journal_begin_as(&little, life->def, life->path);
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
  for (uint32_t i = 0; i < 5; i++) town_frame(&little, i);
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
  journal = journal_begin_as(&little, life->def, life->path);
  for (uint32_t frame = 0; !journal_status(journal).snapshots; frame++) { /* the disk has room again */
    town_frame(&little, frame);
    muster_journal_turn(journal, 0);
    told_frame(life->told, &little, ended + 6 + frame);
  }
}

static void expect_hash_of(const town_life *life, uint64_t frame) {
  muster_journal_info info = muster_journal_info_default();
  muster_journal_recover_def recover = muster_journal_recover_def_default();
  little_world little = town();
  recover.path = life->path;
  cr_assert_eq(muster_journal_recover(little.world, &recover, &info), MUSTER_OK, "%s", muster_last_error());
  cr_assert_eq(info.frames, frame);
  cr_assert_not(info.clean);
  cr_assert_eq(muster_world_hash(little.world), life->told->hashes[frame]);
  little_world_destroy(&little);
}

Test(journal_limits, a_full_disk_ends_it_with_the_reason_and_costs_nothing_that_was_safe) {
  journal_place place = place_make();
  town_life life = {.path = place.path, .told = told_create(), .def = muster_journal_def_default()};
  live_until_death(full_live, &life);
  cr_assert_gt(life.told->safe, 0);
  expect_hash_of(&life, life.told->safe);
  told_destroy(life.told);
  place_remove(&place);
}

Test(journal_limits, of_one_that_a_full_disk_has_ended_nothing_is_left_where_that_is_wanted) {
  journal_place place = place_make();
  muster_journal_info info;
  town_life life = {.path = place.path, .told = told_create(), .def = muster_journal_def_default()};
  then = THEN_REMOVES;
  live_until_death(full_live, &life);
  cr_assert_eq(journal_look(place.path, &info), MUSTER_E_STALE, "a past can come back");
  cr_assert_eq(place_count(&place, "world-", ".journal"), 0);
  told_destroy(life.told);
  place_remove(&place);
}

Test(journal_limits, another_one_begins_when_the_disk_has_room_again) {
  journal_place place = place_make();
  town_life life = {.path = place.path, .told = told_create(), .def = muster_journal_def_default()};
  then = THEN_BEGINS_AGAIN;
  live_until_death(full_live, &life);
  expect_hash_of(&life, life.told->frames);
  cr_assert_eq(place_count(&place, "world-incident", ".journal"), 0);
  told_destroy(life.told);
  place_remove(&place);
}

/* -------------------------------------------------------------------------------------- files that cannot be opened */

/* For want of descriptors: nobody says that there is no journal, or a damaged one. */
Test(journal_limits, a_file_that_the_system_does_not_open_is_no_damage) {
  enum { FRAMES = 20 };
  journal_place place = place_make();
  muster_journal_info info;
  struct rlimit usual;
  little_world little = town();
  town_populate(&little);
  muster_journal *journal = journal_begin(&little, place.path);
  for (uint32_t frame = 0; frame < FRAMES; frame++) town_frame(&little, frame);
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){3, usual.rlim_max}), 0);
  muster_result result = journal_look(place.path, &info);
  cr_assert_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
  cr_assert_eq(result, MUSTER_E_SYSTEM, "%s", muster_last_error());
  cr_assert(strstr(muster_last_error(), "Too many open files"), "%s", muster_last_error());
  cr_assert_eq(journal_look(place.path, &info), MUSTER_OK);
  cr_assert_eq(info.frames, FRAMES);
  cr_assert_eq(muster_journal_end(journal, true), MUSTER_OK);
  little_world_destroy(&little);
  place_remove(&place);
}

Test(journal_limits, a_folder_that_is_not_there_is_named) {
  little_world little = town();
  muster_journal *journal = (muster_journal *)(void *)&little;
  muster_journal_def def = muster_journal_def_default();
  def.path = "/nowhere/at-all/world";
  cr_assert_eq(muster_journal_begin(little.world, &def, &journal), MUSTER_E_SYSTEM);
  cr_assert_null(journal);
  cr_assert_not_null(strstr(muster_last_error(), "/nowhere/at-all/world"), "%s", muster_last_error());
  run_frame(&little);
  little_world_destroy(&little);
}

/* ----------------------------------------------------------------------------------------------------- a wild store */

static void wild_live(void *user) {
  town_life *life = user;
  little_world little = town();
  town_populate(&little);
  journal_begin_as(&little, life->def, life->path);
  for (uint32_t frame = 0; frame < 10; frame++) {
    town_frame(&little, frame);
    told_frame(life->told, &little, frame + 1);
    if (frame == 5) *(uint64_t *)info_of(&little, muster_agent_next(little.world, (muster_agent){0})).state ^= 4711;
  }
}

Test(journal_limits, a_wild_store_is_noticed_and_the_snapshot_stands) {
  journal_place place = place_make();
  muster_journal_info info;
  muster_journal_recover_def recover = muster_journal_recover_def_default();
  town_life life = {.path = place.path, .told = told_create(), .def = muster_journal_def_default()};
  live_until_death(wild_live, &life);
  little_world little = town();
  recover.path = place.path;
  info = muster_journal_info_default();
  cr_assert_eq(muster_journal_recover(little.world, &recover, &info), MUSTER_E_INPUT, "nobody noticed");
  cr_assert_not_null(strstr(muster_last_error(), "frame "), "%s", muster_last_error());
  little_world_destroy(&little);
  little = town();
  recover.snapshot_only = true;
  cr_assert_eq(muster_journal_recover(little.world, &recover, &info), MUSTER_OK, "%s", muster_last_error());
  little.now_ns = info.sim_now_ns;
  cr_assert_eq(muster_world_hash(little.world), life.told->hashes[info.snapshot_frames]);
  cr_assert_eq(info.snapshot_frames, 0);
  for (uint32_t frame = 0; frame < 5; frame++) {
    town_frame(&little, frame);
    cr_assert_eq(muster_world_hash(little.world), life.told->hashes[frame + 1]);
  }
  little_world_destroy(&little);
  told_destroy(life.told);
  place_remove(&place);
}

/* ----------------------------------------------------------------------------------------------- worlds that cannot */

static void expect_no_journal(little_world *little, muster_result expected, const char *says) {
  journal_place place = place_make();
  muster_journal *journal = (muster_journal *)(void *)little;
  muster_journal_def def = muster_journal_def_default();
  def.path = place.path;
  cr_assert_eq(muster_journal_begin(little->world, &def, &journal), expected, "%s", muster_last_error());
  cr_assert_null(journal);
  cr_assert_not_null(strstr(muster_last_error(), says), "\"%s\" is not in: %s", says, muster_last_error());
  cr_assert_eq(place_count(&place, "", ""), 0, "it left files behind");
  place_remove(&place);
}

Test(journal_limits, parallel_actions_cannot_be_repeated) {
  static const muster_atom atoms[] = {{town_work, MUSTER_ROLE_BEHAVIOUR, 2000}, {nothing, MUSTER_ROLE_ACTION, 500}};
  muster_type_def type = town_type();
  type.atoms = atoms;
  type.atom_count = 2;
  type.act = MUSTER_ACT_PARALLEL;
  little_world little = town_of(2, MUSTER_CLOCK_VIRTUAL, &type);
  expect_no_journal(&little, MUSTER_E_STATE, "parallel");
  little_world_destroy(&little);
  type.act = MUSTER_ACT_REGION;
  little = town_of(2, MUSTER_CLOCK_VIRTUAL, &type);
  journal_place place = place_make();
  cr_assert_eq(muster_journal_end(journal_begin(&little, place.path), true), MUSTER_OK, "%s", muster_last_error());
  little_world_destroy(&little);
  place_remove(&place);
}

Test(journal_limits, sets_on_the_wall_clock_cannot_be_repeated) {
  static const muster_atom work = {town_work, MUSTER_ROLE_BEHAVIOUR, 2000};
  muster_set_def set = muster_set_def_default();
  muster_type_def type = town_type();
  set.atoms = &work;
  set.atom_count = 1;
  type.atoms = NULL;
  type.atom_count = 0;
  type.sets.list = &set;
  type.sets.count = 1;
  little_world little = town_of(2, MUSTER_CLOCK_WALL, &type);
  expect_no_journal(&little, MUSTER_E_STATE, "sets");
  little_world_destroy(&little);
}

Test(journal_limits, a_world_whose_host_runs_its_plans_has_none) {
  planned_world *planned = planned_world_create(NULL);
  expect_no_journal(&planned->little, MUSTER_E_STATE, "planner");
  planned_world_destroy(planned);
}

Test(journal_limits, a_world_that_records_has_no_journal_beside) {
  little_world little = town();
  journal_place place = place_make();
  muster_journal *first = journal_begin(&little, place.path);
  expect_no_journal(&little, MUSTER_E_STATE, "journal");
  cr_assert_eq(muster_journal_end(first, true), MUSTER_OK);
  little_world_destroy(&little);
  place_remove(&place);
}
