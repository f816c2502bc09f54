/* Two writers race for a subject of a JetStream stream, and for a key of a KV bucket, both with three replicas, by the
 * sequence that they expect (race.h); and write without expecting any. What js_Publish() and kvStore_Update() put on
 * the wire is put there by hand here, so that both requests are sent before any answer is waited for.
 *
 * nats-server 2.9.10 lets both win where they expect one sequence, and forgets some that it has acknowledged when the
 * leader dies then: its replicas do not agree on what they have refused. Where nothing is expected, a leader that is
 * killed may come back with a message of its own where the others have another one, and keeps it: so what a reader
 * finds at a sequence depends on which replica leads at that time. All of this is counted here, and no failure
 * (tools/docs/zones.md has the figures). What Muster rests on must hold: what was acknowledged without an expected
 * sequence is in two of three replicas, under its sequence. */
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

enum {
  RACES_IN_CI = 300,
  ANSWER_MS = 3000,
  PATIENCE = 300,
  PAUSE_MS = 200,
  WRONG_LAST_SEQUENCE = 10071,
  SUBJECT_BYTES = 64,
  TEXT_BYTES = 96,
  HISTORY = 64 /* of the bucket: so many of its last revisions are still there */
};

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

/* By the stream's sequence; race 0 = nothing is known. */
typedef struct said_by_sequence {
  said *at;
  uint64_t room, last;
} said_by_sequence;

typedef struct contest {
  const char *stream, *subject;
  brokers *all;
  writer writers[2];
  jsCtx *context;                       /* of the first writer */
  bool expects;                         /* the sequence `last`; otherwise nothing is expected */
  uint64_t last;                        /* sequence of the subject's last message, as far as both know */
  uint64_t forgotten;                   /* messages that were acknowledged, and are not stored */
  said_by_sequence acknowledged, given; /* to the writers; to a reader that listens */
  natsSubscription *reader;
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
  natsSubscription_Destroy(race->reader);
  free(race->acknowledged.at);
  free(race->given.at);
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
  char text[TEXT_BYTES], expected[32], reply[SUBJECT_BYTES + 24];
  natsMsg *message = NULL;
  snprintf(text, sizeof text, "%u %u %u %" PRIu64, what->epoch, what->number, what->writer, what->race);
  snprintf(expected, sizeof expected, "%" PRIu64, race->last);
  snprintf(reply, sizeof reply, "%s.%" PRIu64, from->inbox, what->race);
  cr_assert_eq(natsMsg_Create(&message, race->subject, reply, text, (int)strlen(text)), NATS_OK);
  if (race->expects) cr_assert_eq(natsMsgHeader_Set(message, "Nats-Expected-Last-Subject-Sequence", expected), NATS_OK);
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

/* -------------------------------------------------------------------------------------------------- what is stored */

static said read_said(const natsMsg *message) {
  char text[TEXT_BYTES];
  said what = {0};
  snprintf(text, sizeof text, "%.*s", natsMsg_GetDataLength(message), natsMsg_GetData(message));
  cr_assert_eq(sscanf(text, "%u %u %u %" SCNu64, &what.epoch, &what.number, &what.writer, &what.race), 4, "%s", text);
  return what;
}

static bool is_same(said a, said b) {
  return a.epoch == b.epoch && a.number == b.number && a.writer == b.writer && a.race == b.race;
}

static void note_said(said_by_sequence *notes, uint64_t sequence, said what) {
  while (sequence >= notes->room) {
    uint64_t room = notes->room ? 2 * notes->room : 1024;
    notes->at = realloc(notes->at, room * sizeof *notes->at);
    cr_assert_not_null(notes->at);
    memset(notes->at + notes->room, 0, (room - notes->room) * sizeof *notes->at);
    notes->room = room;
  }
  notes->at[sequence] = what;
  if (sequence > notes->last) notes->last = sequence;
}

static said noted(const said_by_sequence *notes, uint64_t sequence) {
  return sequence <= notes->last && notes->room ? notes->at[sequence] : (said){0};
}

/* Whether something is to be asked again: there may be no leader for a while, nor room for a consumer. */
static bool is_to_try_again(natsStatus status, int *tries) {
  if (status == NATS_OK || status == NATS_NOT_FOUND || *tries >= PATIENCE) return false;
  if (*tries > 0) nats_Sleep(PAUSE_MS);
  ++*tries;
  return true;
}

/* The subject's last message. */
static said look_at_last(contest *race) {
  natsMsg *message = NULL;
  jsErrCode error = 0;
  natsStatus status = NATS_ERR;
  for (int tries = 0; is_to_try_again(status, &tries);)
    status = js_GetLastMsg(&message, race->context, race->stream, race->subject, NULL, &error);
  cr_assert_eq(status, NATS_OK, "%s: %s (%d)", race->subject, natsStatus_GetText(status), (int)error);
  race->last = natsMsg_GetSequence(message);
  said what = read_said(message);
  natsMsg_Destroy(message);
  return what;
}

/* Whether a sequence holds what was acknowledged under it. */
static bool is_stored(contest *race, uint64_t sequence) {
  natsMsg *message = NULL;
  natsStatus status = NATS_ERR;
  for (int tries = 0; is_to_try_again(status, &tries);)
    status = js_GetMsg(&message, race->context, race->stream, sequence, NULL, NULL);
  cr_assert(status == NATS_OK || status == NATS_NOT_FOUND, "%" PRIu64 ": %s", sequence, natsStatus_GetText(status));
  bool good = status == NATS_OK && is_same(read_said(message), noted(&race->acknowledged, sequence));
  natsMsg_Destroy(message);
  return good;
}

/* A new leader has all that the old one acknowledged; counts what it has not, among the last. */
static void count_forgotten(contest *race) {
  uint64_t last = race->acknowledged.last;
  for (uint64_t sequence = last > HISTORY - 4 ? last - (HISTORY - 4) : 1; sequence <= last; sequence++) {
    said what = noted(&race->acknowledged, sequence);
    if (what.race == 0 || is_stored(race, sequence)) continue;
    race->forgotten++;
    note_said(&race->acknowledged, sequence, (said){0}); /* it is counted once */
  }
}

/* Gives a reader what comes from a sequence on. */
static natsSubscription *read_from(contest *race, uint64_t sequence) {
  natsSubscription *made = NULL;
  natsStatus status = NATS_ERR;
  jsErrCode error = 0;
  jsSubOptions options;
  jsSubOptions_Init(&options);
  options.Ordered = true;
  options.Config.DeliverPolicy = js_DeliverByStartSequence;
  options.Config.OptStartSeq = sequence;
  for (int tries = 0; is_to_try_again(status, &tries);)
    status = js_SubscribeSync(&made, race->context, race->subject, NULL, &options, &error);
  cr_assert_eq(status, NATS_OK, "%s (%d)", natsStatus_GetText(status), (int)error);
  return made;
}

/* The next message of a reader; NATS_TIMEOUT when there is none. */
static natsStatus read_next(natsSubscription *reader, int64_t wait_ms, uint64_t *sequence, said *what) {
  natsMsg *message = NULL;
  jsMsgMetaData *about = NULL;
  natsStatus status = natsSubscription_NextMsg(&message, reader, wait_ms);
  if (status != NATS_OK) return status;
  cr_assert_eq(natsMsg_GetMetaData(&about, message), NATS_OK);
  *sequence = about->Sequence.Stream;
  *what = read_said(message);
  jsMsgMetaData_Destroy(about);
  natsMsg_Destroy(message);
  return NATS_OK;
}

/* Takes what the reader that listens has been given; after a death it listens anew. */
static void listen_on(contest *race, bool anew) {
  uint64_t sequence = 0, waiting = 0;
  said what = {0};
  if (!race->reader || anew) {
    natsSubscription_Destroy(race->reader);
    race->reader = read_from(race, race->given.last + 1);
  }
  cr_assert_eq(natsSubscription_QueuedMsgs(race->reader, &waiting), NATS_OK);
  for (; waiting > 0 && read_next(race->reader, 1, &sequence, &what) == NATS_OK; waiting--) {
    cr_assert_eq(sequence, race->given.last + 1, "a gap in what a reader is given");
    note_said(&race->given, sequence, what);
  }
}

/* ------------------------------------------------------------------------------------------------------------ a race
 */

/* One race of two messages; true when the first writer's is known to be stored. */
static bool run_race(contest *race, const said said_by[2]) {
  race_answer answers[2];
  uint64_t sequences[2];
  int leader = race_kills_now(&race->tally) ? brokers_stream_leader(race->all, race->stream) : -1;
  uint32_t first = (uint32_t)(race->tally.races % 2);
  ask_to_write(race, &said_by[first]);
  ask_to_write(race, &said_by[!first]);
  if (leader >= 0) race_kill(&race->tally, race->all, BROKERS_NATS, leader);
  for (uint32_t i = 0; i < 2; i++) {
    answers[i] = await_answer(race, i, said_by[i].race, &sequences[i]);
    if (answers[i] == RACE_WON) note_said(&race->acknowledged, sequences[i], said_by[i]);
  }
  race_count_answers(&race->tally, answers);
  if (leader >= 0) {
    race_await_leader(race->all, BROKERS_NATS, race->stream, leader);
    count_forgotten(race);
  }
  if (!race->expects) {
    listen_on(race, leader >= 0);
    return answers[0] == RACE_WON;
  }
  if (answers[0] == RACE_WON || answers[1] == RACE_WON) {
    race->last = sequences[0] > sequences[1] ? sequences[0] : sequences[1];
    return answers[0] == RACE_WON;
  }
  said last = look_at_last(race);
  return last.epoch == said_by[0].epoch && last.number == said_by[0].number;
}

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
    for (bool is_done = false; !is_done;) {
      bool is_copy = other.epoch == owner.epoch;
      other.number = is_copy ? owner.number : other.number + 1;
      owner.race = other.race = race->tally.races + 1;
      is_done = run_race(race, (said[2]){owner, other});
    }
  }
  return owner;
}

/* Reads the whole stream from the replica that leads. */
static said_by_sequence read_replica(contest *race) {
  said_by_sequence replica = {0};
  look_at_last(race);
  natsSubscription *reader = read_from(race, 1);
  for (uint64_t next = 1; next <= race->last; next++) {
    uint64_t sequence = 0;
    said what = {0};
    cr_assert_eq(read_next(reader, 60000, &sequence, &what), NATS_OK);
    cr_assert_eq(sequence, next, "a gap in the stream");
    note_said(&replica, sequence, what);
  }
  natsSubscription_Destroy(reader);
  return replica;
}

/* Has another replica lead the stream, maybe. */
static void change_leader(contest *race) {
  natsMsg *answer = NULL;
  char subject[SUBJECT_BYTES];
  snprintf(subject, sizeof subject, "$JS.API.STREAM.LEADER.STEPDOWN.%s", race->stream);
  cr_assert_eq(natsConnection_RequestString(&answer, race->writers[0].connection, subject, "", 10000), NATS_OK);
  natsMsg_Destroy(answer);
}

/* Reads all three replicas, each while it leads. */
static void read_replicas(contest *race, said_by_sequence replicas[BROKERS_MAX]) {
  uint32_t count = 0;
  for (int tries = 0; tries < PATIENCE && count < BROKERS_MAX; tries++) {
    int leader = brokers_stream_leader(race->all, race->stream);
    if (leader >= 0 && replicas[leader].last == 0) {
      said_by_sequence replica = read_replica(race);
      if (brokers_stream_leader(race->all, race->stream) == leader) {
        replicas[leader] = replica;
        count++;
      } else {
        free(replica.at);
      }
    }
    if (leader >= 0) change_leader(race);
    nats_Sleep(PAUSE_MS);
  }
  cr_assert_eq(count, BROKERS_MAX, "not every replica leads once");
}

/* How many replicas have it at that sequence. */
static uint32_t replicas_with(const said_by_sequence replicas[BROKERS_MAX], uint64_t sequence, said what) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < BROKERS_MAX; i++) count += is_same(noted(&replicas[i], sequence), what);
  return count;
}

/* What was acknowledged must be in two replicas; by how many have it, it is counted. */
static void expect_in_two(const contest *race, const said_by_sequence replicas[BROKERS_MAX]) {
  uint64_t in[BROKERS_MAX + 1] = {0}, changed = 0;
  for (uint64_t sequence = 1; sequence <= race->acknowledged.last; sequence++) {
    said what = noted(&race->acknowledged, sequence);
    if (what.race) in[replicas_with(replicas, sequence, what)]++;
  }
  for (uint64_t sequence = 1; sequence <= race->given.last; sequence++)
    changed += replicas_with(replicas, sequence, noted(&race->given, sequence)) < BROKERS_MAX;
  fprintf(stderr,
          "  acknowledged, and in all replicas: %" PRIu64 ", in two: %" PRIu64 ", in one: %" PRIu64
          ", in none: %" PRIu64 "; given to a reader, and not in all replicas: %" PRIu64 "\n",
          in[3], in[2], in[1], in[0], changed);
  cr_expect_eq(in[1] + in[0], 0);
}

/* How far a replica brings who reads it as a zone reads a pair. */
static void print_rule(const said_by_sequence *replica, said end) {
  zone_pair pair = {0};
  uint64_t counting = 0;
  for (uint64_t sequence = 1; sequence <= replica->last; sequence++) {
    said what = noted(replica, sequence);
    counting += pair_takes(&pair, sequence, what.epoch, what.number);
  }
  fprintf(stderr,
          "  a replica of %" PRIu64 " messages, of which %" PRIu64 " count: up to epoch %u, number %u of %u, %u\n",
          replica->last, counting, pair.epoch, pair.number, end.epoch, end.number);
}

static void add_stream(contest *race) {
  jsStreamConfig stream;
  jsStreamConfig_Init(&stream);
  stream.Name = race->stream;
  stream.Subjects = &race->subject;
  stream.SubjectsLen = 1;
  stream.Replicas = BROKERS_MAX;
  cr_assert_eq(js_AddStream(NULL, race->context, &stream, NULL, NULL), NATS_OK);
}

static void conclude(contest *race, const char *name) {
  race_print(&race->tally, name);
  fprintf(stderr, "  acknowledged, and not known to the next leader: %" PRIu64 "\n", race->forgotten);
  cr_expect_gt(race->tally.kills, 0);
  if (race->expects) cr_expect_gt(race->tally.won[1], 0, "nobody was refused: this was no race");
}

Test(race_nats, publishes_that_expect_nothing_are_in_two_replicas_once_acknowledged) {
  contest race;
  said_by_sequence replicas[BROKERS_MAX] = {0};
  open_contest(&race, "RACE", "race.pair");
  add_stream(&race);
  listen_on(&race, false);
  said end = write_epochs(&race);
  conclude(&race, "publishes that expect nothing");
  read_replicas(&race, replicas);
  expect_in_two(&race, replicas);
  for (uint32_t i = 0; i < BROKERS_MAX; i++) {
    print_rule(&replicas[i], end);
    free(replicas[i].at);
  }
  close_contest(&race);
}

Test(race_nats, publishes_that_expect_one_sequence_may_both_be_taken) {
  contest race;
  open_contest(&race, "RACE", "race.pair");
  race.expects = true;
  add_stream(&race);
  write_epochs(&race);
  conclude(&race, "publishes with the same expected last subject sequence");
  close_contest(&race);
}

Test(race_nats, updates_of_a_key_with_one_revision_may_both_be_taken) {
  contest race;
  kvConfig bucket;
  kvStore *store = NULL;
  open_contest(&race, "KV_RACE", "$KV.RACE.lease");
  race.expects = true;
  kvConfig_Init(&bucket);
  bucket.Bucket = "RACE";
  bucket.History = HISTORY;
  bucket.Replicas = BROKERS_MAX;
  cr_assert_eq(js_CreateKeyValue(&store, race.context, &bucket), NATS_OK);
  while (race.tally.races < race.tally.wanted) {
    uint64_t number = race.tally.races + 1;
    run_race(&race, (said[2]){{.race = number}, {.race = number, .writer = 1}});
  }
  conclude(&race, "updates of a KV key with the same revision");
  kvStore_Destroy(store);
  close_contest(&race);
}
