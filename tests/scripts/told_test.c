/* What an agent is told, and what it tells Muster, number by number against what the host reads of it; and what becomes
 * of updates that were cut, of which there are several at a time. */
#include "lua/scripts.h"
#include "scripts/script_host.h"

#include <muster/explain.h>
#include <muster/overruns.h>
#include <muster/sets.h>
#include <muster/tune.h>

#include <math.h>

#define TOLD_FAST "period = '10ms', period_max = '10ms'"

/* The agent whose x that was at its birth; the only one there. */
static muster_agent told_agent(const script_host *host, double x, muster_agent_info *info) {
  for (muster_agent agent = {0}; !muster_agent_is_null(agent = muster_agent_next(host->world, agent));) {
    *info = muster_agent_info_default();
    cr_assert_eq(muster_agent_read(host->world, agent, info), MUSTER_OK);
    if (info->position.x == x && info->partition == 0) return agent;
  }
  cr_assert(false, "nobody stands at %g", x);
  return (muster_agent){0};
}

static double told_number(const muster_agent_info *info, uint32_t field) {
  const script_field *value = &((const script_published *)info->published)->fields[field];
  return value->kind == PUBLISHED_INTEGER ? (double)value->integer : value->kind == LUA_TNUMBER ? value->number : NAN;
}

static void told_expect(double is, double wanted, const char *what) {
  cr_expect(fabs(is - wanted) < 1e-6, "%s is %.9g, not %.9g", what, is, wanted);
}

/* Three agents, each alone of its type, publish all that they are told; one observer comes nearer, by which importance
 * and level change where nothing else does. */
Test(told, what_self_has_is_what_the_host_reads) {
  static const char *const names[] = {"x",          "y",       "z",  "elapsed", "level", "now",
                                      "importance", "wake_at", "px", "py",      "pz"};
  SCOPED_HOST *host = script_on(
      2, "for i = 1, 3 do local a = muster.type { name = 'a' .. i, " TOLD_FAST ",\n"
         "  levels = {count = 3, importance = {0.8, 0.4}},\n"
         "  publishes = {'x', 'y', 'z', 'elapsed', 'level', 'now', 'importance', 'wake_at', 'px', 'py', 'pz', 'id'} }\n"
         "function a:spawned() muster.wake_at(100 + self.x) end\n"
         "function a:think() local p = self.position\n"
         "  for _, name in ipairs {'x', 'y', 'z', 'elapsed', 'level', 'now', 'importance', 'wake_at', 'id'} do\n"
         "    muster.publish(name, self[name]) end\n"
         "  muster.publish('px', p.x) muster.publish('py', p.y) muster.publish('pz', p.z) end end\n"
         "muster.world { agents = 3, observers = 1, start = function(world)\n"
         "  world.id = muster.observe {x = -900, y = 0, near = 10, far = 1000}\n"
         "  for i = 1, 3 do muster.spawn('a' .. i, {x = i * 100, y = i * 20, z = i * 3}) end end,\n"
         "  frame = function(world) world.n = (world.n or 0) + 1\n"
         "    if world.n % 4 == 0 then assert(muster.observe {id = world.id, x = -900 + world.n * 40, y = 0}) end end "
         "}\n");
  bool levels[3] = {false};
  script_run(host, 3);
  for (uint32_t frame = 0; frame < 36; frame++) {
    script_run(host, 1);
    for (int i = 1; i <= 3; i++) {
      muster_agent_info info;
      muster_agent agent = told_agent(host, 100.0 * i, &info);
      const double wanted[] = {
          100.0 * i, 20.0 * i,  3.0 * i,  0.01,   info.level, (double)host->now_ns * 1e-9, (double)info.importance,
          0,         100.0 * i, 20.0 * i, 3.0 * i};
      for (uint32_t k = 0; k < COUNT_OF(wanted); k++) told_expect(told_number(&info, k), wanted[k], names[k]);
      cr_expect_eq(((const script_published *)info.published)->fields[11].integer, (int64_t)agent.value);
      told_expect((double)info.wake_at_ns * 1e-9, 100.0 + 100.0 * i, "the time asked for");
      levels[info.level] = true;
    }
  }
  cr_expect(levels[0] && levels[1] && levels[2], "%d %d %d", levels[0], levels[1], levels[2]);
}

/* What one read of the other in each step is what that had published in the frame before: nil clears. */
static void told_expect_steps(const char *said) {
  for (int step = 1; step <= 9; step++) {
    int n;
    double x, y, z;
    char a[16], b[16], rest[128];
    const char *at = strstr(said, formed("step\t%d\t", step));
    cr_assert_not_null(at, "%s", said);
    cr_assert_eq(sscanf(at, "step\t%d\t%lf\t%lf\t%lf\t%15s\t%15s\t%127[^\n]", &n, &x, &y, &z, a, b, rest), 7);
    int by = (int)y; /* how many updates the other had behind it */
    told_expect(x, 1, "x");
    told_expect(z, by < 5 ? 9 : 77, "z");
    cr_expect_str_eq(a, by && by % 2 == 0 ? "true" : "nil", "after %d", by);
    cr_expect_eq(by == 0 || by % 3 == 0 ? 0 : -by, strcmp(b, "nil") == 0 ? 0 : atoi(b), "after %d: %s", by, b);
    cr_expect(strncmp(rest, "nil\tnil\t", 8) == 0, "%s", rest);
  }
}

/* One moves, two others are read by it; each of its calls is seen by the host, or by the agent that it is for. */
Test(told, what_it_does_is_done_to_whom_it_is_for) {
  SCOPED_HOST *host = script_start(
      "local one = muster.type { name = 'one', period = '10ms', period_max = '40ms', publishes = {'a', 'b'} }\n"
      "local two = muster.type { name = 'two', period = '10ms', period_max = '40ms', publishes = {'c'},\n"
      "  spawns_max = 1, messages = {waiting_max = 8, sends_max = 8} }\n"
      "local three = muster.type { name = 'three', elapsed = 'events', publishes = {'b', 'd'} }\n"
      "function one:think() self.n = (self.n or 0) + 1\n"
      "  muster.publish('a', self.n % 2 == 0 and true or nil) if self.n % 3 == 0 then muster.publish('b', nil) else "
      "muster.publish('b', -self.n) end\n"
      "  muster.move(1, self.n) if self.n == 5 then muster.move(1, 5, 77) end end\n"
      "function two:think() if self.mother then return end self.n = (self.n or 0) + 1 local one = muster.nearest(500, "
      "one)\n"
      "  self.other = self.other or muster.nearest(500, three) local other = self.other\n"
      "  local x, y, z = muster.position(one)\n"
      "  print('step', self.n, x, y, z, muster.read(one, 'a'), muster.read(one, 'b'), muster.read(one, 'c'),\n"
      "    muster.read(one, 'd'), muster.read(other, 'd'), muster.read(other, 'b'), muster.exists(one))\n"
      "  if self.n == 2 then print('spawned', muster.spawn(two, {x = 5, y = 6}, {mother = 1}) > 0) end\n"
      "  if self.n == 3 then print('woken', muster.wake(other)) end\n"
      "  if self.n == 4 then print('slower', muster.set_period(0.02, 0.03, one), muster.set_period(0.015)) end\n"
      "  if self.n == 5 then print(pcall(muster.set_period, 0.05, 0.02)) print(pcall(muster.read, one, 'e'))\n"
      "    print(pcall(muster.set_period, 0.05, -1)) print(pcall(muster.set_period, 1e-7)) end\n"
      "  if self.n == 6 then for i = 1, 3 do muster.send(self.id, {i, text = 'n' .. i}) end end\n"
      "  if self.n == 7 then local s = '' for from, m in muster.messages() do s = s .. m[1] .. m.text\n"
      "    for f, k in muster.messages() do s = s .. (f == from and k[1] or 'x') end end print('box', s) end\n"
      "  if self.n == 8 then print('gone', muster.remove(other), muster.exists(12345), muster.position(12345), 'end') "
      "end\n"
      "  if self.n == 9 then print('gone', muster.exists(other), muster.wake(other), muster.wake(12345), "
      "muster.read(12345, 'a')) end\n"
      "end\n"
      "function three:think() muster.publish('d', 0.5) print('three runs', muster.now()) end\n"
      "muster.world { agents = 3, agents_max = 10, start = function()\n"
      "  muster.spawn(one, {x = 1, y = 0, z = 9}) muster.spawn(two, {x = 2, y = 0, z = 4})\n"
      "  muster.spawn(three, {x = 3, y = 0}) end }\n");
  muster_agent_info info;
  script_run(host, 30);
  static const char *const lines[] = {
      "spawned\ttrue\n",
      "woken\ttrue\n",
      "slower\ttrue\ttrue\n",
      "false\t",
      "false\tmuster.read: no type publishes 'e'",
      "false\tagent 'periods': period_max_ns 20000000 must be period_ns (50000000) .. 24 h",
      "box\t1n11232n21233n3123\n",
      "gone\ttrue\tfalse\tnil\tend\n",
      "gone\tfalse\tfalse\tfalse\tnil\n",
      "three runs"};
  for (size_t i = 0; i < COUNT_OF(lines); i++) SCRIPT_EXPECT_SAID(host, {lines[i], 1 | OR_MORE});
  SCRIPT_EXPECT_SAID(host, {"lua: false\t", 4}, {"three runs", 1});
  SCRIPT_EXPECT_FIGURES(host, {"scripts_errors_total", 0});
  told_expect_steps(host->said);
  told_agent(host, 5, &info);
  told_expect(info.position.y, 6, "y of the newborn");
  told_expect(info.position.z, 4, "z of the newborn");
  static const uint64_t periods[][2] = {{20000000, 30000000}, {15000000, 40000000}}; /* the longest, too */
  for (uint32_t i = 0; i < 2; i++) {
    muster_agent_explanation of = muster_agent_explanation_default();
    cr_assert_eq(muster_agent_explain(host->world, told_agent(host, 1 + i, &info), &of), MUSTER_OK);
    cr_expect(of.nominal_ns == periods[i][0] && of.longest_ns == periods[i][1], "%lu, %lu", of.nominal_ns,
              of.longest_ns);
  }
}

/* A message of the host is a value as agents send it; and the host's commands reach agents of scripts. */
Test(told, the_host_sends_and_removes_and_may_not_spawn_collectors) {
  SCOPED_HOST *host =
      script_start("local a = muster.type { name = 'a', " TOLD_FAST ", messages = {waiting_max = 2} }\n"
                   "function a:think() for from, value in muster.messages() do print('from', from, value) end end\n"
                   "function a:removed() print('removed', self.x) end\n" SCRIPT_CROWD(2));
  const script_world *scripts = host->instance;
  muster_agent_info info;
  script_run(host, 3);
  unsigned char bytes[9] = {3, 42};
  cr_assert_eq(muster_agent_send(host->world, told_agent(host, 2, &info), bytes, sizeof bytes), MUSTER_OK);
  script_run(host, 3);
  cr_expect_eq(script_says(host, "from\t0\t42\n"), 1, "%s", script_said(host));
  cr_assert_eq(muster_agent_remove(host->world, told_agent(host, 1, &info)), MUSTER_OK);
  script_run(host, 2);
  cr_expect_eq(script_says(host, "removed\t1.0\n"), 1, "%s", script_said(host));
  muster_agent_def def = WITH(muster_agent_def, it.type = scripts->types[0].id);
  cr_expect_eq(host->module->complete(host->instance, host->world, &def), MUSTER_OK);
  def.type = scripts->collector;
  cr_expect_eq(host->module->complete(host->instance, host->world, &def), MUSTER_E_ARGUMENT);
}

/* A reload that is refused, of a text that does not run and of none that there is, leaves all as it was: also for those
 * who are born afterwards in a state that is not there yet. */
Test(told, a_reload_that_is_refused_changes_nothing) {
  static const char text[] =
      "local a = muster.type { name = 'a', " TOLD_FAST " }\nlocal drawn = math.random(1 << 50)\n"
      "function a:think() if not self.told then print('thinks', self.x, drawn) self.told = true end end\n"
      "muster.world { agents = 300, start = function() muster.spawn(a, {x = 1, y = 0}) end,\n"
      "  frame = function(world) world.n = (world.n or 0) + 1 if world.n % 10 ~= 0 then return end\n"
      "    for i = 1, 40 do muster.spawn(a, {x = world.n, y = 0}) end end }\n";
  SCOPED_HOST *host = script_start(text);
  script_run(host, 5);
  cr_expect_eq(script_reload(host, "muster.type { name = 'b' }\n"), MUSTER_E_INPUT);
  script_run(host, 10);
  unlink(host->path);
  cr_expect_eq(script_reload(host, NULL), MUSTER_E_INPUT);
  script_run(host, 10);
  const char *drawn = strstr(script_said(host), "thinks\t1.0\t");
  cr_assert_not_null(drawn, "%s", host->said);
  drawn += strlen("thinks\t1.0");
  const char *line = formed("%.*s\n", (int)strcspn(drawn, "\n"), drawn);
  SCRIPT_EXPECT_SAID(host, {"thinks\t10.0\t", 40}, {"thinks\t20.0\t", 40}, {line, 81}); /* all states draw the same */
}

/* What texts draw when they are loaded follows from the seed of the world. */
Test(told, another_seed_is_another_world) {
  static const char text[] =
      "muster.type { name = 'a' } print('drawn', math.random(1 << 50))\nmuster.world { agents = 1 }\n";
  SCOPED_HOST *host = script_start(text);
  const char *drawn = strstr(script_said(host), "drawn\t");
  cr_assert_not_null(drawn);
  const char *first = formed("%.*s\n", (int)strcspn(drawn, "\n"), drawn);
  for (uint64_t seed = 7; seed < 10; seed++) {
    muster_module_needs needs;
    uint32_t before = script_says(host, first);
    void *instance = script_open_again(host, WITH(muster_module_options, it.seed = seed), &needs);
    cr_expect_eq(script_says(host, first), before + (seed == 7), "seed %lu\n%s", seed, script_said(host));
    host->module->close(instance);
  }
}

/* ----------------------------------------------------------------------------------------------------- muster.world */

/* What the functions of muster.world do, and when: they draw anew in each frame, and know its time. */
Test(told, the_functions_of_the_world_know_each_frame) {
  SCOPED_HOST *host = script_start(
      "local a = muster.type { name = 'a', " TOLD_FAST " }\nfunction a:spawned() print('born', self.z) end\n"
      "muster.world { agents = 7, agents_max = 50, observers = 2, start = function(world)\n"
      "  print('start', world.agents, muster.now()) world.n = 0\n"
      "  world.one = muster.observe {x = 1, y = 2, near = 4, far = 50} world.two = muster.observe {x = 5, y = 6} end,\n"
      "  frame = function(world) world.n = world.n + 1\n"
      "    print('frame', world.n, math.floor(muster.now() * 1000 + 0.5), math.random(1 << 40))\n"
      "    if world.n == 3 then muster.spawn(a, {x = 0, y = 0, z = 8}) end\n"
      "    if world.n == 4 then print('moved', muster.observe {id = world.two, x = 9, y = 8}) end\n"
      "    if world.n == 8 then print('lost', muster.observe {id = world.one, x = 9, y = 9}) end end }\n");
  script_run(host, 6);
  muster_observer first = muster_observer_next(host->world, (muster_observer){0});
  muster_observer second = muster_observer_next(host->world, first);
  muster_observer_def one = muster_observer_def_default(), two = one, standard = one;
  cr_assert_eq(muster_observer_read(host->world, first, &one), MUSTER_OK);
  cr_assert_eq(muster_observer_read(host->world, second, &two), MUSTER_OK);
  cr_expect(one.position.x == 1 && one.position.y == 2 && one.near_m == 4 && one.far_m == 50);
  cr_expect(two.position.x == 9 && two.position.y == 8, "%g %g", two.position.x, two.position.y);
  cr_expect(two.near_m == standard.near_m && two.far_m == standard.far_m);
  cr_assert_eq(muster_observer_remove(host->world, first), MUSTER_OK);
  script_run(host, 4);
  SCRIPT_EXPECT_SAID(host, {"start\t7\t0.0\n", 1}, {"born\t8.0\n", 1}, {"moved\ttrue\n", 1}, {"lost\tfalse\n", 1});
  long long drawn[10];
  for (int n = 1; n <= 10; n++) {
    const char *line = formed("frame\t%d\t%d\t", n, 10 * n);
    const char *at = strstr(script_said(host), line);
    cr_assert_not_null(at, "%s\n%s", line, host->said);
    drawn[n - 1] = strtoll(at + strlen(line), NULL, 10);
    for (int k = 0; k < n - 1; k++) cr_expect_neq(drawn[n - 1], drawn[k], "frames %d and %d draw the same", k + 1, n);
  }
  cr_expect_eq(script_figure(host, "scripts_errors_total"), 0);
}

/* ------------------------------------------------------------------------------------------------------ cut updates */

static uint32_t told_cut_sets(const script_world *scripts, muster_agent agent) {
  const script_state *state = scripts->states[0];
  uint32_t count = 0;
  for (uint32_t i = 0; i < state->suspended_count; i++) count += muster_agent_equal(state->suspended[i].agent, agent);
  return count;
}

/* Two sets of one agent are cut at the same time, and go on each where it was, with its own numbers. */
Test(told, sets_that_are_cut_go_on_each_for_itself) {
  SCOPED_HOST *host = script_start(
      "local a = muster.type { name = 'a', " TOLD_FAST ", cuts_max = 100000, sets = {\n"
      "  {method = 'look', role = 'sense', asks = 3}, {method = 'plan', asks = 3}} }\n"
      "local function work(self, what, times) local sum, drawn = 0, {}\n"
      "  for i = 1, times do sum = sum + i if i % 300 == 0 then drawn[#drawn + 1] = math.random(1 << 50) end end\n"
      "  local same = {} for _, d in ipairs(drawn) do assert(not same[d], 'drawn twice') same[d] = true end\n"
      "  muster.progress(0.25) print(what, self.x, sum) end\n"
      "function a:look() work(self, 'look', 2500) end\n"
      "function a:plan() work(self, 'plan', 1500) end\n" SCRIPT_CROWD(3));
  script_run(host, 120);
  for (int i = 1; i <= 3; i++) {
    SCRIPT_EXPECT_SAID(host, {formed("look\t%d.0\t3126250\n", i), 2 | OR_MORE},
                       {formed("plan\t%d.0\t1125750\n", i), 2 | OR_MORE});
  }
  cr_expect_eq(script_says(host, "look\t"), script_says(host, "\t3126250\n"));
  cr_expect_eq(script_says(host, "plan\t"), script_says(host, "\t1125750\n"));
  cr_expect_eq(script_figure(host, "scripts_errors_total"), 0, "%s", script_said(host));
  /* each time that one is cut counts, and is known of the state */
  const script_world *scripts = host->instance;
  uint64_t sum = 0;
  for (uint32_t set = 0; set < 2; set++) {
    muster_agent_info info;
    muster_set_info of = muster_set_info_default();
    cr_assert_eq(muster_agent_set_read(host->world, told_agent(host, 1, &info), set, &of), MUSTER_OK);
    sum += of.cuts;
  }
  cr_expect_eq((double)sum, script_figure(host, "scripts_cuts_total"));
  cr_expect_leq(scripts->states[0]->suspended_count, 6);
  /* one that goes takes both along */
  muster_agent_info info;
  muster_agent leaver = told_agent(host, 1, &info);
  for (uint32_t frames = 0; told_cut_sets(scripts, leaver) < 2; frames++) {
    cr_assert_lt(frames, 1000, "its sets are never cut together");
    script_run(host, 1);
  }
  cr_assert_eq(muster_agent_remove(host->world, leaver), MUSTER_OK);
  script_run(host, 2);
  cr_expect_eq(told_cut_sets(scripts, leaver), 0);
}

/* What must run whole may have 20,000 loops and calls, and hardly more. */
Test(told, what_runs_whole_has_as_many_loops_as_is_said) {
  SCOPED_HOST *host = script_start(
      "local a = muster.type { name = 'a', " TOLD_FAST " }\n"
      "function a:act() if self.x == 1 then for i = 1, 19990 do end print('whole') else for i = 1, 20250 do end\n"
      "  print('too long') end end\n"
      "muster.world { agents = 2, start = function() for i = 1, 2 do muster.spawn(a, {x = i, y = 0}) end end,\n"
      "  frame = function(world) world.n = (world.n or 0) + 1 if world.n % 2 == 0 then error('fails') end\n"
      "    for i = 1, 19990 do end print('frame') end }\n");
  script_run(host, 40);
  /* each call of its function has as many, also after one that failed */
  SCRIPT_EXPECT_SAID(host, {"whole\n", 5 | OR_MORE}, {"too long", 0}, {"lua: frame\n", 20});
}

/* A function of the world that fails leaves no coroutine behind. */
Test(told, who_fails_in_each_frame_takes_no_more_memory) {
  script_host *host =
      script_start("muster.type { name = 'a' }\n"
                   "muster.world { agents = 1, start = function() end, frame = function() error('again') end }\n");
  const script_world *scripts = host->instance;
  script_run(host, 60);
  uint64_t bytes = scripts->host->memory.bytes;
  script_run(host, 1000);
  cr_expect_lt(scripts->host->memory.bytes, bytes + bytes / 2, "%lu bytes, and %lu before", scripts->host->memory.bytes,
               bytes);
  script_end(host);
}

/* How far a set's run got is told to Muster. */
Test(told, progress_is_what_was_said) {
  SCOPED_HOST *host = script_start(
      "local a = muster.type { name = 'a', " TOLD_FAST ", cuts_max = 100000, sets = {{method = 'plan', asks = 2}} }\n"
      "function a:plan() muster.progress(0.375) for i = 1, 1e6 do end end\n"
      "muster.world { agents = 1, start = function() muster.spawn(a, {x = 1, y = 0}) end }\n");
  muster_agent_info info;
  muster_set_info of = muster_set_info_default();
  script_run(host, 6);
  cr_assert_eq(muster_agent_set_read(host->world, told_agent(host, 1, &info), 0, &of), MUSTER_OK);
  cr_expect_float_eq(of.progress, 0.375f, 1e-3, "%g", (double)of.progress);
}

/* Of a type of two methods, of which one or both never end, each agent is found, and after it is reinstated again. */
Test(told, who_is_reinstated_begins_anew_and_is_found_again) {
  enum { AGENTS = 3, CUTS = 5 };
  SCOPED_HOST *host =
      script_start("local a = muster.type { name = 'a', " TOLD_FAST ", cuts_max = 5, cost = '1us' }\n"
                   "function a:think() self.begun = (self.begun or 0) + 1 print('begins', self.x, self.begun)\n"
                   "  while true do end end\n" SCRIPT_CROWD(3));
  for (uint32_t round = 1; round <= 3; round++) {
    script_run(host, 30);
    SCRIPT_EXPECT_FIGURES(host, {"scripts_quarantines_total", AGENTS * round},
                          {"scripts_cuts_total", AGENTS * CUTS * round}, {"scripts_cut_updates", 0});
    SCRIPT_EXPECT_SAID(host, {"its update did not end in 5 frames", AGENTS * round});
    for (int i = 1; i <= AGENTS; i++) {
      muster_agent_info info;
      SCRIPT_EXPECT_SAID(host, {formed("begins\t%d.0\t%u\n", i, round), 1});
      muster_agent agent = told_agent(host, i, &info);
      cr_expect(info.quarantined);
      cr_assert_eq(muster_agent_reinstate(host->world, agent), MUSTER_OK);
    }
  }
}

/* A line for each update that was cut, in the order of agents and methods. */
static void told_cuts(const script_host *host, char *text, size_t room) {
  const script_world *scripts = host->instance;
  size_t count = 0;
  *text = 0;
  for (uint32_t index = 0; index < 200; index++)
    for (uint32_t method = 0; method < METHODS; method++)
      for (uint32_t k = 0; k < scripts->strands; k++)
        for (uint32_t i = 0; scripts->states[k] && i < scripts->states[k]->suspended_count; i++) {
          const script_suspended *one = &scripts->states[k]->suspended[i];
          if (muster_agent_index(one->agent) != index || one->method != method) continue;
          cr_assert_eq(k, scripts_strand(scripts, one->agent));
          count += (size_t)snprintf(text + count, room - count, "%u.%u %s %u: %u\n", index,
                                    muster_agent_generation(one->agent), one->type->name, method, one->cuts);
        }
}

/* Tables of another world are refused: of another magic, of fewer types, of an agent whose type there is not, and with
 * more behind them. */
static void told_refuse_damaged(const char *text, const script_bytes *tables) {
  static const struct {
    size_t at;
    unsigned char by;
  } damages[] = {{0, 1}, {4, 1}, {4, 6}, {16, 1}};
  for (size_t i = 0; i <= COUNT_OF(damages); i++) {
    bool longer = i == COUNT_OF(damages);
    SCOPED(free_memory) unsigned char *bytes = malloc(tables->count + 1);
    memcpy(bytes, tables->bytes, tables->count);
    bytes[tables->count] = 0;
    if (!longer) bytes[damages[i].at] ^= damages[i].by;
    SCOPED_HOST *host = script_open(text);
    cr_assert_eq(host->opened, MUSTER_OK);
    cr_expect_eq(host->module->resume(host->instance, NULL, bytes, tables->count + longer), MUSTER_E_INPUT, "%zu", i);
  }
}

/* A world with updates that were cut in all its strands is saved: all of them begin anew, here and where it is loaded,
 * and are as near to their quarantine as they were; what is in self and in the world's table is there again. */
Test(told, a_saved_world_keeps_how_often_all_of_its_updates_were_cut) {
  static const char text[] =
      "local a = muster.type { name = 'a', " TOLD_FAST ", cuts_max = 9, cost = '1us', sets = {\n"
      "  {method = 'look', role = 'sense', asks = 2}, {method = 'plan', asks = 2}} }\n"
      "local b = muster.type { name = 'b', " TOLD_FAST ", cuts_max = 12, cost = '1us' }\n"
      "local function forever(self) self.n = (self.n or 0) + 1 while true do end end\n"
      "a.look, a.plan, b.think = forever, forever, forever\n"
      "local still = muster.type { name = 'still', period = '1s' }\n"
      "muster.world { agents = 300, start = function(world) world.kept = {1, deep = {two = 2.5}}\n"
      "  for i = 1, 150 do muster.spawn(i % 64 == 3 and a or i % 64 == 5 and b or still, {x = i, y = 0}) end end,\n"
      "  frame = function(world) world.frames = (world.frames or 0) + 1\n"
      "    print('world', world.frames, world.kept[1], world.kept.deep.two) end }\n";
  script_host *host = script_start(text);
  static char before[8192], here[8192], there[8192];
  script_run(host, 5);
  told_cuts(host, before, sizeof before);
  cr_assert_geq(script_figure(host, "scripts_cut_updates"), 6, "%s", before);
  SCOPED_SAVED saved = script_save(host);
  double hash = script_figure(host, "scripts_hash");
  /* which lets go of coroutines */
  host->module->before_frame(host->instance, host->world, host->now_ns + SCRIPT_FRAME_NS);
  const script_world *scripts = host->instance;
  for (uint32_t k = 0; k < scripts->strands; k++)
    for (uint32_t i = 0; scripts->states[k] && i < scripts->states[k]->suspended_count; i++)
      cr_expect_null(scripts->states[k]->suspended[i].thread, "an update goes on that should begin anew");
  told_cuts(host, here, sizeof here);
  cr_expect_str_eq(here, before);
  script_end(host);

  host = script_load(text, &saved, 1);
  told_cuts(host, there, sizeof there);
  cr_expect_str_eq(there, before);
  cr_expect_eq(script_figure(host, "scripts_hash"), hash);
  script_run(host, 1);
  cr_expect_eq(script_says(host, "world\t6\t1\t2.5\n"), 1, "%s", script_said(host));
  script_run(host, 30);
  SCRIPT_EXPECT_SAID(host, {"did not end in 9 frames", 6}, {"did not end in 12 frames", 3});
  script_end(host);

  told_refuse_damaged(text, &saved.tables);
}

/* A time that is farther away than any world lasts is none, and takes back the one before. */
Test(told, a_time_without_end_is_no_time) {
  static const char *const times[] = {"1e10", "math.huge"};
  for (size_t i = 0; i < COUNT_OF(times); i++) {
    SCOPED_HOST *host = script_start(formed("local a = muster.type { name = 'a', elapsed = 'events' }\n"
                                            "function a:spawned() muster.wake_at(0.1) end\n"
                                            "function a:think() muster.wake_at(5) muster.wake_at(%s) end\n"
                                            "muster.world { agents = 1, start = function()\n"
                                            "  muster.spawn(a, {x = 1, y = 0}) end }\n",
                                            times[i]));
    muster_agent_info info;
    script_run(host, 2);
    told_agent(host, 1, &info);
    cr_expect_eq(info.wake_at_ns, 100000000u, "%lu", info.wake_at_ns);
    script_run(host, 20);
    told_agent(host, 1, &info);
    cr_expect_eq(info.wake_at_ns, 0, "%s: %lu", times[i], info.wake_at_ns);
  }
}
