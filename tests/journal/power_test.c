/* What a machine may lose when its power fails, by cutting the files at what was synced: this program is linked so that
 * it sees each sync of a file and of a folder, and each file that goes or gets another name. */
#include "support/journal_town.h"
#include "support/synced.h"

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
  little_world little = peopled_town();
  muster_journal *journal = journal_begin_as(&little, life->def, life->place.path);
  for (uint32_t frame = 0; frame < life->frames; frame++) {
    town_frame(&little, frame);
    told_frame(life->told, &little, frame + 1);
    over_ns[frame + 1] = power_now();
    uint64_t safe = journal_status(journal).frames_safe;
    must(safe >= life->told->safe && safe <= frame + 1, "safe is frame %lu after frame %u", safe, frame + 1);
    atomic_store(&life->told->safe, safe);
    if (frame + 1 == life->frames) die(); /* at once: what was told must be true */
    if (frame % 15 == 9) must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
    muster_journal_turn(journal, 0);
    nanosleep(&rest, NULL);
  }
}

/* The power fails: what was safe, and how many frames are back. */
static void lose_power(muster_journal_sync sync, uint64_t *safe, uint64_t *back) {
  SCOPED(town_life_end) town_life life = town_life_of(POWER_FRAMES, NULL);
  life.def.sync = sync;
  over_ns = shared_memory((POWER_FRAMES + 1) * sizeof *over_ns);
  synced_begin();
  live_until_death(power_live, &life);
  *safe = life.told->safe;
  synced_cut(&life.place);
  SCOPED(little_world_destroy) little_world little = town();
  *back = journal_back(&little, life.place.path).frames;
  expect_told(life.told, &little, *back);
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
    cr_assert_gt(over_ns[lost] + 1000000000u, over_ns[POWER_FRAMES], "frame %lu of %lu is lost", lost, safe);
}

/* ------------------------------------------------------------------------------------------------ at a certain moment
 */

/* What is done until the power fails, and what must come back. */
typedef struct power_life {
  town_life town; /* first */
  muster_agent changed;
} power_life;

static power_life power_begin(void) {
  power_life life = {.town = town_life_of(0, NULL)};
  life.town.def.sync = MUSTER_JOURNAL_SYNC_FRAME;
  synced_begin();
  return life;
}

static void power_end(power_life *life) {
  town_life_end(&life->town);
}

/* The world comes back to that frame, or a later one. */
static void expect_back(const power_life *life, uint64_t frames) {
  synced_cut(&life->town.place);
  SCOPED(little_world_destroy) little_world little = town();
  uint64_t back = journal_back(&little, life->town.place.path).frames;
  cr_assert_geq(back, frames);
  expect_told(life->town.told, &little, back);
  if (!muster_agent_is_null(life->changed)) cr_assert(muster_agent_exists(little.world, life->changed), "it is lost");
}

/* Some frames, behind those that were told. */
static void power_frames(power_life *life, little_world *little, uint64_t frames) {
  for (uint64_t frame = atomic_load(&life->town.told->frames); frames > 0; frames--, frame++) {
    town_frame(little, (uint32_t)frame);
    told_frame(life->town.told, little, frame + 1);
  }
}

static muster_journal *power_journal(power_life *life, little_world *little) {
  return journal_begin_as(little, life->town.def, life->town.place.path);
}

static void power_crash(void *user) {
  power_life *life = user;
  little_world little = peopled_town();
  muster_journal *journal = power_journal(life, &little);
  power_frames(life, &little, POWER_FRAMES);
  AWAIT_WITH(usleep(1000), journal_status(journal).frames_safe >= POWER_FRAMES);
}

/* The world that crashed. */
static little_world power_back(power_life *life) {
  muster_journal_info info;
  little_world little = town();
  muster_result result = journal_recover(&little, life->town.place.path, &info);
  must(result == MUSTER_OK && info.frames == POWER_FRAMES, "it is not back");
  return little;
}

/* A journal takes the place of another one, and the power fails as soon as it has begun. */
static void power_begins_again(void *user) {
  power_life *life = user;
  little_world little = power_back(life);
  power_journal(life, &little);
  die();
}

Test(journal_power, one_that_takes_the_place_of_another_is_on_the_disk_when_it_begins) {
  for (uint32_t incidents = 0; incidents < 2; incidents++) {
    SCOPED(power_end) power_life life = power_begin();
    life.town.def.incidents_max = incidents;
    live_until_death(power_crash, &life);
    live_until_death(power_begins_again, &life);
    expect_back(&life, POWER_FRAMES);
  }
}

/* Beside the frames: what was there before goes when the other one can stand for it. */
static void power_begins_beside(void *user) {
  power_life *life = user;
  little_world little = power_back(life);
  life->town.def.begins_beside = true;
  muster_journal *journal = power_journal(life, &little);
  for (uint32_t waited = 0; journal_status(journal).snapshots == 0; waited++) {
    must(waited < 60000, "it has no snapshot");
    if (waited % 8 == 0) power_frames(life, &little, 1);
    journal_turn(journal);
  }
  uint64_t frames = atomic_load(&life->town.told->frames);
  power_frames(life, &little, 2);
  AWAIT_WITH(journal_turn(journal), journal_status(journal).frames_safe > frames);
  atomic_store(&life->town.told->safe, journal_status(journal).frames_safe);
  die();
}

Test(journal_power, one_that_begins_beside_is_on_the_disk_when_its_frames_are_safe) {
  SCOPED(power_end) power_life life = power_begin();
  live_until_death(power_crash, &life);
  live_until_death(power_begins_beside, &life);
  expect_back(&life, life.town.told->safe);
}

/* In a world that is paused a change is safe when the snapshot is that was asked for: the power fails then. */
static void power_changes(void *user) {
  power_life *life = user;
  little_world little = peopled_town();
  muster_journal *journal = power_journal(life, &little);
  power_frames(life, &little, POWER_FRAMES);
  life->changed = spawn_at(&little, 3.0);
  must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
  AWAIT_WITH(journal_turn(journal), journal_status(journal).changes_safe > 0);
  die(); /* before the next sync, which would bring it to the disk, too */
}

Test(journal_power, a_change_that_is_told_to_be_safe_is_on_the_disk) {
  power_life *life = shared_memory(sizeof *life);
  *life = power_begin();
  live_until_death(power_changes, life);
  cr_assert(!muster_agent_is_null(life->changed));
  expect_back(life, POWER_FRAMES);
  power_end(life);
  munmap(life, sizeof *life);
}

/* Begins a snapshot by itself as soon as there is time. */
static void power_places(void *user) {
  power_life *life = user;
  little_world little = peopled_town();
  muster_journal *journal = power_journal(life, &little);
  for (uint32_t waited = 0; journal_status(journal).snapshots - 1 == journal_status(journal).forked; waited++) {
    must(waited < 60000, "no snapshot is put into memory");
    if (waited < POWER_FRAMES) power_frames(life, &little, 1);
    muster_journal_turn(journal, 1000000000u);
    usleep(1000);
  }
  atomic_store(&life->town.told->safe, journal_status(journal).frames_safe);
  die();
}

Test(journal_power, a_snapshot_that_another_thread_has_written_is_on_the_disk) {
  SCOPED(power_end) power_life life = power_begin();
  life.town.def.recovery_max_ns = life.town.def.start_ns = 10000000; /* always due, as far as the cost allows */
  live_until_death(power_places, &life);
  expect_back(&life, life.town.told->safe);
}

/* The end of a journal in order. */
static void power_ends(void *user) {
  power_life *life = user;
  little_world little = peopled_town();
  muster_journal *journal = power_journal(life, &little);
  power_frames(life, &little, POWER_FRAMES);
  must(muster_journal_end(journal, false) == MUSTER_OK, "it does not end");
  die();
}

Test(journal_power, one_that_has_ended_is_on_the_disk_with_its_end) {
  for (int sync = MUSTER_JOURNAL_SYNC_SECOND; sync <= MUSTER_JOURNAL_SYNC_FRAME; sync++) {
    SCOPED(power_end) power_life life = power_begin();
    life.town.def.sync = (muster_journal_sync)sync;
    live_until_death(power_ends, &life);
    synced_cut(&life.town.place);
    muster_journal_info info = journal_seen(life.town.place.path);
    cr_expect(info.clean, "with sync %d its end is lost", sync);
    cr_expect_eq(info.lost_bytes, 0);
    expect_back(&life, POWER_FRAMES);
  }
}

/* With a sync that comes as often as it wants, nothing waits for it. */
Test(journal_power, without_a_sync_what_was_written_counts_as_safe) {
  SCOPED(town_life_end) town_life life = town_life_of(8, NULL);
  live_until_death(town_live, &life);
  cr_assert_eq(life.told->safe, 8, "as safe as was asked for");
}
