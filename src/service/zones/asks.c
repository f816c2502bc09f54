#include "service/zones/asks.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ASKS_MAX = 2 * BROKER_CALLS_MAX };

/* JetStream's codes that mean something here. */
enum {
  CODE_NO_STREAM = 10059,
  CODE_NO_MESSAGE = 10037,
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
  bool gets; /* a message, not a document */
};

struct asks {
  uv_loop_t *loop;
  struct nats_link *link;
  const char *name;
  struct ask *places;
  uint32_t count, room, free; /* places used before; allocated; the first free one, count = none */
};

struct asks *asks_open(uv_loop_t *loop, struct nats_link *link, const char *name) {
  struct asks *asks = calloc(1, sizeof *asks);
  if (asks) *asks = (struct asks){.loop = loop, .link = link, .name = name};
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

static void end_ask(struct asks *asks, struct ask *ask, muster_result result, const ask_answer *answer) {
  ask_take take = ask->take;
  void *user = ask->user;
  free_place(asks, ask);
  take(result, answer, user);
}

static bool send_ask(struct asks *asks, bool gets, const char *subject, const void *bytes, size_t count,
                     uint64_t wait_ms, ask_take take, void *user) {
  char reply[LINK_INBOX_BYTES + 24];
  uint32_t place = take_place(asks);
  if (place == UINT32_MAX) {
    error_set(MUSTER_E_FULL, "%s: too many questions wait for their answers", asks->name);
    return false;
  }
  struct ask *ask = &asks->places[place];
  *ask = (struct ask){.take = take,
                      .user = user,
                      .number = ((ask->number >> 32) + 1) << 32 | place,
                      .deadline_ms = uv_now(asks->loop) + wait_ms,
                      .gets = gets};
  snprintf(reply, sizeof reply, "%s%" PRIx64, nats_link_inbox(asks->link), ask->number);
  if (nats_link_send(asks->link, subject, reply, bytes, count) == MUSTER_OK) return true;
  free_place(asks, ask);
  return false;
}

bool asks_send(struct asks *asks, const char *subject, const void *bytes, size_t count, uint64_t wait_ms, ask_take take,
               void *user) {
  return send_ask(asks, false, subject, bytes, count, wait_ms, take, user);
}

bool asks_get(struct asks *asks, const char *subject, const void *bytes, size_t count, uint64_t wait_ms, ask_take take,
              void *user) {
  return send_ask(asks, true, subject, bytes, count, wait_ms, take, user);
}

static muster_result result_of_code(int code, int64_t status) {
  if (code == CODE_NO_STREAM || code == CODE_NO_MESSAGE) return MUSTER_E_STALE;
  if (code == CODE_NO_RESOURCES || code == CODE_NO_STORAGE || code == CODE_STREAM_FULL) return MUSTER_E_FULL;
  return status == 503 ? MUSTER_E_STATE : MUSTER_E_ARGUMENT;
}

static void take_document(struct asks *asks, struct ask *ask, const struct document *document) {
  const struct document *error = document_member(document, "error");
  if (!document_is_object(document)) {
    end_ask(asks, ask, error_set(MUSTER_E_ARGUMENT, "%s: an answer that is none of JetStream's", asks->name), NULL);
  } else if (error) {
    const char *words = document_text(document_member(error, "description"));
    muster_result result = result_of_code((int)document_number(document_member(error, "err_code")),
                                          document_number(document_member(error, "code")));
    end_ask(asks, ask, error_set(result, "%s: %s", asks->name, words ? words : "refused"), NULL);
  } else {
    end_ask(asks, ask, MUSTER_OK, &(ask_answer){.document = document});
  }
}

/* Without bytes the server only tells something: 404, there is no such message; 503, nobody answers for the stream. */
static void take_status(struct asks *asks, struct ask *ask, const link_message *message) {
  muster_result result = message->status == 404 && ask->gets ? MUSTER_E_STALE : MUSTER_E_STATE;
  const char *words = message->status == 503 ? "it has no such stream" : message->description;
  end_ask(asks, ask, error_set(result, "%s: %s (%u)", asks->name, words, message->status), NULL);
}

void asks_answer(struct asks *asks, const char *token, const link_message *message) {
  struct ask *ask = ask_of(asks, strtoull(token, NULL, 16));
  if (!ask) return;
  if (message->status) {
    take_status(asks, ask, message);
  } else if (ask->gets) {
    end_ask(asks, ask, MUSTER_OK, &(ask_answer){.bytes = message->bytes, .count = message->count});
  } else {
    struct document *document = document_read(message->bytes, message->count);
    take_document(asks, ask, document);
    document_free(document);
  }
}

void asks_look_after(struct asks *asks) {
  uint64_t now_ms = uv_now(asks->loop);
  for (uint32_t i = 0; i < asks->count; i++)
    if (asks->places[i].take && asks->places[i].deadline_ms <= now_ms)
      end_ask(asks, &asks->places[i], error_set(MUSTER_E_SYSTEM, "%s: no answer in time", asks->name), NULL);
}

void asks_end_all(struct asks *asks, const char *reason) {
  for (uint32_t i = 0; i < asks->count; i++)
    if (asks->places[i].take)
      end_ask(asks, &asks->places[i], error_set(MUSTER_E_SYSTEM, "%s: %s", asks->name, reason), NULL);
}
