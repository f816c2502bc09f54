/* service/desk.h - what the loop's thread asks of the frames' thread.
 *
 * The thread of the frames owns all worlds. Whoever wants something of one (an answer to a request, a changed budget, a
 * snapshot) puts a request on the desk; it is run between two frames, and what it found is told on the loop's thread:
 *
 *     loop's thread    desk_post ------------------------.      .----> done()
 *     frames' thread   frame | ........ | frame | .... run() .... | frame
 *
 * Requests are run in the order in which they were posted, at once when the frames' thread waits for its next frame.
 * Frames come first: a request that is posted while one runs waits for its end. */
#ifndef SERVICE_DESK_H
#define SERVICE_DESK_H

#include <muster/common.h>
#include <uv.h>

struct service;

/* Stands at the beginning of a bigger struct, which the asker owns: until `done` for as long as it was posted. */
typedef struct desk_request {
  void (*run)(struct desk_request *request, struct service *service); /* frames' thread, between two frames */
  void (*done)(struct desk_request *request);                         /* loop's thread, afterwards; may free it */
  struct desk_request *next;
} desk_request;

enum { DESK_WAITING_MAX = 1024 };

/* Sums since the desk was opened. */
typedef struct desk_counts {
  uint64_t posted, refused, run;
  uint32_t waiting; /* now */
} desk_counts;

typedef struct desk_queue {
  desk_request *first, *last;
} desk_queue;

/* All but the handle is guarded by the mutex. */
struct desk {
  uv_mutex_t mutex;
  uv_cond_t posted;
  uv_async_t answered; /* wakes the loop */
  desk_queue waiting, answers;
  desk_counts counts;
  bool closed; /* nothing is accepted any more */
  bool roused; /* desk_serve is to return */
};

/* Loop's thread. MUSTER_E_SYSTEM when the operating system refuses. */
muster_result desk_open(struct desk *desk, uv_loop_t *loop);

/* After the frames' thread has ended: calls `done` of whatever is still there (what was not run, too) and closes the
 * handle, which the loop must run once more for. Loop's thread. */
void desk_close(struct desk *desk);

/* Loop's thread. MUSTER_E_FULL when DESK_WAITING_MAX wait, MUSTER_E_STATE after desk_refuse. `done` is then not called.
 */
muster_result desk_post(struct desk *desk, desk_request *request);

/* From now on nothing is accepted. Any thread. */
void desk_refuse(struct desk *desk);

/* Makes desk_serve return soon, as if its time were over. Any thread. */
void desk_rouse(struct desk *desk);

/* Serves requests until `until_ns` (CLOCK_MONOTONIC; the begin of the next frame), asleep while there are none; where
 * that is past or near, for up to `least_ns` while requests wait. Frames' thread. */
void desk_serve(struct desk *desk, struct service *service, uint64_t until_ns, uint64_t least_ns);

/* Any thread. */
desk_counts desk_read_counts(struct desk *desk);

#endif
