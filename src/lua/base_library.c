#include "lua/base_library.h"

#include "lua/freeze.h"
#include "lua/lines.h"
#include "lua/order.h"

/* ------------------------------------------------------------------------------------------------------------- base */

const char *base_text(lua_State *L, int index, size_t *length) {
  switch (lua_type(L, index)) {
  case LUA_TNUMBER:
    lua_pushvalue(L, index); /* else a key that is walked would become a string */
    break;
  case LUA_TSTRING:
    lua_pushvalue(L, index);
    break;
  case LUA_TBOOLEAN:
    lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
    break;
  default:
    lua_pushstring(L, luaL_typename(L, index));
  }
  return lua_tolstring(L, -1, length);
}

int base_plain(lua_State *L) {
  luaL_checkany(L, 1);
  base_text(L, 1, NULL);
  return 1;
}

static int base_print(lua_State *L) {
  enum { PRINT_INSTRUCTIONS = 300 };
  char line[400];
  size_t count = 0;
  int arguments = lua_gettop(L);
  for (int i = 1; i <= arguments; i++) {
    size_t length;
    const char *text = base_text(L, i, &length);
    if (i > 1 && count < sizeof line - 1) line[count++] = '\t';
    for (size_t k = 0; k < length && count < sizeof line - 1; k++)
      line[count++] = (unsigned char)text[k] < ' ' ? ' ' : text[k];
    lua_pop(L, 1);
  }
  line[count] = 0;
  state_charge(L, PRINT_INSTRUCTIONS);
  script_state *state = state_of(L);
  if (lines_take(&state->of_print, LINES_OF_PRINT)) lines_say(state->scripts, "%s", line);
  return 0;
}

static int base_rawget(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_checkany(L, 2);
  lua_settop(L, 2);
  freeze_open(L, 1);
  lua_rawget(L, 1);
  return 1;
}

static int base_rawlen(lua_State *L) {
  luaL_argcheck(L, lua_istable(L, 1) || lua_type(L, 1) == LUA_TSTRING, 1, "table or string expected");
  freeze_open(L, 1);
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, 1));
  return 1;
}

void base_check_own(lua_State *L, int index) {
  luaL_checktype(L, index, LUA_TTABLE);
  if (freeze_push_content(L, index)) {
    lua_pushliteral(L, "this table");
    lua_replace(L, 2);
    freeze_refuse(L);
  }
}

static int base_rawset(lua_State *L) {
  luaL_checkany(L, 3);
  base_check_own(L, 1);
  lua_settop(L, 3);
  lua_rawset(L, 1);
  return 1;
}

/* Walks 1, 2, 3 ... as far as there are values. */
static int ipairs_next(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE); /* a script may call it with anything */
  lua_Integer i = (lua_Integer)((lua_Unsigned)luaL_checkinteger(L, 2) + 1);
  freeze_open(L, 1);
  lua_pushinteger(L, i);
  return lua_rawgeti(L, 1, i) == LUA_TNIL ? 1 : 2;
}

static int base_ipairs(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_pushcfunction(L, ipairs_next);
  lua_pushvalue(L, 1); /* a frozen table itself, never what is in it */
  lua_pushinteger(L, 0);
  return 3;
}

/* ------------------------------------------------------------------------------------------------------- metatables */

/* In a metatable: the copy of it that tables have. */
static const char copy_key = 'm';

static const char *const metamethods[] = {"__index", "__newindex", "__call", "__eq",   "__lt",       "__le",
                                          "__len",   "__concat",   "__unm",  "__add",  "__sub",      "__mul",
                                          "__div",   "__mod",      "__pow",  "__idiv", "__band",     "__bor",
                                          "__bxor",  "__shl",      "__shr",  "__bnot", "__tostring", NULL};

/* Pushes the copy of the metatable at `given`, whose content is at `index`: it has only what a script may have. */
static void push_metatable(lua_State *L, int given, int index) {
  if (lua_rawgetp(L, index, &copy_key) == LUA_TTABLE) return;
  lua_pop(L, 1);
  static const char *const refused[] = {"__gc", "__mode", "__close", "__metatable", "__name", "__pairs", NULL};
  for (const char *const *name = refused; *name; name++) {
    lua_pushstring(L, *name);
    if (lua_rawget(L, index) != LUA_TNIL) luaL_error(L, "setmetatable: %s is not for scripts", *name);
    lua_pop(L, 1);
  }
  lua_pushliteral(L, "__call");
  lua_rawget(L, index);
  if (!lua_isnil(L, -1) && !lua_isfunction(L, -1)) /* Lua takes the square of the time for tables in a chain */
    luaL_error(L, "setmetatable: __call must be a function");
  lua_pop(L, 1);
  lua_createtable(L, 0, 4);
  for (const char *const *name = metamethods; *name; name++) {
    lua_pushstring(L, *name);
    lua_rawget(L, index);
    if (lua_isnil(L, -1))
      lua_pop(L, 1);
    else
      lua_setfield(L, -2, *name);
  }
  lua_pushvalue(L, given);
  lua_setfield(L, -2, "__metatable");
  lua_pushvalue(L, -1);
  lua_rawsetp(L, index, &copy_key);
}

static int base_setmetatable(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  luaL_argexpected(L, lua_isnil(L, 2) || lua_istable(L, 2), 2, "nil or table");
  lua_settop(L, 2);
  if (luaL_getmetafield(L, 1, "__metatable") != LUA_TNIL) {
    if (!lua_istable(L, -1)) return luaL_error(L, "setmetatable: the metatable of this table is protected");
    lua_pop(L, 1);
  }
  if (lua_istable(L, 2)) {
    lua_pushvalue(L, 2);
    freeze_open(L, 3);
    push_metatable(L, 2, 3);
  } else {
    lua_pushnil(L);
  }
  lua_setmetatable(L, 1);
  lua_settop(L, 1);
  return 1;
}

const luaL_Reg base_functions[] = {{"pairs", order_pairs},
                                   {"next", order_next},
                                   {"ipairs", base_ipairs},
                                   {"print", base_print},
                                   {"rawget", base_rawget},
                                   {"rawset", base_rawset},
                                   {"rawlen", base_rawlen},
                                   {"setmetatable", base_setmetatable},
                                   {NULL, NULL}};
