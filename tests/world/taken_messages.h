/* world/taken_messages.h - messages that a zone has for others, as its host takes them along and delivers them. */
#ifndef WORLD_TAKEN_MESSAGES_H
#define WORLD_TAKEN_MESSAGES_H

#include "support/zones.h"

typedef struct taken_messages {
  muster_zone_message heads[64];
  uint64_t follows[64];
  unsigned char bytes[64][MUSTER_MESSAGE_BYTES_MAX];
  uint32_t count;
} taken_messages;

static inline void keep_message(const muster_zone_message *message, void *user) {
  taken_messages *taken = user;
  taken->heads[taken->count] = *message;
  taken->follows[taken->count] = muster_zone_message_follows(message);
  if (message->size) memcpy(taken->bytes[taken->count], message->bytes, message->size);
  taken->count++;
}

static inline taken_messages take_messages(const little_world *little) {
  taken_messages taken = {.count = 0};
  cr_assert_eq(muster_zone_messages(little->world, keep_message, &taken), taken.count);
  return taken;
}

static inline muster_result deliver(const little_world *to, const taken_messages *taken, uint32_t number) {
  muster_zone_message message = taken->heads[number];
  message.bytes = taken->bytes[number];
  return muster_zone_deliver_after(to->world, &message, taken->follows[number]);
}

#endif
