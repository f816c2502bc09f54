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

/* The beginning of the input of every request for one agent; the members read from the body stand first. */
typedef struct agent_input {
  union {
    wake_order wake;
    muster_position position;
    muster_agent_tuning tuning;
  };
  muster_agent agent;
} agent_input;

static const agent_input *input_of(const api_call *call) {
  return (const agent_input *)(const void *)call->input;
}

static api_call *api_agents_begin(http_request *request, void (*work)(api_call *call)) {
  api_call *call = api_begin(request, work, sizeof(agent_input));
  if (!call) return NULL;
  agent_input *input = (agent_input *)(void *)call->input;
  return api_take_id(call, "agent", &input->agent.index, &input->agent.generation) ? call : NULL;
}

/* The answer to a change that was accepted. */
static void confirm(api_call *call, muster_result result, const char *field) {
  if (!api_succeeded(call, result, result == MUSTER_E_STALE ? "agent" : field)) return;
  muster_agent agent = input_of(call)->agent;
  api_write_id(&call->writer, "agent", agent.index, agent.generation);
}

/* --------------------------------------------------------------------------------------------------------- reading */

static void read_agent(api_call *call) {
  const muster_world *world = call->world->world;
  muster_agent agent = input_of(call)->agent;
  muster_agent_info info = muster_default_agent_info();
  if (api_succeeded(call, muster_agent_read(world, agent, &info), "agent"))
    api_write_agent(&call->writer, world, agent, &info);
}

static void show_agent(http_request *request) {
  api_call *call = api_agents_begin(request, read_agent);
  if (call) api_post(call);
}

enum { EXPLANATION_ROOM = 16384 };

/* The explanation is an object of its own. */
static void explain(api_call *call) {
  muster_agent_explanation explanation = muster_default_agent_explanation();
  if (!api_succeeded(call, muster_agent_explain(call->world->world, input_of(call)->agent, &explanation), "agent"))
    return;
  call->whole_bytes = muster_explanation_json(&explanation, call->text, call->room);
}

static void explain_agent(http_request *request) {
  api_call *call = api_agents_begin(request, explain);
  if (!call) return;
  call->room = EXPLANATION_ROOM;
  api_post(call);
}

/* -------------------------------------------------------------------------------------------------------- changing */

static void wake(api_call *call) {
  const agent_input *input = input_of(call);
  muster_world *world = call->world->world;
  if (input->wake.has_time)
    confirm(call, muster_agent_wake_at(world, input->agent, input->wake.at_ns), "at_ns");
  else
    confirm(call, muster_agent_wake(world, input->agent), NULL);
}

static void wake_agent(http_request *request) {
  api_call *call = api_agents_begin(request, wake);
  if (call && api_take_body(call, wake_order_read)) api_post(call);
}

static void move(api_call *call) {
  const agent_input *input = input_of(call);
  confirm(call, muster_agent_move(call->world->world, input->agent, input->position), "position");
}

static void move_agent(http_request *request) {
  api_call *call = api_agents_begin(request, move);
  if (call && api_take_body(call, position_read)) api_post(call);
}

static void tune(api_call *call) {
  const agent_input *input = input_of(call);
  confirm(call, muster_agent_tune(call->world->world, input->agent, &input->tuning), NULL);
}

static void tune_agent(http_request *request) {
  api_call *call = api_agents_begin(request, tune);
  if (call && api_take_body(call, agent_tuning_read)) api_post(call);
}

static void pardon(api_call *call) {
  confirm(call, muster_agent_pardon(call->world->world, input_of(call)->agent), NULL);
}

static void pardon_agent(http_request *request) {
  api_call *call = api_agents_begin(request, pardon);
  if (call) api_post(call);
}

static void remove_one(api_call *call) {
  confirm(call, muster_agent_remove(call->world->world, input_of(call)->agent), NULL);
}

static void remove_agent(http_request *request) {
  api_call *call = api_agents_begin(request, remove_one);
  if (call) api_post(call);
}

#define AGENTS "/v1/worlds/{world}/agents"

enum { SMALL_BODY = 4096, SPAWN_BODY = 2 << 20 };

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
    {.method = "GET", .pattern = AGENTS "/{agent}", .handle = show_agent, .summary = "one agent"},
    {.method = "PATCH",
     .pattern = AGENTS "/{agent}",
     .handle = tune_agent,
     .body_max = SMALL_BODY,
     .summary = "change importance_floor, elasticity, visibility, bulk, interactivity, designer, role"},
    {.method = "DELETE", .pattern = AGENTS "/{agent}", .handle = remove_agent, .summary = "remove it"},
    {.method = "GET",
     .pattern = AGENTS "/{agent}/explain",
     .handle = explain_agent,
     .summary = "why it runs when and how it does"},
    {.method = "POST",
     .pattern = AGENTS "/{agent}/wake",
     .handle = wake_agent,
     .body_max = SMALL_BODY,
     .summary = "run it in the next frame, or ask for a time: {at_ns}"},
    {.method = "PUT",
     .pattern = AGENTS "/{agent}/position",
     .handle = move_agent,
     .body_max = SMALL_BODY,
     .summary = "move it"},
    {.method = "POST",
     .pattern = AGENTS "/{agent}/pardon",
     .handle = pardon_agent,
     .summary = "forget its offences; it leaves quarantine"},
    {0},
};
