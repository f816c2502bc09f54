#include "lua/values.h"

#include "lua/freeze.h"
#include "lua/order.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  VALUE_NIL = 0,
  VALUE_FALSE,
  VALUE_TRUE,
  VALUE_INTEGER,
  VALUE_NUMBER,
  VALUE_TEXT,
  VALUE_TABLE,
  VALUE_END,
  VALUE_AGAIN
};
enum { VALUES_DEPTH_MAX = 60 };

/* ------------------------------------------------------------------------------------------------------------ write */

static void values_put_bytes(values_writer *writer, const void *bytes, size_t count) {
  if (writer->room - writer->count < count) {
    writer->full = true;
    return;
  }
  memcpy(writer->bytes + writer->count, bytes, count);
  writer->count += count;
}

static void put_byte(values_writer *writer, unsigned char byte) {
  values_put_bytes(writer, &byte, 1);
}

static void put_with(values_writer *writer, unsigned char kind, const void *bytes, size_t count) {
  put_byte(writer, kind);
  values_put_bytes(writer, bytes, count);
}

/* Notes why a value cannot be written. */
static bool refuse_value(values_writer *writer, const char *path, const char *what) {
  if (!writer->wrong[0]) snprintf(writer->wrong, sizeof writer->wrong, "%s is %s", path, what);
  return false;
}

/* The number of a table that was written; it is noted when it was not. */
static bool was_written(values_writer *writer, const void *table, uint32_t *number) {
  for (*number = 0; *number < writer->table_count; ++*number)
    if (writer->tables[*number] == table) return true;
  if (writer->table_count < writer->table_room)
    writer->tables[writer->table_count++] = table;
  else
    writer->full = true;
  return false;
}

static bool values_write_value(lua_State *L, int index, values_writer *writer, const char *path, int depth);

/* Where a field is, for messages. */
static void field_path(char *path, size_t room, const char *of, lua_State *L, int key) {
  if (lua_type(L, key) == LUA_TSTRING)
    snprintf(path, room, "%s.%s", of, lua_tostring(L, key));
  else if (lua_isinteger(L, key))
    snprintf(path, room, "%s[%lld]", of, (long long)lua_tointeger(L, key));
  else
    snprintf(path, room, "%s[...]", of);
}

static bool write_fields(lua_State *L, int index, values_writer *writer, const char *path, int depth) {
  const order_key *sorted;
  int count = order_gather(L, index, &sorted);
  if (count == -1) return refuse_value(writer, path, "a table with a table or a function as a key");
  if (count < 0 || !lua_checkstack(L, count + 6)) return refuse_value(writer, path, "too large");
  int first = lua_gettop(L) + 1;
  if (writer->full) return false; /* what is reached over and over, and not noted, would be written over and over */
  for (int i = 0; i < count; i++) order_push(L, &sorted[i]); /* deeper tables use the room of the keys, too */
  bool good = true;
  for (int i = 0; good && i < count; i++) {
    char inner[128];
    field_path(inner, sizeof inner, path, L, first + i);
    lua_pushvalue(L, first + i);
    good = values_write_value(L, -1, writer, inner, depth);
    lua_rawget(L, index);
    good = good && values_write_value(L, -1, writer, inner, depth) && !writer->full;
    lua_pop(L, 1);
  }
  lua_settop(L, first - 1);
  return good;
}

static bool write_table(lua_State *L, int index, values_writer *writer, const char *path, int depth) {
  uint32_t number;
  bool frozen = freeze_push_content(L, index);
  if (frozen) lua_pop(L, 1);
  if (frozen) return refuse_value(writer, path, "a table of the scripts, not of the agent");
  if (depth > VALUES_DEPTH_MAX) return refuse_value(writer, path, "too deep");
  if (depth > 0 && lua_getmetatable(L, index)) return refuse_value(writer, path, "a table with a metatable");
  if (was_written(writer, lua_topointer(L, index), &number)) {
    put_with(writer, VALUE_AGAIN, &number, sizeof number);
    return true;
  }
  put_byte(writer, VALUE_TABLE);
  if (!write_fields(L, index, writer, path, depth + 1)) return false;
  put_byte(writer, VALUE_END);
  return true;
}

static bool values_write_value(lua_State *L, int index, values_writer *writer, const char *path, int depth) {
  lua_Integer integer;
  lua_Number number;
  size_t length;
  uint32_t bytes;
  const char *text;
  index = lua_absindex(L, index);
  switch (lua_type(L, index)) {
  case LUA_TNIL:
    put_byte(writer, VALUE_NIL);
    return true;
  case LUA_TBOOLEAN:
    put_byte(writer, lua_toboolean(L, index) ? VALUE_TRUE : VALUE_FALSE);
    return true;
  case LUA_TNUMBER:
    integer = lua_tointeger(L, index);
    number = lua_tonumber(L, index);
    if (lua_isinteger(L, index))
      put_with(writer, VALUE_INTEGER, &integer, sizeof integer);
    else
      put_with(writer, VALUE_NUMBER, &number, sizeof number);
    return true;
  case LUA_TSTRING:
    text = lua_tolstring(L, index, &length);
    bytes = (uint32_t)length;
    put_with(writer, VALUE_TEXT, &bytes, sizeof bytes);
    values_put_bytes(writer, text, length);
    return true;
  case LUA_TTABLE:
    return write_table(L, index, writer, path, depth);
  case LUA_TFUNCTION:
    return refuse_value(writer, path, "a function");
  default:
    return refuse_value(writer, path, "no plain value");
  }
}

bool values_write(lua_State *L, int index, values_writer *writer, const char *of) {
  writer->wrong[0] = 0;
  return values_write_value(L, index, writer, of, 0) && !writer->full;
}

/* ------------------------------------------------------------------------------------------------------------- read */

/* What is read, and the list of tables met so far, at `tables` on the stack. */
typedef struct values_reader {
  const unsigned char *bytes;
  size_t at, count;
  int tables;
  lua_Integer table_count;
} values_reader;

static int damaged(lua_State *L) {
  return luaL_error(L, "the bytes hold no value of a script");
}

static void values_take_bytes(lua_State *L, values_reader *reader, void *out, size_t count) {
  if (reader->count - reader->at < count) damaged(L);
  memcpy(out, reader->bytes + reader->at, count);
  reader->at += count;
}

static void values_read_value(lua_State *L, values_reader *reader, unsigned char kind, int depth);

static void values_read_table(lua_State *L, values_reader *reader, int depth) {
  if (depth > VALUES_DEPTH_MAX) damaged(L);
  luaL_checkstack(L, 8, NULL);
  lua_newtable(L);
  if (!reader->tables) {
    lua_newtable(L);
    lua_insert(L, -2);
    reader->tables = lua_gettop(L) - 1;
  }
  lua_pushvalue(L, -1);
  lua_rawseti(L, reader->tables, ++reader->table_count);
  for (unsigned char kind;;) {
    values_take_bytes(L, reader, &kind, 1);
    if (kind == VALUE_END) return;
    values_read_value(L, reader, kind, depth + 1);
    if (lua_isnil(L, -1)) damaged(L);
    values_take_bytes(L, reader, &kind, 1);
    values_read_value(L, reader, kind, depth + 1);
    lua_rawset(L, -3);
  }
}

static void read_again(lua_State *L, values_reader *reader) {
  uint32_t number;
  values_take_bytes(L, reader, &number, sizeof number);
  if (!reader->tables || lua_rawgeti(L, reader->tables, (lua_Integer)number + 1) != LUA_TTABLE) damaged(L);
}

static void values_read_value(lua_State *L, values_reader *reader, unsigned char kind, int depth) {
  lua_Integer integer;
  lua_Number number;
  uint32_t bytes;
  switch (kind) {
  case VALUE_NIL:
    lua_pushnil(L);
    break;
  case VALUE_FALSE:
  case VALUE_TRUE:
    lua_pushboolean(L, kind == VALUE_TRUE);
    break;
  case VALUE_INTEGER:
    values_take_bytes(L, reader, &integer, sizeof integer);
    lua_pushinteger(L, integer);
    break;
  case VALUE_NUMBER:
    values_take_bytes(L, reader, &number, sizeof number);
    lua_pushnumber(L, number);
    break;
  case VALUE_TEXT:
    values_take_bytes(L, reader, &bytes, sizeof bytes);
    if (reader->count - reader->at < bytes) damaged(L);
    lua_pushlstring(L, (const char *)reader->bytes + reader->at, bytes);
    reader->at += bytes;
    break;
  case VALUE_TABLE:
    values_read_table(L, reader, depth);
    break;
  case VALUE_AGAIN:
    read_again(L, reader);
    break;
  default:
    damaged(L);
  }
}

size_t values_read(lua_State *L, const unsigned char *bytes, size_t count) {
  values_reader reader = {.bytes = bytes, .count = count};
  unsigned char kind;
  values_take_bytes(L, &reader, &kind, 1);
  values_read_value(L, &reader, kind, 0);
  if (reader.tables) lua_remove(L, reader.tables);
  return reader.at;
}
