/* own_module.h - what the modules of these tests have in common. */
#ifndef OWN_MODULE_H
#define OWN_MODULE_H

#include "../support/with.h"

#include <muster/module.h>
#include <stdint.h>

/* The function by which a module is found, with the members that it sets:
 *
 *   OWN_MODULE(.name = "counter", .open = open_counter, .close = close_counter) */
#define OWN_MODULE(...)                                                                                                \
  MUSTER_API const muster_module *muster_module_get(void);                                                             \
  const muster_module *muster_module_get(void) {                                                                       \
    static const muster_module module = {.size = sizeof module, .abi = MUSTER_MODULE_ABI, __VA_ARGS__};                \
    return &module;                                                                                                    \
  }

/* Until the stack is used up. */
__attribute__((unused)) static uint32_t recurse(volatile uint32_t depth) {
  volatile char room[4096];
  room[depth % sizeof room] = (char)depth;
  return depth == UINT32_MAX ? 0 : recurse(depth + 1) + (uint32_t)room[0];
}

#endif
