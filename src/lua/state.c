#include "lua/state.h"

#include "lua/atoms.h"
#include "lua/freeze.h"
#include "lua/hints.h"
#include "lua/library.h"
#include "lua/lines.h"
#include "lua/mentions.h"
#include "lua/names.h"
#include "lua/problems.h"
#include "lua/safepoints.h"
#include "lua/scripts.h"
#include "lua/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------------------------------------------------- look */

/* Whether the code that runs must stop here. */
static bool must_stop(script_state *state) {
  if (state->bound == BOUND_SLICES) return muster_update_should_yield(state->update);
  state->ended = ++state->looks >= state->looks_max;
  return state->ended;
}

int state_look(lua_State *L) {
  script_state *state = state_of(L);
  bool stops = must_stop(state); /* first: who catches the error of each look would have no end */
  if (!stops && state->memory.refused && state->memory.refuses) {
    state->memory.refused = false;
    luaL_error(L, "not enough memory: more than 'memory' of the type, or 'state_mb' of the world, allows");
  }
  if (!stops) return 0;
  if (lua_isyieldable(L)) return lua_yield(L, 0);
  return luaL_error(L, "this call takes too long, and cannot be interrupted");
}

/* A new object would be over a cap. */
static void state_refuse_memory(void *user) {
  script_state *state = user;
  lua_State *thread = state->runs;
  lua_rawgeti(thread, LUA_REGISTRYINDEX, state->refusal);
  lua_error(thread);
}

/* An update allocates, or calls, much. */
static void state_hurry(void *user) {
  const script_state *state = user;
  safepoints_hurry(state->runs);
}

/* ------------------------------------------------------------------------------------------------------------ calls */

void state_new_runner(script_state *state) {
  memory_own(&state->memory, MEMORY_OWNER_STATE, 0);
  state->memory.refuses = false;
  state->runner = lua_newthread(state->L);
  state->runner_ref = luaL_ref(state->L, LUA_REGISTRYINDEX);
}

bool state_call(script_state *state, int arguments, int results, uint32_t looks_max) {
  lua_State *L = state->L, *thread = state->runner;
  int count;
  state->bound = BOUND_WHOLE;
  state->looks = 0;
  state->looks_max = looks_max;
  state->ended = false;
  lua_xmove(L, thread, arguments + 1);
  state->runs = thread;
  memory_own(&state->memory, MEMORY_OWNER_STATE, 0);
  state->memory.refused = false;
  state->memory.refuses = true;
  safepoints_restart(state, L);
  int status = lua_resume(thread, L, arguments, &count);
  state->memory.refuses = false;
  if (status == LUA_OK) {
    lua_settop(thread, results);
    lua_xmove(thread, L, results);
    return true;
  }
  if (status == LUA_YIELD) lua_pushliteral(thread, "it did not end in time");
  state_describe_error(thread, L);
  luaL_unref(L, LUA_REGISTRYINDEX, state->runner_ref);
  state_new_runner(state);
  return false;
}

/* Pushes the message with the file and the line, which errors of memory lack. */
static void push_placed(lua_State *thread, lua_State *to, const char *text) {
  lua_Debug record;
  for (int level = 0; lua_getstack(thread, level, &record); level++) {
    if (!lua_getinfo(thread, "Sl", &record) || record.currentline <= 0) continue;
    if (strncmp(text, record.short_src, strlen(record.short_src)) == 0) break;
    lua_pushfstring(to, "%s:%d: %s", record.short_src, record.currentline, text);
    return;
  }
  lua_pushstring(to, text);
}

void state_describe_error(lua_State *thread, lua_State *to) {
  const char *text = lua_type(thread, -1) == LUA_TSTRING   ? lua_tostring(thread, -1)
                     : lua_type(thread, -1) == LUA_TNUMBER ? "a number was raised as an error"
                                                           : "a value that is no text was raised as an error";
  text = hints_push(thread, thread, text);
  if (state_of(thread)->loads)
    push_placed(thread, to, text);
  else
    luaL_traceback(to, thread, text, safepoints_level(thread));
}

/* ---------------------------------------------------------------------------------------------------------- loading */

/* In the registry: what texts returned, by name. Not Lua's own table of that kind, in which its libraries are. */
static const char modules_key = 'm';

void state_push_modules(lua_State *L) {
  lua_rawgetp(L, LUA_REGISTRYINDEX, &modules_key);
}

/* A text has run: its result is on the stack, above the table of all and its name. */
static int required(lua_State *L, int status, lua_KContext context) {
  (void)status;
  (void)context;
  if (lua_isnil(L, -1)) {
    lua_pop(L, 1);
    lua_pushboolean(L, 1);
  }
  lua_pushvalue(L, 1);
  lua_pushvalue(L, -2);
  lua_rawset(L, 2);
  return 1;
}

static int refuse_script(lua_State *L, const char *name) {
  const script_files *files = &state_of(L)->scripts->files;
  const char *names[SCRIPT_FILES_MAX], *end = strstr(name, ".lua");
  if (end && !end[4])
    return luaL_error(L, "require: there is no script '%s' in the folder; write its name without .lua", name);
  for (uint32_t i = 0; i < files->count; i++) names[i] = files->files[i].name;
  return luaL_error(L, "require: there is no script '%s' in the folder%s", name,
                    names_push_hint(L, name, names, files->count));
}

/* `require`: the result of another text of the folder, which runs once. It may yield. */
static int require(lua_State *L) {
  script_state *state = state_of(L);
  const char *name = luaL_checkstring(L, 1);
  const script_file *file = source_files_find(&state->scripts->files, name);
  char chunk[SCRIPT_NAME_BYTES + 8];
  if (!file) return refuse_script(L, name);
  lua_settop(L, 1);
  state_push_modules(L);
  if (lua_getfield(L, 2, name) != LUA_TNIL) return 1;
  lua_pop(L, 1);
  if (!state->loads) return luaL_error(L, "require: '%s' was not loaded with the scripts", name);
  lua_pushboolean(L, 1); /* while it runs: who requires it meanwhile gets true */
  lua_setfield(L, 2, name);
  snprintf(chunk, sizeof chunk, "@%s.lua", file->name);
  safepoints_load(L, file->text, file->bytes, chunk);
  lua_callk(L, 0, 1, 0, required);
  return required(L, LUA_OK, 0);
}

static int load_begin(lua_State *L) {
  lua_newtable(L);
  lua_rawsetp(L, LUA_REGISTRYINDEX, &modules_key);
  types_begin(L);
  library_open(L);
  lua_pushcfunction(L, require);
  library_set_global(L, "require");
  return 0;
}

/* Binds what the texts defined, and makes it read-only. */
static int load_end(lua_State *L) {
  const script_state *state = state_of(L);
  types_bind(L);
  if (state->strand == SCRIPT_STRANDS_MAX && state != state->scripts->host)
    mentions_check(L); /* it is the first to run these texts */
  freeze_all(L);
  types_bind_agents(L);
  return 0;
}

/* Runs all texts. False: a message is on the state's stack. */
static bool load_all(script_state *state) {
  const script_files *files = &state->scripts->files;
  lua_State *L = state->L;
  state->loads = true;
  state->defines_world = false;
  state->random = state->scripts->seed; /* what texts draw is the same in all states, and after each reload */
  lua_pushcfunction(L, load_begin);
  bool good = state_call(state, 0, 0, LOADING_LOOKS_MAX);
  for (uint32_t i = 0; good && i < files->count; i++) {
    if (!files->files[i].main) continue;
    lua_pushcfunction(L, require);
    lua_pushstring(L, files->files[i].name);
    good = state_call(state, 1, 0, LOADING_LOOKS_MAX);
  }
  lua_pushcfunction(L, load_end);
  if (good)
    good = state_call(state, 0, 0, LOADING_LOOKS_MAX);
  else
    lua_pop(L, 1);
  state->loads = false;
  state->version = state->scripts->version;
  return good;
}

static bool state_begin(script_state *state) {
  lua_State *L = state->L;
  for (uint32_t i = 0; i < SCRIPT_TYPES_MAX; i++) {
    state->metatables[i] = state->shown[i].table = LUA_NOREF;
    for (uint32_t k = 0; k < METHODS; k++) state->methods[i][k] = LUA_NOREF;
  }
  state->start = state->frame = state->world = LUA_NOREF;
  lua_gc(L, LUA_GCSTOP);
  lua_gc(L, LUA_GCINC, 100, 4, 12); /* small steps, and no more of them than lua/collector.c counts on */
  memcpy(lua_getextraspace(L), &state, sizeof state);
  lua_pushliteral(L, "not enough memory: more than 'memory' of the type, or 'state_mb' of the world, allows");
  state->refusal = luaL_ref(L, LUA_REGISTRYINDEX);
  lua_newtable(L);
  state->selves = luaL_ref(L, LUA_REGISTRYINDEX);
  safepoints_create(L);
  state_new_runner(state);
  if (load_all(state)) return true;
  muster_module_fail(MUSTER_E_INPUT, "%s", lua_tostring(L, -1));
  return false;
}

void state_renew(script_state *state) {
  memory_own(&state->memory, MEMORY_OWNER_STATE, 0);
  state->memory.refuses = false;
  state->version = state->scripts->version; /* whatever comes of it: it was tried */
  if (load_all(state)) return;
  lines_say(state->scripts, "strand %u keeps its old scripts: %s", state->strand, lua_tostring(state->L, -1));
  lua_pop(state->L, 1);
}

script_state *state_create(script_world *scripts, uint32_t strand) {
  script_state *state = calloc(1, sizeof *state);
  if (state && memory_create(&state->memory)) {
    state->scripts = scripts;
    state->strand = strand;
    state->memory.refuse = state_refuse_memory;
    state->memory.hurry = state_hurry;
    state->memory.user = state;
    state->memory.cap_bytes = scripts->state_bytes;
    state->L = lua_newstate(memory_allocate, &state->memory);
    if (state->L && state_begin(state)) return state;
    if (!state->L) muster_module_fail(MUSTER_E_MEMORY, "no memory for a Lua state");
  } else {
    muster_module_fail(MUSTER_E_MEMORY, "no memory for a Lua state");
  }
  state_destroy(state);
  return NULL;
}

void state_destroy(script_state *state) {
  if (!state) return;
  if (state->L) lua_close(state->L);
  memory_destroy(&state->memory);
  free(state->suspended);
  free(state->free_owners);
  free(state->keys);
  problems_free(state->problems);
  free(state);
}
