#include "service/api.h"

#include "base/assert.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/quantity.h"
#include "service/api_once.h"
#include "service/health.h"
#include "service/live.h"
#include "service/log.h"
#include "service/metrics.h"
#include "service/token.h"

#include <muster/zone.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------ calls */

void api_refuse_world(http_request *request, const struct settings *settings, const char *name) {
  char names[WORLDS_MAX * (NAME_BYTES + 2)] = "";
  size_t length = 0;
  for (uint32_t i = 0; i < settings->world_count; i++)
    length += (size_t)snprintf(names + length, sizeof names - length, "%s%s", i ? ", " : "", settings->worlds[i].name);
  http_refuse(request, 404, "unknown_world", "world", "there is no world '%.40s'; there are: %s", name, names);
}

hosted_world *api_world(http_request *request) {
  const char *name = http_path_value(request, "world");
  struct service *service = http_user(request);
  hosted_world *world = service_find_world(service, name);
  if (!world) api_refuse_world(request, &service->settings, name);
  return world;
}

void api_refuse(http_request *request, const api_problem *problem) {
  ASSERT(problem->status >= 400);
  http_refuse(request, problem->status, problem->code, *problem->field ? problem->field : NULL, "%s", problem->message);
}

/* Ends the document that the work has written. */
static void api_end_document(api_call *call) {
  if (call->whole_bytes) return;
  json_end_object(&call->writer);
  bool fits = json_finish(&call->writer);
  ASSERT(fits);
  call->whole_bytes = fits ? call->writer.length : 0;
}

static void api_answer(api_call *call) {
  size_t bytes = call->whole_bytes;
  http_answer_owned(call->request, bytes ? call->status : 500, call->type ? call->type : HTTP_JSON, call->text, bytes);
  call->text = NULL;
}

static void finish(api_call *call) {
  once_add_headers(call);
  if (call->problem.status)
    api_refuse(call->request, &call->problem);
  else
    api_answer(call);
  if (call->order->release) call->order->release(call->input);
  free(call->text);
  free(call);
}

static void api_work(api_call *call) {
  call->ran = true;
  call->again = false;
  call->order->work(call);
  if (!call->again && !call->problem.status) api_end_document(call);
}

static void api_run(mailbox_request *request, struct service *service) {
  api_call *call = (api_call *)request;
  (void)service;
  if (call->world && !call->world->world)
    api_complain(&call->problem, 409, "not_hosted", "world", "world %s is not hosted: %s", call->world->name,
                 call->world->failure);
  else if (call->world && zone_standstill(call->world))
    api_complain(&call->problem, 503, "frozen", "world", "zone %s stands still: %s; ask again", call->world->name,
                 zone_standstill(call->world));
  else if (!once_is_answered(call))
    once_work(call, api_work);
  call->ran = true;
  if (!call->again) once_end(call);
}

/* On the loop's thread. */
static void run_at_once(api_call *call) {
  api_work(call);
  if (call->world) call->once.frame = world_read_frame(call->world);
}

static void api_post(api_call *call);

static void api_done(mailbox_request *request) {
  api_call *call = (api_call *)request;
  if (!call->ran) api_complain(&call->problem, 503, "stopping", NULL, "the daemon stops");
  if (call->again && !call->problem.status)
    api_post(call);
  else
    finish(call);
}

static void api_post(api_call *call) {
  call->posted = (mailbox_request){.run = api_run, .done = api_done, .may_go = once_may_go};
  call->ran = false;
  muster_result result = frame_mailbox_post(&call->service->mailbox, &call->posted);
  if (!result) return;
  bool full = result == MUSTER_E_FULL;
  api_complain(&call->problem, full ? 429 : 503, full ? "busy" : "stopping", NULL, "%s", muster_last_error());
  finish(call);
}

/* Reads the part of the path that must be INDEX.GENERATION. False with a problem. */
static bool read_id(api_call *call, const char *name) {
  char first[16];
  uint64_t values[2] = {0, 0};
  const char *text = http_path_value(call->request, name), *dot = strchr(text, '.');
  size_t length = dot ? (size_t)(dot - text) : sizeof first;
  if (length < sizeof first) snprintf(first, sizeof first, "%.*s", (int)length, text);
  if (length >= sizeof first || quantity_count(first, 0, UINT32_MAX, &values[0]) ||
      quantity_count(dot + 1, 0, UINT32_MAX, &values[1]))
    return api_complain(&call->problem, 400, "bad_id", name, "name the %s INDEX.GENERATION, as the lists do", name);
  call->named = name;
  call->index = (uint32_t)values[0];
  call->generation = (uint32_t)values[1];
  return true;
}

/* Reads all of the request, and makes room for the answer. False with a problem. */
static bool api_prepare(api_call *call) {
  static const char *const names[] = {"agent", "observer"};
  const api_order *order = call->order;
  size_t bytes;
  const void *body = http_body(call->request, &bytes);
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (http_has_path_value(call->request, names[i]) && !read_id(call, names[i])) return false;
  if (!once_read(call)) return false;
  if (order->query && !order->query(call)) return false;
  if (order->read && !order->read(body, bytes, call->input, &call->problem)) return false;
  call->text = malloc(call->room);
  if (!call->text) return api_complain(&call->problem, 429, "busy", NULL, "no memory for the answer now");
  json_start(&call->writer, call->text, call->room);
  json_begin_object(&call->writer, NULL);
  return true;
}

void api_handle(http_request *request) {
  const api_order *order = http_route_of(request)->order;
  hosted_world *world = NULL;
  if (http_has_path_value(request, "world") && (world = api_world(request)) == NULL) return;
  api_call *call = calloc(1, sizeof *call + order->input_bytes);
  if (!call) {
    http_refuse(request, 429, "busy", NULL, "no memory for the request now");
    return;
  }
  call->request = request;
  call->service = http_user(request);
  call->world = world;
  call->order = order;
  call->status = order->status ? order->status : 200;
  call->room = order->room ? order->room : 4096;
  call->input = call->memory;
  bool ready = api_prepare(call);
  if (ready && order->at_once) run_at_once(call);
  if (ready && !order->at_once)
    api_post(call);
  else
    finish(call);
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

/* An observer that another zone has is not gone. */
static bool api_has_moved(const api_call *call) {
  uint32_t zone;
  return strcmp(call->named, "observer") == 0 && call->world->zone &&
         muster_observer_zone(call->world->world, muster_observer_make(call->index, call->generation), &zone) ==
             MUSTER_OK;
}

void api_confirm(api_call *call, muster_result result, const char *field) {
  char why[sizeof call->problem.message];
  snprintf(why, sizeof why, "%s", muster_last_error());
  if (result == MUSTER_E_STALE && api_has_moved(call)) {
    api_complain(&call->problem, 409, "moved", call->named, "%s", why);
    return;
  }
  if (api_succeeded(call, result, result == MUSTER_E_STALE ? call->named : field))
    json_string(&call->writer, call->named, api_id_of(call->index, call->generation).text);
}

api_id api_id_of(uint32_t index, uint32_t generation) {
  api_id id;
  snprintf(id.text, sizeof id.text, "%u.%u", index, generation);
  return id;
}

/* Says which name was meant, or which there are, as far as these fit. */
static void complain_type(api_call *call, const char *name) {
  enum { NAMES = 16 };
  const char *names[NAMES];
  char list[200] = "";
  size_t length = 0, count = 0;
  while (count < NAMES && (names[count] = muster_type_name(call->world->world, (muster_type){(uint32_t)count + 1}))) {
    const char *known = names[count++];
    if (length < sizeof list)
      length += (size_t)snprintf(list + length, sizeof list - length, "%s%s", length ? ", " : "", known);
  }
  const char *nearest = nearest_name(name, names, count);
  if (nearest) snprintf(list, sizeof list, "did you mean '%s'?", nearest);
  api_complain(&call->problem, 404, "unknown_type", "type", "world %s has no type '%.40s'; %s%s", call->world->name,
               name, nearest ? "" : "there are: ", list);
}

muster_type api_find_type(api_call *call, const char *name) {
  muster_type type = {1};
  for (const char *known; (known = muster_type_name(call->world->world, type)) != NULL; type.index++)
    if (strcmp(known, name) == 0) return type;
  complain_type(call, name);
  return (muster_type){0};
}

bool api_query_count(http_request *request, const char *name, uint64_t least, uint64_t most, uint64_t *value,
                     api_problem *problem) {
  const char *text = http_query_value(request, name);
  if (!text || quantity_count(text, least, most, value) == MUSTER_OK) return true;
  return api_complain(problem, 400, "out_of_range", name, "%s: %s", name, muster_last_error());
}

/* ----------------------------------------------------------------------------------------------------------- server */

static void show_routes(api_call *call) {
  json_begin_array(&call->writer, "requests");
  for (const http_route *const *table = http_tables(call->request); *table; table++)
    for (const http_route *route = *table; route->method; route++) {
      json_print(&call->writer, "{ method=%s path=%s", route->method, route->pattern);
      if (route->queries) json_string(&call->writer, "queries", route->queries);
      if (route->body_max) json_uint(&call->writer, "body_bytes_max", route->body_max);
      json_print(&call->writer, "summary=%s }", route->summary ? route->summary : "");
    }
  json_end_array(&call->writer);
}

static const http_route own_routes[] = {
    {"GET", "/v1", "what there is", API_ORDER(show_routes, .at_once = true, .room = 65536)},
    {0},
};

static const http_route *const tables[] = {own_routes,
                                           api_world_routes,
                                           api_type_routes,
                                           api_agent_routes,
                                           api_observer_routes,
                                           api_bulk_routes,
                                           api_module_routes,
                                           api_command_routes,
                                           metrics_routes,
                                           health_routes,
                                           flight_routes,
                                           snapshot_routes,
                                           stream_routes,
                                           map_routes,
                                           herd_routes,
                                           history_routes,
                                           ranking_routes,
                                           page_routes,
                                           NULL};

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

muster_result api_change(struct http *http, const struct settings *settings) {
  http_options options;
  char token[TOKEN_BYTES];
  muster_result result = read_options(settings, &options, token);
  return result ? result : http_change(http, &options);
}

static muster_result listen_by_tcp(struct http *http, const struct settings *settings, bool token) {
  muster_result result = http_listen_tcp(http, settings->listen, settings->listen_anywhere);
  if (result) return result;
  log_line(MUSTER_LOG_INFO, "control: also at %s, port %u", settings->listen, http_port(http));
  if (!token) log_line(MUSTER_LOG_WARNING, "control: without token_file nothing can be changed over TCP");
  return MUSTER_OK;
}

struct http *api_serve(uv_loop_t *loop, const struct settings *settings, int descriptor,
                       void (*handle)(http_request *request), void *user) {
  http_options options;
  char token[TOKEN_BYTES];
  if (read_options(settings, &options, token)) return NULL;
  options.user = user;
  options.handle = handle;
  struct http *http = http_create(loop, &options);
  if (!http) return NULL;
  muster_result result = http_listen_unix(http, descriptor);
  if (!result && *settings->listen) result = listen_by_tcp(http, settings, options.token != NULL);
  if (!result) return http;
  http_destroy(http, NULL, NULL);
  return NULL;
}

muster_result api_open(struct service *service) {
  muster_result result = live_open(service);
  if (result) return result;
  service->http = api_serve(service->loop, &service->settings, service->control.descriptor, NULL, service);
  return service->http ? MUSTER_OK : muster_last_result();
}

void api_close(struct service *service) {
  http_destroy(service->http, NULL, NULL);
  service->http = NULL;
  live_close(service);
}
