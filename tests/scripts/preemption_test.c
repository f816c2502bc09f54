/* Scripts that do not end: they are cut, go on, and harm no other agent. */
#include "scripts/script_host.h"

static const char around[] = "local good = muster.type { name = 'good', period = '10ms', period_max = '10ms' }\n"
                             "function good:think() self.count = (self.count or 0) + 1\n"
                             "  if self.count == 40 then print('good at 40') end end\n"
                             "%s\n"
                             "muster.world { agents = 50, start = function(world)\n"
                             "  for i = 1, 50 do muster.spawn(good, {x = i, y = 0}) end\n"
                             "  muster.spawn('bad', {x = 0, y = 0}) end }\n";

static script_host *beside_good(const char *bad, muster_clock clock) {
  return script_begin(formed(around, bad), 2, clock);
}

/* On both clocks: a script that never ends is cut in each frame and goes into quarantine; the good ones run on. */
static void never_ends(const char *method, const char *where) {
  for (int clock = MUSTER_CLOCK_WALL; clock <= MUSTER_CLOCK_VIRTUAL; clock++) {
    SCOPED_HOST *host = beside_good(formed("local bad = muster.type { name = 'bad' }\n%s", method), clock);
    script_run(host, 80);
    SCRIPT_EXPECT_SAID(host, {"goes into quarantine", 1}, {where, 1 | OR_MORE});
    if (clock == MUSTER_CLOCK_VIRTUAL) cr_assert_eq(script_says(host, "good at 40"), 50, "%s", script_said(host));
  }
}

Test(preemption, an_endless_loop_is_cut_and_named_with_file_and_line) {
  never_ends("function bad:think()\n local i = 0\n while true do i = i + 1 end end", "main.lua:7");
}

Test(preemption, pcall_does_not_hold_an_endless_loop) {
  never_ends("function bad:think() while true do pcall(function() while true do end end) end end", "'pcall'");
}

Test(preemption, a_loop_of_errors_in_pcall_is_cut) {
  never_ends("function bad:think() while true do pcall(error, 'again') end end", "main.lua:5");
}

Test(preemption, a_comparator_and_a_replacement_that_never_end_are_cut) {
  never_ends("function bad:think() table.sort({3, 2, 1}, function() while true do end end) end", "main.lua:5");
  never_ends("function bad:think() string.gsub('abc', 'b', function() while true do end end) end", "main.lua:5");
}

Test(preemption, metamethods_handlers_and_iterators_that_never_end_are_cut) {
  never_ends("function bad:think() return setmetatable({}, {__add = function() while true do end end}) + 1 end",
             "main.lua:5");
  never_ends("function bad:think() return setmetatable({}, {__index = function() while true do end end}).x end",
             "main.lua:5");
  never_ends("function bad:think() xpcall(error, function() while true do end end) end", "main.lua:5");
  never_ends("function bad:think() for _ in function() return 1 end do end end", "main.lua:5");
  never_ends("function bad:think() tostring(setmetatable({}, {__tostring = function() while true do end end})) end",
             "main.lua:5");
}

Test(preemption, a_long_update_is_cut_and_loses_nothing) {
  for (int clock = MUSTER_CLOCK_WALL; clock <= MUSTER_CLOCK_VIRTUAL; clock++) {
    SCOPED_HOST *host = beside_good("local bad = muster.type { name = 'bad', cuts_max = 100000 }\n"
                                    "function bad:think() local sum = 0\n"
                                    " for i = 1, 50000 do sum = sum + i end\n"
                                    " print('sum', sum) end",
                                    clock);
    script_run(host, 400);
    cr_assert_geq(script_says(host, "sum\t1250025000"), clock == MUSTER_CLOCK_VIRTUAL ? 4 : 1, "%s", script_said(host));
    cr_assert_eq(script_says(host, "sum"), script_says(host, "sum\t1250025000"));
  }
}

/* What eight agents said that each draw six numbers in their first update, with so many loops behind each number. The
 * caller frees it. */
static char *draws(uint32_t loops, bool cut) {
  SCOPED_HOST *host =
      script_on(2, formed("local a = muster.type { name = 'a', period = '10ms', cuts_max = 1000 }\n"
                          "function a:think() if self.drew then return end local s = ''\n"
                          " for i = 1, 6 do s = s .. ' ' .. math.random(1 << 40) for k = 1, %u do end end\n"
                          " print('drew', s, 'end') self.drew = true end\n" SCRIPT_CROWD(8),
                          loops));
  script_run(host, 200);
  cr_assert_eq(script_says(host, "drew\t"), 8, "%s", script_said(host));
  cr_assert_eq(script_figure(host, "scripts_cuts_total") >= 8 * 6, cut);
  return strdup(script_said(host));
}

Test(preemption, an_update_draws_the_same_numbers_however_often_it_is_cut) {
  SCOPED(free_memory) char *whole = draws(1, false), *cut = draws(6000, true);
  for (char *at = whole, *end; (at = strstr(at, "drew\t")); at = end + 1) {
    end = strchr(at, '\n');
    *end = 0;
    cr_expect_not_null(strstr(cut, at), "%s\n%s", at, cut);
  }
}

Test(preemption, what_becomes_of_updates_is_counted) {
  SCOPED_HOST *host = script_on(
      2,
      "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms', cost = '100us', cuts_max = 10 }\n"
      "local loop = muster.type { name = 'loop', period = '10ms', period_max = '10ms', cost = '100us', cuts_max = 10 "
      "}\n"
      "function a:think() self.kept = {} error('I fail') end\n"
      "function loop:think() while true do end end\n"
      "muster.world { agents = 2, start = function() muster.spawn(a, {x = 0, y = 0}) muster.spawn(loop, {x = 0, y = "
      "0}) end }");
  script_run(host, 5);
  SCRIPT_EXPECT_FIGURES(host, {"scripts_states", 1}, {"scripts_cut_updates", 1}, {"scripts_quarantines_total", 0});
  double cuts = script_figure(host, "scripts_cuts_total"), errors = script_figure(host, "scripts_errors_total");
  double allocated = script_figure(host, "scripts_allocated_bytes_total");
  cr_assert(cuts > 0 && errors > 0, "%g cuts, %g errors", cuts, errors);
  script_run(host, 300);
  cr_assert_eq(script_figure(host, "scripts_quarantines_total"), 1);
  cr_assert_geq(script_figure(host, "scripts_cuts_total"), 10);
  cr_assert_gt(script_figure(host, "scripts_errors_total"), errors + 100);
  cr_assert_gt(script_figure(host, "scripts_allocated_bytes_total"), allocated);
  cr_assert_geq(script_figure(host, "scripts_collections_total"), 1);
  cr_assert_lt(script_figure(host, "scripts_collectors_behind_bytes"), 1e5);
  cr_assert_leq(script_figure(host, "scripts_largest_state_bytes"), script_figure(host, "scripts_bytes"));
}

Test(preemption, what_must_run_whole_is_ended) {
  static const char *const methods[] = {"act", "spawned"};
  for (int i = 0; i < 2; i++) {
    SCOPED_HOST *host = beside_good(
        formed("local bad = muster.type { name = 'bad' }\nfunction bad:%s() while true do end end", methods[i]),
        MUSTER_CLOCK_VIRTUAL);
    script_run(host, 60);
    SCRIPT_EXPECT_SAID(host, {"it did not end within 20000 loops and calls", 1 | OR_MORE}, {"good at 40", 50});
  }
}

Test(preemption, an_update_is_told_the_same_time_in_all_its_parts) {
  SCOPED_HOST *host =
      beside_good("local bad = muster.type { name = 'bad', period = '50ms' }\n"
                  "function bad:think() local now, elapsed = self.now, self.elapsed\n"
                  " for i = 1, 8000 do end\n"
                  " self.sum = (self.sum or 0) + elapsed\n"
                  " print(now == self.now, elapsed == self.elapsed, math.abs(self.sum - (now - 0.01)) < 1e-6) end",
                  MUSTER_CLOCK_VIRTUAL);
  script_run(host, 100);
  SCRIPT_EXPECT_SAID(host, {"true\ttrue\ttrue", 5 | OR_MORE}, {"false", 0});
}
