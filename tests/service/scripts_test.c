/* Behaviours in Lua in the service: they are read anew by `muster ctl scripts reload`, by its request and by SIGHUP,
 * while they run; broken ones change nothing and are told with file and line. */
#include "printed.h"

enum { AGENTS = 300, RELOADS = 100 };

TestSuite(scripts, .fini = stop, .timeout = 250);

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

static const char *scripts_of(int text, const char *behind) {
  return formed(counters, text, text, text, text, AGENTS, AGENTS, behind);
}

static void write_scripts(int text, const char *behind) {
  daemon_write(&service, "counter.lua", scripts_of(text, behind));
}

static void launch_scripts(const char *settings, const char *flags) {
  configure(settings);
  launch_ready(formed("--config @/musterd.conf %s", flags));
  setenv("MUSTER_SOCKET", service.socket, 1);
}

static void scripts_begin_by(const char *flags) {
  daemon_prepare(&service);
  write_scripts(0, "");
  launch_scripts("[server]\nworkers = 2\nlog_level = info\n[world main]\nmodule = lua\n"
                 "module.scripts = @/counter.lua\nbudget = 5ms\nhz = 50\n",
                 flags);
  await_count(WORLD, "agents", AGENTS);
}

static void reload_by_command(bool broken) {
  SCOPED(free_memory) program_run *run = program_start("ctl scripts reload");
  const char *said = broken ? run->errors : run->output;
  cr_assert(run->status == broken && strstr(said, broken ? "counter.lua:12:" : "1 scripts were loaded anew"),
            "%d: %s%s", run->status, run->output, run->errors);
}

static void reload_by_signal(bool broken) {
  const char *text = broken ? "counter.lua:12:" : "were loaded anew";
  uint32_t before = count_logged(text);
  daemon_signal(&service, SIGHUP);
  cr_assert(daemon_await(&service, "RELOADING=1"));
  cr_assert(daemon_await(&service, "READY=1"));
  while (count_logged(text) <= before) pass_frames(1); /* a process of the world's own does it later */
}

static void reload_by_request(bool broken) {
  fetch("POST", WORLD "/module/reload", "");
  cr_assert(broken ? reply.status >= 400 && strstr(reply.body, "counter.lua:12:") : reply.status == 200, "%d: %s",
            reply.status, reply.body);
}

static void (*const reload_by[])(bool broken) = {reload_by_request, reload_by_command, reload_by_signal};

/* Metrics are read some times a second, so a value may come a little later. */
static void await_metric(const char *name, double least, double most) {
  enum { FRAMES_MAX = 1500 };
  double value = -1;
  const char *sample = formed("%s{world=\"main\",module=\"lua\",instance=\"module\"}", name);
  for (int i = 0; i < FRAMES_MAX && !(value >= least && value <= most); i++) {
    pass_frames(1);
    value = metric(sample);
  }
  cr_expect(value >= least && value <= most, "%s: %g", sample, value);
}

Test(scripts, a_hundred_reloads_of_which_twenty_are_broken_lose_no_agent_and_skip_no_update) {
  scripts_begin_by("");
  pass_frames(5);
  for (int i = 1; i <= RELOADS; i++) {
    bool broken = i % 5 == 0;
    write_scripts(i, broken ? "local = 5" : "");
    reload_by[i % 3](broken);
    pass_frames(2);
  }
  await_log("text\t99\t3");
  /* Operators see what became of the scripts, in the metrics and by `ctl module`. */
  await_metric("muster_module_scripts_reloads_total", RELOADS - RELOADS / 5, RELOADS - RELOADS / 5);
  await_metric("muster_module_scripts_reloads_refused_total", RELOADS / 5, RELOADS / 5);
  await_metric("muster_module_scripts_errors_total", 0, 0);
  await_metric("muster_module_scripts_quarantines_total", 0, 0);
  await_metric("muster_module_scripts_states", 1, 64);
  await_metric("muster_module_scripts_bytes", 1e4, 1e9);
  expect_printed("ctl module", 0, "scripts_reloads_total");
  pass_frames(10);
  cr_expect_eq(count_logged("\t100\t"), 0, "a broken text was taken");
  cr_expect_eq(count_logged("skipped"), 0);
  cr_expect_eq(count_logged("lost"), 0);
  cr_expect_eq(size_at(WORLD "/agents?limit=1000&type=counter", "agents"), AGENTS);
}

Test(scripts, scripts_that_do_not_compile_are_told_at_the_start) {
  daemon_prepare(&service);
  write_scripts(0, "local = 5");
  configure("[world main]\nmodule = lua\nmodule.scripts = @/counter.lua\n");
  daemon_launch(&service, "--config @/musterd.conf");
  if (daemon_has_processes()) { /* the world waits for better ones, and the service goes on for the others */
    cr_assert(daemon_await(&service, "READY=1"));
    cr_expect_geq(count_logged("world main starts again in "), 4);
    cr_expect_geq(count_logged("counter.lua:12:"), 1);
    return;
  }
  cr_expect_neq(daemon_wait(&service), 0);
  cr_expect_eq(count_logged("counter.lua:12:"), 1);
  daemon_clear(&service);
}

/* As editors save: a new file takes the place of the old one. */
static void replace_file(const char *name, const char *text) {
  daemon_write(&service, "saved~", text);
  cr_assert_eq(rename(path_of("saved~"), path_of(name)), 0);
}

static void replace_scripts(const char *name, int text, const char *behind) {
  replace_file(name, scripts_of(text, behind));
}

/* A process that may open few files: it knows them by themselves, not by their names. */
#define CONFINED "--isolation process"

Test(scripts, that_an_editor_replaced_are_read_anew) {
  scripts_begin_by(CONFINED);
  for (int i = 1; i <= 6; i++) {
    bool broken = i % 3 == 0;
    replace_scripts("counter.lua", i, broken ? "local = 5" : "");
    reload_by[i % 2](broken);
  }
  replace_scripts("counter.lua", 99, "");
  reload_by_signal(false);
  await_log("text\t99\t3");
  cr_expect_eq(count_logged("may not read"), 0);
}

/* The settings are replaced in the same way, and a folder of scripts may be exchanged as a whole. */
#define EXCHANGED "[server]\nlog_level = info\n[world main]\nmodule = lua\nmodule.scripts = @/scripts\nhz = 50\n"

Test(scripts, in_a_folder_that_was_exchanged_are_read_anew_and_so_are_the_settings) {
  daemon_prepare(&service);
  cr_assert(mkdir(path_of("scripts"), 0700) == 0 && mkdir(path_of("other"), 0700) == 0);
  replace_scripts("scripts/counter.lua", 0, "");
  replace_scripts("other/counter.lua", 99, "");
  launch_scripts(EXCHANGED "budget = 5ms\n", CONFINED);
  cr_assert(rename(path_of("scripts"), path_of("aside")) == 0 && rename(path_of("other"), path_of("scripts")) == 0);
  reload_by_command(false);
  await_log("text\t99\t3");
  replace_file("musterd.conf", in_folder(EXCHANGED "budget = 7ms\n"));
  daemon_signal(&service, SIGHUP);
  while (count_at(WORLD, "budget_ns") != 7000000) continue;
}

/* What lies elsewhere is not read by a link that is put there. */
Test(scripts, that_became_a_link_to_elsewhere_are_refused) {
  scripts_begin_by(CONFINED);
  replace_scripts("other.lua", 99, "");
  cr_assert(unlink(path_of("counter.lua")) == 0 && symlink(path_of("other.lua"), path_of("counter.lua")) == 0);
  SCOPED(free_memory) program_run *run = program_start("ctl scripts reload");
  bool confined = count_logged("the kernel has no") == 0;
  cr_expect(!confined || (run->status == 1 && strstr(run->errors, "Permission denied")), "%d: %s%s", run->status,
            run->output, run->errors);
  cr_expect_eq(count_logged("world main: its module may not read "), confined);
}

Test(scripts, what_an_agent_keeps_is_shown) {
  scripts_begin_by("");
  pass_frames(30);
  json_auto_t *agents = get(WORLD "/agents?type=counter&limit=1");
  const char *id = control_text(agents, "agents.0.agent"), *command = formed("ctl scripts show %s", id);
  EACH_TRIPLE(expect_printed, {command, 0, formed("agent %s of type 'counter', ", id)}, {command, 0, "\n  last = "},
              {"ctl scripts show 7", 1, "INDEX.GENERATION"}, {"ctl scripts show 7.99", 1, "7"},
              {"ctl scripts repair", 2, "muster ctl scripts reload"},
              {"ctl scripts show", 2, "muster ctl scripts show ID"});
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

/* The id of the first agent whose x is odd, or even. */
static const char *find_by_x(bool odd) {
  json_auto_t *list = get(WORLD "/agents?type=a&limit=10");
  const char *id = NULL;
  CONTROL_EACH(agent, list, "agents") {
    long x = (long)control_number(agent, "position.x");
    if (!id && (x % 2 == 1) == odd) id = formed("%s", control_text(agent, "agent"));
  }
  cr_assert(id);
  return id;
}

Test(scripts, one_that_fails_is_named_by_all_who_are_asked) {
  static const char what[] = "attempt to index a nil value (field 'home')";
  daemon_prepare(&service);
  daemon_write(&service, "half.lua", half);
  launch_scripts("[world main]\nmodule = lua\nmodule.scripts = @/half.lua\nbudget = 5ms\nhz = 50\n", "");
  pass_frames(60);

  json_auto_t *world = get(WORLD);
  control_expect(world, "{'verdict.code': 'errors', 'verdict.words': '~half.lua:5 has failed '}");
  control_expect(world, "{'verdict.words': '~ times, now in 50 NPCs: '}");
  expect_in(control_text(world, "verdict.words"), what);
  expect_at("/readyz", "{'reasons.0.code': 'errors', 'reasons.0.message': '~half.lua:5 has failed '}");
  expect_at(WORLD "/module", "{'instances.0.problems.0.where': 'half.lua:5', 'instances.0.problems.0.agents': 50}");
  EACH_TRIPLE(expect_printed, {"ctl health", 0, "half.lua:5 has failed "}, {"ctl module", 0, "half.lua:5"},
              {"top", 0, "half.lua:5 has failed "});

  expect_printed(formed("ctl explain %s", find_by_x(true)), 0, "Its code fails: half.lua:5 has failed ");
  json_auto_t *good = get(formed(WORLD "/agents/%s/explain", find_by_x(false)));
  cr_expect_str_empty(control_text(good, "problem"));
  cr_expect_null(strstr(control_text(good, "words"), "fails"), "%s", control_text(good, "words"));

  cr_expect_eq(count_logged("stack traceback"), 1, "each line once");
  cr_expect_eq(count_logged("muster lua: world main: "), 1 + count_logged(" s: half.lua:5 has failed "));
  cr_expect_geq(count_logged(" s: half.lua:5 has failed "), 1, "and with its count");
}
