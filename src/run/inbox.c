#include "run/inbox.h"

void inbox_create(inbox *inbox, uint32_t agents_max, uint32_t commands_max, arena *arena) {
  pending_create(&inbox->spawns, agents_max, arena);
  ring_create(&inbox->commands, commands_max, sizeof(command), arena);
  ring_create(&inbox->tunings, INBOX_TUNINGS, sizeof(muster_world_tuning), arena);
}
