/* api_modules.c - behaviour modules: those that are loaded, and one more. */
#include "service/api.h"

#include "service/api_bodies.h"

#include <stdio.h>

static void write_module(json_writer *writer, const loaded_module *loaded) {
  char summary[128]; /* cut to this length: a module's summary may be longer */
  snprintf(summary, sizeof summary, "%s", loaded->module.summary);
  json_begin_object(writer, NULL);
  json_string(writer, "module", loaded->name);
  json_string(writer, "summary", summary);
  json_end_object(writer);
}

static void api_modules_list(api_call *call) {
  const struct modules *modules = &call->service->modules;
  json_begin_array(&call->writer, "modules");
  for (uint32_t i = 0; i < modules->count; i++) write_module(&call->writer, &modules->loaded[i]);
  json_end_array(&call->writer);
}

enum { ROOM = 1024 + MODULES_MAX * 1024 };

static void list_modules(http_request *request) {
  api_call *call = api_begin(request, api_modules_list, 0);
  if (!call) return;
  call->room = ROOM;
  api_post(call);
}

/* Opens a file of this machine, once, between two frames, which may delay a frame: operators do that, not players. */
static void api_modules_load(api_call *call) {
  if (modules_load(&call->service->modules, call->input))
    json_string(&call->writer, "module", call->input);
  else
    api_complain(&call->problem, 409, "refused", "module", "%s", muster_last_error());
}

static void load_module(http_request *request) {
  api_call *call = api_begin(request, api_modules_load, NAME_BYTES);
  if (call && api_take_body(call, module_name_read)) api_post(call);
}

const http_route api_module_routes[] = {
    {.method = "GET", .pattern = "/v1/modules", .handle = list_modules, .summary = "modules that are loaded"},
    {.method = "POST",
     .pattern = "/v1/modules",
     .handle = load_module,
     .body_max = 1024,
     .summary = "load {module} out of the modules' folder"},
    {0},
};
