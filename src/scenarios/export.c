/* export.c - makes a shared object from a scenario. It is built once for each scenario, with the name of its
 * function. */
#include "scenarios/scenarios.h"

MUSTER_API const muster_module *muster_module_get(void);

const muster_module *muster_module_get(void) {
  return MUSTER_SCENARIO();
}
