#include "service/api.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/quantity.h"
#include "service/health.h"
#include "service/live.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ calls */

hosted_world *api_world(http_request *request) {
  const char *name = http_path_value(request, "world");
  hosted_world *world = service_find_world(http_user(request), name);
  if (!world) http_refuse(request, 404, "unknown_world", "world", "there is no world '%.40s'", name);
  return world;
}

api_call *api_begin(http_request *request, void (*work)(api_call *call), size_t bytes) {
  hosted_world *world = NULL;
  if (http_has_path_value(request, "world") && (world = api_world(request)) == NULL) return NULL;
  api_call *call = calloc(1, sizeof *call + bytes);
  if (!call) {
    http_refuse(request, 429, "busy", NULL, "no memory for the request now");
    return NULL;
  }
  call->request = request;
  call->service = http_user(request);
  call->world = world;
  call->work = work;
  call->status = 200;
  call->room = 4096;
  return call;
}

static void end(api_call *call) {
  if (call->release) call->release(call->input);
  free(call->text);
  free(call);
}

void api_refuse(api_call *call) {
  const api_problem *problem = &call->problem;
  ASSERT(problem->status >= 400);
  http_refuse(call->request, problem->status, problem->code, *problem->field ? problem->field : NULL, "%s",
              problem->message);
  end(call);
}

bool api_take_body(api_call *call, bool (*read)(const void *body, size_t bytes, void *out, api_problem *problem)) {
  size_t bytes;
  const void *body = http_body(call->request, &bytes);
  if (read(body, bytes, call->input, &call->problem)) return true;
  call->release = NULL; /* a failed reader leaves nothing to free */
  api_refuse(call);
  return false;
}

/* Reads the part of the path that must be INDEX.GENERATION. False: the request was refused, and the call is gone. */
static bool take_id(api_call *call, const char *name) {
  char first[16];
  uint64_t values[2] = {0, 0};
  const char *text = http_path_value(call->request, name), *dot = strchr(text, '.');
  size_t length = dot ? (size_t)(dot - text) : sizeof first;
  if (length < sizeof first) snprintf(first, sizeof first, "%.*s", (int)length, text);
  if (length >= sizeof first || quantity_count(first, 0, UINT32_MAX, &values[0]) ||
      quantity_count(dot + 1, 0, UINT32_MAX, &values[1])) {
    api_complain(&call->problem, 400, "bad_id", name, "name the %s INDEX.GENERATION, as the lists do", name);
    api_refuse(call);
    return false;
  }
  call->named = name;
  call->index = (uint32_t)values[0];
  call->generation = (uint32_t)values[1];
  return true;
}

void api_handle(http_request *request) {
  static const char *const names[] = {"agent", "observer"};
  const api_order *order = http_route_of(request)->order;
  api_call *call = api_begin(request, order->work, order->input_bytes);
  if (!call) return;
  call->release = order->release;
  if (order->status) call->status = order->status;
  if (order->room) call->room = order->room;
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (http_has_path_value(request, names[i]) && !take_id(call, names[i])) return;
  if (!order->read || api_take_body(call, order->read)) api_post(call);
}

/* ------------------------------------------------------------------------------------------------------ into the
 * mailbox */

static void api_run(mailbox_request *request, struct service *service) {
  api_call *call = (api_call *)request;
  (void)service;
  call->ran = true;
  call->again = false;
  if (call->world && !call->world->world)
    api_complain(&call->problem, 409, "not_hosted", "world", "world %s is not hosted: %s", call->world->name,
                 call->world->failure);
  else
    call->work(call);
}

static void api_answer(api_call *call) {
  http_request *request = call->request;
  char *text = call->text;
  size_t bytes = call->whole_bytes;
  if (!bytes) {
    json_end_object(&call->writer);
    bool fits = json_finish(&call->writer);
    ASSERT(fits);
    bytes = fits ? call->writer.length : 0;
  }
  call->text = NULL;
  http_answer_owned(request, bytes ? call->status : 500, HTTP_JSON, text, bytes);
  end(call);
}

static void service_api_post(api_call *call);

static void api_done(mailbox_request *request) {
  api_call *call = (api_call *)request;
  if (!call->ran) api_complain(&call->problem, 503, "stopping", NULL, "the daemon stops");
  if (call->problem.status)
    api_refuse(call);
  else if (call->again)
    service_api_post(call);
  else
    api_answer(call);
}

static void service_api_post(api_call *call) {
  call->posted = (mailbox_request){.run = api_run, .done = api_done};
  call->ran = false;
  muster_result result = frame_mailbox_post(&call->service->mailbox, &call->posted);
  if (!result) return;
  bool full = result == MUSTER_E_FULL;
  api_complain(&call->problem, full ? 429 : 503, full ? "busy" : "stopping", NULL, "%s", muster_last_error());
  api_refuse(call);
}

void api_post(api_call *call) {
  call->text = malloc(call->room);
  if (!call->text) {
    api_complain(&call->problem, 429, "busy", NULL, "no memory for the answer now");
    api_refuse(call);
    return;
  }
  json_start(&call->writer, call->text, call->room);
  json_begin_object(&call->writer, NULL);
  service_api_post(call);
}

/* ---------------------------------------------------------------------------------------------------------- helpers */

bool api_succeeded(api_call *call, muster_result result, const char *field) {
  static const struct {
    muster_result result;
    unsigned status;
    const char *code;
  } meanings[] = {
      {MUSTER_E_ARGUMENT, 400, "out_of_range"}, {MUSTER_E_STALE, 404, "gone"},  {MUSTER_E_FULL, 429, "busy"},
      {MUSTER_E_INPUT, 400, "refused"},         {MUSTER_E_STATE, 409, "state"}, {MUSTER_E_SYSTEM, 409, "refused"},
      {MUSTER_E_MEMORY, 429, "busy"},
  };
  if (result == MUSTER_OK) return true;
  for (size_t i = 0; i < sizeof meanings / sizeof *meanings; i++)
    if (meanings[i].result == result)
      return api_complain(&call->problem, meanings[i].status, meanings[i].code, field, "%s", muster_last_error());
  return api_complain(&call->problem, 409, "refused", field, "%s", muster_last_error());
}

void api_confirm(api_call *call, muster_result result, const char *field) {
  if (api_succeeded(call, result, result == MUSTER_E_STALE ? call->named : field))
    api_write_id(&call->writer, call->named, call->index, call->generation);
}

void api_write_id(json_writer *writer, const char *name, uint32_t index, uint32_t generation) {
  char text[32];
  snprintf(text, sizeof text, "%u.%u", index, generation);
  json_string(writer, name, text);
}

/* Writes a float with no more digits than it has. */
void api_write_float(json_writer *writer, const char *name, float value) {
  char digits[32];
  snprintf(digits, sizeof digits, "%.7g", (double)value);
  json_number(writer, name, strtof(digits, NULL) == value ? strtod(digits, NULL) : (double)value);
}

void api_write_position(json_writer *writer, const char *name, muster_position position) {
  json_begin_object(writer, name);
  json_number(writer, "x", position.x);
  json_number(writer, "y", position.y);
  json_number(writer, "z", position.z);
  json_end_object(writer);
}

muster_type api_find_type(api_call *call, const char *name) {
  muster_type type = {1};
  for (const char *known; (known = muster_type_name(call->world->world, type)) != NULL; type.index++)
    if (strcmp(known, name) == 0) return type;
  api_complain(&call->problem, 404, "unknown_type", "type", "world %s has no type '%s'", call->world->name, name);
  return (muster_type){0};
}

void api_answer_now(http_request *request, json_writer *writer) {
  bool whole = json_finish(writer);
  ASSERT(whole);
  http_answer_owned(request, whole ? 200 : 500, HTTP_JSON, writer->buffer, writer->length);
}

bool api_query_count(http_request *request, const char *name, uint64_t least, uint64_t most, uint64_t *value,
                     api_problem *problem) {
  const char *text = http_query_value(request, name);
  if (!text || quantity_count(text, least, most, value) == MUSTER_OK) return true;
  return api_complain(problem, 400, "out_of_range", name, "%s: %s", name, muster_last_error());
}

/* ----------------------------------------------------------------------------------------------------------- server */

static void show_routes(http_request *request);

static const http_route own_routes[] = {
    {.method = "GET", .pattern = "/v1", .handle = show_routes, .summary = "what there is"},
    {0},
};

static const http_route *const tables[] = {own_routes,          api_world_routes, api_type_routes,   api_agent_routes,
                                           api_observer_routes, api_bulk_routes,  api_module_routes, metrics_routes,
                                           health_routes,       flight_routes,    snapshot_routes,   stream_routes,
                                           map_routes,          herd_routes,      page_routes,       NULL};

static void write_route(json_writer *writer, const http_route *route) {
  json_begin_object(writer, NULL);
  json_string(writer, "method", route->method);
  json_string(writer, "path", route->pattern);
  if (route->queries) json_string(writer, "queries", route->queries);
  if (route->body_max) json_uint(writer, "body_bytes_max", route->body_max);
  json_string(writer, "summary", route->summary ? route->summary : "");
  json_end_object(writer);
}

static void show_routes(http_request *request) {
  enum { ROOM = 65536 };
  char *text = malloc(ROOM);
  json_writer writer;
  if (!text) abort();
  json_start(&writer, text, ROOM);
  json_begin_object(&writer, NULL);
  json_begin_array(&writer, "requests");
  for (const http_route *const *table = http_tables(request); *table; table++)
    for (const http_route *route = *table; route->method; route++) write_route(&writer, route);
  json_end_array(&writer);
  json_end_object(&writer);
  api_answer_now(request, &writer);
}

/* `token` is the buffer for the token; the options point into the settings. */
static muster_result read_options(const struct settings *settings, http_options *options, char token[TOKEN_BYTES]) {
  muster_result result = token_read(settings->token_file, token);
  if (result) error_set(result, "token_file: %s", muster_last_error());
  *options = http_default_options();
  options->tables = tables;
  options->token = *token ? token : NULL;
  options->hosts = settings->hosts;
  options->connections_max = settings->connections_max;
  options->connections_per_client = settings->client_connections_max;
  options->header_bytes_max = settings->header_bytes_max;
  options->body_bytes_max = settings->body_bytes_max;
  options->receive_ms = (uint32_t)(settings->idle_timeout_ns / 1000000u);
  return result;
}

muster_result api_reload(struct service *service) {
  http_options options;
  char token[TOKEN_BYTES];
  muster_result result = read_options(&service->settings, &options, token);
  return result ? result : http_change(service->http, &options);
}

static muster_result listen_by_tcp(struct service *service, bool token) {
  const struct settings *settings = &service->settings;
  muster_result result = http_listen_tcp(service->http, settings->listen, settings->listen_anywhere);
  if (result) return result;
  log_line(MUSTER_LOG_INFO, "control: also at %s, port %u", settings->listen, http_port(service->http));
  if (!token) log_line(MUSTER_LOG_WARNING, "control: without token_file nothing can be changed over TCP");
  return MUSTER_OK;
}

muster_result api_open(struct service *service) {
  http_options options;
  char token[TOKEN_BYTES];
  muster_result result = read_options(&service->settings, &options, token);
  if (result) return result;
  options.user = service;
  result = live_open(service);
  if (result) return result;
  service->http = http_create(service->loop, &options);
  if (!service->http) return MUSTER_E_MEMORY;
  result = http_listen_unix(service->http, service->control.descriptor);
  return result || !*service->settings.listen ? result : listen_by_tcp(service, options.token != NULL);
}

void api_close(struct service *service) {
  http_destroy(service->http, NULL, NULL);
  service->http = NULL;
  live_close(service);
}
