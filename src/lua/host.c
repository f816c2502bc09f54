#include "lua/host.h"

#include "lua/calls.h"
#include "lua/freeze.h"
#include "lua/kept.h"
#include "lua/lines.h"
#include "lua/names.h"
#include "lua/problems.h"

#include <string.h>

enum { START_LOOKS_MAX = 2000000 }; /* 200 million loops and calls for a whole population */

/* Raises an error: the value on top of the stack is not what is wanted. */
static void refuse_value(lua_State *L, const char *name, const char *wanted) {
  names_push_value(L, -1);
  luaL_error(L, "muster.world: %s: give %s; it is %s", name, wanted, lua_tostring(L, -1));
}

/* Reads a whole number of the table at 1; `otherwise` without it. */
static uint32_t read_count(lua_State *L, const char *name, uint32_t otherwise) {
  if (freeze_get(L, 1, name) != LUA_TNIL) {
    if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0 || lua_tointeger(L, -1) > 16000000)
      refuse_value(L, name, "a whole number up to 16,000,000");
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
  if (!lua_isnil(L, -1)) refuse_value(L, name, "a function");
  lua_pop(L, 1);
}

/* Every field of the table at 1 must have one of the names. */
static void host_check_names(lua_State *L, const char *what, const char *const *known, size_t count) {
  for (lua_pushnil(L); lua_next(L, 1); lua_pop(L, 1)) {
    size_t i = 0;
    if (lua_type(L, -2) != LUA_TSTRING)
      luaL_error(L, "%s: its fields have names: write NAME = before each value", what);
    const char *name = lua_tostring(L, -2);
    while (i < count && strcmp(known[i], name) != 0) i++;
    if (i == count)
      luaL_error(L, "%s.%s: there is no such field%s", what, name, names_push_hint(L, name, known, count));
  }
}

/* Reads a number of the table at 1; `otherwise` without it. */
static double host_read_number(lua_State *L, const char *what, const char *name, double otherwise) {
  if (freeze_get(L, 1, name) != LUA_TNIL) {
    names_push_value(L, -1);
    if (!lua_isnumber(L, -2))
      luaL_error(L, "%s: %s: give a number, in metres; it is %s", what, name, lua_tostring(L, -1));
    otherwise = lua_tonumber(L, -2);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
  return otherwise;
}

int host_define(lua_State *L) {
  script_state *state = state_of(L);
  script_world *scripts = state->scripts;
  static const char *const known[] = {"agents", "agents_max", "observers", "cell", "start", "frame"};
  if (!lua_istable(L, 1) || lua_gettop(L) > 1)
    return luaL_error(L, "muster.world: give a table: muster.world { start = function(world) ... end }");
  lua_settop(L, 1);
  if (!state->loads) return luaL_error(L, "muster.world: only while the scripts are loaded");
  if (state->defines_world) return luaL_error(L, "muster.world: it was called before; a world begins in one place");
  state->defines_world = true;
  host_check_names(L, "muster.world", known, sizeof known / sizeof *known);
  keep_function(L, "start", &state->start);
  keep_function(L, "frame", &state->frame);
  if (scripts->typed) return 0;
  uint32_t agents = read_count(L, "agents", scripts->needs.agents), most = read_count(L, "agents_max", agents);
  if (most < agents) return luaL_error(L, "muster.world: agents_max is less than agents");
  if (!scripts->wanted_agents) scripts->wanted_agents = agents;
  scripts->needs.agents = scripts->wanted_agents;
  scripts->needs.agents_max = read_count(L, "agents_max", 2 * scripts->needs.agents);
  if (scripts->needs.agents_max < scripts->needs.agents) scripts->needs.agents_max = scripts->needs.agents;
  scripts->needs.observers = scripts->wanted_observers ? scripts->wanted_observers : read_count(L, "observers", 0);
  scripts->needs.cell_m = (float)host_read_number(L, "muster.world", "cell", (double)scripts->needs.cell_m);
  return 0;
}

/* -------------------------------------------------------------------------------------------------------- observers */

int host_observe(lua_State *L) {
  const script_state *state = state_of(L);
  muster_world *world = state->scripts->world;
  static const char *const known[] = {"id", "x", "y", "near", "far"};
  if (!lua_istable(L, 1) || lua_gettop(L) > 1)
    return luaL_error(L, "muster.observe: give a table: muster.observe {x = 10, y = 5}");
  lua_settop(L, 1);
  if (!world || state->update || state->loads || state != state->scripts->host)
    return luaL_error(L, "muster.observe: only in the functions of muster.world");
  muster_observer_def def = muster_observer_def_default();
  calls_read_place(L, 1, "muster.observe", &def.position);
  host_check_names(L, "muster.observe", known, sizeof known / sizeof *known);
  def.near_m = (float)host_read_number(L, "muster.observe", "near", (double)def.near_m);
  def.far_m = (float)host_read_number(L, "muster.observe", "far", (double)def.far_m);
  muster_observer observer = {0};
  if (freeze_get(L, 1, "id") != LUA_TNIL) {
    if (!lua_isinteger(L, -1)) return luaL_error(L, "muster.observe: id: give what muster.observe returned");
    if (freeze_get(L, 1, "near") != LUA_TNIL || freeze_get(L, 1, "far") != LUA_TNIL)
      return luaL_error(L,
                        "muster.observe: with an id it moves that observer, whose near and far stay: leave them out");
    freeze_get(L, 1, "id");
    observer.value = (uint64_t)lua_tointeger(L, -1);
    lua_pushboolean(L, muster_observer_move(world, observer, def.position) == MUSTER_OK);
    return 1;
  }
  observer = muster_observer_add(world, &def);
  if (muster_observer_is_null(observer))
    return luaL_error(L, "%s; observers of muster.world says how many there may be", muster_last_error());
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
  if (kept_is_due(&state->looking_at_world)) kept_look_at_world(state);
  lua_gc(L, LUA_GCSTEP, 16);
  return good;
}

muster_result host_start(script_world *scripts) {
  script_state *host = scripts->host;
  if (host->start == LUA_NOREF) {
    lines_say(scripts, "%s: only what another program spawns will be there",
              host->defines_world ? "muster.world has no start, or it is nil, since it stands above its definition"
                                  : "no muster.world with a start function");
    return MUSTER_OK;
  }
  lua_gc(host->L, LUA_GCRESTART); /* no frame waits, and many births leave much behind */
  bool started = call_host(host, host->start, START_LOOKS_MAX);
  lua_gc(host->L, LUA_GCSTOP);
  if (started && !scripts->started_agents) lines_say(scripts, "muster.world.start spawned nobody");
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
