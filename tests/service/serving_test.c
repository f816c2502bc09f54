/* What the server of control is told of the settings, at the start and by a reload: every option, with a value that no
 * other one has; and that a limit which was changed is the one that counts. */
#include "json_rows.h"
#include "own_server.h"
#include "service/api.h"
#include "service/http_parts.h"

static own_server server;
static struct settings settings, changed;
static char token_file[DAEMON_PATH_BYTES + 16];

static void write_token(const char *text) {
  FILE *file = fopen(token_file, "we");
  cr_assert(file && fputs(text, file) >= 0 && fclose(file) == 0 && chmod(token_file, 0600) == 0);
}

static void start(void) {
  settings_default(&settings);
  settings.connections_max = 301;
  settings.client_connections_max = 302;
  settings.header_bytes_max = 16383;
  settings.body_bytes_max = 2050;
  settings.idle_timeout_ns = 7000000000u;
  strcpy(settings.hosts, "one two,three");
  own_server_prepare(&server);
  snprintf(token_file, sizeof token_file, "%s.token", server.asked.folder);
  write_token("the-token-of-the-start\r\nand more\n");
  strcpy(settings.token_file, token_file);
  server.http = api_serve(&server.loop, &settings, server.descriptor, NULL, NULL);
  cr_assert_not_null(server.http, "%s", muster_last_error());
}

static void stop(void) {
  own_server_stop(&server);
  unlink(token_file);
}

TestSuite(serving, .init = start, .fini = stop, .timeout = 60);

static void expect_options(const char *token, const char *hosts, uint32_t body_bytes_max, uint32_t receive_ms) {
  const http_options *options = &server.http->options, defaults = http_default_options();
  cr_expect_str_eq(server.http->token ? server.http->token : "", token);
  cr_expect_str_eq(server.http->hosts, hosts);
  cr_expect(options->body_bytes_max == body_bytes_max && options->receive_ms == receive_ms, "%u, %u",
            options->body_bytes_max, options->receive_ms);
  cr_expect(options->connections_max == 301 && options->connections_per_client == 302 &&
                options->header_bytes_max == 16383,
            "they cannot change while it runs");
  cr_expect(options->bodies_bytes_max == defaults.bodies_bytes_max &&
            options->answers_bytes_max == defaults.answers_bytes_max && options->send_ms == defaults.send_ms);
}

Test(serving, is_by_the_settings_and_by_those_of_a_reload_where_they_are_live) {
  expect_options("the-token-of-the-start", "one two three", 2050, 7000);
  changed = settings;
  changed.connections_max = changed.client_connections_max = 5, changed.header_bytes_max = 4096;
  changed.body_bytes_max = 4100;
  changed.idle_timeout_ns = 9000000000u;
  strcpy(changed.hosts, "four,five,six");
  write_token("short\n");
  cr_expect_neq(api_change(server.http, &changed), MUSTER_OK, "that is no token");
  expect_options("the-token-of-the-start", "one two three", 2050, 7000);
  write_token("another-token-of-a-reload\n");
  cr_expect_eq(api_change(server.http, &changed), MUSTER_OK, "%s", muster_last_error());
  expect_options("another-token-of-a-reload", "four five six", 4100, 9000);
  *changed.hosts = *changed.token_file = '\0';
  cr_expect_eq(api_change(server.http, &changed), MUSTER_OK, "%s", muster_last_error());
  expect_options("", "", 4100, 9000);
  own_server_begin(&server);
}

/* From the end of its last answer a connection has as long to send another request as it had for the first one; and of
 * a body whose client has left in its middle nothing is kept. */
Test(serving, forgets_who_has_left_and_waits_for_who_has_not) {
  static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
                    part[] = "PATCH /v1/worlds/west HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                             "Content-Length: 2000\r\n\r\n{\"hz\": ";
  char text[1024];
  http_counts counts;
  own_server_begin(&server);
  int client = daemon_connect(&server.asked);
  for (int turns = 0; turns < 3; turns++) {
    const uint64_t begin_ms = uv_hrtime() / 1000000;
    cr_assert_eq(write(client, request, sizeof request - 1), (ssize_t)sizeof request - 1);
    cr_assert_gt(recv(client, text, sizeof text, 0), 0);
    const volatile http_connection *connection = LIST_FIRST(&server.http->connections);
    AWAIT(connection->deadline_ms < begin_ms + server.http->options.send_ms - 1000); /* that was for the answer */
  }
  close(client);
  for (int turns = 0; turns < 3; turns++) {
    client = control_send(&server.asked, part);
    AWAIT((http_count(server.http, &counts), counts.bodies_waiting > 0));
    close(client);
    AWAIT((http_count(server.http, &counts), counts.bodies_waiting == 0 && counts.open == 0));
  }
}

/* The kind of a body that comes in chunks counts as well. */
Test(serving, refuses_bodies_of_another_kind_however_they_come) {
  static const char *const ends[] = {"Content-Length: 2\r\n\r\n{}",
                                     "Transfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"};
  own_server_begin(&server);
  for (uint32_t i = 0; i < 2; i++) {
    char text[1024];
    int client = control_send(
        &server.asked,
        formed("POST /v1/worlds/west/step HTTP/1.1\r\nHost: localhost\r\nContent-Type: text/plain\r\n%s", ends[i]));
    ssize_t got = recv(client, text, sizeof text - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    cr_expect(strncmp(text, "HTTP/1.1 415 ", 13) == 0, "%s", text);
    close(client);
  }
}
