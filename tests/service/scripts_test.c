/* Behaviours in Lua in the service: they are read anew by `muster ctl scripts reload`, by its request and by SIGHUP,
 * while they run; broken ones change nothing and are told with file and line. */
#include "control.h"
#include "tools/program.h"

#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

enum { AGENTS = 300, RELOADS = 100 };

TestSuite(scripts, .timeout = 250);

/* Each agent checks that its time goes on where its last update was, so that none is skipped or lost, and a few of them
 * tell when they have the methods of the last texts: of all would be more lines than a script may print. `behind`
 * follows in line 12. */
static const char counters[] =
    "local counter = muster.type { name = 'counter', period = '10ms', period_max = '20ms' }\n"
    "function counter:think()\n"
    "  if self.last and math.abs(self.now - self.elapsed - self.last) > 1e-6 then print('skipped', self.id) end\n"
    "  if not self.last and self.now > 2 then print('lost', self.id) end\n"
    "  self.last = self.now\n"
    "  if self.text ~= %d and %d >= 99 and self.x <= 3 then print('text', %d, self.x) end\n"
    "  self.text = %d\n"
    "end\n"
    "muster.world { agents = %d, start = function()\n"
    "  for i = 1, %d do muster.spawn(counter, {x = i, y = 0}) end\n"
    "end }\n"
    "%s\n";

static void write_scripts(const musterd *service, int text, const char *behind) {
  char whole[2048];
  snprintf(whole, sizeof whole, counters, text, text, text, text, AGENTS, AGENTS, behind);
  daemon_write(service, "counter.lua", whole);
}

static void scripts_begin_by(musterd *service, const char *flags) {
  char text[512];
  daemon_prepare(service);
  write_scripts(service, 0, "");
  snprintf(text, sizeof text,
           "[server]\nworkers = 2\nlog_level = info\n"
           "[world main]\nmodule = lua\nmodule.scripts = %s/counter.lua\nbudget = 5ms\nhz = 50\n",
           service->folder);
  daemon_write(service, "musterd.conf", text);
  daemon_launch(service, flags);
  cr_assert(daemon_await(service, "READY=1"));
  setenv("MUSTER_SOCKET", service->socket, 1);
  control_await_count(service, "/v1/worlds/main", "agents", AGENTS);
}

static void scripts_begin(musterd *service) {
  scripts_begin_by(service, "--config @/musterd.conf");
}

/* Some frames later. */
static void pass_frames(const musterd *service, long long frames) {
  json_t *world = control_ask(service, "GET", "/v1/worlds/main", NULL, 200);
  long long done = control_count(world, "frames");
  json_decref(world);
  control_await_count(service, "/v1/worlds/main", "frames", done + frames);
}

/* How often the log has a text. */
static uint32_t says(const musterd *service, const char *text) {
  char *log = daemon_log(service);
  uint32_t count = 0;
  for (const char *at = log; (at = strstr(at, text)); at++) count++;
  free(log);
  return count;
}

static void reload_by_command(bool broken) {
  program_run *run = program_start("ctl scripts reload");
  if (broken)
    cr_assert(run->status == 1 && strstr(run->errors, "counter.lua:12:"), "%d: %s%s", run->status, run->output,
              run->errors);
  else
    cr_assert(run->status == 0 && strstr(run->output, "1 scripts were loaded anew"), "%d: %s", run->status,
              run->errors);
  free(run);
}

static void reload_by_signal(musterd *service, bool broken) {
  const char *text = broken ? "counter.lua:12:" : "were loaded anew";
  uint32_t before = says(service, text);
  daemon_signal(service, SIGHUP);
  cr_assert(daemon_await(service, "RELOADING=1"));
  cr_assert(daemon_await(service, "READY=1"));
  while (says(service, text) <= before) pass_frames(service, 1); /* a process of the world's own does it later */
}

static void reload_by_request(const musterd *service, bool broken) {
  daemon_reply *reply = malloc(sizeof *reply);
  daemon_ask(service, "POST", "/v1/worlds/main/module/reload", "", reply);
  cr_assert(broken ? reply->status >= 400 && strstr(reply->body, "counter.lua:12:") : reply->status == 200, "%d: %s",
            reply->status, reply->body);
  free(reply);
}

/* Metrics are read some times a second, so a value may come a little later. */
static void await_metric(const musterd *service, const char *name, double least, double most) {
  enum { FRAMES_MAX = 1500 };
  char sample[160];
  double value = -1;
  snprintf(sample, sizeof sample, "%s{world=\"main\",module=\"lua\",instance=\"module\"}", name);
  for (int i = 0; i < FRAMES_MAX && !(value >= least && value <= most); i++) {
    pass_frames(service, 1);
    value = daemon_metric(service, sample);
  }
  cr_expect(value >= least && value <= most, "%s: %g", sample, value);
}

/* Operators see what became of the scripts, in the metrics and by `ctl module`. */
static void await_metrics(const musterd *service) {
  await_metric(service, "muster_module_scripts_reloads_total", RELOADS - RELOADS / 5, RELOADS - RELOADS / 5);
  await_metric(service, "muster_module_scripts_reloads_refused_total", RELOADS / 5, RELOADS / 5);
  await_metric(service, "muster_module_scripts_errors_total", 0, 0);
  await_metric(service, "muster_module_scripts_quarantines_total", 0, 0);
  await_metric(service, "muster_module_scripts_states", 1, 64);
  await_metric(service, "muster_module_scripts_bytes", 1e4, 1e9);
  program_run *run = program_start("ctl module");
  cr_expect(run->status == 0 && strstr(run->output, "scripts_reloads_total"), "%s%s", run->output, run->errors);
  free(run);
}

Test(scripts, a_hundred_reloads_of_which_twenty_are_broken_lose_no_agent_and_skip_no_update) {
  musterd service;
  scripts_begin(&service);
  pass_frames(&service, 5);
  for (int i = 1; i <= RELOADS; i++) {
    bool broken = i % 5 == 0;
    write_scripts(&service, i, broken ? "local = 5" : "");
    if (i % 3 == 0)
      reload_by_request(&service, broken);
    else if (i % 3 == 1)
      reload_by_command(broken);
    else
      reload_by_signal(&service, broken);
    pass_frames(&service, 2);
  }
  daemon_await_log(&service, "text\t99\t3");
  await_metrics(&service);
  pass_frames(&service, 10);
  cr_expect_eq(says(&service, "\t100\t"), 0, "a broken text was taken");
  cr_expect_eq(says(&service, "skipped"), 0);
  cr_expect_eq(says(&service, "lost"), 0);
  json_t *list = control_ask(&service, "GET", "/v1/worlds/main/agents?limit=1000&type=counter", NULL, 200);
  cr_expect_eq(json_array_size(control_member(list, "agents")), AGENTS);
  json_decref(list);
  daemon_stop(&service);
}

Test(scripts, scripts_that_do_not_compile_are_told_at_the_start) {
  musterd service;
  char text[512];
  daemon_prepare(&service);
  write_scripts(&service, 0, "local = 5");
  snprintf(text, sizeof text, "[world main]\nmodule = lua\nmodule.scripts = %s/counter.lua\n", service.folder);
  daemon_write(&service, "musterd.conf", text);
  daemon_launch(&service, "--config @/musterd.conf");
  if (daemon_has_processes()) { /* the world waits for better ones, and the service goes on for the others */
    cr_assert(daemon_await(&service, "READY=1"));
    cr_expect_geq(says(&service, "world main starts again in "), 4);
    cr_expect_geq(says(&service, "counter.lua:12:"), 1);
    daemon_stop(&service);
    return;
  }
  cr_expect_neq(daemon_wait(&service), 0);
  cr_expect_eq(says(&service, "counter.lua:12:"), 1);
  daemon_clear(&service);
}

/* As editors save: a new file takes the place of the old one. */
static void replace_file(const musterd *service, const char *name, const char *text) {
  char from[160], to[160];
  daemon_write(service, "saved~", text);
  snprintf(from, sizeof from, "%s/saved~", service->folder);
  snprintf(to, sizeof to, "%s/%s", service->folder, name);
  cr_assert_eq(rename(from, to), 0);
}

static void replace_scripts(const musterd *service, const char *name, int text, const char *behind) {
  char whole[2048];
  snprintf(whole, sizeof whole, counters, text, text, text, text, AGENTS, AGENTS, behind);
  replace_file(service, name, whole);
}

/* A process that may open few files: it knows them by themselves, not by their names. */
#define CONFINED "--config @/musterd.conf --isolation process"

Test(scripts, that_an_editor_replaced_are_read_anew) {
  musterd service;
  scripts_begin_by(&service, CONFINED);
  for (int i = 1; i <= 6; i++) {
    bool broken = i % 3 == 0;
    replace_scripts(&service, "counter.lua", i, broken ? "local = 5" : "");
    if (i % 2 == 0)
      reload_by_request(&service, broken);
    else
      reload_by_command(broken);
  }
  replace_scripts(&service, "counter.lua", 99, "");
  reload_by_signal(&service, false);
  daemon_await_log(&service, "text\t99\t3");
  cr_expect_eq(says(&service, "may not read"), 0);
  daemon_stop(&service);
}

/* The settings are replaced in the same way, and a folder of scripts may be exchanged as a whole. */
Test(scripts, in_a_folder_that_was_exchanged_are_read_anew_and_so_are_the_settings) {
  musterd service;
  char text[1024], folder[160], other[160], aside[160];
  daemon_prepare(&service);
  snprintf(folder, sizeof folder, "%s/scripts", service.folder);
  snprintf(other, sizeof other, "%s/other", service.folder);
  snprintf(aside, sizeof aside, "%s/aside", service.folder);
  cr_assert(mkdir(folder, 0700) == 0 && mkdir(other, 0700) == 0);
  replace_scripts(&service, "scripts/counter.lua", 0, "");
  replace_scripts(&service, "other/counter.lua", 99, "");
  snprintf(text, sizeof text,
           "[server]\nlog_level = info\n[world main]\nmodule = lua\nmodule.scripts = %s\nbudget = 5ms\nhz = 50\n",
           folder);
  daemon_write(&service, "musterd.conf", text);
  daemon_launch(&service, CONFINED);
  cr_assert(daemon_await(&service, "READY=1"));
  setenv("MUSTER_SOCKET", service.socket, 1);
  cr_assert(rename(folder, aside) == 0 && rename(other, folder) == 0);
  reload_by_command(false);
  daemon_await_log(&service, "text\t99\t3");
  snprintf(text, sizeof text,
           "[server]\nlog_level = info\n[world main]\nmodule = lua\nmodule.scripts = %s\nbudget = 7ms\nhz = 50\n",
           folder);
  replace_file(&service, "musterd.conf", text);
  daemon_signal(&service, SIGHUP);
  for (long long budget = 0; budget != 7000000;) {
    json_t *world = control_ask(&service, "GET", "/v1/worlds/main", NULL, 200);
    budget = control_count(world, "budget_ns");
    json_decref(world);
  }
  daemon_stop(&service);
}

/* What lies elsewhere is not read by a link that is put there. */
Test(scripts, that_became_a_link_to_elsewhere_are_refused) {
  musterd service;
  char path[160], other[160];
  scripts_begin_by(&service, CONFINED);
  replace_scripts(&service, "other.lua", 99, "");
  snprintf(path, sizeof path, "%s/counter.lua", service.folder);
  snprintf(other, sizeof other, "%s/other.lua", service.folder);
  cr_assert(unlink(path) == 0 && symlink(other, path) == 0);
  program_run *run = program_start("ctl scripts reload");
  bool confined = says(&service, "the kernel has no") == 0;
  cr_expect(!confined || (run->status == 1 && strstr(run->errors, "Permission denied")), "%d: %s%s", run->status,
            run->output, run->errors);
  cr_expect_eq(says(&service, "world main: its module may not read "), confined);
  free(run);
  daemon_stop(&service);
}

static void scripts_refuse(const char *command, int status, const char *says) {
  program_run *run = program_start(command);
  cr_expect(run->status == status && strstr(run->errors, says), "%s: %d: %s", command, run->status, run->errors);
  free(run);
}

Test(scripts, what_an_agent_keeps_is_shown) {
  musterd service;
  scripts_begin(&service);
  pass_frames(&service, 30);
  json_t *agents = control_ask(&service, "GET", "/v1/worlds/main/agents?type=counter&limit=1", NULL, 200);
  const char *id = json_string_value(json_object_get(json_array_get(json_object_get(agents, "agents"), 0), "agent"));
  char command[128], line[128];
  cr_assert_not_null(id);
  snprintf(command, sizeof command, "ctl scripts show %s", id);
  snprintf(line, sizeof line, "agent %s of type 'counter', ", id);
  program_run *run = program_start(command);
  cr_expect(run->status == 0 && strstr(run->output, line) && strstr(run->output, "\n  last = "), "%d: %s%s",
            run->status, run->output, run->errors);
  free(run);
  json_decref(agents);
  scripts_refuse("ctl scripts show 7", 1, "INDEX.GENERATION");
  scripts_refuse("ctl scripts show 7.99", 1, "7");
  scripts_refuse("ctl scripts repair", 2, "muster ctl scripts reload");
  scripts_refuse("ctl scripts show", 2, "muster ctl scripts show ID");
  daemon_stop(&service);
}

/* ----------------------------------------------------------------------------------------------- scripts that fail */

/* Each other agent fails in line 5 in each of its updates. */
static const char half[] = "local a = muster.type { name = 'a', period = '20ms', period_max = '20ms' }\n"
                           "function a:think()\n"
                           "  if self.x % 2 == 0 then return end\n"
                           "  -- whose home?\n"
                           "  self.home.visits = 1\n"
                           "end\n"
                           "muster.world { agents = 100, start = function()\n"
                           "  for i = 1, 100 do muster.spawn(a, {x = i, y = 0}) end\n"
                           "end }\n";

static void expect_shown(const char *command, const char *text) {
  program_run *run = program_start(command);
  cr_expect(run->status == 0 && strstr(run->output, text), "%s: no '%s' in %d: %s%s", command, text, run->status,
            run->output, run->errors);
  free(run);
}

static void expect_in(const char *text, const char *part) {
  cr_expect(strstr(text, part), "no '%s' in: %s", part, text);
}

/* The id of the first agent whose x is odd, or even. */
static void find_by_x(const musterd *service, bool odd, char id[64]) {
  json_t *list = control_ask(service, "GET", "/v1/worlds/main/agents?type=a&limit=10", NULL, 200), *agent;
  size_t i;
  *id = '\0';
  json_array_foreach(control_member(list, "agents"), i, agent) {
    long x = (long)json_number_value(json_object_get(json_object_get(agent, "position"), "x"));
    if (!*id && (x % 2 == 1) == odd) snprintf(id, 64, "%s", control_text(agent, "agent"));
  }
  json_decref(list);
  cr_assert(*id);
}

Test(scripts, one_that_fails_is_named_by_all_who_are_asked) {
  static const char what[] = "attempt to index a nil value (field 'home')";
  musterd service;
  char text[512], id[64], command[128];
  daemon_prepare(&service);
  daemon_write(&service, "half.lua", half);
  snprintf(text, sizeof text, "[world main]\nmodule = lua\nmodule.scripts = %s/half.lua\nbudget = 5ms\nhz = 50\n",
           service.folder);
  daemon_write(&service, "musterd.conf", text);
  daemon_launch(&service, "--config @/musterd.conf");
  cr_assert(daemon_await(&service, "READY=1"));
  setenv("MUSTER_SOCKET", service.socket, 1);
  pass_frames(&service, 60);

  json_t *world = control_ask(&service, "GET", "/v1/worlds/main", NULL, 200);
  cr_expect_str_eq(control_text(world, "verdict.code"), "errors");
  expect_in(control_text(world, "verdict.words"), "half.lua:5 has failed ");
  expect_in(control_text(world, "verdict.words"), " times, now in 50 NPCs: ");
  expect_in(control_text(world, "verdict.words"), what);
  json_t *ready = control_ask(&service, "GET", "/readyz", NULL, 200);
  cr_expect_str_eq(control_text(ready, "reasons.0.code"), "errors");
  expect_in(control_text(ready, "reasons.0.message"), "half.lua:5 has failed ");
  json_t *module = control_ask(&service, "GET", "/v1/worlds/main/module", NULL, 200);
  cr_expect_str_eq(control_text(module, "instances.0.problems.0.where"), "half.lua:5");
  cr_expect_eq(control_count(module, "instances.0.problems.0.agents"), 50);
  expect_shown("ctl health", "half.lua:5 has failed ");
  expect_shown("ctl module", "half.lua:5");
  expect_shown("top", "half.lua:5 has failed ");

  find_by_x(&service, true, id);
  snprintf(command, sizeof command, "ctl explain %s", id);
  expect_shown(command, "Its code fails: half.lua:5 has failed ");
  find_by_x(&service, false, id);
  snprintf(command, sizeof command, "/v1/worlds/main/agents/%s/explain", id);
  json_t *good = control_ask(&service, "GET", command, NULL, 200);
  cr_expect_str_empty(control_text(good, "problem"));
  cr_expect_null(strstr(control_text(good, "words"), "fails"), "%s", control_text(good, "words"));

  cr_expect_eq(says(&service, "stack traceback"), 1, "each line once");
  cr_expect_eq(says(&service, "muster lua: world main: "), 1 + says(&service, " s: half.lua:5 has failed "));
  cr_expect_geq(says(&service, " s: half.lua:5 has failed "), 1, "and with its count");
  json_decref(world), json_decref(ready), json_decref(module), json_decref(good);
  daemon_stop(&service);
}
