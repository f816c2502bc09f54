/* A thousand requests that no client should send: each is refused, none changes anything, and the service lives. */
#include "served.h"

enum { REQUESTS = 1000, BODY_BYTES = 8192 };

static uint64_t random_state;

/* xorshift64* */
static uint32_t pick(uint32_t count) {
  random_state ^= random_state >> 12;
  random_state ^= random_state << 25;
  random_state ^= random_state >> 27;
  return (uint32_t)((random_state * 0x2545f4914f6cdd1du >> 32) % count);
}

#define PICK(array) (array)[pick(COUNT_OF(array))]

typedef struct hostile {
  const char *method, *type;
  char path[256];
  unsigned char body[BODY_BYTES];
  size_t bytes;
} hostile;

static void aim_at(hostile *request, const char *method, const char *path, const char *type) {
  request->method = method;
  request->type = type;
  snprintf(request->path, sizeof request->path, "%s", path);
}

static void set_body(hostile *request, const char *text) {
  request->bytes = (size_t)snprintf((char *)request->body, BODY_BYTES, "%s", text);
}

/* ------------------------------------------------------------------------------------------------- good requests */

/* Where JSON is taken, with a body that would be good. The agents and observers named are there. */
struct target {
  const char *method, *path, *body;
};

static const struct target targets[] = {
    {"PATCH", WORLD, "{\"budget_ns\": 5000000, \"hz\": 20.5, \"paused\": false, \"workers\": 1}"},
    {"PATCH", WORLD, "{\"weight_wait\": 0.5, \"guarantee_ns\": 100000000, \"policy\": \"fair\"}"},
    {"POST", WORLD "/step", "{\"frames\": 7}"},
    {"POST", WORLD "/agents", "[{\"type\": \"hare\", \"position\": {\"x\": 1.5, \"y\": -2, \"z\": 0}, \"bulk\": 0.5}]"},
    {"PATCH", WORLD "/agents/3.1", "{\"importance_floor\": 0.5, \"elasticity\": 2}"},
    {"PUT", WORLD "/agents/3.1/position", "{\"position\": {\"x\": 1, \"y\": 2}}"},
    {"POST", WORLD "/agents/3.1/wake", "{\"at_ns\": 900000000000}"},
    {"POST", WORLD "/observers", "{\"position\": {\"x\": 1, \"y\": 2}, \"near_m\": 5, \"far_m\": 50}"},
    {"PUT", WORLD "/observers/0.1/position", "{\"position\": {\"x\": 1, \"y\": 2}}"},
    {"PUT", WORLD "/types/hare/priority", "{\"priority\": 3}"},
    {"POST", "/v1/modules", "{\"module\": \"no-such-module\"}"},
};

static const struct target *aim(hostile *request) {
  const struct target *target = &PICK(targets);
  aim_at(request, target->method, target->path, "application/json");
  set_body(request, target->body);
  return target;
}

/* ------------------------------------------------------------------------------------------------ and what spoils */

/* Ends in the middle: never a whole value, since all bodies are objects or arrays. */
static void truncate_body(hostile *request) {
  aim(request);
  request->bytes = 1 + pick((uint32_t)request->bytes - 1);
}

/* Puts a text behind the first brace. */
static void insert(hostile *request, const char *text) {
  const char *brace = strchr((char *)request->body, '{');
  int before = (int)(brace + 1 - (char *)request->body);
  set_body(request, formed("%.*s%s, %s", before, (char *)request->body, text, brace + 1));
}

static void add_member(hostile *request) {
  static const char *const members[] = {"\"colour\": 1",     "\"\": {}",          "\"__proto__\": {}",
                                        "\"x\": [1,2,3]",    "\"Paused\": true",  "\"\\u0000\": 1",
                                        "\"state\": null",   "\"a\\\"b\": \"c\"", "\"type \": \"hare\"",
                                        "\"\\ud800\": true", "\"id\": \"1.1\""};
  aim(request);
  insert(request, PICK(members));
}

/* Every number becomes one that no field takes. */
static void spoil_numbers(hostile *request) {
  static const char *const numbers[] = {
      "NaN", "Infinity", "-Infinity", "1e999", "-1e300", "\"1\"", "[1]",   "0x10",
      "1e",  "null",     "{}",        "--1",   "+1",     "01",    "-1e10", "99999999999999999999999999"};
  char spoilt[BODY_BYTES];
  size_t length = 0;
  const struct target *target = aim(request);
  const char *number = PICK(numbers);
  for (const char *at = target->body; *at && length < sizeof spoilt - 64;) {
    bool begins = strchr(" ", at[0]) && at[1] && strchr("-0123456789", at[1]);
    spoilt[length++] = *at++;
    if (!begins) continue;
    length += (size_t)snprintf(spoilt + length, sizeof spoilt - length, "%s", number);
    at += strspn(at, "-.0123456789");
  }
  spoilt[length] = '\0';
  if (strcmp(spoilt, target->body) == 0) strcpy(spoilt, "{\"module\": 7}");
  set_body(request, spoilt);
}

static void repeat_member(hostile *request) {
  const struct target *target = aim(request);
  const char *name = strchr(target->body, '"');
  insert(request, formed("%.*s: 1", (int)strcspn(name + 1, "\"") + 2, name));
}

static void send_noise(hostile *request) {
  aim(request);
  request->bytes = 1 + pick(300);
  for (size_t i = 0; i < request->bytes; i++) request->body[i] = (unsigned char)pick(256);
  request->body[0] = PICK(((const char[]){'\0', '}', '\xff', 'x', ','}));
}

static void nest(hostile *request) {
  aim(request);
  request->bytes = 100 + pick(BODY_BYTES - 200);
  memset(request->body, PICK("[{"), request->bytes);
}

static void mistype(hostile *request) {
  static const char *const types[] = {"text/plain", "application/x-www-form-urlencoded", "application/jsonx",
                                      "multipart/form-data", "application/octet-stream"};
  aim(request);
  request->type = PICK(types);
}

static void name_nobody(hostile *request) {
  static const char *const ids[] = {
      "3.2",    "3.0",   "4294967295.1",           "999999.1", "3", "-3.1", "3.1.1", "a.b", "3.", ".1", "%00", "..",
      "3.1%20", "0x3.1", "99999999999999999999.1", "%2e%2e%2f"};
  static const char *const ends[] = {"", "/wake", "/position", "/explain", "/reinstate"};
  static const char *const methods[] = {"DELETE", "POST", "GET", "PATCH", "PUT"};
  aim(request);
  request->method = PICK(methods);
  snprintf(request->path, sizeof request->path, WORLD "/%s/%s%s", pick(2) ? "agents" : "observers", PICK(ids),
           PICK(ends));
}

static void ask_for_nothing(hostile *request) {
  static const char *const paths[] = {
      /* of nothing */
      "/nothing", "//", "/v2", "/v1/", "/v1/worlds/", "/v1/worlds/other", "/../etc/passwd",
      /* of a world */
      WORLD "/agents?limit=-1", WORLD "/agents?near=1,1,nan", WORLD "/agents?cursor=18446744073709551616",
      WORLD "/agents?type=", WORLD "/agents?type=%ff%fe", "/v1/worlds/%6dain%00/agents",
      WORLD "/agents?limit=5&limit=5", WORLD "?x=1", "*"};
  aim_at(request, "GET", PICK(paths), NULL);
}

static void misuse_method(hostile *request) {
  static const char *const methods[] = {"DELETE", "OPTIONS", "TRACE", "CONNECT", "BREW", "get"};
  aim(request);
  request->method = PICK(methods);
  snprintf(request->path, sizeof request->path, "%s", PICK(((const char *const[]){WORLD, "/v1", WORLD "/agents"})));
}

/* Binary: a head and a record, one of whose parts is wrong. */
static void spoil_bulk(hostile *request) {
  static const unsigned char good[48] = {'M', 'U', 'S', 'T', 'E', 'R', 'P', 'O', 1, 0, 0, 0, 1, 0, 0, 0, 3, 0, 0, 0, 1};
  aim_at(request, "POST", pick(2) ? WORLD "/positions" : WORLD "/observers/positions", "application/octet-stream");
  memcpy(request->body, good, sizeof good);
  request->bytes = sizeof good;
  uint32_t part = pick(4);
  if (part == 0) request->body[pick(16)] ^= (unsigned char)(1u << pick(8));
  if (part == 1) request->bytes = pick(48);
  if (part == 2) request->bytes += 1 + pick(64);
  if (part == 3) memset(request->body + 24 + 8 * pick(3), 0xff, 8); /* all ones: not a number */
}

static void spoil_spawn(hostile *request) {
  static const char *const bad[] = {"{\"type\":\"fox\",\"position\":{\"x\":1,\"y\":1}}",
                                    "{}",
                                    "7",
                                    "null",
                                    "{\"type\":\"hare\",\"position\":{\"x\":1,\"y\":1e10}}",
                                    "{\"type\":\"hare\",\"position\":[1,2]}",
                                    "{\"type\":7,\"position\":{\"x\":1,\"y\":1}}"};
  char body[BODY_BYTES];
  size_t length = (size_t)snprintf(body, sizeof body, "[");
  for (uint32_t i = pick(40); i > 0; i--)
    length +=
        (size_t)snprintf(body + length, sizeof body - length, "{\"type\":\"hare\",\"position\":{\"x\":1,\"y\":1}},");
  snprintf(body + length, sizeof body - length, "%s]", PICK(bad));
  aim_at(request, "POST", WORLD "/agents", "application/json");
  set_body(request, body);
}

static void (*const spoilers[])(hostile *request) = {truncate_body, add_member,    spoil_numbers,   repeat_member,
                                                     send_noise,    nest,          mistype,         name_nobody,
                                                     spoil_bulk,    misuse_method, ask_for_nothing, spoil_spawn};

/* ---------------------------------------------------------------------------------------------------------- test */

/* Everything that may not change, as one text that the caller frees. */
static char *describe(void) {
  static const char *const paths[] = {WORLD "/agents?limit=1000", WORLD "/observers", WORLD "/weights", WORLD,
                                      WORLD "/levels"};
  json_auto_t *all = json_array();
  for (size_t i = 0; i < COUNT_OF(paths); i++) json_array_append_new(all, get(paths[i]));
  return json_dumps(all, JSON_INDENT(1));
}

static void start(void) {
  serve_paused("--world main=wildlife --agents 500 --idle-timeout 1s", 400);
}

TestSuite(hostile, .init = start, .fini = stop, .timeout = 280);

Test(hostile, a_thousand_bad_requests_are_refused_and_change_nothing) {
  uint32_t by_class[6] = {0};
  SCOPED(free_memory) char *before = describe();
  random_state = 2026;
  for (uint32_t i = 0; i < REQUESTS; i++) {
    hostile request = {0};
    spoilers[i % COUNT_OF(spoilers)](&request);
    daemon_ask_bytes(&service, request.method, request.path, request.type, request.body, request.bytes, &reply);
    cr_expect(reply.status >= 400 && reply.status < 500, "request %u: %s %s: %d: %.300s", i, request.method,
              request.path, reply.status, (char *)request.body);
    by_class[reply.status / 100 % 6]++;
  }
  cr_expect_eq(by_class[4], REQUESTS);
  SCOPED(free_memory) char *after = describe();
  cr_expect(strcmp(before, after) == 0, "something changed");
}

static int send_garbage(void) {
  static const char *const heads[] = {"GET ", "POST /v1 HTTP/1.1\r\n", "GET /v1 HTTP/1.1\r\nHost: ", "", "\r\n"};
  unsigned char noise[2048];
  size_t bytes = 1 + pick(sizeof noise - 1);
  for (size_t i = 0; i < bytes; i++) noise[i] = (unsigned char)pick(256);
  int descriptor = daemon_connect(&service);
  const char *head = PICK(heads);
  send(descriptor, head, strlen(head), MSG_NOSIGNAL);
  send(descriptor, noise, bytes, MSG_NOSIGNAL);
  return descriptor;
}

Test(hostile, bytes_that_are_no_requests_are_no_harm) {
  enum { CONNECTIONS = 200 };
  char answer[4096];
  int connections[CONNECTIONS];
  SCOPED(free_memory) char *before = describe();
  random_state = 4052;
  for (uint32_t i = 0; i < CONNECTIONS; i++) connections[i] = send_garbage();
  SCOPED(free_memory) char *meanwhile = describe();
  for (uint32_t i = 0; i < CONNECTIONS; i++) { /* what is no whole request is cut after a second */
    ssize_t got = recv(connections[i], answer, sizeof answer - 1, 0);
    answer[got > 0 ? got : 0] = '\0';
    cr_expect(got <= 0 || strncmp(answer, "HTTP/1.1 4", 10) == 0, "noise %u: %.60s", i, answer);
    close(connections[i]);
  }
  SCOPED(free_memory) char *after = describe();
  cr_expect(strcmp(before, meanwhile) == 0 && strcmp(before, after) == 0, "something changed");
}

Test(hostile, connections_that_send_a_byte_at_a_time_hold_up_neither_answers_nor_frames) {
  enum { CONNECTIONS = 200, ROUNDS = 10 };
  int connections[CONNECTIONS];
  tell("PATCH", WORLD, "{'paused': false}", 200);
  for (uint32_t i = 0; i < CONNECTIONS; i++) connections[i] = daemon_connect(&service);
  for (uint32_t round = 0; round < ROUNDS; round++) {
    for (uint32_t i = 0; i < CONNECTIONS; i++) send(connections[i], &"GET /v1/worlds"[round], 1, MSG_NOSIGNAL);
    pass_frames(2);
  }
  for (uint32_t i = 0; i < CONNECTIONS; i++) close(connections[i]);
}
