/* lua/calls.h - `muster`: what an agent's code can ask of its world. */
#ifndef LUA_CALLS_H
#define LUA_CALLS_H

#include "lua/state.h"

/* Puts the table `muster` on the stack. */
void calls_open(lua_State *L);

/* Gives the metatable of agents on top of the stack its __newindex, which refuses the names that Muster tells. */
void calls_refuse_fields(lua_State *L);

/* Gives the table of a type on top of the stack its __index, which answers for self.position and its like. */
void calls_add_fields(lua_State *L);

/* Reads x, y and z of the table at `index`: x and y must be there, and without z it stays. Raises an error in the name
 * of `what`. */
void calls_read_place(lua_State *L, int index, const char *what, muster_position *place);

/* Adds the names of what Muster tells of an agent in self. Returns the count. */
size_t calls_names(const char **names, size_t count);

#endif
