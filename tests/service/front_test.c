/* Requests and streams on their way through the front of a daemon that runs each world in a process of its own: what
 * clients that leave, never read, or ask too much do to the others, and what they see of a process that ends. */
#include "served.h"

#include <poll.h>

#define WORLDS                                                                                                         \
  "--isolation process --stuck-kill 600s --stop-grace 60s --agents 300 --hz 60 --world main=wildlife --world "         \
  "forest=wildlife"

#define WAITING_SAMPLE "muster_front_requests_waiting{world=\"main\"}"
#define OBSERVERS      WORLD "/observers"
#define OBSERVER       "{\"position\": {\"x\": 1, \"y\": 2}}"

enum {
  STREAMS = 64,          /* that a world gives at most */
  DEAF = 16,             /* of them read nothing */
  HELD_MOST = 40 * 1024, /* bytes of a stream that the front holds for a client that reads nothing */
  WAITING = 128,
  MORE = 12, /* requests that may wait for a world, and some more */
  LEAVING = 100,
  FRAMES = 150
};

static void start(void) {
  daemon_start(&service, WORLDS);
}

TestSuite(front, .init = start, .fini = stop, .timeout = 120);

/* A connection on which a request was sent. */
static int begin(const char *method, const char *path, const char *body) {
  return daemon_begin(&service, method, path, "application/json", body, strlen(body));
}

static int begin_stream(const char *world) {
  return begin("GET", formed("/v1/worlds/%s/stream?hz=20", world), "");
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

static long long count_observers(const char *path) {
  return (long long)size_at(path, "observers");
}

static void await_world(void) {
  while (fetch("GET", WORLD, NULL)->status != 200) continue;
}

/* ------------------------------------------------------------------------------------------------------- requests */

Test(front, each_request_reaches_its_world_and_what_it_says_comes_back) {
  expect_at(WORLD, "{'world': 'main'}");
  expect_at("/v1/worlds/forest", "{'world': 'forest'}");
  long long before = count_observers("/v1/worlds/forest/observers");
  tell("POST", "/v1/worlds/forest/observers", OBSERVER, 201);
  while (count_observers("/v1/worlds/forest/observers") <= before) continue; /* it comes in at the next frame */
  cr_expect_eq(count_observers(WORLD "/observers?limit=5"), before);
  EXPECT_REFUSALS(GET("/v1/worlds/nowhere", 404, "unknown_world", "world"),
                  GET(WORLD "/agents?limit=0", 400, "out_of_range", "limit"),
                  GET(WORLD "/agents?near=1,2,-3", 400, "out_of_range", "near"),
                  GET(WORLD "/types/a%2Fb%20%25c", 404, "unknown_path", ""),
                  {"PATCH", WORLD, "{'hz': -1}", 400, "out_of_range", "hz"},
                  {"POST", WORLD "/types/no%20such%3Ftype/reinstate", NULL, 404, "unknown_type", "type"});
  fetch("HEAD", WORLD, NULL);
  cr_expect(reply.status == 200 && reply.length == 0, "%d, %zu bytes", reply.status, reply.length);
  fetch("GET", WORLD "/map?max=0", NULL);
  cr_expect(strstr(reply.text, "Content-Type: application/octet-stream\r\n") && strncmp(reply.body, "MMAP", 4) == 0);
}

Test(front, requests_for_a_process_that_does_not_move_are_bounded) {
  int clients[WAITING + MORE], taken = 0;
  pid_t process = control_pid_of(&service, "main");
  cr_assert_eq(kill(process, SIGSTOP), 0);
  for (int i = 0; i < WAITING; i++) clients[i] = begin("GET", WORLD, "");
  /* The question of the metrics itself waits, too, until it is given up. */
  while (measured(WAITING_SAMPLE) < WAITING) continue;
  for (int i = WAITING; i < WAITING + MORE; i++) {
    clients[i] = begin("GET", WORLD, "");
    cr_expect_eq(control_status(clients[i]), 429);
  }
  tell("GET", "/v1/worlds/forest", NULL, 200);
  expect_asked("GET", "/readyz", NULL, 503, "{'reasons.0.world': 'main'}");
  cr_assert_eq(kill(process, SIGCONT), 0);
  for (int i = 0; i < WAITING; i++) taken += control_status(clients[i]) == 200;
  cr_expect_eq(taken, WAITING);
  close_all(clients, WAITING + MORE);
}

/* The client is told that it may ask again, which only makes it once with a key. */
Test(front, a_change_that_a_process_did_not_take_before_it_died_is_not_made_by_the_next) {
  long long before = count_observers(OBSERVERS);
  pid_t process = control_pid_of(&service, "main");
  cr_assert_eq(kill(process, SIGSTOP), 0);
  int client = begin("POST", OBSERVERS, OBSERVER);
  AWAIT(measured(WAITING_SAMPLE) >= 1);
  cr_assert_eq(kill(process, SIGKILL), 0);
  cr_expect_eq(control_status(client), 503);
  cr_expect(await_text(client, "Retry-After: 1\r\n"));
  close(client);
  await_world();
  await_count(WORLD, "frames", 3);
  cr_expect_eq(count_observers(OBSERVERS), before);
}

/* Its process is asked to end, and may answer until it has. */
Test(front, a_request_waits_for_a_process_that_is_asked_to_end) {
  pid_t process = control_pid_of(&service, "main");
  expect_logged("musterd: world main: workers ");
  expect_logged("musterd: world forest: workers ");
  cr_assert_eq(kill(process, SIGSTOP), 0);
  int client = begin("GET", WORLD, "");
  AWAIT(measured(WAITING_SAMPLE) >= 1);
  tell("POST", WORLD "/restart", NULL, 202);
  cr_expect_eq(measured(WAITING_SAMPLE), 1);
  cr_expect_eq(poll(&(struct pollfd){.fd = client, .events = POLLIN}, 1, 0), 0, "it was refused");
  cr_assert_eq(kill(process, SIGKILL), 0);
  cr_expect_eq(control_status(client), 503);
  close(client);
  await_world();
}

/* Begins `muster ctl observe 1,2 ...`, and kills the world's process before it answers. Returns how it ended. */
static char said[4096];

static int observe_while_it_dies(const char *more) {
  pid_t process = control_pid_of(&service, "main");
  cr_assert_eq(kill(process, SIGSTOP), 0);
  FILE *output = popen(
      formed("%s ctl --socket %s --world main observe 1,2 %s 2>&1", getenv("MUSTER"), service.socket, more), "re");
  cr_assert_not_null(output);
  AWAIT(measured(WAITING_SAMPLE) >= 1);
  cr_assert_eq(kill(process, SIGKILL), 0);
  said[fread(said, 1, sizeof said - 1, output)] = '\0';
  int status = pclose(output);
  await_world();
  await_count(WORLD, "frames", 3);
  return status;
}

Test(front, ctl_sends_a_change_again_when_a_process_died_before_it_answered) {
  await_count(WORLD, "frames", 3);
  long long before = count_observers(OBSERVERS);
  int status = observe_while_it_dies("");
  cr_expect_eq(status, 0, "%s", said);
  while (count_observers(OBSERVERS) <= before) continue; /* it comes in at the next frame */
  cr_expect_eq(count_observers(OBSERVERS), before + 1);
}

Test(front, ctl_sends_it_once_where_that_is_wanted) {
  await_count(WORLD, "frames", 3);
  long long before = count_observers(OBSERVERS);
  int status = observe_while_it_dies("--no-retry");
  cr_expect(status != 0 && strstr(said, "with the same Idempotency-Key again"), "%s", said);
  cr_expect_eq(count_observers(OBSERVERS), before);
}

/* -------------------------------------------------------------------------------------------------------- clients */

Test(front, clients_that_leave_in_the_middle_leave_nothing_behind) {
  for (int i = 0; i < LEAVING; i++) {
    close(begin("GET", WORLD "/agents?limit=200", ""));
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
    while (control_status(streams[i] = begin_stream("main")) != 200) close(streams[i]);
  close_all(streams, STREAMS);
}

Test(front, pages_that_never_read_are_bounded_and_delay_no_other) {
  int streams[STREAMS];
  for (int i = 0; i < STREAMS; i++) {
    streams[i] = begin_stream("main");
    cr_assert_eq(control_status(streams[i]), 200, "stream %d", i);
  }
  int beyond = begin_stream("main");
  cr_expect_eq(control_status(beyond), 429);
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
  tell("GET", WORLD, NULL, 200);
  int other = begin_stream("forest");
  cr_expect(await_text(other, "\"world\": \"forest\""));
  close(beyond), close(other);
  close_all(streams, STREAMS);
}

/* -------------------------------------------------------------------------------------------------------- streams */

Test(front, the_end_of_a_process_ends_its_streams_and_no_other) {
  int ended = begin_stream("main"), goes_on = begin_stream("forest");
  cr_assert(await_text(ended, "event: frame") && await_text(goes_on, "event: frame"));
  cr_assert_eq(kill(control_pid_of(&service, "main"), SIGKILL), 0);
  cr_expect(!await_text(ended, "no event has this name"));
  cr_expect(await_text(goes_on, "event: frame"));
  await_world();
  int new_one = begin_stream("main");
  cr_expect(await_text(new_one, "event: frame"));
  cr_expect(await_text(goes_on, "event: frame"));
  close(ended), close(goes_on), close(new_one);
}

Test(front, stops_in_order_while_streams_are_read_and_not_read) {
  int read = begin_stream("main"), deaf = begin_stream("forest");
  cr_assert(await_text(read, "event: frame"));
  daemon_signal(&service, SIGTERM);
  cr_expect(!await_text(read, "no event has this name"));
  cr_expect_eq(daemon_wait(&service), 0);
  close(read), close(deaf);
}
