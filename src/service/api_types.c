/* api_types.c - agent types: what they cost, their overruns, reinstating, priority and periods. */
#include "service/api.h"

#include "service/api_bodies.h"

#include <muster/overruns.h>
#include <muster/sets.h>
#include <muster/tune.h>

static void write_costs(json_writer *writer, const published_type *type) {
  for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
    const muster_type_cost *cost = &type->costs[level];
    if (cost->agents || cost->samples)
      json_print(writer,
                 "{ level=%u agents=%u mean_ns=%lu p95_ns=%lu samples=%lu fixed_ns=%lu per_second_ns=%lu "
                 "elapsed_load=%f }",
                 level, cost->agents, cost->mean_ns, cost->high_ns, cost->samples, cost->fixed_ns, cost->per_second_ns,
                 cost->elapsed_load);
  }
}

static void write_overrun_counts(json_writer *writer, const muster_overrun_counts *counts) {
  json_print(writer,
             "overrun_counts{ quarantined=%d level_floor=%u overruns=%lu worst_ns=%lu stuck=%lu blocked=%lu "
             "worst_blocked_ns=%lu",
             counts->quarantined, counts->level_floor, counts->overruns, counts->worst_ns, counts->stuck,
             counts->blocked, counts->worst_blocked_ns);
  if (counts->blocked)
    json_print(
        writer, "worst_blocked_agent=%s worst_blocked_atom=%u",
        api_id_of(muster_agent_index(counts->worst_blocked_agent), muster_agent_generation(counts->worst_blocked_agent))
            .text,
        counts->worst_blocked_atom);
  json_print(writer, "agents_demoted=%u agents_quarantined=%u }", counts->agents_demoted, counts->agents_quarantined);
}

static void read_types(api_call *call) {
  world_published *published = call->input;
  world_read_published(call->world, published);
  json_begin_array(&call->writer, "types");
  for (uint32_t i = 0; i < published->type_count; i++) {
    muster_overrun_counts counts = muster_overrun_counts_default();
    periods_order periods;
    const muster_world *world = call->world->world;
    if (!api_succeeded(call, muster_overrun_counts_read(world, (muster_type){i + 1}, &counts), NULL) ||
        !api_succeeded(
            call, muster_type_periods_read(world, (muster_type){i + 1}, &periods.period_ns, &periods.period_max_ns),
            NULL))
      return;
    json_print(&call->writer, "{ type=%s period_ns=%lu period_max_ns=%lu levels[", published->types[i].name,
               periods.period_ns, periods.period_max_ns);
    write_costs(&call->writer, &published->types[i]);
    json_print(&call->writer, "]");
    write_overrun_counts(&call->writer, &counts);
    json_end_object(&call->writer);
  }
  json_end_array(&call->writer);
}

/* -------------------------------------------------------------------------------------------------------- changing */

static void api_types_reinstate(api_call *call) {
  const char *name = http_path_value(call->request, "type");
  muster_type type = api_find_type(call, name);
  if (!type.index || !api_succeeded(call, muster_type_reinstate(call->world->world, type), "type")) return;
  flight_reinstate(&call->service->flight, call->world->name, name);
  json_print(&call->writer, "type=%s reinstated=%d", name, true);
}

static void prioritise(api_call *call) {
  const uint32_t *priority = call->input;
  const char *name = http_path_value(call->request, "type");
  muster_type type = api_find_type(call, name);
  if (type.index && api_succeeded(call, muster_type_set_share(call->world->world, type, *priority), "priority"))
    json_print(&call->writer, "type=%s priority=%u", name, *priority);
}

static void set_type_periods(api_call *call) {
  const periods_order *order = call->input;
  const char *name = http_path_value(call->request, "type");
  muster_type type = api_find_type(call, name);
  if (type.index &&
      api_succeeded(call, muster_type_set_periods(call->world->world, type, order->period_ns, order->period_max_ns),
                    "period_ns"))
    json_print(&call->writer, "type=%s period_ns=%lu period_max_ns=%lu", name, order->period_ns, order->period_max_ns);
}

enum { TYPES_ROOM = 1024 + WORLD_TYPES_MAX * 2048 };

const http_route api_type_routes[] = {
    {"GET", "/v1/worlds/{world}/types", "agent types: costs by level, overruns",
     API_ORDER(read_types, .input_bytes = sizeof(world_published), .room = TYPES_ROOM)},
    {"POST", "/v1/worlds/{world}/types/{type}/reinstate",
     "forget a type's overruns; it and its agents leave quarantine", API_ORDER(api_types_reinstate)},
    {"PUT", "/v1/worlds/{world}/types/{type}/priority",
     "share of the frame that a type with sets has: 1 .. 100, 0 = none",
     API_ORDER(prioritise, priority_read, sizeof(uint32_t)), .body_max = 1024},
    {"PUT", "/v1/worlds/{world}/types/{type}/periods",
     "its agents' shortest and longest period: {period_ns, period_max_ns}; 0 = as defined",
     API_ORDER(set_type_periods, periods_read, sizeof(periods_order)), .body_max = 1024},
    {0},
};
