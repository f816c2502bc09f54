/* own_server.h - a server of the service for one test, on a loop in a thread of its own, at a unix socket in a folder
 * of its own: what the test has made up is asked as a daemon is (control.h). */
#ifndef OWN_SERVER_H
#define OWN_SERVER_H

#include "control.h"
#include "service/http.h"

typedef struct own_server {
  musterd asked; /* what asks it knows the socket alone */
  uv_loop_t loop;
  uv_thread_t thread;
  uv_async_t stop;
  struct http *http;
  void (*end)(void); /* closes what else the test has in the loop; null = nothing. Loop's thread */
  int descriptor;
} own_server;

static void own_server_end(uv_async_t *async) {
  const own_server *server = async->data;
  if (server->end) server->end();
  http_destroy(server->http, NULL, NULL);
  uv_close((uv_handle_t *)async, NULL);
}

static void own_server_run(void *loop) {
  uv_run(loop, UV_RUN_DEFAULT);
}

/* A socket of a server at a path. */
static inline int own_server_listen(const char *path) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  snprintf(address.sun_path, sizeof address.sun_path, "%s", path);
  cr_assert(descriptor >= 0 && bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0 &&
                listen(descriptor, 16) == 0,
            "%s: %s", path, strerror(errno));
  return descriptor;
}

/* Makes loop and socket; the test then makes `http`, which listens at `descriptor`. */
static inline void own_server_prepare(own_server *server) {
  cr_assert(uv_loop_init(&server->loop) == 0 && uv_async_init(&server->loop, &server->stop, own_server_end) == 0);
  server->stop.data = server;
  char folder[] = "/tmp/muster-own-server-XXXXXX";
  cr_assert_not_null(mkdtemp(folder));
  strcpy(server->asked.folder, folder);
  snprintf(server->asked.socket, sizeof server->asked.socket, "%s/socket", folder);
  server->descriptor = own_server_listen(server->asked.socket);
}

static inline void own_server_begin(own_server *server) {
  cr_assert_not_null(server->http, "%s", muster_last_error());
  close(server->descriptor); /* the server has its own */
  cr_assert_eq(uv_thread_create(&server->thread, own_server_run, &server->loop), 0);
}

static inline void own_server_stop(own_server *server) {
  uv_async_send(&server->stop);
  uv_thread_join(&server->thread);
  cr_expect_eq(uv_loop_close(&server->loop), 0, "something is left in the loop");
  unlink(server->asked.socket);
  rmdir(server->asked.folder);
}

#endif
