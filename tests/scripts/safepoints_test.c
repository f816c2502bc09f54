/* The safepoints at which scripts are interrupted: they are wherever a script can go on without end, and change
 * nothing. */
#include "scripts/script_host.h"

#include "support/sanitized.h"

#define BAD "local bad = muster.type { name = 'bad', cuts_max = 3 }\n"
#define ONE "muster.world { agents = 1, start = function() muster.spawn('bad', {x = 0, y = 0}) end }\n"

/* The script runs without an end, and is told so with its line. */
static void safepoints_cut(const char *text, const char *where) {
  SCOPED_HOST *host = script_start(text);
  script_run(host, 60);
  SCRIPT_EXPECT_SAID(host, {"goes into quarantine", 1}, {where, 1 | OR_MORE});
}

static void safepoints_says(const char *text, const char *line) {
  script_expect(text, 40, line);
}

Test(safepoints, all_ways_to_go_on_without_end_have_some) {
  static const char *const ways[] = {
      /* loops and gotos */
      "while true do end", "repeat until false", "for i = 1, math.huge do end",
      "for i = 1, 2 do ::again:: goto again end", "::again:: if true then goto again end",
      "for _ in string.len, 'x' do end",
      /* calls */
      "local function again() return again() end again()", "local function one(two) return two(one, two) end one(one)",
      ("local t = setmetatable({}, {__index = function(t, k) return t[k .. ''] end}) "
       "while true do pcall(function() return t.x end) end"),
      "local function fork(n) if n > 0 then fork(n - 1) fork(n - 1) end end fork(60)",
      /* metamethods */
      "local t = setmetatable({}, {__call = function(t) return t() end}) t()",
      "local t = setmetatable({}, {__lt = function() while true do end end}) t = t < t",
      "local t = setmetatable({}, {__eq = function() while true do end end}) t = t == {}",
      "local t = setmetatable({}, {__concat = function(a, b) while true do end end}) t = t .. 1",
      "local t = setmetatable({}, {__len = function(t) while true do end end}) t = #t",
      "local t = setmetatable({}, {__newindex = function(t) while true do end end}) t.x = 1",
      "local t = setmetatable({}, {__tostring = function() while true do end end}) tostring(t)",
      /* what functions in C call */
      "table.sort({3, 2, 1}, function() while true do end end)",
      "string.gsub('xx', 'x', function() while true do end end)",
      "string.gsub('x', 'x', setmetatable({}, {__index = function() while true do end end}))",
      "local t = setmetatable({}, {__index = function() while true do end end}) table.move(t, 1, 1, 1, {})",
      /* errors */
      "while true do pcall(pcall, pcall, error) end",
      "while true do pcall(function() local function f() return 1 + f() end f() end) end",
      "xpcall(error, function() while true do end end)", "pcall(string.rep) while pcall(error) == false do end",
      "for _ in utf8.codes(('x'):rep(9000)) do for _ in ('x'):gmatch('()') do repeat until false end end"};
  for (size_t i = 0; i < COUNT_OF(ways); i++)
    safepoints_cut(formed(BAD "function bad:think() %s\nend\n" ONE, ways[i]), "main.lua:2");
}

/* Each look finds that memory was refused, and raises that: the script catches it, wherever it comes. */
Test(safepoints, who_is_refused_memory_again_and_again_is_cut, .timeout = 200) {
  if (UNDER_THREAD_SANITIZER) return; /* it notes calls that are left by errors, and has no room for so many */
  static const char fails[] = "local function fail() local t = {} end\n"
                              "local function again() while true do pcall(fail) end end\n"
                              "local function fill(t) for i = 1, 1e6 do t[i] = {} end end\n";
  static const char bad[] = "%slocal bad = muster.type { name = 'bad', %s }\n"
                            "function bad:%s() local t = {} pcall(fill, t)\n while true do pcall(again) end end\n" ONE;
  safepoints_cut(formed(bad, fails, "cuts_max = 3, asks = 100", "think"), "main.lua:2");
  safepoints_says(formed(bad, fails, "asks = 1000", "act"), "it did not end within 20000 loops and calls");
}

Test(safepoints, a_long_text_that_does_much_is_cut_without_a_loop) {
  enum { STEPS = 3000, ROOM = 65536 };
  static char text[ROOM];
  size_t length = (size_t)snprintf(text, ROOM,
                                   "local bad = muster.type { name = 'bad', cuts_max = 3, memory = '1MB', asks = 1 }\n"
                                   "function bad:think() local s, t = ('x'):rep(20000), ''\n");
  for (int i = 0; i < STEPS; i++) length += (size_t)snprintf(text + length, ROOM - length, "t = s .. %d\n", i);
  snprintf(text + length, ROOM - length, "end\n" ONE);
  safepoints_cut(text, "goes into quarantine");
}

/* What is long counts as much as many short ones. */
Test(safepoints, a_long_body_of_a_loop_is_looked_at_as_often_as_short_ones) {
  enum { STEPS = 20000, ROOM = 1 << 19 };
  SCOPED(free_memory) char *text = malloc(ROOM);
  size_t length =
      (size_t)snprintf(text, ROOM, "%s", BAD "function bad:act() local n = 0 while true do n = n + 1 self.n = n\n");
  for (int i = 0; i < STEPS; i++) length += (size_t)snprintf(text + length, ROOM - length, "n = n + 1 - 1\n");
  snprintf(text + length, ROOM - length,
           "end end\nfunction bad:think() if self.n then print(self.n < 1000 and 'few' or 'many') end end\n" ONE);
  SCOPED_HOST *host = script_start(text);
  script_run(host, 60);
  SCRIPT_EXPECT_SAID(host, {"few", 1 | OR_MORE}, {"many", 0});
}

Test(safepoints, texts_mean_what_they_meant) {
  safepoints_says(
      BAD "local s = 'do while function goto __safepoint' .. \"repeat \\\" do\" .. [[ do ]] .. [==[ ]] do ]==] -- do\n"
          "--[[ do ]] --[=[ function ( ]] ]=]\n"
          "local function --[[ ) ]] f(a, --[[ ) ]] b, ...) return a + b + select('#', ...) end\n"
          "local t = {['do'] = 1, f = function(...) return ... end}\n"
          "function bad:think() local n = 0\n"
          " for i = 1, 3 do for k in pairs({1, 2}) do if k == 2 then goto continue end n = n + 1 ::continue:: end end\n"
          " repeat local last = n n = n + 1 until last > 4 do n = n + 1 end\n"
          " print(#s, n, f(1, 2, 3, 4), t['do'], t.f(7)) end\n" ONE,
      "56\t7\t5\t1\t7");
}

Test(safepoints, an_error_is_in_the_line_that_it_is_in) {
  safepoints_says(BAD "function bad:think() for i = 1, 1 do\n local x = nil\n return x.y end\nend\n" ONE,
                  "main.lua:4: attempt to index");
}

Test(safepoints, a_text_gets_no_arguments_and_no_counter) {
  safepoints_says(
      BAD "local count, first = select('#', ...), ...\n"
          "function bad:think() print('given', count, first, _G.__index, rawget(_G, '_' .. '_safepoint')) end\n" ONE,
      "given\t0\tnil\tnil\tnil");
}

Test(safepoints, a_text_that_does_not_compile_is_told_as_it_was_written) {
  static const struct {
    const char *text, *line;
  } names[] = {{"local __safepoint = {1e9}\n", "main.lua:1"},
               {"--[[\n\r\n\r\r]] local function f(a,\n--(\n__safepoint) end\n", "main.lua:6"},
               {"\nfunction __safepoint.x() end\n", "main.lua:2"},
               {"local t = {function(__safepoint) end}", "main.lua:1"},
               {"::__safepoint:: goto __safepoint", "main.lua:1"},
               {"local t = {} t.__safepoint = 1", "main.lua:1"}};
  script_refused("local a = 1\nwhile true do\nif a then end\n", "main.lua:4: 'end' expected");
  script_refused("end) muster.type { name = 'a' } (function()", "main.lua:1: <eof> expected near 'end'");
  for (size_t i = 0; i < COUNT_OF(names); i++)
    script_refused(names[i].text, formed("%s: scripts may have no name that begins with '__safepoint'", names[i].line));
}
