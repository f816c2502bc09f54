/* control.h - asks the control API of a daemon under test, and looks at what it answers. */
#ifndef CONTROL_H
#define CONTROL_H

#include "daemon.h"
#include "room.h"

#include <jansson.h>

/* JSON that is written with ' for ", which needs no \ in C; the caller frees it. */
static inline char *control_json(const char *text) {
  char *json = strdup(text);
  cr_assert_not_null(json);
  for (char *at = json; (at = strchr(at, '\'')) != NULL;) *at = '"';
  return json;
}

/* Asks, by such a body, and returns the document, which the caller releases, or json_auto_t; it comes with `status`. */
static inline json_t *control_ask(const musterd *service, const char *method, const char *path, const char *body,
                                  int status) {
  json_error_t error;
  SCOPED(free_memory) char *json = body ? control_json(body) : NULL;
  SCOPED(free_memory) daemon_reply *reply = calloc(1, sizeof *reply);
  cr_assert_not_null(reply);
  daemon_ask(service, method, path, json, reply);
  cr_expect(reply->status == status, "%s %s %s: %d instead of %d: %s", method, path, body ? body : "", reply->status,
            status, reply->body);
  json_t *document = json_loads(reply->body, JSON_REJECT_DUPLICATES, &error);
  cr_assert(document != NULL, "%s %s: line %d: %s: %s", method, path, error.line, error.text, reply->body);
  return document;
}

static inline json_t *control_get(const musterd *service, const char *path) {
  return control_ask(service, "GET", path, NULL, 200);
}

/* A member by its path, such as "frame.carried" or "agents.0.type". Fails the test when there is none. */
static inline json_t *control_member(json_t *document, const char *path) {
  char names[128];
  json_t *value = document;
  snprintf(names, sizeof names, "%s", path);
  for (char *name = strtok(names, "."); name; name = strtok(NULL, ".")) {
    value = json_is_array(value) ? json_array_get(value, (size_t)atoi(name)) : json_object_get(value, name);
    cr_assert(value != NULL, "there is no %s", path);
  }
  return value;
}

static inline long long control_count(json_t *document, const char *path) {
  return json_integer_value(control_member(document, path));
}

static inline double control_number(json_t *document, const char *path) {
  return json_number_value(control_member(document, path));
}

static inline const char *control_text(json_t *document, const char *path) {
  json_t *value = control_member(document, path);
  cr_assert(json_is_string(value), "%s is no text", path);
  return json_string_value(value);
}

/* How many there are in a list. */
static inline size_t control_size(json_t *document, const char *path) {
  return json_array_size(control_member(document, path));
}

/* For each member of a list: */
#define CONTROL_EACH(one, document, path)                                                                              \
  for (size_t one##_index = 0; one##_index < control_size(document, path); one##_index++)                              \
    for (json_t *one = json_array_get(control_member(document, path), one##_index); one; one = NULL)

static inline bool control_is_true(json_t *document, const char *path) {
  return json_is_true(control_member(document, path));
}

static inline bool control_is_null(json_t *document, const char *path) {
  return json_is_null(control_member(document, path));
}

static inline bool control_is_like(json_t *found, json_t *wanted) {
  const char *part = json_string_value(wanted), *text = json_string_value(found);
  if (part && *part == '~') return text && strstr(text, part + 1);
  if (!json_is_number(wanted)) return json_equal(found, wanted);
  return json_is_number(found) && json_number_value(found) == json_number_value(wanted);
}

/* Compares members of a document, by their paths, with what is written as such JSON. Of a text that begins with ~ the
 * rest is a part.
 *
 *   control_expect(world, "{'paused': true, 'frame.carried': 0, 'verdict.words': '~resume it'}"); */
static inline void control_expect(json_t *document, const char *wanted) {
  const char *path;
  json_t *value;
  json_error_t error;
  SCOPED(free_memory) char *json = control_json(wanted);
  json_auto_t *all = json_loads(json, JSON_REJECT_DUPLICATES, &error);
  cr_assert_not_null(all, "%s: %s", wanted, error.text);
  json_object_foreach(all, path, value) {
    json_t *found = control_member(document, path);
    SCOPED(free_memory) char *shown = json_dumps(found, JSON_ENCODE_ANY);
    cr_expect(control_is_like(found, value), "%s is %s, and should be as in %s", path, shown, wanted);
  }
}

/* The entry of a world's process, which the caller releases. */
static inline json_t *control_process_of(const musterd *service, const char *world) {
  json_auto_t *all = control_get(service, "/v1/worlds");
  json_t *found = NULL;
  CONTROL_EACH(one, all, "processes") {
    if (strcmp(control_text(one, "world"), world) == 0) found = json_incref(one);
  }
  cr_assert_not_null(found, "no process of %s", world);
  return found;
}

/* A request that must be refused: with which status, code and field ("" = none). */
typedef struct control_refusal {
  const char *method, *path, *body;
  int status;
  const char *code, *field;
} control_refusal;

static inline void control_expect_refusals(const musterd *service, const control_refusal *refusals, size_t count) {
  for (size_t i = 0; i < count; i++) {
    const control_refusal *refusal = &refusals[i];
    json_auto_t *document = control_ask(service, refusal->method, refusal->path, refusal->body, refusal->status);
    json_t *error = control_member(document, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *field = json_string_value(json_object_get(error, "field"));
    cr_expect(code && strcmp(code, refusal->code) == 0, "%s %s %s: code %s", refusal->method, refusal->path,
              refusal->body ? refusal->body : "", code);
    cr_expect(strcmp(field ? field : "", refusal->field) == 0, "%s %s %s: field %s", refusal->method, refusal->path,
              refusal->body ? refusal->body : "", field ? field : "(none)");
    cr_expect(json_object_get(error, "message") != NULL);
  }
}

#define CONTROL_EXPECT_REFUSALS(service, ...)                                                                          \
  control_expect_refusals(service, (const control_refusal[]){__VA_ARGS__},                                             \
                          COUNT_OF(((const control_refusal[]){__VA_ARGS__})))

static inline long long control_ask_count(const musterd *service, const char *path, const char *member) {
  json_auto_t *document = control_get(service, path);
  return control_count(document, member);
}

/* Asks again and again until a number has come so far; the frames go on meanwhile. */
static inline void control_await_count(const musterd *service, const char *path, const char *member, long long least) {
  long long count = -1;
  AWAIT_WITH(usleep(1000), (count = control_ask_count(service, path, member)) >= least);
}

static inline bool control_finds_agent(const musterd *service, const char *path, daemon_reply *reply, unsigned *index,
                                       unsigned *generation) {
  daemon_ask(service, "GET", path, NULL, reply);
  if (reply->status == 503) return false; /* its world comes back */
  json_auto_t *list = json_loads(reply->body, 0, NULL);
  json_t *agents = json_object_get(list, "agents");
  cr_assert(reply->status == 200 && agents, "GET %s: %d: %s", path, (int)reply->status, reply->body);
  bool found = json_array_size(agents) > 0;
  if (found) cr_assert_eq(sscanf(control_text(list, "agents.0.agent"), "%u.%u", index, generation), 2);
  return found;
}

/* The first agent of a type in the world main; waits until there is one. */
static inline void control_find_agent(const musterd *service, const char *type, unsigned *index, unsigned *generation) {
  char path[128];
  snprintf(path, sizeof path, "/v1/worlds/main/agents?limit=1&type=%s", type);
  daemon_reply *reply = calloc(1, sizeof *reply);
  cr_assert_not_null(reply);
  AWAIT_WITH(usleep(1000), control_finds_agent(service, path, reply, index, generation));
  free(reply);
}

/* A connection on which a text was sent: of a request, or of what is none. */
static inline int control_send(const musterd *service, const char *text) {
  int descriptor = daemon_connect(service);
  cr_assert_eq(send(descriptor, text, strlen(text), MSG_NOSIGNAL), (ssize_t)strlen(text));
  return descriptor;
}

/* The status of an answer, of which that is all that is read. */
static inline int control_status(int connection) {
  char begun[13] = "";
  cr_assert_eq(recv(connection, begun, sizeof begun - 1, MSG_WAITALL), (ssize_t)sizeof begun - 1);
  return atoi(begun + 9);
}

/* The process of a world that runs now, as the log tells last. */
static inline pid_t control_pid_of(const musterd *service, const char *world) {
  const char *words = formed("world %s runs in process ", world);
  SCOPED(free_memory) char *log = daemon_log(service);
  pid_t process = 0;
  for (const char *at = log; (at = strstr(at, words)) != NULL;) process = atoi(at += strlen(words));
  cr_assert_gt(process, 0, "world %s does not run: %s", world, log);
  return process;
}

#endif
