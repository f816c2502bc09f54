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

/* Opens a file of this machine, once, between two frames, which may delay a frame: operators do that, not players. */
static void api_modules_load(api_call *call) {
  if (modules_load(&call->service->modules, call->input))
    json_string(&call->writer, "module", call->input);
  else
    api_complain(&call->problem, 409, "refused", "module", "%s", muster_last_error());
}

const http_route api_module_routes[] = {
    {.method = "GET",
     .pattern = "/v1/modules",
     .handle = api_handle,
     .order = &(const api_order){.work = api_modules_list, .room = ROOM},
     .summary = "modules that are loaded"},
    {.method = "POST",
     .pattern = "/v1/modules",
     .handle = api_handle,
     .order = &(const api_order){.work = api_modules_load, .read = module_name_read, .input_bytes = NAME_BYTES},
     .body_max = 1024,
     .summary = "load {module} out of the modules' folder"},
    {0},
};
