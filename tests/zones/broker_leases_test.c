/* Leases and the clock, with real etcd servers. */
#include "broker_here.h"

enum { FIGHTS = 200 };

TestSuite(broker_leases, .fini = end_here, .timeout = 300);

Test(broker_leases, each_take_has_a_new_epoch) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  broker_lease first = take_free(a, 7);
  cr_expect(first.zone == 7 && first.epoch == 1 && first.revision != 0);
  cr_expect_str_eq(first.owner, "a");
  cr_expect_str_eq(first.last_owner, "");
  EXPECT_RESULT(lab_renew(&here, a, &first), MUSTER_OK);

  lab_answer refused = lab_take(&here, b, 7, true);
  EXPECT_RESULT(refused, MUSTER_E_STATE);
  cr_expect_str_eq(refused.lease.owner, "a", "the holder is told");
  cr_expect_eq(refused.lease.epoch, 1);
  EXPECT_RESULT(lab_take(&here, a, 7, false), MUSTER_E_STATE);

  broker_lease again = take(a, 7);
  cr_expect_eq(again.epoch, 2);
  cr_expect_str_eq(again.last_owner, "a");
  EXPECT_RESULT(lab_renew(&here, a, &first), MUSTER_E_STATE);
  EXPECT_RESULT(lab_renew(&here, a, &again), MUSTER_OK);

  EXPECT_RESULT(lab_release(&here, a, &again), MUSTER_OK);
  EXPECT_RESULT(lab_release(&here, a, &again), MUSTER_OK);
  EXPECT_RESULT(lab_renew(&here, a, &again), MUSTER_E_STATE);
  broker_lease other = take_free(b, 7);
  cr_expect_eq(other.epoch, 3);
  cr_expect_str_eq(other.last_owner, "a");
  EXPECT_RESULT(lab_take(&here, b, 8, false), MUSTER_OK);
  cr_expect_eq(broker_lease_take(a, BROKER_ZONE_MAX + 1, false, 0, 0, lab_taken, NULL), MUSTER_E_ARGUMENT);
}

static lab_answer take_over(struct broker *broker, uint32_t zone, int64_t silent) {
  lab_answer answer = {0};
  return call_here(broker_lease_take(broker, zone, false, silent, 0, lab_taken, &answer), &answer);
}

Test(broker_leases, one_that_was_not_renewed_is_taken_over) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  broker_lease first = take_free(a, 1);
  lab_answer seen = lab_take(&here, b, 1, false);
  EXPECT_RESULT(seen, MUSTER_E_STATE);
  EXPECT_RESULT(lab_renew(&here, a, &first), MUSTER_OK);
  lab_answer renewed = take_over(b, 1, seen.lease.revision);
  EXPECT_RESULT(renewed, MUSTER_E_STATE);
  cr_expect_neq(renewed.lease.revision, seen.lease.revision, "a renewal is seen");
  lab_answer next = take_over(b, 1, renewed.lease.revision);
  EXPECT_RESULT(next, MUSTER_OK);
  cr_expect_eq(next.lease.epoch, 2);
  cr_expect_str_eq(next.lease.last_owner, "a");
  EXPECT_RESULT(lab_renew(&here, a, &first), MUSTER_E_STATE);
  EXPECT_RESULT(lab_release(&here, a, &first), MUSTER_OK);
  EXPECT_RESULT(lab_renew(&here, b, &next.lease), MUSTER_OK);
}

Test(broker_leases, one_that_is_given_is_taken_by_that_node_at_once_and_by_others_when_it_is_silent) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b"), *c = open_as(2, "c");
  broker_lease first = take_free(a, 1);
  EXPECT_RESULT(give(a, &first, "b", NULL), MUSTER_OK);
  EXPECT_RESULT(lab_renew(&here, a, &first), MUSTER_E_STATE);
  EXPECT_RESULT(give(a, &first, "c", NULL), MUSTER_E_STATE);
  lab_answer refused = lab_take(&here, c, 1, true);
  EXPECT_RESULT(refused, MUSTER_E_STATE);
  cr_expect_str_eq(refused.lease.owner, "b");
  EXPECT_RESULT(lab_take(&here, a, 1, true), MUSTER_E_STATE);
  broker_lease second = take(b, 1);
  cr_expect_eq(second.epoch, 2);
  cr_expect_str_eq(second.last_owner, "a", "it reads what a has left");

  EXPECT_RESULT(give(b, &second, "a", NULL), MUSTER_OK);
  lab_answer seen = lab_take(&here, c, 1, false);
  EXPECT_RESULT(seen, MUSTER_E_STATE);
  lab_answer third = take_over(c, 1, seen.lease.revision);
  EXPECT_RESULT(third, MUSTER_OK);
  cr_expect_eq(third.lease.epoch, 3);
  cr_expect_str_eq(third.lease.last_owner, "b");
  EXPECT_RESULT(lab_take(&here, a, 1, true), MUSTER_E_STATE);
}

/* The owner renews while the other is about to take it over: one of them has it. */
Test(broker_leases, a_renewal_and_a_takeover_exclude_each_other) {
  start_here(1, 3);
  struct broker *nodes[2] = {open_as(0, "a"), open_as(1, "b")};
  lab_answer has = lab_take(&here, nodes[0], 1, false);
  uint32_t owner = 0, renewals = 0;
  for (uint32_t fight = 0; fight < FIGHTS; fight++) {
    lab_answer seen = lab_take(&here, nodes[!owner], 1, false), renewal = {0}, taken = {0};
    EXPECT_RESULT(seen, MUSTER_E_STATE);
    for (uint32_t i = 0; i < 2; i++)
      if (i == fight % 2)
        cr_assert_eq(broker_lease_renew(nodes[owner], &has.lease, lab_done, &renewal), MUSTER_OK);
      else
        cr_assert_eq(broker_lease_take(nodes[!owner], 1, false, seen.lease.revision, 0, lab_taken, &taken), MUSTER_OK);
    LAB_AWAIT(&here, renewal.done && taken.done);
    cr_assert_neq(renewal.result, taken.result);
    EXPECT_RESULT(renewal, taken.result == MUSTER_OK ? MUSTER_E_STATE : MUSTER_OK);
    renewals += renewal.result == MUSTER_OK;
    if (taken.result == MUSTER_OK) {
      has = taken;
      owner = !owner;
    }
  }
  cr_log_info("renewed in %u of %u", renewals, FIGHTS);
}

Test(broker_leases, of_two_that_fight_one_wins) {
  start_here(1, 3);
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  uint32_t won_by_a = 0;
  for (uint32_t fight = 1; fight <= FIGHTS; fight++) {
    lab_answer of_a = {0}, of_b = {0};
    bool a_first = fight % 2;
    cr_assert_eq(broker_lease_take(a_first ? a : b, 5, false, 0, 0, lab_taken, a_first ? &of_a : &of_b), MUSTER_OK);
    cr_assert_eq(broker_lease_take(a_first ? b : a, 5, false, 0, 0, lab_taken, a_first ? &of_b : &of_a), MUSTER_OK);
    LAB_AWAIT(&here, of_a.done && of_b.done);
    bool a_won = of_a.result == MUSTER_OK;
    lab_answer *winner = a_won ? &of_a : &of_b, *loser = a_won ? &of_b : &of_a;
    EXPECT_RESULT(*winner, MUSTER_OK);
    EXPECT_RESULT(*loser, MUSTER_E_STATE);
    cr_assert_eq(winner->lease.epoch, fight);
    cr_assert_str_eq(loser->lease.owner, a_won ? "a" : "b");
    EXPECT_RESULT(lab_release(&here, a_won ? a : b, &winner->lease), MUSTER_OK);
    won_by_a += a_won;
  }
  cr_log_info("a has won %u of %u", won_by_a, FIGHTS);
}

/* Runs a node's loop until its request has gone over its door, and not on, until the answer has come back. */
static void await_read(uint32_t door, uint64_t to, uint64_t from) {
  uint64_t to_now = to, from_now = from;
  for (int tries = 0; from_now == from; tries++) {
    cr_assert_lt(tries, 30000, "etcd does not answer");
    if (to_now == to) uv_run(&here.loop, UV_RUN_NOWAIT);
    usleep(2000);
    brokers_door_passed(here.servers, door, BROKERS_ETCD, 0, &to_now, &from_now);
  }
}

/* One has read that the lease is free, and puts an epoch once another has taken it and given it back: the lease is free
 * again, and the epoch has been used. Each node has a loop of its own, so that the first waits. */
Test(broker_leases, an_epoch_that_was_given_back_meanwhile_is_not_put_again) {
  enum { ROUNDS = 5, TRIES = 100 };
  start_here(1, 1);
  struct lab other = here;
  uint32_t door = brokers_open_door(here.servers), rounds = 0;
  broker_settings settings = lab_settings(&here, "a");
  snprintf(settings.etcd, sizeof settings.etcd, "%s", brokers_door(here.servers, door, BROKERS_ETCD));
  cr_assert_eq(uv_loop_init(&other.loop), 0);
  struct broker *a = lab_open(&here, 0, &settings, true);
  settings = lab_settings(&other, "b");
  struct broker *b = lab_open(&other, 0, &settings, true);
  for (uint32_t i = 0; i < TRIES && rounds < ROUNDS; i++) {
    lab_answer of_a = {0};
    uint64_t to, from;
    brokers_door_passed(here.servers, door, BROKERS_ETCD, 0, &to, &from);
    cr_assert_eq(broker_lease_take(a, 5, false, 0, 0, lab_taken, &of_a), MUSTER_OK);
    await_read(door, to, from);
    brokers_cut_door(here.servers, door, BROKERS_ETCD, 0, true);
    lab_answer of_b = lab_take(&other, b, 5, false);
    if (of_b.result == MUSTER_OK) EXPECT_RESULT(lab_release(&other, b, &of_b.lease), MUSTER_OK);
    brokers_cut_door(here.servers, door, BROKERS_ETCD, 0, false);
    LAB_AWAIT(&here, of_a.done);
    EXPECT_RESULT(of_a, MUSTER_OK);
    if (of_b.result == MUSTER_OK) cr_assert_eq(of_a.lease.epoch, of_b.lease.epoch + 1, "round %u", rounds);
    rounds += of_b.result == MUSTER_OK; /* else the first one was faster */
    EXPECT_RESULT(lab_release(&here, a, &of_a.lease), MUSTER_OK);
  }
  cr_assert_eq(rounds, ROUNDS);
  lab_leave(&other);
}

/* Renews again and again, until etcd answers. */
static void renew_once_answered(struct broker *broker, const broker_lease *lease) {
  lab_answer renewed = {.result = MUSTER_E_SYSTEM};
  while (renewed.result == MUSTER_E_SYSTEM) renewed = lab_renew(&here, broker, lease);
  EXPECT_RESULT(renewed, MUSTER_OK);
}

/* Renewals go on while the leader of etcd is killed; with two of three gone nothing is renewed. */
Test(broker_leases, renewals_outlive_a_server) {
  start_here(1, 3);
  struct broker *a = open_as(0, "a");
  broker_lease lease = take_free(a, 3);
  uint32_t leader = (uint32_t)brokers_etcd_leader(here.servers);
  brokers_kill(here.servers, BROKERS_ETCD, leader);
  renew_once_answered(a, &lease);
  brokers_kill(here.servers, BROKERS_ETCD, (leader + 1) % 3);
  lab_answer renewed = lab_renew(&here, a, &lease);
  EXPECT_RESULT(renewed, MUSTER_E_SYSTEM);
  cr_expect(strstr(renewed.reason, "http://127.0.0.1:"), "which server is told: %s", renewed.reason);
  LAB_AWAIT(&here, !here.all[0].etcd);
  brokers_revive(here.servers, BROKERS_ETCD, leader);
  LAB_AWAIT(&here, here.all[0].etcd);
  renew_once_answered(a, &lease);
}

/* ------------------------------------------------------------------------------------------------------------ names */

typedef struct name_answer {
  bool done;
  muster_result result;
  broker_name other;
} name_answer;

static void note_name(muster_result result, const broker_name *other, void *user) {
  name_answer *answer = user;
  *answer = (name_answer){.done = true, .result = result};
  if (other) answer->other = *other;
}

static name_answer have_name(struct broker *broker, const broker_name *own, int64_t silent) {
  name_answer answer = {0};
  cr_assert_eq(broker_name_have(broker, own, silent, note_name, &answer), MUSTER_OK);
  LAB_AWAIT(&here, answer.done);
  return answer;
}

static broker_name name_of(uint64_t folder, uint32_t run, const char *host) {
  broker_name name = {.incarnation = {folder, run}};
  snprintf(name.host, sizeof name.host, "%s", host);
  snprintf(name.address, sizeof name.address, "10.0.0.%u", run);
  return name;
}

Test(broker_leases, a_name_is_one_daemons_until_it_is_silent) {
  struct broker *a = open_as(0, "a"), *also_a = open_as(1, "a"), *b = open_as(2, "b");
  broker_name first = name_of(7, 1, "one"), second = name_of(8, 5, "two"), later = name_of(7, 2, "one");
  cr_expect_eq(have_name(a, &first, 0).result, MUSTER_OK);
  cr_expect_eq(have_name(b, &first, 0).result, MUSTER_OK, "another name");
  name_answer refused = have_name(also_a, &second, 0);
  cr_expect_eq(refused.result, MUSTER_E_STATE);
  cr_expect_str_eq(refused.other.host, "one");
  cr_expect_str_eq(refused.other.address, "10.0.0.1");
  cr_expect_eq(have_name(a, &first, 0).result, MUSTER_OK);
  name_answer renewed = have_name(also_a, &second, refused.other.revision);
  cr_expect_eq(renewed.result, MUSTER_E_STATE, "it was renewed");

  cr_expect_eq(have_name(also_a, &later, 0).result, MUSTER_OK, "the next run of its folder takes it at once");
  name_answer copied = have_name(a, &first, 0);
  cr_expect_eq(copied.result, MUSTER_E_STATE, "and no earlier one takes it back");
  cr_expect(copied.other.incarnation.folder == 7 && copied.other.incarnation.run == 2);

  cr_expect_eq(have_name(a, &second, copied.other.revision).result, MUSTER_OK, "it was silent");
  cr_expect_eq(have_name(also_a, &later, 0).result, MUSTER_E_STATE);
  lab_answer released = {0}, again = {0};
  call_here(broker_name_release(also_a, &later, lab_done, &released), &released);
  cr_expect_eq(have_name(also_a, &later, 0).result, MUSTER_E_STATE, "what is another's is not given back");
  call_here(broker_name_release(a, &second, lab_done, &again), &again);
  cr_expect_eq(have_name(also_a, &later, 0).result, MUSTER_OK);
}

Test(broker_leases, a_lease_is_of_one_incarnation_and_of_those_that_follow_it) {
  struct broker *a = open_as(0, "a"), *other_a = open_as(1, "a"), *b = open_as(2, "b");
  broker_set_incarnation(a, (incarnation){7, 1});
  broker_set_incarnation(other_a, (incarnation){8, 1});
  broker_set_incarnation(b, (incarnation){9, 1});
  broker_lease first = take(a, 1);
  EXPECT_RESULT(lab_renew(&here, a, &first), MUSTER_OK);
  lab_answer refused = lab_take(&here, other_a, 1, true);
  EXPECT_RESULT(refused, MUSTER_E_STATE);
  cr_expect(incarnation_equal(refused.lease.owned_by, (incarnation){7, 1}));
  broker_lease again = take(a, 1);
  broker_set_incarnation(a, (incarnation){7, 2}); /* after kill -9 */
  broker_lease next = take(a, 1);
  cr_expect_eq(next.epoch, 3);
  cr_expect(incarnation_equal(next.last_owned_by, (incarnation){7, 1}), "its files may be the newest");
  EXPECT_RESULT(lab_renew(&here, a, &again), MUSTER_E_STATE);

  EXPECT_RESULT(give(a, &next, "b", NULL), MUSTER_OK);
  broker_lease given = take(b, 1);
  cr_expect(incarnation_equal(given.owned_by, (incarnation){9, 1}));
  EXPECT_RESULT(give(b, &given, "a", NULL), MUSTER_OK);
  EXPECT_RESULT(lab_take(&here, other_a, 1, true), MUSTER_OK);
}

typedef struct overview {
  uint32_t count;
  broker_lease leases[8];
} overview;

static void note_lease(const broker_lease *lease, void *user) {
  overview *seen = user;
  cr_assert_lt(seen->count, 8);
  seen->leases[seen->count++] = *lease;
}

static overview view;
static lab_answer viewed;

static void end_of_view(muster_result result, void *user) {
  (void)user;
  lab_done(result, &viewed);
}

Test(broker_leases, all_zones_are_seen_in_order) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  EXPECT_RESULT(lab_take(&here, a, 10, false), MUSTER_OK);
  EXPECT_RESULT(lab_take(&here, b, 2, false), MUSTER_OK);
  lab_answer free = lab_take(&here, a, 300, false);
  EXPECT_RESULT(lab_release(&here, a, &free.lease), MUSTER_OK);
  cr_assert_eq(broker_leases_read(a, note_lease, end_of_view, &view), MUSTER_OK);
  LAB_AWAIT(&here, viewed.done);
  EXPECT_RESULT(viewed, MUSTER_OK);
  cr_assert_eq(view.count, 3);
  cr_expect(view.leases[0].zone == 2 && view.leases[1].zone == 10 && view.leases[2].zone == 300);
  cr_expect_str_eq(view.leases[0].owner, "b");
  cr_expect_str_eq(view.leases[1].owner, "a");
  cr_expect_str_eq(view.leases[2].owner, "");
  cr_expect_str_eq(view.leases[2].last_owner, "a");
  cr_expect(view.leases[0].revision != 0 && view.leases[2].revision == 0);
  for (uint32_t i = 0; i < 3; i++) cr_expect_eq(view.leases[i].epoch, 1);
}

typedef struct clock_answer {
  bool done;
  muster_result result;
  char text[64]; /* "" = none */
} clock_answer;

static void note_clock(muster_result result, const char *text, void *user) {
  clock_answer *answer = user;
  *answer = (clock_answer){.done = true, .result = result};
  snprintf(answer->text, sizeof answer->text, "%s", text ? text : "");
}

static void expect_clock(struct broker *broker, const char *text) {
  clock_answer answer = {0};
  cr_assert_eq(broker_clock_read(broker, note_clock, &answer), MUSTER_OK);
  LAB_AWAIT(&here, answer.done);
  cr_expect_eq(answer.result, MUSTER_OK);
  cr_expect_str_eq(answer.text, text);
}

static muster_result put_clock(struct broker *broker, const broker_lease *lease, const char *text, bool is_new) {
  return CALL_HERE(broker_clock_put, broker, lease, text, is_new).result;
}

Test(broker_leases, land_time_is_noted_by_its_leader_alone) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  expect_clock(a, "");
  broker_lease first = take_free(a, BROKER_BALANCER);
  cr_expect_eq(put_clock(a, &first, "17 3 boot", true), MUSTER_OK);
  cr_expect_eq(put_clock(a, &first, "18 4 boot", true), MUSTER_E_STATE, "it is there");
  cr_expect_eq(put_clock(a, &first, "18 4 boot", false), MUSTER_OK);
  expect_clock(b, "18 4 boot");
  EXPECT_RESULT(lab_release(&here, a, &first), MUSTER_OK);
  broker_lease next = take_free(b, BROKER_BALANCER);
  cr_expect_eq(put_clock(b, &next, "19 5 other", false), MUSTER_OK);
  cr_expect_eq(put_clock(a, &first, "11 1 boot", false), MUSTER_E_STATE, "it leads no more");
  expect_clock(a, "19 5 other");
}

Test(broker_leases, etcd_is_asked_with_a_name) {
  lab_start(&here, &(brokers_options){.nats = 1, .etcd = 1, .etcd_users = true});
  broker_settings settings = lab_settings(&here, "a");
  snprintf(settings.etcd_user, sizeof settings.etcd_user, "%s", BROKERS_USER);
  memcpy(settings.etcd_password_file, settings.nats_password_file, sizeof settings.etcd_password_file);
  struct broker *a = lab_open(&here, 0, &settings, true);
  broker_lease lease = take_free(a, 1);
  brokers_kill(here.servers, BROKERS_ETCD, 0); /* it forgets the tokens that it gave */
  brokers_revive(here.servers, BROKERS_ETCD, 0);
  renew_once_answered(a, &lease);

  settings = lab_settings(&here, "b"); /* without a name */
  struct broker *b = lab_open(&here, 1, &settings, false);
  EXPECT_RESULT(lab_take(&here, b, 2, false), MUSTER_E_SYSTEM);
  cr_expect(!here.all[1].etcd);
}

Test(broker_leases, settings_are_checked) {
  start_here(1, 1);
  broker_settings good = lab_settings(&here, "a"), bad[] = {good, good, good, good};
  snprintf(bad[0].world, sizeof bad->world, "a.b");
  snprintf(bad[1].etcd, sizeof bad->etcd, "127.0.0.1:2379");
  bad[2].nats[0] = '\0';
  snprintf(bad[3].nats_password_file, sizeof bad->nats_password_file, "/nowhere/password");
  for (int i = 0; i < 4; i++) {
    cr_expect_null(broker_open(&here.loop, &bad[i], NULL, NULL));
    cr_expect_eq(muster_last_result(), i < 3 ? MUSTER_E_ARGUMENT : MUSTER_E_INPUT, "settings %d", i);
  }
  cr_expect(strstr(muster_last_error(), "/nowhere/password"), "%s", muster_last_error());
}

/* As if all epochs but none had been given: muster/large/zone/9/epoch = 9223372036854775807 a. */
static const char no_epoch_left[] =
    "{\"key\": \"bXVzdGVyL2xhcmdlL3pvbmUvOS9lcG9jaA==\", \"value\": \"OTIyMzM3MjAzNjg1NDc3NTgwNyBh\"}";

/* A list of zones does not have it. */
Test(broker_leases, that_of_the_balancer_is_no_zones) {
  struct broker *a = open_as(0, "a"), *b = open_as(1, "b");
  broker_lease first = take_free(a, BROKER_BALANCER);
  EXPECT_RESULT(lab_take(&here, b, BROKER_BALANCER, true), MUSTER_E_STATE);
  EXPECT_RESULT(lab_renew(&here, a, &first), MUSTER_OK);
  EXPECT_RESULT(lab_release(&here, a, &first), MUSTER_OK);
  brokers_tell_etcd(here.servers, "/v3/kv/put", no_epoch_left);
  EXPECT_RESULT(lab_take(&here, b, 9, false), MUSTER_E_FULL);
  broker_lease next = take_free(b, BROKER_BALANCER);
  cr_expect_eq(next.epoch, 2);
  EXPECT_RESULT(lab_renew(&here, b, &next), MUSTER_OK);
  cr_assert_eq(broker_leases_read(a, note_lease, end_of_view, &view), MUSTER_OK);
  LAB_AWAIT(&here, viewed.done);
  cr_expect_eq(view.count, 1);
  cr_expect_eq(view.leases[0].zone, 9);
}
