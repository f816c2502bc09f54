#include "lua/mentions.h"

#include "base/nearest.h"
#include "lua/lines.h"
#include "lua/order.h"
#include "lua/reader.h"
#include "lua/scripts.h"
#include "lua/types.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

/* On the stack, below what the functions push: the names that are used; by the name of a function that belongs to
 * nothing, where it stands; and a list of places in which something is put into self.position. */
enum { MENTIONS_USED = 1, MENTIONS_LOOSE, MENTIONS_MOVES };

enum { PLACE_LINE_BITS = 32 }; /* a place is the number of the file, and the line */

/* ---------------------------------------------------------------------------------------------------------- reading */

static void mentions_add(lua_State *L, const char *name, size_t length) {
  lua_pushlstring(L, name, length);
  lua_pushboolean(L, 1);
  lua_rawset(L, MENTIONS_USED);
}

static bool mentions_is_used(lua_State *L, const char *name) {
  bool used = lua_getfield(L, MENTIONS_USED, name) != LUA_TNIL;
  lua_pop(L, 1);
  return used;
}

/* A text that is read. Lines are counted on the way, since a text may have very many. */
typedef struct mentions_reader {
  text_reader words;
  const char *counted; /* as far as this */
  uint32_t file;
  int line;
} mentions_reader;

static int mentions_line(mentions_reader *reader, const text_token *token) {
  reader->line += reader_line(reader->counted, token->at) - 1;
  reader->counted = token->at;
  return reader->line;
}

/* Reads the head of a function, behind the word: what stands before its own name is used. */
static void read_head(lua_State *L, const char *file, mentions_reader *reader) {
  text_token token, last = {0};
  bool belongs = false;
  while (reader_next(&reader->words, &token) && (token.word || *token.at == '.' || *token.at == ':')) {
    if (!token.word) continue;
    if (last.at) mentions_add(L, last.at, last.length);
    belongs = last.at != NULL;
    last = token;
  }
  if (!last.at || belongs) return;
  lua_pushlstring(L, last.at, last.length);
  lua_pushfstring(L, "%s.lua:%d", file, mentions_line(reader, &last));
  lua_rawset(L, MENTIONS_LOOSE);
}

/* Whether the name before it is what a value is put into. */
static bool takes_a_value(text_reader reader) {
  text_token token;
  return reader_next(&reader, &token) && *token.at == '=' && !(reader.at < reader.end && *reader.at == '=');
}

/* A string that is a name alone uses it: npc["flee"](npc). */
static void read_strings(lua_State *L, const script_file *file) {
  const char *end = file->text + file->bytes;
  for (const char *at = file->text; at < end; at++) {
    if (*at != '"' && *at != '\'') continue;
    const char *name = at + 1, *next = name;
    while (next < end && (isalnum((unsigned char)*next) || *next == '_')) next++;
    if (next < end && next > name && *next == *at) mentions_add(L, name, (size_t)(next - name));
  }
}

enum { POSITION_WORDS = 5 };

/* How many words of self.position.x have been read with this one. */
static uint32_t follow_position(const text_token *token, uint32_t read) {
  static const char *const words[POSITION_WORDS] = {"self", ".", "position", ".", "x"};
  if (read == POSITION_WORDS - 1 && (reader_is(token, "y") || reader_is(token, "z"))) return POSITION_WORDS;
  if (read < POSITION_WORDS && reader_is(token, words[read])) return read + 1;
  return reader_is(token, words[0]);
}

static void mentions_add_move(lua_State *L, mentions_reader *reader, const text_token *token) {
  enum { MOVES_MOST = 64 }; /* each is looked at with each function */
  lua_Integer count = (lua_Integer)lua_rawlen(L, MENTIONS_MOVES);
  if (count == MOVES_MOST) return;
  lua_pushinteger(L, (lua_Integer)reader->file << PLACE_LINE_BITS | mentions_line(reader, token));
  lua_rawseti(L, MENTIONS_MOVES, count + 1);
}

/* It is used where a text wakes an agent. */
static const char wakes[] = "muster.wake";

static bool is_library(const text_token *token) {
  static const char *const names[] = {"muster", "math", "string", "table", "utf8"};
  for (size_t i = 0; i < sizeof names / sizeof *names; i++)
    if (reader_is(token, names[i])) return true;
  return false;
}

static void mentions_read(lua_State *L, const script_files *files, uint32_t number) {
  const script_file *file = &files->files[number];
  mentions_reader reader = {{file->text, file->text + file->bytes}, file->text, number, 1};
  uint32_t read = 0;
  bool library = false, of_library = false; /* as in muster.spawn, which is not a type's */
  for (text_token token; reader_next(&reader.words, &token);) {
    read = follow_position(&token, read);
    if (read == POSITION_WORDS && takes_a_value(reader.words)) mentions_add_move(L, &reader, &token);
    if (reader_is(&token, "function"))
      read_head(L, file->name, &reader);
    else if (token.word && !of_library && !isdigit((unsigned char)*token.at) && !takes_a_value(reader.words))
      mentions_add(L, token.at, token.length);
    else if (of_library && (reader_is(&token, "wake") || reader_is(&token, "wake_at")))
      mentions_add(L, wakes, sizeof wakes - 1);
    of_library = library && *token.at == '.';
    library = is_library(&token);
  }
  read_strings(L, file);
}

/* ---------------------------------------------------------------------------------------------------------- methods */

/* What other systems call such methods. */
static const char *const elsewhere[][2] = {{"update", "think"},    {"tick", "think"},      {"step", "think"},
                                           {"run", "think"},       {"init", "spawned"},    {"start", "spawned"},
                                           {"create", "spawned"},  {"created", "spawned"}, {"born", "spawned"},
                                           {"destroy", "removed"}, {"die", "removed"},     {"died", "removed"},
                                           {"death", "removed"},   {"despawn", "removed"}, {"despawned", "removed"}};

/* Which method that the type lacks is meant by the name of a function; null = none. */
static const char *method_meant(const char *name, const char *const *lacking, size_t count) {
  char plain[32];
  if (strncmp(name, "on_", 3) == 0)
    name += 3;
  else if (strncmp(name, "on", 2) == 0 && isupper((unsigned char)name[2]))
    name += 2;
  size_t length = 0;
  for (; name[length] && length < sizeof plain - 1; length++)
    plain[length] = (char)tolower((unsigned char)name[length]);
  plain[length] = '\0';
  const char *nearest = nearest_name(plain, lacking, count);
  for (size_t i = 0; !nearest && i < sizeof elsewhere / sizeof *elsewhere; i++)
    for (size_t k = 0; k < count && strcmp(plain, elsewhere[i][0]) == 0; k++)
      if (strcmp(lacking[k], elsewhere[i][1]) == 0) nearest = lacking[k];
  return nearest;
}

enum { TOLD_MOST = 8 }; /* functions of a type that nobody calls */

/* A type whose table is on top of the stack. */
typedef struct mentions_type {
  const script_type *type;
  int table;
  const char *calls[METHODS], *lacks[METHODS]; /* what Muster calls, and what of that is not there */
  size_t call_count, lack_count;
  uint32_t uncalled; /* functions that nobody calls, so far */
} mentions_type;

static mentions_type type_on_top(lua_State *L, const script_type *type) {
  mentions_type one = {.type = type, .table = lua_gettop(L)};
  one.call_count = types_methods(type, one.calls);
  for (size_t i = 0; i < one.call_count; i++) {
    lua_pushstring(L, one.calls[i]);
    if (lua_rawget(L, one.table) == LUA_TNIL) one.lacks[one.lack_count++] = one.calls[i];
    lua_pop(L, 1);
  }
  return one;
}

static bool mentions_is_called(const mentions_type *one, const char *name) {
  for (size_t i = 0; i < one->call_count; i++)
    if (strcmp(one->calls[i], name) == 0) return true;
  return false;
}

/* "a, b and c". */
static const char *push_called(lua_State *L, const mentions_type *one) {
  luaL_Buffer list;
  luaL_buffinit(L, &list);
  for (size_t i = 0; i < one->call_count; i++) {
    luaL_addstring(&list, i == 0 ? "" : i + 1 < one->call_count ? ", " : " and ");
    luaL_addstring(&list, one->calls[i]);
  }
  luaL_pushresult(&list);
  return lua_tostring(L, -1);
}

/* The function on top of the stack is in a type's table, and nobody calls it. */
static void mentions_judge(lua_State *L, mentions_type *one, const char *name) {
  const char *type = one->type->name, *meant = method_meant(name, one->lacks, one->lack_count);
  lua_Debug record;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &record);
  const char *called = push_called(L, one);
  if (types_is_role(name)) /* a type of sets */
    luaL_error(L, "%s:%d: Muster does not call '%s' of type '%s', which has sets: it calls %s", record.short_src,
               record.linedefined, name, type, called);
  if (meant)
    luaL_error(L, "%s:%d: %s has no '%s'; did you mean '%s'? Muster calls %s, and no text calls '%s'", record.short_src,
               record.linedefined, type, name, meant, called, name);
  if (++one->uncalled <= TOLD_MOST)
    lines_say(state_of(L)->scripts, "%s:%d: nobody calls '%s' of type '%s': Muster calls %s, and no text calls it",
              record.short_src, record.linedefined, name, type, called);
  lua_pop(L, 1);
}

/* The value on top of the stack is in a type's table, and is no function. */
static void mentions_judge_value(lua_State *L, const mentions_type *one, const char *name) {
  const char *type = one->type->name;
  if (strcmp(name, "name") == 0) {
    if (lua_type(L, -1) != LUA_TSTRING || strcmp(lua_tostring(L, -1), type) != 0)
      luaL_error(L, "type '%s': its 'name' was changed, by which the texts' calls find it", type);
  } else if (types_is_option(name) && !mentions_is_used(L, name)) {
    luaL_error(L, "type '%s': its '%s' is set behind muster.type, where it changes nothing: give it to muster.type",
               type, name);
  }
}

/* The function on top of the stack is a type's: what it puts into self.position is lost. */
static void mentions_check_moves(lua_State *L) {
  const script_files *files = &state_of(L)->scripts->files;
  lua_Debug record;
  lua_pushvalue(L, -1);
  lua_getinfo(L, ">S", &record);
  for (lua_Integer i = 1; lua_rawgeti(L, MENTIONS_MOVES, i) != LUA_TNIL; i++) {
    lua_Integer place = lua_tointeger(L, -1);
    int line = (int)(place & ((1ll << PLACE_LINE_BITS) - 1));
    char source[SCRIPT_NAME_BYTES + 8];
    snprintf(source, sizeof source, "@%s.lua", files->files[place >> PLACE_LINE_BITS].name);
    if (line >= record.linedefined && line <= record.lastlinedefined && strcmp(source, record.source) == 0)
      luaL_error(L, "%s:%d: self.position is a new table each time: to move, call muster.move(x, y)", source + 1, line);
    lua_pop(L, 1);
  }
  lua_pop(L, 1);
}

/* Looks at what is in the table on top of the stack, a type's. */
static void mentions_check_type(lua_State *L, const script_type *type) {
  mentions_type one = type_on_top(L, type);
  const order_key *keys;
  int count = order_gather(L, one.table, &keys);
  for (int i = 0; i < count; i++) {
    order_push(L, &keys[i]);
    lua_pushvalue(L, -1);
    lua_rawget(L, one.table);
    const char *name = lua_type(L, -2) == LUA_TSTRING ? lua_tostring(L, -2) : NULL;
    if (lua_isfunction(L, -1)) mentions_check_moves(L);
    if (name && !lua_isfunction(L, -1))
      mentions_judge_value(L, &one, name);
    else if (name && !lua_iscfunction(L, -1) && !mentions_is_called(&one, name) && !mentions_is_used(L, name))
      mentions_judge(L, &one, name);
    lua_settop(L, one.table);
  }
  if (one.uncalled > TOLD_MOST)
    lines_say(state_of(L)->scripts, "and nobody calls %u more functions of type '%s'", one.uncalled - TOLD_MOST,
              type->name);
}

/* A function with the name of a method that this type lacks, and that belongs to no type. */
static void check_loose(lua_State *L, const script_type *type) {
  const mentions_type one = type_on_top(L, type);
  for (size_t i = 0; i < one.lack_count; i++) {
    if (lua_getfield(L, MENTIONS_LOOSE, one.lacks[i]) == LUA_TSTRING && !mentions_is_used(L, one.lacks[i]))
      luaL_error(L, "%s: this '%s' belongs to no type, and nobody calls it: for type '%s' write function TYPE:%s()",
                 lua_tostring(L, -1), one.lacks[i], type->name, one.lacks[i]);
    lua_pop(L, 1);
  }
}

/* A type whose agents run when they are woken, by nobody. A host may wake them. */
static void mentions_check_wakes(lua_State *L, const script_type *type) {
  if (type->def.elapsed.contract != MUSTER_ELAPSED_EVENTS || type->def.messages.wake || mentions_is_used(L, wakes))
    return;
  lines_say(
      state_of(L)->scripts,
      "type '%s' runs when it is woken (elapsed = \"events\"), and no text wakes: call muster.wake_at in spawned, or "
      "say messages = {wake = true}",
      type->name);
}

void mentions_check(lua_State *L) {
  const script_world *scripts = state_of(L)->scripts;
  lua_settop(L, 0);
  lua_newtable(L);
  lua_newtable(L);
  lua_newtable(L);
  for (uint32_t i = 0; i < scripts->files.count; i++) mentions_read(L, &scripts->files, i);
  types_push_tables(L);
  for (uint32_t i = 0; i < scripts->type_count; i++) {
    lua_rawgeti(L, -1, i + 1);
    mentions_check_type(L, &scripts->types[i]);
    mentions_check_wakes(L, &scripts->types[i]);
    check_loose(L, &scripts->types[i]);
    lua_pop(L, 1);
  }
  lua_settop(L, 0);
}
