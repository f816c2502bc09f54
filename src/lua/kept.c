#include "lua/kept.h"

#include "lua/freeze.h"
#include "lua/problems.h"

#include <stdio.h>
#include <string.h>

/* How far a look goes: into tables, and to how many fields. */
enum { KEPT_DEPTH = 4, KEPT_FIELDS = 128, KEPT_PATH_BYTES = 80 };

const char *kept_refusal(lua_State *L, int index) {
  switch (lua_type(L, index)) {
  case LUA_TNIL:
  case LUA_TBOOLEAN:
  case LUA_TNUMBER:
  case LUA_TSTRING:
    return NULL;
  case LUA_TFUNCTION:
    return "a function";
  case LUA_TTABLE:
    if (!lua_getmetatable(L, index)) return NULL;
    lua_pop(L, 1);
    if (!freeze_push_content(L, index)) return "a table with a metatable";
    lua_pop(L, 1);
    return "a table of the scripts";
  default:
    return "no plain value";
  }
}

/* A look through a table: what was found, and its path from there on. */
typedef struct kept_walk {
  uint32_t fields_left;
  const char *refusal; /* null = nothing was found */
  char path[KEPT_PATH_BYTES];
} kept_walk;

/* Puts a key, which is at `index`, before the path. */
static void kept_name(lua_State *L, int index, kept_walk *walk) {
  char behind[KEPT_PATH_BYTES];
  memcpy(behind, walk->path, sizeof behind);
  if (lua_type(L, index) == LUA_TSTRING)
    snprintf(walk->path, sizeof walk->path, ".%.40s%.38s", lua_tostring(L, index), behind);
  else if (lua_isinteger(L, index))
    snprintf(walk->path, sizeof walk->path, "[%lld]%.50s", (long long)lua_tointeger(L, index), behind);
  else
    snprintf(walk->path, sizeof walk->path, "[...]%.70s", behind);
}

/* Walks the table on top of the stack, which has room for two values more at each depth, and for three. */
static void kept_search(lua_State *L, kept_walk *walk, int depth) {
  int table = lua_gettop(L);
  for (lua_pushnil(L); walk->fields_left > 0 && lua_next(L, table); lua_pop(L, 1)) {
    walk->fields_left--;
    if (lua_islightuserdata(L, -2)) continue; /* what the library keeps there */
    bool keyed = lua_istable(L, -2) || lua_isfunction(L, -2);
    walk->refusal = keyed ? "behind a key that is a table or a function" : kept_refusal(L, table + 2);
    if (!walk->refusal && depth < KEPT_DEPTH && lua_istable(L, -1)) kept_search(L, walk, depth + 1);
    if (!walk->refusal) continue;
    kept_name(L, table + 1, walk);
    break;
  }
  lua_settop(L, table);
}

/* Looks through the table on top of the state's stack, and pops it. */
static kept_walk kept_look_popped(script_state *state) {
  kept_walk walk = {.fields_left = KEPT_FIELDS};
  kept_search(state->L, &walk, 1);
  lua_pop(state->L, 1);
  state->errors += walk.refusal != NULL;
  return walk;
}

static const char kept_advice[] = "keep numbers, texts, booleans, and plain tables of these";

void kept_look(script_state *state, const script_type *type, muster_agent agent, uint32_t owner) {
  lua_rawgeti(state->L, LUA_REGISTRYINDEX, state->selves);
  lua_rawgeti(state->L, -1, owner);
  lua_remove(state->L, -2);
  kept_walk walk = kept_look_popped(state);
  if (!walk.refusal) return;
  char where[64 + KEPT_PATH_BYTES], what[128];
  snprintf(where, sizeof where, "%s: self%s", type->name, walk.path);
  snprintf(what, sizeof what, "it is %s, and cannot be kept: %s", walk.refusal, kept_advice);
  problems_note(state, where, what, "an update", type, agent);
}

void kept_look_at_world(script_state *host) {
  lua_rawgeti(host->L, LUA_REGISTRYINDEX, host->world);
  kept_walk walk = kept_look_popped(host);
  if (!walk.refusal) return;
  char where[64 + KEPT_PATH_BYTES], what[128];
  snprintf(where, sizeof where, "muster.world: world%s", walk.path);
  snprintf(what, sizeof what, "it is %s, and cannot be kept: %s", walk.refusal, kept_advice);
  problems_note(host, where, what, "muster.world", NULL, (muster_agent){0});
}
