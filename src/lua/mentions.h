/* lua/mentions.h - which names the texts use: a method that neither Muster nor a text calls is misspelt.
 *
 * A name is used where it stands elsewhere than where something is defined by it: `function npc:NAME(` and `NAME =` are
 * no uses, and whatever else stands in a text is one, also a string that is the name. So what a text calls by itself is
 * never taken for a mistake. */
#ifndef LUA_MENTIONS_H
#define LUA_MENTIONS_H

#include "lua/state.h"

/* After all texts have run, in the state that is the first to run them: raises an error for a function of a type that
 * nobody calls, and whose name is close to a method that Muster would call and that the type lacks; for a function that
 * has the name of such a method and belongs to no type; for what belongs into muster.type and stands behind it; and for
 * a value that a method puts into self.position, where it is lost.
 * Other functions that nobody calls are told in a line. */
void mentions_check(lua_State *L);

#endif
