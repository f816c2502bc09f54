/* run/syncer.h - a thread that brings a growing file to the disk, so that the thread that writes it never waits for
 * that, and what may be done only afterwards.
 *
 *   writer    write 7 | note 7 | write 8 | note 8 | write 9 | note 9 | move to the next file ...
 *   syncer              | fdatasync: 7 is safe | fdatasync: 9 is safe | fdatasync of the next file | after()
 *
 * Everything is guarded by one mutex, which is not held while the disk is waited for. */
#ifndef RUN_SYNCER_H
#define RUN_SYNCER_H

#include <muster/common.h>
#include <pthread.h>

/* When a syncer's file is to be on the disk. */
typedef enum syncer_pace { SYNCER_NEVER = 0, SYNCER_SECOND, SYNCER_ALWAYS } syncer_pace;

typedef struct syncer_orders {
  syncer_pace pace;
  /* Called on the thread of the syncer once the file that was moved to is on the disk, or with SYNCER_NEVER at once: it
   * may remove large files, which takes long. False when the disk refused, with errno. */
  bool (*after)(uint64_t number, void *user);
  void *user;
} syncer_orders;

struct syncer {
  syncer_orders orders;
  pthread_t thread;
  pthread_mutex_t mutex;
  pthread_cond_t work, done;
  bool runs, ends, busy;
  int descriptor;     /* of the file; the syncer closes it when the writer moves on */
  int retired;        /* one to close; -1 = none */
  uint64_t moved;     /* number of a file that was moved to, until after() was called for it; 0 = none */
  uint64_t written;   /* notes of the writer */
  uint64_t synced;    /* of these, on the disk */
  uint64_t told;      /* of these, safe at the last look: they stay so */
  uint64_t synced_ns; /* when the last complete sync began */
  uint64_t took_ns;
  int problem; /* errno of a sync that failed */
};

/* Begins with a file of which `written` is on the disk. MUSTER_E_SYSTEM when there is no thread. */
muster_result syncer_begin(struct syncer *syncer, const syncer_orders *orders, int descriptor, uint64_t written);

/* The file was written up to this. Writer's thread, like all below. */
void syncer_note(struct syncer *syncer, uint64_t written);

/* Whether a move is not complete yet. */
bool syncer_moves(struct syncer *syncer);

/* The writer goes on in another file, which has all that was noted so far. Waits for the move before, if it is not
 * complete. */
void syncer_move(struct syncer *syncer, int descriptor, uint64_t number);

/* How far the file is as safe as it is to be. With SYNCER_SECOND that is all, unless the disk is more than a second
 * behind. */
uint64_t syncer_safe(struct syncer *syncer);

/* errno of a sync that failed: nothing more is safe after that; 0 = none did. */
int syncer_problem(struct syncer *syncer);

/* How long the last sync took. */
uint64_t syncer_took_ns(struct syncer *syncer);

/* Waits until everything is on the disk; closes the file. */
void syncer_end(struct syncer *syncer);

#endif
