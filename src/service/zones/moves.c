/* Orders that a zone be moved: keys of etcd, which anybody may put. */
#include "service/zones/transactions.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_BYTES = 2048 };

/* A call under way. */
typedef struct move_call {
  struct broker *broker;
  void (*each)(uint32_t zone, const char *node, void *user);
  broker_done done;
  void *user;
} move_call;

static move_call *move_begin(struct broker *broker, broker_done done, void *user) {
  move_call *call = broker_begin_call(broker, sizeof *call);
  if (call) *call = (move_call){.broker = broker, .done = done, .user = user};
  return call;
}

static void move_end_call(move_call *call, muster_result result) {
  move_call ended = *call;
  broker_end_call(call->broker);
  free(call);
  if (ended.done) ended.done(result, ended.user);
}

static void move_key(const struct broker *broker, uint32_t zone, char key[LEASE_KEY_BYTES]) {
  snprintf(key, LEASE_KEY_BYTES, "muster/%s/move/%u", broker->settings.world, zone);
}

static muster_result move_check(uint32_t zone, const char *node) {
  if (zone == 0 || zone > BROKER_ZONE_MAX)
    return error_set(MUSTER_E_ARGUMENT, "zone %u: zones are 1 .. %d", zone, BROKER_ZONE_MAX);
  if (!*node || (broker_name_is_good(node) && strlen(node) < NAME_BYTES)) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "node \"%s\": names have at most %d letters, digits, - and _", node,
                   NAME_BYTES - 1);
}

/* ------------------------------------------------------------------------------------------------------------ order */

static void end_of_want(muster_result result, const struct document *answer, void *user) {
  (void)answer;
  move_end_call(user, result == MUSTER_OK ? MUSTER_OK : MUSTER_E_SYSTEM);
}

muster_result broker_move_want(struct broker *broker, uint32_t zone, const char *node, broker_done done, void *user) {
  char body[BODY_BYTES], key[LEASE_KEY_BYTES];
  json_writer writer;
  muster_result result = move_check(zone, node);
  if (result) return result;
  move_call *call = move_begin(broker, done, user);
  if (!call) return muster_last_result();
  move_key(broker, zone, key);
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  etcd_write_text(&writer, "key", key);
  if (*node) etcd_write_text(&writer, "value", node);
  json_end_object(&writer);
  json_finish(&writer);
  return broker_send_call(broker, *node ? "/v3/kv/put" : "/v3/kv/deleterange", body, end_of_want, call);
}

/* -------------------------------------------------------------------------------------------------------------- end */

static void end_of_end(muster_result result, const struct document *answer, void *user) {
  if (result == MUSTER_OK && !document_is_true(document_member(answer, "succeeded")))
    move_end_call(user, error_set(MUSTER_E_STATE, "the order is another now, or the lease of the zone is lost"));
  else
    move_end_call(user, result == MUSTER_OK ? MUSTER_OK : MUSTER_E_SYSTEM);
}

muster_result broker_move_end(struct broker *broker, const broker_lease *lease, const char *node, broker_done done,
                              void *user) {
  char body[BODY_BYTES], of_move[LEASE_KEY_BYTES];
  json_writer writer;
  move_call *call = move_begin(broker, done, user);
  if (!call) return muster_last_result();
  move_key(broker, lease->zone, of_move);
  json_start(&writer, body, sizeof body);
  transaction_begin_if(&writer, broker, lease, of_move, node);
  transaction_request(&writer, "requestDeleteRange", of_move, "range_end", NULL, 0);
  transaction_end(&writer);
  return broker_send_call(broker, "/v3/kv/txn", body, end_of_end, call);
}

/* ------------------------------------------------------------------------------------------------------------- read */

/* Keys that no broker has put are left out. */
static void move_read_one(const move_call *call, const struct document *key) {
  char text[LEASE_KEY_BYTES], begin[LEASE_KEY_BYTES], node[NAME_BYTES], rest;
  uint32_t zone;
  size_t length = (size_t)snprintf(begin, sizeof begin, "muster/%s/move/", call->broker->settings.world);
  if (!etcd_read_text(key, "key", text, sizeof text) || !etcd_read_text(key, "value", node, sizeof node)) return;
  if (strncmp(text, begin, length) != 0 || sscanf(text + length, "%" SCNu32 "%c", &zone, &rest) != 1) return;
  if (zone == 0 || zone > BROKER_ZONE_MAX || !broker_name_is_good(node)) return;
  call->each(zone, node, call->user);
}

static void end_of_moves(muster_result result, const struct document *answer, void *user) {
  move_call *call = user;
  const struct document *keys = document_member(answer, "kvs");
  for (size_t i = 0; i < document_count(keys); i++) move_read_one(call, document_at(keys, i));
  move_end_call(call, result == MUSTER_OK ? MUSTER_OK : MUSTER_E_SYSTEM);
}

muster_result broker_moves_read(struct broker *broker, void (*each)(uint32_t zone, const char *node, void *user),
                                broker_done done, void *user) {
  move_call *call = move_begin(broker, done, user);
  if (!call) return muster_last_result();
  call->each = each;
  return broker_send_read(broker, "move", end_of_moves, call);
}
