/* scripts/own_state.h - a state of Lua as scripts have it, without a world and without a host. */
#ifndef SCRIPTS_OWN_STATE_H
#define SCRIPTS_OWN_STATE_H

#include "lua/library.h"
#include "lua/scripts.h"
#include "support/with.h"

#include <criterion/criterion.h>
#include <lauxlib.h>
#include <lualib.h>
#include <stdlib.h>
#include <string.h>

/* Its stack is empty. */
static inline script_state *own_state_begin(void) {
  static char nothing[] = "";
  script_world *scripts = malloc(sizeof *scripts);
  *scripts = (script_world){.version = 1, .files.count = 1};
  scripts->files.files[0] = (script_file){.name = "main", .text = nothing, .main = true};
  script_state *state = state_create(scripts, 0);
  cr_assert_not_null(state);
  state->loads = true;
  lua_settop(state->L, 0);
  return state;
}

static inline void own_state_end(script_state **state) {
  script_world *scripts = (*state)->scripts;
  state_destroy(*state);
  free(scripts);
}

#define SCOPED_STATE SCOPED(own_state_end) script_state

/* Runs a text with the globals of scripts; what it returns, so many values, is on the stack. */
static inline void own_state_run(script_state *state, const char *text, size_t bytes, int values) {
  cr_assert_eq(luaL_loadbufferx(state->L, text, bytes, "@own", "t"), LUA_OK, "%s", lua_tostring(state->L, -1));
  library_push_globals(state->L);
  lua_setupvalue(state->L, -2, 1);
  cr_assert_eq(lua_pcall(state->L, 0, values, 0), LUA_OK, "%s", lua_tostring(state->L, -1));
}

#endif
