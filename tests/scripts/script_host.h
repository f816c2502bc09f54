/* tests/scripts/script_host.h - a world whose agents are written in Lua, from a text in the test. What the scripts
 * print and what the module says of them goes to a file, in which tests look for it. */
#ifndef SCRIPT_HOST_H
#define SCRIPT_HOST_H

#include "lua/lua_module.h"
#include "support/full_frames.h"
#include "support/with.h"

#include <muster/record.h>
#include <muster/snapshot.h>

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A type of agents that run in each frame; worlds of one, of many that stand one metre apart, and of nobody yet. */
#define SCRIPT_FAST "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\n"
#define SCRIPT_ONE  "muster.world { agents = 1, start = function() muster.spawn('a', {x = 0, y = 0}) end }\n"
#define SCRIPT_CROWD(COUNT)                                                                                            \
  "muster.world { agents = " #COUNT ", start = function()\n"                                                           \
  " for i = 1, " #COUNT " do muster.spawn(a, {x = i, y = 0}) end end }\n"
#define SCRIPT_STILL(COUNT)                                                                                            \
  "local a = muster.type { name = 'a' }\nfunction a:think() end\n"                                                     \
  "muster.world { agents = " #COUNT ", start = function() end }\n"

enum { SCRIPT_FRAME_NS = 10000000, SCRIPT_BUDGET_NS = 5000000, SAID_BYTES = 1 << 18 };

typedef struct script_host {
  char folder[64], path[96], said_path[96];
  const muster_module *module;
  muster_result opened;
  muster_module_needs needs;
  void *instance; /* null: it was refused, or it is closed */
  muster_pool *pool;
  muster_world *world;
  uint64_t now_ns;
  int standard_error;
  char said[SAID_BYTES];
} script_host;

/* A number of the environment, for long runs. */
static inline uint32_t script_setting(const char *name, uint32_t otherwise) {
  const char *wanted = getenv(name);
  return wanted ? (uint32_t)strtoul(wanted, NULL, 10) : otherwise;
}

static inline void script_write(const script_host *host, const char *text) {
  FILE *file = fopen(host->path, "w");
  cr_assert_not_null(file);
  cr_assert_geq(fputs(text, file), 0);
  cr_assert_eq(fclose(file), 0);
}

/* Opens the module with the text. `small`: its states may have a megabyte each. */
static inline script_host *script_open_sized(const char *text, bool small) {
  script_host *host = malloc(sizeof *host);
  *host = (script_host){
      .module = muster_module_lua(), .folder = "/tmp/muster-scripts-XXXXXX", .needs.size = sizeof host->needs};
  cr_assert_not_null(mkdtemp(host->folder));
  snprintf(host->path, sizeof host->path, "%s/main.lua", host->folder);
  snprintf(host->said_path, sizeof host->said_path, "%s/said", host->folder);
  script_write(host, text);
  fflush(stderr);
  host->standard_error = dup(2);
  cr_assert_not_null(freopen(host->said_path, "a+", stderr));
  const muster_module_value value = {"state_mb", "1", 1};
  const muster_module_options options =
      WITH(muster_module_options, it.path = host->path, it.seed = 7, it.values = &value, it.value_count = small);
  host->opened = host->module->open(&options, &host->instance, &host->needs);
  if (host->opened) host->instance = NULL;
  return host;
}

static inline script_host *script_open(const char *text) {
  return script_open_sized(text, false);
}

/* Opens it once more, with options of the test's own; those that name no file have the host's. */
static inline void *script_open_again(const script_host *host, muster_module_options options,
                                      muster_module_needs *needs) {
  void *instance = NULL;
  if (!options.path) options.path = host->path;
  *needs = (muster_module_needs){.size = sizeof *needs};
  cr_assert_eq(host->module->open(&options, &instance, needs), MUSTER_OK, "%s", muster_last_error());
  return instance;
}

/* Its world, in which the types are registered. */
static inline void script_world_create(script_host *host, uint32_t workers, muster_clock clock) {
  cr_assert_eq(host->opened, MUSTER_OK, "%s", muster_last_error());
  const muster_pool_def pool_def = WITH(muster_pool_def, it.workers = workers);
  host->pool = muster_pool_create(&pool_def);
  const muster_world_def def = WITH(muster_world_def, it.pool = host->pool, it.clock.kind = clock, it.seed = 7,
                                    it.limits.agents_max = host->needs.agents_max);
  host->world = muster_world_create(&def);
  cr_assert_not_null(host->world, "%s", muster_last_error());
  cr_assert_eq(host->module->register_types(host->instance, host->world), MUSTER_OK, "%s", muster_last_error());
}

/* The same with its population. */
static inline void script_populate(script_host *host, uint32_t workers, muster_clock clock) {
  script_world_create(host, workers, clock);
  cr_assert_eq(host->module->populate(host->instance, host->world), MUSTER_OK, "%s", muster_last_error());
}

/* A world of the text with its population; in virtual time; on one worker. */
static inline script_host *script_begin(const char *text, uint32_t workers, muster_clock clock) {
  script_host *host = script_open(text);
  script_populate(host, workers, clock);
  return host;
}

static inline script_host *script_on(uint32_t workers, const char *text) {
  return script_begin(text, workers, MUSTER_CLOCK_VIRTUAL);
}

static inline script_host *script_start(const char *text) {
  return script_on(1, text);
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

static inline void script_leave(script_host **host) {
  script_end(*host);
}

#define SCOPED_HOST SCOPED(script_leave) script_host

/* A line or a part of one, and how often it was said: {"twice", 2}, {"at least twice", 2 | OR_MORE}. */
typedef struct script_line {
  const char *line;
  uint32_t times;
} script_line;

enum { OR_MORE = 1 << 30 };

static inline void script_expect_said(script_host *host, const script_line *lines, size_t count) {
  for (size_t i = 0; i < count; i++) {
    uint32_t times = script_says(host, lines[i].line), wanted = lines[i].times & ~(uint32_t)OR_MORE;
    cr_assert(lines[i].times & OR_MORE ? times >= wanted : times == wanted, "%u times, not %u: %s\n%s", times, wanted,
              lines[i].line, script_said(host));
  }
}

#define SCRIPT_EXPECT_SAID(host, ...)                                                                                  \
  script_expect_said(host, (const script_line[]){__VA_ARGS__}, COUNT_OF(((const script_line[]){__VA_ARGS__})))

/* A world of the text says that within so many frames, at least once. */
static inline void script_expect(const char *text, uint32_t frames, const char *line) {
  SCOPED_HOST *host = script_start(text);
  script_run(host, frames);
  cr_assert_geq(script_says(host, line), 1, "%s\n%s", text, script_said(host));
}

/* The text is refused when it is loaded, with a message in which these words stand. */
static inline void script_refused(const char *text, const char *words) {
  SCOPED_HOST *host = script_open(text);
  cr_assert_eq(host->opened, MUSTER_E_INPUT, "%s", text);
  cr_assert_not_null(strstr(muster_last_error(), words), "%s", muster_last_error());
  cr_assert_null(strstr(muster_last_error(), "traceback"), "%s", muster_last_error());
}

/* What a command was answered, in a text. */
typedef struct script_answer {
  uint32_t status;
  char text[1 << 15];
} script_answer;

static inline bool note_script_answer(uint32_t status, bool json, const char *text, size_t bytes, void *user) {
  script_answer *answer = user;
  cr_assert(!json && bytes < sizeof answer->text && strlen(text) == bytes);
  memcpy(answer->text, text, bytes + 1);
  answer->status = status;
  return true;
}

static inline muster_result script_command(script_host *host, const char *command, const char *body,
                                           script_answer *answer) {
  const muster_module_call call = {.size = sizeof call, .command = command, .body = body, .bytes = strlen(body)};
  memset(answer, 0, sizeof *answer);
  muster_result result = host->module->command(host->instance, host->world, &call, note_script_answer, answer);
  cr_assert_eq(answer->status, result == MUSTER_OK ? 200 : 0);
  return result;
}

/* Reads the text anew while its world runs; null = the one that is there. */
static inline muster_result script_reload(script_host *host, const char *text) {
  static script_answer answer;
  if (text) script_write(host, text);
  return script_command(host, "reload", "", &answer);
}

typedef struct script_wanted {
  const char *name;
  double value;
} script_wanted;

static inline void take_script_figure(const char *name, double value, void *user) {
  script_wanted *wanted = user;
  if (strcmp(name, wanted->name) == 0) wanted->value = value;
}

/* A number of the module's report. */
static inline double script_figure(script_host *host, const char *name) {
  script_wanted wanted = {name, -1};
  host->module->report(host->instance, host->world, take_script_figure, &wanted);
  cr_assert_geq(wanted.value, 0, "there is no figure %s", name);
  return wanted.value;
}

static inline void script_expect_figures(script_host *host, const script_wanted *figures, size_t count) {
  for (size_t i = 0; i < count; i++) {
    double is = script_figure(host, figures[i].name);
    cr_expect_eq(is, figures[i].value, "%s is %g, not %g:\n%s", figures[i].name, is, figures[i].value,
                 script_said(host));
  }
}

#define SCRIPT_EXPECT_FIGURES(host, ...)                                                                               \
  script_expect_figures(host, (const script_wanted[]){__VA_ARGS__}, COUNT_OF(((const script_wanted[]){__VA_ARGS__})))

/* --------------------------------------------------------------------------------------------------------- snapshots
 */

typedef struct script_bytes {
  unsigned char *bytes;
  size_t count, room;
} script_bytes;

static inline bool keep_script_bytes(const void *bytes, size_t count, void *user) {
  script_bytes *kept = user;
  if (kept->count + count > kept->room) {
    kept->room = 2 * (kept->room + count);
    kept->bytes = realloc(kept->bytes, kept->room);
  }
  memcpy(kept->bytes + kept->count, bytes, count);
  kept->count += count;
  return true;
}

/* A world with its scripts, as they were then. */
typedef struct script_saved {
  script_bytes world, tables;
  uint64_t now_ns;
} script_saved;

static inline script_saved script_save(script_host *host) {
  script_saved saved = {.now_ns = host->now_ns};
  const muster_save_def def = WITH(muster_save_def, it.write = keep_script_bytes, it.user = &saved.world);
  cr_assert_eq(muster_world_save(host->world, &def), MUSTER_OK, "%s", muster_last_error());
  muster_result result = host->module->save(host->instance, host->world, keep_script_bytes, &saved.tables);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  return saved;
}

static inline void script_forget(script_saved *saved) {
  free(saved->world.bytes);
  free(saved->tables.bytes);
}

#define SCOPED_SAVED SCOPED(script_forget) script_saved

/* A world of the text that goes on where the other one was. */
static inline script_host *script_load(const char *text, const script_saved *saved, uint32_t workers) {
  script_host *host = script_open(text);
  script_world_create(host, workers, MUSTER_CLOCK_VIRTUAL);
  muster_result result = host->module->resume(host->instance, host->world, saved->tables.bytes, saved->tables.count);
  cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
  const muster_load_def def = WITH(muster_load_def, it.bytes = saved->world.bytes, it.count = saved->world.count);
  cr_assert_eq(muster_world_load(host->world, &def), MUSTER_OK, "%s", muster_last_error());
  host->now_ns = saved->now_ns;
  return host;
}

#endif
