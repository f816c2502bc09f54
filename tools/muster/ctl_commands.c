/* ctl_commands.c - what can be asked: a table of commands, each of which is one request and a way to show the answer.
 */
#include "bands.h"
#include "base/columns.h"
#include "base/fields.h"
#include "base/nearest.h"
#include "complaint.h"
#include "ctl.h"
#include "parse.h"

#include <jansson.h>
#include <string.h>
#include <unistd.h>

enum { PATH_BYTES = CTL_PATH_BYTES, NAME_BYTES = 64, ANY = 64 };

typedef struct ctl_verb ctl_verb;

/* What a command sends: the argument `at` as a member of this name and range; and the arguments behind it. */
typedef struct ctl_body {
  json_t *(*read)(const ctl_call *call, const ctl_verb *verb); /* null after a complaint */
  int at;
  const char *member;
  uint64_t least, most;
  bool (*parse)(const char *name, const char *text, uint64_t least, uint64_t most, uint64_t *value); /* of a number */
} ctl_body;

/* A name may stand in several rows, which take different numbers of arguments; the first of them is shown. */
struct ctl_verb {
  const char *name;
  const char *arguments; /* as shown */
  int least, most;       /* of them */
  const char *summary;   /* null: is not shown */
  const char *method;
  const char *path; /* of a document, or below a world; @ is the first argument */
  ctl_body body;    /* without a function, or without the argument: none */
  const char *list; /* the answer's member that `columns` show as a table; else `show` prints it all */
  const char *columns;
  void (*show)(const json_t *answer);                     /* null: ctl_show_object() */
  const char *done;                                       /* shown instead, behind the name that the answer is */
  int (*run)(const ctl_call *call, const ctl_verb *verb); /* null: asks, and shows the answer */
};

/* ------------------------------------------------------------------------------------------------------- asking */

/* False after a complaint. */
static bool path_of(const ctl_call *call, const ctl_verb *verb, char path[PATH_BYTES]) {
  char world[NAME_BYTES], first[CTL_ESCAPED_BYTES], second[CTL_ESCAPED_BYTES] = "";
  if (strncmp(verb->path, "/v1/", 4) == 0) return snprintf(path, PATH_BYTES, "%s", verb->path) > 0;
  if (!ctl_world(call->options, world, sizeof world)) return false;
  const char *end = strchrnul(verb->path, '@');
  if (*end) ctl_escape(call->arguments[1], second);
  snprintf(path, PATH_BYTES, "/v1/worlds/%s%.*s%s%s", ctl_escape(world, first), (int)(end - verb->path), verb->path,
           second, *end ? end + 1 : end);
  return true;
}

/* "agent 5.1 leaves at the next frame", of {"agent": "5.1"}. */
static void show_done(const json_t *answer, const char *done) {
  const char *kind;
  json_t *id;
  json_object_foreach((json_t *)answer, kind, id) printf("%s %s %s\n", kind, json_string_value(id), done);
}

/* The same words once more, but with this cursor. */
static void show_next(const ctl_call *call, const ctl_verb *verb, const char *next) {
  printf("more: cursor=%s (muster ctl %s", next, verb->name);
  for (int i = 1; i < call->count; i++)
    if (strncmp(call->arguments[i], "cursor=", 7) != 0) printf(" %s", call->arguments[i]);
  printf(" cursor=%s)\n", next);
}

static int ask(const ctl_call *call, const ctl_verb *verb, const char *path, json_t *body) {
  json_t *answer;
  bool json = call->options->json;
  if (!ctl_ask(call->options, verb->method, path, body, &answer)) return STATUS_FAILED;
  const char *next = verb->list && !json ? json_string_value(json_object_get(answer, "next")) : NULL;
  if (json)
    ctl_show_json(answer);
  else if (verb->list)
    ctl_show_table(json_object_get(answer, verb->list), verb->columns);
  else if (verb->done)
    show_done(answer, verb->done);
  else
    (verb->show ? verb->show : ctl_show_object)(answer);
  if (next) show_next(call, verb, next);
  json_decref(answer);
  return STATUS_OK;
}

static int ask_and_show(const ctl_call *call, const ctl_verb *verb) {
  char path[PATH_BYTES];
  json_t *body = NULL;
  if (verb->body.read && call->count > verb->body.at && !(body = verb->body.read(call, verb))) return STATUS_USAGE;
  if (path_of(call, verb, path)) return ask(call, verb, path, body);
  json_decref(body);
  return STATUS_FAILED;
}

/* ------------------------------------------------------------------------------------------------------- bodies */

static json_t *read_number(const ctl_call *call, const ctl_verb *verb) {
  const ctl_body *body = &verb->body;
  uint64_t value;
  if (!body->parse(verb->name, call->arguments[body->at], body->least, body->most, &value)) return NULL;
  if (body->parse == parse_rate) return json_pack("{s:f}", body->member, (double)value / 1000.0);
  return json_pack("{s:I}", body->member, (json_int_t)value);
}

/* One duration, or two. */
static json_t *read_periods(const ctl_call *call, const ctl_verb *verb) {
  static const char *const members[] = {"period_ns", "period_max_ns"};
  json_t *body = json_object();
  for (int i = verb->body.at; i < call->count; i++) {
    uint64_t value;
    if (!parse_duration(verb->name, call->arguments[i], 0, UINT64_MAX / 4, &value)) {
      json_decref(body);
      return NULL;
    }
    json_object_set_new(body, members[i - verb->body.at], json_integer((json_int_t)value));
  }
  return body;
}

static json_t *read_text(const ctl_call *call, const ctl_verb *verb) {
  const char *text = call->arguments[verb->body.at];
  json_t *body = json_pack("{s:s}", verb->body.member, text);
  if (!body) complain_usage("'%s' is no UTF-8", text);
  return body;
}

/* True or false, as the range begins with 1 or 0. */
static json_t *read_switch(const ctl_call *call, const ctl_verb *verb) {
  (void)call;
  return json_pack("{s:b}", verb->body.member, verb->body.least != 0);
}

static json_t *read_members(const ctl_call *call, const ctl_verb *verb) {
  return ctl_read_members(call, verb->body.at, json_object());
}

/* A place, and the members behind it. */
static json_t *read_placed(const ctl_call *call, const ctl_verb *verb) {
  json_t *place = ctl_read_place(call->arguments[verb->body.at]);
  return place ? ctl_read_members(call, verb->body.at + 1, json_pack("{s:o}", "position", place)) : NULL;
}

/* `count` agents of one kind. */
static json_t *read_spawn(const ctl_call *call, const ctl_verb *verb) {
  json_t *agent = read_placed(call, verb), *agents = json_array();
  json_t *count = json_object_get(agent, "count");
  json_int_t copies = count ? json_integer_value(count) : 1;
  bool well = agent && copies >= 1 && copies <= 4096;
  if (agent && !well) complain_usage("count must be 1 .. 4096");
  json_object_del(agent, "count");
  json_object_set_new(agent, "type", json_stringn(call->arguments[1], strlen(call->arguments[1])));
  for (json_int_t i = 0; well && i < copies; i++) json_array_append(agents, agent);
  json_decref(agent);
  if (well) return agents;
  json_decref(agents);
  return NULL;
}

/* ------------------------------------------------------------------------------------------------------ answers */

/* The world, and below it how old what its agents last did is. */
static void show_world(const json_t *answer) {
  muster_band bands[MUSTER_BANDS];
  ctl_show_object(answer);
  putchar('\n');
  ctl_read_bands(json_object_get(answer, "staleness_by_importance"), bands);
  bands_print(stdout, columns_of(STDOUT_FILENO), bands);
}

/* A row for each level of each type. */
static void show_types(const json_t *answer) {
  static const char *const of_counts[] = {"overruns", "blocked", "quarantined"};
  json_t *rows = json_array(), *type, *level;
  size_t i, j;
  json_array_foreach(json_object_get(answer, "types"), i, type) {
    json_array_foreach(json_object_get(type, "levels"), j, level) {
      json_t *row = json_deep_copy(level);
      json_object_set(row, "type", json_object_get(type, "type"));
      for (size_t k = 0; k < sizeof of_counts / sizeof *of_counts; k++)
        json_object_set(row, of_counts[k], json_object_get(json_object_get(type, "overrun_counts"), of_counts[k]));
      json_array_append_new(rows, row);
    }
  }
  ctl_show_table(rows, "type level# agents# mean_ns p95_ns samples# overruns# blocked# quarantined?");
  json_decref(rows);
}

static void show_explanation(const json_t *answer) {
  const char *words = json_string_value(json_object_get(answer, "words"));
  printf("After frame %lld, at %.3f s:\n\n", (long long)json_integer_value(json_object_get(answer, "frame")),
         (double)json_integer_value(json_object_get(answer, "sim_now_ns")) * 1e-9);
  columns_print(stdout, words ? words : "", columns_of(STDOUT_FILENO));
}

static void show_ids(const json_t *answer) {
  size_t i;
  const json_t *id;
  json_array_foreach(json_object_get(answer, "agents"), i, id) puts(json_string_value(id));
}

/* ------------------------------------------------------------------------------------- what is more than a request */

static int step_world(const ctl_call *call, const ctl_verb *verb) {
  char path[PATH_BYTES];
  uint64_t frames = 1;
  if (call->count > 1 && !parse_count("step", call->arguments[1], 1, 1000000, &frames)) return STATUS_USAGE;
  if (!path_of(call, verb, path) || !ctl_step(call->options, path, frames)) return STATUS_FAILED;
  return ask(call, verb, path, NULL);
}

static int show_health(const ctl_call *call, const ctl_verb *verb) {
  json_t *answer;
  if (!ctl_look(call->options, verb->path, &answer)) return STATUS_FAILED;
  bool ready = json_is_true(json_object_get(answer, "ready"));
  if (call->options->json)
    ctl_show_json(answer);
  else
    ctl_show_health(answer);
  json_decref(answer);
  return ready ? STATUS_OK : STATUS_FAILED;
}

/* The world is named each time: that the others go on is not to hang on a default. */
static int restart_world(const ctl_call *call, const ctl_verb *verb) {
  ctl_options options = *call->options;
  options.world = call->arguments[1];
  return ask_and_show(&(ctl_call){&options, 1, call->arguments}, verb);
}

/* An answer with a problem is a failure, and shown all the same. */
static int show_problem(const ctl_call *call, const ctl_verb *verb, void (*show)(const json_t *answer)) {
  json_t *answer;
  if (!ctl_ask(call->options, "GET", verb->path, NULL, &answer)) return STATUS_FAILED;
  bool whole = json_is_null(json_object_get(answer, "problem"));
  if (call->options->json)
    ctl_show_json(answer);
  else
    show(answer);
  json_decref(answer);
  return whole ? STATUS_OK : STATUS_FAILED;
}

static int show_zones(const ctl_call *call, const ctl_verb *verb) {
  return show_problem(call, verb, ctl_show_zones);
}

/* `zones restore WORLD`, `zones move WORLD NODE`: the word before tells which row is meant. */
static int change_zone(const ctl_call *call, const ctl_verb *verb) {
  ctl_options options = *call->options;
  const char *word = verb->path + 1;
  if (strcmp(call->arguments[1], word) != 0)
    return complain_usage("write it so: muster ctl zones [restore WORLD|move WORLD NODE]");
  options.world = call->arguments[2];
  return ask_and_show(&(ctl_call){&options, call->count, call->arguments}, verb);
}

/* The answer without any node is a failure, and shown all the same. */
static int show_nodes(const ctl_call *call, const ctl_verb *verb) {
  return show_problem(call, verb, ctl_show_nodes);
}

static int drain_node(const ctl_call *call, const ctl_verb *verb) {
  return ask(call, verb, verb->path, json_pack("{s:b}", "drain", !call->options->undo));
}

/* An ID begins with a digit and has a point; else it is a type. */
static int of_type_or_agent(const ctl_call *call, const ctl_verb *verb) {
  const char *name = call->arguments[1];
  char path[PATH_BYTES];
  ctl_verb chosen = *verb;
  chosen.run = NULL;
  snprintf(path, sizeof path, "/agents/@/%s", verb->name);
  if (*name >= '0' && *name <= '9' && strchr(name, '.')) chosen.path = path;
  return ask_and_show(call, &chosen);
}

/* A page of a list, by NAME=VALUE arguments as a query. */
static int list(const ctl_call *call, const ctl_verb *verb) {
  char path[PATH_BYTES], value[CTL_ESCAPED_BYTES];
  if (!path_of(call, verb, path)) return STATUS_FAILED;
  for (int i = 1; i < call->count; i++) {
    const char *argument = call->arguments[i];
    size_t length = strcspn(argument, "="), used = strlen(path);
    if (!argument[length]) return complain_usage("'%s' is no NAME=VALUE, such as type=hare", argument);
    snprintf(path + used, PATH_BYTES - used, "%c%.*s=%s", i == 1 ? '?' : '&', (int)length, argument,
             ctl_escape(argument + length + 1, value));
  }
  return ask(call, verb, path, NULL);
}

/* A table of one kind of thing that instances have, with the instance before each. */
static void show_rows(const json_t *instances, const char *kind, const char *columns) {
  json_t *rows = json_array(), *instance, *row;
  size_t i, k;
  json_array_foreach((json_t *)instances, i, instance) {
    json_array_foreach(json_object_get(instance, kind), k, row) {
      json_object_set(row, "instance", json_object_get(instance, "instance"));
      json_array_append(rows, row);
    }
  }
  if (json_array_size(rows) > 0) {
    putchar('\n');
    ctl_show_table(rows, columns);
  }
  json_decref(rows);
}

static void show_module(const json_t *answer) {
  const json_t *instances = json_object_get(answer, "instances");
  ctl_show_table(instances, "instance module saved");
  show_rows(instances, "settings", "instance setting value preset least most help");
  show_rows(instances, "commands", "instance command help");
  show_rows(instances, "metrics", "instance metric value kind help");
  show_rows(instances, "problems", "instance where count# agents# what");
}

/* The world comes first, unless --world names it; then the command and its body. */
static int tell_module(const ctl_call *call, const ctl_verb *verb) {
  ctl_options options = *call->options;
  int at = options.world ? 1 : 2;
  char path[PATH_BYTES], command[CTL_ESCAPED_BYTES], world[NAME_BYTES], first[CTL_ESCAPED_BYTES];
  if (!options.world && call->count > 1) options.world = call->arguments[1];
  const ctl_call meant = {&options, call->count, call->arguments};
  if (call->count <= at) return path_of(&meant, verb, path) ? ask(&meant, verb, path, NULL) : STATUS_FAILED;
  if (call->count > at + 2) return complain_usage("write it so: muster ctl module [WORLD [COMMAND [BODY]]]");
  if (!ctl_world(&options, world, sizeof world)) return STATUS_FAILED;
  snprintf(path, sizeof path, "/v1/worlds/%s/module/%s", ctl_escape(world, first),
           ctl_escape(call->arguments[at], command));
  return ctl_tell(&options, path, call->count > at + 1 ? call->arguments[at + 1] : "") ? STATUS_OK : STATUS_FAILED;
}

/* `reload`, or `show` with an agent's id. */
static int tell_scripts(const ctl_call *call, const ctl_verb *verb) {
  char path[PATH_BYTES];
  const char *command = call->arguments[1], *id = call->count > 2 ? call->arguments[2] : "";
  if (strcmp(command, *id ? "show" : "reload") != 0)
    return complain_usage("write it so: muster ctl scripts reload, or muster ctl scripts show ID");
  return path_of(call, verb, path) && ctl_tell(call->options, path, id) ? STATUS_OK : STATUS_FAILED;
}

static int begin_snapshot(const ctl_call *call, const ctl_verb *verb) {
  if (strcmp(call->arguments[1], "now") != 0) return complain_usage("write it so: muster ctl snapshot [now]");
  return ask(call, verb, verb->path, NULL);
}

/* Any document: not all are JSON. */
static int get(const ctl_call *call, const ctl_verb *verb) {
  const char *path = call->arguments[1];
  (void)verb;
  if (*path != '/') return complain_usage("'%s' is no path; it begins with /, such as /v1/worlds", path);
  return ctl_tell(call->options, path, NULL) ? STATUS_OK : STATUS_FAILED;
}

/* ---------------------------------------------------------------------------------------------------- the table */

static const ctl_verb verbs[] = {
    {"worlds", "", 0, 0, "all worlds", "GET", "/v1/worlds", .show = ctl_show_worlds},
    {"health", "", 0, 0, "whether all worlds run, and why not", "GET", "/readyz", .run = show_health},
    {"restart", "WORLD", 1, 1, "stop its process in order, and start it again at once", "POST", .path = "/restart",
     .show = ctl_show_restart, .run = restart_world},
    {"acknowledge", "", 0, 0, "what its journals have lost is known: it is told no more", "POST",
     .path = "/acknowledge"},
    {"nodes", "", 0, 0, "nodes of the cluster, what they run, and which of them balances it", "GET", "/v1/nodes",
     .run = show_nodes},
    {"zones", "[restore WORLD|move WORLD NODE]", 0, 0,
     "zones of the cluster; or one that the brokers have lost goes on here; or one moves", "GET", "/v1/zones",
     .run = show_zones},
    {"zones", "", 2, 2, NULL, "POST", .path = "/restore", .show = ctl_show_restart, .run = change_zone},
    {"zones", "", 3, 3, NULL, "POST", .path = "/move", .body = {read_text, 3, .member = "node"}, .show = ctl_show_move,
     .run = change_zone},
    {"drain", "[--undo]", 0, 0, "empty this node of zones, until --undo or its restart", "POST", "/v1/drain",
     .show = ctl_show_drain, .run = drain_node},
    {"world", "", 0, 0, "one world", "GET", .path = "", .show = show_world},
    {"budget", "10ms", 1, 1, "what a frame may take", "PATCH", "",
     .body = {read_number, 1, "budget_ns", BUDGET_LEAST_NS, BUDGET_MOST_NS, parse_duration}},
    {"hz", "30", 1, 1, "frames per second", "PATCH", "",
     .body = {read_number, 1, "hz", RATE_LEAST, RATE_MOST, parse_rate}},
    {"pause", "", 0, 0, "run no more frames", "PATCH", "", .body = {read_switch, .member = "paused", .least = 1}},
    {"step", "[N]", 0, 1, "pause, run N frames and wait for their end", "GET", "", .run = step_world},
    {"resume", "", 0, 0, "go on", "PATCH", "", .body = {read_switch, .member = "paused", .least = 0}},
    {"workers", "N", 1, 1, "at most so many work on its frames; 0 = all", "PATCH", "",
     .body = {read_number, 1, "workers", 0, 1024, parse_count}},
    {"weights", "[NAME=VALUE]...", 0, 0, "show, or change, the weights of priority", "GET", "/weights",
     .show = ctl_show_members},
    {"weights", "", 1, ANY, NULL, "PATCH", "", .body = {read_members, .at = 1}},
    {"policy", "NAME", 1, 1, "balanced, fair, importance_first or least_slack", "PATCH", "",
     .body = {read_text, 1, .member = "policy"}},
    {"levels", "", 0, 0, "agents by capability level", "GET", .path = "/levels"},
    {"types", "", 0, 0, "what types cost, and how they behave", "GET", "/types", .show = show_types},
    {"priority", "TYPE N", 2, 2, "share of the frame of a type with sets", "PUT", "/types/@/priority",
     .body = {read_number, 2, "priority", 0, 100, parse_count}},
    {"periods", "TYPE|ID 100ms [1s]", 2, 3, "how often it runs: shortest and longest period; 0 = as before", "PUT",
     "/types/@/periods", .body = {read_periods, 2, .member = NULL}, .run = of_type_or_agent},
    {"reinstate", "TYPE|ID", 1, 1, "forget overruns; out of quarantine", "POST", "/types/@/reinstate",
     .run = of_type_or_agent},
    {"agents", "[type= near= limit= ...]", 0, ANY, "agents, page by page", "GET", "/agents", .list = "agents",
     .columns = "agent type position importance level# period_ns cost=expected_cost_ns delays# quarantined?",
     .run = list},
    {"agent", "ID", 1, 1, "one agent", "GET", .path = "/agents/@"},
    {"explain", "ID", 1, 1, "why it runs when and how it does", "GET", "/agents/@/explain", .show = show_explanation},
    {"spawn", "TYPE PLACE [count= ...]", 2, ANY, "new agents", "POST", "/agents", .body = {read_spawn, .at = 2},
     .show = show_ids},
    {"wake", "ID [5s]", 1, 2, "run it now, or at a simulation time", "POST", "/agents/@/wake",
     .body = {read_number, 2, "at_ns", 0, UINT64_MAX / 4, parse_duration}, .done = "is woken"},
    {"move", "ID PLACE", 2, 2, "move it", "PUT", "/agents/@/position", .body = {read_placed, .at = 2},
     .done = "is moved"},
    {"tune", "ID NAME=VALUE...", 2, ANY, "importance_floor, elasticity, visibility, ...", "PATCH", "/agents/@",
     .body = {read_members, .at = 2}, .done = "is changed"},
    {"remove", "ID", 1, 1, "remove it", "DELETE", .path = "/agents/@", .done = "leaves at the next frame"},
    {"observers", "[limit= cursor=]", 0, ANY, "observers, page by page", "GET", "/observers", .list = "observers",
     .columns = "observer position partition# near_m far_m held?", .run = list},
    {"observe", "PLACE [near_m= far_m=]", 1, ANY, "add an observer", "POST", "/observers",
     .body = {read_placed, .at = 1}},
    {"unobserve", "ID", 1, 1, "remove an observer", "DELETE", .path = "/observers/@", .done = "is removed"},
    {"modules", "[NAME]", 0, 0, "those that are loaded; or load one", "GET", "/v1/modules", .list = "modules",
     .columns = "module summary"},
    {"modules", "", 1, 1, NULL, "POST", "/v1/modules", .body = {read_text, 1, .member = "module"}},
    {"module", "[WORLD [COMMAND [BODY]]]", 0, 3, "settings, commands and metrics of its modules; or a command", "GET",
     "/module", .show = show_module, .run = tell_module},
    {"scripts", "reload|show ID", 1, 2, "read the scripts anew; or what the table of an agent holds", "POST",
     "/module/@", .run = tell_scripts},
    {"snapshot", "[now]", 0, 0, "what became of the last one; or begin one", "GET", .path = "/v1/snapshot"},
    {"snapshot", "", 1, 1, NULL, "POST", "/v1/snapshot", .run = begin_snapshot},
    {"get", "/v1/...", 1, 1, "any other document of the daemon", "GET", "", .run = get},
};

enum { VERBS = sizeof verbs / sizeof *verbs };

void ctl_show_commands(FILE *stream) {
  char form[NAME_BYTES];
  for (const ctl_verb *verb = verbs; verb < verbs + VERBS; verb++) {
    snprintf(form, sizeof form, "%s %s", verb->name, verb->arguments);
    if (verb->summary) fprintf(stream, "  %-34s %s\n", form, verb->summary);
  }
}

bool ctl_show_command(const char *name) {
  char text[2048];
  const ctl_verb *verb = verbs;
  while (verb < verbs + VERBS && strcmp(verb->name, name) != 0) verb++;
  if (verb == verbs + VERBS) return false;
  snprintf(text, sizeof text,
           "muster ctl %s - %s\n\nusage: muster ctl [OPTION]... %s%s%s\n\n%s\nOptions: `muster ctl --help`.\n", name,
           verb->summary, name, *verb->arguments ? " " : "", verb->arguments, ctl_help_of(name));
  columns_print(stdout, text, columns_of(STDOUT_FILENO));
  return true;
}

int ctl_run(const ctl_call *call) {
  const char *names[VERBS], *name = call->arguments[0];
  const ctl_verb *first = NULL;
  size_t count = 0;
  for (const ctl_verb *verb = verbs; verb < verbs + VERBS; verb++) {
    if (verb->summary) names[count++] = verb->name;
    if (strcmp(name, verb->name) != 0) continue;
    if (call->count > verb->least && call->count - 1 <= verb->most)
      return (verb->run ? verb->run : ask_and_show)(call, verb);
    if (!first) first = verb;
  }
  if (first)
    return complain_usage("'ctl %s': an argument %s; write it so: muster ctl %s%s%s", name,
                          call->count > first->least ? "too many" : "is missing", name, *first->arguments ? " " : "",
                          first->arguments);
  const char *nearest = nearest_name(name, names, count);
  if (nearest) return complain_usage("unknown command 'ctl %s'; did you mean '%s'?", name, nearest);
  return complain_usage("unknown command 'ctl %s'; `muster ctl --help` lists them", name);
}
