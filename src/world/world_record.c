/* world_record.c - see world_record.h. */
#include "world/world_record.h"

#include "agents/mailbox.h"
#include "base/assert.h"
#include "record/recorder_fields.h"
#include "world/guard.h"
#include "world/observer_ids.h"
#include "world/world_commands.h"
#include "world/world_zone.h"

#include <muster/tune.h>

/* ------------------------------------------------------------------------------------------------ what hosts spawn */

static void keep_types(struct muster_world *world) {
  struct recorder *recorder = world->recorder;
  for (; recorder->types_known < world->agents.types.count; recorder->types_known++) {
    recorder_put_tag(recorder, TAG_TYPES);
    fields_exchange_type(&recorder->tape, &world->agents.types.types[recorder->types_known]);
  }
}

static uint64_t world_record_name_of_user(const struct muster_world *world, uint32_t index) {
  const struct recorder *recorder = world->recorder;
  void *user = world->agents.store.rows[index].user;
  muster_agent agent = world_id(world, index);
  if (!user) return 0;
  return recorder->def.name_user ? recorder->def.name_user(agent, user, recorder->def.user) : 1;
}

void world_record_spawned(struct muster_world *world, struct logged_spawn *spawn) {
  struct tape *tape = &world->recorder->tape;
  agent_row *row = &spawn->agent.row;
  spawn->index = tape_exchange_number(tape, spawn->index);
  spawn->generation = tape_exchange_number(tape, spawn->generation);
  if (world->zone) tape_exchange(tape, &spawn->id, sizeof spawn->id);
  spawn->type = tape_exchange_number(tape, spawn->type);
  spawn->any_user = tape_exchange_number(tape, spawn->any_user);
  spawn->name = tape_exchange_number(tape, spawn->name);
  tape_exchange(tape, &row->floor, sizeof row->floor);
  tape_exchange(tape, &row->elasticity_step, sizeof row->elasticity_step);
  tape_exchange(tape, row->factors, sizeof row->factors);
  tape_exchange(tape, &spawn->agent.place, sizeof spawn->agent.place);
  if (world->agents.store.ratings) tape_exchange(tape, &spawn->agent.ratings, sizeof spawn->agent.ratings);
}

static void keep_logged_spawn(struct muster_world *world, uint32_t index) {
  struct tape *tape = &world->recorder->tape;
  const agent_row *row = &world->agents.store.rows[index];
  const agent_type *type = &world->agents.types.types[row->type];
  struct logged_spawn spawn = {.index = index,
                               .generation = identity_generation(&world->agents.ids, index),
                               .id = world_id(world, index),
                               .type = row->type,
                               .any_user = row->user != NULL,
                               .name = world_record_name_of_user(world, index)};
  ASSERT(row->type < world->agents.types.count);
  saved_agent_describe(world, index, &spawn.agent);
  recorder_put_tag(world->recorder, TAG_SPAWN_LOG);
  world_record_spawned(world, &spawn);
  if (type->states) tape_put(tape, type_state(type, row->state_slot), type->def.state_bytes);
  if (type->published) tape_put(tape, type_published(type, row->state_slot, row->front), type->def.published_bytes);
}

void world_record_newborns(struct muster_world *world) {
  ASSERT(recorder_records(world->recorder));
  uint32_t index;
  keep_types(world);
  while (spawn_log_take(&world->recorder->spawn_log, &index)) keep_logged_spawn(world, index);
}

_Static_assert(sizeof(muster_agent) == sizeof(muster_observer), "ids of both kinds stand alike in a record");

/* The ids of an array. Agents that hosts had removed by then are left out: a replay removes them with its next intake.
 */
static void put_ids(struct muster_world *world, recorder_tag tag, const muster_agent *ids, uint32_t count) {
  struct tape *tape = &world->recorder->tape;
  const struct removals *removals = &world->agents.removals;
  ASSERT(tag == TAG_MOVES || tag == TAG_FACTORS || tag == TAG_OBSERVER_MOVES);
  if (tag == TAG_OBSERVER_MOVES || removals->seen_count == 0) {
    tape_put(tape, ids, count * sizeof *ids);
    return;
  }
  for (uint32_t i = 0; i < count; i++) {
    muster_agent agent = world_find(world, ids[i]);
    bool gone = world_is_live(world, agent) && removals_saw(removals, muster_agent_index(agent));
    muster_agent id = gone ? (muster_agent){0} : ids[i];
    tape_put(tape, &id, sizeof id);
  }
}

bool world_record_array(struct muster_world *world, recorder_tag tag, uint32_t number, const void *ids,
                        const void *values, size_t each, uint32_t count) {
  if (!recorder_records(world->recorder)) return !recorder_replays(world->recorder);
  struct tape *tape = &world->recorder->tape;
  world_record_newborns(world);
  recorder_put_tag(world->recorder, tag);
  tape_put_number(tape, number);
  tape_put_number(tape, count);
  put_ids(world, tag, ids, count);
  tape_put(tape, values, count * each);
  return true;
}

bool world_record_zone(struct muster_world *world, const struct zone_call *call, const void *bytes, size_t count) {
  if (!recorder_records(world->recorder)) return !recorder_replays(world->recorder);
  struct tape *tape = &world->recorder->tape;
  world_record_newborns(world);
  recorder_put_tag(world->recorder, TAG_ZONE);
  tape_put(tape, call, sizeof *call);
  tape_put_number(tape, count);
  if (count) tape_put(tape, bytes, count);
  return true;
}

/* ------------------------------------------------------------------------------------------- what an intake takes */

bool world_record_accepts(struct muster_world *world, const struct command *command) {
  ASSERT(recorder_replays(world->recorder));
  if (world->recorder->tape.failed) return false;
  struct identity *observers = &world->observers->ids;
  bool adds = command->kind == COMMAND_OBSERVER_ADD;
  /* One that waits in the snapshot has its id. */
  bool known = adds && command->index < identity_high(observers) &&
               identity_generation(observers, command->index) == command->generation &&
               !world->observers->table.rows[command->index].present;
  if (!command_is_possible(world, command) || (adds && !known && !identity_claim(observers, command->index)))
    return recorder_diverges(world->recorder, "its record has a command %u for %u, which cannot be", command->kind,
                             command->index);
  if (adds && !known)
    observer_ids_assign(world, command->index, command->generation,
                        observer_ids_born(world, command->index, command->generation, command->epoch));
  return true;
}

/* Writes values that are taken together, at most `most`, or reads them instead; returns how many there are. */
static uint32_t exchange_some(struct muster_world *world, recorder_tag tag, void *values, size_t each, uint32_t count,
                              uint32_t most) {
  ASSERT(count <= most);
  struct recorder *recorder = world->recorder;
  if (recorder_records(recorder)) world_record_newborns(world);
  if (!recorder_mark(recorder, tag)) return 0;
  if (!recorder_tape(recorder)) return count;
  uint64_t recorded = tape_exchange_number(&recorder->tape, count);
  if (recorded > most)
    return recorder_diverges(recorder, "its record has %llu of item %d at once", (unsigned long long)recorded,
                             (int)tag);
  tape_exchange(&recorder->tape, values, recorded * each);
  return (uint32_t)recorded;
}

uint32_t world_record_commands(struct muster_world *world, struct command *commands, uint32_t count, uint32_t most) {
  count = exchange_some(world, TAG_COMMANDS, commands, sizeof *commands, count, most);
  for (uint32_t i = 0; i < count && recorder_replays(world->recorder); i++)
    if (!world_record_accepts(world, &commands[i])) return i; /* also after the tape failed */
  return count;
}

/* Writes one value of a list, or reads it instead. Agents that were spawned come before it, as it may name them. */
static bool exchange_one(struct muster_world *world, recorder_tag tag, bool any, void *value, size_t bytes) {
  if (recorder_records(world->recorder)) world_record_newborns(world);
  return recorder_exchange_one(world->recorder, tag, any, value, bytes);
}

bool world_record_command(struct muster_world *world, bool any, struct command *command) {
  if (!exchange_one(world, TAG_COMMAND, any, command, sizeof *command)) return false;
  return !recorder_replays(world->recorder) || world_record_accepts(world, command);
}

bool world_record_message(struct muster_world *world, bool any, outgoing *message) {
  if (!exchange_one(world, TAG_MESSAGE, any, message, sizeof *message)) return false;
  if (message->head.size <= sizeof message->bytes) return true;
  return recorder_diverges(world->recorder, "its record has a message of %u bytes", message->head.size);
}

bool world_record_tuning(struct muster_world *world, bool any, muster_world_tuning *tuning) {
  return exchange_one(world, TAG_TUNING, any, tuning, sizeof *tuning);
}

bool world_record_claim(struct muster_world *world, uint64_t index) {
  if (identity_claim(&world->agents.ids, index)) return true;
  return recorder_diverges(world->recorder, "its record gives index %llu to a new agent, which is taken",
                           (unsigned long long)index);
}

/* Whether an agent that the record activates is pending here. */
static bool is_pending(const struct muster_world *world, uint32_t index) {
  return index < world->def.limits.agents_max && world->agents.store.rows[index].status == AGENT_PENDING &&
         identity_is_live(&world->agents.ids, index, identity_generation(&world->agents.ids, index));
}

uint32_t world_record_take_spawns(struct muster_world *world, uint32_t *agents, uint32_t most) {
  bool replays = recorder_replays(world->recorder);
  uint32_t count = replays ? 0 : spawn_queue_take(&world->commands->queues.spawns, agents, most);
  count = exchange_some(world, TAG_ACTIVATED, agents, sizeof *agents, count, most);
  for (uint32_t i = 0; i < count && replays; i++) {
    uint32_t again = 0;
    while (again < i && agents[again] != agents[i]) again++;
    if (again == i && is_pending(world, agents[i])) continue;
    recorder_diverges(world->recorder, "agent %u becomes active, but was not spawned", agents[i]);
    return i;
  }
  if (replays && count) spawn_queue_go_on(&world->commands->queues.spawns, agents[count - 1]);
  return count;
}

uint32_t world_record_id(struct muster_world *world, uint32_t index) {
  recorder_exchange(world->recorder, TAG_ID, &index, sizeof index);
  if (!recorder_replays(world->recorder) || index == IDENTITY_NONE) return index;
  return world_record_claim(world, index) ? index : IDENTITY_NONE;
}

uint32_t world_record_any_id(struct muster_world *world, uint32_t index) {
  struct world_commands *commands = world->commands;
  index = world_record_id(world, index);
  return index == IDENTITY_NONE && commands->spawn_id_count ? commands->spawn_ids[--commands->spawn_id_count] : index;
}

void world_record_close(struct muster_world *world) {
  if (recorder_records(world->recorder)) recorder_finish(world->recorder);
  if (!recorder_replays(world->recorder)) return;
  world->recorder->replays = false;
  world->agents.ids.held = world->observers->ids.held = NULL;
}
