/* update_api.c - what an atom may call: muster_update_...(). Joins the running update (run) with what exists. */
#include "agents/batch.h"
#include "agents/nearby.h"
#include "agents/spawn.h"
#include "api/calls.h"
#include "base/error.h"
#include "base/random.h"
#include "run/callback.h"
#include "run/passes.h"
#include "world/guard.h"
#include "world/lifecycle.h"
#include "world/messages.h"
#include "world/world_acts.h"
#include "world/world_commands.h"
#include "world/world_links.h"
#include "world/world_record.h"
#include "world/world_sums.h"
#include "world/zone_mail.h"

#include <muster/sets.h>
#include <muster/tune.h>

#include <string.h>

static update_context *context_of(muster_update *update) {
  return (update_context *)(void *)update;
}

static const update_context *const_context_of(const muster_update *update) {
  return (const update_context *)(const void *)update;
}

/* What was refused is a mistake in the program: the log has its sentence, too, since the next line may be a crash, or
 * nothing. */
static __attribute__((cold)) void tell_once(const update_context *context, update_mistake mistake) {
  if (context->worker->told & mistake) return;
  context->worker->told |= (uint8_t)mistake;
  log_write(&context->public.world->def.log, MUSTER_LOG_WARNING, "an update of type '%s' was refused: %s",
            context->type->name, muster_last_error());
}

muster_result muster_update_move(muster_update *update, muster_position position) {
  muster_result result = callback_check(update, "move");
  if (result) return result;
  update_context *context = context_of(update);
  if (!space_accepts(position)) {
    context->worker->positions_refused++;
    result = agents_refuse_position(position);
    tell_once(context, MISTAKE_POSITION);
    return result;
  }
  context->result->moved_to = space_spot_of(context->runner->space, position);
  context->result->moved = true;
  return MUSTER_OK;
}

/* Whether other updates run beside this one. */
static bool is_beside(const update_context *context) {
  return context->phase == PHASE_PARALLEL || acts_beside(context);
}

/* Whether an action may touch an agent, by its handle: actions of regions keep to their own region. */
static bool reaches(const update_context *context, muster_agent agent) {
  const agent_place *places = context->runner->store->places;
  return context->act != MUSTER_ACT_REGION ||
         space_region(&places[muster_agent_index(agent)]) == space_region(&places[context->index]);
}

/* Beside other updates, commands wait in the worker's log; in serial phases they go straight to the next intake. */
muster_result update_send(muster_update *update, const struct command *command) {
  const update_context *context = const_context_of(update);
  worker_state *worker = context->worker;
  if (!is_beside(context))
    return lifecycle_defer(update->world, command) ? MUSTER_OK : error_set(MUSTER_E_FULL, "commands_max commands wait");
  if (worker->log_count == context->runner->log_max) {
    worker->commands_dropped++;
    return error_set(MUSTER_E_FULL, "one worker's updates sent more than %d commands in a frame", RUNNER_LOG_MAX);
  }
  worker->log[worker->log_count++] = (logged_command){context->entry, context->result->atom_next, *command};
  return MUSTER_OK;
}

/* Whether a handle is that of an active agent; or also of a ghost. */
static bool is_active(const muster_update *update, muster_agent agent) {
  return world_is_live(update->world, agent) && world_is_active(update->world, muster_agent_index(agent));
}

static bool is_seen(const muster_update *update, muster_agent agent) {
  return is_active(update, agent) || (update->world->zone && world_is_live(update->world, agent) &&
                                      zone_ids_is_ghost(update->world->agents.zone, muster_agent_index(agent)));
}

muster_agent muster_update_spawn(muster_update *update, const muster_agent_def *given) {
  if (callback_check(update, "spawn")) return (muster_agent){0};
  update_context *context = context_of(update);
  muster_world *world = update->world;
  muster_agent_def def;
  if (spawn_check(given, intake_queues_types(&world->commands->queues), &def)) {
    tell_once(context, MISTAKE_SPAWN);
    return (muster_agent){0};
  }
  bool parallel = is_beside(context);
  uint32_t number = context->result->spawned, index = IDENTITY_NONE;
  /* In a serial phase an update may take ids that hosts left, and also the ids that were set aside. */
  if (number < context->spawn_limit)
    index = parallel ? context->runner->spawn_ids[context->spawn_base + number]
                     : world_record_any_id(world, identity_take(&world->agents.ids));
  muster_agent agent = {0};
  if (index != IDENTITY_NONE) agent = lifecycle_make(world, index, &def);
  if (muster_agent_is_null(agent)) {
    context->worker->spawns_refused++;
    if (index != IDENTITY_NONE && !parallel) identity_give_back(&world->agents.ids, index);
    uint32_t resting = world->zone ? zone_ids_resting(&world->zone->ids) : 0;
    error_set(
        MUSTER_E_FULL,
        "type '%s' may spawn %u per update (spawns_max), and ids must be left (agents_max); %u rest until another "
        "epoch",
        context->type->name, context->type->def.spawns_max, resting);
    if (!context->type->def.spawns_max) tell_once(context, MISTAKE_SPAWN);
    return agent;
  }
  context->result->spawned++;
  if (!parallel) spawn_queue_add(&world->commands->queues.spawns, index);
  return agent;
}

muster_result muster_update_remove(muster_update *update, muster_agent id) {
  muster_result result = callback_check(update, "remove");
  if (result) return result;
  const update_context *context = const_context_of(update);
  muster_agent agent = world_find(update->world, id);
  if (!world_is_live(update->world, agent)) return guard_gone(id);
  agent_row *row = world_row(update->world, muster_agent_index(agent));
  bool acts = context->phase == PHASE_ACT, serial = acts && context->act == MUSTER_ACT_SERIAL;
  /* A region's agents belong to the worker that runs the region. */
  bool in_region = acts && context->act == MUSTER_ACT_REGION && reaches(context, agent);
  uint8_t *removed = in_region ? &update->world->acts->beside.removed[muster_agent_index(agent)] : NULL;
  if ((acts && row->removal_pending) || (removed && *removed)) return guard_gone(id);
  struct command command = command_about(COMMAND_REMOVE, agent);
  result = update_send(update, &command);
  if (result) return result;
  if (serial) row->removal_pending = 1;
  if (removed) *removed = 1;
  return result;
}

muster_result muster_update_wake(muster_update *update, muster_agent id) {
  muster_result result = callback_check(update, "wake");
  if (result) return result;
  update_context *context = context_of(update);
  muster_agent agent = world_find(update->world, id);
  if (!world_is_live(update->world, agent)) return guard_gone(id);
  /* Under the virtual clock what one update does to another must not depend on workers: the next intake does it. */
  if (context->phase != PHASE_PARALLEL || world_is_virtual(update->world)) {
    struct command command = command_about(COMMAND_WAKE, agent);
    return update_send(update, &command);
  }
  if (!update->world->timed) return MUSTER_OK; /* in a replay the record knows when the agent ran */
  if (!wakes_push(context->runner->wakes, muster_agent_index(agent))) {
    context->worker->commands_dropped++;
    return error_set(MUSTER_E_FULL, "commands_max wakes wait for a worker");
  }
  if (context->worker->takes_woken) runner_call(context->worker);
  return MUSTER_OK;
}

muster_result muster_update_wake_at(muster_update *update, muster_agent id, uint64_t at_ns) {
  muster_result result = callback_check(update, "wake");
  if (result) return result;
  update_context *context = context_of(update);
  muster_agent agent = world_find(update->world, id);
  if (!world_is_live(update->world, agent)) return guard_gone(id);
  if (agents_check_time(at_ns)) return MUSTER_E_ARGUMENT;
  if (muster_agent_index(agent) != context->index) {
    struct command command = command_about(COMMAND_WAKE_AT, agent);
    command.at_ns = at_ns;
    return update_send(update, &command);
  }
  /* Only the agent's own worker writes here, so it needs no room in a log. */
  uint64_t *asked_ns = &context->runner->store->alarms[context->index].asked_ns;
  uint8_t *asks = &context->result->asks;
  if (at_ns != MUSTER_WAKE_NEVER && (!(*asks & ASK_TIME) || at_ns < *asked_ns)) *asked_ns = at_ns;
  *asks = at_ns == MUSTER_WAKE_NEVER ? ASK_NEVER | (*asks & ASK_REACTION) : *asks | ASK_TIME;
  return MUSTER_OK;
}

muster_result muster_update_react_by(muster_update *update, uint64_t by_ns) {
  muster_result result = callback_check(update, "reaction");
  if (!result) result = agents_check_time(by_ns);
  if (result) return result;
  update_context *context = context_of(update);
  uint64_t *asked_ns = &context->runner->store->alarms[context->index].react_asked_ns;
  uint8_t *asks = &context->result->asks;
  bool asked = *asks & ASK_REACTION && *asked_ns != MUSTER_WAKE_NEVER;
  if (!asked || by_ns == MUSTER_WAKE_NEVER || by_ns < *asked_ns) *asked_ns = by_ns;
  *asks |= ASK_REACTION;
  return MUSTER_OK;
}

muster_result muster_update_set_periods(muster_update *update, muster_agent id, uint64_t period_ns,
                                        uint64_t period_max_ns) {
  struct command command;
  muster_result result = callback_check(update, "periods");
  if (!result) result = agents_ask_periods(period_ns, period_max_ns, &command);
  if (result) return result;
  muster_agent agent = world_find(update->world, id);
  if (!world_is_live(update->world, agent)) return guard_gone(id);
  command.index = muster_agent_index(agent);
  command.generation = muster_agent_generation(agent);
  return update_send(update, &command);
}

muster_result muster_update_set_type_periods(muster_update *update, muster_type type, uint64_t period_ns,
                                             uint64_t period_max_ns) {
  struct command command;
  muster_result result = callback_check(update, "periods");
  if (!result) result = agents_ask_type_periods(update->world, type, period_ns, period_max_ns, &command);
  return result ? result : update_send(update, &command);
}

/* Sends a command about the updated agent's company. */
static muster_result send_companions(muster_update *update, muster_agent other, command_kind kind) {
  muster_result result = callback_check(update, "company");
  if (!result) result = agents_check_company(update->world, update->agent, other);
  if (result) return result;
  if (kind == COMMAND_LINK && !world_is_live(update->world, world_find(update->world, other))) return guard_gone(other);
  struct command command = command_about(kind, world_agent(update->world, const_context_of(update)->index));
  command.other = other;
  return update_send(update, &command);
}

muster_result muster_update_link(muster_update *update, muster_agent other) {
  return send_companions(update, other, COMMAND_LINK);
}

muster_result muster_update_unlink(muster_update *update, muster_agent other) {
  return send_companions(update, other, COMMAND_UNLINK);
}

static muster_result check_message(const muster_update *update, muster_agent id, const void *bytes, uint32_t size) {
  if (size && !bytes) return error_set(MUSTER_E_ARGUMENT, "message: %u bytes must be given", size);
  muster_agent to = world_find_seen(update->world, id);
  if (!world_is_live(update->world, to)) {
    if (!update->world->zone || !zone_knows(update->world, id)) return guard_gone(id);
    if (size <= MUSTER_MESSAGE_BYTES_MAX) return MUSTER_OK; /* its type is not known here */
    return error_set(MUSTER_E_ARGUMENT, "message: size %u must be at most %u", size, MUSTER_MESSAGE_BYTES_MAX);
  }
  const agent_type *type = world_type_of(update->world, muster_agent_index(to));
  if (!type->boxes.capacity)
    return error_set(MUSTER_E_ARGUMENT, "message: type '%s' has no boxes: set its messages.waiting_max", type->name);
  if (size > type->boxes.message_bytes)
    return error_set(MUSTER_E_ARGUMENT, "message: size %u must be at most messages.bytes_max = %u of type '%s'", size,
                     type->boxes.message_bytes, type->name);
  return MUSTER_OK;
}

/* How many messages this part of the update may send, and its places when other updates run beside it. */
static uint32_t places_of(update_context *context, outgoing **places) {
  muster_world *world = context->public.world;
  if (acts_beside(context)) {
    const act_entry *entry = &world->acts->beside.entries[context->entry];
    *places = world->links->mailbox.places + entry->send_base;
    return entry->send_limit;
  }
  if (context->phase != PHASE_PARALLEL) return context->type->def.messages.sends_max;
  batch_entry *entry = &world->batch->entries[context->entry];
  if (context->result->sends == 0 && entry->send_limit == 0) messages_set_aside_late(world, entry);
  if (entry->send_limit) *places = world->links->mailbox.places + entry->send_base;
  return entry->send_limit;
}

/* Beside other updates a message waits in a place of its entry; in serial phases it is delivered. */
muster_result muster_update_send(muster_update *update, muster_agent to, const void *bytes, uint32_t size) {
  update_context *context = context_of(update);
  muster_result result = callback_check(update, "message");
  if (result) return result;
  result = check_message(update, to, bytes, size);
  if (result == MUSTER_E_ARGUMENT) tell_once(context, MISTAKE_MESSAGE);
  if (result) return result;
  muster_world *world = update->world;
  bool parallel = is_beside(context);
  outgoing *places = NULL;
  uint32_t number = context->result->sends, limit = places_of(context, &places);
  if (number < UINT16_MAX) context->result->sends++;
  if (number >= limit) {
    if (!parallel) world->sums->statistics.messages_refused++;
    result = error_set(
        MUSTER_E_FULL,
        "type '%s' may send messages.sends_max = %u per update, of limits.sends_per_frame = %u of all updates",
        context->type->name, context->type->def.messages.sends_max, world->def.limits.sends_per_frame);
    if (!context->type->def.messages.sends_max) tell_once(context, MISTAKE_MESSAGE);
    return result;
  }
  struct message_head head = {.peer = to, .sent_ns = context->runner->now_ns, .size = size};
  if (!parallel) {
    messages_post(world, context->index, &head, bytes);
    return MUSTER_OK;
  }
  places[number].head = head;
  if (size) memcpy(places[number].bytes, bytes, size);
  return MUSTER_OK;
}

/* Whether the update sees only what had come when an earlier part of it began. */
static bool has_begun_before(const update_context *context) {
  return context->phase == PHASE_ACT ||
         (context->phase == PHASE_PARALLEL && context->runner->store->rows[context->index].atom_next);
}

uint32_t muster_update_messages(const muster_update *update, muster_message *out, uint32_t capacity) {
  if (callback_check(update, "messages")) return 0;
  const update_context *context = const_context_of(update);
  const box_table *boxes = &context->type->boxes;
  if (!boxes->capacity || update->cycle > 0) return 0;
  uint32_t slot = context->runner->store->rows[context->index].state_slot;
  const struct box *box = &boxes->boxes[slot];
  uint32_t count = has_begun_before(context) ? box->begun : box->count;
  if (!out) return count;
  if (count > capacity) count = capacity;
  for (uint32_t i = 0; i < count; i++) {
    const struct message_head *message = boxes_message(boxes, slot, i);
    out[i] = (muster_message){message->peer, message->sent_ns, message->size, message + 1};
  }
  return count;
}

uint32_t muster_update_messages_lost(const muster_update *update) {
  if (callback_check(update, "messages")) return 0;
  const struct mailbox *mailbox = &update->world->links->mailbox;
  if (mailbox->owed_count == 0 || update->cycle > 0) return 0;
  const struct loss *loss = &mailbox->losses[const_context_of(update)->index];
  return has_begun_before(const_context_of(update)) ? loss->begun : loss->count;
}

const void *muster_update_published_of(const muster_update *update, muster_agent id) {
  if (callback_check(update, "published state")) return NULL;
  muster_agent agent = world_find_seen(update->world, id);
  if (!is_seen(update, agent)) return NULL;
  const agent_row *row = world_row(update->world, muster_agent_index(agent));
  return type_published(world_type(update->world, row->type), row->state_slot, row->front);
}

bool muster_update_position_of(const muster_update *update, muster_agent id, muster_position *position) {
  if (callback_check(update, "position") || (!position && error_missing("position", "position"))) return false;
  muster_agent agent = world_find_seen(update->world, id);
  if (!is_seen(update, agent)) return false;
  *position = world_position(update->world, muster_agent_index(agent));
  return true;
}

/* The agent that an action may write; null with a message when the update may not, or it is not there. */
static const agent_row *find_to_write(const muster_update *update, muster_agent id) {
  if (callback_check(update, "state")) return NULL;
  const update_context *context = const_context_of(update);
  if (context->phase != PHASE_ACT) {
    error_set(MUSTER_E_STATE, "state: in action atoms only");
    tell_once(context, MISTAKE_PHASE);
    return NULL;
  }
  muster_agent agent = world_find(update->world, id);
  return is_active(update, agent) && reaches(context, agent) ? world_row(update->world, muster_agent_index(agent))
                                                             : NULL;
}

void *muster_update_state_of(muster_update *update, muster_agent id) {
  const agent_row *row = find_to_write(update, id);
  return row ? type_state(world_type(update->world, row->type), row->state_slot) : NULL;
}

/* The agent's type keeps another struct than its reader believes. */
static void refuse_struct(const update_context *context, const agent_type *type, const char *what, uint32_t has,
                          uint32_t bytes) {
  if (!has)
    error_set(MUSTER_E_ARGUMENT, "%s of type '%s': it has none, and is read as one of %u bytes", what, type->name,
              bytes);
  else
    error_set(MUSTER_E_ARGUMENT, "%s of type '%s': it has %u bytes, and is read as one of %u: another type's", what,
              type->name, has, bytes);
  tell_once(context, MISTAKE_STRUCT);
}

const void *muster_update_published_as(const muster_update *update, muster_agent id, uint32_t bytes) {
  if (callback_check(update, "published state")) return NULL;
  muster_agent agent = world_find_seen(update->world, id);
  if (!is_seen(update, agent)) return NULL;
  const agent_row *row = world_row(update->world, muster_agent_index(agent));
  const agent_type *type = world_type(update->world, row->type);
  if (type->def.published_bytes == bytes) return type_published(type, row->state_slot, row->front);
  refuse_struct(const_context_of(update), type, "published state", type->def.published_bytes, bytes);
  return NULL;
}

void *muster_update_state_as(muster_update *update, muster_agent id, uint32_t bytes) {
  const agent_row *row = find_to_write(update, id);
  if (!row) return NULL;
  const agent_type *type = world_type(update->world, row->type);
  if (type->def.state_bytes == bytes) return type_state(type, row->state_slot);
  refuse_struct(const_context_of(update), type, "state", type->def.state_bytes, bytes);
  return NULL;
}

static __attribute__((cold)) uint32_t refuse_nearby(const update_context *context, float radius_m, muster_type type) {
  context->worker->context.nearby_cut = false;
  if (!(radius_m >= 0.0f))
    error_set(MUSTER_E_ARGUMENT, "nearby: radius_m %g must be a number of at least 0", (double)radius_m);
  else
    agents_check_type(context->public.world, type);
  tell_once(context, MISTAKE_QUERY);
  return 0;
}

uint32_t muster_update_nearby(const muster_update *update, float radius_m, muster_type type, muster_neighbour *out,
                              uint32_t capacity) {
  if (callback_check(update, "nearby") || (capacity && !out && error_missing("nearby", "array"))) return 0;
  const update_context *context = const_context_of(update);
  if (!(radius_m >= 0.0f) || type.index > update->world->agents.types.count)
    return refuse_nearby(context, radius_m, type);
  const struct runner *runner = context->runner;
  struct neighbour found[MUSTER_NEIGHBOURS_MAX];
  nearby_query query = {
      .index = context->index, .type = type.index ? type.index - 1 : NEARBY_ALL_TYPES, .radius_m = radius_m};
  nearby_looks looks;
  if (capacity > MUSTER_NEIGHBOURS_MAX) capacity = MUSTER_NEIGHBOURS_MAX;
  uint32_t count = nearby_find(runner->space, runner->store, &query, found, capacity, &looks);
  context->worker->nearby_cut += looks.cut;
  context->worker->context.nearby_cut = looks.cut;
  for (uint32_t i = 0; i < count; i++) out[i] = calls_describe(update->world, &found[i]);
  return count;
}

bool muster_update_nearby_cut(const muster_update *update) {
  return !callback_check(update, "nearby") && const_context_of(update)->nearby_cut;
}

bool muster_update_should_yield(muster_update *update) {
  return callback_check(update, "yield") || passes_should_yield(context_of(update));
}

void muster_update_progress(muster_update *update, float progress) {
  if (callback_check(update, "progress")) return;
  set_state *set = context_of(update)->set;
  if (!set) return;
  float share = progress > 0.0f ? progress < 1.0f ? progress : 1.0f : 0.0f; /* NaN is not above 0 */
  set->progress = share_of(share);
  set->reported = true;
}

uint64_t muster_update_region(const muster_update *update) {
  if (callback_check(update, "region")) return 0;
  return space_region(&const_context_of(update)->runner->store->places[const_context_of(update)->index]);
}

uint64_t muster_update_random(muster_update *update) {
  if (callback_check(update, "random")) return 0;
  update_context *context = context_of(update);
  uint64_t key = update->agent.value;
  return random_at(context->runner->seed, key, context->began_ns, ++context->random_counter);
}

float muster_update_random_share(muster_update *update) {
  return muster_random_share(muster_update_random(update));
}
