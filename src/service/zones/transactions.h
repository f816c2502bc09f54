/* service/zones/transactions.h - transactions of etcd that are a zone's owner's: nothing is changed unless it has the
 * lease. Loop's thread. */
#ifndef SERVICE_ZONES_TRANSACTIONS_H
#define SERVICE_ZONES_TRANSACTIONS_H

#include "service/zones/parts.h"

enum { LEASE_KEY_BYTES = NAME_BYTES + 64, LEASE_TEXT_BYTES = NAME_BYTES + INCARNATION_BYTES + 24 };

/* The key of a zone's lease, or its epoch ("lease", "epoch"); and what stands there: epoch, node and incarnation, which
 * no other owner has. */
void lease_key(const struct broker *broker, uint32_t zone, const char *what, char key[LEASE_KEY_BYTES]);
void lease_text(const struct broker *broker, uint64_t epoch, char text[LEASE_TEXT_BYTES]);

/* Begins a document, which has the lease as its condition, and that a key still has a value, if one is given; adds a
 * request to it, "requestPut" with a "value" or "requestDeleteRange" with a "range_end" (or no bytes); ends it. */
void transaction_begin(json_writer *writer, const struct broker *broker, const broker_lease *lease);
void transaction_begin_if(json_writer *writer, const struct broker *broker, const broker_lease *lease, const char *key,
                          const char *value);
void transaction_request(json_writer *writer, const char *request, const char *key, const char *name, const void *bytes,
                         size_t count);
void transaction_end(json_writer *writer);

/* Conditions: a key has that value; a key has this revision still (0 = it is absent). A request that reads a key; and
 * what the part of an answer has found, null = no such key. */
void transaction_if_value(json_writer *writer, const char *key, const char *value);
void transaction_if_revision(json_writer *writer, const char *key, int64_t revision);
void transaction_read(json_writer *writer, const char *key);
const struct document *transaction_key(const struct document *answer, size_t part);

/* What it came to: MUSTER_OK; MUSTER_E_STATE, the lease is lost; MUSTER_E_SYSTEM, no answer. */
muster_result transaction_result(muster_result result, const struct document *answer);

#endif
