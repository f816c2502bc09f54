/* api_spawn.c - new agents, many at once: all of a request or none. */
#include "service/api_agents.h"

#include "service/api_bodies.h"

#include <stdio.h>

/* Looks up the type of every name. */
static bool find_types(api_call *call, const spawn_order *order, muster_type types[SPAWN_TYPES_MAX]) {
  for (uint32_t i = 0; i < order->name_count; i++) {
    types[i] = api_find_type(call, order->names[i]);
    if (!types[i].index) return false;
  }
  return true;
}

static bool api_spawn_has_room(api_call *call, uint32_t count) {
  const hosted_world *world = call->world;
  muster_frame_report report = muster_frame_report_default();
  muster_frame_report_read(world->world, &report);
  uint64_t there = (uint64_t)report.agents + report.spawns_waiting;
  uint32_t most = world->settings.agents_max;
  if (world->needs.agents > most) most = world->needs.agents;
  if (world->needs.agents_max > most) most = world->needs.agents_max;
  return most == 0 || there + count <= most ||
         api_complain(&call->problem, 409, "full", NULL, "%u agents more than the %lu that are there do not fit %u",
                      count, there, most);
}

/* Copies the request's definition, and lets the module complete it. */
static bool api_spawn_complete(api_call *call, const spawn_one *one, muster_type type, muster_agent_def *def) {
  const hosted_world *world = call->world;
  *def = one->def;
  def->type = type;
  return api_succeeded(call, world->module->complete(world->instance, world->world, def), "type");
}

static void take_back(api_call *call, const muster_agent *agents, uint32_t count) {
  for (uint32_t i = 0; i < count; i++) muster_agent_remove(call->world->world, agents[i]);
}

/* The message gives counts, since fewer than agents_max agents may be there: the other ids wait for spawns from
 * updates. */
static void refuse_full(api_call *call) {
  char reason[256];
  muster_frame_report report = muster_frame_report_default();
  snprintf(reason, sizeof reason, "%s", muster_last_error());
  muster_frame_report_read(call->world->world, &report);
  api_complain(&call->problem, 409, "full", NULL,
               "%s; %u agents are there and %u wait to come in: spawn fewer, or raise agents_max", reason,
               report.agents, report.spawns_waiting);
}

/* Without `agents` every definition is only tried. */
static bool api_spawn_all(api_call *call, const spawn_order *order, const muster_type *types, muster_agent *agents) {
  for (uint32_t i = 0; i < order->count; i++) {
    muster_agent_def def;
    const spawn_one *one = &order->agents[i];
    bool well = api_spawn_complete(call, one, types[one->name], &def);
    if (well && agents) agents[i] = muster_agent_spawn(call->world->world, &def);
    if (well && (!agents || !muster_agent_is_null(agents[i]))) continue;
    if (well) refuse_full(call);
    if (agents) take_back(call, agents, i);
    return false;
  }
  return true;
}

static void api_spawn(api_call *call) {
  const spawn_order *order = call->input;
  const muster_module *module = call->world->module;
  muster_type types[SPAWN_TYPES_MAX];
  muster_agent agents[SPAWNS_MAX];
  if (!module->complete) {
    api_complain(&call->problem, 409, "module", NULL, "module %s makes no agents for others", module->name);
    return;
  }
  if (!find_types(call, order, types) || !api_spawn_has_room(call, order->count) ||
      !api_spawn_all(call, order, types, NULL) || !api_spawn_all(call, order, types, agents))
    return;
  json_begin_array(&call->writer, "agents");
  for (uint32_t i = 0; i < order->count; i++)
    json_string(&call->writer, NULL, api_id_of(muster_agent_index(agents[i]), muster_agent_generation(agents[i])).text);
  json_end_array(&call->writer);
}

enum { ROOM = 1024 + SPAWNS_MAX * 40 };

const api_order api_spawn_agents = {
    api_spawn, spawn_order_read, sizeof(spawn_order), .release = spawn_order_release, .status = 201, .room = ROOM};
