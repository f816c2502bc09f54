#include "lua/library.h"

#include "lua/base_library.h"
#include "lua/calls.h"
#include "lua/freeze.h"
#include "lua/match.h"
#include "lua/prelude.h"
#include "lua/safepoints.h"
#include "lua/scripts.h"

#include <lualib.h>
#include <muster/random.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* In the registry: what texts get as their globals, and the table with what is in them. */
static const char globals_key = 'g', globals_content_key = 'G', bind_key = 'b';

/* How many values a function may return or take at once, and how many fields one call may shift. */
enum { VALUES_MOST = 250, SHIFTS_MOST = 20000 };

/* So many bytes of a text that is made, or looked at letter by letter, are the work of an instruction. */
enum { CHARGE_BYTES = 64, CHARGE_LETTERS = 4 };

/* ----------------------------------------------------------------------------------------------------------- tables */

/* How many fields the list at 1 has; it must be a table that may be written. */
static lua_Integer own_length(lua_State *L) {
  base_check_own(L, 1);
  return (lua_Integer)lua_rawlen(L, 1);
}

static int table_insert(lua_State *L) {
  lua_Integer length = own_length(L), place = length + 1;
  if (lua_gettop(L) == 3) {
    place = luaL_checkinteger(L, 2);
    luaL_argcheck(L, place >= 1 && place <= length + 1, 2, "position out of bounds");
    luaL_argcheck(L, length - place < SHIFTS_MOST, 2, "more than 20000 fields would have to be shifted");
    state_charge(L, (size_t)(length + 1 - place));
    for (lua_Integer i = length; i >= place; i--) {
      lua_rawgeti(L, 1, i);
      lua_rawseti(L, 1, i + 1);
    }
  } else if (lua_gettop(L) != 2) {
    return luaL_error(L, "wrong number of arguments to 'insert'");
  }
  lua_settop(L, lua_gettop(L));
  lua_rawseti(L, 1, place);
  return 0;
}

static int table_remove(lua_State *L) {
  lua_Integer length = own_length(L), place = luaL_optinteger(L, 2, length);
  if (lua_gettop(L) > 1)
    luaL_argcheck(L, (place >= 1 && place <= length + 1) || (length == 0 && place == 0), 2, "position out of bounds");
  luaL_argcheck(L, length - place < SHIFTS_MOST, 2, "more than 20000 fields would have to be shifted");
  lua_rawgeti(L, 1, place);
  if (place < length) state_charge(L, (size_t)(length - place));
  for (; place < length; place++) {
    lua_rawgeti(L, 1, place + 1);
    lua_rawseti(L, 1, place);
  }
  if (place >= 1 && place <= length) {
    lua_pushnil(L);
    lua_rawseti(L, 1, place);
  }
  return 1;
}

static int table_unpack(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  freeze_open(L, 1);
  lua_Integer first = luaL_optinteger(L, 2, 1), last = luaL_optinteger(L, 3, (lua_Integer)lua_rawlen(L, 1));
  if (last < first) return 0;
  if ((lua_Unsigned)last - (lua_Unsigned)first >= VALUES_MOST)
    return luaL_error(L, "table.unpack: more than %d values", VALUES_MOST);
  luaL_checkstack(L, VALUES_MOST, NULL);
  int count = (int)(last - first) + 1;
  for (int i = 0; i < count; i++) lua_rawgeti(L, 1, first + i);
  return count;
}

static int table_concat(lua_State *L) {
  size_t between_length;
  const char *between = luaL_optlstring(L, 2, "", &between_length);
  luaL_checktype(L, 1, LUA_TTABLE);
  freeze_open(L, 1);
  lua_Integer first = luaL_optinteger(L, 3, 1), last = luaL_optinteger(L, 4, (lua_Integer)lua_rawlen(L, 1));
  size_t bytes = 0, most = library_text_most(L);
  if (last >= first && (lua_Unsigned)last - (lua_Unsigned)first >= SHIFTS_MOST)
    return luaL_error(L, "table.concat: more than %d fields", SHIFTS_MOST);
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  for (lua_Integer i = first; last >= first; i++) {
    size_t length;
    lua_rawgeti(L, 1, i);
    if (!lua_isstring(L, -1))
      return luaL_error(L, "invalid value (%s) in the table for 'concat', at %I", luaL_typename(L, -1), i);
    lua_tolstring(L, -1, &length);
    bytes += length + between_length;
    if (bytes > most) return luaL_error(L, "table.concat: the text is longer than the memory that the agent may have");
    luaL_addvalue(&buffer);
    if (i == last) break; /* the last number of all has none behind it */
    luaL_addlstring(&buffer, between, between_length);
  }
  luaL_pushresult(&buffer);
  state_charge(L, bytes / CHARGE_BYTES + (last >= first ? (size_t)(last - first) : 0));
  return 1;
}

/* ---------------------------------------------------------------------------------------------------------- strings */

size_t library_text_most(lua_State *L) {
  const script_memory *memory = &state_of(L)->memory;
  return memory->refuses && memory->owner_cap_bytes ? memory->owner_cap_bytes : 1 << 20;
}

static int string_rep(lua_State *L) {
  size_t length, between;
  luaL_checklstring(L, 1, &length);
  lua_Integer count = luaL_checkinteger(L, 2);
  luaL_optlstring(L, 3, "", &between);
  if (count > 0 && (double)count * (double)(length + between) > (double)library_text_most(L))
    return luaL_error(L, "string.rep: the text is longer than the memory that the agent may have");
  if (count > 0 && length + between == 0) count = 1;
  if (count > 0) state_charge(L, (size_t)count + (size_t)count * (length + between) / CHARGE_BYTES);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_pushinteger(L, count);
  lua_replace(L, 3);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

static int string_byte(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  lua_Integer first = luaL_optinteger(L, 2, 1), last = luaL_optinteger(L, 3, first);
  if (first < 0) first += (lua_Integer)length + 1;
  if (last < 0) last += (lua_Integer)length + 1;
  if (last > (lua_Integer)length) last = (lua_Integer)length;
  if (first < 1) first = 1;
  if (last >= first && last - first >= VALUES_MOST)
    return luaL_error(L, "string.byte: more than %d values", VALUES_MOST);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* Checks what follows a % in a format, and returns its letter. Widths are two digits at most, which Lua checks. */
static char format_letter(lua_State *L, const char **at) {
  const char *from = *at;
  *at += strspn(*at, "-+ #0123456789.");
  char letter = **at;
  if (*at - from > 12 || !letter || !strchr("diuoxXcaAeEfgGqs%", letter))
    luaL_error(L, "string.format: '%%%s' is not for scripts", from);
  ++*at;
  return letter;
}

/* What %s is given becomes text here, so that no metamethod is called from inside. */
static int string_format(lua_State *L) {
  int argument = 1;
  size_t bytes, length, most = library_text_most(L);
  const char *at = luaL_checklstring(L, 1, &bytes);
  if (strlen(at) != bytes) return luaL_error(L, "string.format: the format has a zero byte");
  while ((at = strchr(at, '%'))) {
    at++;
    char letter = format_letter(L, &at);
    if (letter == '%') continue;
    luaL_checkany(L, ++argument);
    bool text = lua_type(L, argument) == LUA_TSTRING || lua_type(L, argument) == LUA_TNUMBER;
    if (letter == 'q' && !text) return luaL_error(L, "string.format: %%q takes a string or a number");
    if (letter == 'q' && lua_type(L, argument) == LUA_TSTRING) bytes += lua_rawlen(L, argument);
    if (letter == 's') {
      base_text(L, argument, &length);
      lua_replace(L, argument);
      bytes += length;
    }
    if (bytes > most) return luaL_error(L, "string.format: the text is longer than the memory that the agent may have");
  }
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, 1);
  return 1;
}

/* Lua's own function, which looks at each letter of its text. */
static int utf8_charged(lua_State *L) {
  size_t length;
  luaL_checklstring(L, 1, &length);
  state_charge(L, length / CHARGE_LETTERS);
  lua_pushvalue(L, lua_upvalueindex(1));
  lua_insert(L, 1);
  lua_call(L, lua_gettop(L) - 1, LUA_MULTRET);
  return lua_gettop(L);
}

/* ------------------------------------------------------------------------------------------------------------- math */

/* The next of the update's random numbers. */
static uint64_t draw(lua_State *L) {
  script_state *state = state_of(L);
  state->random += 0x9e3779b97f4a7c15u;
  return muster_random_mix(state->random);
}

/* As Lua's math.random. */
static int math_random(lua_State *L) {
  uint64_t random = draw(L);
  lua_Integer low = 1, high;
  switch (lua_gettop(L)) {
  case 0:
    lua_pushnumber(L, (double)(random >> 11) * 0x1p-53);
    return 1;
  case 1:
    high = luaL_checkinteger(L, 1);
    break;
  default:
    low = luaL_checkinteger(L, 1);
    high = luaL_checkinteger(L, 2);
  }
  luaL_argcheck(L, low <= high, lua_gettop(L), "interval is empty");
  uint64_t span = (uint64_t)high - (uint64_t)low + 1;
  uint64_t part = span ? random % span : random;
  lua_pushinteger(L, (lua_Integer)((uint64_t)low + part));
  return 1;
}

/* ------------------------------------------------------------------------------------------------------ environment */

/* A global is written: while the texts are loaded. */
static int write_global(lua_State *L) {
  if (!state_of(L)->loads) return freeze_refuse(L);
  lua_settop(L, 3);
  library_push_content(L);
  lua_insert(L, 2);
  lua_rawset(L, 2);
  return 0;
}

void library_push_globals(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &globals_key);
}

void library_push_content(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &globals_content_key);
}

void library_bind_index(lua_State *L, int table) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &bind_key);
  lua_insert(L, -2);
  lua_pushvalue(L, table);
  lua_call(L, 2, 1);
}

void library_set_global(lua_State *L, const char *name) {
  library_push_content(L);
  lua_insert(L, -2);
  lua_setfield(L, -2, name);
  lua_pop(L, 1);
}

/* Copies functions of Lua's library at `from` into the table on top of the stack. */
static void library_take(lua_State *L, int from, const char *const *names) {
  for (; *names; names++) {
    lua_getfield(L, from, *names);
    lua_setfield(L, -2, *names);
  }
}

/* Sets a function that has Lua's own as its upvalue. */
static void take_limited(lua_State *L, int from, const char *name, lua_CFunction function) {
  lua_getfield(L, from, name);
  lua_pushcclosure(L, function, 1);
  lua_setfield(L, -2, name);
}

static void open_base(lua_State *L, int globals) {
  static const char *const harmless[] = {"assert", "error",    "pcall",        "select", "tonumber",
                                         "type",   "rawequal", "getmetatable", NULL};
  luaL_requiref(L, LUA_GNAME, luaopen_base, 0);
  lua_pushvalue(L, globals);
  library_take(L, lua_gettop(L) - 1, harmless);
  luaL_setfuncs(L, base_functions, 0);
  lua_pushliteral(L, "Lua 5.4");
  lua_setfield(L, -2, "_VERSION");
  lua_settop(L, globals);
}

/* Opens Lua's library of that name, and makes a table of it among the globals: both are on the stack afterwards. */
static int begin_library(lua_State *L, const char *name, lua_CFunction open, int globals) {
  luaL_requiref(L, name, open, 0);
  lua_newtable(L);
  lua_pushvalue(L, -1);
  lua_setfield(L, globals, name);
  return lua_gettop(L) - 1;
}

static void open_strings(lua_State *L, int globals) {
  static const char *const harmless[] = {"char", "len", "lower", "reverse", "sub", "upper", NULL};
  int from = begin_library(L, LUA_STRLIBNAME, luaopen_string, globals);
  library_take(L, from, harmless);
  take_limited(L, from, "rep", string_rep);
  take_limited(L, from, "byte", string_byte);
  take_limited(L, from, "format", string_format);
  lua_pushliteral(L, "");
  lua_createtable(L, 0, 2);
  lua_pushvalue(L, -3);
  lua_setfield(L, -2, "__index");
  lua_pushboolean(L, 0);
  lua_setfield(L, -2, "__metatable");
  lua_setmetatable(L, -2); /* of all strings */
  lua_settop(L, globals);
}

static void open_math(lua_State *L, int globals) {
  static const char *const harmless[] = {"abs", "acos",       "asin", "atan", "ceil", "cos", "deg",
                                         "exp", "floor",      "fmod", "huge", "log",  "max", "maxinteger",
                                         "min", "mininteger", "modf", "pi",   "rad",  "sin", "sqrt",
                                         "tan", "tointeger",  "type", "ult",  NULL};
  int from = begin_library(L, LUA_MATHLIBNAME, luaopen_math, globals);
  library_take(L, from, harmless);
  lua_pushcfunction(L, math_random);
  lua_setfield(L, -2, "random");
  lua_settop(L, globals);
}

static void open_others(lua_State *L, int globals) {
  static const char *const harmless[] = {"char", "charpattern", "codes", NULL};
  static const luaL_Reg own[] = {{"insert", table_insert},
                                 {"remove", table_remove},
                                 {"unpack", table_unpack},
                                 {"concat", table_concat},
                                 {NULL, NULL}};
  int from = begin_library(L, LUA_UTF8LIBNAME, luaopen_utf8, globals);
  library_take(L, from, harmless);
  take_limited(L, from, "len", utf8_charged);
  take_limited(L, from, "offset", utf8_charged);
  lua_settop(L, globals);
  lua_newtable(L);
  luaL_setfuncs(L, own, 0);
  lua_setfield(L, globals, "table");
}

/* What is written in Lua, since it calls functions of scripts, which must be able to yield. */
static void run_prelude(lua_State *L) {
  for (const char *const *text = prelude_texts; *text; text++) {
    safepoints_load(L, *text, strlen(*text), "=prelude");
    lua_pushcfunction(L, base_plain);
    lua_pushcfunction(L, match_find);
    lua_call(L, 2, 1);
    if (lua_isfunction(L, -1)) lua_rawsetp(L, LUA_REGISTRYINDEX, &bind_key);
  }
}

void library_open(lua_State *L) {
  int top = lua_gettop(L);
  script_state *state = state_of(L);
  lua_newtable(L);
  int globals = lua_gettop(L);
  lua_pushvalue(L, -1);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &globals_content_key);
  lua_newtable(L);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS); /* Lua's own functions do not stay in anybody's reach */
  open_base(L, globals);
  open_strings(L, globals);
  open_math(L, globals);
  open_others(L, globals);
  calls_open(L);
  lua_setfield(L, globals, "muster");
  lua_newtable(L); /* what texts see */
  lua_createtable(L, 0, 4);
  lua_pushvalue(L, globals);
  freeze_mark(L, -2);
  lua_pop(L, 1);
  lua_pushcfunction(L, write_global);
  lua_setfield(L, -2, "__newindex");
  lua_setmetatable(L, -2);
  lua_pushvalue(L, -1);
  lua_setfield(L, globals, "_G");
  lua_rawsetp(L, LUA_REGISTRYINDEX, &globals_key);
  state->loads = true;
  run_prelude(L);
  lua_newtable(L);
  lua_pushvalue(L, globals);
  lua_setfield(L, -2, LUA_GNAME);
  lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE); /* by which tracebacks name functions */
  lua_newtable(L);
  lua_rawseti(L, LUA_REGISTRYINDEX, LUA_RIDX_GLOBALS);
  lua_settop(L, top);
}
