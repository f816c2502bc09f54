/* Answers without an end, by themselves: server and client take turns on one thread. */
#include "loopback.h"

enum { PATIENT_MS = 60000, IMPATIENT_MS = 100 };

typedef struct test_server {
  uv_loop_t loop;
  struct http *http;
  http_stream *stream;
  const char *next; /* what there is to read; null = nothing now, "*" = always more */
  uint32_t reads, closed;
} test_server;

static test_server server;
static int client;
static char seen[1 << 16];

static size_t give(void *user, char *buffer, size_t bytes) {
  test_server *self = user;
  self->reads++;
  if (!self->next) return 0;
  if (*self->next == '*') {
    memset(buffer, 'x', bytes);
    return bytes;
  }
  size_t length = strlen(self->next);
  cr_assert_leq(length, bytes);
  memcpy(buffer, self->next, length);
  self->next = NULL;
  return length;
}

static void note_closed(void *user) {
  test_server *self = user;
  self->closed++;
}

static void begin_stream(http_request *request) {
  server.stream = http_answer_stream(request, "text/event-stream", &(http_stream_source){give, note_closed, &server});
}

static const http_route routes[] = {{.method = "GET", .pattern = "/stream", .handle = begin_stream}, {0}};
static const http_route *const tables[] = {routes, NULL};

static void run_once(void) {
  uv_run(&server.loop, UV_RUN_ONCE);
}

static const char *look(void) {
  size_t length = strlen(seen);
  ssize_t more = recv(client, seen + length, sizeof seen - 1 - length, MSG_DONTWAIT);
  if (more > 0) seen[length + (size_t)more] = '\0';
  return seen;
}

static void start_by(const char *method, const char *next, uint32_t send_ms) {
  const http_options options = WITH(http_options, it.tables = tables, it.send_ms = send_ms);
  server = (test_server){.next = next};
  *seen = '\0';
  uv_loop_init(&server.loop);
  server.http = http_create(&server.loop, &options);
  loopback_listen(server.http);
  client = loopback_dial(http_port(server.http), 0);
  loopback_send(client, formed("%s /stream HTTP/1.1\r\nHost: localhost\r\n\r\n", method));
  AWAIT_WITH(run_once(), server.stream);
}

static void note_gone(void *user) {
  ++*(uint32_t *)user;
}

static void stop(void) {
  uint32_t gone = 0;
  http_destroy(server.http, note_gone, &gone);
  uv_run(&server.loop, UV_RUN_DEFAULT);
  cr_expect_eq(gone, 1, "who destroyed the server is told once, when nothing of it is left");
  cr_expect_eq(server.closed, 1);
  cr_expect(uv_loop_close(&server.loop) == 0, "something of the server is left in the loop");
  close(client);
}

TestSuite(stream, .fini = stop, .timeout = 120);

static void await_seen(const char *text) {
  AWAIT_WITH(run_once(), strstr(look(), text));
}

/* The client has seen the first that there was to read. */
static void start_and_read(void) {
  start_by("GET", "first", PATIENT_MS);
  await_seen("first");
}

static void give_more(const char *next) {
  server.next = next;
  http_stream_wake(server.stream);
}

Test(stream, sleeps_while_there_is_nothing_and_goes_on_when_it_is_woken) {
  start_and_read();
  uint32_t reads = server.reads;
  for (uint32_t i = 0; i < 3; i++) run_once(); /* a sweep each */
  cr_expect(server.reads - reads <= 1, "it was asked %u times for nothing", server.reads - reads);
  give_more("second");
  await_seen("second");
  cr_expect_eq(server.closed, 0);
}

/* What is new is sent by the loop's next turns, without a wait for its clock. */
Test(stream, reads_at_the_next_turns_of_the_loop_when_it_was_woken) {
  start_and_read();
  AWAIT_WITH(run_once(), server.reads >= 2); /* once for nothing: it sleeps */
  uint32_t reads = server.reads;
  give_more("second");
  for (int i = 0; i < 4; i++) uv_run(&server.loop, UV_RUN_NOWAIT);
  cr_expect_gt(server.reads, reads);
}

Test(stream, is_ended_by_a_server_that_stops) {
  start_by("GET", NULL, PATIENT_MS);
  await_seen("200 OK");
}

Test(stream, notices_at_the_next_waking_that_its_client_is_gone) {
  start_and_read();
  close(client);
  client = -1;
  while (!server.closed) {
    give_more("more");
    run_once();
  }
}

Test(stream, a_client_that_takes_nothing_is_cut) {
  http_counts counts;
  start_by("GET", "*", IMPATIENT_MS);
  AWAIT_WITH(run_once(), server.closed);
  http_count(server.http, &counts);
  cr_expect_eq(counts.cut, 1);
}

/* What comes after the headers would be the begin of the next answer. */
Test(stream, has_nothing_after_its_headers_when_only_they_were_asked_for) {
  char end;
  start_by("HEAD", "first", PATIENT_MS);
  AWAIT_WITH(run_once(), server.closed && strstr(look(), "\r\n\r\n"));
  AWAIT_WITH(run_once(), recv(client, &end, 1, MSG_PEEK | MSG_DONTWAIT) >= 0);
  cr_expect_str_eq(strstr(look(), "\r\n\r\n"), "\r\n\r\n");
}
