/* Functions of Lua that are made anew here mean what they mean in Lua itself: random calls are asked of both, and their
 * answers and what they leave in their tables compared. Where scripts have an order of their own, it is compared with a
 * sort by its rules. */
#include "scripts/own_state.h"

enum { LIBRARY_ROUNDS = 40, LIBRARY_CALLS = 150 };

/* Runs a file with two numbers; what it returns is on the stack. */
static const char *library_run(lua_State *L, bool own, const char *name, lua_Integer one, lua_Integer two) {
  cr_assert_eq(luaL_loadfilex(L, formed(MUSTER_SOURCE_DIR "/tests/scripts/%s", name), "t"), LUA_OK, "%s",
               lua_tostring(L, -1));
  if (own) {
    library_push_globals(L);
    lua_setupvalue(L, -2, 1);
  }
  lua_pushinteger(L, one);
  lua_pushinteger(L, two);
  cr_assert_eq(lua_pcall(L, 2, 1, 0), LUA_OK, "%s", lua_tostring(L, -1));
  return lua_tostring(L, -1);
}

static void library_expect_lines(const char *own, const char *theirs) {
  while (*own || *theirs) {
    size_t length = strcspn(own, "\n"), other = strcspn(theirs, "\n");
    cr_assert(length == other && memcmp(own, theirs, length) == 0, "%.*s\nin Lua\n%.*s", (int)length, own, (int)other,
              theirs);
    own += length + (own[length] != 0);
    theirs += other + (theirs[other] != 0);
  }
}

Test(library, means_what_it_means_in_lua_itself) {
  SCOPED_STATE *state = own_state_begin();
  lua_State *lua = luaL_newstate();
  luaL_openlibs(lua);
  for (lua_Integer seed = 1; seed <= LIBRARY_ROUNDS; seed++) {
    library_expect_lines(library_run(state->L, true, "library_calls.lua", seed, LIBRARY_CALLS),
                         library_run(lua, false, "library_calls.lua", seed, LIBRARY_CALLS));
    lua_settop(state->L, 0);
    lua_settop(lua, 0);
  }
  lua_close(lua);
}

Test(library, has_an_order_and_bounds_of_its_own) {
  SCOPED_STATE *state = own_state_begin();
  for (lua_Integer seed = 1; seed <= 4; seed++) {
    cr_expect_str_eq(library_run(state->L, true, "library_own.lua", seed, 0), "done");
    lua_settop(state->L, 0);
  }
}
