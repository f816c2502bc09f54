/* Requests that are sent again: with a key each is carried out once, whatever comes in between. */
#include "printed.h"

#include <uv.h>

#define OBSERVERS WORLD "/observers"
#define OBSERVER  "{\"position\": {\"x\": 1, \"y\": 2}}"

enum { SPAWNED = 1500 };

static void start(void) {
  daemon_start(&service, "--agents 200 --agents-max 12000 --world main=wildlife --world other=wildlife");
  pause_world();
}

static void start_counter(void) {
  daemon_start(&service, "--modules " MUSTER_TEST_MODULES " --world main=counter");
}

TestSuite(retry, .init = start, .fini = stop, .timeout = 120);
TestSuite(retry_counted, .init = start_counter, .fini = stop, .timeout = 120);

static void ask_once(const char *method, const char *path, const char *key, const char *body, int status,
                     daemon_reply *answer) {
  daemon_ask_once(&service, method, path, key, body, answer);
  cr_expect_eq(answer->status, status, "%s %s with %s: %d: %s", method, path, key, answer->status, answer->body);
}

/* Most requests add an observer. */
static void add_once(const char *key, daemon_reply *answer) {
  ask_once("POST", OBSERVERS, key, OBSERVER, 201, answer);
}

static const char *add_observer(const char *key) {
  add_once(key, &reply);
  json_auto_t *added = json_loads(reply.body, 0, NULL);
  return formed(OBSERVERS "/%s", control_text(added, "observer"));
}

static void count_once(const char *key, const char *number, int status, daemon_reply *answer) {
  ask_once("POST", WORLD "/module/count", key, number, status, answer);
}

/* Observers come in at the next frame. */
static size_t count_observers(void) {
  step(1);
  return size_at(OBSERVERS, "observers");
}

static void expect_refusal(const daemon_reply *answer, const char *code, const char *field) {
  json_auto_t *document = json_loads(answer->body, 0, NULL);
  cr_assert_not_null(document, "%s", answer->body);
  cr_expect_str_eq(control_text(document, "error.code"), code);
  cr_expect_str_eq(control_text(document, "error.field"), field);
}

/* --------------------------------------------------------------------------------------------------------- replays */

Test(retry, a_change_is_made_once_and_answered_alike) {
  size_t before = count_observers();
  add_once("first", &reply);
  cr_expect(!is_replayed(&reply));
  for (int i = 0; i < 3; i++) {
    add_once("first", &again);
    cr_expect(is_replayed(&again));
    cr_expect_str_eq(again.body, reply.body);
    cr_expect_eq(frame_of(&again), frame_of(&reply));
  }
  cr_expect_eq(count_observers(), before + 1);
  add_once("first", &again);
  cr_expect_eq(frame_of(&again), frame_of(&reply), "also frames later");
  add_once("second", &again);
  cr_expect(!is_replayed(&again));
  cr_expect_str_neq(again.body, reply.body);
  cr_expect_eq(count_observers(), before + 2);
}

Test(retry, what_is_gone_meanwhile_is_answered_as_it_was) {
  count_observers();
  const char *path = add_observer("add");
  step(1);
  ask_once("DELETE", path, "remove", NULL, 200, &reply);
  step(1);
  ask_once("DELETE", path, NULL, NULL, 404, &again);
  ask_once("DELETE", path, "remove", NULL, 200, &again);
  cr_expect(is_replayed(&again));
  cr_expect_str_eq(again.body, reply.body);
}

Test(retry, without_a_key_each_is_a_request_of_its_own) {
  size_t before = count_observers();
  for (int i = 0; i < 2; i++) add_once(NULL, &reply);
  cr_expect_eq(count_observers(), before + 2);
}

Test(retry, each_world_has_keys_of_its_own) {
  add_once("shared", &reply);
  ask_once("POST", "/v1/worlds/other/observers", "shared", OBSERVER, 201, &again);
  cr_expect(!is_replayed(&again));
}

/* -------------------------------------------------------------------------------------------------------- refusals */

Test(retry, the_key_of_another_request_is_refused) {
  add_once("used", &reply);
  ask_once("POST", OBSERVERS, "used", "{\"position\": {\"x\": 1, \"y\": 3}}", 422, &again); /* another body */
  expect_refusal(&again, "key_reused", "Idempotency-Key");
  cr_expect(!is_replayed(&again));
  ask_once("POST", WORLD "/step", "used", "{\"frames\": 1}", 422, &again); /* another path */
  ask_once("PATCH", WORLD, "used", "{\"hz\": 30}", 422, &again);           /* another method */
  add_once("used", &again);
  cr_expect(is_replayed(&again), "the first one is still known");
}

/* Two requests that differ in one part alone, with one key: what is answered is not the other one's answer. */
Test(retry, the_key_of_a_request_that_differs_in_one_part_is_refused) {
  static const char place[] = "{\"position\": {\"x\": 3, \"y\": 4}}";
  const char *const paths[] = {add_observer(NULL), add_observer(NULL)};
  size_t before = count_observers();
  ask_once("DELETE", paths[0], "gone", NULL, 200, &reply);
  ask_once("DELETE", paths[1], "gone", NULL, 422, &again); /* the id in the path */
  expect_refusal(&again, "key_reused", "Idempotency-Key");
  cr_expect_eq(count_observers(), before - 1, "the other is still there");
  ask_once("PUT", formed("%s/position", paths[1]), "there", place, 200, &reply);
  ask_once("PUT", formed("%s/hold", paths[1]), "there", place, 422, &again); /* the end of the path */
  ask_once("POST", WORLD "/types/hare/reinstate", "type", NULL, 200, &reply);
  ask_once("POST", WORLD "/types/fox/reinstate", "type", NULL, 422, &again); /* the name of a type */
  ask_once("POST", WORLD "/types/hare/reinstate", "type", NULL, 200, &again);
  cr_expect(is_replayed(&again));
}

Test(retry, what_is_no_key_is_refused_and_nothing_is_done) {
  static const char *const wrong[] = {"two words", "schl\303\274ssel", "\"\t\"",
                                      "a-key-of-65-bytes-0123456789012345678901234567890123456789012345x"};
  size_t before = count_observers();
  for (size_t i = 0; i < COUNT_OF(wrong); i++) {
    ask_once("POST", OBSERVERS, wrong[i], OBSERVER, 400, &reply);
    expect_refusal(&reply, "bad_key", "Idempotency-Key");
  }
  cr_expect_eq(count_observers(), before);
  ask_once("POST", OBSERVERS, "a-key-of-64-bytes-012345678901234567890123456789012345678901234x", OBSERVER, 201,
           &reply);
  ask_once("GET", OBSERVERS, "two words", NULL, 200, &reply); /* a request that only reads needs none */
}

/* It changed nothing: there is nothing that must not be done twice. */
Test(retry, a_refusal_is_not_kept_so_that_the_request_can_be_corrected) {
  ask_once("POST", OBSERVERS, "corrected", "{\"position\": 1}", 400, &reply);
  ask_once("DELETE", OBSERVERS "/4294967295.7", "corrected", NULL, 404, &reply);
  add_once("corrected", &reply);
  cr_expect(!is_replayed(&reply));
}

/* ---------------------------------------------------------------------------------------------------------- answers */

Test(retry, answers_say_of_which_frame_they_are) {
  fetch("GET", WORLD, NULL);
  daemon_ask(&service, "GET", WORLD "/agents?limit=1", NULL, &again);
  cr_expect_eq(frame_of(&reply), frame_of(&again));
  add_once(NULL, &again);
  cr_expect_eq(frame_of(&again), frame_of(&reply) + 1, "the frame after it makes it safe");
  long long before = frame_of(&reply);
  step(3);
  fetch("GET", WORLD, NULL);
  cr_expect_eq(frame_of(&reply), before + 3);
  daemon_ask(&service, "GET", WORLD "/agents/4294967295.7", NULL, &again);
  cr_expect(again.status == 404 && frame_of(&again) == before + 3);
}

/* ---------------------------------------------------------------------------------------------- a world that counts */

/* Of type 'mark', which stay where they are; spawns are spread over frames. */
static long long count_marks(void) {
  long long count = 0;
  EACH_PAGE(page, WORLD "/agents?type=mark&limit=1000") count += (long long)control_size(page, "agents");
  return count;
}

/* The agents are there once; which ones they are, the list of agents tells. */
Test(retry_counted, of_a_long_answer_the_status_is_kept) {
  static char body[SPAWNED * 64];
  size_t length = 0;
  for (int i = 0; i < SPAWNED; i++)
    length += (size_t)sprintf(body + length, "%s{\"type\": \"mark\", \"position\": {\"x\": %d, \"y\": 0}}",
                              i ? ", " : "[", i);
  sprintf(body + length, "]");
  ask_once("POST", WORLD "/agents", "many", body, 201, &reply);
  ask_once("POST", WORLD "/agents", "many", body, 201, &again);
  cr_expect(is_replayed(&again));
  cr_expect(strstr(again.body, "\"left_out\"") && !strstr(reply.body, "\"left_out\""), "%s", again.body);
  while (count_marks() < SPAWNED) continue;
  pass_frames(3);
  cr_expect_eq(count_marks(), SPAWNED);
}

static long long times_counted(const char *number) {
  json_auto_t *counts = ask("POST", WORLD "/module/counts", NULL, 200);
  return control_count(counts, number);
}

Test(retry_counted, one_key_on_sixty_connections_is_carried_out_once) {
  enum { MANY = 60 };
  int connections[MANY];
  unsigned done = 0;
  for (int i = 0; i < MANY; i++)
    connections[i] = daemon_begin_once(&service, "POST", WORLD "/module/count", "of-all", "9");
  for (int i = 0; i < MANY; i++) {
    daemon_end(connections[i], &reply);
    cr_assert(reply.status == 200 || reply.status == 409, "%s", reply.text);
    if (reply.status == 200) cr_assert_str_eq(reply.body, "9 was counted 1 times");
    done += reply.status == 200;
  }
  cr_expect_gt(done, 0);
  cr_expect_eq(times_counted("9"), 1);
}

/* Three times as many as are kept: of the oldest nothing is known. */
Test(retry_counted, twelve_thousand_keys_leave_the_newest_known) {
  enum { MANY = 12000, TOGETHER = 100 }; /* a world has 128 wait at most */
  int connections[TOGETHER];
  const char *key = NULL;
  for (int i = 0; i < MANY; i++) {
    key = formed("key-%d", i);
    connections[i % TOGETHER] =
        daemon_begin_once(&service, "POST", WORLD "/module/count", key, i + 1 < MANY ? "10" : "11");
    for (int k = 0; k < TOGETHER && (i + 1) % TOGETHER == 0; k++) {
      daemon_end(connections[k], &reply);
      cr_assert_eq(reply.status, 200, "%s", reply.text);
    }
  }
  count_once(key, "11", 200, &again);
  cr_expect(is_replayed(&again));
  cr_expect_eq(times_counted("11"), 1);
  count_once("key-0", "11", 200, &again);
  cr_expect(!is_replayed(&again));
}

/* As JSON and as text, the same bytes are two requests: a command may take either. */
Test(retry_counted, the_key_of_a_body_of_another_type_is_refused) {
  static const char *const types[] = {"text/plain", "text/plain; charset=utf-8", "application/json"};
  for (size_t i = 0; i < COUNT_OF(types); i++) {
    daemon_ask_bytes(&service, "POST", WORLD "/module/count", formed("%s\r\nIdempotency-Key: typed", types[i]), "[7]",
                     3, &reply); /* which it takes for 0 */
    cr_expect_eq(reply.status, i < 2 ? 200 : 422, "%s: %s", types[i], reply.body);
    cr_expect_eq(is_replayed(&reply), i == 1, "%s", types[i]);
  }
  cr_expect_eq(times_counted("0"), 1);
}

Test(retry_counted, a_command_of_a_module_is_carried_out_once) {
  count_once("count", "7", 200, &reply);
  count_once("count", "7", 200, &again);
  cr_expect(is_replayed(&again));
  cr_expect_str_eq(again.body, "7 was counted 1 times");
  char type[64];
  cr_expect(daemon_header(&again, "Content-Type", type, sizeof type) && strncmp(type, "text/plain", 10) == 0, "%s",
            again.text);
  cr_expect_eq(times_counted("7"), 1);
  /* It may have changed something before it failed: its error is an answer as any other. */
  count_once("too-large", "9999", 400, &reply);
  count_once("too-large", "9999", 400, &again);
  cr_expect(is_replayed(&again) && !is_replayed(&reply));
  cr_expect_str_eq(again.body, reply.body);
  ask_once("POST", WORLD "/module/no-command", "unknown", "0", 404, &reply);
  count_once("unknown", "7", 200, &again);
  cr_expect(!is_replayed(&again));
  cr_expect_eq(times_counted("7"), 2);
}

/* -------------------------------------------------------------------------------------------------------------- ctl */

/* A server that refuses so many requests for now, and says when to come again. */
typedef struct busy_server {
  int socket;
  uint32_t refusals, after_s;
  uint32_t requests; /* that came */
} busy_server;

static void busy_serve(void *given) {
  busy_server *server = given;
  char text[4096];
  for (int client; (client = accept(server->socket, NULL, NULL)) >= 0; close(client)) {
    size_t length = 0;
    bool refuses = server->requests++ < server->refusals;
    for (ssize_t more; length + 1 < sizeof text; length += (size_t)more) {
      text[length] = '\0';
      if (strstr(text, "\r\n\r\n") || (more = read(client, text + length, sizeof text - 1 - length)) <= 0) break;
    }
    int bytes =
        refuses ? snprintf(text, sizeof text,
                           "HTTP/1.1 503 Busy\r\nRetry-After: %u\r\nContent-Length: 36\r\n"
                           "Connection: close\r\n\r\n{\"error\": {\"message\": \"come again\"}}",
                           server->after_s)
                : snprintf(text, sizeof text, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}");
    if (write(client, text, (size_t)bytes) < bytes) continue;
  }
}

/* It waits for seconds, and not for longer than anybody would: what is to come later is told at once. */
Test(retry_counted, ctl_waits_as_many_seconds_as_the_daemon_says_or_not_at_all) {
  static const struct {
    uint32_t refusals, after_s, requests;
    int status;
  } cases[] = {{0, 0, 1, 0}, {1, 1, 2, 0}, {1, 11, 1, 1}, {1, 3600, 1, 1}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    busy_server server = {.refusals = cases[i].refusals, .after_s = cases[i].after_s};
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    uv_thread_t thread;
    snprintf(address.sun_path, sizeof address.sun_path, "/tmp/muster-busy-%d", (int)getpid());
    server.socket = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    cr_assert(bind(server.socket, (struct sockaddr *)&address, sizeof address) == 0 && listen(server.socket, 16) == 0);
    setenv("MUSTER_SOCKET", address.sun_path, 1);
    cr_assert_eq(uv_thread_create(&thread, busy_serve, &server), 0);
    SCOPED(free_memory) program_run *run = program_start("ctl --world main wake 1.1");
    shutdown(server.socket, SHUT_RDWR);
    uv_thread_join(&thread);
    cr_expect_eq(run->status, cases[i].status, "Retry-After: %u: %s", cases[i].after_s, run->errors);
    cr_expect_eq(strstr(run->errors, "come again") != NULL, cases[i].status == 1, "%s", run->errors);
    cr_expect_eq(server.requests, cases[i].requests, "Retry-After: %u: %u requests", cases[i].after_s, server.requests);
    close(server.socket);
    unlink(address.sun_path);
  }
}
