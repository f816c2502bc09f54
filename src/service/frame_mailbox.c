#include "service/frame_mailbox.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"

/* Delivers what is in the queue when it begins; `done` may post again, and free the request. */
static void deliver(mailbox_queue *queue) {
  for (mailbox_request *request; (request = STAILQ_FIRST(queue)) != NULL;) {
    STAILQ_REMOVE_HEAD(queue, link);
    request->done(request);
  }
}

static void frame_mailbox_hand_out(uv_async_t *answered) {
  struct frame_mailbox *mailbox = answered->data;
  mailbox_queue answers = STAILQ_HEAD_INITIALIZER(answers);
  uv_mutex_lock(&mailbox->mutex);
  STAILQ_CONCAT(&answers, &mailbox->answers);
  uv_mutex_unlock(&mailbox->mutex);
  deliver(&answers);
}

muster_result frame_mailbox_open(struct frame_mailbox *mailbox, uv_loop_t *loop) {
  *mailbox = (struct frame_mailbox){.answered.data = mailbox};
  STAILQ_INIT(&mailbox->waiting);
  STAILQ_INIT(&mailbox->held);
  STAILQ_INIT(&mailbox->answers);
  int problem = uv_mutex_init(&mailbox->mutex);
  if (!problem) problem = uv_cond_init(&mailbox->posted);
  if (!problem) problem = uv_async_init(loop, &mailbox->answered, frame_mailbox_hand_out);
  return problem ? error_set(MUSTER_E_SYSTEM, "cannot prepare the frames' mailbox: %s", uv_strerror(problem))
                 : MUSTER_OK;
}

static void free_locks(uv_handle_t *answered) {
  struct frame_mailbox *mailbox = answered->data;
  uv_cond_destroy(&mailbox->posted);
  uv_mutex_destroy(&mailbox->mutex);
}

void frame_mailbox_close(struct frame_mailbox *mailbox) {
  frame_mailbox_refuse(mailbox);
  frame_mailbox_hand_out(&mailbox->answered);
  deliver(&mailbox->held);
  deliver(&mailbox->waiting);
  uv_close((uv_handle_t *)&mailbox->answered, free_locks);
}

muster_result frame_mailbox_post(struct frame_mailbox *mailbox, mailbox_request *request) {
  ASSERT(request->run && request->done);
  uv_mutex_lock(&mailbox->mutex);
  bool closed = mailbox->closed, full = mailbox->counts.waiting + mailbox->counts.held >= MAILBOX_WAITING_MAX;
  if (closed || full) {
    mailbox->counts.refused++;
  } else {
    STAILQ_INSERT_TAIL(&mailbox->waiting, request, link);
    mailbox->counts.posted++;
    mailbox->counts.waiting++;
    uv_cond_signal(&mailbox->posted);
  }
  uv_mutex_unlock(&mailbox->mutex);
  if (closed) return error_set(MUSTER_E_STATE, "the service is stopping: nothing can be asked of it any more");
  if (full)
    return error_set(MUSTER_E_FULL, "%u requests wait for the frames; try again", (unsigned)MAILBOX_WAITING_MAX);
  return MUSTER_OK;
}

void frame_mailbox_refuse(struct frame_mailbox *mailbox) {
  uv_mutex_lock(&mailbox->mutex);
  mailbox->closed = true;
  uv_mutex_unlock(&mailbox->mutex);
}

void frame_mailbox_wake(struct frame_mailbox *mailbox) {
  uv_mutex_lock(&mailbox->mutex);
  mailbox->woken = true;
  uv_cond_signal(&mailbox->posted);
  uv_mutex_unlock(&mailbox->mutex);
}

static bool may_go(mailbox_request *request) {
  return !request->may_go || request->may_go(request);
}

/* The mutex is held. */
static void hand_over(struct frame_mailbox *mailbox, mailbox_request *request) {
  STAILQ_INSERT_TAIL(&mailbox->answers, request, link);
  uv_async_send(&mailbox->answered);
}

/* All are asked, since those of one world may go while those of another may not. */
static void let_held_go(struct frame_mailbox *mailbox) {
  mailbox_queue held = STAILQ_HEAD_INITIALIZER(held), free = STAILQ_HEAD_INITIALIZER(free);
  uint32_t count = 0;
  STAILQ_CONCAT(&held, &mailbox->held);
  for (mailbox_request *request; (request = STAILQ_FIRST(&held)) != NULL;) {
    STAILQ_REMOVE_HEAD(&held, link);
    bool goes = may_go(request);
    count += goes;
    if (goes)
      STAILQ_INSERT_TAIL(&free, request, link);
    else
      STAILQ_INSERT_TAIL(&mailbox->held, request, link);
  }
  if (count == 0) return;
  uv_mutex_lock(&mailbox->mutex);
  mailbox->counts.held -= count;
  STAILQ_CONCAT(&mailbox->answers, &free);
  uv_async_send(&mailbox->answered);
  uv_mutex_unlock(&mailbox->mutex);
}

/* Runs one request. The mutex is held at the call and at the return. */
static void serve_one(struct frame_mailbox *mailbox, struct service *service) {
  mailbox_request *request = STAILQ_FIRST(&mailbox->waiting);
  STAILQ_REMOVE_HEAD(&mailbox->waiting, link);
  uv_mutex_unlock(&mailbox->mutex);
  request->run(request, service);
  bool goes = may_go(request);
  if (!goes) STAILQ_INSERT_TAIL(&mailbox->held, request, link);
  uv_mutex_lock(&mailbox->mutex);
  mailbox->counts.waiting--;
  mailbox->counts.run++;
  mailbox->counts.held += !goes;
  if (goes) hand_over(mailbox, request);
}

/* libuv's wait takes a duration; a longer one is cut to a day. */
static void sleep_until(struct frame_mailbox *mailbox, uint64_t now_ns, uint64_t until_ns) {
  const uint64_t longest_ns = 86400000000000u;
  uint64_t left_ns = until_ns - now_ns;
  uv_cond_timedwait(&mailbox->posted, &mailbox->mutex, left_ns < longest_ns ? left_ns : longest_ns);
}

void frame_mailbox_serve(struct frame_mailbox *mailbox, struct service *service, uint64_t until_ns, uint64_t least_ns) {
  uint64_t now_ns = clock_system(), busy_until_ns = now_ns + least_ns;
  if (busy_until_ns < until_ns) busy_until_ns = until_ns;
  let_held_go(mailbox);
  uv_mutex_lock(&mailbox->mutex);
  while (!mailbox->woken && (!STAILQ_EMPTY(&mailbox->waiting) ? now_ns < busy_until_ns : now_ns < until_ns)) {
    if (!STAILQ_EMPTY(&mailbox->waiting))
      serve_one(mailbox, service);
    else
      sleep_until(mailbox, now_ns, until_ns);
    now_ns = clock_system();
  }
  mailbox->woken = false;
  uv_mutex_unlock(&mailbox->mutex);
}

bool frame_mailbox_holds(const struct frame_mailbox *mailbox) {
  return !STAILQ_EMPTY(&mailbox->held);
}

mailbox_counts frame_mailbox_read_counts(struct frame_mailbox *mailbox) {
  uv_mutex_lock(&mailbox->mutex);
  mailbox_counts counts = mailbox->counts;
  uv_mutex_unlock(&mailbox->mutex);
  return counts;
}
