/* lua/kept.h - values that cannot be kept: what stays from one update to the next is saved with the world, and there
 * are no bytes for functions, for tables with metatables and for tables of the scripts.
 *
 * Who puts such a value into a new field of self is told at once (lua/calls.c). What lies deeper, or takes the place of
 * another value, is looked for behind some calls of methods: the first of a type in each strand, the third, the seventh
 * and so on, and in the end each 252nd. A look takes some microseconds at most. */
#ifndef LUA_KEPT_H
#define LUA_KEPT_H

#include "lua/scripts.h"

/* Why the value at `index` cannot be kept: "a function", for example. Null: it can, as far as its own kind goes. */
const char *kept_refusal(lua_State *L, int index);

/* Behind the call of a method: whether to look. */
static inline bool kept_is_due(script_looking *looking) {
  if (__builtin_expect(looking->left-- > 0, true)) return false;
  enum { MOST_LEFT_OUT = 251 };
  looking->left_out = looking->left_out < MOST_LEFT_OUT / 2 ? 2 * looking->left_out + 1 : MOST_LEFT_OUT;
  looking->left = looking->left_out;
  return true;
}

/* Looks through the agent's table, and notes what is found as an error of the update. */
void kept_look(script_state *state, const script_type *type, muster_agent agent, uint32_t owner);

/* Looks through what the functions of muster.world keep. */
void kept_look_at_world(script_state *host);

#endif
