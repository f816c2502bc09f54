/* control.h - asks the control API of a daemon under test, and looks at what it answers. */
#ifndef CONTROL_H
#define CONTROL_H

#include "daemon.h"
#include "support/await.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Asks and returns the document, which the caller releases; it must come with `status`. */
static inline json_t *control_ask(const musterd *service, const char *method, const char *path, const char *body,
                                  int status) {
  json_error_t error;
  daemon_reply *reply = calloc(1, sizeof *reply);
  cr_assert_not_null(reply);
  daemon_ask(service, method, path, body, reply);
  cr_expect(reply->status == status, "%s %s %s: %d instead of %d: %s", method, path, body ? body : "", reply->status,
            status, reply->body);
  json_t *document = json_loads(reply->body, JSON_REJECT_DUPLICATES, &error);
  cr_assert(document != NULL, "%s %s: line %d: %s: %s", method, path, error.line, error.text, reply->body);
  free(reply);
  return document;
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

static inline bool control_is_true(json_t *document, const char *path) {
  return json_is_true(control_member(document, path));
}

/* The entry of a world's process, which the caller releases. */
static inline json_t *control_process_of(const musterd *service, const char *world) {
  json_t *found = NULL, *one, *all = control_ask(service, "GET", "/v1/worlds", NULL, 200);
  size_t i;
  json_array_foreach(json_object_get(all, "processes"), i, one) {
    if (strcmp(control_text(one, "world"), world) == 0) found = json_incref(one);
  }
  cr_assert_not_null(found, "no process of %s", world);
  json_decref(all);
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
    json_t *document = control_ask(service, refusal->method, refusal->path, refusal->body, refusal->status),
           *error = NULL;
    error = control_member(document, "error");
    const char *code = json_string_value(json_object_get(error, "code"));
    const char *field = json_string_value(json_object_get(error, "field"));
    cr_expect(code && strcmp(code, refusal->code) == 0, "%s %s %s: code %s", refusal->method, refusal->path,
              refusal->body ? refusal->body : "", code);
    cr_expect(strcmp(field ? field : "", refusal->field) == 0, "%s %s %s: field %s", refusal->method, refusal->path,
              refusal->body ? refusal->body : "", field ? field : "(none)");
    cr_expect(json_object_get(error, "message") != NULL);
    json_decref(document);
  }
}

#define CONTROL_EXPECT_REFUSALS(service, ...)                                                                          \
  control_expect_refusals(service, (const control_refusal[]){__VA_ARGS__},                                             \
                          sizeof((const control_refusal[]){__VA_ARGS__}) / sizeof(control_refusal))

static inline long long control_ask_count(const musterd *service, const char *path, const char *member) {
  json_t *document = control_ask(service, "GET", path, NULL, 200);
  long long count = control_count(document, member);
  json_decref(document);
  return count;
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
  json_t *list = json_loads(reply->body, 0, NULL), *agents = json_object_get(list, "agents");
  cr_assert(reply->status == 200 && agents, "GET %s: %d: %s", path, (int)reply->status, reply->body);
  bool found = json_array_size(agents) > 0;
  if (found) cr_assert_eq(sscanf(control_text(list, "agents.0.agent"), "%u.%u", index, generation), 2);
  json_decref(list);
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

/* Waits until the steps of a paused world are done. */
static inline void control_step(const musterd *service, long long frames) {
  char body[64];
  json_t *before = control_ask(service, "GET", "/v1/worlds/main", NULL, 200);
  long long done = control_count(before, "frames");
  snprintf(body, sizeof body, "{\"frames\": %lld}", frames);
  json_decref(control_ask(service, "POST", "/v1/worlds/main/step", body, 200));
  control_await_count(service, "/v1/worlds/main", "frames", done + frames);
  json_decref(before);
}

#endif
