/* lua/types.h - what `muster.type{...}` says, as a definition for Muster. */
#ifndef LUA_TYPES_H
#define LUA_TYPES_H

#include "lua/scripts.h"

/* Reads the definition that stands in the table at `index`; raises a Lua error that names the field that is wrong. */
void types_read(lua_State *L, int index, script_type *type);

/* Before the texts run: no type is defined yet. */
void types_begin(lua_State *L);

/* The number of the type that stands at `index`: its table, or its name. Raises an error for anything else. */
uint32_t types_find(lua_State *L, int index);

/* `muster.type`: in the first state it adds a type to the instance, in others it finds it again. Returns the table in
 * which the text writes the type's methods. */
int types_define(lua_State *L);

/* Pushes the table of the types' tables, by number and by name. */
void types_push_tables(lua_State *L);

/* The names of the methods of the type that Muster calls, in the order in which it does. Returns how many. */
size_t types_methods(const script_type *type, const char *names[METHODS]);

/* Whether it is the name of what an update runs: of a type with sets these are not called by themselves. */
bool types_is_role(const char *name);

/* Whether it is a field of what muster.type takes. */
bool types_is_option(const char *name);

/* After the texts have run: finds the methods of each type. Raises an error where a set's method is missing. */
void types_bind(lua_State *L);

/* After all was made read-only: makes the metatables of agents. */
void types_bind_agents(lua_State *L);

/* Gives the types to the world. */
muster_result types_register_all(script_world *scripts);

#endif
