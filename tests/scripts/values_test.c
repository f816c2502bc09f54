/* Plain values become bytes and values again: random ones are the same afterwards, with their circles and what is
 * shared in them, and equal ones are equal bytes; of bytes that were damaged nothing worse comes than an error. */
#include "lua/values.h"
#include "scripts/own_state.h"

#include <muster/random.h>

enum { VALUES_ROUNDS = 250, VALUES_ROOM = 1 << 16, VALUES_TABLES = 512 };

/* Makes a random value of a seed, in an order of its own; and tells of two whether they are alike. */
static const char values_text[] =
    "local function made(seed)\n"
    "  local function draw(n) seed = (seed * 1103515245 + 12345) % 2147483648 return seed // 65536 % n + 1 end\n"
    "  local tables = {}\n"
    "  local function value(depth)\n"
    "    local n = draw(depth > 5 and 8 or 12)\n"
    "    if n == 1 then return true elseif n == 2 then return false elseif n == 3 then return draw(9) - 5\n"
    "    elseif n == 4 then return (draw(9) - 5) / 2 elseif n == 5 then return math.maxinteger - draw(3)\n"
    "    elseif n == 6 then return ('\\0a\\xff%'):rep(draw(9) - 1) elseif n == 7 then return 2.0^draw(80)\n"
    "    elseif n == 8 then return #tables > 0 and tables[draw(#tables)] or 'none' end\n"
    "    local t, keys, values = {}, {}, {} tables[#tables + 1] = t\n"
    "    for i = 1, draw(6) - 1 do local k = draw(5)\n"
    "      keys[i] = k == 1 and draw(4) == 1 or k == 2 and i / 2 + 0.25 or k == 3 and 'key' .. draw(5) or k == 4 and "
    "-i or i\n"
    "      values[i] = value(depth + 1) end\n"
    "    for i = 1, #keys do t[keys[i]] = values[i] end\n"
    "    return t end\n"
    "  return value(0) end\n"
    "local function alike(one, other, met)\n"
    "  if type(one) ~= type(other) or math.type(one) ~= math.type(other) then return false end\n"
    "  if type(one) ~= 'table' then return one == other end\n"
    "  if met[one] or met[other] then return met[one] == other and met[other] == one end\n"
    "  met[one], met[other] = other, one\n"
    "  for k, v in pairs(one) do if not alike(v, other[k], met) then return false end end\n"
    "  for k in pairs(other) do if one[k] == nil then return false end end\n"
    "  return true end\n"
    "return made, function(one, other) return alike(one, other, {}) end\n";

/* A state with the two functions at 1 and 2 on its stack. */
static script_state *values_begin(void) {
  script_state *state = own_state_begin();
  own_state_run(state, values_text, sizeof values_text - 1, 2);
  return state;
}

static void values_make(lua_State *L, lua_Integer seed) {
  lua_pushvalue(L, 1);
  lua_pushinteger(L, seed);
  cr_assert_eq(lua_pcall(L, 1, 1, 0), LUA_OK, "%s", lua_tostring(L, -1));
}

/* Writes the value on top of the stack into that much room. */
static bool values_put(lua_State *L, unsigned char *bytes, size_t room, size_t *count) {
  static const void *tables[VALUES_TABLES];
  values_writer writer = {.bytes = bytes, .room = room, .tables = tables, .table_room = VALUES_TABLES};
  bool written = values_write(L, -1, &writer, "it");
  cr_assert(writer.count <= room && !(written && writer.wrong[0]));
  *count = writer.count;
  return written;
}

static int values_get(lua_State *L) {
  size_t count;
  const unsigned char *bytes = (const unsigned char *)lua_tolstring(L, 1, &count);
  lua_pushinteger(L, (lua_Integer)values_read(L, bytes, count));
  return 2;
}

/* Pushes what stands in the bytes, and how many it took; or an error. */
static bool values_got(lua_State *L, const unsigned char *bytes, size_t count) {
  lua_pushcfunction(L, values_get);
  lua_pushlstring(L, (const char *)bytes, count);
  return lua_pcall(L, 1, 2, 0) == LUA_OK;
}

Test(values, are_the_same_when_they_are_read) {
  SCOPED_STATE *state = values_begin();
  lua_State *L = state->L;
  SCOPED(free_memory) unsigned char *bytes = malloc(VALUES_ROOM), *again = malloc(VALUES_ROOM);
  for (lua_Integer seed = 1; seed <= VALUES_ROUNDS; seed++) {
    size_t count, other;
    values_make(L, seed);
    cr_assert(values_put(L, bytes, VALUES_ROOM, &count));
    cr_assert(values_put(L, again, count, &other) && other == count && memcmp(bytes, again, count) == 0,
              "a value of %zu bytes does not go into them", count);
    cr_assert(!values_put(L, again, count - 1, &other), "%zu bytes go into less", count);
    cr_assert(values_got(L, bytes, count), "seed %lld: %s", seed, lua_tostring(L, -1));
    cr_assert_eq(lua_tointeger(L, -1), (lua_Integer)count, "seed %lld: %lld bytes", seed, lua_tointeger(L, -1));
    lua_pop(L, 1);
    cr_assert(values_put(L, again, VALUES_ROOM, &other) && other == count && memcmp(bytes, again, count) == 0,
              "seed %lld: what was read is other bytes", seed);
    lua_pushvalue(L, 2);
    lua_insert(L, -3);
    cr_assert_eq(lua_pcall(L, 2, 1, 0), LUA_OK, "%s", lua_tostring(L, -1));
    cr_assert(lua_toboolean(L, -1), "seed %lld: another value was read", seed);
    lua_settop(L, 2);
    for (size_t cut = 0; cut < count; cut += 1 + count / 20) {
      cr_assert(!values_got(L, bytes, cut), "seed %lld: %zu of %zu bytes are a value", seed, cut, count);
      lua_settop(L, 2);
    }
    for (uint32_t i = 0; i < 20; i++) { /* whatever it is, it comes back */
      uint64_t random = muster_random_mix((uint64_t)seed << 32 | i);
      memcpy(again, bytes, count);
      again[(random >> 8) % count] = (unsigned char)random;
      values_got(L, again, count);
      lua_settop(L, 2);
    }
  }
}

/* Which order a table's fields came in leaves no trace in its bytes. */
Test(values, that_are_equal_are_equal_bytes) {
  SCOPED_STATE *state = values_begin();
  lua_State *L = state->L;
  static const char *const pairs[][2] = {
      {"return {a = 1, b = 2, [3] = 4, [-1] = 5}", "local t = {[-1] = 5} t[3] = 4 t.b = 2 t.a = 1 return t"},
      {"return {1, 2, 3}", "local t = {} t[3] = 3 t[2] = 2 t[1] = 1 return t"},
      {"return {[true] = 1, [false] = 2, [1.5] = 3}", "local t = {[1.5] = 3, [false] = 2} t[true] = 1 return t"},
      {"local t = {} for i = 1, 60 do t['k' .. i] = i end return t",
       "local t = {} for i = 60, 1, -1 do t['k' .. i] = i end return t"}};
  for (size_t i = 0; i < COUNT_OF(pairs); i++) {
    unsigned char bytes[2][4096];
    size_t counts[2];
    for (int k = 0; k < 2; k++) {
      cr_assert_eq(luaL_loadstring(L, pairs[i][k]), LUA_OK);
      cr_assert_eq(lua_pcall(L, 0, 1, 0), LUA_OK);
      cr_assert(values_put(L, bytes[k], sizeof bytes[k], &counts[k]));
    }
    cr_expect(counts[0] == counts[1] && memcmp(bytes[0], bytes[1], counts[0]) == 0, "%s", pairs[i][0]);
    lua_settop(L, 2);
  }
}

/* As deep as the manual of the code says, and one deeper; as many tables as there is room for, and one more. */
Test(values, have_a_depth_and_a_number_of_tables) {
  SCOPED_STATE *state = values_begin();
  lua_State *L = state->L;
  SCOPED(free_memory) unsigned char *bytes = malloc(VALUES_ROOM);
  size_t count;
  for (int depth = 1; depth <= 64; depth++) {
    lua_newtable(L);
    for (int i = 1; i < depth; i++) {
      lua_newtable(L);
      lua_insert(L, -2);
      lua_rawseti(L, -2, 1);
    }
    cr_expect_eq(values_put(L, bytes, VALUES_ROOM, &count), depth <= 61, "%d tables in each other", depth);
    if (depth <= 61) cr_expect(values_got(L, bytes, count), "%d deep: %s", depth, lua_tostring(L, -1));
    lua_settop(L, 2);
  }
  for (int tables = VALUES_TABLES - 2; tables <= VALUES_TABLES + 1; tables++) {
    lua_newtable(L);
    for (int i = 1; i < tables; i++) {
      lua_newtable(L);
      lua_rawseti(L, -2, i);
    }
    cr_expect_eq(values_put(L, bytes, VALUES_ROOM, &count), tables <= VALUES_TABLES, "%d tables", tables);
    lua_settop(L, 2);
  }
}
