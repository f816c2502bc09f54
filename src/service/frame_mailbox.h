/* service/frame_mailbox.h - requests from the loop's thread to the frames' thread.
 *
 * The thread of the frames owns all worlds. Code that needs something from a world (an answer to a request, a changed
 * budget, a snapshot) puts a request into the mailbox; it is run between two frames, and its result is delivered on the
 * loop's thread:
 *
 *     loop's thread    frame_mailbox_post ------------------------.      .----> done()
 *     frames' thread   frame | ........ | frame | .... run() .... | frame
 *
 * Requests are run in the order in which they were posted, at once when the frames' thread waits for its next frame.
 * Frames come first: a request that is posted while one runs waits for its end.
 *
 * A request whose result must not leave the process yet is held after it was run, until it says that it may: it is
 * asked after each frame. Requests after it go on meanwhile. */
#ifndef SERVICE_FRAME_MAILBOX_H
#define SERVICE_FRAME_MAILBOX_H

#include <muster/common.h>
#include <sys/queue.h>
#include <uv.h>

struct service;

/* Stands at the beginning of a bigger struct, which the poster owns; the mailbox uses it from the post until `done`. */
typedef struct mailbox_request {
  void (*run)(struct mailbox_request *request, struct service *service); /* frames' thread, between two frames */
  void (*done)(struct mailbox_request *request);                         /* loop's thread, afterwards; may free it */
  bool (*may_go)(struct mailbox_request *request); /* frames' thread, after `run`, until it says yes; null = it may */
  STAILQ_ENTRY(mailbox_request) link;
} mailbox_request;

enum { MAILBOX_WAITING_MAX = 1024 };

/* Sums since the mailbox was opened. */
typedef struct mailbox_counts {
  uint64_t posted, refused, run;
  uint32_t waiting, held; /* now; together at most MAILBOX_WAITING_MAX */
} mailbox_counts;

typedef STAILQ_HEAD(mailbox_queue, mailbox_request) mailbox_queue;

/* The mutex guards all but the handle and `held`, which is the frames' thread's. */
struct frame_mailbox {
  uv_mutex_t mutex;
  uv_cond_t posted;
  uv_async_t answered; /* wakes the loop */
  mailbox_queue waiting, held, answers;
  mailbox_counts counts;
  bool closed; /* nothing is accepted any more */
  bool woken;  /* frame_mailbox_serve is to return */
};

/* Loop's thread. MUSTER_E_SYSTEM when the operating system refuses. */
muster_result frame_mailbox_open(struct frame_mailbox *mailbox, uv_loop_t *loop);

/* After the frames' thread has ended: calls `done` of every request still there, also of those that were held or not
 * run, and closes the handle, for which the loop must run once more. Loop's thread. */
void frame_mailbox_close(struct frame_mailbox *mailbox);

/* Loop's thread. MUSTER_E_FULL when MAILBOX_WAITING_MAX wait or are held, MUSTER_E_STATE after frame_mailbox_refuse.
 * `done` is then not called. */
muster_result frame_mailbox_post(struct frame_mailbox *mailbox, mailbox_request *request);

/* From now on nothing is accepted. Any thread. */
void frame_mailbox_refuse(struct frame_mailbox *mailbox);

/* Makes frame_mailbox_serve return soon, as if its time were over. Any thread. */
void frame_mailbox_wake(struct frame_mailbox *mailbox);

/* Lets go what is held and may go, then serves requests until `until_ns` (CLOCK_MONOTONIC; the begin of the next
 * frame), and sleeps while there are none. When that time is past or near, it still serves waiting requests for up to
 * `least_ns`. Frames' thread. */
void frame_mailbox_serve(struct frame_mailbox *mailbox, struct service *service, uint64_t until_ns, uint64_t least_ns);

/* Whether a request is held. Frames' thread. */
bool frame_mailbox_holds(const struct frame_mailbox *mailbox);

/* Any thread. */
mailbox_counts frame_mailbox_read_counts(struct frame_mailbox *mailbox);

#endif
