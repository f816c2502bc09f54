/* api_agents.c - one agent: read, explained, woken, moved, tuned, pardoned, removed. */
#include "service/api.h"

#include "service/api_agents.h"
#include "service/api_bodies.h"

#include <string.h>

void api_write_agent(json_writer *writer, const muster_world *world, muster_agent agent,
                     const muster_agent_info *info) {
  api_write_id(writer, "agent", agent.index, agent.generation);
  json_string(writer, "type", muster_type_name(world, info->type));
  json_bool(writer, "active", info->active);
  json_uint(writer, "partition", info->partition);
  api_write_position(writer, "position", info->position);
  api_write_float(writer, "importance", info->importance);
  api_write_float(writer, "elasticity", info->elasticity);
  json_uint(writer, "level", info->level);
  json_uint(writer, "period_ns", info->period_ns);
  json_uint(writer, "last_update_ns", info->last_update_ns);
  json_uint(writer, "delays", info->delays);
  json_uint(writer, "expected_cost_ns", info->expected_cost_ns);
  json_uint(writer, "messages", info->messages);
  if (info->wake_at_ns) json_uint(writer, "wake_at_ns", info->wake_at_ns);
  json_bool(writer, "quarantined", info->quarantined);
}

static muster_agent agent_of(const api_call *call) {
  return (muster_agent){call->index, call->generation};
}

/* --------------------------------------------------------------------------------------------------------- reading */

static void read_agent(api_call *call) {
  const muster_world *world = call->world->world;
  muster_agent agent = agent_of(call);
  muster_agent_info info = muster_default_agent_info();
  if (api_succeeded(call, muster_agent_read(world, agent, &info), "agent"))
    api_write_agent(&call->writer, world, agent, &info);
}

/* The explanation is an object of its own. */
static void explain(api_call *call) {
  muster_agent_explanation explanation = muster_default_agent_explanation();
  if (!api_succeeded(call, muster_agent_explain(call->world->world, agent_of(call), &explanation), "agent")) return;
  call->whole_bytes = muster_explanation_json(&explanation, call->text, call->room);
}

/* -------------------------------------------------------------------------------------------------------- changing */

static void wake(api_call *call) {
  const wake_order *order = (const wake_order *)(const void *)call->input;
  muster_world *world = call->world->world;
  if (order->has_time)
    api_confirm(call, muster_agent_wake_at(world, agent_of(call), order->at_ns), "at_ns");
  else
    api_confirm(call, muster_agent_wake(world, agent_of(call)), NULL);
}

static void move(api_call *call) {
  const muster_position *position = (const muster_position *)(const void *)call->input;
  api_confirm(call, muster_agent_move(call->world->world, agent_of(call), *position), "position");
}

static void tune(api_call *call) {
  const muster_agent_tuning *tuning = (const muster_agent_tuning *)(const void *)call->input;
  api_confirm(call, muster_agent_tune(call->world->world, agent_of(call), tuning), NULL);
}

static void pardon(api_call *call) {
  api_confirm(call, muster_agent_pardon(call->world->world, agent_of(call)), NULL);
}

static void remove_one(api_call *call) {
  api_confirm(call, muster_agent_remove(call->world->world, agent_of(call)), NULL);
}

#define AGENTS "/v1/worlds/{world}/agents"

enum { SMALL_BODY = 4096, SPAWN_BODY = 2 << 20, EXPLANATION_ROOM = 16384 };

const http_route api_agent_routes[] = {
    {.method = "GET",
     .pattern = AGENTS,
     .handle = api_list_agents,
     .queries = "type level partition min_importance near cursor limit",
     .summary = "agents, page by page; near=x,y,radius"},
    {.method = "POST",
     .pattern = AGENTS,
     .handle = api_spawn_agents,
     .body_max = SPAWN_BODY,
     .summary = "spawn an array of {type, position, ...}: all or none"},
    {.method = "GET",
     .pattern = AGENTS "/{agent}",
     .handle = api_handle,
     .order = &(const api_order){.work = read_agent},
     .summary = "one agent"},
    {.method = "PATCH",
     .pattern = AGENTS "/{agent}",
     .handle = api_handle,
     .order = &(const api_order){.work = tune, .read = agent_tuning_read, .input_bytes = sizeof(muster_agent_tuning)},
     .body_max = SMALL_BODY,
     .summary = "change importance_floor, elasticity, visibility, bulk, interactivity, designer, role"},
    {.method = "DELETE",
     .pattern = AGENTS "/{agent}",
     .handle = api_handle,
     .order = &(const api_order){.work = remove_one},
     .summary = "remove it"},
    {.method = "GET",
     .pattern = AGENTS "/{agent}/explain",
     .handle = api_handle,
     .order = &(const api_order){.work = explain, .room = EXPLANATION_ROOM},
     .summary = "why it runs when and how it does"},
    {.method = "POST",
     .pattern = AGENTS "/{agent}/wake",
     .handle = api_handle,
     .order = &(const api_order){.work = wake, .read = wake_order_read, .input_bytes = sizeof(wake_order)},
     .body_max = SMALL_BODY,
     .summary = "run it in the next frame, or ask for a time: {at_ns}"},
    {.method = "PUT",
     .pattern = AGENTS "/{agent}/position",
     .handle = api_handle,
     .order = &(const api_order){.work = move, .read = position_read, .input_bytes = sizeof(muster_position)},
     .body_max = SMALL_BODY,
     .summary = "move it"},
    {.method = "POST",
     .pattern = AGENTS "/{agent}/pardon",
     .handle = api_handle,
     .order = &(const api_order){.work = pardon},
     .summary = "forget its offences; it leaves quarantine"},
    {0},
};
