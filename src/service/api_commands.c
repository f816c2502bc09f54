/* api_commands.c - the modules of a world: their settings in force, and their commands. */
#include "service/api.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---------------------------------------------------------------------------------------------------------- showing */

static void write_settings(json_writer *writer, const module_part *part) {
  static const char *const kinds[] = {"integer", "real", "text", "switch"};
  json_begin_array(writer, "settings");
  for (uint32_t i = 0; i < part->value_count; i++) {
    const muster_module_setting *row = &part->module->settings[i];
    json_print(writer, "{ setting=%s value=%s preset=%s kind=%s", row->name, part->values[i].text, row->preset,
               kinds[row->kind]);
    if (row->kind != MUSTER_MODULE_SWITCH) json_print(writer, "least=%g most=%g", row->least, row->most);
    json_print(writer, "help=%s }", row->help);
  }
  json_end_array(writer);
}

/* What a module says of itself is bounded, whatever it says. */
enum { PROBLEMS_SHOWN = 32, PROBLEM_ROOM = 2048 };

struct problem_list {
  json_writer *writer;
  uint32_t count;
};

static void api_commands_write_problem(const muster_module_problem *problem, void *user) {
  struct problem_list *list = user;
  char where[80], what[160];
  if (list->count++ >= PROBLEMS_SHOWN) return;
  snprintf(where, sizeof where, "%s", problem->where);
  snprintf(what, sizeof what, "%s", problem->what);
  json_print(list->writer, "{ where=%s what=%s count=%lu agents=%u last_ns=%lu }", where, what, problem->count,
             problem->agents, problem->last_ns);
}

static void api_commands_write_part(json_writer *writer, const muster_world *world, const module_part *part) {
  json_print(writer, "{ instance=%s module=%s saved=%d", part->name.instance, part->name.module,
             module_part_is_saved(part->module));
  write_settings(writer, part);
  json_begin_array(writer, "commands");
  for (uint32_t i = 0; i < module_commands_count(part->module); i++)
    json_print(writer, "{ command=%s help=%s }", part->module->commands[i].name, part->module->commands[i].help);
  json_end_array(writer);
  json_begin_array(writer, "metrics");
  for (uint32_t i = 0; i < module_metrics_count(part->module); i++) {
    const muster_module_metric *row = &part->module->metrics[i];
    json_print(writer, "{ metric=%s value=%g kind=%s help=%s }", row->name, part->metrics[i],
               row->kind == MUSTER_MODULE_COUNTER ? "counter" : "gauge", row->help);
  }
  json_end_array(writer);
  json_begin_array(writer, "problems");
  struct problem_list list = {writer, 0};
  if (part->module->problems)
    part->module->problems(part->instance, world, (muster_agent){0}, api_commands_write_problem, &list);
  json_end_array(writer);
  json_print(writer, "}");
}

static void show_module(api_call *call) {
  module_parts_measure(&call->world->parts, call->world->world);
  json_string(&call->writer, "world", call->world->name);
  json_begin_array(&call->writer, "instances");
  for (uint32_t i = 0; i < call->world->parts.count; i++)
    api_commands_write_part(&call->writer, call->world->world, &call->world->parts.parts[i]);
  json_end_array(&call->writer);
}

/* --------------------------------------------------------------------------------------------------------- commands */

/* A command as it was sent. */
typedef struct module_order {
  char instance[NAME_BYTES + 1]; /* "" = the only one; what was cut is longer than any name */
  char command[MUSTER_MODULE_NAME_MAX + 1];
  bool json;
  char *body; /* owned; ends with a zero */
  size_t bytes;
} module_order;

/* Reads COMMAND or INSTANCE.COMMAND. What is too long for a name is none, and refused as unknown. */
static void read_command(const char *text, module_order *order) {
  const char *dot = strchr(text, '.');
  if (dot) snprintf(order->instance, sizeof order->instance, "%.*s", (int)(dot - text), text);
  const char *command = dot ? dot + 1 : text;
  if (strlen(command) < sizeof order->command) snprintf(order->command, sizeof order->command, "%s", command);
}

static bool order_read(api_call *call) {
  module_order *order = call->input;
  const char *type = http_header_value(call->request, "Content-Type");
  const void *body = http_body(call->request, &order->bytes);
  read_command(http_path_value(call->request, "command"), order);
  order->json = body && type && strncasecmp(type, HTTP_JSON, strlen(HTTP_JSON)) == 0;
  if (order->json && !api_is_json(body, order->bytes, &call->problem)) return false;
  order->body = calloc(1, order->bytes + 1);
  if (!order->body) return api_complain(&call->problem, 429, "busy", NULL, "no memory for the body now");
  if (body) memcpy(order->body, body, order->bytes);
  return true;
}

static void order_release(void *input) {
  module_order *order = input;
  free(order->body);
  order->body = NULL;
}

/* The text is the call's answer once the command has ended well. */
typedef struct module_reply {
  char *text;
  size_t bytes;
  uint32_t status; /* 0 = there was no answer */
  bool json;
} module_reply;

static bool api_commands_take_answer(uint32_t status, bool json, const char *text, size_t bytes, void *user) {
  module_reply *reply = user;
  bool known = (status >= 200 && status < 300) || (status >= 400 && status < 600);
  if (reply->status || !known || bytes > MUSTER_MODULE_ANSWER_MAX || (bytes && !text)) return false;
  char *copy = malloc(bytes + 1);
  if (!copy) return false;
  if (bytes) memcpy(copy, text, bytes);
  *reply = (module_reply){copy, bytes, status, json};
  return true;
}

/* The instance that is meant; null with a problem. */
static module_part *api_commands_find_part(api_call *call, const module_order *order) {
  struct module_parts *parts = &call->world->parts;
  module_part *part = *order->instance ? module_parts_find(parts, order->instance) : &parts->parts[0];
  if (part && (*order->instance || parts->count == 1)) return part;
  char names[MODULE_NAMES_BYTES] = "";
  for (uint32_t i = 0; i < parts->count; i++) module_add_name(names, parts->parts[i].name.instance);
  api_complain(&call->problem, 404, "unknown_instance", "instance", "name the command INSTANCE.COMMAND, of one of: %s",
               names);
  return NULL;
}

/* JSON that a module calls JSON is looked at: clients rely on it. */
static void send_reply(api_call *call, module_reply *reply) {
  api_problem wrong = {0};
  if (reply->json && !api_is_json(reply->text, reply->bytes, &wrong)) {
    api_complain(&call->problem, 500, "bad_answer", NULL, "the module's answer is no JSON: %.200s", wrong.message);
    free(reply->text);
    return;
  }
  free(call->text);
  call->text = reply->text;
  call->whole_bytes = reply->bytes;
  call->status = reply->status;
  call->type = reply->json ? HTTP_JSON : HTTP_TEXT;
}

static void run_command(api_call *call) {
  const module_order *order = call->input;
  module_reply reply = {0};
  char names[MODULE_NAMES_BYTES];
  const module_part *part = api_commands_find_part(call, order);
  if (!part) return;
  if (!module_command_find(part->module, order->command)) {
    api_complain(&call->problem, 404, "unknown_command", "command", "module %s has no such command; it has: %s",
                 part->name.module, module_command_names(part->module, names));
    return;
  }
  const muster_module_call given = {
      .size = sizeof given, .command = order->command, .body = order->body, .bytes = order->bytes, .json = order->json};
  call->acted = true;
  flight_call_begin(call->world->name, part->name.module, FLIGHT_COMMAND);
  muster_result result =
      part->module->command(part->instance, call->world->world, &given, api_commands_take_answer, &reply);
  flight_call_end();
  journals_note_command(call->world, part->name.instance, &given);
  if (result == MUSTER_OK && reply.bytes) {
    send_reply(call, &reply);
    return;
  }
  free(reply.text);
  if (!api_succeeded(call, result, "command")) return;
  if (reply.status) call->status = reply.status;
  json_string(&call->writer, "command", order->command);
}

/* JSON takes up to six bytes for one of a text. */
enum {
  PART_ROOM = MODULE_VALUES_MAX * (6 * (MUSTER_MODULE_TEXT_MAX * 2 + 256) + 512 * 3 + 1024),
  MODULE_ROOM = 4096 + PARTS_MAX * (PART_ROOM + PROBLEMS_SHOWN * PROBLEM_ROOM)
};

const http_route api_command_routes[] = {
    {"GET", "/v1/worlds/{world}/module", "settings, commands and metrics of the world's modules",
     API_ORDER(show_module, .room = MODULE_ROOM)},
    {"POST", "/v1/worlds/{world}/module/{command}",
     "a command of the module, or INSTANCE.COMMAND of several: JSON or text",
     API_ORDER(run_command, .query = order_read, .input_bytes = sizeof(module_order), .release = order_release),
     .body_max = MUSTER_MODULE_BODY_MAX, .body_type = HTTP_JSON_OR_TEXT},
    {0},
};
