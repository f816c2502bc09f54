/* What was said, as the writers were told and as the replicas have it. */
#include "contest.h"

bool contest_is_same(said a, said b) {
  return a.epoch == b.epoch && a.number == b.number && a.writer == b.writer && a.race == b.race;
}

void contest_note(said_by_sequence *notes, uint64_t sequence, said what) {
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

said contest_noted(const said_by_sequence *notes, uint64_t sequence) {
  return sequence <= notes->last && notes->room ? notes->at[sequence] : (said){0};
}

static said read_said(const natsMsg *message) {
  said what = {0};
  const char *text = formed("%.*s", natsMsg_GetDataLength(message), natsMsg_GetData(message));
  cr_assert_eq(sscanf(text, "%u %u %u %" SCNu64, &what.epoch, &what.number, &what.writer, &what.race), 4, "%s", text);
  return what;
}

/* Whether something is to be asked again: there may be no leader for a while, nor room for a consumer. */
static bool is_to_try_again(natsStatus status, int *tries) {
  if (status == NATS_OK || status == NATS_NOT_FOUND || *tries >= CONTEST_PATIENCE) return false;
  if (*tries > 0) nats_Sleep(CONTEST_PAUSE_MS);
  ++*tries;
  return true;
}

said contest_look_at_last(contest *race) {
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
  bool good = status == NATS_OK && contest_is_same(read_said(message), contest_noted(&race->acknowledged, sequence));
  natsMsg_Destroy(message);
  return good;
}

/* A new leader has all that the old one acknowledged; counts what it has not, among the last. */
void contest_count_forgotten(contest *race) {
  uint64_t last = race->acknowledged.last;
  for (uint64_t sequence = last > CONTEST_HISTORY - 4 ? last - (CONTEST_HISTORY - 4) : 1; sequence <= last;
       sequence++) {
    said what = contest_noted(&race->acknowledged, sequence);
    if (what.race == 0 || is_stored(race, sequence)) continue;
    race->forgotten++;
    contest_note(&race->acknowledged, sequence, (said){0}); /* it is counted once */
  }
}

natsSubscription *contest_read_from(contest *race, uint64_t sequence) {
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

natsStatus contest_read_next(natsSubscription *reader, int64_t wait_ms, uint64_t *sequence, said *what) {
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

void contest_listen(contest *race, bool anew) {
  uint64_t sequence = 0, waiting = 0;
  said what = {0};
  if (!race->reader || anew) {
    natsSubscription_Destroy(race->reader);
    race->reader = contest_read_from(race, race->given.last + 1);
  }
  cr_assert_eq(natsSubscription_QueuedMsgs(race->reader, &waiting), NATS_OK);
  for (; waiting > 0 && contest_read_next(race->reader, 1, &sequence, &what) == NATS_OK; waiting--) {
    cr_assert_eq(sequence, race->given.last + 1, "a gap in what a reader is given");
    contest_note(&race->given, sequence, what);
  }
}

/* --------------------------------------------------------------------------------------------------------- replicas */

/* Reads the whole stream from the replica that leads. */
static said_by_sequence read_replica(contest *race) {
  said_by_sequence replica = {0};
  contest_look_at_last(race);
  natsSubscription *reader = contest_read_from(race, 1);
  for (uint64_t next = 1; next <= race->last; next++) {
    uint64_t sequence = 0;
    said what = {0};
    cr_assert_eq(contest_read_next(reader, 60000, &sequence, &what), NATS_OK);
    cr_assert_eq(sequence, next, "a gap in the stream");
    contest_note(&replica, sequence, what);
  }
  natsSubscription_Destroy(reader);
  return replica;
}

/* Has another replica lead the stream, maybe. */
static void change_leader(contest *race) {
  natsMsg *answer = NULL;
  cr_assert_eq(natsConnection_RequestString(&answer, race->writers[0].connection,
                                            formed("$JS.API.STREAM.LEADER.STEPDOWN.%s", race->stream), "", 10000),
               NATS_OK);
  natsMsg_Destroy(answer);
}

void contest_read_replicas(contest *race, said_by_sequence replicas[BROKERS_MAX]) {
  uint32_t count = 0;
  for (int tries = 0; tries < CONTEST_PATIENCE && count < BROKERS_MAX; tries++) {
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
    nats_Sleep(CONTEST_PAUSE_MS);
  }
  cr_assert_eq(count, BROKERS_MAX, "not every replica leads once");
}

/* How many replicas have it at that sequence. */
static uint32_t replicas_with(const said_by_sequence replicas[BROKERS_MAX], uint64_t sequence, said what) {
  uint32_t count = 0;
  for (uint32_t i = 0; i < BROKERS_MAX; i++) count += contest_is_same(contest_noted(&replicas[i], sequence), what);
  return count;
}

void contest_expect_in(uint32_t least, const contest *race, const said_by_sequence replicas[BROKERS_MAX]) {
  uint64_t in[BROKERS_MAX + 1] = {0}, changed = 0;
  for (uint64_t sequence = 1; sequence <= race->acknowledged.last; sequence++) {
    said what = contest_noted(&race->acknowledged, sequence);
    if (what.race) in[replicas_with(replicas, sequence, what)]++;
  }
  for (uint64_t sequence = 1; sequence <= race->given.last; sequence++)
    changed += replicas_with(replicas, sequence, contest_noted(&race->given, sequence)) < BROKERS_MAX;
  fprintf(stderr,
          "  acknowledged, and in all replicas: %" PRIu64 ", in two: %" PRIu64 ", in one: %" PRIu64
          ", in none: %" PRIu64 "; given to a reader, and not in all replicas: %" PRIu64 "\n",
          in[3], in[2], in[1], in[0], changed);
  for (uint32_t i = 0; i < least; i++) cr_expect_eq(in[i], 0, "acknowledged, and in %u replicas", i);
}
