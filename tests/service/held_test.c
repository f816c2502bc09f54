/* Answers that wait until what they promise is safe: in a world with a journal, for the frame after the change; in one
 * that is paused, for a snapshot of the journal. */
#include "served.h"

#define OBSERVERS WORLD "/observers"
#define OBSERVER  "{\"position\": {\"x\": 1, \"y\": 2}}"

enum { READS = 5, TOGETHER = 20 };

/* Frames come so seldom that many requests come between two of them. */
static void launch(void) {
  daemon_drop_notices(&service);
  launch_ready("--isolation none --snapshot-file @/snapshot --modules " MUSTER_TEST_MODULES
               " --world main=counter --hz 2 --budget 5ms");
}

static void start(void) {
  daemon_prepare(&service);
  launch();
}

static void die_and_come_back(void) {
  daemon_kill(&service);
  launch();
}

TestSuite(held, .init = start, .fini = stop, .timeout = 120);

/* A connection on which a change was sent. */
static int begin(const char *key) {
  return daemon_begin_once(&service, "POST", OBSERVERS, key, OBSERVER);
}

static void expect_added(int change) {
  daemon_end(change, &reply);
  cr_expect_eq(reply.status, 201, "%s", reply.text);
}

static void begin_changes(const char *name, int changes[TOGETHER]) {
  for (int i = 0; i < TOGETHER; i++) changes[i] = begin(formed("%s-%d", name, i));
}

static void expect_added_again(const char *key) {
  daemon_ask_once(&service, "POST", OBSERVERS, key, OBSERVER, &again);
  cr_expect(again.status == 201 && is_replayed(&again), "%s", again.text);
}

static size_t count_observers(void) {
  return size_at(OBSERVERS, "observers");
}

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
    int change = begin(formed("change-%d", tries));
    long long frames[READS];
    for (int i = 0; i < READS; i++) {
      daemon_ask(&service, "GET", WORLD "/agents?limit=1", NULL, &again);
      frames[i] = frame_of(&again);
    }
    expect_added(change);
    before = 0;
    for (int i = 0; i < READS; i++) before += frames[i] < frame_of(&reply); /* while the change waited for its frame */
  }
}

Test(held, a_request_that_is_under_way_is_not_begun_again) {
  bool seen = false;
  size_t before = count_observers(), added = 0;
  for (; !seen; added++) {
    const char *key = formed("twice-%zu", added);
    int one = begin(key), other = begin(key);
    daemon_end(one, &reply);
    daemon_end(other, &again);
    cr_expect(reply.status == 201 || again.status == 201, "%d and %d", reply.status, again.status);
    daemon_reply *refused = reply.status == 409 ? &reply : &again;
    seen = refused->status == 409;
    if (!seen) cr_expect(is_replayed(&reply) || is_replayed(&again)); /* a frame came in between */
    if (seen) cr_expect(strstr(refused->text, "\"under_way\"") && strstr(refused->text, "Retry-After: 1\r\n"));
    expect_added_again(key);
  }
  cr_expect_eq(count_observers(), before + added);
}

Test(held, the_answers_come_when_the_service_stops) {
  int changes[TOGETHER];
  begin_changes("last", changes);
  while (metric("muster_mailbox_requests_total") < TOGETHER) continue;
  daemon_signal(&service, SIGTERM);
  for (int i = 0; i < TOGETHER; i++) expect_added(changes[i]);
  cr_expect_eq(daemon_wait(&service), 0);
  launch();
  expect_added_again("last-0");
  await_count(WORLD, "frames", 1);
  cr_expect_eq(count_observers(), TOGETHER);
}

Test(held, in_a_paused_world_a_snapshot_makes_a_change_safe) {
  pause_world();
  expect_added(begin("paused"));
  expect_added_again("paused"); /* it is answered, and no more under way */
  die_and_come_back();
  cr_expect(is_true_at(WORLD, "paused"), "that was a change, too");
  expect_added_again("paused");
  cr_expect_str_eq(again.body, reply.body);
  step(1);
  cr_expect_eq(count_observers(), 1);
}

Test(held, changes_of_a_paused_world_share_snapshots) {
  int changes[TOGETHER];
  pause_world();
  cr_expect(is_true_at(WORLD, "journal.on"));
  begin_changes("shared", changes);
  for (int i = 0; i < TOGETHER; i++) expect_added(changes[i]);
  die_and_come_back();
  step(1);
  cr_expect_eq(count_observers(), TOGETHER);
}

Test(held, a_change_is_safe_also_if_the_world_is_paused_before_its_frame) {
  int change = begin("before");
  pause_world();
  expect_added(change);
  die_and_come_back();
  step(1);
  cr_expect_eq(count_observers(), 1);
}
