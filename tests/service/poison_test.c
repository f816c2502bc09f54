/* Changes in whose work the process ends: only these are refused when they are sent again. */
#include "control.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#define WORLD "/v1/worlds/main"

enum { COMMANDS = 40, FATAL = 20, PAUSE_US = 5000, TRIES_MAX = 4000 };

static musterd service;
static daemon_reply reply;

#define FLAGS                                                                                                          \
  "--isolation process --snapshot-file @/snapshot --crash-limit 0 --modules " MUSTER_TEST_MODULES                      \
  " --world main=counter --budget 2ms --hz "

static void poison_start(void) {
  daemon_expect_deaths();
  daemon_start(&service, FLAGS "60");
}

/* A frame in two seconds: all that comes meanwhile is of one frame. */
static void start_slowly(void) {
  daemon_expect_deaths();
  daemon_start(&service, FLAGS "0.5");
}

static void poison_stop(void) {
  daemon_stop(&service);
}

TestSuite(poison, .init = poison_start, .fini = poison_stop, .timeout = 120);
TestSuite(poison_in_a_frame, .init = start_slowly, .fini = poison_stop, .timeout = 120);

static void describe(uint32_t number, char path[64], char key[32], char body[16]) {
  snprintf(path, 64, WORLD "/module/%s", number == FATAL ? "die" : "count");
  snprintf(key, 32, "command-%u", number);
  snprintf(body, 16, "%u", number);
}

/* Sends it until the world's process answers. */
static int ask_until_answered(const char *path, const char *key, const char *body) {
  for (uint32_t tries = 0; tries < TRIES_MAX; tries++) {
    daemon_ask_once(&service, "POST", path, key, body, &reply);
    if (reply.status != 503 && reply.status != 409 && reply.status != 0) return reply.status;
    usleep(PAUSE_US);
  }
  cr_assert(false, "%s with %s was never answered: %s", path, key, reply.body);
  return 0;
}

static bool is_refused(const char *key, const char *body) {
  char value[16];
  int status = ask_until_answered(WORLD "/module/die", key, body);
  return status == 500 && strstr(reply.body, "\"ended_process\"") &&
         daemon_header(&reply, "Idempotent-Replayed", value, sizeof value);
}

static double poison_starts(void) {
  return daemon_metric(&service, "muster_world_process_starts_total{world=\"main\"}");
}

/* Asks with the header that a person sends who knows better. */
static int insist(const char *key, const char *body) {
  char text[256];
  int length = snprintf(text, sizeof text,
                        "POST " WORLD "/module/die HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nMuster-Insist: "
                        "true\r\nIdempotency-Key: %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s",
                        key, strlen(body), body);
  int connection = daemon_connect(&service);
  cr_assert_eq(write(connection, text, (size_t)length), length);
  daemon_end(connection, &reply);
  return reply.status;
}

/* What each of the others was counted, and that one was not. */
static void expect_counts(void) {
  char path[16];
  cr_assert_eq(ask_until_answered(WORLD "/module/counts", NULL, NULL), 200);
  json_t *counts = json_loads(reply.body, 0, NULL);
  cr_assert_not_null(counts, "%s", reply.body);
  for (uint32_t i = 1; i <= COMMANDS; i++) {
    snprintf(path, sizeof path, "%u", i);
    cr_expect_eq(control_count(counts, path), i == FATAL ? 0 : 1, "command %u was carried out %lld times", i,
                 control_count(counts, path));
  }
  json_decref(counts);
}

/* Sends all that were not answered yet, and takes what comes: their answers, kept or not, wait for the same frame. */
static uint32_t send_all(bool answered[COMMANDS + 1]) {
  char path[64], key[32], body[16];
  int connections[COMMANDS + 1];
  uint32_t open = 0;
  for (uint32_t i = 1; i <= COMMANDS; i++) {
    describe(i, path, key, body);
    connections[i] = answered[i] ? -1 : daemon_begin_once(&service, "POST", path, key, body);
  }
  for (uint32_t i = 1; i <= COMMANDS; i++) {
    if (answered[i]) continue;
    daemon_end(connections[i], &reply);
    answered[i] = reply.status == (i == FATAL ? 500 : 200);
    cr_assert(answered[i] || reply.status == 503 || reply.status == 409, "command %u: %d: %s", i, reply.status,
              reply.body);
    open += !answered[i];
  }
  return open;
}

Test(poison_in_a_frame, of_forty_commands_refuses_the_one_that_ends_the_process) {
  bool answered[COMMANDS + 1] = {false};
  char path[64], key[32], body[16];
  cr_expect_eq(send_all(answered), COMMANDS, "the process ends before their frame does");
  for (uint32_t tries = 0; send_all(answered) > 0; tries++) {
    cr_assert_lt(tries, TRIES_MAX);
    usleep(PAUSE_US);
  }
  describe(FATAL, path, key, body);
  cr_expect(is_refused(key, body), "%d: %s", reply.status, reply.body);
  cr_expect(strstr(reply.body, "died of SIGABRT; its incident is snapshot.main-incident-1."), "%s", reply.body);
  cr_expect_eq(poison_starts(), 2);
  expect_counts();
}

Test(poison, that_is_insisted_on_is_carried_out_again_and_refused_again) {
  daemon_ask_once(&service, "POST", WORLD "/module/die", "one", "now", &reply);
  cr_assert(is_refused("one", "now"), "%d: %s", reply.status, reply.body);
  cr_expect_eq(insist("one", "now"), 503, "%s", reply.body);
  cr_expect(is_refused("one", "now"), "%d: %s", reply.status, reply.body);
  cr_expect(strstr(reply.body, "incident-2."), "%s", reply.body);
  cr_expect_eq(poison_starts(), 3);
  cr_expect_eq(ask_until_answered(WORLD "/module/die", "one", "later"), 422, "the key is that one's");
  cr_expect_eq(insist("one", "later"), 422, "also for who insists");
  daemon_ask_once(&service, "POST", WORLD "/module/die", "two", "now", &reply); /* a key of its own */
  cr_expect(is_refused("two", "now"), "%d: %s", reply.status, reply.body);
  cr_expect_eq(poison_starts(), 4);
}

Test(poison, stays_refused_when_the_world_starts_again) {
  daemon_ask_once(&service, "POST", WORLD "/module/die", "one", "now", &reply);
  cr_assert(is_refused("one", "now"), "%d: %s", reply.status, reply.body);
  json_decref(control_ask(&service, "POST", WORLD "/restart", NULL, 202));
  cr_expect(is_refused("one", "now"), "%d: %s", reply.status, reply.body);
  json_t *crash = control_ask(&service, "GET", "/v1/crash", NULL, 200);
  cr_expect_str_eq(control_text(crash, "requests.0.key"), "one");
  cr_expect(control_is_true(crash, "requests.0.refused"));
  json_decref(crash);
}

/* It may have been killed for something else: the first time is not held against it. */
Test(poison, that_left_no_trace_has_a_second_try) {
  daemon_ask_once(&service, "POST", WORLD "/module/die", "one", "killed", &reply);
  cr_assert(is_refused("one", "killed"), "%d: %s", reply.status, reply.body);
  cr_expect_eq(poison_starts(), 3);
  cr_expect(strstr(reply.body, "was killed, or ended without a trace"), "%s", reply.body);
}

/* The flight recorder alone has it then. */
Test(poison_without_a_journal, stays_refused_as_well, .init = daemon_expect_deaths, .timeout = 120) {
  daemon_start(&service, "--isolation process --modules " MUSTER_TEST_MODULES " --world main=counter --budget 2ms");
  daemon_ask_once(&service, "POST", WORLD "/module/die", "one", "now", &reply);
  cr_assert(is_refused("one", "now"), "%d: %s", reply.status, reply.body);
  cr_expect(strstr(reply.body, "died of SIGABRT. It is not carried out again"), "%s", reply.body);
  json_decref(control_ask(&service, "POST", WORLD "/restart", NULL, 202));
  cr_expect(is_refused("one", "now"), "%d: %s", reply.status, reply.body);
  daemon_stop(&service);
}

/* An update that dies is of no change, whenever that was made. */
Test(poison, is_no_change_in_whose_frame_a_callback_dies) {
  int strike = daemon_begin_once(&service, "POST", WORLD "/module/strike", "strike", "now"),
      count = daemon_begin_once(&service, "POST", WORLD "/module/count", "count", "7");
  daemon_end(strike, &reply);
  cr_expect_eq(reply.status, 503, "%s", reply.body);
  daemon_end(count, &reply);
  cr_expect_eq(reply.status, 503, "%s", reply.body);
  cr_expect_eq(ask_until_answered(WORLD "/module/count", "count", "7"), 200, "%s", reply.body);
  cr_expect(strstr(reply.body, "7 was counted 1 times"), "%s", reply.body);
  cr_expect_eq(poison_starts(), 2);
  json_t *crash = control_ask(&service, "GET", "/v1/crash", NULL, 200);
  cr_expect_eq(json_array_size(control_member(crash, "requests")), 0);
  json_decref(crash);
}
