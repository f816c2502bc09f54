#include "service/desk.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/error.h"

static void desk_enqueue(desk_queue *queue, desk_request *request) {
  request->next = NULL;
  if (queue->first)
    queue->last->next = request;
  else
    queue->first = request;
  queue->last = request;
}

static desk_request *dequeue(desk_queue *queue) {
  desk_request *request = queue->first;
  if (request) queue->first = request->next;
  return request;
}

/* All answers that there are when it begins; `done` may post again. */
static void desk_hand_out(uv_async_t *answered) {
  struct desk *desk = answered->data;
  uv_mutex_lock(&desk->mutex);
  desk_queue answers = desk->answers;
  desk->answers = (desk_queue){0};
  uv_mutex_unlock(&desk->mutex);
  for (desk_request *request; (request = dequeue(&answers)) != NULL;) request->done(request);
}

muster_result desk_open(struct desk *desk, uv_loop_t *loop) {
  *desk = (struct desk){.answered.data = desk};
  int problem = uv_mutex_init(&desk->mutex);
  if (!problem) problem = uv_cond_init(&desk->posted);
  if (!problem) problem = uv_async_init(loop, &desk->answered, desk_hand_out);
  return problem ? error_set(MUSTER_E_SYSTEM, "cannot prepare the frames' desk: %s", uv_strerror(problem)) : MUSTER_OK;
}

static void free_locks(uv_handle_t *answered) {
  struct desk *desk = answered->data;
  uv_cond_destroy(&desk->posted);
  uv_mutex_destroy(&desk->mutex);
}

void desk_close(struct desk *desk) {
  desk_refuse(desk);
  desk_hand_out(&desk->answered);
  for (desk_request *request; (request = dequeue(&desk->waiting)) != NULL;) request->done(request);
  uv_close((uv_handle_t *)&desk->answered, free_locks);
}

muster_result desk_post(struct desk *desk, desk_request *request) {
  ASSERT(request->run && request->done);
  uv_mutex_lock(&desk->mutex);
  bool closed = desk->closed, full = desk->counts.waiting == DESK_WAITING_MAX;
  if (closed || full) {
    desk->counts.refused++;
  } else {
    desk_enqueue(&desk->waiting, request);
    desk->counts.posted++;
    desk->counts.waiting++;
    uv_cond_signal(&desk->posted);
  }
  uv_mutex_unlock(&desk->mutex);
  if (closed) return error_set(MUSTER_E_STATE, "the service is stopping: nothing can be asked of it any more");
  if (full) return error_set(MUSTER_E_FULL, "%u requests wait for the frames; try again", (unsigned)DESK_WAITING_MAX);
  return MUSTER_OK;
}

void desk_refuse(struct desk *desk) {
  uv_mutex_lock(&desk->mutex);
  desk->closed = true;
  uv_mutex_unlock(&desk->mutex);
}

void desk_rouse(struct desk *desk) {
  uv_mutex_lock(&desk->mutex);
  desk->roused = true;
  uv_cond_signal(&desk->posted);
  uv_mutex_unlock(&desk->mutex);
}

/* Called and left with the mutex held. */
static void serve_one(struct desk *desk, struct service *service) {
  desk_request *request = dequeue(&desk->waiting);
  desk->counts.waiting--;
  uv_mutex_unlock(&desk->mutex);
  request->run(request, service);
  uv_mutex_lock(&desk->mutex);
  desk->counts.run++;
  desk_enqueue(&desk->answers, request);
  uv_async_send(&desk->answered);
}

/* libuv waits for a length of time; over a day the rounding of one is worth nothing. */
static void sleep_until(struct desk *desk, uint64_t now_ns, uint64_t until_ns) {
  const uint64_t longest_ns = 86400000000000u;
  uint64_t left_ns = until_ns - now_ns;
  uv_cond_timedwait(&desk->posted, &desk->mutex, left_ns < longest_ns ? left_ns : longest_ns);
}

void desk_serve(struct desk *desk, struct service *service, uint64_t until_ns, uint64_t least_ns) {
  uint64_t now_ns = clock_system(), busy_until_ns = now_ns + least_ns;
  if (busy_until_ns < until_ns) busy_until_ns = until_ns;
  uv_mutex_lock(&desk->mutex);
  while (!desk->roused && (desk->waiting.first ? now_ns < busy_until_ns : now_ns < until_ns)) {
    if (desk->waiting.first)
      serve_one(desk, service);
    else
      sleep_until(desk, now_ns, until_ns);
    now_ns = clock_system();
  }
  desk->roused = false;
  uv_mutex_unlock(&desk->mutex);
}

desk_counts desk_read_counts(struct desk *desk) {
  uv_mutex_lock(&desk->mutex);
  desk_counts counts = desk->counts;
  uv_mutex_unlock(&desk->mutex);
  return counts;
}
