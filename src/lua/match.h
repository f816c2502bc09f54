/* lua/match.h - Lua's patterns, with a bound on the steps of one call: patterns that go back and forth take a time that
 * grows by a power of the text's length, and no safepoint is inside a C function. */
#ifndef LUA_MATCH_H
#define LUA_MATCH_H

#include "lua/state.h"

enum { MATCH_STEPS_MAX = 10000 };

/* (text, pattern, first, plainly, way, last), from which the prelude makes find (way = false), match (true), and, with
 * way = nil, gmatch and gsub: the next match that does not end right before `last`. */
int match_find(lua_State *L);

#endif
