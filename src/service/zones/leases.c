/* The leases of zones, and the clock of the world: keys of etcd, changed by transactions that compare their revisions.
 */
#include "service/zones/parts.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { KEY_BYTES = NAME_BYTES + 64, BODY_BYTES = 4096, TAKES_MAX = 3, RENEWALS_MAX = 3 };

/* One call of this file under way. */
typedef struct lease_call {
  struct broker *broker;
  void *user;
  broker_lease_done taken;
  broker_done done;
  bool own_again;
  broker_lease lease;                     /* as it stands in etcd, or that is renewed */
  int64_t lease_revision, epoch_revision; /* of its keys, as they were read; 0 = absent */
  int64_t granted, replaced;              /* etcd's leases: that a take has made; that it takes the place of */
  char last_owner[NAME_BYTES];            /* before the take */
  int64_t term;                           /* of the members, when the lease was renewed */
  uint32_t tries;
} lease_call;

static lease_call *begin_lease_call(struct broker *broker, void *user) {
  lease_call *call = broker_begin_call(broker, sizeof *call);
  if (call) *call = (lease_call){.broker = broker, .user = user};
  return call;
}

/* Sends a further one; `take` hears of it at once when that fails. */
static void send_further(lease_call *call, const char *path, const char *body, etcd_take take) {
  if (etcd_call(call->broker->etcd, path, body, take, call) != MUSTER_OK)
    take(error_set(MUSTER_E_SYSTEM, "no memory for a call of etcd"), NULL, call);
}

static void end_lease_call(lease_call *call, muster_result result) {
  lease_call ended = *call;
  broker_end_call(call->broker);
  free(call);
  bool told = result == MUSTER_OK || result == MUSTER_E_STATE;
  if (ended.taken)
    ended.taken(result, told ? &ended.lease : NULL, ended.user);
  else if (ended.done)
    ended.done(result, ended.user);
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static void write_zone_key(const struct broker *broker, char key[KEY_BYTES], uint32_t zone, const char *what) {
  snprintf(key, KEY_BYTES, "muster/%s/zone/%u/%s", broker->settings.world, zone, what);
}

static void write_range(json_writer *writer, const char *name, const char *key) {
  json_begin_object(writer, name);
  etcd_write_text(writer, "key", key);
  json_end_object(writer);
}

/* A part of a transaction that reads a key. */
static void write_read(json_writer *writer, const char *key) {
  json_begin_object(writer, NULL);
  write_range(writer, "requestRange", key);
  json_end_object(writer);
}

/* A part that puts a key. */
static void write_put(json_writer *writer, const char *key, const char *value, int64_t lease) {
  json_begin_object(writer, NULL);
  json_begin_object(writer, "requestPut");
  etcd_write_text(writer, "key", key);
  etcd_write_text(writer, "value", value);
  if (lease) etcd_write_number(writer, "lease", lease);
  json_end_object(writer);
  json_end_object(writer);
}

/* A condition: a key has this revision still; 0 = it is absent. */
static void write_condition(json_writer *writer, const char *key, int64_t revision) {
  json_begin_object(writer, NULL);
  json_string(writer, "target", "MOD");
  json_string(writer, "result", "EQUAL");
  etcd_write_text(writer, "key", key);
  etcd_write_number(writer, "mod_revision", revision);
  json_end_object(writer);
}

static void write_id(char body[BODY_BYTES], int64_t id) {
  json_writer writer;
  json_start(&writer, body, BODY_BYTES);
  json_begin_object(&writer, NULL);
  etcd_write_number(&writer, "ID", id);
  json_end_object(&writer);
  json_finish(&writer);
}

/* The first key that a reading found; null = none. */
static const struct document *first_key(const struct document *range) {
  return document_at(document_member(range, "kvs"), 0);
}

/* The same of a transaction's part. */
static const struct document *key_of_part(const struct document *answer, size_t part) {
  return first_key(document_member(document_at(document_member(answer, "responses"), part), "response_range"));
}

/* Epoch and node, as the keys of a zone hold them. */
static bool read_epoch(const struct document *key, uint32_t *epoch, char node[NAME_BYTES]) {
  char text[NAME_BYTES + 16], rest;
  if (!etcd_read_text(key, "value", text, sizeof text)) return false;
  return sscanf(text, "%" SCNu32 " %31[A-Za-z0-9_-]%c", epoch, node, &rest) == 2 && *epoch >= 1 &&
         *epoch <= BROKER_EPOCH_MAX;
}

/* What stands of a zone. False: it is nothing that a broker has written. */
static bool read_lease(lease_call *call, const struct document *lease_key, const struct document *epoch_key) {
  broker_lease *lease = &call->lease;
  uint32_t epoch = 0;
  *lease = (broker_lease){.zone = lease->zone};
  call->lease_revision = etcd_read_number(lease_key, "mod_revision");
  call->epoch_revision = etcd_read_number(epoch_key, "mod_revision");
  if (epoch_key && !read_epoch(epoch_key, &lease->epoch, lease->last_owner)) return false;
  if (!lease_key) return true;
  lease->id = etcd_read_number(lease_key, "lease");
  return read_epoch(lease_key, &epoch, lease->owner) && epoch == lease->epoch && lease->id != 0;
}

/* ----------------------------------------------------------------------------------------------------------- taking */

static void take_nothing(muster_result result, const struct document *answer, void *user) {
  (void)result;
  (void)answer;
  (void)user;
}

/* Ends a lease of etcd that is not needed; if this fails, it ends by itself. */
static void revoke_lease(struct broker *broker, int64_t id) {
  char body[BODY_BYTES];
  if (!id || broker->closing) return;
  write_id(body, id);
  etcd_call(broker->etcd, "/v3/lease/revoke", body, take_nothing, NULL);
}

static void end_take(lease_call *call, muster_result result) {
  revoke_lease(call->broker, result == MUSTER_OK ? call->replaced : call->granted);
  end_lease_call(call, result);
}

static void read_both(lease_call *call);

/* Whether it was carried out is seen by reading back. */
static void end_of_put(muster_result result, const struct document *answer, void *user) {
  lease_call *call = user;
  (void)answer;
  if (result == MUSTER_OK)
    read_both(call);
  else
    end_take(call, MUSTER_E_SYSTEM);
}

/* Puts both keys, unless one has changed since it was read. */
static void put_both(lease_call *call) {
  char body[BODY_BYTES], lease_key[KEY_BYTES], epoch_key[KEY_BYTES], value[NAME_BYTES + 16];
  json_writer writer;
  write_zone_key(call->broker, lease_key, call->lease.zone, "lease");
  write_zone_key(call->broker, epoch_key, call->lease.zone, "epoch");
  snprintf(value, sizeof value, "%u %s", call->lease.epoch + 1, call->broker->settings.node);
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "compare");
  write_condition(&writer, lease_key, call->lease_revision);
  write_condition(&writer, epoch_key, call->epoch_revision);
  json_end_array(&writer);
  json_begin_array(&writer, "success");
  write_put(&writer, lease_key, value, call->granted);
  write_put(&writer, epoch_key, value, 0);
  json_end_array(&writer);
  json_end_object(&writer);
  json_finish(&writer);
  call->replaced = call->lease.id;
  memcpy(call->last_owner, call->lease.last_owner, NAME_BYTES);
  send_further(call, "/v3/kv/txn", body, end_of_put);
}

static void end_of_grant(muster_result result, const struct document *answer, void *user) {
  lease_call *call = user;
  call->granted = etcd_read_number(answer, "ID");
  if (result == MUSTER_OK && call->granted)
    put_both(call);
  else
    end_take(call, result == MUSTER_OK ? error_set(MUSTER_E_SYSTEM, "etcd has given no lease") : MUSTER_E_SYSTEM);
}

static void ask_for_grant(lease_call *call) {
  char body[BODY_BYTES];
  json_writer writer;
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  etcd_write_number(&writer, "TTL", call->broker->settings.lease_ttl_s);
  json_end_object(&writer);
  json_finish(&writer);
  send_further(call, "/v3/lease/grant", body, end_of_grant);
}

/* What is to be done about a zone, by what stands there: at first, and after each try. */
static void end_of_read_both(muster_result result, const struct document *answer, void *user) {
  lease_call *call = user;
  const char *node = call->broker->settings.node;
  if (result != MUSTER_OK) {
    end_take(call, MUSTER_E_SYSTEM);
  } else if (!read_lease(call, key_of_part(answer, 0), key_of_part(answer, 1))) {
    end_take(call, error_set(MUSTER_E_INPUT, "etcd: the keys of zone %u of %s are not those of a lease",
                             call->lease.zone, call->broker->settings.world));
  } else if (call->granted && call->lease.id == call->granted) {
    memcpy(call->lease.last_owner, call->last_owner, NAME_BYTES);
    end_take(call, MUSTER_OK);
  } else if (call->lease.id && !(call->own_again && strcmp(call->lease.owner, node) == 0)) {
    end_take(call, error_set(MUSTER_E_STATE, "node %s has the lease of zone %u", call->lease.owner, call->lease.zone));
  } else if (call->lease.epoch >= BROKER_EPOCH_MAX) {
    end_take(call, error_set(MUSTER_E_FULL, "zone %u has used up its %d epochs", call->lease.zone, BROKER_EPOCH_MAX));
  } else if (call->tries++ == TAKES_MAX) {
    end_take(call, error_set(MUSTER_E_SYSTEM, "the lease of zone %u changes all the time", call->lease.zone));
  } else if (call->granted) {
    put_both(call);
  } else {
    ask_for_grant(call);
  }
}

static void write_both(const lease_call *call, char body[BODY_BYTES]) {
  char key[KEY_BYTES];
  json_writer writer;
  json_start(&writer, body, BODY_BYTES);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "success");
  write_zone_key(call->broker, key, call->lease.zone, "lease");
  write_read(&writer, key);
  write_zone_key(call->broker, key, call->lease.zone, "epoch");
  write_read(&writer, key);
  json_end_array(&writer);
  json_end_object(&writer);
  json_finish(&writer);
}

static void read_both(lease_call *call) {
  char body[BODY_BYTES];
  write_both(call, body);
  send_further(call, "/v3/kv/txn", body, end_of_read_both);
}

muster_result broker_lease_take(struct broker *broker, uint32_t zone, bool own_again, broker_lease_done done,
                                void *user) {
  char body[BODY_BYTES];
  if (zone == 0 || zone > BROKER_ZONE_MAX)
    return error_set(MUSTER_E_ARGUMENT, "zone %u: zones are 1 .. %d", zone, BROKER_ZONE_MAX);
  lease_call *call = begin_lease_call(broker, user);
  if (!call) return muster_last_result();
  call->taken = done;
  call->own_again = own_again;
  call->lease.zone = zone;
  write_both(call, body);
  return broker_send_call(broker, "/v3/kv/txn", body, end_of_read_both, call);
}

/* --------------------------------------------------------------------------------------------------------- renewing */

static void renew_now(lease_call *call);

static muster_result lost(const lease_call *call) {
  return error_set(MUSTER_E_STATE, "the lease of zone %u, epoch %u, is lost", call->lease.zone, call->lease.epoch);
}

/* A member that was deposed renews without a word. The reading is agreed on by the members of the term in which it is
 * answered: when that is the term in which the lease was renewed, it was renewed by the leader. */
static void end_of_reading_renewed(muster_result result, const struct document *answer, void *user) {
  lease_call *call = user;
  const struct document *key = first_key(answer);
  char owner[NAME_BYTES] = "";
  uint32_t epoch = 0;
  if (result != MUSTER_OK)
    end_lease_call(call, MUSTER_E_SYSTEM);
  else if (!key || !read_epoch(key, &epoch, owner) || epoch != call->lease.epoch ||
           strcmp(owner, call->broker->settings.node) != 0 || etcd_read_number(key, "lease") != call->lease.id)
    end_lease_call(call, lost(call));
  else if (call->term && etcd_read_number(document_member(answer, "header"), "raft_term") == call->term)
    end_lease_call(call, MUSTER_OK);
  else if (++call->tries == RENEWALS_MAX)
    end_lease_call(call, error_set(MUSTER_E_SYSTEM, "etcd changes its leader all the time"));
  else
    renew_now(call);
}

static void end_of_renewing(muster_result result, const struct document *answer, void *user) {
  lease_call *call = user;
  char body[BODY_BYTES], key[KEY_BYTES];
  json_writer writer;
  const struct document *renewed = document_member(answer, "result");
  if (result == MUSTER_E_STALE || (renewed && etcd_read_number(renewed, "TTL") <= 0)) {
    end_lease_call(call, lost(call));
    return;
  }
  if (result != MUSTER_OK || !renewed) {
    end_lease_call(call, result ? MUSTER_E_SYSTEM : error_set(MUSTER_E_SYSTEM, "etcd does not say what it renewed"));
    return;
  }
  call->term = etcd_read_number(document_member(renewed, "header"), "raft_term");
  write_zone_key(call->broker, key, call->lease.zone, "lease");
  json_start(&writer, body, sizeof body);
  write_range(&writer, NULL, key);
  json_finish(&writer);
  send_further(call, "/v3/kv/range", body, end_of_reading_renewed);
}

static void renew_now(lease_call *call) {
  char body[BODY_BYTES];
  write_id(body, call->lease.id);
  send_further(call, "/v3/lease/keepalive", body, end_of_renewing);
}

muster_result broker_lease_renew(struct broker *broker, const broker_lease *lease, broker_done done, void *user) {
  char body[BODY_BYTES];
  lease_call *call = begin_lease_call(broker, user);
  if (!call) return muster_last_result();
  call->done = done;
  call->lease = *lease;
  write_id(body, lease->id);
  return broker_send_call(broker, "/v3/lease/keepalive", body, end_of_renewing, call);
}

static void end_of_release(muster_result result, const struct document *answer, void *user) {
  (void)answer;
  end_lease_call(user, result == MUSTER_E_STALE ? MUSTER_OK : result);
}

muster_result broker_lease_release(struct broker *broker, const broker_lease *lease, broker_done done, void *user) {
  char body[BODY_BYTES];
  lease_call *call = begin_lease_call(broker, user);
  if (!call) return muster_last_result();
  call->done = done;
  write_id(body, lease->id);
  return broker_send_call(broker, "/v3/lease/revoke", body, end_of_release, call);
}

/* --------------------------------------------------------------------------------------------------------- overview */

typedef struct overview_call {
  struct broker *broker;
  void (*each)(const broker_lease *lease, void *user);
  broker_done done;
  void *user;
} overview_call;

static int by_zone(const void *left, const void *right) {
  uint32_t a = ((const broker_lease *)left)->zone, b = ((const broker_lease *)right)->zone;
  return (a > b) - (a < b);
}

/* Adds what one key says; the keys of a zone stand side by side. Keys that are none of a zone are left out. */
static size_t add_key(broker_lease *leases, size_t count, const struct broker *broker, const struct document *key) {
  char text[KEY_BYTES], begin[KEY_BYTES], what[8];
  uint32_t zone;
  if (!etcd_read_text(key, "key", text, sizeof text)) return count;
  size_t length = (size_t)snprintf(begin, sizeof begin, "muster/%s/zone/", broker->settings.world);
  if (strncmp(text, begin, length) != 0 || sscanf(text + length, "%" SCNu32 "/%7s", &zone, what) != 2) return count;
  if (zone == 0 || zone > BROKER_ZONE_MAX) return count;
  if (count == 0 || leases[count - 1].zone != zone) leases[count++] = (broker_lease){.zone = zone};
  broker_lease *lease = &leases[count - 1];
  if (strcmp(what, "epoch") == 0) read_epoch(key, &lease->epoch, lease->last_owner);
  if (strcmp(what, "lease") == 0 && read_epoch(key, &lease->epoch, lease->owner))
    lease->id = etcd_read_number(key, "lease");
  return count;
}

static void end_of_overview(muster_result result, const struct document *answer, void *user) {
  overview_call *call = user;
  const struct document *keys = document_member(answer, "kvs");
  size_t key_count = document_count(keys), count = 0;
  broker_lease *leases = key_count ? calloc(key_count, sizeof *leases) : NULL;
  if (key_count && !leases) result = error_set(MUSTER_E_SYSTEM, "no memory for %zu keys of etcd", key_count);
  for (size_t i = 0; leases && i < key_count; i++) count = add_key(leases, count, call->broker, document_at(keys, i));
  if (count) qsort(leases, count, sizeof *leases, by_zone);
  broker_end_call(call->broker);
  for (size_t i = 0; i < count; i++) call->each(&leases[i], call->user);
  call->done(result == MUSTER_OK ? MUSTER_OK : MUSTER_E_SYSTEM, call->user);
  free(leases);
  free(call);
}

muster_result broker_leases_read(struct broker *broker, void (*each)(const broker_lease *lease, void *user),
                                 broker_done done, void *user) {
  char body[BODY_BYTES], key[KEY_BYTES];
  json_writer writer;
  overview_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return muster_last_result();
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  snprintf(key, sizeof key, "muster/%s/zone/", broker->settings.world);
  etcd_write_text(&writer, "key", key);
  snprintf(key, sizeof key, "muster/%s/zone0", broker->settings.world); /* behind all: 0 comes after the slash */
  etcd_write_text(&writer, "range_end", key);
  json_end_object(&writer);
  json_finish(&writer);
  *call = (overview_call){broker, each, done, user};
  return broker_send_call(broker, "/v3/kv/range", body, end_of_overview, call);
}

/* ------------------------------------------------------------------------------------------------------------ clock */

typedef struct clock_call {
  struct broker *broker;
  void (*done)(muster_result result, int64_t offset_ns, void *user);
  void *user;
} clock_call;

static void end_of_clock(muster_result result, const struct document *answer, void *user) {
  clock_call *call = user;
  char text[32] = "", rest;
  int64_t offset_ns = 0;
  if (result != MUSTER_OK)
    result = MUSTER_E_SYSTEM;
  else if (!etcd_read_text(key_of_part(answer, document_is_true(document_member(answer, "succeeded"))), "value", text,
                           sizeof text) ||
           sscanf(text, "%" SCNd64 "%c", &offset_ns, &rest) != 1)
    result = error_set(MUSTER_E_INPUT, "etcd: muster/%s/clock is \"%s\", which is no offset in nanoseconds",
                       call->broker->settings.world, text);
  broker_end_call(call->broker);
  call->done(result, offset_ns, call->user);
  free(call);
}

/* Puts the offset where none is, and reads what is there then. */
static void write_clock(const struct broker *broker, int64_t offset_ns, char body[BODY_BYTES]) {
  char key[KEY_BYTES], value[32];
  json_writer writer;
  snprintf(key, sizeof key, "muster/%s/clock", broker->settings.world);
  snprintf(value, sizeof value, "%" PRId64, offset_ns);
  json_start(&writer, body, BODY_BYTES);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "compare");
  write_condition(&writer, key, 0);
  json_end_array(&writer);
  json_begin_array(&writer, "success");
  write_put(&writer, key, value, 0);
  write_read(&writer, key);
  json_end_array(&writer);
  json_begin_array(&writer, "failure");
  write_read(&writer, key);
  json_end_array(&writer);
  json_end_object(&writer);
  json_finish(&writer);
}

muster_result broker_clock(struct broker *broker, int64_t proposed_offset_ns,
                           void (*done)(muster_result result, int64_t offset_ns, void *user), void *user) {
  char body[BODY_BYTES];
  clock_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return muster_last_result();
  *call = (clock_call){broker, done, user};
  write_clock(broker, proposed_offset_ns, body);
  return broker_send_call(broker, "/v3/kv/txn", body, end_of_clock, call);
}
