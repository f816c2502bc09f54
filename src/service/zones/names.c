/* The names of nodes: a key of etcd for each, put by transactions that compare what stands there. An owner puts the
 * same again from time to time, which changes the key's revision, as leases do (leases.c). */
#include "service/zones/transactions.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_BODY_BYTES = 4096, NAME_TEXT_BYTES = 192, NAME_TRIES_MAX = 3 };

typedef struct name_call {
  struct broker *broker;
  broker_name own, found;
  int64_t silent;
  uint32_t tries;
  broker_name_done done;
  broker_done released;
  void *user;
} name_call;

static void name_key(const struct broker *broker, char key[LEASE_KEY_BYTES]) {
  snprintf(key, LEASE_KEY_BYTES, "muster/%s/node/%s", broker->settings.world, broker->settings.node);
}

static void name_text(const broker_name *name, char text[NAME_TEXT_BYTES]) {
  char which[INCARNATION_BYTES];
  incarnation_write(name->incarnation, which);
  snprintf(text, NAME_TEXT_BYTES, "%s %s %s", which, *name->host ? name->host : "-",
           *name->address ? name->address : "-");
}

/* False: it is nothing that a broker has written. */
static bool read_name(const struct document *key, broker_name *name) {
  char text[NAME_TEXT_BYTES], which[INCARNATION_BYTES], rest;
  *name = (broker_name){.revision = etcd_read_number(key, "mod_revision")};
  if (!key) return true;
  return etcd_read_text(key, "value", text, sizeof text) &&
         sscanf(text, "%27[0-9a-f.] %63s %63s%c", which, name->host, name->address, &rest) == 3 &&
         incarnation_read(which, &name->incarnation);
}

/* ---------------------------------------------------------------------------------------------------------- holding */

static void end_name_call(name_call *call, muster_result result) {
  name_call ended = *call;
  broker_end_call(call->broker);
  free(call);
  if (ended.done)
    ended.done(result, result == MUSTER_E_STATE ? &ended.found : NULL, ended.user);
  else if (ended.released)
    ended.released(result, ended.user);
}

/* A condition, the put, and what stands there when the condition does not hold. */
static void write_name(const name_call *call, bool renews, char body[NAME_BODY_BYTES]) {
  char key[LEASE_KEY_BYTES], value[NAME_TEXT_BYTES];
  json_writer writer;
  name_key(call->broker, key);
  name_text(&call->own, value);
  json_start(&writer, body, NAME_BODY_BYTES);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "compare");
  if (renews)
    transaction_if_value(&writer, key, value);
  else
    transaction_if_revision(&writer, key, call->found.revision);
  json_end_array(&writer);
  json_begin_array(&writer, "success");
  transaction_request(&writer, "requestPut", key, "value", value, strlen(value));
  json_end_array(&writer);
  json_begin_array(&writer, "failure");
  transaction_read(&writer, key);
  json_end_array(&writer);
  json_end_object(&writer);
  json_finish(&writer);
}

/* Of its own state folder each run has a higher number, and none begins before the last has ended. */
static bool may_have_name(const name_call *call) {
  const broker_name *found = &call->found;
  return !found->revision || incarnation_follows(call->own.incarnation, found->incarnation) ||
         found->revision == call->silent;
}

static void end_of_name(muster_result result, const struct document *answer, void *user) {
  name_call *call = user;
  char body[NAME_BODY_BYTES];
  if (result != MUSTER_OK) {
    end_name_call(call, MUSTER_E_SYSTEM);
  } else if (document_is_true(document_member(answer, "succeeded"))) {
    end_name_call(call, MUSTER_OK);
  } else if (!read_name(transaction_key(answer, 0), &call->found)) {
    end_name_call(call, error_set(MUSTER_E_INPUT, "etcd: the key of node %s of %s is not that of a node",
                                  call->broker->settings.node, call->broker->settings.world));
  } else if (!may_have_name(call)) {
    end_name_call(call, error_set(MUSTER_E_STATE, "host %s at %s has the name of node %s", call->found.host,
                                  call->found.address, call->broker->settings.node));
  } else if (call->tries++ == NAME_TRIES_MAX) {
    end_name_call(call,
                  error_set(MUSTER_E_SYSTEM, "the key of node %s changes all the time", call->broker->settings.node));
  } else {
    write_name(call, false, body);
    if (etcd_call(call->broker->etcd, "/v3/kv/txn", body, end_of_name, call) != MUSTER_OK)
      end_name_call(call, MUSTER_E_SYSTEM);
  }
}

muster_result broker_name_have(struct broker *broker, const broker_name *own, int64_t silent, broker_name_done done,
                               void *user) {
  char body[NAME_BODY_BYTES];
  name_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return muster_last_result();
  *call = (name_call){.broker = broker, .own = *own, .silent = silent, .done = done, .user = user};
  write_name(call, true, body);
  return broker_send_call(broker, "/v3/kv/txn", body, end_of_name, call);
}

/* -------------------------------------------------------------------------------------------------------- releasing */

static void end_of_name_release(muster_result result, const struct document *answer, void *user) {
  (void)answer;
  end_name_call(user, result == MUSTER_OK ? MUSTER_OK : MUSTER_E_SYSTEM);
}

muster_result broker_name_release(struct broker *broker, const broker_name *own, broker_done done, void *user) {
  char body[NAME_BODY_BYTES], key[LEASE_KEY_BYTES], value[NAME_TEXT_BYTES];
  json_writer writer;
  name_call *call = broker_begin_call(broker, sizeof *call);
  if (!call) return muster_last_result();
  *call = (name_call){.broker = broker, .released = done, .user = user};
  name_key(broker, key);
  name_text(own, value);
  json_start(&writer, body, sizeof body);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "compare");
  transaction_if_value(&writer, key, value);
  json_end_array(&writer);
  json_begin_array(&writer, "success");
  transaction_request(&writer, "requestDeleteRange", key, "value", NULL, 0);
  transaction_end(&writer);
  return broker_send_call(broker, "/v3/kv/txn", body, end_of_name_release, call);
}
