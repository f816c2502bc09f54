/* What a majority keeps, and what is told, with real NATS servers that know nothing of each other. */
#include "broker_here.h"

#include "service/zones/servers.h"

enum { MESSAGES = 100, WINDOW = 32, KILLS = 6 }; /* so many messages between two kills, at least */

TestSuite(broker_copies, .fini = end_here, .timeout = 300);

/* A broker itself is content with a majority. */
static bool have_servers(uint32_t count) {
  for (uint32_t place = 0; place < LAB_BROKERS_MAX; place++) {
    const struct broker *broker = here.all[place].broker;
    uint32_t ready = 0;
    for (uint32_t i = 0; broker && i < broker->server_count; i++) ready += server_is_ready(&broker->servers[i]);
    if (broker && ready < count) return false;
  }
  return true;
}

static struct broker *start(uint32_t nats) {
  start_here(nats, 1);
  struct broker *broker = open_as(0, "a");
  LAB_AWAIT(&here, have_servers(nats));
  return broker;
}

/* What is above 2^32 is the epoch's: the lower half alone would be another version. */
static zone_place version_of(uint64_t version) {
  return (zone_place){(version >> 32 << 32) + 1, (uint32_t)version};
}

static lab_answer keep(struct broker *broker, uint64_t version, uint32_t number, const char *words) {
  lab_answer answer = {0};
  muster_result result = broker_keep(broker, BROKER_JOURNAL, "zone-1", version_of(version), number, words,
                                     strlen(words), lab_done, &answer);
  return result == MUSTER_OK ? call_here(result, &answer) : (lab_answer){.done = true, .result = result};
}

typedef struct found {
  lab_answer answer;
  char words[32];
} found;

static void note_found(muster_result result, const void *bytes, size_t count, void *user) {
  found *of = user;
  cr_assert_eq(bytes != NULL, result == MUSTER_OK);
  cr_assert_lt(count, sizeof of->words);
  if (bytes) memcpy(of->words, bytes, count);
  lab_done(result, &of->answer);
}

static found find(struct broker *broker, uint64_t version, uint32_t number) {
  found of = {0};
  call_here(broker_find(broker, BROKER_JOURNAL, "zone-1", version_of(version), number, note_found, &of), &of.answer);
  return of;
}

#define EXPECT_FOUND(broker, version, number, text)                                                                    \
  do {                                                                                                                 \
    found of_ = find(broker, version, number);                                                                         \
    cr_expect_eq(of_.answer.result, MUSTER_OK, "%s", of_.answer.reason);                                               \
    cr_expect_str_eq(of_.words, text);                                                                                 \
  } while (0)

Test(broker_copies, what_is_kept_is_found) {
  struct broker *broker = start(3);
  cr_expect_eq(find(broker, 1, 1).answer.result, MUSTER_E_STALE);
  cr_expect_eq(keep(broker, 1, 1, "one").result, MUSTER_OK);
  cr_expect_eq(keep(broker, 1, 2, "two").result, MUSTER_OK);
  cr_expect_eq(keep(broker, 1, 2, "two").result, MUSTER_OK, "once more is harmless");
  cr_expect_eq(keep(broker, (uint64_t)1 << 32 | 1, 1, "another version").result, MUSTER_OK);
  EXPECT_FOUND(broker, 1, 1, "one");
  EXPECT_FOUND(broker, 1, 2, "two");
  EXPECT_FOUND(broker, (uint64_t)1 << 32 | 1, 1, "another version");
  cr_expect_eq(find(broker, 1, 3).answer.result, MUSTER_E_STALE);
  cr_expect_eq(keep(broker, 2, 1, "").result, MUSTER_OK);
  EXPECT_FOUND(broker, 2, 1, "");
}

/* Waits until all three servers are there again; starts one of them again first. */
static void await_all(void) {
  brokers_await(here.servers);
  uv_run(&here.loop, UV_RUN_ONCE); /* that one was lost is known only then */
  LAB_AWAIT(&here, have_servers(3));
}

static void revive(uint32_t which) {
  brokers_revive(here.servers, BROKERS_NATS, which);
  await_all();
}

/* What two servers have is found by whoever asks any two. */
Test(broker_copies, any_majority_has_it) {
  struct broker *broker = start(3);
  for (uint32_t dead = 0; dead < 3; dead++) {
    brokers_kill(here.servers, BROKERS_NATS, dead);
    cr_expect_eq(keep(broker, 1, dead + 1, "kept").result, MUSTER_OK);
    revive(dead);
    uint32_t other = (dead + 1) % 3;
    brokers_kill(here.servers, BROKERS_NATS, other);
    EXPECT_FOUND(broker, 1, dead + 1, "kept");
    cr_expect_eq(find(broker, 1, dead + 100).answer.result, MUSTER_E_STALE, "a majority has none");
    revive(other);
  }
}

Test(broker_copies, a_minority_keeps_nothing) {
  start_here(3, 1);
  broker_settings settings = lab_settings(&here, "a");
  settings.answer_ms = 1000;
  struct broker *broker = lab_open(&here, 0, &settings, true);
  LAB_AWAIT(&here, have_servers(3));
  cr_expect_eq(keep(broker, 1, 1, "one").result, MUSTER_OK);
  brokers_pause(here.servers, BROKERS_NATS, 0);
  cr_expect_eq(keep(broker, 1, 2, "two").result, MUSTER_OK, "one that says nothing is not waited for");
  EXPECT_FOUND(broker, 1, 2, "two");
  brokers_pause(here.servers, BROKERS_NATS, 1);
  lab_answer failed = keep(broker, 1, 3, "three");
  cr_expect(failed.result == MUSTER_E_SYSTEM || failed.result == MUSTER_E_STATE);
  cr_expect_eq(find(broker, 1, 100).answer.result, MUSTER_E_SYSTEM, "who knows");
  LAB_AWAIT(&here, !here.all[0].nats);
  cr_expect_eq(keep(broker, 1, 3, "three").result, MUSTER_E_STATE);
  cr_expect(strstr(muster_last_error(), "of 3 servers"), "%s", muster_last_error());
  brokers_resume(here.servers, BROKERS_NATS, 0);
  brokers_resume(here.servers, BROKERS_NATS, 1);
  LAB_AWAIT(&here, here.all[0].nats);
  cr_expect_eq(keep(broker, 1, 3, "three").result, MUSTER_OK);
  EXPECT_FOUND(broker, 1, 3, "three");
}

/* Keeps 1, 2, ..., WINDOW at a time, each until it is kept. */
typedef struct writer writer;

typedef struct written {
  writer *of;
  uint32_t number;
} written;

struct writer {
  struct broker *broker;
  uint32_t next, kept, failures;
  bool ends;
  written under_way[WINDOW];
};

static void note_kept(muster_result result, void *user);

static void write_one(written *one) {
  const char *words = formed("%u", one->number);
  muster_result result = broker_keep(one->of->broker, BROKER_JOURNAL, "zone-1", (zone_place){1, 1}, one->number, words,
                                     strlen(words), note_kept, one);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
}

static void note_kept(muster_result result, void *user) {
  written *one = user;
  writer *of = one->of;
  if (result == MUSTER_OK) {
    of->kept++;
    if (of->ends) return;
    one->number = ++of->next;
  } else {
    of->failures++;
  }
  write_one(one);
}

Test(broker_copies, nothing_is_lost_through_kills) {
  struct broker *broker = start(3);
  writer of = {.broker = broker};
  for (uint32_t i = 0; i < WINDOW; i++) {
    of.under_way[i] = (written){.of = &of, .number = ++of.next};
    write_one(&of.under_way[i]);
  }
  for (uint32_t kill = 1; kill <= KILLS; kill++) {
    uint32_t before = of.kept;
    LAB_AWAIT(&here, of.kept > before + MESSAGES);
    brokers_kill(here.servers, BROKERS_NATS, kill % 3);
    before = of.kept;
    LAB_AWAIT(&here, of.kept > before + MESSAGES);
    revive(kill % 3);
  }
  of.ends = true;
  LAB_AWAIT(&here, of.kept == of.next);
  brokers_kill(here.servers, BROKERS_NATS, 0);
  for (uint32_t number = 1; number <= of.next; number++) {
    EXPECT_FOUND(broker, 1, number, formed("%u", number));
  }
  cr_log_info("%u messages, %u failures", of.next, of.failures);
}

Test(broker_copies, a_removal_takes_what_was_there_before) {
  struct broker *broker = start(3);
  broker_ends ends;
  cr_assert_eq(keep(broker, 1, 1, "old").result, MUSTER_OK);
  cr_assert_eq(keep(broker, 1, 2, "old").result, MUSTER_OK);
  for (uint32_t i = 0; i < 3; i++) LAB_AWAIT(&here, broker->servers[i].last[BROKER_JOURNAL] == 2);
  broker_read_ends(broker, &ends);
  cr_assert_eq(keep(broker, 2, 1, "new").result, MUSTER_OK);
  broker_remove(broker, "zone-1", &ends);
  while (find(broker, 1, 1).answer.result != MUSTER_E_STALE) continue;
  while (find(broker, 1, 2).answer.result != MUSTER_E_STALE) continue;
  EXPECT_FOUND(broker, 2, 1, "new");
}

/* One that comes back without its disk counts from 1 again: what was known of it must not remove what is new. */
Test(broker_copies, a_removal_spares_a_server_that_lost_its_disk) {
  struct broker *broker = start(1);
  broker_ends ends;
  for (uint32_t i = 1; i <= 20; i++) cr_assert_eq(keep(broker, 1, i, "old").result, MUSTER_OK);
  broker_read_ends(broker, &ends);
  brokers_kill(here.servers, BROKERS_NATS, 0);
  LAB_AWAIT(&here, !here.all[0].nats);
  cr_assert_eq(system(formed("rm -r %s/jetstream", brokers_folder(here.servers, BROKERS_NATS, 0))), 0);
  brokers_revive(here.servers, BROKERS_NATS, 0);
  LAB_AWAIT(&here, here.all[0].nats);
  cr_assert_eq(keep(broker, 2, 1, "new").result, MUSTER_OK);
  broker_remove(broker, "zone-1", &ends);
  for (uint32_t i = 1; i <= 20; i++) cr_assert_eq(keep(broker, 3, i, "newer").result, MUSTER_OK);
  EXPECT_FOUND(broker, 2, 1, "new");
}

static void note_told(const void *bytes, size_t count, void *user) {
  cr_expect(count == 5 && memcmp(bytes, "ghost", 5) == 0);
  ++*(uint32_t *)user;
}

/* Each telling goes over one server: so when one dies, some are lost, until the connection has broken. */
Test(broker_copies, what_is_told_comes_to_those_that_listen) {
  struct broker *broker = start(3), *other = open_as(1, "b");
  LAB_AWAIT(&here, have_servers(3));
  uint32_t told = 0, elsewhere = 0, turn = 0;
  broker_listener *listener = broker_listen(broker, "muster.large.ghosts.*.2", note_told, &told);
  broker_listener *stranger = broker_listen(broker, "muster.large.ghosts.*.3", note_told, &elsewhere);
  cr_assert(listener && stranger);
  for (uint32_t dead = 0; dead <= 3; dead++) { /* the last time nobody dies */
    if (dead < 3) brokers_kill(here.servers, BROKERS_NATS, dead);
    for (uint32_t before = told; told < before + 20;) {
      broker_tell(other, turn++, "muster.large.ghosts.1.2", "ghost", 5);
      uv_run(&here.loop, UV_RUN_ONCE);
    }
    if (dead < 3) brokers_revive(here.servers, BROKERS_NATS, dead);
    await_all();
  }
  cr_expect_eq(elsewhere, 0);
  broker_stop_listening(listener);
  broker_stop_listening(stranger);
}

Test(broker_copies, servers_may_come_later) {
  start_here(1, 1);
  broker_settings settings = lab_settings(&here, "a");
  settings.answer_ms = 500;
  brokers_kill(here.servers, BROKERS_NATS, 0);
  brokers_kill(here.servers, BROKERS_ETCD, 0);
  struct broker *broker = lab_open(&here, 0, &settings, false);
  cr_expect_eq(keep(broker, 1, 1, "one").result, MUSTER_E_STATE);
  cr_expect_eq(lab_take(&here, broker, 1, false).result, MUSTER_E_SYSTEM);
  cr_expect(here.all[0].changes == 0);
  brokers_revive(here.servers, BROKERS_NATS, 0);
  brokers_revive(here.servers, BROKERS_ETCD, 0);
  LAB_AWAIT(&here, here.all[0].nats && here.all[0].etcd);
  cr_expect_eq(lab_take(&here, broker, 1, false).result, MUSTER_OK);
  cr_expect_eq(keep(broker, 1, 1, "one").result, MUSTER_OK);
}

/* What is under way when the broker is closed is done, and too many calls are refused. */
Test(broker_copies, too_much_is_refused_and_all_is_done_at_the_end) {
  static char bytes[BROKER_MESSAGE_BYTES_MAX];
  static lab_answer answers[1000];
  struct broker *broker = start(1);
  uint32_t taken = 0;
  brokers_pause(here.servers, BROKERS_NATS, 0);
  muster_result result = MUSTER_OK;
  while (result == MUSTER_OK) {
    cr_assert_lt(taken, 1000);
    result = broker_keep(broker, BROKER_JOURNAL, "zone-1", (zone_place){1, 1}, taken + 1, bytes, sizeof bytes, lab_done,
                         &answers[taken]);
    taken += result == MUSTER_OK;
  }
  cr_expect_eq(result, MUSTER_E_STATE, "%s", muster_last_error());
  lab_close(&here, 0);
  for (uint32_t i = 0; i < taken; i++) cr_assert(answers[i].done && answers[i].result == MUSTER_E_SYSTEM);
}

Test(broker_copies, too_many_servers_are_refused) {
  start_here(1, 1);
  broker_settings bad = lab_settings(&here, "a");
  snprintf(bad.nats, sizeof bad.nats,
           "nats://a:1,nats://b:1,nats://c:1,nats://d:1,nats://e:1,nats://f:1,nats://g:1,nats://h:1");
  cr_expect_null(broker_open(&here.loop, &bad, NULL, NULL));
  cr_expect_eq(muster_last_result(), MUSTER_E_ARGUMENT);
}
