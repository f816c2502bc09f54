#include "service/watchdog.h"

#include "service/notify.h"

#include "base/error.h"

static void answer(mailbox_request *request, struct service *service) {
  (void)request;
  (void)service;
}

static void answered(mailbox_request *request) {
  struct watchdog *watchdog = (struct watchdog *)request;
  watchdog->asked = false;
  notify_alive();
}

static void service_watchdog_ask(uv_timer_t *timer) {
  struct watchdog *watchdog = timer->data;
  if (!watchdog->running) {
    notify_alive();
  } else if (!watchdog->asked) {
    watchdog->request = (mailbox_request){.run = answer, .done = answered};
    watchdog->asked = frame_mailbox_post(watchdog->mailbox, &watchdog->request) == MUSTER_OK;
  }
}

muster_result watchdog_open(struct watchdog *watchdog, struct frame_mailbox *mailbox, uv_loop_t *loop) {
  uint64_t gap_ms = notify_alive_gap_ms();
  *watchdog = (struct watchdog){.mailbox = mailbox, .timer.data = watchdog};
  int problem = uv_timer_init(loop, &watchdog->timer);
  if (!problem && gap_ms) problem = uv_timer_start(&watchdog->timer, service_watchdog_ask, gap_ms, gap_ms);
  return problem ? error_set(MUSTER_E_SYSTEM, "no timer for signs of life: %s", uv_strerror(problem)) : MUSTER_OK;
}

void watchdog_watch_frames(struct watchdog *watchdog) {
  watchdog->running = true;
}

void watchdog_close(struct watchdog *watchdog) {
  uv_timer_stop(&watchdog->timer);
}
