#include "lua/order.h"

#include "lua/freeze.h"

#include <stdlib.h>
#include <string.h>

enum { ORDER_POSITIVE = 0, ORDER_NUMBER, ORDER_TEXT, ORDER_FALSE, ORDER_TRUE, ORDER_NONE };
enum { UPVALUES_MOST = 250, KEY_INSTRUCTIONS = 8 /* to put a key in its place */ };

/* A walk of a table with so many keys counts as the same work however they lie in it: that follows from what was in the
 * table before, and from the seed of the state's hashes. */
static void charge_walk(lua_State *L, size_t count) {
  state_charge(L, count * KEY_INSTRUCTIONS);
}

/* ------------------------------------------------------------------------------------------------------------- keys */

/* Reads the key at `index`. */
static uint8_t order_read_key(lua_State *L, int index, order_key *key) {
  int whole;
  *key = (order_key){.rank = ORDER_NONE};
  switch (lua_type(L, index)) {
  case LUA_TNUMBER:
    key->integer = lua_tointegerx(L, index, &whole); /* a key of 1.0 is that of 1 */
    key->whole = whole;
    if (!whole) key->number = lua_tonumber(L, index);
    key->rank = key->whole && key->integer > 0 ? ORDER_POSITIVE : ORDER_NUMBER;
    break;
  case LUA_TSTRING:
    key->text = lua_tolstring(L, index, &key->length);
    key->rank = ORDER_TEXT;
    break;
  case LUA_TBOOLEAN:
    key->rank = lua_toboolean(L, index) ? ORDER_TRUE : ORDER_FALSE;
    break;
  default:
    break;
  }
  return key->rank;
}

static double number_of(const order_key *key) {
  return key->whole ? (double)key->integer : key->number;
}

/* Less than, equal to or greater than 0. A whole number comes before another one of the same rounded value. */
static int compare_keys(const order_key *one, const order_key *other) {
  if (one->rank != other->rank) return one->rank < other->rank ? -1 : 1;
  if (one->rank == ORDER_TEXT) {
    size_t length = one->length < other->length ? one->length : other->length;
    int order = memcmp(one->text, other->text, length);
    return order ? order : (one->length > other->length) - (one->length < other->length);
  }
  if (one->rank > ORDER_TEXT) return 0;
  if (one->whole && other->whole) return (one->integer > other->integer) - (one->integer < other->integer);
  double a = number_of(one), b = number_of(other);
  if (a != b) return a < b ? -1 : 1;
  return (int)other->whole - (int)one->whole;
}

static int by_key(const void *one, const void *other) {
  return compare_keys(one, other);
}

/* Few keys are sorted by insertion; most tables have few. */
static void sort_keys(order_key *keys, uint32_t count) {
  enum { FEW = 24 };
  if (count > FEW) {
    qsort(keys, count, sizeof *keys, by_key);
    return;
  }
  for (uint32_t i = 1; i < count; i++) {
    order_key key = keys[i];
    uint32_t place = i;
    for (; place > 0 && compare_keys(&key, &keys[place - 1]) < 0; place--) keys[place] = keys[place - 1];
    keys[place] = key;
  }
}

static bool make_key_room(script_state *state, uint32_t count) {
  if (count < state->keys_room) return true;
  uint32_t room = state->keys_room ? 2 * state->keys_room : 64;
  order_key *keys = realloc(state->keys, room * sizeof *keys);
  if (!keys) return false;
  state->keys = keys;
  state->keys_room = room;
  return true;
}

int order_gather(lua_State *L, int index, const order_key **keys) {
  script_state *state = state_of(L);
  uint32_t count = 0;
  bool sorted = true;
  index = lua_absindex(L, index);
  for (lua_pushnil(L); lua_next(L, index); lua_pop(L, 1)) {
    if (lua_islightuserdata(L, -2)) continue; /* a metatable's copy: not the script's */
    if (!make_key_room(state, count)) {
      lua_pop(L, 2);
      return -2;
    }
    order_key *key = &state->keys[count];
    if (order_read_key(L, -2, key) == ORDER_NONE) {
      lua_pop(L, 2);
      return -1;
    }
    sorted = sorted && (!count || compare_keys(key - 1, key) < 0);
    count++;
  }
  if (!sorted) sort_keys(state->keys, count);
  charge_walk(L, count);
  *keys = state->keys;
  return (int)count;
}

void order_push(lua_State *L, const order_key *key) {
  switch (key->rank) {
  case ORDER_TEXT:
    lua_pushlstring(L, key->text, key->length);
    break;
  case ORDER_FALSE:
  case ORDER_TRUE:
    lua_pushboolean(L, key->rank == ORDER_TRUE);
    break;
  default:
    if (key->whole)
      lua_pushinteger(L, key->integer);
    else
      lua_pushnumber(L, key->number);
  }
}

static int refuse_key(lua_State *L, int why) {
  return luaL_error(L, why == -1 ? "pairs: a key is a table or a function: these have no order" : "not enough memory");
}

/* ------------------------------------------------------------------------------------------------------------ pairs */

/* Opens the table at 1: a loop has the frozen table, never what is in it. A script may call a walk with anything. */
static void open_walked(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  freeze_open(L, 1);
}

/* Walks keys from one behind the function's first upvalue on, which counts; `push` pushes the i-th, or nothing behind
 * the last. Keys that were cleared since are left out, keys that came since are not among them. */
static int walk_kept(lua_State *L, bool (*push)(lua_State *L, lua_Integer i)) {
  lua_Integer i = lua_tointeger(L, lua_upvalueindex(1)) + 1;
  open_walked(L);
  for (;; i++) {
    if (!push(L, i)) return 0;
    lua_pushvalue(L, -1);
    if (lua_rawget(L, 1) != LUA_TNIL) break;
    lua_pop(L, 2);
  }
  lua_pushinteger(L, i);
  lua_copy(L, -1, lua_upvalueindex(1));
  lua_pop(L, 1);
  return 2;
}

static bool push_upvalue(lua_State *L, lua_Integer i) {
  if (i >= UPVALUES_MOST || lua_isnone(L, lua_upvalueindex((int)i + 1))) return false;
  lua_pushvalue(L, lua_upvalueindex((int)i + 1));
  return true;
}

static bool push_listed(lua_State *L, lua_Integer i) {
  return lua_rawgeti(L, lua_upvalueindex(2), i) != LUA_TNIL;
}

/* The keys are the function's upvalues from the second on; or a list, which is the second. */
static int walk_keys(lua_State *L) {
  return walk_kept(L, push_upvalue);
}

static int walk_many(lua_State *L) {
  return walk_kept(L, push_listed);
}

/* Walks a list: the function's upvalue is how long it was. */
static int walk_list(lua_State *L) {
  lua_Integer count = lua_tointeger(L, lua_upvalueindex(1));
  lua_Unsigned i = lua_isnoneornil(L, 2) ? 1 : (lua_Unsigned)luaL_checkinteger(L, 2) + 1;
  open_walked(L);
  for (; i - 1 < (lua_Unsigned)count; i++) {
    lua_pushinteger(L, (lua_Integer)i);
    if (lua_rawgeti(L, 1, (lua_Integer)i) != LUA_TNIL) return 2;
    lua_pop(L, 2);
  }
  return 0;
}

/* How many keys the table at 2 has, when they are 1, 2, 3 ... and lie so; else 0. */
static lua_Integer list_length(lua_State *L) {
  lua_Integer count = 0;
  for (lua_pushnil(L); lua_next(L, 2);) {
    lua_pop(L, 1);
    if (lua_isinteger(L, -1) && lua_tointeger(L, -1) == ++count) continue;
    lua_pop(L, 1);
    return 0;
  }
  charge_walk(L, (size_t)count);
  return count;
}

int order_pairs(lua_State *L) {
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  lua_pushvalue(L, 1);
  freeze_open(L, 2);
  const order_key *keys;
  lua_Integer length = list_length(L);
  if (length) {
    lua_pushinteger(L, length);
    lua_pushcclosure(L, walk_list, 1);
    lua_pushvalue(L, 1);
    return 2;
  }
  int count = order_gather(L, 2, &keys);
  if (count < 0) return refuse_key(L, count);
  if (count + 1 < UPVALUES_MOST) {
    luaL_checkstack(L, count + 4, NULL);
    lua_pushinteger(L, 0);
    for (int i = 0; i < count; i++) order_push(L, &keys[i]);
    lua_pushcclosure(L, walk_keys, count + 1);
  } else {
    lua_pushinteger(L, 0);
    lua_createtable(L, count, 0);
    for (int i = 0; i < count; i++) {
      order_push(L, &keys[i]);
      lua_rawseti(L, -2, i + 1);
    }
    lua_pushcclosure(L, walk_many, 2);
  }
  lua_pushvalue(L, 1);
  return 2;
}

/* Looks at all keys for the next one: for a loop take pairs. */
int order_next(lua_State *L) {
  order_key after, best = {.rank = ORDER_NONE}, key;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 2);
  freeze_open(L, 1);
  bool first = lua_isnil(L, 2);
  size_t looked = 0;
  if (!first && order_read_key(L, 2, &after) == ORDER_NONE) return refuse_key(L, -1);
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    if (lua_islightuserdata(L, -2)) continue;
    if (order_read_key(L, -2, &key) == ORDER_NONE) return refuse_key(L, -1);
    looked++;
    if (!first && compare_keys(&key, &after) <= 0) continue;
    if (best.rank == ORDER_NONE || compare_keys(&key, &best) < 0) best = key;
  }
  state_charge(L, looked);
  if (best.rank == ORDER_NONE) {
    lua_pushnil(L);
    return 1;
  }
  order_push(L, &best);
  lua_pushvalue(L, -1);
  lua_rawget(L, 1);
  return 2;
}
