#include "service/zones/transactions.h"

#include "base/error.h"

#include <inttypes.h>
#include <stdio.h>

void lease_key(const struct broker *broker, uint32_t zone, const char *what, char key[LEASE_KEY_BYTES]) {
  snprintf(key, LEASE_KEY_BYTES, "muster/%s/zone/%u/%s", broker->settings.world, zone, what);
}

void lease_text(const struct broker *broker, uint64_t epoch, char text[LEASE_TEXT_BYTES]) {
  char which[INCARNATION_BYTES] = "";
  bool is_known = broker->incarnation.folder != 0;
  if (is_known) incarnation_write(broker->incarnation, which);
  snprintf(text, LEASE_TEXT_BYTES, "%" PRIu64 " %s%s%s", epoch, broker->settings.node, is_known ? " " : "", which);
}

void transaction_if_value(json_writer *writer, const char *key, const char *value) {
  json_begin_object(writer, NULL);
  json_string(writer, "target", "VALUE");
  json_string(writer, "result", "EQUAL");
  etcd_write_text(writer, "key", key);
  etcd_write_text(writer, "value", value);
  json_end_object(writer);
}

void transaction_if_revision(json_writer *writer, const char *key, int64_t revision) {
  json_begin_object(writer, NULL);
  json_string(writer, "target", "MOD");
  json_string(writer, "result", "EQUAL");
  etcd_write_text(writer, "key", key);
  etcd_write_number(writer, "mod_revision", revision);
  json_end_object(writer);
}

void transaction_read(json_writer *writer, const char *key) {
  json_begin_object(writer, NULL);
  json_begin_object(writer, "requestRange");
  etcd_write_text(writer, "key", key);
  json_end_object(writer);
  json_end_object(writer);
}

const struct document *transaction_key(const struct document *answer, size_t part) {
  const struct document *of_part = document_at(document_member(answer, "responses"), part);
  return document_at(document_member(document_member(of_part, "response_range"), "kvs"), 0);
}

void transaction_begin_if(json_writer *writer, const struct broker *broker, const broker_lease *lease, const char *key,
                          const char *value) {
  char of_lease[LEASE_KEY_BYTES], owner[LEASE_TEXT_BYTES];
  lease_key(broker, lease->zone, "lease", of_lease);
  lease_text(broker, lease->epoch, owner);
  json_begin_object(writer, NULL);
  json_begin_array(writer, "compare");
  transaction_if_value(writer, of_lease, owner);
  if (key) transaction_if_value(writer, key, value);
  json_end_array(writer);
  json_begin_array(writer, "success");
}

void transaction_begin(json_writer *writer, const struct broker *broker, const broker_lease *lease) {
  transaction_begin_if(writer, broker, lease, NULL, NULL);
}

void transaction_request(json_writer *writer, const char *request, const char *key, const char *name, const void *bytes,
                         size_t count) {
  json_begin_object(writer, NULL);
  json_begin_object(writer, request);
  etcd_write_text(writer, "key", key);
  if (count) etcd_write_bytes(writer, name, bytes, count);
  json_end_object(writer);
  json_end_object(writer);
}

void transaction_end(json_writer *writer) {
  json_end_array(writer);
  json_end_object(writer);
  json_finish(writer);
}

muster_result transaction_result(muster_result result, const struct document *answer) {
  if (result != MUSTER_OK) return MUSTER_E_SYSTEM;
  if (document_is_true(document_member(answer, "succeeded"))) return MUSTER_OK;
  return error_set(MUSTER_E_STATE, "the lease of the zone is lost");
}
