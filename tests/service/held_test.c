/* Answers that wait until what they promise is safe: in a world with a journal, for the frame after the change; in one
 * that is paused, for a snapshot of the journal. */
#include "control.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

#define WORLD     "/v1/worlds/main"
#define OBSERVERS WORLD "/observers"
#define OBSERVER  "{\"position\": {\"x\": 1, \"y\": 2}}"

enum { READS = 5, TOGETHER = 20 };

static musterd service;
static daemon_reply reply, again;

/* Frames come so seldom that many requests come between two of them. */
static void launch(void) {
  daemon_drop_notices(&service);
  daemon_launch(&service, "--isolation none --snapshot-file @/snapshot --modules " MUSTER_TEST_MODULES
                          " --world main=counter --hz 2 --budget 5ms");
  cr_assert(daemon_await(&service, "READY=1"));
}

static void start(void) {
  daemon_prepare(&service);
  launch();
}

static void die_and_come_back(void) {
  daemon_kill(&service);
  launch();
}

static void stop(void) {
  daemon_stop(&service);
}

TestSuite(held, .init = start, .fini = stop, .timeout = 120);

/* A connection on which a change was sent. */
static int begin(const char *path, const char *key, const char *body) {
  return daemon_begin_once(&service, "POST", path, key, body);
}

static long long frame_of(const daemon_reply *answer) {
  char value[24];
  cr_assert(daemon_header(answer, "Muster-Frame", value, sizeof value), "%s", answer->text);
  return atoll(value);
}

static bool is_replayed(const daemon_reply *answer) {
  char value[8];
  return daemon_header(answer, "Idempotent-Replayed", value, sizeof value);
}

static size_t count_observers(void) {
  json_t *list = control_ask(&service, "GET", OBSERVERS, NULL, 200);
  size_t count = json_array_size(control_member(list, "observers"));
  json_decref(list);
  return count;
}

static void pause_world(void) {
  json_decref(control_ask(&service, "PATCH", WORLD, "{\"paused\": true}", 200));
}

/* ---------------------------------------------------------------------------------------------------------- frames */

Test(held, an_answer_to_a_change_goes_out_when_its_frame_is_safe) {
  for (size_t i = 0; i < 3; i++) {
    daemon_ask_once(&service, "POST", OBSERVERS, NULL, OBSERVER, &reply);
    die_and_come_back();
    cr_expect_eq(reply.status, 201, "%s", reply.body);
    cr_expect_eq(count_observers(), i + 1);
    daemon_ask(&service, "GET", OBSERVERS, NULL, &again);
    cr_expect_geq(frame_of(&again), frame_of(&reply));
  }
}

Test(held, what_only_reads_waits_for_nothing) {
  int before = 0;
  for (int tries = 0; before < READS; tries++) {
    char key[32];
    snprintf(key, sizeof key, "change-%d", tries);
    int change = begin(OBSERVERS, key, OBSERVER);
    long long frames[READS];
    for (int i = 0; i < READS; i++) {
      daemon_ask(&service, "GET", WORLD "/agents?limit=1", NULL, &again);
      frames[i] = frame_of(&again);
    }
    daemon_end(change, &reply);
    cr_expect_eq(reply.status, 201);
    before = 0;
    for (int i = 0; i < READS; i++) before += frames[i] < frame_of(&reply); /* while the change waited for its frame */
  }
}

Test(held, a_request_that_is_under_way_is_not_begun_again) {
  bool seen = false;
  size_t before = count_observers(), added = 0;
  for (; !seen; added++) {
    char key[32];
    snprintf(key, sizeof key, "twice-%zu", added);
    int one = begin(OBSERVERS, key, OBSERVER), other = begin(OBSERVERS, key, OBSERVER);
    daemon_end(one, &reply);
    daemon_end(other, &again);
    cr_expect(reply.status == 201 || again.status == 201, "%d and %d", reply.status, again.status);
    daemon_reply *refused = reply.status == 409 ? &reply : &again;
    seen = refused->status == 409;
    if (!seen) cr_expect(is_replayed(&reply) || is_replayed(&again)); /* a frame came in between */
    if (seen) cr_expect(strstr(refused->text, "\"under_way\"") && strstr(refused->text, "Retry-After: 1\r\n"));
    daemon_ask_once(&service, "POST", OBSERVERS, key, OBSERVER, &again);
    cr_expect(again.status == 201 && is_replayed(&again), "%s", again.text);
  }
  cr_expect_eq(count_observers(), before + added);
}

Test(held, the_answers_come_when_the_service_stops) {
  int changes[TOGETHER];
  for (int i = 0; i < TOGETHER; i++) {
    char key[32];
    snprintf(key, sizeof key, "last-%d", i);
    changes[i] = begin(OBSERVERS, key, OBSERVER);
  }
  while (daemon_metric(&service, "muster_mailbox_requests_total") < TOGETHER) continue;
  daemon_signal(&service, SIGTERM);
  for (int i = 0; i < TOGETHER; i++) {
    daemon_end(changes[i], &reply);
    cr_expect_eq(reply.status, 201, "%s", reply.text);
  }
  cr_expect_eq(daemon_wait(&service), 0);
  launch();
  daemon_ask_once(&service, "POST", OBSERVERS, "last-0", OBSERVER, &again);
  cr_expect(again.status == 201 && is_replayed(&again), "%s", again.text);
  control_await_count(&service, WORLD, "frames", 1);
  cr_expect_eq(count_observers(), TOGETHER);
}

/* ---------------------------------------------------------------------------------------------------------- pauses */

Test(held, in_a_paused_world_a_snapshot_makes_a_change_safe) {
  pause_world();
  daemon_ask_once(&service, "POST", OBSERVERS, "paused", OBSERVER, &reply);
  cr_expect_eq(reply.status, 201, "%s", reply.body);
  daemon_ask_once(&service, "POST", OBSERVERS, "paused", OBSERVER, &again);
  cr_expect(again.status == 201 && is_replayed(&again), "it is answered, and no more under way: %s", again.text);
  die_and_come_back();
  json_t *world = control_ask(&service, "GET", WORLD, NULL, 200);
  cr_expect(control_is_true(world, "paused"), "that was a change, too");
  json_decref(world);
  daemon_ask_once(&service, "POST", OBSERVERS, "paused", OBSERVER, &again);
  cr_expect(again.status == 201 && is_replayed(&again));
  cr_expect_str_eq(again.body, reply.body);
  control_step(&service, 1);
  cr_expect_eq(count_observers(), 1);
}

Test(held, changes_of_a_paused_world_share_snapshots) {
  int changes[TOGETHER];
  pause_world();
  json_t *world = control_ask(&service, "GET", WORLD, NULL, 200);
  cr_expect(control_is_true(world, "journal.on"));
  json_decref(world);
  for (int i = 0; i < TOGETHER; i++) {
    char key[32];
    snprintf(key, sizeof key, "shared-%d", i);
    changes[i] = begin(OBSERVERS, key, OBSERVER);
  }
  for (int i = 0; i < TOGETHER; i++) {
    daemon_end(changes[i], &reply);
    cr_expect_eq(reply.status, 201, "%s", reply.text);
  }
  die_and_come_back();
  control_step(&service, 1);
  cr_expect_eq(count_observers(), TOGETHER);
}

Test(held, a_change_is_safe_also_if_the_world_is_paused_before_its_frame) {
  int change = begin(OBSERVERS, "before", OBSERVER);
  pause_world();
  daemon_end(change, &reply);
  cr_expect_eq(reply.status, 201);
  die_and_come_back();
  control_step(&service, 1);
  cr_expect_eq(count_observers(), 1);
}
