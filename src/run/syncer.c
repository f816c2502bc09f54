#include "run/syncer.h"

#include "base/clock.h"
#include "base/error.h"
#include "base/forked.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const uint64_t second_ns = 1000000000u;

/* What to bring to the disk, and what comes afterwards. */
struct errand {
  int descriptor, retired;
  uint64_t written, moved;
};

/* The mutex is held at the call and at the return. */
static void run_errand(struct syncer *syncer) {
  struct errand errand = {syncer->descriptor, syncer->retired, syncer->written, syncer->moved};
  uint64_t begin_ns = clock_system();
  syncer->retired = -1;
  syncer->busy = true;
  pthread_mutex_unlock(&syncer->mutex);
  bool syncs = syncer->orders.pace != SYNCER_NEVER;
  int problem = syncs && fdatasync(errand.descriptor) ? errno : 0;
  if (errand.retired >= 0) close(errand.retired); /* also where the disk has refused the other */
  if (!problem && errand.moved && !syncer->orders.after(errand.moved, syncer->orders.user))
    problem = errno ? errno : EIO;
  pthread_mutex_lock(&syncer->mutex);
  syncer->busy = false;
  syncer->moved = 0;
  if (syncs) syncer->took_ns = clock_system() - begin_ns;
  syncer->problem = problem;
  pthread_cond_signal(&syncer->done);
  if (problem || !syncs) return;
  syncer->synced = errand.written;
  syncer->synced_ns = begin_ns;
}

/* The mutex is held at the call and at the return. */
static void syncer_run_job(struct syncer *syncer) {
  const syncer_job job = syncer->job;
  pthread_mutex_unlock(&syncer->mutex);
  job.run(job.user);
  pthread_mutex_lock(&syncer->mutex);
  syncer->job.run = NULL;
  pthread_cond_signal(&syncer->done);
}

static bool has_work(const struct syncer *syncer) {
  if (syncer->job.run) return true;
  if (syncer->problem) return false;
  return syncer->moved || syncer->written > syncer->synced;
}

/* With one sync a second, the next begins half a second after the last one began: the rest is for the disk. */
static bool is_early(const struct syncer *syncer, uint64_t now_ns) {
  return syncer->orders.pace == SYNCER_SECOND && !syncer->ends && !syncer->moved &&
         now_ns < syncer->synced_ns + second_ns / 2;
}

static void wait_a_little(struct syncer *syncer) {
  uint64_t until_ns = clock_system() + second_ns / 20;
  struct timespec until = {.tv_sec = (time_t)(until_ns / second_ns), .tv_nsec = (long)(until_ns % second_ns)};
  pthread_cond_timedwait(&syncer->work, &syncer->mutex, &until);
}

static void *syncer_main(void *argument) {
  struct syncer *syncer = argument;
  pthread_setname_np(pthread_self(), "muster-journal");
  forked_give_way();
  pthread_mutex_lock(&syncer->mutex);
  while (has_work(syncer) || !syncer->ends) {
    if (syncer->job.run)
      syncer_run_job(syncer);
    else if (!has_work(syncer)) /* also after a problem, until the end */
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

muster_result syncer_begin(struct syncer *syncer, const syncer_orders *orders, int descriptor, uint64_t written) {
  pthread_condattr_t monotonic;
  *syncer = (struct syncer){.orders = *orders,
                            .descriptor = descriptor,
                            .retired = -1,
                            .written = written,
                            .synced = written,
                            .synced_ns = clock_system()};
  pthread_mutex_init(&syncer->mutex, NULL);
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&syncer->work, &monotonic);
  pthread_cond_init(&syncer->done, &monotonic);
  pthread_condattr_destroy(&monotonic);
  int problem = begin_thread(syncer);
  syncer->runs = !problem;
  return problem ? error_set(MUSTER_E_SYSTEM, "no thread to sync files: %s", strerror(problem)) : MUSTER_OK;
}

void syncer_note(struct syncer *syncer, uint64_t written) {
  pthread_mutex_lock(&syncer->mutex);
  syncer->written = written;
  if (syncer->orders.pace == SYNCER_NEVER)
    syncer->synced = written;
  else
    pthread_cond_signal(&syncer->work);
  pthread_mutex_unlock(&syncer->mutex);
}

bool syncer_moves(struct syncer *syncer) {
  pthread_mutex_lock(&syncer->mutex);
  bool moves = syncer->busy || syncer->moved;
  pthread_mutex_unlock(&syncer->mutex);
  return moves;
}

void syncer_move(struct syncer *syncer, int descriptor, uint64_t number) {
  pthread_mutex_lock(&syncer->mutex);
  while (syncer->busy || syncer->moved) pthread_cond_wait(&syncer->done, &syncer->mutex);
  syncer->retired = syncer->descriptor;
  syncer->descriptor = descriptor;
  syncer->moved = number;
  pthread_cond_signal(&syncer->work);
  pthread_mutex_unlock(&syncer->mutex);
}

void syncer_do(struct syncer *syncer, syncer_job job) {
  syncer_did(syncer, true);
  pthread_mutex_lock(&syncer->mutex);
  syncer->job = job;
  pthread_cond_signal(&syncer->work);
  pthread_mutex_unlock(&syncer->mutex);
}

bool syncer_did(struct syncer *syncer, bool waits) {
  pthread_mutex_lock(&syncer->mutex);
  while (waits && syncer->job.run) pthread_cond_wait(&syncer->done, &syncer->mutex);
  bool did = !syncer->job.run;
  pthread_mutex_unlock(&syncer->mutex);
  return did;
}

uint64_t syncer_safe(struct syncer *syncer) {
  pthread_mutex_lock(&syncer->mutex);
  bool second = syncer->orders.pace == SYNCER_SECOND;
  bool recent = second && !syncer->problem && clock_system() < syncer->synced_ns + second_ns;
  if (recent) syncer->told = syncer->written;
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
