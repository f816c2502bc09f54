/* The HTTP server by itself: routes, limits, and which clients may ask. It runs on a loop of its own in a thread. */
#include "loopback.h"

#include <malloc.h>

enum { REPLY_BYTES = 65536, BODY_MAX = 1000, LATE_MAX = 8 };

static struct {
  uv_loop_t loop;
  uv_thread_t thread;
  uv_async_t stop;
  uv_timer_t late;
  struct http *http;
  http_request *kept[LATE_MAX];
  uint32_t kept_count, most_kept;
  uint32_t echoes; /* requests for /echo that were carried out */
} server;

static char reply[REPLY_BYTES];

/* ------------------------------------------------------------------------------------------------------- server */

static void echo(http_request *request) {
  server.echoes++;
  size_t bytes;
  const void *body = http_body(request, &bytes);
  http_answer(request, 200, HTTP_TEXT, body ? body : "", bytes);
}

static void show(http_request *request) {
  char text[512];
  const char *value = http_query_value(request, "q");
  int length = snprintf(text, sizeof text, "<%s|%s|%s>", http_path_value(request, "first"),
                        http_path_value(request, "second"), value ? value : "");
  http_answer(request, 200, HTTP_TEXT, text, (size_t)length);
}

/* All requests that were kept are answered together, once LATE_MAX are there. */
static void keep(http_request *request) {
  server.kept[server.kept_count++] = request;
  if (server.kept_count > server.most_kept) server.most_kept = server.kept_count;
  if (server.kept_count < LATE_MAX) return;
  while (server.kept_count > 0) http_answer(server.kept[--server.kept_count], 200, HTTP_TEXT, "late", 4);
}

static const http_route routes[] = {
    {.method = "GET", .pattern = "/things/{first}/{second}", .handle = show, .queries = "q other"},
    {.method = "POST", .pattern = "/echo", .handle = echo, .body_max = BODY_MAX},
    {.method = "PUT", .pattern = "/echo", .handle = echo, .body_max = BODY_MAX, .body_type = HTTP_BINARY},
    {.method = "DELETE", .pattern = "/echo", .handle = echo},
    {.method = "GET", .pattern = "/late", .handle = keep},
    {.method = "GET", .pattern = "/healthz", .handle = echo},
    {0},
};

static const http_route *const tables[] = {routes, NULL};

static void end_loop(uv_async_t *stop) {
  http_destroy(server.http, NULL, NULL);
  uv_close((uv_handle_t *)stop, NULL);
}

static void run_loop(void *argument) {
  (void)argument;
  uv_run(&server.loop, UV_RUN_DEFAULT);
}

/* One that does not run yet, nor listens. */
static void make_server(http_options options) {
  memset(&server, 0, sizeof server);
  uv_loop_init(&server.loop);
  uv_async_init(&server.loop, &server.stop, end_loop);
  options.tables = tables;
  server.http = http_create(&server.loop, &options);
  cr_assert_not_null(server.http, "%s", muster_last_error());
}

static void make_listening(http_options options) {
  make_server(options);
  loopback_listen(server.http);
}

static void run_server(void) {
  cr_assert_eq(uv_thread_create(&server.thread, run_loop, NULL), 0);
}

static void start_with(const char *token, uint32_t receive_ms) {
  make_listening(WITH(http_options, it.token = token, it.hosts = "game.example", it.receive_ms = receive_ms));
  run_server();
}

static void start(void) {
  start_with("a-token-of-this-test", 10000);
}

static void stop(void) {
  uv_async_send(&server.stop);
  uv_thread_join(&server.thread);
  cr_expect(uv_loop_close(&server.loop) == 0, "something of the server is left in the loop");
}

/* ------------------------------------------------------------------------------------------------------- client */

static int dial(void) {
  return loopback_dial(http_port(server.http), 0);
}

static void send_text(int descriptor, const char *text) {
  for (size_t left = strlen(text); left > 0;) {
    ssize_t sent = send(descriptor, text, left, MSG_NOSIGNAL);
    if (sent <= 0) return; /* refused before all was sent */
    text += sent;
    left -= (size_t)sent;
  }
}

static int dial_and_send(const char *text) {
  int descriptor = dial();
  send_text(descriptor, text);
  return descriptor;
}

/* Reads until the server closes. Returns the status; 0 = none. */
static int receive(int descriptor) {
  size_t length = 0;
  for (ssize_t got;
       length < sizeof reply - 1 && (got = recv(descriptor, reply + length, sizeof reply - 1 - length, 0)) > 0;)
    length += (size_t)got;
  reply[length] = '\0';
  close(descriptor);
  return length > 12 ? atoi(reply + 9) : 0;
}

/* One request with these headers ("Host: localhost\r\n" is one). */
static int ask(const char *line, const char *headers, const char *body) {
  return receive(dial_and_send(formed("%s HTTP/1.1\r\nConnection: close\r\n%sContent-Length: %zu\r\n\r\n%s", line,
                                      headers, strlen(body), body)));
}

#define HOST  "Host: localhost\r\n"
#define TOKEN "Authorization: Bearer a-token-of-this-test\r\n"
#define JSON  "Content-Type: application/json\r\n"

static bool says(const char *text) {
  return strstr(reply, text) != NULL;
}

/* What the same request is answered with these headers. */
typedef struct header_row {
  const char *headers;
  int status;
} header_row;

static void expect_answered(const char *line, const char *body, const header_row *rows, size_t count) {
  for (size_t i = 0; i < count; i++)
    cr_expect_eq(ask(line, rows[i].headers, body), rows[i].status, "%s, %s: %s", line, rows[i].headers, reply);
}

#define EXPECT_ANSWERED(line, body, ...)                                                                               \
  expect_answered(line, body, (const header_row[]){__VA_ARGS__}, COUNT_OF(((const header_row[]){__VA_ARGS__})))

TestSuite(http, .init = start, .fini = stop, .timeout = 120);
TestSuite(http_alone, .timeout = 120); /* these start a server themselves */

/* ------------------------------------------------------------------------------------------------------- routes */

/* With these limits a client that does not say others cannot take all of the machine. */
Test(http_alone, has_limits_that_nobody_has_to_say) {
  enum { MIB = 1 << 20 };
  http_options options = http_default_options();
  cr_expect(options.connections_max == 512 && options.connections_per_client == 256);
  cr_expect(options.header_bytes_max == 16384 && options.body_bytes_max == 4 * MIB);
  cr_expect(options.bodies_bytes_max == 64 * MIB && options.answers_bytes_max == 128 * MIB);
  cr_expect(options.receive_ms == 10000 && options.send_ms == 30000);
}

Test(http, parts_of_the_path_and_the_query_are_unescaped) {
  cr_expect(ask("GET /things/a%20b/c?q=1%2B2", HOST, "") == 200);
  cr_expect(says("<a b|c|1+2>"), "%s", reply);
  cr_expect(ask("GET /things/%00/%2f", HOST, "") == 200);
  cr_expect(says("<%00|%2f|>"), "%s", reply);
}

Test(http, what_is_not_there_is_refused_in_json) {
  cr_expect(ask("GET /things/a", HOST, "") == 404 && says("\"unknown_path\""));
  cr_expect(ask("GET /things//b", HOST, "") == 404);
  cr_expect(ask("GET /things/a/b/c/d/e/f/g/h/i/j/k", HOST, "") == 404);
  cr_expect(ask("GET /things/a/b?unknown=1", HOST, "") == 400 && says("\"field\": \"unknown\""));
  cr_expect(ask("GET /things/a/b?q=1&q=2", HOST, "") == 400 && says("\"field\": \"q\""));
  cr_expect(ask("GET /things/a/b?q", HOST, "") == 400);
}

Test(http, other_methods_are_refused_with_those_that_are_allowed) {
  cr_expect(ask("GET /echo", HOST, "") == 405 && says("Allow: POST, PUT, DELETE"), "%s", reply);
  cr_expect(ask("BREW /late", HOST TOKEN, "") == 405 && says("Allow: GET, HEAD"), "%s", reply);
  cr_expect(ask("HEAD /things/a/b", HOST, "") == 200);
}

/* ----------------------------------------------------------------------------------------------- which clients */

Test(http, changes_by_tcp_need_the_token) {
  cr_expect(ask("POST /echo", HOST TOKEN JSON, "{}") == 200);
  cr_expect(ask("POST /echo", HOST JSON, "{}") == 401 && says("WWW-Authenticate: Bearer"));
  EXPECT_ANSWERED("POST /echo", "{}", {HOST JSON "Authorization: Bearer a-token-of-this-tesT\r\n", 401},
                  {HOST JSON "Authorization: Bearer a-token-of-this-test-and-more\r\n", 401},
                  {HOST JSON "Authorization: Bearer a-token-of-this-tes\r\n", 401},
                  {HOST JSON "Authorization: Bearer \r\n", 401},
                  {formed(HOST JSON "Authorization: Bearer %0256d\r\n", 0), 401}, /* longer than any may be */
                  {HOST JSON "Authorization: Basic a-token-of-this-test\r\n", 401});
  cr_expect(ask("GET /things/a/b", HOST, "") == 200, "reading needs none");
}

/* Whatever is no GET or HEAD may change something, whether there is a route for it or not. */
Test(http, every_method_that_may_change_something_needs_the_token) {
  static const char *const methods[] = {"POST", "PUT", "PATCH", "DELETE", "BREW"};
  for (size_t i = 0; i < COUNT_OF(methods); i++) {
    for (int there = 0; there < 2; there++) {
      const char *line = formed("%s %s", methods[i], there ? "/echo" : "/nowhere");
      cr_expect_eq(ask(line, HOST, ""), 401, "%s: %s", line, reply);
      cr_expect(says("WWW-Authenticate: Bearer"), "%s: %s", line, reply);
    }
  }
  cr_expect_eq(ask("PUT /echo", HOST TOKEN "Content-Type: application/octet-stream\r\n", "x"), 200, "%s", reply);
  cr_expect_eq(ask("DELETE /echo", HOST TOKEN, ""), 200, "%s", reply);
  cr_expect_eq(ask("PATCH /echo", HOST TOKEN JSON, "{}"), 405, "%s", reply);
  cr_expect_eq(ask("HEAD /things/a/b", HOST, ""), 200);
}

Test(http_alone, without_a_token_nothing_is_changed_by_tcp, .fini = stop) {
  start_with(NULL, 10000);
  cr_expect(ask("POST /echo", HOST TOKEN JSON, "{}") == 403 && says("\"no_token\""));
  cr_expect(ask("GET /things/a/b", HOST, "") == 200);
}

Test(http, other_hosts_are_refused) {
  EXPECT_ANSWERED("GET /things/a/b", "", {"Host: 127.0.0.1:8420\r\n", 200}, {"Host: [::1]:8420\r\n", 200},
                  {"Host: GAME.example\r\n", 200}, {"Host: evil.example\r\n", 421},
                  {"Host: localhost.evil.example\r\n", 421}, {"Host: localhost:80:80\r\n", 421}, {"", 400},
                  {"Host: local\r\n", 421}, /* only the beginning of a name */
                  {"Host: localhosts\r\n", 421}, {"Host: localhost:\r\n", 200}, {"Host: localhost:8o\r\n", 421},
                  {"Host: localhost:123456\r\n", 421}, {"Host: [::1\r\n", 421}, {"Host: :80\r\n", 421});
}

/* Who passed it on may have gone by the other one. */
Test(http, a_header_that_says_whom_or_how_much_is_taken_once) {
  static const char *const twice[] = {HOST "Host: evil.example\r\n", HOST "hOST: localhost\r\n",
                                      HOST "Content-Length: 0\r\nContent-Length: 0\r\n",
                                      HOST "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
                                      HOST "Content-Length: 0\r\nTransfer-Encoding: chunked\r\n"};
  for (size_t i = 0; i < COUNT_OF(twice); i++) {
    const char *text = formed("GET /things/a/b HTTP/1.1\r\nConnection: close\r\n%s\r\n", twice[i]);
    cr_expect_eq(receive(dial_and_send(text)), 400, "%s: %s", twice[i], reply);
  }
}

Test(http, pages_of_other_sites_are_refused) {
  EXPECT_ANSWERED("GET /things/a/b", "", {HOST "Origin: http://localhost:3000\r\n", 200},
                  {HOST "Origin: http://evil.example\r\n", 403}, {HOST "Origin: null\r\n", 403},
                  {HOST "Origin: localhost\r\n", 403}, /* an origin has a scheme */
                  {HOST "Sec-Fetch-Site: cross-site\r\n", 403},
                  {HOST "Sec-Fetch-Site: same-site\r\n", 403}, /* another host of the same site */
                  {HOST "Sec-Fetch-Site: same-origin\r\n", 200},
                  {HOST "Sec-Fetch-Site: none\r\n", 200}); /* a person typed it */
  cr_expect(ask("POST /echo", HOST TOKEN "Content-Type: text/plain\r\n", "{}") == 415);
  cr_expect(ask("POST /echo", HOST TOKEN "Content-Type: application/x-www-form-urlencoded\r\n", "a=1") == 415);
}

/* Either header is enough to refuse, and the token changes nothing about that. */
Test(http, each_sign_of_another_site_is_enough) {
  cr_expect(ask("GET /things/a/b", HOST "Origin: http://localhost\r\nSec-Fetch-Site: same-site\r\n", "") == 403);
  cr_expect(ask("GET /things/a/b", HOST "Origin: http://evil.example\r\nSec-Fetch-Site: same-origin\r\n", "") == 403);
  cr_expect(ask("POST /echo", HOST TOKEN JSON "Origin: http://evil.example\r\n", "{}") == 403);
  cr_expect(ask("POST /echo", HOST TOKEN JSON "Sec-Fetch-Site: cross-site\r\n", "{}") == 403);
  cr_expect(ask("POST /echo", "Host: evil.example\r\n" TOKEN JSON, "{}") == 421);
  cr_expect_eq(server.echoes, 0);
}

/* ------------------------------------------------------------------------------------------------------- limits */

Test(http, bodies_are_taken_up_to_their_limit) {
  char body[BODY_MAX + 2];
  memset(body, 'x', sizeof body);
  body[BODY_MAX] = '\0';
  cr_expect(ask("POST /echo", HOST TOKEN JSON, body) == 200);
  body[BODY_MAX] = 'x';
  body[BODY_MAX + 1] = '\0';
  cr_expect(ask("POST /echo", HOST TOKEN JSON, body) == 413);
  cr_expect(ask("DELETE /echo", HOST TOKEN, "x") == 413, "this one takes no body");
}

Test(http, bodies_in_chunks_have_the_same_limit) {
  const char *chunk = formed("190\r\n%0400d\r\n", 0);
  const char *text = formed("POST /echo HTTP/1.1\r\n" HOST TOKEN JSON
                            "Connection: close\r\nTransfer-Encoding: chunked\r\n\r\n%s%s%s0\r\n\r\n",
                            chunk, chunk, chunk);
  cr_expect(receive(dial_and_send(text)) == 413, "%s", reply);
  cr_expect(strstr(reply, "the body is larger than the 1000 bytes that are taken"), "%s", reply);
}

/* What is no whole request is closed after a second at the latest. */
Test(http_alone, what_is_no_http_is_answered_by_a_refusal_or_not_at_all, .fini = stop) {
  static const char *const bad[] = {
      "\r\n\r\n",
      "GARBAGE\r\n\r\n",
      "GET\r\n\r\n",
      "GET / HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
      "GET /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: gzip\r\n\r\n",
      "POST /echo HTTP/1.1\r\n" HOST TOKEN JSON "Transfer-Encoding: chunked\r\n\r\nzz\r\n",
      "POST /echo HTTP/1.1\r\n" HOST TOKEN JSON "Content-Length: 99999999999999999999\r\n\r\n",
      "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"};
  enum { COUNT = COUNT_OF(bad) };
  int connections[COUNT];
  start_with("a-token-of-this-test", 1000);
  for (size_t i = 0; i < COUNT; i++) connections[i] = dial_and_send(bad[i]);
  for (size_t i = 0; i < COUNT; i++) {
    int status = receive(connections[i]);
    cr_expect(status == 0 || (status >= 400 && status < 500), "%zu: %d", i, status);
  }
  cr_expect(ask("GET /things/a/b", HOST, "") == 200);
}

/* MHD answers some of these itself and closes. */
static void expect_refused(const char *text) {
  int descriptor = dial_and_send(text);
  shutdown(descriptor, SHUT_WR);
  cr_expect_eq(receive(descriptor), 400, "%s: %s", text, reply);
  cr_expect(!says("200 OK"), "%s: %s", text, reply);
}

Test(http, what_leaves_it_open_where_a_request_ends_or_whom_it_is_for_is_refused) {
  expect_refused("GET /things/a/b HTTP/1.1\r\nHost: localhost\r\nHost: game.example\r\n\r\n");
  expect_refused("GET /things/a/b HTTP/1.1\r\nHost: localhost\r\nhost: localhost\r\n\r\n");
  expect_refused("POST /echo HTTP/1.1\r\n" HOST TOKEN JSON "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd");
  expect_refused("POST /echo HTTP/1.1\r\n" HOST TOKEN JSON "Content-Length: 3\r\nContent-Length: 3\r\n\r\nabc");
  expect_refused("POST /echo HTTP/1.1\r\n" HOST TOKEN JSON
                 "Content-Length: 8\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n");
}

Test(http, headers_beyond_their_limit_are_refused) {
  SCOPED(free_memory) char *text = malloc(40000);
  int length = snprintf(text, 40000, "GET /things/a/b HTTP/1.1\r\nHost: localhost\r\nX: ");
  memset(text + length, 'a', 30000);
  strcpy(text + length + 30000, "\r\n\r\n");
  int status = receive(dial_and_send(text));
  cr_expect(status == 431 || status == 0, "%d", status);
  cr_expect(ask("GET /things/a/b", HOST, "") == 200);
}

/* --------------------------------------------------------------------------------------------------------- time */

Test(http, requests_that_are_answered_later_hold_up_nobody) {
  int waiting[LATE_MAX];
  for (uint32_t i = 0; i < LATE_MAX; i++) {
    waiting[i] = dial_and_send("GET /late HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    cr_expect(i + 1 == LATE_MAX || ask("GET /things/a/b", HOST, "") == 200);
  }
  for (uint32_t i = 0; i < LATE_MAX; i++) cr_expect(receive(waiting[i]) == 200 && says("late"));
  cr_expect_eq(server.most_kept, LATE_MAX);
}

Test(http_alone, what_is_still_unanswered_at_the_end_is_refused) {
  start();
  int descriptor = dial_and_send("GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n");
  cr_expect(ask("GET /things/a/b", HOST, "") == 200);
  stop();
  int status = receive(descriptor);
  cr_expect(status == 503 || status == 0, "%d", status);
}

Test(http_alone, who_sends_bytes_one_by_one_is_cut_and_nobody_else_waits, .fini = stop) {
  enum { SLOW = 200 };
  int slow[SLOW];
  start_with(NULL, 1000);
  for (uint32_t i = 0; i < SLOW; i++) slow[i] = dial();
  for (uint32_t open = SLOW, round = 0; open > 0; round++) {
    for (uint32_t i = 0; i < SLOW; i++) {
      char byte = "GET /things/a/b?q=aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"[round % 40];
      if (slow[i] < 0) continue;
      send(slow[i], &byte, 1, MSG_NOSIGNAL | MSG_DONTWAIT);
      ssize_t got = recv(slow[i], &byte, 1, MSG_DONTWAIT);
      if (got != 0 && !(got < 0 && (errno == ECONNRESET || errno == EPIPE))) continue;
      close(slow[i]);
      slow[i] = -1;
      open--;
    }
    cr_assert(ask("GET /things/a/b", HOST, "") == 200, "round %u", round);
  }
}

/* ------------------------------------------------------------------------------------------------------ places */

enum { PLACES = 12, RESERVE = 8, BEYOND = 100 };

/* Connections wait until the server runs. */
static void make_places(uint32_t places, uint32_t per_client) {
  make_listening(WITH(http_options, it.token = "a-token-of-this-test", it.connections_max = places,
                      it.connections_per_client = per_client, it.receive_ms = 3000));
}

/* Who says nothing keeps a place. Connections are accepted in their order. */
static void fall_silent(int *silent, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) silent[i] = dial();
}

static void start_with_silent(uint32_t places, uint32_t per_client, int silent[PLACES]) {
  make_places(places, per_client);
  run_server();
  fall_silent(silent, PLACES);
}

static void expect_reserve_alone(void) {
  cr_expect_eq(ask("GET /things/a/b", HOST, ""), 503);
  cr_expect(says("busy") && says("Retry-After") && says("Connection: close"), "%s", reply);
  cr_expect_eq(ask("GET /healthz", HOST, ""), 200);
  cr_expect_eq(ask("GET /things/a/b", HOST TOKEN, ""), 200);
  cr_expect_eq(ask("POST /echo", HOST TOKEN JSON, "changed"), 200);
}

static int ask_until_answered(const char *line, const char *headers) {
  int status = 0;
  for (uint32_t i = 0; i < 100 && status != 200; i++) {
    usleep(100000);
    status = ask(line, headers, "");
  }
  return status;
}

Test(http_alone, a_reserve_answers_where_all_places_are_taken_and_all_are_answered_later, .fini = stop) {
  int silent[PLACES];
  start_with_silent(PLACES, 1000, silent);
  expect_reserve_alone();
  cr_expect_eq(ask_until_answered("GET /things/a/b", HOST), 200, "the silent ones are cut in time");
  for (uint32_t i = 0; i < PLACES; i++) cr_expect(receive(silent[i]) == 0);
}

Test(http_alone, a_reserve_answers_the_clients_of_an_address_that_has_all_it_may_have, .fini = stop) {
  int silent[PLACES];
  start_with_silent(1000, PLACES, silent);
  expect_reserve_alone();
  close_all(silent, PLACES);
  cr_expect_eq(ask_until_answered("GET /things/a/b", HOST), 200);
}

Test(http_alone, the_reserve_of_the_control_socket_is_for_the_daemons_user) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  int silent[PLACES], last, socket_at = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  make_server(WITH(http_options, it.connections_max = PLACES));
  snprintf(address.sun_path, sizeof address.sun_path, "/tmp/muster_http_test_%d", (int)getpid());
  cr_assert_eq(bind(socket_at, (struct sockaddr *)&address, sizeof address), 0);
  cr_assert_eq(listen(socket_at, 100), 0);
  cr_assert_eq(http_listen_unix(server.http, socket_at), MUSTER_OK, "%s", muster_last_error());
  run_server();
  for (uint32_t i = 0; i <= PLACES; i++) {
    int *client = i < PLACES ? &silent[i] : &last;
    *client = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert_eq(connect(*client, (struct sockaddr *)&address, sizeof address), 0);
  }
  send_text(last, "GET /things/a/b HTTP/1.1\r\nHost: localhost\r\n\r\n");
  cr_expect_eq(receive(last), 200, "and the connection is closed: %s", reply);
  close_all(silent, PLACES);
  stop();
  close(socket_at);
  unlink(address.sun_path);
}

Test(http_alone, a_reserve_that_is_taken_as_well_is_free_again_after_a_second) {
  int silent[PLACES + RESERVE], beyond[BEYOND];
  uint32_t answered = 0;
  make_places(PLACES, 1000);
  fall_silent(silent, PLACES + RESERVE);
  for (uint32_t i = 0; i < BEYOND; i++)
    beyond[i] = dial_and_send("POST /echo HTTP/1.1\r\n" HOST TOKEN JSON "Content-Length: 3\r\n\r\nabc");
  run_server();
  for (uint32_t i = 0; i < BEYOND; i++) answered += receive(beyond[i]) == 200;
  cr_expect_lt(answered, BEYOND, "none was cut");
  cr_expect_eq(ask_until_answered("GET /healthz", HOST), 200);
  close_all(silent, PLACES + RESERVE);
  cr_expect_eq(ask_until_answered("GET /things/a/b", HOST), 200);
  stop();
  cr_expect_eq(server.echoes, answered + 1, "who was cut changed nothing; one asked for /healthz");
}

Test(http_alone, addresses_of_other_machines_are_listened_at_only_where_that_is_meant, .fini = stop) {
  make_server(http_default_options());
  cr_expect_eq(http_listen_tcp(server.http, "0.0.0.0:0", false), MUSTER_E_ARGUMENT);
  cr_expect(strstr(muster_last_error(), "can be reached from other machines"), "%s", muster_last_error());
  cr_expect_eq(http_listen_tcp(server.http, "0.0.0.0:0", true), MUSTER_OK, "%s", muster_last_error());
  run_server();
  cr_expect(ask("GET /things/a/b", HOST, "") == 200);
}

Test(http_alone, the_port_of_an_address_of_ip_6_is_told) {
  const char *reason = NULL;
  make_server(http_default_options());
  if (http_listen_tcp(server.http, "[::1]:0", false) != MUSTER_OK) reason = muster_last_error();
  if (!reason) cr_expect_neq(http_port(server.http), 0);
  run_server();
  stop();
  if (reason) SKIP_TEST("%s", reason);
}

/* ---------------------------------------------------------------------------------------------------------- memory */

Test(http_alone, a_small_body_takes_four_kibibytes_of_the_room_for_all_bodies) {
  for (uint32_t room = 4096; room >= 4095; room--) {
    make_listening(WITH(http_options, it.token = "a-token-of-this-test", it.bodies_bytes_max = room));
    run_server();
    cr_expect_eq(ask("POST /echo", HOST TOKEN JSON, "{}"), room == 4096 ? 200 : 429, "%u: %s", room, reply);
    stop();
  }
}

/* A reload may come again and again; each brings a token. */
Test(http_alone, a_token_that_was_replaced_is_freed, .fini = stop) {
  enum { CHANGES = 1000, TOKEN_BYTES = 10000 };
  static char token[TOKEN_BYTES];
  memset(token, 't', sizeof token - 1);
  make_server(http_default_options());
  const http_options options = WITH(http_options, it.token = token);
  size_t before = mallinfo2().uordblks;
  for (int i = 0; i < CHANGES; i++) cr_assert_eq(http_change(server.http, &options), MUSTER_OK);
  cr_expect_lt(mallinfo2().uordblks, before + 10 * TOKEN_BYTES);
  run_server();
}
