#include "lua/host.h"

#include "lua/freeze.h"
#include "lua/lines.h"
#include "lua/problems.h"

#include <string.h>

enum { START_LOOKS_MAX = 2000000 }; /* 200 million loops and calls for a whole population */

/* Reads a whole number of the table at 1; `otherwise` without it. */
static uint32_t read_count(lua_State *L, const char *name, uint32_t otherwise) {
  if (freeze_get(L, 1, name) != LUA_TNIL) {
    if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0 || lua_tointeger(L, -1) > 16000000)
      luaL_error(L, "muster.world: %s: give a whole number up to 16,000,000", name);
    otherwise = (uint32_t)lua_tointeger(L, -1);
  }
  lua_pop(L, 1);
  return otherwise;
}

static void keep_function(lua_State *L, const char *name, int *place) {
  luaL_unref(L, LUA_REGISTRYINDEX, *place);
  *place = LUA_NOREF;
  if (freeze_get(L, 1, name) == LUA_TFUNCTION) {
    *place = luaL_ref(L, LUA_REGISTRYINDEX);
    return;
  }
  if (!lua_isnil(L, -1)) luaL_error(L, "muster.world: %s: give a function", name);
  lua_pop(L, 1);
}

static void host_check_names(lua_State *L) {
  static const char *const known[] = {"agents", "agents_max", "observers", "cell", "start", "frame", NULL};
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    const char *const *name = known;
    if (lua_type(L, -2) != LUA_TSTRING) luaL_error(L, "muster.world: its fields have names");
    while (*name && strcmp(*name, lua_tostring(L, -2)) != 0) name++;
    if (!*name) luaL_error(L, "muster.world.%s: there is no such field", lua_tostring(L, -2));
  }
}

int host_define(lua_State *L) {
  script_state *state = state_of(L);
  script_world *scripts = state->scripts;
  luaL_checktype(L, 1, LUA_TTABLE);
  lua_settop(L, 1);
  if (!state->loads) return luaL_error(L, "muster.world: only while the scripts are loaded");
  if (state->defines_world) return luaL_error(L, "muster.world: it was called before; a world begins in one place");
  state->defines_world = true;
  host_check_names(L);
  keep_function(L, "start", &state->start);
  keep_function(L, "frame", &state->frame);
  if (scripts->typed) return 0;
  uint32_t agents = read_count(L, "agents", 0);
  if (!scripts->wanted_agents) scripts->wanted_agents = agents;
  scripts->needs.agents = scripts->wanted_agents;
  scripts->needs.agents_max = read_count(L, "agents_max", 2 * scripts->needs.agents);
  if (scripts->needs.agents_max < scripts->needs.agents) scripts->needs.agents_max = scripts->needs.agents;
  scripts->needs.observers = scripts->wanted_observers ? scripts->wanted_observers : read_count(L, "observers", 0);
  if (freeze_get(L, 1, "cell") == LUA_TNUMBER) scripts->needs.cell_m = (float)lua_tonumber(L, -1);
  return 0;
}

/* -------------------------------------------------------------------------------------------------------- observers */

static double host_read_number(lua_State *L, const char *name, double otherwise) {
  freeze_get(L, 1, name);
  if (!lua_isnil(L, -1)) otherwise = luaL_checknumber(L, -1);
  lua_pop(L, 1);
  return otherwise;
}

int host_observe(lua_State *L) {
  const script_state *state = state_of(L);
  muster_world *world = state->scripts->world;
  luaL_checktype(L, 1, LUA_TTABLE);
  if (!world || state->update || state->loads || state != state->scripts->host)
    return luaL_error(L, "muster.observe: only in the functions of muster.world");
  muster_observer_def def = muster_observer_def_default();
  def.position.x = host_read_number(L, "x", 0);
  def.position.y = host_read_number(L, "y", 0);
  def.near_m = (float)host_read_number(L, "near", (double)def.near_m);
  def.far_m = (float)host_read_number(L, "far", (double)def.far_m);
  muster_observer observer = {0};
  if (freeze_get(L, 1, "id") != LUA_TNIL) {
    observer.value = (uint64_t)luaL_checkinteger(L, -1);
    lua_pushboolean(L, muster_observer_move(world, observer, def.position) == MUSTER_OK);
    return 1;
  }
  observer = muster_observer_add(world, &def);
  if (muster_observer_is_null(observer)) return luaL_error(L, "%s", muster_last_error());
  lua_pushinteger(L, (lua_Integer)observer.value);
  return 1;
}

/* ------------------------------------------------------------------------------------------------------------ calls */

/* Calls a function of muster.world with the table that it keeps. True: it returned; else its error is on the stack. */
static bool call_host(script_state *state, int function, uint32_t looks_max) {
  lua_State *L = state->L;
  if (state->world == LUA_NOREF) {
    lua_newtable(L);
    lua_pushinteger(L, state->scripts->wanted_agents);
    lua_setfield(L, -2, "agents");
    state->world = luaL_ref(L, LUA_REGISTRYINDEX);
  }
  lua_rawgeti(L, LUA_REGISTRYINDEX, function);
  lua_rawgeti(L, LUA_REGISTRYINDEX, state->world);
  state->random = state->scripts->seed ^ state->scripts->now_ns * 0x9e3779b97f4a7c15u;
  bool good = state_call(state, 1, 0, looks_max);
  lua_gc(L, LUA_GCSTEP, 16);
  return good;
}

muster_result host_start(script_world *scripts) {
  script_state *host = scripts->host;
  if (host->start == LUA_NOREF) {
    lines_say(scripts, "no muster.world with a start function: only what another program spawns will be there");
    return MUSTER_OK;
  }
  lua_gc(host->L, LUA_GCRESTART); /* no frame waits, and many births leave much behind */
  bool started = call_host(host, host->start, START_LOOKS_MAX);
  lua_gc(host->L, LUA_GCSTOP);
  if (started) return MUSTER_OK;
  muster_result result = muster_module_fail(MUSTER_E_INPUT, "muster.world.start: %s", lua_tostring(host->L, -1));
  lua_pop(host->L, 1);
  return result;
}

void host_frame(script_world *scripts) {
  script_state *host = scripts->host;
  if (host->frame == LUA_NOREF || call_host(host, host->frame, WHOLE_LOOKS_MAX)) return;
  host->errors++;
  problems_note_host(host, lua_tostring(host->L, -1));
  lua_pop(host->L, 1);
}
