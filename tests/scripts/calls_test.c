/* What `muster` offers to scripts, against what happens in the world. */
#include "scripts/script_host.h"

#define CALLS_TWO                                                                                                      \
  "muster.world { agents = 2, start = function()\n"                                                                    \
  " muster.spawn(a, {x = 0, y = 0}) muster.spawn(a, {x = 1, y = 0}) end }\n"

static void calls_says(const char *text, uint32_t frames, const char *line, uint32_t times) {
  SCOPED_HOST *host = script_on(2, text);
  script_run(host, frames);
  SCRIPT_EXPECT_SAID(host, {line, times});
}

Test(calls, agents_see_and_read_each_other) {
  calls_says(
      "local a = muster.type { name = 'a', period = '10ms', publishes = {'n', 'on', 'gone'} }\n"
      "local b = muster.type { name = 'b', period = '10ms', publishes = {'no'} }\n"
      "function a:think() muster.publish('n', 42) muster.publish('on', true) end\n"
      "function b:think() local id, distance, x, y = muster.nearest(10, a)\n"
      " if muster.read(id, 'n') then print('seen', distance, x, y, muster.read(id, 'n'), muster.read(id, 'on'),\n"
      "  muster.read(id, 'gone'), muster.read(id, 'no'), muster.read(self.id, 'n'), muster.exists(id), "
      "muster.position(id))\n"
      "  muster.remove() end end\n"
      "muster.world { agents = 2, start = function() muster.spawn(a, {x = 3, y = 4}) muster.spawn('b', {x = 0, y = 0}) "
      "end }\n",
      60, "seen\t5.0\t3.0\t4.0\t42\ttrue\tnil\tnil\tnil\ttrue\t3.0\t4.0\t0.0", 1);
}

Test(calls, nearby_goes_through_the_nearest_first) {
  calls_says(
      "local a = muster.type { name = 'a' }\n"
      "function a:think() if self.x > 0 then return end local s = ''\n"
      " for id, distance, x, y in muster.nearby(3.5, a, 2) do s = s .. distance .. ' ' .. x .. ' ' .. y .. ';' end\n"
      " print('[' .. s .. ']') muster.remove() end\n"
      "muster.world { agents = 6, start = function() for i = 0, 5 do muster.spawn(a, {x = i, y = 0}) end end }\n",
      60, "[1.0 1.0 0.0;2.0 2.0 0.0;]", 1);
}

Test(calls, nobody_meets_the_collector_of_garbage) {
  calls_says("local a = muster.type { name = 'a' }\n"
             "function a:think() print('alone', muster.nearest(1000)) muster.remove() end\n" SCRIPT_ONE,
             60, "alone\n", 1);
}

Test(calls, messages_arrive_whole_and_once) {
  calls_says("local a = muster.type { name = 'a', period = '10ms', messages = {waiting_max = 4, sends_max = 2} }\n"
             "function a:think()\n"
             " if self.x == 0 and not self.sent then self.sent = muster.send(muster.nearest(10), {n = 5, list = {1, "
             "'two', true}}) end\n"
             " for sender, value in muster.messages() do\n"
             "  print('got', value.n, value.list[2], value.list[3], sender == muster.nearest(10)) end end\n" CALLS_TWO,
             60, "got\t5\ttwo\ttrue\ttrue", 1);
}

/* Whole numbers stay what they are, of either kind: 2.0 divided by zero is no error. */
Test(calls, numbers_keep_their_kind_in_messages_and_in_self) {
  calls_says("local a = muster.type { name = 'a', period = '10ms', messages = {waiting_max = 4, sends_max = 2} }\n"
             "function a:think()\n"
             " if self.x == 0 and not self.sent then\n"
             "  self.sent = muster.send(muster.nearest(10), {f = 2.0, i = 2, list = {-0.0, 1e15, 7}}) end\n"
             " for _, v in muster.messages() do\n"
             "  print('got', math.type(v.f), math.type(v.i), math.type(v.list[1]), math.type(v.list[2]), "
             "math.type(v.list[3]), v.f // 0) end end\n" CALLS_TWO,
             60, "got\tfloat\tinteger\tfloat\tfloat\tinteger\tinf", 1);
}

/* A script says how many agents there may be; who asks for more gets room for them. */
Test(calls, as_many_agents_have_room_as_are_asked_for) {
  static const struct {
    uint32_t asked, agents, most;
  } rows[] = {{0, 100, 150}, {50, 50, 150}, {120, 120, 150}, {1000, 1000, 1000}};
  SCOPED_HOST *host = script_start("local a = muster.type { name = 'a' }\nfunction a:think() end\n"
                                   "muster.world { agents = 100, agents_max = 150, start = function() end }\n");
  for (size_t i = 0; i < COUNT_OF(rows); i++) {
    muster_module_needs needs;
    void *instance = script_open_again(host, WITH(muster_module_options, it.agents = rows[i].asked), &needs);
    cr_expect(needs.agents == rows[i].agents && needs.agents_max >= rows[i].most, "%u asked for: %u of %u",
              rows[i].asked, needs.agents, needs.agents_max);
    host->module->close(instance);
  }
}

/* Each set runs its own method, of whatever role it is. */
Test(calls, each_set_runs_the_method_that_it_names) {
  static const char *const roles[] = {"sense", "think", "act"};
  for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
    char text[1024];
    snprintf(text, sizeof text,
             "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms', sets = {\n"
             "  {method = 'one', role = '%s'}, {method = 'two', role = '%s', period_updates = 4}} }\n"
             "function a:one() print('runs one') end function a:two() print('runs two') end\n"
             "muster.world { agents = 1, start = function() muster.spawn(a, {x = 0, y = 0}) end }\n",
             roles[i], roles[i]);
    script_host *host = script_begin(text, 1, MUSTER_CLOCK_VIRTUAL);
    script_run(host, 41);
    uint32_t one = script_says(host, "runs one\n"), two = script_says(host, "runs two\n");
    cr_expect(one >= 30 && two >= 8 && two <= 12, "%s: %u and %u", roles[i], one, two);
    script_end(host);
  }
}

Test(calls, many_births_in_one_frame_are_all_there) {
  calls_says("local a = muster.type { name = 'a', period = '10ms', spawns_max = 1 }\n"
             "function a:think() if self.mother then print('born') muster.remove() end\n"
             " if not self.done and self.x % 5 == 0 then muster.spawn(a, {x = 1, y = 0}, {mother = self.id}) end\n"
             " self.done = true end\n"
             "muster.world { agents = 600, start = function()\n"
             " for x = 0, 299 do muster.spawn(a, {x = x, y = 0}) end end }\n",
             60, "born\n", 60);
}

Test(calls, births_get_their_fields_and_deaths_are_told) {
  calls_says(
      "local a = muster.type { name = 'a', period = '10ms', spawns_max = 1 }\n"
      "function a:spawned() self.born = muster.now() end\n"
      "function a:think() if not self.mother then muster.spawn(a, {x = 7, y = 0}, {mother = self.id, deep = {1, 2}})\n"
      "  self.mother = 0 end end\n"
      "function a:act() if self.deep then print('child', self.mother > 0, self.deep[2], self.x, self.born > 0)\n"
      "  print(muster.remove(), muster.remove()) end end\n"
      "function a:removed() print('removed', self.deep and 'child' or 'mother') end\n"
      "muster.world { agents = 1, agents_max = 300, start = function() muster.spawn(a, {x = 0, y = 0}) end }\n",
      60, "child\ttrue\t2\t7.0\ttrue", 1);
}

Test(calls, a_prey_is_eaten_once) {
  calls_says(
      "local a = muster.type { name = 'a', period = '10ms' }\n"
      "local prey = muster.type { name = 'prey', period = '10ms' }\n"
      "function a:act() local id = muster.nearest(10, prey) if id and muster.remove(id) then print('ate') end end\n"
      "muster.world { agents = 9, start = function() for i = 1, 8 do muster.spawn(a, {x = 0, y = 0}) end "
      "muster.spawn(prey, {x = 0, y = 0}) "
      "end }\n",
      60, "ate", 1);
}

Test(calls, wakes_come_when_they_were_asked_for) {
  calls_says("local a = muster.type { name = 'a', elapsed = 'events' }\n"
             "function a:spawned() muster.wake_at(0.3) end\n"
             "function a:think() print('woken', math.abs(muster.now() - 0.3) < 1e-6, self.wake_at) end\n" SCRIPT_ONE,
             60, "woken\ttrue\t0.3", 1);
}

Test(calls, periods_change_from_the_next_frame_on) {
  static const char text[] = "local a = muster.type { name = 'a', period = '100ms', period_max = '100ms' }\n"
                             "function a:think() self.n = (self.n or 0) + 1\n"
                             " local apart = math.floor(self.elapsed * 1000 + 0.5)\n"
                             " if self.n == 1 then print(muster.set_period(0.02), muster.set_period(0.03, 0.03, a),\n"
                             "  muster.set_period(0.04, nil, 'a'), pcall(muster.set_period, 1e-6))\n"
                             " elseif self.n == 3 then print('its own', apart) muster.set_period(0)\n"
                             " elseif self.n == 6 then print('as its type', apart) end end\n" SCRIPT_ONE;
  calls_says(text, 60, "true\ttrue\ttrue\tfalse", 1);
  calls_says(text, 60, "its own\t20", 1);
  calls_says(text, 60, "as its type\t40", 1);
}

Test(calls, refusals_are_errors_with_the_sentence_of_c) {
  calls_says("local a = muster.type { name = 'a' }\n"
             "function a:think() local ok, why = pcall(muster.send, self.id, 1) print(ok, why)\n"
             " print(pcall(muster.move, 1e300, 0)) print(pcall(muster.publish, 'n', 1)) print(muster.send(12345, 1) , "
             "'gone')\n"
             " muster.remove() end\n" SCRIPT_ONE,
             60, "false\tmuster.", 0);
}

Test(calls, sets_run_in_their_periods_and_go_on_when_they_are_cut) {
  static const char text[] =
      "local a = muster.type { name = 'a', period = '10ms', period_max = '10ms', sets = {\n"
      " {method = 'look', role = 'sense', period_updates = 4}, {method = 'plan', role = 'think'}, {method = 'go', role "
      "= 'act'} } }\n"
      "function a:look() self.looks = (self.looks or 0) + 1 end\n"
      "function a:plan() for i = 1, 4000 do end self.plans = (self.plans or 0) + 1 end\n"
      "function a:go() self.goes = (self.goes or 0) + 1\n"
      " if self.goes == 40 then print('sets', self.looks, self.plans > 8 and self.plans < 25) end end\n" SCRIPT_ONE;
  calls_says(text, 100, "sets\t10\ttrue", 1);
}

Test(calls, false_ends_the_update_and_nothing_else_does) {
  calls_says(SCRIPT_FAST
             "function a:sense() self.n = (self.n or 0) + 1 if self.n % 4 == 0 then return false end end\n"
             "function a:think() for i = 1, self.n % 8 == 7 and 4000 or 1 do end self.thinks = (self.thinks or 0) + 1\n"
             " if self.n % 2 == 1 then return false end return self.n % 6 == 0 and nil or true, false end\n"
             "function a:act() self.acts = (self.acts or 0) + 1\n"
             " if self.n == 42 then print('ends', self.thinks, self.acts) end return false end\n" SCRIPT_ONE,
             90, "ends\t32\t11", 1);
}

Test(calls, levels_follow_importance) {
  calls_says(
      "local a = muster.type { name = 'a', levels = {count = 3, importance = {0.5, 0.25}} }\n"
      "function a:think() if not self.told then print('level', self.level, self.x < 1) self.told = true end end\n"
      "muster.world { agents = 2, observers = 1, start = function()\n"
      " muster.spawn(a, {x = 0, y = 0}) muster.spawn(a, {x = 5000, y = 0}) muster.observe {x = 0, y = 0, near = 20, "
      "far = 200} end "
      "}\n",
      60, "level\t2\tfalse", 1);
}

/* As little and as much as may be given, and a little less and more. */
Test(calls, numbers_are_taken_up_to_their_bounds) {
  calls_says(
      "local a = muster.type { name = 'a' }\n"
      "function a:think() local p, n, near, wake = muster.progress, muster.nearest, muster.nearby, muster.wake_at\n"
      " for i, row in ipairs {{true, p, 0}, {true, p, 1}, {false, p, -0.01}, {false, p, 1.01},\n"
      "  {true, n, 0}, {true, n, 1e9}, {false, n, -0.01}, {false, n, 1.01e9},\n"
      "  {true, near, 5, 'any', 1}, {true, near, 5, 'any', 64}, {false, near, 5, 'any', 0},\n"
      "  {false, near, 5, 'any', 65}, {true, wake, 0}, {true, wake, 1e10}, {false, wake, -1}} do\n"
      "  assert(pcall(table.unpack(row, 2)) == row[1], i) end\n"
      " print('bounds hold') muster.remove() end\n" SCRIPT_ONE,
      60, "bounds hold", 1);
}
