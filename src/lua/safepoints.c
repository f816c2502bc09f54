#include "lua/safepoints.h"

#include "lua/library.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define COUNTER "__safepoint"
#define LOOK    COUNTER "_look"

static const char text_before[] = "local " LOOK "=... local " COUNTER "=0 return function(...) ";
static const char text_after[] = "\nend";

/* ---------------------------------------------------------------------------------------------------------- reading */

typedef struct safepoint_reader {
  const char *at, *end;
} safepoint_reader;

/* The level of a long bracket at `at`, -1 = there is none. */
static int safepoint_bracket(const safepoint_reader *reader, const char *at, char bracket) {
  int level = 0;
  if (at >= reader->end || *at != bracket) return -1;
  for (at++; at < reader->end && *at == '='; at++) level++;
  return at < reader->end && *at == bracket ? level : -1;
}

/* Goes behind a long string or comment that begins at the reader. */
static void safepoint_skip_long(safepoint_reader *reader, int level) {
  for (reader->at += level + 2; reader->at < reader->end; reader->at++)
    if (safepoint_bracket(reader, reader->at, ']') == level) {
      reader->at += level + 2;
      return;
    }
}

static void safepoint_skip_comment(safepoint_reader *reader) {
  reader->at += 2;
  int level = safepoint_bracket(reader, reader->at, '[');
  if (level >= 0)
    safepoint_skip_long(reader, level);
  else
    while (reader->at < reader->end && *reader->at != '\n' && *reader->at != '\r') reader->at++;
}

static void safepoint_skip_string(safepoint_reader *reader) {
  char quote = *reader->at++;
  while (reader->at < reader->end && *reader->at != quote) reader->at += *reader->at == '\\' ? 2 : 1;
  reader->at++;
}

static bool safepoint_is_name(char letter) {
  return isalnum((unsigned char)letter) || letter == '_';
}

/* Goes to the next name or keyword: its length. 0 at the end, or behind the parenthesis that ends the parameters of a
 * function. Numbers are met as names, which they cannot spoil. */
static size_t safepoint_next_word(safepoint_reader *reader, bool parameters) {
  while (reader->at < reader->end) {
    const char *at = reader->at;
    int level = safepoint_bracket(reader, at, '[');
    if (safepoint_is_name(*at)) {
      size_t length = 0;
      while (at + length < reader->end && safepoint_is_name(at[length])) length++;
      return length;
    }
    if (*at == '-' && at + 1 < reader->end && at[1] == '-')
      safepoint_skip_comment(reader);
    else if (*at == '"' || *at == '\'')
      safepoint_skip_string(reader);
    else if (level >= 0)
      safepoint_skip_long(reader, level);
    else
      reader->at++;
    if (parameters && *at == ')') return 0;
  }
  return 0;
}

/* The line in which `at` is, as Lua counts them: two letters that end a line, and differ, are one end. */
static int safepoint_line(const char *text, const char *at) {
  int line = 1;
  for (; text < at; text++) {
    if (*text != '\n' && *text != '\r') continue;
    if (text + 1 < at && (text[1] == '\n' || text[1] == '\r') && text[1] != *text) text++;
    line++;
  }
  return line;
}

/* ---------------------------------------------------------------------------------------------------------- writing */

static void safepoint_put(luaL_Buffer *buffer, const char *from, const char *to) {
  luaL_addlstring(buffer, from, (size_t)(to - from));
}

static bool safepoint_word_is(const char *word, size_t length, const char *what) {
  return strlen(what) == length && memcmp(word, what, length) == 0;
}

/* A name, or a keyword, of the text that `chunk` names: it must not begin like the counter's. */
static void safepoint_check(lua_State *L, const char *chunk, const char *text, const char *word, size_t length) {
  if (length < sizeof COUNTER - 1 || memcmp(word, COUNTER, sizeof COUNTER - 1) != 0) return;
  lua_pushfstring(L, "%s:%d: scripts may have no name that begins with '" COUNTER "'", chunk + 1,
                  safepoint_line(text, word));
  lua_error(L);
}

/* Where the next safepoint goes, and the reader behind it; null = there is none. Checks all words on the way. */
static const char *safepoint_next(lua_State *L, safepoint_reader *reader, const char *text, const char *chunk) {
  for (size_t length; (length = safepoint_next_word(reader, false));) {
    const char *word = reader->at;
    bool begins = safepoint_word_is(word, length, "do") || safepoint_word_is(word, length, "repeat");
    bool function = safepoint_word_is(word, length, "function"), jumps = safepoint_word_is(word, length, "goto");
    safepoint_check(L, chunk, text, word, length);
    reader->at += length;
    for (; function && (length = safepoint_next_word(reader, true)); reader->at += length)
      safepoint_check(L, chunk, text, reader->at, length);
    if (jumps) return word;
    if (begins || function) return reader->at;
  }
  return NULL;
}

/* Pushes the text with its safepoints; it compiles without them. One with much text behind it counts as several. */
static void add_safepoints(lua_State *L, const char *text, size_t bytes, const char *chunk) {
  enum { COUNTS_ONCE_BYTES = 4096 };
  safepoint_reader reader = {text, text + bytes};
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
  if (luaL_loadbufferx(L, text, bytes, chunk, "t") != LUA_OK) safepoint_fail(L, chunk, "");
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
