#include "lua/hints.h"

#include "lua/calls.h"
#include "lua/freeze.h"
#include "lua/library.h"
#include "lua/names.h"
#include "lua/reader.h"
#include "lua/scripts.h"
#include "lua/types.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HINT_NAME_BYTES = 64, SHORT_BYTES = 5 /* shorter names of fields are close to many */ };

/* ------------------------------------------------------------------------------------------------ what scripts have
 * not */

static const char about_time[] = "muster.now() tells the time, in seconds of the simulation";
static const char about_files[] =
    "scripts reach no files: print(...) writes to the log, and self keeps what is to stay";
static const char about_texts[] = "texts are compiled when they are loaded: put it into a file of the folder, and say "
                                  "require \"name\"";
static const char about_waiting[] =
    "an update does not wait: keep in self how far it came, and say when it is to go on "
    "with muster.wake_at(muster.now() + 1)";
static const char about_bytes[] = "scripts take no bytes apart: send and keep tables";

/* A library, or ""; a name in it; and what to do without it. */
static const struct hint_absent {
  const char *library, *name, *instead;
} absent[] = {
    {"", "os", about_time},
    {"", "io", about_files},
    {"", "coroutine",
     "each update is a coroutine already, which is cut and goes on by itself; keep in self how far it came"},
    {"", "debug", "print(...) writes to the log, and `muster ctl scripts show ID` shows what an agent keeps"},
    {"", "package", "require \"name\" runs name.lua of the folder"},
    {"", "load", about_texts},
    {"", "loadstring", about_texts},
    {"", "loadfile", about_texts},
    {"", "dofile", about_texts},
    {"", "module", "return a table at the end of a file, and take it with require \"name\""},
    {"", "collectgarbage", "garbage is collected beside the updates; 'memory' of a type bounds what an agent has"},
    {"", "warn", "print(...) writes to the log"},
    {"", "unpack", "it is table.unpack"},
    {"", "this", "an agent is self"},
    {"", "range", "write for i = 1, 10 do"},
    {"", "len", "write #list"},
    {"", "wait", about_waiting},
    {"", "sleep", about_waiting},
    {"string", "dump", about_bytes},
    {"string", "pack", about_bytes},
    {"string", "packsize", about_bytes},
    {"string", "unpack", about_bytes},
    {"string", "gfind", "it is string.gmatch"},
    {"utf8", "codepoint", "utf8.codes(text) walks them"},
    {"math", "randomseed", "math.random needs no seed: its numbers follow from the world's (--seed)"},
    {"math", "pow", "write x ^ y"},
    {"math", "mod", "write x % y"},
    {"math", "atan2", "math.atan takes both: math.atan(y, x)"},
    {"table", "getn", "write #list"},
    {"table", "foreach", "write for key, value in pairs(list) do"}};

static const char *instead_of(const char *library, const char *name) {
  for (size_t i = 0; i < sizeof absent / sizeof *absent; i++)
    if (strcmp(absent[i].library, library) == 0 && strcmp(absent[i].name, name) == 0) return absent[i].instead;
  return NULL;
}

/* ---------------------------------------------------------------------------------------------------------- the place
 */

/* Where an error was raised, and the name of what is nil there. */
typedef struct hint_place {
  lua_State *thread;
  lua_Debug record;
  const script_file *file; /* null: no text of the folder */
  char kind[16];           /* "global", "local", "upvalue", "method" or "field"; "" = none is named */
  char name[HINT_NAME_BYTES];
  char of[HINT_NAME_BYTES]; /* in that line: before the dot or the colon in front of the name; "" = none */
} hint_place;

/* Reads "(global 'NAME')" out of an error of Lua's. */
static void hint_find_name(hint_place *place, const char *text) {
  static const char *const kinds[] = {"global", "local", "upvalue", "method", "field"};
  size_t length = strcspn(text, "\n");
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
    char begin[24];
    snprintf(begin, sizeof begin, "(%s '", kinds[i]);
    const char *at = strstr(text, begin);
    if (!at || at >= text + length) continue;
    at += strlen(begin);
    size_t count = strcspn(at, "'\n");
    if (at[count] != '\'' || count >= sizeof place->name) return;
    memcpy(place->name, at, count);
    place->name[count] = '\0';
    snprintf(place->kind, sizeof place->kind, "%s", kinds[i]);
    return;
  }
}

/* The text from the place's line on; its end is that of the line. Null: it is not known. */
static const char *line_of(const hint_place *place, const char **end) {
  if (!place->file) return NULL;
  const char *at = place->file->text, *all = at + place->file->bytes;
  for (int line = 1; at < all && line < place->record.currentline; at++) line += *at == '\n';
  *end = at;
  while (*end < all && **end != '\n') ++*end;
  return at < all ? at : NULL;
}

/* Finds what stands before the name in its line, as in muster.NAME and in self:NAME. */
static void hint_find_owner(hint_place *place) {
  text_reader reader = {0};
  text_token token, before = {0}, mark = {0};
  reader.at = line_of(place, &reader.end);
  while (reader.at && reader_next(&reader, &token)) {
    bool joined = mark.at && before.at && before.word && !mark.word && (*mark.at == '.' || *mark.at == ':');
    if (joined && reader_is(&token, place->name) && before.length < sizeof place->of) {
      memcpy(place->of, before.at, before.length);
      place->of[before.length] = '\0';
      return;
    }
    before = mark;
    mark = token;
  }
}

static void hint_find_place(hint_place *place, lua_State *thread, const char *text) {
  *place = (hint_place){.thread = thread};
  hint_find_name(place, text);
  for (int level = 0; lua_getstack(thread, level, &place->record); level++) {
    char name[SCRIPT_NAME_BYTES];
    if (!lua_getinfo(thread, "Sl", &place->record) || place->record.currentline <= 0) continue;
    size_t length = strlen(place->record.source);
    if (*place->record.source != '@' || length < 5 || length - 5 >= sizeof name) return;
    memcpy(name, place->record.source + 1, length - 5);
    name[length - 5] = '\0';
    place->file = source_files_find(&state_of(thread)->scripts->files, name);
    break;
  }
  if (*place->name) hint_find_owner(place);
}

/* Pushes onto the thread the value of a variable as it is in the place; false, with nothing pushed: there is none. */
static bool push_variable(hint_place *place, const char *variable) {
  lua_State *L = place->thread;
  const char *name;
  bool found = false;
  for (int i = 1; (name = lua_getlocal(L, &place->record, i)); i++) {
    if (strcmp(name, variable) != 0) {
      lua_pop(L, 1);
      continue;
    }
    if (found) lua_remove(L, -2); /* the later one hides it */
    found = true;
  }
  if (found || !lua_getinfo(L, "f", &place->record)) return found;
  int function = lua_gettop(L);
  for (int i = 1; !found && (name = lua_getupvalue(L, function, i)); i++) {
    found = strcmp(name, variable) == 0;
    if (!found) lua_pop(L, 1);
  }
  lua_remove(L, function);
  if (found) return true;
  library_push_content(L);
  freeze_get(L, -1, variable);
  lua_remove(L, -2);
  return true;
}

/* -------------------------------------------------------------------------------------------------------------- hints
 */

/* Whether the table on top of the stack is an agent's, or a type's: of which type, whose table is pushed then. */
static const script_type *push_type_of(lua_State *L) {
  const script_state *state = state_of(L);
  int value = lua_gettop(L);
  bool behaves = lua_getmetatable(L, value);
  types_push_tables(L);
  for (uint32_t i = 0; i < state->scripts->type_count; i++) {
    lua_rawgeti(L, -1, i + 1);
    bool same = lua_rawequal(L, value, -1);
    if (!same && behaves && state->metatables[i] != LUA_NOREF) {
      lua_rawgeti(L, LUA_REGISTRYINDEX, state->metatables[i]);
      same = lua_rawequal(L, value + 1, -1);
      lua_pop(L, 1);
    }
    if (same) {
      lua_replace(L, value + 1);
      lua_settop(L, value + 1);
      return &state->scripts->types[i];
    }
    lua_pop(L, 1);
  }
  lua_settop(L, value);
  return NULL;
}

/* Of a name that a table does not have. Pushes the hint onto the place's thread. False: nothing is pushed. */
static bool hint_owner(hint_place *place) {
  lua_State *L = place->thread;
  int top = lua_gettop(L);
  const char *names[NAMES_MAX], *instead = instead_of(place->of, place->name);
  if (instead) {
    lua_pushfstring(L, "; scripts have no %s.%s: %s", place->of, place->name, instead);
    return true;
  }
  if (!push_variable(place, place->of) || !lua_istable(L, -1)) {
    lua_settop(L, top);
    return false;
  }
  bool called = strcmp(place->kind, "method") == 0;
  const script_type *type = push_type_of(L);
  size_t count = names_of_table(L, top + 1, called, names, 0);
  if (type) count = names_of_table(L, top + 2, called, names, count);
  if (type && !called) count = strlen(place->name) < SHORT_BYTES ? 0 : calls_names(names, count);
  const char *near = names_push_near(L, place->name, names, count);
  if (!*near && !(type && called)) {
    lua_settop(L, top);
    return false;
  }
  lua_pushfstring(L, "; %s has no '%s'%s", type ? type->name : place->of, place->name, near);
  lua_insert(L, top + 1);
  lua_settop(L, top + 1);
  return true;
}

/* Whether the text defines a local of that name, or a local function, below the line: then it is nil above. */
static int local_below(const hint_place *place) {
  text_reader reader = {0};
  const char *end = NULL;
  text_token token;
  bool local = false;
  if (!line_of(place, &end)) return 0;
  reader = (text_reader){end, place->file->text + place->file->bytes};
  while (reader_next(&reader, &token)) {
    if (local && reader_is(&token, place->name)) return reader_line(place->file->text, token.at);
    local = reader_is(&token, "local") || (local && reader_is(&token, "function"));
  }
  return 0;
}

/* Of a global that there is not: a type has such a method. */
static bool hint_method(hint_place *place) {
  lua_State *L = place->thread;
  const script_world *scripts = state_of(L)->scripts;
  int top = lua_gettop(L);
  types_push_tables(L);
  for (uint32_t i = 0; i < scripts->type_count; i++) {
    bool method = lua_rawgeti(L, top + 1, i + 1) == LUA_TTABLE && freeze_get(L, -1, place->name) == LUA_TFUNCTION;
    lua_settop(L, top + 1);
    if (!method) continue;
    lua_pushfstring(L, "; it is a method of '%s': self:%s()", scripts->types[i].name, place->name);
    lua_replace(L, top + 1);
    return true;
  }
  lua_settop(L, top);
  return false;
}

/* Of an argument that methods are not given. */
static bool hint_argument(hint_place *place) {
  static const char *const names[] = {"dt", "delta", "deltaTime", "delta_time", "elapsed", "time_delta"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
    if (strcmp(place->name, names[i]) != 0) continue;
    lua_pushstring(place->thread,
                   "; methods are given self alone: self.elapsed tells the seconds since the last update");
    return true;
  }
  return false;
}

/* Of a global that there is not. */
static bool hint_global(hint_place *place) {
  lua_State *L = place->thread;
  const script_world *scripts = state_of(L)->scripts;
  const char *names[NAMES_MAX], *instead = instead_of("", place->name);
  if (strcmp(place->name, "self") == 0) {
    lua_pushstring(L, "; a method has a colon: function TYPE:NAME(); another function is given self as an argument");
    return true;
  }
  if (instead) {
    lua_pushfstring(L, "; scripts have no '%s': %s", place->name, instead);
    return true;
  }
  int line = local_below(place);
  if (line) {
    lua_pushfstring(L, "; the local '%s' stands below, in line %d: a name is known below its definition", place->name,
                    line);
    return true;
  }
  for (uint32_t i = 0; i < scripts->type_count; i++)
    if (strcmp(scripts->types[i].name, place->name) == 0) {
      lua_pushfstring(L, "; the type has no variable: write local %s = muster.type { ... }", place->name);
      return true;
    }
  if (hint_method(place)) return true;
  int top = lua_gettop(L);
  library_push_content(L);
  names[0] = "self";
  names_push_near(L, place->name, names, names_of_table(L, -1, false, names, 1));
  lua_insert(L, top + 1);
  lua_settop(L, top + 1);
  return true;
}

/* Of a number that is used like an agent, and of a walk that is used like a list. */
static bool hint_value(hint_place *place, const char *text) {
  lua_State *L = place->thread;
  if (strstr(text, "attempt to index a number value")) {
    lua_pushstring(L, "; a number has no fields: of an agent's id, local x, y = muster.position(id) tells where it is, "
                      "and muster.read(id, NAME) what it publishes");
    return true;
  }
  const char *end = NULL, *line = line_of(place, &end);
  if (line && strstr(text, "attempt to perform arithmetic") && memmem(line, (size_t)(end - line), "//", 2)) {
    lua_pushstring(L, "; // divides: comments begin with --");
    return true;
  }
  if (strstr(text, "attempt to perform arithmetic on a string value")) {
    lua_pushstring(L, "; text is no number: write tonumber(text) + 1");
    return true;
  }
  bool iterates = strstr(text, "for iterator") != NULL;
  bool walk = iterates || strstr(text, "a function value") || strstr(text, "got function");
  if (!line || !walk) return false;
  if (memmem(line, (size_t)(end - line), "muster.nearby", 13)) {
    lua_pushstring(L, "; muster.nearby is for a loop: for id, distance, x, y in muster.nearby(20) do");
    return true;
  }
  bool messages = memmem(line, (size_t)(end - line), "muster.messages", 15) != NULL;
  if (messages)
    lua_pushstring(L, "; muster.messages is for a loop: for sender, value in muster.messages() do");
  else if (iterates)
    lua_pushstring(L, "; write in pairs(TABLE), or in ipairs(LIST)");
  return messages || iterates;
}

static bool hint_any(hint_place *place, const char *text) {
  if (!place->file) return false;
  if (hint_value(place, text)) return true;
  if (!*place->kind || !strstr(text, "a nil value")) return false;
  if (*place->of) return hint_owner(place);
  if (strcmp(place->kind, "global") == 0) return hint_global(place);
  if (strcmp(place->name, "self") == 0) {
    lua_pushstring(place->thread, "; a method with a colon has self already: leave it out of the parameters");
    return true;
  }
  if (hint_argument(place)) return true;
  const char *instead = instead_of("", place->name); /* local os = os */
  if (instead) lua_pushfstring(place->thread, "; scripts have no '%s': %s", place->name, instead);
  return instead != NULL;
}

/* Whether the text has an `else` with an `if` behind it in its line: an if of its own, which needs an end of its own.
 */
static bool has_else_if(const char *text, size_t bytes) {
  text_reader reader = {text, text + bytes};
  const char *behind = NULL; /* an else */
  for (text_token token; reader_next(&reader, &token);) {
    if (behind && reader_is(&token, "if") && !memchr(behind, '\n', (size_t)(token.at - behind))) return true;
    behind = reader_is(&token, "else") ? token.at : NULL;
  }
  return false;
}

/* Whether the word stands in the line that the message names. */
static bool line_has(const char *message, const char *text, size_t bytes, const char *word) {
  const char *number = strchr(message, ':'), *end = text + bytes;
  long line = number ? strtol(number + 1, NULL, 10) : 0;
  for (; text < end && line > 1; text++) line -= *text == '\n';
  const char *behind = memchr(text, '\n', (size_t)(end - text));
  text_reader reader = {text, behind ? behind : end};
  for (text_token token; reader_next(&reader, &token);)
    if (reader_is(&token, word)) return true;
  return false;
}

const char *hints_of_grammar(const char *message, const char *text, size_t bytes) {
  static const struct {
    const char *near, *hint;
  } others[] = {{"'then' expected near '='", "; == compares, and = gives a value"},
                {"near '['", "; Lua's lists are {1, 2, 3}"},
                {"near '?'", "; Lua writes x and y or z"},
                {"near '!'", "; Lua writes ~= for not equal, and not for !"},
                {"near '&'", "; Lua writes and for &&"},
                {"near '|'", "; Lua writes or for ||"},
                {"near '+'", "; Lua has neither += nor ++: write x = x + 1"},
                {"near '-'", "; Lua has neither -= nor --: write x = x - 1"},
                {"near '//'", "; Lua's comments begin with --"},
                {"near '{'", "; Lua's blocks begin with then, do or a function's head, and end with end"}};
  static const struct {
    const char *near, *hint;
  } words[] = {{"continue", "; Lua has no continue: put what follows into an if"},
               {"var", "; Lua writes local"},
               {"let", "; Lua writes local"},
               {"const", "; Lua writes local NAME <const> = ..."},
               {"def", "; Lua writes function NAME() ... end"}};
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    if (strstr(message, others[i].near)) return others[i].hint;
  if (strstr(message, "'end' expected") && has_else_if(text, bytes))
    return "; an 'else if' is an if of its own, with an end of its own: write elseif";
  for (size_t i = 0; i < sizeof words / sizeof *words; i++)
    if (strstr(message, "syntax error") && line_has(message, text, bytes, words[i].near)) return words[i].hint;
  return "";
}

const char *hints_push(lua_State *thread, lua_State *to, const char *text) {
  hint_place place;
  int top = lua_gettop(thread);
  size_t length = strcspn(text, "\n");
  if (!lua_checkstack(thread, 20)) return lua_pushlstring(to, text, length);
  hint_find_place(&place, thread, text);
  bool hinted = hint_any(&place, text);
  lua_pushlstring(thread, text, length);
  lua_pushstring(thread, hinted ? lua_tostring(thread, top + 1) : "");
  lua_concat(thread, 2);
  lua_insert(thread, top + 1);
  lua_settop(thread, top + 1);
  if (to != thread) lua_xmove(thread, to, 1);
  return lua_tostring(to, -1);
}
