/* lua/outside.h - functions that remember something outside of the agents.
 *
 * Tables that functions hold are made read-only (lua/freeze.h), but not their variables: `local count = 0` before a
 * method that counts it up would be shared by the agents of a strand, and lost in a snapshot. So no function that stays
 * after the texts have run may assign to a variable outside of it. Lua tells only in its compiled form whether one
 * does: the function is dumped, and its instructions are read. */
#ifndef LUA_OUTSIDE_H
#define LUA_OUTSIDE_H

#include "lua/state.h"

/* Raises an error when the function on top of the stack, or one inside it, assigns to a variable outside of it. */
void outside_check(lua_State *L);

#endif
