/* lua/safepoints.h - where scripts can be interrupted: at the head of each loop and of each function, and before each
 * goto.
 *
 * Lua can count instructions itself (lua_sethook), but then each of them takes longer. So a text gets its safepoints
 * before it is compiled, on the lines that it has: each counts down, and the one that reaches the end calls state_look.
 * What lies between two safepoints ends by itself, and is at most as long as the text; what allocates or calls much
 * there is looked at sooner (memory_spend), by a hook that is set for one instruction.
 *
 * All functions of a state share the counter, a variable of a function around them. Scripts cannot name it: they may
 * not have a name that begins like its own. */
#ifndef LUA_SAFEPOINTS_H
#define LUA_SAFEPOINTS_H

#include "lua/state.h"

/* Pushes the function that the text is, with safepoints. Raises the error of a text that does not compile. Its globals
 * are those of library_push_globals(). */
void safepoints_load(lua_State *L, const char *text, size_t bytes, const char *chunk);

/* Makes the counter of a state. */
void safepoints_create(lua_State *L);

/* The next look is SAFEPOINTS_PER_LOOK safepoints from here. */
void safepoints_restart(script_state *state, lua_State *L);

/* The code that runs in `L` is looked at before its next instruction: it called what took long. */
void safepoints_hurry(lua_State *L);

/* The level of the stack at which a thread stands in a script: a look itself is told to nobody. */
int safepoints_level(lua_State *thread);

/* Whether a variable of that name is the counter. */
bool safepoints_count_with(const char *variable);

#endif
