/* service/snapshots.h - the worlds on disk, while the service runs and when it starts again.
 *
 * A snapshot is written by a process that is forked between two frames: its memory stays as it was at the fork, and
 * frames pause only for the fork. One snapshot is written at a time; the loop is told of its end.
 *
 *     FILE.new  ->  fsync  ->  FILE becomes FILE.previous, too  ->  FILE.new becomes FILE  ->  fsync of the folder
 *
 * So FILE is whole at any moment. A process that writes dies with the service, and holds FILE.lock until then: a start
 * waits for that, and finds the newest snapshot that was completed. A snapshot that is damaged, or of other settings,
 * is refused with the reason and renamed to FILE.damaged-N; then the previous one is tried; then worlds begin anew. A
 * path that is no regular file is neither opened nor renamed: a start with it is refused, and a snapshot over it
 * fails. */
#ifndef SERVICE_SNAPSHOTS_H
#define SERVICE_SNAPSHOTS_H

#include "service/snapshot_file.h"

#include <uv.h>

struct service;

enum { SNAPSHOT_PATH_BYTES = PATH_BYTES + 32, SNAPSHOT_REASON_BYTES = 256 };

/* Facts about the snapshots. */
typedef struct snapshots_status {
  uint64_t written, failed;            /* counts since the start */
  uint64_t number;                     /* of the newest, counted from the first of all */
  uint64_t bytes, write_ns;            /* of the newest: size, and how long its process took */
  uint64_t pause_ns;                   /* how long the frames paused for the last fork */
  int64_t written_at;                  /* of the newest: seconds since 1970; 0 = none in this run */
  bool enabled, running;               /* enabled: there is a file; running: a snapshot is being written */
  bool unsaved;                        /* the last attempt failed */
  char failure[SNAPSHOT_REASON_BYTES]; /* why the last failed one failed; "" = none did */
  char restored[SNAPSHOT_PATH_BYTES];  /* the file that the worlds were restored from; "" = they began anew */
  uint32_t refused;                    /* files that were refused and renamed at the start */
} snapshots_status;

struct snapshots {
  char path[PATH_BYTES]; /* "" = no snapshots */
  int lock;
  uv_loop_t *loop;
  uv_async_t news; /* from the frames' thread: a process was forked */
  uv_mutex_t mutex;
  uv_cond_t idle; /* signalled when no snapshot is being written */
  /* guarded by the mutex: */
  snapshots_status status;
  uint64_t interval_ns;
  int process, pipe; /* the writing process; the pipe for its result */
  /* frames' thread */
  uint64_t due_ns; /* CLOCK_MONOTONIC; 0 = not known yet */
};

/* Whether every name that a snapshot at `path` is written to or renamed is free or a regular file's; "" is allowed.
 * MUSTER_E_INPUT with the name and the kind of file there. Any thread. */
muster_result snapshots_check_path(const char *path);

/* Before the frames' thread starts. Loop's thread. */
muster_result snapshots_open(struct snapshots *snapshots, uv_loop_t *loop, const struct settings *settings);

/* Takes the lock, if there is a file; waits a little for a process that a killed service left behind, which ends within
 * moments. MUSTER_E_SYSTEM when another service writes this file, when the folder cannot be written to, or when the
 * service is to stop meanwhile. Frames' thread, before the worlds are opened. */
muster_result snapshots_lock(struct service *service);

/* The same for any snapshot's file, by the descriptor *lock, which the caller closes if it is not -1. `service` may be
 * null: then nothing cuts the waiting short. */
muster_result snapshots_lock_file(const char *file, struct service *service, int *lock);

/* A reload changed the interval; 0 = only on demand and at the end. Any thread. */
void snapshots_set_interval(struct snapshots *snapshots, uint64_t interval_ns);

/* Whether there is a file and the module cannot be saved: MUSTER_E_STATE with what to do. Frames' thread. */
muster_result snapshots_check_module(const struct snapshots *snapshots, const char *world, const muster_module *module);

/* Opens the next file to restore from: begin with *which = 0. `found` is false when there is none. MUSTER_E_SYSTEM and
 * MUSTER_E_MEMORY when the system refuses to, which says nothing about the file. Frames' thread, like the functions
 * below up to snapshots_accept. */
muster_result snapshots_next(struct snapshots *snapshots, uint32_t *which, struct snapshot_file *file, bool *found);

/* The file that snapshots_next found last cannot be restored, for the reason in muster_last_error(): it is renamed. */
void snapshots_refuse(struct snapshots *snapshots, uint32_t which);

/* The worlds were restored from it; with `keep` a copy is kept as FILE.left-out-N, since it has more worlds than
 * those. */
void snapshots_accept(struct snapshots *snapshots, uint32_t which, const struct snapshot_file *file, bool keep);

/* Between two frames: begins a snapshot when it is due. Frames' thread. */
void snapshots_turn(struct service *service);

/* Begins a snapshot now. MUSTER_E_STATE when there is no file, MUSTER_E_FULL when one is being written, MUSTER_E_SYSTEM
 * when the system refuses. Frames' thread, between two frames (as a mailbox_request's run is). */
muster_result snapshots_take(struct service *service);

/* The same from the loop's thread: the outcome is in the log. */
void snapshots_ask(struct service *service);

/* After the last frame: waits for the snapshot that is being written, and writes a last one. False when that failed;
 * the reason is in the log. Frames' thread. */
bool snapshots_finish(struct service *service);

/* Any thread. */
void snapshots_read_status(struct snapshots *snapshots, snapshots_status *status);

/* Called after the frames' thread forked a process: the loop watches it until its end. */
void snapshots_take_news(uv_async_t *news);

/* After the frames' thread has ended. Loop's thread. */
void snapshots_close(struct snapshots *snapshots);

#endif
