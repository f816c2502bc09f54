/* commands.c - see commands.h. */
#include "world/commands.h"

#include <math.h>

static bool is_possible_of_type(const struct muster_world *world, const command *command) {
  if (command->kind >= COMMAND_HERD_WAKE || command->index >= world->types.count) return false;
  const agent_type *type = &world->types.types[command->index];
  if (command->kind == COMMAND_PARDON_TYPE || command->kind == COMMAND_QUARANTINE_TYPE) return true;
  if (command->kind == COMMAND_PRIORITISE) return type->has_sets && command->tuning.priority <= MUSTER_PRIORITY_MAX;
  muster_set_tuning tuning = {.priority = command->tuning.priority,
                              .period_updates = command->tuning.period_updates,
                              .period_ns = command->tuning.period_ns,
                              .mode = command->tuning.mode};
  return sets_check_tuning(&type->sets, type->name, command->tuning.set, &tuning) == MUSTER_OK;
}

bool command_is_possible(const struct muster_world *world, const command *command) {
  bool observer = command->kind >= COMMAND_OBSERVER_ADD;
  if (command->kind >= COMMAND_PARDON_TYPE) return is_possible_of_type(world, command);
  if (command->kind > COMMAND_OBSERVER_REMOVE || command->partition >= PARTITIONS) return false;
  if (command->index >= (observer ? world->def.observers_max : world->def.agents_max)) return false;
  if (command->kind == COMMAND_WAKE_AT || command->kind == COMMAND_PARDON) return true;
  if (command->kind == COMMAND_MEET || command->kind == COMMAND_PART)
    return command->other.index < world->def.agents_max;
  if (command->kind == COMMAND_TUNE)
    return command->first <= 1.0f && command->second <= 1024.0f && command->position.x <= 1.0 &&
           command->position.y <= 1.0 && command->position.z <= 1.0;
  if (command->kind == COMMAND_OBSERVER_ADD)
    return (command->generation & 1) && command->first >= 0.0f && command->second > command->first &&
           isfinite(command->second) && space_accepts(command->position);
  return space_accepts(command->position);
}
