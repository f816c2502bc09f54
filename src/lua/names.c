#include "lua/names.h"

#include "base/nearest.h"
#include "lua/freeze.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

enum { FEW_NAMES = 24, SHOWN_TEXT_BYTES = 40 };

const char *names_push_near(lua_State *L, const char *typed, const char *const *names, size_t count) {
  const char *nearest = nearest_name(typed, names, count);
  return nearest ? lua_pushfstring(L, "; did you mean '%s'?", nearest) : lua_pushstring(L, "");
}

const char *names_push_hint(lua_State *L, const char *typed, const char *const *names, size_t count) {
  luaL_Buffer list;
  const char *near = names_push_near(L, typed, names, count);
  if (*near || !count || count > FEW_NAMES) return near;
  luaL_buffinit(L, &list);
  luaL_addstring(&list, "; there are: ");
  for (size_t i = 0; i < count; i++) {
    luaL_addstring(&list, i ? ", " : "");
    luaL_addstring(&list, names[i]);
  }
  luaL_pushresult(&list);
  return lua_tostring(L, -1);
}

static int by_letters(const void *one, const void *other) {
  return strcmp(*(const char *const *)one, *(const char *const *)other);
}

size_t names_of_table(lua_State *L, int index, bool functions, const char **names, size_t count) {
  int top = lua_gettop(L);
  size_t first = count;
  lua_pushvalue(L, index);
  freeze_open(L, -1);
  for (lua_pushnil(L); count < NAMES_MAX && lua_next(L, top + 1); lua_pop(L, 1))
    if (lua_type(L, -2) == LUA_TSTRING && (!functions || lua_isfunction(L, -1))) names[count++] = lua_tostring(L, -2);
  lua_settop(L, top);
  qsort(names + first, count - first, sizeof *names, by_letters); /* else the first of two that are as near differs */
  return count;
}

void names_push_value(lua_State *L, int index) {
  size_t length = 0;
  const char *text = lua_type(L, index) == LUA_TSTRING ? lua_tolstring(L, index, &length) : NULL;
  bool plain = text && length <= SHOWN_TEXT_BYTES;
  for (size_t i = 0; plain && i < length; i++) plain = isprint((unsigned char)text[i]);
  if (plain) {
    lua_pushfstring(L, "\"%s\"", text);
  } else if (lua_type(L, index) == LUA_TNUMBER) {
    lua_pushvalue(L, index); /* a number becomes a text where it stands */
    lua_tostring(L, -1);
  } else if (lua_isboolean(L, index)) {
    lua_pushstring(L, lua_toboolean(L, index) ? "true" : "false");
  } else {
    lua_pushfstring(L, "%s%s", lua_isnoneornil(L, index) ? "" : "a ", luaL_typename(L, index));
  }
}
