/* api_modules.c - behaviour modules: those that are loaded, and one more. */
#include "service/api.h"

#include "service/api_bodies.h"

#include <stdio.h>

static void api_modules_list(api_call *call) {
  const struct modules *modules = &call->service->modules;
  json_begin_array(&call->writer, "modules");
  for (uint32_t i = 0; i < modules->count; i++) {
    char summary[128]; /* cut to this length: a module's summary may be longer */
    snprintf(summary, sizeof summary, "%s", modules->loaded[i].module.summary);
    json_print(&call->writer, "{ module=%s summary=%s }", modules->loaded[i].name, summary);
  }
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
    {"GET", "/v1/modules", "modules that are loaded", API_ORDER(api_modules_list, .room = ROOM)},
    {"POST", "/v1/modules", "load {module} out of the modules' folder",
     API_ORDER(api_modules_load, module_name_read, NAME_BYTES), .body_max = 1024},
    {0},
};
