/* lua/collector.h - the garbage of each state is collected by an agent of its own, inside the budget. */
#ifndef LUA_COLLECTOR_H
#define LUA_COLLECTOR_H

#include "lua/scripts.h"

/* Registers the type of collectors. */
muster_result collector_register(script_world *scripts);

/* Spawns one for each strand. */
muster_result collector_spawn(script_world *scripts);

#endif
