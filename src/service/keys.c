#include "service/keys.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One in a file; behind it stand the key and the body. */
typedef struct key_record {
  uint32_t magic, bytes; /* of the body */
  uint64_t frame;
  uint16_t status;
  uint8_t body_kind, key_bytes, unused[4];
  unsigned char digest[KEYS_DIGEST_BYTES];
} key_record;

static const uint32_t record_magic = 0x59454b4du; /* "MKEY" */

/* What is kept of an answer that is too long, or for which there is no memory. */
static const char left_out[] = "{\"left_out\": \"The request was carried out when it was sent for the first time. Its "
                               "answer was too long to be kept: ask for what it changed.\"}\n";

/* Visible ASCII characters. */
static bool keys_is_visible(const char *text, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (text[i] <= ' ' || text[i] > '~') return false;
  return true;
}

bool keys_is_key(const char *text) {
  size_t length = strnlen(text, KEY_BYTES_MAX + 1);
  return length >= 1 && length <= KEY_BYTES_MAX && keys_is_visible(text, length);
}

/* ------------------------------------------------------------------------------------------------------------ table */

static uint32_t bucket_of(const char *key) {
  uint32_t hash = 2166136261u;
  for (; *key; key++) hash = (hash ^ (unsigned char)*key) * 16777619u;
  return hash % KEYS_MAX;
}

static key_entry *keys_look_up(const struct keys *keys, const char *key) {
  if (!keys->entries) return NULL;
  for (uint32_t at = keys->buckets[bucket_of(key)]; at; at = keys->next[at - 1])
    if (strcmp(keys->entries[at - 1].key, key) == 0) return &keys->entries[at - 1];
  return NULL;
}

const key_entry *keys_find(const struct keys *keys, const char *key) {
  return keys_look_up(keys, key);
}

bool keys_begin(struct keys *keys) {
  if (keys->entries) return true;
  keys->entries = calloc(KEYS_MAX, sizeof *keys->entries);
  keys->buckets = calloc(KEYS_MAX, sizeof *keys->buckets);
  keys->next = calloc(KEYS_MAX, sizeof *keys->next);
  if (keys->entries && keys->buckets && keys->next) return true;
  keys_close(keys);
  return false;
}

/* Its place stays empty until the ring comes to it. */
static void forget_entry(struct keys *keys, uint32_t index) {
  key_entry *entry = &keys->entries[index];
  if (!*entry->key) return;
  uint32_t *at = &keys->buckets[bucket_of(entry->key)];
  while (*at != index + 1) at = &keys->next[*at - 1];
  *at = keys->next[index];
  free(entry->body);
  *entry = (key_entry){0};
}

/* The place of a new key: that of the oldest, once all are taken. */
static key_entry *make_place(struct keys *keys, const char *key) {
  uint32_t index = (uint32_t)(keys->count % KEYS_MAX), *bucket = &keys->buckets[bucket_of(key)];
  if (keys->count >= KEYS_MAX) forget_entry(keys, index);
  keys->count++;
  keys->next[index] = *bucket;
  *bucket = index + 1;
  return &keys->entries[index];
}

/* The request was carried out, whatever becomes of its answer. */
static void leave_out(key_entry *entry) {
  entry->body = (void *)left_out;
  entry->bytes = sizeof left_out - 1;
  entry->body_kind = KEY_BODY_JSON;
}

static void keep_body(key_entry *place) {
  if (place->bytes > KEYS_BODY_MAX) leave_out(place);
  void *copy = malloc(place->bytes + 1u);
  if (copy) memcpy(copy, place->bytes ? place->body : "", place->bytes);
  place->body = copy;
  if (copy) return;
  place->bytes = 0;
  place->body_kind = KEY_BODY_NONE;
}

const key_entry *keys_finish(struct keys *keys, const key_entry *entry) {
  ASSERT(keys->entries && keys_is_key(entry->key));
  key_entry *place = keys_look_up(keys, entry->key);
  if (place)
    free(place->body);
  else
    place = make_place(keys, entry->key);
  *place = *entry;
  keep_body(place);
  return place;
}

void keys_forget(struct keys *keys, const char *key) {
  const key_entry *entry = keys_look_up(keys, key);
  if (entry) forget_entry(keys, (uint32_t)(entry - keys->entries));
}

void keys_hand_out(struct keys *keys, const char *key) {
  key_entry *entry = keys_look_up(keys, key);
  if (entry) entry->held = false;
}

void keys_close(struct keys *keys) {
  for (uint32_t i = 0; keys->entries && i < KEYS_MAX; i++) free(keys->entries[i].body);
  free(keys->entries);
  free(keys->buckets);
  free(keys->next);
  *keys = (struct keys){0};
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static key_record record_of(const key_entry *entry) {
  key_record record = {.magic = record_magic,
                       .bytes = entry->bytes,
                       .frame = entry->frame,
                       .status = entry->status,
                       .body_kind = entry->body_kind,
                       .key_bytes = (uint8_t)strlen(entry->key)};
  memcpy(record.digest, entry->digest, sizeof record.digest);
  return record;
}

/* The oldest that is kept, counted since the begin. */
static uint64_t first_kept(const struct keys *keys) {
  return keys->count > KEYS_MAX ? keys->count - KEYS_MAX : 0;
}

static size_t write_entry(const key_entry *entry, unsigned char out[KEYS_RECORD_MAX]) {
  key_record record = record_of(entry);
  memcpy(out, &record, sizeof record);
  memcpy(out + sizeof record, entry->key, record.key_bytes);
  if (entry->bytes) memcpy(out + sizeof record + record.key_bytes, entry->body, entry->bytes);
  return sizeof record + record.key_bytes + entry->bytes;
}

size_t keys_note(struct keys *keys, size_t *room, unsigned char out[KEYS_RECORD_MAX]) {
  if (keys->noted < first_kept(keys)) keys->noted = first_kept(keys);
  while (keys->noted < keys->count && !*keys->entries[keys->noted % KEYS_MAX].key) keys->noted++;
  if (keys->noted == keys->count) return 0;
  key_entry entry = keys->entries[keys->noted++ % KEYS_MAX];
  bool fits = entry.bytes <= *room;
  if (fits) *room -= entry.bytes;
  if (!fits) leave_out(&entry);
  return write_entry(&entry, out);
}

size_t keys_saved_bytes(const struct keys *keys) {
  size_t bytes = 0;
  for (uint64_t i = first_kept(keys); i < keys->count; i++) {
    const key_entry *entry = &keys->entries[i % KEYS_MAX];
    if (*entry->key) bytes += sizeof(key_record) + strlen(entry->key) + entry->bytes;
  }
  return bytes;
}

bool keys_save(const struct keys *keys, muster_journal_put put, void *put_user) {
  for (uint64_t i = first_kept(keys); i < keys->count; i++) {
    const key_entry *entry = &keys->entries[i % KEYS_MAX];
    if (!*entry->key) continue;
    key_record record = record_of(entry);
    if (!put(&record, sizeof record, put_user) || !put(entry->key, record.key_bytes, put_user) ||
        (entry->bytes && !put(entry->body, entry->bytes, put_user)))
      return false;
  }
  return true;
}

/* ---------------------------------------------------------------------------------------------------------- reading */

/* Reads one, whose body stays in the bytes; returns how many bytes it has, 0 with the reason when it is none. */
static size_t keys_read_one(const unsigned char *bytes, size_t count, key_entry *entry) {
  key_record record;
  if (count < sizeof record) return error_set(MUSTER_E_INPUT, "%zu bytes are too few for one", count), 0;
  memcpy(&record, bytes, sizeof record);
  if (record.magic != record_magic) return error_set(MUSTER_E_INPUT, "no key begins there"), 0;
  if (record.key_bytes < 1 || record.key_bytes > KEY_BYTES_MAX || record.bytes > KEYS_BODY_MAX ||
      count - sizeof record < (size_t)record.key_bytes + record.bytes)
    return error_set(MUSTER_E_INPUT, "a key of %u bytes and an answer of %u do not fit in", record.key_bytes,
                     record.bytes),
           0;
  if (record.status < 200 || record.status > 599 || record.body_kind >= KEY_BODIES ||
      (record.body_kind == KEY_BODY_NONE && record.bytes))
    return error_set(MUSTER_E_INPUT, "no answer has status %u and a body of kind %u", record.status, record.body_kind),
           0;
  const unsigned char *key = bytes + sizeof record;
  if (!keys_is_visible((const char *)key, record.key_bytes))
    return error_set(MUSTER_E_INPUT, "a key has characters that none has"), 0;
  *entry = (key_entry){.status = record.status, .body_kind = record.body_kind, .frame = record.frame};
  memcpy(entry->key, key, record.key_bytes);
  memcpy(entry->digest, record.digest, sizeof record.digest);
  entry->body = (void *)(key + record.key_bytes);
  entry->bytes = record.bytes;
  return sizeof record + record.key_bytes + record.bytes;
}

/* Looks at all, or keeps all. False with the reason. */
static bool walk(struct keys *keys, const unsigned char *bytes, size_t count, bool keep) {
  for (size_t at = 0, length; at < count; at += length) {
    key_entry entry;
    length = keys_read_one(bytes + at, count - at, &entry);
    if (length == 0) {
      char why[160];
      snprintf(why, sizeof why, "%s", muster_last_error());
      return error_set(MUSTER_E_INPUT, "keys of requests, at byte %zu of %zu: %s", at, count, why), false;
    }
    if (keep) keys_finish(keys, &entry);
  }
  return true;
}

bool keys_take(struct keys *keys, const void *bytes, size_t count) {
  if (!walk(keys, bytes, count, false)) return false;
  if (count && !keys_begin(keys)) return error_set(MUSTER_E_MEMORY, "no memory for the keys of requests"), false;
  bool kept = walk(keys, bytes, count, true);
  keys->noted = keys->count;
  return kept;
}
