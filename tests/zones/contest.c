#include "contest.h"

#include <jansson.h>

enum { ANSWER_MS = 3000, ADD_TRIES = 20 /* of some seconds each */, WRONG_LAST_SEQUENCE = 10071 };

/* ------------------------------------------------------------------------------------------------------ connections */

static void connect_writer(contest *race, uint32_t which, uint32_t broker) {
  contest_writer *made = &race->writers[which];
  natsOptions *options = NULL;
  const char *urls[BROKERS_MAX];
  for (uint32_t i = 0; i < BROKERS_MAX; i++) urls[i] = brokers_url(race->all, BROKERS_NATS, (broker + i) % BROKERS_MAX);
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
  cr_assert_eq(natsConnection_SubscribeSync(&made->answers, made->connection, formed("%s.*", made->inbox)), NATS_OK);
  cr_assert_eq(natsConnection_Flush(made->connection), NATS_OK);
}

static void disconnect_writers(contest *race) {
  jsCtx_Destroy(race->context);
  for (uint32_t i = 0; i < 2; i++) {
    natsSubscription_Destroy(race->writers[i].answers);
    natsConnection_Destroy(race->writers[i].connection);
  }
}

static void connect_writers(contest *race, uint32_t first, uint32_t second) {
  connect_writer(race, 0, first);
  connect_writer(race, 1, second);
  cr_assert_eq(natsConnection_JetStream(&race->context, race->writers[0].connection, NULL), NATS_OK);
}

void contest_move(contest *race, uint32_t first, uint32_t second) {
  disconnect_writers(race);
  connect_writers(race, first, second);
}

void contest_open(contest *race, const char *stream, const char *subject, bool between) {
  *race = (contest){.stream = stream, .subject = subject};
  race->all = brokers_start(&(brokers_options){.nats = BROKERS_MAX, .cluster = true, .between = between});
  connect_writers(race, 0, 1);
}

void contest_close(contest *race) {
  natsSubscription_Destroy(race->reader);
  free(race->acknowledged.at);
  free(race->given.at);
  disconnect_writers(race);
  nats_Close();
  brokers_end(race->all);
}

void contest_add_stream(contest *race) {
  jsStreamConfig stream;
  jsStreamConfig_Init(&stream);
  stream.Name = race->stream;
  stream.Subjects = &race->subject;
  stream.SubjectsLen = 1;
  stream.Replicas = BROKERS_MAX;
  /* Again for as long as they agree on nobody who leads it; the same once more is no error. */
  natsStatus status = NATS_ERR;
  for (uint32_t i = 0; i < ADD_TRIES && status != NATS_OK; i++)
    status = js_AddStream(NULL, race->context, &stream, NULL, NULL);
  cr_assert_eq(status, NATS_OK, "%s", natsStatus_GetText(status));
}

/* ----------------------------------------------------------------------------------------------------------- asking */

void contest_ask(contest *race, const said *what) {
  contest_writer *from = &race->writers[what->writer];
  natsMsg *message = NULL;
  const char *text = formed("%u %u %u %" PRIu64, what->epoch, what->number, what->writer, what->race);
  const char *expected = formed("%" PRIu64, race->last);
  cr_assert_eq(
      natsMsg_Create(&message, race->subject, formed("%s.%" PRIu64, from->inbox, what->race), text, (int)strlen(text)),
      NATS_OK);
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
race_answer contest_await(contest *race, const said *what, uint64_t *sequence) {
  race_answer answer = RACE_NONE;
  *sequence = 0;
  const char *wanted = formed("%s.%" PRIu64, race->writers[what->writer].inbox, what->race);
  for (natsMsg *message = NULL; answer == RACE_NONE; natsMsg_Destroy(message)) {
    if (natsSubscription_NextMsg(&message, race->writers[what->writer].answers, ANSWER_MS) != NATS_OK) return RACE_NONE;
    if (strcmp(natsMsg_GetSubject(message), wanted) == 0) answer = read_answer(natsMsg_GetData(message), sequence);
  }
  return answer;
}

/* ----------------------------------------------------------------------------------------------------------- a race */

bool contest_run(contest *race, const said said_by[2]) {
  race_answer answers[2];
  uint64_t sequences[2];
  int leader = race_kills_now(&race->tally) ? brokers_stream_leader(race->all, race->stream) : -1;
  uint32_t first = (uint32_t)(race->tally.races % 2);
  contest_ask(race, &said_by[first]);
  contest_ask(race, &said_by[!first]);
  if (leader >= 0) race_kill(&race->tally, race->all, BROKERS_NATS, leader);
  for (uint32_t i = 0; i < 2; i++) {
    answers[i] = contest_await(race, &said_by[i], &sequences[i]);
    if (answers[i] == RACE_WON) contest_note(&race->acknowledged, sequences[i], said_by[i]);
  }
  race_count_answers(&race->tally, answers);
  if (leader >= 0) {
    race_await_leader(race->all, BROKERS_NATS, race->stream, leader);
    contest_count_forgotten(race);
  }
  if (!race->expects) {
    contest_listen(race, leader >= 0);
    return answers[0] == RACE_WON;
  }
  if (answers[0] == RACE_WON || answers[1] == RACE_WON) {
    race->last = sequences[0] > sequences[1] ? sequences[0] : sequences[1];
    return answers[0] == RACE_WON;
  }
  said last = contest_look_at_last(race);
  return last.epoch == said_by[0].epoch && last.number == said_by[0].number;
}
