#include "service/zones/sheet.h"

#include "service/zones/broker.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { SHEET_VERSION = 2 };

static const uint64_t forgotten_ns = 5000000000u;

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "sheets are told as they lie in memory");
_Static_assert(sizeof(sheet_message) == 24 + NAME_BYTES + 16 + 2 * SHEET_CELLS, "sheet_message has padding");

size_t sheet_write(sheet_message *message, uint32_t zone, uint64_t epoch, sheet_state state, const char *node,
                   const zone_sheet *sheet) {
  *message = (sheet_message){.version = SHEET_VERSION, .zone = zone, .epoch = epoch, .state = (uint32_t)state};
  snprintf(message->node, sizeof message->node, "%s", node);
  if (!sheet) return offsetof(sheet_message, sheet);
  message->sheet = *sheet;
  return sizeof *message;
}

static bool read_message(const void *bytes, size_t length, sheet_message *message) {
  if (length != sizeof *message && length != offsetof(sheet_message, sheet)) return false;
  memcpy(message, bytes, length);
  return message->version == SHEET_VERSION && message->state < SHEET_STATES && message->node[NAME_BYTES - 1] == '\0' &&
         broker_name_is_good(message->node);
}

bool sheet_hear(sheet_entry *entries, uint32_t count, const void *bytes, size_t length, uint64_t now_ns) {
  sheet_message message;
  uint32_t place = 0;
  if (!read_message(bytes, length, &message)) return false;
  while (place < count && entries[place].zone != message.zone) place++;
  if (place == count) return false;
  sheet_entry *entry = &entries[place];
  if (message.epoch < entry->epoch && now_ns - entry->heard_ns < forgotten_ns) return false;
  entry->epoch = message.epoch;
  entry->state = message.state;
  entry->heard_ns = now_ns;
  memcpy(entry->node, message.node, sizeof entry->node);
  if (length == sizeof message) entry->sheet = message.sheet;
  return true;
}
