/* export.c - makes a shared object from a scenario. It is built once for each scenario, with the name of its
 * function. */
#include <muster/module.h>

const muster_module *MUSTER_SCENARIO(void);
MUSTER_API const muster_module *muster_module_get(void);

const muster_module *muster_module_get(void) {
  return MUSTER_SCENARIO();
}
