/* What a script cannot reach, and what it cannot change. */
#include "scripts/script_host.h"

/* Runs a body once, in an agent's update beside another agent; it asserts by itself. */
static void sandbox_holds(const char *before, const char *body) {
  script_expect(formed("local a = muster.type { name = 'a', spawns_max = 1, publishes = {'n'} }\n%s\n"
                       "function a:think()\n%s\nprint('holds') end\n" SCRIPT_ONE,
                       before, body),
                30, "holds");
}

Test(sandbox, what_reaches_the_host_is_not_there) {
  sandbox_holds("",
                "for _, name in ipairs {'io', 'os', 'debug', 'package', 'coroutine', 'load', 'loadstring', 'loadfile',"
                "'dofile', 'collectgarbage', 'warn'} do assert(_G[name] == nil, name) end");
  sandbox_holds(
      "", "assert(string.dump == nil and string.pack == nil and math.randomseed == nil and utf8.codepoint == nil)");
  sandbox_holds("", "assert(string._find == nil and getmetatable('') == false)");
}

Test(sandbox, a_script_named_like_a_library_is_no_way_to_it) {
  SCOPED_HOST *host = script_open("muster.type { name = 'a' } s = require 'string' assert(s.dump == nil and s.mine)");
  cr_assert_eq(host->opened, MUSTER_E_INPUT);
  char path[sizeof host->path], whole[sizeof host->path];
  snprintf(path, sizeof path, "%.60s/string.lua", host->folder);
  snprintf(whole, sizeof whole, "%s", host->path);
  snprintf(host->path, sizeof host->path, "%s", path);
  script_write(host, "return {mine = true}");
  host->instance = script_open_again(host, WITH(muster_module_options, it.path = host->folder), &host->needs);
  unlink(path);
  snprintf(host->path, sizeof host->path, "%s", whole);
}

Test(sandbox, the_globals_are_those_of_the_manual) {
  sandbox_holds(
      "", "local names = {} for name in pairs(_G) do names[#names + 1] = name end\n"
          "local known = '_G _VERSION assert error getmetatable ipairs math muster next pairs pcall print rawequal "
          "rawget rawlen rawset require select setmetatable string table tonumber tostring type utf8 xpcall'\n"
          "assert(table.concat(names, ' ') == known, table.concat(names, ' '))");
}

Test(sandbox, what_the_scripts_define_is_read_only) {
  static const char before[] = "limit = 5 config = {deep = {n = 1}} local held = {n = 1}\n"
                               "function a:held() return held end";
  static const char *const writes[] = {
      /* by assignment */
      "limit = 6", "fresh = 1", "_G.limit = 6", "config.x = 1", "config.deep.n = 2", "self:held().n = 2",
      "self:held().m = 2", "math.pi = 3", "string.rep = nil", "muster.move = nil", "a.think = nil",
      /* by functions */
      "rawset(config, 'x', 1)", "rawset(_G, 'limit', 6)", "rawset(self:held(), 'n', 2)", "table.insert(config.deep, 1)",
      "table.remove(config.deep, 1)", "table.move({1}, 1, 1, 1, config)", "table.sort(config)  config[1] = 1",
      /* by metatables */
      "setmetatable(config, {})", "setmetatable(_G, {})", "setmetatable(self, {})", "getmetatable(self).x = 1"};
  for (size_t i = 0; i < COUNT_OF(writes); i++)
    sandbox_holds(
        before,
        formed("assert(not pcall(function() %s end))\n"
               "assert(limit == 5 and config.deep.n == 1 and self:held().n == 1 and fresh == nil and config.x == nil)",
               writes[i]));
}

Test(sandbox, variables_inside_a_method_may_change) {
  sandbox_holds("local forward local function back() return forward end forward = 5",
                "local n = 0 local function up() n = n + 1 return function() n = n + 1 end end up()() assert(n == 2)");
}

Test(sandbox, frozen_tables_can_be_read_in_every_way) {
  static const char before[] = "list = {10, 20, 30} config = {b = 2, a = 1}";
  sandbox_holds(before, "assert(#list == 3 and rawlen(list) == 3 and rawget(list, 2) == 20 and next(config) == 'a')");
  sandbox_holds(before, "assert(next(list, 1.0) == 2 and next(list, 2.0) == 3 and next(list, 2.5) == nil)");
  sandbox_holds(before, "local s = 0 for i, v in ipairs(list) do s = s + i * v end assert(s == 140)");
  sandbox_holds(before, "local s = '' for k, v in pairs(config) do s = s .. k .. v end assert(s == 'a1b2')");
  sandbox_holds(before, "assert(table.concat(list, ',') == '10,20,30' and select('#', table.unpack(list)) == 3)");
}

/* What has no order is neither walked nor gone on from. */
Test(sandbox, no_key_is_a_table_or_a_function) {
  static const char *const keys[] = {"{}", "print", "self", "function() end"};
  static const char *const walks[] = {"next({a = 1, [2] = 3}, %s)", "next({}, %s)", "next({[%s] = 1})",
                                      "next({[%s] = 1}, 1)", "pairs({[%s] = 1})"};
  for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
    for (size_t k = 0; k < sizeof walks / sizeof *walks; k++) {
      char walk[64], body[512];
      snprintf(walk, sizeof walk, walks[k], keys[i]);
      snprintf(body, sizeof body,
               "local done, why = pcall(function() return %s end)\n"
               "assert(not done and string.find(why, 'pairs: a key is a table or a function', 1, true), why)",
               walk);
      sandbox_holds("", body);
    }
}

Test(sandbox, metatables_cannot_finalise_or_weaken) {
  static const char *const names[] = {"__gc", "__mode", "__close", "__metatable", "__name", "__pairs"};
  for (size_t i = 0; i < COUNT_OF(names); i++)
    sandbox_holds("", formed("assert(not pcall(setmetatable, {}, {%s = 'k'}))", names[i]));
  sandbox_holds("", "local m = {} local t = setmetatable({}, m) m.__mode = 'k' t[{}] = 1\n"
                    "local n = 0 for i = 1, 500 do n = {n} end assert(getmetatable(t) == m)");
}

Test(sandbox, only_a_function_can_be_called_in_place_of_a_table) {
  sandbox_holds("",
                "local called = setmetatable({}, {__call = function(_, n) return n + 1 end}) assert(called(1) == 2)\n"
                "local done, why = pcall(setmetatable, {}, {__call = called})\n"
                "assert(not done and why == 'setmetatable: __call must be a function', why)");
}

Test(sandbox, objects_with_metatables_work) {
  static const char before[] =
      "V = {} V.__index = V V.__add = function(p, q) return V.new(p.x + q.x) end\n"
      "function V.new(x) return setmetatable({x = x}, V) end function V:twice() return self.x * 2 end\n"
      "local fixed = V.new(7) function a:fixed() return fixed end";
  sandbox_holds(before, "local v = V.new(1) + V.new(2) assert(v.x == 3 and v:twice() == 6 and getmetatable(v) == V)");
  sandbox_holds(before, "assert(self:fixed():twice() == 14 and (self:fixed() + V.new(1)).x == 8)");
  sandbox_holds(before, "assert(not pcall(function() self:fixed().x = 1 end) and self:fixed().x == 7)");
}

Test(sandbox, no_text_holds_an_address) {
  sandbox_holds("", "for _, v in ipairs {{}, print, function() end, self, muster} do\n"
                    "assert(tostring(v) == type(v) and string.format('%s', v) == type(v)) end\n"
                    "assert(not pcall(string.format, '%p', {}))");
}

Test(sandbox, what_an_agent_is_told_cannot_be_set) {
  sandbox_holds("",
                "for _, name in ipairs {'x', 'y', 'z', 'position', 'elapsed', 'level', 'now', 'id', 'importance'} do\n"
                "assert(not pcall(function() self[name] = 1 end), name) end");
}

Test(sandbox, scripts_that_do_not_compile_or_run_are_refused_with_file_and_line) {
  static const struct {
    const char *text, *message;
  } cases[] = {{"local a = \n", "main.lua:2"},
               {"error('no')", "main.lua:1: no"},
               {"while true do end", "did not end in time"},
               {"while true do pcall(error) end", "did not end in time"},
               {"muster.type {}", "it needs a name"},
               {"muster.type { name = 'a', period = 5 }", "muster.type.period: give a time with its unit"},
               {"muster.type { name = 'a', perod = '5ms' }", "muster.type.perod: there is no such field"},
               {"muster.type { name = 'a' } muster.type { name = 'a' }", "there are two types 'a'"},
               {"local a = muster.type { name = 'a' } local n = 0\nfunction a:think() n = n + 1 end",
                "main.lua:2: this function changes 'n', a variable outside of it"},
               {"local a = muster.type { name = 'a' } local n = 0\nfunction a:think() local m = 1\n"
                "return function() m = 2 return function() n = m end end end",
                "main.lua:2: this function changes 'n'"},
               {"local a = muster.type { name = 'a' }\nlocal function counter() local n = 0\n"
                "return function() n = n + 1 return n end end\nlocal count = counter()\n"
                "function a:think() return count() end",
                "main.lua:3: this function changes 'n'"},
               {"require 'other'", "there is no script 'other'"},
               {"x = 1", "define no type"},
               {"local a = muster.type { name = 'a' } a.think = 5", "its field 'think' is no function"}};
  for (size_t i = 0; i < COUNT_OF(cases); i++) {
    SCOPED_HOST *host = script_open(cases[i].text);
    cr_assert_neq(host->opened, MUSTER_OK, "%s", cases[i].text);
    cr_assert_not_null(strstr(muster_last_error(), cases[i].message), "%s: %s", cases[i].text, muster_last_error());
  }
}

Test(sandbox, a_zone_of_a_larger_world_is_refused) {
  SCOPED_HOST *host = script_open("muster.type { name = 'a' }");
  cr_assert_eq(host->opened, MUSTER_OK, "%s", muster_last_error());
  muster_world_def def = WITH(muster_world_def, it.limits.agents_max = host->needs.agents_max);
  for (def.zone.number = 0; def.zone.number < 8; def.zone.number += 7) {
    muster_world *world = muster_world_create(&def);
    cr_assert_not_null(world, "%s", muster_last_error());
    muster_result result = host->module->register_types(host->instance, world);
    if (!def.zone.number)
      cr_assert_eq(result, MUSTER_OK, "%s", muster_last_error());
    else
      cr_assert(result == MUSTER_E_STATE && strstr(muster_last_error(), "cannot run in zone 7"), "%s",
                muster_last_error());
    cr_assert_eq(muster_type_find(world, "a").index > 0, !def.zone.number);
    muster_world_destroy(world);
  }
}
