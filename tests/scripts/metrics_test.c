/* What operators see: each figure is the sum, or the most, of its own numbers, of the strands' states and of the
 * host's; lines and looks are counted over seconds and calls against a model. */
#include "lua/kept.h"
#include "lua/lines.h"
#include "lua/metrics.h"
#include "lua/scripts.h"
#include "scripts/script_host.h"

#include <muster/random.h>

enum { METRICS_MOST = 16 };

static double metrics_of(const script_host *host, const char *name) {
  double values[METRICS_MOST];
  size_t count = 0;
  while (metrics_table[count].name) count++;
  cr_assert_leq(count, METRICS_MOST);
  for (size_t i = 0; i < count; i++) values[i] = -1;
  host->module->read_metrics(host->instance, host->world, values);
  for (size_t i = 0; i < count; i++)
    if (strcmp(metrics_table[i].name, name) == 0) return values[i];
  cr_assert(false, "there is no %s", name);
  return 0;
}

/* Numbers of one state, which differ from those of others. */
static void metrics_set(script_state *state, uint64_t by) {
  state->memory.bytes = 1000 * by;
  state->errors = 3 * by;
  state->cuts = 50 * by;
  state->suspended_count = (uint32_t)(7 * by);
  state->memory.allocated_bytes = 100000 * by;
  state->collected_bytes = 90000 * by - by * by;
  state->collections = 11 * by;
  state->of_print.left_out_ever = 13 * by;
}

/* Two strands of four, of which the one in the middle has most, and the host. */
Test(metrics, each_figure_is_its_own) {
  static const struct {
    const char *name;
    double value;
    bool counter;
  } figures[] = {{"scripts_states", 3, false},
                 {"scripts_bytes", 1000.0 * (2 + 9 + 4 + 20), false},
                 {"scripts_largest_state_bytes", 1000.0 * 20, false},
                 {"scripts_errors_total", 3.0 * 35, true},
                 {"scripts_cuts_total", 50.0 * 35, true},
                 {"scripts_cut_updates", 7.0 * 35, false},
                 {"scripts_quarantines_total", 101, true},
                 {"scripts_allocated_bytes_total", 100000.0 * 35, true},
                 {"scripts_collectors_behind_bytes", 10000.0 * 15 + 4 + 81 + 16, false},
                 {"scripts_collections_total", 11.0 * 35, true},
                 {"scripts_reloads_total", 103, true},
                 {"scripts_reloads_refused_total", 107, true},
                 {"scripts_lines_left_out_total", 13.0 * 35, true}};
  SCOPED_HOST *host = script_start(SCRIPT_STILL(300));
  script_world *scripts = host->instance, copy = *scripts;
  script_state states[3] = {0}, own = {0}, *before = scripts->host;
  cr_assert_eq(scripts->strands, 4);
  metrics_set(&states[0], 2);
  metrics_set(&states[1], 9);
  metrics_set(&states[2], 4);
  metrics_set(&own, 20);
  scripts->states[0] = &states[0], scripts->states[1] = NULL;
  scripts->states[2] = &states[1], scripts->states[3] = &states[2];
  scripts->host = &own;
  scripts->quarantines = 101, scripts->reloads = 103, scripts->reloads_refused = 107;
  size_t count = 0;
  for (; metrics_table[count].name; count++) {
    const muster_module_metric *metric = &metrics_table[count];
    cr_assert_lt(count, COUNT_OF(figures));
    cr_expect_str_eq(metric->name, figures[count].name);
    cr_expect_eq(metric->kind, figures[count].counter ? MUSTER_MODULE_COUNTER : MUSTER_MODULE_GAUGE, "%s",
                 metric->name);
    cr_expect_eq(metrics_of(host, metric->name), figures[count].value, "%s is %g", metric->name,
                 metrics_of(host, metric->name));
  }
  cr_expect_eq(count, COUNT_OF(figures));
  own.memory.bytes = 100;
  cr_expect_eq(metrics_of(host, "scripts_largest_state_bytes"), 9000);
  cr_expect_eq(before, copy.host);
  *scripts = copy;
  for (size_t i = 0; i < count; i++)
    cr_expect_eq(metrics_of(host, metrics_table[i].name), script_figure(host, metrics_table[i].name), "%s",
                 metrics_table[i].name);
}

/* How many more lines the log said were left out. */
static double metrics_told(script_host *host) {
  double sum = 0;
  for (const char *at = script_said(host); (at = strstr(at, "muster lua: and ")); at++)
    sum += strtod(at + strlen("muster lua: and "), NULL);
  return sum;
}

/* Seconds in which more is printed than may be, and others: each is its own, in each strand and in muster.world. */
Test(metrics, lines_are_counted_in_each_second_and_strand) {
  SCOPED_HOST *host = script_start("local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\n"
                                   "local function say(n, what) for i = 1, n do print(what) end end\n"
                                   "local function most(now) local second = now // 1 return second % 3 == 0 and 2 or "
                                   "second % 3 == 1 and 1 or 0 end\n"
                                   "function a:think() say(most(muster.now()), 'agent ' .. self.x // 1) end\n"
                                   "muster.world { agents = 300, start = function() for i = 1, 300 do\n"
                                   "  if i == 1 or i == 70 then muster.spawn(a, {x = i, y = 0}) else "
                                   "muster.spawn('still', {x = i, y = 0}) end end end,\n"
                                   "  frame = function() say(3 * most(muster.now()), 'world') end }\n"
                                   "muster.type { name = 'still', period = '1s' }\n");
  static const char *const lines[] = {"agent 1.0\n", "agent 70.0\n", "lua: world\n"};
  static const uint32_t in_second[6] = {100, 200, 200, 300, 400, 400}; /* in all, at its end */
  script_run(host, 99);
  for (uint32_t second = 0; second < 6; second++) {
    for (size_t i = 0; i < COUNT_OF(lines); i++) {
      uint32_t said = script_says(host, lines[i]), most = in_second[second];
      cr_expect(said <= most && said + 3 >= most, "second %u: %u times %s", second, said, lines[i]);
    }
    double left_out = script_figure(host, "scripts_lines_left_out_total");
    script_run(host, 1);
    cr_expect_eq(metrics_told(host), left_out, "second %u: %g left out, and %g told", second, left_out,
                 metrics_told(host));
    script_run(host, 99);
  }
  SCRIPT_EXPECT_SAID(host, {" in strand 0\n", 2 | OR_MORE}, {" in strand 1\n", 2 | OR_MORE},
                     {" in muster.world\n", 2 | OR_MORE}, {" in strand 2\n", 0});
}

/* The first call of a method is looked behind, the third, the seventh and so on, in the end each 252nd. */
Test(metrics, looks_come_seldomer_and_seldomer) {
  script_looking looking = {0};
  uint32_t next = 1, apart = 2;
  for (uint32_t call = 1; call < 3000; call++) {
    cr_assert_eq(kept_is_due(&looking), call == next, "call %u", call);
    if (call != next) continue;
    next += apart;
    apart = 2 * apart < 252 ? 2 * apart : 252;
  }
}

/* What lies in self at that place is found, or not. */
static void metrics_looks(const char *put, const char *says) {
  SCOPED_HOST *host = script_start(
      formed("local a = muster.type { name = 'a', period = '10ms', period_max = '10ms' }\nkinds = {{}}\n"
             "function a:spawned() %s end\nfunction a:think() end\n"
             "muster.world { agents = 1, start = function(world) %s muster.spawn(a, {x = 0, y = 0}) end }\n",
             strstr(put, "world") ? "" : put, strstr(put, "world") ? put : ""));
  script_run(host, 1);
  SCRIPT_EXPECT_FIGURES(host, {"scripts_errors_total", says != NULL});
  script_run(host, 2);
  SCRIPT_EXPECT_SAID(host, {says ? says : "cannot be kept", says != NULL});
}

Test(metrics, looks_go_as_far_as_the_manual_says) {
  metrics_looks("rawset(self, 'a', print)", "a: self.a: it is a function, and cannot be kept: ");
  metrics_looks("self.a = {b = {c = {d = print}}}", "a: self.a.b.c.d: it is a function");
  metrics_looks("self.a = {b = {c = {d = {e = print}}}}", NULL);
  metrics_looks("self.a = {[true] = print}", "a: self.a[...]: it is a function");
  metrics_looks("self.a = {[7] = kinds}", "a: self.a[7]: it is a table of the scripts");
  metrics_looks("self.a = {{[{}] = 1}}", "a: self.a[1][...]: it is behind a key that is a table or a function");
  metrics_looks("self.a = {setmetatable({}, {})}", "a: self.a[1]: it is a table with a metatable");
  metrics_looks("self.a = {b = {}, c = {}} self.a.b[1] = self.a self.a.c = self.a.b", NULL);
  metrics_looks("self.a = {} for i = 1, 126 do self.a[i] = i end self.a[127] = print",
                "a: self.a[127]: it is a function");
  metrics_looks("self.a = {} for i = 1, 127 do self.a[i] = i end self.a[128] = print", NULL);
  metrics_looks("world.a = {b = print}", "muster.world: world.a.b: it is a function");
  metrics_looks("world.a = {b = 5}", NULL);
}
