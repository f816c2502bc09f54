/* What a journal says of itself: each field its own. */
#include "support/journal_town.h"

#include <muster/record.h>
#include <muster/tune.h>

enum { WORK_NS = 20000, BESIDE_FRAMES = 20 };

static uint64_t size_of_newest(const journal_place *place, const char *ending) {
  struct stat status = {0};
  cr_assert_eq(stat(place_find(place, ending).path, &status), 0);
  return (uint64_t)status.st_size;
}

Test(journal_status, tells_bytes_and_frames_of_its_files) {
  const muster_journal_def def = WITH(muster_journal_def, it.start_ns = 600000000);
  SCOPED(kept_world_end) kept_world kept = kept_world_of(peopled_town(), def);
  cr_expect_eq(journal_status(kept.journal).bytes, size_of_newest(&kept.place, ".journal"));
  town_frames(&kept.little, 10);
  const muster_journal_status status = journal_status(kept.journal);
  cr_expect(status.runs && status.holds && !status.writes);
  cr_expect_eq(status.frames_written, 10);
  cr_expect_eq(status.frames_safe, 10);
  cr_expect_eq(status.bytes, size_of_newest(&kept.place, ".journal"));
  cr_expect_eq(status.snapshots, 1);
  cr_expect_eq(status.forked, 0);
  cr_expect_eq(status.changes_safe, 0);
  cr_expect_eq(status.snapshots_failed, 0);
  cr_expect_eq(status.pause_ns, 0, "nothing was forked");
  cr_expect_eq(status.sync_ns, 0, "nothing is synced");
  cr_expect_geq(status.recovery_ns, def.start_ns);
  cr_expect_eq(*status.ended_by, 0);
}

/* The last snapshot of a world that has grown is larger than the first. */
Test(journal_status, tells_the_bytes_of_its_newest_snapshot) {
  SCOPED(kept_world_end) kept_world kept = kept_town();
  uint64_t first = journal_status(kept.journal).snapshot_bytes;
  cr_expect_geq(size_of_newest(&kept.place, ".snapshot"), first);
  cr_expect_leq(size_of_newest(&kept.place, ".snapshot"), first + 64, "but for its end");
  for (uint32_t i = 0; i < 60; i++) spawn_at(&kept.little, i);
  run_frames(&kept.little, 3);
  cr_assert_eq(muster_journal_snapshot(kept.journal), MUSTER_OK);
  cr_expect(journal_status(kept.journal).writes);
  AWAIT_WITH(journal_turn(kept.journal), journal_status(kept.journal).changes_safe > 0);
  const muster_journal_status status = journal_status(kept.journal);
  cr_assert_eq(status.changes_safe, 1);
  cr_expect(!status.writes);
  cr_expect_eq(status.snapshots, 2);
  cr_expect_eq(status.forked, 1);
  cr_expect_gt(status.pause_ns, 0);
  cr_expect_gt(status.snapshot_ns, 0);
  cr_expect_gt(status.snapshot_bytes, first + 60 * sizeof(uint64_t));
  cr_expect_geq(size_of_newest(&kept.place, ".snapshot"), status.snapshot_bytes);
  cr_expect_leq(size_of_newest(&kept.place, ".snapshot"), status.snapshot_bytes + 64);
}

Test(journal_status, tells_how_long_a_sync_takes) {
  const muster_journal_def def = WITH(muster_journal_def, it.sync = MUSTER_JOURNAL_SYNC_FRAME);
  SCOPED(kept_world_end) kept_world kept = kept_world_of(peopled_town(), def);
  run_frame(&kept.little);
  AWAIT_WITH(usleep(1000), journal_status(kept.journal).frames_safe > 0);
  cr_expect_eq(journal_status(kept.journal).frames_safe, 1);
  cr_expect_gt(journal_status(kept.journal).sync_ns, 0);
}

/* --------------------------------------------------------------------------------------------------- beside frames */

/* A process that writes a snapshot waits until it is told to go on. */
static struct status_order {
  _Atomic bool goes_on;
  pid_t frames_process;
} * order;

static bool save_when_told(muster_journal_put put, void *put_user, void *user) {
  (void)user;
  if (getpid() != order->frames_process) AWAIT_WITH(usleep(1000), atomic_load(&order->goes_on));
  return put("host", 4, put_user);
}

static little_world busy_town(void) {
  muster_type_def type =
      CHANGED(town_type(), it.atoms = atom_of(nothing, WORK_NS), it.period_ns = it.period_max_ns = FRAME_NS);
  return peopled(town_of(1, MUSTER_CLOCK_VIRTUAL, type));
}

/* After so many frames. */
static kept_world begin_ordered(little_world little, uint32_t frames) {
  order = shared_memory(sizeof *order);
  order->frames_process = getpid();
  run_frames(&little, frames);
  return kept_world_of(little, WITH(muster_journal_def, it.save_host = save_when_told));
}

static void end_ordered(kept_world *kept) {
  kept_world_end(kept);
  munmap(order, sizeof *order);
}

/* What was run beside a snapshot is run again behind it; what was before it is not. */
Test(journal_status, foretells_a_recovery_by_the_frames_behind_the_snapshot) {
  SCOPED(end_ordered) kept_world kept = begin_ordered(busy_town(), 3);
  muster_journal *journal = kept.journal;
  uint64_t took_ns = 0, beside_ns = 0;
  for (uint32_t i = 0; i < 20 * BESIDE_FRAMES; i++) {
    took_ns += run_frame(&kept.little).wall_ns;
    muster_journal_turn(journal, 0);
  }
  cr_expect_geq(journal_status(journal).recovery_ns, took_ns);
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  for (uint32_t i = 0; i < BESIDE_FRAMES; i++) {
    beside_ns += run_frame(&kept.little).wall_ns;
    muster_journal_turn(journal, 0);
  }
  cr_assert_gt(beside_ns, BESIDE_FRAMES * WORK_NS * TOWN_AGENTS / 2);
  cr_expect_geq(journal_status(journal).recovery_ns, took_ns + beside_ns, "the snapshot is not there yet");
  atomic_store(&order->goes_on, true);
  AWAIT_WITH(journal_turn(journal), journal_status(journal).snapshots >= 2);
  cr_assert_eq(journal_status(journal).snapshots, 2);
  cr_expect_geq(journal_status(journal).recovery_ns, muster_journal_def_default().start_ns + beside_ns);
  cr_expect_lt(journal_status(journal).recovery_ns, took_ns + beside_ns, "nothing is foretold to be shorter");
}

/* A change that was told while a snapshot was written is in the next one. */
Test(journal_status, a_later_change_is_safe_with_a_later_snapshot) {
  SCOPED(end_ordered) kept_world kept = begin_ordered(peopled_town(), 1);
  muster_journal *journal = kept.journal;
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
}

/* ------------------------------------------------------------------------------------------------------- recovered */

/* However many there were in the life before: frames that are run again count on those, and later ones do not. */
Test(journal_status, a_recovered_world_has_its_own_workers) {
  enum { FRAMES = 5, BEFORE = 2, AFTER = 4 };
  little_world little = peopled(town_of(BEFORE, MUSTER_CLOCK_VIRTUAL, town_type()));
  SCOPED(kept_world_end) kept_world kept = kept_world_of(little, muster_journal_def_default());
  SCOPED(little_world_destroy) little_world again = town_of(AFTER, MUSTER_CLOCK_VIRTUAL, town_type());
  town_frames(&kept.little, FRAMES);
  journal_back(&again, kept.place.path);
  cr_expect_eq(muster_world_workers(again.world), AFTER);
  cr_expect_not(muster_world_is_replaying(again.world));
}

/* --------------------------------------------------------------------------------------------------------- failing */

static bool save_first_alone(muster_journal_put put, void *put_user, void *user) {
  uint32_t *saved = user;
  return ++*saved == 1 && put("host", 4, put_user);
}

/* In a world that is older than that. */
Test(journal_status, a_snapshot_that_failed_is_not_tried_again_at_once) {
  enum { OLD = 200, BEHIND = 100 };
  uint32_t saved = 0;
  little_world old = busy_town();
  run_frames(&old, OLD);
  muster_journal_def def = WITH(muster_journal_def, it.save_host = save_first_alone, it.user = &saved);
  def.recovery_max_ns = def.start_ns = 10000000; /* one is always due, as far as the cost allows */
  SCOPED(kept_world_end) kept_world kept = kept_world_of(old, def);
  muster_journal *journal = kept.journal;
  for (uint32_t waited = 0; journal_status(journal).snapshots_failed == 0 && waited < 60000; waited++, usleep(1000)) {
    if (waited % 64 == 0) run_frame(&kept.little);
    muster_journal_turn(journal, 1000000000u);
  }
  cr_assert_eq(journal_status(journal).snapshots_failed, 1, "none was due");
  uint64_t each_us = 50 * used_us() / BEHIND; /* as long as its cost could keep the next one away */
  for (uint32_t i = 0; i < BEHIND; i++) {
    run_frame(&kept.little);
    muster_journal_turn(journal, 1000000000u);
    usleep((useconds_t)(each_us < 50000 ? each_us : 50000));
  }
  cr_expect_eq(journal_status(journal).snapshots_failed, 1, "it was tried again within %d frames", BEHIND);
  cr_expect_eq(journal_status(journal).snapshots, 1);
  cr_expect(journal_status(journal).runs);
}
