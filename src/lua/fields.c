#include "lua/fields.h"

#include "lua/names.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct type_unit {
  const char *name;
  double factor;
} type_unit;

/* A number with one of the units behind it. */
static bool read_quantity(const char *text, const type_unit *units, double *value) {
  char *end;
  *value = strtod(text, &end);
  if (end == text || !(*value >= 0.0)) return false;
  for (const type_unit *unit = units; unit->name; unit++)
    if (strcmp(end, unit->name) == 0) {
      *value *= unit->factor;
      return *value < 9e18;
    }
  return false;
}

static uint64_t fields_read_time(lua_State *L, const char *name) {
  static const type_unit units[] = {{"ns", 1},     {"us", 1e3},   {"ms", 1e6}, {"s", 1e9},
                                    {"min", 6e10}, {"h", 3.6e12}, {NULL, 0}};
  double value;
  if (lua_type(L, -1) == LUA_TSTRING && read_quantity(lua_tostring(L, -1), units, &value))
    return (uint64_t)llround(value);
  names_push_value(L, -1);
  return (uint64_t)luaL_error(
      L, "%s: give a time with its unit (ns, us, ms, s, min or h), as a string, such as \"100ms\"; it is %s", name,
      lua_tostring(L, -1));
}

static uint64_t read_bytes(lua_State *L, const char *name) {
  static const type_unit units[] = {{"B", 1}, {"KB", 1024}, {"MB", 1048576}, {NULL, 0}};
  double value;
  if (lua_type(L, -1) == LUA_TSTRING && read_quantity(lua_tostring(L, -1), units, &value) && value < 4e9)
    return (uint64_t)value;
  names_push_value(L, -1);
  return (uint64_t)luaL_error(L, "%s: give a size with its unit (B, KB or MB), as a string, such as \"64KB\"; it is %s",
                              name, lua_tostring(L, -1));
}

/* Raises an error that says what a field should be, and what it is: the value on top of the stack. */
static void fields_refuse_value(lua_State *L, const char *name, const char *wanted) {
  names_push_value(L, -1);
  luaL_error(L, "%s: give %s; it is %s", name, wanted, lua_tostring(L, -1));
}

/* Writes the value on top of the stack into its place. */
static void fields_read_value(lua_State *L, const type_field *field, const char *name, unsigned char *place) {
  uint64_t whole;
  float number;
  bool on;
  uint32_t count;
  switch (field->kind) {
  case TYPE_FIELD_TIME:
    whole = fields_read_time(L, name);
    memcpy(place, &whole, sizeof whole);
    break;
  case TYPE_FIELD_BYTES:
    count = (uint32_t)read_bytes(L, name);
    memcpy(place, &count, sizeof count);
    break;
  case TYPE_FIELD_COUNT:
    if (!lua_isinteger(L, -1) || lua_tointeger(L, -1) < 0 || lua_tointeger(L, -1) > UINT32_MAX)
      fields_refuse_value(L, name, "a whole number");
    count = (uint32_t)lua_tointeger(L, -1);
    memcpy(place, &count, sizeof count);
    break;
  case TYPE_FIELD_FLOAT:
    if (lua_type(L, -1) != LUA_TNUMBER) fields_refuse_value(L, name, "a number");
    number = (float)lua_tonumber(L, -1);
    memcpy(place, &number, sizeof number);
    break;
  default:
    if (!lua_isboolean(L, -1)) fields_refuse_value(L, name, "true or false");
    on = lua_toboolean(L, -1);
    memcpy(place, &on, sizeof on);
  }
}

static const type_field *find_field(const type_field *fields, const char *name) {
  while (fields->name && strcmp(fields->name, name) != 0) fields++;
  return fields->name ? fields : NULL;
}

bool fields_know(const type_field *fields, const char *name) {
  return find_field(fields, name) != NULL;
}

/* A field that there is not; its value is on top of the stack. */
static void refuse_field(lua_State *L, const char *whole, const char *name, const type_field *fields) {
  const char *names[NAMES_MAX];
  size_t count = 0;
  if (lua_isfunction(L, -1))
    luaL_error(L, "%s: there is no such field; methods stand behind muster.type: function TYPE:%s() ... end", whole,
               name);
  for (; fields->name && count < NAMES_MAX; fields++) names[count++] = fields->name;
  luaL_error(L, "%s: there is no such field%s", whole, names_push_hint(L, name, names, count));
}

void fields_read(lua_State *L, const char *of, const type_field *fields, void *out) {
  if (!lua_istable(L, -1)) fields_refuse_value(L, of, "a table");
  luaL_checkstack(L, 8, NULL);
  for (lua_pushnil(L); lua_next(L, -2); lua_pop(L, 1)) {
    if (lua_type(L, -2) != LUA_TSTRING) luaL_error(L, "%s: its fields have names: write NAME = before each value", of);
    const char *name = lua_tostring(L, -2);
    const type_field *field = find_field(fields, name);
    const char *whole = lua_pushfstring(L, "%s.%s", of, name);
    lua_insert(L, -2); /* below the value */
    if (!field)
      refuse_field(L, whole, name, fields);
    else if (field->kind == TYPE_FIELD_OTHER)
      field->read(L, out);
    else
      fields_read_value(L, field, whole, (unsigned char *)out + field->offset);
    lua_remove(L, -2);
  }
}

uint32_t fields_choice(lua_State *L, const char *name, const char *const *choices) {
  const char *given = lua_type(L, -1) == LUA_TSTRING ? lua_tostring(L, -1) : "";
  for (uint32_t i = 0; choices[i]; i++)
    if (strcmp(choices[i], given) == 0) return i;
  luaL_Buffer list;
  luaL_buffinit(L, &list);
  for (uint32_t i = 0; choices[i]; i++) {
    luaL_addstring(&list, i ? ", " : "");
    luaL_addstring(&list, choices[i]);
  }
  luaL_pushresult(&list);
  names_push_value(L, -2);
  return (uint32_t)luaL_error(L, "%s: %s is no choice; there are: %s", name, lua_tostring(L, -1), lua_tostring(L, -2));
}

void fields_name(lua_State *L, const char *what, char *out, size_t room) {
  size_t length = 0;
  const char *text = lua_type(L, -1) == LUA_TSTRING ? lua_tolstring(L, -1, &length) : NULL;
  if (!text || !length || length >= room || strlen(text) != length)
    luaL_error(L, "%s: give a name of at most %d bytes, as a string", what, (int)room - 1);
  else
    memcpy(out, text, length + 1);
}

const char *fields_difference(const type_field *fields, const void *one, const void *other) {
  static const size_t sizes[] = {[TYPE_FIELD_TIME] = 8,
                                 [TYPE_FIELD_COUNT] = 4,
                                 [TYPE_FIELD_FLOAT] = sizeof(float),
                                 [TYPE_FIELD_SWITCH] = sizeof(bool),
                                 [TYPE_FIELD_BYTES] = 4};
  for (; fields->name; fields++)
    if (fields->kind != TYPE_FIELD_OTHER &&
        memcmp((const char *)one + fields->offset, (const char *)other + fields->offset, sizes[fields->kind]) != 0)
      return fields->name;
  return NULL;
}
