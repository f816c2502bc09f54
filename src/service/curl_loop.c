#include "service/curl_loop.h"

#include "base/error.h"

#include <stdlib.h>

struct curl_loop {
  uv_loop_t *loop;
  CURLM *multi;
  uv_timer_t *timer;
  curl_loop_ended ended;
};

/* A socket of libcurl in the loop. */
typedef struct curl_loop_socket {
  uv_poll_t poll;
  struct curl_loop *curls;
  curl_socket_t descriptor;
} curl_loop_socket;

static void take_ended(struct curl_loop *curls) {
  int left;
  for (CURLMsg *message; (message = curl_multi_info_read(curls->multi, &left)) != NULL;) {
    void *request = NULL;
    if (message->msg != CURLMSG_DONE) continue;
    CURLcode result = message->data.result; /* the message is gone once its handle is out of the loop */
    curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&request);
    curls->ended(request, result);
  }
}

static void on_ready(uv_poll_t *poll, int status, int events) {
  curl_loop_socket *socket = poll->data;
  struct curl_loop *curls = socket->curls;
  int running, flags = (events & UV_READABLE ? CURL_CSELECT_IN : 0) | (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);
  if (status < 0) flags = CURL_CSELECT_ERR;
  curl_multi_socket_action(curls->multi, socket->descriptor, flags, &running);
  take_ended(curls);
}

static void on_time(uv_timer_t *timer) {
  struct curl_loop *curls = timer->data;
  int running;
  curl_multi_socket_action(curls->multi, CURL_SOCKET_TIMEOUT, 0, &running);
  take_ended(curls);
}

static void free_socket(uv_handle_t *handle) {
  free(handle->data);
}

static int watch_socket(CURL *curl, curl_socket_t descriptor, int what, void *user, void *known) {
  struct curl_loop *curls = user;
  curl_loop_socket *socket = known;
  (void)curl;
  if (what == CURL_POLL_REMOVE) {
    if (!socket) return 0;
    uv_poll_stop(&socket->poll);
    uv_close((uv_handle_t *)&socket->poll, free_socket);
    curl_multi_assign(curls->multi, descriptor, NULL);
    return 0;
  }
  if (!socket) {
    socket = calloc(1, sizeof *socket);
    if (!socket || uv_poll_init(curls->loop, &socket->poll, descriptor)) abort();
    socket->curls = curls;
    socket->descriptor = descriptor;
    socket->poll.data = socket;
    curl_multi_assign(curls->multi, descriptor, socket);
  }
  int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
  return uv_poll_start(&socket->poll, events, on_ready);
}

static int watch_time(CURLM *multi, long wait_ms, void *user) {
  struct curl_loop *curls = user;
  (void)multi;
  if (wait_ms < 0) return uv_timer_stop(curls->timer);
  return uv_timer_start(curls->timer, on_time, (uint64_t)wait_ms, 0);
}

static void free_timer(uv_handle_t *handle) {
  free(handle);
}

struct curl_loop *curl_loop_open(uv_loop_t *loop, curl_loop_ended ended) {
  struct curl_loop *curls = calloc(1, sizeof *curls);
  if (curls) curls->timer = calloc(1, sizeof *curls->timer);
  if (curls && curls->timer) curls->multi = curl_multi_init();
  if (!curls || !curls->multi) {
    if (curls) free(curls->timer);
    free(curls);
    error_set(MUSTER_E_MEMORY, "no memory for requests");
    return NULL;
  }
  curls->loop = loop;
  curls->ended = ended;
  uv_timer_init(loop, curls->timer);
  curls->timer->data = curls;
  curl_multi_setopt(curls->multi, CURLMOPT_SOCKETFUNCTION, watch_socket);
  curl_multi_setopt(curls->multi, CURLMOPT_SOCKETDATA, curls);
  curl_multi_setopt(curls->multi, CURLMOPT_TIMERFUNCTION, watch_time);
  curl_multi_setopt(curls->multi, CURLMOPT_TIMERDATA, curls);
  curl_multi_setopt(curls->multi, CURLMOPT_MAXCONNECTS, 64L);
  return curls;
}

bool curl_loop_add(struct curl_loop *curls, CURL *request) {
  return curl_multi_add_handle(curls->multi, request) == CURLM_OK;
}

void curl_loop_remove(struct curl_loop *curls, CURL *request) {
  curl_multi_remove_handle(curls->multi, request);
}

void curl_loop_free(struct curl_loop *curls) {
  if (!curls) return;
  curl_multi_cleanup(curls->multi);
  uv_close((uv_handle_t *)curls->timer, free_timer);
  free(curls);
}
