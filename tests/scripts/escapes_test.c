/* Ways out of the sandbox, and into calls that do not end, that scripts have tried. */
#include "scripts/script_host.h"

/* What scripts define, and an agent whose update runs a body that asserts by itself. */
static const char escapes_world[] =
    "held = {n = 1} list = {10, 20}\n"
    "object = setmetatable({}, {__index = function(t, key) return pcall(rawset, t, 'n', 6) end})\n"
    "local a = muster.type { name = 'a', spawns_max = 1, messages = {waiting_max = 2, bytes_max = 200, sends_max = 2} "
    "}\n"
    "function a:think()\n%s\nprint('holds') end\n" SCRIPT_ONE;

static void escape_fails(const char *body) {
  script_expect(formed(escapes_world, body), 30, "holds");
}

Test(escapes, no_walk_gives_what_is_in_a_frozen_table) {
  static const char *const walks[] = {"pairs(held)", "pairs(list)", "ipairs(list)", "pairs(_G)", "pairs(string)"};
  for (size_t i = 0; i < COUNT_OF(walks); i++)
    escape_fails(formed("local walk, walked = %s\n"
                        "assert(not pcall(function() walked.n = 2 end) and not pcall(rawset, walked, 1, 2))\n"
                        "assert(held.n == 1 and list[1] == 10 and walk(walked, %s) ~= nil)",
                        walks[i], strstr(walks[i], "list") ? "1" : "nil"));
}

Test(escapes, a_metatable_is_the_table_that_was_given) {
  escape_fails("local t = setmetatable({}, held) assert(rawequal(getmetatable(t), held))\n"
               "assert(not pcall(function() getmetatable(t).n = 2 end) and held.n == 1)");
}

Test(escapes, an_index_function_is_given_the_frozen_table) {
  escape_fails("assert(object.x == false and rawget(object, 'n') == nil)");
}

Test(escapes, walks_can_be_called_with_anything) {
  static const char *const walks[] = {"pairs({1, 2})", "pairs({a = 1})", "ipairs({1})", "utf8.codes('x')",
                                      "string.gmatch('xx', 'x')"};
  for (size_t i = 0; i < COUNT_OF(walks); i++)
    escape_fails(formed("local walk = %s\n"
                        "for _, one in ipairs {false, 5, 'abc', print, {}, self, held, math.maxinteger} do\n"
                        "for _, other in ipairs {false, 0, -1, 1.5, 2^53, 'abc', math.maxinteger, math.mininteger} do\n"
                        "pcall(walk, one, other) pcall(walk, one) pcall(walk) end end",
                        walks[i]));
}

Test(escapes, a_zero_byte_hides_nothing_in_a_format) {
  escape_fails("assert(not pcall(string.format, '\\0%p', {}) and not pcall(string.format, '\\0%s', {}))");
}

Test(escapes, a_format_is_no_longer_than_a_text_may_be) {
  escape_fails("local s, t = ('x'):rep(10000), {} for i = 1, 100 do t[i] = s end\n"
               "local done, why = pcall(string.format, ('%s'):rep(100), table.unpack(t))\n"
               "assert(not done and why:find('longer than the memory', 1, true), why)");
}

Test(escapes, whole_numbers_at_their_ends_are_numbers) {
  escape_fails(
      "local most, least = math.maxinteger, math.mininteger\n"
      "pcall(string.byte, 'a', most, least) pcall(string.byte, 'a', least, most) pcall(string.sub, 'a', most, least)\n"
      "pcall(('x').rep, 'x', least) pcall(('x').find, 'x', 'x', least) pcall(('x').find, 'x', 'x', most)\n"
      "pcall(table.concat, {[most] = 'x'}, '', most, most) pcall(table.concat, {}, '', least, most)\n"
      "pcall(table.unpack, {}, least, most) pcall(table.unpack, {}, most, most) pcall(table.unpack, {}, least, least)\n"
      "pcall(table.insert, {}, least, 1) pcall(table.insert, {}, most, 1) pcall(table.remove, {}, least)\n"
      "pcall(table.remove, {}, most) pcall(table.move, {}, least, most, least) pcall(math.random, least, most)\n"
      "pcall(math.random, most, least) pcall(math.abs, least) pcall(math.fmod, least, -1)\n"
      "pcall(select, least) pcall(select, most, 1) pcall(utf8.char, most) pcall(utf8.offset, 'a', least, most)\n"
      "pcall(utf8.len, 'a', least, most) pcall(tonumber, '7', 36) pcall(string.char, most)\n"
      "assert(table.concat({[most] = 'x'}, '', most, most) == 'x')");
}

Test(escapes, a_message_that_is_reached_over_and_over_is_refused_at_once) {
  escape_fails("local t = {} for i = 1, 55 do t = {t, t} end assert(not pcall(muster.send, self.id, t))\n"
               "local c = {} c.c = c assert(pcall(muster.send, self.id, c))");
}

Test(escapes, sets_of_a_pattern_cost_what_is_looked_at) {
  escape_fails("local text, set = ('b'):rep(9000), '[' .. ('a'):rep(20000) .. ']*c'\n"
               "assert(not pcall(string.find, text, set))");
}

Test(escapes, c_asks_no_metamethod) {
  escape_fails(
      "local asked = false\n"
      "local t = setmetatable({}, {__index = function() asked = true end, __len = function() asked = true end,\n"
      "  __tostring = function() asked = true return 'x' end, __name = nil})\n"
      "pcall(muster.spawn, 'a', t) pcall(muster.spawn, t, {}) pcall(muster.nearby, 1, t) pcall(muster.world, t)\n"
      "pcall(muster.observe, t) pcall(muster.type, t) pcall(table.unpack, t) pcall(table.concat, t)\n"
      "pcall(table.insert, t, 1) pcall(table.remove, t) pcall(string.format, '%s', t) pcall(muster.send, 1, t)\n"
      "pcall(print, t) pcall(next, t) pcall(ipairs, t) pcall(rawlen, t) pcall(select, t) pcall(math.max, t, 1)\n"
      "assert(not asked)");
}

/* An action may take 200 looks, and a call in C that takes long is looked at after it. */
static void escape_counts(const char *call) {
  SCOPED_HOST *host = script_start(formed(
      "local a = muster.type { name = 'a', period = '10ms' }\n"
      "function a:spawned() self.text, self.long, self.list = ('a'):rep(60), ('a'):rep(8000), {}\n"
      "  for i = 1, 1000 do self.list[i] = i end end\n"
      "function a:think() if self.calls then print(self.calls < 500 and 'bounded' or 'free', self.calls) end end\n"
      "function a:act() self.calls = 0 while true do self.calls = self.calls + 1 local _ = %s end end\n" SCRIPT_ONE,
      call));
  script_run(host, 10);
  SCRIPT_EXPECT_SAID(host, {"did not end within 20000 loops and calls", 1 | OR_MORE}, {"bounded", 1 | OR_MORE},
                     {"free", 0});
}

Test(escapes, what_functions_in_c_do_counts_as_instructions) {
  static const char *const calls[] = {"self.text:find('a-b')", "pcall(string.find, self.long, '.-.-.-b')",
                                      "next(self.list, 1)", "utf8.len(self.long)",
                                      "table.insert(self.list, 1, 1) table.remove(self.list, 1)"};
  for (size_t i = 0; i < COUNT_OF(calls); i++) escape_counts(calls[i]);
}

Test(escapes, texts_that_take_memory_are_refused_when_they_are_loaded) {
  SCOPED_HOST *host = script_open("local t = {} for i = 1, 1e9 do t[i] = ('x'):rep(1e6) .. i end");
  cr_assert_neq(host->opened, MUSTER_OK);
  cr_assert_not_null(strstr(muster_last_error(), "not enough memory"), "%s", muster_last_error());
  cr_assert_not_null(strstr(muster_last_error(), "main.lua:1"), "%s", muster_last_error());
}

Test(escapes, functions_of_the_world_that_take_memory_fail_and_the_world_goes_on) {
  SCOPED_HOST *host = script_start(
      "local a = muster.type { name = 'a', period = '10ms' }\n"
      "function a:think() print('goes on') end\n"
      "muster.world { agents = 1, start = function(world) muster.spawn(a, {x = 0, y = 0}) world.list = {} end,\n"
      "  frame = function(world) for i = 1, 30 do world.list[#world.list + 1] = ('x'):rep(1e6) .. i end end }\n");
  script_run(host, 10);
  SCRIPT_EXPECT_SAID(host, {"muster.world.frame: not enough memory", 1 | OR_MORE}, {"goes on", 5 | OR_MORE});
}

Test(escapes, what_texts_draw_is_the_same_in_all_states_and_after_a_reload) {
  SCOPED_HOST *host =
      script_start("drawn = math.random(1e9)\n"
                   "local a = muster.type { name = 'a', period = '10ms' }\n"
                   "function a:think() self.drawn = math.random()\n"
                   "  if self.x % 8 == 0 then print('drew ' .. drawn .. '.') end end\n" SCRIPT_CROWD(300));
  script_run(host, 5);
  cr_assert_eq(script_reload(host, NULL), MUSTER_OK);
  script_run(host, 5);
  const char *first = strstr(script_said(host), "drew ");
  cr_assert_not_null(first);
  const char *line = formed("%.*s", (int)(strcspn(first, ".") + 1), first);
  cr_assert_eq(script_says(host, line), script_says(host, "drew "), "not all states drew '%s'", line);
  cr_assert_geq(script_says(host, line), 74); /* twice each, in all states */
}
