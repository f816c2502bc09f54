/* What crosses between zones: keys of etcd, which the owner of a zone's lease alone can put. */
#include "service/zones/transactions.h"

#include "base/assert.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  CROSSING_KEY_BYTES = NAME_BYTES + 128,
  SMALL_BODY_BYTES = 2048,
  REQUEST_BYTES = 256,
  LOOK_BYTES = 512,
  KEYS_AT_ONCE = 16
};

/* A call under way: one request, or as many as a reading takes. */
typedef struct crossing_call {
  struct broker *broker;
  broker_crossing each;
  broker_done done;
  broker_stored take;
  void *user;
  char next[CROSSING_KEY_BYTES], end[CROSSING_KEY_BYTES]; /* the keys that are read: from, and up to before */
  int64_t now;                                            /* the revision as of which they are read; 0 = now */
} crossing_call;

struct broker_arrivals {
  LIST_ENTRY(broker_arrivals) link;
  struct broker *broker;
  uint32_t to;
  broker_crossing each;
  void *user;
  uint64_t at_ms; /* of the next look */
  bool looks, stopped, all_came;
  uint32_t count;
  broker_sender senders[];
};

static crossing_call *crossing_begin(struct broker *broker, void *user) {
  crossing_call *call = broker_begin_call(broker, sizeof *call);
  if (call) *call = (crossing_call){.broker = broker, .user = user};
  return call;
}

/* ------------------------------------------------------------------------------------------------------------- keys */

/* All digits of each part, so that keys are in the order of places. */
static void crossing_key(const struct broker *broker, uint32_t from, uint32_t to, zone_place place,
                         char key[CROSSING_KEY_BYTES]) {
  snprintf(key, CROSSING_KEY_BYTES, "muster/%s/cross/%05u/%05u/%020" PRIu64 ".%020" PRIu64, broker->settings.world, to,
           from, place.epoch, place.number);
}

/* Of which zone a message is, and at which place. False: the key is none that a broker has put. */
static bool crossing_read_key(const char *key, uint32_t *from, zone_place *place) {
  unsigned to;
  char rest;
  const char *at = strstr(key, "/cross/");
  return at && sscanf(at, "/cross/%u/%" SCNu32 "/%" SCNu64 ".%" SCNu64 "%c", &to, from, &place->epoch, &place->number,
                      &rest) == 4;
}

/* ------------------------------------------------------------------------------------------------------------- put */

static void end_of_crossing(muster_result result, const struct document *answer, void *user) {
  crossing_call call = *(crossing_call *)user;
  free(user);
  broker_end_call(call.broker);
  call.done(transaction_result(result, answer), call.user);
}

static size_t room_of(size_t count) {
  return REQUEST_BYTES + count / 3 * 4 + 8;
}

/* A call and its body; null: no memory. */
static crossing_call *begin_puts(struct broker *broker, broker_done done, void *user, size_t room, char **body) {
  *body = malloc(room);
  crossing_call *call = *body ? crossing_begin(broker, user) : NULL;
  if (!*body) error_set(MUSTER_E_MEMORY, "no memory for a call of etcd");
  if (call)
    call->done = done;
  else
    free(*body);
  return call;
}

static muster_result send_puts(crossing_call *call, char *body) {
  muster_result result = broker_send_call(call->broker, "/v3/kv/txn", body, end_of_crossing, call);
  free(body);
  return result;
}

muster_result broker_cross(struct broker *broker, const broker_lease *lease, const broker_message *messages,
                           uint32_t count, broker_done done, void *user) {
  char key[CROSSING_KEY_BYTES], *body;
  size_t room = SMALL_BODY_BYTES, bytes = 0;
  json_writer writer;
  for (uint32_t i = 0; i < count; i++) {
    bytes += messages[i].count;
    room += room_of(messages[i].count);
  }
  if (count > BROKER_CROSSINGS_MAX || bytes > BROKER_CROSSING_BYTES_MAX)
    return error_set(MUSTER_E_ARGUMENT, "%u messages of %zu bytes; at most %d of %d cross at once", count, bytes,
                     BROKER_CROSSINGS_MAX, BROKER_CROSSING_BYTES_MAX);
  crossing_call *call = begin_puts(broker, done, user, room, &body);
  if (!call) return muster_last_result();
  json_start(&writer, body, room);
  transaction_begin(&writer, broker, lease);
  for (uint32_t i = 0; i < count; i++) {
    crossing_key(broker, lease->zone, messages[i].to, (zone_place){lease->epoch, messages[i].number}, key);
    transaction_request(&writer, "requestPut", key, "value", messages[i].bytes, messages[i].count);
  }
  transaction_end(&writer);
  return send_puts(call, body);
}

/* ----------------------------------------------------------------------------------------------------------- stored */

static void named_key(const struct broker *broker, uint32_t zone, char key[CROSSING_KEY_BYTES]) {
  snprintf(key, CROSSING_KEY_BYTES, "muster/%s/named/%05u", broker->settings.world, zone);
}

static void stored_key(const struct broker *broker, uint32_t zone, char key[CROSSING_KEY_BYTES]) {
  snprintf(key, CROSSING_KEY_BYTES, "muster/%s/stored/%05u", broker->settings.world, zone);
}

muster_result broker_note_stored(struct broker *broker, const broker_lease *lease, const void *bytes, size_t count,
                                 const void *named, size_t named_count, broker_done done, void *user) {
  char key[CROSSING_KEY_BYTES], *body;
  json_writer writer;
  if (count > BROKER_CROSSING_BYTES_MAX) return error_set(MUSTER_E_ARGUMENT, "a note of %zu bytes", count);
  size_t room = SMALL_BODY_BYTES + room_of(count) + room_of(named_count);
  crossing_call *call = begin_puts(broker, done, user, room, &body);
  if (!call) return muster_last_result();
  stored_key(broker, lease->zone, key);
  json_start(&writer, body, room);
  transaction_begin(&writer, broker, lease);
  transaction_request(&writer, "requestPut", key, "value", bytes, count);
  named_key(broker, lease->zone, key);
  transaction_request(&writer, "requestPut", key, "value", named, named_count);
  transaction_end(&writer);
  return send_puts(call, body);
}

static void end_of_stored(muster_result result, const struct document *answer, void *user) {
  crossing_call call = *(crossing_call *)user;
  const struct document *entry = document_at(document_member(answer, "kvs"), 0);
  size_t count = 0;
  free(user);
  broker_end_call(call.broker);
  void *bytes = entry && result == MUSTER_OK ? etcd_read_bytes(entry, "value", &count) : NULL;
  if (result == MUSTER_OK && entry && !bytes) result = error_set(MUSTER_E_INPUT, "etcd: the note of a zone is damaged");
  call.take(result == MUSTER_OK || result == MUSTER_E_INPUT ? result : MUSTER_E_SYSTEM, bytes, count, call.user);
  free(bytes);
}

muster_result broker_read_stored(struct broker *broker, uint32_t zone, broker_stored take, void *user) {
  char body[SMALL_BODY_BYTES], key[CROSSING_KEY_BYTES];
  json_writer writer;
  crossing_call *call = crossing_begin(broker, user);
  if (!call) return muster_last_result();
  call->take = take;
  stored_key(broker, zone, key);
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  etcd_write_text(&writer, "key", key);
  json_end_object(&writer);
  json_finish(&writer);
  return broker_send_call(call->broker, "/v3/kv/range", body, end_of_stored, call);
}

/* ------------------------------------------------------------------------------------------------------------- read */

static void crossing_ask(crossing_call *call);

static void crossing_end(crossing_call *call, muster_result result) {
  crossing_call ended = *call;
  free(call);
  broker_end_call(ended.broker);
  ended.done(result == MUSTER_OK ? MUSTER_OK : MUSTER_E_SYSTEM, ended.user);
}

/* What a key holds, and its place; null: it cannot be read. Freed by the caller. */
static void *crossing_read(const struct document *entry, char key[CROSSING_KEY_BYTES - 2], uint32_t *from,
                           zone_place *place, size_t *count) {
  *count = 0;
  if (!etcd_read_text(entry, "key", key, CROSSING_KEY_BYTES - 2) || !crossing_read_key(key, from, place)) return NULL;
  return etcd_read_bytes(entry, "value", count);
}

static muster_result crossing_is_damaged(void) {
  return error_set(MUSTER_E_INPUT, "etcd: what crosses between zones is damaged");
}

/* False: it cannot be read; what stands behind it must not be given then. */
static bool crossing_give(crossing_call *call, const struct document *entry) {
  uint32_t from;
  zone_place place;
  size_t count;
  char key[CROSSING_KEY_BYTES - 2];
  void *bytes = crossing_read(entry, key, &from, &place, &count);
  if (!bytes) return false;
  snprintf(call->next, sizeof call->next, "%s!", key); /* behind it, and before any other: '!' comes before digits */
  call->each(from, place, bytes, count, call->user);
  free(bytes);
  return true;
}

static void end_of_reading(muster_result result, const struct document *answer, void *user) {
  crossing_call *call = user;
  const struct document *entries = document_member(answer, "kvs");
  size_t count = result == MUSTER_OK ? document_count(entries) : 0;
  bool good = result == MUSTER_OK;
  if (good && !call->now) call->now = etcd_read_number(document_member(answer, "header"), "revision");
  for (size_t i = 0; good && i < count; i++) good = crossing_give(call, document_at(entries, i));
  if (result == MUSTER_OK && !good) result = crossing_is_damaged();
  if (good && count && document_is_true(document_member(answer, "more")))
    crossing_ask(call);
  else
    crossing_end(call, result);
}

static void crossing_ask(crossing_call *call) {
  char body[SMALL_BODY_BYTES];
  json_writer writer;
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  etcd_write_text(&writer, "key", call->next);
  etcd_write_text(&writer, "range_end", call->end);
  etcd_write_number(&writer, "limit", KEYS_AT_ONCE);
  if (call->now) etcd_write_number(&writer, "revision", call->now);
  json_end_object(&writer);
  json_finish(&writer);
  if (etcd_call(call->broker->etcd, "/v3/kv/range", body, end_of_reading, call) != MUSTER_OK)
    crossing_end(call, MUSTER_E_SYSTEM);
}

muster_result broker_crossed(struct broker *broker, uint32_t from, uint32_t to, zone_place behind, broker_crossing each,
                             broker_done done, void *user) {
  crossing_call *call = crossing_begin(broker, user);
  if (!call) return muster_last_result();
  call->each = each;
  call->done = done;
  crossing_key(broker, from, to, place_next(behind), call->next);
  crossing_key(broker, from + 1, to, (zone_place){0}, call->end);
  crossing_ask(call);
  return MUSTER_OK;
}

/* --------------------------------------------------------------------------------------------------------- arrivals */

/* A look under way. */
typedef struct arrivals_call {
  broker_arrivals *arrivals;
} arrivals_call;

/* Gives what came from a sender. False: it cannot be read, and stays where it is. */
static bool arrivals_give(broker_arrivals *arrivals, broker_sender *sender, const struct document *entry) {
  uint32_t from;
  zone_place place;
  size_t count;
  char key[CROSSING_KEY_BYTES - 2];
  void *bytes = crossing_read(entry, key, &from, &place, &count);
  if (!bytes) return false;
  sender->behind = place;
  if (!arrivals->stopped) arrivals->each(from, place, bytes, count, arrivals->user);
  free(bytes);
  return true;
}

/* Whether all of it could be read; and whether more stands there. */
static bool arrivals_take(broker_arrivals *arrivals, const struct document *answer, bool *more) {
  const struct document *parts = document_member(answer, "responses");
  bool good = document_count(parts) == arrivals->count;
  for (uint32_t i = 0; good && i < arrivals->count; i++) {
    const struct document *range = document_member(document_at(parts, i), "response_range");
    const struct document *entries = document_member(range, "kvs");
    for (size_t k = 0; good && k < document_count(entries); k++)
      good = arrivals_give(arrivals, &arrivals->senders[i], document_at(entries, k));
    *more = *more || document_is_true(document_member(range, "more"));
  }
  return good;
}

static void arrivals_look(broker_arrivals *arrivals);

static void end_of_look(muster_result result, const struct document *answer, void *user) {
  arrivals_call *call = user;
  broker_arrivals *arrivals = call->arrivals;
  bool more = false;
  free(call);
  broker_end_call(arrivals->broker);
  bool good = result == MUSTER_OK && arrivals_take(arrivals, answer, &more);
  arrivals->all_came |= good && !more;
  if (result == MUSTER_OK && !good)
    complaints_add(&arrivals->broker->complaints, "etcd", "%s", (crossing_is_damaged(), muster_last_error()));
  arrivals->looks = false;
  arrivals->at_ms = uv_now(arrivals->broker->loop) + BROKER_LOOK_MS;
  if (!arrivals->stopped && more) arrivals_look(arrivals);
  if (!arrivals->stopped) return;
  LIST_REMOVE(arrivals, link);
  free(arrivals);
}

/* What stands behind each sender's place: as of one moment, and a few of each at once. */
static void arrivals_write(const broker_arrivals *arrivals, char *body, size_t room) {
  const uint32_t each = arrivals->count < KEYS_AT_ONCE ? KEYS_AT_ONCE / arrivals->count : 1;
  char key[CROSSING_KEY_BYTES];
  json_writer writer;
  json_start(&writer, body, room);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "success");
  for (uint32_t i = 0; i < arrivals->count; i++) {
    const broker_sender *sender = &arrivals->senders[i];
    json_begin_object(&writer, NULL);
    json_begin_object(&writer, "requestRange");
    crossing_key(arrivals->broker, sender->from, arrivals->to, place_next(sender->behind), key);
    etcd_write_text(&writer, "key", key);
    crossing_key(arrivals->broker, sender->from + 1, arrivals->to, (zone_place){0}, key);
    etcd_write_text(&writer, "range_end", key);
    etcd_write_number(&writer, "limit", each);
    json_end_object(&writer);
    json_end_object(&writer);
  }
  json_end_array(&writer);
  json_end_object(&writer);
  json_finish(&writer);
}

static void arrivals_look(broker_arrivals *arrivals) {
  size_t room = SMALL_BODY_BYTES + arrivals->count * (size_t)LOOK_BYTES;
  char *body = malloc(room);
  arrivals_call *call = body ? broker_begin_call(arrivals->broker, sizeof *call) : NULL;
  if (call) { /* else the next look */
    *call = (arrivals_call){arrivals};
    arrivals_write(arrivals, body, room);
    arrivals->looks = broker_send_call(arrivals->broker, "/v3/kv/txn", body, end_of_look, call) == MUSTER_OK;
  }
  free(body);
}

broker_arrivals *broker_await_arrivals(struct broker *broker, uint32_t to, const broker_sender *senders, uint32_t count,
                                       broker_crossing each, void *user) {
  ASSERT(count <= BROKER_SENDERS_MAX);
  broker_arrivals *arrivals = calloc(1, sizeof *arrivals + count * sizeof *senders);
  if (!arrivals) {
    error_set(MUSTER_E_MEMORY, "no memory to read what crosses");
    return NULL;
  }
  *arrivals = (broker_arrivals){.broker = broker, .to = to, .each = each, .user = user, .count = count};
  if (count) memcpy(arrivals->senders, senders, count * sizeof *senders);
  LIST_INSERT_HEAD(&broker->arrivals, arrivals, link);
  return arrivals;
}

bool broker_arrivals_all_came(const broker_arrivals *arrivals) {
  return arrivals->all_came || !arrivals->count;
}

void broker_stop_arrivals(broker_arrivals *arrivals) {
  if (!arrivals) return;
  arrivals->stopped = true;
  if (arrivals->looks) return; /* the end of the look frees it */
  LIST_REMOVE(arrivals, link);
  free(arrivals);
}

void crossings_look_after(struct broker *broker) {
  broker_arrivals *arrivals;
  LIST_FOREACH(arrivals, &broker->arrivals, link)
  if (arrivals->count && !arrivals->looks && uv_now(broker->loop) >= arrivals->at_ms) arrivals_look(arrivals);
}

/* Their looks have ended with etcd's calls. */
void crossings_close(struct broker *broker) {
  while (!LIST_EMPTY(&broker->arrivals)) broker_stop_arrivals(LIST_FIRST(&broker->arrivals));
}

/* ----------------------------------------------------------------------------------------------------------- forget */

static void end_of_forgetting(muster_result result, const struct document *answer, void *user) {
  crossing_call call = *(crossing_call *)user;
  (void)answer;
  free(user);
  broker_end_call(call.broker);
  if (call.done) call.done(result == MUSTER_OK ? MUSTER_OK : MUSTER_E_SYSTEM, call.user);
}

muster_result broker_forget(struct broker *broker, const broker_lease *lease, uint32_t to, zone_place through,
                            broker_done done, void *user) {
  char body[SMALL_BODY_BYTES], key[CROSSING_KEY_BYTES], end[CROSSING_KEY_BYTES];
  json_writer writer;
  crossing_call *call = crossing_begin(broker, user);
  if (!call) return muster_last_result();
  call->done = done;
  json_start(&writer, body, sizeof body);
  transaction_begin(&writer, broker, lease);
  crossing_key(broker, lease->zone, to, (zone_place){0}, key);
  crossing_key(broker, lease->zone, to, place_next(through), end);
  transaction_request(&writer, "requestDeleteRange", key, "range_end", end, strlen(end));
  transaction_end(&writer);
  return broker_send_call(call->broker, "/v3/kv/txn", body, end_of_forgetting, call);
}
