/* When a snapshot begins by itself. What was measured is set here instead: how long the frames took, what the last
 * snapshot cost and when it was, and how many updates are suspended. */
#include "base/clock.h"
#include "support/journal_inside.h"
#include "support/journal_town.h"
#include "world/world_sums.h"

enum { WORKERS = 4, ALL_LOOKS = 8, MS = 1000000 };

static const uint64_t some_ns = 10000000000u; /* since the snapshot before */

/* What a turn finds. Times in ms. */
typedef struct due_case {
  const char *what;
  uint32_t start, load, replay, cpu, pause;
  uint32_t suspended, fewest, looks;
  uint32_t frames_to_wait; /* before another is tried */
  bool held, spares;       /* `spares`: the host has time, but there is no memory for a snapshot yet */
  bool begins;
  uint32_t looks_then;
} due_case;

/* With recovery_max at one second, and ten seconds of four processors since the last one, which pays for 0.8 s. */
static const due_case due_cases[] = {
    {.what = "early", .replay = 700, .looks = 5, .looks_then = 5},
    {.what = "nearly, not calm", .replay = 800, .suspended = 3, .fewest = 2, .looks = 1, .looks_then = 2},
    {.what = "nearly, calm", .replay = 800, .suspended = 2, .fewest = 2, .looks = 1, .begins = true},
    {.what = "nearly, calmer", .replay = 800, .suspended = 1, .fewest = 2, .looks = 1, .begins = true},
    {.what = "nearly, first look", .replay = 800, .looks_then = 1},
    {.what = "nearly, last look", .replay = 800, .suspended = 9, .looks = ALL_LOOKS, .begins = true},
    {.what = "nearly, but time", .replay = 800, .looks = 1, .spares = true, .looks_then = 1},
    {.what = "beyond", .replay = 1100, .suspended = 9, .begins = true},
    {.what = "beyond, and time", .replay = 1100, .suspended = 9, .spares = true, .begins = true},
    {.what = "beyond at once", .replay = 1000, .begins = true},
    {.what = "by its load", .load = 1000, .replay = 1, .begins = true},
    {.what = "by its start", .start = 1000, .replay = 1, .begins = true},
    {.what = "by all three", .start = 300, .load = 300, .replay = 400, .begins = true},
    {.what = "by not quite all", .start = 200, .load = 250, .replay = 250, .looks = 3, .looks_then = 3},
    {.what = "nothing to gain", .start = 1200, .load = 1200, .replay = 0},
    {.what = "affordable", .replay = 1100, .cpu = 700, .begins = true},
    {.what = "too dear", .replay = 1100, .cpu = 900},
    {.what = "with its pause", .replay = 1100, .cpu = 300, .pause = 100, .begins = true},
    {.what = "too long a pause", .replay = 1100, .cpu = 300, .pause = 150},
    {.what = "after a failure", .replay = 1100, .frames_to_wait = 1},
    {.what = "held", .replay = 1100, .held = true},
};

static void set_case(muster_journal *journal, const due_case *one) {
  journal->def.start_ns = (uint64_t)one->start * MS;
  journal->load_ns = (uint64_t)one->load * MS;
  journal->current.replay_ns = (uint64_t)one->replay * MS;
  journal->snapshot_cpu_ns = (uint64_t)one->cpu * MS;
  journal->status.pause_ns = (uint64_t)one->pause * MS;
  journal->begun_ns = clock_system() - some_ns;
  journal->world->sums->report.preempted = one->suspended;
  journal->fewest = one->fewest;
  journal->looks = one->looks;
  journal->retry_frame = journal->world->frames + one->frames_to_wait;
  muster_journal_hold(journal, one->held);
}

/* Until a snapshot that has begun is complete, and the disk has it. */
static void await_rest(muster_journal *journal) {
  AWAIT_WITH(muster_journal_turn(journal, 0), !journal_status(journal).writes && !syncer_moves(&journal->syncer));
}

static void expect_case(muster_journal *journal, const due_case *one) {
  set_case(journal, one);
  journal->place.too_small = true;
  uint64_t forked = journal_status(journal).forked;
  cr_expect_eq(journal_status(journal).recovery_ns, (uint64_t)(one->start + one->load + one->replay) * MS, "%s: %lu",
               one->what, journal_status(journal).recovery_ns);
  muster_journal_turn(journal, one->spares ? 1000 * (uint64_t)MS : 0);
  cr_expect_eq(journal_status(journal).forked - forked, one->begins, "%s", one->what);
  cr_expect_eq(journal_status(journal).writes, one->begins, "%s", one->what);
  if (!one->begins) cr_expect_eq(journal->looks, one->looks_then, "%s: %u looks", one->what, journal->looks);
  bool dear = !one->begins && one->replay > 1000 && !one->held && !one->frames_to_wait;
  cr_expect_eq(journal_status(journal).holds, !dear, "%s", one->what);
  journal->warned = false;
  await_rest(journal);
  if (one->begins) cr_expect_eq(journal->looks, 0, "the next one is looked for anew");
  if (one->begins) cr_expect_eq(journal->load_ns, 2 * journal->snapshot_cpu_ns, "it is read twice");
  if (one->begins) cr_expect_geq(journal->begun_ns, clock_system() - some_ns / 2, "%s", one->what);
}

/* The same world, which is to come back within a second, behind its next frame. */
static kept_world kept_within_a_second(little_world little) {
  kept_world kept = kept_world_of(little, WITH(muster_journal_def, it.recovery_max_ns = 1000 * (uint64_t)MS));
  run_frame(&kept.little);
  return kept;
}

Test(journal_due, a_snapshot_begins_when_it_is_time_and_not_before) {
  SCOPED(kept_world_end)
  kept_world kept = kept_within_a_second(peopled(town_of(WORKERS, MUSTER_CLOCK_VIRTUAL, town_type())));
  for (size_t i = 0; i < COUNT_OF(due_cases); i++) expect_case(kept.journal, &due_cases[i]);
  cr_expect_eq(kept.little.world->sums->prepaid_ns, 0, "in virtual time a pause is no part of a budget");
}

/* How many updates are suspended, frame by frame, since one was nearly due. It begins in the first of them, but one,
 * that has as few as any before it, or in the ninth; what was before that counts for nothing. */
Test(journal_due, of_frames_in_which_it_is_nearly_time_one_with_few_suspended_updates_is_chosen) {
  static const struct {
    uint32_t fewest_before, begins_in, suspended[ALL_LOOKS + 2];
  } rows[] = {{0, 1, {5, 5}},    {0, 2, {5, 6, 5}},    {2, 1, {9, 5}},
              {9, 1, {0, 0}},    {9, 3, {5, 6, 7, 4}}, {0, ALL_LOOKS, {1, 2, 3, 4, 5, 6, 7, 8, 9, 9}},
              {3, 2, {4, 9, 4}}, {1, 1, {2, 1}}};
  SCOPED(kept_world_end) kept_world kept = kept_within_a_second(peopled_town());
  muster_journal *journal = kept.journal;
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    uint64_t forked = journal_status(journal).forked;
    for (uint32_t look = 0; look <= rows[i].begins_in; look++) {
      uint32_t fewest = look ? journal->fewest : rows[i].fewest_before;
      set_case(journal,
               &(due_case){.replay = 800, .suspended = rows[i].suspended[look], .fewest = fewest, .looks = look});
      muster_journal_turn(journal, 0);
      cr_expect_eq(journal_status(journal).forked - forked, look == rows[i].begins_in, "row %zu, frame %u", i, look);
    }
    await_rest(journal);
  }
}

/* A limit that a recovery may pass is kept again once the next snapshot can be had in time: one that comes late does
 * not make it so. */
Test(journal_due, a_limit_that_was_passed_is_kept_again_when_the_next_snapshot_is_in_time) {
  static const struct {
    uint32_t replay, cpu;
    bool holds, holds_again; /* where it held before, and where it did not */
  } rows[] = {{800, 0, true, true},      {800, 900, true, false}, {999, 700, true, true},   {1000, 0, true, false},
              {1000, 900, false, false}, {1100, 0, true, false},  {1100, 700, true, false}, {1100, 900, false, false}};
  SCOPED(kept_world_end)
  kept_world kept = kept_within_a_second(town_of(WORKERS, MUSTER_CLOCK_VIRTUAL, town_type()));
  muster_journal *journal = kept.journal;
  for (size_t i = 0; i < 2 * COUNT_OF(rows); i++) {
    set_case(journal, &(due_case){.replay = rows[i / 2].replay, .cpu = rows[i / 2].cpu});
    journal->warned = i % 2;
    muster_journal_turn(journal, 0);
    cr_expect_eq(journal_status(journal).holds, i % 2 ? rows[i / 2].holds_again : rows[i / 2].holds, "row %zu", i / 2);
    await_rest(journal);
  }
}

static _Atomic bool disk_is_done;

static void wait_for_disk(void *user) {
  (void)user;
  AWAIT_WITH(usleep(200), atomic_load(&disk_is_done));
}

/* The thread that syncs gets memory for the next snapshot, or waits for the disk: nobody waits for it who gives up one
 * that has a process. */
Test(journal_due, a_snapshot_that_comes_to_nothing_keeps_no_frame) {
  int ends[2];
  signal(SIGPIPE, SIG_IGN);
  SCOPED(kept_world_end) kept_world kept = kept_town();
  muster_journal *journal = kept.journal;
  for (uint32_t round = 1; round <= 2; round++) {
    run_frame(&kept.little);
    cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
    atomic_store(&disk_is_done, false);
    syncer_do(&journal->syncer, (syncer_job){wait_for_disk, NULL});
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    cr_assert_geq(dup2(ends[1], journal->next.descriptor), 0); /* its record cannot be written */
    close(ends[0]);
    close(ends[1]);
    run_frame(&kept.little);
    cr_expect_not(syncer_did(&journal->syncer, false));
    cr_expect_eq(journal_status(journal).snapshots_failed, round);
    cr_expect(journal_status(journal).runs && !journal_status(journal).writes);
    atomic_store(&disk_is_done, true);
    syncer_did(&journal->syncer, true);
  }
}

/* Memory for the next snapshot has a quarter more than the last one took, and 1 MiB. It is got anew where it falls
 * short of that by more than an eighth. */
Test(journal_due, memory_for_a_snapshot_grows_with_it) {
  SCOPED(kept_world_end) kept_world kept = kept_town();
  muster_journal *journal = kept.journal;
  run_frame(&kept.little);
  for (uint32_t megabytes = 0; megabytes < 10; megabytes += 3) {
    const size_t wanted = megabytes * 1250000u + (1 << 20), enough = wanted - wanted / 8;
    const size_t sizes[] = {0, enough - 1, enough, enough + 1, wanted, 2 * wanted};
    for (size_t i = 0; i < COUNT_OF(sizes); i++) {
      journal->place.wanted = sizes[i];
      journal->status.snapshot_bytes = megabytes * 1000000u;
      muster_journal_turn(journal, 1000 * (uint64_t)MS);
      syncer_did(&journal->syncer, true);
      cr_expect_eq(journal->place.wanted, i < 2 ? wanted : sizes[i], "%u MB, of %zu bytes %zu", megabytes, sizes[i],
                   journal->place.wanted);
      cr_expect_eq(journal->place.room, wanted, "%u MB: %zu bytes", megabytes, journal->place.room);
    }
  }
  cr_expect_eq(journal_status(journal).snapshots, 1);
}

/* Puts a snapshot into memory, if it is foretold to take no longer than the host has. Whether it was. */
static bool is_placed(muster_journal *journal, uint64_t foretold_ns, uint64_t spare_ns) {
  uint64_t forked = journal_status(journal).forked, snapshots = journal_status(journal).snapshots;
  journal->place.took_ns = foretold_ns;
  journal->asked = true;
  muster_journal_turn(journal, spare_ns);
  await_rest(journal);
  cr_expect_eq(journal_status(journal).snapshots, snapshots + 1);
  return journal_status(journal).forked == forked;
}

/* One that takes longer than was foretold is believed at once, one that is faster by an eighth. */
Test(journal_due, how_long_it_takes_into_memory_is_learnt) {
  static const uint64_t long_ns = 80000000000u;
  SCOPED(kept_world_end) kept_world kept = kept_town();
  muster_journal *journal = kept.journal;
  run_frame(&kept.little);
  muster_journal_turn(journal, long_ns); /* gets memory */
  syncer_did(&journal->syncer, true);
  for (uint32_t i = 0; i < 3; i++) {
    cr_expect(is_placed(journal, long_ns, long_ns), "just in time");
    cr_expect_eq(journal->place.took_ns, long_ns - (long_ns - journal->status.snapshot_ns) / 8, "%lu ns",
                 journal->place.took_ns);
    cr_expect(is_placed(journal, 0, long_ns));
    cr_expect_eq(journal->place.took_ns, journal->status.snapshot_ns, "%lu ns", journal->place.took_ns);
    cr_expect_not(is_placed(journal, long_ns + 100, long_ns), "too late");
    cr_expect_eq(journal->place.took_ns, long_ns + 100, "it was not asked");
  }
}

/* Frames that are counted once, however often the host turns or looks; those beside a snapshot for both records. */
Test(journal_due, each_frame_is_foretold_once) {
  little_world little = peopled_town();
  run_frames(&little, 3);
  uint64_t took_ns = 0, beside_ns = 0, now_ns = clock_system();
  SCOPED(kept_world_end) kept_world kept = kept_world_of(little, muster_journal_def_default());
  muster_journal *journal = kept.journal;
  cr_expect_geq(journal->begun_ns, now_ns, "the first snapshot was just now");
  for (uint32_t k = 0; k < 3; k++) muster_journal_turn(journal, 0);
  cr_expect_eq(journal_status(journal).frames_written, 3);
  cr_expect_eq(journal->current.replay_ns, 0, "those before are in the snapshot");
  for (uint32_t i = 0; i < 6; i++) {
    took_ns += run_frame(&kept.little).wall_ns;
    for (uint32_t k = 0; k < i; k++) muster_journal_turn(journal, 0);
    for (uint32_t k = 0; k < 3 && !i; k++) cr_expect_eq(journal_status(journal).frames_written, 3 + i + 1);
    cr_expect_eq(journal->current.replay_ns, took_ns, "a turn counts, or a look at the status");
  }
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  for (uint32_t i = 0; i < 3; i++) {
    beside_ns += run_frame(&kept.little).wall_ns;
    journal_status(journal);
    cr_expect_eq(journal->current.replay_ns, took_ns + beside_ns);
    cr_expect_eq(journal->next.replay_ns, beside_ns);
  }
  AWAIT_WITH(muster_journal_turn(journal, 0), !journal_status(journal).writes);
  cr_expect_eq(journal->current.replay_ns, beside_ns);
}

static bool refuse_in_child(muster_journal_put put, void *put_user, void *user) {
  const pid_t *frames_process = user;
  return put("a", 1, put_user) && getpid() == *frames_process;
}

/* After a failure a snapshot by itself waits for 120 frames; one that is asked for does not. */
Test(journal_due, a_failure_keeps_the_next_one_away_but_not_those_that_are_asked_for) {
  pid_t self = getpid();
  little_world little = peopled_town();
  run_frames(&little, 3);
  const muster_journal_def def = WITH(muster_journal_def, it.save_host = refuse_in_child, it.user = &self);
  SCOPED(kept_world_end) kept_world kept = kept_world_of(little, def);
  muster_journal *journal = kept.journal;
  for (uint64_t failed = 0; failed < 3; failed++) {
    cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
    cr_expect_eq(journal_status(journal).forked, failed + 1);
    run_frame(&kept.little);
    AWAIT_WITH(muster_journal_turn(journal, 0), !journal_status(journal).writes);
    cr_expect_eq(journal_status(journal).snapshots_failed, failed + 1);
    cr_expect_eq(journal->retry_frame, little.world->frames + 120);
    cr_expect_eq(journal_status(journal).changes_safe, 0);
    for (uint32_t i = 0; i < 3; i++) muster_journal_turn(journal, 0);
    cr_expect_eq(journal_status(journal).forked, failed + 1, "what was asked for is tried once");
  }
  cr_expect_eq(kept_world_close(&kept), MUSTER_OK);
}

/* For want of descriptors there is no file, or no process: nothing is left of it, and it is tried again later. */
Test(journal_due, what_the_system_refuses_is_tried_again_later) {
  struct rlimit usual;
  SCOPED(kept_world_end) kept_world kept = kept_town();
  muster_journal *journal = kept.journal;
  cr_assert_eq(getrlimit(RLIMIT_NOFILE, &usual), 0);
  for (rlim_t left = 0; left < 3; left++) {
    run_frame(&kept.little);
    int lowest = dup(0);
    close(lowest);
    const muster_journal_status before = journal_status(journal);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)lowest + left, usual.rlim_max}), 0);
    muster_result result = muster_journal_snapshot(journal);
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &usual), 0);
    const muster_journal_status status = journal_status(journal);
    cr_expect_eq(result, MUSTER_OK);
    cr_expect(status.runs && !status.writes, "with %lu descriptors: %s", left, status.ended_by);
    cr_expect_eq(status.forked, before.forked, "with %lu descriptors", left);
    cr_expect_eq(status.snapshots, 1);
    cr_expect_eq(status.changes_safe, 0);
    cr_expect_eq(journal->retry_frame, kept.little.world->frames + 120);
    cr_expect_eq(place_count(&kept.place, "", ""), 2);
    int again = dup(0);
    cr_expect_eq(again, lowest, "with %lu descriptors", left);
    close(again);
  }
  cr_assert_eq(muster_journal_snapshot(journal), MUSTER_OK);
  AWAIT_WITH(muster_journal_turn(journal, 0), journal_status(journal).snapshots == 2);
  cr_expect_eq(journal_status(journal).changes_safe, 4);
}

static void *turn_elsewhere(void *user) {
  muster_journal *journal = user;
  cr_expect_eq(muster_journal_snapshot(journal), MUSTER_E_STATE, "by another thread");
  muster_journal_turn(journal, 0);
  return NULL;
}

/* One is due, and another thread than that of the frames calls. */
Test(journal_due, another_thread_begins_none) {
  pthread_t thread;
  SCOPED(kept_world_end) kept_world kept = kept_town();
  run_frame(&kept.little);
  set_case(kept.journal, &(due_case){.replay = 2000});
  cr_assert_eq(pthread_create(&thread, NULL, turn_elsewhere, kept.journal), 0);
  pthread_join(thread, NULL);
  cr_expect_eq(journal_status(kept.journal).forked, 0);
}
