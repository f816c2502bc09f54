/* Two writers race for a subject of a JetStream stream, and for a key of a KV bucket, both with three replicas, by the
 * sequence that they expect (race.h). What js_Publish() with ExpectLastSubjectSeq and kvStore_Update() put on the wire
 * is put there by hand here, so that both requests are sent before any answer is waited for.
 *
 * nats-server 2.9.10 lets both win: these tests count that, and do not fail by it. What Muster rests on must hold: what
 * was acknowledged is stored under its sequence, and by the rule of service/zones/pair.h every reader takes each
 * message once, in order, whatever copies of it and messages of an owner that has lost its zone lie between. */
#include "race.h"
#include "service/zones/pair.h"

#include <criterion/criterion.h>
#include <inttypes.h>
#include <jansson.h>
#include <nats/nats.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

TestSuite(race_nats, .timeout = 14000);

enum { RACES_IN_CI = 300, ANSWER_MS = 3000, PATIENCE = 100, WRONG_LAST_SEQUENCE = 10071, SUBJECT_BYTES = 64 };

typedef struct writer {
  natsConnection *connection;
  natsSubscription *answers;
  char inbox[SUBJECT_BYTES];
} writer;

/* What a message says: the owner's epoch, its number, and who wrote it in which race. */
typedef struct said {
  uint32_t epoch, number, writer;
  uint64_t race;
} said;

typedef struct contest {
  const char *stream, *subject;
  brokers *all;
  writer writers[2];
  jsCtx *context; /* of the first writer */
  uint64_t last;  /* sequence of the subject's last message, as far as both know */
  race_tally tally;
} contest;

/* ------------------------------------------------------------------------------------------------------ connections */

static void connect_writer(contest *race, uint32_t which) {
  writer *made = &race->writers[which];
  natsOptions *options = NULL;
  const char *urls[BROKERS_MAX];
  char subject[SUBJECT_BYTES + 2];
  for (uint32_t i = 0; i < BROKERS_MAX; i++) urls[i] = brokers_url(race->all, BROKERS_NATS, (which + i) % BROKERS_MAX);
  cr_assert_eq(natsOptions_Create(&options), NATS_OK);
  cr_assert_eq(natsOptions_SetServers(options, urls, BROKERS_MAX), NATS_OK);
  natsOptions_SetNoRandomize(options, true);
  natsOptions_SetUserInfo(options, BROKERS_USER, BROKERS_PASSWORD);
  natsOptions_SetSendAsap(options, true);
  natsOptions_SetMaxReconnect(options, -1);
  natsOptions_SetReconnectWait(options, 50);
  cr_assert_eq(natsConnection_Connect(&made->connection, options), NATS_OK);
  natsOptions_Destroy(options);
  snprintf(made->inbox, sizeof made->inbox, "race.answers.%u", which);
  snprintf(subject, sizeof subject, "%s.*", made->inbox);
  cr_assert_eq(natsConnection_SubscribeSync(&made->answers, made->connection, subject), NATS_OK);
  cr_assert_eq(natsConnection_Flush(made->connection), NATS_OK);
}

static void open_contest(contest *race, const char *stream, const char *subject) {
  *race = (contest){.stream = stream, .subject = subject};
  if (!brokers_are_installed()) cr_skip_test("nats-server and etcd are not installed");
  race->all = brokers_start(&(brokers_options){.nats = BROKERS_MAX});
  race_begin(&race->tally, RACES_IN_CI);
  for (uint32_t i = 0; i < 2; i++) connect_writer(race, i);
  cr_assert_eq(natsConnection_JetStream(&race->context, race->writers[0].connection, NULL), NATS_OK);
}

static void close_contest(contest *race) {
  jsCtx_Destroy(race->context);
  for (uint32_t i = 0; i < 2; i++) {
    natsSubscription_Destroy(race->writers[i].answers);
    natsConnection_Destroy(race->writers[i].connection);
  }
  nats_Close();
  brokers_end(race->all);
}

/* ------------------------------------------------------------------------------------------------------------ asking
 */

static void ask_to_write(contest *race, const said *what) {
  writer *from = &race->writers[what->writer];
  char text[96], expected[32], reply[SUBJECT_BYTES + 24];
  natsMsg *message = NULL;
  snprintf(text, sizeof text, "%u %u %u %" PRIu64, what->epoch, what->number, what->writer, what->race);
  snprintf(expected, sizeof expected, "%" PRIu64, race->last);
  snprintf(reply, sizeof reply, "%s.%" PRIu64, from->inbox, what->race);
  cr_assert_eq(natsMsg_Create(&message, race->subject, reply, text, (int)strlen(text)), NATS_OK);
  cr_assert_eq(natsMsgHeader_Set(message, "Nats-Expected-Last-Subject-Sequence", expected), NATS_OK);
  natsConnection_PublishMsg(from->connection, message); /* that is waited for below, or nothing comes */
  natsMsg_Destroy(message);
}

static race_answer read_answer(const char *text, uint64_t *sequence) {
  json_t *answer = json_loads(text, JSON_DECODE_INT_AS_REAL, NULL), *error = json_object_get(answer, "error");
  double code = json_number_value(json_object_get(error, "err_code"));
  *sequence = error ? 0 : (uint64_t)json_number_value(json_object_get(answer, "seq"));
  json_decref(answer);
  return *sequence ? RACE_WON : code == WRONG_LAST_SEQUENCE ? RACE_REFUSED : RACE_FAILED;
}

/* The answer of this race; what an earlier one was not answered in time is passed over. */
static race_answer await_answer(contest *race, uint32_t which, uint64_t number, uint64_t *sequence) {
  char wanted[SUBJECT_BYTES + 24];
  race_answer answer = RACE_NONE;
  *sequence = 0;
  snprintf(wanted, sizeof wanted, "%s.%" PRIu64, race->writers[which].inbox, number);
  for (natsMsg *message = NULL; answer == RACE_NONE; natsMsg_Destroy(message)) {
    if (natsSubscription_NextMsg(&message, race->writers[which].answers, ANSWER_MS) != NATS_OK) return RACE_NONE;
    if (strcmp(natsMsg_GetSubject(message), wanted) == 0) answer = read_answer(natsMsg_GetData(message), sequence);
  }
  return answer;
}

static bool read_said(const char *text, said *what) {
  return sscanf(text, "%u %u %u %" SCNu64, &what->epoch, &what->number, &what->writer, &what->race) == 4;
}

/* The subject's last message; there may be no leader for a while. */
static said look_at_last(contest *race) {
  natsMsg *message = NULL;
  jsErrCode error = 0;
  said what = {0};
  natsStatus status = NATS_ERR;
  for (int i = 0; i < PATIENCE && status != NATS_OK; i++)
    status = js_GetLastMsg(&message, race->context, race->stream, race->subject, NULL, &error);
  cr_assert_eq(status, NATS_OK, "%s: %s (%d)", race->subject, natsStatus_GetText(status), (int)error);
  race->last = natsMsg_GetSequence(message);
  char text[96];
  snprintf(text, sizeof text, "%.*s", natsMsg_GetDataLength(message), natsMsg_GetData(message));
  cr_assert(read_said(text, &what), "%s", text);
  natsMsg_Destroy(message);
  return what;
}

/* Both won: both of their messages must be stored, each under the sequence that it was told. */
static void expect_both_stored(contest *race, const said said_by[2], const uint64_t sequences[2]) {
  for (uint32_t i = 0; i < 2; i++) {
    natsMsg *message = NULL;
    said what = {0};
    char text[96];
    natsStatus status = NATS_ERR;
    for (int j = 0; j < PATIENCE && status != NATS_OK; j++)
      status = js_GetMsg(&message, race->context, race->stream, sequences[i], NULL, NULL);
    cr_assert_eq(status, NATS_OK, "sequence %" PRIu64 " is gone: %s", sequences[i], natsStatus_GetText(status));
    snprintf(text, sizeof text, "%.*s", natsMsg_GetDataLength(message), natsMsg_GetData(message));
    cr_expect(read_said(text, &what) && what.race == said_by[i].race && what.writer == i, "%" PRIu64 ": %s",
              sequences[i], text);
    natsMsg_Destroy(message);
  }
}

/* One race of two messages; true when the first writer's is known to be stored. */
static bool run_race(contest *race, const said said_by[2]) {
  race_answer answers[2];
  uint64_t sequences[2];
  int leader = race_kills_now(&race->tally) ? brokers_stream_leader(race->all, race->stream) : -1;
  uint32_t first = (uint32_t)(race->tally.races % 2);
  ask_to_write(race, &said_by[first]);
  ask_to_write(race, &said_by[!first]);
  if (leader >= 0) race_kill(&race->tally, race->all, BROKERS_NATS, leader);
  for (uint32_t i = 0; i < 2; i++) answers[i] = await_answer(race, i, said_by[i].race, &sequences[i]);
  race_count_answers(&race->tally, answers);
  if (leader >= 0) race_await_leader(race->all, BROKERS_NATS, race->stream, leader);
  if (answers[0] == RACE_WON && answers[1] == RACE_WON) expect_both_stored(race, said_by, sequences);
  if (answers[0] == RACE_WON || answers[1] == RACE_WON) {
    race->last = sequences[0] > sequences[1] ? sequences[0] : sequences[1];
    return answers[0] == RACE_WON;
  }
  said last = look_at_last(race);
  return last.epoch == said_by[0].epoch && last.number == said_by[0].number;
}

/* ------------------------------------------------------------------------------------------------------ the two tests
 */

/* The owner of an epoch writes its mark and its messages, one after the other, each until it is known to be stored. The
 * other writer writes copies of them, as after a publish without an answer; or, in every other epoch, messages of the
 * epoch before: it has lost its zone and does not know. Returns what was made effective. */
static said write_epochs(contest *race) {
  said owner = {.epoch = 0}, other = {.writer = 1};
  uint64_t kills = UINT64_MAX;
  while (race->tally.races < race->tally.wanted) {
    if (race->tally.kills != kills) { /* as after every death: another epoch */
      other.epoch = owner.epoch % 2 ? owner.epoch : owner.epoch + 1;
      other.number = owner.number;
      owner = (said){.epoch = owner.epoch + 1};
      kills = race->tally.kills;
    } else {
      owner.number++;
    }
    for (bool is_stored = false; !is_stored;) {
      bool is_copy = other.epoch == owner.epoch;
      other.number = is_copy ? owner.number : other.number + 1;
      owner.race = other.race = race->tally.races + 1;
      is_stored = run_race(race, (said[2]){owner, other});
    }
  }
  return owner;
}

/* Reads the whole stream as a zone reads a pair, and expects each message of each owner once, in order. */
static void expect_rule(contest *race, said end) {
  natsSubscription *all = NULL;
  jsSubOptions options;
  zone_pair pair = {0};
  said effective = {.epoch = 0};
  uint64_t copies = 0, stale = 0;
  look_at_last(race);
  jsSubOptions_Init(&options);
  options.Ordered = true;
  cr_assert_eq(js_SubscribeSync(&all, race->context, race->subject, NULL, &options, NULL), NATS_OK);
  for (uint64_t sequence = 0; sequence < race->last;) {
    natsMsg *message = NULL;
    jsMsgMetaData *about = NULL;
    said what;
    char text[96];
    cr_assert_eq(natsSubscription_NextMsg(&message, all, 60000), NATS_OK);
    cr_assert_eq(natsMsg_GetMetaData(&about, message), NATS_OK);
    cr_assert_eq(about->Sequence.Stream, sequence + 1, "a gap in the stream");
    sequence = about->Sequence.Stream;
    snprintf(text, sizeof text, "%.*s", natsMsg_GetDataLength(message), natsMsg_GetData(message));
    cr_assert(read_said(text, &what), "%s", text);
    if (pair_takes(&pair, sequence, what.epoch, what.number)) {
      bool is_next = what.epoch == effective.epoch ? what.number == effective.number + 1
                                                   : what.epoch == effective.epoch + 1 && what.number == 0;
      cr_assert(is_next, "%s counts behind %u %u", text, effective.epoch, effective.number);
      effective = what;
    } else {
      copies += what.epoch == effective.epoch;
      stale += what.epoch < effective.epoch;
    }
    jsMsgMetaData_Destroy(about);
    natsMsg_Destroy(message);
  }
  cr_assert(effective.epoch == end.epoch && effective.number == end.number, "the last that counts is %u %u, not %u %u",
            effective.epoch, effective.number, end.epoch, end.number);
  fprintf(stderr,
          "  of %" PRIu64 " messages stored, void by the rule: %" PRIu64 " copies, %" PRIu64 " of an old epoch\n",
          race->last, copies, stale);
  natsSubscription_Destroy(all);
}

Test(race_nats, publishes_with_one_expected_sequence_are_void_by_the_rule_when_both_are_taken) {
  contest race;
  jsStreamConfig stream;
  const char *subject = "race.pair";
  open_contest(&race, "RACE", subject);
  jsStreamConfig_Init(&stream);
  stream.Name = "RACE";
  stream.Subjects = &subject;
  stream.SubjectsLen = 1;
  stream.Replicas = BROKERS_MAX;
  cr_assert_eq(js_AddStream(NULL, race.context, &stream, NULL, NULL), NATS_OK);
  said end = write_epochs(&race);
  race_print(&race.tally, "publishes with the same expected last subject sequence");
  expect_rule(&race, end);
  cr_expect_gt(race.tally.won[1], 0, "nobody was refused: this was no race");
  cr_expect_gt(race.tally.kills, 0);
  close_contest(&race);
}

Test(race_nats, updates_of_a_key_with_one_revision_are_stored_when_both_are_taken) {
  contest race;
  kvConfig bucket;
  kvStore *store = NULL;
  open_contest(&race, "KV_RACE", "$KV.RACE.lease");
  kvConfig_Init(&bucket);
  bucket.Bucket = "RACE";
  bucket.History = 64;
  bucket.Replicas = BROKERS_MAX;
  cr_assert_eq(js_CreateKeyValue(&store, race.context, &bucket), NATS_OK);
  while (race.tally.races < race.tally.wanted) {
    uint64_t number = race.tally.races + 1;
    run_race(&race, (said[2]){{.race = number}, {.race = number, .writer = 1}});
  }
  race_print(&race.tally, "updates of a KV key with the same revision");
  cr_expect_gt(race.tally.won[1], 0, "nobody was refused: this was no race");
  cr_expect_gt(race.tally.kills, 0);
  kvStore_Destroy(store);
  close_contest(&race);
}
