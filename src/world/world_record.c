/* world_record.c - see world_record.h. */
#include "world/world_record.h"

#include "base/assert.h"
#include "record/recorder_fields.h"
#include "world/commands.h"

/* ------------------------------------------------------------------------------------------------ what hosts spawn */

static void keep_types(struct muster_world *world) {
  recorder *recorder = world->recorder;
  for (; recorder->types_known < world->types.count; recorder->types_known++) {
    recorder_put_tag(recorder, TAG_TYPES);
    fields_put_type(&recorder->tape, &world->types.types[recorder->types_known]);
  }
}

static uint64_t name_of_user(const struct muster_world *world, uint32_t index) {
  const recorder *recorder = world->recorder;
  void *user = world->store.rows[index].user;
  muster_agent agent = {index, identity_generation(&world->agent_ids, index)};
  if (!user) return 0;
  return recorder->def.name_user ? recorder->def.name_user(agent, user, recorder->def.user) : 1;
}

static void keep_newborn(struct muster_world *world, uint32_t index) {
  recorder *recorder = world->recorder;
  tape *tape = &recorder->tape;
  const agent_row *row = &world->store.rows[index];
  const agent_type *type = &world->types.types[row->type];
  const agent_place *place = &world->store.places[index];
  recorder_put_tag(recorder, TAG_NEWBORN);
  tape_put_number(tape, index);
  tape_put_number(tape, identity_generation(&world->agent_ids, index));
  tape_put_number(tape, row->type);
  ASSERT(row->type < world->types.count && row->status != AGENT_FREE);
  tape_put_number(tape, row->user ? 1 : 0);
  tape_put_number(tape, name_of_user(world, index));
  tape_put(tape, &row->floor, sizeof row->floor);
  tape_put(tape, &row->elasticity_step, sizeof row->elasticity_step);
  tape_put(tape, row->factors, sizeof row->factors);
  tape_put(tape, place, sizeof *place);
  if (world->store.esteem) tape_put(tape, &world->store.esteem[index], sizeof *world->store.esteem);
  if (type->states) tape_put(tape, type_state(type, row->state_slot), type->def.state_bytes);
  if (type->published) tape_put(tape, type_published(type, row->state_slot, row->front), type->def.published_bytes);
}

/* Before each item that may speak of them. */
void recorder_keep_newborns(struct muster_world *world) {
  ASSERT(recorder_records(world->recorder));
  uint32_t index;
  keep_types(world);
  while (newborns_take(&world->recorder->newborns, &index)) keep_newborn(world, index);
}

void recorder_exchange_newborns(struct muster_world *world) {
  if (recorder_records(world->recorder)) recorder_keep_newborns(world);
  recorder_mark(world->recorder, TAG_LIST_END);
}

static void keep_array(struct muster_world *world, recorder_tag tag, uint32_t number, const void *ids,
                       const void *values, size_t each, uint32_t count) {
  tape *tape = &world->recorder->tape;
  recorder_keep_newborns(world);
  recorder_put_tag(world->recorder, tag);
  tape_put_number(tape, number);
  tape_put_number(tape, count);
  tape_put(tape, ids, count * sizeof(muster_agent));
  tape_put(tape, values, count * each);
}

_Static_assert(sizeof(muster_agent) == sizeof(muster_observer), "ids of both kinds stand alike in a record");

void recorder_keep_moves(struct muster_world *world, const muster_agent *agents, const muster_position *values,
                         uint32_t count) {
  keep_array(world, TAG_MOVES, 0, agents, values, sizeof *values, count);
}

void recorder_keep_observer_moves(struct muster_world *world, const muster_observer *observers,
                                  const muster_position *values, uint32_t count) {
  keep_array(world, TAG_OBSERVER_MOVES, 0, observers, values, sizeof *values, count);
}

void recorder_keep_factors(struct muster_world *world, muster_factor factor, const muster_agent *agents,
                           const float *values, uint32_t count) {
  keep_array(world, TAG_FACTORS, (uint32_t)factor, agents, values, sizeof *values, count);
}

/* ------------------------------------------------------------------------------------------- what an intake takes */

/* Whether a command can have been given; else the replay has diverged. */
static bool accepts(struct muster_world *world, const command *command) {
  ASSERT(recorder_replays(world->recorder));
  if (world->recorder->tape.failed) return false;
  if (command_is_possible(world, command)) return true;
  recorder_diverges(world->recorder, "its record has a command %u for %u, which cannot be", command->kind,
                    command->index);
  return false;
}

uint32_t recorder_exchange_commands(struct muster_world *world, command *commands, uint32_t count, uint32_t most) {
  ASSERT(count <= most);
  if (!world->recorder) return count;
  recorder *recorder = world->recorder;
  if (recorder_records(world->recorder)) recorder_keep_newborns(world);
  if (!recorder_mark(world->recorder, TAG_COMMANDS)) return 0;
  if (recorder_records(world->recorder)) {
    tape_put_number(&recorder->tape, count);
    tape_put(&recorder->tape, commands, count * sizeof *commands);
  }
  if (!recorder_replays(world->recorder)) return count;
  uint64_t recorded = tape_take_number(&recorder->tape);
  if (recorded > most)
    recorder_diverges(world->recorder, "its record takes %llu commands at once", (unsigned long long)recorded);
  if (recorded > most) return 0;
  tape_take(&recorder->tape, commands, recorded * sizeof *commands);
  for (uint32_t i = 0; i < recorded; i++)
    if (!accepts(world, &commands[i])) return i; /* nor after the tape failed */
  return (uint32_t)recorded;
}

/* One of a list, behind those that were spawned and may be named in it. */
static bool exchange_one(struct muster_world *world, recorder_tag tag, bool any, void *value, size_t bytes) {
  if (recorder_records(world->recorder)) recorder_keep_newborns(world);
  return recorder_exchange_one(world->recorder, tag, any, value, bytes);
}

bool recorder_exchange_command(struct muster_world *world, bool any, command *command) {
  if (!exchange_one(world, TAG_COMMAND, any, command, sizeof *command)) return false;
  return !recorder_replays(world->recorder) || accepts(world, command);
}

bool recorder_exchange_message(struct muster_world *world, bool any, outgoing *message) {
  if (!exchange_one(world, TAG_MESSAGE, any, message, sizeof *message)) return false;
  if (message->head.size <= sizeof message->bytes) return true;
  recorder_diverges(world->recorder, "its record has a message of %u bytes", message->head.size);
  return false;
}

bool recorder_exchange_tuning(struct muster_world *world, bool any, muster_world_tuning *tuning) {
  return exchange_one(world, TAG_TUNING, any, tuning, sizeof *tuning);
}

bool recorder_take_index(struct muster_world *world, uint64_t index) {
  uint64_t *word = index < world->def.agents_max ? &world->recorder->taken[index / 64] : NULL;
  if (word && !(*word >> (index % 64) & 1)) {
    *word |= 1ull << (index % 64);
    return true;
  }
  recorder_diverges(world->recorder, "its record gives index %llu to a new agent, which is taken",
                    (unsigned long long)index);
  return false;
}

/* Whether an agent that the record makes active waits for that here. */
static bool is_pending(const struct muster_world *world, uint32_t index) {
  return index < world->def.agents_max && world->store.rows[index].status == AGENT_PENDING &&
         identity_is_live(&world->agent_ids, index, identity_generation(&world->agent_ids, index));
}

uint32_t recorder_exchange_activated(struct muster_world *world, uint32_t *agents, uint32_t count, uint32_t most) {
  ASSERT(count <= most);
  if (!world->recorder) return count;
  recorder *recorder = world->recorder;
  if (recorder_records(world->recorder)) recorder_keep_newborns(world);
  if (!recorder_mark(world->recorder, TAG_ACTIVATED)) return 0;
  if (recorder_records(world->recorder)) {
    tape_put_number(&recorder->tape, count);
    tape_put(&recorder->tape, agents, count * sizeof *agents);
  }
  if (!recorder_replays(world->recorder)) return count;
  uint64_t recorded = tape_take_number(&recorder->tape);
  if (recorded > most)
    recorder_diverges(world->recorder, "its record spawns %llu agents at once", (unsigned long long)recorded);
  if (recorded > most) return 0;
  tape_take(&recorder->tape, agents, recorded * sizeof *agents);
  for (uint32_t i = 0; i < recorded; i++) {
    uint32_t again = 0;
    while (again < i && agents[again] != agents[i]) again++;
    if (again == i && is_pending(world, agents[i])) continue;
    recorder_diverges(world->recorder, "agent %u becomes active, but was not spawned", agents[i]);
    return i;
  }
  return (uint32_t)recorded;
}

uint32_t recorder_exchange_id(struct muster_world *world, uint32_t index) {
  recorder_exchange(world->recorder, TAG_ID, &index, sizeof index);
  if (!recorder_replays(world->recorder) || index == IDENTITY_NONE) return index;
  if (!recorder_take_index(world, index)) return IDENTITY_NONE;
  identity_use(&world->agent_ids, index);
  return index;
}
