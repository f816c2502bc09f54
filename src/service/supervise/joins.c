#include "service/supervise/joins.h"

#include "service/exposition.h"
#include "service/supervise/states.h"

#include "base/assert.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NAME_OF_METRIC_BYTES = 128 };

/* One request that all worlds are asked. */
struct join {
  http_request *request;
  const struct processes *processes;
  uint32_t count, open; /* worlds; those that have not answered */
  struct {
    struct join *join;
    const world_process *process;
    unsigned status; /* 0 = it did not answer */
    char *text;
    size_t bytes;
    char problem[128];
  } parts[WORLDS_MAX];
};

/* ------------------------------------------------------------------------------------------------------------- JSON */

static bool holds(const json_t *array, const json_t *value) {
  for (size_t i = 0; i < json_array_size(array); i++)
    if (json_equal(json_array_get(array, i), value)) return true;
  return false;
}

/* Lists of the worlds become one list without repetitions; of single values the first stands, null is none. */
static void merge(json_t *whole, json_t *part) {
  const char *name;
  json_t *value;
  json_object_foreach(part, name, value) {
    json_t *known = json_object_get(whole, name);
    if (!known || json_is_null(known)) {
      json_object_set(whole, name, value);
    } else if (json_is_array(known) && json_is_array(value)) {
      for (size_t i = 0; i < json_array_size(value); i++)
        if (!holds(known, json_array_get(value, i))) json_array_append(known, json_array_get(value, i));
    } else if (json_is_object(known) && json_is_object(value)) {
      merge(known, value);
    }
  }
}

/* Of worlds that are not all ready: 503. A world without a process is a reason. */
static unsigned add_readiness(const struct join *join, json_t *whole) {
  bool ready = true;
  json_t *reasons = json_object_get(whole, "reasons");
  if (!reasons) json_object_set_new(whole, "reasons", reasons = json_array());
  for (uint32_t i = 0; i < join->count; i++) {
    const world_process *process = join->parts[i].process;
    ready = ready && join->parts[i].status == 200;
    if (join->parts[i].status) continue;
    char words[STATES_WORDS_BYTES];
    bool silent = !*states_explain(process, words);
    json_array_append_new(reasons, json_pack("{ssssss}", "world", process->name, "code",
                                             silent ? "no_answer" : process_state_name(process->state), "message",
                                             silent ? join->parts[i].problem : words));
  }
  json_object_set_new(whole, "ready", json_boolean(ready));
  return ready ? 200 : 503;
}

/* Also when no world runs: this is how people find out. */
static unsigned add_processes(const struct join *join, json_t *whole, unsigned status) {
  if (!json_object_get(whole, "worlds")) json_object_set_new(whole, "worlds", json_array());
  json_object_set_new(whole, "processes", states_list(join->processes));
  return status ? status : 200;
}

static void answer_json(struct join *join) {
  json_t *whole = json_object();
  unsigned status = 0;
  bool readiness = strcmp(http_route_of(join->request)->pattern, "/readyz") == 0;
  for (uint32_t i = 0; i < join->count; i++) {
    if (!join->parts[i].status) continue;
    json_t *part = json_loadb(join->parts[i].text, join->parts[i].bytes, 0, NULL);
    if (join->parts[i].status > status) status = join->parts[i].status; /* an error stands before what went well */
    if (json_is_object(part)) merge(whole, part);
    json_decref(part);
  }
  if (readiness) status = add_readiness(join, whole);
  if (strcmp(http_route_of(join->request)->pattern, "/v1/worlds") == 0) status = add_processes(join, whole, status);
  char *text = status ? json_dumps(whole, JSON_INDENT(2) | JSON_PRESERVE_ORDER) : NULL;
  json_decref(whole);
  if (text)
    http_answer_owned(join->request, status, HTTP_JSON, text, strlen(text));
  else
    http_refuse(join->request, 502, "no_answer", NULL,
                "no world's process answers: `muster ctl worlds` says why, or try again in a second");
}

/* ---------------------------------------------------------------------------------------------------------- metrics */

/* The family that a line tells of; "" for what is no sample and no comment on one. */
static void read_family(const char *line, char family[NAME_OF_METRIC_BYTES]) {
  if (strncmp(line, "# HELP ", 7) == 0)
    snprintf(family, NAME_OF_METRIC_BYTES, "%.*s", (int)strcspn(line + 7, " "), line + 7);
}

/* Writes a sample; one that names no world gets the name of the process. */
static void write_sample(FILE *out, const char *line, size_t length, const char *world) {
  size_t name = strcspn(line, "{ ");
  if (strstr(line, "world=\"") && strstr(line, "world=\"") < line + length) {
    fprintf(out, "%.*s\n", (int)length, line);
  } else if (line[name] == '{') {
    fprintf(out, "%.*s{process=\"%s\",%.*s\n", (int)name, line, world, (int)(length - name - 1), line + name + 1);
  } else {
    fprintf(out, "%.*s{process=\"%s\"}%.*s\n", (int)name, line, world, (int)(length - name), line + name);
  }
}

/* Writes what one world has of a family; its comments only where they have not been written yet. */
static void write_family(FILE *out, const char *text, const char *wanted, const char *world, bool *commented) {
  char family[NAME_OF_METRIC_BYTES] = "";
  bool comments = !*commented;
  for (const char *line = text; *line;) {
    size_t length = strcspn(line, "\n");
    read_family(line, family);
    if (strcmp(family, wanted) == 0 && *line == '#' && comments) fprintf(out, "%.*s\n", (int)length, line);
    if (strcmp(family, wanted) == 0 && *line == '#') *commented = true;
    if (strcmp(family, wanted) == 0 && *line != '#' && length) write_sample(out, line, length, world);
    line += length + (line[length] == '\n');
  }
}

static bool is_first_of(const struct join *join, uint32_t number, const char *family) {
  char line[NAME_OF_METRIC_BYTES + 16];
  snprintf(line, sizeof line, "# HELP %s ", family);
  for (uint32_t i = 0; i < number; i++)
    if (join->parts[i].status == 200 && strstr(join->parts[i].text, line)) return false;
  return true;
}

static void write_metrics(const struct join *join, FILE *out) {
  for (uint32_t i = 0; i < join->count; i++) {
    if (join->parts[i].status != 200) continue;
    for (const char *at = join->parts[i].text; (at = strstr(at, "# HELP ")) != NULL; at++) {
      char family[NAME_OF_METRIC_BYTES] = "";
      bool commented = false;
      read_family(at, family);
      if (!is_first_of(join, i, family)) continue;
      for (uint32_t k = i; k < join->count; k++)
        if (join->parts[k].status == 200)
          write_family(out, join->parts[k].text, family, join->parts[k].process->name, &commented);
    }
  }
}

static void answer_metrics(struct join *join) {
  char *text = NULL;
  size_t bytes = 0;
  FILE *out = open_memstream(&text, &bytes);
  if (!out) {
    http_refuse(join->request, 503, "no_memory", NULL, "no memory for the metrics: ask again");
    return;
  }
  write_metrics(join, out);
  states_write_metrics(join->processes, out);
  fclose(out);
  http_answer_owned(join->request, 200, EXPOSITION_TYPE, text, bytes);
}

/* --------------------------------------------------------------------------------------------------------- requests */

static void joins_finish(struct join *join) {
  if (strcmp(http_route_of(join->request)->pattern, "/metrics") == 0)
    answer_metrics(join);
  else
    answer_json(join);
  for (uint32_t i = 0; i < join->count; i++) free(join->parts[i].text);
  free(join);
}

static void joins_take_part(front_answer *answer, void *user) {
  __typeof__(&((struct join *)NULL)->parts[0]) part = user;
  struct join *join = part->join;
  part->status = answer->body ? answer->status : 0;
  part->text = answer->body;
  part->bytes = answer->bytes;
  answer->body = NULL;
  if (!part->status)
    snprintf(part->problem, sizeof part->problem, "%s", answer->problem ? answer->problem : "no answer");
  if (--join->open == 0) joins_finish(join);
}

static void ask_all(http_request *request, struct front *front, struct processes *processes) {
  struct join *made = calloc(1, sizeof *made);
  if (!made) {
    http_refuse(request, 429, "busy", NULL, "no memory: try again in a second");
    return;
  }
  made->request = request;
  made->processes = processes;
  made->count = processes->count;
  made->open = 1;
  for (uint32_t i = 0; i < processes->count; i++) {
    made->parts[i].join = made;
    made->parts[i].process = &processes->worlds[i];
    process_state state = processes->worlds[i].state;
    if (state != PROCESS_STARTING && state != PROCESS_RUNNING) continue; /* one that starts answers soon */
    made->open++;
    front_ask(front, request, processes->worlds[i].socket, joins_take_part, &made->parts[i]);
  }
  if (--made->open == 0) joins_finish(made);
}

bool joins_handle(http_request *request, struct front *front, struct processes *processes) {
  const char *pattern = http_route_of(request)->pattern;
  static const char *const joined[] = {"/v1/worlds", "/v1/modules", "/v1/snapshot", "/v1/crash", "/readyz", "/metrics"};
  for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
    if (strcmp(pattern, joined[i]) == 0) {
      ask_all(request, front, processes);
      return true;
    }
  return false;
}
