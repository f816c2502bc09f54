/* served.h - the one daemon of a file of tests, and short words for what control.h does with it. */
#ifndef SERVED_H
#define SERVED_H

#include "control.h"

#define WORLD "/v1/worlds/main"

__attribute__((unused)) static musterd service;
__attribute__((unused)) static daemon_reply reply, again;

/* ----------------------------------------------------------------------------------------------------------- daemon */

/* Of a file in its folder. */
static inline const char *path_of(const char *name) {
  return formed("%s/%s", service.folder, name);
}

/* Starts what was prepared, and waits until it is ready. */
static inline void launch_ready(const char *flags) {
  daemon_launch(&service, flags);
  cr_assert(daemon_await(&service, "READY=1"), "it ended with %d: %s", service.status, daemon_log(&service));
}

/* A text in which @ stands for the folder. */
static inline const char *in_folder(const char *text) {
  char whole[4096];
  daemon_expand(&service, text, whole, sizeof whole);
  return formed("%s", whole);
}

static inline void configure(const char *text) {
  daemon_write(&service, "musterd.conf", in_folder(text));
}

/* A configuration and a start in one call. */
static inline void launch_configured(const char *text, const char *flags) {
  daemon_prepare(&service);
  configure(text);
  launch_ready(formed("--config @/musterd.conf %s", flags));
}

/* A folder "modules" with a module of the tests and one that is installed. */
static inline void join_modules(const char *of_tests, const char *installed) {
  const char *folder = path_of("modules");
  cr_assert_eq(system(formed("mkdir -m 700 %s && install -m 600 %s/%s.so %s/%s.so %s", folder, MUSTER_TEST_MODULES,
                             of_tests, getenv("MUSTER_MODULES"), installed, folder)),
               0);
}

/* Reads another one while it runs. */
static inline void reload(const char *text) {
  configure(text);
  daemon_signal(&service, SIGHUP);
  cr_assert(daemon_await(&service, "RELOADING=1"));
  cr_assert(daemon_await(&service, "READY=1"));
}

/* For .fini: what the test has not cleared itself must end well. */
static inline void stop(void) {
  if (*service.folder) daemon_stop(&service);
}

/* It ends well, and its folder stays. */
static inline void end_well(void) {
  daemon_signal(&service, SIGTERM);
  cr_assert_eq(daemon_wait(&service), 0);
}

static inline bool exists(const char *name) {
  return access(path_of(name), F_OK) == 0;
}

/* Begins the log anew, so that what it says is of the next run. */
static inline void forget_log(void) {
  daemon_write(&service, "log", "");
}

static inline uint32_t count_logged(const char *text) {
  SCOPED(free_memory) char *log = daemon_log(&service);
  return count_in(log, text);
}

static inline void await_log(const char *text) {
  daemon_await_log(&service, text);
}

static inline void expect_logged(const char *text) {
  SCOPED(free_memory) char *log = daemon_log(&service);
  expect_in(log, text);
}

static inline void expect_not_logged(const char *text) {
  SCOPED(free_memory) char *log = daemon_log(&service);
  cr_expect(!strstr(log, text), "\"%s\" should not be in: %s", text, log);
}

/* --------------------------------------------------------------------------------------------------------- requests */

static inline json_t *ask(const char *method, const char *path, const char *body, int status) {
  return control_ask(&service, method, path, body, status);
}

static inline json_t *get(const char *path) {
  return control_get(&service, path);
}

static inline void tell(const char *method, const char *path, const char *body, int status) {
  json_decref(ask(method, path, body, status));
}

static inline long long count_at(const char *path, const char *member) {
  return control_ask_count(&service, path, member);
}

static inline size_t size_at(const char *path, const char *member) {
  json_auto_t *document = get(path);
  return control_size(document, member);
}

static inline bool is_true_at(const char *path, const char *member) {
  json_auto_t *document = get(path);
  return control_is_true(document, member);
}

static inline double number_at(const char *path, const char *member) {
  json_auto_t *document = get(path);
  return control_number(document, member);
}

/* The page of a list that follows, of a path with a query, in the place of the one before; null behind the last. */
static inline json_t *next_page(json_t *page, const char *path) {
  const char *cursor = json_string_value(control_member(page, "next"));
  json_t *next = cursor ? get(formed("%s&cursor=%s", path, cursor)) : NULL;
  json_decref(page);
  return next;
}

#define EACH_PAGE(page, path) for (json_t *page = get(path); page; page = next_page(page, path))

/* As control_expect(), of an answer. */
static inline void expect_at(const char *path, const char *wanted) {
  json_auto_t *document = get(path);
  control_expect(document, wanted);
}

static inline void expect_asked(const char *method, const char *path, const char *body, int status,
                                const char *wanted) {
  json_auto_t *document = ask(method, path, body, status);
  control_expect(document, wanted);
}

static inline void await_count(const char *path, const char *member, long long least) {
  control_await_count(&service, path, member, least);
}

static inline void pause_world(void) {
  tell("PATCH", WORLD, "{'paused': true}", 200);
}

/* Frames go by. */
static inline void pass_frames(long long frames) {
  await_count(WORLD, "frames", count_at(WORLD, "frames") + frames);
}

/* The paused world runs some. */
static inline void step(long long frames) {
  long long done = count_at(WORLD, "frames");
  tell("POST", WORLD "/step", formed("{'frames': %lld}", frames), 200);
  await_count(WORLD, "frames", done + frames);
}

/* The answer with its headers, in `reply`. */
static inline const daemon_reply *fetch(const char *method, const char *path, const char *body) {
  daemon_ask(&service, method, path, body, &reply);
  return &reply;
}

/* An answer with this status, whose body has a part. */
static inline void expect_answer(const char *method, const char *path, const char *body, int status, const char *part) {
  fetch(method, path, body);
  cr_expect(reply.status == status && strstr(reply.body, part), "%s %s: %d instead of %d, or no \"%s\": %s", method,
            path, reply.status, status, part, reply.text);
}

/* Of an answer: its frame, and whether it was given before. */
static inline long long frame_of(const daemon_reply *answer) {
  char value[24];
  cr_assert(daemon_header(answer, "Muster-Frame", value, sizeof value), "%s", answer->text);
  return atoll(value);
}

static inline bool is_replayed(const daemon_reply *answer) {
  char value[16];
  return daemon_header(answer, "Idempotent-Replayed", value, sizeof value) && strcmp(value, "true") == 0;
}

/* A sample of /metrics; -1 when there is none. */
static inline double metric(const char *sample) {
  return daemon_metric(&service, sample);
}

static inline double starts_of_main(void) {
  return metric("muster_world_process_starts_total{world=\"main\"}");
}

/* The same of one that is there. */
static inline double measured(const char *sample) {
  double value = metric(sample);
  cr_assert_geq(value, 0, "there is no %s", sample);
  return value;
}

/* A daemon whose world main stands still once it has so many agents. */
static inline void serve_paused(const char *flags, long long agents) {
  daemon_start(&service, flags);
  await_count(WORLD, "agents", agents);
  pause_world();
}

/* A row of these without a body. */
#define GET(path, ...)                                                                                                 \
  { "GET", path, NULL, __VA_ARGS__ }

#define EXPECT_REFUSALS(...) CONTROL_EXPECT_REFUSALS(&service, __VA_ARGS__)

#endif
