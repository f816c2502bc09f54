/* lua/names.h - words for messages: which name was probably meant, and what a value is. */
#ifndef LUA_NAMES_H
#define LUA_NAMES_H

#include <lua.h>
#include <stdbool.h>
#include <stddef.h>

enum { NAMES_MAX = 256 }; /* that are looked at */

/* Pushes "; did you mean 'NAME'?" with the name that is nearest to what was typed, or "" when none is near. Returns the
 * text on the stack. */
const char *names_push_near(lua_State *L, const char *typed, const char *const *names, size_t count);

/* The same, but says which names there are when none is near and they are few. */
const char *names_push_hint(lua_State *L, const char *typed, const char *const *names, size_t count);

/* Adds the keys of the table at `index` that are texts, of functions alone or of all values: read-only tables are
 * opened. The names are those of the table. Returns the count. */
size_t names_of_table(lua_State *L, int index, bool functions, const char **names, size_t count);

/* Pushes what the value at `index` is, in a few words: a number, a short text in quotes, or the name of its type. */
void names_push_value(lua_State *L, int index);

#endif
