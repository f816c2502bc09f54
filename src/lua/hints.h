/* lua/hints.h - what an error of a script probably comes from. Lua says what is nil, and where; what is said here
 * behind it is which name was meant, and what there is in place of what scripts do not have. */
#ifndef LUA_HINTS_H
#define LUA_HINTS_H

#include "lua/state.h"

/* Pushes onto `to`, a thread of the same state, the text of an error that was raised in `thread`, which still stands
 * where it was: its first line, and what there is to add. `to` may be the thread itself. */
const char *hints_push(lua_State *thread, lua_State *to, const char *text);

/* What there is to add to the message of Lua's compiler, which did not take the text: how what is written in other
 * languages is written in Lua. "" = nothing. */
const char *hints_of_grammar(const char *message, const char *text, size_t bytes);

#endif
