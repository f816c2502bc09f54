/* api_agents.c - agents: listed, spawned, and one read, explained, woken, moved, tuned, reinstated, removed. */
#include "service/api_agents.h"

#include "service/api_bodies.h"
#include "service/verdict.h"

#include <muster/explain.h>
#include <muster/overruns.h>
#include <muster/tune.h>

void api_write_agent(json_writer *writer, const muster_world *world, muster_agent agent,
                     const muster_agent_info *info) {
  const muster_position *at = &info->position;
  json_print(writer,
             "agent=%s type=%s active=%d partition=%u position{ x=%g y=%g z=%g } importance=%f elasticity=%f level=%u "
             "period_ns=%lu last_update_ns=%lu delays=%u expected_cost_ns=%lu messages=%u",
             api_id_of(muster_agent_index(agent), muster_agent_generation(agent)).text,
             muster_type_name(world, info->type), info->active, info->partition, at->x, at->y, at->z, info->importance,
             info->elasticity, info->level, info->period_ns, info->last_update_ns, info->delays, info->expected_cost_ns,
             info->messages);
  if (info->wake_at_ns) json_uint(writer, "wake_at_ns", info->wake_at_ns);
  json_bool(writer, "quarantined", info->quarantined);
}

static muster_agent agent_of(const api_call *call) {
  return muster_agent_make(call->index, call->generation);
}

/* --------------------------------------------------------------------------------------------------------- reading */

static void read_agent(api_call *call) {
  const muster_world *world = call->world->world;
  muster_agent agent = agent_of(call);
  muster_agent_info info = muster_agent_info_default();
  if (api_succeeded(call, muster_agent_read(world, agent, &info), "agent"))
    api_write_agent(&call->writer, world, agent, &info);
}

/* The explanation is an object of its own. */
static void explain(api_call *call) {
  muster_agent_explanation explanation = muster_agent_explanation_default();
  module_problem problem;
  char words[VERDICT_PROBLEM_BYTES];
  if (!api_succeeded(call, muster_agent_explain(call->world->world, agent_of(call), &explanation), "agent")) return;
  module_parts_find_problem(&call->world->parts, call->world->world, agent_of(call), 0, &problem);
  if (problem.places) snprintf(explanation.problem, sizeof explanation.problem, "%s", verdict_problem(&problem, words));
  call->whole_bytes = muster_explanation_json(&explanation, call->text, call->room);
}

/* -------------------------------------------------------------------------------------------------------- changing */

static void wake(api_call *call) {
  const wake_order *order = call->input;
  muster_world *world = call->world->world;
  if (order->has_time)
    api_confirm(call, muster_agent_wake_at(world, agent_of(call), order->at_ns), "at_ns");
  else
    api_confirm(call, muster_agent_wake(world, agent_of(call)), NULL);
}

static void move(api_call *call) {
  const muster_position *position = call->input;
  api_confirm(call, muster_agent_move(call->world->world, agent_of(call), *position), "position");
}

static void tune(api_call *call) {
  api_confirm(call, muster_agent_tune(call->world->world, agent_of(call), call->input), NULL);
}

static void set_periods(api_call *call) {
  const periods_order *order = call->input;
  api_confirm(call,
              muster_agent_set_periods(call->world->world, agent_of(call), order->period_ns, order->period_max_ns),
              "period_ns");
}

static void reinstate(api_call *call) {
  api_confirm(call, muster_agent_reinstate(call->world->world, agent_of(call)), NULL);
}

static void remove_one(api_call *call) {
  api_confirm(call, muster_agent_remove(call->world->world, agent_of(call)), NULL);
}

#define AGENTS "/v1/worlds/{world}/agents"

enum { SMALL_BODY = 4096, SPAWN_BODY = 2 << 20, EXPLANATION_ROOM = 16384 };

const http_route api_agent_routes[] = {
    {"GET", AGENTS, "agents, page by page; near=x,y,radius", api_handle, &api_list_agents,
     .queries = "type level partition min_importance near cursor limit"},
    {"POST", AGENTS, "spawn an array of {type, position, ...}: all or none", api_handle, &api_spawn_agents,
     .body_max = SPAWN_BODY},
    {"GET", AGENTS "/{agent}", "one agent", API_ORDER(read_agent)},
    {"PATCH", AGENTS "/{agent}", "change importance_floor, elasticity, visibility, bulk, interactivity, designer, role",
     API_ORDER(tune, agent_tuning_read, sizeof(muster_agent_tuning)), .body_max = SMALL_BODY},
    {"DELETE", AGENTS "/{agent}", "remove it", API_ORDER(remove_one)},
    {"GET", AGENTS "/{agent}/explain", "why it runs when and how it does",
     API_ORDER(explain, .room = EXPLANATION_ROOM)},
    {"POST", AGENTS "/{agent}/wake", "run it in the next frame, or ask for a time: {at_ns}",
     API_ORDER(wake, wake_order_read, sizeof(wake_order)), .body_max = SMALL_BODY},
    {"PUT", AGENTS "/{agent}/position", "move it", API_ORDER(move, position_read, sizeof(muster_position)),
     .body_max = SMALL_BODY},
    {"PUT", AGENTS "/{agent}/periods", "periods of its own: {period_ns, period_max_ns}; 0 = its type's",
     API_ORDER(set_periods, periods_read, sizeof(periods_order)), .body_max = SMALL_BODY},
    {"POST", AGENTS "/{agent}/reinstate", "forget its overruns; it leaves quarantine", API_ORDER(reinstate)},
    {0},
};
