#include "service/zones/nats_link.h"

#include "service/zones/nats_options.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/queue.h>

enum {
  LINK_AGAIN_MS = 500, /* from one try to the next */
  REASON_BYTES = 256,
  WAITING_MAX = 1 << 18,        /* messages in each direction, */
  WAITING_BYTES_MAX = 128 << 20 /* and their bytes */
};

typedef enum link_order_kind { ORDER_SEND, ORDER_LISTEN, ORDER_UNLISTEN } link_order_kind;

/* From the loop to the thread. */
typedef struct link_order {
  STAILQ_ENTRY(link_order) link;
  link_order_kind kind;
  uint32_t number;
  size_t count, room;
  const char *reply; /* null = none */
  void *bytes;
  char subject[];
} link_order;

/* From the thread, and those of libnats, to the loop. */
typedef struct link_event {
  STAILQ_ENTRY(link_event) link;
  bool connected, broken;
  natsMsg *message; /* else null */
  uint32_t number;
  char text[];
} link_event;

/* A subject that is listened to. Its own in libnats ends, at the latest, with the connection. */
typedef struct link_subscription {
  LIST_ENTRY(link_subscription) link;
  uint32_t number;
  natsSubscription *subscription;
  char subject[];
} link_subscription;

/* What libnats hands to its callbacks, until it says that it is done. */
typedef struct link_listener {
  struct nats_link *link;
  uint32_t number;
} link_listener;

struct nats_link {
  const broker_settings *settings;
  const char *url, *secret;
  link_events events;
  void *user;
  char inbox[LINK_INBOX_BYTES];
  bool up; /* the loop has heard of a connection, and not of its end */
  uv_async_t news;
  uv_thread_t thread;
  uv_mutex_t mutex; /* guards: */
  uv_cond_t changed;
  STAILQ_HEAD(, link_order) orders;
  STAILQ_HEAD(link_event_list, link_event) arrived;
  size_t order_count, order_bytes, arrived_count, arrived_bytes;
  uint32_t listeners;                            /* that libnats is not done with */
  bool lost, connection_closed, stopping, ended; /* the connection; libnats is done with it; the thread */
  char reason[REASON_BYTES];                     /* why it was lost */
  /* The thread's own: */
  natsConnection *connection;
  LIST_HEAD(, link_subscription) subscriptions;
};

/* ------------------------------------------------------------------------------------- to the loop, from any thread */

static void post_event(struct nats_link *link, link_event *event) {
  STAILQ_INSERT_TAIL(&link->arrived, event, link);
  uv_async_send(&link->news);
}

static void post_text(struct nats_link *link, bool connected, const char *text) {
  link_event *event = calloc(1, sizeof *event + strlen(text) + 1);
  if (!event) abort();
  event->connected = connected;
  event->broken = !connected;
  memcpy(event->text, text, strlen(text) + 1);
  uv_mutex_lock(&link->mutex);
  post_event(link, event);
  uv_mutex_unlock(&link->mutex);
}

/* More than the loop can keep is dropped: a reader sees the gap, and an answer is waited for in vain. */
static void on_link_message(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *user) {
  const link_listener *listener = user;
  struct nats_link *link = listener->link;
  size_t bytes = (size_t)natsMsg_GetDataLength(message);
  (void)connection;
  (void)subscription;
  link_event *event = calloc(1, sizeof *event);
  uv_mutex_lock(&link->mutex);
  bool room = event && link->arrived_count < WAITING_MAX && link->arrived_bytes + bytes <= WAITING_BYTES_MAX;
  if (room) {
    event->message = message;
    event->number = listener->number;
    link->arrived_count++;
    link->arrived_bytes += bytes;
    post_event(link, event);
  }
  uv_mutex_unlock(&link->mutex);
  if (room) return;
  free(event);
  natsMsg_Destroy(message);
}

static void on_listener_done(void *user) {
  link_listener *listener = user;
  struct nats_link *link = listener->link;
  free(listener);
  uv_mutex_lock(&link->mutex);
  link->listeners--;
  uv_cond_signal(&link->changed);
  uv_mutex_unlock(&link->mutex);
}

static void lose_connection(struct nats_link *link, const char *reason) {
  uv_mutex_lock(&link->mutex);
  if (!link->lost) snprintf(link->reason, sizeof link->reason, "%s", reason);
  link->lost = true;
  uv_cond_signal(&link->changed);
  uv_mutex_unlock(&link->mutex);
}

static void on_connection_lost(natsConnection *connection, void *user) {
  const char *reason = NULL;
  natsConnection_GetLastError(connection, &reason);
  lose_connection(user, reason && *reason ? reason : "the connection has ended");
}

static void on_connection_closed(natsConnection *connection, void *user) {
  struct nats_link *link = user;
  (void)connection;
  uv_mutex_lock(&link->mutex);
  link->lost = true;
  link->connection_closed = true;
  uv_cond_signal(&link->changed);
  uv_mutex_unlock(&link->mutex);
}

/* Slow consumers: messages were dropped, which readers see. */
static void on_link_error(natsConnection *connection, natsSubscription *subscription, natsStatus status, void *user) {
  (void)connection;
  (void)subscription;
  (void)status;
  (void)user;
}

/* ------------------------------------------------------------------------------------------------------- the thread */

/* libnats itself does not connect again: it would keep what was sent meanwhile, and wait with its lock held. */
static natsStatus set_callbacks(struct nats_link *link, natsOptions *options) {
  natsStatus status = natsOptions_SetErrorHandler(options, on_link_error, NULL);
  if (status == NATS_OK) status = natsOptions_SetAllowReconnect(options, false);
  if (status == NATS_OK) status = natsOptions_SetDisconnectedCB(options, on_connection_lost, link);
  if (status == NATS_OK) status = natsOptions_SetClosedCB(options, on_connection_closed, link);
  return status;
}

static const char *words_of(natsStatus status) {
  const char *more = nats_GetLastError(NULL), *end = more && *more == '(' ? strstr(more, "): ") : NULL;
  if (end) more = end + 3; /* without the line of libnats */
  return more && *more ? more : natsStatus_GetText(status);
}

static natsStatus begin_listening(struct nats_link *link, link_subscription *subscription) {
  link_listener *listener = calloc(1, sizeof *listener);
  if (!listener) return NATS_NO_MEMORY;
  *listener = (link_listener){.link = link, .number = subscription->number};
  natsStatus status = natsConnection_Subscribe(&subscription->subscription, link->connection, subscription->subject,
                                               on_link_message, listener);
  if (status != NATS_OK) {
    free(listener);
    return status;
  }
  uv_mutex_lock(&link->mutex);
  link->listeners++;
  uv_mutex_unlock(&link->mutex);
  return natsSubscription_SetOnCompleteCB(subscription->subscription, on_listener_done, listener);
}

/* Makes a connection, with all that is listened to; null: the reason was told. */
static bool make_connection(struct nats_link *link) {
  natsOptions *options = NULL;
  char server[256] = "";
  uv_mutex_lock(&link->mutex);
  link->lost = link->connection_closed = false;
  uv_mutex_unlock(&link->mutex);
  natsStatus status = nats_options_make(&options, link->settings, link->url, link->secret);
  if (status == NATS_OK) status = set_callbacks(link, options);
  if (status == NATS_OK) status = natsConnection_Connect(&link->connection, options);
  natsOptions_Destroy(options);
  if (status != NATS_OK) {
    post_text(link, false, words_of(status));
    return false;
  }
  link_subscription *subscription;
  LIST_FOREACH(subscription, &link->subscriptions, link)
  if (begin_listening(link, subscription) != NATS_OK) lose_connection(link, "it cannot be listened to");
  natsConnection_GetConnectedUrl(link->connection, server, sizeof server);
  post_text(link, true, server);
  return true;
}

static void end_connection(struct nats_link *link) {
  link_subscription *subscription;
  if (!link->connection) return;
  natsConnection_Close(link->connection);
  LIST_FOREACH(subscription, &link->subscriptions, link) {
    natsSubscription_Destroy(subscription->subscription);
    subscription->subscription = NULL;
  }
  uv_mutex_lock(&link->mutex); /* until libnats has called its last callback */
  while (!link->connection_closed || link->listeners) uv_cond_wait(&link->changed, &link->mutex);
  uv_mutex_unlock(&link->mutex);
  natsConnection_Destroy(link->connection);
  link->connection = NULL;
}

static void add_subscription(struct nats_link *link, const link_order *order) {
  size_t length = strlen(order->subject);
  link_subscription *subscription = calloc(1, sizeof *subscription + length + 1);
  if (!subscription) abort();
  subscription->number = order->number;
  memcpy(subscription->subject, order->subject, length + 1);
  LIST_INSERT_HEAD(&link->subscriptions, subscription, link);
  if (link->connection && begin_listening(link, subscription) != NATS_OK)
    lose_connection(link, "it cannot be listened to");
}

static void remove_subscription(struct nats_link *link, uint32_t number) {
  link_subscription *subscription;
  LIST_FOREACH(subscription, &link->subscriptions, link) {
    if (subscription->number != number) continue;
    LIST_REMOVE(subscription, link);
    natsSubscription_Destroy(subscription->subscription);
    free(subscription);
    return;
  }
}

static void obey_order(struct nats_link *link, const link_order *order) {
  if (order->kind == ORDER_LISTEN) {
    add_subscription(link, order);
  } else if (order->kind == ORDER_UNLISTEN) {
    remove_subscription(link, order->number);
  } else if (link->connection) {
    natsStatus status = order->reply
                            ? natsConnection_PublishRequest(link->connection, order->subject, order->reply,
                                                            order->bytes, (int)order->count)
                            : natsConnection_Publish(link->connection, order->subject, order->bytes, (int)order->count);
    if (status != NATS_OK && status != NATS_MAX_PAYLOAD) lose_connection(link, words_of(status));
  }
}

/* The next order; null when the connection is lost, where there is one, the thread has to end, or, without a
 * connection, the time is over. */
static link_order *next_order(struct nats_link *link) {
  uv_mutex_lock(&link->mutex);
  bool waited = false;
  while (!link->stopping && !(link->connection && link->lost) && STAILQ_EMPTY(&link->orders) && !waited)
    if (link->connection)
      uv_cond_wait(&link->changed, &link->mutex);
    else
      waited = uv_cond_timedwait(&link->changed, &link->mutex, LINK_AGAIN_MS * (uint64_t)1000000) != 0;
  link_order *order = NULL;
  if (!link->stopping && !(link->connection && link->lost)) order = STAILQ_FIRST(&link->orders);
  if (order) {
    STAILQ_REMOVE_HEAD(&link->orders, link);
    link->order_count--;
    link->order_bytes -= order->room;
  }
  uv_mutex_unlock(&link->mutex);
  return order;
}

static bool has_to_end(struct nats_link *link) {
  uv_mutex_lock(&link->mutex);
  bool stopping = link->stopping;
  uv_mutex_unlock(&link->mutex);
  return stopping;
}

static void obey_orders(struct nats_link *link) {
  for (link_order *order; (order = next_order(link)) != NULL;) {
    obey_order(link, order);
    free(order);
  }
}

static void link_main(void *user) {
  struct nats_link *link = user;
  char reason[REASON_BYTES];
  prctl(PR_SET_NAME, "musterd-nats"); /* and so are the threads that NATS's client begins here */
  while (!has_to_end(link)) {
    if (make_connection(link)) {
      obey_orders(link);
      end_connection(link);
      uv_mutex_lock(&link->mutex);
      memcpy(reason, link->reason, sizeof reason);
      uv_mutex_unlock(&link->mutex);
      post_text(link, false, reason);
    }
    obey_orders(link); /* without a connection: for a while */
  }
  nats_ReleaseThreadMemory();
  uv_mutex_lock(&link->mutex);
  link->ended = true;
  uv_async_send(&link->news);
  uv_mutex_unlock(&link->mutex);
}

/* --------------------------------------------------------------------------------------------------------- the loop */

static void give_message(struct nats_link *link, const link_event *event) {
  natsMsg *message = event->message;
  const char *status = NULL, *description = NULL, *reply = natsMsg_GetReply(message);
  if (natsMsgHeader_Get(message, "Status", &status) == NATS_OK) natsMsgHeader_Get(message, "Description", &description);
  link_message given = {.number = event->number,
                        .subject = natsMsg_GetSubject(message),
                        .reply = reply ? reply : "",
                        .bytes = natsMsg_GetData(message),
                        .count = (size_t)natsMsg_GetDataLength(message),
                        .status = status ? (unsigned)strtoul(status, NULL, 10) : 0,
                        .description = description ? description : ""};
  link->events.message(&given, link->user);
  natsMsg_Destroy(message);
}

static void give_event(struct nats_link *link, const link_event *event) {
  if (event->message) {
    give_message(link, event);
  } else if (event->connected) {
    link->up = true;
    link->events.connected(event->text, link->user);
  } else {
    link->up = false;
    link->events.broken(event->text, link->user);
  }
}

static void free_link(uv_handle_t *handle) {
  struct nats_link *link = handle->data;
  void (*closed)(void *) = link->events.closed;
  void *user = link->user;
  uv_cond_destroy(&link->changed);
  uv_mutex_destroy(&link->mutex);
  free(link);
  closed(user);
}

/* The thread has ended. */
static void end_link(struct nats_link *link) {
  uv_thread_join(&link->thread);
  for (link_order *order; (order = STAILQ_FIRST(&link->orders)) != NULL;) {
    STAILQ_REMOVE_HEAD(&link->orders, link);
    free(order);
  }
  for (link_subscription *subscription; (subscription = LIST_FIRST(&link->subscriptions)) != NULL;) {
    LIST_REMOVE(subscription, link);
    free(subscription);
  }
  uv_close((uv_handle_t *)&link->news, free_link);
}

static void on_link_news(uv_async_t *news) {
  struct nats_link *link = news->data;
  struct link_event_list arrived = STAILQ_HEAD_INITIALIZER(arrived);
  uv_mutex_lock(&link->mutex);
  STAILQ_CONCAT(&arrived, &link->arrived);
  link->arrived_count = link->arrived_bytes = 0;
  bool ended = link->ended, stopping = link->stopping;
  uv_mutex_unlock(&link->mutex);
  for (link_event *event; (event = STAILQ_FIRST(&arrived)) != NULL;) {
    STAILQ_REMOVE_HEAD(&arrived, link);
    if (!stopping)
      give_event(link, event);
    else
      natsMsg_Destroy(event->message);
    free(event);
  }
  if (ended) end_link(link);
}

const char *nats_link_inbox(const struct nats_link *link) {
  return link->inbox;
}

static muster_result give_order(struct nats_link *link, link_order_kind kind, uint32_t number, const char *subject,
                                const char *reply, const void *bytes, size_t count) {
  size_t subject_bytes = strlen(subject) + 1, reply_bytes = reply ? strlen(reply) + 1 : 0;
  size_t room = sizeof(link_order) + subject_bytes + reply_bytes + count;
  link_order *order = malloc(room);
  if (!order) return error_set(MUSTER_E_MEMORY, "no memory for a message of %zu bytes", count);
  *order = (link_order){.kind = kind, .number = number, .count = count, .room = room};
  memcpy(order->subject, subject, subject_bytes);
  if (reply) order->reply = memcpy(order->subject + subject_bytes, reply, reply_bytes);
  order->bytes = order->subject + subject_bytes + reply_bytes;
  if (count) memcpy(order->bytes, bytes, count);
  uv_mutex_lock(&link->mutex);
  bool full = kind == ORDER_SEND && (link->order_count >= WAITING_MAX || link->order_bytes + room > WAITING_BYTES_MAX);
  if (!full) {
    STAILQ_INSERT_TAIL(&link->orders, order, link);
    link->order_count++;
    link->order_bytes += room;
    uv_cond_signal(&link->changed);
  }
  uv_mutex_unlock(&link->mutex);
  if (!full) return MUSTER_OK;
  free(order);
  return error_set(MUSTER_E_FULL, "NATS: too much waits to be sent");
}

muster_result nats_link_send(struct nats_link *link, const char *subject, const char *reply, const void *bytes,
                             size_t count) {
  if (!link->up) return error_set(MUSTER_E_STATE, "NATS: not connected");
  return give_order(link, ORDER_SEND, 0, subject, reply, bytes, count);
}

muster_result nats_link_listen(struct nats_link *link, const char *subject, uint32_t number) {
  return give_order(link, ORDER_LISTEN, number, subject, NULL, NULL, 0);
}

void nats_link_unlisten(struct nats_link *link, uint32_t number) {
  if (give_order(link, ORDER_UNLISTEN, number, "", NULL, NULL, 0) != MUSTER_OK) abort(); /* no memory */
}

struct nats_link *nats_link_open(uv_loop_t *loop, const broker_settings *settings, const char *url, const char *secret,
                                 const link_events *events, void *user) {
  unsigned char random[12];
  char all[LINK_INBOX_BYTES + 1];
  struct nats_link *link = calloc(1, sizeof *link);
  int problem = link ? uv_random(NULL, NULL, random, sizeof random, 0, NULL) : UV_ENOMEM;
  if (!problem) problem = uv_mutex_init(&link->mutex);
  if (problem) {
    free(link);
    error_set(MUSTER_E_SYSTEM, "NATS: %s", uv_strerror(problem));
    return NULL;
  }
  link->settings = settings;
  link->url = url;
  link->secret = secret;
  link->events = *events;
  link->user = user;
  STAILQ_INIT(&link->orders);
  STAILQ_INIT(&link->arrived);
  LIST_INIT(&link->subscriptions);
  int length = snprintf(link->inbox, sizeof link->inbox, "_INBOX.");
  for (size_t i = 0; i < sizeof random; i++, length += 2) snprintf(link->inbox + length, 4, "%02x.", random[i]);
  snprintf(all, sizeof all, "%s>", link->inbox);
  if (uv_cond_init(&link->changed) || uv_async_init(loop, &link->news, on_link_news)) abort();
  link->news.data = link;
  if (nats_link_listen(link, all, 0) != MUSTER_OK || uv_thread_create(&link->thread, link_main, link)) abort();
  return link;
}

void nats_link_close(struct nats_link *link) {
  uv_mutex_lock(&link->mutex);
  ASSERT(!link->stopping);
  link->stopping = true;
  link->up = false;
  uv_cond_signal(&link->changed);
  uv_mutex_unlock(&link->mutex);
}
