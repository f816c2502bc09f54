#include "service/zones/jetstream.h"

#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CODE_NAME_IN_USE = 10058, STREAMS_AGAIN_MS = 500 };

/* A stream of the world: what its name ends with, and its subjects. */
static const struct {
  const char *ending, *subjects;
} streams[BROKER_STREAMS] = {{"", "cross"}, {"-journal", "journal"}, {"-objects", "objects"}};

static void name_stream(const struct broker *broker, uint32_t at, char name[STREAM_BYTES_MAX]) {
  snprintf(name, STREAM_BYTES_MAX, "muster-%s%s", broker->settings.world, streams[at].ending);
}

bool broker_stream_of(const struct broker *broker, const char *subject, char stream[STREAM_BYTES_MAX]) {
  char begin[BROKER_SUBJECT_BYTES];
  for (uint32_t i = 0; i < BROKER_STREAMS; i++) {
    int length = snprintf(begin, sizeof begin, "muster.%s.%s.", broker->settings.world, streams[i].subjects);
    if (strncmp(subject, begin, (size_t)length) != 0) continue;
    name_stream(broker, i, stream);
    return true;
  }
  error_set(MUSTER_E_ARGUMENT, "no stream of the world %s keeps the subject %s", broker->settings.world, subject);
  return false;
}

uint64_t jetstream_ask(struct broker *broker, const char *call, const char *stream, const char *document, ask_take take,
                       void *user) {
  char subject[BROKER_SUBJECT_BYTES];
  snprintf(subject, sizeof subject, "$JS.API.%s.%s", call, stream);
  return asks_send(broker->asks, subject, document, strlen(document), JETSTREAM_WAIT_MS, take, user);
}

uint64_t jetstream_wait_ms(uint32_t tries) {
  return tries < 3 ? 1000u << tries : JETSTREAM_WAIT_MS;
}

uint64_t jetstream_ask_last(struct broker *broker, const char *stream, const char *subject, uint64_t wait_ms,
                            ask_take take, void *user) {
  char document[DOCUMENT_BYTES], call[BROKER_SUBJECT_BYTES];
  snprintf(call, sizeof call, "$JS.API.STREAM.MSG.GET.%s", stream);
  int length = snprintf(document, sizeof document, "{\"last_by_subj\":\"%s\"}", subject);
  return asks_send(broker->asks, call, document, (size_t)length, wait_ms, take, user);
}

uint64_t jetstream_read_last(const struct document *answer) {
  return (uint64_t)document_number(document_member(document_member(answer, "message"), "seq"));
}

uint64_t jetstream_ask_purge(struct broker *broker, const char *stream, const char *subject, uint64_t before,
                             ask_take take, void *user) {
  char document[DOCUMENT_BYTES];
  json_writer writer;
  json_start(&writer, document, sizeof document);
  json_begin_object(&writer, NULL);
  json_string(&writer, "filter", subject);
  if (before) json_uint(&writer, "seq", before);
  json_end_object(&writer);
  json_finish(&writer);
  return jetstream_ask(broker, "STREAM.PURGE", stream, document, take, user);
}

/* ---------------------------------------------------------------------------------------------------------- streams */

static void streams_again(struct broker *broker, const char *words) {
  char name[STREAM_BYTES_MAX];
  name_stream(broker, broker->streams_at, name);
  complaints_add(&broker->complaints, name, "%s", words);
  broker->streams_retry_ms = uv_now(broker->loop) + STREAMS_AGAIN_MS;
}

static bool says(const struct document *object, const char *name, const char *text) {
  const char *value = document_text(document_member(object, name));
  return value && strcmp(value, text) == 0;
}

/* Whether a stream that somebody else has made keeps all that it is given. Room and places are the operator's. */
static bool keeps_all(const struct broker *broker, const struct document *stream) {
  char wanted[BROKER_SUBJECT_BYTES];
  const struct document *subjects = document_member(stream, "subjects");
  snprintf(wanted, sizeof wanted, "muster.%s.%s.>", broker->settings.world, streams[broker->streams_at].subjects);
  const char *first = document_text(document_at(subjects, 0));
  return document_count(subjects) == 1 && first && strcmp(first, wanted) == 0 && says(stream, "retention", "limits") &&
         says(stream, "discard", "new") && says(stream, "storage", "file") &&
         document_number(document_member(stream, "max_age")) == 0 &&
         document_number(document_member(stream, "max_msgs_per_subject")) <= 0 &&
         !document_is_true(document_member(stream, "no_ack")) && !document_is_true(document_member(stream, "sealed")) &&
         !document_is_true(document_member(stream, "deny_purge"));
}

static void take_stream_info(muster_result result, const struct document *answer, int code, void *user) {
  struct broker *broker = user;
  (void)code;
  broker->streams_asked = false;
  if (result != MUSTER_OK)
    streams_again(broker, muster_last_error());
  else if (!keeps_all(broker, document_member(answer, "config")))
    streams_again(broker, "this stream exists and is none of a world's: it must keep its subject alone, in files, "
                          "by limits, without an age, and discard what is new");
  else
    broker->streams_at++;
}

static void take_stream_made(muster_result result, const struct document *answer, int code, void *user) {
  struct broker *broker = user;
  char name[STREAM_BYTES_MAX];
  (void)answer;
  broker->streams_asked = false;
  if (result == MUSTER_OK) {
    broker->streams_at++;
  } else if (code == CODE_NAME_IN_USE) {
    name_stream(broker, broker->streams_at, name);
    broker->streams_asked = jetstream_ask(broker, "STREAM.INFO", name, "", take_stream_info, broker) != 0;
  } else {
    streams_again(broker, muster_last_error());
  }
}

void jetstream_look_after_streams(struct broker *broker) {
  char name[STREAM_BYTES_MAX], subject[BROKER_SUBJECT_BYTES], document[DOCUMENT_BYTES];
  json_writer writer;
  if (!broker->linked || broker->streams_at == BROKER_STREAMS || broker->streams_asked ||
      uv_now(broker->loop) < broker->streams_retry_ms)
    return;
  name_stream(broker, broker->streams_at, name);
  snprintf(subject, sizeof subject, "muster.%s.%s.>", broker->settings.world, streams[broker->streams_at].subjects);
  json_start(&writer, document, sizeof document);
  json_begin_object(&writer, NULL);
  json_string(&writer, "name", name);
  json_begin_array(&writer, "subjects");
  json_string(&writer, NULL, subject);
  json_end_array(&writer);
  json_string(&writer, "retention", "limits");
  json_string(&writer, "storage", "file");
  json_string(&writer, "discard", "new"); /* a full stream refuses: what it drops, no one may have read yet */
  json_uint(&writer, "num_replicas", broker->settings.replicas);
  json_end_object(&writer);
  json_finish(&writer);
  broker->streams_asked = jetstream_ask(broker, "STREAM.CREATE", name, document, take_stream_made, broker) != 0;
}

/* ---------------------------------------------------------------------------------------------------------- purging */

typedef struct purge_call {
  struct broker *broker;
  broker_done done;
  void *user;
  uint64_t before;
  char stream[STREAM_BYTES_MAX];
  char subject[BROKER_SUBJECT_BYTES];
} purge_call;

static void end_purge(purge_call *call, muster_result result) {
  broker_end_call(call->broker);
  if (call->done) call->done(result == MUSTER_OK ? MUSTER_OK : MUSTER_E_SYSTEM, call->user);
  free(call);
}

static void take_purged(muster_result result, const struct document *answer, int code, void *user) {
  (void)answer;
  (void)code;
  end_purge(user, result);
}

/* The last message that is there now stays, whatever comes meanwhile. */
static void take_last_before_purge(muster_result result, const struct document *answer, int code, void *user) {
  purge_call *call = user;
  uint64_t last = jetstream_read_last(answer), before = last < call->before ? last : call->before;
  (void)code;
  if (result == MUSTER_E_STALE || (result == MUSTER_OK && before <= 1))
    end_purge(call, MUSTER_OK); /* nothing is there below */
  else if (result != MUSTER_OK)
    end_purge(call, result);
  else if (!jetstream_ask_purge(call->broker, call->stream, call->subject, before, take_purged, call))
    end_purge(call, MUSTER_E_SYSTEM);
}

muster_result broker_purge(struct broker *broker, const char *subject, uint64_t before, broker_done done, void *user) {
  char stream[STREAM_BYTES_MAX];
  muster_result result = broker_check_subject(subject);
  if (result == MUSTER_OK && !broker_stream_of(broker, subject, stream)) result = MUSTER_E_ARGUMENT;
  if (result == MUSTER_OK) result = broker_count_call(broker);
  if (result != MUSTER_OK) return result;
  purge_call *call = calloc(1, sizeof *call);
  if (!call) {
    broker_end_call(broker);
    return error_set(MUSTER_E_MEMORY, "no memory for a purge");
  }
  *call = (purge_call){.broker = broker, .done = done, .user = user, .before = before};
  memcpy(call->stream, stream, sizeof call->stream);
  snprintf(call->subject, sizeof call->subject, "%s", subject);
  if (jetstream_ask_last(broker, call->stream, subject, JETSTREAM_WAIT_MS, take_last_before_purge, call))
    return MUSTER_OK;
  broker_end_call(broker);
  free(call);
  return muster_last_result();
}
