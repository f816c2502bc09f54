/* syncer.c - the thread that brings a journal's record to the disk, and removes files that are not needed any more. The
 * thread of the frames never waits for a disk. */
#include "base/clock.h"
#include "base/error.h"
#include "journal/journal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const uint64_t second_ns = 1000000000u;

/* What to bring to the disk, and what to remove then. */
struct errand {
  int descriptor, retired;
  uint64_t frames, below;
};

static void take_errand(struct syncer *syncer, struct errand *errand) {
  *errand = (struct errand){syncer->descriptor, syncer->retired, syncer->frames, syncer->below};
  syncer->retired = -1;
  syncer->below = 0;
  syncer->busy = true;
}

static void remove_older(const struct syncer *syncer, const struct errand *errand) {
  if (errand->retired >= 0) close(errand->retired);
  if (errand->below) journal_files_retire(syncer->path, errand->below, syncer->incidents_max);
}

/* The mutex is held at the call and at the return. */
static void run_errand(struct syncer *syncer) {
  struct errand errand;
  take_errand(syncer, &errand);
  uint64_t begin_ns = clock_system();
  pthread_mutex_unlock(&syncer->mutex);
  bool moved = errand.below > 0;
  int problem = fdatasync(errand.descriptor) || (moved && !journal_files_sync_folder(syncer->path)) ? errno : 0;
  if (!problem) remove_older(syncer, &errand);
  pthread_mutex_lock(&syncer->mutex);
  syncer->busy = false;
  syncer->took_ns = clock_system() - begin_ns;
  pthread_cond_signal(&syncer->done);
  if (problem) {
    syncer->problem = problem;
    return;
  }
  syncer->synced = errand.frames;
  syncer->synced_ns = begin_ns;
}

static bool has_work(const struct syncer *syncer) {
  if (syncer->problem) return false;
  return syncer->below || syncer->frames > syncer->synced;
}

/* With one sync a second, the next begins half a second after the last one began: the rest is for the disk. */
static bool is_early(const struct syncer *syncer, uint64_t now_ns) {
  return syncer->sync == MUSTER_JOURNAL_SYNC_SECOND && !syncer->ends && !syncer->below &&
         now_ns < syncer->synced_ns + second_ns / 2;
}

static void wait_a_little(struct syncer *syncer) {
  struct timespec until;
  clock_gettime(CLOCK_MONOTONIC, &until);
  until.tv_nsec += 50000000;
  if (until.tv_nsec >= (long)second_ns) until.tv_sec++, until.tv_nsec -= (long)second_ns;
  pthread_cond_timedwait(&syncer->work, &syncer->mutex, &until);
}

static void *syncer_main(void *argument) {
  struct syncer *syncer = argument;
  pthread_mutex_lock(&syncer->mutex);
  while (has_work(syncer) || !syncer->ends) {
    if (!has_work(syncer))
      pthread_cond_wait(&syncer->work, &syncer->mutex);
    else if (is_early(syncer, clock_system()))
      wait_a_little(syncer);
    else
      run_errand(syncer);
  }
  pthread_mutex_unlock(&syncer->mutex);
  return NULL;
}

/* Signals of the host are for its own threads. */
static int begin_thread(struct syncer *syncer) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  int problem = pthread_create(&syncer->thread, NULL, syncer_main, syncer);
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  return problem;
}

muster_result syncer_begin(struct syncer *syncer, const muster_journal_def *def, int descriptor, uint64_t frames) {
  pthread_condattr_t monotonic;
  *syncer = (struct syncer){.sync = def->sync,
                            .descriptor = descriptor,
                            .retired = -1,
                            .incidents_max = def->incidents_max,
                            .frames = frames,
                            .synced = frames,
                            .synced_ns = clock_system()};
  snprintf(syncer->path, sizeof syncer->path, "%s", def->path);
  pthread_mutex_init(&syncer->mutex, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&syncer->work, &monotonic);
  pthread_cond_init(&syncer->done, NULL);
  pthread_condattr_destroy(&monotonic);
  if (def->sync == MUSTER_JOURNAL_SYNC_NONE) return MUSTER_OK;
  int problem = begin_thread(syncer);
  syncer->runs = !problem;
  return problem ? error_set(MUSTER_E_SYSTEM, "journal: no thread to sync: %s", strerror(problem)) : MUSTER_OK;
}

void syncer_note(struct syncer *syncer, uint64_t frames) {
  if (syncer->sync == MUSTER_JOURNAL_SYNC_NONE) {
    syncer->frames = syncer->synced = frames;
    return;
  }
  pthread_mutex_lock(&syncer->mutex);
  syncer->frames = frames;
  pthread_cond_signal(&syncer->work);
  pthread_mutex_unlock(&syncer->mutex);
}

bool syncer_moves(struct syncer *syncer) {
  pthread_mutex_lock(&syncer->mutex);
  bool moves = syncer->busy || syncer->below;
  pthread_mutex_unlock(&syncer->mutex);
  return moves;
}

void syncer_move(struct syncer *syncer, int descriptor, uint64_t below) {
  if (syncer->sync == MUSTER_JOURNAL_SYNC_NONE) {
    struct errand errand = {.retired = syncer->descriptor, .below = below};
    syncer->descriptor = descriptor;
    remove_older(syncer, &errand);
    return;
  }
  pthread_mutex_lock(&syncer->mutex);
  while (syncer->busy || syncer->below) pthread_cond_wait(&syncer->done, &syncer->mutex); /* only at the end */
  syncer->retired = syncer->descriptor;
  syncer->descriptor = descriptor;
  syncer->below = below;
  pthread_cond_signal(&syncer->work);
  pthread_mutex_unlock(&syncer->mutex);
}

uint64_t syncer_safe(struct syncer *syncer) {
  if (syncer->sync == MUSTER_JOURNAL_SYNC_NONE) return syncer->frames;
  pthread_mutex_lock(&syncer->mutex);
  bool recent = syncer->sync == MUSTER_JOURNAL_SYNC_SECOND && clock_system() < syncer->synced_ns + second_ns;
  bool idle = syncer->sync == MUSTER_JOURNAL_SYNC_SECOND && syncer->frames == syncer->synced;
  if (recent || idle) syncer->told = syncer->frames;
  if (syncer->synced > syncer->told) syncer->told = syncer->synced;
  uint64_t safe = syncer->told;
  pthread_mutex_unlock(&syncer->mutex);
  return safe;
}

int syncer_problem(struct syncer *syncer) {
  pthread_mutex_lock(&syncer->mutex);
  int problem = syncer->problem;
  pthread_mutex_unlock(&syncer->mutex);
  return problem;
}

uint64_t syncer_took_ns(struct syncer *syncer) {
  pthread_mutex_lock(&syncer->mutex);
  uint64_t took_ns = syncer->took_ns;
  pthread_mutex_unlock(&syncer->mutex);
  return took_ns;
}

void syncer_end(struct syncer *syncer) {
  if (syncer->runs) {
    pthread_mutex_lock(&syncer->mutex);
    syncer->ends = true;
    pthread_cond_signal(&syncer->work);
    pthread_mutex_unlock(&syncer->mutex);
    pthread_join(syncer->thread, NULL);
  }
  if (syncer->retired >= 0) close(syncer->retired);
  if (syncer->descriptor >= 0) close(syncer->descriptor);
  pthread_cond_destroy(&syncer->work);
  pthread_cond_destroy(&syncer->done);
  pthread_mutex_destroy(&syncer->mutex);
}
