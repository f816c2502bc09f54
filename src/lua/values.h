/* lua/values.h - plain values as bytes: nil, booleans, numbers, strings, and tables of these.
 *
 * For messages, for what a newborn is given, and for snapshots. Keys of tables are written in the order of lua/order.h,
 * so equal tables are equal bytes. Tables that are reached twice, and circles, are written once and referred to. */
#ifndef LUA_VALUES_H
#define LUA_VALUES_H

#include "lua/state.h"

/* Where values are written. */
typedef struct values_writer {
  unsigned char *bytes;
  size_t count, room;
  bool full;
  char wrong[160];     /* why a value cannot be written, with the path of the field; "" = it can */
  const void **tables; /* that were written, in order */
  uint32_t table_count, table_room;
} values_writer;

/* Writes the value at `index`. False: it is no plain value, or there is no room; the writer says which. `of` begins the
 * path in messages. */
bool values_write(lua_State *L, int index, values_writer *writer, const char *of);

/* Pushes the value that stands in the bytes; raises a Lua error when they hold none. Returns the bytes that it took. */
size_t values_read(lua_State *L, const unsigned char *bytes, size_t count);

#endif
