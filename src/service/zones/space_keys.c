/* The birth spaces of a zone (spaces.h): keys of etcd, which the zone's owner alone changes. What is read is compared
 * again where it is changed. */
#include "service/zones/transactions.h"

#include "base/assert.h"
#include "base/bits.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_BYTES = 8192, TRIES_MAX = 3 };

/* A call under way. */
typedef struct space_call {
  struct broker *broker;
  broker_lease lease;
  broker_space_wish wish;
  broker_space_done done;
  void *user;
  uint32_t tries;
  int64_t space_revision, used_revision; /* of the two keys, as they were read; 0 = absent */
  zone_space space;
  zone_used used;
  bool sweeps;
  spaces_sweep sweep; /* of a sweep alone */
} space_call;

static space_call *space_begin(struct broker *broker, const broker_lease *lease, broker_space_done done, void *user) {
  ASSERT(lease->zone != BROKER_BALANCER);
  space_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return NULL;
  call->broker = broker;
  call->lease = *lease;
  call->done = done;
  call->user = user;
  return call;
}

static void space_end(space_call *call, muster_result result) {
  const zone_space space = call->space;
  broker_space_done done = call->done;
  void *user = call->user;
  broker_end_call(call->broker);
  free(call);
  done(result, result == MUSTER_OK ? &space : NULL, user);
}

static void send_next(space_call *call, const char *path, const char *body, etcd_take take) {
  if (etcd_call(call->broker->etcd, path, body, take, call) != MUSTER_OK)
    take(error_set(MUSTER_E_SYSTEM, "no memory for a call of etcd"), NULL, call);
}

/* ------------------------------------------------------------------------------------------------------------- read */

static void used_key(const space_call *call, char key[LEASE_KEY_BYTES]) {
  snprintf(key, LEASE_KEY_BYTES, "muster/%s/spaces/%05" PRIu32, call->broker->settings.world, call->lease.zone);
}

/* All keys of a kind, "zone" or "named". */
static void read_kind(json_writer *writer, const space_call *call, const char *kind) {
  char key[LEASE_KEY_BYTES];
  json_begin_object(writer, NULL);
  json_begin_object(writer, "requestRange");
  snprintf(key, sizeof key, "muster/%s/%s/", call->broker->settings.world, kind);
  etcd_write_text(writer, "key", key);
  snprintf(key, sizeof key, "muster/%s/%s0", call->broker->settings.world,
           kind); /* behind all: 0 comes after a slash */
  etcd_write_text(writer, "range_end", key);
  json_end_object(writer);
  json_end_object(writer);
}

/* The zone's own keys, if it has its lease; of a sweep the notes of all zones, as of the same moment. */
static void write_space_read(const space_call *call, char body[BODY_BYTES]) {
  char key[LEASE_KEY_BYTES];
  json_writer writer;
  json_start(&writer, body, BODY_BYTES);
  transaction_begin(&writer, call->broker, &call->lease);
  lease_key(call->broker, call->lease.zone, "space", key);
  transaction_read(&writer, key);
  used_key(call, key);
  transaction_read(&writer, key);
  if (call->sweeps) read_kind(&writer, call, "zone");
  if (call->sweeps) read_kind(&writer, call, "named");
  transaction_end(&writer);
}

/* False: it cannot be read. */
static bool take_used(space_call *call, const struct document *of_used) {
  size_t count = 0;
  void *bytes = of_used ? etcd_read_bytes(of_used, "value", &count) : NULL;
  bool good = bytes && count == sizeof call->used;
  if (good) memcpy(&call->used, bytes, sizeof call->used);
  free(bytes);
  call->used_revision = etcd_read_number(of_used, "mod_revision");
  if (!of_used && !call->space.space) spaces_begin(&call->used, call->wish.own);
  return good || (!of_used && !call->space.space);
}

static bool space_take_key(space_call *call, const struct document *answer) {
  char text[SPACE_TEXT_BYTES];
  const struct document *of_space = transaction_key(answer, 0);
  call->space_revision = etcd_read_number(of_space, "mod_revision");
  call->space = (zone_space){0};
  bool good = !of_space || (etcd_read_text(of_space, "value", text, sizeof text) && space_read(text, &call->space));
  return good && take_used(call, transaction_key(answer, 1));
}

/* False: the call has ended. */
static bool space_is_read(space_call *call, muster_result result, const struct document *answer) {
  result = transaction_result(result, answer);
  if (!result && !space_take_key(call, answer))
    result = error_set(MUSTER_E_INPUT, "etcd: the birth spaces of zone %u of %s cannot be read", call->lease.zone,
                       call->broker->settings.world);
  if (result) space_end(call, result);
  return !result;
}

/* -------------------------------------------------------------------------------------------------------------- put */

static void end_of_put_space(muster_result result, const struct document *answer, void *user);

/* Both keys, if neither has changed since it was read. */
static void put_space(space_call *call) {
  char body[BODY_BYTES], of_lease[LEASE_KEY_BYTES], of_space[LEASE_KEY_BYTES], of_used[LEASE_KEY_BYTES],
      owner[LEASE_TEXT_BYTES], text[SPACE_TEXT_BYTES];
  json_writer writer;
  lease_key(call->broker, call->lease.zone, "lease", of_lease);
  lease_key(call->broker, call->lease.zone, "space", of_space);
  lease_text(call->broker, call->lease.epoch, owner);
  used_key(call, of_used);
  space_write(&call->space, text);
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "compare");
  transaction_if_value(&writer, of_lease, owner);
  transaction_if_revision(&writer, of_space, call->space_revision);
  transaction_if_revision(&writer, of_used, call->used_revision);
  json_end_array(&writer);
  json_begin_array(&writer, "success");
  transaction_request(&writer, "requestPut", of_space, "value", text, strlen(text));
  transaction_request(&writer, "requestPut", of_used, "value", &call->used, sizeof call->used);
  transaction_end(&writer);
  send_next(call, "/v3/kv/txn", body, end_of_put_space);
}

static void space_read_again(space_call *call);

/* A change of this same owner came between, or the lease is lost: reading tells. */
static void end_of_put_space(muster_result result, const struct document *answer, void *user) {
  space_call *call = user;
  result = transaction_result(result, answer);
  if (result == MUSTER_E_STATE && call->tries++ < TRIES_MAX)
    space_read_again(call);
  else
    space_end(call, result);
}

/* ------------------------------------------------------------------------------------------------------------- take */

static void end_of_read_to_take(muster_result result, const struct document *answer, void *user) {
  space_call *call = user;
  const broker_space_wish *wish = &call->wish;
  if (!space_is_read(call, result, answer)) return;
  bool unborn = wish->unborn && call->space.epoch == wish->unborn && !call->space.closed;
  if (wish->own) bits_set(call->used.bits, wish->own);
  if (unborn) {
    call->space.epoch = call->lease.epoch;
  } else if (!space_take(&call->space, &call->used, call->lease.epoch)) {
    space_end(call, error_set(MUSTER_E_FULL, "each of the %d birth spaces of zone %u may be named by something",
                              SPACES_MAX, call->lease.zone));
    return;
  }
  put_space(call);
}

muster_result broker_space_take(struct broker *broker, const broker_lease *lease, const broker_space_wish *wish,
                                broker_space_done done, void *user) {
  char body[BODY_BYTES];
  space_call *call = space_begin(broker, lease, done, user);
  if (!call) return muster_last_result();
  call->wish = *wish;
  if (call->wish.own > SPACES_MAX) call->wish.own = 0;
  write_space_read(call, body);
  return broker_send_call(broker, "/v3/kv/txn", body, end_of_read_to_take, call);
}

/* ------------------------------------------------------------------------------------------------------------ sweep */

static const struct document *range_of(const struct document *answer, size_t part) {
  const struct document *of_part = document_at(document_member(answer, "responses"), part);
  return document_member(document_member(of_part, "response_range"), "kvs");
}

/* Zones that ever had an owner. */
static void gather_zones(space_call *call, const struct document *keys) {
  for (size_t i = 0; i < document_count(keys); i++) {
    char text[LEASE_KEY_BYTES], begin[LEASE_KEY_BYTES], what[8];
    uint32_t zone;
    size_t length = (size_t)snprintf(begin, sizeof begin, "muster/%s/zone/", call->broker->settings.world);
    if (!etcd_read_text(document_at(keys, i), "key", text, sizeof text) || strncmp(text, begin, length) != 0) continue;
    if (sscanf(text + length, "%" SCNu32 "/%7s", &zone, what) != 2 || zone == BROKER_BALANCER) continue;
    if (strcmp(what, "epoch") == 0) sweep_add_zone(&call->sweep);
  }
}

static void gather_notes(space_call *call, const struct document *keys) {
  for (size_t i = 0; i < document_count(keys); i++) {
    size_t count = 0;
    void *bytes = etcd_read_bytes(document_at(keys, i), "value", &count);
    sweep_add_note(&call->sweep, bytes, bytes ? count : 0);
    free(bytes);
  }
}

/* Nothing that crossed at the moment crosses still: all that crosses was put since. */
static void end_of_read_crossing(muster_result result, const struct document *answer, void *user) {
  space_call *call = user;
  if (result)
    space_end(call, MUSTER_E_SYSTEM);
  else if (document_count(document_member(answer, "kvs")) || !sweep_free(&call->sweep, &call->space, &call->used))
    space_end(call, MUSTER_OK);
  else
    put_space(call);
}

static void read_crossing(space_call *call, int64_t now) {
  char body[BODY_BYTES], key[LEASE_KEY_BYTES];
  json_writer writer;
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  snprintf(key, sizeof key, "muster/%s/cross/", call->broker->settings.world);
  etcd_write_text(&writer, "key", key);
  snprintf(key, sizeof key, "muster/%s/cross0", call->broker->settings.world);
  etcd_write_text(&writer, "range_end", key);
  etcd_write_number(&writer, "limit", 1);
  etcd_write_number(&writer, "revision", now);
  etcd_write_number(&writer, "max_create_revision", sweep_moment(&call->sweep));
  json_end_object(&writer);
  json_finish(&writer);
  send_next(call, "/v3/kv/range", body, end_of_read_crossing);
}

static void end_of_read_to_sweep(muster_result result, const struct document *answer, void *user) {
  space_call *call = user;
  if (!space_is_read(call, result, answer)) return;
  int64_t now = etcd_read_number(document_member(answer, "header"), "revision");
  sweep_begin(&call->sweep, call->lease.zone, call->used_revision);
  gather_zones(call, range_of(answer, 2));
  gather_notes(call, range_of(answer, 3));
  int64_t moment = call->space.space ? sweep_moment(&call->sweep) : 0;
  if (moment && moment <= now) /* else a note is of brokers that were wiped since */
    read_crossing(call, now);
  else
    space_end(call, MUSTER_OK);
}

muster_result broker_space_sweep(struct broker *broker, const broker_lease *lease, broker_space_done done, void *user) {
  char body[BODY_BYTES];
  space_call *call = space_begin(broker, lease, done, user);
  if (!call) return muster_last_result();
  call->sweeps = true;
  write_space_read(call, body);
  return broker_send_call(broker, "/v3/kv/txn", body, end_of_read_to_sweep, call);
}

static void space_read_again(space_call *call) {
  char body[BODY_BYTES];
  write_space_read(call, body);
  send_next(call, "/v3/kv/txn", body, call->sweeps ? end_of_read_to_sweep : end_of_read_to_take);
}
