/* The thread that syncs, by itself: what is safe when, what is done after a move, and what of the files it closes. */
#include "base/clock.h"
#include "run/syncer.h"
#include "support/await.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <unistd.h>

/* What after() was called for. */
static struct {
  _Atomic uint32_t count;
  _Atomic uint64_t last;
  _Atomic bool refuses, closed; /* when it was called the file before was closed */
  _Atomic int before;           /* that file */
} calls;

static struct syncer syncer;

static bool is_open(int descriptor) {
  return fcntl(descriptor, F_GETFD) >= 0;
}

static bool take_after(uint64_t number, void *user) {
  (void)user;
  atomic_store(&calls.last, number);
  atomic_store(&calls.closed, !is_open(atomic_load(&calls.before)));
  atomic_fetch_add(&calls.count, 1);
  errno = ENOSPC;
  return !atomic_load(&calls.refuses);
}

static int new_file(void) {
  char path[] = "/tmp/muster-test-syncer-XXXXXX";
  int file = mkostemp(path, O_CLOEXEC);
  cr_assert_geq(file, 0);
  unlink(path);
  return file;
}

/* One that no sync takes. */
static int bad_file(void) {
  int ends[2];
  cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  return ends[1];
}

/* Another syncer, that has called nobody. */
static void begin(syncer_pace pace, int file, uint64_t written) {
  const syncer_orders orders = {.pace = pace, .after = take_after};
  memset(&syncer, 0, sizeof syncer);
  memset(&calls, 0, sizeof calls);
  atomic_store(&calls.before, -1);
  cr_assert_eq(syncer_begin(&syncer, &orders, file, written), MUSTER_OK, "%s", muster_last_error());
}

static uint64_t synced_now(void) {
  pthread_mutex_lock(&syncer.mutex);
  uint64_t synced = syncer.synced;
  pthread_mutex_unlock(&syncer.mutex);
  return synced;
}

static const syncer_pace paces[] = {SYNCER_NEVER, SYNCER_SECOND, SYNCER_ALWAYS};

Test(journal_syncer, what_is_noted_becomes_safe_and_stays_so) {
  for (uint32_t i = 0; i < 3; i++) {
    int file = new_file();
    begin(paces[i], file, 41);
    cr_expect_eq(syncer_safe(&syncer), 41, "what was there is safe");
    cr_expect_not(syncer_moves(&syncer));
    for (uint64_t frame = 42; frame < 50; frame++) {
      uint64_t before = syncer_safe(&syncer);
      syncer_note(&syncer, frame);
      uint64_t safe = syncer_safe(&syncer);
      cr_expect(safe >= before && safe <= frame, "%lu is safe", safe);
      if (paces[i] != SYNCER_ALWAYS) cr_expect_eq(safe, frame, "at once");
    }
    AWAIT(syncer_safe(&syncer) == 49);
    if (paces[i] == SYNCER_ALWAYS) cr_expect_gt(syncer_took_ns(&syncer), 0);
    if (paces[i] == SYNCER_NEVER) cr_expect_eq(syncer_took_ns(&syncer), 0, "nothing is synced");
    cr_expect_eq(syncer_problem(&syncer), 0);
    cr_expect_eq(calls.count, 0, "it has not moved");
    syncer_end(&syncer);
    cr_expect_eq(syncer.synced, 49, "an end brings all to the disk");
    cr_expect_not(is_open(file));
  }
}

Test(journal_syncer, each_move_is_followed_by_its_after) {
  for (uint32_t i = 0; i < 3; i++) {
    int file = new_file();
    begin(paces[i], file, 0);
    for (uint64_t number = 7; number < 12; number++) {
      int next = new_file();
      AWAIT(!syncer_moves(&syncer));
      atomic_store(&calls.before, file);
      syncer_note(&syncer, number * 10);
      syncer_move(&syncer, next, number);
      AWAIT(!syncer_moves(&syncer));
      cr_expect_eq(calls.count, number - 6);
      cr_expect_eq(calls.last, number);
      cr_expect(calls.closed, "move %lu", number);
      cr_expect(is_open(next));
      cr_expect_eq(synced_now(), number * 10, "the file that it moved to is on the disk");
      file = next;
    }
    int last = new_file();
    atomic_store(&calls.before, file);
    syncer_move(&syncer, last, 12);
    syncer_end(&syncer);
    cr_expect_eq(calls.last, 12, "an end waits for the move");
    cr_expect(!is_open(last) && !is_open(file));
  }
}

/* Whether the disk refuses a sync, or what comes after it: for good. */
Test(journal_syncer, a_problem_is_the_last) {
  for (uint32_t i = 0; i < 4; i++) {
    bool of_after = i < 2;
    int file = new_file(), next = of_after ? new_file() : bad_file();
    begin(i % 2 ? SYNCER_ALWAYS : SYNCER_SECOND, file, 5);
    atomic_store(&calls.refuses, of_after);
    atomic_store(&calls.before, file);
    syncer_move(&syncer, next, 2);
    AWAIT(syncer_problem(&syncer));
    cr_expect_eq(syncer_problem(&syncer), of_after ? ENOSPC : EINVAL);
    cr_expect_eq(calls.count, of_after, "nothing goes before the other is on the disk");
    uint64_t safe = syncer_safe(&syncer);
    atomic_store(&calls.refuses, false);
    for (uint64_t frame = 6; frame < 9; frame++) {
      syncer_note(&syncer, frame);
      usleep(1000); /* it could try again */
    }
    cr_expect_neq(syncer_problem(&syncer), 0);
    cr_expect_eq(syncer_safe(&syncer), safe, "nothing more is safe");
    cr_expect_eq(calls.count, of_after);
    syncer_end(&syncer);
    cr_expect(!is_open(file) && !is_open(next));
  }
}

/* ------------------------------------------------------------------------------------------------------------ jobs */

typedef struct job_run {
  _Atomic uint32_t runs;
  _Atomic bool goes_on;
} job_run;

static void run_job(void *user) {
  job_run *job = user;
  AWAIT(atomic_load(&job->goes_on));
  usleep(1000); /* who does not wait for it sees the old number */
  atomic_fetch_add(&job->runs, 1);
}

Test(journal_syncer, a_job_is_done_once_and_can_be_waited_for) {
  for (uint32_t i = 0; i < 3; i++) {
    job_run first = {.goes_on = false}, second = {.goes_on = true};
    begin(paces[i], new_file(), 0);
    cr_expect(syncer_did(&syncer, false), "there is none");
    syncer_do(&syncer, (syncer_job){run_job, &first});
    cr_expect_not(syncer_did(&syncer, false));
    syncer_note(&syncer, 3);
    atomic_store(&first.goes_on, true);
    cr_expect(syncer_did(&syncer, true));
    cr_expect_eq(first.runs, 1);
    syncer_do(&syncer, (syncer_job){run_job, &second});
    syncer_do(&syncer, (syncer_job){run_job, &first}); /* behind that */
    cr_expect_eq(second.runs, 1);
    syncer_end(&syncer);
    cr_expect_eq(first.runs, 2, "an end waits for it");
  }
}

/* Also where a sync was refused: a snapshot that waits for its thread would wait for ever. */
Test(journal_syncer, a_job_is_done_after_a_problem) {
  job_run job = {.goes_on = true};
  begin(SYNCER_ALWAYS, bad_file(), 0);
  syncer_note(&syncer, 1);
  AWAIT(syncer_problem(&syncer));
  syncer_do(&syncer, (syncer_job){run_job, &job});
  cr_expect(syncer_did(&syncer, true));
  cr_expect_eq(job.runs, 1);
  syncer_end(&syncer);
}

/* With a sync each second: all is safe as long as the last one began within a second, and no longer. */
Test(journal_syncer, a_second_behind_is_not_safe) {
  job_run job = {.goes_on = false};
  begin(SYNCER_SECOND, new_file(), 0);
  syncer_do(&syncer, (syncer_job){run_job, &job}); /* keeps it from syncing */
  syncer_note(&syncer, 1);
  cr_expect_eq(syncer_safe(&syncer), 1);
  pthread_mutex_lock(&syncer.mutex);
  syncer.synced_ns = clock_system() - 1000000001u;
  pthread_mutex_unlock(&syncer.mutex);
  syncer_note(&syncer, 2);
  cr_expect_eq(syncer_safe(&syncer), 1, "what was told stays safe, and nothing more");
  atomic_store(&job.goes_on, true);
  AWAIT(syncer_safe(&syncer) == 2);
  syncer_end(&syncer);
}
