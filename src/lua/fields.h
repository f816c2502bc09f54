/* lua/fields.h - tables of scripts with named fields: read into structures, each with its unit, or refused by its name.
 */
#ifndef LUA_FIELDS_H
#define LUA_FIELDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <lauxlib.h>
#include <lua.h>

typedef enum type_field_kind {
  TYPE_FIELD_TIME, /* "100ms" */
  TYPE_FIELD_COUNT,
  TYPE_FIELD_FLOAT,
  TYPE_FIELD_SWITCH,
  TYPE_FIELD_BYTES, /* "64KB" */
  TYPE_FIELD_OTHER  /* its own function reads it */
} type_field_kind;

typedef struct type_field {
  const char *name;
  type_field_kind kind;
  size_t offset;                         /* in what is filled */
  void (*read)(lua_State *L, void *out); /* TYPE_FIELD_OTHER: reads the value on top of the stack */
} type_field;

/* Reads each field of the table on top of the stack. `of` stands before the names in messages. A field that is none of
 * these is an error, which names the one that was probably meant. */
void fields_read(lua_State *L, const char *of, const type_field *fields, void *out);

/* Whether there is such a field. */
bool fields_know(const type_field *fields, const char *name);

/* Which of the choices, a list with a null at its end, the text on top of the stack is; raises an error for another. */
uint32_t fields_choice(lua_State *L, const char *name, const char *const *choices);

/* Copies the text on top of the stack; raises an error for one that is empty or has no room. */
void fields_name(lua_State *L, const char *what, char *out, size_t room);

/* The first field that two structures have not in common; null = none. */
const char *fields_difference(const type_field *fields, const void *one, const void *other);

#endif
