/* agents_api.c - the calls that any thread may make: checked here, queued, applied at the next intake. */
#include "agents/mailbox.h"
#include "agents/spawn.h"
#include "api/calls.h"
#include "base/fields.h"
#include "base/sized.h"
#include "record/recorder.h"
#include "world/guard.h"
#include "world/lifecycle.h"
#include "world/observer_ids.h"
#include "world/world_commands.h"
#include "world/world_queues.h"
#include "world/zone_mail.h"

#include <muster/tune.h>

#include <math.h>
#include <string.h>

/* Why no index can be taken. */
static void refuse_birth(const muster_world *world) {
  uint32_t all = world->def.limits.agents_max, resting = world->zone ? zone_ids_resting(&world->zone->ids) : 0;
  if (resting)
    error_set(
        MUSTER_E_FULL,
        "of the ids of agents_max = %u, %u rest: each was that of 65,536 agents in epoch %u, and is free again in "
        "another one (muster_zone_set_epoch); %u are agents' or set aside for spawns from updates",
        all, resting, zone_ids_epoch(&world->zone->ids), all > resting ? all - resting : 0);
  else
    error_set(MUSTER_E_FULL, "each id of agents_max = %u is an agent's or set aside for spawns from updates", all);
}

muster_agent muster_agent_spawn(muster_world *world, const muster_agent_def *given) {
  const muster_agent none = {0};
  muster_agent_def def;
  if (guard_host(world, "muster_agent_spawn")) return none;
  if (spawn_check(given, intake_queues_types(&world->commands->queues), &def)) return none;
  if (recorder_replays(world->recorder)) return muster_agent_make(world->recorder->agents_given++, 1);
  uint32_t index = identity_take(&world->agents.ids);
  muster_agent agent = index == IDENTITY_NONE ? none : lifecycle_make(world, index, &def);
  if (muster_agent_is_null(agent)) {
    if (index != IDENTITY_NONE) identity_give_back(&world->agents.ids, index);
    refuse_birth(world);
    return none;
  }
  if (world->recorder) spawn_log_add(&world->recorder->spawn_log, index);
  spawn_queue_add(&world->commands->queues.spawns, index);
  return agent;
}

muster_result agents_send(muster_world *world, muster_agent id, const char *call, struct command command) {
  muster_agent agent;
  muster_result result;
  if (!guard_asks_agent(world, id, call, &agent, &result)) return result;
  command.index = muster_agent_index(agent);
  command.generation = muster_agent_generation(agent);
  return guard_queue(world, &command);
}

muster_result muster_agent_remove(muster_world *world, muster_agent id) {
  muster_agent agent;
  muster_result result;
  if (!guard_asks_agent(world, id, "muster_agent_remove", &agent, &result)) return result;
  bool first = removals_add(&world->agents.removals, &world->agents.ids, muster_agent_index(agent),
                            muster_agent_generation(agent));
  return first ? MUSTER_OK : guard_gone(id);
}

muster_result agents_refuse_position(muster_position position) {
  return error_set(MUSTER_E_ARGUMENT, "position (%.17g, %.17g, %.17g) must be finite and within +-1e9 m", position.x,
                   position.y, position.z);
}

static muster_result check_position(muster_position position) {
  return space_accepts(position) ? MUSTER_OK : agents_refuse_position(position);
}

muster_result muster_agent_move(muster_world *world, muster_agent agent, muster_position position) {
  muster_result result = check_position(position);
  return result ? result
                : agents_send(world, agent, "muster_agent_move",
                              (struct command){.kind = COMMAND_MOVE, .position = position});
}

muster_result muster_agent_wake(muster_world *world, muster_agent id) {
  muster_agent agent;
  muster_result result;
  if (!guard_asks_agent(world, id, "muster_agent_wake", &agent, &result)) return result;
  if (!wakes_push(&world->commands->wakes, muster_agent_index(agent)))
    return error_set(MUSTER_E_FULL, "commands_max = %u wakes wait for a worker", world->def.limits.commands_max);
  return MUSTER_OK;
}

muster_result agents_check_time(uint64_t at_ns) {
  if (at_ns == MUSTER_WAKE_NEVER || at_ns <= (uint64_t)INT64_MAX / 2) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "wake: at_ns %llu is beyond 146 years: is it negative, or in another unit?",
                   (unsigned long long)at_ns);
}

muster_result muster_agent_wake_at(muster_world *world, muster_agent agent, uint64_t at_ns) {
  muster_result result = agents_check_time(at_ns);
  struct command command = {.kind = COMMAND_WAKE_AT};
  command.at_ns = at_ns;
  return result ? result : agents_send(world, agent, "muster_agent_wake_at", command);
}

muster_result agents_check_company(const struct muster_world *world, muster_agent agent, muster_agent other) {
  if (world->def.importance_model != MUSTER_IMPORTANCE_FACTORS)
    return error_set(MUSTER_E_STATE, "company: it counts in worlds with MUSTER_IMPORTANCE_FACTORS");
  if (!muster_agent_equal(agent, other)) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "company: agent %u (generation %u) cannot be its own", muster_agent_index(agent),
                   muster_agent_generation(agent));
}

static muster_result send_company(muster_world *world, muster_agent id, muster_agent other, command_kind kind) {
  const char *call = kind == COMMAND_LINK ? "muster_agent_link" : "muster_agent_unlink";
  muster_agent agent;
  muster_result result = guard_host(world, call);
  if (!result) result = agents_check_company(world, id, other);
  if (result || !guard_asks_agent(world, id, call, &agent, &result)) return result;
  if (kind == COMMAND_LINK && !world_exists(world, world_find(world, other))) return guard_gone(other);
  struct command command = command_about(kind, agent);
  command.other = other;
  return guard_queue(world, &command);
}

muster_result muster_agent_link(muster_world *world, muster_agent agent, muster_agent other) {
  return send_company(world, agent, other, COMMAND_LINK);
}

muster_result muster_agent_unlink(muster_world *world, muster_agent agent, muster_agent other) {
  return send_company(world, agent, other, COMMAND_UNLINK);
}

muster_result agents_check_type(const struct muster_world *world, muster_type type) {
  uint32_t types = intake_queues_types(&world->commands->queues);
  if (type.index && type.index <= types) return MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "type %u is none of the %u that are registered", type.index, types);
}

static uint8_t rating_or_none(float value) {
  return value >= 0.0f ? rating_of(value) : (uint8_t)RATING_OF_TYPE;
}

muster_result muster_agent_tune(muster_world *world, muster_agent agent, const muster_agent_tuning *given) {
  const muster_agent_tuning none = muster_agent_tuning_default();
  muster_agent_tuning tuning = none;
  muster_result result = sized_read(SIZED(agent_tuning), given, &tuning);
  if (result) return result;
  result = fields_check_tuning(fields_agent, "tuning", &tuning, &none);
  if (result) return result;
  muster_position factors = {(double)tuning.visibility, (double)tuning.bulk, (double)tuning.interactivity};
  return agents_send(world, agent, "muster_agent_tune",
                     (struct command){.kind = COMMAND_TUNE,
                                      .position = factors,
                                      .first = tuning.importance_floor,
                                      .second = tuning.elasticity,
                                      .derive = tuning.derive_elasticity,
                                      .rated = tuning.designer >= 0.0f || tuning.role >= 0.0f,
                                      .designer = rating_or_none(tuning.designer),
                                      .role = rating_or_none(tuning.role)});
}

static muster_result check_periods(const muster_type_def *type, uint64_t period_ns, uint64_t period_max_ns) {
  if (period_ns || !period_max_ns) return period_ns ? types_check_periods(type, period_ns, period_max_ns) : MUSTER_OK;
  return error_set(MUSTER_E_ARGUMENT, "periods: period_max_ns %llu needs a period_ns",
                   (unsigned long long)period_max_ns);
}

muster_result agents_ask_periods(uint64_t period_ns, uint64_t period_max_ns, struct command *command) {
  bool own_longest = period_max_ns || !period_ns;
  muster_result result = check_periods(NULL, period_ns, own_longest ? period_max_ns : period_ns);
  *command = (struct command){.kind = COMMAND_PERIODS};
  command->periods = (command_periods){period_ns, period_max_ns};
  return result;
}

muster_result muster_agent_set_periods(muster_world *world, muster_agent agent, uint64_t period_ns,
                                       uint64_t period_max_ns) {
  struct command command;
  muster_result result = guard_host(world, "muster_agent_set_periods");
  if (!result) result = agents_ask_periods(period_ns, period_max_ns, &command);
  return result ? result : agents_send(world, agent, "muster_agent_set_periods", command);
}

muster_result agents_ask_type_periods(const muster_world *world, muster_type type, uint64_t period_ns,
                                      uint64_t period_max_ns, struct command *command) {
  muster_result result = agents_check_type(world, type);
  if (result) return result;
  const muster_type_def *def = &world_type(world, type.index - 1)->def;
  if (period_ns && !period_max_ns) period_max_ns = def->period_max_ns > period_ns ? def->period_max_ns : period_ns;
  *command = (struct command){.kind = COMMAND_TYPE_PERIODS, .index = type.index - 1};
  command->periods = (command_periods){period_ns, period_max_ns};
  return check_periods(def, period_ns, period_max_ns);
}

muster_result muster_type_set_periods(muster_world *world, muster_type type, uint64_t period_ns,
                                      uint64_t period_max_ns) {
  struct command command;
  muster_result result = guard_host(world, "muster_type_set_periods");
  if (!result) result = agents_ask_type_periods(world, type, period_ns, period_max_ns, &command);
  if (result || !guard_asks(world, "muster_type_set_periods", &result)) return result;
  return guard_queue(world, &command);
}

muster_result muster_type_periods_read(const muster_world *world, muster_type type, uint64_t *period_ns,
                                       uint64_t *period_max_ns) {
  muster_result result = guard_read(world, "periods of a type");
  if (!result) result = agents_check_type(world, type);
  if (!result && (!period_ns || !period_max_ns)) result = error_missing("periods of a type", "places for the two");
  if (result) return result;
  uint32_t index = type.index - 1;
  class_periods periods = classes_periods_of(&world->queues->classes, &world_type(world, index)->def, index);
  *period_ns = periods.nominal_ns;
  *period_max_ns = periods.longest_ns;
  return MUSTER_OK;
}

muster_result muster_agent_send(muster_world *world, muster_agent agent, const void *bytes, uint32_t size) {
  if (size > MUSTER_MESSAGE_BYTES_MAX || (size && !bytes))
    return error_set(MUSTER_E_ARGUMENT, "message: size %u must be at most %u, with bytes given", size,
                     MUSTER_MESSAGE_BYTES_MAX);
  muster_result result;
  if (!guard_asks(world, "muster_agent_send", &result)) return result;
  muster_agent seen = world_find_seen(world, agent);
  if (world_is_live(world, seen) ? !world_exists(world, seen) : !world->zone || !zone_knows(world, agent))
    return guard_gone(agent);
  if (!intake_queues_take_messages(&world->commands->queues))
    return error_set(MUSTER_E_ARGUMENT, "message: no type of this world has boxes: set messages.waiting_max");
  outgoing message = {.head = {.peer = agent, .size = size}};
  if (size) memcpy(message.bytes, bytes, size);
  if (!ring_push(&world->commands->queues.messages, &message))
    return error_set(MUSTER_E_FULL, "commands_max = %u messages wait for the next frame",
                     world->def.limits.commands_max);
  return MUSTER_OK;
}

static muster_result check_observer(const muster_observer_def *def) {
  muster_result result = check_position(def->position);
  if (result) return result;
  if (def->partition >= PARTITIONS)
    return error_set(MUSTER_E_ARGUMENT, "observer: partition %u must be 0..65535", def->partition);
  if (!(def->near_m >= 0.0f) || !(def->far_m > def->near_m) || !isfinite(def->far_m))
    return error_set(MUSTER_E_ARGUMENT, "observer: 0 <= near_m (%.9g) < far_m (%.9g), both finite, must hold",
                     (double)def->near_m, (double)def->far_m);
  return MUSTER_OK;
}

static void refuse_observer(const muster_world *world) {
  uint32_t all = world->def.limits.observers_max,
           resting = world->zone ? zone_ids_resting(&world->zone->observer_ids) : 0;
  if (resting)
    error_set(MUSTER_E_FULL,
              "of the ids of observers_max = %u, %u rest: each was that of 65,536 observers in epoch %u, and is free "
              "again in another one (muster_zone_set_epoch)",
              all, resting, zone_ids_epoch(&world->zone->observer_ids));
  else
    error_set(MUSTER_E_FULL, "observers_max = %u observers exist", all);
}

muster_observer muster_observer_add(muster_world *world, const muster_observer_def *given) {
  const muster_observer none = {0};
  muster_observer_def def = muster_observer_def_default();
  if (guard_host(world, "muster_observer_add")) return none;
  if (sized_read(SIZED(observer_def), given, &def) || check_observer(&def)) return none;
  if (recorder_replays(world->recorder)) return muster_observer_make(world->recorder->observers_given++, 1);
  uint32_t index = identity_take(&world->observers->ids);
  if (index == IDENTITY_NONE) {
    refuse_observer(world);
    return none;
  }
  muster_observer id = observer_ids_open(world, index);
  struct command command = {.kind = COMMAND_OBSERVER_ADD,
                            .index = index,
                            .generation = identity_generation(&world->observers->ids, index),
                            .epoch = world->zone ? muster_agent_epoch((muster_agent){id.value}) : 0,
                            .partition = def.partition,
                            .position = def.position,
                            .first = def.near_m,
                            .second = def.far_m};
  if (guard_queue(world, &command)) {
    observer_ids_close(world, index);
    return none;
  }
  return id;
}

static muster_result send_observer(muster_world *world, muster_observer observer, const char *call,
                                   struct command command) {
  muster_result result;
  if (!guard_asks(world, call, &result)) return result;
  muster_observer found = observer_ids_find(world, observer);
  if (!observer_ids_is_live(world, found)) return observer_ids_gone(world, observer);
  command.index = muster_observer_index(found);
  command.generation = muster_observer_generation(found);
  return guard_queue(world, &command);
}

muster_result muster_observer_move(muster_world *world, muster_observer observer, muster_position position) {
  muster_result result = check_position(position);
  return result ? result
                : send_observer(world, observer, "muster_observer_move",
                                (struct command){.kind = COMMAND_OBSERVER_MOVE, .position = position});
}

muster_result muster_observer_remove(muster_world *world, muster_observer observer) {
  return send_observer(world, observer, "muster_observer_remove", (struct command){.kind = COMMAND_OBSERVER_REMOVE});
}
