/* lua/base_library.h - the basic functions that are not Lua's own. */
#ifndef LUA_BASE_LIBRARY_H
#define LUA_BASE_LIBRARY_H

#include "lua/state.h"

/* By name; null at the end. */
extern const luaL_Reg base_functions[];

/* The value as text, without metamethods: `tostring` of the prelude asks these. */
int base_plain(lua_State *L);

/* Pushes the same. No address is in it: two tables look alike. */
const char *base_text(lua_State *L, int index, size_t *length);

/* Raises an error unless there is a table at `index` that the script may write. */
void base_check_own(lua_State *L, int index);

#endif
