/* The leases of zones, and the clock of the world: keys of etcd, changed by transactions that compare what stands
 * there.
 *
 * An owner renews its lease by putting the same again, which changes the key's revision. Who wants the zone watches
 * that revision, and may take the lease when it has not changed for the leases' time by the taker's own clock: etcd's
 * leases would begin anew whenever its leader changes. */
#include "service/zones/format.h"
#include "service/zones/transactions.h"

#include "base/assert.h"
#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BODY_BYTES = 4096, CLOCK_TEXT_BYTES = 192, TAKES_MAX = 3 };

/* One call of this file under way. */
typedef struct lease_call {
  struct broker *broker;
  void *user;
  broker_lease_done taken;
  broker_done done;
  bool own_again;
  uint64_t above;              /* what is put is above this */
  int64_t silent;              /* a revision of the lease's key that may be taken over; 0 = none */
  broker_lease lease;          /* as it stands in etcd */
  int64_t epoch_revision;      /* of the other key, as it was read; 0 = absent */
  int64_t format_revision;     /* of the cluster's format, likewise */
  uint64_t wanted;             /* the epoch that was put last; 0 = none */
  char last_owner[NAME_BYTES]; /* before that, */
  incarnation last_owned_by;   /* and which of that node */
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

/* Epoch, node and incarnation, as the keys of a zone hold them. */
static bool read_epoch(const struct document *key, uint64_t *epoch, char node[NAME_BYTES], incarnation *of) {
  char text[LEASE_TEXT_BYTES], which[INCARNATION_BYTES], rest;
  *of = (incarnation){0};
  if (!etcd_read_text(key, "value", text, sizeof text)) return false;
  int count = sscanf(text, "%" SCNu64 " %31[A-Za-z0-9_-] %27[0-9a-f.]%c", epoch, node, which, &rest);
  return (count == 2 || (count == 3 && incarnation_read(which, of))) && *epoch >= 1 && *epoch <= ZONE_EPOCH_MAX;
}

/* The space in force; zero where none was taken. False: it is none. */
static bool read_space(const struct document *key, zone_space *space) {
  char text[SPACE_TEXT_BYTES];
  *space = (zone_space){0};
  return !key || (etcd_read_text(key, "value", text, sizeof text) && space_read(text, space));
}

static void format_key(const struct broker *broker, char key[LEASE_KEY_BYTES]) {
  snprintf(key, LEASE_KEY_BYTES, "muster/%s/format", broker->settings.world);
}

/* Whether this build may run zones of the cluster. */
static bool read_cluster_format(lease_call *call, const struct document *of_format) {
  char text[32];
  call->format_revision = etcd_read_number(of_format, "mod_revision");
  bool there = of_format && etcd_read_text(of_format, "value", text, sizeof text);
  return format_check(there ? text : NULL) == MUSTER_OK;
}

/* What stands of a zone. False: it is nothing that a broker has written. */
static bool read_lease(lease_call *call, const struct document *of_lease, const struct document *of_epoch,
                       const struct document *of_space) {
  broker_lease *lease = &call->lease;
  uint64_t epoch = 0;
  *lease = (broker_lease){.zone = lease->zone};
  call->epoch_revision = etcd_read_number(of_epoch, "mod_revision");
  if (of_epoch && !read_epoch(of_epoch, &lease->epoch, lease->last_owner, &lease->last_owned_by)) return false;
  if (!read_space(of_space, &lease->space)) return false;
  if (!of_lease) return true;
  lease->revision = etcd_read_number(of_lease, "mod_revision");
  return read_epoch(of_lease, &epoch, lease->owner, &lease->owned_by) && epoch == lease->epoch && lease->revision != 0;
}

/* ----------------------------------------------------------------------------------------------------------- taking */

static void read_both(lease_call *call);

/* Whether it was carried out is seen by reading back. */
static void end_of_put(muster_result result, const struct document *answer, void *user) {
  lease_call *call = user;
  (void)answer;
  if (result == MUSTER_OK)
    read_both(call);
  else
    end_lease_call(call, MUSTER_E_SYSTEM);
}

/* Puts both keys, unless one has changed since it was read. */
static void put_both(lease_call *call) {
  char body[BODY_BYTES], of_lease[LEASE_KEY_BYTES], of_epoch[LEASE_KEY_BYTES], of_format[LEASE_KEY_BYTES],
      value[LEASE_TEXT_BYTES];
  json_writer writer;
  call->wanted = (call->lease.epoch > call->above ? call->lease.epoch : call->above) + 1;
  memcpy(call->last_owner, call->lease.last_owner, NAME_BYTES);
  call->last_owned_by = call->lease.last_owned_by;
  lease_key(call->broker, call->lease.zone, "lease", of_lease);
  lease_key(call->broker, call->lease.zone, "epoch", of_epoch);
  format_key(call->broker, of_format);
  lease_text(call->broker, call->wanted, value);
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "compare");
  transaction_if_revision(&writer, of_lease, call->lease.revision);
  transaction_if_revision(&writer, of_epoch, call->epoch_revision);
  transaction_if_revision(&writer, of_format, call->format_revision);
  json_end_array(&writer);
  json_begin_array(&writer, "success");
  transaction_request(&writer, "requestPut", of_lease, "value", value, strlen(value));
  transaction_request(&writer, "requestPut", of_epoch, "value", value, strlen(value));
  json_end_array(&writer);
  json_end_object(&writer);
  json_finish(&writer);
  send_further(call, "/v3/kv/txn", body, end_of_put);
}

/* Whether a lease is this daemon's, and of this call or an earlier one. */
static bool is_own(const lease_call *call) {
  return strcmp(call->lease.owner, call->broker->settings.node) == 0 &&
         incarnation_equal(call->lease.owned_by, call->broker->incarnation);
}

/* Whether the lease that stands there may be replaced. Each node asks for a zone in one place only: so one of this
 * incarnation, with an epoch that this call did not put, is of a process that has ended. */
static bool may_take(const lease_call *call) {
  bool named = strcmp(call->lease.owner, call->broker->settings.node) == 0;
  bool own =
      is_own(call) ||
      (named && (!call->lease.owned_by.folder || incarnation_follows(call->broker->incarnation, call->lease.owned_by)));
  return !call->lease.revision || (own && call->own_again) || call->lease.revision == call->silent;
}

/* What is to be done about a zone, by what stands there: at first, and after each try. */
static void end_of_read_both(muster_result result, const struct document *answer, void *user) {
  lease_call *call = user;
  const broker_lease *lease = &call->lease;
  if (result != MUSTER_OK) {
    end_lease_call(call, MUSTER_E_SYSTEM);
  } else if (!read_lease(call, transaction_key(answer, 0), transaction_key(answer, 1), transaction_key(answer, 3))) {
    end_lease_call(call, error_set(MUSTER_E_INPUT, "etcd: the keys of zone %u of %s are not those of a lease",
                                   lease->zone, call->broker->settings.world));
  } else if (!read_cluster_format(call, transaction_key(answer, 2))) {
    end_lease_call(call, MUSTER_E_INPUT);
  } else if (call->wanted && lease->revision && lease->epoch == call->wanted && is_own(call)) {
    memcpy(call->lease.last_owner, call->last_owner, NAME_BYTES);
    call->lease.last_owned_by = call->last_owned_by;
    end_lease_call(call, MUSTER_OK);
  } else if (!may_take(call)) {
    end_lease_call(call, error_set(MUSTER_E_STATE, "node %s has the lease of zone %u", lease->owner, lease->zone));
  } else if (lease->epoch == ZONE_EPOCH_MAX || call->above == ZONE_EPOCH_MAX) {
    end_lease_call(call, error_set(MUSTER_E_FULL, "zone %u has used up its epochs, of 63 bits", lease->zone));
  } else if (call->tries++ == TAKES_MAX) {
    end_lease_call(call, error_set(MUSTER_E_SYSTEM, "the lease of zone %u changes all the time", lease->zone));
  } else {
    put_both(call);
  }
}

static void write_both(const lease_call *call, char body[BODY_BYTES]) {
  char key[LEASE_KEY_BYTES];
  json_writer writer;
  json_start(&writer, body, BODY_BYTES);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "success");
  lease_key(call->broker, call->lease.zone, "lease", key);
  transaction_read(&writer, key);
  lease_key(call->broker, call->lease.zone, "epoch", key);
  transaction_read(&writer, key);
  format_key(call->broker, key);
  transaction_read(&writer, key);
  lease_key(call->broker, call->lease.zone, "space", key);
  transaction_read(&writer, key);
  json_end_array(&writer);
  json_end_object(&writer);
  json_finish(&writer);
}

static void read_both(lease_call *call) {
  char body[BODY_BYTES];
  write_both(call, body);
  send_further(call, "/v3/kv/txn", body, end_of_read_both);
}

muster_result broker_lease_take(struct broker *broker, uint32_t zone, bool own_again, int64_t silent, uint64_t above,
                                broker_lease_done done, void *user) {
  char body[BODY_BYTES];
  if (zone > BROKER_ZONE_MAX) return error_set(MUSTER_E_ARGUMENT, "zone %u: zones are 1 .. %d", zone, BROKER_ZONE_MAX);
  lease_call *call = begin_lease_call(broker, user);
  if (!call) return muster_last_result();
  call->taken = done;
  call->own_again = own_again;
  call->silent = silent;
  call->above = above;
  call->lease.zone = zone;
  write_both(call, body);
  return broker_send_call(broker, "/v3/kv/txn", body, end_of_read_both, call);
}

/* --------------------------------------------------------------------------------------------------------- renewing */

static void end_of_renewal(muster_result result, const struct document *answer, void *user) {
  end_lease_call(user, transaction_result(result, answer));
}

/* One that is another's meanwhile has been given back, too. */
static void end_of_release(muster_result result, const struct document *answer, void *user) {
  end_lease_call(user, transaction_result(result, answer) == MUSTER_E_SYSTEM ? MUSTER_E_SYSTEM : MUSTER_OK);
}

/* One request about the lease's key, if the lease still holds; and with it the space is closed, if one is given. */
static muster_result change_lease(struct broker *broker, const broker_lease *lease, const char *request,
                                  const char *value, const zone_space *closed, etcd_take take, broker_done done,
                                  void *user) {
  char body[BODY_BYTES], key[LEASE_KEY_BYTES], text[SPACE_TEXT_BYTES];
  json_writer writer;
  lease_call *call = begin_lease_call(broker, user);
  if (!call) return muster_last_result();
  call->done = done;
  lease_key(broker, lease->zone, "lease", key);
  json_start(&writer, body, sizeof body);
  transaction_begin(&writer, broker, lease);
  transaction_request(&writer, request, key, "value", value, strlen(value));
  if (closed) {
    lease_key(broker, lease->zone, "space", key);
    space_write(closed, text);
    transaction_request(&writer, "requestPut", key, "value", text, strlen(text));
  }
  transaction_end(&writer);
  return broker_send_call(broker, "/v3/kv/txn", body, take, call);
}

muster_result broker_lease_renew(struct broker *broker, const broker_lease *lease, broker_done done, void *user) {
  char value[LEASE_TEXT_BYTES];
  lease_text(broker, lease->epoch, value);
  return change_lease(broker, lease, "requestPut", value, NULL, end_of_renewal, done, user);
}

muster_result broker_lease_release(struct broker *broker, const broker_lease *lease, const zone_space *closed,
                                   broker_done done, void *user) {
  return change_lease(broker, lease, "requestDeleteRange", "", closed, end_of_release, done, user);
}

muster_result broker_lease_give(struct broker *broker, const broker_lease *lease, const char *node,
                                const zone_space *closed, broker_done done, void *user) {
  char value[LEASE_TEXT_BYTES];
  ASSERT(broker_name_is_good(node) && strlen(node) < NAME_BYTES);
  snprintf(value, sizeof value, "%" PRIu64 " %s", lease->epoch, node);
  return change_lease(broker, lease, "requestPut", value, closed, end_of_renewal, done, user);
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
  char text[LEASE_KEY_BYTES], begin[LEASE_KEY_BYTES], what[8];
  uint32_t zone;
  if (!etcd_read_text(key, "key", text, sizeof text)) return count;
  size_t length = (size_t)snprintf(begin, sizeof begin, "muster/%s/zone/", broker->settings.world);
  if (strncmp(text, begin, length) != 0 || sscanf(text + length, "%" SCNu32 "/%7s", &zone, what) != 2) return count;
  if (zone == 0 || zone > BROKER_ZONE_MAX) return count;
  if (count == 0 || leases[count - 1].zone != zone) leases[count++] = (broker_lease){.zone = zone};
  broker_lease *lease = &leases[count - 1];
  if (strcmp(what, "epoch") == 0) read_epoch(key, &lease->epoch, lease->last_owner, &lease->last_owned_by);
  if (strcmp(what, "space") == 0) read_space(key, &lease->space);
  if (strcmp(what, "lease") == 0 && read_epoch(key, &lease->epoch, lease->owner, &lease->owned_by))
    lease->revision = etcd_read_number(key, "mod_revision");
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
  overview_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return muster_last_result();
  *call = (overview_call){broker, each, done, user};
  return broker_send_read(broker, "zone", end_of_overview, call);
}

/* ------------------------------------------------------------------------------------------------------------ clock */

typedef struct clock_call {
  struct broker *broker;
  broker_clock_done read;
  broker_done put;
  void *user;
} clock_call;

static void clock_key(const struct broker *broker, char key[LEASE_KEY_BYTES]) {
  snprintf(key, LEASE_KEY_BYTES, "muster/%s/clock", broker->settings.world);
}

static void end_of_clock_read(muster_result result, const struct document *answer, void *user) {
  clock_call *call = user;
  char text[CLOCK_TEXT_BYTES];
  const struct document *key = document_at(document_member(answer, "kvs"), 0);
  bool there = result == MUSTER_OK && etcd_read_text(key, "value", text, sizeof text);
  broker_end_call(call->broker);
  call->read(result == MUSTER_OK ? MUSTER_OK : MUSTER_E_SYSTEM, there ? text : NULL, call->user);
  free(call);
}

muster_result broker_clock_read(struct broker *broker, broker_clock_done done, void *user) {
  char body[BODY_BYTES], key[LEASE_KEY_BYTES];
  json_writer writer;
  clock_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return muster_last_result();
  *call = (clock_call){.broker = broker, .read = done, .user = user};
  clock_key(broker, key);
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  etcd_write_text(&writer, "key", key);
  json_end_object(&writer);
  json_finish(&writer);
  return broker_send_call(broker, "/v3/kv/range", body, end_of_clock_read, call);
}

static void end_of_clock_put(muster_result result, const struct document *answer, void *user) {
  clock_call ended = *(clock_call *)user;
  result = transaction_result(result, answer);
  broker_end_call(ended.broker);
  free(user);
  ended.put(result, ended.user);
}

muster_result broker_clock_put(struct broker *broker, const broker_lease *lease, const char *text, bool is_new,
                               broker_done done, void *user) {
  char body[BODY_BYTES], key[LEASE_KEY_BYTES], of_format[LEASE_KEY_BYTES], of_lease[LEASE_KEY_BYTES],
      owner[LEASE_TEXT_BYTES], format[16];
  json_writer writer;
  clock_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return muster_last_result();
  *call = (clock_call){.broker = broker, .put = done, .user = user};
  clock_key(broker, key);
  format_key(broker, of_format);
  lease_key(broker, lease->zone, "lease", of_lease);
  lease_text(broker, lease->epoch, owner);
  snprintf(format, sizeof format, "%u", format_most());
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "compare");
  transaction_if_value(&writer, of_lease, owner);
  if (is_new) transaction_if_revision(&writer, key, 0);
  json_end_array(&writer);
  json_begin_array(&writer, "success");
  transaction_request(&writer, "requestPut", key, "value", text, strlen(text));
  if (is_new) transaction_request(&writer, "requestPut", of_format, "value", format, strlen(format));
  transaction_end(&writer);
  return broker_send_call(broker, "/v3/kv/txn", body, end_of_clock_put, call);
}
