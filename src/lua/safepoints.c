#include "lua/safepoints.h"

#include "lua/effort.h"
#include "lua/hints.h"
#include "lua/library.h"
#include "lua/reader.h"

#include <stdlib.h>
#include <string.h>

#define COUNTER "__safepoint"
#define LOOK    COUNTER "_look"

static const char text_before[] = "local " LOOK "=... local " COUNTER "=0 return function(...) ";
static const char text_after[] = "\nend";

/* ---------------------------------------------------------------------------------------------------------- writing */

static void safepoint_put(luaL_Buffer *buffer, const char *from, const char *to) {
  luaL_addlstring(buffer, from, (size_t)(to - from));
}

/* A name, or a keyword, of the text that `chunk` names: it must not begin like the counter's. */
static void safepoint_check(lua_State *L, const char *chunk, const char *text, const text_token *word) {
  if (word->length < sizeof COUNTER - 1 || memcmp(word->at, COUNTER, sizeof COUNTER - 1) != 0) return;
  lua_pushfstring(L, "%s:%d: scripts may have no name that begins with '" COUNTER "'", chunk + 1,
                  reader_line(text, word->at));
  lua_error(L);
}

/* Goes behind the parenthesis that ends the parameters of a function. */
static void safepoint_skip_parameters(lua_State *L, text_reader *reader, const char *text, const char *chunk) {
  for (text_token token; reader_next(reader, &token) && *token.at != ')';) safepoint_check(L, chunk, text, &token);
}

/* Where the next safepoint goes, and the reader behind it; null = there is none. Checks all words on the way. */
static const char *safepoint_next(lua_State *L, text_reader *reader, const char *text, const char *chunk) {
  for (text_token token; reader_next(reader, &token);) {
    const char *word = token.at;
    bool begins = reader_is(&token, "do") || reader_is(&token, "repeat");
    bool function = reader_is(&token, "function"), jumps = reader_is(&token, "goto");
    safepoint_check(L, chunk, text, &token);
    if (function) safepoint_skip_parameters(L, reader, text, chunk);
    if (jumps) return word;
    if (begins || function) return reader->at;
  }
  return NULL;
}

/* Pushes the text with its safepoints; it compiles without them. One with much text behind it counts as several. */
static void add_safepoints(lua_State *L, const char *text, size_t bytes, const char *chunk) {
  enum { COUNTS_ONCE_BYTES = 4096 };
  text_reader reader = {text, text + bytes};
  const char *done = text, *next;
  luaL_Buffer buffer;
  luaL_buffinit(L, &buffer);
  luaL_addstring(&buffer, text_before);
  for (const char *place = safepoint_next(L, &reader, text, chunk); place; place = next) {
    next = safepoint_next(L, &reader, text, chunk);
    int weight = 1 + (int)(((next ? next : reader.end) - place) / COUNTS_ONCE_BYTES);
    safepoint_put(&buffer, done, place);
    lua_pushfstring(L, " " COUNTER "=" COUNTER "-%d if " COUNTER "<0 then " LOOK "()end ", weight);
    luaL_addvalue(&buffer);
    done = place;
  }
  safepoint_put(&buffer, done, reader.end);
  luaL_addstring(&buffer, text_after);
  luaL_pushresult(&buffer);
}

/* ---------------------------------------------------------------------------------------------------------- loading */

/* Raises the message on top of the stack, and what else there is to say. Lua leaves out where it is when a text is
 * nested too deep for it. */
static void safepoint_fail(lua_State *L, const char *chunk, const char *more) {
  const char *message = lua_tostring(L, -1), *name = chunk + 1;
  bool placed = strncmp(message, name, strlen(name)) == 0;
  lua_pushfstring(L, "%s%s%s%s", placed ? "" : name, placed ? "" : ": ", message, more);
  lua_error(L);
}

/* The end of the count. */
static int safepoint_ends(lua_State *L) {
  script_state *state = state_of(L);
  safepoints_restart(state, L);
  return state_look(L);
}

/* Lets the function on top of the stack, and all functions in it, count with the state's counter. */
static void share_counter(lua_State *L) {
  const char *name;
  for (int i = 1; (name = lua_getupvalue(L, -1, i)); i++) {
    lua_pop(L, 1);
    if (strcmp(name, COUNTER) != 0) continue;
    lua_rawgeti(L, LUA_REGISTRYINDEX, state_of(L)->counter);
    lua_upvaluejoin(L, -2, i, -1, 1);
    lua_pop(L, 1);
  }
}

void safepoints_load(lua_State *L, const char *text, size_t bytes, const char *chunk) {
  size_t length;
  luaL_checkstack(L, 6, NULL);
  effort_check(L, text, bytes, chunk);
  if (luaL_loadbufferx(L, text, bytes, chunk, "t") != LUA_OK)
    safepoint_fail(L, chunk, hints_of_grammar(lua_tostring(L, -1), text, bytes));
  lua_pop(L, 1);
  add_safepoints(L, text, bytes, chunk);
  const char *woven = lua_tolstring(L, -1, &length);
  if (luaL_loadbufferx(L, woven, length, chunk, "t") != LUA_OK)
    safepoint_fail(L, chunk,
                   "; each loop and function has a safepoint, which needs two variables from outside and some "
                   "instructions: without it this text would compile");
  lua_remove(L, -2);
  library_push_globals(L);
  lua_setupvalue(L, -2, 1);
  lua_pushcfunction(L, safepoint_ends);
  lua_call(L, 1, 1);
  share_counter(L);
}

void safepoints_create(lua_State *L) {
  static const char holder[] = "local " COUNTER "=0 return function() return " COUNTER " end";
  script_state *state = state_of(L);
  if (luaL_loadbufferx(L, holder, sizeof holder - 1, "=counter", "t") != LUA_OK) lua_error(L);
  lua_call(L, 0, 1);
  state->counter = luaL_ref(L, LUA_REGISTRYINDEX);
  safepoints_restart(state, L);
}

void safepoints_restart(script_state *state, lua_State *L) {
  state->memory.spent_bytes = 0;
  lua_rawgeti(L, LUA_REGISTRYINDEX, state->counter);
  lua_pushinteger(L, SAFEPOINTS_PER_LOOK);
  lua_setupvalue(L, -2, 1);
  lua_pop(L, 1);
}

static void safepoint_hook(lua_State *L, lua_Debug *record) {
  (void)record;
  lua_sethook(L, NULL, 0, 0);
  safepoints_restart(state_of(L), L);
  state_look(L);
}

void safepoints_hurry(lua_State *L) {
  lua_sethook(L, safepoint_hook, LUA_MASKCOUNT, 1);
}

bool safepoints_count_with(const char *variable) {
  return strcmp(variable, COUNTER) == 0;
}

int safepoints_level(lua_State *thread) {
  lua_Debug record;
  if (!lua_getstack(thread, 0, &record) || !lua_getinfo(thread, "f", &record)) return 0;
  bool looks = lua_tocfunction(thread, -1) == safepoint_ends;
  lua_pop(thread, 1);
  return looks;
}
