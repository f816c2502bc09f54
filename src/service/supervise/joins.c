#include "service/supervise/joins.h"

#include "service/supervise/joins_metrics.h"
#include "service/supervise/states.h"

#include "base/assert.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LIST_MAX = 1024 }; /* things in a list of one answer */

/* What one world says. */
typedef struct join_part {
  struct join *join;
  const world_process *process;
  bool asked;
  bool elsewhere;  /* the world runs on another node, as it should: it says nothing of whether this one is ready */
  unsigned status; /* 0 = it did not answer */
  char *text;
  size_t bytes;
  char problem[128];
} join_part;

/* One request that all worlds are asked. */
struct join {
  http_request *request;
  joins_of of;
  uint32_t count, open; /* worlds; those that have not answered */
  join_part parts[WORLDS_MAX];
};

static bool is_for(const struct join *join, const char *pattern) {
  return strcmp(http_route_of(join->request)->pattern, pattern) == 0;
}

/* ------------------------------------------------------------------------------------------------------------- JSON */

static bool holds(const json_t *array, const json_t *value) {
  for (size_t i = 0; i < json_array_size(array); i++)
    if (json_equal(json_array_get(array, i), value)) return true;
  return false;
}

/* Adds what is not there yet. What a world says may be of any length. */
static void add_to_list(json_t *whole, const json_t *part) {
  for (size_t i = 0; i < json_array_size(part) && json_array_size(whole) < LIST_MAX; i++)
    if (!holds(whole, json_array_get(part, i))) json_array_append(whole, json_array_get(part, i));
}

/* Numbers that are not the same in all worlds: those of the snapshots. */
static json_int_t join_numbers(const char *name, json_int_t whole, json_int_t part) {
  static const char *const sums[] = {"written", "failed", "bytes", "refused"}, *const least[] = {"number",
                                                                                                 "written_at"};
  for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
    if (strcmp(name, sums[i]) == 0) return whole + part;
  for (size_t i = 0; i < sizeof least / sizeof *least; i++)
    if (strcmp(name, least[i]) == 0) return part < whole ? part : whole;
  return part > whole ? part : whole;
}

static bool is_empty(const json_t *value) {
  return json_is_null(value) || (json_is_string(value) && json_string_length(value) == 0);
}

/* Of objects, which tell of the last runs, the one that ended badly stands before those that ended well. */
static bool goes_before(const json_t *part, const json_t *whole) {
  return json_is_object(part) && json_is_object(whole) && json_is_false(json_object_get(part, "clean")) &&
         json_is_true(json_object_get(whole, "clean"));
}

/* Lists of the worlds become one list without repetitions; what is true of one is true of all together. */
static void merge(json_t *whole, json_t *part) {
  const char *name;
  json_t *value;
  json_object_foreach(part, name, value) {
    json_t *known = json_object_get(whole, name);
    if (!known && json_is_array(value)) json_object_set_new(whole, name, known = json_array());
    if (!known || is_empty(known) || goes_before(value, known))
      json_object_set(whole, name, value);
    else if (json_is_array(known) && json_is_array(value))
      add_to_list(known, value);
    else if (json_is_integer(known) && json_is_integer(value))
      json_integer_set(known, join_numbers(name, json_integer_value(known), json_integer_value(value)));
    else if (json_is_false(known) && json_is_true(value))
      json_object_set(whole, name, value);
  }
}

/* Of worlds that are not all ready: 503. A world without a process is a reason, unless another node runs it. */
static unsigned add_readiness(const struct join *join, json_t *whole) {
  bool ready = true;
  size_t first = 0; /* they stand before what the others say of themselves */
  json_t *reasons = json_object_get(whole, "reasons");
  if (!reasons) json_object_set_new(whole, "reasons", reasons = json_array());
  for (uint32_t i = 0; i < join->count; i++) {
    const world_process *process = join->parts[i].process;
    if (join->parts[i].elsewhere) continue;
    ready = ready && join->parts[i].status == 200;
    if (join->parts[i].status) continue;
    char words[STATES_WORDS_BYTES];
    bool silent = !*states_explain(process, words);
    json_array_insert_new(reasons, first++,
                          json_pack("{ssssss}", "world", process->name, "code",
                                    silent ? "no_answer" : process_state_name(process->state), "message",
                                    silent ? join->parts[i].problem : words));
  }
  char told[HOLDER_WORDS_BYTES]; /* this is of no matter to what runs */
  for (uint32_t next = 0; holder_tells_of_clock(join->of.holder, &next, told);)
    json_array_append_new(reasons, json_pack("{ssss}", "code", "clock", "message", told));
  for (uint32_t next = 0; holder_tells_of_births(join->of.holder, &next, told);)
    json_array_append_new(reasons, json_pack("{ssss}", "code", "birth_spaces", "message", told));
  json_object_set_new(whole, "ready", json_boolean(ready));
  return ready ? 200 : 503;
}

/* Also when no world runs: this is how people find out. */
static unsigned add_processes(const struct join *join, json_t *whole, unsigned status) {
  if (!json_object_get(whole, "worlds")) json_object_set_new(whole, "worlds", json_array());
  json_object_set_new(whole, "processes", states_list(join->of.processes));
  return status ? status : 200;
}

/* Answers with the refusal of a world. A change has to be made by all; a question may be answered by some. */
static bool refuse_for_part(struct join *join) {
  const join_part *refusal = NULL;
  bool changes = strcmp(http_route_of(join->request)->method, "GET") != 0, answered = false;
  for (uint32_t i = 0; i < join->count; i++) {
    const join_part *part = &join->parts[i];
    answered = answered || (part->status && part->status < 400);
    if (!refusal && part->status >= 400) refusal = part;
    if (!changes || !part->asked || part->status) continue;
    http_refuse(join->request, 502, "no_answer", NULL, "world %s does not answer (%s): `muster ctl worlds` tells more",
                part->process->name, part->problem);
    return true;
  }
  if (!refusal || (answered && !changes)) return false;
  http_answer(join->request, refusal->status, HTTP_JSON, refusal->text, refusal->bytes);
  return true;
}

static void answer_json(struct join *join) {
  json_t *whole = json_object();
  unsigned status = 0;
  bool readiness = is_for(join, "/readyz");
  for (uint32_t i = 0; i < join->count; i++) {
    const join_part *from = &join->parts[i];
    if (!from->status || (from->status >= 400 && !readiness)) continue;
    json_t *part = json_loadb(from->text, from->bytes, 0, NULL);
    status = from->status;
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

static void write_front(const struct join *join, FILE *out) {
  static const char *const families[][2] = {
      {"muster_front_requests_waiting", "Requests that wait for the answer of the world's process."},
      {"muster_front_streams", "Streams of the world that clients follow."},
      {"muster_front_bytes", "Bytes of the world's answers and streams that are on their way to clients."}};
  for (uint32_t family = 0; family < sizeof families / sizeof *families; family++) {
    fprintf(out, "# HELP %s %s\n# TYPE %s gauge\n", families[family][0], families[family][1], families[family][0]);
    for (uint32_t i = 0; i < join->count; i++) {
      front_counts counts;
      front_count(join->of.front, join->parts[i].process->socket, &counts);
      const uint64_t values[] = {counts.waiting, counts.streams, counts.bytes};
      fprintf(out, "%s{world=\"%s\"} %lu\n", families[family][0], join->parts[i].process->name, values[family]);
    }
  }
}

/* What is measured of the daemon itself, and of the processes. Null: no memory. */
static char *write_own(const struct join *join) {
  struct exposition daemon = {0};
  char *text = NULL;
  size_t bytes = 0;
  metrics_render_front(&daemon, join->of.metrics, join->of.http, join->count);
  FILE *out = daemon.failed ? NULL : open_memstream(&text, &bytes);
  if (out) {
    fwrite(daemon.text, 1, daemon.bytes, out);
    states_write_metrics(join->of.processes, out);
    holder_write_metrics(join->of.holder, out);
    write_front(join, out);
    fclose(out);
  }
  exposition_free(&daemon);
  return text;
}

static void answer_metrics(struct join *join) {
  joins_metrics_part parts[WORLDS_MAX + 1] = {{.text = write_own(join)}};
  uint32_t count = 1;
  char *own = (char *)parts[0].text, *text = NULL;
  size_t bytes = 0;
  for (uint32_t i = 0; i < join->count; i++)
    if (join->parts[i].status == 200)
      parts[count++] = (joins_metrics_part){join->parts[i].process->name, join->parts[i].text};
  FILE *out = own ? open_memstream(&text, &bytes) : NULL;
  bool written = out && joins_write_metrics(parts, count, out);
  if (out) fclose(out);
  free(own);
  if (written) {
    http_answer_owned(join->request, 200, EXPOSITION_TYPE, text, bytes);
    return;
  }
  free(text);
  http_refuse(join->request, 503, "no_memory", NULL, "no memory for the metrics: ask again");
}

/* --------------------------------------------------------------------------------------------------------- requests */

static void joins_finish(struct join *join) {
  if (is_for(join, "/metrics"))
    answer_metrics(join);
  else if (is_for(join, "/readyz") || is_for(join, "/v1/worlds") || !refuse_for_part(join))
    answer_json(join);
  for (uint32_t i = 0; i < join->count; i++) free(join->parts[i].text);
  free(join);
}

static void joins_take_part(front_answer *answer, void *user) {
  join_part *part = user;
  struct join *join = part->join;
  part->status = answer->body ? answer->status : 0;
  part->text = answer->body;
  part->bytes = answer->bytes;
  answer->body = NULL;
  if (!part->status)
    snprintf(part->problem, sizeof part->problem, "%s", answer->problem ? answer->problem : "no answer");
  if (--join->open == 0) joins_finish(join);
}

static void ask_all(http_request *request, const joins_of *of) {
  struct processes *processes = of->processes;
  struct join *made = calloc(1, sizeof *made);
  if (!made) {
    http_refuse(request, 429, "busy", NULL, "no memory: try again in a second");
    return;
  }
  made->request = request;
  made->of = *of;
  made->count = processes->count;
  made->open = 1;
  for (uint32_t i = 0; i < processes->count; i++) {
    made->parts[i].join = made;
    made->parts[i].process = &processes->worlds[i];
    process_state state = processes->worlds[i].state;
    made->parts[i].elsewhere = processes->worlds[i].elsewhere && is_for(made, "/readyz");
    if (made->parts[i].elsewhere) continue; /* its process, if there is one, only follows what another node does */
    if (state != PROCESS_STARTING && state != PROCESS_RUNNING) continue; /* one that starts answers soon */
    made->open++;
    made->parts[i].asked = true;
    front_ask(of->front, request, processes->worlds[i].socket, joins_take_part, &made->parts[i]);
  }
  if (--made->open == 0) joins_finish(made);
}

bool joins_handle(http_request *request, const joins_of *of) {
  const char *pattern = http_route_of(request)->pattern;
  static const char *const joined[] = {"/v1/worlds", "/v1/modules", "/v1/snapshot", "/v1/crash", "/readyz", "/metrics"};
  for (size_t i = 0; i < sizeof joined / sizeof *joined; i++)
    if (strcmp(pattern, joined[i]) == 0) {
      ask_all(request, of);
      return true;
    }
  return false;
}
