#include "service/zones/servers.h"

#include "service/log.h"
#include "service/zones/asks.h"

#include "base/error.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { STREAMS_AGAIN_MS = 500, STREAMS_WAIT_MS = 5000, DOCUMENT_BYTES = 1024 };

bool server_is_ready(const struct nats_server *server) {
  return server->linked && server->streams == BROKER_STREAMS;
}

uint32_t servers_majority(const struct broker *broker) {
  return broker->server_count / 2 + 1;
}

bool servers_are_enough(const struct broker *broker) {
  uint32_t ready = 0;
  for (uint32_t i = 0; i < broker->server_count; i++) ready += server_is_ready(&broker->servers[i]);
  return broker->server_count && ready >= servers_majority(broker);
}

/* ---------------------------------------------------------------------------------------------------------- streams */

const char *server_stream_word(broker_stream stream) {
  return stream == BROKER_JOURNAL ? "journal" : "objects";
}

void server_name_stream(const struct broker *broker, broker_stream stream, char name[STREAM_BYTES_MAX]) {
  snprintf(name, STREAM_BYTES_MAX, "muster-%s-%s", broker->settings.world, server_stream_word(stream));
}

static void streams_again(struct nats_server *server, const char *words) {
  char name[STREAM_BYTES_MAX];
  server_name_stream(server->broker, server->streams, name);
  complaints_add(&server->broker->complaints, server->url, "its stream %s: %s", name, words);
  server->streams_retry_ms = uv_now(server->broker->loop) + STREAMS_AGAIN_MS;
}

/* It keeps the last message of each subject, in files, for as long as nobody removes it. A stream that is full refuses:
 * what it would drop, a zone may need. */
static size_t write_stream(const struct nats_server *server, char document[DOCUMENT_BYTES]) {
  char name[STREAM_BYTES_MAX], subject[BROKER_SUBJECT_BYTES];
  json_writer writer;
  server_name_stream(server->broker, server->streams, name);
  snprintf(subject, sizeof subject, "muster.%s.%s.>", server->broker->settings.world,
           server_stream_word(server->streams));
  json_start(&writer, document, DOCUMENT_BYTES);
  json_begin_object(&writer, NULL);
  json_string(&writer, "name", name);
  json_begin_array(&writer, "subjects");
  json_string(&writer, NULL, subject);
  json_end_array(&writer);
  json_string(&writer, "retention", "limits");
  json_string(&writer, "storage", "file");
  json_string(&writer, "discard", "new");
  json_uint(&writer, "num_replicas", 1);
  json_uint(&writer, "max_msgs_per_subject", 1);
  json_bool(&writer, "allow_direct", true);
  json_end_object(&writer);
  json_finish(&writer);
  return writer.length;
}

static bool says(const struct document *object, const char *name, const char *text) {
  const char *value = document_text(document_member(object, name));
  return value && strcmp(value, text) == 0;
}

/* Whether a stream that somebody else has made does the same. How much room it has is the operator's matter. */
static bool keeps_all(const struct document *stream) {
  return says(stream, "retention", "limits") && says(stream, "discard", "new") && says(stream, "storage", "file") &&
         document_number(document_member(stream, "max_age")) == 0 &&
         document_number(document_member(stream, "max_msgs_per_subject")) == 1 &&
         document_is_true(document_member(stream, "allow_direct")) &&
         !document_is_true(document_member(stream, "no_ack")) && !document_is_true(document_member(stream, "sealed")) &&
         !document_is_true(document_member(stream, "deny_purge"));
}

static void ask_for_stream(struct nats_server *server, bool make);

/* It is asked for, and made where it is missing. */
static void take_stream(muster_result result, const ask_answer *answer, void *user) {
  struct nats_server *server = user;
  bool missing = result == MUSTER_E_STALE && !server->makes_stream;
  server->asks_stream = false;
  if (missing)
    ask_for_stream(server, true);
  else if (result != MUSTER_OK)
    streams_again(server, muster_last_error());
  else if (!keeps_all(document_member(answer->document, "config")))
    streams_again(server, "it exists, and is none of a world's");
  else if (++server->streams == BROKER_STREAMS)
    complaints_forget(&server->broker->complaints, server->url);
}

static void ask_for_stream(struct nats_server *server, bool make) {
  char subject[BROKER_SUBJECT_BYTES], name[STREAM_BYTES_MAX], document[DOCUMENT_BYTES];
  server_name_stream(server->broker, server->streams, name);
  snprintf(subject, sizeof subject, "$JS.API.STREAM.%s.%s", make ? "CREATE" : "INFO", name);
  size_t length = make ? write_stream(server, document) : 0;
  server->makes_stream = make;
  server->asks_stream = asks_send(server->asks, subject, document, length, STREAMS_WAIT_MS, take_stream, server);
}

static void look_after_streams(struct nats_server *server) {
  if (server->linked && server->streams < BROKER_STREAMS && !server->asks_stream &&
      uv_now(server->broker->loop) >= server->streams_retry_ms)
    ask_for_stream(server, false);
}

/* ------------------------------------------------------------------------------------------------------- connection */

static void note_connected(const char *url, void *user) {
  struct nats_server *server = user;
  server->linked = true;
  server->streams = 0; /* another process, perhaps, with another disk */
  server->connections++;
  memset(server->last, 0, sizeof server->last);
  server->streams_retry_ms = 0;
  log_line(MUSTER_LOG_INFO, "NATS: connected to %s", url);
  look_after_streams(server);
}

static void note_broken(const char *reason, void *user) {
  struct nats_server *server = user;
  complaints_add(&server->broker->complaints, server->url, "%s", reason);
  server->linked = false;
  asks_end_all(server->asks, reason);
}

static void note_message(const link_message *message, void *user) {
  struct nats_server *server = user;
  size_t length = strlen(nats_link_inbox(server->link));
  if (message->number)
    telling_take(server->broker, message);
  else
    asks_answer(server->asks, message->subject + length, message);
}

static void note_link_closed(void *user) {
  struct nats_server *server = user;
  server->link = NULL;
  server->linked = false;
}

static bool open_server(struct nats_server *server) {
  static const link_events events = {note_connected, note_broken, note_message, note_link_closed};
  struct broker *broker = server->broker;
  server->link = nats_link_open(broker->loop, &broker->settings, server->url, broker->nats_secret, &events, server);
  if (!server->link) return false;
  server->asks = asks_open(broker->loop, server->link, server->url);
  if (!server->asks) error_set(MUSTER_E_MEMORY, "no memory for the questions to %s", server->url);
  return server->asks != NULL;
}

muster_result servers_read(struct broker *broker) {
  char urls[HOSTS_BYTES], *rest = NULL;
  snprintf(urls, sizeof urls, "%s", broker->settings.nats);
  for (char *url = strtok_r(urls, ", ", &rest); url; url = strtok_r(NULL, ", ", &rest)) {
    if (broker->server_count == BROKER_SERVERS_MAX)
      return error_set(MUSTER_E_ARGUMENT, "more than %d NATS servers are named", BROKER_SERVERS_MAX);
    struct nats_server *server = &broker->servers[broker->server_count++];
    *server = (struct nats_server){.broker = broker};
    snprintf(server->url, sizeof server->url, "%s", url);
  }
  return broker->server_count ? MUSTER_OK : error_set(MUSTER_E_ARGUMENT, "no NATS server is named");
}

bool servers_open(struct broker *broker) {
  for (uint32_t i = 0; i < broker->server_count; i++)
    if (!open_server(&broker->servers[i])) return false;
  return true;
}

void servers_close(struct broker *broker) {
  for (uint32_t i = 0; i < broker->server_count; i++)
    if (broker->servers[i].link) nats_link_close(broker->servers[i].link);
}

bool servers_are_closed(const struct broker *broker) {
  bool closed = true;
  for (uint32_t i = 0; i < broker->server_count; i++) closed = closed && !broker->servers[i].link;
  return closed;
}

void servers_end_asks(struct broker *broker) {
  for (uint32_t i = 0; i < broker->server_count; i++)
    if (broker->servers[i].asks) asks_end_all(broker->servers[i].asks, "the broker is closed");
}

void servers_free(struct broker *broker) {
  for (uint32_t i = 0; i < broker->server_count; i++) asks_free(broker->servers[i].asks);
}

void servers_look_after(struct broker *broker) {
  for (uint32_t i = 0; i < broker->server_count; i++) {
    asks_look_after(broker->servers[i].asks);
    look_after_streams(&broker->servers[i]);
  }
}
