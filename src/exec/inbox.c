#include "exec/inbox.h"

void inbox_create(inbox *inbox, uint32_t agents_max, uint32_t commands_max, arena *arena) {
  ring_create(&inbox->spawns, agents_max, sizeof(uint32_t), arena);
  ring_create(&inbox->commands, commands_max, sizeof(command), arena);
}
