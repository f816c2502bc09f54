#include "lua/freeze.h"

#include "lua/library.h"
#include "lua/outside.h"
#include "lua/types.h"

/* In the metatable of a frozen table: its content. */
static const char content_key = 'c';

bool freeze_push_content(lua_State *L, int index) {
  index = lua_absindex(L, index);
  if (!lua_istable(L, index) || !lua_getmetatable(L, index)) return false;
  if (lua_rawgetp(L, -1, &content_key) == LUA_TTABLE) {
    lua_remove(L, -2);
    return true;
  }
  lua_pop(L, 2);
  return false;
}

void freeze_open(lua_State *L, int index) {
  index = lua_absindex(L, index);
  if (freeze_push_content(L, index)) lua_replace(L, index);
}

int freeze_get(lua_State *L, int index, const char *name) {
  lua_pushvalue(L, index);
  freeze_open(L, -1);
  lua_pushstring(L, name);
  int type = lua_rawget(L, -2);
  lua_remove(L, -2);
  return type;
}

int freeze_refuse(lua_State *L) {
  const char *name = lua_type(L, 2) == LUA_TSTRING ? lua_tostring(L, 2) : luaL_typename(L, 2);
  return luaL_error(
      L,
      "'%s' cannot be changed: what the scripts define is read-only once they are loaded; keep what changes "
      "in self, publish it, or send it",
      name);
}

static int frozen_length(lua_State *L) {
  if (!freeze_push_content(L, 1)) return luaL_error(L, "a table was expected");
  lua_pushinteger(L, (lua_Integer)lua_rawlen(L, -1));
  return 1;
}

void freeze_mark(lua_State *L, int metatable) {
  metatable = lua_absindex(L, metatable);
  lua_pushvalue(L, -1);
  lua_setfield(L, metatable, "__index");
  lua_pushvalue(L, -1);
  lua_rawsetp(L, metatable, &content_key);
  lua_pushboolean(L, 0);
  lua_setfield(L, metatable, "__metatable");
}

/* Copies what is in the table at `from` into the one at `to`, and empties it if it is to be. */
static void copy_content(lua_State *L, int from, int to, bool moves) {
  from = lua_absindex(L, from);
  to = lua_absindex(L, to);
  for (lua_pushnil(L); lua_next(L, from);) {
    lua_pushvalue(L, -2);
    lua_insert(L, -2);
    lua_rawset(L, to);
    if (!moves) continue;
    lua_pushvalue(L, -1);
    lua_pushnil(L);
    lua_rawset(L, from); /* clearing a field while it is walked is allowed */
  }
}

/* Freezes the table on top of the stack. */
static void freeze_table(lua_State *L) {
  int table = lua_gettop(L);
  bool behaves = lua_getmetatable(L, table);
  if (!behaves) lua_pushnil(L);
  int behaviour = lua_gettop(L);
  lua_createtable(L, 0, 6);
  int metatable = lua_gettop(L);
  lua_newtable(L);
  int content = lua_gettop(L);
  copy_content(L, table, content, true);
  if (behaves) {
    copy_content(L, behaviour, metatable, false);
    lua_createtable(L, 0, 1);
    freeze_get(L, behaviour, "__index");
    if (lua_isfunction(L, -1)) library_bind_index(L, table);
    lua_setfield(L, -2, "__index");
    lua_setmetatable(L, content);
  }
  freeze_mark(L, metatable);
  lua_pushcfunction(L, freeze_refuse);
  lua_setfield(L, metatable, "__newindex");
  lua_pushcfunction(L, frozen_length);
  lua_setfield(L, metatable, "__len");
  lua_pushvalue(L, metatable);
  lua_setmetatable(L, table);
  lua_settop(L, table);
}

/* What is still to be looked at, and what was: both are tables on the stack, below what the functions push. */
enum { FREEZE_QUEUE = 1, FREEZE_SEEN };

/* Pops a value, and queues it if it is a table or a function that was not met yet. */
static void freeze_meet(lua_State *L) {
  if (!lua_istable(L, -1) && (!lua_isfunction(L, -1) || lua_iscfunction(L, -1))) {
    lua_pop(L, 1);
    return;
  }
  lua_pushvalue(L, -1);
  if (lua_rawget(L, FREEZE_SEEN) == LUA_TNIL) {
    lua_pushvalue(L, -2);
    lua_pushboolean(L, 1);
    lua_rawset(L, FREEZE_SEEN);
    lua_pushvalue(L, -2);
    lua_rawseti(L, FREEZE_QUEUE, (lua_Integer)lua_rawlen(L, FREEZE_QUEUE) + 1);
  }
  lua_pop(L, 2);
}

/* Queues what the table or the function on top of the stack holds. */
static void freeze_look_into(lua_State *L) {
  if (lua_isfunction(L, -1)) {
    outside_check(L);
    for (int i = 1; lua_getupvalue(L, -1, i); i++) freeze_meet(L);
    return;
  }
  int table = lua_gettop(L);
  if (freeze_push_content(L, table)) freeze_meet(L);
  if (lua_getmetatable(L, table)) {
    for (lua_pushnil(L); lua_next(L, -2);) freeze_meet(L);
    lua_settop(L, table);
  }
  for (lua_pushnil(L); lua_next(L, table);) {
    if (lua_islightuserdata(L, -2)) { /* what the library keeps there */
      lua_pop(L, 1);
      continue;
    }
    lua_pushvalue(L, -2);
    freeze_meet(L);
    freeze_meet(L);
  }
}

void freeze_all(lua_State *L) {
  lua_settop(L, 0);
  lua_newtable(L);
  lua_newtable(L);
  library_push_globals(L);
  freeze_meet(L);
  state_push_modules(L);
  for (lua_pushnil(L); lua_next(L, -2);) freeze_meet(L);
  lua_settop(L, FREEZE_SEEN);
  types_push_tables(L);
  for (lua_pushnil(L); lua_next(L, -2);) freeze_meet(L);
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, FREEZE_QUEUE); i++) {
    lua_settop(L, FREEZE_SEEN);
    lua_rawgeti(L, FREEZE_QUEUE, i);
    freeze_look_into(L);
  }
  library_push_content(L);
  int globals = lua_gettop(L);
  for (lua_Integer i = 1; i <= (lua_Integer)lua_rawlen(L, FREEZE_QUEUE); i++) {
    lua_settop(L, globals);
    lua_rawgeti(L, FREEZE_QUEUE, i);
    if (!lua_istable(L, -1) || lua_rawequal(L, -1, globals)) continue;
    if (freeze_push_content(L, -1)) continue; /* the globals themselves; and what is met in two ways */
    freeze_table(L);
  }
  lua_settop(L, 0);
}
