/* lua/effort.h - bounds for texts that Lua would compile for minutes.
 *
 * Its compiler takes a time that grows with the square of some things. Each `elseif`, `and` and `or` goes through the
 * list of those before it in the same `if` or expression; each name is looked for among the variables of all functions
 * that it is in. So there may be so many of them. All else takes a time that grows with the text, of which there are
 * SCRIPT_BYTES_MAX bytes at most. What is counted is in the text: whether it compiles does not depend on the machine.
 */
#ifndef LUA_EFFORT_H
#define LUA_EFFORT_H

#include "lua/state.h"

enum {
  EFFORT_CHAIN_MAX = 2000,   /* `elseif` of one `if`, and `and` and `or` of one expression */
  EFFORT_NAMES_MAX = 1000000 /* names, each as often as there are functions around it */
};

/* Raises an error with file and line where a text would take too long. */
void effort_check(lua_State *L, const char *text, size_t bytes, const char *chunk);

#endif
