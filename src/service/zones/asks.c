#include "service/zones/asks.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASKS_MAX = BROKER_PUBLISH_COUNT_MAX + 2 * BROKER_CALLS_MAX };

/* JetStream's codes that mean something here. */
enum {
  CODE_NO_STREAM = 10059,
  CODE_NO_MESSAGE = 10037,
  CODE_NO_CONSUMER = 10014,
  CODE_NO_RESOURCES = 10023,
  CODE_NO_STORAGE = 10047,
  CODE_STREAM_FULL = 10077
};

/* A question. The number of one is its place, and above it how often the place was used: it names no other. */
struct ask {
  ask_take take; /* null: the place is free */
  void *user;
  uint64_t number, deadline_ms;
  uint32_t next_free;
};

struct asks {
  struct broker *broker;
  struct ask *places;
  uint32_t count, room, free; /* places used before; allocated; the first free one, count = none */
};

struct asks *asks_open(struct broker *broker) {
  struct asks *asks = calloc(1, sizeof *asks);
  if (asks) asks->broker = broker;
  return asks;
}

void asks_free(struct asks *asks) {
  if (!asks) return;
  free(asks->places);
  free(asks);
}

static uint32_t take_place(struct asks *asks) {
  if (asks->free < asks->count) {
    uint32_t place = asks->free;
    asks->free = asks->places[place].next_free;
    return place;
  }
  if (asks->count == asks->room) {
    uint32_t room = asks->room ? asks->room * 2 : 64;
    struct ask *more = asks->count < ASKS_MAX ? realloc(asks->places, room * sizeof *more) : NULL;
    if (!more) return UINT32_MAX;
    memset(more + asks->room, 0, (room - asks->room) * sizeof *more);
    asks->places = more;
    asks->room = room;
  }
  asks->free = asks->count + 1;
  return asks->count++;
}

static void free_place(struct asks *asks, struct ask *ask) {
  uint32_t place = (uint32_t)(ask - asks->places);
  ask->take = NULL;
  ask->next_free = asks->free < asks->count ? asks->free : UINT32_MAX;
  asks->free = place;
}

static struct ask *ask_of(struct asks *asks, uint64_t number) {
  uint32_t place = (uint32_t)number;
  if (place >= asks->count || !asks->places[place].take || asks->places[place].number != number) return NULL;
  return &asks->places[place];
}

static void end_ask(struct asks *asks, struct ask *ask, muster_result result, const struct document *answer, int code) {
  ask_take take = ask->take;
  void *user = ask->user;
  free_place(asks, ask);
  take(result, answer, code, user);
}

uint64_t asks_send(struct asks *asks, const char *subject, const void *bytes, size_t count, uint64_t wait_ms,
                   ask_take take, void *user) {
  char reply[LINK_INBOX_BYTES + 24];
  if (!asks->broker->link) {
    error_set(MUSTER_E_STATE, "NATS: the connection is closed");
    return 0;
  }
  uint32_t place = take_place(asks);
  if (place == UINT32_MAX) {
    error_set(MUSTER_E_FULL, "NATS: too many questions wait for their answers");
    return 0;
  }
  struct ask *ask = &asks->places[place];
  ask->number = ((ask->number >> 32) + 1) << 32 | place;
  ask->take = take;
  ask->user = user;
  ask->deadline_ms = uv_now(asks->broker->loop) + wait_ms;
  snprintf(reply, sizeof reply, "%sa.%" PRIx64, nats_link_inbox(asks->broker->link), ask->number);
  if (nats_link_send(asks->broker->link, subject, reply, bytes, count) == MUSTER_OK) return ask->number;
  free_place(asks, ask);
  return 0;
}

void asks_forget(struct asks *asks, uint64_t number) {
  struct ask *ask = ask_of(asks, number);
  if (ask) free_place(asks, ask);
}

static muster_result result_of_code(int code, int64_t status) {
  if (code == CODE_NO_STREAM || code == CODE_NO_MESSAGE || code == CODE_NO_CONSUMER) return MUSTER_E_STALE;
  if (code == CODE_NO_RESOURCES || code == CODE_NO_STORAGE || code == CODE_STREAM_FULL) return MUSTER_E_FULL;
  return status == 503 ? MUSTER_E_STATE : MUSTER_E_ARGUMENT;
}

static void take_document(struct asks *asks, struct ask *ask, const struct document *document) {
  const struct document *error = document_member(document, "error");
  if (!document_is_object(document)) {
    end_ask(asks, ask, error_set(MUSTER_E_ARGUMENT, "NATS: an answer that is none of JetStream's"), NULL, 0);
  } else if (error) {
    const char *words = document_text(document_member(error, "description"));
    int code = (int)document_number(document_member(error, "err_code"));
    muster_result result = result_of_code(code, document_number(document_member(error, "code")));
    end_ask(asks, ask, error_set(result, "NATS: %s", words ? words : "refused"), NULL, code);
  } else {
    end_ask(asks, ask, MUSTER_OK, document, 0);
  }
}

void asks_answer(struct asks *asks, const char *token, const link_message *message) {
  struct ask *ask = ask_of(asks, strtoull(token, NULL, 16));
  if (!ask) return;
  if (message->status) {
    end_ask(asks, ask,
            error_set(MUSTER_E_STATE, "NATS: %s (%u)",
                      message->status == 503 ? "no server leads the stream" : message->description, message->status),
            NULL, 0);
    return;
  }
  struct document *document = document_read(message->bytes, message->count);
  take_document(asks, ask, document);
  document_free(document);
}

void asks_look_after(struct asks *asks) {
  uint64_t now_ms = uv_now(asks->broker->loop);
  for (uint32_t i = 0; i < asks->count; i++)
    if (asks->places[i].take && asks->places[i].deadline_ms <= now_ms)
      end_ask(asks, &asks->places[i], error_set(MUSTER_E_SYSTEM, "NATS: no answer in time"), NULL, 0);
}

void asks_end_all(struct asks *asks, const char *reason) {
  for (uint32_t i = 0; i < asks->count; i++)
    if (asks->places[i].take) end_ask(asks, &asks->places[i], error_set(MUSTER_E_SYSTEM, "NATS: %s", reason), NULL, 0);
}
