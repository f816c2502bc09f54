/* export.c - makes a shared object of the module. */
#include "lua/lua_module.h"

MUSTER_API const muster_module *muster_module_get(void);

const muster_module *muster_module_get(void) {
  return muster_module_lua();
}
