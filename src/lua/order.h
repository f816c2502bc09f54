/* lua/order.h - the order in which a table is walked, which follows from its keys alone: positive whole numbers, other
 * numbers, strings by their bytes, false, true. Lua's own order follows addresses and the time. */
#ifndef LUA_ORDER_H
#define LUA_ORDER_H

#include "lua/state.h"

typedef struct order_key {
  uint8_t rank; /* positive whole number, other number, string, boolean */
  bool whole;
  union {
    int64_t integer;
    double number;
    struct {
      const char *text;
      size_t length;
    };
  };
} order_key;

/* Gathers the keys of the table at `index`, in order; `keys` stays valid until the next call. Texts belong to the
 * table. Returns how many; -1 when a key has no order (a table or a function is one), and -2 without memory. */
int order_gather(lua_State *L, int index, const order_key **keys);

/* Pushes a key. */
void order_push(lua_State *L, const order_key *key);

/* `pairs` and `next`. */
int order_pairs(lua_State *L);
int order_next(lua_State *L);

#endif
