/* Changes in whose work the process ends: only these are refused when they are sent again. */
#include "served.h"

enum { COMMANDS = 40, FATAL = 20, PAUSE_US = 5000, TRIES_MAX = 4000 };

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

TestSuite(poison, .init = poison_start, .fini = stop, .timeout = 120);
TestSuite(poison_in_a_frame, .init = start_slowly, .fini = stop, .timeout = 120);

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
  int status = ask_until_answered(WORLD "/module/die", key, body);
  return status == 500 && strstr(reply.body, "\"ended_process\"") && is_replayed(&reply);
}

static void expect_refused(const char *key, const char *body) {
  cr_expect(is_refused(key, body), "%d: %s", reply.status, reply.body);
}

/* A change that ends the process, and is refused then. */
static void die_and_be_refused(const char *key, const char *body) {
  daemon_ask_once(&service, "POST", WORLD "/module/die", key, body, &reply);
  cr_assert(is_refused(key, body), "%d: %s", reply.status, reply.body);
}

/* Asks with the header that a person sends who knows better. */
static int insist(const char *key, const char *body) {
  int connection = control_send(
      &service, formed("POST " WORLD "/module/die HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nMuster-Insist: "
                       "true\r\nIdempotency-Key: %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n\r\n%s",
                       key, strlen(body), body));
  daemon_end(connection, &reply);
  return reply.status;
}

/* What each of the others was counted, and that one was not. */
static void expect_counts(void) {
  cr_assert_eq(ask_until_answered(WORLD "/module/counts", NULL, NULL), 200);
  json_auto_t *counts = json_loads(reply.body, 0, NULL);
  cr_assert_not_null(counts, "%s", reply.body);
  for (uint32_t i = 1; i <= COMMANDS; i++) {
    long long times = control_count(counts, formed("%u", i));
    cr_expect_eq(times, i == FATAL ? 0 : 1, "command %u was carried out %lld times", i, times);
  }
}

/* Sends all that were not answered yet, and takes what comes: their answers, kept or not, wait for the same frame. */
static uint32_t send_all(bool answered[COMMANDS + 1]) {
  int connections[COMMANDS + 1];
  uint32_t open = 0;
  for (uint32_t i = 1; i <= COMMANDS; i++) {
    const char *path = i == FATAL ? WORLD "/module/die" : WORLD "/module/count", *number = formed("%u", i);
    connections[i] = answered[i] ? -1 : daemon_begin_once(&service, "POST", path, formed("command-%u", i), number);
  }
  for (uint32_t i = 1; i <= COMMANDS; i++) {
    if (answered[i]) continue;
    daemon_end(connections[i], &reply);
    answered[i] = reply.status == (i == FATAL ? 500 : 200);
    cr_assert(answered[i] || reply.status == 503 || reply.status == 409, "%u: %d: %s", i, reply.status, reply.body);
    open += !answered[i];
  }
  return open;
}

Test(poison_in_a_frame, of_forty_commands_refuses_the_one_that_ends_the_process) {
  bool answered[COMMANDS + 1] = {false};
  cr_expect_eq(send_all(answered), COMMANDS, "the process ends before their frame does");
  for (uint32_t tries = 0; send_all(answered) > 0; tries++) {
    cr_assert_lt(tries, TRIES_MAX);
    usleep(PAUSE_US);
  }
  expect_refused(formed("command-%u", FATAL), formed("%u", FATAL));
  expect_in(reply.body, "died of SIGABRT; its incident is snapshot.main-incident-1.");
  cr_expect_eq(starts_of_main(), 2);
  expect_counts();
}

Test(poison, that_is_insisted_on_is_carried_out_again_and_refused_again) {
  die_and_be_refused("one", "now");
  cr_expect_eq(insist("one", "now"), 503, "%s", reply.body);
  expect_refused("one", "now");
  expect_in(reply.body, "incident-2.");
  cr_expect_eq(starts_of_main(), 3);
  cr_expect_eq(ask_until_answered(WORLD "/module/die", "one", "later"), 422, "the key is that one's");
  cr_expect_eq(insist("one", "later"), 422, "also for who insists");
  daemon_ask_once(&service, "POST", WORLD "/module/die", "two", "now", &reply); /* a key of its own */
  expect_refused("two", "now");
  cr_expect_eq(starts_of_main(), 4);
}

Test(poison, stays_refused_when_the_world_starts_again) {
  die_and_be_refused("one", "now");
  tell("POST", WORLD "/restart", NULL, 202);
  expect_refused("one", "now");
  expect_at("/v1/crash", "{'requests.0.key': 'one', 'requests.0.refused': true}");
}

/* It may have been killed for something else: the first time is not held against it. */
Test(poison, that_left_no_trace_has_a_second_try) {
  die_and_be_refused("one", "killed");
  cr_expect_eq(starts_of_main(), 3);
  expect_in(reply.body, "was killed, or ended without a trace");
}

/* The flight recorder alone has it then. */
Test(poison_without_a_journal, stays_refused_as_well, .init = daemon_expect_deaths, .fini = stop, .timeout = 120) {
  daemon_start(&service, "--isolation process --modules " MUSTER_TEST_MODULES " --world main=counter --budget 2ms");
  die_and_be_refused("one", "now");
  expect_in(reply.body, "died of SIGABRT. It is not carried out again");
  tell("POST", WORLD "/restart", NULL, 202);
  expect_refused("one", "now");
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
  expect_in(reply.body, "7 was counted 1 times");
  cr_expect_eq(starts_of_main(), 2);
  cr_expect_eq(size_at("/v1/crash", "requests"), 0);
}
