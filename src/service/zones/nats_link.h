/* service/zones/nats_link.h - the connection to a NATS server: one thread that calls libnats, which may wait in each of
 * its functions, and what comes brought to the loop. Loop's thread, unless said otherwise.
 *
 * The thread connects, and again for ever. What was not sent when a connection breaks is dropped: the loop hears of the
 * break, and sends again what it still wants to. */
#ifndef SERVICE_ZONES_NATS_LINK_H
#define SERVICE_ZONES_NATS_LINK_H

#include "service/zones/broker.h"

enum { LINK_INBOX_BYTES = 48 };

struct nats_link;

/* A message that came. `number` is that of its subscription, 0 = the inbox; `status` is 0, or that of a message by
 * which the servers tell something: 503, there is no receiver. Texts are never null. */
typedef struct link_message {
  uint32_t number;
  const char *subject, *reply;
  const void *bytes;
  size_t count;
  unsigned status;
  const char *description; /* of the status */
} link_message;

typedef struct link_events {
  void (*connected)(const char *server, void *user);
  void (*broken)(const char *reason, void *user); /* a connection, or the try to make one */
  void (*message)(const link_message *message, void *user);
  void (*closed)(void *user); /* the last call; the link is freed */
} link_events;

/* `secret`: the password or seed. The settings, the URL and the secret stay the caller's until it is closed. Null: the
 * reason is in muster_last_error(). */
struct nats_link *nats_link_open(uv_loop_t *loop, const broker_settings *settings, const char *url, const char *secret,
                                 const link_events *events, void *user);

/* Ends the thread; then `closed`. */
void nats_link_close(struct nats_link *link);

/* The subject that all replies begin with, with a dot at the end: all that comes there comes as `message`. */
const char *nats_link_inbox(const struct nats_link *link);

/* Sends a message, with a subject for replies or null. MUSTER_E_FULL: too much waits to be sent; MUSTER_E_STATE: there
 * is no connection. */
muster_result nats_link_send(struct nats_link *link, const char *subject, const char *reply, const void *bytes,
                             size_t count);

/* Listens to a subject from now on, also in later connections, by a number of its own, and no longer. */
muster_result nats_link_listen(struct nats_link *link, const char *subject, uint32_t number);
void nats_link_unlisten(struct nats_link *link, uint32_t number);

#endif
