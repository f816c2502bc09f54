#include "world/guard.h"

#include "agents/observers.h"
#include "base/fatal.h"
#include "base/fields.h"
#include "plan/retime.h"
#include "record/recorder.h"
#include "run/callback.h"
#include "world/world_commands.h"
#include "world/world_herds.h"

#include <muster/sets.h>

#include <math.h>
#include <string.h>

/* What an update calls in place of a host's call. Calls that are refused inside callbacks and stand not here have no
 * counterpart. */
static const struct {
  const char *call; /* the function, or what it is about: how its message begins */
  const char *meant;
} counterparts[] = {
    {"muster_agent_spawn", "muster_update_spawn()"},
    {"muster_agent_remove", "muster_update_remove()"},
    {"muster_agent_move", "muster_update_move(), which moves the updated agent itself,"},
    {"muster_agent_wake", "muster_update_wake()"},
    {"muster_agent_wake_at", "muster_update_wake_at()"},
    {"muster_agent_send", "muster_update_send()"},
    {"muster_agent_link", "muster_update_link()"},
    {"muster_agent_unlink", "muster_update_unlink()"},
    {"muster_agent_set_periods", "muster_update_set_periods()"},
    {"muster_type_set_periods", "muster_update_set_type_periods()"},
    {"muster_herd_wake", "muster_update_herd_wake()"},
    {"muster_herd_remove", "muster_update_herd_remove()"},
    {"agent", "muster_update_position_of() or muster_update_published_of()"},
    {"agents", "muster_update_position_of() or muster_update_published_of()"},
    {"positions of agents", "muster_update_move()"},
    {"nearby", "muster_update_nearby()"},
    {"herds nearby", "muster_update_herds_nearby()"},
};

/* The counterpart of a call; null when it has none. */
static const char *counterpart_of(const char *call) {
  for (uint32_t i = 0; i < sizeof counterparts / sizeof *counterparts; i++)
    if (strcmp(counterparts[i].call, call) == 0) return counterparts[i].meant;
  return NULL;
}

muster_result guard_outside(const struct muster_world *world, const char *call) {
  char text[CALLBACK_TEXT_BYTES];
  if (!callback_runs(world)) return MUSTER_OK;
  const char *meant = counterpart_of(call);
  callback_describe(text);
  if (meant) return error_set(MUSTER_E_STATE, "%s: not inside %s: call %s there, with its update", call, text, meant);
  return error_set(MUSTER_E_STATE,
                   "%s: not inside %s: no update can ask for it, so note it there, and call this when the frame has "
                   "returned",
                   call, text);
}

muster_result guard_refuse(const struct muster_world *world, const char *what) {
  char text[CALLBACK_TEXT_BYTES];
  if (!world) return error_missing(what, "world");
  switch (occupancy_get(&world->occupancy)) {
  case OCCUPIED_BY_PLAN:
    return error_set(MUSTER_E_STATE, "%s: not inside a frame, which muster_plan_report() ends", what);
  case OCCUPIED_BY_CALL:
    return error_set(MUSTER_E_STATE, "%s: not in a callback of another call, which must return first", what);
  case OCCUPIED_BY_DESTROYING:
    return error_set(MUSTER_E_STATE, "%s: this world is being destroyed", what);
  case OCCUPIED_BY_FRAME:
  case OCCUPIED_NOT: /* another thread ran a frame, which has ended meanwhile */
    break;
  }
  if (!occupancy_is_mine(&world->occupancy) && !callback_runs(world))
    return error_set(MUSTER_E_STATE,
                     "%s: not inside a frame, which another thread runs: call it between two frames, on the thread "
                     "that runs them",
                     what);
  callback_describe(text);
  const char *meant = counterpart_of(what);
  if (!meant) return error_set(MUSTER_E_STATE, "%s: not inside a frame: %s must return first", what, text);
  return error_set(MUSTER_E_STATE, "%s: not inside a frame: %s calls %s instead, with its update", what, text, meant);
}

muster_result guard_between_here(const struct muster_world *world, const char *what) {
  uint32_t other = world ? occupancy_other_thread(&world->occupancy) : 0;
  if (!other || callback_runs(world)) return guard_between(world, what);
  return error_set(MUSTER_E_STATE,
                   "%s: not on this thread: thread %u runs the frames of this world, so call it there, between two of "
                   "them",
                   what, other);
}

bool guard_asks(const struct muster_world *world, const char *call, muster_result *result) {
  *result = guard_host(world, call);
  return !*result && !recorder_replays(world->recorder);
}

bool guard_asks_agent(const struct muster_world *world, muster_agent id, const char *call, muster_agent *agent,
                      muster_result *result) {
  if (!guard_asks(world, call, result)) return false;
  *agent = world_find(world, id);
  if (world_exists(world, *agent)) return true;
  *result = guard_gone(id);
  return false;
}

muster_result guard_gone(muster_agent id) {
  return error_set(MUSTER_E_STALE, "agent %u (generation %u) is gone", muster_agent_index(id),
                   muster_agent_generation(id));
}

muster_result guard_queue(struct muster_world *world, const struct command *command) {
  if (ring_push(&world->commands->queues.commands, command)) return MUSTER_OK;
  return error_set(MUSTER_E_FULL, "commands_max = %u commands wait for the next frame", world->def.limits.commands_max);
}

muster_result guard_frame(struct muster_world *world, const char *here, const char *what) {
  char text[CALLBACK_TEXT_BYTES];
  if (world && occupancy_get(&world->occupancy) == OCCUPIED_BY_FRAME && occupancy_was_left(&world->occupancy, here)) {
    callback_describe(text);
    fatal("%s: the last frame of this world never ended: %s was left by longjmp(); callbacks must return", what, text);
  }
  muster_result result = guard_between(world, what);
  if (!result) world->occupancy.stack = here;
  return result;
}

/* Calls that only read take a const world. Marking it as busy is no change of the world. */
static struct occupancy *occupancy_of(const struct muster_world *world) {
  return &((struct muster_world *)(uintptr_t)world)->occupancy;
}

enum occupation guard_hold(const struct muster_world *world) {
  enum occupation before = occupancy_get(&world->occupancy);
  occupancy_set(occupancy_of(world), OCCUPIED_BY_CALL);
  return before;
}

void guard_release(const struct muster_world *world, enum occupation before) {
  occupancy_set(occupancy_of(world), before);
}

void guard_destroy(struct muster_world *world) {
  char text[CALLBACK_TEXT_BYTES];
  if (!living_take(&world->living))
    fatal("muster_world_destroy: %p is no world: it was destroyed already, or is being destroyed", (const void *)world);
  enum occupation occupation = occupancy_get(&world->occupancy);
  if (occupation == OCCUPIED_NOT || occupation == OCCUPIED_BY_PLAN) return;
  if (occupation == OCCUPIED_BY_CALL)
    fatal("muster_world_destroy: inside a callback of a call that takes this world: it must return first");
  if (!occupancy_is_mine(&world->occupancy))
    fatal("muster_world_destroy: another thread runs a frame of this world: it must end first");
  callback_describe(text);
  fatal("muster_world_destroy: inside a frame: %s must return first", text);
}

/* --------------------------------------------------------------------------------------------------------- commands */

static bool is_possible_of_herd(const struct muster_world *world, const struct command *command) {
  const struct herd_type *type = herds_type_of(&world->herds->table, command->index);
  return command->kind < COMMAND_KINDS && type && command->partition < type->tree.below[0];
}

/* Of a type; null = of an agent, whose longest period may be left to its type. */
static bool are_possible_periods(const muster_type_def *type, const command_periods *given) {
  class_periods periods = {given->nominal_ns, given->longest_ns};
  if (!type && !periods.longest_ns) periods.longest_ns = periods.nominal_ns;
  return retime_is_possible(type, periods);
}

static bool is_possible_of_type(const struct muster_world *world, const struct command *command) {
  if (command->kind >= COMMAND_HERD_WAKE) return is_possible_of_herd(world, command);
  if (command->index >= world->agents.types.count) return false;
  const agent_type *type = world_type(world, command->index);
  if (command->kind == COMMAND_REINSTATE_TYPE || command->kind == COMMAND_QUARANTINE_TYPE) return true;
  if (command->kind == COMMAND_TYPE_PERIODS) return are_possible_periods(&type->def, &command->periods);
  if (command->kind == COMMAND_SET_SHARE) return type->has_sets && command->tuning.share <= MUSTER_SHARE_MAX;
  muster_set_tuning tuning = command_set_tuning(command);
  return sets_check_tuning(&type->sets, type->name, command->tuning.set, &tuning) == MUSTER_OK;
}

/* The companion has lived, and is not the agent itself. */
static bool is_possible_link(const struct muster_world *world, const struct command *command) {
  if (world->agents.zone) return zone_ids_is_id(command->other);
  return muster_agent_index(command->other) < world->def.limits.agents_max &&
         (muster_agent_generation(command->other) & 1) &&
         !muster_agent_equal(command->other, muster_agent_make(command->index, command->generation));
}

bool command_is_possible(const struct muster_world *world, const struct command *command) {
  bool observer = command->kind >= COMMAND_OBSERVER_ADD;
  if (command->kind >= COMMAND_REINSTATE_TYPE) return is_possible_of_type(world, command);
  if (command->kind > COMMAND_OBSERVER_REMOVE || command->partition >= PARTITIONS) return false;
  if (command->index >= (observer ? world->def.limits.observers_max : world->def.limits.agents_max)) return false;
  if (command->kind == COMMAND_WAKE_AT) return true;
  if (command->kind == COMMAND_REINSTATE || command->kind == COMMAND_QUARANTINE) return true;
  if (command->kind == COMMAND_UNLINK) return true; /* of any other agent: the list is searched for it */
  if (command->kind == COMMAND_LINK) return is_possible_link(world, command);
  if (command->kind == COMMAND_PERIODS) return are_possible_periods(NULL, &command->periods);
  if (command->kind == COMMAND_TUNE)
    return command->first <= 1.0f && command->second <= (float)ELASTICITY_MOST && command->position.x <= 1.0 &&
           command->position.y <= 1.0 && command->position.z <= 1.0;
  if (command->kind == COMMAND_OBSERVER_ADD)
    return (command->generation & 1) && command->first >= 0.0f && command->second > command->first &&
           isfinite(command->second) && space_accepts(command->position);
  return space_accepts(command->position);
}
