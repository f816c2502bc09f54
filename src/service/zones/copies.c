/* copies.c - what a majority of the NATS servers keeps. Each call asks all servers, and ends for its caller as soon as
 * their answers decide it; the others' are waited for behind that. */
#include "service/zones/asks.h"
#include "service/zones/servers.h"

#include "base/assert.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DOCUMENT_BYTES = 512 };

typedef struct copies_call copies_call;

/* The question to one server. */
typedef struct copy_ask {
  copies_call *call;
  struct nats_server *server;
} copy_ask;

struct copies_call {
  struct broker *broker;
  broker_stream stream;
  uint32_t asked, good, none, full; /* servers without an answer; that have it; that do not; that have no room for it */
  bool over;                        /* for its caller */
  broker_done done;                 /* of keep */
  broker_found found;               /* of find */
  void *user;
  copy_ask asks[BROKER_SERVERS_MAX];
};

static copies_call *begin_call(struct broker *broker, broker_stream stream, broker_done done, broker_found found,
                               void *user) {
  copies_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return NULL;
  *call = (copies_call){.broker = broker, .stream = stream, .done = done, .found = found, .user = user};
  return call;
}

static void end_copies(copies_call *call) {
  broker_end_call(call->broker);
  free(call);
}

static void tell_caller(copies_call *call, muster_result result, const ask_answer *answer) {
  call->over = true;
  if (call->found)
    call->found(result, answer ? answer->bytes : NULL, answer ? answer->count : 0, call->user);
  else if (call->done)
    call->done(result, call->user);
}

/* One server more has answered, or cannot. */
static void count_answer(copies_call *call, muster_result result, const ask_answer *answer) {
  const uint32_t majority = servers_majority(call->broker), count = call->broker->server_count;
  const uint32_t enough = call->found ? 1 : majority;
  call->good += result == MUSTER_OK;
  call->none += call->found && result == MUSTER_E_STALE;
  call->full += result == MUSTER_E_FULL;
  uint32_t bad = count - call->asked - call->good - call->none;
  if (call->over) return;
  if (call->good == enough)
    tell_caller(call, MUSTER_OK, answer);
  else if (call->found && call->none == majority)
    tell_caller(call, MUSTER_E_STALE, NULL);
  else if (bad > count - majority)
    tell_caller(call, call->full ? MUSTER_E_FULL : MUSTER_E_SYSTEM, NULL);
}

static void take_copy_answer(muster_result result, const ask_answer *answer, void *user) {
  const copy_ask *ask = user;
  copies_call *call = ask->call;
  if (result != MUSTER_OK && result != MUSTER_E_STALE && !call->broker->closing)
    complaints_add(&call->broker->complaints, ask->server->url, "%s", muster_last_error());
  if (result == MUSTER_OK && !call->found) {
    uint64_t sequence = (uint64_t)document_number(document_member(answer->document, "seq"));
    uint64_t *last = &ask->server->last[call->stream];
    if (sequence > *last) *last = sequence;
  }
  call->asked--;
  count_answer(call, result, answer);
  if (!call->asked) end_copies(call);
}

/* A call that too few servers were asked for is refused; their answers are waited for all the same. */
static muster_result begin_waiting(copies_call *call) {
  uint32_t asked = call->asked;
  if (asked >= servers_majority(call->broker)) return MUSTER_OK;
  call->over = true;
  error_set(MUSTER_E_STATE, "%u of %u servers of NATS can be asked", asked, call->broker->server_count);
  if (!asked) end_copies(call);
  return MUSTER_E_STATE;
}

typedef bool (*copies_send)(struct asks *asks, const char *subject, const void *bytes, size_t count, uint64_t wait_ms,
                            ask_take take, void *user);

static muster_result ask_servers(copies_call *call, copies_send send, const char *subject, const void *bytes,
                                 size_t count) {
  struct broker *broker = call->broker;
  for (uint32_t i = 0; i < broker->server_count; i++) {
    struct nats_server *server = &broker->servers[i];
    call->asks[i] = (copy_ask){.call = call, .server = server};
    if (server_is_ready(server))
      call->asked +=
          send(server->asks, subject, bytes, count, broker->settings.answer_ms, take_copy_answer, &call->asks[i]);
  }
  return begin_waiting(call);
}

static void name_message(const struct broker *broker, broker_stream stream, const char *name, zone_place version,
                         uint32_t number, char subject[BROKER_SUBJECT_BYTES]) {
  snprintf(subject, BROKER_SUBJECT_BYTES, "muster.%s.%s.%s.%016" PRIx64 "%016" PRIx64 ".%" PRIu32,
           broker->settings.world, server_stream_word(stream), name, version.epoch, version.number, number);
}

muster_result broker_keep(struct broker *broker, broker_stream stream, const char *name, zone_place version,
                          uint32_t number, const void *bytes, size_t count, broker_done done, void *user) {
  char subject[BROKER_SUBJECT_BYTES];
  ASSERT(count <= BROKER_MESSAGE_BYTES_MAX);
  copies_call *call = begin_call(broker, stream, done, NULL, user);
  if (!call) return muster_last_result();
  name_message(broker, stream, name, version, number, subject);
  return ask_servers(call, asks_send, subject, bytes, count);
}

muster_result broker_find(struct broker *broker, broker_stream stream, const char *name, zone_place version,
                          uint32_t number, broker_found found, void *user) {
  char subject[BROKER_SUBJECT_BYTES], get[BROKER_SUBJECT_BYTES], stream_name[STREAM_BYTES_MAX];
  char document[DOCUMENT_BYTES];
  copies_call *call = begin_call(broker, stream, NULL, found, user);
  if (!call) return muster_last_result();
  name_message(broker, stream, name, version, number, subject);
  server_name_stream(broker, stream, stream_name);
  snprintf(get, sizeof get, "$JS.API.DIRECT.GET.%s", stream_name);
  int length = snprintf(document, sizeof document, "{\"last_by_subj\":\"%s\"}", subject);
  return ask_servers(call, asks_get, get, document, (size_t)length);
}

/* ---------------------------------------------------------------------------------------------------------- removal */

void broker_read_ends(const struct broker *broker, broker_ends *ends) {
  *ends = (broker_ends){0};
  for (uint32_t i = 0; i < broker->server_count; i++)
    memcpy(ends->last[i], broker->servers[i].last, sizeof ends->last[i]);
  for (uint32_t i = 0; i < broker->server_count; i++) ends->connections[i] = broker->servers[i].connections;
}

/* Removal goes as far as it goes: the next one goes on. */
static void take_removed(muster_result result, const ask_answer *answer, void *user) {
  struct nats_server *server = user;
  (void)answer;
  if (result != MUSTER_OK && !server->broker->closing)
    complaints_add(&server->broker->complaints, server->url, "%s", muster_last_error());
}

static void remove_from(struct nats_server *server, broker_stream stream, const char *name, uint64_t last) {
  char subject[BROKER_SUBJECT_BYTES], stream_name[STREAM_BYTES_MAX], document[DOCUMENT_BYTES];
  server_name_stream(server->broker, stream, stream_name);
  snprintf(subject, sizeof subject, "$JS.API.STREAM.PURGE.%s", stream_name);
  int length = snprintf(document, sizeof document, "{\"filter\":\"muster.%s.%s.%s.>\",\"seq\":%" PRIu64 "}",
                        server->broker->settings.world, server_stream_word(stream), name, last + 1);
  asks_send(server->asks, subject, document, (size_t)length, server->broker->settings.answer_ms, take_removed, server);
}

void broker_remove(struct broker *broker, const char *name, const broker_ends *ends) {
  for (uint32_t i = 0; i < broker->server_count && !broker->closing; i++)
    for (broker_stream stream = 0; stream < BROKER_STREAMS; stream++)
      if (server_is_ready(&broker->servers[i]) && ends->connections[i] == broker->servers[i].connections &&
          ends->last[i][stream])
        remove_from(&broker->servers[i], stream, name, ends->last[i][stream]);
}
