/* lua/prelude.h - the part of the scripts' library that is written in Lua. */
#ifndef LUA_PRELUDE_H
#define LUA_PRELUDE_H

/* Each is run with two functions: `tostring` without metamethods, and the search for a pattern. Null at the end. */
extern const char *const prelude_texts[];

#endif
