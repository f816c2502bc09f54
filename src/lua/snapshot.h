/* lua/snapshot.h - the tables of all agents as bytes, and back. */
#ifndef LUA_SNAPSHOT_H
#define LUA_SNAPSHOT_H

#include "lua/scripts.h"

/* Writes what the agents and the world's own functions keep: see muster_module.save. MUSTER_E_INPUT with the path of a
 * field that cannot be kept, such as a function. */
muster_result snapshot_save_tables(script_world *scripts, const muster_world *world, muster_module_write write,
                                   void *write_user);

/* Reads it back, before the world is loaded. MUSTER_E_INPUT when the bytes are damaged or of other scripts. */
muster_result snapshot_resume_tables(script_world *scripts, const void *bytes, size_t count);

/* A hash over what the agents keep, in agent order. 0 without memory, or where it cannot be kept. */
uint64_t snapshot_hash(script_world *scripts, const muster_world *world);

#endif
