/* sets_api.c - muster/sets.h: changes sets while their agents run, and tells how far they are. */
#include "api/calls.h"
#include "base/sized.h"
#include "run/runner.h"
#include "world/guard.h"
#include "world/world_commands.h"

#include <muster/sets.h>

#include <string.h>

static muster_result sets_api_check_type(const muster_world *world, muster_type type) {
  muster_result result = agents_check_type(world, type);
  if (result) return result;
  const agent_type *named = world_type(world, type.index - 1);
  if (named->has_sets) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "type '%s' has no sets", named->name);
}

static muster_result push(muster_world *world, const char *call, const struct command *command) {
  muster_result result;
  return guard_asks(world, call, &result) ? guard_queue(world, command) : result;
}

/* Checks only what does not change once the type is registered. */
muster_result muster_set_tune(muster_world *world, muster_type type, uint32_t set, const muster_set_tuning *given) {
  muster_set_tuning tuning = muster_set_tuning_default();
  muster_result result = guard_host(world, "muster_set_tune");
  if (!result) result = sets_api_check_type(world, type);
  if (result) return result;
  result = sized_read(SIZED(set_tuning), given, &tuning);
  if (result) return result;
  const agent_type *named = world_type(world, type.index - 1);
  result = sets_check_tuning(&named->sets, named->name, set, &tuning);
  if (result) return result;
  struct command command = {.kind = COMMAND_SET_TUNE, .index = type.index - 1};
  command.tuning = (command_tuning){.period_ns = tuning.period_ns,
                                    .period_updates = tuning.period_updates,
                                    .set = (uint16_t)set,
                                    .share = (uint8_t)tuning.share,
                                    .mode = (uint8_t)tuning.mode};
  return push(world, "muster_set_tune", &command);
}

muster_result muster_type_set_share(muster_world *world, muster_type type, uint32_t share) {
  muster_result result = guard_host(world, "muster_type_set_share");
  if (!result) result = sets_api_check_type(world, type);
  if (result) return result;
  if (world_is_planned(world))
    return error_set(MUSTER_E_STATE, "share of type '%s': its host runs its updates",
                     world_type(world, type.index - 1)->name);
  if (share > MUSTER_SHARE_MAX)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': share %u must be at most %u",
                     world_type(world, type.index - 1)->name, share, MUSTER_SHARE_MAX);
  struct command command = {.kind = COMMAND_SET_SHARE, .index = type.index - 1};
  command.tuning.share = (uint8_t)share;
  return push(world, "muster_type_set_share", &command);
}

static struct set_counts sets_api_counts_of(const muster_world *world, uint32_t type, uint32_t set) {
  struct set_counts sum = {0};
  for (uint32_t i = 0; i < world->runner->state_count; i++) {
    const struct set_counts *one = &world->runner->states[i].set_counts[type * MUSTER_SETS_MAX + set];
    sum.runs += one->runs;
    sum.cuts += one->cuts;
  }
  return sum;
}

muster_result muster_agent_set_read(const muster_world *world, muster_agent id, uint32_t set, muster_set_info *info) {
  muster_result result = guard_read(world, "set info");
  if (result) return result;
  muster_agent agent = world_find(world, id);
  if (!world_exists(world, agent)) return guard_gone(id);
  const agent_row *row = world_row(world, muster_agent_index(agent));
  const agent_type *type = world_type(world, row->type);
  if (set >= type->sets.count)
    return error_set(MUSTER_E_ARGUMENT, "type '%s': set %u is none of its %u", type->name, set, type->sets.count);
  const type_set *named = &type->sets.sets[set];
  struct set_counts counts = sets_api_counts_of(world, row->type, set);
  muster_set_info whole = {.name = named->name, .runs = counts.runs, .cuts = counts.cuts};
  if (world_is_active(world,
                      muster_agent_index(agent))) { /* the slot of a pending agent holds values that are not its own */
    const set_state *state = &sets_states_of(&type->sets, row->state_slot)[set];
    whole.last_ns = state->last_ns;
    whole.atom_next = state->goes_on ? state->goes_on - 1u - named->first_atom : 0;
    whole.progress = share_value(state->progress);
    whole.owed = type->sets.passes[row->state_slot].owed >> set & 1;
  }
  return sized_write(SIZED(set_info), &whole, info);
}
