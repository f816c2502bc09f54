/* tests/scripts/script_host.h - a world whose agents are written in Lua, from a text in the test. What the scripts
 * print and what the module says of them goes to a file, in which tests look for it. */
#ifndef SCRIPT_HOST_H
#define SCRIPT_HOST_H

#include "lua/lua_module.h"
#include "support/full_frames.h"

#include <muster/record.h>
#include <muster/snapshot.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SCRIPT_FRAME_NS = 10000000, SCRIPT_BUDGET_NS = 5000000, SAID_BYTES = 1 << 18 };

typedef struct script_host {
  char folder[64], path[96], said_path[96];
  const muster_module *module;
  void *instance;
  muster_pool *pool;
  muster_world *world;
  uint64_t now_ns;
  bool small; /* each state may have a megabyte */
  int standard_error;
  char said[SAID_BYTES];
} script_host;

static inline void script_write(const script_host *host, const char *text) {
  FILE *file = fopen(host->path, "w");
  cr_assert_not_null(file);
  cr_assert_geq(fputs(text, file), 0);
  cr_assert_eq(fclose(file), 0);
}

/* Opens the module with the text. The result is the module's. `small`: its states may have a megabyte each. */
static inline muster_result script_open_sized(script_host *host, const char *text, muster_module_needs *needs,
                                              bool small) {
  *host = (script_host){.module = muster_module_lua(), .small = small, .folder = "/tmp/muster-scripts-XXXXXX"};
  cr_assert_not_null(mkdtemp(host->folder));
  snprintf(host->path, sizeof host->path, "%s/main.lua", host->folder);
  snprintf(host->said_path, sizeof host->said_path, "%s/said", host->folder);
  script_write(host, text);
  fflush(stderr);
  host->standard_error = dup(2);
  cr_assert_not_null(freopen(host->said_path, "a+", stderr));
  muster_module_options options = muster_module_options_default();
  options.path = host->path;
  options.seed = 7;
  const muster_module_value values[] = {{"state_mb", "1", 1}};
  options.values = values;
  options.value_count = host->small;
  *needs = (muster_module_needs){.size = sizeof *needs};
  return host->module->open(&options, &host->instance, needs);
}

static inline muster_result script_open(script_host *host, const char *text, muster_module_needs *needs) {
  return script_open_sized(host, text, needs, false);
}

/* Its world, in which the types are registered. */
static inline void script_world_create(script_host *host, const muster_module_needs *needs, uint32_t workers,
                                       muster_clock clock) {
  muster_pool_def pool_def = muster_pool_def_default();
  pool_def.workers = workers;
  host->pool = muster_pool_create(&pool_def);
  muster_world_def def = muster_world_def_default();
  def.pool = host->pool;
  def.clock.kind = clock;
  def.seed = 7;
  def.limits.agents_max = needs->agents_max;
  host->world = muster_world_create(&def);
  cr_assert_not_null(host->world, "%s", muster_last_error());
  cr_assert_eq(host->module->register_types(host->instance, host->world), MUSTER_OK, "%s", muster_last_error());
}

/* A world of the text with its population. */
static inline script_host *script_begin(const char *text, uint32_t workers, muster_clock clock) {
  script_host *host = malloc(sizeof *host);
  muster_module_needs needs;
  cr_assert_eq(script_open(host, text, &needs), MUSTER_OK, "%s", muster_last_error());
  script_world_create(host, &needs, workers, clock);
  cr_assert_eq(host->module->populate(host->instance, host->world), MUSTER_OK, "%s", muster_last_error());
  return host;
}

static inline void script_run(script_host *host, uint32_t frames) {
  for (uint32_t i = 0; i < frames; i++) {
    host->now_ns += SCRIPT_FRAME_NS;
    host->module->before_frame(host->instance, host->world, host->now_ns);
    cr_assert_eq(muster_frame_run(host->world, &(muster_frame){host->now_ns, SCRIPT_BUDGET_NS}), MUSTER_OK);
  }
}

/* All that was said so far. */
static inline const char *script_said(script_host *host) {
  fflush(stderr);
  FILE *file = fopen(host->said_path, "r");
  size_t count = fread(host->said, 1, SAID_BYTES - 1, file);
  host->said[count] = 0;
  fclose(file);
  return host->said;
}

/* How often a text was said. */
static inline uint32_t script_says(script_host *host, const char *text) {
  uint32_t count = 0;
  for (const char *at = script_said(host); (at = strstr(at, text)); at++) count++;
  return count;
}

static inline void script_end(script_host *host) {
  destroy_full(host->world);
  muster_pool_destroy(host->pool);
  if (host->instance) host->module->close(host->instance);
  fflush(stderr);
  dup2(host->standard_error, 2);
  close(host->standard_error);
  unlink(host->said_path);
  unlink(host->path);
  rmdir(host->folder);
  free(host);
}

/* The text is refused when it is loaded, with a message in which these words stand. */
static inline void script_refused(const char *text, const char *words) {
  script_host *host = malloc(sizeof *host);
  muster_module_needs needs;
  cr_assert_eq(script_open(host, text, &needs), MUSTER_E_INPUT, "%s", text);
  cr_assert_not_null(strstr(muster_last_error(), words), "%s", muster_last_error());
  cr_assert_null(strstr(muster_last_error(), "traceback"), "%s", muster_last_error());
  host->instance = NULL;
  host->world = NULL;
  host->pool = NULL;
  script_end(host);
}

static inline bool note_script_answer(uint32_t status, bool json, const char *text, size_t bytes, void *user) {
  (void)json;
  (void)text;
  (void)bytes;
  *(uint32_t *)user = status;
  return true;
}

/* Reads the text anew while its world runs; null = the one that is there. */
static inline muster_result script_reload(script_host *host, const char *text) {
  const muster_module_call call = {.size = sizeof call, .command = "reload", .body = ""};
  uint32_t status = 0;
  if (text) script_write(host, text);
  muster_result result = host->module->command(host->instance, host->world, &call, note_script_answer, &status);
  cr_assert_eq(status, result == MUSTER_OK ? 200 : 0);
  return result;
}

static inline void take_script_figure(const char *name, double value, void *user) {
  struct {
    const char *name;
    double value;
  } *wanted = user;
  if (strcmp(name, wanted->name) == 0) wanted->value = value;
}

/* A number of the module's report. */
static inline double script_figure(script_host *host, const char *name) {
  struct {
    const char *name;
    double value;
  } wanted = {name, -1};
  host->module->report(host->instance, host->world, take_script_figure, &wanted);
  cr_assert_geq(wanted.value, 0, "there is no figure %s", name);
  return wanted.value;
}

#endif
