/* ctl_commands.c - what can be asked: each command is one request, and a way to show the answer. */
#include "base/columns.h"
#include "base/fields.h"
#include "base/nearest.h"
#include "complaint.h"
#include "ctl.h"
#include "parse.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = CTL_PATH_BYTES, NAME_BYTES = 64 };

typedef struct ctl_verb {
  const char *name;
  const char *arguments; /* as shown */
  int least, most;       /* of them */
  const char *summary;
  int (*run)(const ctl_call *call);
} ctl_verb;

/* ------------------------------------------------------------------------------------------------------- asking */

/* Replaces what is special in a part of a path by percent signs. */
static const char *escape(const char *text, char out[NAME_BYTES * 3 + 1]) {
  static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.";
  size_t length = 0;
  for (; *text && length < NAME_BYTES * 3 - 3; text++) {
    if (strchr(plain, *text))
      out[length++] = *text;
    else
      length += (size_t)snprintf(out + length, 4, "%%%02X", (unsigned char)*text);
  }
  out[length] = '\0';
  return out;
}

/* The path of something of the world: "/v1/worlds/NAME" + middle + thing + end. */
static bool path_of(const ctl_call *call, const char *middle, const char *thing, const char *end,
                    char path[PATH_BYTES]) {
  char world[NAME_BYTES], first[NAME_BYTES * 3 + 1], second[NAME_BYTES * 3 + 1];
  if (!ctl_world(call->options, world, sizeof world)) return false;
  snprintf(path, PATH_BYTES, "/v1/worlds/%s%s%s%s", escape(world, first), middle, escape(thing, second), end);
  return true;
}

/* Asks and shows: the members of `list` as a table, or the whole as lines. */
static int ask(const ctl_call *call, const char *method, const char *path, json_t *body, const char *list,
               const ctl_column *columns) {
  json_t *answer;
  if (!ctl_ask(call->options, method, path, body, &answer)) return STATUS_FAILED;
  if (call->options->json)
    ctl_show_json(answer);
  else if (columns)
    ctl_show_table(list ? json_object_get(answer, list) : answer, columns);
  else
    ctl_show_object(answer);
  const char *next = list && !call->options->json ? json_string_value(json_object_get(answer, "next")) : NULL;
  if (next) printf("more: cursor=%s\n", next);
  json_decref(answer);
  return STATUS_OK;
}

static int ask_world(const ctl_call *call, const char *method, const char *end, json_t *body) {
  char path[PATH_BYTES];
  if (path_of(call, "", "", end, path)) return ask(call, method, path, body, NULL, NULL);
  json_decref(body);
  return STATUS_FAILED;
}

/* Of the thing that the first argument names: "/agents/", "/types/" or "/observers/". */
static int ask_thing(const ctl_call *call, const char *method, const char *things, const char *end, json_t *body) {
  char path[PATH_BYTES];
  if (path_of(call, things, call->arguments[1], end, path)) return ask(call, method, path, body, NULL, NULL);
  json_decref(body);
  return STATUS_FAILED;
}

/* ------------------------------------------------------------------------------------------------------- worlds */

static int show_worlds(const ctl_call *call) {
  static const ctl_column columns[] = {{"world", "world", CTL_TEXT},           {"module", "module", CTL_TEXT},
                                       {"paused", "paused", CTL_TEXT},         {"agents", "agents", CTL_COUNT},
                                       {"frames", "frames", CTL_COUNT},        {"hz", "hz", CTL_NUMBER},
                                       {"budget", "budget_ns", CTL_DURATION},  {"frame", "frame.wall_ns", CTL_DURATION},
                                       {"pressure", "pressure", CTL_PRESSURE}, {"carried", "frame.carried", CTL_COUNT},
                                       {"levels", "levels", CTL_LEVELS},       {0}};
  return ask(call, "GET", "/v1/worlds", NULL, "worlds", columns);
}

static int show_world(const ctl_call *call) {
  return ask_world(call, "GET", "", NULL);
}

/* By the names by which they are set. */
static int show_weights(const ctl_call *call) {
  char path[PATH_BYTES];
  json_t *answer;
  if (call->count == 1) {
    if (!path_of(call, "", "", "/weights", path) || !ctl_ask(call->options, "GET", path, NULL, &answer))
      return STATUS_FAILED;
    if (call->options->json)
      ctl_show_json(answer);
    else
      ctl_show_members(answer);
    json_decref(answer);
    return STATUS_OK;
  }
  json_t *body = ctl_read_members(call, 1, json_object());
  return body ? ask_world(call, "PATCH", "", body) : STATUS_USAGE;
}

static int set_budget(const ctl_call *call) {
  uint64_t budget_ns;
  if (!parse_duration("budget", call->arguments[1], BUDGET_LEAST_NS, BUDGET_MOST_NS, &budget_ns)) return STATUS_USAGE;
  return ask_world(call, "PATCH", "", json_pack("{s:I}", "budget_ns", (json_int_t)budget_ns));
}

static int set_hz(const ctl_call *call) {
  uint64_t thousandths;
  if (!parse_rate("hz", call->arguments[1], RATE_LEAST, RATE_MOST, &thousandths)) return STATUS_USAGE;
  return ask_world(call, "PATCH", "", json_pack("{s:f}", "hz", (double)thousandths / 1000.0));
}

static int set_workers(const ctl_call *call) {
  uint64_t workers;
  if (!parse_count("workers", call->arguments[1], 0, 1024, &workers)) return STATUS_USAGE;
  return ask_world(call, "PATCH", "", json_pack("{s:I}", "workers", (json_int_t)workers));
}

static int set_policy(const ctl_call *call) {
  return ask_world(call, "PATCH", "", json_pack("{s:s}", "policy", call->arguments[1]));
}

static int pause_world(const ctl_call *call) {
  return ask_world(call, "PATCH", "", json_pack("{s:b}", "paused", 1));
}

static int resume_world(const ctl_call *call) {
  return ask_world(call, "PATCH", "", json_pack("{s:b}", "paused", 0));
}

static int step_world(const ctl_call *call) {
  char path[PATH_BYTES];
  uint64_t frames = 1;
  if (call->count > 1 && !parse_count("step", call->arguments[1], 1, 1000000, &frames)) return STATUS_USAGE;
  if (!path_of(call, "", "", "", path) || !ctl_step(call->options, path, frames)) return STATUS_FAILED;
  return ask(call, "GET", path, NULL, NULL, NULL);
}

static int show_levels(const ctl_call *call) {
  return ask_world(call, "GET", "/levels", NULL);
}

/* -------------------------------------------------------------------------------------------------------- types */

static int show_types(const ctl_call *call) {
  static const ctl_column columns[] = {{"type", "type", CTL_TEXT},
                                       {"level", "level", CTL_COUNT},
                                       {"agents", "agents", CTL_COUNT},
                                       {"mean", "mean_ns", CTL_DURATION},
                                       {"p95", "p95_ns", CTL_DURATION},
                                       {"samples", "samples", CTL_COUNT},
                                       {"offences", "offences", CTL_COUNT},
                                       {"blocked", "blocked", CTL_COUNT},
                                       {"quarantined", "quarantined", CTL_FLAG},
                                       {0}};
  char path[PATH_BYTES];
  json_t *answer, *rows = json_array(), *type, *level;
  size_t i, j;
  if (!path_of(call, "", "", "/types", path) || !ctl_ask(call->options, "GET", path, NULL, &answer))
    return STATUS_FAILED;
  json_array_foreach(json_object_get(answer, "types"), i, type) {
    json_t *conduct = json_object_get(type, "conduct");
    json_array_foreach(json_object_get(type, "levels"), j, level) {
      json_t *row = json_deep_copy(level);
      json_object_set(row, "type", json_object_get(type, "type"));
      json_object_set(row, "offences", json_object_get(conduct, "offences"));
      json_object_set(row, "blocked", json_object_get(conduct, "blocked"));
      json_object_set(row, "quarantined", json_object_get(conduct, "quarantined"));
      json_array_append_new(rows, row);
    }
  }
  if (call->options->json)
    ctl_show_json(answer);
  else
    ctl_show_table(rows, columns);
  json_decref(answer);
  json_decref(rows);
  return STATUS_OK;
}

/* An ID begins with a digit and has a point; else it is a type. */
static int pardon(const ctl_call *call) {
  const char *name = call->arguments[1];
  bool agent = *name >= '0' && *name <= '9' && strchr(name, '.');
  return ask_thing(call, "POST", agent ? "/agents/" : "/types/", "/pardon", NULL);
}

static int set_priority(const ctl_call *call) {
  uint64_t priority;
  if (!parse_count("priority", call->arguments[2], 0, 100, &priority)) return STATUS_USAGE;
  return ask_thing(call, "PUT", "/types/", "/priority", json_pack("{s:I}", "priority", (json_int_t)priority));
}

/* ------------------------------------------------------------------------------------------------------- agents */

/* NAME=VALUE arguments as a query. False after a complaint. */
static bool add_queries(const ctl_call *call, char path[PATH_BYTES]) {
  char value[NAME_BYTES * 3 + 1];
  for (int i = 1; i < call->count; i++) {
    const char *argument = call->arguments[i];
    size_t length = strcspn(argument, "="), used = strlen(path);
    if (!argument[length]) return complain_usage("'%s' is no NAME=VALUE, such as type=hare", argument), false;
    snprintf(path + used, PATH_BYTES - used, "%c%.*s=%s", i == 1 ? '?' : '&', (int)length, argument,
             escape(argument + length + 1, value));
  }
  return true;
}

static int list(const ctl_call *call, const char *what, const ctl_column *columns) {
  char path[PATH_BYTES], end[NAME_BYTES];
  snprintf(end, sizeof end, "/%s", what);
  if (!path_of(call, "", "", end, path)) return STATUS_FAILED;
  return add_queries(call, path) ? ask(call, "GET", path, NULL, what, columns) : STATUS_USAGE;
}

static int show_agents(const ctl_call *call) {
  static const ctl_column columns[] = {{"agent", "agent", CTL_TEXT},
                                       {"type", "type", CTL_TEXT},
                                       {"position", "position", CTL_PLACE},
                                       {"importance", "importance", CTL_NUMBER},
                                       {"level", "level", CTL_COUNT},
                                       {"period", "period_ns", CTL_DURATION},
                                       {"cost", "expected_cost_ns", CTL_DURATION},
                                       {"delays", "delays", CTL_COUNT},
                                       {"quarantined", "quarantined", CTL_FLAG},
                                       {0}};
  return list(call, "agents", columns);
}

static int show_agent(const ctl_call *call) {
  return ask_thing(call, "GET", "/agents/", "", NULL);
}

static int explain(const ctl_call *call) {
  char path[PATH_BYTES];
  json_t *answer;
  if (!path_of(call, "/agents/", call->arguments[1], "/explain", path)) return STATUS_FAILED;
  if (!ctl_ask(call->options, "GET", path, NULL, &answer)) return STATUS_FAILED;
  const char *words = json_string_value(json_object_get(answer, "words"));
  if (call->options->json) {
    ctl_show_json(answer);
  } else {
    printf("After frame %lld, at %.3f s:\n\n", (long long)json_integer_value(json_object_get(answer, "frame")),
           (double)json_integer_value(json_object_get(answer, "sim_now_ns")) * 1e-9);
    columns_print(stdout, words ? words : "", columns_of(STDOUT_FILENO));
  }
  json_decref(answer);
  return STATUS_OK;
}

/* `count` agents of one kind, as the body of a spawn. Null after a complaint. */
static json_t *read_spawn(const ctl_call *call) {
  json_t *place = ctl_read_place(call->arguments[2]), *agents = json_array();
  json_t *agent =
      place ? ctl_read_members(call, 3, json_pack("{s:s, s:o}", "type", call->arguments[1], "position", place)) : NULL;
  json_t *count = json_object_get(agent, "count");
  json_int_t copies = count ? json_integer_value(count) : 1;
  if (agent && (copies < 1 || copies > 4096)) {
    complain_usage("count must be 1 .. 4096");
    json_decref(agent);
    agent = NULL;
  }
  json_object_del(agent, "count");
  for (json_int_t i = 0; agent && i < copies; i++) json_array_append(agents, agent);
  if (!agent) json_decref(agents);
  bool well = agent != NULL;
  json_decref(agent);
  return well ? agents : NULL;
}

static int spawn(const ctl_call *call) {
  char path[PATH_BYTES];
  json_t *answer, *body = read_spawn(call);
  if (!body) return STATUS_USAGE;
  if (!path_of(call, "", "", "/agents", path)) return json_decref(body), STATUS_FAILED;
  if (!ctl_ask(call->options, "POST", path, body, &answer)) return STATUS_FAILED;
  const json_t *ids = json_object_get(answer, "agents");
  if (call->options->json) ctl_show_json(answer);
  for (size_t i = 0; !call->options->json && i < json_array_size(ids); i++)
    puts(json_string_value(json_array_get(ids, i)));
  json_decref(answer);
  return STATUS_OK;
}

static int wake(const ctl_call *call) {
  uint64_t at_ns;
  if (call->count == 2) return ask_thing(call, "POST", "/agents/", "/wake", NULL);
  if (!parse_duration("wake", call->arguments[2], 0, UINT64_MAX / 4, &at_ns)) return STATUS_USAGE;
  return ask_thing(call, "POST", "/agents/", "/wake", json_pack("{s:I}", "at_ns", (json_int_t)at_ns));
}

static int move(const ctl_call *call) {
  json_t *place = ctl_read_place(call->arguments[2]);
  return place ? ask_thing(call, "PUT", "/agents/", "/position", json_pack("{s:o}", "position", place)) : STATUS_USAGE;
}

static int tune(const ctl_call *call) {
  json_t *body = ctl_read_members(call, 2, json_object());
  return body ? ask_thing(call, "PATCH", "/agents/", "", body) : STATUS_USAGE;
}

static int remove_agent(const ctl_call *call) {
  return ask_thing(call, "DELETE", "/agents/", "", NULL);
}

/* ---------------------------------------------------------------------------------------------------- observers */

static int show_observers(const ctl_call *call) {
  static const ctl_column columns[] = {{"observer", "observer", CTL_TEXT},    {"position", "position", CTL_PLACE},
                                       {"partition", "partition", CTL_COUNT}, {"near m", "near_m", CTL_NUMBER},
                                       {"far m", "far_m", CTL_NUMBER},        {0}};
  return list(call, "observers", columns);
}

static int observe(const ctl_call *call) {
  json_t *place = ctl_read_place(call->arguments[1]);
  json_t *body = place ? ctl_read_members(call, 2, json_pack("{s:o}", "position", place)) : NULL;
  return body ? ask_world(call, "POST", "/observers", body) : STATUS_USAGE;
}

static int unobserve(const ctl_call *call) {
  return ask_thing(call, "DELETE", "/observers/", "", NULL);
}

/* ------------------------------------------------------------------------------------------------------ daemon */

static int show_modules(const ctl_call *call) {
  static const ctl_column columns[] = {{"module", "module", CTL_TEXT}, {"summary", "summary", CTL_TEXT}, {0}};
  if (call->count == 1) return ask(call, "GET", "/v1/modules", NULL, "modules", columns);
  return ask(call, "POST", "/v1/modules", json_pack("{s:s}", "module", call->arguments[1]), NULL, NULL);
}

static int show_snapshot(const ctl_call *call) {
  if (call->count == 1) return ask(call, "GET", "/v1/snapshot", NULL, NULL, NULL);
  if (strcmp(call->arguments[1], "now") != 0) return complain_usage("write it so: muster ctl snapshot [now]");
  return ask(call, "POST", "/v1/snapshot", NULL, NULL, NULL);
}

static int get(const ctl_call *call) {
  json_t *answer;
  if (!ctl_ask(call->options, "GET", call->arguments[1], NULL, &answer)) return STATUS_FAILED;
  ctl_show_json(answer);
  json_decref(answer);
  return STATUS_OK;
}

enum { ANY = 64 };

static const ctl_verb verbs[] = {
    {"worlds", "", 0, 0, "all worlds", show_worlds},
    {"world", "", 0, 0, "one world", show_world},
    {"budget", "10ms", 1, 1, "what a frame may take", set_budget},
    {"hz", "30", 1, 1, "frames per second", set_hz},
    {"pause", "", 0, 0, "run no more frames", pause_world},
    {"step", "[N]", 0, 1, "pause, run N frames and wait for their end", step_world},
    {"resume", "", 0, 0, "go on", resume_world},
    {"workers", "N", 1, 1, "at most so many work on its frames; 0 = all", set_workers},
    {"weights", "[NAME=VALUE]...", 0, ANY, "show, or change, the weights of priority", show_weights},
    {"policy", "NAME", 1, 1, "balanced, fair, importance_first or least_slack", set_policy},
    {"levels", "", 0, 0, "agents by capability level", show_levels},
    {"types", "", 0, 0, "what types cost, and how they behave", show_types},
    {"priority", "TYPE N", 2, 2, "share of the frame of a type with sets", set_priority},
    {"pardon", "TYPE|ID", 1, 1, "forget offences; out of quarantine", pardon},
    {"agents", "[type= near= limit= ...]", 0, ANY, "agents, page by page", show_agents},
    {"agent", "ID", 1, 1, "one agent", show_agent},
    {"explain", "ID", 1, 1, "why it runs when and how it does", explain},
    {"spawn", "TYPE PLACE [count= ...]", 2, ANY, "new agents", spawn},
    {"wake", "ID [5s]", 1, 2, "run it now, or at a simulation time", wake},
    {"move", "ID PLACE", 2, 2, "move it", move},
    {"tune", "ID NAME=VALUE...", 2, ANY, "importance_floor, elasticity, visibility, ...", tune},
    {"remove", "ID", 1, 1, "remove it", remove_agent},
    {"observers", "[limit= cursor=]", 0, ANY, "observers, page by page", show_observers},
    {"observe", "PLACE [near_m= far_m=]", 1, ANY, "add an observer", observe},
    {"unobserve", "ID", 1, 1, "remove an observer", unobserve},
    {"modules", "[NAME]", 0, 1, "those that are loaded; or load one", show_modules},
    {"snapshot", "[now]", 0, 1, "what became of the last one; or begin one", show_snapshot},
    {"get", "/v1/...", 1, 1, "any other document of the daemon", get},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

void ctl_show_commands(FILE *stream) {
  char form[NAME_BYTES];
  for (size_t i = 0; i < VERBS; i++) {
    snprintf(form, sizeof form, "%s %s", verbs[i].name, verbs[i].arguments);
    fprintf(stream, "  %-34s %s\n", form, verbs[i].summary);
  }
}

int ctl_run(const ctl_call *call) {
  const char *names[VERBS], *name = call->arguments[0];
  for (size_t i = 0; i < VERBS; i++) {
    names[i] = verbs[i].name;
    if (strcmp(name, verbs[i].name) != 0) continue;
    if (call->count - 1 >= verbs[i].least && call->count - 1 <= verbs[i].most) return verbs[i].run(call);
    return complain_usage("write it so: muster ctl %s %s", verbs[i].name, verbs[i].arguments);
  }
  const char *nearest = nearest_name(name, names, VERBS);
  if (nearest) return complain_usage("unknown command 'ctl %s'; did you mean '%s'?", name, nearest);
  return complain_usage("unknown command 'ctl %s'; `muster ctl --help` lists them", name);
}
