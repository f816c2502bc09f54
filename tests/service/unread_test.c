/* Clients that ask for large answers and take nothing: what lies there for them is bounded, and cut in the end; it
 * costs the frames nothing and keeps no other client from small answers. */
#include "loopback.h"
#include "served.h"

/* ------------------------------------------------------------------------------------------------ the server alone */

/* A large answer fits no socket's buffer; four of them are the most, and a little. */
enum { CLIENTS = 10, LARGE_BYTES = 8 << 20, MOST_BYTES = 35 << 20, FITTING = MOST_BYTES / LARGE_BYTES };
enum { PATIENT_MS = 60000, IMPATIENT_MS = 100 };

static struct {
  uv_loop_t loop;
  struct http *http;
} server;

static void give_large(http_request *request) {
  char *body = calloc(1, LARGE_BYTES);
  cr_assert_not_null(body);
  if (http_query_value(request, "copy")) {
    http_answer(request, 200, HTTP_BINARY, body, LARGE_BYTES);
    free(body);
  } else {
    http_answer_owned(request, 200, HTTP_BINARY, body, LARGE_BYTES);
  }
}

static void give_small(http_request *request) {
  http_answer(request, 200, HTTP_TEXT, "small", 5);
}

static const http_route routes[] = {{.method = "GET", .pattern = "/large", .handle = give_large, .queries = "copy"},
                                    {.method = "POST", .pattern = "/large", .handle = give_large},
                                    {.method = "GET", .pattern = "/vital", .handle = give_large, .goes_always = true},
                                    {.method = "GET", .pattern = "/small", .handle = give_small},
                                    {0}};
static const http_route *const tables[] = {routes, NULL};

static void start_alone(uint32_t send_ms) {
  const http_options options = WITH(http_options, it.tables = tables, it.answers_bytes_max = MOST_BYTES,
                                    it.send_ms = send_ms, it.token = "token");
  uv_loop_init(&server.loop);
  server.http = http_create(&server.loop, &options);
  loopback_listen(server.http);
}

static void stop_alone(void) {
  http_destroy(server.http, NULL, NULL);
  uv_run(&server.loop, UV_RUN_DEFAULT);
  cr_expect(uv_loop_close(&server.loop) == 0, "something of the server is left in the loop");
}

static http_counts count(void) {
  http_counts counts;
  http_count(server.http, &counts);
  return counts;
}

/* Asks with next to no room for an answer, and returns the connection when the server has made one. */
static int ask_as(const char *method, const char *path) {
  uint64_t answers = count().answers[2] + count().answers[4];
  int client = loopback_dial(http_port(server.http), 1);
  loopback_send(client, formed("%s %s HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer token\r\n%s\r\n", method,
                               path, strcmp(method, "GET") == 0 ? "" : "Content-Length: 0\r\n"));
  while (count().answers[2] + count().answers[4] == answers) uv_run(&server.loop, UV_RUN_ONCE);
  return client;
}

static int ask_alone(const char *path) {
  return ask_as("GET", path);
}

/* The status that is the begin of an answer; the rest stays where it is. */
static int status_of(int client) {
  char begin[13] = "";
  while (recv(client, begin, sizeof begin - 1, MSG_PEEK | MSG_DONTWAIT) < (ssize_t)sizeof begin - 1)
    uv_run(&server.loop, UV_RUN_ONCE);
  return atoi(begin + 9);
}

static void take(int client) {
  static char bytes[1 << 16];
  while (count().answers_waiting > 0) {
    while (recv(client, bytes, sizeof bytes, MSG_DONTWAIT) > 0) continue;
    uv_run(&server.loop, UV_RUN_NOWAIT);
  }
}

static void await_none_open(void) {
  while (count().open > 0) uv_run(&server.loop, UV_RUN_ONCE);
}

TestSuite(unread, .fini = stop, .timeout = 120);

static void expect_bounded(const char *path) {
  int clients[CLIENTS], small;
  start_alone(PATIENT_MS);
  for (int i = 0; i < CLIENTS; i++) {
    clients[i] = ask_alone(path);
    cr_expect_eq(status_of(clients[i]), i < FITTING ? 200 : 429, "client %d: %d", i, status_of(clients[i]));
  }
  cr_expect_eq(count().answers_waiting, FITTING * (uint64_t)LARGE_BYTES);
  small = ask_alone("/small");
  cr_expect_eq(status_of(small), 200, "small answers always go");
  close_all(clients, CLIENTS);
  close(small);
  await_none_open();
  cr_expect_eq(count().answers_waiting, 0);
  stop_alone();
}

Test(unread, answers_that_nobody_takes_are_bounded_together) {
  expect_bounded("/large");
}

Test(unread, copied_answers_are_bounded_as_well) {
  expect_bounded("/large?copy=1");
}

Test(unread, what_a_change_is_answered_and_what_must_be_seen_goes_however_much_waits) {
  int clients[FITTING + 3];
  start_alone(PATIENT_MS);
  for (int i = 0; i < FITTING; i++) clients[i] = ask_alone("/large");
  clients[FITTING] = ask_alone("/large");
  cr_expect_eq(status_of(clients[FITTING]), 429);
  clients[FITTING + 1] = ask_as("POST", "/large");
  cr_expect_eq(status_of(clients[FITTING + 1]), 200);
  clients[FITTING + 2] = ask_alone("/vital");
  cr_expect_eq(status_of(clients[FITTING + 2]), 200);
  cr_expect_eq(count().answers_waiting, (FITTING + 2) * (uint64_t)LARGE_BYTES);
  close_all(clients, FITTING + 3);
  await_none_open();
  stop_alone();
}

Test(unread, answers_that_nobody_takes_are_cut_and_make_room_for_others) {
  int clients[FITTING];
  start_alone(IMPATIENT_MS);
  for (int i = 0; i < FITTING; i++) clients[i] = ask_alone("/large");
  while (count().cut < FITTING || count().open > 0) uv_run(&server.loop, UV_RUN_ONCE);
  cr_expect_eq(count().cut, FITTING);
  cr_expect_eq(count().answers_waiting, 0);
  close_all(clients, FITTING);
  stop_alone();
}

Test(unread, an_answer_that_was_taken_waits_no_more) {
  start_alone(PATIENT_MS);
  for (int i = 0; i < 2 * FITTING; i++) {
    int client = ask_alone("/large");
    cr_expect_eq(status_of(client), 200);
    take(client);
    close(client);
  }
  stop_alone();
}

/* ------------------------------------------------------------------------------------------------------ the service */

/* DEAF answers of 12,000 agents, 32 bytes each, are more than the 128 MiB that may lie there. */
enum { DEAF = 400, AT_ONCE = 50, FRAMES = 30 };

/* Asks at once for as many answers as may wait for one map, and counts which come. Their begin is all that is read. */
static void ask_deaf(const char *path, int deaf[AT_ONCE], uint32_t *given, uint32_t *refused) {
  const char *request = formed("GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n", path);
  for (int i = 0; i < AT_ONCE; i++) deaf[i] = control_send(&service, request);
  for (int i = 0; i < AT_ONCE; i++) {
    int status = control_status(deaf[i]);
    cr_assert(status == 200 || status == 429, "%s: %d", path, status);
    *(status == 200 ? given : refused) += 1;
  }
}

Test(unread, maps_and_cells_that_nobody_reads_are_bounded_and_cost_the_frames_nothing) {
  static int deaf[DEAF + AT_ONCE];
  uint32_t given = 0, refused = 0, cells = 0, none = 0;
  /* Without signs of life, which go through the frames' thread, too. */
  daemon_start(&service, "--stuck-kill 0s --world main=wildlife --agents 14000 --observers 4");
  await_count(WORLD, "agents", 12000);
  ask_deaf(WORLD "/cells?max=65536", deaf, &cells, &none);
  cr_expect_eq(cells, AT_ONCE);
  for (int i = AT_ONCE; i < DEAF + AT_ONCE; i += AT_ONCE) ask_deaf(WORLD "/map?max=65536", deaf + i, &given, &refused);
  cr_expect(given > 0 && refused > 0, "%u were given, %u refused", given, refused);
  const char *requests =
      daemon_has_processes() ? "muster_mailbox_requests_total{process=\"main\"}" : "muster_mailbox_requests_total";
  double waiting = measured("muster_http_answers_waiting_bytes"), served = measured(requests);
  cr_expect(waiting > (64 << 20) && waiting <= (128 << 20), "%.0f bytes wait", waiting);
  const char *frames = "muster_frames_total{world=\"main\"}"; /* of /metrics, in which no frame takes part */
  for (double before = measured(frames); measured(frames) < before + FRAMES;) continue;
  cr_expect_eq(measured(requests), served, "the frames' thread has still something to do for them");
  tell("GET", WORLD, NULL, 200);
  close_all(deaf, DEAF + AT_ONCE);
  while (measured("muster_http_answers_waiting_bytes") > 0) continue;
  cr_expect_eq(fetch("GET", WORLD "/map?max=65536", NULL)->status, 200);
}
