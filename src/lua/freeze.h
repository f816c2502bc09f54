/* lua/freeze.h - tables that can be read and not changed.
 *
 * A frozen table is empty itself; what was in it is in another table, which its metatable's __index names. Reads go
 * there, writes are refused, and the libraries that look into a table themselves ask for that table first. After the
 * texts have run, every table that can be reached from them is frozen: globals, what modules return, types, and what
 * functions hold. */
#ifndef LUA_FREEZE_H
#define LUA_FREEZE_H

#include "lua/state.h"

/* Freezes all that is reached from the globals, the types and the modules. */
void freeze_all(lua_State *L);

/* Whether the table at `index` is frozen. True: the table with what is in it is pushed. */
bool freeze_push_content(lua_State *L, int index);

/* The table at `index` itself, or what is in it when it is frozen: replaces it. */
void freeze_open(lua_State *L, int index);

/* Pushes a field of the table at `index` without metamethods: a function of a script that was called from here could
 * not be interrupted. Returns its type. */
int freeze_get(lua_State *L, int index, const char *name);

/* Makes the metatable at `metatable` one of a table whose content is on top of the stack, which stays there. */
void freeze_mark(lua_State *L, int metatable);

/* A __newindex that refuses. */
int freeze_refuse(lua_State *L);

#endif
