/* Requests and streams on their way through the front of a daemon that runs each world in a process of its own: what
 * clients that leave, never read, or ask too much do to the others, and what they see of a process that ends. */
#include "control.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORLDS                                                                                                         \
  "--isolation process --stuck-kill 600s --agents 300 --hz 60 --world main=wildlife --world forest=wildlife"

#define OBSERVER "{\"position\": {\"x\": 1, \"y\": 2}}"

enum {
  STREAMS = 64,          /* that a world gives at most */
  DEAF = 16,             /* of them read nothing */
  HELD_MOST = 40 * 1024, /* bytes of a stream that the front holds for a client that reads nothing */
  WAITING = 128,
  MORE = 12, /* requests that may wait for a world, and some more */
  LEAVING = 100,
  FRAMES = 150
};

static musterd service;
static daemon_reply reply;

static void start(void) {
  daemon_start(&service, WORLDS);
}

static void stop(void) {
  daemon_stop(&service);
}

TestSuite(front, .init = start, .fini = stop, .timeout = 120);

/* A sample of /metrics. */
static double measured(const char *sample) {
  double value = daemon_metric(&service, sample);
  cr_assert(value >= 0, "there is no %s", sample);
  return value;
}

/* The process of a world that runs now, as the log tells last. */
static pid_t process_of(const char *world) {
  char text[64];
  int process = 0;
  char *log = daemon_log(&service);
  snprintf(text, sizeof text, "world %s runs in process ", world);
  for (const char *at = log; (at = strstr(at, text)) != NULL;) process = atoi(at += strlen(text));
  free(log);
  cr_assert(process > 0, "world %s does not run", world);
  return process;
}

/* A connection on which a request was sent. */
static int begin(const char *method, const char *path, const char *body) {
  char request[512];
  int client = daemon_connect(&service);
  int length = snprintf(request, sizeof request,
                        "%s %s HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n"
                        "Content-Length: %zu\r\n\r\n%s",
                        method, path, strlen(body), body);
  cr_assert_eq(send(client, request, (size_t)length, MSG_NOSIGNAL), length);
  return client;
}

static int begin_stream(const char *world) {
  char path[64];
  snprintf(path, sizeof path, "/v1/worlds/%s/stream?hz=20", world);
  return begin("GET", path, "");
}

/* Reads until a text comes; false when the connection ends before. */
static bool await_text(int client, const char *text) {
  static char bytes[1 << 16];
  size_t length = 0, keep = strlen(text) - 1;
  for (;;) {
    ssize_t more = recv(client, bytes + length, sizeof bytes - 1 - length, 0);
    if (more < 0 && errno == EINTR) continue;
    if (more <= 0) return false;
    length += (size_t)more;
    bytes[length] = '\0';
    if (strstr(bytes, text)) return true;
    if (length < sizeof bytes / 2) continue;
    memmove(bytes, bytes + length - keep, keep);
    length = keep;
  }
}

static int status_of(int client) {
  char begun[13] = "";
  cr_assert_eq(recv(client, begun, sizeof begun - 1, MSG_WAITALL), (ssize_t)sizeof begun - 1);
  return atoi(begun + 9);
}

static long long count_observers(const char *path) {
  json_t *list = control_ask(&service, "GET", path, NULL, 200);
  long long count = (long long)json_array_size(control_member(list, "observers"));
  json_decref(list);
  return count;
}

/* Asks until the world is there again. */
static void await_world(const char *path) {
  do daemon_ask(&service, "GET", path, NULL, &reply);
  while (reply.status != 200);
}

/* ------------------------------------------------------------------------------------------------------- requests */

Test(front, each_request_reaches_its_world_and_what_it_says_comes_back) {
  json_t *one = control_ask(&service, "GET", "/v1/worlds/main", NULL, 200),
         *other = control_ask(&service, "GET", "/v1/worlds/forest", NULL, 200);
  cr_expect_str_eq(control_text(one, "world"), "main");
  cr_expect_str_eq(control_text(other, "world"), "forest");
  json_decref(one), json_decref(other);
  long long before = count_observers("/v1/worlds/forest/observers");
  json_decref(control_ask(&service, "POST", "/v1/worlds/forest/observers", OBSERVER, 201));
  while (count_observers("/v1/worlds/forest/observers") <= before) continue; /* it comes in at the next frame */
  cr_expect_eq(count_observers("/v1/worlds/main/observers?limit=5"), before);
  CONTROL_EXPECT_REFUSALS(
      &service, {"GET", "/v1/worlds/nowhere", NULL, 404, "unknown_world", "world"},
      {"GET", "/v1/worlds/main/agents?limit=0", NULL, 400, "out_of_range", "limit"},
      {"GET", "/v1/worlds/main/agents?near=1,2,-3", NULL, 400, "out_of_range", "near"},
      {"GET", "/v1/worlds/main/types/a%2Fb%20%25c", NULL, 404, "unknown_path", ""},
      {"PATCH", "/v1/worlds/main", "{\"hz\": -1}", 400, "out_of_range", "hz"},
      {"POST", "/v1/worlds/main/types/no%20such%3Ftype/reinstate", NULL, 404, "unknown_type", "type"});
  daemon_ask(&service, "HEAD", "/v1/worlds/main", NULL, &reply);
  cr_expect(reply.status == 200 && reply.length == 0, "%d, %zu bytes", reply.status, reply.length);
  daemon_ask(&service, "GET", "/v1/worlds/main/map?max=0", NULL, &reply);
  cr_expect(strstr(reply.text, "Content-Type: application/octet-stream\r\n") && strncmp(reply.body, "MMAP", 4) == 0);
}

Test(front, requests_for_a_process_that_does_not_move_are_bounded) {
  int clients[WAITING + MORE], taken = 0;
  pid_t process = process_of("main");
  cr_assert_eq(kill(process, SIGSTOP), 0);
  for (int i = 0; i < WAITING; i++) clients[i] = begin("GET", "/v1/worlds/main", "");
  /* The question of the metrics itself waits, too, until it is given up. */
  while (measured("muster_front_requests_waiting{world=\"main\"}") < WAITING) continue;
  for (int i = WAITING; i < WAITING + MORE; i++) {
    clients[i] = begin("GET", "/v1/worlds/main", "");
    cr_expect_eq(status_of(clients[i]), 429);
  }
  json_decref(control_ask(&service, "GET", "/v1/worlds/forest", NULL, 200));
  json_t *ready = control_ask(&service, "GET", "/readyz", NULL, 503);
  cr_expect_str_eq(control_text(ready, "reasons.0.world"), "main");
  json_decref(ready);
  cr_assert_eq(kill(process, SIGCONT), 0);
  for (int i = 0; i < WAITING; i++) taken += status_of(clients[i]) == 200;
  cr_expect_eq(taken, WAITING);
  for (int i = 0; i < WAITING + MORE; i++) close(clients[i]);
}

/* The client is told that it may ask again, which only makes it once with a key. */
Test(front, a_change_that_a_process_did_not_take_before_it_died_is_not_made_by_the_next) {
  long long before = count_observers("/v1/worlds/main/observers");
  pid_t process = process_of("main");
  cr_assert_eq(kill(process, SIGSTOP), 0);
  int client = begin("POST", "/v1/worlds/main/observers", OBSERVER);
  while (measured("muster_front_requests_waiting{world=\"main\"}") < 1) continue;
  cr_assert_eq(kill(process, SIGKILL), 0);
  cr_expect_eq(status_of(client), 503);
  cr_expect(await_text(client, "Retry-After: 1\r\n"));
  close(client);
  await_world("/v1/worlds/main");
  control_await_count(&service, "/v1/worlds/main", "frames", 3);
  cr_expect_eq(count_observers("/v1/worlds/main/observers"), before);
}

/* Begins `muster ctl observe 1,2 ...`, and kills the world's process before it answers. Returns how it ended. */
static char said[4096];

static int observe_while_it_dies(const char *more) {
  char line[512];
  pid_t process = process_of("main");
  cr_assert_eq(kill(process, SIGSTOP), 0);
  snprintf(line, sizeof line, "%s ctl --socket %s --world main observe 1,2 %s 2>&1", getenv("MUSTER"), service.socket,
           more);
  FILE *output = popen(line, "re");
  cr_assert_not_null(output);
  while (measured("muster_front_requests_waiting{world=\"main\"}") < 1) continue;
  cr_assert_eq(kill(process, SIGKILL), 0);
  said[fread(said, 1, sizeof said - 1, output)] = '\0';
  int status = pclose(output);
  await_world("/v1/worlds/main");
  control_await_count(&service, "/v1/worlds/main", "frames", 3);
  return status;
}

Test(front, ctl_sends_a_change_again_when_a_process_died_before_it_answered) {
  control_await_count(&service, "/v1/worlds/main", "frames", 3);
  long long before = count_observers("/v1/worlds/main/observers");
  int status = observe_while_it_dies("");
  cr_expect_eq(status, 0, "%s", said);
  while (count_observers("/v1/worlds/main/observers") <= before) continue; /* it comes in at the next frame */
  cr_expect_eq(count_observers("/v1/worlds/main/observers"), before + 1);
}

Test(front, ctl_sends_it_once_where_that_is_wanted) {
  control_await_count(&service, "/v1/worlds/main", "frames", 3);
  long long before = count_observers("/v1/worlds/main/observers");
  int status = observe_while_it_dies("--no-retry");
  cr_expect(status != 0 && strstr(said, "with the same Idempotency-Key again"), "%s", said);
  cr_expect_eq(count_observers("/v1/worlds/main/observers"), before);
}

/* -------------------------------------------------------------------------------------------------------- clients */

Test(front, clients_that_leave_in_the_middle_leave_nothing_behind) {
  for (int i = 0; i < LEAVING; i++) {
    close(begin("GET", "/v1/worlds/main/agents?limit=200", ""));
    int stream = begin_stream(i % 2 ? "main" : "forest");
    if (i % 4 < 2) cr_assert(await_text(stream, "event: "));
    close(stream);
  }
  while (measured("muster_front_streams{world=\"main\"}") + measured("muster_front_streams{world=\"forest\"}") > 0)
    continue;
  while (measured("muster_http_connections") > 1) continue; /* of this question */
  /* A process sees that a stream is not wanted any more when it has something to send. */
  int streams[STREAMS];
  for (int i = 0; i < STREAMS; i++)
    while (status_of(streams[i] = begin_stream("main")) != 200) close(streams[i]);
  for (int i = 0; i < STREAMS; i++) close(streams[i]);
}

Test(front, pages_that_never_read_are_bounded_and_delay_no_other) {
  int streams[STREAMS];
  for (int i = 0; i < STREAMS; i++) {
    streams[i] = begin_stream("main");
    cr_assert_eq(status_of(streams[i]), 200, "stream %d", i);
  }
  int beyond = begin_stream("main");
  cr_expect_eq(status_of(beyond), 429);
  /* As long as it takes until the sockets of the deaf are full, and what comes then stays at the front. */
  do {
    for (int i = DEAF; i < STREAMS; i++) cr_assert(await_text(streams[i], "event: frame"), "stream %d has ended", i);
  } while (measured("muster_front_bytes{world=\"main\"}") < DEAF * 8192);
  /* So many frames that each of the deaf is sent more than the most once more. */
  const char *frames = "muster_frames_total{world=\"main\"}";
  for (double begun = measured(frames); measured(frames) < begun + FRAMES;)
    for (int i = DEAF; i < STREAMS; i++) cr_assert(await_text(streams[i], "event: frame"), "stream %d has ended", i);
  cr_expect_eq(measured("muster_front_streams{world=\"main\"}"), STREAMS);
  cr_expect_leq(measured("muster_front_bytes{world=\"main\"}"), DEAF * HELD_MOST);
  json_decref(control_ask(&service, "GET", "/v1/worlds/main", NULL, 200));
  int other = begin_stream("forest");
  cr_expect(await_text(other, "\"world\": \"forest\""));
  close(beyond), close(other);
  for (int i = 0; i < STREAMS; i++) close(streams[i]);
}

/* -------------------------------------------------------------------------------------------------------- streams */

Test(front, the_end_of_a_process_ends_its_streams_and_no_other) {
  int ended = begin_stream("main"), goes_on = begin_stream("forest");
  cr_assert(await_text(ended, "event: frame") && await_text(goes_on, "event: frame"));
  cr_assert_eq(kill(process_of("main"), SIGKILL), 0);
  cr_expect(!await_text(ended, "no event has this name"));
  cr_expect(await_text(goes_on, "event: frame"));
  await_world("/v1/worlds/main");
  int again = begin_stream("main");
  cr_expect(await_text(again, "event: frame"));
  cr_expect(await_text(goes_on, "event: frame"));
  close(ended), close(goes_on), close(again);
}

Test(front, stops_in_order_while_streams_are_read_and_not_read) {
  int read = begin_stream("main"), deaf = begin_stream("forest");
  cr_assert(await_text(read, "event: frame"));
  daemon_signal(&service, SIGTERM);
  cr_expect(!await_text(read, "no event has this name"));
  cr_expect_eq(daemon_wait(&service), 0);
  close(read), close(deaf);
}
