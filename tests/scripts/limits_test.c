/* What has no safepoint is bounded, and memory is: the script fails with its file and line, others go on. */
#include "lua/scripts.h"
#include "scripts/script_host.h"

static const char around[] =
    "local long = ('x'):rep(40000) local good = muster.type { name = 'good', period = '10ms', period_max = '10ms' }\n"
    "function good:think() self.count = (self.count or 0) + 1\n"
    "  if self.count == 20 then print('good at 20') end end\n"
    "local bad = muster.type { name = 'bad' }\n"
    "function bad:think()\ndo %s end\nprint('went through') end\n"
    "muster.world { agents = 50, start = function(world)\n"
    "  for i = 1, 50 do muster.spawn(good, {x = i, y = 0}) end\n"
    "  muster.spawn('bad', {x = 0, y = 0}) end }\n";

/* The body of an update fails with this message at line 6. */
static void limits_fails(const char *body, const char *message) {
  SCOPED_HOST *host = script_on(2, formed(around, body));
  script_run(host, 40);
  SCRIPT_EXPECT_SAID(host, {message, 1 | OR_MORE}, {"main.lua:6", 1 | OR_MORE}, {"went through", 0},
                     {"good at 20", 50});
}

static void limits_goes(const char *body) {
  script_expect(formed(around, body), 40, "went through");
}

Test(limits, patterns_take_a_bounded_number_of_steps) {
  static const char *const calls[] = {
      "('a'):rep(60):find(('a*'):rep(30) .. 'b')", "('a'):rep(60):match(('a-'):rep(30) .. 'b')",
      "('a'):rep(60):gsub(('a*'):rep(30) .. 'b', '')", "for _ in ('a'):rep(60):gmatch(('a*'):rep(30) .. 'b') do end",
      "('('):rep(9000):find('%b()')"};
  for (size_t i = 0; i < COUNT_OF(calls); i++) limits_fails(calls[i], "the pattern takes more than");
}

Test(limits, texts_are_no_longer_than_the_agents_memory) {
  limits_fails("return ('x'):rep(1e9)", "the text is longer than the memory");
  limits_fails("return ('x'):rep(1000, ('y'):rep(1000))", "the text is longer than the memory");
  limits_fails("local t = {} for i = 1, 200 do t[i] = ('x'):rep(1000) end return table.concat(t)", "memory");
  limits_fails("return table.concat({long, long})", "table.concat: the text is longer than the memory");
  limits_fails("return table.concat({'', '', ''}, long)", "table.concat: the text is longer than the memory");
  limits_fails("return string.format(('%q'):rep(2), long, long)", "string.format: the text is longer than the memory");
  limits_fails("return string.format('%500d', 1)", "invalid conversion");
}

Test(limits, functions_return_and_shift_a_bounded_number_of_values) {
  limits_fails("return table.unpack({}, 1, 1e8)", "more than 250 values");
  limits_fails("return string.byte(('x'):rep(1000), 1, -1)", "more than 250 values");
  limits_fails("return table.concat({}, '', 1, 1e9)", "more than 20000 fields");
}

Test(limits, an_agent_over_its_memory_fails_and_others_go_on) {
  static const char *const bodies[] = {"local s = 'x' while true do s = s .. s end",
                                       "local t = {} for i = 1, 1e9 do t[i] = i end",
                                       "local t = {} while true do t = {t} end",
                                       "local t = {} while true do local s = t t = function() return s end end"};
  for (size_t i = 0; i < COUNT_OF(bodies); i++)
    limits_fails(bodies[i], "not enough memory: more than 'memory' of the type, or 'state_mb' of the world, allows");
  limits_fails("local function deep(n) return 1 + deep(n + 1) end return deep(1)", "main.lua:6");
}

Test(limits, a_state_over_its_memory_fails_new_objects_and_nothing_else) {
  SCOPED_HOST *host = script_open_sized(
      "local a = muster.type { name = 'a', period = '10ms', memory = '64KB' }\n"
      "function a:think() self.n = (self.n or 0) + 1 if self.n == 20 then print('twenty') end\n"
      " self.t = self.t or {} for i = #self.t + 1, 400 do self.t[i] = {i} end end\n"
      "muster.world { agents = 60, start = function() for i = 1, 60 do muster.spawn(a, {x = 0, y = 0}) end end }\n",
      true);
  script_populate(host, 1, MUSTER_CLOCK_VIRTUAL);
  script_run(host, 60);
  SCRIPT_EXPECT_SAID(host, {"not enough memory", 1 | OR_MORE}, {"twenty", 60});
  cr_assert_lt(script_figure(host, "scripts_bytes"), 1.5e6);
}

/* Else such a loop would hold its worker for good: no safepoint is reached in it. */
Test(limits, nothing_in_c_calls_a_function_of_a_script) {
  static const char *const traps[] = {
      /* of Muster */
      "muster.nearby(5, trap)", "muster.spawn('good', trap)", "muster.spawn(trap, {x = 0, y = 0})",
      "muster.send(self.id, trap)",
      /* of Lua */
      "table.concat(trap)", "table.unpack(trap)", "next(trap)", "ipairs(trap)(trap, 0)", "rawlen(trap)",
      "string.format('%s', trap)", "print(trap)", "table.insert(trap, 1)", "table.remove(trap)", "('x'):rep(trap)",
      "tonumber(trap)", "math.floor(trap)", "select(trap)", "error(trap)", "rawequal(trap, trap)",
      "muster.publish(trap, trap)", "muster.move(trap, trap)", "pairs(trap)", "string.find('x', trap)",
      "utf8.len(trap)", "setmetatable({}, trap)"};
  for (size_t i = 0; i < COUNT_OF(traps); i++)
    limits_goes(formed(
        "local function hold() while true do pcall(function() while true do end end) end end\n"
        "local trap = setmetatable({}, {__index = hold, __newindex = hold, __len = hold, __call = hold, __eq = hold,\n"
        "__lt = hold, __le = hold, __concat = hold, __unm = hold, __tostring = hold})\n"
        "pcall(function() return %s end)",
        traps[i]));
}

Test(limits, memory_is_given_back_as_it_is_collected) {
  SCOPED_HOST *host =
      script_start("local a = muster.type { name = 'a', period = '10ms', memory = '40KB' }\n"
                   "function a:think() local t = {} for i = 1, 200 do t[i] = {i} end\n"
                   " self.count = (self.count or 0) + 1 if self.count == 60 then print('sixty') end end\n" SCRIPT_ONE);
  script_run(host, 300); /* each update allocates more than a third of the cap */
  cr_assert_eq(script_says(host, "sixty"), 1, "%s", script_said(host));
  cr_assert_gt(script_figure(host, "scripts_allocated_bytes_total"), 1e6);
  cr_assert_lt(script_figure(host, "scripts_collectors_behind_bytes"), 2e5);
  cr_assert_lt(script_figure(host, "scripts_bytes"), 1e6);
}

/* Short texts stand in a table of the state, which grows under the update that makes many, and shrinks behind the
 * collector: it is not the agent's, however often it does. */
Test(limits, what_a_state_has_for_all_is_no_agents_memory) {
  SCOPED_HOST *host =
      script_start("local a = muster.type { name = 'a', period = '10ms', period_max = '10ms', memory = '256KB' }\n"
                   "function a:think() self.count = (self.count or 0) + 1\n"
                   " for i = 1, 600 do local text = i .. 'th of ' .. self.count end\n"
                   " if self.count == 250 then print('went through') end end\n" SCRIPT_ONE);
  script_run(host, 500);
  cr_assert_geq(script_figure(host, "scripts_collections_total"), 20);
  cr_assert_eq(script_figure(host, "scripts_errors_total"), 0, "%s", script_said(host));
  cr_assert_eq(script_says(host, "went through"), 1, "%s", script_said(host));
}

/* In each second of a text there are so many such lines, and one that says how many were left out. */
static void limits_expect_lines(const char *text, const char *line, uint32_t in_second) {
  SCOPED_HOST *host = script_on(2, text);
  static const char rest[] = "more lines of print in ";
  script_run(host, 99); /* to the end of the first second */
  SCRIPT_EXPECT_SAID(host, {line, in_second}, {rest, 0});
  script_run(host, 1);
  cr_assert_eq(script_says(host, rest), 1, "%s", script_said(host));
  double left_out = script_figure(host, "scripts_lines_left_out_total");
  const char *told = strstr(script_said(host), "muster lua: and ");
  cr_assert_not_null(told);
  cr_assert_leq(strtod(told + strlen("muster lua: and "), NULL), left_out);
  cr_assert_gt(left_out, 80, "%s", script_said(host));
  script_run(host, 99);
  cr_assert_eq(script_says(host, line), 2 * in_second, "%s", script_said(host));
}

/* Once, and at 10 and 100 times. */
static void limits_expect_error(const char *text, const char *line) {
  SCOPED_HOST *host = script_on(2, text);
  script_run(host, 300);
  SCRIPT_EXPECT_SAID(host, {line, 3}, {"stack traceback", 1});
}

/* Only the first line of what a script says begins at the margin, as the lines of others do. */
Test(limits, no_script_says_what_looks_like_a_line_of_the_log) {
  SCOPED_HOST *host = script_start(SCRIPT_FAST "function a:think() print('a\\rb\\27[2K\\nmusterd: error: x') "
                                               "error('no\\nmusterd: error: y') end\n" SCRIPT_ONE);
  script_run(host, 5);
  SCRIPT_EXPECT_SAID(host, {"a b [2K musterd: error: x\n", 1 | OR_MORE}, {": no\n\tstack traceback", 1 | OR_MORE},
                     {"\nmusterd:", 0}, {"\033", 0}); /* the rest of a message is left out */
}

Test(limits, no_script_fills_the_log) {
  limits_expect_lines(SCRIPT_FAST "function a:think() for i = 1, 3 do print('here I am') end end\n" SCRIPT_ONE,
                      "here I am", 100);
  limits_expect_lines(SCRIPT_FAST
                      "muster.world { agents = 1, start = function() muster.spawn('a', {x = 0, y = 0}) end,\n"
                      " frame = function() for i = 1, 3 do print('here I am') end end }\n",
                      "here I am", 100);
  limits_expect_error(SCRIPT_FAST "function a:think() error('I fail') end\n" SCRIPT_ONE, ": I fail");
  limits_expect_error(SCRIPT_FAST "muster.world { agents = 1, frame = function() error('I fail') end }", ": I fail");
}

Test(limits, usual_calls_go_through) {
  static const char *const bodies[] = {
      /* patterns */
      "assert(('key=val, k2=v2'):gsub('(%w+)=(%w+)', '%2=%1') == 'val=key, v2=k2')",
      "assert(('abc'):gsub('', '-') == '-a-b-c-')",
      "assert(('hello world'):gsub('o', {o = '0'}) == 'hell0 w0rld')",
      "assert(('abc'):gsub('%w', '%0%0', 2) == 'aabbc')",
      "local n = 0 for k, v in ('a=1, b=2'):gmatch('(%w)=(%d)') do n = n + tonumber(v) end assert(n == 3)",
      "assert(('  trim '):match('^%s*(.-)%s*$') == 'trim')",
      "assert(('THE (quick) fox'):find('%((%a+)%)') == 5)",
      "assert(('f(a(b)c)d'):match('%b()') == '(a(b)c)')",
      "assert(('THE (quick) fox'):gsub('%f[%a]%a+', string.lower) == 'the (quick) fox')",
      "local t = {5, 2, 8, 1} table.sort(t, function(a, b) return a > b end) assert(table.concat(t) == '8521')",
      "local t = {1, 2, 3} table.insert(t, 2, 9) assert(table.remove(t, 1) == 1 and t[1] == 9 and #t == 3)",
      "assert(select('#', table.unpack({1, nil, 3}, 1, 3)) == 3)",
      "assert(table.concat(table.move({1, 2, 3}, 1, 3, 2), ',') == '1,1,2,3')",
      "local ok, e = pcall(error, {code = 5}) assert(not ok and e.code == 5)",
      "local ok, e = xpcall(error, function(m) return 'handled ' .. m end, 'x') assert(e == 'handled x')",
      "assert(string.format('%5.1f|%s|%d|%%', 3.14159, {}, 7) == '  3.1|table|7|%')",
      "local of, all = {}, {} for i = 1, 400 do all[i] = setmetatable({}, of) end", /* which they share */
      "assert(utf8.len('äöü') == 3 and utf8.char(228) == 'ä')",
      "assert(math.type(math.random(6)) == 'integer' and math.random() < 1)"};
  for (size_t i = 0; i < COUNT_OF(bodies); i++) limits_goes(bodies[i]);
}

/* Arrays that grow are not refused, and who catches the errors of looks fills them: in each update some more. */
Test(limits, who_has_twice_its_memory_is_not_run) {
  SCOPED_HOST *host = script_start(
      SCRIPT_FAST "local function fill(t) for i = 1, 1e9 do t[#t + 1] = i end end\n"
                  "function a:act() self.t = self.t or {} while true do pcall(fill, self.t) end end\n" SCRIPT_ONE);
  const script_world *scripts = host->instance;
  script_run(host, 100);
  cr_assert_geq(script_says(host, "is not run: it has twice the memory that it may"), 1, "%s", script_said(host));
  cr_assert_lt(scripts->states[0]->memory.bytes, 2 << 20);
}

Test(limits, a_line_of_print_has_399_bytes_and_no_control_among_them) {
  static const struct {
    const char *call;
    int letters;
    const char *end;
  } rows[] = {{"('x'):rep(500)", 399, "\n"}, {"('x'):rep(397), 'yz'", 397, "\ty\n"}, {"'xx\\127y'", 2, "\\x7fy\n"}};
  char letters[400];
  memset(letters, 'x', sizeof letters);
  for (size_t i = 0; i < COUNT_OF(rows); i++)
    script_expect(formed(SCRIPT_FAST "function a:think() print(%s) end\n" SCRIPT_ONE, rows[i].call), 5,
                  formed("muster lua: %.*s%s", rows[i].letters, letters, rows[i].end));
}

/* Else it would need room for all that it makes on the way. */
Test(limits, a_start_is_collected_behind) {
  SCOPED_HOST *host =
      script_open_sized(SCRIPT_FAST "muster.world { agents = 1, start = function()\n"
                                    " for i = 1, 60000 do local t = {i} end muster.spawn(a, {x = 0, y = 0}) end }\n",
                        true);
  script_populate(host, 1, MUSTER_CLOCK_VIRTUAL);
}

/* What was allocated before a look does not count after it: else each new object would be looked at. */
Test(limits, an_action_that_allocates_much_is_looked_at_now_and_then) {
  script_expect("local a = muster.type { name = 'a', memory = '4MB' }\n"
                "function a:act() for i = 1, 6000 do local t = {i} end print('made') end\n" SCRIPT_ONE,
                30, "made\n");
}

/* An array grows over the cap, and up to twice the cap its agent runs. */
Test(limits, who_has_more_than_its_memory_runs_on) {
  script_expect("numbers = {} for i = 1, 249 do numbers[i] = i end\n"
                "local a = muster.type { name = 'a', memory = '5KB' }\n"
                "function a:think() if not self.t then self.t = {table.unpack(numbers)} else print('runs on') end "
                "end\n" SCRIPT_ONE,
                60, "runs on\n");
}

/* What a function of the world was refused is nothing to the next one. */
Test(limits, refused_memory_is_over_in_the_next_frame) {
  SCOPED_HOST *host =
      script_open_sized(SCRIPT_FAST "muster.world { agents = 1, frame = function(world) world.n = (world.n or 0) + 1\n"
                                    " local t = {} for i = 1, world.n == 2 and 1e6 or 0 do t[i] = {i} end\n"
                                    " for i = 1, 300 do end print('runs on') end }\n",
                        true);
  script_populate(host, 1, MUSTER_CLOCK_VIRTUAL);
  script_run(host, 10);
  SCRIPT_EXPECT_SAID(host, {"runs on\n", 9});
}
