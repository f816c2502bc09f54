/* tests/support/journals.h - journals in a folder of their own, and worlds in processes that die, which tell what their
 * frames came to in memory that outlives them. */
#ifndef JOURNALS_H
#define JOURNALS_H

#include "support/await.h"
#include "support/journal_files.h"
#include "support/little_world.h"
#include "support/with.h"

#include <muster/journal.h>

#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>

enum { TOLD_FRAMES_MAX = 4096 };

/* What a world that died had told. */
typedef struct told_frames {
  _Atomic uint64_t frames; /* that ended; of each the hash */
  _Atomic uint64_t safe;   /* muster_journal_status.frames_safe after the last of them */
  uint64_t hashes[TOLD_FRAMES_MAX];
  _Atomic uint64_t turning;         /* the frame behind which it is in muster_journal_turn(); 0 = in none */
  uint64_t turned[TOLD_FRAMES_MAX]; /* the hash behind that call */
  bool begins[TOLD_FRAMES_MAX];     /* a journal began behind that frame */
} told_frames;

static inline void *shared_memory(size_t bytes) {
  void *shared = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  cr_assert_neq(shared, MAP_FAILED);
  return shared;
}

static inline told_frames *told_create(void) {
  return shared_memory(sizeof(told_frames));
}

static inline void told_destroy(told_frames *told) {
  munmap(told, sizeof *told);
}

static inline void told_frame(told_frames *told, const little_world *little, uint64_t frames) {
  told->hashes[frames] = muster_world_hash(little->world);
  atomic_store(&told->frames, frames);
}

/* In a process that is to die: ends it otherwise, with the reason. */
static inline __attribute__((format(printf, 2, 3))) void must(bool holds, const char *format, ...) {
  va_list arguments;
  if (holds) return;
  va_start(arguments, format);
  vfprintf(stderr, format, arguments);
  va_end(arguments);
  fprintf(stderr, " (%s)\n", muster_last_error());
  _exit(3);
}

static inline _Noreturn void die(void) {
  kill(getpid(), SIGKILL);
  for (;;) pause();
}

/* Waits for a process of the test, which must have died by SIGKILL. */
static inline void expect_killed(pid_t process) {
  int status = 0;
  cr_assert_eq(waitpid(process, &status, 0), process);
  cr_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL, "it ended with status %x", (unsigned)status);
}

/* Runs it in a process of its own, which must die by SIGKILL. */
static inline void live_until_death(void (*live)(void *user), void *user) {
  fflush(NULL);
  pid_t process = fork();
  cr_assert_geq(process, 0);
  if (process == 0) {
    live(user);
    die();
  }
  expect_killed(process);
}

static inline muster_result journal_look(const char *path, muster_journal_info *info) {
  const muster_journal_look_def look = WITH(muster_journal_look_def, it.path = path);
  *info = muster_journal_info_default();
  return muster_journal_look(&look, info, NULL);
}

static inline muster_result journal_recover(little_world *little, const char *path, muster_journal_info *info) {
  const muster_journal_recover_def recover = WITH(muster_journal_recover_def, it.path = path);
  *info = muster_journal_info_default();
  muster_result result = muster_journal_recover(little->world, &recover, info);
  little->now_ns = info->sim_now_ns;
  return result;
}

/* The same of a journal that must be there, and that must bring its world back. */
static inline muster_journal_info journal_seen(const char *path) {
  muster_journal_info info;
  cr_assert_eq(journal_look(path, &info), MUSTER_OK, "%s", muster_last_error());
  return info;
}

static inline muster_journal_info journal_back(little_world *little, const char *path) {
  muster_journal_info info;
  cr_assert_eq(journal_recover(little, path, &info), MUSTER_OK, "%s", muster_last_error());
  return info;
}

/* A world is what was told of that frame. */
static inline void expect_told(const told_frames *told, const little_world *little, uint64_t frames) {
  cr_assert_eq(muster_world_hash(little->world), told->hashes[frames], "behind frame %lu it was another world", frames);
}

static inline muster_journal *journal_begin_as(const little_world *little, muster_journal_def def, const char *path) {
  muster_journal *journal = NULL;
  def.path = path;
  muster_result result = muster_journal_begin(little->world, &def, &journal);
  must(result == MUSTER_OK && journal, "no journal begins at %s: %d", path, (int)result);
  return journal;
}

static inline muster_journal *journal_begin(const little_world *little, const char *path) {
  return journal_begin_as(little, muster_journal_def_default(), path);
}

static inline muster_journal_status journal_status(muster_journal *journal) {
  muster_journal_status status = muster_journal_status_default();
  must(muster_journal_status_read(journal, &status) == MUSTER_OK, "a journal has no status");
  return status;
}

/* Another number each time; never from 0. */
static inline uint64_t xorshift(uint64_t *random) {
  *random ^= *random << 13;
  *random ^= *random >> 7;
  *random ^= *random << 17;
  return *random;
}

/* Leaves a journal's threads and processes some time, and gives it a turn. */
static inline void journal_turn(muster_journal *journal) {
  usleep(1000);
  muster_journal_turn(journal, 0);
}

#endif
