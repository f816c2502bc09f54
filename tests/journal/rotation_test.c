/* Snapshots follow each other, the files of those before are removed, and whatever a death leaves behind, the newest
 * complete snapshot and its journal are found. */
#include "base/clock.h"
#include "support/journal_town.h"

enum { ROTATIONS = 12 };

static void take_snapshot(muster_journal *journal) {
  uint64_t before = journal_status(journal).changes_safe;
  must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
  while (journal_status(journal).changes_safe == before) {
    muster_journal_turn(journal, 0);
    must(journal_status(journal).runs && !journal_status(journal).snapshots_failed, "the snapshot failed");
    sched_yield();
  }
}

static void rotate_now(muster_journal *journal, little_world *little, uint32_t frame) {
  (void)little;
  if (frame % 3 != 0) return;
  uint64_t before = journal_status(journal).snapshots;
  take_snapshot(journal);
  must(journal_status(journal).snapshots == before + 1, "it is not counted");
}

/* The town comes back from the newest snapshot. */
static void expect_newest(const town_life *life) {
  cr_assert_eq(journal_seen(life->place.path).snapshot_frames, ROTATIONS * 3);
  SCOPED(little_world_destroy) little_world little = town_back(life, ROTATIONS * 3 + 2);
}

Test(journal_rotation, old_files_are_removed_and_the_newest_go_on) {
  SCOPED(town_life_end) town_life life = town_life_of(ROTATIONS * 3 + 2, rotate_now);
  live_until_death(town_live, &life);
  cr_assert_leq(place_count(&life.place, "world-", ".snapshot"), 2);
  cr_assert_leq(place_count(&life.place, "world-", ".journal"), 2);
  expect_newest(&life);
}

/* Before any frame, behind the first one, and in a world that ran some before: each snapshot has its whole record. */
typedef struct early_life {
  town_life town;
  uint32_t before, until; /* frames before the journal, and before its first snapshot */
} early_life;

static void early_live(void *user) {
  early_life *life = user;
  little_world little = peopled_town();
  run_frames(&little, life->before);
  muster_journal *journal = journal_begin_as(&little, life->town.def, life->town.place.path);
  for (uint32_t frame = 0; frame <= life->until + 4; frame++) {
    if (frame >= life->until && frame < life->until + 2) take_snapshot(journal);
    if (frame == life->until) take_snapshot(journal); /* two without a frame between */
    town_frame(&little, frame);
    told_frame(life->town.told, &little, life->before + frame + 1);
  }
}

Test(journal_rotation, a_snapshot_may_be_the_first_thing_of_a_journal) {
  for (uint32_t i = 0; i < 6; i++) {
    muster_journal_info info;
    early_life life = {.town = town_life_of(0, NULL), .before = i % 2 ? 5 : 0, .until = i / 2};
    live_until_death(early_live, &life);
    SCOPED(little_world_destroy) little_world little = town();
    cr_assert_eq(journal_recover(&little, life.town.place.path, &info), MUSTER_OK, "%s", muster_last_error());
    cr_expect_eq(info.frames, life.town.told->frames, "of life %u frame %lu is back: %s", i, info.frames, info.damage);
    cr_expect_eq(info.snapshot_frames, life.before + life.until + 1);
    cr_expect_eq(info.lost_bytes, 0);
    cr_expect_eq(muster_world_hash(little.world), life.town.told->hashes[info.frames]);
    town_life_end(&life.town);
  }
}

/* Snapshots that had no process of their own, but for that of the begin. */
static uint64_t placed(muster_journal *journal) {
  muster_journal_status status = journal_status(journal);
  must(status.runs && !status.snapshots_failed, "a snapshot failed");
  return status.snapshots - 1 - status.forked;
}

/* The host has a second to spare, and looks until a snapshot is complete. */
static void spare_a_second(muster_journal *journal, little_world *little, uint32_t frame) {
  (void)little;
  if (frame % 3 != 0) return;
  for (uint64_t before = placed(journal); placed(journal) == before; sched_yield())
    muster_journal_turn(journal, 1000000000u);
}

Test(journal_rotation, a_host_with_time_to_spare_needs_no_process) {
  SCOPED(town_life_end) town_life life = town_life_of(ROTATIONS * 3 + 2, spare_a_second);
  life.def.recovery_max_ns = life.def.start_ns = 10000000; /* always due, as far as the cost allows */
  live_until_death(town_live, &life);
  expect_newest(&life);
}

/* On the wall clock, in a world that has nothing else to do: what the kernel takes from a frame makes its share smaller
 * still. Every second journal forks for its first snapshot. */
Test(journal_rotation, the_pause_of_a_fork_is_taken_from_the_next_frame) {
  enum { ROUNDS = 20, BUDGET_NS = 5000000 };
  SCOPED(place_remove) journal_place place = place_make();
  SCOPED(little_world_destroy)
  little_world little = typed_world(1, WITH(muster_world_def, it.audit = true), town_type());
  muster_journal_def def = muster_journal_def_default();
  for (uint32_t round = 0; round < ROUNDS; round++) {
    uint64_t begin_ns = clock_system();
    def.begins_beside = round % 2;
    muster_journal *journal = journal_begin_as(&little, def, place.path);
    if (!def.begins_beside) cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK, "%s", muster_last_error());
    cr_assert_eq(journal_status(journal).forked, 1);
    uint64_t pause_ns = journal_status(journal).pause_ns;
    cr_expect(pause_ns > 0 && pause_ns < clock_system() - begin_ns, "round %u: a pause of %lu ns", round, pause_ns);
    muster_frame_report report = run_frame_with(&little, BUDGET_NS);
    cr_expect_leq(report.given_cpu_ns, BUDGET_NS - (pause_ns < BUDGET_NS / 2 ? pause_ns : BUDGET_NS / 2),
                  "round %u: a pause of %lu ns", round, pause_ns);
    cr_assert_eq(muster_journal_end(journal, false), MUSTER_OK);
  }
}

/* The process that writes a snapshot is killed by the first thing that it does for the host: others keep going. */
static _Atomic uint32_t *writers_left;
static pid_t frames_process;

static bool die_while_saving(muster_journal_put put, void *put_user, void *user) {
  (void)user;
  if (!put("half", 4, put_user)) return false;
  if (frames_process && getpid() != frames_process && atomic_fetch_add(writers_left, 1) % 4 == 0) die();
  return true;
}

static void snapshot_at_times(muster_journal *journal, little_world *little, uint32_t frame) {
  (void)little;
  frames_process = getpid();
  if (frame % 4 == 1) must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
  muster_journal_status status = journal_status(journal);
  /* Looks until the process is gone, so that the next snapshot may begin. */
  for (uint64_t gone = status.snapshots + status.snapshots_failed;
       frame % 4 == 1 && status.snapshots + status.snapshots_failed == gone; sched_yield()) {
    muster_journal_turn(journal, 0);
    status = journal_status(journal);
    must(status.runs, "the journal ended: %s", status.ended_by);
  }
}

Test(journal_rotation, a_snapshot_whose_process_is_killed_leaves_the_one_before) {
  writers_left = shared_memory(sizeof *writers_left);
  SCOPED(town_life_end) town_life life = town_life_of(22, snapshot_at_times);
  life.def.save_host = die_while_saving;
  frames_process = 0;
  live_until_death(town_live, &life);
  cr_assert_geq(atomic_load(writers_left), 4, "%u snapshots were written in processes of their own",
                atomic_load(writers_left));
  SCOPED(little_world_destroy) little_world little = town_back(&life, 22);
}

/* The frames' process is killed while a snapshot is written, by the process that writes it. */
static bool kill_the_frames(muster_journal_put put, void *put_user, void *user) {
  (void)user;
  bool taken = put("half", 4, put_user);
  if (frames_process && getpid() != frames_process) kill(frames_process, SIGKILL);
  return taken;
}

static void snapshot_once(muster_journal *journal, little_world *little, uint32_t frame) {
  (void)little;
  frames_process = getpid();
  if (frame == 9) must(muster_journal_snapshot(journal) == MUSTER_OK, "no snapshot");
}

Test(journal_rotation, a_death_in_the_middle_of_a_snapshot_loses_no_frame) {
  for (uint32_t round = 0; round < 8; round++) {
    SCOPED(town_life_end) town_life life = town_life_of(3000, snapshot_once);
    life.def.save_host = kill_the_frames;
    frames_process = 0;
    live_until_death(town_live, &life);
    SCOPED(little_world_destroy) little_world little = town();
    uint64_t frames = journal_back(&little, life.place.path).frames;
    cr_assert(frames == life.told->frames || frames == life.told->frames + 1);
    if (frames == life.told->frames) expect_told(life.told, &little, frames);
  }
}

/* ------------------------------------------------------------------------------------------------------- incidents */

Test(journal_rotation, journals_of_crashes_are_kept_and_the_oldest_is_removed) {
  SCOPED(town_life_end) town_life life = town_life_of(3, NULL);
  life.def.incidents_max = 2;
  for (uint32_t i = 0; i < 5; i++, life.frames++) {
    live_until_death(town_live, &life);
    cr_assert_eq(place_count(&life.place, "-incident-", ".journal"), i < 2 ? i : 2);
  }
  cr_assert_eq(journal_seen(life.place.path).frames, 7);
}

static void end_in_order(void *user) {
  town_life *life = user;
  little_world little = peopled_town();
  muster_journal *journal = journal_begin_as(&little, life->def, life->place.path);
  town_frames(&little, life->frames);
  told_frame(life->told, &little, life->frames);
  must(muster_journal_end(journal, life->def.recovery_max_ns == 11000000) == MUSTER_OK, "it does not end");
  little_world_destroy(&little);
}

Test(journal_rotation, one_that_was_ended_goes_on_and_is_no_incident) {
  SCOPED(town_life_end) town_life life = town_life_of(7, NULL);
  live_until_death(end_in_order, &life);
  cr_assert(journal_seen(life.place.path).clean);
  cr_assert_eq(journal_seen(life.place.path).frames, 7);
  SCOPED(little_world_destroy) little_world little = town_back(&life, 7);
  muster_journal *journal = journal_begin(&little, life.place.path);
  run_frame(&little);
  cr_assert_eq(place_count(&life.place, "-incident-", ""), 0);
  cr_assert_eq(muster_journal_end(journal, false), MUSTER_OK);
}

Test(journal_rotation, one_that_was_removed_is_gone) {
  muster_journal_info info;
  SCOPED(town_life_end) town_life life = town_life_of(4, NULL);
  life.def.recovery_max_ns = 11000000; /* a sign to the process: remove them */
  live_until_death(end_in_order, &life);
  cr_assert_eq(journal_look(life.place.path, &info), MUSTER_E_STALE);
  cr_assert_eq(place_count(&life.place, "world", ""), 0);
}
