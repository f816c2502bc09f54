/* lua/library.h - what scripts can call besides `muster`: Lua's libraries without what could reach the host, run on
 * without end, or tell an address. tools/docs/scripts.md lists every function. */
#ifndef LUA_LIBRARY_H
#define LUA_LIBRARY_H

#include "lua/state.h"

/* Makes the globals of a state. */
void library_open(lua_State *L);

/* Pushes what texts get as their globals. */
void library_push_globals(lua_State *L);

/* Pushes the table with the globals themselves. */
void library_push_content(lua_State *L);

/* Pops a value, and makes it a global. While the texts are loaded. */
void library_set_global(lua_State *L, const char *name);

/* The longest text that a function may make at once. */
size_t library_text_most(lua_State *L);

/* Replaces the __index function on top of the stack by one that gives it the frozen table at `table`, and not the table
 * with what is in it. */
void library_bind_index(lua_State *L, int table);

#endif
