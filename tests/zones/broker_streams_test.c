/* Publishing, reading, following, purging and telling, with real NATS servers. */
#include "broker_lab.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SUBJECT "muster.large.cross.1.2"

enum { MESSAGES = 3000, KILLS = 3 };

static struct lab here;

static void end(void) {
  if (here.servers) lab_end(&here);
}

TestSuite(broker_streams, .fini = end, .timeout = 300);

static struct broker *start(uint32_t nats, uint32_t answer_ms) {
  lab_start(&here, &(brokers_options){.nats = nats, .etcd = 1});
  broker_settings settings = lab_settings(&here, "a", 15);
  if (answer_ms) settings.answer_ms = answer_ms;
  return lab_open(&here, 0, &settings, true);
}

/* ------------------------------------------------------------------------------------------------- writers, readers */

/* Messages that a reader got: their sequences rise, and those that the design's rule lets pass are 1, 2, ... */
typedef struct reading {
  uint64_t last;      /* sequence */
  uint32_t count;     /* messages */
  uint32_t effective; /* the number of the last one that counts */
  uint32_t enough;    /* at this one the reader is ended from inside; 0 = never */
  broker_reader *reader;
  lab_answer ended;
} reading;

static void note_message(uint64_t sequence, const void *bytes, size_t count, void *user) {
  reading *of = user;
  uint32_t number;
  cr_assert_eq(count, sizeof number);
  memcpy(&number, bytes, sizeof number);
  cr_assert_gt(sequence, of->last, "twice, or out of order");
  of->last = sequence;
  of->count++;
  if (number == of->effective + 1) of->effective = number;
  if (of->enough && of->effective == of->enough) {
    broker_unfollow(of->reader);
    of->reader = NULL;
  }
}

static void end_of_reading(muster_result result, void *user) {
  lab_done(result, &((reading *)user)->ended);
}

static reading read_all(struct broker *broker, const char *subject, uint64_t from, uint64_t through) {
  reading of = {0};
  cr_assert_eq(broker_read(broker, subject, from, through, note_message, end_of_reading, &of), MUSTER_OK, "%s",
               muster_last_error());
  cr_assert(!of.ended.done);
  LAB_AWAIT(&here, of.ended.done);
  cr_assert_eq(of.ended.result, MUSTER_OK, "%s", of.ended.reason);
  return of;
}

/* Publishes 1 .. `last` on a subject, at most `window` under way; goes on from the first that failed. */
typedef struct writer {
  struct broker *broker;
  char subject[64];
  uint32_t next, acknowledged, last, window;
  uint32_t under_way, failures;
  bool failing; /* those that wait behind one that failed are told, too */
  uint64_t sequence;
} writer;

static void write_on(writer *of);

static void note_written(muster_result result, uint64_t sequence, void *user) {
  writer *of = user;
  of->under_way--;
  if (result == MUSTER_OK) {
    cr_assert(!of->failing, "what waits behind a failure fails");
    cr_assert_gt(sequence, of->sequence);
    of->sequence = sequence;
    of->acknowledged++;
  } else {
    cr_assert_eq(result, MUSTER_E_SYSTEM);
    of->failing = true;
    of->failures++;
  }
  if (of->failing && of->under_way == 0) {
    of->failing = false;
    of->next = of->acknowledged + 1;
  }
  if (!of->failing) write_on(of);
}

static void write_on(writer *of) {
  for (; of->next <= of->last && of->under_way < of->window; of->next++, of->under_way++)
    cr_assert_eq(broker_publish(of->broker, of->subject, &of->next, sizeof of->next, note_written, of), MUSTER_OK, "%s",
                 muster_last_error());
}

static void begin_writer(writer *of, struct broker *broker, const char *subject, uint32_t last, uint32_t window) {
  *of = (writer){.broker = broker, .next = 1, .last = last, .window = window};
  snprintf(of->subject, sizeof of->subject, "%s", subject);
  write_on(of);
}

static void write_all(struct broker *broker, const char *subject, uint32_t last) {
  writer of;
  begin_writer(&of, broker, subject, last, 64);
  LAB_AWAIT(&here, of.acknowledged == last);
  cr_expect_eq(of.failures, 0);
}

/* ------------------------------------------------------------------------------------------------------------ tests */

Test(broker_streams, what_is_published_is_read_in_order) {
  struct broker *broker = start(1, 0);
  reading none = read_all(broker, SUBJECT, 0, 0);
  cr_expect_eq(none.count, 0);
  write_all(broker, SUBJECT, 1000);
  write_all(broker, "muster.large.cross.1.3", 5);
  reading all = read_all(broker, SUBJECT, 0, 0);
  cr_expect(all.count == 1000 && all.effective == 1000);
  reading rest = read_all(broker, SUBJECT, all.last - 9, 0);
  cr_expect(rest.count == 10 && rest.last == all.last);
  rest = read_all(broker, SUBJECT, all.last, all.last);
  cr_expect_eq(rest.count, 1);
  rest = read_all(broker, SUBJECT, all.last + 1, 0);
  cr_expect_eq(rest.count, 0);
  rest = read_all(broker, "muster.large.cross.1.3", 0, 0);
  cr_expect(rest.count == 5 && rest.effective == 5);
}

/* Many subjects at a time; the order of each is kept. */
Test(broker_streams, subjects_go_side_by_side) {
  static writer writers[200];
  struct broker *broker = start(3, 0);
  char subject[64];
  for (uint32_t i = 0; i < 200; i++) {
    snprintf(subject, sizeof subject, "muster.large.cross.%u.%u", i + 1, i + 2);
    begin_writer(&writers[i], broker, subject, 50, 8);
  }
  for (uint32_t i = 0; i < 200; i++) LAB_AWAIT(&here, writers[i].acknowledged == 50);
  for (uint32_t i = 0; i < 200; i += 20) {
    reading all = read_all(broker, writers[i].subject, 0, writers[i].sequence);
    cr_expect(all.count == 50 && all.effective == 50);
  }
}

/* The server stores what it is sent and cannot answer in time: the same is published again, and read twice. */
Test(broker_streams, lost_answers_make_duplicates_and_no_gaps) {
  struct broker *broker = start(1, 1000);
  writer of;
  write_all(broker, SUBJECT, 3);
  begin_writer(&of, broker, SUBJECT, 500, 16);
  brokers_pause(here.servers, BROKERS_NATS, 0);
  LAB_AWAIT(&here, of.failures >= 16);
  brokers_resume(here.servers, BROKERS_NATS, 0);
  LAB_AWAIT(&here, of.acknowledged == 500);
  reading all = read_all(broker, SUBJECT, 0, of.sequence);
  cr_expect_eq(all.effective, 500);
  cr_log_info("%u messages, %u failures", all.count, of.failures);
}

Test(broker_streams, following_goes_on_through_kills) {
  struct broker *broker = start(3, 0);
  writer of;
  reading followed = {0};
  followed.reader = broker_follow(broker, SUBJECT, 0, note_message, &followed);
  cr_assert_not_null(followed.reader);
  begin_writer(&of, broker, SUBJECT, MESSAGES, 4);
  for (uint32_t kill = 1; kill <= KILLS; kill++) {
    LAB_AWAIT(&here, followed.effective >= MESSAGES / (KILLS + 1) * kill);
    int leader = brokers_stream_leader(here.servers, "muster-large");
    uint32_t which = leader >= 0 ? (uint32_t)leader : kill % 3;
    brokers_kill(here.servers, BROKERS_NATS, which);
    uint32_t before = followed.effective;
    LAB_AWAIT(&here, followed.effective > before + 50);
    brokers_revive(here.servers, BROKERS_NATS, which);
    brokers_await(here.servers);
  }
  LAB_AWAIT(&here, followed.effective == MESSAGES);
  cr_expect_geq(of.acknowledged, MESSAGES - of.window);
  LAB_AWAIT(&here, of.acknowledged == MESSAGES);
  reading again = read_all(broker, SUBJECT, 0, of.sequence);
  cr_expect_eq(again.effective, MESSAGES);
  cr_expect_geq(again.count, followed.count, "nothing was given that is not there");
  cr_log_info("%u messages, %u failures", again.count, of.failures);
  broker_unfollow(followed.reader);
}

Test(broker_streams, a_reader_is_held_and_ended) {
  struct broker *broker = start(1, 0);
  reading followed = {0}, ended = {.enough = 7};
  write_all(broker, SUBJECT, 2000);
  followed.reader = broker_follow(broker, SUBJECT, 0, note_message, &followed);
  broker_hold(followed.reader, true);
  ended.reader = broker_follow(broker, SUBJECT, 0, note_message, &ended);
  LAB_AWAIT(&here, !ended.reader);
  reading all = read_all(broker, SUBJECT, 0, 0);
  cr_expect_eq(all.count, 2000);
  cr_expect_leq(followed.count, 256, "it is held");
  cr_expect_eq(ended.count, 7);
  broker_hold(followed.reader, false);
  LAB_AWAIT(&here, followed.effective == 2000);
  broker_unfollow(followed.reader);
  write_all(broker, SUBJECT, 1);
  cr_expect_eq(followed.count, 2000);
}

Test(broker_streams, a_purge_keeps_the_last_message) {
  struct broker *broker = start(1, 0);
  write_all(broker, SUBJECT, 10);
  write_all(broker, "muster.large.cross.1.20", 3);
  lab_answer purged = lab_purge(&here, broker, SUBJECT, 4);
  cr_expect_eq(purged.result, MUSTER_OK, "%s", purged.reason);
  cr_expect_eq(read_all(broker, SUBJECT, 0, 0).count, 7);
  purged = lab_purge(&here, broker, SUBJECT, 1000000);
  cr_expect_eq(purged.result, MUSTER_OK, "%s", purged.reason);
  reading left = read_all(broker, SUBJECT, 0, 0);
  cr_expect(left.count == 1 && left.last == 10);
  purged = lab_purge(&here, broker, SUBJECT, 1000000);
  cr_expect_eq(purged.result, MUSTER_OK);
  cr_expect_eq(read_all(broker, SUBJECT, 0, 0).count, 1);
  cr_expect_eq(lab_purge(&here, broker, "muster.large.cross.9.9", 5).result, MUSTER_OK, "nothing is there");
  cr_expect_eq(read_all(broker, "muster.large.cross.1.20", 0, 0).count, 3, "others are left alone");
  uint32_t number = 11;
  cr_assert_eq(broker_publish(broker, SUBJECT, &number, sizeof number, NULL, NULL), MUSTER_OK, "nobody has to be told");
  while (read_all(broker, SUBJECT, 0, 0).count < 2) continue;
  cr_assert_eq(broker_purge(broker, SUBJECT, 1000000, NULL, NULL), MUSTER_OK);
  while (read_all(broker, SUBJECT, 0, 0).count > 1) continue;
}

static void note_told(uint64_t sequence, const void *bytes, size_t count, void *user) {
  cr_expect_eq(sequence, 0);
  cr_expect(count == 5 && memcmp(bytes, "ghost", 5) == 0);
  ++*(uint32_t *)user;
}

Test(broker_streams, what_is_told_comes_to_those_that_listen) {
  struct broker *broker = start(1, 0);
  broker_settings settings = lab_settings(&here, "b", 15);
  struct broker *other = lab_open(&here, 1, &settings, true);
  uint32_t told = 0, elsewhere = 0;
  broker_reader *listener = broker_listen(broker, "muster.large.ghosts.*.2", note_told, &told);
  broker_reader *stranger = broker_listen(broker, "muster.large.ghosts.*.3", note_told, &elsewhere);
  cr_assert(listener && stranger);
  while (told < 3) {
    broker_tell(other, "muster.large.ghosts.1.2", "ghost", 5);
    uv_run(&here.loop, UV_RUN_ONCE);
  }
  brokers_kill(here.servers, BROKERS_NATS, 0);
  LAB_AWAIT(&here, !here.all[0].nats && !here.all[1].nats);
  broker_tell(other, "muster.large.ghosts.1.2", "ghost", 5);
  brokers_revive(here.servers, BROKERS_NATS, 0);
  LAB_AWAIT(&here, here.all[0].nats && here.all[1].nats);
  for (uint32_t before = told; told < before + 3;) {
    broker_tell(other, "muster.large.ghosts.1.2", "ghost", 5);
    uv_run(&here.loop, UV_RUN_ONCE);
  }
  cr_expect_eq(elsewhere, 0);
  broker_unfollow(listener);
  broker_unfollow(stranger);
}

Test(broker_streams, servers_may_come_later) {
  lab_start(&here, &(brokers_options){.nats = 1, .etcd = 1});
  broker_settings settings = lab_settings(&here, "a", 15);
  settings.answer_ms = 500;
  brokers_kill(here.servers, BROKERS_NATS, 0);
  brokers_kill(here.servers, BROKERS_ETCD, 0);
  struct broker *broker = lab_open(&here, 0, &settings, false);
  uint32_t number = 1;
  reading followed = {0};
  followed.reader = broker_follow(broker, SUBJECT, 0, note_message, &followed);
  lab_answer failed = lab_publish(&here, broker, SUBJECT, &number, sizeof number);
  cr_expect_eq(failed.result, MUSTER_E_SYSTEM);
  cr_expect(strstr(failed.reason, SUBJECT), "%s", failed.reason);
  cr_expect_eq(lab_take(&here, broker, 1, false).result, MUSTER_E_SYSTEM);
  cr_expect(here.all[0].changes == 0);
  brokers_revive(here.servers, BROKERS_NATS, 0);
  brokers_revive(here.servers, BROKERS_ETCD, 0);
  LAB_AWAIT(&here, here.all[0].nats && here.all[0].etcd);
  cr_expect_eq(lab_take(&here, broker, 1, false).result, MUSTER_OK);
  write_all(broker, SUBJECT, 20);
  LAB_AWAIT(&here, followed.effective == 20);
}

static uint32_t refused;

static void note_end(muster_result result, uint64_t sequence, void *user) {
  (void)sequence;
  (void)user;
  refused += result == MUSTER_E_SYSTEM;
}

Test(broker_streams, too_much_and_wrong_subjects_are_refused) {
  static char bytes[BROKER_MESSAGE_BYTES_MAX + 1];
  static const char *const wrong[] = {"",
                                      "muster.large.cross.*.2",
                                      "muster.large.ghosts.1.2",
                                      "muster.other.cross.1.2",
                                      "muster.large.cross..2",
                                      "muster.large.cross.1.",
                                      "muster.large.cross.1 2"};
  struct broker *broker = start(1, 0);
  for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
    cr_expect_eq(broker_publish(broker, wrong[i], "", 0, note_end, NULL), MUSTER_E_ARGUMENT, "%s", wrong[i]);
    cr_expect_null(broker_follow(broker, wrong[i], 0, note_message, NULL));
    cr_expect_eq(broker_purge(broker, wrong[i], 1, lab_done, NULL), MUSTER_E_ARGUMENT);
  }
  cr_expect_eq(broker_publish(broker, SUBJECT, bytes, sizeof bytes, note_end, NULL), MUSTER_E_ARGUMENT);
  brokers_kill(here.servers, BROKERS_NATS, 0);
  uint32_t taken = 0;
  muster_result result;
  while ((result = broker_publish(broker, SUBJECT, bytes, sizeof bytes - 1, note_end, NULL)) == MUSTER_OK) taken++;
  cr_expect_eq(result, MUSTER_E_FULL);
  cr_expect_eq(taken, BROKER_PUBLISH_BYTES_MAX / BROKER_MESSAGE_BYTES_MAX);
  lab_close(&here, 0);
  cr_expect_eq(refused, taken, "each is done, also when the broker is closed");
}
