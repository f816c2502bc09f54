#include "loop.h"

#include "loop_state.h"

#include "lua/freeze.h"
#include "lua/library.h"
#include "lua/safepoints.h"
#include "lua/types.h"

#include <lualib.h>
#include <muster/random.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double square_each_m2 = 88.0; /* as wildlife: a larger world has its agents in the outermost cells */

/* ----------------------------------------------------------------------------------------------------------- agents */

static void own(struct scripts_loop *loop, uint32_t agent) {
  script_memory *memory = &loop->state.memory;
  if (loop->kind == LOOP_RAW) return;
  memory->refuses = agent != LOOP_NONE;
  memory->refused = false;
  if (agent == LOOP_NONE)
    memory_own(memory, MEMORY_OWNER_STATE, 0);
  else
    memory_own(memory, loop->owners[agent], loop->types[loop->ground.agents[agent].type].memory_bytes);
}

bool loop_call(struct scripts_loop *loop, uint32_t agent, uint32_t method) {
  lua_State *L = loop->state.L;
  int function = loop->types[loop->ground.agents[agent].type].methods[method];
  if (function == LUA_NOREF) return true;
  uint32_t before = loop->runs;
  loop->runs = agent;
  own(loop, agent);
  lua_rawgeti(L, LUA_REGISTRYINDEX, function);
  lua_rawgeti(L, LUA_REGISTRYINDEX, loop->state.selves);
  lua_rawgeti(L, -1, agent + 1);
  lua_replace(L, -2);
  lua_call(L, 1, 1);
  bool acts = !lua_isboolean(L, -1) || lua_toboolean(L, -1);
  lua_pop(L, 1);
  loop->runs = before;
  own(loop, before);
  return acts;
}

/* What the agent's table begins with. */
static void fill_self(lua_State *L, int self, int fields) {
  if (!fields) return;
  for (lua_pushnil(L); lua_next(L, fields); lua_pop(L, 1)) {
    lua_pushvalue(L, -2);
    lua_pushvalue(L, -2);
    lua_rawset(L, self);
  }
}

static void set_number(lua_State *L, int table, const char *name, double value) {
  lua_pushnumber(L, value);
  lua_setfield(L, table, name);
}

uint32_t loop_bear(struct scripts_loop *loop, uint32_t type, double x, double y, int fields) {
  lua_State *L = loop->state.L;
  uint32_t agent = loop_ground_add(&loop->ground, type, x, y), before = loop->runs;
  if (agent == LOOP_NONE) return agent;
  if (loop->kind == LOOP_GUARDED && !loop->owners[agent]) loop->owners[agent] = memory_new_owner(&loop->state.memory);
  luaL_checkstack(L, 10, NULL);
  own(loop, agent);
  loop->state.random = loop->seed ^ (uint64_t)loop_ground_id(&loop->ground, agent);
  lua_createtable(L, 0, 8);
  int self = lua_gettop(L);
  fill_self(L, self, fields);
  set_number(L, self, "x", x);
  set_number(L, self, "y", y);
  set_number(L, self, "elapsed", 0);
  lua_pushinteger(L, 0);
  lua_setfield(L, self, "level");
  lua_pushinteger(L, loop_ground_id(&loop->ground, agent));
  lua_setfield(L, self, "id");
  lua_rawgeti(L, LUA_REGISTRYINDEX, loop->types[type].metatable);
  lua_setmetatable(L, self);
  own(loop, LOOP_NONE); /* the table of all grows for all */
  lua_rawgeti(L, LUA_REGISTRYINDEX, loop->state.selves);
  lua_insert(L, -2);
  lua_rawseti(L, -2, agent + 1);
  lua_pop(L, 1);
  own(loop, before);
  loop_call(loop, agent, LOOP_SPAWNED);
  return agent;
}

/* ---------------------------------------------------------------------------------------------------------- loading */

static void bind_types(struct scripts_loop *loop) {
  static const char *const names[LOOP_METHODS] = {"spawned", "sense", "think", "act"};
  lua_State *L = loop->state.L;
  for (uint32_t i = 0; i < loop->type_count; i++) {
    loop_type *type = &loop->types[i];
    lua_rawgeti(L, LUA_REGISTRYINDEX, type->table);
    for (uint32_t method = 0; method < LOOP_METHODS; method++) {
      bool there = lua_getfield(L, -1, names[method]) == LUA_TFUNCTION;
      type->methods[method] = there ? luaL_ref(L, LUA_REGISTRYINDEX) : LUA_NOREF;
      if (!there) lua_pop(L, 1);
    }
    lua_createtable(L, 0, 1);
    lua_insert(L, -2);
    lua_setfield(L, -2, "__index");
    type->metatable = luaL_ref(L, LUA_REGISTRYINDEX);
  }
}

/* Runs the file at 1. */
static int load(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  if (loop->kind == LOOP_RAW) {
    luaL_openlibs(L);
    loop_calls_push(L);
    lua_setglobal(L, "muster");
    if (luaL_loadfile(L, lua_tostring(L, 1)) != LUA_OK) return lua_error(L);
  } else {
    safepoints_create(L);
    types_begin(L);
    library_open(L);
    loop_calls_push(L);
    library_set_global(L, "muster");
    lua_newtable(L);
    lua_setfield(L, LUA_REGISTRYINDEX, LUA_LOADED_TABLE);
    if (luaL_loadfile(L, lua_tostring(L, 1)) != LUA_OK) return lua_error(L);
    library_push_globals(L);
    lua_setupvalue(L, -2, 1);
  }
  lua_call(L, 0, 0);
  bind_types(loop);
  if (loop->kind == LOOP_GUARDED) freeze_all(L);
  loop->state.loads = false;
  return 0;
}

/* Calls muster.world.start. */
static int start(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  if (loop->start == LUA_NOREF) return 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, loop->start);
  lua_createtable(L, 0, 1);
  lua_pushinteger(L, loop->agents);
  lua_setfield(L, -2, "agents");
  lua_call(L, 1, 0);
  return 0;
}

/* Runs a function in protected mode, with a text as its argument. */
static bool guarded(struct scripts_loop *loop, lua_CFunction function, const char *argument) {
  lua_State *L = loop->state.L;
  lua_pushcfunction(L, function);
  lua_pushstring(L, argument);
  if (lua_pcall(L, 1, 0, 0) == LUA_OK) return true;
  muster_module_fail(MUSTER_E_INPUT, "the loop: %s", lua_tostring(L, -1));
  lua_pop(L, 1);
  return false;
}

static void refuse(void *user) {
  const struct scripts_loop *loop = user;
  lua_rawgeti(loop->state.L, LUA_REGISTRYINDEX, loop->state.refusal);
  lua_error(loop->state.L);
}

/* Nobody looks. */
static void hurry(void *user) {
  (void)user;
}

static bool make_state(struct scripts_loop *loop) {
  script_state *state = &loop->state;
  state->bound = BOUND_WHOLE; /* sort and gsub of src/lua look now and then: for nothing here */
  state->looks_max = UINT32_MAX;
  if (loop->kind == LOOP_RAW) {
    state->L = luaL_newstate();
  } else if (memory_create(&state->memory)) {
    state->memory.refuse = refuse;
    state->memory.hurry = hurry;
    state->memory.user = loop;
    state->L = lua_newstate(memory_allocate, &state->memory);
  }
  if (!state->L) return false;
  memcpy(lua_getextraspace(state->L), &loop, sizeof loop);
  lua_pushliteral(state->L, "not enough memory: more than the agent's cap");
  state->refusal = luaL_ref(state->L, LUA_REGISTRYINDEX);
  lua_newtable(state->L);
  state->selves = luaL_ref(state->L, LUA_REGISTRYINDEX);
  return true;
}

struct scripts_loop *loop_open(const char *path, loop_kind kind, uint32_t agents, uint64_t seed) {
  struct scripts_loop *loop = calloc(1, sizeof *loop);
  uint32_t room = 2 * agents + 64;
  if (!loop) return NULL;
  *loop = (struct scripts_loop){.kind = kind, .agents = agents, .seed = seed, .runs = LOOP_NONE, .start = LUA_NOREF};
  loop->owners = calloc(room, sizeof *loop->owners);
  bool made =
      loop->owners && loop_ground_open(&loop->ground, room, sqrt(square_each_m2 * agents), 15) && make_state(loop);
  if (!made) muster_module_fail(MUSTER_E_MEMORY, "no memory for the loop");
  if (made && guarded(loop, load, path) && guarded(loop, start, path)) return loop;
  loop_close(loop);
  return NULL;
}

void loop_close(struct scripts_loop *loop) {
  if (!loop) return;
  if (loop->state.L) lua_close(loop->state.L);
  if (loop->kind == LOOP_GUARDED) memory_destroy(&loop->state.memory);
  loop_ground_close(&loop->ground);
  free(loop->owners);
  free(loop->state.keys);
  free(loop);
}

/* ------------------------------------------------------------------------------------------------------------- turn */

static void update_one(struct scripts_loop *loop, uint32_t agent, double elapsed_s) {
  lua_State *L = loop->state.L;
  uint32_t generation = loop->ground.agents[agent].generation;
  loop->state.random = muster_random_mix(loop->seed ^ (uint64_t)(loop->now_s * 1e6) ^ (uint64_t)agent << 32);
  lua_rawgeti(L, LUA_REGISTRYINDEX, loop->state.selves);
  lua_rawgeti(L, -1, agent + 1);
  set_number(L, lua_gettop(L), "elapsed", elapsed_s);
  lua_pop(L, 2);
  loop_call(loop, agent, LOOP_SENSE);
  if (loop_call(loop, agent, LOOP_THINK) && loop->ground.agents[agent].generation == generation)
    loop_call(loop, agent, LOOP_ACT);
}

/* All agents in turn: the time is at 1, and so many are left at 2. */
static int turn(lua_State *L) {
  struct scripts_loop *loop = loop_of(L);
  double elapsed_s = lua_tonumber(L, 1);
  lua_Integer updates = 0;
  loop->now_s += elapsed_s;
  for (uint32_t i = 0; i < loop->ground.count; i++) {
    if (loop->ground.agents[i].type == LOOP_NONE) continue;
    update_one(loop, i, elapsed_s);
    updates++;
  }
  lua_pushinteger(L, updates);
  return 1;
}

bool loop_frame(struct scripts_loop *loop, double elapsed_s, uint64_t *updates) {
  lua_State *L = loop->state.L;
  lua_pushcfunction(L, turn);
  lua_pushnumber(L, elapsed_s);
  if (lua_pcall(L, 1, 1, 0) != LUA_OK) {
    muster_module_fail(MUSTER_E_INPUT, "the loop: %s", lua_tostring(L, -1));
    return false;
  }
  *updates += (uint64_t)lua_tointeger(L, -1);
  lua_pop(L, 1);
  return true;
}

uint64_t loop_bytes(const struct scripts_loop *loop) {
  return (uint64_t)lua_gc(loop->state.L, LUA_GCCOUNT) * 1024u;
}
