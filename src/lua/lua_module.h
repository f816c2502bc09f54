/* lua/lua_module.h - the module `lua`: agents whose behaviour is written in Lua. tools/docs/scripts.md is its manual.
 */
#ifndef LUA_LUA_MODULE_H
#define LUA_LUA_MODULE_H

#include <muster/module.h>

/* Its options' path, or its setting `scripts`, names the folder or the file with the scripts. Any thread. */
const muster_module *muster_module_lua(void);

#endif
