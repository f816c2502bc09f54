#include "service/zones/parcel.h"

#include "service/zones/format.h"

#include "base/assert.h"
#include "base/error.h"

#include <stdlib.h>
#include <string.h>

enum { VERSION = 2 };

FORMAT_HAS(parcel_head, 56);
FORMAT_HAS(parcel_item, 8);
FORMAT_HAS(parcel_letter, 40);

static const unsigned char magic[4] = {'M', 'U', 'Z', 'P'};

static bool parcel_append(struct parcel *parcel, const void *bytes, size_t count) {
  if (parcel->failed) return false;
  if (parcel->room - parcel->count < count) {
    size_t room = 2 * (parcel->count + count) + 1024;
    unsigned char *larger = realloc(parcel->bytes, room);
    parcel->failed = !larger;
    if (!larger) return false;
    parcel->bytes = larger;
    parcel->room = room;
  }
  if (count) memcpy(parcel->bytes + parcel->count, bytes, count);
  parcel->count += count;
  return true;
}

void parcel_begin(struct parcel *parcel, uint64_t epoch, uint64_t number, uint64_t frame, uint64_t sim_now_ns) {
  parcel_head head = {.version = VERSION,
                      .epoch = epoch,
                      .number = number,
                      .frame = frame,
                      .sim_now_ns = sim_now_ns,
                      .birth = {epoch, number}};
  memcpy(head.magic, magic, sizeof magic);
  parcel->count = 0;
  parcel->failed = false;
  parcel_append(parcel, &head, sizeof head);
}

void parcel_open(struct parcel *parcel, parcel_kind kind) {
  const parcel_item item = {.kind = kind};
  parcel->open = parcel->count;
  parcel_append(parcel, &item, sizeof item);
}

bool parcel_put(const void *bytes, size_t count, void *user) {
  return parcel_append(user, bytes, count);
}

void parcel_close(struct parcel *parcel) {
  if (parcel->failed) return;
  size_t bytes = parcel->count - parcel->open - sizeof(parcel_item);
  ASSERT(bytes <= UINT32_MAX);
  const uint32_t size = (uint32_t)bytes;
  memcpy(parcel->bytes + parcel->open + offsetof(parcel_item, bytes), &size, sizeof size);
}

void parcel_undo(struct parcel *parcel) {
  parcel->count = parcel->open;
}

bool parcel_has_items(const struct parcel *parcel) {
  return parcel->count > sizeof(parcel_head);
}

void parcel_free(struct parcel *parcel) {
  free(parcel->bytes);
  *parcel = (struct parcel){.bytes = NULL};
}

muster_result parcel_read_head(const void *bytes, size_t count, parcel_head *head) {
  if (count < sizeof *head) return error_set(MUSTER_E_INPUT, "a message of %zu bytes is none of a zone", count);
  memcpy(head, bytes, sizeof *head);
  if (memcmp(head->magic, magic, sizeof magic))
    return error_set(MUSTER_E_INPUT, "the message is none of a zone: it does not begin with MUZP");
  if (head->version != VERSION)
    return error_set(MUSTER_E_INPUT, "the message has version %u, and this build reads %u: run one build on all nodes",
                     head->version, (unsigned)VERSION);
  return MUSTER_OK;
}

bool parcel_next(const void *bytes, size_t count, size_t *at, parcel_item *item, const unsigned char **item_bytes,
                 bool *damaged) {
  if (*at == 0) *at = sizeof(parcel_head);
  *damaged = false;
  if (*at == count) return false;
  *damaged = *at > count || count - *at < sizeof *item;
  if (*damaged) return false;
  memcpy(item, (const unsigned char *)bytes + *at, sizeof *item);
  *damaged = item->bytes > count - *at - sizeof *item;
  if (*damaged) return false;
  *item_bytes = (const unsigned char *)bytes + *at + sizeof *item;
  *at += sizeof *item + item->bytes;
  return true;
}

void parcel_renumber(void *bytes, uint64_t epoch, uint64_t number) {
  parcel_head head;
  memcpy(&head, bytes, sizeof head);
  head.epoch = epoch;
  head.number = number;
  memcpy(bytes, &head, sizeof head);
}
