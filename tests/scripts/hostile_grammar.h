/* tests/scripts/hostile_grammar.h - hostile scripts by a grammar: the same seed gives the same script.
 *
 * The statements are those with which scripts try to hold a worker, to take memory, to reach each other or the host, or
 * to confuse a function in C; they stand in each other at random. In a statement an `@` is an expression, a `$` a
 * number at some edge, a `!` more statements, a '`' the number of a label. */
#ifndef HOSTILE_GRAMMAR_H
#define HOSTILE_GRAMMAR_H

#include "support/with.h"

#include <muster/random.h>

#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { HOSTILE_TEXT_BYTES = 60000, HOSTILE_ROOM_BYTES = 4000, HOSTILE_DEPTH = 4 };

typedef struct hostile_script {
  uint64_t seed, drawn;
  uint32_t labels;
  size_t count;
  char text[HOSTILE_TEXT_BYTES];
} hostile_script;

/* One of a list. */
#define HOSTILE_ANY(script, list) ((list)[hostile_draw(script, (uint32_t)COUNT_OF(list))])

static inline uint32_t hostile_draw(hostile_script *script, uint32_t below) {
  return (uint32_t)(muster_random_mix(script->seed * 0x9e3779b97f4a7c15u + ++script->drawn) >> 33) % below;
}

static inline void hostile_put(hostile_script *script, const char *format, ...) __attribute__((format(printf, 2, 3)));
static inline void hostile_put(hostile_script *script, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  int count = vsnprintf(script->text + script->count, HOSTILE_TEXT_BYTES - script->count, format, arguments);
  va_end(arguments);
  script->count += (size_t)count;
  if (script->count >= HOSTILE_TEXT_BYTES) script->count = HOSTILE_TEXT_BYTES - 1;
}

static inline bool hostile_has_room(const hostile_script *script) {
  return script->count < HOSTILE_TEXT_BYTES - HOSTILE_ROOM_BYTES;
}

static const char *const hostile_numbers[] = {/* whole */
                                              "0", "1", "-1", "2", "3", "7", "60", "255", "256", "1000", "65535",
                                              /* large, small and none */
                                              "2^31", "2^53", "1e9", "-1e9", "1e308", "0/0", "1/0", "-1/0", "0.5",
                                              "-0.0", "1e-300",
                                              /* at the ends of whole numbers */
                                              "1<<62", "math.maxinteger", "math.mininteger", "math.maxinteger - 1",
                                              "math.mininteger + 1",
                                              /* by chance, or of an agent */
                                              "math.random(100)", "math.random()", "self.id", "#v3"};

static const char *const hostile_texts[] = {/* short */
                                            "''", "'x'", "'abc'", "'%'", "'%s'", "'\\0%p%s'",
                                            /* patterns */
                                            "'%b'", "'%f'", "'[%'", "'[^]'", "'(()'", "'%1'", "'^'", "'$'",
                                            "('a'):rep(60)", "('a*'):rep(30) .. 'b'", "('a?'):rep(40)",
                                            "('(.-)'):rep(31) .. 'x'", "'%b()'", "('('):rep(5000)",
                                            "'[' .. ('a'):rep(9000) .. ']*c'", "'%f[%w]%w+'", "('.-'):rep(9) .. '!'",
                                            /* bytes, formats, numbers, code */
                                            "'\\xff\\xfe'", "'\\u{10ffff}'", "('x'):rep(20000)", "'%99.99f'", "'%q'",
                                            "'0x' .. ('f'):rep(3000)", "('9'):rep(3000)", "'\\27Lua'", "'__index'"};

/* Every function that a script reaches, and some that it must not. */
static const char *const hostile_functions[] =
    {/* of Lua */
     "assert", "error", "getmetatable", "ipairs", "next", "pairs", "pcall", "print", "rawequal", "rawget", "rawlen",
     "rawset", "require", "select", "setmetatable", "tonumber", "tostring", "type", "xpcall",
     /* of its libraries */
     "math.abs", "math.atan", "math.ceil", "math.floor", "math.fmod", "math.log", "math.max", "math.min", "math.modf",
     "math.random", "math.tointeger", "math.type", "math.ult", "string.byte", "string.char", "string.find",
     "string.format", "string.gmatch", "string.gsub", "string.len", "string.lower", "string.match", "string.rep",
     "string.reverse", "string.sub", "string.upper", "table.concat", "table.insert", "table.move", "table.pack",
     "table.remove", "table.sort", "table.unpack", "utf8.char", "utf8.codes", "utf8.len", "utf8.offset",
     /* of Muster */
     "muster.exists", "muster.messages", "muster.move", "muster.nearby", "muster.nearest", "muster.now",
     "muster.observe", "muster.position", "muster.progress", "muster.publish", "muster.read", "muster.remove",
     "muster.send", "muster.spawn", "muster.type", "muster.wake", "muster.wake_at", "muster.world",
     /* those that it must not */
     "load", "loadstring", "dofile", "collectgarbage", "_G.debug", "_G.io", "string.dump", "string.pack",
     "string.unpack", "utf8.codepoint", "math.randomseed", "v4", "v5"};

static const char *const hostile_values[] = {
    /* what has a name */
    "self", "v1", "v2", "v3", "v4", "v5", "v6", "held", "list", "object", "_G", "_ENV", "string", "muster", "hostile",
    /* plain values, and what is in tables */
    "nil", "true", "false", "{}", "{1, 2, 3}", "{a = 1}", "print", "pcall", "self.a", "self.b", "self.position",
    "self.x", "v2[1]", "hostile.think", "'good'", "'hostile'", "getmetatable(v2)", "pairs(v2)", "(pairs(held))",
    /* functions, and tables that have some */
    "function(...) return ... end", "function(a, b) return a ~= b end", "function() while true do end end",
    "function() error(v2) end", "setmetatable({}, {__index = function(t, k) return t[k] end})",
    "setmetatable({}, {__eq = function() while true do end end, __lt = function() return v1 end})",
    "setmetatable({}, {__concat = function(a) return a end, __len = function() return math.maxinteger end})",
    "setmetatable({}, {__call = function(f, ...) return f(...) end})", "setmetatable({}, held)"};

static inline void hostile_expression(hostile_script *script, int depth);

static inline void hostile_call(hostile_script *script, int depth) {
  uint32_t arguments = hostile_draw(script, 5);
  hostile_put(script, "%s(", HOSTILE_ANY(script, hostile_functions));
  for (uint32_t i = 0; i < arguments; i++) {
    if (i) hostile_put(script, ", ");
    hostile_expression(script, depth - 1);
  }
  hostile_put(script, ")");
}

static inline void hostile_expression(hostile_script *script, int depth) {
  static const char *const operators[] = {
      "+", "-", "*", "/", "//", "%", "^", "..", "<", "<=", "==", "~=", "&", "|", "~", "<<", ">>", "and", "or"};
  switch (hostile_draw(script, depth > 0 && hostile_has_room(script) ? 10 : 6)) {
  case 0:
  case 1:
    hostile_put(script, "(%s)", HOSTILE_ANY(script, hostile_numbers));
    break;
  case 2:
    hostile_put(script, "(%s)", HOSTILE_ANY(script, hostile_texts));
    break;
  case 3:
  case 4:
  case 5:
    hostile_put(script, "(%s)", HOSTILE_ANY(script, hostile_values));
    break;
  case 6:
    hostile_put(script, "(");
    hostile_expression(script, depth - 1);
    hostile_put(script, " %s ", HOSTILE_ANY(script, operators));
    hostile_expression(script, depth - 1);
    hostile_put(script, ")");
    break;
  default:
    hostile_call(script, depth);
  }
}

/* ------------------------------------------------------------------------------------------------------- statements */

static const char *const hostile_statements[] = {
    /* without end, and around that */
    "while true do end", "while true do ! end", "repeat ! until @", "while @ do ! end", "for i = $, $ do ! end",
    "for i = $, $, $ do ! end", "for k, w in pairs(@) do v4 = k v5 = w ! end", "for a, b, c in @ do ! break end",
    "::l`:: ! goto l`", "do ::l`:: v3 = @ if v3 then goto l` end end", "for i = 1, 9 do ! end",
    "for i = 1, 300 do ! end", "while true do pcall(function() while true do end end) end",
    "while true do pcall(error, @) end", "while true do pcall(pcall, pcall, error) end",
    "for i = 1, 1e9 do pcall(function() ! end) end", "pcall(function() ! error(@) end)",
    "v4, v5 = pcall(function() ! end)", "xpcall(function() ! end, function(e) ! return e end)",
    "pcall(pcall, pcall, function() ! end)", "if @ then ! else ! end",
    /* deep */
    "local function r`(n) ! return 1 + r`(n) end pcall(r`, 1)",
    "local function r`(n) if n > 0 then return r`(n - 1, n) end ! end r`(500)",
    "local function r`(...) return r`(1, ...) end pcall(r`)", "local function r`() pcall(r`) end r`()",
    "local function r`(n, ...) if n == 0 then return ... end return r`(n - 1, table.unpack({1, 2, 3}, 1, 200)) end v3 "
    "= r`(90)",
    "local t = setmetatable({}, {}) getmetatable(t).__index = t v4 = t.x",
    "local t = {} for i = 1, 150 do t = setmetatable({}, {__index = t}) end v4 = t.x",
    "local t = {} for i = 1, 60 do t = {t, t} end v2 = t", "local t = {} t.t = t t[1] = {t} v2 = t",
    "local t = {} for i = 1, 9e3 do t = {t} end v2 = t",
    /* memory */
    "v3 = (@) while true do v3 = v3 .. v3 end", "local t = {} while true do t[#t + 1] = @ end",
    "self.big = ('x'):rep($)", "local t = {} for i = 1, 1e6 do t[i] = {} end",
    "self.a = {} for i = 1, 500 do self.a[i] = {i, tostring(i)} end", "self.a = nil self.b = nil",
    "self.full = {} pcall(function() while true do self.full[#self.full + 1] = {} end end) ! self.full = nil",
    "local t = {} pcall(function() while true do t[#t + 1] = {} end end) !",
    "local function f`() local t = {} ! end local function g`() while true do pcall(f`) end end while true do "
    "pcall(g`) "
    "end",
    "while true do v2 = {v2} end", "while true do local w = v2 v2 = function() return w end end",
    "v3 = string.format(('%s'):rep(90), table.unpack({@, @, @}, 1, 90))",
    /* functions in C */
    "v3 = string.rep(@, @, @)", "v4 = string.find(@, @, @, @)", "v4, v5 = string.match(@, @)",
    "v3, v4 = string.gsub(@, @, @, @)", "v3 = string.gsub(@, @, function(...) ! return @ end)",
    "for a, b in string.gmatch(@, @) do v4 = b ! end", "v3 = string.format(@, @, @, @)",
    "v3 = string.format('%' .. $ .. 'd', $)", "v3 = table.concat(@, @, $, $)", "v4 = table.unpack(@, $, $)",
    "table.sort(@, function(a, b) ! return @ end)",
    "local t = {} for i = 1, 99 do t[i] = math.random(9) end table.sort(t, function(a, b) return @ end)",
    "table.move(@, $, $, $, @)", "table.insert(@, $, @)", "table.insert(v2, @)", "table.remove(@, $)",
    "for p, c in utf8.codes(@) do v4 = c ! end", "v4 = utf8.offset(@, $, $)", "v4 = utf8.len(@, $, $)",
    "v3 = string.byte(@, $, $)", "v4 = select($, @, @)", "v4 = select('#', table.unpack({}, 1, 249))",
    "for i = 1, 200 do v4 = ('a'):rep(40):find(('a-'):rep(9) .. 'b') end", "v4 = next(@, @)",
    "local f, s, c = pairs(@) v4 = f(@, @) v5 = f(s, c)", "local f, s, c = ipairs(@) v4 = f(@, $)", "v6 = pairs(@)",
    "v4, v5 = v6(@, @)",
    /* whole numbers at their ends */
    "v3 = $ // $", "v3 = $ % $", "v3 = $ << $", "v3 = $ >> $", "v3 = ($) | ($)", "v3 = ~($)", "v3 = $ ^ $", "v2[$] = @",
    "v3 = #@", "v3 = -@", "v3 = math.fmod($, $)",
    /* metatables, errors, and what is closed */
    "setmetatable(@, @)", "setmetatable(v2, {__index = @, __newindex = @, __len = @})", "setmetatable(v2, {__gc = @})",
    "setmetatable(v2, {__mode = 'k'})", "setmetatable(v2, {__close = function() ! end})", "local c <close> = @",
    "local c <const> = @",
    "v1 = setmetatable({}, {__eq = function(a, b) ! return @ end, __lt = function(a, b) ! return @ end,"
    " __le = @, __concat = function(a, b) ! return @ end, __call = function(...) ! return @ end, __unm = @, __tostring "
    "= function() ! return @ end})",
    "v3 = v1 == v2", "v3 = v1 < v2", "v3 = v1 .. v2", "v3 = v1(@)", "v3 = tostring(v1)", "getmetatable(@).__index = @",
    "error(@)", "error(setmetatable({}, {__tostring = @}))", "error(@, $)",
    /* out of the sandbox */
    "_G.leak = @", "leak = @", "held.n = 2", "rawset(@, @, @)", "string.rep = @", "hostile.think = @",
    "local _, c = pairs(held) c.n = 2", "getmetatable('').__index = @", "v4 = load and load(@)", "v4 = require(@)",
    "v4 = require('main')", "local _ENV = @ v7 = @", "v4 = object[@]", "object.x = @",
    "v4 = (function(...) return ... end)(@, @)",
    /* muster */
    "muster.move(@, @, @)", "muster.spawn(@, @, @)", "muster.spawn('hostile', {x = $, y = $}, {a = @})",
    "muster.remove(@)", "muster.send(self.id, @)", "muster.send(@, @)", "muster.wake_at($, @)",
    "muster.publish('n', @)", "v4 = muster.read(@, @)", "for id, d, x, y in muster.nearby($, @, $) do v3 = id ! end",
    "for s, w in muster.messages() do v4 = w ! end", "v3 = muster.nearest($)", "muster.wake(@)", "muster.progress(@)",
    "v6 = muster.nearby(50)", "v6 = muster.messages()", "print(@, @)",
    /* anything */
    "v1 = @", "v2 = @", "v3 = @", "v4 = @", "v5 = @", "self.a = @", "self.b = @", "self[@] = @", "v2[@] = @",
    "v2.x = @", "v1, v2 = v2, v1"};

static inline void hostile_block(hostile_script *script, int depth);

static inline void hostile_statement(hostile_script *script, int depth) {
  const char *at = HOSTILE_ANY(script, hostile_statements);
  bool held = hostile_draw(script, 3) != 0; /* what is behind it is run, too */
  uint32_t label = ++script->labels;
  hostile_put(script, held ? "pcall(function() " : "do ");
  for (; *at; at++) {
    if (*at == '@')
      hostile_expression(script, 2);
    else if (*at == '$')
      hostile_put(script, "(%s)", HOSTILE_ANY(script, hostile_numbers));
    else if (*at == '!')
      hostile_block(script, depth - 1);
    else if (*at == '`')
      hostile_put(script, "%u", label);
    else
      hostile_put(script, "%c", *at);
  }
  hostile_put(script, held ? " end)\n" : " end\n");
}

static inline void hostile_block(hostile_script *script, int depth) {
  if (depth <= 0 || !hostile_has_room(script)) {
    hostile_put(script, "v3 = 1 ");
    return;
  }
  for (uint32_t left = 1 + hostile_draw(script, depth >= HOSTILE_DEPTH ? 9 : 3); left > 0; left--)
    hostile_statement(script, depth);
}

static inline void hostile_method(hostile_script *script, const char *name) {
  hostile_put(script, "function hostile:%s()\nlocal v1, v2, v3, v4, v5, v6, v7 = self, {}, 'x', 0, print, nil, nil\n",
              name);
  hostile_block(script, HOSTILE_DEPTH);
  hostile_put(script, "end\n");
}

/* A world of good agents, each of which looks in every update whether all that the scripts define is as it was, and of
 * hostile ones. */
static inline const char *hostile_generate(hostile_script *script, uint64_t seed) {
  static const char *const methods[] = {"think", "sense", "act", "spawned", "removed"};
  *script = (hostile_script){.seed = seed};
  hostile_put(script, "-- hostile script of seed %llu\n", (unsigned long long)seed);
  hostile_put(
      script, "%s",
      "held = {n = 1} list = {10, 20}\n"
      "object = setmetatable({}, {__index = function(t, k) pcall(rawset, t, 'n', 6) return k end})\n"
      "local names = {} for name in pairs(_G) do names[#names + 1] = name end\n"
      "names[#names + 1] = 'hostile' table.sort(names)\n"
      "local rep, count = string.rep, #names\n"
      "good = muster.type { name = 'good', period = '10ms', period_max = '10ms', publishes = {'n'},\n"
      "  messages = {waiting_max = 4, bytes_max = 100} }\n"
      "function good:think()\n"
      "  self.count = (self.count or 0) + 1\n"
      "  local found = 0 for name in pairs(_G) do found = found + 1 end\n"
      "  local sound = held.n == 1 and list[2] == 20 and #list == 2 and rawget(object, 'n') == nil and leak == nil\n"
      "    and string.rep == rep and ('x').rep == rep and good.think and getmetatable('') == false\n"
      "    and self.stolen == nil and _G.io == nil\n"
      "  if not sound then print('ESCAPE') end\n"
      "  if self.globals and self.globals ~= found then print('ESCAPE of globals') end\n"
      "  self.globals = found\n"
      "  if self.count == 30 then print('good at 30') end\n"
      "end\n");
  hostile_put(
      script,
      "hostile = muster.type { name = 'hostile', period = '20ms', spawns_max = 2, publishes = {'n'}, memory = '%uKB',\n"
      "  messages = {waiting_max = 8, bytes_max = 200, sends_max = 8, wake = %s}, cuts_max = %u, asks = %u }\n",
      1u << (4 + hostile_draw(script, 4)), hostile_draw(script, 2) ? "true" : "false", 2 + hostile_draw(script, 12),
      1 + hostile_draw(script, 16));
  for (uint32_t i = 0; i < COUNT_OF(methods); i++)
    if (i == 0 || hostile_draw(script, 3) == 0) hostile_method(script, methods[i]);
  hostile_put(script, "%s",
              "muster.world { agents = 16, agents_max = 200, start = function(world)\n"
              "  for i = 1, 10 do muster.spawn(good, {x = i, y = 0}) end\n"
              "  for i = 1, 6 do muster.spawn(hostile, {x = i, y = 0}) end end }\n");
  return script->text;
}

#endif
