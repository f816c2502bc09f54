#include "lua/show.h"

#include "lua/atoms.h"
#include "lua/freeze.h"
#include "lua/order.h"
#include "lua/safepoints.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SHOW_BYTES = 16384, SHOW_DEPTH_MAX = 4, SHOW_STRING_BYTES = 200 };

/* Where the text is written. */
struct showing {
  size_t count;
  bool full;
  char text[SHOW_BYTES];
};

static void __attribute__((format(printf, 2, 3))) show_put(struct showing *showing, const char *format, ...) {
  size_t room = sizeof showing->text - showing->count;
  va_list arguments;
  va_start(arguments, format);
  int length = vsnprintf(showing->text + showing->count, room, format, arguments);
  va_end(arguments);
  showing->full |= length < 0 || (size_t)length >= room;
  showing->count += showing->full ? strlen(showing->text + showing->count) : (size_t)length;
}

/* A string as a text would write it. Bytes that no terminal should get are numbers. */
static void show_string(struct showing *showing, const char *bytes, size_t count) {
  show_put(showing, "\"");
  for (size_t i = 0; i < count && i < SHOW_STRING_BYTES; i++) {
    unsigned char byte = (unsigned char)bytes[i];
    if (byte == '"' || byte == '\\')
      show_put(showing, "\\%c", byte);
    else
      show_put(showing, byte < ' ' || byte == 127 ? "\\%03d" : "%c", byte);
  }
  show_put(showing, count > SHOW_STRING_BYTES ? "\" and %zu bytes more" : "\"", count - SHOW_STRING_BYTES);
}

static bool show_is_name(const char *text, size_t length) {
  if (length == 0 || isdigit((unsigned char)*text)) return false;
  for (size_t i = 0; i < length; i++)
    if (!isalnum((unsigned char)text[i]) && text[i] != '_') return false;
  return true;
}

static void show_table(lua_State *L, struct showing *showing, int index, int depth);

/* The value on top of the stack, which stays there. What is no plain value has its type's name. */
static void show_value(lua_State *L, struct showing *showing, int depth) {
  size_t length;
  const char *text;
  switch (lua_type(L, -1)) {
  case LUA_TSTRING:
    text = lua_tolstring(L, -1, &length);
    show_string(showing, text, length);
    break;
  case LUA_TTABLE:
    show_table(L, showing, lua_gettop(L), depth);
    break;
  case LUA_TBOOLEAN:
    show_put(showing, lua_toboolean(L, -1) ? "true" : "false");
    break;
  case LUA_TNUMBER:
    lua_pushvalue(L, -1); /* a number becomes a string where it stands */
    show_put(showing, "%s", lua_tostring(L, -1));
    lua_pop(L, 1);
    break;
  default:
    show_put(showing, "a %s", luaL_typename(L, -1));
  }
}

/* The field whose key is on top of the stack, and which is the `number`-th: of a list it needs no key. */
static void show_field(lua_State *L, struct showing *showing, int index, lua_Integer number, int depth) {
  size_t length = 0;
  const char *name = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
  if (name && show_is_name(name, length)) {
    show_put(showing, "%s = ", name);
  } else if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) != number) {
    show_put(showing, "[");
    show_value(L, showing, SHOW_DEPTH_MAX);
    show_put(showing, "] = ");
  }
  lua_pushvalue(L, -1);
  lua_rawget(L, index);
  show_value(L, showing, depth + 1);
  lua_pop(L, 1);
}

/* The fields of a table: of the agent's own each has a line. */
static void show_table(lua_State *L, struct showing *showing, int index, int depth) {
  const order_key *keys;
  luaL_checkstack(L, 8, NULL);
  if (freeze_push_content(L, index)) {
    lua_pop(L, 1);
    show_put(showing, "a table of the scripts");
    return;
  }
  int count = depth < SHOW_DEPTH_MAX ? order_gather(L, index, &keys) : -1;
  if (count <= 0) {
    show_put(showing, "%s", count ? "{...}" : depth ? "{}" : "");
    return;
  }
  lua_createtable(L, count, 0); /* since tables inside are gathered into the same room */
  for (int i = 0; i < count; i++) {
    order_push(L, &keys[i]);
    lua_rawseti(L, -2, i + 1);
  }
  for (int i = 1; i <= count && !showing->full; i++) {
    show_put(showing, "%s", depth == 0 ? "  " : i == 1 ? "{" : ", ");
    lua_rawgeti(L, -1, i);
    show_field(L, showing, index, i, depth);
    lua_pop(L, 1);
    if (depth == 0) show_put(showing, "\n");
  }
  lua_pop(L, 1);
  if (depth > 0) show_put(showing, "}");
}

static int show_self(lua_State *L) {
  show_table(L, lua_touserdata(L, 2), 1, 0);
  return 0;
}

/* Where updates of the agent stand that were cut. */
static void show_cuts(const script_state *state, muster_agent agent, struct showing *showing) {
  for (uint32_t i = 0; i < state->suspended_count; i++) {
    const script_suspended *one = &state->suspended[i];
    if (!muster_agent_equal(one->agent, agent)) continue;
    show_put(showing, "an update was cut in %u frames\n", one->cuts);
    if (!one->thread) continue; /* it begins anew */
    luaL_traceback(state->L, one->thread, NULL, safepoints_level(one->thread));
    show_put(showing, "%s\n", lua_tostring(state->L, -1));
    lua_pop(state->L, 1);
  }
}

/* The agent of that id and its type. */
static muster_result find_shown(const script_world *scripts, const char *id, muster_agent *agent,
                                const script_type **type) {
  unsigned index, generation;
  int length = 0;
  if (sscanf(id, "%u.%u%n", &index, &generation, &length) < 2 || id[length])
    return muster_module_fail(MUSTER_E_ARGUMENT, "'%.64s' is no agent's id, which is INDEX.GENERATION, such as 12.1",
                              id);
  *agent = muster_agent_make(index, generation);
  muster_agent_info info = muster_agent_info_default();
  muster_result result = muster_agent_read(scripts->world, *agent, &info);
  if (result) return result;
  *type = scripts_type(scripts, info.type);
  return *type ? MUSTER_OK : muster_module_fail(MUSTER_E_ARGUMENT, "agent %s is not of a type of the scripts", id);
}

/* Writes the agent's table, which is on top of the state's stack, and pops it. On failure a message is there. */
static bool write_shown(script_state *state, struct showing *showing) {
  lua_pushcfunction(state->L, show_self);
  lua_insert(state->L, -2);
  lua_pushlightuserdata(state->L, showing);
  return lua_pcall(state->L, 2, 0, 0) == LUA_OK;
}

muster_result show_agent(script_world *scripts, const char *id, muster_module_answer answer, void *answer_user) {
  muster_agent agent;
  const script_type *type;
  script_state *state;
  muster_result result = find_shown(scripts, id, &agent, &type);
  if (result) return result;
  if (!atoms_push_self(scripts, agent, &state))
    return muster_module_fail(MUSTER_E_STATE, "agent %s has no table: it is not there yet, or its birth failed", id);
  struct showing *showing = calloc(1, sizeof *showing);
  if (!showing) abort();
  uint32_t owner = scripts->owners[muster_agent_index(agent)];
  uint64_t allocated_bytes = state->memory.allocated_bytes;
  show_put(showing, "agent %s of type '%s', %u bytes\n", id, type->name, state->memory.owned[owner]);
  if (write_shown(state, showing)) {
    show_cuts(state, agent, showing);
    if (showing->full) memcpy(showing->text + sizeof showing->text - sizeof "...\n", "...\n", sizeof "...\n");
    answer(200, false, showing->text, strlen(showing->text), answer_user);
  } else {
    result = muster_module_fail(MUSTER_E_MEMORY, "agent %s cannot be shown: %s", id, lua_tostring(state->L, -1));
    lua_pop(state->L, 1);
  }
  state->memory.allocated_bytes = allocated_bytes; /* the collector comes as if nobody had looked */
  free(showing);
  return result;
}
