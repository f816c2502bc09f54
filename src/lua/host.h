/* lua/host.h - `muster.world{...}`: how a world of scripts begins, and what its host does between frames. */
#ifndef LUA_HOST_H
#define LUA_HOST_H

#include "lua/scripts.h"

/* `muster.world{agents =, agents_max =, observers =, cell =, start =, frame =}`. */
int host_define(lua_State *L);

/* `muster.observe{x =, y =, near =, far =}`: a new observer's id; with `id` it moves that one. */
int host_observe(lua_State *L);

/* Calls `start`, once, in a new world. MUSTER_E_INPUT with the script's error. */
muster_result host_start(script_world *scripts);

/* Calls `frame` before a frame. An error is told, and changes nothing else. */
void host_frame(script_world *scripts);

#endif
