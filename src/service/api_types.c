/* api_types.c - agent types: what they cost, how they behave, pardon and priority. */
#include "service/api.h"

#include "service/api_bodies.h"

#include <string.h>

/* Answers with what the loop's thread knows already; the rest is asked for by the mailbox. */
typedef struct types_input {
  world_published published;
} types_input;

static void write_costs(json_writer *writer, const published_type *type) {
  json_begin_array(writer, "levels");
  for (uint32_t level = 0; level < WORLD_LEVELS; level++) {
    const muster_type_cost *cost = &type->costs[level];
    if (!cost->agents && !cost->samples) continue;
    json_begin_object(writer, NULL);
    json_uint(writer, "level", level);
    json_uint(writer, "agents", cost->agents);
    json_uint(writer, "mean_ns", cost->mean_ns);
    json_uint(writer, "p95_ns", cost->high_ns);
    json_uint(writer, "samples", cost->samples);
    json_end_object(writer);
  }
  json_end_array(writer);
}

static void write_conduct(json_writer *writer, const muster_conduct *conduct) {
  json_begin_object(writer, "conduct");
  json_bool(writer, "quarantined", conduct->quarantined);
  json_uint(writer, "level_floor", conduct->level_floor);
  json_uint(writer, "offences", conduct->offences);
  json_uint(writer, "worst_ns", conduct->worst_ns);
  json_uint(writer, "stuck", conduct->stuck);
  json_uint(writer, "blocked", conduct->blocked);
  json_uint(writer, "worst_blocked_ns", conduct->worst_blocked_ns);
  if (conduct->blocked) {
    api_write_id(writer, "worst_blocked_agent", conduct->worst_blocked_agent.index,
                 conduct->worst_blocked_agent.generation);
    json_uint(writer, "worst_blocked_atom", conduct->worst_blocked_atom);
  }
  json_uint(writer, "agents_demoted", conduct->agents_demoted);
  json_uint(writer, "agents_quarantined", conduct->agents_quarantined);
  json_end_object(writer);
}

static void read_types(api_call *call) {
  const types_input *input = (const types_input *)(const void *)call->input;
  json_begin_array(&call->writer, "types");
  for (uint32_t i = 0; i < input->published.type_count; i++) {
    muster_conduct conduct = muster_default_conduct();
    if (!api_succeeded(call, muster_conduct_read(call->world->world, (muster_type){i + 1}, &conduct), NULL)) return;
    json_begin_object(&call->writer, NULL);
    json_string(&call->writer, "type", input->published.types[i].name);
    write_costs(&call->writer, &input->published.types[i]);
    write_conduct(&call->writer, &conduct);
    json_end_object(&call->writer);
  }
  json_end_array(&call->writer);
}

static void list_types(http_request *request) {
  enum { EACH_ROOM = 2048 };
  api_call *call = api_begin(request, read_types, sizeof(types_input));
  if (!call) return;
  types_input *input = (types_input *)(void *)call->input;
  world_read_published(call->world, &input->published);
  call->room = 1024 + (size_t)input->published.type_count * EACH_ROOM;
  api_post(call);
}

/* -------------------------------------------------------------------------------------------------------- changing */

typedef struct type_input {
  uint32_t priority; /* stands first: the body is read into it */
  char name[TYPE_NAME_BYTES];
} type_input;

static api_call *api_types_begin(http_request *request, void (*work)(api_call *call)) {
  api_call *call = api_begin(request, work, sizeof(type_input));
  const char *name = http_path_value(request, "type");
  if (!call) return NULL;
  if (strlen(name) < TYPE_NAME_BYTES) {
    strcpy(((type_input *)(void *)call->input)->name, name);
    return call;
  }
  api_complain(&call->problem, 404, "unknown_type", "type", "world %s has no type of that name", call->world->name);
  api_refuse(call);
  return NULL;
}

static void api_types_pardon(api_call *call) {
  const type_input *input = (const type_input *)(const void *)call->input;
  muster_type type = api_find_type(call, input->name);
  if (!type.index || !api_succeeded(call, muster_type_pardon(call->world->world, type), "type")) return;
  flight_forgive(&call->service->flight, call->world->name, input->name);
  json_string(&call->writer, "type", input->name);
  json_bool(&call->writer, "pardoned", true);
}

static void pardon_type(http_request *request) {
  api_call *call = api_types_begin(request, api_types_pardon);
  if (call) api_post(call);
}

static void prioritise(api_call *call) {
  const type_input *input = (const type_input *)(const void *)call->input;
  muster_type type = api_find_type(call, input->name);
  if (!type.index ||
      !api_succeeded(call, muster_type_prioritise(call->world->world, type, input->priority), "priority"))
    return;
  json_string(&call->writer, "type", input->name);
  json_uint(&call->writer, "priority", input->priority);
}

static void prioritise_type(http_request *request) {
  api_call *call = api_types_begin(request, prioritise);
  if (call && api_take_body(call, priority_read)) api_post(call);
}

const http_route api_type_routes[] = {
    {.method = "GET",
     .pattern = "/v1/worlds/{world}/types",
     .handle = list_types,
     .summary = "agent types: costs by level, conduct"},
    {.method = "POST",
     .pattern = "/v1/worlds/{world}/types/{type}/pardon",
     .handle = pardon_type,
     .summary = "forget a type's offences; it and its agents leave quarantine"},
    {.method = "PUT",
     .pattern = "/v1/worlds/{world}/types/{type}/priority",
     .handle = prioritise_type,
     .body_max = 1024,
     .summary = "share of the frame that a type with sets has: 1 .. 100, 0 = none"},
    {0},
};
