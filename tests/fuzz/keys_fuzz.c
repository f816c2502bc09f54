/* Fuzzes the reader of requests that were carried out: what it takes comes back as the same bytes when it is saved, but
 * for earlier ones of the same key; what it refuses has a reason, and changes nothing. */
#include "service/keys.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

static void expect(bool holds) {
  if (!holds) abort();
}

typedef struct saved {
  uint8_t *bytes;
  size_t count, most;
} saved;

static bool put(const void *bytes, size_t count, void *user) {
  saved *to = user;
  expect(count <= to->most - to->count);
  memcpy(to->bytes + to->count, bytes, count);
  to->count += count;
  return true;
}

static saved save(const struct keys *keys) {
  saved all = {.most = keys_saved_bytes(keys)};
  all.bytes = malloc(all.most + 1);
  expect(all.bytes && keys_save(keys, put, &all) && all.count == all.most);
  return all;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes) {
  struct keys keys = {0}, back = {0};
  if (!keys_take(&keys, data, bytes)) {
    expect(keys.count == 0 && strstr(muster_last_error(), "keys of requests, at byte "));
    return 0;
  }
  for (uint64_t i = 0; i < keys.count && i < KEYS_MAX; i++) {
    const key_entry *entry = &keys.entries[i];
    expect(keys_is_key(entry->key) && keys_find(&keys, entry->key) == entry);
    expect(entry->status >= 200 && entry->status <= 599 && entry->bytes <= KEYS_BODY_MAX && !entry->held);
  }
  saved once = save(&keys);
  expect(keys_take(&back, once.bytes, once.count));
  saved again = save(&back);
  expect(once.count == again.count && memcmp(once.bytes, again.bytes, once.count) == 0);
  free(once.bytes), free(again.bytes);
  keys_close(&keys), keys_close(&back);
  return 0;
}
