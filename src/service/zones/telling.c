/* telling.c - what is told on core NATS, and may be lost: each message goes over one of the servers, and those
 * who listen do so on all. */
#include "service/zones/servers.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

struct broker_listener {
  LIST_ENTRY(broker_listener) link;
  struct broker *broker;
  uint32_t number;
  broker_told each;
  void *user;
};

void broker_tell(struct broker *broker, uint64_t turn, const char *subject, const void *bytes, size_t count) {
  ASSERT(strlen(subject) < BROKER_SUBJECT_BYTES && count <= BROKER_MESSAGE_BYTES_MAX);
  for (uint32_t i = 0; i < broker->server_count && !broker->closing; i++) {
    const struct nats_server *server = &broker->servers[(turn + i) % broker->server_count];
    if (server->linked && nats_link_send(server->link, subject, NULL, bytes, count) == MUSTER_OK) return;
  }
}

broker_listener *broker_listen(struct broker *broker, const char *subject, broker_told each, void *user) {
  broker_listener *listener = broker->closing ? NULL : calloc(1, sizeof *listener);
  if (!listener) {
    error_set(broker->closing ? MUSTER_E_STATE : MUSTER_E_MEMORY, "nobody can listen to %s", subject);
    return NULL;
  }
  *listener = (broker_listener){.broker = broker, .each = each, .user = user};
  listener->number = ++broker->listener_numbers;
  LIST_INSERT_HEAD(&broker->listeners, listener, link);
  for (uint32_t i = 0; i < broker->server_count; i++)
    if (nats_link_listen(broker->servers[i].link, subject, listener->number) != MUSTER_OK) abort(); /* no memory */
  return listener;
}

void broker_stop_listening(broker_listener *listener) {
  if (!listener) return;
  for (uint32_t i = 0; i < listener->broker->server_count; i++)
    if (listener->broker->servers[i].link) nats_link_unlisten(listener->broker->servers[i].link, listener->number);
  LIST_REMOVE(listener, link);
  free(listener);
}

void telling_take(struct broker *broker, const link_message *message) {
  const broker_listener *listener;
  LIST_FOREACH(listener, &broker->listeners, link)
  if (listener->number == message->number) break;
  if (listener) listener->each(message->bytes, message->count, listener->user);
}

void telling_close(struct broker *broker) {
  for (broker_listener *listener; (listener = LIST_FIRST(&broker->listeners)) != NULL;) broker_stop_listening(listener);
}
