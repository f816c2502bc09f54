/* lua/atoms.h - the atoms and callbacks of scripted types: each runs a method of the agent's text in the state of its
 * strand. */
#ifndef LUA_ATOMS_H
#define LUA_ATOMS_H

#include "lua/scripts.h"

/* The atom that runs a method. */
muster_atom_result (*atoms_of(script_method method))(muster_update *update);

/* Begins an update of a type without sets. */
muster_atom_result atoms_begin(muster_update *update);

/* Run the method of the set that runs, which is an action or not. */
muster_atom_result atoms_set(muster_update *update);
muster_atom_result atoms_act_set(muster_update *update);

/* on_spawned of all types: makes the agent's table, and the state of its strand when it is the first there. */
void atoms_spawned(muster_update *update);

/* on_removed of all types: its table and its updates that were cut are given up. */
void atoms_removed(muster_update *update);

/* Makes, or changes, the metatable of a type's agents, whose methods are in the table on top of the stack. */
void atoms_make_metatable(lua_State *L, uint32_t type);

/* Between frames: agents whose update never ends go into quarantine. */
void atoms_judge(script_world *scripts);

/* Pushes the table of an agent onto the stack of its state, which is *state. False: it has none. Between frames. */
bool atoms_push_self(script_world *scripts, muster_agent agent, script_state **state);

/* Of a snapshot: how often an update of the agent was cut. False: no such type or method. */
bool atoms_restore_cuts(script_world *scripts, muster_agent agent, uint32_t type, uint32_t method, uint32_t cuts);

/* Gives the agent of a snapshot its table, of which the bytes are. False with a message. */
bool atoms_restore(script_world *scripts, muster_agent agent, uint32_t type, const void *bytes, size_t count);

#endif
