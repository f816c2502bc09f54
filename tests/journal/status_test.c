/* What a journal says of itself: each field its own. */
#include "support/journal_town.h"

#include <muster/record.h>
#include <muster/tune.h>

#include <sys/resource.h>

enum { WORK_NS = 20000, BESIDE_FRAMES = 20 };

static uint64_t size_of_newest(const journal_place *place, const char *ending) {
  struct stat status = {0};
  cr_assert_eq(stat(place_find(place, ending).path, &status), 0);
  return (uint64_t)status.st_size;
}

Test(journal_status, tells_bytes_and_frames_of_its_files) {
  journal_place place = place_make();
  little_world little = town();
  town_populate(&little);
  muster_journal_def def = muster_journal_def_default();
  def.start_ns = 600000000;
  muster_journal *journal = journal_begin_as(&little, def, place.path);
  muster_journal_status status = journal_status(journal);
  cr_expect_eq(status.bytes, size_of_newest(&place, ".journal"));
  for (uint32_t frame = 0; frame < 10; frame++) town_frame(&little, frame);
  status = journal_status(journal);
  cr_expect(status.runs && status.holds && !status.writes);
  cr_expect_eq(status.frames_written, 10);
  cr_expect_eq(status.frames_safe, 10);
  cr_expect_eq(status.bytes, size_of_newest(&place, ".journal"));
  cr_expect_eq(status.snapshots, 1);
  cr_expect_eq(status.forked, 0);
  cr_expect_eq(status.changes_safe, 0);
  cr_expect_eq(status.snapshots_failed, 0);
  cr_expect_eq(status.pause_ns, 0, "nothing was forked");
  cr_expect_eq(status.sync_ns, 0, "nothing is synced");
  cr_expect_geq(status.recovery_ns, def.start_ns);
  cr_expect_eq(*status.ended_by, 0);
  cr_expect_eq(muster_journal_end(journal, true), MUSTER_OK);
  little_world_destroy(&little);
  place_remove(&place);
}

/* The last snapshot of a world that has grown is larger than the first. */
Test(journal_status, tells_the_bytes_of_its_newest_snapshot) {
  journal_place place = place_make();
  little_world little = town();
  town_populate(&little);
  muster_journal *journal = journal_begin(&little, place.path);
  uint64_t first = journal_status(journal).snapshot_bytes;
  cr_expect_geq(size_of_newest(&place, ".snapshot"), first);
  cr_expect_leq(size_of_newest(&place, ".snapshot"), first + 64, "but for its end");
  for (uint32_t i = 0; i < 60; i++) spawn_at(&little, i);
  run_frames(&little, 3);
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  cr_expect(journal_status(journal).writes);
  for (uint32_t waited = 0; journal_status(journal).changes_safe == 0 && waited < 60000; waited++, usleep(1000))
    muster_journal_turn(journal, 0);
  muster_journal_status status = journal_status(journal);
  cr_assert_eq(status.changes_safe, 1, "it is never complete");
  cr_expect(!status.writes);
  cr_expect_eq(status.snapshots, 2);
  cr_expect_eq(status.forked, 1);
  cr_expect_gt(status.pause_ns, 0);
  cr_expect_gt(status.snapshot_ns, 0);
  cr_expect_gt(status.snapshot_bytes, first + 60 * sizeof(uint64_t));
  cr_expect_geq(size_of_newest(&place, ".snapshot"), status.snapshot_bytes);
  cr_expect_leq(size_of_newest(&place, ".snapshot"), status.snapshot_bytes + 64);
  cr_expect_eq(muster_journal_end(journal, true), MUSTER_OK);
  little_world_destroy(&little);
  place_remove(&place);
}

Test(journal_status, tells_how_long_a_sync_takes) {
  journal_place place = place_make();
  little_world little = town();
  town_populate(&little);
  muster_journal_def def = muster_journal_def_default();
  def.sync = MUSTER_JOURNAL_SYNC_FRAME;
  muster_journal *journal = journal_begin_as(&little, def, place.path);
  run_frame(&little);
  for (uint32_t waited = 0; journal_status(journal).frames_safe == 0 && waited < 60000; waited++) usleep(1000);
  cr_expect_eq(journal_status(journal).frames_safe, 1);
  cr_expect_gt(journal_status(journal).sync_ns, 0);
  cr_expect_eq(muster_journal_end(journal, true), MUSTER_OK);
  little_world_destroy(&little);
  place_remove(&place);
}

/* --------------------------------------------------------------------------------------------------- beside frames */

/* A process that writes a snapshot waits until it is told to go on. */
static struct status_order {
  _Atomic bool goes_on;
  pid_t frames_process;
} * order;

static bool save_when_told(muster_journal_put put, void *put_user, void *user) {
  (void)user;
  for (uint32_t waited = 0; getpid() != order->frames_process && !atomic_load(&order->goes_on); waited++) {
    if (waited > 60000) return false;
    usleep(1000);
  }
  return put("host", 4, put_user);
}

static little_world busy_town(void) {
  static const muster_atom work = {nothing, MUSTER_ROLE_BEHAVIOUR, WORK_NS};
  muster_type_def type = town_type();
  type.atoms = &work;
  type.period_ns = type.period_max_ns = FRAME_NS;
  return town_of(1, MUSTER_CLOCK_VIRTUAL, &type);
}

static muster_journal *begin_ordered(const little_world *little, const journal_place *place) {
  muster_journal_def def = muster_journal_def_default();
  def.save_host = save_when_told;
  order = shared_memory(sizeof *order);
  order->frames_process = getpid();
  return journal_begin_as(little, def, place->path);
}

static void await_snapshots(muster_journal *journal, uint64_t snapshots) {
  for (uint32_t waited = 0; journal_status(journal).snapshots < snapshots && waited < 60000; waited++, usleep(1000))
    muster_journal_turn(journal, 0);
  cr_assert_eq(journal_status(journal).snapshots, snapshots, "there is no snapshot %llu",
               (unsigned long long)snapshots);
}

/* What was run beside a snapshot is run again behind it; what was before it is not. */
Test(journal_status, foretells_a_recovery_by_the_frames_behind_the_snapshot) {
  journal_place place = place_make();
  little_world little = busy_town();
  town_populate(&little);
  run_frames(&little, 3);
  muster_journal *journal = begin_ordered(&little, &place);
  uint64_t took_ns = 0, beside_ns = 0;
  for (uint32_t i = 0; i < 20 * BESIDE_FRAMES; i++) {
    took_ns += run_frame(&little).wall_ns;
    muster_journal_turn(journal, 0);
  }
  cr_expect_geq(journal_status(journal).recovery_ns, took_ns);
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  for (uint32_t i = 0; i < BESIDE_FRAMES; i++) {
    beside_ns += run_frame(&little).wall_ns;
    muster_journal_turn(journal, 0);
  }
  cr_assert_gt(beside_ns, BESIDE_FRAMES * WORK_NS * TOWN_AGENTS / 2);
  cr_expect_geq(journal_status(journal).recovery_ns, took_ns + beside_ns, "the snapshot is not there yet");
  atomic_store(&order->goes_on, true);
  await_snapshots(journal, 2);
  cr_expect_geq(journal_status(journal).recovery_ns, muster_journal_def_default().start_ns + beside_ns);
  cr_expect_lt(journal_status(journal).recovery_ns, took_ns + beside_ns, "nothing is foretold to be shorter");
  cr_expect_eq(muster_journal_end(journal, true), MUSTER_OK);
  little_world_destroy(&little);
  munmap(order, sizeof *order);
  place_remove(&place);
}

/* A change that was told while a snapshot was written is in the next one. */
Test(journal_status, a_later_change_is_safe_with_a_later_snapshot) {
  journal_place place = place_make();
  little_world little = town();
  town_populate(&little);
  run_frame(&little);
  muster_journal *journal = begin_ordered(&little, &place);
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  cr_expect_eq(journal_status(journal).changes_safe, 0);
  atomic_store(&order->goes_on, true);
  uint64_t seen[3] = {0};
  for (uint32_t waited = 0; journal_status(journal).changes_safe < 2 && waited < 60000; waited++, usleep(200)) {
    muster_journal_status status = journal_status(journal);
    seen[status.changes_safe] = status.snapshots;
    muster_journal_turn(journal, 0);
  }
  seen[2] = journal_status(journal).snapshots;
  cr_expect_eq(journal_status(journal).changes_safe, 2);
  cr_expect_eq(seen[0], 1);
  cr_expect_eq(seen[1], 2, "the first change is safe with the second snapshot");
  cr_expect_eq(seen[2], 3, "the second one with the third");
  cr_expect_eq(muster_journal_end(journal, true), MUSTER_OK);
  little_world_destroy(&little);
  munmap(order, sizeof *order);
  place_remove(&place);
}

/* ------------------------------------------------------------------------------------------------------- recovered */

/* However many there were in the life before: frames that are run again count on those, and later ones do not. */
Test(journal_status, a_recovered_world_has_its_own_workers) {
  enum { FRAMES = 5, BEFORE = 2, AFTER = 4 };
  journal_place place = place_make();
  muster_journal_info info;
  muster_type_def type = town_type();
  little_world little = town_of(BEFORE, MUSTER_CLOCK_VIRTUAL, &type),
               again = town_of(AFTER, MUSTER_CLOCK_VIRTUAL, &type);
  town_populate(&little);
  muster_journal *journal = journal_begin(&little, place.path);
  for (uint32_t frame = 0; frame < FRAMES; frame++) town_frame(&little, frame);
  cr_assert_eq(journal_recover(&again, place.path, &info), MUSTER_OK, "%s", muster_last_error());
  cr_expect_eq(muster_world_workers(again.world), AFTER);
  cr_expect_not(muster_world_is_replaying(again.world));
  cr_expect_eq(muster_journal_end(journal, true), MUSTER_OK);
  little_world_destroy(&little);
  little_world_destroy(&again);
  place_remove(&place);
}

/* --------------------------------------------------------------------------------------------------------- failing */

static bool save_first_alone(muster_journal_put put, void *put_user, void *user) {
  uint32_t *saved = user;
  return ++*saved == 1 && put("host", 4, put_user);
}

static uint64_t own_us(void) {
  struct rusage self;
  cr_assert_eq(getrusage(RUSAGE_SELF, &self), 0);
  return (uint64_t)(self.ru_utime.tv_sec + self.ru_stime.tv_sec) * 1000000 +
         (uint64_t)(self.ru_utime.tv_usec + self.ru_stime.tv_usec);
}

/* In a world that is older than that. */
Test(journal_status, a_snapshot_that_failed_is_not_tried_again_at_once) {
  enum { OLD = 200, BEHIND = 100 };
  journal_place place = place_make();
  uint32_t saved = 0;
  little_world little = busy_town();
  town_populate(&little);
  muster_journal_def def = muster_journal_def_default();
  def.recovery_max_ns = def.start_ns = 10000000; /* one is always due, as far as the cost allows */
  def.save_host = save_first_alone;
  def.user = &saved;
  run_frames(&little, OLD);
  muster_journal *journal = journal_begin_as(&little, def, place.path);
  for (uint32_t waited = 0; journal_status(journal).snapshots_failed == 0 && waited < 60000; waited++, usleep(1000)) {
    if (waited % 64 == 0) run_frame(&little);
    muster_journal_turn(journal, 1000000000u);
  }
  cr_assert_eq(journal_status(journal).snapshots_failed, 1, "none was due");
  uint64_t each_us = 50 * own_us() / BEHIND; /* as long as its cost could keep the next one away */
  for (uint32_t i = 0; i < BEHIND; i++) {
    run_frame(&little);
    muster_journal_turn(journal, 1000000000u);
    usleep((useconds_t)(each_us < 50000 ? each_us : 50000));
  }
  cr_expect_eq(journal_status(journal).snapshots_failed, 1, "it was tried again within %d frames", BEHIND);
  cr_expect_eq(journal_status(journal).snapshots, 1);
  cr_expect(journal_status(journal).runs);
  cr_expect_eq(muster_journal_end(journal, true), MUSTER_OK);
  little_world_destroy(&little);
  place_remove(&place);
}
